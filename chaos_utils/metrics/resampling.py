"""How much a statistic would move with other items, and with other votes.

`rng` is the source of randomness, `n_resamples` at least 1, `level` the coverage of an interval, in
(0, 1).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from chaos_utils.metrics.checks import as_distributions, as_votes

Floats = npt.NDArray[np.float64]

_CHUNK_CELLS = 4_000_000  # 32 MB of counts at a time


def bootstrap_means(
    values: npt.ArrayLike, n_resamples: int, rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    """Means of columns over items drawn with replacement, shape (n_resamples, n_columns).

    `values` have a row per item. A statistic that is a function of means (a rate, Fleiss' κ) is
    resampled by applying that function to the rows of the result.

    References
    ----------
    Efron, B. and Tibshirani, R. (1993). An introduction to the bootstrap.
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or len(table) == 0:
        raise ValueError(f"values has shape {table.shape}, expected (n_items, n_columns), n > 0")
    items = np.arange(len(table))
    return bootstrap_tables([(items, table)], items, n_resamples, rng)[0]


def _draw_counts(n_items: int, n_resamples: int, rng: np.random.Generator) -> Floats:
    """Return how often each resample holds each item, shape (n_resamples, n_items)."""
    small = n_items * n_resamples < 2**31
    picks = rng.integers(
        n_items, size=(n_resamples, n_items), dtype=np.int32 if small else np.int64
    )
    picks += n_items * np.arange(n_resamples, dtype=picks.dtype)[:, np.newaxis]
    times = np.bincount(picks.ravel(), minlength=n_resamples * n_items)
    return times.reshape(n_resamples, n_items).astype(np.float64)


def bootstrap_tables(
    tables: Sequence[tuple[npt.NDArray[np.int64], Floats]],
    items: npt.ArrayLike,
    n_resamples: int,
    rng: np.random.Generator,
) -> list[Floats]:
    """Means of several tables over the same items, drawn with replacement.

    Each of the `tables` is a pair: the items of its rows, ascending, and its columns. Resamples are
    drawn from `items`, of which a table may cover some; its means are over its items in a resample,
    NaN where there are none. What is drawn depends on the number of `items` alone, not on the
    tables.
    """
    population = np.asarray(items, dtype=np.int64)
    n_items = len(population)
    if n_items == 0 or n_resamples < 1:
        raise ValueError(
            f"n_resamples is {n_resamples}, of {n_items} items: expected at least 1 of each"
        )
    # Tables that cover the same items are multiplied together.
    by_cover: dict[bytes, list[int]] = {}  # indices of tables
    for index, (rows, _) in enumerate(tables):
        by_cover.setdefault(rows.tobytes(), []).append(index)
    groups = []
    for indices in by_cover.values():
        rows = tables[indices[0]][0]
        inside = np.isin(rows, population)
        positions = np.searchsorted(population, rows[inside])
        columns = np.concatenate([tables[index][1][inside] for index in indices], axis=1)
        ends = np.cumsum([tables[index][1].shape[1] for index in indices])[:-1]
        groups.append((indices, positions, columns, ends))
    step = max(1, _CHUNK_CELLS // n_items)
    resampled = [np.empty((n_resamples, columns.shape[1])) for _, columns in tables]
    for start in range(0, n_resamples, step):
        size = min(step, n_resamples - start)
        weights = _draw_counts(n_items, size, rng)
        for indices, positions, columns, ends in groups:
            part = weights if len(positions) == n_items else weights[:, positions]
            times = part.sum(axis=1, keepdims=True)
            means = np.full((size, columns.shape[1]), np.nan)
            np.divide(part @ columns, times, out=means, where=times > 0)
            for index, block in zip(indices, np.split(means, ends, axis=1), strict=True):
                resampled[index][start : start + size] = block
    return resampled


def percentile_interval(
    resampled: npt.ArrayLike, level: float = 0.95
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Lower and upper end of the percentile interval of each column.

    The ends are the order statistics that `paired_p_value` inverts: the interval of a difference
    leaves out 0 if and only if its p-value is below 1 − `level`. With fewer resamples than
    `fewest_resamples`, they are the smallest and the largest value, which cover less. NaN where the
    statistic is not defined on every resample.

    Parameters
    ----------
    resampled : array_like of float, shape (n_resamples, ...)
        Values of a statistic on resamples.

    References
    ----------
    Davison, A. C. and Hinkley, D. V. (1997). Bootstrap methods and their application.
    """
    _check_level(level)
    values = np.asarray(resampled, dtype=np.float64)
    n = len(values)
    # p = 2 (1 + c) / (n + 1) is below 1 - level for c = 0, …, rank - 1 values beyond 0.
    rank = max(int(np.ceil(round((1 - level) * (n + 1) / 2, 9))) - 1, 1)
    # NaN is sorted last.
    ordered = np.partition(values, sorted({rank - 1, n - rank, n - 1}), axis=0)
    undefined = np.isnan(ordered[-1])
    low, high = (np.where(undefined, np.nan, ordered[k]) for k in (rank - 1, n - rank))
    return low, high


# The value of a smooth function of means, and its derivative by each mean.
Smooth = tuple[Floats, Sequence[Floats]]
# From means, along the first axis, to the numerator and the denominator of a ratio.
Ratio = Callable[[Floats], tuple[Smooth, Smooth]]


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Means of columns over items, and the means' covariances: of all items, and of resamples.

    Attributes
    ----------
    mean : ndarray of float, shape (n_columns,)
        Means over all items.
    covariance : ndarray of float, shape (n_columns, n_columns)
        Covariances of these means.
    means : ndarray of float, shape (n_resamples, n_columns)
        Means over the items of each resample.
    covariances : ndarray of float, shape (n_resamples, n_columns, n_columns)
        Covariances of these means.
    """

    mean: Floats
    covariance: Floats
    means: Floats
    covariances: Floats

    @classmethod
    def drawn(cls, columns: Floats, n_resamples: int, rng: np.random.Generator) -> "Moments":
        """Resample the items, at least two, which are the rows of `columns`."""
        n, k = columns.shape
        mean = columns.mean(axis=0)
        centred = columns - mean
        first, second = np.triu_indices(k)
        products = centred[:, first] * centred[:, second]
        resampled = bootstrap_means(np.column_stack([centred, products]), n_resamples, rng)
        mean_products = np.empty((n_resamples, k, k))
        mean_products[:, first, second] = mean_products[:, second, first] = resampled[:, k:]
        shifts = resampled[:, :k]
        covariances = mean_products - shifts[:, :, np.newaxis] * shifts[:, np.newaxis]
        return cls(mean, centred.T @ centred / n / (n - 1), mean + shifts, covariances / (n - 1))

    def interval(self, ratio: Ratio, columns: Sequence[int], level: float) -> tuple[float, float]:
        """Return the bootstrap-t interval of a ratio of functions of some of the columns' means.

        It holds each r for which (numerator − r · denominator), over its standard error, lies
        between two quantiles of the same statistic on resamples: Fieller's interval, with these
        quantiles. Infinite where the denominator may be 0.

        References
        ----------
        Fieller, E. C. (1954). Some problems in interval estimation.
        Davison, A. C. and Hinkley, D. V. (1997). Bootstrap methods and their application.
        """
        block = np.ix_(columns, columns)
        (top, bottom), variances = _with_variances(
            ratio, self.mean[columns], self.covariance[block]
        )
        value = top / bottom
        blocks = np.ix_(range(len(self.means)), columns, columns)
        (tops, bottoms), (top_variances, covariances, bottom_variances) = _with_variances(
            ratio, self.means[:, columns], self.covariances[blocks]
        )
        gap_variances = top_variances - 2 * value * covariances + value**2 * bottom_variances
        errors = np.sqrt(np.maximum(gap_variances, 0))
        gaps = tops - value * bottoms
        studentised = np.divide(gaps, errors, out=np.zeros(len(gaps)), where=errors > 0)
        low, high = (float(t) for t in percentile_interval(studentised, level))
        return _end(high, top, bottom, variances), _end(low, top, bottom, variances)


def _with_variances(
    ratio: Ratio, means: Floats, covariances: Floats
) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats, Floats]]:
    """Return numerator and denominator of a ratio; then, by the delta method, three moments.

    The moments are the variance of the numerator, the covariance, the variance of the denominator.
    """
    parts = ratio(np.moveaxis(means, -1, 0))
    top, bottom = (np.stack(np.broadcast_arrays(*slopes), axis=-1) for _, slopes in parts)
    moments = tuple(
        np.einsum("...i,...ij,...j->...", left, covariances, right)
        for left, right in ((top, top), (top, bottom), (bottom, bottom))
    )
    return (parts[0][0], parts[1][0]), (moments[0], moments[1], moments[2])


def _end(t: float, top: Floats, bottom: Floats, variances: tuple[Floats, ...]) -> float:
    """Return the r for which top − r · bottom is t standard errors from 0 (Fieller)."""
    top_variance, covariance, bottom_variance = variances
    a = bottom**2 - t**2 * bottom_variance
    if a <= 0:
        return -np.inf if t > 0 else np.inf
    b, c = top * bottom - t**2 * covariance, top**2 - t**2 * top_variance
    return float((b - np.sign(t) * np.sqrt(np.maximum(b**2 - a * c, 0))) / a)


def mean(means: Floats) -> tuple[Smooth, Smooth]:
    """Return the mean of the only column, as a ratio to 1, for `Moments.interval`."""
    return (means[0], (np.ones_like(means[0]),)), constant(means)


def constant(means: Floats) -> Smooth:
    """Return 1, whatever the means."""
    return np.ones_like(means[0]), tuple(np.zeros_like(values) for values in means)


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"level is {level}, expected a value between 0 and 1")


def paired_p_value(differences: npt.ArrayLike) -> Floats:
    """Two-sided bootstrap p-value of each column: how often a difference changes its sign.

    Twice the share of values at or beyond 0, on the side with fewer such values, c; the data itself
    counts as one more: ``2 (1 + c) / (n_resamples + 1)``. This is the percentile interval,
    inverted. NaN where a difference is not defined on every resample.

    Parameters
    ----------
    differences : array_like of float, shape (n_resamples, ...)
        Difference of two systems on the same resamples. A value of 0 lies on both sides.

    References
    ----------
    Davison, A. C. and Hinkley, D. V. (1997). Bootstrap methods and their application.
    """
    values = np.asarray(differences, float)
    beyond = np.minimum((values <= 0).sum(axis=0), (values >= 0).sum(axis=0))
    p = np.minimum(2 * (beyond + 1) / (len(values) + 1), 1.0)
    return np.where(np.isnan(values).any(axis=0), np.nan, p)


def smallest_p_value(n_resamples: int) -> float:
    """Return the p-value that `paired_p_value` gives where no resample changes the sign.

    An upper bound: more resamples would give a smaller p-value.
    """
    return min(2 / (n_resamples + 1), 1.0)


def fewest_resamples(level: float = 0.95, n_comparisons: int = 1) -> int:
    """Return how many resamples the smallest p-value needs to be below 1 − `level`.

    40 for one comparison at 0.95; more for several that `holm` adjusts for.
    """
    _check_level(level)
    return int(np.floor(round(2 * n_comparisons / (1 - level) - 1, 9))) + 1


def draw_votes(
    distributions: npt.ArrayLike, n_votes: npt.ArrayLike, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Draw ``n_votes`` on each item from its distribution; counts of shape (n_items, n_classes).

    With the items' own vote shares this is the vote bootstrap.
    """
    sizes = np.asarray(n_votes, dtype=np.int64)
    if sizes.min() < 1:
        raise ValueError(f"n_votes is {sizes.min()}, expected at least 1")
    return rng.multinomial(sizes, as_distributions(distributions, "distributions"))


def split_votes(
    votes: npt.ArrayLike, sizes: Sequence[int], rng: np.random.Generator
) -> list[npt.NDArray[np.int64]]:
    """Cut each item's votes at random into disjoint sets, without replacement.

    There is one set of counts for each of `sizes`, whose sum may not exceed any item's number of
    votes, then the votes that are left. H1 and H2 of Baan et al. (2022) are ``(20, 20)``.
    """
    remaining = as_votes(votes, "votes").astype(np.int64)
    if min(sizes) < 1 or sum(sizes) > remaining.sum(axis=1).min():
        raise ValueError(
            f"sizes are {list(sizes)}, expected at least 1 each and at most "
            f"{remaining.sum(axis=1).min()} together, the votes of the item with fewest"
        )
    sets = []
    for size in sizes:
        sample = take_votes(remaining, size, rng)
        remaining = remaining - sample
        sets.append(sample)
    return [*sets, remaining]


def take_votes(
    votes: npt.ArrayLike, sizes: npt.ArrayLike, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Draw votes from each item's own without replacement; counts of shape (n_items, n_classes).

    `sizes` says how many: one number, or one per item, from 0 to the item's number of `votes`.
    """
    remaining = np.asarray(votes, dtype=np.int64)
    left = np.broadcast_to(np.asarray(sizes, dtype=np.int64), len(remaining))
    n_others = remaining.sum(axis=1)
    if left.min() < 0 or (left > n_others).any():
        raise ValueError("sizes go beyond an item's number of votes, or below 0")
    sample = np.zeros_like(remaining)
    for k in range(remaining.shape[1] - 1):
        n_others = n_others - remaining[:, k]
        sample[:, k] = rng.hypergeometric(remaining[:, k], n_others, left)
        left = left - sample[:, k]
    sample[:, -1] = left
    return sample


def holm(p_values: npt.ArrayLike) -> Floats:
    """Adjust p-values for several comparisons, by Holm's step-down method.

    NaN in `p_values`, where nothing was compared, stays NaN.

    References
    ----------
    Holm, S. (1979). A simple sequentially rejective multiple test procedure.
    """
    raw = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(raw.shape, np.nan)
    (compared,) = np.nonzero(~np.isnan(raw))
    order = compared[np.argsort(raw[compared], kind="stable")]
    steps = raw[order] * (len(order) - np.arange(len(order)))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def behind_holm(p_values: npt.ArrayLike, adjusted: npt.ArrayLike) -> Floats:
    """Return the raw p-value that each p-value adjusted by `holm` comes from.

    It is the comparison's own, or a smaller one whose adjusted value Holm's method carries over.
    Where the raw p-value is an upper bound, so is the adjusted one.
    """
    smallest: dict[float, float] = {}  # raw p-value by adjusted one
    pairs = list(zip(np.asarray(p_values).tolist(), np.asarray(adjusted).tolist(), strict=True))
    for raw, corrected in pairs:
        smallest[corrected] = min(raw, smallest.get(corrected, raw))
    return np.array([smallest.get(corrected, raw) for raw, corrected in pairs], dtype=np.float64)


def rescale(score: npt.ArrayLike, *, at_zero: float, at_one: float) -> Floats:
    """Rescale a ``score`` so that one reference scores 0 (`at_zero`) and another 1 (`at_one`).

    Below 0 or above 1 for a score beyond a reference.
    """
    if at_zero == at_one:
        raise ValueError(f"both references score {at_zero}; nothing lies between them")
    return (np.asarray(score, float) - at_zero) / (at_one - at_zero)
