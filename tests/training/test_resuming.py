"""Runs that are stopped, killed or shared: every architecture, on the synthetic sample."""

import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from helpers.engine import N_STEPS, fit_tiny, shares, small, stop_at, weights

from chaos_utils.scoring.training_records import read_run
from chaos_utils.training import finetune as engine
from chaos_utils.training.recipes import TINY_FAMILIES

QUICK = {("bert", "nli"), ("xlnet", "alphanli")}
COMMAND = [
    sys.executable, "-m", "chaos_utils.cli", "finetune", "--data", "sample", "--precision", "fp32",
    "--device", "cpu", "--threads", "1", "--batch-size", "16",
]  # fmt: skip


def test_a_fit_that_is_stopped_after_any_step_ends_as_one_that_was_not(tmp_path):
    unbroken, known = fit_tiny(tmp_path / "unbroken")
    assert [look["accuracy"] for look in known.looks] == [1 / 2, 1 / 3]
    first, _ = fit_tiny(tmp_path / "first", settings={"epochs": 2, "patience": 1})
    assert (weights(first) == weights(unbroken)).all()  # those of the better epoch are kept
    for step in range(1, N_STEPS + 1):
        work = tmp_path / f"stopped-{step}"
        with pytest.raises(KeyboardInterrupt):
            fit_tiny(work, stop=step)
        model, state = fit_tiny(work)
        assert len(state.calls) == 2
        assert (state.curve, state.looks) == (known.curve, known.looks)
        assert (weights(model) == weights(unbroken)).all()


@pytest.mark.parametrize(
    ("family", "task"),
    [
        pytest.param(family, task, marks=() if (family, task) in QUICK else pytest.mark.slow)
        for family in TINY_FAMILIES
        for task in ("nli", "alphanli")
    ],
)
def test_a_run_that_is_stopped_and_resumed_ends_as_one_that_was_not(
    family, task, empty_cache, tmp_path, sample, monkeypatch
):
    settings = small(family, task=task, max_train_examples=48)
    with pytest.raises(KeyboardInterrupt):
        engine.finetune(settings, tmp_path / "run", checkpoint_seconds=0, report=stop_at(2))
    assert not (tmp_path / "run").exists()
    messages = []
    run = engine.finetune(settings, tmp_path / "run", say=messages.append)
    assert messages[0] == "resuming after step 2"

    table = run.read_table("predictions.parquet")
    covered = [one for one in sample if one.dataset.name in run.record.data.trained_on]
    assert table.uid.tolist() == [uid for one in covered for uid in one.uids]
    assert shares(run).sum(axis=1) == pytest.approx(1)
    assert np.ptp(shares(run), axis=0).max() > 0  # it tells items apart

    monkeypatch.setenv("CHAOS_CACHE", str(empty_cache / "unbroken"))
    unbroken = engine.finetune(settings, tmp_path / "unbroken")
    assert run.record.fits[0].curve == unbroken.record.fits[0].curve
    assert run.record.outputs == unbroken.record.outputs


def test_a_fit_that_is_resumed_has_as_little_patience_left(tmp_path):
    patient = {"epochs": 5, "patience": 2}
    with pytest.raises(KeyboardInterrupt):
        fit_tiny(tmp_path / "stopped", stop=4, settings=patient)
    resumed, account = fit_tiny(tmp_path / "stopped", settings=patient)
    assert account.steps == 6  # after two epochs without a gain
    unbroken, known = fit_tiny(tmp_path / "unbroken", settings=patient)
    assert (account.looks, account.steps) == (known.looks, known.steps)
    assert (weights(resumed) == weights(unbroken)).all()


def test_a_damaged_checkpoint_is_reported_and_not_used(tmp_path):
    from chaos_utils.training.trainer import last_checkpoint

    with pytest.raises(KeyboardInterrupt):
        fit_tiny(tmp_path, stop=3)
    said = []
    folder, account = last_checkpoint(tmp_path, said.append)
    assert (folder.name, account.steps, said) == ("checkpoint-3", 3, [])
    path = folder / "optimizer.pt"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    before, _ = last_checkpoint(tmp_path, said.append)
    assert before.name == "checkpoint-2"  # the best so far, which is kept
    assert f"{folder} is damaged" in said[0]
    (before / "account.json").unlink()  # killed while it was written
    assert last_checkpoint(tmp_path, said.append) is None


@pytest.mark.slow
def test_a_process_that_is_killed_after_every_step_ends_as_one_that_was_not(
    empty_cache, tmp_path, monkeypatch
):
    command = [*COMMAND, "--model", "tiny-bert", "--max-train-examples", "96", "--epochs", "1",
               "--dev-examples", "24", "--out", str(tmp_path / "run")]  # fmt: skip

    def steps():
        found = (empty_cache / "training").glob("*/checkpoint-*/account.json")
        return max((int(path.parent.name.split("-")[1]) for path in found), default=0)

    kills = 0
    while steps() < 6:
        before = steps()
        called = [*command, "--checkpoint-seconds", "0"]
        with subprocess.Popen(called, stderr=subprocess.DEVNULL) as process:
            while steps() == before:
                assert process.poll() is None
                time.sleep(0.001)
            process.send_signal(signal.SIGKILL)
        kills += 1
    assert kills > 1
    assert not (tmp_path / "run").exists()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    # The last kill may come after the weights were kept.
    assert re.search("resuming after step 6|these weights were trained before", done.stderr)
    assert not list((empty_cache / "training").iterdir())
    monkeypatch.setenv("CHAOS_CACHE", str(empty_cache / "unbroken"))
    unbroken = engine.finetune(small(threads=1), tmp_path / "unbroken")
    assert read_run(tmp_path / "run").record.outputs == unbroken.record.outputs
