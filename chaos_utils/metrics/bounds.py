r"""What the mean of one measure says of the mean of another, where no item is known.

A paper often prints one mean. Each function takes it, and returns the least and the greatest mean
of another measure that any predictions on any items can have with it; nothing narrower is true of
all. Distances and divergences are in nats, *distance* and *divergence* are Jensen–Shannon's, and
*variation* is the total variation distance. A value outside its range is a ValueError.

What holds for each item holds for means by Jensen's inequality, since each curve below is convex or
concave:

.. math:: \frac{v}{2} \ln(1 + v) + \dots = g(v) \le D \le v \ln 2, \qquad
          D \le \ln 2 + \tfrac12 \left( t \ln t - (1 + t) \ln(1 + t) \right), \quad t = e^{-KL}

with :math:`g(v) = \frac{1 + v}{2} \ln(1 + v) + \frac{1 - v}{2} \ln(1 - v)`. Both :math:`g` and
:math:`\sqrt g` are convex, as their power series show. The last bound is concave in KL, and is
reached where the labels with votes share what the model gives them in the votes' proportions.

References
----------
Lin, J. (1991). Divergence measures based on the Shannon entropy.
Endres, D. M. and Schindelin, J. E. (2003). A new metric for probability distributions.
Briët, J. and Harremoës, P. (2009). Properties of classical and quantum Jensen–Shannon divergence.
Harremoës, P. and Vajda, I. (2011). On pairs of f-divergences and their joint range.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from chaos_utils.metrics.checks import as_distributions, as_labels
from chaos_utils.metrics.divergence import Floats, Unit

Bounds = tuple[float, float]
Kind = Literal["distance", "divergence"]
LOG_2 = float(np.log(2))
GREATEST_DISTANCE = float(np.sqrt(LOG_2))
_STEPS = 60  # of a bisection, which leaves less than rounding does


def in_nats(value: float, *, kind: Kind, unit: Unit) -> float:
    """Return a Jensen–Shannon `value`, of this `kind` and `unit`, in nats: exact for a mean too."""
    nats = LOG_2 if unit == "bits" else 1.0
    return value * (nats**0.5 if kind == "distance" else nats)


def divergence_from_distance(distance: float) -> Bounds:
    """Return the bounds of the mean divergence by the mean `distance`, of which it is the square.

    The least where all items are alike, the greatest where each is at 0 or at the maximum.
    """
    a = _within(distance, GREATEST_DISTANCE, "distance")
    return a**2, a * GREATEST_DISTANCE


def distance_from_divergence(divergence: float) -> Bounds:
    """Return the bounds of the mean distance by the mean `divergence`, of which it is the root."""
    d = _within(divergence, LOG_2, "divergence")
    return d / GREATEST_DISTANCE, d**0.5


def divergence_from_variation(variation: float) -> Bounds:
    """Return the bounds of the mean divergence by the mean total `variation`.

    The least for two labels with (1 ± v)/2 against (1 ∓ v)/2, the greatest where the mass that has
    to move goes to labels that have none.
    """
    v = _within(variation, 1, "variation")
    return _least_divergence(v), v * LOG_2


def variation_from_divergence(divergence: float) -> Bounds:
    """Return the bounds of the mean total variation by the mean `divergence`."""
    d = _within(divergence, LOG_2, "divergence")
    return d / LOG_2, _greatest_variation(d)


def distance_from_variation(variation: float) -> Bounds:
    """Return the bounds of the mean distance by the mean total `variation`."""
    v = _within(variation, 1, "variation")
    return _least_divergence(v) ** 0.5, (v * LOG_2) ** 0.5


def variation_from_distance(distance: float) -> Bounds:
    """Return the bounds of the mean total variation by the mean `distance`."""
    a = _within(distance, GREATEST_DISTANCE, "distance")
    return a**2 / LOG_2, _greatest_variation(a**2)


def squared_distance_from_variation(variation: float, n_classes: int) -> Bounds:
    """Return the bounds of the mean of Σ(m − h)² by the mean total `variation`.

    For `n_classes` labels: the least where the mass leaves half of the labels and goes evenly to
    the others, the greatest where all of one label goes to another.
    """
    v = _within(variation, 1, "variation")
    half = n_classes // 2
    return v**2 * (1 / half + 1 / (n_classes - half)), 2 * v


def divergence_from_kl(kl: float) -> Bounds:
    """Return the bounds of the mean divergence by the mean `kl`, KL(human ‖ model).

    None from below: a KL may come from a few items alone.
    """
    t = float(np.exp(-_within(kl, np.inf, "kl")))
    t_log_t = t * np.log(t) if t > 0 else 0.0
    return 0.0, float(LOG_2 + (t_log_t - (1 + t) * np.log1p(t)) / 2)


def distance_from_kl(kl: float) -> Bounds:
    """Return the bounds of the mean distance by the mean `kl`, KL(human ‖ model)."""
    return 0.0, divergence_from_kl(kl)[1] ** 0.5


def kl_at_floor(kl: float, *, floor: float, wanted: float, n_classes: int) -> Bounds:
    """Return the bounds of the mean KL at a floor by that at another one.

    A higher floor takes at most ln(1 + (n − 1) ε) from the other labels when the row is rescaled;
    what it saves where a label with votes had no probability has no limit.

    Parameters
    ----------
    kl : float
        The mean at `floor`.
    floor, wanted : float
        Model probabilities below it are raised to it, as in `kl_divergence`.
    n_classes : int
    """
    value = _within(kl, np.inf, "kl")
    taken = float(np.log1p((n_classes - 1) * max(floor, wanted)))
    if wanted == floor:
        return value, value
    return (0.0, value + taken) if wanted > floor else (max(value - taken, 0.0), np.inf)


def kl_from_cross_entropy(cross_entropy: float, mean_entropy: float) -> float:
    """Return the mean KL: the mean `cross_entropy` minus the votes' `mean_entropy`, both in nats.

    Below 0, the two are not of the same items, or in other units.
    """
    return cross_entropy - mean_entropy


def pooled_mean(means: Sequence[float], n_items: Sequence[int]) -> float:
    """Return the mean over the items of several sets: exact for every mean over items.

    `means` and `n_items` have a number for each set.
    """
    return float(np.average(means, weights=n_items))


def agreement_from_accuracy(
    shares: npt.ArrayLike, majority: npt.ArrayLike, accuracy: float
) -> Bounds:
    """Return the bounds of how often a person gives a system's label, by the label's accuracy.

    One minus this is the total variation distance of a single label to the vote shares.

    Parameters
    ----------
    shares : array_like of float, shape (n_items, n_classes)
        Vote shares of the items.
    majority : array_like of int, shape (n_items,)
        The label that counts as right.
    accuracy : float
        The share of items with that label. Wrong labels may stand wherever they lose least, or
        most.
    """
    h, right, others = _right_and_others(shares, majority)
    n_wrong = (1 - _within(accuracy, 1, "accuracy")) * len(h)
    least_lost, most_lost = right - others.max(axis=1), right - others.min(axis=1)
    high = right.sum() - _smallest(least_lost, n_wrong)
    low = right.sum() + _smallest(-most_lost, n_wrong)
    return float(low) / len(h), float(high) / len(h)


def distance_from_accuracy(
    shares: npt.ArrayLike, majority: npt.ArrayLike, accuracy: float
) -> Bounds:
    """Return bounds of the mean distance of a system's distributions by its accuracy.

    Parameters
    ----------
    shares, majority, accuracy
        As for `agreement_from_accuracy`. The system's label is its most probable one.

    Returns
    -------
    tuple of float
        The greatest is reached. The least need not be: where the label is wrong, the total
        variation is at least half of what the majority is ahead, and the distance follows.
    """
    h, right, others = _right_and_others(shares, majority)
    n = len(h)
    n_wrong = (1 - _within(accuracy, 1, "accuracy")) * n
    lead = np.maximum(right - others.max(axis=1), 0)
    low = _smallest(np.sqrt([_least_divergence(v) for v in lead / 2]), n_wrong)
    if_right, if_wrong = _greatest_distances(h, right, others)
    high = if_right.sum() - _smallest(if_right - if_wrong, n_wrong)
    return float(low) / n, float(high) / n


def _greatest_distances(h: Floats, right: Floats, others: Floats) -> tuple[Floats, Floats]:
    """Return each item's greatest distance where the label is right, and where it is wrong.

    A convex function is greatest at a corner. With a label at the top, the corners share all
    probability evenly among some labels, it among them; labels that get none add h ln 2 / 2.
    """
    k = h.shape[1]
    if_right, if_wrong = np.full((2, len(h)), -np.inf)
    for size in range(1, k + 1):
        of_right, of_others = (_added_by(shares, 1 / size) for shares in (right, others))
        sums = np.cumsum(np.sort(of_others, axis=1)[:, ::-1], axis=1)
        without = sums[:, size - 1] if size < k else np.full(len(h), -np.inf)
        with_right = of_right + (sums[:, size - 2] if size > 1 else 0)
        if_right = np.maximum(if_right, with_right)
        if_wrong = np.maximum(if_wrong, np.maximum(without, with_right) if size > 1 else without)
    most = np.sqrt(np.maximum(LOG_2 / 2 + np.stack([if_right, if_wrong]), 0))
    return most[0], most[1]


def _added_by(h: Floats, m: float) -> Floats:
    """Return what a label of probability m adds to the divergence, more than with none."""
    h_log_h = h * np.log(h, out=np.zeros_like(h), where=h > 0)
    added: Floats = (h_log_h + m * np.log(m) - (h + m) * np.log((h + m) / 2) - h * LOG_2) / 2
    return added


def _right_and_others(
    shares: npt.ArrayLike, majority: npt.ArrayLike
) -> tuple[Floats, Floats, Floats]:
    """Return the shares, those of the majority, and the others', shape (n_items, n_classes − 1)."""
    h = as_distributions(shares, "shares")
    gold = as_labels(majority, len(h), h.shape[1], "majority")
    is_gold = np.arange(h.shape[1]) == gold[:, np.newaxis]
    return h, h[is_gold], h[~is_gold].reshape(len(h), -1)


def _smallest(values: Floats, count: float) -> float:
    """Return the sum of the `count` smallest values, the last of them in part."""
    sums = np.concatenate([[0.0], np.cumsum(np.sort(values))])
    return float(np.interp(count, np.arange(len(sums)), sums))


def _least_divergence(variation: float) -> float:
    """Return g of the module's first lines."""
    terms = [(1 + sign * variation) / 2 for sign in (1, -1)]
    return float(max(sum(t * np.log(2 * t) for t in terms if t > 0), 0.0))


def _greatest_variation(divergence: float) -> float:
    """Return the variation at which `_least_divergence` has a value, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _least_divergence(middle) < divergence else (low, middle)
    return high


def _within(value: float, greatest: float, name: str) -> float:
    if not 0 <= value <= greatest:
        raise ValueError(f"{name} is {value:g}, expected a value in [0, {greatest:.4g}]")
    return float(value)
