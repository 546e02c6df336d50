"""One call that saves, captions and makes a table citable; and how tables look."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from itertools import groupby
from typing import Any

import pandas as pd

from chaos_utils.base.table import Table
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.report import artifacts
from chaos_utils.report.captions import caption_html, cautioned
from chaos_utils.report.columns import MISSING, Column, lay_out

_SHORT = 24
_NUMBER = re.compile(r"(\*\*)?[−+±]?(\$?[\d.,]+(–[\d.,]+)?( ?%)?|∞)(\*\*)?( [\[(].*[\])])?")
_BOLD = re.compile(r"^\*\*(.+?)\*\*")
_INTERVAL = re.compile(r" (\[.*\])$")
Texts = Callable[[str, str], Mapping[str, str] | None]


@dataclass(frozen=True, slots=True)
class Item:
    """A cell that names an item; the book puts the item's text into it.

    Attributes
    ----------
    dataset : str
        By name.
    uid : str
        The item's, in the dataset.
    """

    dataset: str
    uid: str


@dataclass(frozen=True, slots=True)
class Votes:
    """A cell that shows an item's votes as a bar.

    Attributes
    ----------
    dataset : str
        By name.
    counts : tuple of int
        Votes for each label, in the dataset's order.
    """

    dataset: str
    counts: tuple[int, ...]


def publish_table(
    id: str,
    table: Table,
    *,
    caption: str,
    columns: Sequence[Column] = (),
    shown: pd.DataFrame | None = None,
    groups: Sequence[str] = (),
    index: Sequence[str] = (),
    texts: Texts | None = None,
) -> artifacts.Published | None:
    """Write a table's data and set it.

    Writes ``<id>.csv`` (the data) and ``<id>.json`` (the manifest).

    Parameters
    ----------
    id : str
        Such as ``tbl-agreement``; it never changes once published.
    table : Table
        The data, which readers download.
    caption : str
        As for `publish_figure`.
    columns : sequence of Column
        How rows are shown; by default as they are.
    shown : pandas.DataFrame, optional
        The rows that are shown where they are not the table's: some of them, or reshaped.
    groups : sequence of str
        Columns that make groups of rows, in each of which a column's best is bold. Where the first
        of them is the table's first column, each of its values heads its rows instead.
    index : sequence of str
        Columns in which rows are alike that stand in one, for columns that say `at` which row.
    texts : callable, optional
        Gives the text of an item by dataset and uid, for the page of a run alone: no file holds it.

    Returns
    -------
    Published or None
        As for `publish_figure`.

    Raises
    ------
    ChaosError
        If this cannot be an id, another of this notebook has it, or there is no table or caption.
    """
    folder = artifacts.prepare(id, "table", table, caption)
    if folder is None:
        return None
    caption, _ = artifacts.without_findings(id, table, caption)
    caption = cautioned(caption, table.rows)
    rows = table.rows if shown is None else shown
    columns = columns or [Column(str(name), name) for name in rows]
    header, cells = lay_out(rows, columns, groups, index)
    display: dict[str, Any] = {"header": header}
    display["rows"] = [[_as_json(cell) for cell in row] for row in cells]
    if groups and columns and columns[0].value == groups[0]:
        display["headed"] = True
    more: dict[str, Any] = {"display": display}
    named = next((cell for row in cells for cell in row if isinstance(cell, Item)), None)
    if named:  # others' votes, by item: not ours to license
        more["licence"] = get_dataset(named.dataset).release.licence
    manifest = artifacts.write(folder, id, "table", table, caption, [], **more)
    html = f"<p><b>{id}</b> {caption_html(manifest['caption'])}</p>{table_html(display, texts)}"
    return artifacts.Published(id, manifest, html)


def _as_json(cell: object) -> object:
    if isinstance(cell, Item | Votes):
        return {type(cell).__name__.lower(): asdict(cell)}
    return str(cell)


def table_html(display: Mapping[str, Any], texts: Texts | None = None) -> str:
    """Set a table as HTML, all text escaped.

    `display` is that of a manifest. `texts` gives the text of an item by dataset and uid, to be
    joined in, and None where there is none. Where the display is `headed`, the first cell that
    several rows share stands in a row above them.
    """
    rows, headings = display["rows"], display["header"]
    parts: list[tuple[Any, list[Any]]] = [(None, rows)]
    if display.get("headed"):
        groups = groupby(rows, key=lambda row: row[0])
        parts = [(heading, [row[1:] for row in some]) for heading, some in groups]
        headings = headings[1:]
    shown = [row for _, some in parts for row in some]
    numeric = [any(_is_number(row[place]) for row in shown) for place in range(len(headings))]
    lines = ['<table class="published">', "<thead>", *_header_html(headings, numeric), "</thead>"]
    for heading, some in parts:
        lines.append("<tbody>")
        if heading is not None:
            cell = f'<th scope="rowgroup" colspan="{len(headings)}">{_cell_html(heading, texts)}'
            lines.append(f"<tr>{cell}</th></tr>")
        lines += [_row_html(row, numeric, texts) for row in some]
        lines.append("</tbody>")
    return "\n".join([*lines, "</table>"])


def _row_html(row: Sequence[object], numeric: Sequence[bool], texts: Texts | None) -> str:
    first, *others = row
    cells = [f'<th scope="row"{_cell_class(first, numeric[0])}>{_cell_html(first, texts)}</th>']
    for cell, of_numbers in zip(others, numeric[1:], strict=True):
        kind = _cell_class(cell, of_numbers)
        cells.append(f"<td{kind}>{_cell_html(cell, texts)}</td>")
    return f"<tr>{''.join(cells)}</tr>"


def _is_number(cell: object) -> bool:
    return isinstance(cell, str) and _NUMBER.fullmatch(cell) is not None


def _cell_class(cell: object, of_numbers: bool) -> str:
    """Say of a cell that it is a number (or none, in a column of numbers), or fits on one line."""
    if _is_number(cell) or (of_numbers and cell == MISSING):
        return ' class="number"'
    return ' class="short"' if isinstance(cell, str) and len(cell) <= _SHORT else ""


def _header_html(columns: Sequence[Sequence[str]], numeric: Sequence[bool]) -> list[str]:
    """Set one row of column names, or two where names are grouped under a common one."""
    places = list(zip(columns, numeric, strict=True))
    if all(len(names) == 1 for names in columns):
        return [f"<tr>{''.join(_column(names[0], number) for names, number in places)}</tr>"]
    upper, lower = [], []
    for group, found in groupby(places, key=lambda place: place[0][0]):
        members = list(found)
        names = [names[1] for names, _ in members]
        if names == [""]:
            upper.append(_column(group, members[0][1], ' rowspan="2"'))
        else:
            upper.append(f'<th scope="colgroup" colspan="{len(names)}">{escape(group)}</th>')
            lower += [_column(names[1], number) for names, number in members]
    return [f"<tr>{''.join(upper)}</tr>", f"<tr>{''.join(lower)}</tr>"]


def _column(name: str, number: bool, more: str = "") -> str:
    kind = ' class="number"' if number else ""
    return f'<th scope="col"{kind}{more}>{escape(name)}</th>'


def _cell_html(cell: object, texts: Texts | None) -> str:
    if isinstance(cell, Mapping) and "item" in cell:
        return _item_html(cell["item"]["dataset"], cell["item"]["uid"], texts)
    if isinstance(cell, Mapping) and "votes" in cell:
        return votes_html(cell["votes"]["dataset"], cell["votes"]["counts"])
    text = _BOLD.sub(r"<b>\1</b>", escape(str(cell)))
    if _INTERVAL.search(text):
        return _INTERVAL.sub(r' <span class="interval">\1</span>', text)
    return text


def _item_html(dataset: str, uid: str, texts: Texts | None) -> str:
    name = escape(get_dataset(dataset).short)
    parts = [f'<span class="item-name">{name} <code class="uid">{_literal(uid)}</code></span>']
    text = texts(dataset, uid) if texts else None
    for field, sentence in (text or {}).items():
        parts.append(
            f'<span class="item-text"><b>{_literal(field)}</b> {_literal(sentence.strip())}</span>'
        )
    return "".join(parts)


def _literal(text: str) -> str:
    """Escape a text of the data, what would be a formula or a role on a page too."""
    return escape(text).replace("$", "&#36;").replace("{", "&#123;")


def votes_html(dataset: str, counts: Sequence[int], unit: str = "") -> str:
    """Set an item's votes, or shares of such a `unit`, for each label in order, as a bar."""
    votes = list(zip(get_dataset(dataset).classes, counts, strict=True))
    spoken = ", ".join(f"{label.name} {n}{unit}" for label, n in votes)
    total = sum(counts)
    segments = "".join(
        f'<span class="vote" style="--light:{label.colour.light};--dark:{label.colour.dark};'
        f'width:{100 * n / total:g}%">{f"{n}{unit}" if n >= 0.12 * total else ""}</span>'
        for label, n in votes
        if n
    )
    return f'<span class="votes" role="img" aria-label="{escape(spoken)}">{segments}</span>'
