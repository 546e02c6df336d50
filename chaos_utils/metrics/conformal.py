"""Split conformal: sets of labels that hold a stated share of the votes on unseen items.

A set holds the labels to which a prediction gives at least some probability. How much that is, is
determined on items with votes; it holds on average over items of the same kind, however good or bad
the prediction, and not on every kind of them.
"""

import numpy as np
import numpy.typing as npt

from chaos_utils.metrics.checks import as_distributions, as_pair

Floats = npt.NDArray[np.float64]
_ROUNDING = 1e-9  # sums of shares that should be equal


def least_for_new_votes(probabilities: npt.ArrayLike, shares: npt.ArrayLike, level: float) -> float:
    r"""Return the least probability of the labels that hold a new vote on a new item.

    With m items whose votes spread by the `shares` h over the labels, it is the largest q with

    .. math:: \frac{1}{m + 1} \sum_i \sum_{k : p_{ik} \ge q} h_{ik} \ge \mathrm{level},

    or 0 where there is none: then all labels are needed. If the items and a new one are
    exchangeable, one more vote on the new item falls with probability `level` or more in
    `label_sets`. That also holds where each item has few votes.

    Parameters
    ----------
    probabilities : array_like of float, shape (n_items, n_classes)
        Predictions that do not depend on the votes on these items; rows sum to 1.
    shares : array_like of float, shape (n_items, n_classes)
        Vote shares on these items.
    level : float
        In (0, 1).

    Raises
    ------
    ValueError
        If shapes differ, a row is not a distribution, or the level is not in (0, 1).

    References
    ----------
    Sadinle, M., Lei, J. and Wasserman, L. (2019). Least ambiguous set-valued classifiers with
    bounded error levels.
    Angelopoulos, A. N., Bates, S., Fisch, A., Lei, L. and Schuster, T. (2024). Conformal risk
    control. Its theorem 1, with the share of the votes outside a set as the risk.
    """
    p, h = as_pair(probabilities, shares)
    _check_inside(level, "level")
    order = np.argsort(-p, axis=None, kind="stable")
    held = h.ravel()[order].cumsum() / (len(p) + 1)
    return _first_reaching(p.ravel()[order], held, level)


def least_for_most_votes(
    probabilities: npt.ArrayLike, shares: npt.ArrayLike, level: float, held: float
) -> float:
    r"""Return the least probability of the labels that hold most votes on most new items.

    With m items, it is the largest q for which the labels of at least :math:`p_{ik} \ge q` hold the
    share `held` of the votes on ⌈(m + 1) level⌉ items, or 0 where there is none. If the items and a
    new one, with as many votes, are exchangeable, the labels of the new item hold that share of its
    votes with probability `level` or more.

    Parameters
    ----------
    probabilities, shares : array_like of float, shape (n_items, n_classes)
        As for `least_for_new_votes`.
    level, held : float
        The share of the items, and that of the votes on one; in (0, 1).

    Raises
    ------
    ValueError
        As for `least_for_new_votes`.

    References
    ----------
    Papadopoulos, H., Proedrou, K., Vovk, V. and Gammerman, A. (2002). Inductive confidence machines
    for regression.
    """
    p, h = as_pair(probabilities, shares)
    _check_inside(level, "level")
    _check_inside(held, "held")
    order = np.argsort(-p, axis=1, kind="stable")
    sorted_shares = np.take_along_axis(h, order, axis=1)
    last = (sorted_shares.cumsum(axis=1) >= held - _ROUNDING).argmax(axis=1)
    least = np.take_along_axis(p, order, axis=1)[np.arange(len(p)), last]
    least = np.sort(least)[::-1]
    return _first_reaching(least, np.arange(1, len(p) + 1) / (len(p) + 1), level)


def label_sets(probabilities: npt.ArrayLike, least: float) -> npt.NDArray[np.bool_]:
    """Return which labels are in the set of each item, shape (n_items, n_classes).

    These are the labels whose `probabilities` are at least as large as `least`, and always the
    likeliest one. Rows that are not distributions raise ValueError.
    """
    p = as_distributions(probabilities, "probabilities")
    sets: npt.NDArray[np.bool_] = (p >= least) | (p == p.max(axis=1, keepdims=True))
    return sets


def _first_reaching(values: Floats, reached: Floats, level: float) -> float:
    """Return the first value at which the level is reached, else 0."""
    reaches = reached >= level - _ROUNDING
    return float(values[reaches.argmax()]) if reaches.any() else 0.0


def _check_inside(value: float, name: str) -> None:
    if not 0 < value < 1:
        raise ValueError(f"{name} is {value}, expected a number between 0 and 1")
