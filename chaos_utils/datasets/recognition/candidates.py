"""What a votes file may be, as one recogniser sees it: readings, with a reason."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

NAME_THEM = (
    "name the columns: --item, --label and, where it is known, --annotator; if each vote of an "
    "item has a column of its own, write a YAML file (reader.format: columns)"
)
# As in a dataset's YAML file; and of counts their columns, each with its label, as `counts`, and
# the column in whose cells they stand as `inside`.
Reader = dict[str, Any]
Item = str | Sequence[str]  # the column of the items, or several that name them together


@dataclass(frozen=True, slots=True)
class Candidate:
    """A layout that a file may have.

    Attributes
    ----------
    reason : str
        What speaks for it; or the question, where that is in doubt.
    readers : sequence of dict
        What a YAML file may say of it, the likeliest first.
    todo : str
        What else its owner can do than write a YAML file; empty for nothing.
    is_clear : bool
        Whether the first of the readers is used, and nothing asked.
    refusal : tuple of str
        Why nothing can be read from this layout: the problem, what was found, what is expected and
        what to do; empty where something can.
    """

    reason: str
    readers: Sequence[Reader] = ()
    todo: str = ", or name the columns: --item, --annotator, --label"
    is_clear: bool = False
    refusal: tuple[str, ...] = ()


def clear(reader: Reader, reason: str) -> Candidate:
    """Return a layout that is read without a question."""
    return Candidate(reason, (reader,), is_clear=True)


def doubt(reason: str, readers: Sequence[Reader]) -> Candidate:
    """Return readings among which the file's owner has to choose."""
    return Candidate(reason, readers)


def refused(problem: str, found: str, expected: str = "", todo: str = "") -> Candidate:
    """Return a layout from which nothing can be read."""
    return Candidate(problem, refusal=(problem, found, expected, todo))


def wide_by(base: Reader, names: Sequence[str]) -> Reader:
    """Return the reader of counts in columns that are called as the labels."""
    return {"format": "wide"} | base | {"counts": dict(zip(names, names, strict=True))}


def first(candidates: Iterable[Candidate | None]) -> Candidate | None:
    """Return the first candidate that there is."""
    return next((candidate for candidate in candidates if candidate), None)


def columns_of(item: Item) -> tuple[str, ...]:
    """Return the columns that name an item."""
    return tuple(item) if not isinstance(item, str) else (item,) if item else ()
