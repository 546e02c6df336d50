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
from helpers.checkout import add_tiny, chaos, chaos_environment, copy_built, copy_checkout, planned

from chaos_utils.base import inputs

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


def kills(called, checkout, environment, seconds):
    """Start a command that takes some seconds again and again; yield after each of its `KILLS`."""
    rng, tries = random.Random(0), iter(range(3 * KILLS))
    for _ in range(KILLS):
        killed = False
        while not killed:
            assert next(tries, None) is not None, "it ends before it is killed"
            begun = time.monotonic()
            process = subprocess.Popen(
                called, cwd=checkout, env=environment, start_new_session=True,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            try:
                process.wait(rng.uniform(0.1, 0.95) * seconds)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                killed = process.wait() == -signal.SIGKILL
            if not killed:
                seconds = time.monotonic() - begun  # the machine is less busy than it was
        yield


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
    begun = time.monotonic()
    assert finish() == expected
    seconds = time.monotonic() - begun
    for _ in kills(called, checkout, environment, seconds):
        assert finish() == expected
        (checkout / "runs").mkdir(exist_ok=True)


@pytest.mark.slow
def test_a_build_that_was_killed_ends_the_same_when_called_again(small_checkout, tmp_path):
    checkout = copy_built(small_checkout, tmp_path / "book")
    expected = made(checkout)
    called = [sys.executable, "-m", "chaos_utils.cli", "build", "--sample", "--force"]
    begun = time.monotonic()
    subprocess.run(called, cwd=checkout, env=chaos_environment(checkout), check=True)
    for _ in kills(called, checkout, chaos_environment(checkout), time.monotonic() - begun):
        pass
    done = chaos("build", "--sample", cwd=checkout)
    assert done.returncode == 0, done.stderr
    assert made(checkout) == expected
    assert planned(checkout) == set()


def made(checkout):
    """Return the digests of a built book's pages and chapters, by file."""
    return inputs.digests(checkout / "_build" / "html") | inputs.digests(checkout / "book")
