"""Several processes that share one training: gloo on a CPU, on every path, killed and resumed."""

import json
import os
import signal
import subprocess
import sys
import time

import pandas as pd
import psutil
import pytest
from helpers.engine import shares, write_votes

from chaos_utils.scoring.training_records import read_run
from chaos_utils.training.encoders import find_encoder
from chaos_utils.training.recipes import get_model

FINETUNE = [
    "-m", "chaos_utils.cli", "finetune", "--data", "sample", "--precision", "fp32", "--device",
    "cpu", "--threads", "1", "--batch-size", "16", "--dev-examples", "24",
]  # fmt: skip
TWO = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
CORPORA = ["--max-train-examples", "90"]
VOTES = ["--train", "chaosnli", "--loss", "jsd", "--n-folds", "2", "--epochs", "2", "--patience",
         "1"]  # fmt: skip
OWN_VOTES = "votes.csv"  # in the folder in which the command runs
PATHS = {
    "corpora": ["--model", "tiny-bert", *CORPORA],
    "votes": ["--model", "tiny-bert", *VOTES],
    "votes of stories, with weights that no logit depends on": [
        "--model", "tiny-xlnet", "--task", "alphanli", *VOTES,
    ],
    "own votes": [
        "--model", "tiny-bert", "--train", OWN_VOTES, "--n-folds", "2", "--epochs", "2",
        "--patience", "1", "--data", "auto", "--dev-examples", "0",
    ],
    "in parts": [
        "--model", "tiny-roberta", *CORPORA, "--trainer", "gradient_accumulation_steps: 2",
    ],
}  # fmt: skip


def run(command, cache):
    return subprocess.run(
        command, env=os.environ | {"CHAOS_CACHE": str(cache)}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


def checkpoints(cache):
    return {path.parent for path in (cache / "training").glob("**/checkpoint-*/account.json")}


def interrupt(command, cache, whom):
    """Kill all processes, or one of them, once two checkpoints have been written."""
    seen = set()
    with subprocess.Popen(
        [*command, "--checkpoint-seconds", "0"], env=os.environ | {"CHAOS_CACHE": str(cache)},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        while len(seen) < 2:
            assert process.poll() is None
            seen |= checkpoints(cache)
            time.sleep(0.002)
        workers = psutil.Process(process.pid).children()
        for each in (process, *workers) if whom == "all" else workers[1:]:
            each.send_signal(signal.SIGKILL)
        process.wait(60)  # the launcher ends what is left
        psutil.wait_procs(workers, 60)
    assert process.returncode


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "whom"), [*zip(PATHS, ("all", "one", "all", "one", "one"), strict=True)]
)
def test_two_processes_that_are_killed_end_as_two_that_were_not(
    path, whom, empty_cache, tmp_path, monkeypatch
):
    write_votes(tmp_path / OWN_VOTES)
    monkeypatch.chdir(tmp_path)
    for name in ("killed", "unbroken"):
        (empty_cache / name).mkdir()
        (empty_cache / name / "encoders").symlink_to(empty_cache / "encoders")
    killed, unbroken = empty_cache / "killed", empty_cache / "unbroken"
    command = [*TWO, *FINETUNE, *PATHS[path], "--out", str(tmp_path / "run")]
    interrupt(command, killed, whom)
    assert not (tmp_path / "run").exists()

    alone = run([sys.executable, *FINETUNE, *PATHS[path], "--out", str(tmp_path / "run")], killed)
    # That is the notebook's way, whose errors are the engine's.
    assert alone.returncode == 2, alone.stderr
    assert "another number of processes" in alone.stderr

    resumed = run(command, killed)
    assert resumed.returncode == 0, resumed.stderr[-3000:]
    assert "resuming after step" in resumed.stderr
    command[-1] = str(tmp_path / "unbroken")
    once = run(command, unbroken)
    assert once.returncode == 0, once.stderr[-3000:]
    assert "resuming" not in once.stderr
    first, second = (read_run(tmp_path / name).record for name in ("run", "unbroken"))
    assert first.outputs == second.outputs
    assert first.weights == second.weights
    for one, other in zip(first.fits, second.fits, strict=True):
        assert (one.curve, one.inner_losses) == (other.curve, other.inner_losses)
        assert (one.processes, one.calls) == (2, one.calls)
    assert sum(fit.calls for fit in first.fits) == 1 + len(first.fits)
    if "votes" in path:
        assert first.out_of_fold
        assert [len(fit.inner_losses) > 1 for fit in first.fits] == [True, True]


@pytest.mark.slow
def test_two_processes_make_the_steps_of_one(empty_cache, tmp_path):
    config = find_encoder(get_model("tiny-distilbert")).folder / "config.json"
    text = config.read_text()
    dropouts = ("dropout", "attention_dropout", "seq_classif_dropout")
    values = json.loads(text) | dict.fromkeys(dropouts, 0.0)
    config.write_text(json.dumps(values))  # dropout is drawn by each process for itself
    two_processes = [
        sys.executable, "-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes", "2",
        "--num_machines", "1", "--mixed_precision", "no", "--dynamo_backend", "no",
    ]  # fmt: skip
    runs = []
    try:
        for name, starter in (("one", [sys.executable]), ("two", two_processes)):
            (empty_cache / name).mkdir()
            (empty_cache / name / "encoders").symlink_to(config.parents[1])
            command = [*starter, *FINETUNE, "--model", "tiny-distilbert", *CORPORA, "--out",
                       str(tmp_path / name)]  # fmt: skip
            done = run(command, empty_cache / name)
            assert done.returncode == 0, done.stderr[-2000:]
            runs.append(read_run(tmp_path / name))
    finally:
        config.write_text(text)
    one, two = (run.record.fits[0] for run in runs)
    assert two.processes == 2
    curves = (pd.DataFrame([(seen.pairs, seen.loss) for seen in fit.curve]) for fit in (one, two))
    pd.testing.assert_frame_equal(*curves, rtol=0, atol=2e-5)
    assert shares(runs[0]) == pytest.approx(shares(runs[1]), abs=1e-4)
