"""Calibration: to a majority label, to vote shares, and item by item.

`human`, `model` have shape (n_items, n_classes), and rows that sum to 1; a `target` is a gold label
for each item, shape (n_items,), or vote shares. Expected calibration errors bin the items by
confidence and compare, in each bin, the mean confidence with the mean *hit*: 1 or 0 against a gold
label, or the share of the votes that the predicted label has. Bins, edges and what happens to 0
decide the digits, so they have no defaults.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from chaos_utils.metrics.checks import as_distributions, as_labels, as_pair
from chaos_utils.metrics.divergence import Floats, entropy
from chaos_utils.metrics.scores import shared_top, top_label

Ints = npt.NDArray[np.int64]
Closed = Literal["left", "right"]
NO_BIN = -1
_TIED = 1e-12  # shares that differ by less are equal but for rounding


@dataclass(frozen=True, slots=True)
class Binning:
    """Equal-width bins on [0, 1], with the rules for values on an edge.

    Attributes
    ----------
    n_bins : int
        At least 2.
    closed : {'left', 'right'}
        ``right``: intervals (a, b], as in Guo et al. (2017) and Baan et al. (2022).
        ``left``: [a, b), the last one closed, as in torchmetrics.
    zero_in_bin : bool
        Whether a confidence of exactly 0 falls into the first bin. Under (a, b] it
        falls into none, which matters class by class: an oracle gives many exact zeros.
    """

    n_bins: int
    closed: Closed
    zero_in_bin: bool

    def __post_init__(self) -> None:
        if self.n_bins < 2:
            raise ValueError(f"n_bins is {self.n_bins}, expected at least 2")
        if self.closed not in ("left", "right"):
            raise ValueError(f"closed is {self.closed!r}, expected 'left' or 'right'")

    @property
    def edges(self) -> Floats:
        """The ends of the bins, shape (n_bins + 1,)."""
        return np.linspace(0, 1, self.n_bins + 1)

    def assign(self, confidence: npt.ArrayLike) -> Ints:
        """Return the index of each `confidence`'s bin, from 0, or `NO_BIN`."""
        values = np.asarray(confidence, dtype=np.float64)
        if self.closed == "right":
            bins = np.searchsorted(self.edges, values, side="left") - 1
            return np.where((values == 0) & self.zero_in_bin, 0, bins)
        bins = np.searchsorted(self.edges, values, side="right") - 1
        return np.minimum(bins, self.n_bins - 1)


@dataclass(frozen=True, slots=True)
class ReliabilityCurve:
    """The values of a reliability diagram, by bin: `counts` of items, mean `confidence` and `hits`.

    Means are NaN in an empty bin.
    """

    counts: Ints
    confidence: Floats
    hits: Floats


def hits_of(
    model: npt.ArrayLike, target: npt.ArrayLike, *, ties: Literal["first", "shared"] = "first"
) -> tuple[Floats, Floats]:
    """Return each item's confidence, the probability of the predicted label, and its hit.

    A hit is 1 or 0 against a gold label, else the label's share of the votes. Of several labels
    with the largest probability the first is predicted, as in Baan et al. (2022); with
    ``ties="shared"`` the hit is the mean over them.
    """
    m, class_hits = classwise_hits(model, target)
    if ties == "shared":
        predicted = shared_top(m)
    else:
        predicted = np.eye(m.shape[1])[top_label(m, ties="first")]
    return m.max(axis=1), (predicted * class_hits).sum(axis=1)


def classwise_hits(model: npt.ArrayLike, target: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return each item's probability and hit for every class, both of shape (n_items, n_classes).

    A hit is 1 or 0 against a gold label, else the share of the votes for the class.
    """
    m = as_distributions(model, "model")
    if np.ndim(target) == 2:
        return as_pair(m, target)
    gold = as_labels(target, len(m), m.shape[1], "target")
    return m, np.eye(m.shape[1])[gold]


def reliability_curve(
    confidence: npt.ArrayLike, hits: npt.ArrayLike, binning: Binning
) -> ReliabilityCurve:
    """Return counts and means in each bin, for a reliability diagram of what `hits_of` returns.

    `confidence` and `hits` are in [0, 1], of shape (n_items,).
    """
    sums = bin_sums(confidence, hits, binning)
    counts = sums[:, 0]
    with np.errstate(invalid="ignore"):
        return ReliabilityCurve(counts.astype(np.int64), sums[:, 1] / counts, sums[:, 2] / counts)


def bin_sums(confidence: npt.ArrayLike, hits: npt.ArrayLike, binning: Binning) -> Floats:
    """Return each bin's number of items, summed confidence and summed hits, shape (n_bins, 3).

    Items that fall into no bin are left out.
    """
    values = np.asarray(confidence, dtype=np.float64)
    bins = binning.assign(values)
    inside = bins != NO_BIN
    columns = np.column_stack([np.ones_like(values), values, np.asarray(hits, dtype=np.float64)])
    sums = np.zeros((binning.n_bins, 3))
    np.add.at(sums, bins[inside], columns[inside])
    return sums


def expected_calibration_error(
    model: npt.ArrayLike,
    target: npt.ArrayLike,
    binning: Binning,
    *,
    ties: Literal["first", "shared"] = "first",
) -> float:
    r"""Expected calibration error of the predicted label's probability (ECE), in [0, 1].

    .. math:: ECE = \sum_b \frac{n_b}{n} \left| \mathrm{hits}_b - \mathrm{confidence}_b \right|

    The human distribution itself has, against a majority label, 1 minus the mean majority share;
    against vote shares, 0. Baan et al. (2022) use ``Binning(10, "right",
    zero_in_bin=False)``, with the first argmax of the votes as gold; `ties` as for `hits_of`.

    References
    ----------
    Guo, C. et al. (2017). On calibration of modern neural networks.
    """
    sums = bin_sums(*hits_of(model, target, ties=ties), binning)
    return float(np.abs(sums[:, 2] - sums[:, 1]).sum() / len(np.asarray(model)))


def adaptive_calibration_error(model: npt.ArrayLike, target: npt.ArrayLike, n_bins: int) -> float:
    """ECE over bins of equal numbers of items instead of equal width, in [0, 1].

    Items are sorted by confidence, ties in their order, and cut into `n_bins` runs whose sizes
    differ by one at most.

    References
    ----------
    Nixon, J. et al. (2019). Measuring calibration in deep learning.
    """
    confidence, hits = hits_of(model, target)
    gaps = np.bincount(equal_mass_bins(confidence, n_bins), weights=hits - confidence)
    return float(np.abs(gaps).sum() / len(confidence))


def equal_mass_bins(confidence: npt.ArrayLike, n_bins: int) -> Ints:
    """Return each item's bin, numbered from the least confident; bins hold equally many items."""
    values = np.asarray(confidence, dtype=np.float64)
    if not 1 <= n_bins <= len(values):
        raise ValueError(f"n_bins is {n_bins}, expected 1 to the number of items, {len(values)}")
    bins = np.empty(len(values), dtype=np.int64)
    for index, items in enumerate(np.array_split(np.argsort(values, kind="stable"), n_bins)):
        bins[items] = index
    return bins


def classwise_calibration_error(
    model: npt.ArrayLike,
    target: npt.ArrayLike,
    binning: Binning,
    *,
    divide_by: Literal["all", "binned"],
) -> float:
    """Calibration error of every class's probability, averaged over classes, in [0, 1].

    Parameters
    ----------
    divide_by : {'all', 'binned'}
        Whether the bins' gaps are divided by the number of all items, or of the items that fall
        into a bin, as in the released code of Baan et al. (2022). The two differ where
        probabilities of exactly 0 fall into no bin.

    References
    ----------
    Kull, M. et al. (2019). Beyond temperature scaling.
    """
    probabilities, hits = classwise_hits(model, target)
    errors = []
    for k in range(probabilities.shape[1]):
        sums = bin_sums(probabilities[:, k], hits[:, k], binning)
        n_items = len(probabilities) if divide_by == "all" else max(sums[:, 0].sum(), 1)
        errors.append(np.abs(sums[:, 2] - sums[:, 1]).sum() / n_items)
    return float(np.mean(errors))


def entropy_error(human: npt.ArrayLike, model: npt.ArrayLike) -> Floats:
    """Entropy calibration error of each item, signed: H(model) − H(human), in nats.

    In [−log n_classes, log n_classes]; negative where the model is surer than people are. EntCE of
    Baan et al. (2022) is its absolute value.
    """
    h, m = as_pair(human, model)
    return entropy(m, unit="nats") - entropy(h, unit="nats")


def murphy_decomposition(
    human: npt.ArrayLike, model: npt.ArrayLike, binning: Binning
) -> dict[str, float]:
    r"""Split the Brier score of the votes into reliability, resolution and uncertainty.

    ``reliability``, 0 or more, is how far the votes in a bin are from the predictions there.
    ``resolution``, 0 or more, is how far votes differ between bins; higher is better.
    ``uncertainty`` is the score of the mean vote. ``within_bins`` is what the bins hide: the
    variance of the predictions within bins, less twice their covariance with the votes. It is below
    0 where a finer division would resolve more. ``brier`` is the sum of the others, with
    ``resolution`` subtracted.

    Each label's probabilities are binned; with the share :math:`w_b` of the items and the means
    :math:`\bar m_b, \bar h_b` in a bin, and the sum over labels,

    .. math:: B = \sum_b w_b (\bar m_b - \bar h_b)^2 - \sum_b w_b (\bar h_b - \bar h)^2
              + \bar h (1 - \bar h) + \sum_b w_b (\mathrm{Var}_b\, m - 2\, \mathrm{Cov}_b(m, h))

    Every probability must fall into a bin, 0 too. The parts add up to the mean of
    `scores.brier_of_votes`, but for rounding. As plug-in values, reliability and resolution are
    both too large with few items in a bin.

    References
    ----------
    Murphy, A. H. (1973). A new vector partition of the probability score.
    Stephenson, D. B., Coelho, C. A. S. and Jolliffe, I. T. (2008). Two extra components in the
    Brier score decomposition.
    """
    h, m = as_pair(human, model)
    n_items, n_classes = h.shape
    bins = np.stack([binning.assign(m[:, k]) for k in range(n_classes)], axis=1)
    if (bins == NO_BIN).any():
        raise ValueError("a probability of 0 falls into no bin; bin with zero_in_bin=True")
    # Of each item and label, shape (n_items, n_classes): its cell, and the counts and means there.
    cells = bins + binning.n_bins * np.arange(n_classes)
    counts = np.bincount(cells.ravel())[cells]
    m_mean, h_mean = (
        np.bincount(cells.ravel(), values.ravel())[cells] / counts for values in (m, h)
    )
    overall = h.mean(axis=0)
    variance, covariance = (m - m_mean) ** 2, (m - m_mean) * (h - h_mean)
    parts = {
        "reliability": float(((m_mean - h_mean) ** 2).sum() / n_items),
        "resolution": float(((h_mean - overall) ** 2).sum() / n_items),
        "uncertainty": float((overall * (1 - overall)).sum()),
        "within_bins": float((variance - 2 * covariance).sum() / n_items),
    }
    return parts | {"brier": sum(parts.values()) - 2 * parts["resolution"]}


def same_ranking(
    human: npt.ArrayLike, model: npt.ArrayLike, *, ties: Literal["index", "aware"]
) -> npt.NDArray[np.bool_]:
    """Whether model and humans rank the labels alike; its mean is RankCS.

    Parameters
    ----------
    ties : {'index', 'aware'}
        ``index``: equal values are ranked by position, as in the released code of Baan et al.
        (2022). ``aware``: every pair of labels must stand in the same order, or be equal, on both
        sides.
    """
    h, m = as_pair(human, model)
    if ties == "index":
        ranks = [np.argsort(p, axis=1, kind="stable") for p in (h, m)]
        return (ranks[0] == ranks[1]).all(axis=1)
    if ties == "aware":
        return (_pair_signs(h) == _pair_signs(m)).all(axis=1)
    raise ValueError(f"ties is {ties!r}, expected 'index' or 'aware'")


def expected_same_ranking(human: npt.ArrayLike, model: npt.ArrayLike) -> Floats:
    """Chance that model and humans rank the labels alike when ties are broken at random.

    Ties, of shares that differ by less than 1e-12, are broken on both sides, independently, so that
    the order of the labels does not matter. In [0, 1]: a uniform guess has 1 / n_classes! on every
    item (1/6 with three labels); a model without ties has at most 1/2 where two labels have equally
    many votes.
    """
    h, m = map(_tied_ranks, as_pair(human, model))
    order = np.lexsort((m, h), axis=1)
    # With labels in humans' order, and in the model's where humans tie, the model's ranks must
    # never fall.
    possible = (np.diff(np.take_along_axis(m, order, axis=1), axis=1) >= 0).all(axis=1)
    joint = h * h.shape[1] + m  # equal where labels are tied on both sides
    chances = np.exp(_log_orders(joint) - _log_orders(h) - _log_orders(m))
    return np.where(possible, chances, 0.0)


def _tied_ranks(values: Floats) -> npt.NDArray[np.int64]:
    """Return each label's rank, 0 for the smallest share, the same where shares are tied."""
    order = np.argsort(values, axis=1, kind="stable")
    steps = np.diff(np.take_along_axis(values, order, axis=1), axis=1) > _TIED
    ranks = np.zeros(values.shape, dtype=np.int64)
    np.put_along_axis(ranks, order[:, 1:], steps.cumsum(axis=1), axis=1)
    return ranks


def _log_orders(ranks: npt.NDArray[np.int64]) -> Floats:
    """Return the log of the number of orders in which labels with such ranks may stand.

    The number is the product of the factorials of the sizes of ties; it overflows where a hundred
    labels and more have no vote.
    """
    ordered = np.sort(ranks, axis=1)
    position = np.arange(ranks.shape[1])
    starts = np.where(np.diff(ordered, axis=1, prepend=-1) > 0, position, 0)
    within_tie = position - np.maximum.accumulate(starts, axis=1) + 1
    return np.log(within_tie).sum(axis=1)


def kendall_tau_b(human: npt.ArrayLike, model: npt.ArrayLike) -> Floats:
    """Kendall's τ-b between the label shares of humans and model, item by item, in [−1, 1].

    NaN where all labels of a side have equal shares, since τ-b is undefined there.

    References
    ----------
    Kendall, M. G. (1945). The treatment of ties in ranking problems.
    """
    h, m = as_pair(human, model)
    human_signs, model_signs = _pair_signs(h), _pair_signs(m)
    room = np.sqrt(np.abs(human_signs).sum(axis=1) * np.abs(model_signs).sum(axis=1))
    undefined = np.full(len(h), np.nan)
    return np.divide((human_signs * model_signs).sum(axis=1), room, out=undefined, where=room > 0)


def _pair_signs(values: Floats) -> Floats:
    """Return the sign of the difference of every pair of labels, shape (n_items, pairs)."""
    first, second = np.triu_indices(values.shape[1], k=1)
    return np.sign(values[:, first] - values[:, second])
