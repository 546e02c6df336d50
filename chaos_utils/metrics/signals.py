"""Predicted disagreement as a signal: whether a model knows where people disagree.

Both statistics compare the entropies of the predicted and the human distributions (`model`,
`human`, shape (n_items, n_classes)), and both come with an interval of coverage `level` for other
items; people are the votes as they were observed. Few votes estimate an item's entropy badly, which
moves both statistics towards chance.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit, ndtri

from chaos_utils.metrics.checks import as_distributions, as_pair
from chaos_utils.metrics.divergence import Floats, entropy

Bools = npt.NDArray[np.bool_]
_DIGITS = 10  # entropies that differ by less are equal but for rounding


@dataclass(frozen=True, slots=True)
class Signal:
    """A statistic of `n` items, its `value`, with an interval from `low` to `high`.

    The value is NaN where it is not defined. `low` and `high` are also NaN where there is no
    interval, as for a perfect value.
    """

    value: float
    low: float
    high: float
    n: int


def entropy_correlation(human: npt.ArrayLike, model: npt.ArrayLike, level: float = 0.95) -> Signal:
    """Spearman's rank correlation of predicted and human entropy over items, by `spearman`.

    Entropies are rounded to 10 decimals, so that equal ones tie.
    """
    h, m = as_pair(human, model)
    predicted, observed = (entropy(p, unit="nats").round(_DIGITS) for p in (m, h))
    return spearman(predicted, observed, level)


def spearman(first: npt.ArrayLike, second: npt.ArrayLike, level: float = 0.95) -> Signal:
    r"""Spearman's rank correlation, with an interval from its influence function.

    The correlation is a function of the joint distribution of both values, so what an item adds to
    its variance needs no model of that distribution, such as the normal one behind Fieller's and
    Bonett and Wright's intervals; ties (mid-ranks) are taken into account. The interval is computed
    on the scale of :math:`\operatorname{artanh} \rho`. In [−1, 1]; NaN where a side does not vary.

    Parameters
    ----------
    first, second : array_like of float, shape (n_items,)
        Finite values, of the same items.

    References
    ----------
    Croux, C. and Dehon, C. (2010). Influence functions of the Spearman and Kendall correlation
    measures.
    Bonett, D. G. and Wright, T. A. (2000). Sample size requirements for estimating Pearson,
    Kendall and Spearman correlations.
    """
    x, y = (np.asarray(values, dtype=np.float64) for values in (first, second))
    if x.ndim != 1 or x.shape != y.shape or not np.isfinite([x, y]).all():
        raise ValueError(f"the values have shapes {x.shape} and {y.shape}, expected two lists of "
                         "finite numbers of one length")  # fmt: skip
    z, n = _quantile(level), len(x)
    # Mid-ranks as shares: of all items, the share below each, ties counting half.
    u, v = (_below(values, values, np.ones(n)) / n for values in (x, y))
    variance_u, variance_v = u.var(), v.var()
    if n < 2 or min(variance_u, variance_v) < 1e-15:
        return Signal(np.nan, np.nan, np.nan, n)
    covariance = ((u - 0.5) * (v - 0.5)).mean()
    scale = np.sqrt(variance_u * variance_v)
    value = float(covariance / scale)
    if n < 4 or abs(value) > 1 - 1e-12:
        return Signal(value, np.nan, np.nan, n)
    # The influence of an item on the means of u v, u² and v²: through its own ranks, and through
    # the ranks of the items above it.
    product = u * v + _mean_above(x, v) + _mean_above(y, u) - 3 * (u * v).mean()
    square_u = u**2 + 2 * _mean_above(x, u) - 3 * (u**2).mean()
    square_v = v**2 + 2 * _mean_above(y, v) - 3 * (v**2).mean()
    influence = product / scale - value / 2 * (square_u / variance_u + square_v / variance_v)
    error = influence.std() / np.sqrt(n - 3) / (1 - value**2)
    low, high = np.tanh(np.arctanh(value) + np.array([-z, z]) * error)
    return Signal(value, float(low), float(high), n)


def contested(human: npt.ArrayLike, *, majority_below: float) -> Bools:
    """Whether people disagree on an item: its largest share is below `majority_below`."""
    return as_distributions(human, "human").max(axis=1).round(_DIGITS) < majority_below


def contested_auroc(
    human: npt.ArrayLike, model: npt.ArrayLike, *, majority_below: float, level: float = 0.95
) -> Signal:
    """How well predicted entropy tells items that are `contested` from the others, by `auroc`.

    Whether an item is contested is decided by its human distribution and `majority_below`.
    """
    h, m = as_pair(human, model)
    is_contested = contested(h, majority_below=majority_below)
    return auroc(entropy(m, unit="nats").round(_DIGITS), is_contested, level)


def auroc(score: npt.ArrayLike, positive: npt.ArrayLike, level: float = 0.95) -> Signal:
    """Area under the receiver operating characteristic, with DeLong's interval.

    It is the chance that a positive item scores above a negative one; ties count half. DeLong's
    standard error is used on the logit scale, which keeps the interval inside [0, 1] and its
    coverage near the ends. Chance is 0.5; NaN where all items are positive or none is. Without an
    interval where the scores separate both kinds perfectly, or a kind has one item.

    Parameters
    ----------
    score : array_like of float, shape (n_items,)
        Larger where an item is predicted to be positive.
    positive : array_like of bool, shape (n_items,)
        Whether an item is positive.

    References
    ----------
    DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). Comparing the areas under two
    or more correlated receiver operating characteristic curves.
    """
    values, is_positive = np.asarray(score, dtype=np.float64), np.asarray(positive, dtype=bool)
    if values.ndim != 1 or values.shape != is_positive.shape or not np.isfinite(values).all():
        raise ValueError(
            f"score has shape {values.shape}, positive {is_positive.shape}: expected finite scores "
            "and as many marks"
        )
    z, n = _quantile(level), len(values)
    positives, negatives = values[is_positive], values[~is_positive]
    if not len(positives) or not len(negatives):
        return Signal(np.nan, np.nan, np.nan, n)
    # For each positive item, the share of negative items below it; for each negative item, the
    # share of positive items above it.
    shares_below = _below(positives, negatives, np.ones(len(negatives))) / len(negatives)
    shares_above = 1 - _below(negatives, positives, np.ones(len(positives))) / len(positives)
    value = float(shares_below.mean())
    if min(len(positives), len(negatives)) < 2 or not 0 < value < 1:
        return Signal(value, np.nan, np.nan, n)
    variance = shares_below.var(ddof=1) / len(positives) + shares_above.var(ddof=1) / len(negatives)
    error = np.sqrt(variance) / (value * (1 - value))
    low, high = expit(logit(value) + np.array([-z, z]) * error)
    return Signal(value, float(low), float(high), n)


def _quantile(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"level is {level}, expected a value between 0 and 1")
    return float(ndtri((1 + level) / 2))


def _below(values: Floats, reference: Floats, weights: Floats) -> Floats:
    """Return the weight of the reference values below each value; equal values count half."""
    order = np.argsort(reference, kind="stable")
    ordered, sums = reference[order], np.r_[0, np.cumsum(weights[order])]
    sides = [sums[np.searchsorted(ordered, values, side=side)] for side in ("left", "right")]
    middle: Floats = (sides[0] + sides[1]) / 2
    return middle


def _mean_above(values: Floats, weights: Floats) -> Floats:
    """Return, for each item, the sum of the weights of items with a larger value, over n_items."""
    return _below(-values, -values, weights) / len(values)
