"""A panel of judges that give each item one label, beside the votes of people.

`labels` are label positions, shape (n_items, n_judges). The residual r[a, i] is judge a's label on
item i as a distribution, less people's shares.
"""

import numpy as np
import numpy.typing as npt

from chaos_utils.metrics.agreement import quadratic_entropy
from chaos_utils.metrics.checks import as_distributions

Floats = npt.NDArray[np.float64]


def one_hot(labels: npt.ArrayLike, n_classes: int) -> Floats:
    """Return each judge's labels as distributions, shape (n_judges, n_items, n_classes)."""
    distributions: Floats = np.eye(n_classes)[np.asarray(labels, dtype=np.int64).T]
    return distributions


def panel_values(
    labels: npt.ArrayLike, human: npt.ArrayLike, majority: npt.ArrayLike
) -> dict[str, float]:
    r"""Describe how near a panel comes to people, and how far its judges err alike.

    ``J`` is the mean of :math:`1 - \sum_k h_{ik}^2`. ``E`` is the mean squared distance of the
    judges' pooled votes from people's shares, without a correction for noise. ``nu_MSE`` = J / E.
    ``PR`` is :math:`k^2 / \sum_{ab} C_{ab}^2`, the participation ratio of the uncentred
    correlations C of r, in [1, k]. ``n_eff`` = k / (1 + (k − 1) φ), where φ is the mean correlation
    of two judges' errors and a label other than the `majority` is an error. ``gamma_co_all`` is the
    share of the panel's squared deviations that its judges have in common, in [0, 1]. NaN where two
    of the judges cannot be compared.

    References
    ----------
    Li, C., Yu, Y. and Li, Y. (2026). How many humans are 32 LLM judges worth?
    """
    shares = as_distributions(human, "human")
    codes = np.asarray(labels, dtype=np.int64)
    k = codes.shape[1]
    residuals = one_hot(codes, shares.shape[1]) - shares  # shape (k, n_items, n_classes)
    j = (1 - (shares**2).sum(axis=1)).mean()
    e = (residuals.mean(axis=0) ** 2).sum(axis=1).mean()
    wrong = codes != np.asarray(majority)[:, np.newaxis]
    centred = residuals - residuals.mean(axis=1, keepdims=True)
    pairs = np.triu_indices(k, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        products = np.einsum("aik,bik->ab", residuals, residuals)
        correlations = products / np.sqrt(np.outer(np.diag(products), np.diag(products)))
        phi = np.corrcoef(wrong.T)[pairs].mean() if k > 1 else 0.0
        common = (centred.sum(axis=0) ** 2).sum() / (k * (centred**2).sum())
        return {
            "J": float(j),
            "E": float(e),
            "nu_MSE": float(np.divide(j, e)),
            "PR": float(k**2 / (correlations**2).sum()),
            "n_eff": float(k / (1 + (k - 1) * phi)),
            "gamma_co_all": float(common),
        }


def panel_variance(labels: npt.ArrayLike, size: float) -> Floats:
    r"""Variance of the pooled votes of randomly drawn judges, summed over labels, by item.

    If s judges (`size`) are drawn with equal chance from n, at least two, whose pooled votes are m,
    it is :math:`\left(\frac{1}{s} - \frac{1}{n}\right) \frac{n}{n - 1} (1 - \sum_k m_k^2)`: 0
    for all n judges, and negative for endlessly many such judges, who vary less than the n do.
    """
    codes = np.asarray(labels, dtype=np.int64)
    counts = one_hot(codes, int(codes.max()) + 1).sum(axis=0).astype(np.int64)
    n = codes.shape[1]
    return (1 / size - 1 / n) * quadratic_entropy(counts)
