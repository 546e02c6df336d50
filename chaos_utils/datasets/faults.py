"""Faults of a data file: all are counted, the first few are shown, none is repaired."""

from collections.abc import Iterable
from pathlib import Path

from chaos_utils.base.errors import ChaosError, counted

_SHOWN = 5


class Faults:
    """The faults of one file, collected while it is read.

    Parameters
    ----------
    path : Path
        The file.
    title : str
        What it holds, such as the dataset's title.
    expected : str
        Its format, in one line.
    todo : str
        What its reader can do about the faults.
    """

    def __init__(self, path: Path, title: str, *, expected: str, todo: str) -> None:
        self.path = path
        self.title = title
        self._expected = expected
        self._todo = todo
        self._found: list[str] = []

    def add(self, place: str, problems: Iterable[str]) -> bool:
        """Note what is wrong at a place, such as ``line 3``; return whether anything is."""
        found = [f"{place}, {problem}" for problem in problems]
        self._found += found
        return bool(found)

    def check(self) -> None:
        """Raise one ChaosError if there was any fault."""
        if not self._found:
            return
        more = len(self._found) - _SHOWN
        shown = self._found[:_SHOWN] + ([f"and {more} more"] if more > 0 else [])
        raise ChaosError(
            f"{counted(len(self._found), 'fault')} in a file of {self.title}.",
            where=self.path,
            found="\n".join(shown),
            expected=self._expected,
            todo=self._todo,
        )

    def fatal(
        self, problem: str, found: object = None, expected: str = "", todo: str = ""
    ) -> ChaosError:
        """Return the error of a file that cannot be read on."""
        return ChaosError(
            problem,
            where=self.path,
            found=found,
            expected=expected or self._expected,
            todo=todo or self._todo,
        )


def shorten(value: object, limit: int = 60) -> str:
    """Return a value as a message shows it: quoted, in one line, never long."""
    text = "nothing" if value is None else repr(value.strip() if isinstance(value, str) else value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def wrong(field: str, found: object, expected: str) -> str:
    """Say that a field holds what it should not."""
    return f"field {field!r}: found {shorten(found)}; expected {expected}"
