"""Candidates for the layout of a votes file: the readings that one recogniser finds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

NAME_THEM = (
    "name the columns for `chaos dataset init`: --item, --label and, where it is known, "
    "--annotator; if each vote of an item has a column of its own, write a YAML file "
    "(reader.format: columns)"
)
# The fields of a reader in a dataset's YAML file. A reader of counts also has `counts`, the label
# by the path of its counts, and `inside`, the column of the objects or lists that hold them.
Reader = dict[str, Any]
Item = str | Sequence[str]  # the column of the items, or several that name them together


@dataclass(frozen=True, slots=True)
class Candidate:
    """A layout that a file may have.

    Attributes
    ----------
    reason : str
        The evidence for this layout; or the question, where it is in doubt.
    readers : sequence of dict
        The possible readers, the likeliest first.
    todo : str
        What the file's owner can do instead of writing a YAML file; empty for nothing.
    is_clear : bool
        Whether the first reader is used without a question.
    refusal : tuple of str
        Why nothing can be read from this layout: the problem, what was found, what is expected and
        what to do; empty where it can be read.
    """

    reason: str
    readers: Sequence[Reader] = ()
    todo: str = ", or name the columns for `chaos dataset init`: --item, --annotator, --label"
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
    """Return the first candidate that is not None; None if all are."""
    return next((candidate for candidate in candidates if candidate), None)


def columns_of(item: Item) -> tuple[str, ...]:
    """Return the columns that name an item."""
    return tuple(item) if not isinstance(item, str) else (item,) if item else ()
