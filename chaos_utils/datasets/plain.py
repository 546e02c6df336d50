"""Votes files without a YAML file: the dataset is made from their columns and values."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.faults import Faults
from chaos_utils.datasets.records import (
    Content,
    Record,
    as_count,
    as_identifier,
    as_number,
    as_share,
    read_records,
)

_ITEM = ("item", "uid", "id", "item_id")
_ANNOTATOR = ("annotator", "worker", "annotator_id", "worker_id")
_LABEL = ("label", "vote", "answer", "response")
_N_VOTES = "n_votes"
_MOST_LABELS = 1000
_FORMAT = (
    "a row per vote with the columns item, annotator (optional) and label; or a row per item "
    "with the column item and one for each label's votes"
)
_TODO = "rename the columns, or describe them in a dataset's YAML file and pass that as data"


def dataset_of(path: Path) -> Dataset:
    """Describe a votes file by its columns: long or wide, as CSV, TSV, JSON lines or parquet.

    Parameters
    ----------
    path : Path

    Returns
    -------
    Dataset
        Named after the file; labels are those that occur, sorted, or the wide file's columns.

    Raises
    ------
    ChaosError
        If the columns are neither those of a long nor of a wide file, or the file is damaged.
    """
    content = Content.of(path)
    faults = Faults(path, "votes", expected=_FORMAT, todo=_TODO)
    if content.is_array:
        raise faults.fatal("The labels of these counts are not known.", "an npy file")
    records = read_records(content, faults)
    faults.check()
    if not records:
        raise faults.fatal("This votes file holds no votes.")
    columns = list(dict.fromkeys(name for record in records for name in record.fields))
    item, label = _first(_ITEM, columns), _first(_LABEL, columns)
    reader: dict[str, Any] = {"item": item}
    if item and label:
        labels = _sorted({as_identifier(record.get(label)) for record in records})
        reader |= {"format": "long", "label": label, "annotator": _first(_ANNOTATOR, columns)}
    elif item and _are_numbers(records, [name for name in columns if name != item]):
        labels = [name for name in columns if name not in (item, _N_VOTES)]
        reader |= {"format": "wide"}
        are_shares = not _are_counts(records, labels)
        if _N_VOTES in columns:
            reader |= {"values": "shares" if are_shares else "counts", "n_votes": _N_VOTES}
        elif are_shares and all(
            as_share(record.get(label)) is not None for record in records for label in labels
        ):
            raise faults.fatal(
                "The columns hold shares, and how many votes each item has is not known.",
                f"columns {', '.join(columns[:12])}",
                f"a column {_N_VOTES} beside the shares, or numbers of votes instead",
            )
    else:
        labels = []
    if item and len(labels) == 1 and labels[0]:
        raise faults.fatal(
            "There is only one label in this votes file.", repr(labels[0]), "two labels at least"
        )
    if not 2 <= len(labels) <= _MOST_LABELS or not all(labels):
        raise faults.fatal(
            "This is not a votes file in a known format.",
            f"columns {', '.join(columns[:12])}"
            + (f", with {len(labels)} different labels" if item else ""),
        )
    content_of = {
        "name": _name(path),
        "title": path.stem,
        "labels": labels,
        "files": [{"name": path.name}],
        "reader": reader,
    }
    try:
        return Dataset.model_validate(content_of)
    except ValidationError as fault:
        found = fault.errors()[0]["msg"].removeprefix("Value error, ")
        raise faults.fatal("The labels of this votes file cannot be used.", found) from fault


def _first(names: Sequence[str], columns: Sequence[str]) -> str:
    return next((name for name in names if name in columns), "")


def _sorted(values: set[str | None]) -> list[str]:
    known = [value for value in values if value is not None]
    return sorted(
        known, key=lambda text: (not text.isdecimal(), int(text) if text.isdecimal() else 0, text)
    )


def _are_numbers(records: Sequence[Record], columns: Sequence[str]) -> bool:
    """Return whether columns hold numbers alone; what else they hold is never shown."""
    return all(as_number(record.get(name)) is not None for record in records for name in columns)


def _are_counts(records: Sequence[Record], labels: Sequence[str]) -> bool:
    return all(as_count(record.get(label)) is not None for record in records for label in labels)


def _name(path: Path) -> str:
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
