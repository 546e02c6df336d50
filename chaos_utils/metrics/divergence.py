"""How spread out a distribution is."""

import numpy as np
import numpy.typing as npt

from chaos_utils.metrics.checks import as_distributions


def entropy_bits(distributions: npt.ArrayLike) -> npt.NDArray[np.float64]:
    r"""Shannon entropy of each item's distribution, in bits.

    .. math:: H(p) = -\sum_k p_k \log_2 p_k, \qquad 0 \log 0 = 0

    Parameters
    ----------
    distributions : array_like of float, shape (n_items, n_classes)
        Rows sum to 1.

    Returns
    -------
    ndarray of float64, shape (n_items,)
        In [0, log2(n_classes)]; 0 when all agree.

    Raises
    ------
    ValueError
        If a row is not a distribution.

    References
    ----------
    Shannon, C. E. (1948). A mathematical theory of communication.
    """
    p = as_distributions(distributions, "distributions")
    logs = np.log2(p, out=np.zeros_like(p), where=p > 0)
    return -(p * logs).sum(axis=1) + 0.0  # + 0.0 turns -0.0 into 0.0
