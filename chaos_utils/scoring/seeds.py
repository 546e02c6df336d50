"""Systems that were trained with several seeds, as one: other seeds would change the score too."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.measures import Measure
from chaos_utils.metrics.resampling import holm, paired_p_value, percentile_interval
from chaos_utils.scoring.scores import ALL, chosen_measures, resampled
from chaos_utils.scoring.system import System

Floats = npt.NDArray[np.float64]
ONE_SEED = "items resampled, each with its votes; one seed"
SEVERAL_SEEDS = "items, each with its votes, and seeds"
_ONE_OF_TWO = "items, each with its votes, and the seeds of one; the other has one seed"
SEED_COLUMNS = (
    "dataset", "group", "system", "family", "n_seeds", "measure", "n_items", "value", "low",
    "high", "interval", "estimand", "degrees", "seed_sd", "seed_values", "reference", "p",
    "p_holm",
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class OverSeeds:
    """Means over seeds, or differences of two such means, with intervals; arrays of one shape."""

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
        (one.var(axis=0, ddof=1) / len(one), len(one) - 1) for one, _ in families if len(one) > 1
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
    one, drawn = np.asarray(values, dtype=np.float64), np.asarray(draws, dtype=np.float64)
    if one.ndim < 1 or drawn.shape[1:] != one.shape or len(one) < 1 or len(drawn) < 2:
        raise ValueError(
            f"values have shape {one.shape} and draws {drawn.shape}, expected (n_seeds, ...) and "
            "(n_resamples, n_seeds, ...), with at least 1 seed and 2 resamples"
        )
    return one, drawn


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
    for place, one in enumerate(systems):
        alone = () if one.seed is not None else (one.name,)
        t = None if np.isnan(one.temperature) else one.temperature  # NaN equals no NaN
        places.setdefault((one.origin, one.family, t, *alone), []).append(place)
    found = {}
    for some in places.values():
        first = systems[some[0]]
        t = first.temperature
        scaled = "" if t == 1 else " at T by item" if np.isnan(t) else f" at T = {t:g}"
        several = f"{first.family}{scaled}, mean of {len(some)} seeds"
        found[first.name if len(some) == 1 else several] = some
    return found


def score_over_seeds(
    votes: Votes,
    systems: Sequence[System],
    *,
    measures: Iterable[str] | None = None,
    groups: Mapping[str, npt.ArrayLike] | None = None,
    reference: str | None = None,
    n_resamples: int,
    seed: int = 0,
    level: float = 0.95,
) -> pd.DataFrame:
    """Score systems that differ in their seed alone as one, with what other seeds would change.

    Parameters
    ----------
    votes, systems, measures, groups, n_resamples, seed, level
        As for `score`, with at least two resamples. What is compared covers the same items.
    reference : str, optional
        What a family is called, as `families_of` calls it, that every other one is compared with.
        The same runs at another temperature are compared seed by seed; others as families whose
        seeds have nothing in common.

    Returns
    -------
    DataFrame
        One row for each group, family and measure, then rows of differences, as in `score`; with
        ``n_seeds``, ``degrees`` of freedom of t (percentiles for one seed, as ``estimand`` says),
        ``seed_sd`` (standard deviation between seeds) and ``seed_values`` (separated by spaces). A
        measure that has no interval has none here.
    """
    chosen, n_classes = chosen_measures(votes, measures), votes.dataset.n_classes
    families = families_of(systems)
    if reference is not None and reference not in families:
        raise ChaosError(
            "There is no such family to compare with.",
            found=reference,
            expected="one of: " + ", ".join(families),
        )
    if n_resamples < 2:
        raise ChaosError("Too few resamples for an interval.", found=n_resamples, expected="2")
    groups = groups or {ALL: np.arange(len(votes))}
    names = [measure.name for measure in chosen]
    found = resampled(
        votes, systems, measures=names, groups=groups, n_resamples=n_resamples, seed=seed
    )
    rows: list[dict[str, object]] = []
    gaps: list[dict[str, object]] = []
    for g, group in enumerate(groups):
        values, draws, n_items = found.values[g], found.draws[g], found.n_items[g]
        for name, places in families.items():
            compared = [] if reference in (None, name) else families[str(reference)]
            covered = set(n_items[[*places, *compared]].tolist())
            if len(covered) > 1:
                raise ChaosError(
                    "Systems that are compared over seeds cover other items.",
                    where=f"{votes.dataset.title}, {name}",
                    found=", ".join(f"{n:,}" for n in sorted(covered)),
                    todo="leave out those that cover a part of the items",
                )
            common: dict[str, object] = {
                "dataset": votes.dataset.name, "group": group, "system": name,
            }  # fmt: skip
            common |= {"family": systems[places[0]].family, "n_seeds": len(places)}
            common |= {"n_items": n_items[places[0]], "reference": ""}
            several = {"n_items": n_items[places[0]], "level": level}
            mine = values[places], draws[:, places]
            of_seeds = SEVERAL_SEEDS if len(places) > 1 else ONE_SEED
            rows += _rows(
                common, chosen, over_seeds(*mine, **several), of_seeds, n_classes, mine[0]
            )
            if not compared:
                continue
            theirs = values[compared], draws[:, compared]
            common["reference"] = str(reference)
            if _same_runs([systems[k] for k in places], [systems[k] for k in compared]):
                differences = mine[0] - theirs[0], mine[1] - theirs[1]
                gap = over_seeds(*differences, **several)
                gaps += _rows(common, chosen, gap, of_seeds, n_classes, differences[0])
            else:
                gap = over_seeds(*mine, against=theirs, **several)
                alone = min(len(places), len(compared)) == 1 < max(len(places), len(compared))
                gaps += _rows(common, chosen, gap, _ONE_OF_TWO if alone else of_seeds, n_classes)
    table = pd.DataFrame([*rows, *gaps])
    table = table.assign(p_holm=holm(table["p"]))[list(SEED_COLUMNS)]
    return table.astype({"n_seeds": "Int64", "n_items": "Int64"})


def _same_runs(some: Sequence[System], others: Sequence[System]) -> bool:
    """Return whether both are the same runs, by seed in the same order, at two temperatures."""
    sides = [[(one.origin, one.family, one.seed) for one in side] for side in (some, others)]
    return sides[0] == sides[1] and all(one.seed is not None for one in some)


def _rows(
    common: Mapping[str, object],
    chosen: Sequence[Measure],
    found: OverSeeds,
    estimand: str,
    n_classes: int,
    by_seed: Floats | None = None,
) -> list[dict[str, object]]:
    """Return a row for each measure; `by_seed` are the values of each seed, by measure."""
    rows = []
    for k, measure in enumerate(chosen):
        row = {**common, "measure": measure.name, "value": found.value[k]}
        if measure.has_interval:
            t = not np.isnan(found.degrees[k])
            low, high = found.low[k], found.high[k]
            if not common["reference"]:  # t knows of no range
                low = max(low, measure.low_for(n_classes))
                high = min(high, measure.high_for(n_classes))
            row |= {"low": low, "high": high, "degrees": found.degrees[k]}
            row |= {"interval": "t" if t else "percentile", "estimand": estimand}
            row["p"] = found.p[k] if common["reference"] else np.nan
        else:
            row |= dict.fromkeys(("low", "high", "degrees", "p"), np.nan)
            row |= {"interval": "", "estimand": ""}
        row |= {"seed_sd": np.nan, "seed_values": ""}
        if by_seed is not None and len(by_seed) > 1:
            row["seed_sd"] = by_seed[:, k].std(ddof=1)
            row["seed_values"] = " ".join(f"{value:.6g}" for value in by_seed[:, k])
        rows.append(row)
    return rows
