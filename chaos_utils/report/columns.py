"""How a table's columns are shown: a list of specifications, one for each column."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from chaos_utils.base.numbers import true_minus

if TYPE_CHECKING:
    import pandas as pd

MISSING = "–"
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Column:
    """How one column of a table is shown.

    Attributes
    ----------
    heading : str
        What stands above the column.
    value : str or callable
        Name of a column of the data, or a function that returns the cell of a row.
    digits : int or None
        Decimals of a number. None for a text, and for a number that is shown as it is.
    low, high : str
        Names of the columns with the ends of an interval, which is shown unless they are equal.
    signed : bool
        Whether the number is a difference, shown with its sign.
    percent : bool
        Whether the number is a share, shown in percent.
    group : str
        Heading above this column and its neighbours of the same group.
    names : mapping, callable or None
        What is shown for a text; a text that is not in the mapping is shown as it is.
    best : {'', 'lowest', 'highest'}
        Which value of each group of rows is bold; so is every value within its interval.
    bold : callable or None
        Returns whether the cell of a row is bold.
    at : mapping or None
        If several rows of the data make one row of the table (`index` of `lay_out`): which of
        them this column shows, by the values that it has in other columns.
    """

    heading: str
    value: str | Callable[[Row], object]
    digits: int | None = None
    low: str = ""
    high: str = ""
    signed: bool = False
    percent: bool = False
    group: str = ""
    names: Mapping[Any, str] | Callable[[Any], str] | None = None
    best: Literal["", "lowest", "highest"] = ""
    bold: Callable[[Row], bool] | None = None
    at: Mapping[str, object] | None = None

    def row_of(self, rows: Iterable[Row]) -> Row | None:
        """Return the first of the `rows` that has the values in `at`, if any."""
        wanted = (self.at or {}).items()
        return next((row for row in rows if all(row[k] == value for k, value in wanted)), None)

    def cell(self, row: Row) -> object:
        """Return the cell of a `row`: a text, or one of the special cells of `report.manifests`."""
        value: Any = self.value(row) if callable(self.value) else row[self.value]
        if self.digits is None:
            return self._name_of(value)
        if is_missing(value):
            return MISSING
        scale = 100 if self.percent else 1
        write = signed if self.signed else number
        text = write(scale * value, self.digits)
        if self.low and not is_missing(row[self.low]) and row[self.low] != row[self.high]:
            ends = (write(scale * row[end], self.digits) for end in (self.low, self.high))
            text += f" [{', '.join(ends)}]"
        return text

    def _name_of(self, value: Any) -> object:
        """Return what is shown for a value that is no number with decimals."""
        if callable(self.names):
            return self.names(value)
        if self.names is not None and value in self.names:
            return self.names[value]
        import pandas as pd  # slow to import

        if isinstance(value, str) or not pd.api.types.is_scalar(value):
            return value
        if is_missing(value):
            return MISSING
        return number(value) if isinstance(value, int) and not isinstance(value, bool) else value


def with_ends(heading: str, value: str, digits: int, **look: Any) -> Column:
    """Return a column whose interval stands in the columns ``…_low`` and ``…_high`` beside it."""
    return Column(heading, value, digits, f"{value}_low", f"{value}_high", **look)


def paper_here_delta(
    heading: str, value: str, digits: int, *, published: str = "", difference: str = "",
    printed: int | None = None, **look: Any,
) -> list[Column]:  # fmt: skip
    """Return three columns that compare a number with the paper's: paper, here, Δ.

    They stand under one `heading`. Our number is in the column `value` of the data, the paper's in
    `published` (by default ``published_<value>``), ours minus the paper's in `difference` (by
    default ``difference_<value>``). Numbers have `digits` decimals; the paper's have `printed`, if
    the paper prints more or fewer. A difference beyond the rounding of the paper's number is bold.
    `look` has further attributes of `Column`.
    """
    difference = difference or f"difference_{value}"
    paper_digits = digits if printed is None else printed
    scale = 100 if look.get("percent") else 1
    ours_alone = ("low", "high", "best", "bold")
    shared = {name: setting for name, setting in look.items() if name not in ours_alone}

    def beyond_rounding(row: Row) -> bool:
        gap = row[difference]
        return not is_missing(gap) and abs(scale * gap) > 0.5 * 10**-paper_digits

    delta_look = shared | {"signed": True, "bold": beyond_rounding}
    return [
        Column("paper", published or f"published_{value}", paper_digits, group=heading, **shared),
        Column("here", value, digits, group=heading, **look),
        Column("Δ", difference, digits, group=heading, **delta_look),
    ]


def lay_out(
    rows: "pd.DataFrame",
    columns: Sequence[Column],
    groups: Sequence[str] = (),
    index: Sequence[str] = (),
) -> tuple[list[list[str]], list[list[object]]]:
    """Return a table's headings, by column, and its cells, by row.

    Rows with the same values in the columns `index` make one row of the table, in which each column
    shows the row that its `at` describes; by default, each row makes one. A heading is one name, or
    two if some columns have a group's heading above them. A bold cell stands between two pairs of
    asterisks, and its interval after them. Rows with the same values in the columns `groups` make a
    group, in which a column's best value is bold; by default, all rows are one group.
    """
    grouped = any(column.group for column in columns)
    header = [
        ([column.group, column.heading] if column.group else [column.heading, ""])
        if grouped
        else [column.heading]
        for column in columns
    ]
    rows_by_key: dict[object, list[Row]] = {}
    for number, row in enumerate(rows.to_dict("records")):
        key = tuple(row[name] for name in index) if index else number
        rows_by_key.setdefault(key, []).append(row)
    cells: list[list[object]] = [[] for _ in rows_by_key]
    for column in columns:
        candidates = enumerate(map(column.row_of, rows_by_key.values()))
        row_at = {line: row for line, row in candidates if row is not None}
        best = _best_lines(row_at, column, groups)
        for line, line_cells in enumerate(cells):
            row = row_at.get(line)
            cell = MISSING if row is None else column.cell(row)
            if row is not None and (line in best or (column.bold and column.bold(row))):
                text, space, interval = str(cell).partition(" [")
                cell = f"**{text}**{space}{interval}"
            line_cells.append(cell)
    return header, cells


def _best_lines(row_at: Mapping[int, Row], column: Column, groups: Sequence[str]) -> set[int]:
    """Return the lines of a table whose value in a column is the best of its group, or ties."""
    if not column.best or not isinstance(column.value, str) or not row_at:
        return set()
    import pandas as pd  # slow to import

    rows = pd.DataFrame(list(row_at.values()), index=list(row_at))
    rows = rows[rows[column.value].notna()]
    grouped = rows.groupby(list(groups), sort=False) if groups else [((), rows)]
    lines: set[int] = set()
    for _, group in grouped:
        values = group[column.value].astype(float)
        if len(values) < 2:
            continue
        best = values.idxmin() if column.best == "lowest" else values.idxmax()
        digits = (column.digits or 0) + (2 if column.percent else 0)
        tied = values.round(digits) == round(values[best], digits)
        if column.low and not is_missing(group[column.low][best]):
            tied |= values.between(group[column.low][best], group[column.high][best])
        lines.update(int(line) for line in values.index[tied])
    return lines


def is_missing(value: object) -> bool:
    """Return whether a value is None, NaN or pandas' NA."""
    is_nan = isinstance(value, float) and math.isnan(value)
    return value is None or is_nan or type(value).__name__ == "NAType"


def safe_cell(value: Any) -> Any:
    """Return a value for a CSV file; a ``'`` precedes a text that a spreadsheet would compute.

    Such a text begins with ``=``, ``+``, ``-`` or ``@``.
    """
    is_formula = isinstance(value, str) and value.startswith(("=", "+", "-", "@"))
    return f"'{value}" if is_formula else value


def number(value: float, digits: int = 0) -> str:
    """Write a number with commas at thousands and a true minus sign; a dash for NaN or None.

    A `value` that is zero at `digits` decimals has no sign.
    """
    if value is None or math.isnan(value):
        return MISSING
    return true_minus(f"{value:,.{digits}f}").replace("inf", "∞")


def with_interval(value: float, low: float, high: float, digits: int) -> str:
    """Write `value` with its interval from `low` to `high`, all with `digits` decimals.

    As ``0.52 [0.50, 0.54]``; a dash for what is missing.
    """
    return f"{number(value, digits)} [{number(low, digits)}, {number(high, digits)}]"


def signed(value: float, digits: int = 0) -> str:
    """Write a difference with its sign; a dash for NaN or None.

    A `value` that is zero at `digits` decimals is a plain 0.
    """
    if value is None or math.isnan(value):
        return MISSING
    return true_minus(f"{value:+,.{digits}f}")
