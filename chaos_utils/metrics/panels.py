"""A panel of judges that give each item one label, beside the votes of people.

`labels` are positions, shape (n_items, n_judges). With r[a, i] = the label of judge a on item i as
a distribution, less people's shares.
"""

import numpy as np
import numpy.typing as npt

from chaos_utils.metrics.agreement import quadratic_entropy
from chaos_utils.metrics.checks import as_distributions

Floats = npt.NDArray[np.float64]


def one_hot(labels: npt.ArrayLike, n_classes: int) -> Floats:
    """Return each judge's labels as distributions, shape (n_judges, n_items, n_classes)."""
    found: Floats = np.eye(n_classes)[np.asarray(labels, dtype=np.int64).T]
    return found


def panel_values(
    labels: npt.ArrayLike, human: npt.ArrayLike, majority: npt.ArrayLike
) -> dict[str, float]:
    r"""Describe how near a panel comes to people, and how far its judges err alike.

    ``J``, the mean of :math:`1 - \sum_k h_{ik}^2`; ``E``, the mean squared distance of the judges'
    pooled votes from people's shares, as it is; ``nu_MSE`` = J / E; ``PR``, :math:`k^2 / \sum_{ab}
    C_{ab}^2`, the participation ratio of the uncentred correlations C of r, in [1, k]; ``n_eff`` =
    k / (1 + (k − 1) φ), with φ the mean correlation of errors between two judges, for which the
    `majority` is correct; ``gamma_co_all``, the share of the panel's squared deviations that its
    judges have in common, in [0, 1]. NaN where two of the judges cannot be compared.

    References
    ----------
    Li, C., Yu, Y. and Li, Y. (2026). How many humans are 32 LLM judges worth?
    """
    shares = as_distributions(human, "human")
    codes = np.asarray(labels, dtype=np.int64)
    k = codes.shape[1]
    apart = one_hot(codes, shares.shape[1]) - shares
    j = (1 - (shares**2).sum(axis=1)).mean()
    e = (apart.mean(axis=0) ** 2).sum(axis=1).mean()
    wrong = codes != np.asarray(majority)[:, np.newaxis]
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


def panel_variance(labels: npt.ArrayLike, size: float) -> Floats:
    r"""Sum of the variances of some judges' pooled votes, over the ways to draw them, by item.

    Drawn with equal chance from n judges, two at least, whose own pooled votes are m, s of them
    (`size`) vary by :math:`\left(\frac{1}{s} - \frac{1}{n}\right) \frac{n}{n - 1} (1 - \sum_k
    m_k^2)`: 0 for all of them, and negative for endlessly many like these, who vary less than all n
    do.
    """
    codes = np.asarray(labels, dtype=np.int64)
    counts = one_hot(codes, int(codes.max()) + 1).sum(axis=0).astype(np.int64)
    n = codes.shape[1]
    return (1 / size - 1 / n) * quadratic_entropy(counts)
