"""Maps from what systems predict to vote shares, fitted on the votes on other items.

A map takes the log-probabilities of one system, or of several side by side, to a distribution over
the labels. It has one parameter to some hundreds, and is fitted in seconds. What it predicts of an
item never depends on the votes on that item, nor on those on an item with the same premise, story
or image: see `datasets.splits` and `predict_out_of_fold`.

Throughout, `logs` has shape (n_items, n_systems, n_classes), and `shares` (n_items, n_classes).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from chaos_utils.base.errors import ChaosError, check_known
from chaos_utils.metrics.checks import as_distributions
from chaos_utils.metrics.divergence import Floats
from chaos_utils.scoring.temperature_scaling import search_temperature, softmax

Ints = npt.NDArray[np.int64]
Kind = Literal["temperature", "affine", "quadratic"]
Objective = Literal["kl", "jsd"]

STACKING: tuple[Kind, ...] = ("affine", "quadratic")  # maps that weigh each system by itself
KINDS: tuple[Kind, ...] = ("temperature", *STACKING)
OBJECTIVES: tuple[Objective, ...] = ("kl", "jsd")
PENALTY = 3.0  # on the squared weights of standardised inputs; the loss is summed over items
_FLOOR = 1e-9  # smallest probability before a logarithm
_SMOOTH = 1e-6  # added under the root of the divergence, which has no gradient at 0
_TINY = 1e-300
_CONSTANT = 1e-9  # an input with a smaller standard deviation is constant
_CURVATURE = 0.15  # second derivative of the loss in a score, roughly
# Strict enough that other processors agree on the digits of a recorded table.
_SEARCH_OPTIONS = {"maxiter": 2000, "maxfun": 4000, "maxcor": 20, "ftol": 1e-14, "gtol": 1e-8}


def log_probabilities(probabilities: npt.ArrayLike) -> Floats:
    """Return the natural logarithms of one or several systems' distributions, none of them −∞.

    `probabilities` have shape (n_items, n_classes), or (n_items, n_systems, n_classes); the result
    has the latter. A probability below 1e-9 counts as 1e-9; a row that is no distribution raises
    ValueError.
    """
    p = np.asarray(probabilities, dtype=np.float64)
    if p.ndim == 2:
        p = p[:, np.newaxis]
    if p.ndim != 3:
        raise ValueError(f"probabilities have shape {p.shape}, expected items, systems, classes")
    if p.size:
        as_distributions(p.reshape(-1, p.shape[2]), "probabilities")
    return np.log(np.maximum(p, _FLOOR))


def inputs_of(logs: Floats, kind: Kind, old_label: npt.ArrayLike | None = None) -> Floats:
    """Return the inputs that a map weighs, of shape (n_items, n_inputs).

    For ``affine``, the inputs are the log-probabilities; there may be none. For ``quadratic``, also
    the probabilities, and all products of two centred logits of one system. An old label adds one
    indicator per label, and the products of indicators and log-probabilities.
    """
    n, _, k = logs.shape
    flat = logs.reshape(n, -1)
    parts = [flat]
    if kind == "quadratic":
        centred = logs - logs.mean(axis=2, keepdims=True)
        first, second = np.triu_indices(k)
        parts += [np.exp(flat), (centred[:, :, first] * centred[:, :, second]).reshape(n, -1)]
    if old_label is not None:
        labels = np.eye(k)[np.asarray(old_label)]
        parts += [labels, (flat[:, :, np.newaxis] * labels[:, np.newaxis]).reshape(n, -1)]
    return np.concatenate(parts, axis=1)


def loss_and_slope(scores: Floats, shares: Floats, objective: Objective) -> tuple[float, Floats]:
    """Return the mean loss of softmaxed scores against vote shares, and its gradient in the scores.

    Scores, shares and gradient have shape (n_classes, n_items), since sums along the first axis are
    much faster. ``kl`` is the cross-entropy with the votes, which is KL up to a constant. ``jsd``
    is the Jensen–Shannon distance in √nats, with 10⁻⁶ added under the root, which has no gradient
    at 0.
    """
    logs = scores - scores.max(axis=0)
    logs -= np.log(np.exp(logs).sum(axis=0))
    q = np.exp(logs)
    n = q.shape[1]
    if objective == "kl":
        return float(-(shares * logs).sum() / n), (q - shares) / n
    middle = np.log(np.maximum((q + shares) / 2, _TINY))
    log_ratio = logs - middle  # of the prediction to the middle
    vote_log_ratio = np.log(np.maximum(shares, _TINY)) - middle
    model_kl = (q * log_ratio).sum(axis=0)
    divergence = ((shares * vote_log_ratio).sum(axis=0) + model_kl) / 2
    distance = np.sqrt(np.maximum(divergence, 0) + _SMOOTH)
    return float(distance.mean()), q * (log_ratio - model_kl) / (4 * n * distance)


@dataclass(frozen=True, slots=True, eq=False)
class FittedMap:
    """A map that `fit_map` has fitted: weights of the inputs as they are, or a temperature."""

    kind: Kind
    weights: Floats
    intercepts: Floats
    temperature: float = 1.0

    def predict(self, logs: Floats, old_label: npt.ArrayLike | None = None) -> Floats:
        """Return the distributions that the map predicts, shape (n_items, n_classes)."""
        if self.kind == "temperature":
            return softmax(logs.mean(axis=1) / self.temperature)
        return softmax(inputs_of(logs, self.kind, old_label) @ self.weights + self.intercepts)


def fit_map(
    logs: Floats,
    shares: npt.ArrayLike,
    *,
    kind: Kind,
    objective: Objective = "jsd",
    old_label: npt.ArrayLike | None = None,
    penalty: float = PENALTY,
) -> FittedMap:
    r"""Fit a map on items with votes.

    A ``temperature`` divides the mean log-probabilities. With inputs :math:`x` (`inputs_of`), the
    others predict :math:`\mathrm{softmax}(b + W^\top x)` with any matrix W; on log-probabilities
    alone (``affine``) this is Dirichlet calibration.

    Parameters
    ----------
    logs : ndarray of float, shape (n_items, n_systems, n_classes)
        As from `log_probabilities`; without a system, the map predicts base rates.
    shares : array_like of float, shape (n_items, n_classes)
        Vote shares; rows sum to 1.
    kind : str
        One of `KINDS`.
    objective : str
        As for `loss_and_slope`.
    old_label : array_like of int, shape (n_items,), optional
        As for `inputs_of`; for `STACKING` alone.
    penalty : float
        Times the sum of the squared weights of standardised inputs, added to the loss summed over
        items, so that it counts for less the more items there are; intercepts have none. At
        least 0.

    Raises
    ------
    ChaosError
        If a kind or objective is not known, or cannot have the old label.
    ValueError
        If shapes do not fit, a row of shares is not a distribution, or the penalty is below 0.

    References
    ----------
    Guo, C. et al. (2017). On calibration of modern neural networks.
    Kull, M. et al. (2019). Beyond temperature scaling: obtaining well-calibrated multiclass
    probabilities with Dirichlet calibration.
    """
    human = _check_arguments(logs, shares, kind, objective, old_label, penalty)
    if kind == "temperature":
        k = human.shape[1]
        temperature = _fit_temperature(logs.mean(axis=1), human, objective)
        return FittedMap(kind, np.zeros((0, k)), np.zeros(k), temperature)
    inputs = inputs_of(logs, kind, old_label)
    return FittedMap(kind, *_fit_weights(inputs, human, objective, penalty / len(human)))


def _check_arguments(
    logs: Floats,
    shares: npt.ArrayLike,
    kind: str,
    objective: str,
    old_label: npt.ArrayLike | None,
    penalty: float,
) -> Floats:
    """Return the vote shares as an array; raise if an argument of `fit_map` is not valid."""
    for title, choice, options in (("map", kind, KINDS), ("objective", objective, OBJECTIVES)):
        check_known(f"There is no such {title}.", choice, options)
    if kind not in STACKING and (old_label is not None or logs.shape[1] == 0):
        raise ChaosError(
            f"A map of the kind {kind} is fitted to systems alone.",
            expected="affine or quadratic, or systems",
        )
    if not (penalty >= 0 and np.isfinite(penalty)):
        raise ValueError(f"penalty is {penalty}, expected 0 or more")
    human = as_distributions(shares, "shares")
    if logs.ndim != 3 or (len(logs), logs.shape[2]) != human.shape:
        raise ValueError(f"logs have shape {logs.shape}, shares {human.shape}")
    return human


def _fit_temperature(logs: Floats, shares: Floats, objective: Objective) -> float:
    scores, human = np.ascontiguousarray(logs.T), np.ascontiguousarray(shares.T)
    return search_temperature(lambda t: loss_and_slope(scores / t, human, objective)[0])


def _fit_weights(
    inputs: Floats, shares: Floats, objective: Objective, ridge: float
) -> tuple[Floats, Floats]:
    """Return weights, (n_inputs, n_classes), and intercepts, (n_classes,), of least loss.

    `ridge` times the squared weights of standardised inputs is added to the mean loss.
    """
    from scipy.optimize import minimize  # slow to import

    means, scales = inputs.mean(axis=0), inputs.std(axis=0)
    scales = np.where(scales > _CONSTANT, scales, 1.0)
    x = (inputs - means) / scales
    # Inputs of several systems are correlated; in uncorrelated coordinates, few steps suffice.
    whitening = _whitening(x, ridge)
    whitened, whitening_gram = np.ascontiguousarray((x @ whitening).T), whitening.T @ whitening
    human = np.ascontiguousarray(shares.T)
    shape = (inputs.shape[1], shares.shape[1])

    def loss(parameters: Floats) -> tuple[float, Floats]:
        weights = parameters[: -shape[1]].reshape(shape)
        scores = weights.T @ whitened + parameters[-shape[1] :, np.newaxis]
        value, score_gradient = loss_and_slope(scores, human, objective)
        gram_weights = whitening_gram @ weights
        weight_gradient = whitened @ score_gradient.T + 2 * ridge * gram_weights
        value += ridge * float((weights * gram_weights).sum())
        return value, np.concatenate([weight_gradient.ravel(), score_gradient.sum(axis=1)])

    base_rates = np.log(np.maximum(shares.mean(axis=0), _FLOOR))
    start = np.concatenate([np.zeros(shape).ravel(), base_rates])
    search = minimize(loss, start, jac=True, method="L-BFGS-B", options=_SEARCH_OPTIONS)
    weights = whitening @ search.x[: -shape[1]].reshape(shape) / scales[:, np.newaxis]
    return weights, search.x[-shape[1] :] - means @ weights


def _whitening(x: Floats, ridge: float) -> Floats:
    """Return a matrix to coordinates, (n_inputs, n_inputs), in which the loss is equally steep."""
    if not x.shape[1]:
        return np.zeros((0, 0))
    variances, axes = np.linalg.eigh(x.T @ x / len(x))
    steepness = _CURVATURE * np.maximum(variances, 0) + 2 * ridge + _CONSTANT
    whitening: Floats = axes * np.sqrt(_CURVATURE / steepness)
    return whitening


def predict_out_of_fold(
    logs: Floats,
    shares: npt.ArrayLike,
    folds: npt.ArrayLike,
    *,
    kind: Kind,
    objective: Objective = "jsd",
    old_label: npt.ArrayLike | None = None,
    penalty: float = PENALTY,
    learned: Callable[[Ints], Ints] | None = None,
) -> Floats:
    """Predict each item by a map that was fitted on the items of the other folds.

    `folds` are as from `grouped_folds`. `learned` takes the positions of the other folds' items,
    and returns the positions of items to fit on; by default all. Other arguments and errors are as
    for `fit_map`.
    """
    human = _check_arguments(logs, shares, kind, objective, old_label, penalty)
    fold = np.asarray(folds)
    if fold.shape != (len(logs),):
        raise ValueError(f"folds have shape {fold.shape}, expected {(len(logs),)}")
    names = np.unique(fold)
    if len(names) < 2:
        raise ChaosError("Nothing can be fitted out of a single fold.", expected="at least 2 folds")

    def labels(rows: Ints) -> Ints | None:
        return None if old_label is None else np.asarray(old_label)[rows]

    predicted = np.empty((len(logs), logs.shape[2]))
    for name in names:
        rows, held_out = np.flatnonzero(fold != name), np.flatnonzero(fold == name)
        rows = rows if learned is None else learned(rows)
        fitted = fit_map(
            logs[rows], human[rows],
            kind=kind, objective=objective, old_label=labels(rows), penalty=penalty,
        )  # fmt: skip
        predicted[held_out] = fitted.predict(logs[held_out], labels(held_out))
    return predicted
