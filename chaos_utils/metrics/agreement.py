"""How far the annotators of an item, and of a dataset, agree."""

import math

import numpy as np
import numpy.typing as npt

from chaos_utils.metrics.checks import as_distributions, as_votes


def majority_share(votes: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Share of an item's votes that its most frequent label has.

    Parameters
    ----------
    votes : array_like of int, shape (n_items, n_classes)
        Counts.

    Returns
    -------
    ndarray of float64, shape (n_items,)
        In [1 / n_classes, 1].
    """
    counts = as_votes(votes, "votes")
    shares: npt.NDArray[np.float64] = counts.max(axis=1) / counts.sum(axis=1)
    return shares


def is_tied(votes: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Whether two or more labels share an item's largest count; shape (n_items,).

    Parameters
    ----------
    votes : array of shape (n_items, n_classes)
        Whole counts; each item has a vote.

    Returns
    -------
    ndarray of bool, shape (n_items,)
        For instance True for the counts 50, 50, 0.
    """
    counts = as_votes(votes, "votes")
    tied: npt.NDArray[np.bool_] = (counts == counts.max(axis=1, keepdims=True)).sum(axis=1) > 1
    return tied


def pairwise_agreement(votes: npt.ArrayLike) -> npt.NDArray[np.float64]:
    r"""Share of an item's pairs of votes that agree.

    .. math:: P_i = \frac{\sum_k n_{ik}(n_{ik} - 1)}{n_i (n_i - 1)}

    Parameters
    ----------
    votes : array_like of int, shape (n_items, n_classes)
        Counts; at least two an item.

    Returns
    -------
    ndarray of float64, shape (n_items,)
        In [0, 1].

    Raises
    ------
    ValueError
        If an item has fewer than two votes.

    References
    ----------
    Fleiss, J. L. (1971). Measuring nominal scale agreement among many raters.
    """
    counts = as_votes(votes, "votes")
    totals = counts.sum(axis=1)
    if (totals < 2).any():
        row = int(np.argmax(totals < 2))
        raise ValueError(f"votes, row {row}, has one vote; a pair needs two")
    pairs: npt.NDArray[np.float64] = (counts * (counts - 1)).sum(axis=1) / (totals * (totals - 1))
    return pairs


def kappa_from_means(
    mean_pairwise_agreement: npt.ArrayLike, mean_shares: npt.ArrayLike
) -> npt.NDArray[np.float64]:
    r"""Fleiss' κ from the two means it is made of, so that it can be resampled quickly.

    .. math:: \kappa = \frac{\bar P - \bar P_e}{1 - \bar P_e}, \qquad
              \bar P_e = \sum_k \bar p_k^2

    Parameters
    ----------
    mean_pairwise_agreement : array_like of float, shape (...)
        Mean over items of `pairwise_agreement`.
    mean_shares : array_like of float, shape (..., n_classes)
        Mean over items of the vote shares.

    Returns
    -------
    ndarray of float64, shape (...)
        At most 1; 0 is the agreement that chance gives. NaN where all votes of all
        items are for one label, since κ is undefined there.
    """
    observed = np.asarray(mean_pairwise_agreement, dtype=np.float64)
    expected = (np.asarray(mean_shares, dtype=np.float64) ** 2).sum(axis=-1)
    room = 1 - expected
    undefined = np.full(np.broadcast(observed, expected).shape, np.nan)
    return np.divide(observed - expected, room, out=undefined, where=room > 1e-12)


def chance_of_majority_size(
    distributions: npt.ArrayLike, n_votes: int, size: int
) -> npt.NDArray[np.float64]:
    """Probability that the largest of `n_votes` random votes' counts is exactly `size`.

    Parameters
    ----------
    distributions : array_like of float, shape (n_items, n_classes)
        The distribution that the votes are drawn from, one row an item.
    n_votes : int
        Votes drawn, at least 1.
    size : int
        Count of the most frequent label.

    Returns
    -------
    ndarray of float64, shape (n_items,)
        In [0, 1]. For three votes of five and three classes its largest value is 0.864,
        at an even split.
    """
    p = as_distributions(distributions, "distributions")
    chances = np.zeros(len(p))
    for split in _splits(n_votes, p.shape[1]):
        if max(split) == size:
            orders = math.factorial(n_votes) / math.prod(map(math.factorial, split))
            chances += orders * (p ** np.array(split)).prod(axis=1)
    return chances


def _splits(total: int, parts: int) -> list[tuple[int, ...]]:
    """Every way to give `total` votes to `parts` labels."""
    if parts == 1:
        return [(total,)]
    return [(n, *rest) for n in range(total + 1) for rest in _splits(total - n, parts - 1)]
