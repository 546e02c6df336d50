"""Labels that may be meant otherwise than they stand: what is asked, and what comes of it."""

import json
import unicodedata
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from helpers.commands import call, load, readings

import chaos_utils as chaos
from chaos_utils.base.errors import ChaosError

N_ITEMS, N_PEOPLE = 24, 8


@pytest.fixture
def rng():
    return np.random.default_rng(8)


def votes_asked(path):
    """Return the votes by each reading that `chaos dataset check` asks about."""
    return [load(one) for one in readings(path)]


def run(*arguments):
    """Return the code in which the command ends, and what it says."""
    done = call(*arguments, code=None)
    return done.exit_code, done.output


def totals(votes):
    return dict(zip(votes.dataset.labels, votes.counts.sum(axis=0).tolist(), strict=True))


def opinions(rng, labels, n_votes=3):
    """Return the votes on each item: people mostly agree."""
    shares = rng.dirichlet(np.full(len(labels), 0.4), N_ITEMS)
    return [[labels[k] for k in rng.choice(len(labels), n_votes, p=one)] for one in shares]


def count(rows):
    return dict(Counter(str(label) for row in rows for label in row))


def spread(rng, rows, code, width=N_PEOPLE):
    """Return votes as a row of a matrix, with a code for whoever was not asked."""
    made = []
    for row in rows:
        cells = [code] * width
        for place, vote in zip(rng.permutation(width), row, strict=False):
            cells[place] = vote
        made.append(cells)
    return made


def matrix(rows):
    names = ["item", *(f"worker_{k}" for k in range(len(rows[0])))]
    return "\n".join(",".join(map(str, row)) for row in [names, *map(list.__add__, ITEMS, rows)])


ITEMS = [[f"i{k}"] for k in range(N_ITEMS)]


def lists(rows, name="labels"):
    return "".join(json.dumps({"item": k, name: row}) + "\n" for k, row in enumerate(rows))


def long(rows):
    return "item,annotator,label\n" + "".join(
        f'{k},w{who},"{label}"\n' for k, row in enumerate(rows) for who, label in enumerate(row)
    )


FORMS = {
    "matrix": ("votes.csv", matrix),
    "lists": ("votes.jsonl", lists),
    "long": ("votes.csv", long),
}
CODES = [
    ((0, 1, 2), -1), ((0, 1), -1), ((1, 2, 3, 4, 5), -99), ((1, 2, 3, 4, 5), 99), ((1, 2, 3), 9),
    ((1, 2, 3), 0), ((0, 1), "?"), (("ham", "spam"), -1), (("ham", "spam"), "skip"),
    (("ham", "spam"), "IDK"), (("ham", "spam"), "Don't know"), (("ham", "spam"), "N/A"),
    (("ham", "spam"), "none given"), (("ham", "spam"), "-"), (("ham", "spam"), "."),
    (("ham", "spam"), "none"), ((1, 2, 3, "other"), -1), ((1, 2, 3, 4, 5), 8),
    ((1, 2, 3, 4, 5, 6, 7), 9), ((1, 2, 3), 7), (("ham", "spam"), "(empty)"),
    (("ham", "spam"), "UNK"),
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("labels", "code"), CODES, ids=lambda one: str(one))
def test_a_code_for_no_vote_is_asked_about(tmp_path, rng, labels, code, form):
    rows = opinions(rng, labels)
    name, write = FORMS[form]
    path = tmp_path / name
    path.write_text(write(spread(rng, rows, code)))
    without, with_code = votes_asked(path)
    assert totals(without) == count(rows)
    assert (without.n_votes == 3).all()
    assert totals(with_code) == count(rows) | {str(code): (N_PEOPLE - 3) * N_ITEMS}
    assert f"120 of {N_PEOPLE * N_ITEMS} answers are for none of the labels" in without.notes[0]


def test_minus_one_beside_zero_and_one_is_asked_about_if_people_give_it_by_chance(tmp_path, rng):
    path = tmp_path / "votes.csv"
    rows = [[*row[:-1], -1] if k % 3 == 0 else row
            for k, row in enumerate(opinions(rng, (0, 1), n_votes=5))]  # fmt: skip
    path.write_text(long(rows))
    assert votes_asked(path)[0].n_votes.sum() == 5 * N_ITEMS - N_ITEMS // 3


@pytest.mark.parametrize("code", [-1, 99, "don't know", "N/A"])
def test_a_code_is_asked_about_though_few_gave_it(tmp_path, rng, code):
    rows = opinions(rng, (0, 1, 2))
    path = tmp_path / "votes.csv"
    path.write_text(long([*rows[:-1], [*rows[-1][:2], code]]))
    without, with_code = votes_asked(path)
    assert (without.n_votes.sum(), with_code.n_votes.sum()) == (3 * N_ITEMS - 1, 3 * N_ITEMS)


@pytest.mark.parametrize(
    "labels",
    [
        (-1, 0, 1), (-2, -1, 0, 1, 2), (-1, 1), (-3, -1, 0, 2), (0, 1, 2, 3), (1, 3, 5, 7, 9),
        (7, 8, 9), (1, 2, 3, 4, 5, 6, 7, 8, 9), ("+", "-", "0"), ("none", "mild", "severe"),
        ("yes", "no", "unsure"),
        ("hate", "neither", "other", "unclear"), ("A", "A-", "A+"),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("form", FORMS)
def test_a_scale_and_a_class_are_read_as_they_stand(tmp_path, rng, labels, form):
    rows = opinions(rng, labels, n_votes=5)
    name, write = FORMS[form]
    (tmp_path / name).write_text(write(rows))
    assert totals(load(tmp_path / name)) == count(rows)


@pytest.mark.parametrize(
    "word",
    ["can't tell", "Cannot judge", "can’t say", "refused", "timeout", "TODO", "SKIPPED_BY_USER"],
)
def test_a_word_that_may_be_no_answer_is_remarked_on(tmp_path, rng, word):
    path = tmp_path / "votes.csv"
    path.write_text(long([*opinions(rng, ("ham", "spam")), ["ham", word, "ham"]]), "utf-8")
    code, said = run("dataset", "check", path)
    assert (code, f"may stand for no answer are kept: {word!r}" in said) == (0, True)


@pytest.mark.parametrize("format", ["long", "columns, labels: said"])
def test_a_field_that_was_renamed_is_named(tmp_path, format):
    path = tmp_path / "votes.yml"
    path.write_text(
        "name: v\ntitle: v\nlabels: [0, 1]\nfiles: [{name: votes.csv}]\n"
        f"reader: {{format: {format}, ignore: [-1]}}\n"
    )
    with pytest.raises(ChaosError, match="`ignore` is called `missing`"):
        load(path)


def test_most_people_may_say_zero_or_the_lowest_of_a_scale(tmp_path, rng):
    for k, labels in enumerate([(0, 1, 2, 3), (-1, 0, 1)]):
        rows = [[labels[0]] * 5 if n % 4 else row
                for n, row in enumerate(opinions(rng, labels, n_votes=5))]  # fmt: skip
        path = tmp_path / f"votes{k}.csv"
        path.write_text(matrix(rows))
        assert totals(load(path)) == count(rows)


@pytest.mark.parametrize("said", ["-1", "[-1]", "[-1.0]", "['-1']", "['-1.0', skipped]"])
@pytest.mark.parametrize("cells", [("0", "-1"), ("0.0", "-1.0"), ("00", "-01")])
def test_a_number_is_missing_however_it_is_written(tmp_path, said, cells):
    path = tmp_path / "votes.yml"
    path.with_suffix(".csv").write_text("item,label\na,{}\na,1\na,{}\n".format(*cells))
    reader = f"{{format: long, missing: {said}}}"
    path.write_text(
        f"name: v\ntitle: v\nlabels: [0, 1]\nfiles: [{{name: votes.csv}}]\nreader: {reader}\n"
    )
    assert load(path).counts.tolist() == [[1, 1]]


def test_no_value_in_a_list_is_missing_where_that_is_said(tmp_path):
    path = tmp_path / "votes.jsonl"
    path.write_text('{"item": 1, "labels": ["a", null, ""]}\n{"item": 2, "labels": ["a", "b"]}\n')
    code, said = run("dataset", "check", path)
    assert (code, 'missing: [""]' in said) == (2, True)
    assert run("dataset", "init", path)[0] == 2
    described = path.with_suffix(".yml")
    described.write_text(
        described.read_text().replace("labels: labels", 'labels: labels, missing: [""]')
    )
    assert load(described).counts.tolist() == [[1, 0], [1, 1]]


def test_a_label_is_not_missing_as_well(tmp_path):
    path = tmp_path / "votes.yml"
    path.write_text(
        "name: v\ntitle: v\nlabels: [-1, 0, 1]\nfiles: [{name: votes.csv}]\n"
        "reader: {format: long, missing: [-1.0]}\n"
    )
    with pytest.raises(ChaosError, match=r"missing names '-1.0', which is a label"):
        load(path)


def test_a_number_outside_a_slider_is_no_answer(tmp_path, rng):
    ratings = rng.integers(0, 101, (N_ITEMS, 5))
    path = tmp_path / "votes.csv"
    path.write_text(long([*map(list, ratings[:-1]), [*ratings[-1], -1, -1]]))
    assert "'-1' may stand for no answer" in run("dataset", "check", path)[1]
    assert "no answers" in run("dataset", "init", path, "--cut", "0,50,100")[1]
    assert load(path.with_suffix(".yml")).n_votes.sum() == ratings.size


def test_columns_of_numbers_below_zero_are_people(tmp_path, rng):
    rows = opinions(rng, (0, 1, 2))
    path = tmp_path / "votes.csv"
    path.write_text(matrix(spread(rng, rows, -1)).replace("worker_", "p"))
    assert totals(votes_asked(path)[0]) == count(rows)


def test_a_column_of_its_own_may_say_that_an_item_was_skipped(tmp_path):
    path = tmp_path / "votes.csv"
    names = "item,worker,Answer.k.yes,Answer.k.no,Answer.k.skip"
    path.write_text(f"{names}\n1,a,true,false,false\n1,b,false,false,true\n2,a,false,true,false\n")
    assert [votes.n_votes.sum() for votes in votes_asked(path)] == [2, 3]


def test_a_column_of_skipped_items_is_asked_about(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("item,yes,no,skip\na,3,1,2\nb,0,4,0\n")
    assert [votes.n_votes.tolist() for votes in votes_asked(path)] == [[4, 4], [6, 4]]


SPELLINGS = [
    ("1", "1.0", "2"), ("1", "01", "2"), ("Yes", "yes", "no"), ("café", "cafe\u0301", "thé"),
    ("ＡＢ", "AB", "C"), ("True", "true", "False"), ("True", "1", "False"), ("y", "yes", "no"),
    ("don't", "don’t", "do"), ("not bad", "not_bad", "bad"), ("yes.", "yes", "no"),
    ("a\u200bb", "ab", "c"), ("❤\ufe0f", "❤", "no"), ("'yes'", "yes", "no"),
    ("Type 1", "type_1", "x"), ("hate  speech", "Hate speech", "none"),
]  # fmt: skip


@pytest.mark.parametrize("labels", SPELLINGS, ids=ascii)
def test_two_spellings_of_one_label_are_asked_about(tmp_path, labels):
    one, other, third = labels
    path = tmp_path / "votes.csv"
    path.write_text(long([[one, other, third], [other, one, one]]), "utf-8")
    merged, *apart = votes_asked(path)
    assert sorted(totals(merged).values()) == [1, 5]
    assert merged.counts.max(axis=1).tolist() == [2, 3]
    for votes in apart:  # but where a label of this name cannot be shown
        assert totals(votes) == {one: 3, other: 2, third: 1}


def test_one_label_in_two_spellings_is_not_two(tmp_path):
    path = tmp_path / "votes.csv"
    spellings = [unicodedata.normalize(form, "négatif") for form in ("NFC", "NFD")]
    path.write_text(long([spellings] * 10), "utf-8")
    code, said = run("dataset", "check", path)
    assert code == 2
    assert "'n\\xe9gatif', 'ne\\u0301gatif'" in said
    described = path.with_suffix(".yml")
    described.write_text(
        "name: v\ntitle: v\nlabels: [positif, négatif]\nfiles: [{name: votes.csv}]\n"
        "reader: {format: long, annotator: annotator}\n",
        "utf-8",
    )
    assert load(described).counts.tolist() == [[0, 2]] * 10


CHOICES = [["a"], ["b"], ["a", "b"], ["b"], ["a", "b"], ["a"]]  # of three people on two items
SINGLE, AS_THEY_STAND = {"a": 4, "b": 4}, [2, 2, 2]


@pytest.mark.parametrize("separator", [",", ", ", ";", "|", "/"])
def test_several_labels_in_a_cell_may_be_one_person_s(tmp_path, separator):
    path = tmp_path / "votes.csv"
    given = [separator.join(one) for one in CHOICES]
    path.write_text(long([given[:3], given[3:]]))
    apart, together = votes_asked(path)
    assert totals(apart) == SINGLE
    assert np.bincount(apart.annotations.annotator).tolist() == [2, 3, 3]
    assert sorted(totals(together).values()) == AS_THEY_STAND
    path.write_text(path.read_text() + '1,w0,"b"\n')  # a second vote is one as before
    with pytest.raises(ChaosError, match="second vote on item '1'"):
        load(path.with_name("reading1.yml"))


@pytest.mark.parametrize(
    "form", ["objects by annotator", "lists by annotator", "a column each", "Label Studio"]
)
def test_several_labels_in_json_may_be_one_person_s(tmp_path, form):
    people = [CHOICES[:3], CHOICES[3:]]
    if form == "objects by annotator":
        content = {
            str(k): {"text": f"text {k}", "annotations": {
                f"Ann{who}": ",".join(one) for who, one in enumerate(row)
            }} for k, row in enumerate(people)
        }  # fmt: skip
    elif form == "lists by annotator":
        content = [{"item": k, "annotator": who, "label": one}
                   for k, row in enumerate(people) for who, one in enumerate(row)]  # fmt: skip
    elif form == "a column each":
        content = [{"item": k} | {f"rater_{who}": one for who, one in enumerate(row)}
                   for k, row in enumerate(people)]  # fmt: skip
    else:
        content = [
            {"id": k, "annotations": [
                {"completed_by": who, "was_cancelled": False, "result": [
                    {"from_name": "k", "type": "choices", "value": {"choices": one}}]}
                for who, one in enumerate(row)
            ]} for k, row in enumerate(people)
        ]  # fmt: skip
    path = tmp_path / "votes.json"
    path.write_text(json.dumps(content))
    votes = votes_asked(path)[0]
    assert totals(votes) == SINGLE
    if form != "a column each":
        assert np.bincount(votes.annotations.annotator).tolist() == [2, 3, 3]


def test_a_comma_in_a_label_is_no_choice_of_several(tmp_path):
    labels = ["Paris, France", "Rome, Italy", "Bonn, Germany"]
    (tmp_path / "votes.csv").write_text(long([labels, labels[:2]]))
    assert list(totals(load(tmp_path / "votes.csv"))) == sorted(labels)


COUNTS = [[2, 1, 0], [3, 0, 0], [1, 1, 1], [0, 2, 1]]


@pytest.mark.parametrize("quoted", [False, True])
def test_small_counts_in_lists_are_asked_about(tmp_path, quoted):
    path = tmp_path / "votes.jsonl"
    path.write_text(lists(map(str, COUNTS) if quoted else COUNTS))
    as_counts, as_ratings = votes_asked(path)
    assert as_counts.counts.tolist() == COUNTS
    assert totals(as_ratings) == {"0": 4, "1": 5, "2": 2, "3": 1}


@pytest.mark.parametrize("names", ["labels", "classes"])
@pytest.mark.parametrize("counts", ["votes", "annotations"])
def test_the_labels_beside_counts_are_their_names(tmp_path, names, counts):
    path = tmp_path / "votes.json"
    given = [[2, 1, 0], [4, 0, 1], [0, 1, 0]]
    rows = [{"id": k, counts: row, names: ["x", "y", "z"]} for k, row in enumerate(given)]
    path.write_text(json.dumps(rows))
    votes = votes_asked(path)[0]
    assert (votes.dataset.labels, votes.counts.tolist()) == (("x", "y", "z"), given)


def test_labels_beside_counts_of_their_own_are_not_one_vote_each(tmp_path):
    path = tmp_path / "votes.jsonl"
    rows = [(["x", "y"], [3, 1]), (["y", "z"], [2, 2]), (["z", "x"], [1, 4])]
    path.write_text(
        "".join(json.dumps({"id": k, "labels": names, "counts": n}) + "\n"
                for k, (names, n) in enumerate(rows))
    )  # fmt: skip
    assert "whole numbers are listed in 'counts'" in run("dataset", "check", path)[1]


@pytest.mark.parametrize("labels", [(0, 1), (0, 1, 2), (1, 2, 3, 4, 5)], ids=str)
def test_lists_of_ratings_are_read_as_they_stand(tmp_path, rng, labels):
    rows = opinions(rng, labels)
    (tmp_path / "votes.jsonl").write_text(lists(rows))
    assert totals(load(tmp_path / "votes.jsonl")) == count(rows)


@pytest.mark.parametrize("label", ["{'ham', 'spam'}", "(0, 1)", "[0 1 1]"])
def test_whole_lists_are_no_labels(tmp_path, label):
    path = tmp_path / "votes.tsv"
    path.write_text(f"key\tsaid\n1\t{label}\n2\tham\n")
    code, said = run("dataset", "check", path, "--item", "key", "--label", "said")
    assert code == 2, said


@pytest.mark.parametrize("votes", [".0", ""])
@pytest.mark.parametrize("predicted", ["", ".0"])
def test_predictions_are_for_a_number_however_it_is_written(tmp_path, rng, votes, predicted):
    rows = [[f"{label}{votes}" for label in row] for row in opinions(rng, (1, 2, 3), n_votes=5)]
    data, model = tmp_path / "votes.csv", tmp_path / "model.csv"
    data.write_text(long(rows))
    names = [f"{label}{predicted}" for label in (1, 2, 3)]
    table = pd.DataFrame({"uid": range(N_ITEMS), "predicted_label": names[2]})
    model.write_text(
        table.assign(**dict(zip(names, (0.2, 0.3, 0.5), strict=True))).to_csv(index=False)
    )
    (system,) = chaos.read_predictions(str(model), load(data))
    assert system.probabilities.tolist() == [[0.2, 0.3, 0.5]] * N_ITEMS


def test_counts_by_labels_that_are_numbers_are_no_second_header(tmp_path):
    (tmp_path / "votes.csv").write_text("item,1,2,3\na,1,2,0\nb,3,1,2\n")
    assert load(tmp_path / "votes.csv").counts.tolist() == [[1, 2, 0], [3, 1, 2]]
