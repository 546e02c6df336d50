"""What a model that was trained on votes is worth, beside people, guesses and the other systems."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from chaos_utils.analyses import results
from chaos_utils.analyses.inputs import AnalysisInputs, DatasetInputs, gather
from chaos_utils.base.table import Table, in_order_of
from chaos_utils.datasets.catalogue import bundled_datasets
from chaos_utils.datasets.tasks import get_task
from chaos_utils.datasets.votes import ENOUGH_VOTES, Votes
from chaos_utils.plots.columns import DATASET
from chaos_utils.plots.systems import run_titles
from chaos_utils.recorded import cached_analysis, derived_table
from chaos_utils.report.columns import MISSING, Column, Row, number, with_ends
from chaos_utils.report.literal import in_markdown
from chaos_utils.scoring import worth as worths
from chaos_utils.scoring.evaluate import evaluate_systems, part_of
from chaos_utils.scoring.human_equivalents import refusal
from chaos_utils.scoring.scores import EvaluationRequest
from chaos_utils.scoring.system import System
from chaos_utils.scoring.systems import baselines, load_systems
from chaos_utils.scoring.training_records import Run, committed_runs, kind_of, ordered
from chaos_utils.training.estimates import GPUS, USUAL_GPU, estimate
from chaos_utils.training.recipes import MODELS, Shape, get_model
from chaos_utils.training.settings import recorded_settings

READS = ("votes",)  # runs may have learnt those of any bundled dataset
MISPLACED = "dist_ce"
_SHOWN_BESIDE = (worths.SKILL, worths.SKILL_RECALIBRATED, worths.SKILL_SHRUNK)
_MEASURES = (MISPLACED, *_SHOWN_BESIDE, worths.PEOPLE, worths.PEOPLE_RECALIBRATED)
_NEARLY_THE_BASE_RATE = "class prior"  # which needs no row of its own beside it
_COST_FACTORS = (1, 10)  # times as many votes


def runs_on_votes(run: Run) -> list[Run]:
    """Return the project's own runs that were trained on votes, in order, and `run` after them."""
    own = [one for one in ordered(committed_runs()) if kind_of(one) == "votes"]
    return own if run.name in [one.name for one in own] else [*own, run]


def learnt_votes(run: Run, read_own: Callable[[], Votes]) -> AnalysisInputs:
    """Return the votes that a run learnt and predicts, with the book's systems that predict them.

    `read_own` reads a reader's own file as the training read it, with its texts.
    """
    settings = recorded_settings(run.record)
    if not settings.on_own_votes:
        data = "sample" if run.record.synthetic else "auto"
        return gather(data, [], datasets=get_task(settings.task).datasets)
    if settings.train in [dataset.name for dataset in bundled_datasets()]:
        return gather("auto", [], datasets=[settings.train])
    votes = read_own()
    systems = tuple(load_systems(votes))
    return AnalysisInputs((DatasetInputs((votes.dataset,), (votes,), (systems,), own=True),))


def with_other_votes(inputs: AnalysisInputs, runs: Sequence[Run]) -> AnalysisInputs:
    """Return `inputs`, and after them the other bundled datasets whose votes the `runs` learnt."""
    names = dict.fromkeys(name for run in runs for name in run.record.data.trained_on)
    known = {dataset.name for dataset in inputs.datasets}
    others = [one.name for one in bundled_datasets() if one.name in names.keys() - known]
    found = gather("auto", [], datasets=others) if others else ()
    return AnalysisInputs((*inputs, *found), inputs.trained)


def account_of(run: Run, *, is_new: bool) -> str:
    """Say in Markdown which run is shown, and how to train it again."""
    system, hardware = in_markdown(run.system), in_markdown(run.hardware)
    if is_new:
        account = f"The run *{system}* was trained here (hardware: {hardware})."
    else:
        account = (
            f"This page shows one of the project's own runs, *{system}* (hardware: {hardware}). "
            "To train it again, pass `-p recorded=false`."
        )
    again = "On the same hardware, this command gives the same predictions:"
    return f"{account} {again}\n\n```console\n$ {run.command}\n```"


@cached_analysis(keys=("dataset", "system", "measure"))
def beside_systems(
    votes: Votes, systems: Sequence[System], *, runs: Sequence[Run], n_resamples: int, seed: int
) -> pd.DataFrame:
    """Score the runs that learnt these votes, guesses and systems, on the items that all runs have.

    Systems that were made from these votes are left out.

    ``kind`` is ``trained`` for the `runs`, else ``baseline`` or ``model``; ``run`` is a run's name,
    else empty. A ``measure`` is votes misplaced (``dist_ce``, a share of all votes, where items
    have `ENOUGH_VOTES`), or worth or skill as `scoring.worth.worth` has them, with 95% intervals
    over items. ``credibility`` is k₀: k people have the skill k / (k + k₀).
    """
    predicted = {run.name: run.predictions_on(votes) for run in runs}
    trained = {name: system for name, system in predicted.items() if system is not None}
    columns = ["system", "family", "kind", "run", "n_items", "n_votes", "measure"]
    columns += ["value", "low", "high", "credibility"]
    if not trained:
        return pd.DataFrame(columns=columns)
    items = sorted(set.intersection(*(set(one.rows_in(votes)) for one in trained.values())))
    votes = part_of(votes, np.array(items, dtype=np.int64))
    names = {system.name for system in trained.values()}
    entries = [("baseline", "", system) for system in baselines(votes)]
    entries += [("model", "", system) for system in systems if system.name not in names]
    entries += [("trained", name, system) for name, system in trained.items()]
    has_enough = votes.n_votes.min() >= ENOUGH_VOTES
    measures = [name for name in _MEASURES if has_enough or name != MISPLACED]
    request = EvaluationRequest(measures, n_resamples=n_resamples, seed=seed)
    rows = [
        row | {"kind": kind, "run": run, "n_votes": float(votes.n_votes.mean())}
        for kind, run, system in entries
        if len(system.rows_in(votes)) and not refusal(votes, system)
        for row in evaluate_systems(votes, [system], request)
    ]
    table = pd.DataFrame(rows).reindex(columns=columns)
    return table.astype(dict.fromkeys(("credibility", "value", "low", "high"), float))


def drawn_skill(scores: Table, inputs: AnalysisInputs) -> Table:
    """Return the skills of `beside_systems` on some datasets as `results.drawn_skill` has them.

    Of each run only its own skill is drawn: it was fitted to other items' votes already.
    """
    drawn = results.drawn_skill(scores)
    rows, names = drawn.rows, [dataset.name for dataset in inputs.datasets]
    is_own_skill = (rows["kind"] != "trained") | (rows["how"] == "as it is")
    is_shown = rows["dataset"].isin(names) & (rows["system"] != _NEARLY_THE_BASE_RATE)
    return drawn.where(is_shown & is_own_skill)


@derived_table(keys=("dataset", "run"))
def trained_table(scores: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Return what each run on votes is worth, beside what it learnt and cost.

    `scores` are those of `beside_systems`, `runs` those of `finetuning.run_table`. A row for each
    ``dataset`` and ``run``; ``misplaced`` and ``worth`` are values with their ends, ``…_low`` and
    ``…_high``.
    """
    names = {MISPLACED: "misplaced", worths.PEOPLE: "worth"}
    chosen = scores[(scores["kind"] == "trained") & scores["measure"].isin(names)]
    keys = ["dataset", "run", "n_items", "n_votes"]
    wide = chosen.pivot(index=keys, columns="measure", values=["value", "low", "high"])
    wide.columns = [f"{names[name]}_{what}".removesuffix("_value") for what, name in wide.columns]
    wide = wide.reset_index()
    if MISPLACED not in set(chosen["measure"]):
        wide = wide.assign(misplaced=np.nan, misplaced_low=np.nan, misplaced_high=np.nan)
    numbers = [name for name in wide if name.startswith(("misplaced", "worth"))]
    costs = ["run", "system", "loss", "init", "n_learnt", "training_minutes", "made_by"]
    table = wide.astype(dict.fromkeys(numbers, float)).merge(runs[costs], on="run")
    table = table.sort_values(["worth", "run"], ascending=[False, True])
    return in_order_of(table, "dataset", scores["dataset"].unique())


@derived_table(keys=("model", "factor"))
def cost_table(run: Run) -> pd.DataFrame:
    """Estimate what the training of a run costs with other encoders and with more votes.

    One row for each ``model`` of known size and each ``factor``, times as many items. ``gpu_low``
    and ``gpu_high`` are minutes on the ``card``, by `training.estimates.estimate`, with as many
    passes as the run took. ``cpu_hours`` are those of the processor that the run was made on: its
    own time, times the ratio of the arithmetic in the layers; NaN for a run on a GPU.
    """
    settings = recorded_settings(run.record)
    seconds = sum(fit.seconds for fit in run.record.fits)
    seen = sum(fit.pairs for fit in run.record.fits)
    n_items = round(seen / settings.epochs)  # of a pass, over all folds: training may end early
    own_shape = get_model(settings.model).shape
    on_cpu = run.record.device.model_dump().get("name") == "cpu" and own_shape
    card = GPUS[USUAL_GPU]
    rows: list[dict[str, Any]] = []
    for model in MODELS.values():
        if model.shape is None:
            continue
        changed = settings.model_copy(update={"model": model.name})
        for factor in _COST_FACTORS:
            cost = estimate(changed, model.shape, card, n_items=factor * n_items)
            low, high = cost.hours or (np.nan, np.nan)
            ratio = _arithmetic(model.shape) / _arithmetic(own_shape) if own_shape else np.nan
            rows.append(
                {"model": model.name, "title": model.title, "factor": factor,
                 "million_parameters": model.shape.parameters / 1e6, "card": card.name,
                 "gpu_low": 60 * low, "gpu_high": 60 * high,
                 "cpu_hours": factor * ratio * seconds / 3600 if on_cpu else np.nan}
            )  # fmt: skip
    return pd.DataFrame(rows).sort_values(["million_parameters", "factor"], ignore_index=True)


def _arithmetic(shape: Shape) -> int:
    """Return the weights that a token meets in the layers."""
    return shape.layers * (4 * shape.hidden**2 + 2 * shape.hidden * shape.intermediate)


def _minutes(row: Row) -> str:
    return number(row["training_minutes"], 0)


def _start(row: Row) -> str:
    """Return what a run started from: an earlier run is named if it is not one on labels."""
    if not row["init"]:
        return "the encoder"
    on_labels = {run.name for run in committed_runs() if kind_of(run) == "plain"}
    return "trained on labels" if row["init"] in on_labels else str(row["init"])


def _judged(row: Row) -> str:
    return f"{number(row['n_items'])}, {number(row['n_votes'], 0)} votes each"


def trained_columns(rows: pd.DataFrame) -> list[Column]:
    """Return how `trained_table` is shown, with short names where these tell the rows apart."""
    titles = {name: run_titles(part["system"]) for name, part in rows.groupby("dataset")}
    return [
        DATASET,
        Column("trained run", lambda row: titles[row["dataset"]][row["system"]]),
        Column("start", _start),
        Column("items learned", lambda row: number(row["n_learnt"])),
        Column("evaluation items", _judged),
        with_ends("votes misplaced of a hundred ↓", "misplaced", 1, percent=True),
        with_ends("worth, people ↑", "worth", 1),
        Column("minutes", _minutes),
    ]


def _gpu_minutes(row: Row) -> str:
    low, high = (number(row[name], 0) for name in ("gpu_low", "gpu_high"))
    return low if low == high else f"{low}–{high}"


def _cpu_hours(row: Row) -> str:
    hours = row["cpu_hours"]
    return MISSING if pd.isna(hours) else number(hours, 1 if hours < 10 else 0)


COST_COLUMNS = [
    Column("encoder", "title"),
    Column("million parameters", "million_parameters", 0),
    *(
        Column(what, write, group=words, at={"factor": factor})
        for factor, words in zip(_COST_FACTORS, ("these votes", "ten times as many"), strict=True)
        for what, write in (("hours, CPU", _cpu_hours), ("minutes, GPU", _gpu_minutes))
    ),
]
