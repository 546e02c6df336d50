"""How spread out a distribution is, and how far two distributions are apart.

All of `distributions`, `human`, `model`, `first`, `second` have shape (n_items, n_classes), and
rows that sum to 1. Every function says which unit its result has; none has a default for what the
field disagrees on (logarithm, distance or divergence, direction, floor).
"""

from typing import Literal

import numpy as np
import numpy.typing as npt

from chaos_utils.metrics.checks import as_distributions, as_pair, as_votes

Unit = Literal["bits", "nats"]
Floats = npt.NDArray[np.float64]


def entropy(distributions: npt.ArrayLike, *, unit: Unit) -> Floats:
    r"""Shannon entropy of each item's distribution, in [0, log n_classes]; 0 when all agree.

    .. math:: H(p) = -\sum_k p_k \log p_k, \qquad 0 \log 0 = 0

    References
    ----------
    Shannon, C. E. (1948). A mathematical theory of communication.
    """
    p = as_distributions(distributions, "distributions")
    return -(p * _log(p, unit)).sum(axis=1) + 0.0  # + 0.0 turns -0.0 into 0.0


def miller_madow(votes: npt.ArrayLike, *, unit: Unit) -> Floats:
    r"""Shannon entropy of the vote shares, with the first term of its bias added.

    .. math:: H(h_i) + \frac{K_i - 1}{2 n_i}

    where :math:`K_i` labels have votes. At least 0; may exceed log n_classes. With few votes it is
    still too low: Shannon entropy has no unbiased estimate.
    `chaos_utils.metrics.agreement.quadratic_entropy` has one.

    References
    ----------
    Miller, G. A. (1955). Note on the bias of information estimates.
    """
    counts = as_votes(votes, "votes")
    totals = counts.sum(axis=1)
    correction = ((counts > 0).sum(axis=1) - 1) / (2 * totals)
    nats_per_unit = np.log(2) if unit == "bits" else 1.0
    return entropy(counts / totals[:, np.newaxis], unit=unit) + correction / nats_per_unit


def kl_divergence(
    human: npt.ArrayLike, model: npt.ArrayLike, *, unit: Unit, floor: float
) -> Floats:
    r"""Kullback–Leibler divergence from the model to the human distribution, KL(human ‖ model).

    .. math:: KL(h \| m) = \sum_k h_k \log \frac{h_k}{m_k}

    In [0, inf]; infinite where the model gives 0 to a label with votes.

    Parameters
    ----------
    floor : float
        Model probabilities below it are raised to it, and the row is rescaled to sum to 1. Nie et
        al. (2020) used 1e-15; 0 leaves the model as it is.

    References
    ----------
    Kullback, S. and Leibler, R. A. (1951). On information and sufficiency.
    """
    h, m = as_pair(human, model)
    if not 0 <= floor < 1:
        raise ValueError(f"floor is {floor}, expected a value in [0, 1)")
    m = np.maximum(m, floor)
    m = m / m.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(h > 0, h * (_log(h, unit) - _LOGS[unit](m)), 0.0)
    return np.maximum(terms.sum(axis=1), 0.0)


def jensen_shannon_divergence(first: npt.ArrayLike, second: npt.ArrayLike, *, unit: Unit) -> Floats:
    r"""Jensen–Shannon *divergence* of two distributions: symmetric, always finite.

    .. math:: JS(p, q) = \tfrac12 KL(p \| \tfrac{p+q}2) + \tfrac12 KL(q \| \tfrac{p+q}2)

    In [0, 1] bits, [0, log 2 = 0.693] nats.

    References
    ----------
    Lin, J. (1991). Divergence measures based on the Shannon entropy.
    """
    p, q = as_pair(first, second)
    middle = (p + q) / 2
    terms = p * _log(p, unit) + q * _log(q, unit) - 2 * middle * _log(middle, unit)
    return np.maximum(terms.sum(axis=1) / 2, 0.0)  # rounding may leave -1e-17


def jensen_shannon_distance(first: npt.ArrayLike, second: npt.ArrayLike, *, unit: Unit) -> Floats:
    """Jensen–Shannon *distance*: the square root of the divergence, which is a metric.

    In [0, 1] for bits, [0, sqrt(log 2) = 0.8326] for nats, the unit of the divergence under the
    root. This, in nats, is what Nie et al. (2020) report as "JSD".

    References
    ----------
    Endres, D. M. and Schindelin, J. E. (2003). A new metric for probability distributions.
    """
    return np.sqrt(jensen_shannon_divergence(first, second, unit=unit))


def total_variation(first: npt.ArrayLike, second: npt.ArrayLike) -> Floats:
    r"""Total variation distance: the share of mass that would have to move, in [0, 1].

    .. math:: TVD(p, q) = \tfrac12 \sum_k |p_k - q_k|

    Baan et al. (2022) call it DistCE when one side is human and the other a model.
    """
    p, q = as_pair(first, second)
    return np.abs(p - q).sum(axis=1) / 2


def squared_distance(human: npt.ArrayLike, model: npt.ArrayLike, n_votes: npt.ArrayLike) -> Floats:
    r"""Squared distance of a model to the population that the votes are drawn from, unbiased.

    .. math:: d_i = \sum_k (m_k - h_k)^2 - \frac{\sum_k h_k (1 - h_k)}{n_i - 1}

    The second term is what the sampling noise of ``n_votes`` (one number for each item, or one for
    all) adds to the first on average. So the mean over items is the same, in expectation, for any
    number of votes from two on. In [−1/2, 2]: an item's value may be negative, and so may the mean
    of a model that is as good as perfect.
    """
    h, m = as_pair(human, model)
    n = np.broadcast_to(np.asarray(n_votes, dtype=np.float64), len(h))
    if n.min() < 2:
        row = int(np.argmax(n < 2))
        raise ValueError(f"n_votes, item {row}, is {n[row]:g}, expected at least 2")
    noise = (h * (1 - h)).sum(axis=1) / (n - 1)
    return ((m - h) ** 2).sum(axis=1) - noise


def wasserstein(first: npt.ArrayLike, second: npt.ArrayLike) -> Floats:
    r"""First Wasserstein distance between distributions over ordered labels, one step apart.

    .. math:: W(p, q) = \sum_{k < K} \left| \sum_{j \le k} (p_j - q_j) \right|

    In [0, n_classes − 1]: the mass that has to move, times the steps that it moves.

    References
    ----------
    Vallender, S. S. (1974). Calculation of the Wasserstein distance between probability
    distributions on the line.
    """
    p, q = as_pair(first, second)
    return np.abs(np.cumsum(p - q, axis=1)[:, :-1]).sum(axis=1)


_LOGS = {"bits": np.log2, "nats": np.log}


def _log(values: Floats, unit: Unit) -> Floats:
    """Take the logarithm, 0 where the value is 0."""
    if unit not in _LOGS:
        raise ValueError(f"unit is {unit!r}, expected 'bits' or 'nats'")
    return _LOGS[unit](values, out=np.zeros_like(values), where=values > 0)


def energy_distance(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    r"""Return an unbiased estimate of the energy distance of two distributions of numbers.

    :math:`E|X - Y| - E|X - X'|/2 - E|Y - Y'|/2`, in the unit of the numbers, which is the integral
    of :math:`(F - G)^2`. Its expectation is the same for any number of answers, unlike that of the
    Wasserstein distance: 0 for two samples of one distribution. A single value stands for itself.

    Parameters
    ----------
    first, second : array_like of float
        A sample of each.

    References
    ----------
    Székely, G. J. and Rizzo, M. L. (2013). Energy statistics: a class of statistics based on
    distances.
    """
    samples = [np.asarray(sample, dtype=np.float64) for sample in (first, second)]
    across = np.abs(samples[0][:, np.newaxis] - samples[1]).mean()
    within = [
        np.abs(sample[:, np.newaxis] - sample).sum() / max(len(sample) * (len(sample) - 1), 1)
        for sample in samples
    ]
    return float(across - sum(within) / 2)
