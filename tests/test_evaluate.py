"""`chaos evaluate`, as a reader calls it."""

import io
import json
import subprocess
import sys

import pandas as pd
import pytest
from helpers.checkout import PROJECT, chaos, chaos_environment

from chaos_utils.metrics.measures import MEASURES


@pytest.fixture(scope="module")
def mine(sample, tmp_path_factory):
    """A model's predictions for all items of the sample, in a CSV for each dataset."""
    folder = tmp_path_factory.mktemp("mine")
    for votes in sample:
        columns = ",".join(label.replace(" ", "_") for label in votes.dataset.labels)
        lines = [f"uid,{columns}"]
        for uid, shares in zip(votes.uids, votes.shares, strict=True):
            blurred = [0.7 * share + 0.3 / len(shares) for share in shares]
            lines.append(",".join([uid, *map(str, blurred)]))
        (folder / f"{votes.dataset.name}.csv").write_text("\n".join(lines))
    return folder


def evaluate(folder, *arguments):
    return chaos("evaluate", *arguments, "--data", "sample", cwd=folder, PYTHONPATH=str(PROJECT))


def test_every_measure_with_intervals_floor_ceiling_and_rank(mine):
    done = evaluate(mine, "snli.csv", "--bootstrap", "100", "--json")
    assert done.returncode == 0, done.stderr
    rows = {row["measure"]: row for row in json.loads(done.stdout)["results"]}
    assert set(rows) == set(MEASURES)
    jsd = rows["jsd"]
    assert jsd["dataset"] == "snli"
    assert jsd["low"] < jsd["value"] < jsd["high"]
    assert jsd["floor"] < jsd["ceiling"] < 0.1
    assert (jsd["rank"], jsd["ranked"]) == (1, 10)
    assert rows["ece_votes"]["rank"] is None
    assert rows["old_accuracy"]["floor"] is None


@pytest.mark.slow
def test_one_seed_gives_one_answer(mine):
    given = ("snli.csv", "mnli.csv", "--bootstrap", "20", "--csv")
    first = evaluate(mine, *given, "--seed", "1").stdout
    assert first == evaluate(mine, *given, "--seed", "1").stdout
    assert first != evaluate(mine, *given, "--seed", "2").stdout
    table = pd.read_csv(io.StringIO(first))
    assert list(table["dataset"].unique()) == ["snli", "mnli"]


def test_answers_for_readers(mine):
    text = evaluate(mine, "alphanli.csv", "--bootstrap", "0").stdout
    assert "alphanli on alphanli, 300 items" in text
    assert "…" not in text
    markdown = evaluate(mine, "alphanli.csv", "--bootstrap", "0", "--markdown").stdout
    assert "| JSD (distance), √nats ↓ |" in markdown


def test_parts_are_joined_and_gaps_told(mine, tmp_path):
    lines = (mine / "snli.csv").read_text().splitlines()
    (tmp_path / "a.csv").write_text("\n".join(lines[:100]))
    (tmp_path / "b.csv").write_text("\n".join([lines[0], *lines[100:]]))
    (tmp_path / "c.csv").write_text("\n".join([lines[0], *lines[150:]]))
    joined = evaluate(tmp_path, "a.csv", "b.csv", "--join", "whole", "--bootstrap", "0", "--csv")
    assert "snli,all,whole,whole,,yours" in joined.stdout
    gap = evaluate(tmp_path, "a.csv", "c.csv", "--join", "whole", "--bootstrap", "0")
    assert gap.returncode == 2
    assert "50 of 300 items" in gap.stderr
    allowed = evaluate(tmp_path, "a.csv", "--allow-missing", "--bootstrap", "0")
    assert "note: a: 201 of 300 items" in allowed.stderr


def test_out_writes_the_table_and_figures(mine, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").write_text("mine")
    for _ in range(2):  # again into the same folder
        done = evaluate(mine, "snli.csv", "--bootstrap", "20", "--out", str(tmp_path / "out"))
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "notes.txt").read_text() == "mine"
    assert len(pd.read_csv(tmp_path / "out" / "evaluation.csv")) == len(MEASURES)
    for name in ("reliability", "distce", "entropy-bins"):
        for end in (".svg", "-dark.svg", ".png", ".pdf", ".csv", ".json"):
            assert (tmp_path / "out" / "figures" / f"fig-{name}-snli{end}").stat().st_size > 0


def test_systems_are_compared(mine, tmp_path):
    header, *lines = (mine / "snli.csv").read_text().splitlines()
    even = [f"{line.split(',')[0]},0.34,0.33,0.33" for line in lines]
    (tmp_path / "even.csv").write_text("\n".join([header, *even]))
    given = (str(mine / "snli.csv"), "even.csv", "--against", "even", "--bootstrap", "100")
    rows = json.loads(evaluate(tmp_path, *given, "--json").stdout)["results"]
    (gap,) = (row for row in rows if row["measure"] == "jsd" and row["reference"])
    assert (gap["system"], gap["reference"]) == ("snli", "even")
    assert gap["high"] < 0
    assert gap["p"] < 0.05
    assert gap["p"] <= gap["p_holm"]
    assert "snli minus even on snli" in evaluate(tmp_path, *given).stdout


def test_torch_is_never_imported(mine):
    code = (
        "import sys; from chaos_utils.cli.__main__ import app\n"
        "try:\n    app(['evaluate', 'snli.csv', '--data', 'sample', '--bootstrap', '20'])\n"
        "except SystemExit as stop:\n    assert not stop.code, stop.code\n"
        "assert 'torch' not in sys.modules and 'matplotlib' not in sys.modules"
    )
    subprocess.run(
        [sys.executable, "-c", code], cwd=mine, env=chaos_environment(PROJECT), check=True,
        capture_output=True,
    )  # fmt: skip


def test_a_system_s_name_is_shown_as_it_is(mine, tmp_path):
    header, *lines = (mine / "alphanli.csv").read_text().splitlines()
    names = ("[/red]", "bert [large]", r"a$\frac$b")
    rows = [f"{name},{line}" for name in names for line in lines]
    (tmp_path / "m.csv").write_text("\n".join([f"model,{header}", *rows]))
    done = evaluate(tmp_path, "m.csv", "--bootstrap", "0")
    assert done.returncode == 0, done.stderr
    for name in names:
        assert f"{name} on alphanli" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["none.csv"], "no such predictions file"),
        (["snli.csv", "--dataset", "mnli"], "No uid of 'snli' occurs in ChaosNLI-MNLI"),
        (["snli.csv", "--dataset", "xnli"], "did you mean 'snli'"),
        (["snli.csv", "--model", "bert"], "No such model in this file"),
        (["snli.csv", "snli.csv"], "same name"),
        (["snli.csv", "snli.csv", "--join", "x"], "300 items twice"),
        (["snli.csv", "--bootstrap", "1"], "So few resamples"),
        (["snli.csv", "--bootstrap", "-5"], "So few resamples"),
        (["snli.csv", "--seed", "-1"], "0 or more"),
        (["snli.csv", "--json", "--csv"], "exclude each other"),
        (["snli.csv", "--against", "bert"], "no pair of systems"),
        (["snli.csv", "--against", "snli", "--bootstrap", "0"], "needs resamples"),
        (["empty.csv"], "empty"),
    ],
)
def test_bad_input(mine, arguments, told):
    (mine / "empty.csv").write_text("")
    done = evaluate(mine, *arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("named", [[], ["--dataset", "snli"], ["--data", "released"]])
def test_without_votes_one_error_says_what_to_do(mine, tmp_path, named):
    code = (
        "import chaos_utils.base.paths as p; p._is_project = lambda folder: False\n"
        "from chaos_utils.cli.__main__ import app; app()"
    )
    environment = chaos_environment(PROJECT, CHAOS_DATA="", CHAOS_CACHE=str(tmp_path / "none"))
    done = subprocess.run(
        [sys.executable, "-c", code, "evaluate", "snli.csv", *named], cwd=mine, env=environment,
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("The votes that judge your predictions are not available.")
    assert "run `chaos data fetch`" in done.stderr
    assert "--data sample" in done.stderr
    assert not (tmp_path / "none").exists()
