"""Which ranks each of several systems may have, for all of them at once."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from chaos_utils.metrics.resampling import bootstrap_tables

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
_ROUNDING = 1e-12  # a standard error that is 0 but for rounding


@dataclass(frozen=True, slots=True, eq=False)
class RankSets:
    """The ranks that systems may have; 1 is the best.

    Attributes
    ----------
    best, worst : ndarray of int, shape (n_systems,)
        The ends of each system's set.
    margin : ndarray of float, shape (n_systems,)
        How far the closest decision on a pair with the system was from going the other way, in
        standard errors of the difference; infinite for a single system.
    critical : float
        The number of standard errors by which a pair must differ in the first step.
    """

    best: Ints
    worst: Ints
    margin: Floats
    critical: float


def rank_sets(
    values: npt.ArrayLike,
    n_resamples: int,
    rng: np.random.Generator,
    level: float = 0.95,
    *,
    highest_first: bool = True,
) -> RankSets:
    """Return simultaneous confidence sets for the ranks of systems by a mean over items.

    Every pair of systems is compared on the items that both cover. A pair differs if its
    studentised difference exceeds a quantile, over resamples of the items, of the largest
    studentised difference of all pairs. Pairs that differ leave the comparison, and the others are
    compared again until no further pair differs (step-down). A system's best rank is one more than
    the number of systems that are better than it, its worst one the number of systems that are not
    worse. With probability `level`, all sets hold the true ranks.

    Parameters
    ----------
    values : array_like of float, shape (n_items, n_systems)
        Each system's score on each item; NaN on an item that it does not cover.
    n_resamples : int
        Number of resamples of the items; at least 1.
    rng : numpy.random.Generator
    level : float
        In (0, 1).
    highest_first : bool
        Whether the largest mean is the best.

    Returns
    -------
    RankSets
        The systems are in the order of the columns.

    Raises
    ------
    ValueError
        If there is no system, a value is infinite, or two systems share fewer than two items.

    References
    ----------
    Romano, J. P. and Wolf, M. (2005). Exact and approximate stepdown methods for multiple
    hypothesis testing.
    Mogstad, M., Romano, J. P., Shaikh, A. M. and Wilhelm, D. (2024). Inference for ranks with
    applications to mobility across neighbourhoods and academic achievement across countries.
    """
    table = np.asarray(values, dtype=np.float64)
    covered = np.isfinite(table)
    if (
        table.ndim != 2
        or not table.shape[1]
        or np.isinf(table).any()
        or (covered.T.astype(np.int64) @ covered).min() < 2
    ):
        raise ValueError(
            f"values has shape {table.shape}, expected values of systems that share two items or "
            "more, each finite, or NaN on an item without a value"
        )
    n_systems = table.shape[1]
    table = table if highest_first else -table
    first, second = np.triu_indices(n_systems, 1)
    differs, margin, critical = np.zeros(len(first), dtype=bool), np.full(len(first), np.inf), 0.0
    means = np.empty(0)
    if n_systems > 1:
        means, errors, deviations = _differences(table, covered, n_resamples, rng)
        divisors = np.maximum(errors, _ROUNDING)
        observed = np.where(errors > _ROUNDING, np.abs(means) / divisors, 0.0)
        differs, margin, critical = _step_down(observed, np.abs(deviations) / divisors, level)
    # Whether the row's system is better than the column's.
    better = np.zeros((n_systems, n_systems), dtype=bool)
    better[first, second], better[second, first] = differs & (means > 0), differs & (means < 0)
    closest = np.full((n_systems, n_systems), np.inf)
    closest[first, second] = closest[second, first] = margin
    return RankSets(
        best=1 + better.sum(axis=0),
        worst=n_systems - better.sum(axis=1),
        margin=closest.min(axis=1),
        critical=critical,
    )


def _differences(
    table: Floats, covered: npt.NDArray[np.bool_], n_resamples: int, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """Return each pair's mean difference, its standard error, and its deviations on resamples.

    The last have shape (n_resamples, n_pairs). Pairs are in the order of ``np.triu_indices``, and
    means are over the items that both systems cover.
    """
    first, second = np.triu_indices(table.shape[1], 1)
    # Systems that cover the same items have one number; so have pairs of such numbers.
    cover = np.unique(covered, axis=1, return_inverse=True)[1].ravel()
    sides = np.sort(np.stack([cover[first], cover[second]]), axis=0)
    numbers = np.unique(sides, axis=1, return_inverse=True)[1].ravel()
    pair_sets = [np.flatnonzero(numbers == number) for number in range(numbers.max() + 1)]
    means, errors = np.empty(len(first)), np.empty(len(first))
    tables, columns = [], []
    for pairs in pair_sets:
        items = np.flatnonzero(covered[:, first[pairs[0]]] & covered[:, second[pairs[0]]])
        systems = np.unique([first[pairs], second[pairs]])
        values = table[np.ix_(items, systems)]
        left, right = (np.searchsorted(systems, side[pairs]) for side in (first, second))
        differences = values[:, left] - values[:, right]
        means[pairs] = differences.mean(axis=0)
        errors[pairs] = differences.std(axis=0, ddof=1) / np.sqrt(len(items))
        tables.append((items, values))
        columns.append((left, right))
    resampled = bootstrap_tables(tables, np.arange(len(table)), n_resamples, rng)
    deviations = np.empty((n_resamples, len(first)))
    for pairs, (left, right), system_means in zip(pair_sets, columns, resampled, strict=True):
        deviations[:, pairs] = system_means[:, left] - system_means[:, right] - means[pairs]
    return means, errors, deviations


def _step_down(
    observed: Floats, resampled: Floats, level: float
) -> tuple[npt.NDArray[np.bool_], Floats, float]:
    """Return which pairs differ, the margin of each decision, and the critical value.

    The critical value is the threshold of the first step. `observed` has each pair's studentised
    difference, `resampled` has those of resamples, in rows.
    """
    differs = np.zeros(len(observed), dtype=bool)
    margin = np.full(len(observed), np.inf)
    critical = np.nan
    while not differs.all():
        threshold = float(np.quantile(resampled[:, ~differs].max(axis=1), level))
        critical = threshold if np.isnan(critical) else critical
        margin[~differs] = np.abs(observed[~differs] - threshold)
        rejected = ~differs & (observed > threshold)
        if not rejected.any():
            break
        differs |= rejected
    return differs, margin, critical
