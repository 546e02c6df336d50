"""Recalibrate a system: map its log-probabilities to vote shares, fitted on other texts' votes.

The map is softmax(W log p + b), with k (k + 1) numbers for k labels, fitted for KL. Newton's steps
take an eighteenth of the time of the same map in `scoring.fitting` (0.02 s for 0.43 s, ten folds of
1,600 items), and agree with it to 1e-5. For a system that gives one label per item, the map is the
mean vote given that label. What it predicts of an item depends on votes on items of other folds
alone: see `datasets.splits.folds_of`. Unlike drawing a system towards the base rate by one number,
it undoes a temperature, so it shows what a system knows.
"""

import numpy as np
import numpy.typing as npt

from chaos_utils.metrics.checks import as_distributions
from chaos_utils.metrics.divergence import Floats
from chaos_utils.scoring.temperature_scaling import log_softmax

Ints = npt.NDArray[np.int64]

FEWEST = 500  # items: with fewer, its interval held what simulated maps are worth too rarely
PER_NUMBER = 40  # items for each number that is fitted
PENALTY = 3.0  # of the squared weights of standardised inputs, beside a loss summed over items
FLOOR = 1e-9  # of a probability whose logarithm is taken
CERTAIN = 1e-9  # a label that lacks no more of probability 1 is the only one that is given
_CONSTANT = 1e-9  # below it, an input has no spread
_STEPS = 100
_NEAR = 1e-10  # what a step promises, in nats per item, where the best map is found


def too_few_to_recalibrate(n_items: int, n_classes: int) -> str:
    """Say why `n_items` are too few for a map of `n_classes` labels; empty where they are not.

    A map has k (k + 1) numbers for k labels, and takes 40 items for each, and 500 at least.
    """
    n_numbers = n_classes * (n_classes + 1)
    needed = max(FEWEST, PER_NUMBER * n_numbers)
    if n_items >= needed:
        return ""
    return f"a map of {n_numbers} numbers takes {needed:,} items, and these are {n_items:,}"


def are_labels(probabilities: Floats) -> bool:
    """Return whether each item is given one label and no probabilities."""
    return bool((probabilities.max(axis=1) > 1 - CERTAIN).all())


def recalibrated(
    probabilities: npt.ArrayLike, shares: npt.ArrayLike, folds: npt.ArrayLike, n_answers: int = 0
) -> Floats:
    r"""Return a system's distributions, mapped as is best for the items of the other folds.

    Parameters
    ----------
    probabilities : array_like of float, shape (n_items, n_classes)
        What the system gives. Below 1e-9 counts as 1e-9. Where it gives one label per item, an
        item gets the mean vote on the others that have its label; where none has, on all others.
    shares : array_like of float, shape (n_items, n_classes)
        Vote shares.
    folds : array_like of int, shape (n_items,)
        As `datasets.splits.folds_of` gives them; at least two.
    n_answers : int
        Answers per item that `probabilities` are shares of: each label gets half an answer more,
        so that none has a probability of 0. 0 where they are no counts.

    Returns
    -------
    ndarray of float, shape (n_items, n_classes)
        Rows sum to 1.

    References
    ----------
    Kull, M. et al. (2019). Beyond temperature scaling: obtaining well-calibrated multiclass
    probabilities with Dirichlet calibration.
    """
    model = as_distributions(probabilities, "probabilities")
    human, fold = as_distributions(shares, "shares"), np.asarray(folds)
    if fold.shape != (len(model),) or model.shape != human.shape:
        raise ValueError(
            f"shapes differ: probabilities {model.shape}, shares {human.shape}, folds {fold.shape}"
        )
    if (fold == fold[:1]).all():
        raise ValueError("nothing can be fitted out of a single fold")
    if are_labels(model):
        return mean_of_other_folds(human, model.argmax(axis=1), fold)[0]
    if n_answers:
        model = smoothed(model, n_answers)
    logs, mapped = np.log(np.maximum(model, FLOOR)), np.empty_like(model)
    for name in sorted(set(fold.tolist())):
        held = fold == name
        weights, intercepts = fit_affine(logs[~held], human[~held])
        mapped[held] = np.exp(log_softmax(logs[held] @ weights + intercepts))
    return mapped


def smoothed(shares: Floats, n_answers: int) -> Floats:
    """Return shares of counted answers with half an answer more for each label."""
    counts = shares * n_answers + 0.5
    found: Floats = counts / counts.sum(axis=1, keepdims=True)
    return found


def mean_of_other_folds(shares: Floats, labels: Ints, folds: Ints) -> tuple[Floats, int]:
    """Return each item's mean vote shares of the items of the other folds that have its label.

    Where none has, it is the mean of all their items; how many items these are is returned, too.
    """
    means, n_without = np.empty_like(shares), 0
    for fold in sorted(set(folds.tolist())):
        outside = folds != fold
        for label in sorted(set(labels[~outside].tolist())):
            held, learned = ~outside & (labels == label), outside & (labels == label)
            if not learned.any():
                learned, n_without = outside, n_without + int(held.sum())
            means[held] = shares[learned].mean(axis=0)
    return means, n_without


def fit_affine(logs: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """Return the weights and intercepts of the affine map that is nearest to the votes by KL.

    By Newton's method: each step is halved until it gains something. `logs` and `shares` have shape
    (n_items, n_classes); so have the weights, of shape (n_classes, n_classes), a column per label.
    The loss is summed over items, and `PENALTY` times the squared weights of standardised inputs is
    added, so that it counts for less the more items there are.
    """
    n, k = shares.shape
    means, scales = logs.mean(axis=0), logs.std(axis=0)
    scales = np.where(scales > _CONSTANT, scales, 1.0)
    x = np.column_stack([(logs - means) / scales, np.ones(n)])
    ridge = 2 * PENALTY / n * np.tile(np.append(np.ones(k), 0.0), k)
    outer = x[:, :, np.newaxis] * x[:, np.newaxis, :]

    def loss(numbers: Floats, logs: Floats) -> float:
        return float(-(shares * logs).sum() / n + (ridge * numbers**2).sum() / 2)

    numbers = np.zeros((k, k + 1))  # a row per label
    numbers[:, k] = np.log(np.maximum(shares.mean(axis=0), FLOOR))
    fitted = log_softmax(x @ numbers.T)
    value = loss(numbers.ravel(), fitted)
    for _ in range(_STEPS):
        q = np.exp(fitted)
        slope = ((q - shares).T @ x / n).ravel() + ridge * numbers.ravel()
        curvature = np.diag(ridge)
        for row in range(k):
            for column in range(k):
                weights = q[:, row] * ((row == column) - q[:, column])
                rows, columns = (slice(c * (k + 1), (c + 1) * (k + 1)) for c in (row, column))
                curvature[rows, columns] += np.tensordot(weights, outer, axes=1) / n
        # The same number added to all intercepts changes nothing: of all best steps, the shortest.
        step = np.linalg.lstsq(curvature, slope, rcond=None)[0]
        promised, size = float(slope @ step), 1.0
        if promised < _NEAR:
            break
        while size > _CONSTANT:
            tried = numbers - size * step.reshape(k, k + 1)
            logs_tried = log_softmax(x @ tried.T)
            gained = value - loss(tried.ravel(), logs_tried)
            if gained >= size * promised / 4:
                break
            size /= 2
        else:
            break
        numbers, fitted, value = tried, logs_tried, value - gained
    of_inputs = numbers[:, :k].T / scales[:, np.newaxis]
    return of_inputs, numbers[:, k] - means @ of_inputs
