"""How a table's columns are shown: a list of specifications, one for each column."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from chaos_utils.base.numbers import true_minus
from chaos_utils.metrics.resampling import smallest_p_value

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
        What stands above it.
    value : str or callable
        Names a column of the data, or gives the cell of a row.
    digits : int or None
        After the point. None for a text, and for a number as it is.
    low, high : str
        Name the columns with the ends of its interval, which is shown where they differ.
    signed : bool
        Whether the number is a difference, shown with its sign.
    percent : bool
        Whether the number is a share, shown in percent.
    group : str
        Heading above this column and its neighbours of the same group.
    names : mapping, callable or None
        What is shown for a text; where it says nothing, the text itself.
    best : {'', 'lowest', 'highest'}
        Of each group of rows the one that is set in bold, with all whose value its interval holds.
    bold : callable or None
        Says of a row whether its cell is set in bold.
    at : mapping or None
        Of the rows that make one row of the table, the one that is shown: values by column.
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
        """Return the first of `rows` that this column shows, if any."""
        chosen = (self.at or {}).items()
        return next((row for row in rows if all(row[k] == at for k, at in chosen)), None)

    def cell(self, row: Row) -> object:
        """Return what is shown of a `row`: a text, or a cell of its own kind (`report.tables`)."""
        value: Any = self.value(row) if callable(self.value) else row[self.value]
        if self.digits is None:
            return self._name_of(value)
        if _is_missing(value):
            return MISSING
        scale = 100 if self.percent else 1
        written = signed if self.signed else number
        text = written(scale * value, self.digits)
        if self.low and not _is_missing(row[self.low]) and row[self.low] != row[self.high]:
            ends = (written(scale * row[end], self.digits) for end in (self.low, self.high))
            text += f" [{', '.join(ends)}]"
        return text

    def _name_of(self, value: Any) -> object:
        if callable(self.names):
            return self.names(value)
        if self.names is not None and value in self.names:
            return self.names[value]
        import pandas as pd  # slow to import

        if isinstance(value, str) or not pd.api.types.is_scalar(value):
            return value
        if _is_missing(value):
            return MISSING
        return number(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _short_name(dataset: str) -> str:
    from chaos_utils.datasets.catalogue import short_of  # slow to import

    return short_of(dataset)


DATASET = Column("dataset", "dataset", names=_short_name)


def with_ends(heading: str, value: str, digits: int, **look: Any) -> Column:
    """Return a column whose interval stands in the columns ``…_low`` and ``…_high`` beside it."""
    return Column(heading, value, digits, f"{value}_low", f"{value}_high", **look)


def paper_here_delta(
    heading: str, value: str, digits: int, *, published: str = "", difference: str = "",
    printed: int | None = None, **look: Any,
) -> list[Column]:  # fmt: skip
    """Return three columns that set a number beside the paper's: paper, here, Δ.

    Under one `heading`, with `digits` decimals, the paper's with those that are `printed` where
    these are others; a difference beyond the rounding of the paper's number is bold. Ours is in the
    column `value`, the paper's in `published`, ours minus theirs in `difference`: by default
    ``published_…`` and ``difference_…``. `look` has further attributes of `Column`.
    """
    gap = difference or f"difference_{value}"
    theirs = digits if printed is None else printed
    scale = 100 if look.get("percent") else 1
    plain = {name: of for name, of in look.items() if name not in ("low", "high", "best", "bold")}

    def beyond_rounding(row: Row) -> bool:
        return not _is_missing(row[gap]) and abs(scale * row[gap]) > 0.5 * 10**-theirs

    return [
        Column("paper", published or f"published_{value}", theirs, group=heading, **plain),
        Column("here", value, digits, group=heading, **look),
        Column("Δ", gap, digits, group=heading, bold=beyond_rounding, **plain | {"signed": True}),
    ]


def lay_out(
    rows: "pd.DataFrame",
    columns: Sequence[Column],
    groups: Sequence[str] = (),
    index: Sequence[str] = (),
) -> tuple[list[list[str]], list[list[object]]]:
    """Return a table's headings and cells, by row.

    Rows alike in `index` make one row of the table, in which a column shows the one at its `at`; by
    default each row is one. A heading is one name for each column, or two where some have a group
    above them. A bold cell stands between two pairs of asterisks, an interval behind them. `groups`
    name the columns whose values make a group of rows, in each of which something is best: by
    default all rows.
    """
    grouped = any(column.group for column in columns)
    header = [
        ([column.group, column.heading] if column.group else [column.heading, ""])
        if grouped
        else [column.heading]
        for column in columns
    ]
    alike: dict[object, list[Row]] = {}
    for place, row in enumerate(rows.to_dict("records")):
        key = tuple(row[name] for name in index) if index else place
        alike.setdefault(key, []).append(row)
    cells: list[list[object]] = [[] for _ in alike]
    for column in columns:
        shown = {k: column.row_of(several) for k, several in enumerate(alike.values())}
        row_at = {place: row for place, row in shown.items() if row is not None}
        best = _best(row_at, column, groups)
        for place, line in enumerate(cells):
            row = row_at.get(place)
            cell = MISSING if row is None else column.cell(row)
            if row is not None and (place in best or (column.bold and column.bold(row))):
                text, space, interval = str(cell).partition(" [")
                cell = f"**{text}**{space}{interval}"
            line.append(cell)
    return header, cells


def _best(rows: Mapping[int, Row], column: Column, groups: Sequence[str]) -> set[int]:
    """Return the places of the rows that have a column's best value of their group, or tie."""
    if not column.best or not isinstance(column.value, str) or not rows:
        return set()
    import pandas as pd  # slow to import

    numbered = pd.DataFrame(list(rows.values()), index=list(rows))
    numbered = numbered[numbered[column.value].notna()]
    grouped = numbered.groupby(list(groups), sort=False) if groups else [((), numbered)]
    places: set[int] = set()
    for _, group in grouped:
        values = group[column.value].astype(float)
        if len(values) < 2:
            continue
        first = values.idxmin() if column.best == "lowest" else values.idxmax()
        digits = (column.digits or 0) + (2 if column.percent else 0)
        tied = values.round(digits) == round(values[first], digits)
        if column.low and not _is_missing(group[column.low][first]):
            tied |= values.between(group[column.low][first], group[column.high][first])
        places.update(int(place) for place in values.index[tied])
    return places


def _is_missing(value: object) -> bool:
    is_nan = isinstance(value, float) and math.isnan(value)
    return value is None or is_nan or type(value).__name__ == "NAType"


def safe_cell(value: Any) -> Any:
    """Return the cell of a CSV file: before a text that a spreadsheet would compute stands a ``'``.

    Such a text begins with ``=``, ``+``, ``-`` or ``@``.
    """
    return (
        f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@")) else value
    )


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


def p_value(p: float, n_resamples: int, *, raw: float | None = None) -> str:
    """Write a p-value with three decimals, or more where they would all be 0; nothing for NaN.

    The smallest `p` that `n_resamples` allow is a bound, ``≤ 0.0002``; `raw` is what it was before
    it was adjusted for several comparisons.
    """
    if _is_missing(p):
        return ""
    # A recorded number has nine digits.
    if (p if raw is None else raw) <= smallest_p_value(n_resamples) * (1 + 1e-6):
        # Rounded up, so that it remains a bound.
        digits = 1 - math.floor(math.log10(p))
        bound = f"{math.ceil(round(p * 10**digits, 6)) / 10**digits:.{digits}f}"
        return f"≤ {bound.rstrip('0').rstrip('.')}"
    return number(p, 3) if p >= 0.0005 else "< 0.001"


def signed(value: float, digits: int = 0) -> str:
    """Write a difference with its sign; a dash for NaN or None.

    A `value` that is zero at `digits` decimals is a plain 0.
    """
    if value is None or math.isnan(value):
        return MISSING
    return true_minus(f"{value:+,.{digits}f}")
