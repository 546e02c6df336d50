"""What our own training runs were, what they reach and what they cost."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from chaos_utils.datasets.catalogue import short_of
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.tasks import get_task, tasks
from chaos_utils.datasets.votes import Votes
from chaos_utils.plots.columns import DATASET
from chaos_utils.recorded import derived_table
from chaos_utils.report.columns import Column, Row, number, with_ends
from chaos_utils.report.manifests import PageLink
from chaos_utils.scoring.evaluate import evaluate_systems, part_of, references
from chaos_utils.scoring.scores import EvaluationRequest, as_scores
from chaos_utils.scoring.systems import guesses_by_votes
from chaos_utils.scoring.training_records import Fit, Run, kind_of
from chaos_utils.training.estimates import GPUS, USUAL_GPU, estimate, hours_in_words
from chaos_utils.training.plans import Plan
from chaos_utils.training.settings import complete, read_settings

_HYPERPARAMETERS = (
    "learning_rate", "batch_size", "weight_decay", "epochs", "learning_rate_decay", "warmup_ratio",
)  # fmt: skip
# The first says how near: votes misplaced, as a share of all.
_PEOPLE_MEASURES = ("dist_ce", "jsd", "people_on_top")
_RECIPE = ("source", "model", "task", *_HYPERPARAMETERS)


@derived_table(keys=("run",))
def run_table(runs: Sequence[Run]) -> pd.DataFrame:
    """Return what each run was trained on, how, what it reached, and what it cost.

    One row per run. ``kind`` is that of `kind_of`; ``init`` the run whose weights it starts from or
    predicts with, else empty; ``n_published`` the items of the published corpora; ``own_files``,
    where a run has any, a reader's own that it was trained on; ``n_learnt`` the items that each of
    its models learnt from, without those that it predicts or that say when to stop. Sizes and
    accuracies have a column for each dataset. Costs are summed over folds, and missing for a run
    that trained nothing.
    """
    table = pd.DataFrame([_row(run) for run in runs])
    counts = [name for name in table if name.startswith("n_") or name == "items_seen"]
    return table.astype(dict.fromkeys(counts, "Int64"))


def _row(run: Run) -> dict[str, Any]:
    record, settings, data = run.record, run.settings, run.record.data
    predicted = record.predicted
    row: dict[str, Any] = {
        "run": run.name,
        "system": run.system,
        "task": settings.task,
        "kind": kind_of(run),
        "model": settings.model,
        "train": settings.train,
        "init": (predicted and predicted.run) or settings.init,
        "mc_samples": predicted.mc_samples if predicted else 0,
        "n_train": data.n_train,
        "n_published": data.n_published,
        "trained_share": data.n_train / data.n_published,
    }
    row |= {f"n_train_{name}": n for name, n in sorted(data.trained_on.items())}
    if own := run.own_training_files:
        row["own_files"] = ", ".join(own)
    names = ["loss", "label_smoothing", "learning_rate", "batch_size", "weight_decay", "epochs"]
    row |= {name: getattr(settings, name) for name in [*names, "warmup_ratio", "n_folds", "seed"]}
    for split, scores in (("dev", record.dev), ("test", record.test)):
        for name, part in sorted(scores.items()):
            row[f"n_{split}_{name.replace('-', '_')}"] = part.n
            row[f"{split}_accuracy_{name.replace('-', '_')}"] = part.accuracy
    return row | _cost([] if predicted else record.fits) | {
        "device": run.hardware,
        "precision": record.device.precision,
        "made_by": "notebook" if record.made_by else "command",
        "command": run.command,
    }  # fmt: skip


def _cost(fits: Sequence[Fit]) -> dict[str, Any]:
    if not fits:
        return {"n_fits": 0}
    seconds, pairs = sum(fit.seconds for fit in fits), sum(fit.pairs for fit in fits)
    return {
        "n_fits": len(fits),
        "n_learnt": round(sum(fit.train_examples for fit in fits) / len(fits)),
        "million_parameters": fits[0].parameters / 1e6,
        "items_seen": pairs,
        "training_minutes": seconds / 60,
        "items_per_second": pairs / seconds if seconds else np.nan,
    }


@derived_table(keys=("dataset", "system"))
def people_comparison(
    run: Run, votes: Sequence[Votes], *, n_resamples: int, seed: int
) -> pd.DataFrame:
    """Set what a run predicts beside people and guesses, on the same items.

    Parameters
    ----------
    run : Run
    votes : sequence of Votes
        On each dataset that it predicts, all of its items or a part.
    n_resamples : int
        Bootstrap resamples of the items for its intervals, each with the votes on it; 0 for none.
    seed : int
        Of these.

    Returns
    -------
    DataFrame
        A row for each ``dataset`` and ``system``: perfect model, second crowd, uniform guess, base
        rate, and the run; the nearest comes first. Columns are ``n_items``, and each measure of
        `_PEOPLE_MEASURES` with its ends, ``…_low`` and ``…_high``, which are the run's alone.
    """
    tables = []
    request = EvaluationRequest(_PEOPLE_MEASURES, n_resamples=n_resamples, seed=seed)
    for of_dataset in votes:
        predicted = run.predictions_on(of_dataset)
        if predicted is None:
            continue
        covered = part_of(of_dataset, predicted.rows_in(of_dataset))
        guesses = guesses_by_votes(covered)
        reference_rows = references(covered, _PEOPLE_MEASURES)
        scores = as_scores(
            [
                *evaluate_systems(covered, [predicted], request),
                *evaluate_systems(covered, guesses, EvaluationRequest(_PEOPLE_MEASURES)),
                *(row for row in reference_rows if row["origin"] == "reference"),
            ]
        )
        keys = ["dataset", "system"]
        wide = scores.pivot(index=keys, columns="measure", values=["value", "low", "high"])
        wide.columns = [f"{name}_{what}".removesuffix("_value") for what, name in wide.columns]
        n_items = scores.groupby(keys)["n_items"].first()
        tables.append(wide.assign(n_items=n_items).sort_values(_PEOPLE_MEASURES[0]).reset_index())
    return pd.concat(tables, ignore_index=True)


@derived_table(keys=("run", "fold", "measure", "items"))
def curve_table(runs: Iterable[Run]) -> pd.DataFrame:
    """Return the course of every run that trained, by ``items`` seen.

    ``kind`` is that of `kind_of`, and ``label`` the number of training items. A ``measure`` is
    ``loss``, the mean training loss since the row before, in nats, ``dev_accuracy``, on development
    items outside ChaosNLI, or ``inner_loss`` after each pass, on the inner fold that says when to
    stop, in nats. Folds count from 0; runs that are not folded have one.
    """
    rows = [
        {"task": run.settings.task, "run": run.name, "model": run.settings.model,
         "kind": kind_of(run), "label": _size(run), "fold": fold,
         "measure": measure, "items": pairs, "value": value}
        for run in runs
        if not run.record.predicted
        for fold, fit in enumerate(run.record.fits)
        for measure, points in (
            ("loss", [(point.pairs, point.loss) for point in fit.curve]),
            ("dev_accuracy", [(point.pairs, point.accuracy) for point in fit.looks]),
            (
                "inner_loss",
                [(n * fit.train_examples, loss) for n, loss in enumerate(fit.inner_losses)],
            ),
        )
        for pairs, value in points
    ]  # fmt: skip
    columns = ["task", "run", "model", "kind", "label", "fold", "measure", "items", "value"]
    return pd.DataFrame(rows, columns=columns)


def _size(run: Run) -> str:
    """Name a run by its training items, or say that it takes all that are available."""
    return "all" if kind_of(run) != "size" else number(run.record.data.n_train)


@derived_table(keys=_RECIPE, published=("nie2020_table8",))
def recipe_table(runs: Iterable[Run]) -> pd.DataFrame:
    """Set Table 8 of Nie et al. (2020) beside the recipes of our runs.

    ``model`` is a family of the paper, or the model of our ``runs`` with this recipe, whose names
    are joined by a space. The paper's ``epochs`` are at most so many.
    """
    theirs = read_published("nie2020_table8").set_index("hyperparameter").T
    theirs = theirs.rename(columns={"max_epochs": "epochs"}).rename_axis("model").reset_index()
    theirs = theirs.assign(source="published", runs="")
    rows = [
        {"source": "ours", "model": run.system.split(",")[0], "task": run.settings.task,
         # The training loop knows no other schedule.
         **{name: getattr(run.settings, name, "linear") for name in _HYPERPARAMETERS},
         "runs": run.name}
        for run in runs
        if not run.record.predicted
    ]  # fmt: skip
    columns = [*_RECIPE, "runs"]
    ours = pd.DataFrame(rows, columns=columns)
    if len(ours):
        ours = ours.groupby(list(_RECIPE), sort=False, as_index=False)["runs"].agg(" ".join)
    numbers = [name for name in _HYPERPARAMETERS if name != "learning_rate_decay"]
    table = pd.concat([theirs, ours], ignore_index=True)[columns]
    return table.astype(dict.fromkeys(numbers, float))


@derived_table(keys=("model",))
def plan_table(plan: Plan, runs: Iterable[Run]) -> pd.DataFrame:
    """Return which runs of a plan are there, and what those that are missing are to cost.

    One row per ``model``. For each task, with its name after an underscore: ``run``, whether it is
    ``there``, its ``dev_accuracy``, and the ``hours_low`` and ``hours_high`` of GPU that it is
    estimated to take on the ``card``; without a task they are the sums. ``command`` makes what is
    missing, and is empty where nothing is.
    """
    made = {run.name: run for run in runs}
    rows: dict[str, dict[str, Any]] = {}
    card = GPUS[USUAL_GPU]
    for spec in plan.runs:
        settings, model = complete(read_settings(spec.settings))
        row = rows.setdefault(
            spec.model,
            {"model": spec.model, "title": model.title, "card": card.name, "command": "",
             "hours_low": 0.0, "hours_high": 0.0},
        )  # fmt: skip
        run, cost = made.get(spec.name), estimate(settings, model.shape, card)
        low, high = cost.hours or (math.nan, math.nan)
        cells = {
            "run": spec.name,
            "there": run is not None,
            "dev_accuracy": run.record.dev["all"].accuracy if run else math.nan,
            "hours_low": low,
            "hours_high": high,
        }
        row |= {f"{name}_{settings.task}": value for name, value in cells.items()}
        row["hours_low"] += low
        row["hours_high"] += high
        if run is None:
            row["command"] = f"chaos wanted --plan {plan.name} --only {spec.model}"
    return pd.DataFrame(list(rows.values()))


def _planned(task: str) -> Column:
    """Return the column of a task's runs: the hours that they are to take, or what they reach."""

    def state(row: Row) -> str:
        if row[f"there_{task}"]:
            return f"finished, accuracy {row[f'dev_accuracy_{task}']:.3f}"
        hours = row[f"hours_low_{task}"], row[f"hours_high_{task}"]
        return f"{hours_in_words(hours)} h"

    return Column(get_task(task).title, state)


def _trained_on(row: Row) -> str:
    if row["kind"] == "predicted":
        return f"weights of {row['init']}"
    counts = {
        corpus.title: row.get(f"n_train_{corpus.name}", math.nan)
        for corpus in get_task(row["task"]).files_of("train")
    }
    parts = " + ".join(f"{number(n)} {name}" for name, n in counts.items() if not pd.isna(n))
    folds = f", out of fold ({row['n_fits']} folds)" if row["n_fits"] > 1 else ", a part held out"
    if isinstance(files := row.get("own_files"), str):
        folds *= row["train"] != "corpora"
        return f"{number(row['n_train'])} items of your own ({files}){folds}"
    if row["train"] == "chaosnli":
        return f"votes of {parts} items of ChaosNLI{folds}"
    if row["train"] != "corpora":
        return f"votes of {number(row['n_train'])} items of {Path(row['train']).name}{folds}"
    return f"{parts} ({row['trained_share']:.1%})"


def made_by(row: Row) -> str | PageLink:
    """Lead to the executed notebook, where one has trained."""
    if row["made_by"] == "notebook":
        return PageLink("notebook", f"runs/{row['run']}")
    return "script"


def _scientific(value: float) -> str:
    """Write a small number as Table 8 does: 5e-5."""
    exponent = math.floor(math.log10(value))
    return f"{value / 10**exponent:.3g}e{exponent}"


def _minutes(row: Row) -> str:
    """Write whole minutes; a run that trained nothing has none."""
    value = row.get("training_minutes", math.nan)
    return "< 1" if value < 0.5 else number(value, 0)


def _accuracy(dataset: str) -> Column:
    """Return the column of accuracies on a corpus's development items; own votes have none."""
    return Column(
        f"{short_of(dataset)}, %",
        lambda row: number(100 * row.get(f"dev_accuracy_{dataset}", math.nan), 1),
        group="development accuracy",
    )


RUN_COLUMNS = [
    Column("task", "task", names=lambda name: get_task(name).title),
    Column("system", "system"),
    Column("trained on (share of corpora)", _trained_on),
    *(_accuracy(name) for task in tasks().values() for name in task.datasets),
    Column("minutes", _minutes),
    Column("made by", made_by),
]
PLAN_COLUMNS = [
    Column("model", "title"),
    *(_planned(name) for name, task in tasks().items() if task.datasets),
]
PEOPLE_COLUMNS = [
    DATASET,
    Column("system", "system"),
    with_ends("votes misplaced of a hundred ↓", "dist_ce", 1, percent=True),
    with_ends("JSD, √nats ↓", "jsd", 3),
    with_ends("worth, people ↑", "people_on_top", 2),
]
_FAMILIES = {"bert": "BERT", "xlnet": "XLNet", "roberta": "RoBERTa", "bart": "BART",
             "albert": "ALBERT", "distilbert": "DistilBERT"}  # fmt: skip
_SOURCES = {"published": "Nie et al.", "ours": "ours"}
RECIPE_COLUMNS = [
    Column(
        "model",
        lambda row: f"{_FAMILIES.get(row['model'], row['model'])} ({_SOURCES[row['source']]})",
    ),
    Column("task", "task", names=lambda name: get_task(name).title),
    Column("learning rate", lambda row: _scientific(row["learning_rate"])),
    Column("batch", "batch_size", 0),
    Column("weight decay", lambda row: f"{row['weight_decay']:g}"),
    Column(
        "epochs", lambda row: "at most " * (row["source"] == "published") + f"{row['epochs']:g}"
    ),
    Column("decay", "learning_rate_decay"),
    Column("warm-up", lambda row: f"{row['warmup_ratio']:g}"),
]
