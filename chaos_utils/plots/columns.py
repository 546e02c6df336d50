"""Columns and cells of tables that know of datasets and of tests."""

import math

from chaos_utils.datasets.catalogue import short_of
from chaos_utils.metrics.resampling import smallest_p_value
from chaos_utils.report.columns import Column, is_missing, number

DATASET = Column("dataset", "dataset", names=short_of)


def p_value(p: float, n_resamples: int, *, raw: float | None = None) -> str:
    """Write the p-value `p` with three decimals, or more if they would all be 0; nothing for NaN.

    The smallest p-value that `n_resamples` allow is written as a bound, ``≤ 0.0002``. `raw` is the
    p-value before it was adjusted for several comparisons.
    """
    if is_missing(p):
        return ""
    # A recorded number has nine digits.
    if (p if raw is None else raw) <= smallest_p_value(n_resamples) * (1 + 1e-6):
        # Rounded up, so that it remains a bound.
        digits = 1 - math.floor(math.log10(p))
        bound = f"{math.ceil(round(p * 10**digits, 6)) / 10**digits:.{digits}f}"
        return f"≤ {bound.rstrip('0').rstrip('.')}"
    return number(p, 3) if p >= 0.0005 else "< 0.001"
