"""Files of predictions as bytes: what is read, and what ends in one clear error."""

import json
import os
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.checkout import PROJECT, chaos_environment
from helpers.predictions import (
    N,
    made_votes,
    shares,
    table_of,
    write_chaosnli,
    write_csv,
    write_lines,
)

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.inputs import Input, digest
from chaos_utils.datasets import catalogue
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.faults import Faults
from chaos_utils.datasets.loading import load_all_votes
from chaos_utils.datasets.records import Content
from chaos_utils.datasets.tables import Table
from chaos_utils.scoring import predictions
from chaos_utils.scoring.predictions import read_predictions

CSV = "uid,entailment,neutral,contradiction\n"
LINE = '{"uid": "u0", "probs": [1, 0, 0]}\n'


@pytest.fixture
def votes():
    return made_votes(get_dataset("snli"))


def check(one, name="m"):
    """Compare predictions with those that every helper writes."""
    assert one.name == name
    assert one.uids == tuple(f"u{i}" for i in range(N))
    np.testing.assert_allclose(one.probabilities, [shares(i) for i in range(N)])
    assert not one.notes


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", "", "empty"),
        ("a.json", "\n\n", "empty"),
        ("a.json", '{"m": {"u0": {"uid": "u0", "logits": [1', "cut off"),
        ("a.json", '{"m": [1, 2]}', "Unrecognised predictions format"),
        ("a.json", '[{"uid": "u0"}]', "a JSON list"),
        ("a.json", "{}", "holds no prediction"),
        ("a.json", '{"m": {}}', "holds no prediction, or none of a model"),
        ("a.json", '{"": {"u0": {"logits": [1, 2, 3]}}}', "name is not text"),
        ("a.json", LINE + '{"uid": ', "cut off"),
        ("a.json", LINE + "[1, 2]", "line 2"),
        ("a.json", LINE[:-4] + "\n" + LINE, "line 1, column"),
        ("a.json", LINE + "7", "expected a JSON object"),
        ("a.json", LINE + '"text"', "expected a JSON object"),
        ("a.json", LINE + "null", "expected a JSON object"),
        ("a.json", "7\n" + LINE, "1, as the header has"),
        ("a.json", LINE[:-2] + ', "uid": "u1"}', "the key 'uid' twice"),
        ("a.json", LINE.replace("1,", "1" * 400 + ","), "is not finite"),
        ("a.json", LINE.replace("1,", "1" * 5000 + ","), "a number is too long"),
        ("a.json", '{"m": ' * 100_000, "nested too deeply"),
        ("a.json", LINE + '{"uid": "u1", "probs": ' + "[" * 100_000, "nested too deeply"),
        ("a.json", '{"m": {"\\ud800": {"logits": [1, 2, 3]}}}', "half of a surrogate pair"),
        ("a.json", '{"\\ud800": {"u0": {"logits": [1, 2, 3]}}}', "half of a surrogate pair"),
        ("a.json", '{"a\\u001b[31m": {"u0": {"logits": [1, 2, 3]}}}', "name is not text"),
        ("a.json", '{"m": {"u0": {"logits": [1, true, 3]}}}', "[1, True, 3]"),
        ("a.csv", "uid,entailment,neutral\nu0,1,0\n", "no column contradiction"),
        ("a.csv", "uid,score\nu0,1\n", "Unrecognised predictions format"),
        ("a.csv", "entailment,neutral,contradiction\n1,0,0\n", "Unrecognised predictions format"),
        ("a.csv", CSV, "holds no prediction"),
        ("a.csv", CSV + "u0,a,0,0\n", "line 2: ['a'"),
        ("a.csv", CSV + "u0,1,0\n", "3 fields"),
        ("a.csv", CSV + "u0,1,0,0,0\n", "5 fields"),
        ("a.csv", CSV + "u0,1_0,0,0\n", "line 2: ['1_0'"),
        ("a.csv", CSV + "u0,True,0,0\n", "line 2: ['True'"),
        ("a.csv", CSV + "u0,inf,0,0\n", "line 2: ['inf'"),
        ("a.csv", CSV + "u0,1,0,0\nu0,1,0,0\n", "uid 'u0' again"),
        ("a.csv", CSV + ",1,0,0\n", "no uid"),
        ("a.csv", CSV + "u0," + "1" * 200_000 + ",0,0\n", "field larger than field limit"),
        ("a.csv", CSV + '"u0,1,0,0\n', "quotation mark"),
        ("a.csv", CSV[:-1] + ",neutral\nu0,1,0,0,0\n", "A column appears twice"),
        ("a.csv", "model," + CSV + ",u0,1,0,0\n", "no model"),
        ("a.csv", "model," + CSV + "m,u0,1,0,0\nm,other,1,0,0\n,u1,1,0,0\n", "no model"),
        ("a.parquet", "no parquet", "holds no prediction"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, votes, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(ChaosError) as fault:
        read_predictions(tmp_path / name, [votes], allow_missing=True)
    assert message in str(fault.value)
    assert len(str(fault.value)) < 1000
    str(fault.value).encode()


def test_no_file_and_bytes_that_are_not_text(tmp_path, votes):
    with pytest.raises(ChaosError, match="no such predictions file"):
        read_predictions(tmp_path / "none.json", [votes])
    with pytest.raises(ChaosError, match="is a folder"):
        read_predictions(tmp_path, [votes])
    (tmp_path / "b.json").write_bytes(b"\xff\xfe")
    with pytest.raises(ChaosError, match="not UTF-8"):
        read_predictions(tmp_path / "b.json", [votes])


def test_damaged_parquet_is_one_error_or_the_same_predictions(tmp_path, votes):
    path = tmp_path / "a.parquet"
    table_of(votes).to_parquet(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    errors = 0
    for _ in range(60):
        content = bytearray(whole)
        for at in rng.integers(len(whole), size=8):
            content[at] = rng.integers(256)
        path.write_bytes(
            content[: rng.integers(8, len(whole) + 1)] if rng.random() < 0.3 else content
        )
        try:
            read_predictions(path, [votes], allow_missing=True)
        except ChaosError:
            errors += 1
    assert errors > 30


@pytest.mark.parametrize("doubled", ["u0", "m", "logits"])
def test_a_key_twice_in_a_json_object(tmp_path, votes, doubled):
    entry = '"u0": {"logits": [1, 2, 3]}'
    content = {
        "u0": f'{{"m": {{{entry}, {entry}}}}}',
        "m": f'{{"m": {{{entry}}}, "m": {{{entry}}}}}',
        "logits": '{"m": {"u0": {"logits": [1, 2, 3], "logits": [3, 2, 1]}}}',
    }[doubled]
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(ChaosError, match=f"the key '{doubled}' twice"):
        read_predictions(tmp_path / "a.json", [votes], allow_missing=True)


def test_json_lines_end_at_line_feeds_alone(tmp_path, votes):
    lines = [json.dumps({"uid": f"u{i}", "probs": shares(i), "text": "a\u2028b\x85c"},
                        ensure_ascii=False) for i in range(N)]  # fmt: skip
    (tmp_path / "m.jsonl").write_bytes("\r\n".join(lines).encode())
    (one,) = read_predictions(tmp_path / "m.jsonl", [votes])
    check(one)


@pytest.mark.parametrize(("delimiter", "comma"), [(",", "."), (";", "."), (";", ","), ("\t", ".")])
def test_csv_as_spreadsheets_write_it(tmp_path, votes, delimiter, comma):
    rows = [["uid", "entailment", "neutral", "contradiction"]]
    rows += [[f"u{i}", *(str(v).replace(".", comma) for v in shares(i))] for i in range(N)]
    text = "\r\n".join(delimiter.join(row) for row in rows)
    (tmp_path / "m.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    (one,) = read_predictions(tmp_path / "m.csv", [votes])
    check(one)


@pytest.mark.parametrize("name", ["m", "m.CSV", "m.txt", "m.PARQUET"])
def test_the_content_decides_and_not_the_suffix(tmp_path, votes, name):
    if name == "m.PARQUET":
        table_of(votes).to_parquet(tmp_path / name)
    else:
        write_csv(tmp_path / name)
    (one,) = read_predictions(tmp_path / name, [votes])
    check(one)


@pytest.mark.parametrize("kind", ["rows", "texts"])
def test_a_small_parquet_that_would_fill_the_memory_is_refused(tmp_path, votes, kind):
    n, text = (20_000_000, "x") if kind == "rows" else (5_000, "x" * 1_000_000)
    column = pa.DictionaryArray.from_arrays(np.zeros(n, dtype=np.int32), pa.array([text]))
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"uid": column}), path, store_schema=False, compression="zstd")
    assert path.stat().st_size < 100_000
    before = pa.total_allocated_bytes()
    with pytest.raises(ChaosError, match=r"too large once it is unpacked"):
        read_predictions(path, [votes])
    with pytest.raises(ChaosError, match=r"too large once it is unpacked"):
        Table(Content.of(path), Faults(path, "A title", expected="", todo=""))
    assert pa.total_allocated_bytes() - before < 10_000_000


def test_parquet_with_and_without_a_model_or_with_the_uid_as_index(tmp_path, votes):
    table = table_of(votes)
    tables = {
        "m": table,
        "named": table.assign(model="bert"),
        "index": table.set_index("uid"),
        "both": table.assign(model="bert").set_index(["model", "uid"]),
    }
    names = {}
    for stem, one in tables.items():
        one.to_parquet(tmp_path / f"{stem}.parquet")
        (read,) = read_predictions(tmp_path / f"{stem}.parquet", [votes])
        check(read, read.name)
        names[stem] = read.name
    assert names == {"m": "m", "named": "bert", "index": "index", "both": "bert"}


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("neutral", True, "True"),
        ("neutral", "0.1", "'0.1'"),
        ("neutral", None, "None"),
        ("uid", None, "no uid"),
        ("model", None, "no model"),
        ("uid", 7, "uid 7 is not text"),
    ],
)
def test_parquet_with_other_values(tmp_path, votes, column, value, message):
    table_of(votes).assign(**{column: [value] * N}).to_parquet(tmp_path / "m.parquet")
    with pytest.raises(ChaosError) as fault:
        read_predictions(tmp_path / "m.parquet", [votes])
    assert message in str(fault.value)


def test_a_pipe_is_read_once(tmp_path, votes):
    content = write_csv(tmp_path / "m.csv").read_bytes()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    (one,) = read_predictions(pipe, [votes])
    writer.join()
    check(one, "pipe")
    assert one.inputs == (Input("predictions/pipe", digest(tmp_path / "m.csv")),)


def test_standard_input_and_process_substitution(tmp_path, sample):
    table_of(sample[0]).to_csv(tmp_path / "m.csv", index=False)
    command = f"{sys.executable} -m chaos_utils.cli evaluate --bootstrap 0 --data sample --csv"
    done = subprocess.run(
        ["bash", "-c", f"{command} /dev/stdin <(cat m.csv) < m.csv"], cwd=tmp_path,
        capture_output=True, text=True, env=chaos_environment(PROJECT),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "snli,all,stdin," in done.stdout
    assert "snli,all,63," in done.stdout


def test_every_format_of_a_dataset_with_two_labels(tmp_path):
    votes = made_votes(get_dataset("alphanli"))
    values = [shares(i, 2) for i in range(N)]
    files = [
        write_chaosnli(tmp_path / "a", lambda i: {"predicted_probabilities": values[i]}),
        write_lines(tmp_path / "b", lambda i: {"probs": values[i]}),
        write_lines(tmp_path / "c", lambda i: {"probs": values[i], "index": i, "pred": i % 2}),
    ]
    table_of(votes).to_csv(tmp_path / "d", index=False)
    table_of(votes).to_parquet(tmp_path / "e")
    for path in (*files, tmp_path / "d", tmp_path / "e"):
        (one,) = read_predictions(path, [votes])
        np.testing.assert_allclose(one.probabilities, values)


def test_a_file_may_have_the_columns_of_several_datasets(tmp_path):
    snli, alphanli = made_votes(get_dataset("snli")), made_votes(
        get_dataset("alphanli"), prefix="a"
    )  # fmt: skip
    both = pd.concat([table_of(snli), table_of(alphanli)])
    both.to_csv(tmp_path / "m.csv", index=False)
    both.to_parquet(tmp_path / "m.parquet", index=False)
    for name in ("m.csv", "m.parquet"):
        first, second = read_predictions(tmp_path / name, [snli, alphanli])
        assert (first.dataset.name, second.dataset.name) == ("snli", "alphanli")
        np.testing.assert_allclose(second.probabilities, [shares(i, 2) for i in range(N)])


SAMPLES = "item,model,sample\n1,m,yes\n1,m,yes\n1,m,no\n2,m,no\n"


@pytest.fixture
def yes_no(tmp_path, monkeypatch):
    monkeypatch.setattr(catalogue, "_brought", {})
    path = tmp_path / "answers.csv"
    path.write_text("item,label\n1,yes\n1,no\n2,no\n2,no\n")
    return load_all_votes(str(path))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("m.csv", SAMPLES),
        ("m.csv", "uid,n_samples,no,yes\n1,3,1,2\n2,1,1,0\n"),
        ("m.csv", "item,n_samples,no,yes\n1,3,1,2\n2,1,1,0\n"),
        ("m.jsonl", '{"uid": 1, "samples": ["yes", "yes", "no"]}\n{"uid": 2, "samples": ["no"]}\n'),
        ("m.jsonl", "".join(json.dumps(dict(zip(("item", "model", "sample"), line.split(","),
                                                strict=True))) + "\n"
                            for line in SAMPLES.split()[1:])),
    ],
    ids=["rows", "counts", "counts by item", "lists", "objects"],
)  # fmt: skip
def test_answers_drawn_from_a_model_are_smoothed_and_marked(tmp_path, yes_no, name, content):
    path = tmp_path / name
    path.write_text(content)
    (system,) = read_predictions(path, yes_no)
    assert system.name == "m"
    assert system.dataset.labels == ("no", "yes")
    # (count + 1/2) / (samples + labels / 2)
    assert system.probabilities == pytest.approx(np.array([[1.5 / 4, 2.5 / 4], [1.5 / 2, 0.5 / 2]]))
    assert system.n_samples == (1, 3)
    assert "machine votes: 1–3 samples per item" in system.notes[0]
    assert "Krichevsky–Trofimov" in system.notes[0]
    assert not system.stated


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (SAMPLES + "2,m,maybe\n", "sample 'maybe'"),
        (SAMPLES + "2,m,\n", "line 6, no sample"),
        (SAMPLES + ",m,no\n", "line 6, no uid"),
        (SAMPLES.replace("2,m,no\n", ""), "1 of 2 items of answers has no prediction"),
        (SAMPLES.replace("\n1", "\nx").replace("\n2", "\ny"), "No uid of 'm' occurs in answers"),
        ("uid,n_samples,no,yes\n1,4,1,2\n2,1,1,0\n", "n_samples is 4"),
        ("uid,no,yes\n1,1,2\n2,1,0\n", "add a column n_samples"),
        ("uid,n_samples,no,yes\n1,3,0.5,2\n2,1,1,0\n", "no is 0.5, no number of samples"),
    ],
)
def test_answers_with_faults(tmp_path, yes_no, content, message):
    path = tmp_path / "m.csv"
    path.write_text(content)
    with pytest.raises(ChaosError, match=message):
        read_predictions(path, yes_no)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_large_tables_are_read_at_once_and_alike(tmp_path, votes, monkeypatch, kind):
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(3), len(votes))
    table = pd.DataFrame(shares, columns=["entailment", "neutral", "contradiction"])
    table.insert(0, "uid", votes.uids)
    table = table.iloc[::-1]
    path = tmp_path / f"m.{kind}"
    table.to_csv(path, index=False) if kind == "csv" else table.to_parquet(path, index=False)
    (slow,) = read_predictions(path, [votes])
    monkeypatch.setattr(predictions, "LARGE", 1)
    monkeypatch.setattr(predictions, "read_rows", None)  # which reads row by row
    (fast,) = read_predictions(path, [votes])
    for name in ("name", "uids", "notes", "inputs", "stated", "family"):
        assert getattr(fast, name) == getattr(slow, name)
    assert fast.probabilities == pytest.approx(slow.probabilities, abs=1e-15)
    assert fast.predicted.tolist() == slow.predicted.tolist()


def test_faults_of_large_tables_are_named_by_line(tmp_path, votes, monkeypatch):
    monkeypatch.setattr(predictions, "LARGE", 1)
    rows = [f"{uid},1,0,0" for uid in votes.uids]
    for row, message in ((f"{votes.uids[3]},0.9,0,0", "line 5: .* sums to 0.9"),
                      (f"{votes.uids[3]},x,0,0", "line 5: "),
                      (rows[0], "line 5: uid .* again")):  # fmt: skip
        path = tmp_path / "m.csv"
        path.write_text("\n".join([CSV.strip(), *rows[:3], row, *rows[4:]]))
        with pytest.raises(ChaosError, match=message):
            read_predictions(path, [votes])


def test_entries_without_probabilities_name_the_keys_that_they_have(tmp_path, votes):
    path = write_chaosnli(tmp_path / "m.json", lambda i: {"probs": shares(i)})
    with pytest.raises(
        ChaosError, match="no `predicted_probabilities`; keys found: uid, probs"
    ) as fault:
        read_predictions(path, [votes])
    assert "None" not in str(fault.value)


def test_a_device_and_a_file_beyond_the_limit_are_not_read(tmp_path, votes, monkeypatch):
    with pytest.raises(ChaosError, match="not a predictions file"):
        read_predictions("/dev/zero", [votes])
    path = write_csv(tmp_path / "m.csv")
    monkeypatch.setattr(predictions, "_MOST_BYTES", path.stat().st_size)
    assert read_predictions(path, [votes])
    monkeypatch.setattr(predictions, "_MOST_BYTES", path.stat().st_size - 1)
    with pytest.raises(ChaosError, match="too large"):
        read_predictions(path, [votes])
