"""How a language model was asked decides how its answers are read, and what is refused."""

import json
from contextlib import suppress
from math import log

import numpy as np
import pandas as pd
import pytest
from helpers import predictions as made
from helpers.faults import refused
from helpers.model_runs import (
    LABELS,
    answered,
    generated,
    places,
    put,
    sample_of,
    with_tokens,
)

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.scoring.asking import WAYS, from_percentages, stated_percentages
from chaos_utils.scoring.predictions import read_predictions

LETTERS = dict(zip("ABC", LABELS, strict=True))
N = made.N


@pytest.fixture
def read(tmp_path):
    votes = made.made_votes(get_dataset("snli"))

    def read_text(text, asked, answers=LETTERS, **given):
        (tmp_path / "m.csv").write_text(text)
        return read_predictions(tmp_path / "m.csv", [votes], asked=asked, answers=answers, **given)

    return read_text


def lines(make, n=N):
    return "".join(json.dumps(make(i)) + "\n" for i in range(n))


def notes_of(system):
    return " | ".join(system.notes)


def percents(i, of=100):
    return [round(of * share, 4) for share in made.shares(i)]


def of_columns(row, header="uid,A,B,C"):
    return "\n".join([header, *(",".join(map(str, (f"u{i}", *row(i)))) for i in range(N))]) + "\n"


def stated(i, line="{}: {}%", between="\n", of=100):
    return between.join(line.format(*one) for one in zip("ABC", percents(i, of), strict=True))


EXPECTED = np.array([made.shares(i) for i in range(N)])
# Percentages however they are written: all of these say the same.
SPELLED = {
    "0 to 100": of_columns(percents),
    "0 to 1": of_columns(lambda i: percents(i, 1)),
    "signs": of_columns(lambda i: [f"{one} %" for one in percents(i)]),
    "words": of_columns(lambda i: [f"{one} percent" for one in percents(i)]),
    "sum 95": of_columns(lambda i: [f"{one:.3f}" for one in percents(i, 95)]),
    "sum 1.05": of_columns(lambda i: [f"{one:.5f}" for one in percents(i, 1.05)]),
    "objects": lines(lambda i: {"uid": f"u{i}", "percentages": dict(
        zip(LABELS, percents(i), strict=True))}),
    "objects with signs": lines(lambda i: {"uid": f"u{i}", "percentages": dict(
        zip("CBA", [f"{one}%" for one in percents(i)[::-1]], strict=True))}),
    "lists": lines(lambda i: {"uid": f"u{i}", "percentages": percents(i)}),
    "a batch": lines(lambda i: answered(i, stated(i))),
    "labels for letters": lines(lambda i: answered(i, "\n".join(
        f"- **{label.title()}**: {one}%" for label, one in zip(LABELS, percents(i), strict=True)))),
    "letters and labels": lines(lambda i: answered(i, "\n".join(
        f"{letter}. {LETTERS[letter]} = {one}" for letter, one in
        zip("ABC", percents(i), strict=True)))),
    "in a line": lines(lambda i: answered(i, stated(i, "{}: {}", ", ", 1))),
    "JSON": lines(lambda i: answered(i, "```json\n" + json.dumps(
        dict(zip("ABC", percents(i), strict=True)), indent=1) + "\n```")),
    "two answers": lines(lambda i: answered(i, stated(i), stated(i, of=97))),
    "the harness": lines(lambda i: generated(i, stated(i))),
    "samples": "uid,sample\n" + "".join(f'u{i},"{stated(i)}"\n' for i in range(N)),
}  # fmt: skip


@pytest.mark.parametrize("text", SPELLED.values(), ids=SPELLED.keys())
def test_percentages_are_shares_however_they_are_stated(read, text):
    (one,) = read(text, "percentages")
    np.testing.assert_allclose(one.probabilities, EXPECTED, atol=2e-5)
    n_changed = N if "sum" in next(k for k, v in SPELLED.items() if v == text) else 0
    of_all = "40 of 80 answers" if text == SPELLED["two answers"] else f"{n_changed} of 40 items"
    assert f"percentages renormalised on {of_all}; 0 unread" in notes_of(one)


UNREAD = {
    "a sum of 80": (40, 30, 10),
    "a sum of 94.9": (50, 30, 14.9),
    "a sum of 105.1": (50, 30, 25.1),
    "shares with signs": ("0.5%", "0.3%", "0.2%"),
    "a negative": (-10, 60, 50),
    "words for numbers": ("sixty", 30, 10),
    "about": ("about 60%", "30%", "10%"),
    "a range": ("50-60%", "30%", "10%"),
    "a comma": ('"57,5"', 32.5, 10),
    "nothing": ("", 60, 40),
}


@pytest.mark.parametrize("row", UNREAD.values(), ids=UNREAD.keys())
def test_what_is_no_percentage_is_unread_and_counted(read, row):
    text = of_columns(lambda i: row if i in (3, 7) else percents(i, 95) if i < 7 else percents(i))
    (one,) = read(text, "percentages", allow_missing=True)
    assert len(one) == N - 2
    assert {"u3", "u7"}.isdisjoint(one.uids)
    assert "percentages renormalised on 6 of 40 items; 2 unread (answer '" in notes_of(one)
    with refused(any=("2 of 40 items", "2 unread", "--allow-missing")):
        read(text, "percentages")
    text = of_columns(lambda i: row if i < 5 else percents(i))
    with refused(any=("Of the 40 answers of 'm', only 35 state percentages", "95 to 105")):
        read(text, "percentages", allow_missing=True)


@pytest.mark.parametrize(
    "text",
    ["A: 60%", "A: 60%\nB: 40%", "A: 60%\nA: 20%\nB: 10%\nC: 10%", "A: 60\nB: 30\nC: 5\nD: 5",
     "I'd say A: 60%\nB: 30%\nC: 10%", "A: 60%\nB: 30%\nC: 10%\nThat is all.", "60%, 30%, 10%",
     '{"A": 60, "A": 30, "B": 5, "C": 5}', "{", ""],
)  # fmt: skip
def test_nothing_is_taken_from_the_rest_of_an_answer(text):
    assert stated_percentages(text, dict(zip("ABC", range(3), strict=True)).get, 3) is None


def test_the_sum_says_whether_shares_or_percentages_are_meant():
    shares, is_changed = from_percentages(
        [[1, 0, 0], [100, 0, 0], ["1%", "0%", "0%"], [0.5, 0.3, 0.15], [10**400, 0, 0], [1, 1, 0]]
    )
    assert shares[:2].tolist() == [[1, 0, 0], [1, 0, 0]]
    assert np.isnan(shares[[2, 4, 5]]).all()
    assert shares[3] == pytest.approx([10 / 19, 6 / 19, 3 / 19])
    assert is_changed.tolist() == [False, False, False, True, False, False]


def test_numbers_that_may_be_either_are_asked_for(read):
    counts = of_columns(lambda i: [80, 15, 5] if i else [70, 15, 10])
    off = (
        "divide each row by its sum (1 row not by 100, such as line 2 by 95), or pass --asked perc"
    )
    with refused(any=(off, "--asked samples")):
        read(counts, None)
    with refused(any="if these are percentages, divide by 100, or pass --asked percentages"):
        read(of_columns(lambda i: [80, 15, 5]), None)
    (stated_shares,), (drawn,) = read(counts, "percentages"), read(counts, "samples")
    assert stated_shares.probabilities[1] == pytest.approx([0.8, 0.15, 0.05])
    assert drawn.probabilities[1] == pytest.approx(np.array([80.5, 15.5, 5.5]) / 101.5)
    assert drawn.n_samples == (95, 100)
    with refused(any="0.8, no number of samples"):
        read(of_columns(lambda i: [0.8, 0.15, 0.05]), "samples")
    rounded = of_columns(lambda i: percents(i, 0.96))
    with refused(any=("divide each row by its sum", "--asked percentages")):
        read(rounded, None)


def logs_of(i, mass=0.9, **more):
    logs = {letter: log(mass * p) for letter, p in zip("ABC", made.shares(i), strict=True)}
    return {"uid": f"u{i}", "logprobs": logs | more}


def spelled_twice(i):
    a, b, c = (0.9 * p for p in made.shares(i))
    tokens = {"A": a / 2, " A": a / 4, "a": a / 4, "B": b, "C": c, "The": 0.05}
    return {"uid": f"u{i}", "logprobs": {token: log(p) for token, p in tokens.items()}}


@pytest.mark.parametrize(
    "text",
    [lines(logs_of), lines(spelled_twice),
     lines(lambda i: {"uid": f"u{i}", "logprobs": list(logs_of(i)["logprobs"].values())}),
     of_columns(lambda i: logs_of(i)["logprobs"].values()),
     lines(lambda i: with_tokens(i, {letter: 0.9 * p for letter, p in
                                     zip("ABC", made.shares(i), strict=True)})),
     lines(lambda i: sample_of(i, "ABC"))],
    ids=["by token", "several spellings", "lists", "columns", "a batch", "the harness"],
)  # fmt: skip
def test_log_probabilities_are_renormalised_over_labels_and_their_spellings(read, text):
    (one,) = read(text, "logprobs")
    np.testing.assert_allclose(one.probabilities, EXPECTED)
    assert "90.0% of the" in notes_of(one) or "log-likelihoods" in notes_of(one)


def test_tiny_probabilities_do_not_vanish(read):
    (one,) = read(lines(lambda i: logs_of(i, 1e-290)), "logprobs")
    np.testing.assert_allclose(one.probabilities, EXPECTED)


def without(i, letter):
    row = logs_of(i)
    del row["logprobs"][letter]
    return row


BATCH = [with_tokens(i, {"A": 0.7, "B": 0.2, "C": 0.05}) for i in range(N)]
ABOVE = json.dumps(BATCH[3]).replace(str(log(0.7)), "0.4")
# Text, how it was asked, and what the error says.
REFUSED = {
    "one lacks a label": (lines(lambda i: without(i, "B") if i == 4 else logs_of(i)), "logprobs",
                          ("line 5, no log-probability for neutral", "1 fault")),
    "all lack a label": (lines(lambda i: without(i, "B")), "logprobs", "no column neutral"),
    "above 0": (lines(lambda i: logs_of(i, **({"A": 0.7} if i == 2 else {}))), "logprobs",
                ("line 3, 0.7 is above 0", "leave out --asked logprobs")),
    "probabilities": (of_columns(made.shares), "logprobs", "40 faults"),
    "more than all": (lines(lambda i: logs_of(i, 1.02)), "logprobs", "add up to 1.02"),
    "negative, unasked": (lines(logs_of), None, "pass --asked logprobs"),
    "a batch above 0": ("\n".join(map(json.dumps, BATCH[:3])) + f"\n{ABOVE}\n", "logprobs",
                        ("line 4", "a log-probability above 0")),
    "a batch without": (lines(lambda i: answered(i, "A")), "logprobs", "none for a label"),
    "a batch without one": (lines(lambda i: with_tokens(i, {"A": 0.7, "B": 0.2})), "logprobs",
                            "none for contradiction on any item"),
    "a batch of reasons": (lines(lambda i: with_tokens(
        i, {"The": 0.8, "A": 0.1, "B": 0.06, "C": 0.04})), "logprobs",
        "labels have 20.0% of the first token's probability"),
    "the harness above 0": (lines(lambda i: sample_of(
        i, "ABC", filtered_resps=[["0.5", "False"]] * 3)), None, "none above 0"),
    # samples of another prompt
    "other labels": (lines(lambda i: answered(i, "Yes", "No")), "samples", "none is a label"),
    "other labels' percentages": (lines(lambda i: answered(i, "Yes: 60%\nNo: 40%")), "percentages",
                                  ("none states percentages", "'Yes: 60%")),
    "percentages for samples": (lines(lambda i: answered(i, stated(i))), "samples",
                                "--asked percentages"),
    "samples for percentages": (lines(lambda i: answered(i, "A", "B")), "percentages",
                                "none states percentages"),
    "several for a label": (lines(lambda i: answered(i, "A", "A")), "label",
                            ("2 answers", "--asked samples")),
    # what a file cannot hold
    "labels for samples": ("uid,label\nu0,neutral\n", "samples",
                           ("does not hold several labels", "name their column 'sample'")),
    "labels for percentages": ("uid,label\nu0,neutral\n", "percentages", "--asked label"),
    "shares for a label": (of_columns(made.shares), "label", "does not hold one label"),
    "counts for percentages": ("uid,n_samples,A,B,C\nu0,2,1,1,0\n", "percentages",
                               "pass --asked samples"),
    "no way": ("uid,label\nu0,neutral\n", "logprob", ("There is no such way", "logprobs")),
    # duplicates
    "twice": (of_columns(percents) + "u3,80,15,5\n", "percentages", "uid 'u3' again"),
    "twice in a batch": (lines(lambda i: answered(i, stated(i))) + lines(
        lambda i: answered(i, stated(i)), 1), "percentages", "answered twice"),
    "two of a label": ("uid,label\nu0,A\nu0,B\n", "label", "uid 'u0' again"),
    "votes": ("uid,annotator_1,annotator_2\nu0,A,B\n", "label", "a file of votes"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "asked", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_no_answer_to_what_was_asked_is_refused(read, text, asked, words):
    with refused(any=words):
        read(text, asked, allow_missing=True)


def test_a_single_answer_is_a_label_if_one_was_asked_for(read):
    text = lines(lambda i: answered(i, "ABC"[i % 3] if i else "I cannot say."))
    (one,) = read(text, "label", allow_missing=True)
    assert (one.one_label, len(one)) == (True, N - 1)
    assert one.predicted.tolist() == [i % 3 for i in range(1, N)]
    assert "1 of 40 answers are none of the labels" in notes_of(one)
    (drawn,) = read(text, "samples", allow_missing=True)
    assert (drawn.one_label, drawn.n_samples) == (False, (1, 1))


def test_answers_are_samples_where_these_were_asked_for_whatever_the_first_token(read):
    rows = [with_tokens(i, dict.fromkeys("ABC", 0.3)) for i in range(N)]
    (one,) = read(lines(rows.__getitem__), "samples")
    assert one.n_samples == (1, 1)
    assert "first token" not in notes_of(one)


def test_columns_of_labels_are_models_where_models_were_asked(read):
    table = pd.DataFrame(
        {"item_uid": [f"u{i}" for i in range(N)], "gold": [LABELS[i % 3] for i in range(N)],
         "j1": ["enc"[i % 3] for i in range(N)], "j2": ["", *["n"] * (N - 1)]}
    )  # fmt: skip
    text = table.to_csv(index=False)
    with refused(any=("which column holds", "--asked label")):
        read(text, None, answers=None)
    first, second = read(text, "label", answers=None, allow_missing=True)
    assert (first.name, second.name, len(first), len(second)) == ("j1", "j2", N, N - 1)
    assert first.predicted.tolist() == [i % 3 for i in range(N)]
    assert set(second.predicted.tolist()) == {1}
    assert "not read: gold, called as if people" in notes_of(first)
    assert [one.name for one in read(text, "label", answers=None, model="j1")] == ["j1"]
    with pytest.raises(ChaosError, match="1 of 40 items"):
        read(text, "label", answers=None)
    # beside a column that names the model, one column has its labels
    rows = table.drop(columns="j2").assign(model="m").rename(columns={"item_uid": "item_id"})
    (one,) = read(rows.to_json(orient="records", lines=True), "label", answers=None)
    assert (one.name, one.predicted.tolist()) == ("m", first.predicted.tolist())


ODD = [None, True, -3, 1e300, "A", "A: 60%", [1, 2], {"A": "9%"}, {"a": None}]
TYPICAL = {
    "percentages": lambda i: {"uid": f"u{i}", "percentages": {"A": 60, "B": "30%", "C": 10}},
    "logprobs": logs_of,
    "a batch": lambda i: with_tokens(i, {"A": 0.7, "B": 0.2, "C": 0.05}),
    "labels": lambda i: {"uid": f"u{i}", "one": "A", "two": "B", "gold": "C"},
    "counts": lambda i: {"uid": f"u{i}", "A": 60, "B": 30, "C": 10},
}


@pytest.mark.parametrize("asked", WAYS)
@pytest.mark.parametrize("kind", TYPICAL)
def test_any_field_may_hold_anything(read, kind, asked):
    rows = [TYPICAL[kind](i) for i in range(2)]
    for path in places(rows[0]):
        for odd in ODD:
            with suppress(ChaosError):
                read(json.dumps([put(rows[0], path, odd), rows[1]]), asked, allow_missing=True)
