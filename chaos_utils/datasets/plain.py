"""Votes files without a YAML file: the dataset is made from their columns and values."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chaos_utils.base.checked import checked
from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.faults import Faults, shorten
from chaos_utils.datasets.labels import is_rating
from chaos_utils.datasets.records import (
    Content,
    as_count,
    as_identifier,
    as_number,
    as_share,
    read_records,
)
from chaos_utils.datasets.tables import LARGE, Table

_ITEM = ("item", "uid", "id", "item_id", "example_id", "pair_id", "pairid", "question_id")
_ANNOTATOR = ("annotator", "worker", "annotator_id", "worker_id", "rater", "rater_id", "coder",
              "user", "user_id", "participant")  # fmt: skip
_LABEL = ("label", "vote", "answer", "response", "annotation", "judgement", "rating")
_N_VOTES = "n_votes"
_MOST_LABELS = 1000
_FORMAT = (
    "a row per vote with the columns item, annotator (optional) and label; or a row per item "
    "with the column item and one for each label's votes"
)
SHARES = "The columns hold shares, and how many votes each item has is not known."
EXPECTED_COUNTS = f"a column {_N_VOTES} beside the shares, or numbers of votes instead"
_TODO = (
    "rename the columns, or describe them in a dataset's YAML file, which `chaos dataset init` "
    "writes, and pass that as data"
)
Values = Callable[[str], Iterable[Any]]


@dataclass(frozen=True, slots=True)
class Layout:
    """What the columns of a votes file are.

    Attributes
    ----------
    format : str
        ``long`` or ``wide``; empty where it is neither.
    item, annotator, label : str
        Columns; empty for none.
    labels : tuple of str
        The labels that occur in a long file, sorted; the columns of votes in a wide one.
    are_shares : bool
        Whether the columns of votes hold shares, none of them beyond 0 and 1, not whole numbers.
    n_votes : str
        Column of the number of votes.
    others : tuple of str
        Columns that are none of these.
    """

    format: str
    item: str
    annotator: str
    label: str
    labels: tuple[str, ...]
    are_shares: bool
    n_votes: str
    others: tuple[str, ...]


def layout_of(
    columns: Sequence[str],
    values: Values,
    faults: Faults,
    *,
    item: str = "",
    annotator: str = "",
    label: str = "",
) -> Layout:
    """Recognise the columns of a votes file.

    Parameters
    ----------
    columns : sequence of str
    values : callable
        Gives the different values of a column.
    faults : Faults
        Names the file in messages.
    item, annotator, label : str
        Columns that the reader names; empty for those that are recognised.
    """
    for name in filter(None, (item, annotator, label)):
        if name not in columns:
            raise faults.fatal(
                f"The votes file has no column {name!r}.",
                f"columns {', '.join(columns[:12])}",
                did_you_mean(name, columns),
                "name a column that is there",
            )
    item = item or _first(_ITEM, columns)
    label = label or _first(_LABEL, [one for one in columns if one != item])
    annotator = annotator or _first(
        _ANNOTATOR, [one for one in columns if one not in (item, label)]
    )
    if item and label:
        labels = _sorted({as_identifier(value) for value in values(label)})
        used = (item, annotator, label)
        rest = tuple(name for name in columns if name not in used)
        return Layout("long", item, annotator, label, tuple(labels), False, "", rest)
    n_votes = _N_VOTES if _N_VOTES in columns else ""
    found: list[str] = []
    others: list[str] = []
    every: list[Any] = []
    for name in columns:
        if not item or name in (item, n_votes):
            continue
        cells = list(values(name))
        if any(as_number(value) is not None for value in cells):
            found.append(name)
            every += cells
        else:
            others.append(name)
    are_shares = any(as_count(value) is None for value in every) and all(
        as_share(value) is not None for value in every
    )
    kind = "wide" if item and found else ""
    return Layout(kind, item, "", "", tuple(found), are_shares, n_votes, tuple(others))


def dataset_of(path: Path) -> Dataset:
    """Describe a votes file by its columns: long or wide, as CSV, TSV, JSON lines or parquet.

    Returns
    -------
    Dataset
        Named after the file; labels are those that occur, sorted, or the wide file's columns.

    Raises
    ------
    ChaosError
        If the columns are neither those of a long nor of a wide file, or the file is damaged; or
        the labels are numbers on a scale.
    """
    content = Content.of(path)
    faults = Faults(path, "votes", expected=_FORMAT, todo="correct the file")
    if content.is_array:
        raise faults.fatal("The labels of these counts are not known.", "an npy file")
    if len(content.data) < LARGE:
        records = read_records(content, faults)
        faults.check()
        if not records:
            raise faults.fatal("This votes file holds no votes.")
        columns = list(dict.fromkeys(name for record in records for name in record.fields))

        def values(name: str) -> list[Any]:
            return [record.get(name) for record in records]

    else:
        table = Table(content, faults)
        columns, values = table.columns, table.values
    layout = layout_of(columns, values, faults)
    _check(layout, columns, values, faults)
    return described(path, layout)


def described(path: Path, layout: Layout, extra: dict[str, Any] | None = None) -> Dataset:
    """Return the dataset that a votes file of this layout is."""
    reader: dict[str, Any] = {"format": layout.format, "item": layout.item}
    if layout.format == "long":
        reader |= {"label": layout.label, "annotator": layout.annotator}
    elif layout.n_votes:
        values = "shares" if layout.are_shares else "counts"
        reader |= {"values": values, "n_votes": layout.n_votes}
    extra = dict(extra or {})
    content_of = {
        "name": name_of(path),
        "title": path.stem,
        "labels": list(layout.labels),
        "files": [{"name": path.name}],
        "reader": reader | extra.pop("reader", {}),
    }
    what = "The labels of this votes file"
    return checked(content_of | extra, Dataset, path, what, todo="correct the file")


def _check(layout: Layout, columns: Sequence[str], values: Values, faults: Faults) -> None:
    """Raise where the columns do not say what the votes are."""
    labels = layout.labels
    if layout.are_shares and not layout.n_votes:
        raise faults.fatal(SHARES, f"columns {', '.join(labels[:12])}", EXPECTED_COUNTS)
    if layout.format == "long" and is_rating(labels):
        raise faults.fatal(
            "The labels are numbers on a scale, not classes.",
            f"{len(labels)} different numbers, from {shorten(min(labels, key=float))} to "
            f"{shorten(max(labels, key=float))}",
            "labels, or a rule that cuts the scale into classes: reader.cut in a dataset's YAML "
            "file, which `chaos dataset init --cut` writes",
            _TODO,
        )
    if layout.item and len(labels) == 1:
        raise faults.fatal(
            "There is only one label in this votes file.", repr(labels[0]), "two labels at least"
        )
    if layout.format == "wide" and layout.others:
        others = ", ".join(map(repr, layout.others[:12]))
        raise faults.fatal(
            "This is not a votes file in a known format: it has columns that hold no votes.",
            others,
            f"the columns {layout.item!r} and {', '.join(map(repr, labels[:12]))} alone, or a YAML "
            "file that says what the others are",
            _TODO,
        )
    if not 2 <= len(labels) <= _MOST_LABELS:
        raise faults.fatal(
            "This is not a votes file in a known format.",
            f"columns {', '.join(columns[:12])}"
            + (f", with {len(labels)} different labels" if layout.item else ""),
            todo=_TODO,
        )


def _first(names: Sequence[str], columns: Sequence[str]) -> str:
    """Return the column of the first of these names, whatever its case, blanks and dashes."""
    known = {re.sub(r"[\s-]+", "_", column.strip().lower()): column for column in columns[::-1]}
    return next((known[name] for name in names if name in known), "")


def _sorted(values: set[str | None]) -> list[str]:
    known = [value for value in values if value is not None]

    def order(text: str) -> tuple[bool, int, str]:  # numbers of any length by their value
        return not text.isdecimal(), len(text.lstrip("0")) if text.isdecimal() else 0, text

    return sorted(known, key=order)


def name_of(path: Path) -> str:
    """Return the file's stem as a dataset may be called."""
    name = re.sub(r"[^a-z0-9_-]+", "-", path.stem.lower()).strip("-_")
    if not name:
        raise ChaosError(
            "This file's name makes no name for a dataset.",
            where=path,
            expected="letters or digits from a to z and 0 to 9",
            todo="rename the file",
        )
    return name
