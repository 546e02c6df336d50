"""Checks that every measure makes of its input: a ValueError names the first row that is wrong.

`name` is the array's name in the error.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

_SUM_TOLERANCE = 1e-6


def as_distributions(values: npt.ArrayLike, name: str) -> npt.NDArray[np.float64]:
    """Return floats of shape (n_items, n_classes) whose rows are distributions, as they are.

    A row may miss 1 by 1e-6; nothing is rescaled.
    """
    array = _as_table(values, name)
    sums = array.sum(axis=1)
    _refuse_rows(np.abs(sums - 1) > _SUM_TOLERANCE, name, "sums to {}, expected 1", sums)
    return array


def as_pair(
    first: npt.ArrayLike, second: npt.ArrayLike
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return two arrays of distributions of one shape."""
    p, q = as_distributions(first, "first argument"), as_distributions(second, "second argument")
    if p.shape != q.shape:
        raise ValueError(f"the shapes {p.shape} and {q.shape} differ, expected the same")
    return p, q


def as_labels(
    values: npt.ArrayLike, n_items: int, n_classes: int, name: str
) -> npt.NDArray[np.int64]:
    """Return an array of label positions, shape (n_items,), each below ``n_classes``."""
    labels = np.asarray(values)
    if labels.shape != (n_items,) or not np.issubdtype(labels.dtype, np.integer):
        raise ValueError(
            f"{name} has shape {labels.shape} of {labels.dtype}, expected {n_items} integers"
        )
    wrong = (labels < 0) | (labels >= n_classes)
    _refuse_rows(wrong, name, f"is {{}}, expected a label position below {n_classes}", labels)
    return labels.astype(np.int64)


def as_votes(values: npt.ArrayLike, name: str) -> npt.NDArray[np.float64]:
    """Return floats of shape (n_items, n_classes): whole vote counts, each row with a vote."""
    array = _as_table(values, name)
    fractions = (array != np.floor(array)).any(axis=1)
    _refuse_rows(fractions, name, "holds {}, expected whole counts", array)
    _refuse_rows(array.sum(axis=1) == 0, name, "holds {}, expected at least one vote", array)
    return array


def _as_table(values: npt.ArrayLike, name: str) -> npt.NDArray[np.float64]:
    """Return finite floats of 0 and more, shape (n_items, n_classes)."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or array.shape[0] == 0 or array.shape[1] < 2:
        raise ValueError(
            f"{name} has shape {array.shape}, expected (n_items, n_classes) with at least "
            "1 item and 2 classes"
        )
    # Row by row only when something is wrong: sums over short rows take most of the time.
    if not np.isfinite(array).all():
        wrong = ~np.isfinite(array).all(axis=1)
        _refuse_rows(wrong, name, "holds {}, expected finite values", array)
    if array.min() < 0:
        wrong = (array < 0).any(axis=1)
        _refuse_rows(wrong, name, "holds {}, expected no negative value", array)
    return array


def _refuse_rows(wrong: Any, name: str, message: str, values: npt.NDArray[Any]) -> None:
    """Raise a ValueError that quotes the first row of the `values` that is `wrong`, if one is."""
    if wrong.any():
        row = int(np.argmax(wrong))
        more = int(wrong.sum()) - 1
        others = f" (and {more} more rows)" if more else ""
        raise ValueError(f"{name}, row {row}, {message.format(values[row].tolist())}{others}")
