"""Commands killed at random moments: the same command again ends as if nothing had happened."""

import csv
import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest
from helpers.checkout import add_tiny, chaos_environment, copy_checkout

TINY = {"run": ["tiny"], "sweep": ["tiny", "-p", "rate=0.1,0.2"]}
KILLS = 10  # of each


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    return add_tiny(copy_checkout(tmp_path_factory.mktemp("kills") / "book"))


def outputs(checkout):
    """Return the digests of all that was made, by file, and take it away; nothing is half-made."""
    found = {}
    for record in checkout.glob("runs/*/record.json"):
        made = json.loads(record.read_text("utf-8"))["outputs"]
        found |= {f"{record.parent.name}/{name}": digest for name, digest in made.items()}
    for summary in checkout.glob("runs/**/summary.csv"):
        for row in csv.DictReader(summary.read_text("utf-8").splitlines()):
            assert row["status"] in ("done", "was there")
            found[row["run"]] = row["accuracy"]
    assert not list((checkout / "runs").glob(".*"))
    (checkout / "runs").rename(checkout.parent / f"runs-{time.time_ns()}")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("command", TINY)
def test_a_command_that_was_killed_ends_the_same_when_called_again(command, checkout, tmp_path):
    environment = chaos_environment(checkout, CHAOS_CACHE=str(tmp_path), OMP_NUM_THREADS="1")
    called = [sys.executable, "-m", "chaos_utils.cli", command, *TINY[command]]

    def finish():
        done = subprocess.run(
            called, cwd=checkout, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return outputs(checkout)

    (checkout / "runs").mkdir(exist_ok=True)
    expected = finish()
    assert expected
    rng, n_killed, begun = random.Random(0), 0, time.monotonic()
    assert finish() == expected
    seconds = time.monotonic() - begun
    for _ in range(KILLS):
        (checkout / "runs").mkdir(exist_ok=True)
        process = subprocess.Popen(
            called, cwd=checkout, env=environment, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            process.wait(rng.uniform(0.1, 0.95) * seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            n_killed += process.wait() == -signal.SIGKILL
        assert finish() == expected
    assert n_killed >= KILLS // 2
