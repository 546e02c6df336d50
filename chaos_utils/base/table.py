"""A tidy table that knows its key columns and what each dataset's rows were made from."""

import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from chaos_utils.base.inputs import Input, merged

DIGITS = 9  # significant digits of a number in a table: other processors agree on these
_MISSING = "\\N"  # of a text; a missing number is empty


@dataclass(frozen=True, slots=True)
class Origin:
    """Where some rows of a table come from.

    Attributes
    ----------
    inputs : tuple of Input
        The files that they were made from.
    recorded : bool
        Whether they were read from ``results/tables/`` for want of data.
    outdated : bool
        Whether the record was made by other code or libraries, or from other files, than those
        that are here.
    """

    inputs: tuple[Input, ...] = ()
    recorded: bool = False
    outdated: bool = False

    def __or__(self, other: "Origin") -> "Origin":
        """Return the origin of what was made from both."""
        return Origin(
            merged(self.inputs, other.inputs),
            self.recorded or other.recorded,
            self.outdated or other.outdated,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Rows, the columns that tell them apart, and where they come from.

    Attributes
    ----------
    rows : pandas.DataFrame
        Its numbers have nine significant digits.
    keys : tuple of str
        Columns; no two rows share the values of all of them.
    origins : mapping of str to Origin
        By dataset, as the column ``dataset`` names it (``snli+mnli`` for a pool); under ``""``
        stands what belongs to all rows.

    Raises
    ------
    ValueError
        If a key is no column, or two rows have one key.
    """

    rows: pd.DataFrame
    keys: tuple[str, ...]
    origins: Mapping[str, Origin] = field(default_factory=dict)

    def __post_init__(self) -> None:
        missing = [name for name in self.keys if name not in self.rows]
        if missing and len(self.rows):
            raise ValueError(f"no key columns {missing} among {list(self.rows.columns)}")
        if len(self.rows) and self.rows.duplicated(list(self.keys)).any():
            twice = self.rows[self.rows.duplicated(list(self.keys))][list(self.keys)]
            raise ValueError(f"two rows have one key: {twice.iloc[0].to_dict()}")

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def origin(self) -> Origin:
        """Where the rows come from that are here: other datasets' inputs do not count."""
        shown = self.rows["dataset"].unique() if "dataset" in self.rows else list(self.origins)
        found = Origin()
        for name in ("", *shown):
            found |= self.origins.get(name, Origin())
        return found

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The files that the rows were made from."""
        return self.origin.inputs

    @property
    def synthetic(self) -> bool:
        """Whether the synthetic sample is among them."""
        return any(entry.synthetic for entry in self.inputs)

    @property
    def recorded(self) -> list[str]:
        """The datasets whose rows were recorded, in the order of the rows."""
        shown = self.rows["dataset"].unique() if "dataset" in self.rows else list(self.origins)
        return [name for name in shown if self.origins.get(name, Origin()).recorded]

    def where(self, chosen: "pd.Series | np.ndarray") -> "Table":
        """Return the rows that are `chosen`, by a mask."""
        return replace(self, rows=self.rows[np.asarray(chosen, dtype=bool)])

    def on(self, dataset: str) -> "Table":
        """Return the rows of one dataset.

        Parameters
        ----------
        dataset : str
            As the column ``dataset`` names it.
        """
        return self.where(self.rows["dataset"] == dataset)

    def with_inputs(self, *groups: Iterable[Input]) -> "Table":
        """Return the rows as they are, made from `groups` of files instead of what they say.

        A notebook that trains says so what it was given, not what it has just written.
        """
        return replace(self, origins={"": Origin(merged(*groups))})

    def with_rows(self, rows: pd.DataFrame) -> "Table":
        """Return other rows that were made from these alone.

        Parameters
        ----------
        rows : pandas.DataFrame
            The columns of the same keys tell them apart.
        """
        return Table(rows, self.keys, self.origins)


def together(tables: Iterable[Table]) -> Table:
    """Return the rows of several tables, at least one, with the same keys, in order."""
    several = list(tables)
    filled = [table.rows for table in several if len(table)] or [several[0].rows]
    rows = pd.concat(filled, ignore_index=True)
    return Table(rows, several[0].keys, origins_of(several))


def origins_of(tables: Iterable[Table]) -> dict[str, Origin]:
    """Return where rows come from that were made from several tables, by dataset."""
    found: dict[str, Origin] = {}
    for table in tables:
        for name, origin in table.origins.items():
            found[name] = found.get(name, Origin()) | origin
    return found


def in_order_of(rows: pd.DataFrame, column: str, values: Iterable[object]) -> pd.DataFrame:
    """Return rows by the place of a column's values among others; else they keep their order."""
    places = {value: place for place, value in enumerate(values)}
    return rows.sort_values(
        column, key=lambda cells: cells.map(places), kind="stable", ignore_index=True
    )


def as_text(rows: pd.DataFrame) -> tuple[str, dict[str, str]]:
    """Return a table as CSV, and the type of each column.

    Integers and texts are exact, other numbers have `DIGITS` significant digits. Types are ``int``,
    ``float``, ``bool`` or ``str``, with a ``?`` where values may be missing.
    """
    types = {str(name): _type_of(rows[name]) for name in rows}
    cells = {name: _cells(rows[name], kind) for name, kind in types.items()}
    stream = io.StringIO()
    pd.DataFrame(cells, dtype=object).to_csv(stream, index=False, lineterminator="\n")
    return stream.getvalue(), types


def _type_of(column: "pd.Series[object]") -> str:
    if pd.api.types.is_bool_dtype(column.dtype):
        return "bool?" if isinstance(column.dtype, pd.BooleanDtype) else "bool"
    if pd.api.types.is_integer_dtype(column.dtype):
        return "int?" if pd.api.types.is_extension_array_dtype(column.dtype) else "int"
    if pd.api.types.is_float_dtype(column.dtype):
        return "float"
    known = column.dropna()
    if len(known) and known.map(lambda cell: isinstance(cell, bool | np.bool_)).all():
        return "bool?"
    if not known.map(lambda cell: isinstance(cell, str)).all():
        kinds = sorted({type(cell).__name__ for cell in known})
        raise TypeError(f"column {column.name!r} holds {kinds}, expected texts or numbers")
    return "str"


def _cells(column: "pd.Series[object]", kind: str) -> list[str]:
    if kind == "float":
        return ["" if np.isnan(value) else f"{value:.{DIGITS}g}" for value in column.astype(float)]
    missing = _MISSING if kind == "str" else ""
    return [missing if pd.isna(value) else str(value) for value in column]


def from_text(text: str, types: Mapping[str, str]) -> pd.DataFrame:
    """Return the table that `as_text` wrote.

    Raises ValueError if the columns are others, or a cell is not of its column's type.
    """
    rows = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False, na_filter=False)
    if list(rows.columns) != list(types):
        raise ValueError(f"columns are {list(rows.columns)}, expected {list(types)}")
    return pd.DataFrame({name: _typed(rows[name], kind) for name, kind in types.items()})


def _typed(column: "pd.Series[str]", kind: str) -> "pd.Series[object]":
    if kind == "float":
        return column.where(column != "", "nan").astype(float)
    if kind in ("int", "int?"):
        whole = pd.to_numeric(column.where(column != ""), errors="raise").astype("Int64")
        return whole.astype("int64") if kind == "int" else whole
    if kind in ("bool", "bool?"):
        known = {"True": True, "False": False} | ({"": pd.NA} if kind == "bool?" else {})
        unknown = set(column) - set(known)
        if unknown:
            raise ValueError(f"column {column.name!r} holds {sorted(unknown)}")
        return column.map(known).astype("bool" if kind == "bool" else "boolean")
    texts = column.astype(object)
    return texts.where(texts != _MISSING, None)


def rounded(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a table as it is after it was written and read: what a record would hold."""
    if rows.columns.empty:
        return rows
    return from_text(*as_text(rows))
