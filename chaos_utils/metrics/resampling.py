"""How much a statistic would move with other items."""

import numpy as np
import numpy.typing as npt

_CHUNK_CELLS = 4_000_000  # 32 MB of counts at a time


def bootstrap_means(
    values: npt.ArrayLike, n_resamples: int, rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    """Means of columns over items drawn with replacement.

    A statistic that is a function of means (a rate, Fleiss' κ) is resampled by applying
    that function to the rows of the result.

    Parameters
    ----------
    values : array_like of float, shape (n_items, n_columns)
        One row an item.
    n_resamples : int
        Number of resamples, at least 1.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of float64, shape (n_resamples, n_columns)

    Raises
    ------
    ValueError
        If `values` has no item or is no table, or `n_resamples` is below 1.

    References
    ----------
    Efron, B. and Tibshirani, R. (1993). An introduction to the bootstrap.
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or len(table) == 0:
        raise ValueError(f"values has shape {table.shape}, expected (n_items, n_columns), n > 0")
    if n_resamples < 1:
        raise ValueError(f"n_resamples is {n_resamples}, expected at least 1")
    n_items = len(table)
    step = max(1, _CHUNK_CELLS // n_items)
    even = np.full(n_items, 1 / n_items)
    means = [
        rng.multinomial(n_items, even, size=min(step, n_resamples - start)) @ table / n_items
        for start in range(0, n_resamples, step)
    ]
    return np.concatenate(means)


def percentile_interval(
    resampled: npt.ArrayLike, level: float = 0.95
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Lower and upper end of the percentile interval of each column.

    Parameters
    ----------
    resampled : array_like of float, shape (n_resamples, ...)
        Values of a statistic on resamples.
    level : float
        Coverage, in (0, 1).

    Returns
    -------
    low, high : ndarray of float64, shape (...)
    """
    if not 0 < level < 1:
        raise ValueError(f"level is {level}, expected a value between 0 and 1")
    tail = (1 - level) / 2
    low, high = np.quantile(np.asarray(resampled, dtype=np.float64), [tail, 1 - tail], axis=0)
    return low, high
