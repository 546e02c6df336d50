"""Run folders in the form that `chaos finetune` leaves, made by hand."""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from chaos_utils.base import inputs
from chaos_utils.scoring import training_records
from chaos_utils.scoring.formats import class_columns
from chaos_utils.scoring.predictions import write_predictions
from chaos_utils.scoring.system import System

SETTINGS = {
    "model": "minilm-l6", "task": "nli", "seed": 0, "train": "corpora", "loss": "hard",
    "label_smoothing": 0.0, "teacher": "", "init": "", "max_train_examples": 0, "n_folds": 5,
    "epochs": 2, "batch_size": 32, "learning_rate": 1e-4, "weight_decay": 0.01,
    "warmup_ratio": 0.1, "max_length": 128, "patience": 0, "dev_examples": 2000,
    "precision": "bf16", "revision": "", "data": "auto",
}  # fmt: skip
_PUBLISHED = {"nli": 942854, "alphanli": 169654}
_N_DEV = 40


def fit(n_train=1000, seconds=10.0, **changes):
    """Return what a record tells of one fit: a falling loss, a growing accuracy."""
    seen = [n_train // 4, n_train // 2, n_train]
    made = {
        "steps": 3, "planned_steps": 3, "train_examples": n_train, "longest_sequences": 0,
        "curve": [{"step": k, "pairs": n, "loss": 1.1 - 0.2 * k, "learning_rate": 1e-4}
                  for k, n in enumerate(seen, start=1)],
        "looks": [{"step": k, "pairs": n, "n": _N_DEV, "accuracy": 0.3 + 0.1 * k, "loss": 1.0}
                  for k, n in enumerate(seen, start=1)],
        "pairs": n_train, "tokens": 30 * n_train, "padded_tokens": 32 * n_train,
        "seconds": seconds, "pairs_per_second": n_train / seconds,
        "processes": 1, "parameters": 22_714_371,
    }  # fmt: skip
    return made | changes


def write_run(folder: Path, votes, probabilities, *, settings=None, **record):
    """Write a run's folder and return the run.

    `votes` is a list of one task's or of SNLI's and MNLI's; `probabilities` has an array of
    shape (n, k) for each. `settings` changes SETTINGS. Any other argument replaces an entry of the
    record.
    """
    folder.mkdir(parents=True)
    chosen = SETTINGS | {"task": "alphanli" if len(votes) == 1 else "nli"} | (settings or {})
    n_train = chosen["max_train_examples"] or 4000
    system = record.pop("system", f"MiniLM-L6, {n_train:,} items, seed {chosen['seed']}")
    write_predictions(
        folder / training_records.PREDICTIONS_FILE,
        [System(system, one.dataset, one.uids, np.asarray(p), np.asarray(p).argmax(axis=1))
         for one, p in zip(votes, probabilities, strict=True)],
    )  # fmt: skip
    columns = class_columns(votes[0].dataset)
    rng = np.random.default_rng(3)
    dev = pd.DataFrame(rng.dirichlet(np.ones(len(columns)), size=_N_DEV), columns=columns)
    dev["dataset"] = [votes[i % len(votes)].dataset.name for i in range(_N_DEV)]
    dev["uid"] = [f"dev-{i}" for i in range(_N_DEV)]
    dev["label"] = rng.integers(len(columns), size=_N_DEV)
    dev.to_parquet(folder / training_records.DEV_FILE, index=False)
    datasets = {one.dataset.name: n_train // len(votes) for one in votes}
    score = {"n": _N_DEV, "accuracy": 0.75, "loss": 0.7}
    written = {
        "schema": 1, "system": system, "synthetic": votes[0].source.synthetic,
        "command": "chaos finetune …", "settings": chosen,
        "encoder": {"family": "minilm", "origin": "made by hand", "published": False},
        "data": {"trained_on": datasets, "n_train": n_train,
                 "n_published": _PUBLISHED[chosen["task"]], "without_majority_label": 0,
                 "n_dev": _N_DEV},
        "dev": {"all": score, **dict.fromkeys(datasets, score)}, "test": {},
        "fits": [fit(n_train)],
        "device": {"name": "cpu", "precision": "bf16", "title": "CPU, 2 threads"},
        "weights": "0" * 16, "inputs": [], "code": {}, "software": {}, "hardware": {},
        "started": "2026-11-20T08:00:00+00:00", "seconds": 12.0,
    } | record  # fmt: skip
    written["outputs"] = {path.name: inputs.digest(path) for path in sorted(folder.iterdir())}
    (folder / training_records.RECORD_FILE).write_text(json.dumps(written), "utf-8")
    return training_records.read_run(folder)
