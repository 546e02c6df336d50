"""Sweeps on a real SLURM, which `make test-slurm` starts."""

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from helpers.checkout import add_tiny, chaos, chaos_environment, copy_checkout

pytestmark = pytest.mark.slurm

PROFILE = Path(__file__).parent / "profile"
# Six short trainings of a tiny model, of which the last fails once it runs.
NOTEBOOK, VARIED, FAILING = "finetune", "max_train_examples", 99999
GRID = f"-p model=tiny-bert -p data=sample -p {VARIED}=32,48,64,80,96,{FAILING}".split()
WHY, PREDICTIONS = "There is no training set of this size", "predictions.parquet"


@pytest.fixture(scope="module", autouse=True)
def _slurm():
    if shutil.which("sinfo") is None or subprocess.run(["sinfo"], check=False).returncode:
        pytest.skip("no SLURM here: `make test-slurm` starts one")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A checkout with the notebook."""
    return add_tiny(copy_checkout(tmp_path_factory.mktemp("slurm") / "book"))


def sweep(checkout):
    given = [NOTEBOOK, *GRID, "--profile", str(PROFILE), "--json"]
    done = chaos("sweep", *given, cwd=checkout)
    return done, json.loads(done.stdout)["runs"]


def predictions(checkout):
    """Return when each prediction was written."""
    found = (checkout / "runs").glob(f"{NOTEBOOK}-*/**/{PREDICTIONS}")
    return {path: path.stat().st_mtime_ns for path in found}


def test_a_sweep_of_six_runs_of_which_one_fails(checkout):
    done, rows = sweep(checkout)
    assert done.returncode == 2
    assert [row["status"] for row in rows] == ["done"] * 5 + ["failed"]
    assert WHY in rows[-1]["reason"]
    for words in ("1 of 6 runs failed", f"({VARIED}={FAILING})", WHY):
        assert words in done.stderr
    first = predictions(checkout)
    assert len(first) == 5

    lost = rows[1]["run"]
    shutil.rmtree(checkout / "runs" / lost)
    _, again = sweep(checkout)
    assert [row["status"] for row in again] == ["was there", "done", *["was there"] * 3, "failed"]
    second = predictions(checkout)
    assert set(second) == set(first)
    assert {path.parents[1].name for path in first if second[path] != first[path]} == {lost}


def test_a_sweep_that_was_killed_is_taken_up_again(checkout):
    grid = ["-p", "seed=1,2,3,4", "--profile", str(PROFILE)]
    process = subprocess.Popen(
        [sys.executable, "-m", "chaos_utils.cli", "sweep", "tiny", *grid], cwd=checkout,
        env=chaos_environment(checkout), stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not (ended := list((checkout / "runs").glob("sweep-tiny-*/done/*"))):
        time.sleep(0.2)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = checkout / "runs" / ended[0].name / "predictions.csv"
    before = kept.stat().st_mtime_ns
    done = chaos("sweep", "tiny", *grid, "--json", cwd=checkout)
    assert done.returncode == 0, done.stderr
    rows = {row["run"]: row["status"] for row in json.loads(done.stdout)["runs"]}
    assert rows[ended[0].name] == "was there"
    assert set(rows.values()) <= {"was there", "done"}
    assert kept.stat().st_mtime_ns == before
    left = subprocess.run(["squeue", "--noheader"], capture_output=True, text=True, check=True)
    assert left.stdout == ""


def test_the_profile_of_the_project_asks_for_a_gpu(checkout, tmp_path):
    profile = (checkout / "profiles" / "slurm" / "config.yaml").read_text()
    profile = profile.replace("before-status-checks: 20", "before-status-checks: 3")
    for adapted in ("slurm-status-command: squeue", "slurm-no-account: true"):
        assert f"# {adapted}" in profile
        profile = profile.replace(f"# {adapted}", adapted)
    (tmp_path / "config.yaml").write_text(profile)
    given = ["-p", "seed=9", "--profile", str(tmp_path), "--json"]
    done = chaos("sweep", "tiny", *given, cwd=checkout)
    assert done.returncode == 0, done.stderr
    asked = subprocess.run(["scontrol", "show", "job"], capture_output=True, text=True, check=True)
    last = asked.stdout.rstrip().rpartition("\n\n")[2]
    for asked_for in ("gpu:1", "MinMemoryNode=32000M", "TimeLimit=08:00:00"):
        assert asked_for in last
