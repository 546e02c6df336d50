"""Every fault that a file of predictions can have, at the reader: each is one clear error.

The doors above (the API, the command, the page) show some of them, to prove that they read by it.
"""

import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers import predictions as made

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets import catalogue
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.faults import Faults
from chaos_utils.datasets.frame import FileContent, read_frame
from chaos_utils.datasets.loading import load_all_votes
from chaos_utils.scoring import predictions
from chaos_utils.scoring.predictions import read_predictions
from chaos_utils.scoring.systems import own_systems

HEADER = "uid,entailment,neutral,contradiction"
CSV = f"{HEADER}\n"
LINE = '{"uid": "u0", "probs": [1, 0, 0]}\n'
LABELS = ["entailment", "neutral", "contradiction"]


def votes_on(**given):
    return made.made_votes(get_dataset("snli"), **given)


def csv(line):
    """Return a table without a fault but for the line of u3."""
    lines = [f"u{i}," + ",".join(map(str, made.shares(i))) for i in range(made.N)]
    return made.csv_text([*lines[:3], line, *lines[4:]])


def entries(**third):
    return made.entries_text(
        lambda i: third if i == 3 else {"predicted_probabilities": made.shares(i)}
    )


def of_release(**third):
    return made.lines_text(lambda i: made.released(i, **(third if i == 3 else {})))


def table(**columns):
    return made.table_of(votes_on()).assign(**columns).to_csv(index=False)


# What a file holds, and words that the error must have: one text, or several.
FAULTS = [
    # what is not whole, or in no format
    ("", "empty"),
    ('{"m": {"u0": {"uid": "u0", "logits": [1', "cut off"),
    (LINE + '{"uid": ', "cut off"),
    ("[1]", ("record[0], found 1", "expected a JSON object")),
    ("{}", "holds no prediction"),
    (LINE + "[1, 2]", ("line 2", "expected a JSON object")),
    (LINE[:-4] + "\n" + LINE, "line 1, column"),
    ('{"m": ' * 100_000, "nested too deeply"),
    ('{"uid": "a", "logit": 1.25}',
     ("None of the columns is a label", "there are 'logit'", "--answers 'logit'=entailment,…")),
    ("u0,neutral\nu1,neutral\nu2,entailment\n", ("no header", "first line 'u0,neutral'")),
    ("uid,annotator,label\nu0,Ann,neutral\n", ("a file of votes", "chaos dataset check FILE")),
    ('{"m": {"u0": {"logits": [1, 2, 3]}}}\n' * 2, "give each file by itself"),
    (CSV + "u0,1,0,0\n" + CSV, ("line 3, found the header again", "two files joined")),
    ('{"uid": "u0", "label": "NLI_2"}', ("no labels of ChaosNLI-SNLI", "--answers 'NLI_2=…'")),
    (entries(probability=[1, 0, 0]), "'m', 'u3', no `probs`; keys found: 'uid'"),
    # names and keys
    ('{"a\\u001b[31m": {"u0": {"logits": [1, 2, 3]}}}', "name cannot be shown"),
    ('{"\\ud800": {"u0": {"logits": [1, 2, 3]}}}', "half of a surrogate pair"),
    ('{"m": {"u0": {"logits": [1, 2, 3]}, "u0": {"logits": [1, 2, 3]}}}', "the key 'u0' twice"),
    (f"model,{CSV}m,u0,1,0,0\nm,other,1,0,0\n,u1,1,0,0\n", "no model"),
    # rows and columns
    ("uid,entailment,neutral\nu0,1,0\n", "no column contradiction"),
    (CSV + "u0,1,0\n", "3 fields"),
    (csv("uid,contradiction,neutral,entailment"), "two files joined"),
    (csv("u2,1,0,0"), "line 5, uid 'u2' again"),
    (csv(",1,0,0"), "no uid"),
    ("uid,Entailment,ENTAILMENT,neutral,contradiction\nu0,1,0,0,0\n",
     ("Two columns are for the label 'entailment'", "'Entailment' and 'ENTAILMENT'")),
    (table(hidden=0.2), ("too many columns for", "probabilities of 'hidden'")),
    # numbers
    (csv("u3,1_0,0,0"), "line 5, uid 'u3': entailment '1_0', neutral 0"),
    (csv("u3,0.9,0.0989,0"), "the sum is 0.9989"),
    ("uid,contradiction,rank,entailment,neutral\nu0,0.7,9,0.2,0.11\n",
     "line 2, uid 'u0': contradiction 0.7, entailment 0.2, neutral 0.11: the sum is 1.01"),
    (LINE.replace("1,", "0.9,"), "line 1, uid 'u0': [0.9, 0, 0]: the sum is 0.9"),
    (made.csv_text([f"u{i},0.81,0.1,0.1" for i in range(made.N)]), "divide each row by its sum"),
    (csv("u3,1.5,-0.25,-0.25"), "contradiction -0.25: a value is negative"),
    (LINE.replace("1,", "1" * 400 + ","), "is not finite"),
    (LINE.replace("1,", "1" * 5000 + ","), "a number is too long"),
    (entries(predicted_probabilities=[0.2, 0.8]),
     ("'m', 'u3', 2 values", "1 fault in a file of predictions of 'm'")),
    (entries(predicted_probabilities=[float("nan"), 0.5, 0.5]), "is not finite"),
    (entries(predicted_probabilities=["0.2", 0.3, 0.5]), "'m', 'u3', ['0.2'"),
    (made.lines_text(lambda i: {"probs": [80, 15, 5]}), "divide by 100"),
    (made.csv_text([f"u{i},2,1,0" for i in range(made.N)]), "add a column n_samples"),
    # what contradicts itself
    (entries(logits=[1, 2, 3]), "'m', 'u3', logits; most entries have probabilities"),
    (entries(uid="u7", predicted_probabilities=made.shares(3)),
     "'m', 'u3', the uid inside is 'u7'"),
    (made.entries_text(lambda i: {"logits": [i % 3, 0, 0], "predicted_label": "maybe"}),
     "40 faults"),
    (entries(predicted_probabilities=made.shares(3), logits=[0, 0, 5]), "are not the softmax of"),
    (of_release(conf=0.7), "line 4, conf is 0.7, the largest probability 0.8"),
    (of_release(pred=1), "pred is 1, the largest probability stands at 0"),
    (of_release(pred=3), "pred is 3, no place in a list of 3"),
    (table(predicted_label=[LABELS[(i + (i == 4)) % 3] for i in range(made.N)]),
     "line 6, predicted_label 'contradiction', but another"),
    (table(seed=[0] * 39 + [1]), "The column seed contradicts itself for 'm'"),
    (table(seed="one"), "a whole number, 0 or more"),
    (table(out_of_fold="perhaps"), "true or false"),
    # another order of the classes
    (made.csv_text(header="uid,neutral,contradiction,entailment"),
     ("seem to be in another order", "read as contradiction, entailment, neutral, 100%",
      "to do:     correct the header")),
    (made.lines_text(lambda i: made.released(i, order=(0, 1, 2))),
     ("read as entailment, contradiction, neutral, 35% of the labels are the old",
      "read as entailment, neutral, contradiction, 100%",
      "expected:  the order entailment, contradiction, neutral", "leave index and pred out")),
    # another dataset
    ("uid,label\nT1,bug\nT2,account\n",
     ("no labels of ChaosNLI-SNLI",
      "to do:     for items of your own, pass their votes: --data VOTES; else say which")),
    (made.csv_text([f"other{i},0.2,0.3,0.5" for i in range(5)]),
     ("No uid of 'm' occurs in ChaosNLI-SNLI", "pass their votes: --data VOTES; else check")),
]  # fmt: skip


def fault_of(path, votes, **given):
    with pytest.raises(ChaosError) as fault:
        read_predictions(path, votes, **given)
    text = str(fault.value)
    assert len(text) < 1000
    text.encode()
    return text


@pytest.mark.parametrize(("content", "words"), FAULTS, ids=[str(words) for _, words in FAULTS])
def test_a_fault_is_one_error_that_says_where(tmp_path, content, words):
    words = (words,) if isinstance(words, str) else words
    path = tmp_path / "m.csv"  # whatever it is: the content decides
    path.write_text(content)
    text = fault_of(path, [votes_on()], allow_missing=True)
    assert all(word in text for word in words)


def test_a_notebook_is_advised_in_its_own_words(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("uid,label\nT1,bug\n")
    with pytest.raises(ChaosError) as fault:
        own_systems(votes_on(), [str(path)])
    assert "for items of your own, pass their votes: -p data=VOTES; else" in str(fault.value)
    assert "(`chaos run` lacks --answers: correct the file, or use `cha" in str(fault.value)


@pytest.mark.parametrize(
    "values", [{"neutral": 9.0}, {"neutral": None}, {"predicted_label": "no label"}]
)
def test_the_first_faults_of_a_file_are_named_in_its_order(tmp_path, values):
    """Also where items stand in another order than in the votes."""
    sound = made.table_of(votes_on())
    sound["predicted_label"] = sound[LABELS].idxmax(axis=1)
    shuffled = sound.sample(frac=1, random_state=1).reset_index(drop=True)
    shuffled.loc[12:, list(values)] = list(values.values())
    shuffled.to_csv(tmp_path / "m.csv", index=False)
    text = fault_of(tmp_path / "m.csv", [votes_on()])
    assert re.findall(r"line (\d+), ", text) == ["14", "15", "16", "17", "18"]


def test_parquet_with_other_values(tmp_path):
    for column, value, words in (
        ("neutral", True, "True"),
        ("uid", 7.5, "uid 7.5 is not text"),
        ("predicted_label", [None, *LABELS * 13], "row 1, predicted_label nothing"),
    ):
        made.table_of(votes_on()).assign(**{column: value}).to_parquet(tmp_path / "m.parquet")
        assert words in fault_of(tmp_path / "m.parquet", [votes_on()])


def test_answers_with_faults(tmp_path, monkeypatch):
    monkeypatch.setattr(catalogue, "_user_datasets", {})
    (tmp_path / "answers.csv").write_text("item,label\n1,yes\n1,no\n2,no\n2,no\n")
    votes, samples = load_all_votes(str(tmp_path / "answers.csv")), "item,sample\n1,yes\n1,no\n"
    for content, words in (
        (samples + "2,maybe\n", "sample 'maybe'"),
        (samples + "2,\n", "line 4, no sample"),
        (samples, "1 of 2 items of answers has no prediction"),
        ("uid,n_samples,no,yes\n1,4,1,2\n2,1,1,0\n", "n_samples is 4"),
        ("uid,n_samples,no,yes\n1,3,0.5,2\n2,1,1,0\n", "no is 0.5, no number of samples"),
    ):
        (tmp_path / "m.csv").write_text(content)
        assert words in fault_of(tmp_path / "m.csv", votes)


def test_missing_items_are_counted_and_may_be_allowed(tmp_path):
    votes = votes_on()
    lines = csv("u3,0.8,0.1,0.1").splitlines()
    (tmp_path / "m.csv").write_text("\n".join(lines[:-4]))
    text = fault_of(tmp_path / "m.csv", [votes])
    assert all(
        w in text for w in ("4 of 40 items", "'u36', 'u37', 'u38', 'u39'", "--allow-missing")
    )
    (one,) = read_predictions(tmp_path / "m.csv", [votes], allow_missing=True)
    assert len(one) == made.N - 4
    assert "evaluated on the other 36" in one.notes[0]


def test_items_numbered_from_one_are_named_before_any_is_left_out(tmp_path):
    lines = [f"u{i + 1},0.2,0.5,0.3" for i in range(made.N)]
    path = made.write_csv(tmp_path / "m.csv", lines)
    assert "missing: 'u0'\n             no item of the dataset: 'u40'" in fault_of(
        path, [votes_on()]
    )


def test_genuine_uids_without_the_released_data(tmp_path):
    path = made.write_csv(tmp_path / "m.csv")
    sample, other = votes_on(prefix="sample-", synthetic=True), votes_on(prefix="other-")
    assert "chaos data fetch" in fault_of(path, [sample])
    assert "fetch" not in fault_of(path, [other])
    assert "no dataset" in fault_of(path, [])
    assert read_predictions(path, [other], allow_others=True) == []


@pytest.mark.parametrize(("k", "old_labels"), [(2, True), (9, False)])
def test_the_order_is_checked_for_any_number_of_labels(tmp_path, k, old_labels):
    votes = made.made_votes(
        made.made_dataset(labels=[f"label {c}" for c in range(k)]), old_labels=old_labels
    )
    table = made.table_of(votes)
    uid, first, *classes = table.columns
    table.columns = [uid, *classes, first]
    table.to_csv(tmp_path / "m.csv", index=False)
    text = fault_of(tmp_path / "m.csv", [votes])
    assert ("the old ones" if old_labels else "the majority's") in text
    assert f"read as label {k - 1}, label 0" in text


def test_what_is_no_file_or_too_large(tmp_path, monkeypatch):
    assert "no such predictions file" in fault_of(tmp_path / "none.json", [votes_on()])
    assert "is a folder" in fault_of(tmp_path, [votes_on()])
    assert "not a predictions file" in fault_of("/dev/zero", [votes_on()])
    path = made.write_csv(tmp_path / "m.csv")
    monkeypatch.setattr(predictions, "_MOST_BYTES", path.stat().st_size)
    assert read_predictions(path, [votes_on()])
    monkeypatch.setattr(predictions, "_MOST_BYTES", path.stat().st_size - 1)
    assert "too large" in fault_of(path, [votes_on()])


@pytest.mark.parametrize("kind", ["rows", "texts"])
def test_a_small_parquet_that_would_fill_the_memory_is_refused(tmp_path, kind):
    n, text = (20_000_000, "x") if kind == "rows" else (5_000, "x" * 1_000_000)
    column = pa.DictionaryArray.from_arrays(np.zeros(n, dtype=np.int32), pa.array([text]))
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"uid": column}), path, store_schema=False, compression="zstd")
    assert path.stat().st_size < 100_000
    before = pa.total_allocated_bytes()
    assert "too large once it is unpacked" in fault_of(path, [votes_on()])
    with pytest.raises(ChaosError, match="too large once it is unpacked"):
        read_frame(FileContent.of(path), Faults(path, "A title", expected="", todo=""))
    assert pa.total_allocated_bytes() - before < 10_000_000
