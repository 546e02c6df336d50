"""A panel of judges that give each item one label, beside the votes of people.

With r[a, i] = the label of judge a on item i as a distribution, less people's shares.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from chaos_utils.metrics.checks import as_distributions, as_votes
from chaos_utils.metrics.divergence import squared_distance

Floats = npt.NDArray[np.float64]


def one_hot(labels: npt.ArrayLike, n_classes: int) -> Floats:
    """Return each judge's labels as distributions.

    Parameters
    ----------
    labels : array_like of int, shape (n_items, n_judges)
        From 0 to `n_classes` - 1.
    n_classes : int

    Returns
    -------
    ndarray of float64, shape (n_judges, n_items, n_classes)
    """
    found: Floats = np.eye(n_classes)[np.asarray(labels, dtype=np.int64).T]
    return found


def panel_values(
    labels: npt.ArrayLike, human: npt.ArrayLike, majority: npt.ArrayLike
) -> dict[str, float]:
    r"""Describe how near a panel comes to people, and how far its judges err alike.

    Parameters
    ----------
    labels : array_like of int, shape (n_items, n_judges)
    human : array_like of float, shape (n_items, n_classes)
        Vote shares; rows sum to 1.
    majority : array_like of int, shape (n_items,)
        The label that counts as correct for ``n_eff``.

    Returns
    -------
    dict of str to float
        ``J``, the mean of :math:`1 - \sum_k h_{ik}^2`; ``E``, the mean squared distance of the
        judges' pooled votes from people's shares, as it is; ``nu_MSE`` = J / E; ``PR``,
        :math:`k^2 / \sum_{ab} C_{ab}^2`, the participation ratio of the uncentred correlations C of
        r, in [1, k]; ``n_eff`` = k / (1 + (k − 1) φ), with φ the mean correlation of errors between
        two judges; ``gamma_co_all``, the share of the panel's squared deviations that its judges
        have in common, in [0, 1]. NaN where two of the judges cannot be compared.

    References
    ----------
    Li, C., Yu, Y. and Li, Y. (2026). How many humans are 32 LLM judges worth?
    """
    shares = as_distributions(human, "human")
    given = np.asarray(labels, dtype=np.int64)
    k = given.shape[1]
    apart = one_hot(given, shares.shape[1]) - shares
    j = (1 - (shares**2).sum(axis=1)).mean()
    e = (apart.mean(axis=0) ** 2).sum(axis=1).mean()
    wrong = given != np.asarray(majority)[:, np.newaxis]
    centred = apart - apart.mean(axis=1, keepdims=True)
    of_pair = np.triu_indices(k, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        together = np.einsum("aik,bik->ab", apart, apart)
        alike = together / np.sqrt(np.outer(np.diag(together), np.diag(together)))
        phi = np.corrcoef(wrong.T)[of_pair].mean() if k > 1 else 0.0
        common = (centred.sum(axis=0) ** 2).sum() / (k * (centred**2).sum())
        return {
            "J": float(j),
            "E": float(e),
            "nu_MSE": float(np.divide(j, e)),
            "PR": float(k**2 / (alike**2).sum()),
            "n_eff": float(k / (1 + (k - 1) * phi)),
            "gamma_co_all": float(common),
        }


def panel_distances(
    labels: npt.ArrayLike, votes: npt.ArrayLike, sizes: Sequence[float]
) -> Floats:
    r"""Squared distance of some judges' pooled votes from the population, in expectation.

    Over the ways to draw k of the judges it is
    :math:`\frac{A}{k} + \left(1 - \frac{1}{k}\right) B`, with A the mean of
    :math:`\|r_a\|^2` over judges and B that of :math:`\langle r_a, r_b \rangle` over pairs of
    different ones; less the noise of people's votes.

    Parameters
    ----------
    labels : array_like of int, shape (n_items, n_judges)
    votes : array_like of int, shape (n_items, n_classes)
        Counts; at least two per item.
    sizes : sequence of float
        Numbers k of judges, at least 1; infinite for endlessly many like these. With a single
        judge, only 1.

    Returns
    -------
    ndarray of float64, shape (n_items, n_sizes)
        Unbiased for the true distributions; may be below 0.
    """
    counts = as_votes(votes, "votes")
    totals = counts.sum(axis=1)
    shares = counts / totals[:, np.newaxis]
    members = one_hot(labels, counts.shape[1])
    n = len(members)
    pooled = squared_distance(shares, members.mean(axis=0), totals)
    of_one = np.mean([squared_distance(shares, one, totals) for one in members], axis=0)
    of_pairs = (n * pooled - of_one) / (n - 1) if n > 1 else of_one
    inverse = 1 / np.asarray(sizes, dtype=np.float64)
    return np.outer(of_one, inverse) + np.outer(of_pairs, 1 - inverse)
