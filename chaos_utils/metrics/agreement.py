"""How far the annotators of an item, and of a dataset, agree.

`votes` are whole counts, shape (n_items, n_classes), each item with one at least.
"""

import math

import numpy as np
import numpy.typing as npt

from chaos_utils.metrics.checks import as_distributions, as_votes


def majority_share(votes: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Share of an item's votes that its most frequent label has, in [1 / n_classes, 1]."""
    counts = as_votes(votes, "votes")
    shares: npt.NDArray[np.float64] = counts.max(axis=1) / counts.sum(axis=1)
    return shares


def is_tied(votes: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Whether two or more labels share an item's largest count, as for 50, 50, 0."""
    counts = as_votes(votes, "votes")
    tied: npt.NDArray[np.bool_] = (counts == counts.max(axis=1, keepdims=True)).sum(axis=1) > 1
    return tied


def leads(
    first: npt.ArrayLike, second: npt.ArrayLike, level: float = 0.95
) -> npt.NDArray[np.bool_]:
    """Whether one label leads another beyond chance: by the exact two-sided binomial test.

    Parameters
    ----------
    first, second : array_like of int, shape (n_items,)
        Votes on each item for the first and for the second label; other votes do not count.
    level : float
        A lead counts where p is below 1 − `level`.

    References
    ----------
    Dixon, W. J. and Mood, A. M. (1946). The statistical sign test.
    """
    from scipy.special import bdtr  # slow to import

    a, b = np.asarray(first), np.asarray(second)
    p = 2 * bdtr(np.minimum(a, b), a + b, 0.5)  # twice the binomial tail
    return np.asarray((a > b) & (p < 1 - level))


def pairwise_agreement(votes: npt.ArrayLike) -> npt.NDArray[np.float64]:
    r"""Share of an item's pairs of votes that agree, in [0, 1]; from two votes on.

    .. math:: P_i = \frac{\sum_k n_{ik}(n_{ik} - 1)}{n_i (n_i - 1)}

    References
    ----------
    Fleiss, J. L. (1971). Measuring nominal scale agreement among many raters.
    """
    counts, totals = _votes_and_totals(votes, "a pair needs two")
    pairs: npt.NDArray[np.float64] = (counts * (counts - 1)).sum(axis=1) / (totals * (totals - 1))
    return pairs


def _votes_and_totals(
    votes: npt.ArrayLike, reason: str
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the votes and each item's number of votes; the `reason` says why two are needed."""
    counts = as_votes(votes, "votes")
    totals = counts.sum(axis=1)
    if (totals < 2).any():
        raise ValueError(f"votes, row {np.argmax(totals < 2)}, has one vote; {reason}")
    return counts, totals


def majority_agreement(votes: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Share of an item's people who gave the label that most of the others gave, in [0, 1].

    Where several labels are most frequent among the others, one of them is drawn. From two votes
    on.
    """
    counts, totals = _votes_and_totals(votes, "there is no other person's")
    # A person's label is among the others' most frequent if it leads without that person's vote.
    # Axes: item, the person's label, the label that it is compared with.
    without_own = (counts - 1)[..., np.newaxis]
    is_top = (counts[:, np.newaxis] <= without_own).sum(axis=2) == counts.shape[1] - 1
    n_tied = (counts[:, np.newaxis] == without_own).sum(axis=2)
    shares: npt.NDArray[np.float64] = (counts * is_top / (1 + n_tied)).sum(axis=1) / totals
    return shares


def quadratic_entropy(votes: npt.ArrayLike) -> npt.NDArray[np.float64]:
    r"""Chance that two people give an item different labels, without bias, in [0, 1].

    .. math:: 1 - \sum_k p_k^2 \approx \frac{\sum_k n_{ik}(n_i - n_{ik})}{n_i (n_i - 1)}

    The only one of the usual entropies with an unbiased estimate, from two votes on: Shannon's is
    too low with few votes. Its expectation is at most 1 − 1 / n_classes.

    References
    ----------
    Simpson, E. H. (1949). Measurement of diversity.
    """
    return 1 - pairwise_agreement(votes)


def kappa_from_means(
    mean_pairwise_agreement: npt.ArrayLike, mean_shares: npt.ArrayLike
) -> npt.NDArray[np.float64]:
    r"""Fleiss' κ from the two means that it is computed from, so that it can be resampled quickly.

    .. math:: \kappa = \frac{\bar P - \bar P_e}{1 - \bar P_e}, \qquad
              \bar P_e = \sum_k \bar p_k^2

    At most 1; 0 is the agreement that chance gives. NaN where all votes of all items are for one
    label, since κ is undefined there.

    Parameters
    ----------
    mean_pairwise_agreement : array_like of float, shape (...)
        Mean over items of `pairwise_agreement`.
    mean_shares : array_like of float, shape (..., n_classes)
        Mean over items of the vote shares.
    """
    observed = np.asarray(mean_pairwise_agreement, dtype=np.float64)
    expected = (np.asarray(mean_shares, dtype=np.float64) ** 2).sum(axis=-1)
    room = 1 - expected
    undefined = np.full(np.broadcast(observed, expected).shape, np.nan)
    return np.divide(observed - expected, room, out=undefined, where=room > 1e-12)


def krippendorff_alpha(votes: npt.ArrayLike, *, ordered: bool = False) -> float:
    r"""Krippendorff's α: the agreement of all pairs of votes on an item, corrected for chance.

    .. math:: \alpha = 1 - \frac{\sum_i \frac{1}{n_i - 1} \sum_{k,l} n_{ik} n_{il} \delta_{kl}}
                               {\frac{1}{n - 1} \sum_{k,l} n_k n_l \delta_{kl}}

    The disagreement δ of two different labels is 1, or, where labels are `ordered`, the squared
    difference of their mean ranks. Items with one vote have no pair, and are left out. At most 1; 0
    is the agreement that chance gives; NaN where all votes of all items are for one label, or no
    item has two.

    References
    ----------
    Krippendorff, K. (2004). Content analysis: an introduction to its methodology.
    """
    counts = as_votes(votes, "votes")
    counts = counts[counts.sum(axis=1) >= 2]
    totals = counts.sum(axis=0)
    delta = 1 - np.eye(counts.shape[1])
    if ordered:
        mean_ranks = np.cumsum(totals) - totals / 2
        delta = (mean_ranks[:, np.newaxis] - mean_ranks) ** 2
    by_chance = totals @ delta @ totals
    if not by_chance:
        return math.nan
    observed = (counts * (counts @ delta)).sum(axis=1) / (counts.sum(axis=1) - 1)
    return float(1 - observed.sum() * (totals.sum() - 1) / by_chance)


def agreement_columns(counts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Columns from whose sums over items `mean_disagreement` and `alpha_of_sums` are computed.

    The columns, shape (n_items, 3 + n_classes), are 1, the chance that two votes differ, that
    chance times the number of votes, and the counts. `counts` may hold items with fewer than two
    votes; their columns are 0.
    """
    totals = counts.sum(axis=1)
    several = totals >= 2
    pairs = totals * (totals - 1)
    unlike = pairs - (counts * (counts - 1)).sum(axis=1)
    chance = np.divide(unlike, pairs, out=np.zeros(len(counts)), where=several)
    return np.column_stack([several, chance, totals * chance, counts * several[:, np.newaxis]])


def mean_disagreement(sums: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Mean of `quadratic_entropy`, from `sums` of `agreement_columns`; NaN without items."""
    return _divide(sums[..., 1], sums[..., 0])


def alpha_of_sums(sums: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """`krippendorff_alpha` for labels without an order, from `sums` of `agreement_columns`."""
    totals = sums[..., 3:]
    n = totals.sum(axis=-1)
    return 1 - _divide(sums[..., 2] * (n - 1), n**2 - (totals**2).sum(axis=-1))


def alike_columns(sums: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Columns for `alike_disagreement`: the weights of an item's pairs and of its unlike pairs.

    `sums`, shape (n_items, 2 n_classes), are sums over an item's votes for each label: first of
    their weights, then of their squared weights. The votes of a person have equal weights, which
    sum to 1.
    """
    weights, squares = np.split(sums, 2, axis=1)
    pairs = weights.sum(axis=1) ** 2 - squares.sum(axis=1)
    same = (weights**2 - squares).sum(axis=1)
    return np.column_stack([pairs, pairs - same])


def alike_disagreement(sums: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Chance that two people differ on an item that both judged, all people being drawn alike.

    From `sums` of `alike_columns`; NaN where no two people judged the same item.
    """
    return _divide(sums[..., 1], sums[..., 0])


def _divide(
    top: npt.NDArray[np.float64], bottom: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return top / bottom; NaN where the bottom is 0."""
    return np.divide(top, bottom, out=np.full(np.shape(top), np.nan), where=bottom > 1e-12)


def chance_of_majority_size(
    distributions: npt.ArrayLike, n_votes: int, size: int
) -> npt.NDArray[np.float64]:
    """Probability that the most frequent label of ``n_votes`` random votes has exactly `size`.

    In [0, 1]; for three votes of five and three classes 0.864 at most, at an even split.
    """
    p = as_distributions(distributions, "distributions")
    below, up_to = (_chance_of_at_most(p, n_votes, most) for most in (size - 1, size))
    return np.maximum(up_to - below, 0)  # rounding may leave -1e-17


def _chance_of_at_most(
    p: npt.NDArray[np.float64], n_votes: int, most: int
) -> npt.NDArray[np.float64]:
    """Probability that no label gets more than `most` of the votes.

    Labels are added one by one: ``chances[:, n]`` is the probability that n votes all go to the
    labels so far, at most `most` to each.
    """
    chances = np.zeros((len(p), n_votes + 1))
    chances[:, 0] = 1
    for k in range(p.shape[1]):
        before, chances = chances, np.zeros_like(chances)
        for n in range(min(most, n_votes) + 1):
            ways = np.array([math.comb(total, n) for total in range(n, n_votes + 1)], float)
            chances[:, n:] += ways * before[:, : n_votes + 1 - n] * p[:, [k]] ** n
    return chances[:, n_votes]
