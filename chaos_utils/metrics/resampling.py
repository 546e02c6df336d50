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
        One row an item.
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
        In (0, 1]; never 0, since the data itself counts as one resample.

    References
    ----------
    Davison, A. C. and Hinkley, D. V. (1997). Bootstrap methods and their application.
    """
    values = np.asarray(differences, float)
    beyond = np.minimum((values <= 0).sum(axis=0), (values >= 0).sum(axis=0))
    return np.minimum(2 * (beyond + 1) / (len(values) + 1), 1.0)


def draw_votes(
    distributions: npt.ArrayLike, n_votes: int, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Draw votes on each item from its distribution.

    With the items' own vote shares this is the vote bootstrap.

    Parameters
    ----------
    distributions : array of shape (n_items, n_classes)
        Rows sum to 1.
    n_votes : int
        Votes an item; at least 1.
    rng : Generator

    Returns
    -------
    ndarray of int, shape (n_items, n_classes)
        Counts; rows sum to `n_votes`.
    """
    if n_votes < 1:
        raise ValueError(f"n_votes is {n_votes}, expected at least 1")
    return rng.multinomial(n_votes, as_distributions(distributions, "distributions"))


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


def resample_items_and_votes(
    votes: npt.ArrayLike, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Draw items with replacement and, for each one drawn, its votes anew from its shares.

    Both sources of chance at once: other items, and other people.

    Parameters
    ----------
    votes : array_like of int, shape (n_items, n_classes)
        Counts.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    items : ndarray of int, shape (n_items,)
        Positions of the items drawn.
    drawn : ndarray of int, shape (n_items, n_classes)
        Their redrawn votes, as many as each item has.
    """
    counts = as_votes(votes, "votes")
    items = rng.integers(len(counts), size=len(counts))
    chosen = counts[items]
    totals = chosen.sum(axis=1)
    return items, rng.multinomial(totals.astype(np.int64), chosen / totals[:, np.newaxis])
