"""The rows of two tables matched, so that one that was added or removed moves no other."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chaos_utils.base.errors import ChaosError

Row = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Match:
    """Which rows of two tables belong together.

    Attributes
    ----------
    pairs : list of (str, Row, Row)
        Name, old and new row. The name is the key, such as ``dataset=snli, n_votes=10``, or the
        row's number, followed by its texts.
    added, removed : list of str
        Names of rows.
    """

    pairs: list[tuple[str, Row, Row]]
    added: list[str]
    removed: list[str]


def read_table(path: Path) -> tuple[list[str], list[Row]]:
    """Read the data behind a figure or table.

    Parameters
    ----------
    path : Path
        A CSV file.

    Returns
    -------
    rows : list of Row
        By column, as the file has them.
    """
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


def match(columns: Sequence[str], old: Sequence[Row], new: Sequence[Row]) -> Match:
    """Match the rows of two tables.

    A row goes by its texts and, where these do not tell all rows apart, by numbers too. Any
    number may be a measurement, which must not name a row once it has changed: numbers serve
    only where rows were only added or only removed, and the last column of numbers never does.
    Where nothing names the rows, they go by their position.

    Parameters
    ----------
    columns : sequence of str
        Those that both tables have.
    """
    texts = _texts(columns, old, new)
    numbers = [name for name in columns if name not in texts]
    keys = _keys([*texts, *numbers[:-1]], old, new)
    before, after = ({tuple(row[key] for key in keys): row for row in rows} for rows in (old, new))
    by_texts = set(keys) <= set(texts)
    if not keys or not (by_texts or before.keys() <= after.keys() or after.keys() <= before.keys()):
        return _by_position(texts, old, new)
    return Match(
        pairs=[(_name(row, keys), row, after[key]) for key, row in before.items() if key in after],
        added=[_name(row, keys) for key, row in after.items() if key not in before],
        removed=[_name(row, keys) for key, row in before.items() if key not in after],
    )


def _by_position(texts: Sequence[str], old: Sequence[Row], new: Sequence[Row]) -> Match:
    n_common = min(len(old), len(new))
    return Match(
        pairs=[
            (f"row {position} ({_name(one, texts)})" if texts else f"row {position}", one, other)
            for position, (one, other) in enumerate(zip(old, new, strict=False), start=1)
        ],
        added=[f"row {position}" for position in range(n_common + 1, len(new) + 1)],
        removed=[f"row {position}" for position in range(n_common + 1, len(old) + 1)],
    )


def _name(row: Row, columns: Sequence[str]) -> str:
    return ", ".join(f"{name}={row[name]}" for name in columns)


def _texts(columns: Sequence[str], *tables: Sequence[Row]) -> list[str]:
    """Return the columns that hold more than numbers."""
    rows = [row for table in tables for row in table]
    return [
        name for name in columns if any(row[name] and number(row[name]) is None for row in rows)
    ]


def _keys(columns: Sequence[str], *tables: Sequence[Row]) -> list[str]:
    """Return columns that name each row in every table, the first ones that do; else none."""
    keys: list[str] = []
    told_apart, n_rows = 0, sum(map(len, tables))
    for name in columns:
        tried = [*keys, name]
        names = sum(len({tuple(row[key] for key in tried) for row in table}) for table in tables)
        if names > told_apart:  # else it says no more than those before it
            keys, told_apart = tried, names
        if told_apart == n_rows:
            return keys
    return []
