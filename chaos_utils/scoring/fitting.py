"""Maps from what systems predict to vote shares, fitted on the votes on other items.

A map takes the log-probabilities of one system, or of several side by side, to a distribution over
the labels. It has a few parameters to some hundreds, and is fitted in seconds. What it predicts of
an item never depends on the votes on that item, nor on those on an item with the same premise,
story or image: see `datasets.splits`, `predict_out_of_fold` and `predict_nested`.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.datasets.splits import grouped_folds
from chaos_utils.metrics.checks import as_distributions
from chaos_utils.scoring.recalibration import LIMITS

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Kind = Literal["temperature", "vector", "isotonic", "affine", "quadratic"]
Objective = Literal["kl", "jsd"]

STACKING: tuple[Kind, ...] = ("affine", "quadratic")  # these weigh each system by itself
KINDS: tuple[Kind, ...] = ("temperature", "vector", "isotonic", *STACKING)
OBJECTIVES: tuple[Objective, ...] = ("kl", "jsd")
PENALTY = 3.0  # of the squared weights of standardised inputs, beside a loss summed over items
PENALTIES = (0.3, 1.0, 3.0, 10.0, 30.0)  # that inner folds choose from
INNER_FOLDS = 5
_FLOOR = 1e-9  # of a probability whose logarithm is taken
_SMOOTH = 1e-6  # under the root of the divergence, which has no slope at 0
_TINY = 1e-300
_LEAST = 1e-3  # share that an isotonic map gives to a label, before shares are made to sum to 1
_CONSTANT = 1e-9  # below it, an input has no spread
_CURVATURE = 0.15  # of the loss in a score, about
# Far enough that other processors agree on the digits of a recorded table.
_UNTIL = {"maxiter": 2000, "maxfun": 4000, "maxcor": 20, "ftol": 1e-14, "gtol": 1e-8}


# What a map sees


def log_probabilities(probabilities: npt.ArrayLike) -> Floats:
    """Return the natural logarithms of one or several systems' distributions, none of them −∞.

    Parameters
    ----------
    probabilities : array_like of float
        Of shape (n_items, n_classes), or (n_items, n_systems, n_classes); rows sum to 1.

    Returns
    -------
    ndarray of float64, shape (n_items, n_systems, n_classes)
        A probability below 1e-9 counts as 1e-9.

    Raises
    ------
    ValueError
        If a row is not a distribution.
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
    """Return the numbers of each item that a map weighs.

    Parameters
    ----------
    logs : ndarray of float, shape (n_items, n_systems, n_classes)
        As `log_probabilities` gives them; there may be no system.
    kind : str
        ``affine``: the log-probabilities. ``quadratic``: these, the probabilities, and all products
        of two of a system's centred logits. ``vector``: the means of the log-probabilities over
        systems.
    old_label : array_like of int, shape (n_items,), optional
        Added as one indicator per label, and by its products with the log-probabilities.
    """
    n, _, k = logs.shape
    flat = logs.reshape(n, -1)
    if kind == "vector":
        parts = [logs.mean(axis=1)]
    elif kind == "quadratic":
        centred = logs - logs.mean(axis=2, keepdims=True)
        one, other = np.triu_indices(k)
        parts = [flat, np.exp(flat), (centred[:, :, one] * centred[:, :, other]).reshape(n, -1)]
    else:
        parts = [flat]
    if old_label is not None:
        labels = np.eye(k)[np.asarray(old_label)]
        parts += [labels, (flat[:, :, np.newaxis] * labels[:, np.newaxis]).reshape(n, -1)]
    return np.concatenate(parts, axis=1)


# How it is fitted


def loss_and_slope(scores: Floats, shares: Floats, objective: Objective) -> tuple[float, Floats]:
    """Return the mean loss of softmaxed scores against vote shares, and its slope in the scores.

    Parameters
    ----------
    scores : ndarray of float, shape (n_classes, n_items)
        Labels come first, since sums along the first axis are much faster.
    shares : ndarray of float, shape (n_classes, n_items)
        Columns sum to 1.
    objective : str
        ``kl``: the cross-entropy with the votes, which is KL up to a constant. ``jsd``: the
        Jensen–Shannon distance in √nats, with 10⁻⁶ added under the root, since that has no slope
        at 0.
    """
    logs = scores - scores.max(axis=0)
    logs -= np.log(np.exp(logs).sum(axis=0))
    q = np.exp(logs)
    n = q.shape[1]
    if objective == "kl":
        return float(-(shares * logs).sum() / n), (q - shares) / n
    middle = np.log(np.maximum((q + shares) / 2, _TINY))
    ratio = logs - middle  # of the prediction to the middle
    own = np.log(np.maximum(shares, _TINY)) - middle
    of_model = (q * ratio).sum(axis=0)
    divergence = ((shares * own).sum(axis=0) + of_model) / 2
    distance = np.sqrt(np.maximum(divergence, 0) + _SMOOTH)
    return float(distance.mean()), q * (ratio - of_model) / (4 * n * distance)


@dataclass(frozen=True, slots=True, eq=False)
class FittedMap:
    """A map that `fit_map` has fitted.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    weights : ndarray of float, shape (n_inputs, n_classes)
        Of the inputs, as they are; empty for a temperature, and for an isotonic map.
    intercepts : ndarray of float, shape (n_classes,)
    temperature : float
        1 for all others.
    steps : tuple of pairs of ndarray of float
        Of an isotonic map, for each label: probabilities, ascending, and the share at each.
    """

    kind: Kind
    weights: Floats
    intercepts: Floats
    temperature: float = 1.0
    steps: tuple[tuple[Floats, Floats], ...] = ()

    def predict(self, logs: Floats, old_label: npt.ArrayLike | None = None) -> Floats:
        """Return the distributions of items.

        Parameters
        ----------
        logs, old_label
            As for `inputs_of`.

        Returns
        -------
        ndarray of float64, shape (n_items, n_classes)
            Rows sum to 1.
        """
        if self.kind == "temperature":
            return _softmax(logs.mean(axis=1) / self.temperature)
        if self.kind == "isotonic":
            given = zip(_softmax(logs.mean(axis=1)).T, self.steps, strict=True)
            each = np.stack([np.interp(p, *steps) for p, steps in given], axis=1)
            each = np.maximum(each, _LEAST)
            return np.asarray(each / each.sum(axis=1, keepdims=True))
        return _softmax(inputs_of(logs, self.kind, old_label) @ self.weights + self.intercepts)


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

    With inputs :math:`x` (`inputs_of`) it predicts :math:`\mathrm{softmax}(b + W^\top x)`, where

    * ``temperature``: one number divides the mean log-probabilities; there is no :math:`b`;
    * ``vector``: W is diagonal, one weight for each label;
    * ``affine``: W is any matrix. On log-probabilities this is Dirichlet calibration;
    * ``quadratic``: W is any matrix, and the inputs bend.

    ``isotonic`` is another map: for each label, the share that rises with the label's probability
    (by the mean log-probabilities) and is nearest to the votes, straight between steps; shares are
    then divided by their sum. It has no objective: its steps are best for squared error and for the
    cross-entropy of one label against the rest alike.

    Parameters
    ----------
    logs : ndarray of float, shape (n_items, n_systems, n_classes)
        As `log_probabilities` gives them; with no system, what is left are base rates.
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
    Zadrozny, B. and Elkan, C. (2002). Transforming classifier scores into accurate multiclass
    probability estimates.
    """
    human = _checked(logs, shares, kind, objective, old_label, penalty)
    k = human.shape[1]
    if kind == "temperature":
        found = _fit_temperature(logs.mean(axis=1), human, objective)
        return FittedMap(kind, np.zeros((0, k)), np.zeros(k), found)
    if kind == "isotonic":
        steps = tuple(map(_fit_steps, _softmax(logs.mean(axis=1)).T, human.T))
        return FittedMap(kind, np.zeros((0, k)), np.zeros(k), steps=steps)
    inputs = inputs_of(logs, kind, old_label)
    free = np.eye(k, dtype=bool) if kind == "vector" else np.ones((inputs.shape[1], k), dtype=bool)
    return FittedMap(kind, *_fit_weights(inputs, human, free, objective, penalty / len(human)))


def _checked(
    logs: Floats,
    shares: npt.ArrayLike,
    kind: str,
    objective: str,
    old_label: npt.ArrayLike | None,
    penalty: float,
) -> Floats:
    for what, given, known in (("map", kind, KINDS), ("objective", objective, OBJECTIVES)):
        if given not in known:
            raise ChaosError(
                f"There is no such {what}.", found=repr(given), expected=did_you_mean(given, known)
            )
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
    from scipy.optimize import minimize_scalar  # slow to import

    scores, human = np.ascontiguousarray(logs.T), np.ascontiguousarray(shares.T)

    def loss(log_temperature: float) -> float:
        return loss_and_slope(scores / np.exp(log_temperature), human, objective)[0]

    low, high = np.log(LIMITS)
    found = minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-7})
    return float(np.exp(min([0.0, float(found.x), low, high], key=loss)))


def _fit_steps(probabilities: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """Return the places and heights of the rising steps that are nearest to the shares."""
    from scipy.optimize import isotonic_regression  # slow to import

    places, place, n = np.unique(probabilities, return_inverse=True, return_counts=True)
    means = np.bincount(place, weights=shares) / n
    return places, np.asarray(isotonic_regression(means, weights=n).x)


def _fit_weights(
    inputs: Floats, shares: Floats, free: npt.NDArray[np.bool_], objective: Objective, ridge: float
) -> tuple[Floats, Floats]:
    """Return weights and intercepts; weights that are not `free` are 0."""
    from scipy.optimize import minimize  # slow to import

    means, scales = inputs.mean(axis=0), inputs.std(axis=0)
    scales = np.where(scales > _CONSTANT, scales, 1.0)
    x = (inputs - means) / scales
    # Inputs of several systems go together; in coordinates where they do not, few steps suffice.
    turn = _whitening(x, ridge) if free.all() else np.eye(x.shape[1])
    turned, squared = np.ascontiguousarray((x @ turn).T), turn.T @ turn
    human = np.ascontiguousarray(shares.T)
    n_free = int(free.sum())
    weights = np.zeros(free.shape)

    def loss(parameters: Floats) -> tuple[float, Floats]:
        weights[free] = parameters[:n_free]
        scores = weights.T @ turned + parameters[n_free:, np.newaxis]
        value, slope = loss_and_slope(scores, human, objective)
        pull = squared @ weights
        of_weights = turned @ slope.T + 2 * ridge * pull
        value += ridge * float((weights * pull).sum())
        return value, np.concatenate([of_weights[free], slope.sum(axis=1)])

    start = np.concatenate([np.zeros(n_free), np.log(np.maximum(shares.mean(axis=0), _FLOOR))])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options=_UNTIL)
    weights[free] = found.x[:n_free]
    weights = turn @ weights / scales[:, np.newaxis]
    return weights, found.x[n_free:] - means @ weights


def _whitening(x: Floats, ridge: float) -> Floats:
    """Return a matrix that makes the loss about as steep along each new coordinate."""
    if not x.shape[1]:
        return np.zeros((0, 0))
    spread, axes = np.linalg.eigh(x.T @ x / len(x))
    steep = _CURVATURE * np.maximum(spread, 0) + 2 * ridge + _CONSTANT
    turn: Floats = axes * np.sqrt(_CURVATURE / steep)
    return turn


def _softmax(scores: Floats) -> Floats:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def predict_out_of_fold(
    logs: Floats,
    shares: npt.ArrayLike,
    folds: npt.ArrayLike,
    *,
    kind: Kind,
    objective: Objective = "jsd",
    old_label: npt.ArrayLike | None = None,
    penalty: float = PENALTY,
    learned: Callable[[Ints, Ints], Ints] | None = None,
) -> Floats:
    """Predict each item by a map that was fitted on the items of the other folds.

    Parameters
    ----------
    logs, shares, kind, objective, old_label, penalty
        As for `fit_map`.
    folds : array_like of int, shape (n_items,)
        As `grouped_folds` gives them.
    learned : callable, optional
        Given the positions of the other folds' items, and of the fold's own, returns those that are
        fitted on; by default all of the others.

    Returns
    -------
    ndarray of float64, shape (n_items, n_classes)
        Rows sum to 1.

    Raises
    ------
    ChaosError, ValueError
        As `fit_map`, and if there is a single fold.
    """
    human = _checked(logs, shares, kind, objective, old_label, penalty)
    labels = None if old_label is None else np.asarray(old_label)

    def fit(rows: Ints, held: Ints) -> FittedMap:
        rows = rows if learned is None else learned(rows, held)
        return fit_map(
            logs[rows], human[rows], kind=kind, objective=objective, penalty=penalty,
            old_label=None if labels is None else labels[rows],
        )  # fmt: skip

    return _fold_by_fold(fit, logs, np.asarray(folds), labels)


def _fold_by_fold(
    fit: Callable[[Ints, Ints], FittedMap], logs: Floats, folds: Ints, old_label: Ints | None
) -> Floats:
    if folds.shape != (len(logs),):
        raise ValueError(f"folds have shape {folds.shape}, expected {(len(logs),)}")
    names = np.unique(folds)
    if len(names) < 2:
        raise ChaosError("Nothing can be fitted out of a single fold.", expected="at least 2 folds")
    predicted = np.empty((len(logs), logs.shape[2]))
    for name in names:
        rows, held = np.flatnonzero(folds != name), np.flatnonzero(folds == name)
        own = None if old_label is None else old_label[held]
        predicted[held] = fit(rows, held).predict(logs[held], own)
    return predicted


# Map and penalty chosen by inner folds


def choose_map(
    logs: Floats,
    shares: npt.ArrayLike,
    groups: npt.ArrayLike,
    *,
    objective: Objective = "jsd",
    old_label: npt.ArrayLike | None = None,
    seed: int = 0,
) -> tuple[Kind, float]:
    """Return the kind of map, of `STACKING`, and the penalty, of `PENALTIES`, of least loss.

    Parameters
    ----------
    logs, shares, objective, old_label
        As for `fit_map`.
    groups : array_like of int, shape (n_items,)
        As `item_groups` gives them; they decide the folds, of which there are `INNER_FOLDS`, or as
        many as there are groups.
    seed : int
        Of the folds.

    Returns
    -------
    kind : str
        Of `STACKING`.
    penalty : float
        Of `PENALTIES`.

    Raises
    ------
    ChaosError, ValueError
        As `predict_out_of_fold`.
    """
    names = np.unique(np.asarray(groups))
    folds = grouped_folds(groups, min(INNER_FOLDS, len(names)), seed)
    human = as_distributions(shares, "shares").T

    def loss(choice: tuple[Kind, float]) -> float:
        kind, penalty = choice
        predicted = predict_out_of_fold(
            logs, shares, folds,
            kind=kind, objective=objective, old_label=old_label, penalty=penalty,
        )  # fmt: skip
        return loss_and_slope(np.log(np.maximum(predicted, _TINY)).T, human, objective)[0]

    return min(itertools.product(STACKING, PENALTIES), key=loss)


def predict_nested(
    logs: Floats,
    shares: npt.ArrayLike,
    groups: npt.ArrayLike,
    folds: npt.ArrayLike,
    *,
    objective: Objective = "jsd",
    old_label: npt.ArrayLike | None = None,
    seed: int = 0,
) -> Floats:
    """Predict each item by a map that was chosen, and fitted, on the items of the other folds.

    Parameters
    ----------
    logs, shares, groups, objective, old_label, seed
        As for `choose_map`.
    folds : array_like of int, shape (n_items,)
        As `grouped_folds` gives them for the same groups.

    Returns
    -------
    ndarray of float64, shape (n_items, n_classes)
        Rows sum to 1.

    Raises
    ------
    ChaosError, ValueError
        As `predict_out_of_fold`.
    """
    human, group = as_distributions(shares, "shares"), np.asarray(groups)
    labels = None if old_label is None else np.asarray(old_label)

    def fit(rows: Ints, held: Ints) -> FittedMap:
        known = None if labels is None else labels[rows]
        kind, penalty = choose_map(
            logs[rows], human[rows], group[rows], objective=objective, old_label=known, seed=seed
        )
        return fit_map(
            logs[rows], human[rows],
            kind=kind, objective=objective, old_label=known, penalty=penalty,
        )  # fmt: skip

    return _fold_by_fold(fit, logs, np.asarray(folds), labels)
