"""Names for readers of things that have a code in tables."""

from collections.abc import Iterable

from chaos_utils.plots.systems import SYSTEM_NAMES
from chaos_utils.report.columns import Column

SYSTEM = Column("system", "system", names=SYSTEM_NAMES)


def join_names(names: Iterable[str]) -> str:
    """Join names for prose, with "and" before the last."""
    words = list(names)
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
