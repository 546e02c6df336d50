"""Checks that every measure makes of its input."""

from typing import Any

import numpy as np
import numpy.typing as npt

_SUM_TOLERANCE = 1e-6


def as_distributions(values: npt.ArrayLike, name: str) -> npt.NDArray[np.float64]:
    """Return an array of shape (n_items, n_classes) whose rows are distributions.

    Parameters
    ----------
    values : array of shape (n_items, n_classes)
    name : str
        What an error calls the array.

    Returns
    -------
    ndarray of float64, shape (n_items, n_classes)
        The values as they are: nothing is rescaled.

    Raises
    ------
    ValueError
        If the shape is another, a value is negative, NaN or infinite, or a row does not
        sum to 1 within 1e-6; the message names the first such row.
    """
    array = _as_table(values, name)
    sums = array.sum(axis=1)
    _first_fault(np.abs(sums - 1) > _SUM_TOLERANCE, name, "sums to {}, expected 1", sums)
    return array


def as_pair(
    one: npt.ArrayLike, other: npt.ArrayLike
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return two arrays of distributions of one shape.

    Parameters
    ----------
    one, other : array of shape (n_items, n_classes)
        Rows sum to 1.

    Returns
    -------
    one, other : ndarray of float64, shape (n_items, n_classes)

    Raises
    ------
    ValueError
        If a row is no distribution, or the shapes differ; the message says where.
    """
    p, q = as_distributions(one, "first argument"), as_distributions(other, "second argument")
    if p.shape != q.shape:
        raise ValueError(f"the shapes {p.shape} and {q.shape} differ, expected the same")
    return p, q


def as_labels(
    values: npt.ArrayLike, n_items: int, n_classes: int, name: str
) -> npt.NDArray[np.int64]:
    """Return an array of label positions.

    Parameters
    ----------
    values : array of int, shape (n_items,)
    n_items, n_classes : int
        How many labels there must be, and what each must be below.
    name : str
        What an error calls the array.

    Returns
    -------
    ndarray of int64, shape (n_items,)

    Raises
    ------
    ValueError
        If the shape or the type is another, or a label is not in [0, n_classes).
    """
    labels = np.asarray(values)
    if labels.shape != (n_items,) or not np.issubdtype(labels.dtype, np.integer):
        raise ValueError(
            f"{name} has shape {labels.shape} of {labels.dtype}, expected {n_items} integers"
        )
    wrong = (labels < 0) | (labels >= n_classes)
    _first_fault(wrong, name, f"is {{}}, expected a label position below {n_classes}", labels)
    return labels.astype(np.int64)


def as_votes(values: npt.ArrayLike, name: str) -> npt.NDArray[np.float64]:
    """Return an array of shape (n_items, n_classes) of vote counts, each row with a vote.

    Parameters
    ----------
    values : array of shape (n_items, n_classes)
    name : str
        What an error calls the array.

    Returns
    -------
    ndarray of float64, shape (n_items, n_classes)
        Whole numbers.

    Raises
    ------
    ValueError
        If the shape is another, a count is negative, NaN, infinite or not whole, or a
        row has no vote; the message names the first such row.
    """
    array = _as_table(values, name)
    fractions = (array != np.floor(array)).any(axis=1)
    _first_fault(fractions, name, "holds {}, expected whole counts", array)
    _first_fault(array.sum(axis=1) == 0, name, "holds {}, expected at least one vote", array)
    return array


def _as_table(values: npt.ArrayLike, name: str) -> npt.NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or array.shape[0] == 0 or array.shape[1] < 2:
        raise ValueError(
            f"{name} has shape {array.shape}, expected (n_items, n_classes) with at least "
            "1 item and 2 classes"
        )
    # Row by row only when something is wrong: sums over short rows take most of the time.
    if not np.isfinite(array).all():
        wrong = ~np.isfinite(array).all(axis=1)
        _first_fault(wrong, name, "holds {}, expected finite values", array)
    if array.min() < 0:
        wrong = (array < 0).any(axis=1)
        _first_fault(wrong, name, "holds {}, expected no negative value", array)
    return array


def _first_fault(wrong: Any, name: str, message: str, shown: npt.NDArray[Any]) -> None:
    if wrong.any():
        row = int(np.argmax(wrong))
        more = int(wrong.sum()) - 1
        also = f" (and {more} more rows)" if more else ""
        raise ValueError(f"{name}, row {row}, {message.format(shown[row].tolist())}{also}")
