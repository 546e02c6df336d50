"""Runs of language models as their tools leave them: what is read, and what is refused."""

import io
import json
import zipfile

import numpy as np
import pytest
from helpers import predictions as made
from helpers.faults import refused
from helpers.model_runs import (
    LABELS,
    answered,
    generated,
    inspected,
    log_of,
    sample_of,
    with_tokens,
)

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.scoring.label_mapping import answers_of
from chaos_utils.scoring.predictions import read_predictions

LETTERS = dict(zip("ABC", LABELS, strict=True))
HARNESS = "samples_chaos_snli_2026-11-23.jsonl"


@pytest.fixture
def votes():
    return made.made_votes(get_dataset("snli"))


def lines(make, n=made.N):
    return "".join(json.dumps(make(i)) + "\n" for i in range(n))


def read(folder, votes, text, name="m.jsonl", **given):
    path = folder / "some__model" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_predictions(path, [votes], **given)


def same(system):
    expected = [made.shares(i) for i in range(made.N)]
    np.testing.assert_allclose(system.probabilities, expected)


@pytest.mark.parametrize(
    ("make", "answers"),
    [
        (sample_of, None),
        (lambda i: sample_of(i, "ABC"), LETTERS),
        (lambda i: sample_of(i, arguments=[["Q:", f" {c}"] for c in LABELS]), None),
        # the second half is unconditional
        (lambda i: sample_of(
            i, LABELS * 2, metrics=["acc", "acc_mutual_info"],
            filtered_resps=[*sample_of(i)["filtered_resps"], *[["-9.5", "False"]] * 3],
        ), None),
    ],
    ids=["labels", "letters", "older", "mutual information"],
)  # fmt: skip
def test_samples_of_the_harness(tmp_path, votes, make, answers):
    (one,) = read(tmp_path, votes, lines(make), HARNESS, answers=answers)
    same(one)
    assert one.name == "some/model"
    assert "softmax of the choices' log-likelihoods" in one.notes[0]


def test_shares_are_those_of_the_harness(tmp_path, votes):
    """Of a run of its own, which printed them beside its Brier score."""
    logs = ["-3.659146308898926", "-8.074040412902832", "-2.3887505531311035"]
    answers = [[text, "False"] for text in logs]
    text = lines(lambda i: sample_of(i, filtered_resps=answers))
    (one,) = read(tmp_path, votes, text, HARNESS)
    assert one.probabilities[0] == pytest.approx([0.21860992, 0.00264427, 0.77874581], abs=1e-8)


def test_one_filter_of_the_harness_is_read(tmp_path, votes):
    text = lines(sample_of) + lines(lambda i: sample_of(i, filter="other"))
    same(read(tmp_path, votes, text, HARNESS)[0])
    text = lines(lambda i: generated(i, "Neutral.", " neutral", "**neutral**"))
    text += lines(lambda i: generated(i, "maybe", filter="strict"))
    (one,) = read(tmp_path, votes, text, HARNESS, filter="none")
    assert one.n_samples == (3, 3)  # all of them, not the first that the filter takes
    assert one.probabilities[0] == pytest.approx(np.array([0.5, 3.5, 0.5]) / 4.5)
    assert "one of none, strict" in one.notes[0]


@pytest.mark.parametrize("body", [True, False], ids=["OpenAI", "vLLM without body"])
def test_a_batch_is_drawn_answers_in_any_order(tmp_path, votes, body):
    def line(i):
        made_line = answered(i, *[LABELS[i % 3]] * 3, "neutral")
        if not body:
            made_line["response"] = made_line["response"]["body"]
        return json.dumps(made_line) + "\n"

    text = "".join(map(line, reversed(range(made.N))))
    (one,) = read(tmp_path, votes, text)
    assert (one.name, one.n_samples) == ("some-model", (4, 4))
    assert one.probabilities[0] == pytest.approx(np.array([3.5, 1.5, 0.5]) / 5.5)


def test_the_first_token_of_a_batch_is_a_distribution(tmp_path, votes):
    def tokens(i):
        shares = made.shares(i)
        return {f" {c}": 0.96 * p for c, p in zip("ABC", shares, strict=True)} | {"The": 0.04}

    text = lines(lambda i: with_tokens(i, tokens(i)))
    (one,) = read(tmp_path, votes, text, answers=LETTERS)
    same(one)
    assert "labels have 96.0% of the first token's probability" in one.notes[0]
    # a label that is not among the tokens is told, and left out where it may have more than 0.1%
    for least, words in ((0.0009, "not among the first tokens given: it counts as 0"),
                         (0.0011, "1 item unread, with a label that is not among")):  # fmt: skip
        first = {"A": 0.9, "B": 0.05, "The": least}
        text = lines(lambda i: with_tokens(i, first | ({"C": 0.01} if i else {})))  # noqa: B023
        (one,) = read(tmp_path, votes, text, answers=LETTERS, allow_missing=True)
        assert words in " ".join(one.notes)
        assert ("u0" in one.uids) == (least < 0.001)
    # a token that is part of a label says nothing: the answers do
    text = lines(lambda i: with_tokens(i, {"neutral": 0.6, "ent": 0.3}))
    assert read(tmp_path, votes, text)[0].n_samples == (1, 1)


def test_epochs_of_inspect_are_drawn_answers(tmp_path, votes):
    samples = [inspected(i, "ABC"[i % 3], epoch) for i in range(made.N) for epoch in (1, 2)]
    (one,) = read(tmp_path, votes, log_of(samples), "log.json")
    assert (one.name, one.n_samples) == ("openai/some", (2, 2))
    assert one.probabilities[0] == pytest.approx(np.array([2.5, 0.5, 0.5]) / 3.5)
    by_id = [inspected(i, "B", id=i, metadata={"uid": f"u{i}"}) for i in range(made.N)]
    assert read(tmp_path, votes, log_of(by_id))[0].uids[0] == "u0"


def test_what_is_no_label_is_counted_and_what_failed_too(tmp_path, votes):
    def make(i):
        if i == 3:
            return answered(i, response=None, error={"message": "rate limit"})
        return answered(i, *[LABELS[i % 3]] * 19, "I cannot say.")

    (one,) = read(tmp_path, votes, lines(make), allow_missing=True)
    assert len(one) == made.N - 1
    notes = " | ".join(one.notes)
    assert "1 of 40 requests failed ('rate limit')" in notes
    assert "39 of 780 answers are none of the labels and left out" in notes
    assert "sample 'I cannot say.' (39)" in notes
    with pytest.raises(ChaosError, match="rate limit"):
        read(tmp_path, votes, lines(make))


def zipped(*names):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in names:
            archive.writestr(name, "{}")
    return stream.getvalue()


REFUSED = [
    # samples of another task, and what is no samples
    (lines(lambda i: sample_of(i, doc={"question": "?"})), ("doc with question", "doc.uid")),
    (lines(lambda i: sample_of(i, ["True", "Neither", "False"])),
     ("None of the choices is a label", "there are 'True', 'Neither', 'False'",
      "--answers 'True'=entailment")),
    (lines(lambda i: sample_of(i, [f"a{i}", f"b{i}", f"c{i}"])), "choices differ from item to"),
    (lines(lambda i: sample_of(i, doc={"uid": f"x{i}"})), "No uid of 'some/model' occurs"),
    (lines(lambda i: sample_of(i, ["a", "a", "b"])), "3 choices, 3 log-likelihoods"),
    ('{"results": {"a": {}}, "configs": {"a": {}}}', ("--log_samples", "samples_*.jsonl")),
    ('{"custom_id": "u0", "body": {}, "method": "POST"}\n', "the requests of a batch"),
    # answers that are none
    (lines(lambda i: answered(i, "I'm sorry, but I cannot help.")),
     ("Of the 40 answers of 'some-model', none is a label", "cannot help.\" (40)", "up to 10%")),
    (lines(lambda i: answered(i, "neutral", "unclear")), "only 40 are labels"),
    (lines(lambda i: answered(i, f"A. {LABELS[i % 3]}")), "none is a label"),
    (lines(lambda i: answered(i, "AB"[i % 2])), ("sample 'A' (20)", "--answers A=entailment")),
    (lines(lambda i: answered(i, response=None, error="out of credit")),
     ("holds no prediction", "40 of 40 requests failed ('out of credit')", "run again")),
    (log_of([inspected(i, "D") for i in range(made.N)]), ("none is a label", "sample 'D' (40)")),
    (log_of([]), "holds no samples"),
    (log_of(None, status="started"), ("holds no samples", "started")),
    # other kinds of files
    (zipped("header.json", "samples/1_epoch_1.json"), "inspect log convert"),
    (zipped("[Content_Types].xml", "xl/workbook.xml"), ("an Excel workbook", "save it as CSV")),
    (zipped("archive/data.pkl"), "PyTorch file, which is never opened"),
    (zipped("probabilities.npy"), "npz"),
    (zipped("a.csv"), "a zip archive"),
    (b"\x93NUMPY\x01\x00", "npy"),
    (b"\x80\x04\x95", "a pickle, which can run code and is never opened"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words"), REFUSED)
def test_what_cannot_be_read_is_said(tmp_path, votes, text, words):
    with refused(any=words):
        read(tmp_path, votes, text, HARNESS)


def test_answers_that_were_named_are_not_asked_for_again(tmp_path, votes):
    for text, words in (
        (lines(lambda i: answered(i, "AB"[i % 2])), "name the label of each answer in --answers"),
        (lines(lambda i: sample_of(i, "XYZ")), "name the label of each: --answers"),
    ):
        with pytest.raises(ChaosError, match=words):
            read(tmp_path, votes, text, answers={"A": "entailment"})


def test_letters_in_another_order_are_refused(tmp_path, votes):
    other = {"A": "neutral", "B": "contradiction", "C": "entailment"}
    with pytest.raises(ChaosError, match=r"seem to be in another order[\s\S]*correct --answers"):
        read(tmp_path, votes, lines(lambda i: sample_of(i, "ABC")), answers=other)


def test_labels_that_hold_commas_are_named_as_they_are():
    assert answers_of("A=Yes, fully, B=No,C=so, so") == {
        "A": "Yes, fully",
        "B": "No",
        "C": "so, so",
    }


def test_a_letter_and_a_word_are_read_if_they_agree(tmp_path, votes):
    def make(i, shift=0):
        return answered(i, f"{'ABC'[i % 3]}. {LABELS[(i + shift * (i == 0)) % 3].title()}.")

    assert read(tmp_path, votes, lines(make), answers=LETTERS)[0].n_samples == (1, 1)
    (one,) = read(tmp_path, votes, lines(lambda i: make(i, 1)), answers=LETTERS, allow_missing=True)
    assert "sample 'A. Neutral.' (1)" in " ".join(one.notes)


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ({"A": "entailed"}, "did you mean 'entailment'"),
        ({"A": "neutral"}, "no column entailment"),
        ({"A": "entailment"}, "--answers 'B'=neutral,"),
    ],
)
def test_answers_that_name_no_label_or_not_all(tmp_path, votes, answers, words):
    with pytest.raises(ChaosError, match=words):
        read(tmp_path, votes, lines(lambda i: sample_of(i, "ABC")), answers=answers)


@pytest.mark.parametrize(
    ("header", "answers"),
    [("id,Entailment,NEUTRAL,contradiction", None), ("item,e,n,c", None),
     ("uid,LABEL_0,LABEL_1,LABEL_2", {f"LABEL_{k}": name for k, name in enumerate(LABELS)})],
)  # fmt: skip
def test_columns_in_other_words(tmp_path, votes, header, answers):
    text = made.csv_text(header=header)
    same(read(tmp_path, votes, text, "m.csv", answers=answers)[0])
    names = header.split(",")
    rows = [dict(zip(names, [f"u{i}", *made.shares(i)], strict=True)) for i in range(made.N)]
    same(read(tmp_path, votes, "\n".join(map(json.dumps, rows)), answers=answers)[0])
    same(read(tmp_path, votes, json.dumps(rows), answers=answers)[0])
    nested = [{"uid": row.pop(names[0]), "probs": row} for row in rows]
    same(read(tmp_path, votes, json.dumps(nested), answers=answers)[0])
    by_uid = {one["uid"]: one["probs"] for one in nested}
    same(read(tmp_path, votes, json.dumps(by_uid), answers=answers)[0])
    lists = {uid: list(shares.values()) for uid, shares in by_uid.items()}
    same(read(tmp_path, votes, json.dumps(lists))[0])
