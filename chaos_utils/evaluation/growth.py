"""How scores grow with training, bin by bin of human agreement (Figure 8 of Nie et al., 2020)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.datasets.votes import Votes
from chaos_utils.evaluation.bins import GUESS, BinnedScores, binned_scores, pools
from chaos_utils.metrics.resampling import percentile_interval
from chaos_utils.scoring.published import TABLE_5
from chaos_utils.scoring.system import System
from chaos_utils.scoring.systems import computed
from chaos_utils.scoring.trained import (
    PREDICTIONS_FILE,
    TRAJECTORY_FILE,
    Run,
    kind_of,
    predictions_in,
)

Floats = npt.NDArray[np.float64]

SHOWN = ("new_accuracy", "old_accuracy", "jsd")
_OF_MEASURES = [TABLE_5.index(name) for name in SHOWN]
_SYNTHETIC_SIZES = (1000, 3162, 10000, 31623, 100000)
_SYNTHETIC_LOOKS = (128, 400, 1300, 4000, 13000, 40000, 130000)


@dataclass(frozen=True, slots=True)
class Stage:
    """A model after some training.

    Attributes
    ----------
    items : int
        Training items: how many there were, or how many were seen.
    run : str
    seed : int
    epochs : int
        Passes over the training items that the run was to make.
    predictions : tuple of System
        On ChaosNLI's items, one per dataset.
    """

    items: int
    run: str
    seed: int
    epochs: int
    predictions: tuple[System, ...]


def load_stages(
    runs: Iterable[Run], all_votes: Sequence[Votes], model: str
) -> tuple[list[Stage], list[Stage]]:
    """Return `size_stages` and `trajectory_stages`; simulated ones for the synthetic sample.

    Parameters
    ----------
    all_votes : sequence of Votes
        One a dataset.
    model : str
        As runs name it; without effect on the sample.
    """
    if any(votes.source.synthetic for votes in all_votes):
        return (
            synthetic_stages(all_votes, _SYNTHETIC_SIZES),
            synthetic_stages(all_votes, _SYNTHETIC_LOOKS),
        )
    known = list(runs)
    return size_stages(known, all_votes, model), trajectory_stages(known, all_votes, model)


def size_stages(runs: Iterable[Run], all_votes: Sequence[Votes], model: str) -> list[Stage]:
    """Return the ends of the runs of a model on growing parts of the pairs, and on all.

    Smaller first. A run that predicts no item of the datasets is left out; of two runs alike
    in dataset, size and seed, the first counts.

    Parameters
    ----------
    all_votes : sequence of Votes
        One a dataset.
    model : str
        As runs name it.

    Returns
    -------
    list of Stage
        Ordered by dataset of training, number of items and seed.
    """
    found: dict[tuple[str, int, int], Stage] = {}
    for run in runs:
        settings = run.settings
        if settings["model"] != model or kind_of(run) not in ("plain", "size"):
            continue
        predictions = _in_table(run.read_table(PREDICTIONS_FILE), all_votes)
        n, seed = run.record["data"]["n_train"], settings["seed"]
        if predictions:
            stage = Stage(n, run.name, seed, settings["epochs"], predictions)
            found.setdefault((settings["task"], n, seed), stage)
    return [found[key] for key in sorted(found)]


def trajectory_stages(runs: Iterable[Run], all_votes: Sequence[Votes], model: str) -> list[Stage]:
    """Return the stages of one run for each dataset: of the first seed that was looked at.

    Parameters
    ----------
    all_votes : sequence of Votes
        One a dataset.
    model : str
        As runs name it.

    Returns
    -------
    list of Stage
        Of each dataset of training the least trained first.
    """
    chosen: dict[str, Run] = {}
    for run in sorted(runs, key=lambda run: run.settings["seed"]):
        settings = run.settings
        if settings["model"] == model and kind_of(run) == "plain" and settings["trajectory"]:
            chosen.setdefault(settings["task"], run)
    stages = []
    for run in chosen.values():
        settings = run.settings
        for items, table in run.read_table(TRAJECTORY_FILE).groupby("pairs"):
            predictions = _in_table(table, all_votes)
            if predictions:
                number = int(str(items))
                stages.append(
                    Stage(number, run.name, settings["seed"], settings["epochs"], predictions)
                )
    return stages


def _in_table(table: pd.DataFrame, all_votes: Sequence[Votes]) -> tuple[System, ...]:
    """Return what a run's table predicts of each dataset that it covers."""
    found = (predictions_in(table, votes, "") for votes in all_votes)
    return tuple(one for one in found if one is not None)


def synthetic_stages(all_votes: Sequence[Votes], sizes: Iterable[int]) -> list[Stage]:
    """Return simulated stages for the synthetic sample.

    With the number of items grows what a stage has of the human distribution, and what it has
    of seeded noise.

    Parameters
    ----------
    all_votes : sequence of Votes
        One a dataset.
    sizes : iterable of int
        Numbers of training items, one per stage.

    Returns
    -------
    list of Stage
        In the order of the sizes; the same at every call.
    """
    noises = [
        np.random.default_rng([2020, number]).normal(scale=1.2, size=votes.shares.shape)
        for number, votes in enumerate(all_votes)
    ]
    stages = []
    for items in sizes:
        progress = np.log10(items / 100) / 3
        predictions = []
        for votes, noise in zip(all_votes, noises, strict=True):
            powers = np.exp(progress * 1.6 * np.log(votes.shares + 0.02) + noise / 2)
            shares = powers / powers.sum(axis=1, keepdims=True)
            predictions.append(computed("", votes, shares, origin="simulated"))
        stages.append(Stage(items, "synthetic run", 0, 1, tuple(predictions)))
    return stages


def growth_table(
    all_votes: Sequence[Votes],
    stages: Sequence[Stage],
    *,
    pooled: bool,
    n_bins: int,
    n_resamples: int,
    seed: int,
    level: float,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Score stages in entropy bins, and compare the last stage with the first.

    Parameters
    ----------
    all_votes : sequence of Votes
        One a dataset.
    stages : sequence of Stage
        Those of a dataset that differ in their seed alone are averaged.
    pooled : bool
        Whether SNLI and MNLI are one, with common bins, as in the paper's figures.
    n_bins : int
        See `bins.entropy_bins`.
    n_resamples, seed : int
        Bootstrap resamples of the items of each bin, alike for all stages; their seed.
    level : float
        Coverage of the intervals, in (0, 1).

    Returns
    -------
    table : DataFrame
        One row for each ``dataset`` (``snli+mnli`` where pooled), ``items``, ``bin`` (from 1; 0 for
        all items) and ``measure`` (`SHOWN`): ``epochs``, ``n_seeds``, ``runs``,
        ``entropy_low_bits``, ``entropy_high_bits``, ``n``, ``value``, ``low``, ``high``,
        ``chance`` (the most frequent majority, or old label, of all items; for JSD the uniform
        distribution) and ``over_chance`` with ``…_low`` and ``…_high``: value minus chance.
    changes : DataFrame
        One row for each dataset, bin and measure: ``first_items``, ``last_items``, ``first``,
        ``last``, ``change``, ``low``, ``high``. Datasets with one stage have none.
    """
    systems: dict[str, list[System]] = {}
    for stage in stages:
        for one in stage.predictions:
            name = f"{stage.items} items, seed {stage.seed}"
            named = replace(one, name=name, family=str(stage.items), seed=stage.seed)
            systems.setdefault(one.dataset.name, []).append(named)
    groups = _groups(all_votes, pooled)
    covered = [group for group in groups if all(dataset in systems for dataset in group.split("+"))]
    if not covered:
        return _nothing(), _nothing()
    binned = binned_scores(all_votes, systems, n_bins=n_bins, n_resamples=n_resamples, seed=seed)
    by_dataset = {scores.dataset: scores for scores in binned}
    tables, changes = [], []
    for group in covered:
        scores = by_dataset[group]
        mine = [one for one in stages if any(p.dataset.name in group.split("+")
                                             for p in one.predictions)]  # fmt: skip
        tables.append(_table_of(scores, mine, level))
        changes.append(_changes_of(scores, level))
    compared = [change for change in changes if len(change)] or [_nothing()]
    return pd.concat(tables, ignore_index=True), pd.concat(compared, ignore_index=True)


def _nothing() -> pd.DataFrame:
    return pd.DataFrame(columns=["dataset", "items", "bin", "measure", "runs"], dtype=object)


def _groups(all_votes: Sequence[Votes], pooled: bool) -> list[str]:
    datasets = [votes.dataset.name for votes in all_votes]
    if not pooled:
        return datasets
    pooled_ones = pools(all_votes)
    inside = {name for pool in pooled_ones for name in pool.split("+")}
    return [*pooled_ones, *(name for name in datasets if name not in inside)]


def _stages_of(scores: BinnedScores) -> tuple[list[int], list[int]]:
    """Return the columns of the stages, seeds averaged, and their numbers of items, growing."""
    found = {
        int(family): k
        for k, (family, role) in enumerate(zip(scores.families, scores.roles, strict=True))
        if role in ("model", "mean of seeds")
    }
    items = sorted(found)
    return [found[n] for n in items], items


def _with_all(scores: BinnedScores) -> tuple[Floats, Floats]:
    """Return values and draws of all items and of each bin: (1 + n_bins, [draws,] systems, 3)."""
    weights = scores.n_scored / scores.n_scored.sum(axis=0)
    values, draws = scores.values[..., _OF_MEASURES], scores.draws[..., _OF_MEASURES]
    every = np.nansum(weights[..., np.newaxis] * values, axis=0)
    drawn = np.nansum(weights[:, np.newaxis, :, np.newaxis] * draws, axis=0)
    return np.concatenate([every[np.newaxis], values]), np.concatenate([drawn[np.newaxis], draws])


def _table_of(scores: BinnedScores, stages: Sequence[Stage], level: float) -> pd.DataFrame:
    columns, items = _stages_of(scores)
    values, draws = _with_all(scores)
    guess = scores.systems.index(GUESS)
    chance = values[:, [guess]]
    ends = percentile_interval(draws[:, :, columns].swapaxes(0, 1), level)
    over = draws[:, :, columns] - draws[:, :, [guess]]
    over_ends = percentile_interval(over.swapaxes(0, 1), level)
    values = values[:, columns]
    b, s, m = (axis.ravel() for axis in np.indices(values.shape))
    n = scores.n_scored[:, columns]
    n = np.concatenate([n.sum(axis=0, keepdims=True), n])
    told = pd.DataFrame(
        {
            "items": size,
            "epochs": max(one.epochs for one in stages if one.items == size),
            "n_seeds": len({one.seed for one in stages if one.items == size}),
            "runs": " ".join(dict.fromkeys(one.run for one in stages if one.items == size)),
        }
        for size in items
    )
    table = told.iloc[s].reset_index(drop=True)
    table.insert(0, "dataset", scores.dataset)
    table["bin"] = b
    table["entropy_low_bits"] = np.r_[scores.bins.low[0], scores.bins.low][b]
    table["entropy_high_bits"] = np.r_[scores.bins.high[-1], scores.bins.high][b]
    table["n"] = n[b, s]
    table["measure"] = np.array(SHOWN)[m]
    table["value"] = values.ravel()
    table["low"], table["high"] = (end.ravel() for end in ends)
    table["chance"] = np.broadcast_to(chance, values.shape).ravel()
    table["over_chance"] = (values - chance).ravel()
    table["over_chance_low"], table["over_chance_high"] = (end.ravel() for end in over_ends)
    return table


def _changes_of(scores: BinnedScores, level: float) -> pd.DataFrame:
    columns, items = _stages_of(scores)
    if len(columns) < 2:
        return pd.DataFrame()
    values, draws = _with_all(scores)
    first, last = values[:, columns[0]], values[:, columns[-1]]
    low, high = percentile_interval(
        (draws[:, :, columns[-1]] - draws[:, :, columns[0]]).swapaxes(0, 1), level
    )
    b, m = (axis.ravel() for axis in np.indices(first.shape))
    return pd.DataFrame(
        {
            "dataset": scores.dataset,
            "bin": b,
            "measure": np.array(SHOWN)[m],
            "first_items": items[0],
            "last_items": items[-1],
            "first": first.ravel(),
            "last": last.ravel(),
            "change": (last - first).ravel(),
            "low": low.ravel(),
            "high": high.ravel(),
        }
    )
