"""Runs that are stopped, killed or shared: every architecture, on the synthetic sample."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import torch
from helpers.engine import shares, small, stop_at

from chaos_utils.scoring.trained import read_run
from chaos_utils.training import checkpoints
from chaos_utils.training import finetune as engine
from chaos_utils.training.recipes import TINY_FAMILIES

pytestmark = pytest.mark.usefixtures("one_thread", "own_work")
QUICK = {("bert", "nli"), ("modernbert", "nli"), ("xlnet", "alphanli")}


@pytest.mark.parametrize(
    ("family", "task"),
    [
        pytest.param(family, task, marks=() if (family, task) in QUICK else pytest.mark.slow)
        for family in TINY_FAMILIES
        for task in ("nli", "alphanli")
    ],
)
def test_a_run_that_is_stopped_and_resumed_ends_as_one_that_was_not(family, task, tmp_path, sample):
    settings = small(family, task=task, max_train_examples=48)
    with pytest.raises(KeyboardInterrupt):
        engine.finetune(settings, tmp_path / "run", checkpoint_seconds=0, report=stop_at(2))
    assert not (tmp_path / "run").exists()
    messages = []
    run = engine.finetune(settings, tmp_path / "run", say=messages.append)
    assert messages == ["resuming after step 2"]

    table = run.read_table("predictions.parquet")
    covered = [one for one in sample if one.dataset.name in run.record["data"]["trained_on"]]
    assert table.uid.tolist() == [uid for one in covered for uid in one.uids]
    assert shares(run).sum(axis=1) == pytest.approx(1)
    assert np.ptp(shares(run), axis=0).max() > 0  # it tells items apart

    os.environ["CHAOS_CACHE"] += "/unbroken"
    unbroken = engine.finetune(settings, tmp_path / "unbroken")
    assert (shares(run) == shares(unbroken)).all()
    assert run.record["fits"][0]["curve"] == unbroken.record["fits"][0]["curve"]
    assert run.record["outputs"] == unbroken.record["outputs"]


def test_a_checkpoint_holds_the_weights_moments_and_the_best_weights_so_far(tmp_path):
    def made():
        model = torch.nn.Linear(2, 1)
        return model, torch.optim.AdamW(model.parameters())

    (model, optimizer), (other, fresh) = made(), made()
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    best, found = {"weight": torch.full((1, 2), 7.0)}, {}
    checkpoints.save(model, optimizer, best, checkpoints.Progress(step=3), tmp_path)
    state = checkpoints.resume(other, fresh, found, tmp_path, print)
    assert state == checkpoints.Progress(step=3)
    assert torch.equal(other.weight, model.weight)
    assert torch.equal(found["weight"], best["weight"])
    moments = (one.state_dict()["state"][0]["exp_avg"] for one in (optimizer, fresh))
    assert torch.equal(*moments)


@pytest.mark.slow
def test_a_killed_process_goes_on_with_the_same_command(tmp_path):
    command = [
        sys.executable, "-m", "chaos_utils.cli", "finetune", "--model", "tiny-bert",
        "--data", "sample", "--epochs", "6", "--max-train-examples", "320", "--batch-size", "8",
        "--checkpoint-seconds", "0", "--precision", "fp32", "--dev-examples", "20",
        "--out", str(tmp_path / "run"),
    ]  # fmt: skip
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    work = tmp_path / "cache" / "training"
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as process:
        while not list(work.glob("*/checkpoint-0000001*")):
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    assert not (tmp_path / "run").exists()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "resuming after step" in done.stderr
    assert read_run(tmp_path / "run").record["fits"][0]["steps"] == 240
    assert not list(work.iterdir())


def test_a_damaged_checkpoint_is_reported_and_not_used(tmp_path):
    settings = small()
    with pytest.raises(KeyboardInterrupt):
        engine.finetune(settings, tmp_path / "run", checkpoint_seconds=0, report=stop_at(3))
    (path,) = (tmp_path / "cache" / "training").glob("*/checkpoint-*")
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    messages = []
    engine.finetune(settings, tmp_path / "run", say=messages.append)
    assert len(messages) == 1
    assert "is damaged" in messages[0]
    assert str(path) in messages[0]


@pytest.mark.slow
def test_two_processes_make_the_steps_of_one(tmp_path):
    arguments = [
        "-m", "chaos_utils.cli", "finetune", "--model", "tiny-distilbert", "--data", "sample",
        "--max-train-examples", "90", "--batch-size", "16", "--precision", "fp32",
        "--device", "cpu", "--dev-examples", "40",
    ]  # fmt: skip
    from chaos_utils.training.encoders import find_encoder
    from chaos_utils.training.recipes import get_model

    config = find_encoder(get_model("tiny-distilbert")).folder / "config.json"
    text = config.read_text()
    values = json.loads(text) | {"dropout": 0.0, "attention_dropout": 0.0,
                                 "seq_classif_dropout": 0.0}  # fmt: skip
    config.write_text(json.dumps(values))  # dropout is drawn by each process for itself
    try:
        runs = []
        for name, starter in (
            ("one", [sys.executable]),
            ("two", [sys.executable, "-m", "accelerate.commands.launch", "--multi_gpu",
                     "--num_processes", "2", "--num_machines", "1", "--mixed_precision", "no",
                     "--dynamo_backend", "no"]),
        ):  # fmt: skip
            environment = os.environ | {"OMP_NUM_THREADS": "1"}
            environment["CHAOS_CACHE"] = str(tmp_path / "cache" / name)
            (tmp_path / "cache" / name).mkdir()
            (tmp_path / "cache" / name / "encoders").symlink_to(config.parents[1])
            command = [*starter, *arguments, "--out", str(tmp_path / name)]
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr[-2000:]
            runs.append(read_run(tmp_path / name))
    finally:
        config.write_text(text)
    one, two = (run.record["fits"][0] for run in runs)
    assert two["processes"] == 2
    assert [point["pairs"] for point in one["curve"]] == [point["pairs"] for point in two["curve"]]
    assert [point["loss"] for point in one["curve"]] == pytest.approx(
        [point["loss"] for point in two["curve"]], abs=2e-5
    )
    assert shares(runs[0]) == pytest.approx(shares(runs[1]), abs=1e-4)
