"""What our own training runs were and what they cost: run records in, tidy tables out."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from chaos_utils.datasets.published.tables import read_published
from chaos_utils.scoring.trained import Run, kind_of, wanted_entries

_HYPERPARAMETERS = (
    "learning_rate", "batch_size", "weight_decay", "epochs", "learning_rate_decay", "warmup_ratio",
)  # fmt: skip
_COUNTS = ("items_seen", "parameters", "processes")


def missing_runs(runs: Iterable[Run]) -> list[str]:
    """Return the names of the runs that the book wants and that are not there, in order.

    Parameters
    ----------
    runs : iterable of Run
        Those that are there.
    """
    there = {run.name for run in runs}
    return [entry["name"] for entry in wanted_entries() if entry["name"] not in there]


def run_table(runs: Sequence[Run]) -> pd.DataFrame:
    """Return what each run was trained on, how, what it reached, and what it cost.

    Returns
    -------
    DataFrame
        One row per run: ``run``, ``system``, ``task`` (``nli``, ``alphanli``), ``kind`` (see
        `kind_of`), ``model``, ``train`` (``corpora``, ``chaosnli``), ``init`` (the run whose
        weights it starts from or predicts with; else empty), ``mc_samples``; ``n_train``,
        ``n_published`` (items of the published corpora), ``trained_share``, ``n_train_…``;
        the recipe; ``n_dev_…``, ``dev_accuracy_…``, ``n_test_…`` and ``test_accuracy_…`` for
        each dataset; and the cost, summed over folds: ``n_fits``, ``parameters``, ``items_seen``,
        ``training_seconds``, ``items_per_second``, ``tokens_per_second``, ``flops``,
        ``peak_share`` (in [0, 1]), ``peak_memory_gib``, ``processes``, ``device``,
        ``precision``, ``command``. NaN for the cost of a run that trained nothing.
    """
    table = pd.DataFrame([_row(run) for run in runs])
    counts = [name for name in table if name.startswith("n_") or name in _COUNTS]
    return table.astype(dict.fromkeys(counts, "Int64"))


def _row(run: Run) -> dict[str, Any]:
    record, settings, data = run.record, run.settings, run.record["data"]
    predicted = record.get("predicted") or {}
    row: dict[str, Any] = {
        "run": run.name,
        "system": run.system,
        "task": settings["task"],
        "kind": kind_of(run),
        "model": settings["model"],
        "train": settings["train"],
        "init": predicted.get("run", settings["init"]),
        "mc_samples": predicted.get("mc_samples", 0),
        "n_train": data["n_train"],
        "n_published": data["n_published"],
        "trained_share": data["n_train"] / data["n_published"],
    }
    row |= {f"n_train_{name}": n for name, n in sorted(data["trained_on"].items())}
    names = ["loss", "label_smoothing", "learning_rate", "batch_size", "weight_decay", "epochs"]
    row |= {name: settings[name] for name in [*names, "warmup_ratio", "n_folds", "seed"]}
    for split in ("dev", "test"):
        for name, part in sorted(record[split].items()):
            row[f"n_{split}_{name.replace('-', '_')}"] = part["n"]
            row[f"{split}_accuracy_{name.replace('-', '_')}"] = part["accuracy"]
    return row | _cost(record["fits"] if not predicted else []) | {
        "device": record["device"]["title"],
        "precision": record["device"]["precision"],
        "command": record["command"],
    }  # fmt: skip


def _cost(fits: Sequence[dict[str, Any]]) -> dict[str, Any]:
    if not fits:
        return {"n_fits": 0}
    sums = {
        name: sum(fit[name] for fit in fits) for name in ("pairs", "tokens", "seconds", "flops")
    }
    possible = sum(fit["seconds"] * fit["measured_peak_flops_per_second"] for fit in fits)
    seconds = sums["seconds"]
    return {
        "n_fits": len(fits),
        "parameters": fits[0]["parameters"],
        "items_seen": sums["pairs"],
        "training_seconds": seconds,
        "items_per_second": sums["pairs"] / seconds if seconds else np.nan,
        "tokens_per_second": sums["tokens"] / seconds if seconds else np.nan,
        "flops": sums["flops"],
        "peak_share": sums["flops"] / possible if possible else np.nan,
        "peak_memory_gib": max(fit["peak_memory_gib"] for fit in fits),
        "processes": fits[0]["processes"],
    }


def curve_table(runs: Iterable[Run]) -> pd.DataFrame:
    """Return the course of every run that trained.

    Returns
    -------
    DataFrame
        ``task``, ``run``, ``system``, ``fold`` (from 0; runs that are not folded have one),
        ``measure`` (``loss``: mean training loss since the row before, in nats;
        ``dev_accuracy``: on development items outside ChaosNLI), ``items`` seen, ``value``.
    """
    rows = [
        {"task": run.settings["task"], "run": run.name, "system": run.system, "fold": fold,
         "measure": measure, "items": point["pairs"], "value": point[key]}
        for run in runs
        if not run.record.get("predicted")
        for fold, fit in enumerate(run.record["fits"])
        for measure, points, key in (
            ("loss", fit["curve"], "loss"), ("dev_accuracy", fit["looks"], "accuracy"),
        )
        for point in points
    ]  # fmt: skip
    columns = ["task", "run", "system", "fold", "measure", "items", "value"]
    return pd.DataFrame(rows, columns=columns)


def recipe_table(runs: Iterable[Run]) -> pd.DataFrame:
    """Set Table 8 of Nie et al. (2020) beside the recipes of our runs.

    Returns
    -------
    DataFrame
        ``source`` (``published``, ``ours``), ``model`` (a family of the paper, or the model of
        our runs), ``task``, ``learning_rate``, ``batch_size``, ``weight_decay``, ``epochs``
        (at most so many in the paper), ``learning_rate_decay``, ``warmup_ratio``, and
        ``runs``: names of our runs with this recipe, joined by a space.
    """
    table = read_published("nie2020_table8").rename(columns={"hyperparameter": "model"})
    theirs = table.set_index("model").T.rename(columns={"max_epochs": "epochs"})
    theirs = theirs.rename_axis("model", axis="index").rename_axis(None, axis="columns")
    theirs = theirs.reset_index().assign(source="published", runs="")
    rows = [
        {"source": "ours", "model": run.system.split(",")[0], "task": run.settings["task"],
         # The training loop knows no other schedule.
         **{name: run.settings.get(name, "linear") for name in _HYPERPARAMETERS},
         "runs": run.name}
        for run in runs
        if not run.record.get("predicted")
    ]  # fmt: skip
    keys = ["source", "model", "task", *_HYPERPARAMETERS]
    ours = pd.DataFrame(rows, columns=[*keys, "runs"])
    if len(ours):
        ours = ours.groupby(keys, sort=False, as_index=False)["runs"].agg(" ".join)
    numbers = [name for name in _HYPERPARAMETERS if name != "learning_rate_decay"]
    both = pd.concat([theirs, ours], ignore_index=True)[[*keys, "runs"]]
    return both.astype(dict.fromkeys(numbers, float))
