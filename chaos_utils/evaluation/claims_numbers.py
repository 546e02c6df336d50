"""Numbers that only the claims need, as functions of means over items where they are resampled."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from chaos_utils.metrics import calibration
from chaos_utils.metrics.measures import BAAN_BINS, Judged

Floats = npt.NDArray[np.float64]


def classwise_columns(judged: Judged) -> Floats:
    """Return columns whose means give class-wise ECE: gaps and presence, class by bin.

    Parameters
    ----------
    judged : Judged
        A system beside the humans on n_items; hits are against the first majority.

    Returns
    -------
    ndarray of float, shape (n_items, 2 * n_classes * n_bins)
        Gaps first, each hit minus probability in its bin; then 1 in the bin, 0 elsewhere.
    """
    probabilities, hits = calibration.classwise_hits(judged.model, judged.first_majority)
    bins = BAAN_BINS.assign(probabilities)[..., np.newaxis] == np.arange(BAAN_BINS.n_bins)
    gaps = bins * (hits - probabilities)[..., np.newaxis]
    return np.stack([gaps, bins], axis=1).reshape(len(probabilities), -1)


def classwise_percent(means: Floats, *, divide_by: str) -> Floats:
    """Return class-wise ECE in per cent from means of `classwise_columns`.

    Parameters
    ----------
    divide_by : {'all', 'binned'}
        As in `classwise_calibration_error`.

    Returns
    -------
    ndarray of float, shape (...)
        In [0, 100].
    """
    cells = means.reshape(*means.shape[:-1], 2, -1, BAAN_BINS.n_bins)
    gaps = np.abs(cells[..., 0, :, :]).sum(axis=-1)
    if divide_by == "binned":
        gaps = gaps / np.maximum(cells[..., 1, :, :].sum(axis=-1), 1e-12)
    percent: Floats = 100 * gaps.mean(axis=-1)
    return percent


def votes_scored(human: Floats, model: Floats, score: Callable[[Floats, Floats], Floats]) -> Floats:
    """Return a model's score against single votes, averaged over an item's votes.

    Parameters
    ----------
    human, model : ndarray of float, shape (n_items, n_classes)
        Vote shares and predictions; rows sum to 1.
    score : callable
        From one-hot votes and predictions to a score per item, smaller is better.
    """
    labels = np.eye(human.shape[1])
    by_label = [score(np.broadcast_to(label, human.shape), model) for label in labels]
    return (human * np.stack(by_label, axis=1)).sum(axis=1)
