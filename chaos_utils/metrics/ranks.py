"""Which ranks each of several systems may have, for all of them at once."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from chaos_utils.metrics.resampling import bootstrap_means

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
_ROUNDING = 1e-12  # of a standard error


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
        Standard errors by which a pair must differ, in the first step.
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

    Every pair of systems is compared on the same items. A pair is told apart where the studentised
    difference exceeds the quantile of the largest one over all pairs, from items drawn with
    replacement; what is told apart leaves the comparison, and the others are compared again until
    none is left that differs (step-down). A system's best rank is one more than the number of
    systems that are better than it, its worst one the number of systems that are not worse. With
    probability `level`, all sets hold the true ranks.

    Parameters
    ----------
    values : array_like of float, shape (n_items, n_systems)
        Each system's score on each item.
    n_resamples : int
        Of the items; at least 1.
    rng : numpy.random.Generator
    level : float
        In (0, 1).
    highest_first : bool
        Whether the largest mean is the best.

    Returns
    -------
    RankSets
        In the order of the columns.

    Raises
    ------
    ValueError
        If there are fewer than two items, no system, or a value that is not finite.

    References
    ----------
    Romano, J. P. and Wolf, M. (2005). Exact and approximate stepdown methods for multiple
    hypothesis testing.
    Mogstad, M., Romano, J. P., Shaikh, A. M. and Wilhelm, D. (2024). Inference for ranks with
    applications to mobility across neighbourhoods and academic achievement across countries.
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or len(table) < 2 or not table.shape[1] or not np.isfinite(table).all():
        raise ValueError(
            f"values has shape {table.shape}, expected finite values of at least two items"
        )
    n_systems = table.shape[1]
    table = table if highest_first else -table
    first, second = np.triu_indices(n_systems, 1)
    differences = table[:, first] - table[:, second]
    means = differences.mean(axis=0)
    errors = differences.std(axis=0, ddof=1) / np.sqrt(len(table))
    apart, margin, critical = np.zeros(len(first), dtype=bool), np.full(len(first), np.inf), 0.0
    if n_systems > 1:
        resampled = bootstrap_means(table, n_resamples, rng)
        safe = np.maximum(errors, _ROUNDING)
        largest = np.abs(resampled[:, first] - resampled[:, second] - means) / safe
        observed = np.where(errors > _ROUNDING, np.abs(means) / safe, 0.0)
        apart, margin, critical = _step_down(observed, largest, level)
    better = np.zeros((n_systems, n_systems), dtype=bool)  # whether the row's is better
    better[first, second], better[second, first] = apart & (means > 0), apart & (means < 0)
    closest = np.full((n_systems, n_systems), np.inf)
    closest[first, second] = closest[second, first] = margin
    return RankSets(
        best=1 + better.sum(axis=0),
        worst=n_systems - better.sum(axis=1),
        margin=closest.min(axis=1),
        critical=critical,
    )


def _step_down(
    observed: Floats, resampled: Floats, level: float
) -> tuple[npt.NDArray[np.bool_], Floats, float]:
    """Return which pairs are told apart, by what margin each decision was made, and the first bar.

    `observed` has each pair's studentised difference, `resampled` those of resamples in rows.
    """
    apart = np.zeros(len(observed), dtype=bool)
    margin = np.full(len(observed), np.inf)
    first = np.nan
    while not apart.all():
        bar = float(np.quantile(resampled[:, ~apart].max(axis=1), level))
        first = bar if np.isnan(first) else first
        margin[~apart] = np.abs(observed[~apart] - bar)
        rejected = ~apart & (observed > bar)
        if not rejected.any():
            break
        apart |= rejected
    return apart, margin, first
