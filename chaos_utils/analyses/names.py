"""Names for readers of things that have a code in tables."""

from collections.abc import Iterable

from chaos_utils.plots.systems import SYSTEM_NAMES
from chaos_utils.report.columns import Column

SYSTEM = Column("system", "system", names=SYSTEM_NAMES)


def join_names(names: Iterable[str]) -> str:
    """Join names for prose, with "and" before the last."""
    words = list(names)
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def in_words(n: int) -> str:
    """Return a number as prose writes it: in words up to ten."""
    words = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    return words[n - 1] if 1 <= n <= len(words) else f"{n:,}"
