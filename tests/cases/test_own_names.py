"""A reader's votes in the format of a dataset of the package never go by that dataset's name."""

import json
import shutil
from dataclasses import asdict

import numpy as np
import pytest
from helpers.commands import call
from helpers.rows import row, write_rows
from helpers.runs import write_run

import chaos_utils as chaos
from chaos_utils.analyses.finetuning import RUN_COLUMNS, run_table
from chaos_utils.datasets.catalogue import bundled_datasets, get_dataset, title_of
from chaos_utils.datasets.loading import load_all_votes

OWN = "your votes in ChaosNLI's format"


@pytest.fixture
def folder(tmp_path):
    """Thirty items in the format of ChaosNLI-SNLI, and of ChaosNLI-MNLI."""
    rng = np.random.default_rng(2)
    for name in ("snli", "mnli"):
        counts = [tuple(map(int, rng.multinomial(25, [0.5, 0.3, 0.2]))) for _ in range(30)]
        rows = [row(name, f"{name}-{i}", one, old=i % 3) for i, one in enumerate(counts)]
        write_rows(tmp_path / get_dataset(name).file, rows)
    return tmp_path


def evaluated(folder, *options, data=None):
    path = folder / "model.csv"
    if not path.exists():
        rows = [f"{name}-{i},0.5,0.3,0.2" for name in ("snli", "mnli") for i in range(30)]
        path.write_text("\n".join(["uid,entailment,neutral,contradiction", *rows]) + "\n")
    return call("evaluate", path, "--data", data or folder, "--bootstrap", "0", *options)


@pytest.mark.parametrize("form", ["", "--json", "--csv", "--markdown", "--latex"])
def test_own_votes_are_own_in_whatever_evaluate_writes(folder, form):
    done = evaluated(folder, *filter(None, [form]))
    assert OWN in done.stdout + done.stderr
    assert "ChaosNLI-" not in done.stdout + done.stderr
    if form == "--json":
        assert any(OWN in note for note in json.loads(done.stdout)["notes"])


def test_a_single_file_and_each_way_to_load_it(folder):
    path = folder / get_dataset("snli").file
    for votes in (
        chaos.load("snli", path),
        chaos.load("snli", folder),
        load_all_votes(str(path))[0],
    ):
        assert votes.dataset.title == f"{OWN} (SNLI)"
        assert votes.dataset.name == "snli"
        assert not votes.dataset.release.title
        assert title_of("snli") == votes.dataset.title


def test_a_file_in_this_format_is_checked_as_one(folder):
    done = call("dataset", "check", folder / get_dataset("snli").file)
    assert "30 items, 750 votes" in done.stdout


def test_the_sample_is_called_as_it_is(folder):
    for votes in load_all_votes(str(folder)), load_all_votes("sample"):
        titles = [one.dataset.title for one in votes]
    assert titles == [title_of(name) for name in ("snli", "mnli", "alphanli")]
    assert titles[0] == "ChaosNLI-SNLI"


@pytest.mark.parametrize("name", [one.name for one in bundled_datasets()])
def test_each_dataset_by_its_released_bytes_alone(name, whole_root, tmp_path):
    dataset = next(one for one in bundled_datasets() if one.name == name)
    for file in dataset.files:
        (tmp_path / file.name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(whole_root / file.name, tmp_path / file.name)
    assert chaos.load(name, tmp_path).dataset == dataset
    first = tmp_path / dataset.file
    first.write_bytes(first.read_bytes() + (b"\n" if first.suffix != ".json" else b" "))
    votes = chaos.load(name, tmp_path)
    assert votes.dataset.title.startswith("your votes in ")
    assert votes.dataset.labels == dataset.labels


def test_what_a_run_was_trained_on_is_named(folder):
    votes = load_all_votes(str(folder))
    inputs = [asdict(entry) for one in votes for entry in one.inputs]
    shares = [np.full((30, 3), 1 / 3)] * 2
    for kind, more, said in (
        ("own", inputs, "trained on 4,000 items of your own (chaosNLI_snli.jsonl"),
        ("published", [], "of the 942,854 published training items"),
    ):
        run = write_run(
            folder / kind, votes, shares, settings={"train": "chaosnli"}, inputs=more, system=kind
        )
        systems = chaos.read_predictions(run.folder / "predictions.parquet", votes)
        (row,) = run_table([run]).rows.to_dict("records")
        trained_on = next(one for one in RUN_COLUMNS if one.heading.startswith("trained on"))
        assert ("your own" in trained_on.value(row)) == (kind == "own")
        assert all(said in one.notes[0] for one in systems)
        assert all("published" not in one.notes[0] for one in systems) == (kind == "own")
