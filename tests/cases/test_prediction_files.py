"""Files of predictions that others' tools write, read by the API as they were meant."""

import json

import numpy as np
import pandas as pd
import pytest
from helpers.faults import refused

import chaos_utils as chaos
from chaos_utils.base.errors import ChaosError

LABELS = ["calm", "tense", "mixed"]
N = 36


def row(i):
    """Return what the model says of item i: mostly that it has label i mod 3."""
    return [0.7 if k == i % 3 else 0.2 if k == (i + 1) % 3 else 0.1 for k in range(3)]


EXPECTED = np.array([row(i) for i in range(N)])
BY_LABEL = [[{"label": name, "score": one} for name, one in zip(LABELS, row(i), strict=True)]
            for i in range(N)]  # fmt: skip
LIKELIEST_FIRST = [sorted(one, key=lambda pair: -pair["score"]) for one in BY_LABEL]


@pytest.fixture
def votes(tmp_path):
    """Ten votes per item, most of them for label i mod 3."""
    counts = np.array([[6 if k == i % 3 else 2 for k in range(3)] for i in range(N)])
    table = pd.DataFrame(counts, columns=LABELS)
    table.insert(0, "uid", [f"v{i}" for i in range(N)])
    table.to_csv(tmp_path / "moods.csv", index=False)
    return chaos.load("moods", data=tmp_path / "moods.csv")


@pytest.fixture
def read(votes, tmp_path):
    def call(content, **given):
        (tmp_path / "m.csv").write_text(content)
        (system,) = chaos.read_predictions(tmp_path / "m.csv", votes, **given)
        return system

    return call


def lines(header, line, n=N):
    return "\n".join([*header, *map(line, range(n))]) + "\n"


def of_rows(name, spelled=str, more=""):
    """Return a file with a row per item and label, whose labels are spelled in some way."""
    return lines([f"uid,{name},prob{more and ',text'}"], lambda i: "\n".join(
        f"v{i},{spelled(label)},{one}" + (more and f",{more} {i}")
        for label, one in zip(LABELS, row(i), strict=True)))  # fmt: skip


SPELLED = {
    "a submission of LeWiDi": lines([], lambda i: f"v{i}\t{row(i)}"),
    "the same with commas": lines([], lambda i: f'v{i},"{row(i)}"'),
    "a list in TSV": lines(["id\tprobs"], lambda i: f"v{i}\t{row(i)}"),
    "numpy's list": lines(["uid,probs"], lambda i: f"v{i},{np.array(row(i))}"),
    "numpy's numbers": lines(["uid,probs"], lambda i: f'v{i},"{[*map(np.float64, row(i))]}"'),
    "an array": lines(["uid,prediction"], lambda i: f'v{i},"array({row(i)}, dtype=float32)"'),
    "a tensor of one row": lines(["uid,probs"], lambda i: f'v{i},"tensor([{row(i)}])"'),
    "a tensor on a device": lines(["uid,probs"], lambda i:
        f'v{i},"tensor({row(i)}, device=\'cuda:0\', grad_fn=<SoftmaxBackward0>)"'),
    "powers of ten": lines(["uid,probs"], lambda i:
        f"v{i},[{' '.join(f'{one:.16e}' for one in row(i))}]"),
    "a tuple": lines(["uid,probs"], lambda i: f'v{i},"{tuple(row(i))}"'),
    "an object of Python": lines(
        ["uid,output"], lambda i: f'v{i},"{dict(zip(LABELS, row(i), strict=True))}"'
    ),
    "a pipeline": lines([], lambda i: json.dumps({"uid": f"v{i}", "out": LIKELIEST_FIRST[i]})),
    "a pipeline by uid": json.dumps({f"v{i}": [LIKELIEST_FIRST[i]] for i in range(N)}),
    "a pipeline in CSV": lines(["uid,out"], lambda i: f'v{i},"{LIKELIEST_FIRST[i]}"'),
    "zero-shot": lines([], lambda i: json.dumps(
        {"uid": f"v{i}", "sequence": "a text", "labels": [one["label"] for one in BY_LABEL[i]],
         "scores": [one["score"] for one in BY_LABEL[i]]})),
    "a row per label": of_rows("label"),
    "the same beside texts": of_rows("emotion", more="how it went on day"),
    "the same with a model": lines(["model,uid,class,p"], lambda i: "\n".join(
        f"m,v{i},{label},{one}" for label, one in zip(LABELS, row(i), strict=True))),
}  # fmt: skip


@pytest.mark.parametrize("content", SPELLED.values(), ids=SPELLED.keys())
def test_predictions_are_read_however_they_are_spelled(read, content):
    system = read(content)
    assert system.uids == tuple(f"v{i}" for i in range(N))
    np.testing.assert_allclose(system.probabilities, EXPECTED)
    assert not system.one_label


def test_parquet_holds_lists_and_rows_as_well(votes, tmp_path):
    uids = [f"v{i}" for i in range(N)]
    of_lists = pd.DataFrame({"uid": uids, "prediction": EXPECTED.tolist()})
    of_rows = pd.DataFrame(EXPECTED, uids, LABELS).rename_axis("uid").melt(ignore_index=False)
    for table in (of_lists, of_rows.rename(columns={"variable": "label"}).reset_index()):
        table.to_parquet(tmp_path / "m.parquet")
        (system,) = chaos.read_predictions(tmp_path / "m.parquet", votes)
        np.testing.assert_allclose(system.probabilities, EXPECTED)


def test_an_order_that_no_name_gives_is_said(read):
    order = "are read in the order calm, tense, mixed"
    assert order in " ".join(read(SPELLED["a submission of LeWiDi"]).notes)
    assert order in " ".join(read(SPELLED["an array"]).notes)
    assert not read(SPELLED["a pipeline"]).notes


def test_what_a_file_calls_labels_is_asked_and_may_be_said(read):
    numbered = of_rows("label", lambda label: f"LABEL_{LABELS.index(label)}")
    with pytest.raises(ChaosError, match="--answers 'LABEL_0'"):
        read(numbered)
    answers = {f"LABEL_{k}": label for k, label in enumerate(LABELS)}
    np.testing.assert_allclose(read(numbered, answers=answers).probabilities, EXPECTED)


NEXT = [LABELS[(LABELS.index(label) + 1) % 3] for label in LABELS]
MIXED_UP = {
    "rows": of_rows("label", dict(zip(LABELS, NEXT, strict=True)).get),
    "objects": lines([], lambda i: json.dumps(
        {"uid": f"v{i}", "probs": dict(zip(NEXT, row(i), strict=True))})),
}  # fmt: skip


@pytest.mark.parametrize("content", MIXED_UP.values(), ids=MIXED_UP.keys())
def test_a_model_whose_labels_are_mixed_up_is_refused(read, content):
    with pytest.raises(ChaosError, match="id2label"):
        read(content)


def test_answers_in_words_have_no_order(read):
    system = read(lines(["uid,sample"], lambda i: f"v{i},{NEXT[i % 3]}"))
    assert system.predicted.tolist() == [(i + 1) % 3 for i in range(N)]
    assert "order" not in " ".join(system.notes)


def in_json(more):
    return lines([], lambda i: json.dumps({"uid": f"v{i}", "probs": row(i), **more}))


NOTED = {
    "another list": (lines(["uid;probs;probs_t2"], lambda i: f"v{i};{row(i)};{row(i + 1)}"),
                     "not read: probs_t2"),
    "columns beside a list": (
        lines([f"uid;probs;{';'.join(LABELS)}"], lambda i: f"v{i};{row(i)};1;0;0"),
        "not read: calm, tense, mixed"),
    "ranks of labels": (lines(["uid,rank,label,score"], lambda i: "\n".join(
        f"v{i},{k},{LABELS[k]},{row(i)[k]}" for k in range(3))), "not read: rank, not the same"),
    "texts beside rows": (of_rows("label", more="day"), "not read: text"),
    "many columns": (
        lines([f"uid;probs;{';'.join('abcdefg')}"], lambda i: f"v{i};{row(i)}{';because' * 7}"),
        "not read: a, b, c, d, e and 2 more"),
    "a long name": (lines([f"uid;probs;{'n' * 99}"], lambda i: f"v{i};{row(i)};why"),
                    f"not read: {'n' * 80} …"),
    "a name in two lines": (in_json({"new\nnote: read": "why", "\u202eright": 1}),
                            r"not read: 'new\nnote: read', '\u202eright'"),
    "a long name in lines": (in_json({"\n" + "n" * 99: "why"}), f"not read: '{'n' * 78}…"),
    "names of people": (
        lines(["uid;probs;Alice;Bob;day"], lambda i: f"v{i};{row(i)};{LABELS[0]};;Monday"),
        "not read: 1 column of labels, day"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "note"), NOTED.values(), ids=NOTED.keys())
def test_values_that_are_left_out_are_named(read, content, note):
    system = read(content)
    np.testing.assert_allclose(system.probabilities, EXPECTED)
    assert any(one.startswith(note) for one in system.notes)


def test_labels_in_a_column_each_are_perhaps_meant_as_labels(read):
    one_hot = lines(["uid,calm,tense,mixed"], lambda i: f"v{i},{i % 3 == 0:d},{i % 3 == 1:d},"
                    f"{i % 3 == 2:d}")  # fmt: skip
    assert "write them in a column predicted_label" in " ".join(read(one_hot).notes)


def with_line(content, i, line):
    every = content.splitlines()
    return "\n".join([*every[:i], *line, *every[i + 1 :]])


FAULTS = {
    "no ids": (json.dumps(LIKELIEST_FIRST), "names no items", "write the uid beside"),
    "no ids, the likeliest": (json.dumps([one[0] for one in LIKELIEST_FIRST]), "write the uid"),
    "no ids, lines": (lines([], lambda i: json.dumps(LIKELIEST_FIRST[i])), "write the uid"),
    "some labels": (json.dumps({f"v{i}": LIKELIEST_FIRST[i][:2] for i in range(N)}), "top_k=None"),
    "never a label": (json.dumps({f"v{i}": BY_LABEL[i][:2] for i in range(N)}), "no column mixed"),
    "a run of another tool": (
        lines([], lambda i: json.dumps({"custom_id": f"v{i}", "result": {"type": "succeeded"}})),
        "'custom_id', 'result'", "columns uid and sample"),
    "no header": (lines([], lambda i: f"v{i},0.2,0.3,0.5"), "has no header", "add a first line"),
    "no row": (with_line(of_rows("label"), 5, []), "uid 'v1' has no row for 'tense'"),
    "a row again": (of_rows("label") + "v3,calm,0.2\n", "label 'calm' again", "'sample'"),
    "sums": (of_rows("label").replace("0.7", "0.6"), "the sum is 0.9"),
    "cut short": (lines(["uid,probs"], lambda i: f"v{i},[0.1 ... 0.2]"), "leaves numbers out"),
    "too short": (lines(["uid,probs"], lambda i: f"v{i},[0.5 0.5]"), "2 values", "3 finite"),
    "two lists": (lines(["uid;human;gpt"], lambda i: f"v{i};{row(i)};{row(i + 1)}"),
                  "Several columns", "'human', 'gpt'", "'probs'"),
    "two lists, one damaged": (
        with_line(lines(["uid;a;b"], lambda i: f"v{i};{row(i)};{row(i)}"), 3, ["v2;[.1;[0 0 1]"]),
        "Several columns"),
    "another order": (lines([], lambda i: f"v{i}\t{row(i)[1:] + row(i)[:1]}"), "another order"),
    "a damaged line": (with_line(SPELLED["a submission of LeWiDi"], 4, ["v4 [0.1"]), "line 5"),
}  # fmt: skip


@pytest.mark.parametrize("case", FAULTS.values(), ids=FAULTS.keys())
def test_what_cannot_be_read_is_named(read, case):
    content, *words = case
    with refused(any=tuple(words)):
        read(content)
