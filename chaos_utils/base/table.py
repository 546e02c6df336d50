"""A tidy table that knows its key columns and what each dataset's rows were made from."""

import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from chaos_utils.base.inputs import Input, merged

DIGITS = 9  # significant digits of a number in a table: other processors agree on these
_MISSING = "\\N"  # stands for a missing text; a missing number is an empty cell


@dataclass(frozen=True, slots=True)
class Origin:
    """What some rows of a table were made from.

    Attributes
    ----------
    inputs : tuple of Input
        The files that the rows were made from.
    recorded : bool
        Whether the rows were read from ``results/tables/`` for want of data.
    outdated : bool
        Whether the record was made by code, libraries or files that differ from the present ones.
    """

    inputs: tuple[Input, ...] = ()
    recorded: bool = False
    outdated: bool = False

    def __or__(self, other: "Origin") -> "Origin":
        """Return the origin of rows that were made from both."""
        return Origin(
            merged(self.inputs, other.inputs),
            self.recorded or other.recorded,
            self.outdated or other.outdated,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Rows, the columns that tell them apart, and what the rows were made from.

    Attributes
    ----------
    rows : pandas.DataFrame
        Its numbers have nine significant digits.
    keys : tuple of str
        Columns; no two rows share the values of all of them.
    origins : mapping of str to Origin
        Origin of each dataset's rows, by its name in the column ``dataset`` (``snli+mnli`` for a
        pool); the origin under ``""`` belongs to all rows.

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
            duplicates = self.rows[self.rows.duplicated(list(self.keys))][list(self.keys)]
            raise ValueError(f"two rows have one key: {duplicates.iloc[0].to_dict()}")

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def origin(self) -> Origin:
        """The origin of the rows; origins of datasets that have no rows here do not count."""
        datasets = self.rows["dataset"].unique() if "dataset" in self.rows else list(self.origins)
        origin = Origin()
        for name in ("", *datasets):
            origin |= self.origins.get(name, Origin())
        return origin

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The files that the rows were made from."""
        return self.origin.inputs

    @property
    def synthetic(self) -> bool:
        """Whether the synthetic sample is among the inputs."""
        return any(entry.synthetic for entry in self.inputs)

    @property
    def recorded(self) -> list[str]:
        """The datasets whose rows were recorded, in the order of the rows."""
        datasets = self.rows["dataset"].unique() if "dataset" in self.rows else list(self.origins)
        return [name for name in datasets if self.origins.get(name, Origin()).recorded]

    def where(self, mask: "pd.Series | np.ndarray") -> "Table":
        """Return the rows for which `mask`, of shape (n_rows,), is true."""
        return replace(self, rows=self.rows[np.asarray(mask, dtype=bool)])

    def on(self, dataset: str) -> "Table":
        """Return the rows of one dataset.

        Parameters
        ----------
        dataset : str
            As the column ``dataset`` names it.
        """
        return self.where(self.rows["dataset"] == dataset)

    def with_inputs(self, *groups: Iterable[Input]) -> "Table":
        """Return the same rows with these groups of inputs instead of their own.

        A notebook that trains names the files that it was given, not those that it has just
        written and read.
        """
        return replace(self, origins={"": Origin(merged(*groups))})

    def with_rows(self, rows: pd.DataFrame) -> "Table":
        """Return a table of other rows, which were made from the rows of this one alone.

        Parameters
        ----------
        rows : pandas.DataFrame
            Rows that the same key columns tell apart.
        """
        return Table(rows, self.keys, self.origins)


def together(tables: Iterable[Table]) -> Table:
    """Return the rows of several tables, at least one, with the same keys, in order."""
    tables = list(tables)
    filled = [table.rows for table in tables if len(table)] or [tables[0].rows]
    rows = pd.concat(filled, ignore_index=True)
    return Table(rows, tables[0].keys, origins_of(tables))


def origins_of(tables: Iterable[Table]) -> dict[str, Origin]:
    """Return the origins, by dataset, of rows that were made from several tables."""
    origins: dict[str, Origin] = {}
    for table in tables:
        for name, origin in table.origins.items():
            origins[name] = origins.get(name, Origin()) | origin
    return origins


def in_order_of(rows: pd.DataFrame, column: str, values: Iterable[object]) -> pd.DataFrame:
    """Return rows sorted by a column, whose values count in the order given; ties stay in order."""
    index_of = {value: index for index, value in enumerate(values)}
    return rows.sort_values(
        column, key=lambda cells: cells.map(index_of), kind="stable", ignore_index=True
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
    """Return the type of a column, as `as_text` names it."""
    if pd.api.types.is_bool_dtype(column.dtype):
        return "bool?" if isinstance(column.dtype, pd.BooleanDtype) else "bool"
    if pd.api.types.is_integer_dtype(column.dtype):
        return "int?" if pd.api.types.is_extension_array_dtype(column.dtype) else "int"
    if pd.api.types.is_float_dtype(column.dtype):
        return "float"
    cells = column.dropna()
    if len(cells) and cells.map(lambda cell: isinstance(cell, bool | np.bool_)).all():
        return "bool?"
    if not cells.map(lambda cell: isinstance(cell, str)).all():
        kinds = sorted({type(cell).__name__ for cell in cells})
        raise TypeError(f"column {column.name!r} holds {kinds}, expected texts or numbers")
    return "str"


def _cells(column: "pd.Series[object]", kind: str) -> list[str]:
    """Return a column's values as texts."""
    if kind == "float":
        return ["" if np.isnan(value) else f"{value:.{DIGITS}g}" for value in column.astype(float)]
    missing = _MISSING if kind == "str" else ""
    return [missing if pd.isna(value) else str(value) for value in column]


def from_text(text: str, types: Mapping[str, str]) -> pd.DataFrame:
    """Return the table that `as_text` wrote.

    Raises ValueError if the columns differ, or a cell is not of its column's type.
    """
    rows = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False, na_filter=False)
    if list(rows.columns) != list(types):
        raise ValueError(f"columns are {list(rows.columns)}, expected {list(types)}")
    return pd.DataFrame({name: _typed(rows[name], kind) for name, kind in types.items()})


def _typed(column: "pd.Series[str]", kind: str) -> "pd.Series[object]":
    """Return the values of a column's texts: what `_cells` wrote."""
    if kind == "float":
        return column.where(column != "", "nan").astype(float)
    if kind in ("int", "int?"):
        integers = pd.to_numeric(column.where(column != ""), errors="raise").astype("Int64")
        return integers.astype("int64") if kind == "int" else integers
    if kind in ("bool", "bool?"):
        value_of = {"True": True, "False": False} | ({"": pd.NA} if kind == "bool?" else {})
        unknown = set(column) - set(value_of)
        if unknown:
            raise ValueError(f"column {column.name!r} holds {sorted(unknown)}")
        return column.map(value_of).astype("bool" if kind == "bool" else "boolean")
    texts = column.astype(object)
    return texts.where(texts != _MISSING, None)


def rounded(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows as a record would hold them: written as text, and read back."""
    if rows.columns.empty:
        return rows
    return from_text(*as_text(rows))
