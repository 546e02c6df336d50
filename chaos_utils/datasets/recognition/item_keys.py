"""Recognition of the columns that name the items: one, or several, as a post and a reply."""

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from chaos_utils.base.errors import counted
from chaos_utils.datasets.cells import as_number
from chaos_utils.datasets.faults import listed
from chaos_utils.datasets.frame import Column, Frame, no_header
from chaos_utils.datasets.people import VOTERS, names_annotators
from chaos_utils.datasets.recognition.candidates import (
    NAME_THEM,
    Candidate,
    Item,
    Reader,
    columns_of,
    doubt,
    refused,
)
from chaos_utils.datasets.recognition.columns import LABELS, Columns
from chaos_utils.datasets.texts import (
    annotators_of,
    are_rounded,
    differs_in,
    is_part_of_key,
    is_rounded,
    shorter_part,
)

# A column of such a name may identify the items; it may also number the steps of a session.
_LIKE_ITEM = re.compile(r"(^|_)(ids?|stimul(us|i)|trial|post|comment|tweet|sentence|text)$")


def several_columns_of_items(columns: Columns) -> Candidate | None:
    """Several columns that are called after items: each, or two together, may name the items."""
    if len(columns.items) < 2:
        return None
    first_two = columns.items[:2]
    n_items = max(len(columns.frame.key(name).values) for name in first_two)
    together = [first_two] if len(columns.frame.key(first_two).values) > n_items else []
    return _ask_for_items(columns, columns.items, {}, [*first_two, *together])


def unknown_columns(columns: Columns) -> Candidate:
    """A file in which nothing is recognised; columns of identifiers may name the items."""
    ids = [name for name, words in columns.words.items() if re.search(r"(^|_)ids?$", words)]
    names = [name for name in ids if not names_annotators(name) and columns.repeats(name)]
    if len(names) > 1:
        people = {"annotator": next(iter(columns.named(VOTERS, names)), "")}
        return _ask_for_items(columns, names, people, [names[:2], *names[:2]])
    if columns.frame.lacks_header:
        return refused(*no_header(columns.frame.names))
    return refused(
        "The columns of items and votes are not recognised.",
        f"columns {listed(columns.frame.names)}",
        todo=f"{_command(columns)}; or {NAME_THEM}",
    )


def _command(columns: Columns) -> str:
    """Return the command that names the columns, as far as their names suggest what they hold."""
    label = next(iter(columns.named(LABELS)), "")
    used = {label, columns.annotator}
    items = [
        name
        for name, words in columns.words.items()
        if _LIKE_ITEM.search(words) and name not in used and not names_annotators(name)
    ]
    item = items[0] if len(items) == 1 else ""
    named = {"item": item or "COLUMN", "label": label or "COLUMN", "annotator": columns.annotator}
    options = " ".join(
        f"--{what} {shlex.quote(name) if name.isprintable() else 'COLUMN'}"
        for what, name in named.items()
        if name
    )
    condition = f"if {item!r} identifies the items, " if item else ""
    return f"{condition}run `chaos dataset check FILE {options}`"


def _ask_for_items(
    columns: Columns, names: Sequence[str], people: Reader, items: Sequence[Item]
) -> Candidate:
    """Return the question which columns name the items; `items` are the possible answers."""
    base = {"format": "long", "label": next(iter(columns.named(LABELS)), "label")} | people
    return doubt(
        f"several columns may name the items, or all of them together (--item "
        f"{','.join(names[:2])}): {listed(names)}",
        [base | {"item": item} for item in items],
    )


def part_of_key(columns: Columns, reader: Mapping[str, Any]) -> str:
    """Return a column that divides what is read as one item into several; empty for none."""
    item = reader.get("item", "")
    if reader["format"] != "long" or not item or reader.get("each"):
        return ""
    frame, annotator = columns.frame, reader.get("annotator")
    items = frame.key(item)
    if any(map(is_rounded, items.values)):
        return ""  # rounded identifiers are a fault of their own
    used = {*columns_of(item), annotator, *reader.get("where", {}), *columns_of(reader["label"])}
    names = [name for name in frame.names if name not in used]
    people = frame.column(annotator).identifiers if annotator else None
    labels = frame.key(reader["label"])
    for name in names:
        if is_part_of_key(name, frame.column(name), items, people, labels):
            return shorter_part(name, names, columns_of(item), frame)
    return "" if people is None else _question_column(columns, items, people, names)


def _question_column(columns: Columns, items: Column, people: Column, names: Sequence[str]) -> str:
    """Return a column that divides each person's votes on an item, such as a question; or empty."""
    n_votes = int(((items.codes >= 0) & (people.codes >= 0)).sum())
    if 2 * n_votes < 3 * _n_combinations(items, people):
        return ""  # hardly anyone votes twice
    for name in names:
        cells = columns.frame.column(name).identifiers
        are_numbers = all(as_number(value) is not None for value in cells.values)  # maybe rounds
        if columns.is_measure(name) or (are_numbers and "question" not in name.lower()):
            continue
        # Most questions are asked about most items.
        is_crossed = 2 * _n_combinations(items, cells) > len(cells.values) * len(items.values)
        if (
            is_crossed
            and len(cells.values) > 1
            and _n_combinations(items, people, cells) == n_votes
        ):
            return name
    return ""


def several_items_in_one(columns: Columns, reader: Reader, finer: str) -> Candidate:
    """Several items that are read as one, because the column `finer` is not among their names."""
    item = columns_of(reader["item"])
    key = _key_of(columns, item, finer)
    annotator = reader.get("annotator")
    # If someone voted twice on an item as it is read now, this reading is a fault.
    is_fault = bool(annotator) and columns.repeats([*item, str(annotator)])
    return doubt(
        f"{finer!r} differs within {listed(item)}, with several votes on each: "
        f"is that one item, or do several columns name an item (--item {','.join(key)})?",
        [reader | {"item": key}] + ([] if is_fault else [reader]),
    )


def several_texts_of_one(
    columns: Columns, frame: Frame, reader: Reader, others: Sequence[str], labels: Sequence[str]
) -> Candidate | None:
    """A text column that differs within a few items, but not within the others; None for none.

    `frame` has the rows that the reader reads, `others` are the columns that it does not use.
    """
    if reader["format"] != "long" or not reader["item"] or reader.get("each"):
        return None
    items, people = frame.key(reader["item"]), annotators_of(frame, reader)
    if any(map(is_rounded, items.values)):
        return None  # rounded identifiers are a fault of their own
    for name in others:
        uids = differs_in(name, frame.column(name), items, people, labels)
        if not uids:
            continue
        item = columns_of(reader["item"])
        key = _key_of(columns, item, shorter_part(name, others, item, frame))
        rounded = "identifiers end in zeros, as a spreadsheet rounds long numbers; "
        rounded = rounded if are_rounded(items.values) else ""
        return doubt(
            f"{rounded}{name!r} differs within {len(uids):,} of "
            f"{counted(len(items.values), 'item')} ({listed(uids)}), and is one text within "
            "the others: is each one item, or do "
            f"several columns name an item (--item {','.join(key)})?",
            [reader, reader | {"item": key}],
        )
    return None


def _key_of(columns: Columns, item: Sequence[str], finer: str) -> list[str]:
    """Return the columns that name an item together, `finer` first if it is first in the file."""
    index = {name: k for k, name in enumerate(columns.frame.names)}
    is_before = all(index.get(finer, -1) < index.get(name, -1) for name in item)
    return [finer, *item] if is_before else [*item, finer]


def _n_combinations(*columns: Column) -> int:
    """Return how many different combinations of values the rows of columns have.

    Rows that lack a value do not count.
    """
    filled = np.all([cells.codes >= 0 for cells in columns], axis=0)
    combination = columns[0].codes[filled].astype(np.int64)
    for cells in columns[1:]:
        # Renumbered without gaps, so that the last number tells how many there are.
        combination = np.unique(
            combination * len(cells.values) + cells.codes[filled], return_inverse=True
        )[1]
    return int(combination.max()) + 1 if len(combination) else 0
