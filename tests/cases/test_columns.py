"""Columns that are votes, and those beside them: texts, measures, percentages, ratings, questions.

Whoever is asked finds the right reading among those shown; ordinary files are not asked about.
"""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from helpers.commands import call

N = 30
RNG = np.random.default_rng(7)
COUNTS = RNG.multinomial(7, [0.5, 0.3, 0.2], N)
RATINGS = RNG.integers(1, 6, (N, 8))
SEEN = np.array([RNG.permutation(8) < 4 for _ in range(N)])
NAMES = ["anna", "ben", "carl", "dora", "eve", "fay", "gus", "hal"]
PAIRS = [(f"x{item}", f"p{who}") for item, who in product(range(N), range(4))]


def said_of(path, table):
    """Return what `chaos dataset check` says, and whether it accepts the file."""
    table.to_csv(path / "votes.csv", index=False)
    result = call("dataset", "check", path / "votes.csv", code=None)
    return " ".join(result.output.split()), result.exit_code == 0


def items(**columns):
    return pd.DataFrame({"id": [f"x{k}" for k in range(N)], **columns})


def counted(*names, **others):
    return items(**others, **dict(zip(names, COUNTS.T.tolist(), strict=False)))


def cast(**columns):
    return pd.DataFrame({"item": [item for item, _ in PAIRS], "worker": [who for _, who in PAIRS],
                         **columns})  # fmt: skip


def any_of(*values):
    return RNG.choice(values, len(PAIRS)).tolist()


@pytest.mark.parametrize("name", ["response", "answer", "label"])
def test_what_is_the_same_in_all_rows_of_an_item_is_no_label(tmp_path, name):
    said, _ = said_of(tmp_path, cast(**{name: [f"Text {item}" for item, _ in PAIRS]},
                                     safety=any_of("safe", "unsafe")))  # fmt: skip
    assert "label: safety" in said


def test_votes_that_all_agree_are_votes(tmp_path):
    labels = [("yes", "no")[int(item[1:]) % 2] for item, _ in PAIRS]
    said, accepted = said_of(tmp_path, cast(label=labels, country=[who for _, who in PAIRS]))
    assert accepted, said


@pytest.mark.parametrize(
    "names", [[f"A{k}" for k in range(8)], [f"rater {k}" for k in range(8)], NAMES]
)
@pytest.mark.parametrize("gap", [0, "NA", "-", None])
def test_a_table_of_ratings_with_gaps_is_not_taken_for_counts(tmp_path, names, gap):
    cells = np.where(SEEN, RATINGS.astype(object), gap)
    table = pd.concat([items(), pd.DataFrame(cells, columns=names, dtype=object)], axis=1)
    said, accepted = said_of(tmp_path, table)
    assert accepted or "format: columns" in said, said
    assert "labels: ['1', '2', '3', '4', '5']" in said or "5 labels" in said


@pytest.mark.parametrize("names", [["target", "distractor", "both"], ["swear words", "slur", "no"]])
def test_a_label_may_be_called_as_what_is_no_count(tmp_path, names):
    said, accepted = said_of(tmp_path, counted(*names))
    assert accepted, said


def test_counts_of_many_labels_are_counts(tmp_path):
    counts = np.array([RNG.multinomial(n, [0.6, 0.2, 0.1, 0.05, 0.03, 0.02])
                       for n in RNG.integers(3, 8, N)])  # fmt: skip
    names = ["joy", "anger", "fear", "love", "grief", "pride"]
    said, accepted = said_of(tmp_path, items(**dict(zip(names, counts.T.tolist(), strict=True))))
    assert accepted, said


@pytest.mark.parametrize("names", [["yes", "no", "maybe"], ["yes", "no"]])
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("n_words", range(5, 5 + N)),
        ("upvotes", range(N)),
        ("fold", [k % 5 for k in range(N)]),
        ("target", [k % 2 for k in range(N)]),
        ("chars", range(40, 40 + N)),
        ("agreement", [k % 10 / 10 for k in range(N)]),
        ("year", range(1990, 1990 + N)),
        ("agreed (%)", [50 + k for k in range(N)]),
    ],
)
def test_numbers_beside_counts_are_left_out(tmp_path, names, name, values):
    table = counted("yes", "no", "maybe", **{name: list(values)})
    if len(names) == 2:
        table["no"] += table.pop("maybe")
    said, accepted = said_of(tmp_path, table)
    assert not accepted
    assert "format: wide" in said, said
    assert name not in said[said.index("labels:") : said.index("files:")]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (items(**{"yes (%)": [33, 67, 50] * 10, "no (%)": [67, 33, 50] * 10}), "percentages"),
        (items(yes=[33.3, 66.7, 50] * 10, no=[66.7, 33.3, 50] * 10), "percentages"),
        (items(yes=[40, 60, 20] * 10, no=[60, 40, 80] * 10), "100 votes, or percentages"),
        (items(yes=[33, 67, 0] * 10, no=[67, 33, 100] * 10), "100 votes, or percentages"),
    ],
)
def test_percentages_are_not_votes(tmp_path, table, said):
    assert said in said_of(tmp_path, table)[0]


def test_a_hundred_votes_are_votes(tmp_path):
    counts = RNG.multinomial(100, [0.5, 0.3, 0.2], N)
    said, accepted = said_of(tmp_path, items(**dict(zip("abc", counts.T.tolist(), strict=True))))
    assert accepted, said


EMOTIONS = ["joy", "fear", "anger", "awe"]


@pytest.mark.parametrize("kind", [int, float, bool])
def test_columns_of_0_and_1_are_offered_as_one_choice(tmp_path, kind):
    chosen = np.eye(4)[RNG.integers(0, 3, len(PAIRS))].astype(kind)  # no one chose the last
    columns = dict(zip(EMOTIONS, chosen.T.tolist(), strict=True))
    said, _ = said_of(tmp_path, cast(forum=any_of("a", "b"), **columns))
    assert "label: [joy, fear, anger, awe]" in said
    text = (
        "name: felt\ntitle: Felt\nlabels: [joy, fear, anger, awe]\nfiles: [{name: votes.csv}]\n"
        "reader: {format: long, item: item, annotator: worker, label: [joy, fear, anger, awe]}\n"
    )
    (tmp_path / "felt.yml").write_text(text)  # the reading that is offered can be read
    assert f"{len(PAIRS)} votes" in call("dataset", "check", tmp_path / "felt.yml").output


def test_columns_of_0_and_1_of_which_some_rows_set_several_are_no_single_choice(tmp_path):
    chosen = np.eye(4, dtype=int)[RNG.integers(0, 3, len(PAIRS))]
    chosen[:7, 3] = 1
    columns = dict(zip(EMOTIONS, chosen.T.tolist(), strict=True))
    said, accepted = said_of(tmp_path, cast(forum=any_of("a", "b"), **columns))
    assert not accepted
    assert f"7 rows of {len(PAIRS)} that set several or none" in said
    assert "YAML" not in said


def test_objects_among_labels_are_never_offered_as_labels(tmp_path):
    topics = [{"choices": ["A", "B"]} if k % 5 == 0 else "AB"[k % 2] for k in range(len(PAIRS))]
    cast(topic=topics).to_json(tmp_path / "votes.json", orient="records")
    assert "holds objects" in call("dataset", "check", tmp_path / "votes.json", code=2).output


def test_questions_of_one_item_are_items(tmp_path):
    votes = cast(label=any_of("yes", "no"))
    table = pd.concat([votes.assign(question=name) for name in ("clear", "polite")])
    said, _ = said_of(tmp_path, table)
    assert "--item item,question" in said


def test_an_empty_column_is_called_empty(tmp_path):
    said, accepted = said_of(tmp_path, cast(label=any_of("yes", "no"), Approve="", Reject=" "))
    assert accepted, said
    assert "'Approve' (empty), 'Reject' (empty)" in said
