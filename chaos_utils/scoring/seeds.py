"""Systems that were trained with several seeds, as one: other seeds would change the score too."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.divergence import Floats
from chaos_utils.metrics.resampling import paired_p_value, percentile_interval
from chaos_utils.scoring.scores import ALL, chosen_measures, resampled
from chaos_utils.scoring.system import System

ONE_SEED = "items resampled, each with its votes; one seed"
SEVERAL_SEEDS = "items, each with its votes, and seeds"
SEED_COLUMNS = (
    "dataset", "system", "family", "n_seeds", "measure", "n_items", "value", "low", "high",
    "estimand", "seed_sd", "seed_values",
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class OverSeeds:
    """Means over seeds, with intervals; arrays of one shape."""

    value: Floats
    low: Floats
    high: Floats
    p: Floats  # two-sided, of the value being 0, from the same inversion as the interval
    degrees: Floats  # of freedom of t; NaN where there is one seed


def over_seeds(
    values: npt.ArrayLike,
    draws: npt.ArrayLike,
    *,
    n_items: npt.ArrayLike,
    against: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    level: float = 0.95,
) -> OverSeeds:
    """Return means over seeds with an interval for other seeds and other items.

    The variance of a mean over S seeds is that between them over S, plus that of the mean with the
    seeds fixed when items are resampled; the interval is that of t, with the degrees of freedom of
    Satterthwaite (1946). What differs between seeds on single items is in both parts, so that the
    interval is a little too wide. In simulations, 95% intervals cover 92.5% and more from three
    seeds on. With two, they cover 93% and more while the variance between seeds over their number
    is at most that over items, and down to 87% where it is many times that. With one seed, the
    interval is the percentile one over items: it says nothing of other seeds.

    The statistic's values, by seed first, have draws on resamples of the items before that, all
    seeds resampled alike. `against` is both of a second family with seeds of its own, on the same
    resamples, whose mean is subtracted. Runs that pair up seed by seed are compared without it, by
    their differences.
    """
    families = [_checked(values, draws)]
    if against is not None:
        families.append(_checked(*against))
    means = [value.mean(axis=0) for value, _ in families]
    drawn = [draw.mean(axis=1) for _, draw in families]
    value = means[0] - means[1] if against is not None else means[0]
    resampled_values = drawn[0] - drawn[1] if against is not None else drawn[0]
    parts = [
        (by_seed.var(axis=0, ddof=1) / len(by_seed), len(by_seed) - 1)
        for by_seed, _ in families
        if len(by_seed) > 1
    ]
    if not parts:
        low, high = percentile_interval(resampled_values, level)
        p = paired_p_value(resampled_values)
        return OverSeeds(value, low, high, p, np.full(value.shape, np.nan))
    of_items = resampled_values.var(axis=0, ddof=1)
    each = [*parts, (of_items, np.maximum(np.asarray(n_items) - 1, 1))]
    total = np.sum([variance for variance, _ in parts], axis=0) + of_items
    below = np.sum([variance**2 / degrees for variance, degrees in each], axis=0)
    degrees = np.divide(total**2, below, out=np.full(value.shape, np.inf), where=below > 0)
    low, high, p = _by_t(value, np.sqrt(total), degrees, level)
    return OverSeeds(value, low, high, p, degrees)


def _checked(values: npt.ArrayLike, draws: npt.ArrayLike) -> tuple[Floats, Floats]:
    value_by_seed, draws_by_seed = (
        np.asarray(values, dtype=np.float64),
        np.asarray(draws, dtype=np.float64),
    )
    if (
        value_by_seed.ndim < 1
        or draws_by_seed.shape[1:] != value_by_seed.shape
        or len(value_by_seed) < 1
        or len(draws_by_seed) < 2
    ):
        raise ValueError(
            f"values have shape {value_by_seed.shape} and draws {draws_by_seed.shape}, "
            "expected (n_seeds, ...) and (n_resamples, n_seeds, ...), "
            "with at least 1 seed and 2 resamples"
        )
    return value_by_seed, draws_by_seed


def _by_t(
    value: Floats, error: Floats, degrees: Floats, level: float
) -> tuple[Floats, Floats, Floats]:
    """Return the ends of t's interval, and the p-value that inverts it."""
    from scipy.special import stdtr, stdtrit  # slow to import

    if not 0 < level < 1:
        raise ValueError(f"level is {level}, expected a value between 0 and 1")
    reach = stdtrit(degrees, (1 + level) / 2) * error
    # A value that nothing moves is 0 or surely not.
    certain = np.where(value == 0, 0.0, np.inf)
    sizes = np.divide(np.abs(value), error, out=certain, where=error > 0)
    p = np.where(np.isnan(value + error), np.nan, 2 * stdtr(degrees, -sizes))
    return value - reach, value + reach, p


def families_of(systems: Sequence[System]) -> dict[str, list[int]]:
    """Return the places of the systems that differ in their seed alone, by what they are called.

    A system without a seed, or the only one of its family, is called by its own name; several
    together by their family, with the temperature of those that were scaled, and their number.
    Systems whose items have temperatures of their own (NaN) count as having one temperature.
    """
    places: dict[tuple[object, ...], list[int]] = {}
    for place, system in enumerate(systems):
        alone = () if system.seed is not None else (system.name,)
        t = None if np.isnan(system.temperature) else system.temperature  # NaN equals no NaN
        places.setdefault((system.origin, system.family, t, *alone), []).append(place)
    families = {}
    for members in places.values():
        first = systems[members[0]]
        t = first.temperature
        scaled = "" if t == 1 else " at T by item" if np.isnan(t) else f" at T = {t:g}"
        several = f"{first.family}{scaled}, mean of {len(members)} seeds"
        families[first.name if len(members) == 1 else several] = members
    return families


def score_over_seeds(
    votes: Votes,
    systems: Sequence[System],
    *,
    measures: Iterable[str] | None = None,
    n_resamples: int,
    seed: int = 0,
    level: float = 0.95,
) -> pd.DataFrame:
    """Score systems that differ in their seed alone as one, with what other seeds would change.

    Parameters
    ----------
    votes, systems, measures, n_resamples, seed, level
        As for `score`, with at least two resamples. The seeds of a family cover the same items.

    Returns
    -------
    DataFrame
        One row for each family and measure, with ``n_seeds``, ``seed_sd`` (standard deviation
        between seeds) and ``seed_values`` (separated by spaces); ``estimand`` says what the
        interval is for. A measure that has no interval has none here.
    """
    chosen, n_classes = chosen_measures(votes, measures), votes.dataset.n_classes
    if n_resamples < 2:
        raise ChaosError("Too few resamples for an interval.", found=n_resamples, expected="2")
    names, all_items = [measure.name for measure in chosen], {ALL: np.arange(len(votes))}
    resamples = resampled(
        votes, systems, measures=names, groups=all_items, n_resamples=n_resamples, seed=seed
    )
    rows: list[dict[str, object]] = []
    for name, places in families_of(systems).items():
        covered = sorted(set(resamples.n_items[0, places].tolist()))
        if len(covered) > 1:
            raise ChaosError(
                "The seeds of a family cover other items.",
                where=f"{votes.dataset.title}, {name}",
                found=", ".join(f"{n:,}" for n in covered),
                todo="leave out those that cover a part of the items",
            )
        values, several = resamples.values[0, places], len(places) > 1
        mean = over_seeds(values, resamples.draws[0][:, places], n_items=covered[0], level=level)
        for k, measure in enumerate(chosen):
            row: dict[str, object] = {
                "dataset": votes.dataset.name,
                "system": name,
                "family": systems[places[0]].family,
                "n_seeds": len(places),
                "measure": measure.name,
                "n_items": covered[0],
                "value": mean.value[k],
                "estimand": "",
                "seed_values": "",
            }
            if measure.has_interval:
                row |= {  # t knows of no range
                    "low": max(mean.low[k], measure.low_for(n_classes)),
                    "high": min(mean.high[k], measure.high_for(n_classes)),
                    "estimand": SEVERAL_SEEDS if several else ONE_SEED,
                }
            if several:
                row["seed_sd"] = values[:, k].std(ddof=1)
                row["seed_values"] = " ".join(f"{value:.6g}" for value in values[:, k])
            rows.append(row)
    table = pd.DataFrame(rows, columns=list(SEED_COLUMNS))
    return table.astype({"n_seeds": "Int64", "n_items": "Int64"})
