"""One call that saves, captions and makes a table citable; and tables as HTML."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby

import pandas as pd

from chaos_utils.base import project
from chaos_utils.base.table import Table
from chaos_utils.report import artifacts
from chaos_utils.report.captions import caption_html, mark, names_in
from chaos_utils.report.columns import MISSING, Column, Row, lay_out
from chaos_utils.report.literal import in_html
from chaos_utils.report.manifests import (
    Cell,
    Display,
    ItemCell,
    ItemText,
    LinkCell,
    PageLink,
    ShownAlone,
    VotesBar,
    VotesCell,
    WebCell,
    WebLink,
)

_SHORT_TEXT = 24  # characters that stay on one line
_NUMBER = re.compile(
    r"(\*\*)?([≤≥<>]\s)?[−+±]?(\$?[\d.,]+(–[\d.,]+)?( ?%)?|∞)(\*\*)?( [\[(].*[\])])?"
)
_BOLD = re.compile(r"^\*\*(.+?)\*\*")
_INTERVAL = re.compile(r" (\[.*\])$")
Texts = Callable[[str, str], Mapping[str, str] | None]


@dataclass(frozen=True, slots=True)
class Alone:
    """Some rows of a table, which a reader may ask to see alone.

    Attributes
    ----------
    label : str
        What these rows have in common.
    is_among : callable
        Returns whether a row is among them.
    columns : sequence of Column
        Columns of the table that then show something else; they have the same headings.
    """

    label: str
    is_among: Callable[[Row], bool]
    columns: Sequence[Column]


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
    alone: Alone | None = None,
) -> artifacts.Artifact | None:
    """Write a table's data and manifest, and show the table.

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
        The rows that are shown, if not the table's own: some of them, or reshaped ones.
    groups : sequence of str
        Columns that make groups of rows, in each of which a column's best is bold. If the first of
        them is the table's first column, its values stand in rows of their own above each group.
    index : sequence of str
        Rows with the same values in these columns make one row, in which a `Column` shows the row
        that its `at` describes.
    texts : callable, optional
        Returns the text of an item by dataset and uid, for the page of a run alone: neither the
        data nor the manifest has it.
    alone : Alone, optional
        Rows that ``{sortable}`` lets a reader see alone; not for a table with an `index`.

    Returns
    -------
    Artifact or None
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
    cautions = project.current().cautions(rows)  # the data may say more
    header, cells = lay_out(rows, columns, groups, index)
    shown_rows = [[_marked(_as_cell(cell), cautions) for cell in row] for row in cells]
    display = Display(header=header, rows=shown_rows)
    if groups and columns and columns[0].value == groups[0]:
        display = display.model_copy(update={"headed": True})
    if alone:
        display = display.model_copy(update={"alone": _shown_alone(alone, rows, columns)})
    item = next((cell for row in cells for cell in row if isinstance(cell, ItemText)), None)
    # Other people's votes on single items are not ours to license.
    (group,) = project.current().groups([item.dataset]) if item else (None,)
    licence = group.source.licence if group else None
    marked = names_in(display.model_dump_json(), cautions)
    manifest = artifacts.describe(
        id, "table", table, caption, licence=licence, display=display, marked=marked,
        meanings=_meanings(columns, table.rows.select_dtypes("number").columns),
    )  # fmt: skip
    artifacts.write(manifest, table)
    html = (
        f"<p><b>{id}</b> {caption_html(manifest.caption)}</p>"
        f"{table_html(display, texts)}{artifacts.notes_html(manifest)}"
    )
    return artifacts.Artifact(manifest, html)


def _shown_alone(alone: Alone, rows: pd.DataFrame, columns: Sequence[Column]) -> ShownAlone:
    headings = [column.heading for column in columns]
    return ShownAlone(
        label=alone.label,
        columns=[headings.index(column.heading) for column in alone.columns],
        rows=[
            [str(column.cell(row)) for column in alone.columns] if alone.is_among(row) else None
            for row in rows.to_dict("records")
        ],
    )


def _meanings(columns: Sequence[Column], names: Collection[str]) -> dict[str, str]:
    """Return what columns of numbers are, by name, for those that one heading of the table says.

    A column that stands under several headings, or shows some rows alone, has no meaning of its
    own. The heading of a text often says less than the text.
    """
    headings: dict[str, set[str]] = {}
    for column in columns:
        if callable(column.value) or column.at:
            continue
        heading = ": ".join(filter(None, (column.group, column.heading))).rstrip(" ↓↑")
        if column.percent:
            heading = heading.removesuffix(" (%)").removesuffix(", %")
            heading += "; in the data a share, not a percentage"
        ends = {column.low: "lower end", column.high: "upper end"}
        found = {end: f"{words} of its interval ({column.value})" for end, words in ends.items()}
        for name, meaning in (found | {column.value: heading}).items():
            headings.setdefault(name, set()).add(meaning)
    return {
        name: meaning
        for name, (meaning, *others) in headings.items()
        if name in names and meaning != name and not others
    }


def _as_cell(cell: object) -> Cell:
    if isinstance(cell, ItemText):
        return ItemCell(item=cell)
    if isinstance(cell, PageLink):
        return LinkCell(link=cell)
    if isinstance(cell, WebLink):
        return WebCell(web=cell)
    return VotesCell(votes=cell) if isinstance(cell, VotesBar) else str(cell)


def _marked(cell: Cell, names: Collection[str]) -> Cell:
    """Return a cell with the names marked that it shows; an item's is as it was."""
    if isinstance(cell, str):
        return mark(cell, names)
    if isinstance(cell, LinkCell):
        return LinkCell(link=replace(cell.link, text=mark(cell.link.text, names)))
    if isinstance(cell, WebCell):
        return WebCell(web=replace(cell.web, text=mark(cell.web.text, names)))
    return cell


def table_html(display: Display, texts: Texts | None = None, root: str | None = None) -> str:
    """Return a table as HTML, all text escaped.

    `texts` returns the text of an item by dataset and uid, which is shown with it, or None if there
    is none. `root` is the path from the page to the site's root; without it, links are mere text.
    """
    write = partial(_cell_html, texts=texts, root=root)
    rows, headings = display.rows, display.header
    # Each section has the cell that heads its rows, or None, and the rows without that cell.
    sections: list[tuple[Cell | None, list[list[Cell]]]] = [(None, rows)]
    if display.headed:
        groups = groupby(rows, key=lambda row: row[0])
        sections = [(heading, [row[1:] for row in section]) for heading, section in groups]
        headings = headings[1:]
    rows = [row for _, section in sections for row in section]
    numeric = [any(_is_number(row[index]) for row in rows) for index in range(len(headings))]
    lines = ['<table class="published">', "<thead>", *_header_html(headings, numeric), "</thead>"]
    for heading, section in sections:
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
    for cell, in_numeric_column in zip(values, numeric[1:], strict=True):
        css_class = _cell_class(cell, in_numeric_column)
        cells.append(f"<td{css_class}>{write(cell)}</td>")
    return f"<tr>{''.join(cells)}</tr>"


def _is_number(cell: Cell) -> bool:
    return isinstance(cell, str) and _NUMBER.fullmatch(cell) is not None


def _cell_class(cell: Cell, in_numeric_column: bool) -> str:
    """Return the class of a cell: a number, also a missing one, or a text that fits on a line."""
    if _is_number(cell) or (in_numeric_column and cell == MISSING):
        return ' class="number"'
    if isinstance(cell, WebCell):
        cell = cell.web.text
    text = cell.link.text if isinstance(cell, LinkCell) else cell
    return ' class="short"' if isinstance(text, str) and len(text) <= _SHORT_TEXT else ""


def _header_html(columns: Sequence[Sequence[str]], numeric: Sequence[bool]) -> list[str]:
    """Return a row of column names, or two rows where names are grouped under a common one.

    `columns` has one name for each column, or two: the group's, and the column's in the group.
    """
    headings = list(zip(columns, numeric, strict=True))
    if all(len(names) == 1 for names in columns):
        cells = [_heading_html(names[0], is_numeric) for names, is_numeric in headings]
        return [f"<tr>{''.join(cells)}</tr>"]
    upper, lower = [], []
    for group, neighbours in groupby(headings, key=lambda heading: heading[0][0]):
        members = [(names[1], is_numeric) for names, is_numeric in neighbours]
        if len(members) == 1 and members[0][0] == "":
            upper.append(_heading_html(group, members[0][1], ' rowspan="2"'))
        else:
            upper.append(f'<th scope="colgroup" colspan="{len(members)}">{in_html(group)}</th>')
            lower += [_heading_html(name, is_numeric) for name, is_numeric in members]
    return [f"<tr>{''.join(upper)}</tr>", f"<tr>{''.join(lower)}</tr>"]


def _heading_html(name: str, is_numeric: bool, attributes: str = "") -> str:
    css_class = ' class="number"' if is_numeric else ""
    return f'<th scope="col"{css_class}{attributes}>{in_html(name)}</th>'


def _cell_html(cell: Cell, texts: Texts | None, root: str | None) -> str:
    if isinstance(cell, LinkCell):
        text, page = in_html(cell.link.text), in_html(cell.link.page)
        return text if root is None else f'<a href="{root}{page}.html">{text}</a>'
    if isinstance(cell, WebCell):
        return f'<a href="{in_html(cell.web.address)}">{in_html(cell.web.text)}</a>'
    if isinstance(cell, ItemCell):
        return _item_html(cell.item, texts)
    if isinstance(cell, VotesCell):
        return votes_html(cell.votes.dataset, cell.votes.counts)
    text = _BOLD.sub(r"<b>\1</b>", in_html(cell))
    if _INTERVAL.search(text):
        return _INTERVAL.sub(r' <span class="interval">\1</span>', text)
    return text


def _item_html(item: ItemText, texts: Texts | None) -> str:
    (group,) = project.current().groups([item.dataset])
    name = in_html(group.title)
    uid = in_html(item.uid)
    parts = [f'<span class="item-name">{name} <code class="uid">{uid}</code></span>']
    fields = texts(item.dataset, item.uid) if texts else None
    for field, text in (fields or {}).items():
        title = in_html(group.texts.get(field, field).lower())
        parts.append(f'<span class="item-text"><b>{title}</b> {in_html(text.strip())}</span>')
    return "".join(parts)


def votes_html(dataset: str, counts: Sequence[int], unit: str = "") -> str:
    """Return a bar of an item's votes for each label, in order, or of shares in a `unit`."""
    (group,) = project.current().groups([dataset])
    votes = [(*label, n) for label, n in zip(group.labels, counts, strict=True)]
    description = ", ".join(f"{label} {n}{unit}" for label, _, n in votes)
    total = sum(counts)
    segments = "".join(
        f'<span class="vote" style="--light:{hue.light};--dark:{hue.dark};'
        f'width:{100 * n / total:g}%">{f"{n}{unit}" if n >= 0.12 * total else ""}</span>'
        for _, hue, n in votes
        if n
    )
    return f'<span class="votes" role="img" aria-label="{in_html(description)}">{segments}</span>'
