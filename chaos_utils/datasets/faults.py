"""Faults of a data file: all are counted, the first few are shown, none is repaired."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from chaos_utils.base.errors import ChaosError, counted

Ints = npt.NDArray[np.int64]
_SHOWN = 5


class Faults:
    """The faults of one file, collected while it is read.

    `title` is what the file holds, `expected` its format in a line, `todo` what the user can do.
    """

    def __init__(self, path: Path | None, title: str, *, expected: str, todo: str) -> None:
        self.path = path
        self.title = title
        self._expected = expected
        self.todo = todo
        self.number = 0
        self._first: list[tuple[int, str]] = []  # the row, where it is known, and what is wrong

    def add(self, place: str, problems: Iterable[str]) -> bool:
        """Note what is wrong at a place, such as ``line 3``; return whether anything is."""
        faults = [(-1, f"{place}, {problem}") for problem in problems]
        self._first += faults[:_SHOWN]
        self.number += len(faults)
        return bool(faults)

    def add_many(self, number: int, text: Callable[[int], str]) -> None:
        """Note `number` faults; `text` gives the words for the first few, by index."""
        self._first += [(-1, text(k)) for k in range(min(number, _SHOWN))]
        self.number += number

    def rows(
        self,
        numbers: Ints,
        place: Callable[[int], str],
        problem: Callable[[int], str],
        at: Ints | None = None,
    ) -> None:
        """Note what is wrong with rows, or with votes.

        `numbers` are those of rows, or of votes if `at` has the row of each vote; `place` says
        where a row stands, and `problem` what is wrong with a number.
        """
        in_order = np.argsort(numbers if at is None else at[numbers], kind="stable")
        for number in numbers[in_order[:_SHOWN]].tolist():
            row = number if at is None else int(at[number])
            self._first.append((row, f"{place(row)}, {problem(number)}"))
        self.number += len(numbers)

    @property
    def shown(self) -> list[str]:
        """The first few faults in the order of the rows, and how many more there are."""
        first = [text for _, text in sorted(self._first, key=lambda pair: pair[0])[:_SHOWN]]
        more = self.number - len(first)
        return [*first, f"and {more:,} more"] if more else first

    def check(self) -> None:
        """Raise one ChaosError if there was any fault."""
        if not self.number:
            return
        what = self.title if self.path is None else f"a file of {self.title}"
        raise ChaosError(
            f"{counted(self.number, 'fault')} in {what}.",
            where=self.path,
            found="\n".join(self.shown),
            expected=self._expected,
            todo=self.todo,
        )

    def fatal(
        self, problem: str, found: object = None, expected: str = "", todo: str = ""
    ) -> ChaosError:
        """Return the error for a fault after which the file cannot be read any further."""
        return ChaosError(
            problem,
            where=self.path,
            found=found,
            expected=expected or self._expected,
            todo=todo or self.todo,
        )


def shorten(value: object, limit: int = 60) -> str:
    """Return a value as a message shows it: quoted, in one line, never long."""
    text = "nothing" if value is None else repr(value.strip() if isinstance(value, str) else value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def listed(names: Sequence[object], limit: int = 12) -> str:
    """Return the first few names as a message lists them."""
    return ", ".join(map(shorten, names[:limit])) + (", …" if len(names) > limit else "")


def wrong_value_message(field: str, found: object, expected: str) -> str:
    """Return the message about a field that does not hold the expected value."""
    return f"field {field!r}: found {shorten(found)}; expected {expected}"
