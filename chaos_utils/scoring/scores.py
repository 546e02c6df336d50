"""Measures of systems on a dataset, with intervals."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.measures import MEASURES, Measure
from chaos_utils.metrics.resampling import (
    bca_interval,
    bootstrap_means,
    paired_p_value,
    percentile_interval,
)
from chaos_utils.scoring.system import System

Floats = npt.NDArray[np.float64]


def evaluate(
    votes: Votes,
    systems: Sequence[System],
    *,
    measures: Iterable[str] | None = None,
    n_resamples: int = 0,
    seed: int = 0,
) -> pd.DataFrame:
    """Compute measures of systems on one dataset.

    Parameters
    ----------
    votes : Votes
        The dataset.
    systems : sequence of System
        Systems on that dataset; each is judged on the items that it covers.
    measures : iterable of str, optional
        Names in `MEASURES`; all by default.
    n_resamples : int
        Bootstrap resamples of the items for 95% percentile intervals; 0 for none. All
        systems that cover the same items are resampled alike, so that differences
        between them can be judged.
    seed : int
        Seed of the bootstrap.

    Returns
    -------
    DataFrame
        One row for each system and measure: ``dataset``, ``system``, ``n_items``,
        ``measure``, ``value``, ``low``, ``high`` (NaN without resamples).

    Raises
    ------
    ChaosError
        If two systems have one name, or one is of another dataset.
    """
    chosen = [MEASURES[name] for name in (MEASURES if measures is None else measures)]
    names = [system.name for system in systems]
    if len(set(names)) != len(names):
        double = next(name for name in names if names.count(name) > 1)
        raise ChaosError("Two systems have the same name.", found=double, todo="rename one of them")
    rows = []
    for group in _by_items(systems, votes):
        columns = [
            [measure.columns(system.aligned_to(votes)) for measure in chosen] for system in group
        ]
        values, low, high = _with_intervals(columns, chosen, n_resamples, seed)
        for i, system in enumerate(group):
            for j, measure in enumerate(chosen):
                rows.append(
                    {
                        "dataset": votes.dataset.name,
                        "system": system.name,
                        "n_items": len(system),
                        "measure": measure.name,
                        "value": values[i, j],
                        "low": low[i, j],
                        "high": high[i, j],
                    }
                )
    table = pd.DataFrame(rows)
    order = {name: i for i, name in enumerate(names)}
    return table.sort_values("system", key=lambda column: column.map(order), kind="stable")


def _by_items(systems: Sequence[System], votes: Votes) -> list[list[System]]:
    """Group systems that cover the same items, so that one set of resamples serves all."""
    groups: dict[tuple[str, ...], list[System]] = {}
    for system in systems:
        if system.dataset.name != votes.dataset.name:
            raise ChaosError(
                f"{system.name!r} predicts another dataset.",
                found=system.dataset.title,
                expected=votes.dataset.title,
            )
        groups.setdefault(tuple(sorted(system.uids)), []).append(_only(system, sorted(system.uids)))
    return list(groups.values())


def _with_intervals(
    columns: list[list[Floats]], measures: Sequence[Measure], n_resamples: int, seed: int
) -> tuple[Floats, Floats, Floats]:
    """Return values and interval ends, each of shape (n_systems, n_measures)."""
    flat = [block for system in columns for block in system]
    table = np.concatenate(flat, axis=1)
    ends = np.cumsum([block.shape[1] for block in flat])[:-1]
    shape = (len(columns), len(measures))

    def reduced(means: Floats) -> Floats:
        parts = np.split(means, ends, axis=-1)
        values = [measures[i % len(measures)].reduce(part) for i, part in enumerate(parts)]
        return np.stack(values, axis=-1)

    values = reduced(table.mean(axis=0)).reshape(shape)
    if n_resamples == 0:
        nothing = np.full(shape, np.nan)
        return values, nothing, nothing
    resampled = reduced(bootstrap_means(table, n_resamples, np.random.default_rng(seed)))
    low, high = percentile_interval(resampled)
    return values, low.reshape(shape), high.reshape(shape)


def compare(
    votes: Votes,
    first: System,
    second: System,
    *,
    measures: Iterable[str] | None = None,
    n_resamples: int,
    seed: int = 0,
) -> pd.DataFrame:
    """Compare two systems on the items that both cover, resampled together.

    Parameters
    ----------
    votes : Votes
        The dataset.
    first, second : System
        The difference is first minus second.
    measures : iterable of str, optional
        Names in `MEASURES`; all by default.
    n_resamples, seed : int
        Bootstrap resamples of the items, at least 1, and their seed.

    Returns
    -------
    DataFrame
        One row a measure: ``dataset``, ``system``, ``against``, ``n_items``, ``measure``,
        ``difference``, ``difference_low``, ``difference_high`` (95%, bias-corrected and
        accelerated) and ``p_value`` (two-sided).

    Raises
    ------
    ChaosError
        If the systems share no item.
    """
    chosen = [MEASURES[name] for name in (MEASURES if measures is None else measures)]
    common = sorted(set(first.uids) & set(second.uids))
    if not common:
        raise ChaosError(f"{first.name!r} and {second.name!r} share no item.")
    pair = [_only(system, common).aligned_to(votes) for system in (first, second)]
    blocks = [[measure.columns(judged) for measure in chosen] for judged in pair]
    table = np.concatenate([block for side in blocks for block in side], axis=1)
    ends = np.cumsum([block.shape[1] for side in blocks for block in side])[:-1]

    def differences(means: Floats) -> Floats:
        parts = np.split(means, ends, axis=-1)
        values = [(chosen * 2)[i].reduce(part) for i, part in enumerate(parts)]
        both = np.stack(values, axis=-1)
        return both[..., : len(chosen)] - both[..., len(chosen) :]

    n = len(common)
    point = differences(table.mean(axis=0))
    resampled = differences(bootstrap_means(table, n_resamples, np.random.default_rng(seed)))
    left_out = differences((table.sum(axis=0) - table) / max(n - 1, 1))
    low, high = bca_interval(resampled, point, left_out)
    return pd.DataFrame(
        {
            "dataset": votes.dataset.name,
            "system": first.name,
            "against": second.name,
            "n_items": n,
            "measure": [measure.name for measure in chosen],
            "difference": point,
            "difference_low": low,
            "difference_high": high,
            "p_value": paired_p_value(resampled),
        }
    )


def _only(system: System, uids: Sequence[str]) -> System:
    where = {uid: i for i, uid in enumerate(system.uids)}
    rows = [where[uid] for uid in uids]
    return replace(
        system,
        uids=tuple(uids),
        probabilities=system.probabilities[rows],
        predicted=system.predicted[rows],
    )


def wide(table: pd.DataFrame) -> pd.DataFrame:
    """Turn a table of `evaluate` into one row a system with a column a measure.

    Parameters
    ----------
    table : DataFrame

    Returns
    -------
    DataFrame
        ``dataset``, ``system``, ``n_items`` and a column for each measure, all in the order of
        the table.
    """
    keys = ["dataset", "system", "n_items"]
    values = table.pivot(index=keys, columns="measure", values="value")
    order = list(dict.fromkeys(zip(*(table[key] for key in keys), strict=True)))
    measures = list(dict.fromkeys(table["measure"]))
    return values.loc[order, measures].reset_index().rename_axis(columns=None)
