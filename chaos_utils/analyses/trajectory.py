"""How scores grow with training, bin by bin of human agreement (Figure 8 of Nie et al., 2020)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.analyses.agreement import GUESS, MODELS, BinScores, score_bins
from chaos_utils.analyses.evidence import Evidence, Material
from chaos_utils.analyses.names import dataset_name
from chaos_utils.analyses.recorded import derived, recorded
from chaos_utils.base.inputs import Input, Later, merged
from chaos_utils.datasets.tasks import get_task
from chaos_utils.datasets.votes import Votes
from chaos_utils.report.columns import Column, number, with_interval
from chaos_utils.scoring.published import TABLE_5
from chaos_utils.scoring.seeds import OverSeeds, over_seeds
from chaos_utils.scoring.system import System
from chaos_utils.scoring.systems import computed
from chaos_utils.scoring.trained import (
    PREDICTIONS_FILE,
    TRAJECTORY_FILE,
    Run,
    committed_runs,
    kind_of,
    predictions_in,
)

Floats = npt.NDArray[np.float64]

SHOWN = ("new_accuracy", "old_accuracy", "jsd")
# What a measure is called in the table, by what its values are multiplied, and its digits.
_SHOWN_SIDE_BY_SIDE = {"new_accuracy": ("new accuracy (%)", 100, 0), "jsd": ("JSD", 1, 3)}
_GUESSES = {"new_accuracy": "commonest label", "jsd": "uniform guess"}
_OF_MEASURES = [TABLE_5.index(name) for name in SHOWN]
_SYNTHETIC_SIZES = (1000, 3162, 10000, 31623, 100000)
_SYNTHETIC_LOOKS = (128, 400, 1300, 4000, 13000, 40000, 130000)
_KEYS = ("dataset", "items", "bin", "measure")
_COLUMNS = ["dataset", "items", "epochs", "n_seeds", "runs", "bin", "entropy_low_bits",
            "entropy_high_bits", "n", "measure", "value", "low", "high", "chance", "over_chance",
            "over_chance_low", "over_chance_high", "change", "change_low",
            "change_high"]  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Stage(System):
    """A model, as runs name it, after some training: how many items there were, or were seen.

    `epochs` are the passes over the training items that its run was to make.
    """

    items: int = 0
    model: str = ""
    run: str = ""
    epochs: int = 1


def with_sizes(material: Material, model: str, runs: Iterable[Run] | None = None) -> Material:
    """Return the votes, with the ends of a model's runs on growing parts of the pairs as systems.

    Of two runs alike in task, size and seed, the first counts. On the synthetic sample, stages are
    simulated, whatever the model. By default the runs are the committed ones.
    """
    if material.synthetic:
        return _synthetic(material, model, _SYNTHETIC_SIZES)
    found: dict[tuple[str, int, int], Run] = {}
    for run in committed_runs() if runs is None else runs:
        if run.settings["model"] == model and kind_of(run) in ("plain", "size"):
            key = (run.settings["task"], run.record["data"]["n_train"], run.settings["seed"])
            found.setdefault(key, run)
    several = [run for _, run in sorted(found.items(), key=lambda one: one[0])]

    def stages() -> Iterator[tuple[Run, int, pd.DataFrame]]:
        for run in several:
            yield run, run.record["data"]["n_train"], run.read_table(PREDICTIONS_FILE)

    return _with_stages(material, several, PREDICTIONS_FILE, stages)


def with_looks(material: Material, model: str, runs: Iterable[Run] | None = None) -> Material:
    """Return the votes, with the stages of one run for each task as systems, by training.

    It is the run of the first seed that was looked at. Else as `with_sizes`; the least trained
    stage comes first.
    """
    if material.synthetic:
        return _synthetic(material, model, _SYNTHETIC_LOOKS)
    chosen: dict[str, Run] = {}
    known = committed_runs() if runs is None else runs
    for run in sorted(known, key=lambda run: run.settings["seed"]):
        settings = run.settings
        if settings["model"] == model and kind_of(run) == "plain" and settings["trajectory"]:
            chosen.setdefault(settings["task"], run)

    def stages() -> Iterator[tuple[Run, int, pd.DataFrame]]:
        for run in chosen.values():
            for items, table in run.read_table(TRAJECTORY_FILE).groupby("pairs"):
                yield run, int(str(items)), table

    return _with_stages(material, list(chosen.values()), TRAJECTORY_FILE, stages)


def _with_stages(
    material: Material,
    runs: Sequence[Run],
    file: str,
    stages: Callable[[], Iterable[tuple[Run, int, pd.DataFrame]]],
) -> Material:
    """Put what tables of runs predict of each dataset into its evidence; they are read later."""
    inputs = {run.name: run.inputs_of(file) for run in runs}
    read = Later((), lambda: list(stages()))
    several = []
    for one in material:
        systems = None
        if one.given_votes is not None:
            tasks = [(run, get_task(run.settings["task"])) for run in runs]
            of_task = [run.name for run, task in tasks if one.name in task.datasets]
            found = merged(*(inputs[name] for name in of_task))
            systems = (Later(found, partial(_predicted, one, read, inputs)),)
        several.append(replace(one, given_systems=systems))
    return Material(tuple(several), material.trained)


def _predicted(
    evidence: Evidence,
    stages: Later[list[tuple[Run, int, pd.DataFrame]]],
    inputs: Mapping[str, tuple[Input, ...]],
) -> tuple[System, ...]:
    found = []
    for run, items, table in stages.value:
        (votes,) = evidence.votes or ()
        if system := predictions_in(table, votes, ""):
            about = {name: run.settings[name] for name in ("model", "epochs", "seed")}
            about |= {"run": run.name, "origin": "trained", "inputs": inputs[run.name]}
            found.append(_stage(system, items, **about))
    return tuple(found)


def _stage(system: System, items: int, **about: Any) -> Stage:
    """Return predictions as those of a stage; stages that differ in their seed are one family."""
    name = f"{items} items, seed {about['seed']}"
    fields = {field: getattr(system, field) for field in System.__dataclass_fields__}
    return Stage(**fields | about | {"name": name, "family": str(items), "items": items})


def _synthetic(material: Material, model: str, sizes: Iterable[int]) -> Material:
    """Return simulated stages: with their size grows what they have of the human distribution."""
    several = []
    for place, one in enumerate(material):
        (votes,) = one.votes or ()  # the sample is always there
        noise = np.random.default_rng([2020, place]).normal(scale=1.2, size=votes.shares.shape)
        stages = []
        for items in sizes:
            progress = np.log10(items / 100) / 3
            powers = np.exp(progress * 1.6 * np.log(votes.shares + 0.02) + noise / 2)
            shares = powers / powers.sum(axis=1, keepdims=True)
            simulated = computed("", votes, shares, origin="simulated")
            stages.append(_stage(simulated, items, model=model, run="synthetic run", seed=0))
        several.append(replace(one, given_systems=(tuple(stages),)))
    return Material(tuple(several), material.trained)


def shown_as(material: Material, *, pooled: bool) -> list[Evidence]:
    """Return each dataset, or each pool and the datasets that are in none."""
    pools = list(material.pooled()) if pooled else []
    inside = {one.name for pool in pools for one in pool.datasets}
    return [*pools, *(one for one in material if one.name not in inside)]


@recorded(keys=_KEYS)
def by_size(
    all_votes: Sequence[Votes],
    all_systems: Sequence[Sequence[Stage]],
    *,
    model: str,
    n_bins: int,
    n_resamples: int,
    seed: int,
    level: float,
) -> pd.DataFrame:
    """Score the runs of a model on growing parts of the training items, in entropy bins.

    One row for each number of ``items``, ``bin`` (from 1; 0 for all items) and measure (`SHOWN`);
    none where a dataset has no stage. Several datasets are scored as one, with common bins, as in
    the paper's figures; stages that differ in their seed alone are averaged. ``chance`` is the most
    frequent majority, or old label, of all items, and for JSD the uniform distribution;
    ``over_chance`` is the value minus that, ``change`` minus that of the fewest items. Intervals
    cover `level`; all stages are resampled alike. With several seeds (``n_seeds``) they are for
    other seeds too; the seeds of two stages are taken to have nothing in common.
    """
    stages = [[one for one in systems if one.model == model] for systems in all_systems]
    if not all(stages):
        return pd.DataFrame(columns=_COLUMNS, dtype=object)
    scores = score_bins(all_votes, stages, n_bins=n_bins, n_resamples=n_resamples, seed=seed)
    values, draws = _with_all(scores)
    roles = zip(scores.families, scores.roles, strict=True)
    place_of = {int(family): k for k, (family, role) in enumerate(roles) if role in MODELS}
    sizes = sorted(place_of)
    places, guess = [place_of[items] for items in sizes], scores.systems.index(GUESS)
    n = np.vstack([scores.n_scored.sum(axis=0), scores.n_scored])[:, places]
    shape = (len(values), len(places), len(SHOWN))
    b, s, m = (axis.ravel() for axis in np.indices(shape))
    table = pd.DataFrame([_about(items, stages) for items in sizes]).iloc[s].reset_index(drop=True)
    table["dataset"] = scores.dataset
    table["bin"] = b
    table["entropy_low_bits"] = np.r_[scores.bins.low[0], scores.bins.low][b]
    table["entropy_high_bits"] = np.r_[scores.bins.high[-1], scores.bins.high][b]
    table["n"] = n[b, s]
    table["measure"] = np.array(SHOWN)[m]
    table["chance"] = np.broadcast_to(values[:, [guess]], shape).ravel()
    for name, prefix, baseline in (
        ("value", "", None),
        ("over_chance", "over_chance_", guess),
        ("change", "change_", places[0]),
    ):
        found = [
            _over_seeds(scores, each, drawn, place, baseline, n_items, level)
            for each, drawn, of_bin in zip(values, draws, n, strict=True)
            for place, n_items in zip(places, of_bin, strict=True)
        ]
        table[name] = np.concatenate([one.value for one in found])
        table[f"{prefix}low"] = np.concatenate([one.low for one in found])
        table[f"{prefix}high"] = np.concatenate([one.high for one in found])
    return table[_COLUMNS]


def _over_seeds(
    scores: BinScores,
    values: Floats,
    draws: Floats,
    place: int,
    other: int | None,
    n_items: int,
    level: float,
) -> OverSeeds:
    """Return a stage's scores in one bin, or their differences from another one's or chance."""
    mine, theirs = (list(scores.members[k]) for k in (place, place if other is None else other))
    if place == other:  # no seed differs from itself
        values, draws = np.zeros_like(values), np.zeros_like(draws)
    against = None if other in (None, place) else (values[theirs], draws[:, theirs])
    return over_seeds(values[mine], draws[:, mine], against=against, n_items=n_items, level=level)


@recorded(keys=_KEYS)
def by_look(
    all_votes: Sequence[Votes], all_systems: Sequence[Sequence[Stage]], **same: Any
) -> pd.DataFrame:
    """Score one run along its way, in entropy bins; all as in `by_size`."""
    return by_size.function(all_votes, all_systems, **same)


def _with_all(scores: BinScores) -> tuple[Floats, Floats]:
    """Return values and draws of all items and of each bin: (1 + n_bins, [draws,] systems, 3)."""
    weights = scores.n_scored / scores.n_scored.sum(axis=0)
    values, draws = scores.values[..., _OF_MEASURES], scores.draws[..., _OF_MEASURES]
    every = np.nansum(weights[..., np.newaxis] * values, axis=0)
    drawn = np.nansum(weights[:, np.newaxis, :, np.newaxis] * draws, axis=0)
    return np.concatenate([every[np.newaxis], values]), np.concatenate([drawn[np.newaxis], draws])


def _about(items: int, stages: Iterable[Iterable[Stage]]) -> dict[str, object]:
    alike = [one for some in stages for one in some if one.items == items]
    return {
        "items": items,
        "epochs": max(one.epochs for one in alike),
        "n_seeds": len({one.seed for one in alike}),
        "runs": " ".join(dict.fromkeys(one.run for one in alike)),
    }


@derived(keys=("dataset", "items", "bin"))
def along(flattened: pd.DataFrame) -> pd.DataFrame:
    """Return what `agreement.flattening` says of a run's looks, by ``items``, in people's bins."""
    rows = flattened[flattened["cut"] == "people"]
    return rows.assign(items=rows["system"].astype(int)).drop(columns=["system", "cut", "n_seeds"])


def first_and_last(surer: pd.DataFrame) -> pd.DataFrame:
    """Return the first and the last look of `along`, at each dataset."""
    looks = surer.groupby("dataset")["items"]
    return surer[surer["items"].isin([*looks.min(), *looks.max()])]


FLAT_COLUMNS = [
    Column("dataset", "dataset", names=dataset_name),
    Column("training items seen", "items"),
    Column("bin", "bin"),
    Column("people", "people_bits", 2, group="entropy (bits)"),
    Column("model", "model_bits", 2, group="entropy (bits)"),
]


def side_by_side(growth: pd.DataFrame) -> pd.DataFrame:
    """Set new accuracy (%) and JSD by number of training items, the bins side by side."""
    rows = []
    for dataset, of_dataset in growth.groupby("dataset", sort=False):
        name = dataset_name(str(dataset))
        bins = of_dataset.drop_duplicates("bin").sort_values("bin")
        ends = zip(bins["entropy_low_bits"], bins["entropy_high_bits"], strict=True)
        spans = [f"{number(low, 2)}–{number(high, 2)}" for low, high in ends]
        rows.append([name, "entropy (bits)", "", *spans])
        rows.append([name, "items scored", "", *map(number, bins["n"])])
        for measure, (title, scale, digits) in _SHOWN_SIDE_BY_SIDE.items():
            group = of_dataset[of_dataset["measure"] == measure]
            for items, stage in group.groupby("items"):
                scaled = stage.sort_values("bin")[["value", "low", "high"]] * scale
                cells = [with_interval(x, low, high, digits) for x, low, high in scaled.to_numpy()]
                rows.append([name, title, number(int(str(items))), *cells])
            chance = group.drop_duplicates("bin").sort_values("bin")["chance"] * scale
            rows.append(
                [name, title, _GUESSES[measure], *(number(value, digits) for value in chance)]
            )
    heads = ["dataset", "quantity", "training items", "all items"]
    numbers = sorted(set(growth["bin"]) - {0})
    return pd.DataFrame(rows, columns=[*heads, *(f"bin {b}" for b in numbers)])
