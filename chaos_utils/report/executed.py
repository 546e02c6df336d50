"""An executed notebook as a part of a page: its cells' outputs, with code and logs folded.

Its prose and the explanations below its figures stay in the notebook: they are about the book as it
was then, and chapters say the same of today's.
"""

import re
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

import nbformat
from bs4 import BeautifulSoup, Tag

from chaos_utils.base import project
from chaos_utils.report.captions import first_sentence
from chaos_utils.report.standalone import plain_roles

_LOWEST_LEVEL = 6  # of a heading
_HEADINGS = [f"h{level}" for level in range(1, _LOWEST_LEVEL + 1)]
_LONGEST_LOG = 12  # lines that are shown unfolded
_ID = re.compile(r"(?:fig|tbl)-[\w-]+")
_POWER_OF_TEN = re.compile(r"(?<![\w/.-])(\d+(?:\.\d+)?e)-(?=\d+\b)")
# The end of a pandas series as text: its numbers stand in the tables.
_SERIES = re.compile(r"\bdtype: \w+\)?\s*$")


def read_executed(path: Path) -> nbformat.NotebookNode:
    """Return the cells of an executed notebook that readers see."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells = [
        cell for cell in notebook.cells if "remove-cell" not in cell.metadata.get("tags", [])
    ]
    return notebook


def as_html(notebook: nbformat.NotebookNode, *, below: int = 0, brief: bool = False) -> str:
    """Return a notebook as HTML, without a look of its own.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        As `read_executed` gives it.
    below : int
        Levels by which its headings are lowered: 1 inside a page that has a title.
    brief : bool
        Whether code and pictures are left out, whose type and colours are not those of the page.

    Returns
    -------
    str
        It loads nothing from elsewhere: pictures are embedded.
    """
    parts = [part for cell in notebook.cells for part in _cell_html(cell)]
    page = BeautifulSoup("\n".join(parts), "html.parser")
    for element in page.select(".executed-code, figure") if brief else ():
        element.decompose()
    for heading in reversed(page.find_all(_HEADINGS)):
        following = heading.find_next_sibling()
        is_heading = following is not None and following.name in _HEADINGS
        if following is None or (is_heading and following.name <= heading.name):
            heading.decompose()  # it is about prose alone
    for heading in page.find_all(_HEADINGS):
        heading.name = f"h{min(_LOWEST_LEVEL, int(heading.name[1]) + below)}"
        for link in heading.find_all("a", class_="anchor-link"):
            link.decompose()
        del heading["id"]  # another notebook on the page may have the same
    for label in page.select("p > b:first-child, figcaption > b:first-child"):
        if _ID.fullmatch(label.text):  # which is a name inside the notebook alone
            caption, id = label.parent, label.text
            assert caption is not None
            label.decompose()
            caption["class"] = "caption"
            title = project.current().neutral_title(id)
            caption.string = title or first_sentence(caption.get_text())
    for cell in page.find_all("td", string=_POWER_OF_TEN):
        # No line ends behind a minus sign.
        cell.string = _POWER_OF_TEN.sub("\\1\N{MINUS SIGN}", cell.get_text())
    for number, table in enumerate(page.find_all("table"), start=1):
        _make_accessible(page, table, f"Table {number} of the run")
    return str(page)


def _make_accessible(page: BeautifulSoup, table: Tag, name: str) -> None:
    """Give a table what screen readers and the keyboard need: caption, scopes, a box to scroll."""
    for heading in table.find_all("th"):
        if not heading.get("scope"):
            heading["scope"] = "col"
    if table.caption is None:
        caption = page.new_tag("caption", attrs={"class": "visually-hidden"})
        caption.string = name
        table.insert(0, caption)
    box = {"class": "table-scroll", "role": "region", "tabindex": "0", "aria-label": name}
    table.wrap(page.new_tag("div", attrs=box))


def _cell_html(cell: nbformat.NotebookNode) -> Iterator[str]:
    if cell.cell_type == "markdown":
        parts = BeautifulSoup(_markdown_html(cell.source), "html.parser")
        yield from map(str, parts.find_all([*_HEADINGS, "details"], recursive=False))
        return
    if not any(tag.startswith("remove-input") for tag in cell.metadata.get("tags", [])):
        code = f"<pre>{escape(cell.source)}</pre>"
        yield f'<details class="executed-code"><summary>Show the code</summary>{code}</details>'
    for output in cell.get("outputs", []):
        if shown := _output_html(output):
            yield f'<div class="executed-output">{shown}</div>'


def _output_html(output: Mapping[str, Any]) -> str:
    data = output.get("data", {})
    if "text/html" in data:
        return plain_roles(data["text/html"])
    if "text/markdown" in data:  # what a notebook says of its inputs and its run
        return ""
    text = output.get("text") or data.get("text/plain", "")
    if _SERIES.search(text):
        return ""
    shown = f"<pre>{escape(text)}</pre>"
    if (n := len(text.splitlines())) > _LONGEST_LOG:
        return f"<details><summary>The log, {n} lines</summary>{shown}</details>"
    return shown


def _markdown_html(text: str) -> str:
    from nbconvert.filters.markdown_mistune import markdown2html_mistune  # slow to import

    return str(markdown2html_mistune(plain_roles(text)))
