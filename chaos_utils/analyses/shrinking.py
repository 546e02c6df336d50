"""Systems that are shrunk towards the base rate by one number, which a few votes suffice to fit."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from chaos_utils.analyses.names import SYSTEM
from chaos_utils.datasets.catalogue import short_of
from chaos_utils.datasets.splits import item_groups
from chaos_utils.datasets.votes import Ints, Votes
from chaos_utils.metrics.divergence import Floats, total_variation
from chaos_utils.metrics.resampling import take_votes
from chaos_utils.metrics.skill import distances
from chaos_utils.recorded import cached_analysis
from chaos_utils.report.columns import Column, Row, with_ends
from chaos_utils.scoring.system import System, are_votes

BASE_RATE = "base rate"
_LARGEST = 1.0  # weight of a system: with a larger one, probabilities could leave [0, 1]
_ENDS = (2.5, 97.5)  # per cent of the draws
_COLUMNS = ["system", "family", "n_items", "misplaced", "shrunk", "shrunk_low", "shrunk_high"]
_COLUMNS += ["weight"]


@cached_analysis(keys=("dataset", "system"))
def shrunk(
    votes: Votes, systems: Sequence[System], *, n_items: int, n_each: int, n_draws: int, seed: int
) -> pd.DataFrame:
    """Say how many of a hundred votes systems misplace when a few votes have shrunk them.

    In each of `n_draws` draws, `n_each` votes are drawn on each of `n_items` items. They give the
    base rate b, the mean share of each label, and the weight λ, from 0 to 1, for which
    b + λ (m − b) is nearest to people by the squared distance, m being the system's prediction. All
    votes on the items of other texts judge the result.

    * ``misplaced``: 100 times the mean total variation distance of the system as it is;
      ``shrunk``: the same of the shrunk system, the mean over draws, with the middle 95% of them;
    * ``weight``: the mean of λ.

    The base rate has a row of its own. Systems that have learned from votes are left out, and those
    that predict too few items to draw from and to judge by. Empty where votes are few.
    """
    if votes.are_few:
        return pd.DataFrame(columns=_COLUMNS)
    groups = item_groups([votes])[0]
    every_item = np.arange(len(votes))
    constant = np.full(votes.shares.shape, 1 / votes.shares.shape[1])
    named: list[tuple[str, str, Ints, Floats]] = [(BASE_RATE, "", every_item, constant)]
    for system in systems:
        if not any(map(are_votes, system.trained_on)):
            predicted = system.aligned_to(votes).model
            named.append((system.name, system.family, system.rows_in(votes), predicted))
    table = []
    for name, family, items, model in named:
        if len(items) < 2 * n_items:
            continue
        counts, shares = votes.counts[items], votes.shares[items]
        draws = np.array([
            _drawn(counts, shares, model, groups[items], n_items, n_each, [seed, draw])
            for draw in range(n_draws)
        ])  # fmt: skip
        if np.isnan(draws).any():
            continue
        as_it_is = np.nan if name == BASE_RATE else total_variation(shares, model).mean()
        low, high = np.percentile(draws[:, 0], _ENDS)
        values = 100 * np.array([as_it_is, draws[:, 0].mean(), low, high])
        weight = np.nan if name == BASE_RATE else draws[:, 1].mean()
        table.append((name, family, len(items), *values, weight))
    return pd.DataFrame(table, columns=_COLUMNS)


def _drawn(
    counts: Ints, shares: Floats, model: Floats, groups: Ints, n_items: int, n_each: int,
    seed: list[int],
) -> tuple[float, float]:  # fmt: skip
    """Return the mean distance of the shrunk system to the votes on other texts, and the weight.

    The distance is NaN where no other text is left.
    """
    rng = np.random.default_rng(seed)
    fitted = rng.permutation(len(counts))[:n_items]
    asked = take_votes(counts[fitted], n_each, rng)
    base = asked.sum(axis=0) / asked.sum()
    if len(np.unique(groups[fitted])) < 2:  # no base rate without an item's own text
        fitted_weight = 0.0
    else:
        fitted_weight = distances(asked, model[fitted], groups[fitted]).shrinkage
    weight = min(fitted_weight, _LARGEST)
    others = ~np.isin(groups, groups[fitted])
    if not others.any():
        return np.nan, weight
    predicted = base + weight * (model[others] - base)
    return float(total_variation(shares[others], predicted).mean()), weight


def shown_shrunk(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `shrunk` for one seed of each family, the nearest when shrunk first."""
    firsts = table.drop_duplicates(["dataset", "family"])
    nearest = firsts.groupby("system")["shrunk"].transform("min")
    return firsts.assign(nearest=nearest).sort_values("nearest", kind="stable")


def shrunk_columns(shown: pd.DataFrame) -> list[Column]:
    """Return how rows of `shrunk` are shown, with their datasets side by side.

    Of both columns of a dataset, the lowest is bold, and what rounds to the same or lies within the
    interval that it has once shrunk.
    """
    columns = [SYSTEM]
    for name, rows in shown.groupby("dataset", sort=False):
        look: dict[str, Any] = {"group": short_of(str(name)), "at": {"dataset": name}}
        nearest = rows.loc[rows["shrunk"].idxmin()]
        highest = np.round(rows[["misplaced", "shrunk"]].min().min()) + 0.5
        if nearest["shrunk"] <= rows["misplaced"].min():
            highest = max(highest, nearest["shrunk_high"])
        columns += [
            Column("as it is", "misplaced", 0, bold=_at_most(highest, "misplaced"), **look),
            with_ends("shrunk", "shrunk", 0, bold=_at_most(highest, "shrunk"), **look),
        ]
    return columns


def _at_most(highest: float, column: str) -> Callable[[Row], bool]:
    return lambda row: bool(row[column] <= highest)
