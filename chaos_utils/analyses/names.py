"""What readers call things that tables name by a code."""

from collections.abc import Iterable, Iterator

import pandas as pd

from chaos_utils.base.style import SYSTEM_NAMES as SYSTEM_NAMES
from chaos_utils.datasets.catalogue import short_of
from chaos_utils.report.columns import Column

SYSTEM = Column("system", "system", names=SYSTEM_NAMES)


def dataset_name(dataset: str) -> str:
    """Return what readers call a dataset, or a pool, that tables name ``snli`` or ``snli+mnli``."""
    return short_of(dataset)


def by_dataset(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield what readers call each dataset of a table, in order, and its rows."""
    for dataset, group in rows.groupby("dataset", sort=False):
        yield dataset_name(str(dataset)), group


def listed(names: Iterable[str]) -> str:
    """Join names for prose, with "and" before the last."""
    known = list(names)
    return " and ".join([", ".join(known[:-1]), known[-1]] if len(known) > 1 else known)
