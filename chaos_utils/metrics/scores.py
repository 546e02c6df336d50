"""Accuracies and proper scores of predicted distributions.

All of `distributions`, `human`, `model` have shape (n_items, n_classes), and rows that sum to 1.
"""

from typing import Literal

import numpy as np
import numpy.typing as npt

from chaos_utils.metrics.checks import as_distributions, as_labels, as_pair
from chaos_utils.metrics.divergence import Floats, Unit, entropy, kl_divergence, total_variation

TieRule = Literal["first", "last"]
_TIED = 1e-12  # probabilities that differ by less are equal but for rounding


def top_label(distributions: npt.ArrayLike, *, ties: TieRule) -> npt.NDArray[np.int64]:
    """Label with the largest share; the ``first`` or ``last`` of tied ones, as `ties` says."""
    p = as_distributions(distributions, "distributions")
    if ties == "first":
        return p.argmax(axis=1)
    if ties == "last":
        return p.shape[1] - 1 - p[:, ::-1].argmax(axis=1)
    raise ValueError(f"ties is {ties!r}, expected 'first' or 'last'")


def shared_top(distributions: npt.ArrayLike) -> Floats:
    """Label with the largest share, as a distribution: tied labels have equal parts of it.

    Its product with a one-hot gold label, summed, is the expected hit of a label that is drawn from
    the tied ones, and so does not depend on the order of the labels. One-hot where no other label
    comes within 1e-12 of the largest share.
    """
    p = as_distributions(distributions, "distributions")
    tied = p >= p.max(axis=1, keepdims=True) - _TIED
    return tied / tied.sum(axis=1, keepdims=True)


def expected_correct(
    distributions: npt.ArrayLike, predicted: npt.ArrayLike, gold: npt.ArrayLike
) -> Floats:
    """Chance that the predicted label is the gold label, where tied labels share an item.

    Its mean is an accuracy that does not depend on the order of the labels: a uniform guess has
    exactly 1 / n_classes. 0 or 1 where there is no tie.

    Parameters
    ----------
    predicted : array_like of int, shape (n_items,)
        Label positions. A label with less than the largest share shares with no other.
    gold : array_like of int, shape (n_items,), or of float, shape (n_items, n_classes)
        Label positions; or distributions, such as `shared_top` of votes that tie.
    """
    shared = shared_top(distributions)
    n_items, n_classes = shared.shape
    label = as_labels(predicted, n_items, n_classes, "predicted")
    if np.ndim(gold) == 2:
        gold_shares = as_pair(distributions, gold)[1]
    else:
        gold_shares = np.eye(n_classes)[as_labels(gold, n_items, n_classes, "gold")]
    items = np.arange(n_items)
    is_top = shared[items, label] > 0
    return np.where(is_top, (shared * gold_shares).sum(axis=1), gold_shares[items, label])


def soft_accuracy(human: npt.ArrayLike, model: npt.ArrayLike) -> Floats:
    """Share of the votes that the model's distribution gets right: 1 − TVD, in [0, 1]."""
    return 1 - total_variation(human, model)


def soft_cross_entropy(
    human: npt.ArrayLike, model: npt.ArrayLike, *, unit: Unit, floor: float
) -> Floats:
    r"""Cross-entropy of the model under the human distribution.

    .. math:: CE(h, m) = -\sum_k h_k \log m_k = KL(h \| m) + H(h)

    At least the entropy of `human`; infinite where a label with votes has probability 0. The
    `floor` is that of `kl_divergence`.
    """
    return kl_divergence(human, model, unit=unit, floor=floor) + entropy(human, unit=unit)


def brier_of_votes(human: npt.ArrayLike, model: npt.ArrayLike) -> Floats:
    r"""Brier score of the model, averaged over an item's votes.

    .. math:: B(h, m) = \sum_k h_k \sum_j (m_j - [j = k])^2 = \sum_j m_j^2 - 2 m \cdot h + 1

    In [0, 2]. A proper score: smallest, at 1 − Σh², for m = h.

    References
    ----------
    Brier, G. W. (1950). Verification of forecasts expressed in terms of probability.
    """
    h, m = as_pair(human, model)
    return (m**2).sum(axis=1) - 2 * (h * m).sum(axis=1) + 1
