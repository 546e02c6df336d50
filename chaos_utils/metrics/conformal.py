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


def label_sets(
    probabilities: npt.ArrayLike,
    known: npt.ArrayLike,
    shares: npt.ArrayLike,
    level: float,
    *,
    held: float | None = None,
) -> npt.NDArray[np.bool_]:
    r"""Return which labels are in the set of each item, shape (n_items, n_classes).

    A set holds a new vote, or most votes, at a `level`: the labels with a probability of q or more,
    and always the likeliest. With m known items, whose predictions are p and whose votes spread by
    h over the labels, q is the largest number for which

    .. math:: \frac{1}{m + 1} \sum_i \sum_{k : p_{ik} \ge q} h_{ik} \ge \mathrm{level},

    and 0, so that the set has all labels, where there is none. If known and new items are
    exchangeable, one more vote on a new item falls in its set with probability `level` or more,
    also where each item has few votes. With `held`, q is the largest number for which the labels of
    :math:`p_{ik} \ge q` hold that share of the votes on ⌈(m + 1) level⌉ of the known items. The set
    of a new item, with as many votes, then holds that share of them with probability `level`.

    Parameters
    ----------
    probabilities : array_like of float, shape (n_items, n_classes)
        Predictions of the items whose sets are returned; rows sum to 1.
    known : array_like of float, shape (m, n_classes)
        Predictions of other items, which do not depend on the votes on these.
    shares : array_like of float, shape (m, n_classes)
        Vote shares on the `known` items.
    level : float
        In (0, 1).
    held : float, optional
        In (0, 1).

    Raises
    ------
    ValueError
        If shapes differ, a row is not a distribution, or `level` or `held` is not in (0, 1).

    References
    ----------
    Papadopoulos, H., Proedrou, K., Vovk, V. and Gammerman, A. (2002). Inductive confidence machines
    for regression.
    Sadinle, M., Lei, J. and Wasserman, L. (2019). Least ambiguous set-valued classifiers with
    bounded error levels.
    Angelopoulos, A. N., Bates, S., Fisch, A., Lei, L. and Schuster, T. (2024). Conformal risk
    control. Its theorem 1, with the share of the votes outside a set as the risk.
    """
    new = as_distributions(probabilities, "probabilities")
    p, h = as_pair(known, shares)
    if new.shape[1] != p.shape[1]:
        raise ValueError(f"probabilities have {new.shape[1]} classes, known ones {p.shape[1]}")
    for name, value in (("level", level), ("held", held)):
        if value is not None and not 0 < value < 1:
            raise ValueError(f"{name} is {value}, expected a number between 0 and 1")
    least = _for_new_votes(p, h, level) if held is None else _for_most_votes(p, h, level, held)
    sets: npt.NDArray[np.bool_] = (new >= least) | (new == new.max(axis=1, keepdims=True))
    return sets


def _for_new_votes(p: Floats, h: Floats, level: float) -> float:
    """Return the least probability of a label in a set that holds a new vote."""
    order = np.argsort(-p, axis=None, kind="stable")
    held = h.ravel()[order].cumsum() / (len(p) + 1)
    return _first_reaching(p.ravel()[order], held, level)


def _for_most_votes(p: Floats, h: Floats, level: float, held: float) -> float:
    """Return the least probability of a label in a set that holds most votes on most items."""
    order = np.argsort(-p, axis=1, kind="stable")
    sorted_shares = np.take_along_axis(h, order, axis=1)
    last = (sorted_shares.cumsum(axis=1) >= held - _ROUNDING).argmax(axis=1)
    least = np.take_along_axis(p, order, axis=1)[np.arange(len(p)), last]
    return _first_reaching(np.sort(least)[::-1], np.arange(1, len(p) + 1) / (len(p) + 1), level)


def _first_reaching(values: Floats, reached: Floats, level: float) -> float:
    """Return the first value at which the level is reached, else 0."""
    reaches = reached >= level - _ROUNDING
    return float(values[reaches.argmax()]) if reaches.any() else 0.0
