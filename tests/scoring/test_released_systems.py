"""What was released on a dataset: models in one file, what must be said of them, absent files."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.evidence import evidence_of
from helpers.predictions import N, made_votes, shares, write_chaosnli, write_csv, write_lines

from chaos_utils.analyses import claims_numbers, fitting
from chaos_utils.analyses.baan import agrees
from chaos_utils.base import project
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets import sources
from chaos_utils.datasets.catalogue import get_dataset, prediction_files
from chaos_utils.datasets.dataset import DataFile, PredictionColumns, ReleasedSystem
from chaos_utils.datasets.loading import missing_predictions
from chaos_utils.report.captions import mark
from chaos_utils.scoring import systems
from chaos_utils.scoring.predictions import read_predictions
from chaos_utils.scoring.published import TABLE_5
from chaos_utils.scoring.scores import score
from chaos_utils.scoring.systems import computed, load_systems, released_systems

NINE = ReleasedSystem(
    models=("one", "two"), files=("both.json",), trained_on=("SNLI",), paper="p",
    other_form="whole.json",
)  # fmt: skip
ROWS = NINE.model_copy(update={"files": ("rows.json",), "rows_of": ("snli", "mnli")})
N_ROWS = 1514 + 1599
ROWS_FILE = "nine2020/model_logits.json"
LATER = ReleasedSystem(family="Later", files=("later.csv",), trained_on=(), caution="may know them")


@pytest.fixture
def votes():
    return made_votes(get_dataset("snli"))


def test_a_file_of_several_models_and_of_two_datasets_gives_those_that_are_named(
    votes, tmp_path, monkeypatch
):
    def find(name, data=None):
        return tmp_path / name if (tmp_path / name).exists() else None

    monkeypatch.setattr(sources, "find", find)
    monkeypatch.setattr(sources, "get", lambda name: DataFile(name=name))
    described = replace(votes, dataset=votes.dataset.model_copy(update={"systems": (NINE, LATER)}))
    assert released_systems(described) == []
    assert missing_predictions(described.dataset) == ["both.json", "later.csv"]
    write_chaosnli(tmp_path / "whole.json", models=["one", "two"])
    assert missing_predictions(described.dataset) == ["later.csv"]
    assert [one.name for one in released_systems(described)] == ["one", "two"]
    (tmp_path / "whole.json").unlink()
    write_chaosnli(tmp_path / "both.json", models=["one"])
    with pytest.raises(ChaosError, match=r"(?s)lacks a model.s predictions.*one.*two"):
        released_systems(described)
    write_chaosnli(tmp_path / "both.json", models=["two", "one", "more"], n=N + 1)
    write_csv(tmp_path / "later.csv")
    assert [(s.name, s.paper, s.caution, len(s)) for s in released_systems(described)] == [
        ("one", "p", "", N), ("two", "p", "", N), ("Later", "", "may know them", N),
    ]  # fmt: skip


def test_the_nine_s_files_can_be_fetched_and_every_digest_is_known_and_asked_for(
    votes, tmp_path, monkeypatch
):
    nine = {f"model_predictions/model_predictions_for_{of}.json" for of in ("snli_mnli", "abdnli")}
    nine.add("nine2020/model_logits.json")
    assert nine <= set(prediction_files())
    assert nine - set(prediction_files(other_forms=False)) == {sorted(nine)[1]}
    assert all(len(sources.get(name).sha256) == 64 for name in prediction_files())
    (tmp_path / "encoders2026").mkdir()
    write_csv(tmp_path / "encoders2026" / "deberta-v3-large-snli.csv")
    monkeypatch.setenv("CHAOS_DATA", str(tmp_path))
    with pytest.raises(ChaosError, match="SHA-256 differs"):
        released_systems(votes)


def test_another_file_of_the_nine_counts_if_its_rows_are_those_of_table_5(
    votes, tmp_path, monkeypatch
):
    path = write_chaosnli(tmp_path / "both.json", models=["one", "two"])
    monkeypatch.setattr(sources, "find", lambda name: path)
    monkeypatch.setattr(sources, "get", lambda name: DataFile(name=name, sha256="0" * 64))
    described = replace(votes, dataset=votes.dataset.model_copy(update={"systems": (NINE,)}))
    with pytest.raises(ChaosError, match="SHA-256 differs"):
        released_systems(described)
    scored = score(votes, read_predictions(path, [votes]), measures=TABLE_5)
    table = scored.pivot(index="system", columns="measure", values="value").round(4)
    rows = [
        {"dataset": "snli", "model": name, **row} for name, row in table.to_dict("index").items()
    ]
    monkeypatch.setattr(systems, "published_rows", lambda name: rows)
    assert [one.name for one in released_systems(described)] == ["one", "two"]
    rows[1]["kl"] += 0.0001
    with pytest.raises(ChaosError, match="SHA-256 differs"):
        released_systems(described)


@pytest.fixture
def logits(tmp_path, monkeypatch):
    """The votes of a dataset whose models' logits stand in rows, and what writes them."""
    rng = np.random.default_rng(0)
    rows = {name: rng.normal(size=(N_ROWS, 3)).round(3).tolist() for name in ("one", "two")}

    def find(name):
        return tmp_path / name if (tmp_path / name).exists() else None

    def write(change=lambda rows: rows):
        (tmp_path / "rows.json").write_text(json.dumps(change(json.loads(json.dumps(rows)))))

    monkeypatch.setattr(sources, "find", find)
    monkeypatch.setattr(sources, "get", lambda name: DataFile(name=name))
    write()
    made = made_votes(get_dataset("mnli").model_copy(update={"systems": (ROWS,)}), 1599)
    return made, rows, write


def test_rows_of_logits_are_those_of_the_datasets_items_in_their_order(logits):
    votes, rows, _ = logits
    one, two = released_systems(votes)
    assert (one.name, two.name, one.uids, one.stated) == ("one", "two", votes.uids, False)
    powers = np.exp(rows["two"][1514:])
    assert np.allclose(two.probabilities, powers / powers.sum(axis=1, keepdims=True))
    assert [one.name for one in two.inputs] == ["predictions/rows.json"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda rows: {**rows, "two": rows["two"][1:]}, "'two', 3,112 rows"),
        (lambda rows: {**rows, "two": [*rows["two"][:-1], [1, 2]]}, r"'two', row 3113, \[1, 2\]"),
        (lambda rows: {**rows, "one": [*rows["one"][:-1], [1, 2, None]]}, "'one', row 3113"),
        (lambda rows: {"one": rows["one"]}, r"(?s)lacks a model.s predictions.*expected: +two"),
        (lambda rows: {"one": {"u0": [1, 2, 3]}}, "no file of logits by model"),
    ],
)
def test_rows_of_logits_that_are_not_so_are_refused(logits, change, says):
    votes, _, write = logits
    write(change)
    with pytest.raises(ChaosError, match=says):
        released_systems(votes)


def test_a_file_of_logits_that_was_cut_off_or_is_another_is_refused(logits, tmp_path, monkeypatch):
    votes, *_ = logits
    whole = (tmp_path / "rows.json").read_text()
    monkeypatch.setattr(sources, "get", lambda name: DataFile(name=name, sha256="0" * 64))
    with pytest.raises(ChaosError, match=r"(?s)SHA-256 differs.*rows\.json"):
        released_systems(votes)
    (tmp_path / "rows.json").write_text(whole[: len(whole) // 2])
    with pytest.raises(ChaosError, match=r"(?s)not valid JSON.*rows\.json.*chaos data fetch"):
        released_systems(votes)


def test_the_same_predictions_in_two_files_must_agree(logits, tmp_path):
    votes, rows, write = logits
    entries = {
        name: {uid: {"uid": uid, "logits": row, "predicted_label": "enc"[int(np.argmax(row))]}
               for uid, row in zip(votes.uids, several[1514:], strict=True)}
        for name, several in rows.items()
    }  # fmt: skip
    (tmp_path / "whole.json").write_text(json.dumps(entries))
    assert [len(one) for one in released_systems(votes)] == [1599, 1599]
    write(lambda rows: {**rows, "two": rows["two"][::-1]})
    with pytest.raises(ChaosError, match=r"(?s)disagree.*rows\.json.*whole\.json.*two"):
        released_systems(votes)


@pytest.mark.parametrize(
    "change", [lambda rows: rows[::-1], lambda rows: [rows[1], rows[0], *rows[2:]]]
)
def test_the_nine_s_logits_in_another_order_do_not_give_table_5(
    released, change, tmp_path, monkeypatch
):
    path = sources.find(ROWS_FILE)
    rows = json.loads(path.read_text())
    find = sources.find
    monkeypatch.setattr(
        sources, "find", lambda name: tmp_path / "l.json" if name == ROWS_FILE else find(name)
    )
    (tmp_path / "l.json").write_text(json.dumps(rows))  # with other spaces
    assert len([one for one in released_systems(released[0]) if one.paper == "nie2020"]) == 9
    (tmp_path / "l.json").write_text(json.dumps({name: change(one) for name, one in rows.items()}))
    with pytest.raises(ChaosError, match=r"(?s)SHA-256 differs.*l\.json"):
        released_systems(released[0])


def test_of_a_list_with_texts_numbers_alone_are_kept(tmp_path):
    path = tmp_path / "list.json"
    entry = {"uid": "a", "premise": "a text", "p": [0.99951171875, 0.00029118, 0.00019710064]}
    path.write_text(json.dumps([entry, {"uid": "b", "p": [1.0, 7.677e-05, 0.8125]}]))
    kept = sources.keep_numbers(path, PredictionColumns(key="p", columns=("x", "y", "z")))
    assert kept.read_text() == "uid,x,y,z\na,0.999512,0.0002912,0.0001971\nb,1,7.677e-05,0.8125\n"
    with pytest.raises(ValueError, match="no list of entries"):
        sources.keep_numbers(path, PredictionColumns(key="other", columns=("x",)))


def test_a_file_that_fits_two_datasets_is_refused_unless_it_says_which(votes, tmp_path):
    both = [votes, made_votes(get_dataset("ocnli"))]
    with pytest.raises(ChaosError, match=r"fit two datasets(?s:.*)ChaosNLI-SNLI and OCNLI"):
        read_predictions(write_csv(tmp_path / "m.csv"), both)
    rows = [f"u{i},{','.join(map(str, shares(i)))},snli" for i in range(N)]
    path = write_csv(tmp_path / "m.csv", rows, "uid,entailment,neutral,contradiction,dataset")
    assert [found.dataset for found in read_predictions(path, both)] == [votes.dataset]


def test_labels_whose_order_the_votes_cannot_tell_are_noted_where_none_names_it(votes, tmp_path):
    sure = np.eye(3)[votes.old_label] * 0.7 + 0.1
    blind = sure.copy()  # what is not neutral, by chance
    of_two = np.flatnonzero(votes.old_label != 1)
    blind[of_two] = sure[np.random.default_rng(0).choice([0, 2], len(of_two))]
    for table, said in ((sure, ()), (blind, ("entailment and contradiction",))):
        path = write_lines(tmp_path / "m.jsonl", lambda i, p=table: {"probs": p[i].tolist()})
        (found,) = read_predictions(path, [votes])
        assert len(found.notes) == len(said)
        assert all(one in note for one, note in zip(said, found.notes, strict=True))


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ({"system": ["RoBERTa-base", "ModernBERT-large, affine"]}, True),
        ({"system": ["DeBERTa-v3-large"]}, False),
        ({"system": ["ModernBERT-large"], "dataset": ["snli"]}, False),  # may have seen MNLI's
        ({"system": ["ModernBERT-large"], "dataset": ["snli+mnli"]}, True),
        ({"system": ["ModernBERT-large", "BART"], "dataset": ["snli", "mnli"]}, False),
    ],
)
def test_what_must_be_said_of_a_system_is_said_where_it_is_shown_on_these_items(rows, said):
    cautions = project.current().cautions(pd.DataFrame(rows))
    assert list(cautions) == ["ModernBERT-large"] * said
    assert all("may have seen them" in caution for caution in cautions.values())


def test_a_name_is_marked_once():
    text = mark(mark("all but La-ter, La‑ter, La-terX", ["La-ter"]), ["La-ter"])
    assert text == "all but La-ter†, La‑ter†, La-terX"


def test_a_stack_without_what_may_know_the_votes_stands_beside_the_whole(votes):
    a, b, c = (computed(name, votes, votes.shares, origin="released") for name in "abc")
    found = fitting.stacks([a, replace(b, caution="may know them"), c])
    assert (found["all systems"], found["all but b"]) == ([0, 1, 2], [0, 2])
    # Claims of papers are not checked on it.
    a = replace(a, paper="baan2022")
    evidence, given = [evidence_of(votes, some) for some in ([a, b], [a])], {"n_resamples": 40}
    for numbers in (claims_numbers.system_numbers, claims_numbers.gains):
        both, alone = (numbers(one, seed=0, **given).rows for one in evidence)
        pd.testing.assert_frame_equal(both, alone)


# JSD, KL, old and new accuracy, as the README of the predictions has them.
ENCODERS = [
    (0, "DeBERTa-v3-large", (0.2778, 0.8575, 0.7087, 0.7933)),
    (0, "ModernBERT-large", (0.2144, 0.3776, 0.7081, 0.7682)),
    (1, "DeBERTa-v3-large", (0.3641, 1.465, None, 0.6335)),
    (1, "ModernBERT-large", (0.2853, 0.638, None, 0.6235)),
]


def test_the_two_encoders_scores_are_their_publisher_s(released):
    for place, model, expected in ENCODERS:
        votes, measures = released[place], ("jsd", "kl", "old_accuracy", "new_accuracy")
        (one,) = (one for one in load_systems(votes, trained=False) if one.name == model)
        found = score(votes, [one], measures=measures, n_resamples=0)["value"]
        for value, known in zip(found, expected, strict=True):
            assert known is None or agrees(value, known)
