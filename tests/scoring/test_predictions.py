import json

import numpy as np
import pytest
from helpers.rows import row, write_rows

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.chaosnli import read_chaosnli
from chaos_utils.scoring.predictions import join, read_predictions, write_predictions

N = 40
NAMES = ["entailment", "neutral", "contradiction"]


@pytest.fixture
def votes(tmp_path):
    """Forty items whose old label goes round."""
    rows = [row(uid=f"u{i}", counts=(40, 30, 30), old=i % 3) for i in range(N)]
    return read_chaosnli(write_rows(tmp_path / "snli.jsonl", rows), get_dataset("snli"))


def shares(i, sure=0.8):
    """A distribution that favours the old label of item i."""
    rest = (1 - sure) / 2
    return [sure if k == i % 3 else rest for k in range(3)]


def chaosnli(path, entry=lambda i: {"predicted_probabilities": shares(i)}, models=("m",), n=N):
    content = {name: {f"u{i}": {"uid": f"u{i}", **entry(i)} for i in range(n)} for name in models}
    path.write_text(json.dumps(content))
    return path


def csv(path, lines=None, header="uid,entailment,neutral,contradiction"):
    if lines is None:
        lines = [f"u{i}," + ",".join(map(str, shares(i))) for i in range(N)]
    path.write_text("\n".join([header, *lines]) + "\n")
    return path


def baan(path, n=N):
    rows = [
        {"index": i, "uid": f"u{i}", "probs": [shares(i)[k] for k in (0, 2, 1)], "true": 0}
        for i in range(n)
    ]
    return write_rows(path, rows)


def test_every_format_gives_the_same_predictions(tmp_path, votes):
    logits = chaosnli(tmp_path / "logits.json", lambda i: {"logits": np.log(shares(i)).tolist()})
    files = [
        chaosnli(tmp_path / "p.json"),
        logits,
        csv(tmp_path / "c.csv"),
        baan(tmp_path / "b.json"),
    ]
    read = [read_predictions(path, [votes])[0] for path in files]
    write_predictions(tmp_path / "w.parquet", read[:1])
    read += read_predictions(tmp_path / "w.parquet", [votes])
    for one in read:
        assert one.uids == votes.uids
        np.testing.assert_allclose(one.probabilities, [shares(i) for i in range(N)])
        assert one.predicted.tolist() == [i % 3 for i in range(N)]
        assert not one.notes
        with pytest.raises(ValueError, match="read-only"):
            one.probabilities[0, 0] = 1
    assert [one.name for one in read] == ["m", "m", "c", "b", "m"]


def test_a_file_of_many_models_and_one_of_them(tmp_path, votes):
    path = chaosnli(tmp_path / "p.json", models=("bert", "roberta"))
    assert [one.name for one in read_predictions(path, [votes])] == ["bert", "roberta"]
    assert [one.name for one in read_predictions(path, [votes], model="bert")] == ["bert"]
    with pytest.raises(ChaosError, match="did you mean 'roberta'"):
        read_predictions(path, [votes], model="robert")


def test_alphanli_labels_are_integers(tmp_path):
    rows = [row("alphanli", f"u{i}", (70, 30), old=i % 2) for i in range(N)]
    dataset = read_chaosnli(write_rows(tmp_path / "a.jsonl", rows), get_dataset("alphanli"))
    path = chaosnli(
        tmp_path / "p.json", lambda i: {"logits": [1 - i % 2, i % 2], "predicted_label": 1 + i % 2}
    )
    (one,) = read_predictions(path, [dataset])
    assert one.predicted.tolist() == [i % 2 for i in range(N)]
    assert one.probabilities.shape == (N, 2)


def test_stated_labels_count_and_a_note_says_when_they_are_not_the_most_probable(tmp_path, votes):
    path = chaosnli(
        tmp_path / "p.json",
        lambda i: {"predicted_probabilities": shares(i), "predicted_label": NAMES[0 if i else 1]},
    )
    (one,) = read_predictions(path, [votes])
    assert one.predicted.tolist() == [1] + [0] * (N - 1)
    assert one.notes[0].startswith("27 stated labels")


def test_missing_items_are_counted_and_may_be_allowed(tmp_path, votes):
    path = chaosnli(tmp_path / "p.json", n=N - 4)
    with pytest.raises(ChaosError) as fault:
        read_predictions(path, [votes])
    assert "4 of 40 items" in str(fault.value)
    assert "u36, u37, u38, u39" in str(fault.value)
    assert "--allow-missing" in str(fault.value)
    (one,) = read_predictions(path, [votes], allow_missing=True)
    assert len(one) == N - 4
    assert "evaluated on the other 36" in one.notes[0]


def test_extra_items_are_told(tmp_path, votes):
    path = chaosnli(tmp_path / "p.json", n=N + 3)
    (one,) = read_predictions(path, [votes])
    assert one.uids == votes.uids
    assert one.notes == ("3 uids of the file are no items of the dataset (u40, u41, u42)",)


def test_a_file_of_another_dataset(tmp_path, votes):
    path = csv(tmp_path / "c.csv", [f"other{i},0.2,0.3,0.5" for i in range(5)])
    with pytest.raises(ChaosError, match="No uid of 'c' occurs in ChaosNLI-SNLI"):
        read_predictions(path, [votes])
    assert read_predictions(path, [votes], allow_others=True) == []


def test_another_order_of_the_columns_is_told(tmp_path, votes):
    lines = [f"u{i}," + ",".join(str(shares(i)[k]) for k in (2, 0, 1)) for i in range(N)]
    with pytest.raises(ChaosError) as fault:
        read_predictions(csv(tmp_path / "c.csv", lines), [votes])
    message = str(fault.value)
    assert "seem to stand in another order" in message
    assert "read as contradiction, entailment, neutral, 100%" in message


def entries(**entry):
    return lambda i: entry if i == 3 else {"predicted_probabilities": shares(i)}


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        (entries(predicted_probabilities=[0.2, 0.8]), "m, u3: 2 values"),
        (entries(predicted_probabilities=[0.2, 0.8, 0.5]), "sums to 1.5"),
        (entries(predicted_probabilities=[-0.2, 0.7, 0.5]), "m, u3: [-0.2"),
        (entries(predicted_probabilities=[float("nan"), 0.5, 0.5]), "is not finite"),
        (entries(predicted_probabilities=[float("inf"), 0, 0]), "is not finite"),
        (entries(predicted_probabilities=["0.2", 0.3, 0.5]), "m, u3: ['0.2'"),
        (entries(predicted_probabilities=None), "m, u3: None"),
        (entries(wrong=1), "m, u3: None"),
    ],
)
def test_values_that_are_no_probabilities(tmp_path, votes, entry, told):
    with pytest.raises(ChaosError) as fault:
        read_predictions(chaosnli(tmp_path / "p.json", entry), [votes])
    assert told in str(fault.value)
    assert "1 fault in the predictions of 'm'" in str(fault.value)


def test_an_unknown_label(tmp_path, votes):
    path = chaosnli(
        tmp_path / "p.json",
        lambda i: {"predicted_probabilities": shares(i), "predicted_label": "maybe"},
    )
    with pytest.raises(ChaosError, match="40 faults"):
        read_predictions(path, [votes])


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.json", "", "empty"),
        ("a.json", "\n\n", "empty"),
        ("a.json", '{"m": {"u0": {"uid": "u0", "logits": [1', "cut off"),
        ("a.json", '{"m": [1, 2]}', "no predictions file"),
        ("a.json", "{}", "holds no prediction"),
        ("a.json", '{"uid": "u0", "probs": [1, 0, 0]}\n{"uid": ', "cut off"),
        ("a.csv", "uid,entailment,neutral\nu0,1,0\n", "no predictions file"),
        ("a.csv", "entailment,neutral,contradiction\n1,0,0\n", "no predictions file"),
        ("a.csv", "uid,entailment,neutral,contradiction\n", "holds no prediction"),
        ("a.csv", "uid,entailment,neutral,contradiction\nu0,a,0,0\n", "line 2: ['a'"),
        ("a.csv", "uid,entailment,neutral,contradiction\nu0,1,0\n", "line 2: [1.0, 0.0, None]"),
        ("a.csv", "uid,entailment,neutral,contradiction\nu0,1,0,0\nu0,1,0,0\n", "uid 'u0' again"),
        ("a.csv", "uid,entailment,neutral,contradiction\n,1,0,0\n", "no uid"),
        ("a.parquet", "no parquet", "no predictions file"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, votes, name, content, told):
    (tmp_path / name).write_text(content)
    with pytest.raises(ChaosError) as fault:
        read_predictions(tmp_path / name, [votes], allow_missing=True)
    assert told in str(fault.value)


def test_no_file_and_bytes_that_are_no_text(tmp_path, votes):
    with pytest.raises(ChaosError, match="no such predictions file"):
        read_predictions(tmp_path / "none.json", [votes])
    (tmp_path / "b.json").write_bytes(b"\xff\xfe")
    with pytest.raises(ChaosError, match="not UTF-8"):
        read_predictions(tmp_path / "b.json", [votes])


def test_parts_are_joined_unless_they_overlap(tmp_path, votes):
    lines = csv(tmp_path / "c.csv").read_text().splitlines()[1:]
    parts = []
    for name, chosen in (("a", lines[:25]), ("b", lines[25:])):
        path = csv(tmp_path / f"{name}.csv", chosen)
        parts += read_predictions(path, [votes], allow_missing=True)
    whole = join(parts, "both")
    assert len(whole) == N
    assert whole.name == "both"
    with pytest.raises(ChaosError, match="25 items twice"):
        join([*parts, parts[0]], "both")


def test_released_predictions_have_their_known_gaps(released):
    from chaos_utils.scoring.systems import released_systems

    snli, mnli, alphanli = map(released_systems, released)
    assert [len(system) for system in snli] == [1514] * 5
    assert [len(system) for system in mnli] == [1569] * 3
    assert alphanli == []
