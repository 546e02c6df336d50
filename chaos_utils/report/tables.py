"""One call that saves, captions and makes a table citable; and how tables look."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import groupby

import pandas as pd

from chaos_utils.base.table import Table
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.report import artifacts
from chaos_utils.report.captions import caption_html
from chaos_utils.report.columns import MISSING, Column, lay_out
from chaos_utils.report.literal import in_html
from chaos_utils.report.manifests import (
    Cell,
    Display,
    ItemCell,
    ItemText,
    LinkCell,
    PageLink,
    VotesBar,
    VotesCell,
)

_SHORT_TEXT = 24
_NUMBER = re.compile(r"(\*\*)?[−+±]?(\$?[\d.,]+(–[\d.,]+)?( ?%)?|∞)(\*\*)?( [\[(].*[\])])?")
_BOLD = re.compile(r"^\*\*(.+?)\*\*")
_INTERVAL = re.compile(r" (\[.*\])$")
Texts = Callable[[str, str], Mapping[str, str] | None]


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
) -> artifacts.Artifact | None:
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
    if not artifacts.has_rows(id, "table", table, caption):
        return None
    rows = table.rows if shown is None else shown
    columns = columns or [Column(str(name), name) for name in rows]
    header, cells = lay_out(rows, columns, groups, index)
    display = Display(header=header, rows=[[_as_cell(cell) for cell in row] for row in cells])
    if groups and columns and columns[0].value == groups[0]:
        display = display.model_copy(update={"headed": True})
    named = next((cell for row in cells for cell in row if isinstance(cell, ItemText)), None)
    # Others' votes, by item, are not ours to license.
    licence = get_dataset(named.dataset).release.licence if named else None
    manifest = artifacts.describe(id, "table", table, caption, licence=licence, display=display)
    artifacts.write(manifest, table)
    html = f"<p><b>{id}</b> {caption_html(manifest.caption)}</p>{table_html(display, texts)}"
    return artifacts.Artifact(manifest, html)


def _as_cell(cell: object) -> Cell:
    if isinstance(cell, ItemText):
        return ItemCell(item=cell)
    if isinstance(cell, PageLink):
        return LinkCell(link=cell)
    return VotesCell(votes=cell) if isinstance(cell, VotesBar) else str(cell)


def table_html(display: Display, texts: Texts | None = None, root: str | None = None) -> str:
    """Set a table as HTML, all text escaped.

    `texts` gives the text of an item by dataset and uid, to be joined in, and None where there is
    none. `root` leads from the page to the site's root; without it, links are mere text.
    """
    write = partial(_cell_html, texts=texts, root=root)
    rows, headings = display.rows, display.header
    parts: list[tuple[Cell | None, list[list[Cell]]]] = [(None, rows)]
    if display.headed:
        groups = groupby(rows, key=lambda row: row[0])
        parts = [(heading, [row[1:] for row in section]) for heading, section in groups]
        headings = headings[1:]
    shown = [row for _, section in parts for row in section]
    numeric = [any(_is_number(row[place]) for row in shown) for place in range(len(headings))]
    lines = ['<table class="published">', "<thead>", *_header_html(headings, numeric), "</thead>"]
    for heading, section in parts:
        lines.append("<tbody>")
        if heading is not None:
            cell = f'<th scope="rowgroup" colspan="{len(headings)}">{write(heading)}'
            lines.append(f"<tr>{cell}</th></tr>")
        lines += [_row_html(row, numeric, write) for row in section]
        lines.append("</tbody>")
    return "\n".join([*lines, "</table>"])


def _row_html(row: Sequence[Cell], numeric: Sequence[bool], write: Callable[[Cell], str]) -> str:
    first, *values = row
    cells = [f'<th scope="row"{_cell_class(first, numeric[0])}>{write(first)}</th>']
    for cell, of_numbers in zip(values, numeric[1:], strict=True):
        kind = _cell_class(cell, of_numbers)
        cells.append(f"<td{kind}>{write(cell)}</td>")
    return f"<tr>{''.join(cells)}</tr>"


def _is_number(cell: Cell) -> bool:
    return isinstance(cell, str) and _NUMBER.fullmatch(cell) is not None


def _cell_class(cell: Cell, of_numbers: bool) -> str:
    """Say of a cell that it is a number (or none, in a column of numbers), or fits on one line."""
    if _is_number(cell) or (of_numbers and cell == MISSING):
        return ' class="number"'
    text = cell.link.text if isinstance(cell, LinkCell) else cell
    return ' class="short"' if isinstance(text, str) and len(text) <= _SHORT_TEXT else ""


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
            upper.append(f'<th scope="colgroup" colspan="{len(names)}">{in_html(group)}</th>')
            lower += [_column(names[1], number) for names, number in members]
    return [f"<tr>{''.join(upper)}</tr>", f"<tr>{''.join(lower)}</tr>"]


def _column(name: str, number: bool, more: str = "") -> str:
    kind = ' class="number"' if number else ""
    return f'<th scope="col"{kind}{more}>{in_html(name)}</th>'


def _cell_html(cell: Cell, texts: Texts | None, root: str | None) -> str:
    if isinstance(cell, LinkCell):
        text, page = in_html(cell.link.text), in_html(cell.link.page)
        return text if root is None else f'<a href="{root}{page}.html">{text}</a>'
    if isinstance(cell, ItemCell):
        return _item_html(cell.item, texts)
    if isinstance(cell, VotesCell):
        return votes_html(cell.votes.dataset, cell.votes.counts)
    text = _BOLD.sub(r"<b>\1</b>", in_html(cell))
    if _INTERVAL.search(text):
        return _INTERVAL.sub(r' <span class="interval">\1</span>', text)
    return text


def _item_html(item: ItemText, texts: Texts | None) -> str:
    name = in_html(get_dataset(item.dataset).short)
    uid = in_html(item.uid)
    parts = [f'<span class="item-name">{name} <code class="uid">{uid}</code></span>']
    text = texts(item.dataset, item.uid) if texts else None
    for field, sentence in (text or {}).items():
        parts.append(
            f'<span class="item-text"><b>{in_html(field)}</b> {in_html(sentence.strip())}</span>'
        )
    return "".join(parts)


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
    return f'<span class="votes" role="img" aria-label="{in_html(spoken)}">{segments}</span>'
