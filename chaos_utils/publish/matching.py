"""The rows of two tables matched, so that one that was added or removed moves no other."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chaos_utils.base.errors import ChaosError

Row = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Match:
    """Which rows of two tables belong together; a pair has a name, the old row and the new one.

    The name is the rows' key, such as ``dataset=snli, n_votes=10``, or their number.
    """

    pairs: list[tuple[str, Row, Row]]
    added: list[str]
    removed: list[str]


def read_table(path: Path) -> tuple[list[str], list[Row]]:
    """Return the columns and rows of a CSV file, the data behind a figure or table."""
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            reader = csv.DictReader(stream, restval="", strict=True)
            rows: list[Row] = list(reader)
            return list(reader.fieldnames or []), rows
    except (FileNotFoundError, UnicodeDecodeError, csv.Error) as fault:
        raise ChaosError(
            "The data behind a figure or table cannot be read.",
            where=path,
            found=f"{type(fault).__name__}: {fault}",
            todo="build the site again",
        ) from fault


def number(text: str) -> float | None:
    """Return the number that a cell holds; None where it holds none."""
    try:
        return float(text)
    except ValueError:
        return None


def match(keys: Sequence[str], old: Sequence[Row], new: Sequence[Row]) -> Match:
    """Match the rows of two tables by the columns that tell them apart.

    Without any that do so in both tables, rows go by their position.
    """
    before, after = (_by_key(keys, rows) for rows in (old, new))
    if before is None or after is None:
        return _by_position(old, new)
    return Match(
        pairs=[(_name(row, keys), row, after[key]) for key, row in before.items() if key in after],
        added=[_name(row, keys) for key, row in after.items() if key not in before],
        removed=[_name(row, keys) for key, row in before.items() if key not in after],
    )


def _by_key(keys: Sequence[str], rows: Sequence[Row]) -> dict[tuple[str, ...], Row] | None:
    if not keys or any(key not in row for row in rows for key in keys):
        return None
    found = {tuple(row[key] for key in keys): row for row in rows}
    return found if len(found) == len(rows) else None


def _by_position(old: Sequence[Row], new: Sequence[Row]) -> Match:
    n_common = min(len(old), len(new))
    return Match(
        pairs=[
            (f"row {position}", one, other)
            for position, (one, other) in enumerate(zip(old, new, strict=False), start=1)
        ],
        added=[f"row {position}" for position in range(n_common + 1, len(new) + 1)],
        removed=[f"row {position}" for position in range(n_common + 1, len(old) + 1)],
    )


def _name(row: Row, columns: Sequence[str]) -> str:
    return ", ".join(f"{name}={row[name]}" for name in columns)
