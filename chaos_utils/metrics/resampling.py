"""How much a statistic would move with other items, and with other votes."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.special import digamma, gammaln, ndtr, ndtri

from chaos_utils.metrics.checks import as_distributions, as_votes

Floats = npt.NDArray[np.float64]

_CHUNK_CELLS = 4_000_000  # 32 MB of counts at a time


def bootstrap_means(
    values: npt.ArrayLike, n_resamples: int, rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    """Means of columns over items drawn with replacement.

    A statistic that is a function of means (a rate, Fleiss' κ) is resampled by applying
    that function to the rows of the result.

    Parameters
    ----------
    values : array_like of float, shape (n_items, n_columns)
        One row per item.
    n_resamples : int
        Number of resamples, at least 1.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of float64, shape (n_resamples, n_columns)

    Raises
    ------
    ValueError
        If `values` has no item or is no table, or `n_resamples` is below 1.

    References
    ----------
    Efron, B. and Tibshirani, R. (1993). An introduction to the bootstrap.
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or len(table) == 0:
        raise ValueError(f"values has shape {table.shape}, expected (n_items, n_columns), n > 0")
    if n_resamples < 1:
        raise ValueError(f"n_resamples is {n_resamples}, expected at least 1")
    n_items = len(table)
    step = max(1, _CHUNK_CELLS // n_items)
    even = np.full(n_items, 1 / n_items)
    means = [
        rng.multinomial(n_items, even, size=min(step, n_resamples - start)) @ table / n_items
        for start in range(0, n_resamples, step)
    ]
    return np.concatenate(means)


def bootstrap_tables(
    tables: Sequence[tuple[npt.NDArray[np.int64], Floats]],
    items: npt.ArrayLike,
    n_resamples: int,
    rng: np.random.Generator,
) -> list[Floats]:
    """Means of several tables over the same items, drawn with replacement.

    A table may cover some of the items; its means are over those of them that are drawn.

    Parameters
    ----------
    tables : sequence of (ndarray of int, ndarray of float)
        The items of its rows, shape (m,), ascending, and its columns, shape (m, n_columns).
    items : array_like of int, shape (n_items,)
        What is drawn from, ascending; rows of other items are left out.
    n_resamples : int
        At least 1.
    rng : numpy.random.Generator
        Source of randomness: a draw depends on the number of items alone, so that tables share
        it whatever they hold.

    Returns
    -------
    list of ndarray of float64, shape (n_resamples, n_columns)
        NaN where none of a table's items was drawn.

    Raises
    ------
    ValueError
        If there is no item, or `n_resamples` is below 1.
    """
    drawn_from = np.asarray(items, dtype=np.int64)
    n_items = len(drawn_from)
    if n_items == 0 or n_resamples < 1:
        raise ValueError(f"{n_items} items, {n_resamples} resamples: expected at least 1 of each")
    # Tables that cover the same items are multiplied together.
    by_cover: dict[bytes, list[int]] = {}
    for number, (rows, _) in enumerate(tables):
        by_cover.setdefault(rows.tobytes(), []).append(number)
    groups = []
    for numbers in by_cover.values():
        rows = tables[numbers[0]][0]
        inside = np.isin(rows, drawn_from)
        places = np.searchsorted(drawn_from, rows[inside])
        columns = np.concatenate([tables[n][1][inside] for n in numbers], axis=1)
        ends = np.cumsum([tables[n][1].shape[1] for n in numbers])[:-1]
        groups.append((numbers, places, columns, ends))
    even = np.full(n_items, 1 / n_items)
    step = max(1, _CHUNK_CELLS // n_items)
    parts: list[list[Floats]] = [[] for _ in tables]
    for start in range(0, n_resamples, step):
        size = min(step, n_resamples - start)
        weights = rng.multinomial(n_items, even, size=size).astype(np.float64)
        for numbers, places, columns, ends in groups:
            part = weights if len(places) == n_items else weights[:, places]
            times = part.sum(axis=1, keepdims=True)
            means = np.full((size, columns.shape[1]), np.nan)
            np.divide(part @ columns, times, out=means, where=times > 0)
            for number, block in zip(numbers, np.split(means, ends, axis=1), strict=True):
                parts[number].append(block)
    return [np.concatenate(blocks) for blocks in parts]


def percentile_interval(
    resampled: npt.ArrayLike, level: float = 0.95
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Lower and upper end of the percentile interval of each column.

    Parameters
    ----------
    resampled : array_like of float, shape (n_resamples, ...)
        Values of a statistic on resamples.
    level : float
        Coverage, in (0, 1).

    Returns
    -------
    low, high : ndarray of float64, shape (...)
    """
    _check_level(level)
    tail = (1 - level) / 2
    low, high = np.quantile(np.asarray(resampled, dtype=np.float64), [tail, 1 - tail], axis=0)
    return low, high


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"level is {level}, expected a value between 0 and 1")


def bca_interval(
    resampled: npt.ArrayLike,
    estimate: npt.ArrayLike,
    jackknife: npt.ArrayLike,
    level: float = 0.95,
) -> tuple[Floats, Floats]:
    """Bias-corrected and accelerated bootstrap interval of each column.

    Parameters
    ----------
    resampled : array_like of float, shape (n_resamples, ...)
        Values of a statistic on resamples.
    estimate : array_like of float, shape (...)
        Its value on the data.
    jackknife : array_like of float, shape (n_items, ...)
        Its values with one item left out at a time.
    level : float
        Coverage, in (0, 1).

    Returns
    -------
    low, high : ndarray of float64, shape (...)
        Both equal the estimate where the statistic does not vary.

    References
    ----------
    Efron, B. (1987). Better bootstrap confidence intervals.
    """
    values, point = np.asarray(resampled, float), np.asarray(estimate, float)
    left_out = np.asarray(jackknife, float)
    _check_level(level)
    n = len(values)
    # Ties with the estimate count half; the ends are kept finite.
    below = ((values < point).sum(axis=0) + 0.5 * (values == point).sum(axis=0)) / n
    bias = ndtri(np.clip(below, 0.5 / n, 1 - 0.5 / n))
    pulls = left_out.mean(axis=0) - left_out
    spread = (pulls**2).sum(axis=0) ** 1.5
    acceleration = np.divide(
        (pulls**3).sum(axis=0), 6 * spread, out=np.zeros_like(spread), where=spread > 0
    )
    ends = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        shifted = bias + ndtri(tail)
        share = ndtr(bias + shifted / (1 - acceleration * shifted))
        ends.append(_quantile_by_column(values, share))
    return ends[0], ends[1]


def _quantile_by_column(values: Floats, shares: Floats) -> Floats:
    flat, wanted = values.reshape(len(values), -1), np.ravel(shares)
    found = [np.quantile(flat[:, k], wanted[k]) for k in range(flat.shape[1])]
    return np.array(found).reshape(np.shape(shares))


def paired_p_value(differences: npt.ArrayLike) -> Floats:
    """Two-sided bootstrap p-value of each column: how often a difference changes its sign.

    Parameters
    ----------
    differences : array_like of float, shape (n_resamples, ...)
        Difference of two systems on the same resamples.

    Returns
    -------
    ndarray of float64, shape (...)
        In (0, 1]; never 0, since the data itself counts as one resample. NaN where a difference
        is not defined on every resample.

    References
    ----------
    Davison, A. C. and Hinkley, D. V. (1997). Bootstrap methods and their application.
    """
    values = np.asarray(differences, float)
    beyond = np.minimum((values <= 0).sum(axis=0), (values >= 0).sum(axis=0))
    p = np.minimum(2 * (beyond + 1) / (len(values) + 1), 1.0)
    return np.where(np.isnan(values).any(axis=0), np.nan, p)


def draw_votes(
    distributions: npt.ArrayLike, n_votes: npt.ArrayLike, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Draw votes on each item from its distribution.

    With the items' own vote shares this is the vote bootstrap.

    Parameters
    ----------
    distributions : array of shape (n_items, n_classes)
        Rows sum to 1.
    n_votes : int or array of int, shape (n_items,)
        Votes per item; at least 1.
    rng : Generator

    Returns
    -------
    ndarray of int, shape (n_items, n_classes)
        Counts; rows sum to `n_votes`.
    """
    sizes = np.asarray(n_votes, dtype=np.int64)
    if sizes.min() < 1:
        raise ValueError(f"n_votes is {sizes.min()}, expected at least 1")
    return rng.multinomial(sizes, as_distributions(distributions, "distributions"))


def split_votes(
    votes: npt.ArrayLike, sizes: Sequence[int], rng: np.random.Generator
) -> list[npt.NDArray[np.int64]]:
    """Cut each item's votes at random into disjoint sets, without replacement.

    Parameters
    ----------
    votes : array_like of int, shape (n_items, n_classes)
        Counts.
    sizes : sequence of int
        Votes in each set; their sum is at most every item's number of votes. H1 and H2 of
        Baan et al. (2022) are ``(20, 20)``.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    list of ndarray of int, shape (n_items, n_classes)
        One for each size, then the votes that are left.

    Raises
    ------
    ValueError
        If an item has too few votes, or a size is below 1.
    """
    left = as_votes(votes, "votes").astype(np.int64)
    if min(sizes) < 1 or sum(sizes) > left.sum(axis=1).min():
        raise ValueError(
            f"sizes are {list(sizes)}, expected at least 1 each and at most "
            f"{left.sum(axis=1).min()} together, the votes of the item with fewest"
        )
    sets = []
    for size in sizes:
        taken = np.zeros_like(left)
        for k in range(left.shape[1] - 1):
            others = left[:, k + 1 :].sum(axis=1)
            taken[:, k] = rng.hypergeometric(left[:, k], others, size - taken.sum(axis=1))
        taken[:, -1] = size - taken.sum(axis=1)
        left = left - taken
        sets.append(taken)
    return [*sets, left]


def fit_dirichlet(votes: npt.ArrayLike) -> Floats:
    """Fit the Dirichlet distribution that items' true distributions are drawn from.

    Maximises the Dirichlet-multinomial likelihood of the votes.

    Parameters
    ----------
    votes : array_like of int, shape (n_items, n_classes)
        Counts.

    Returns
    -------
    ndarray of float64, shape (n_classes,)
        Parameters, all above 0.

    References
    ----------
    Minka, T. (2000). Estimating a Dirichlet distribution.
    """
    from scipy.optimize import minimize  # slow to import, and rarely needed

    counts = as_votes(votes, "votes")
    totals = counts.sum(axis=1)

    def loss(logs: Floats) -> tuple[float, Floats]:
        alpha = np.exp(logs)
        total = alpha.sum()
        value = (gammaln(total) - gammaln(total + totals)).sum()
        value += (gammaln(alpha + counts) - gammaln(alpha)).sum()
        common = (digamma(total) - digamma(total + totals)).sum()
        slopes = common + (digamma(alpha + counts) - digamma(alpha)).sum(axis=0)
        return -value / len(counts), -alpha * slopes / len(counts)

    start = np.zeros(counts.shape[1])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(-8, 8)] * len(start))
    return np.exp(found.x)


def draw_truths(votes: npt.ArrayLike, prior: npt.ArrayLike, rng: np.random.Generator) -> Floats:
    """Draw each item's true distribution from its posterior, given its votes.

    Parameters
    ----------
    votes : array_like of int, shape (n_items, n_classes)
        Counts.
    prior : array_like of float, shape (n_classes,)
        Dirichlet parameters, such as `fit_dirichlet` finds.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of float64, shape (n_items, n_classes)
        Rows sum to 1.
    """
    gammas = rng.standard_gamma(as_votes(votes, "votes") + np.asarray(prior, float))
    gammas = np.maximum(gammas, np.finfo(float).tiny)
    return gammas / gammas.sum(axis=1, keepdims=True)


def holm(p_values: npt.ArrayLike) -> Floats:
    """Adjust p-values for several comparisons, by Holm's step-down method.

    Parameters
    ----------
    p_values : array_like of float, shape (n,)
        In [0, 1]; NaN where nothing was compared.

    Returns
    -------
    ndarray of float64, shape (n,)
        At least the raw values, at most 1; NaN where they are.

    References
    ----------
    Holm, S. (1979). A simple sequentially rejective multiple test procedure.
    """
    raw = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(raw.shape, np.nan)
    (known,) = np.nonzero(~np.isnan(raw))
    order = known[np.argsort(raw[known], kind="stable")]
    steps = raw[order] * (len(order) - np.arange(len(order)))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def rescale(score: npt.ArrayLike, *, at_zero: float, at_one: float) -> Floats:
    """Rescale scores so that one reference (say, the uniform guess) is 0 and another is 1.

    Parameters
    ----------
    score : array of any shape
    at_zero, at_one : float
        The score that becomes 0 and the score that becomes 1; they must differ.

    Returns
    -------
    ndarray of float, of the same shape
        Below 0 or above 1 for a score beyond a reference.

    Raises
    ------
    ValueError
        If the references score the same.
    """
    if at_zero == at_one:
        raise ValueError(f"both references score {at_zero}; nothing lies between them")
    return (np.asarray(score, float) - at_zero) / (at_one - at_zero)
