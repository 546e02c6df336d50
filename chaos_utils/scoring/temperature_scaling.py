"""Temperature scaling: apply a temperature, fit it, and fit it without the item that it changes.

Dividing logits by a temperature T is raising probabilities to the power 1/T and rescaling
them, so probabilities are enough. T > 1 flattens a distribution, T < 1 sharpens it; the
order of the labels stays as it is.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from chaos_utils.metrics.calibration import (
    Binning,
    classwise_hits,
    expected_calibration_error,
)
from chaos_utils.metrics.checks import as_distributions
from chaos_utils.metrics.divergence import Floats

LIMITS = (0.05, 20.0)  # of the search for a temperature
_CANDIDATES = np.geomspace(*LIMITS, 601)  # steps of 1%


def temper(probabilities: npt.ArrayLike, temperature: npt.ArrayLike) -> Floats:
    r"""Return distributions at a `temperature`: one number above 0, or one per item.

    .. math:: q_k = \frac{p_k^{1/T}}{\sum_j p_j^{1/T}}

    References
    ----------
    Guo, C. et al. (2017). On calibration of modern neural networks.
    """
    p = as_distributions(probabilities, "probabilities")
    t = np.asarray(temperature, dtype=np.float64)
    if t.shape not in ((), (len(p),)):
        raise ValueError(f"temperature has shape {t.shape}, expected one number or {len(p)}")
    if not ((t > 0) & np.isfinite(t)).all():
        raise ValueError(f"temperature is {t}, expected finite values above 0")
    return np.exp(log_softmax(_logs(p) / t.reshape(-1, 1)))


def fit_temperature(probabilities: npt.ArrayLike, target: npt.ArrayLike) -> float:
    """Return the temperature of least negative log-likelihood; above 1 where the model is too sure.

    The likelihood has one optimum in T, so a bounded search finds it. If the optimum is beyond
    `LIMITS`, the result is the nearer limit; if T makes no difference, 1.

    References
    ----------
    Guo, C. et al. (2017). On calibration of modern neural networks.
    """
    p, shares = classwise_hits(as_distributions(probabilities, "probabilities"), target)
    logs = _logs(p)
    return search_temperature(lambda t: float(-(shares * log_softmax(logs / t)).sum(axis=1).mean()))


def search_temperature(loss: Callable[[float], float]) -> float:
    """Return the temperature of least loss within `LIMITS`; 1 if T makes no difference."""
    from scipy.optimize import minimize_scalar  # slow to import

    def loss_of_log(log_temperature: float) -> float:
        return loss(float(np.exp(log_temperature)))

    low, high = np.log(LIMITS)
    search = minimize_scalar(
        loss_of_log, bounds=(low, high), method="bounded", options={"xatol": 1e-7}
    )
    return float(np.exp(min([0.0, float(search.x), low, high], key=loss_of_log)))


def fit_temperature_to_ece(
    probabilities: npt.ArrayLike, gold: npt.ArrayLike, binning: Binning
) -> float:
    """Return the temperature of least expected calibration error, against labels or vote shares.

    The error jumps as items change bins, so the best of 601 temperatures between the ends of
    `LIMITS`, 1% apart, is taken; the smallest where several are best.
    """
    errors = [
        expected_calibration_error(temper(probabilities, t), gold, binning) for t in _CANDIDATES
    ]
    return float(_CANDIDATES[int(np.argmin(np.round(errors, 10)))])


def cross_fit_temperatures(
    probabilities: npt.ArrayLike, target: npt.ArrayLike, folds: npt.ArrayLike
) -> Floats:
    """Return a temperature for each item, fitted on the items of the other folds.

    `folds`, at least two, are as from `datasets.splits.folds_of`.
    """
    p, fold = as_distributions(probabilities, "probabilities"), np.asarray(folds)
    if fold.shape != (len(p),):
        raise ValueError(f"folds have shape {fold.shape}, expected {(len(p),)}")
    if (fold == fold[:1]).all():
        raise ValueError("nothing can be fitted out of a single fold")
    shares = classwise_hits(p, target)[1]
    temperatures = np.empty(len(p))
    for name in sorted(set(fold.tolist())):
        temperatures[fold == name] = fit_temperature(p[fold != name], shares[fold != name])
    return temperatures


def _logs(p: Floats) -> Floats:
    return np.log(np.maximum(p, np.finfo(np.float64).tiny))  # log 0 is not finite


def softmax(scores: Floats) -> Floats:
    """Return the distributions that scores, such as logits, stand for, shape (n, k)."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Floats = powers / powers.sum(axis=1, keepdims=True)
    return shares


def log_softmax(scores: Floats) -> Floats:
    """Return the natural logarithms of what `softmax` returns."""
    logs = scores - scores.max(axis=1, keepdims=True)
    normalised: Floats = logs - np.log(np.exp(logs).sum(axis=1, keepdims=True))
    return normalised
