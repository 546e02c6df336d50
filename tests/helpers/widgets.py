"""Pages of an interactive part alone, as the book makes it, without the rest of the book."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd

from chaos_utils.publish.templating import ASSETS, piece
from chaos_utils.report.manifests import Display
from chaos_utils.report.tables import table_html
from chaos_utils.sphinx.sortable import place_html
from helpers.checkout import PROJECT

BOOK = PROJECT / "book"
CALCULATOR = (
    (f"{ASSETS}/static/copy.js", f"{ASSETS}/shared/page.js", f"{ASSETS}/shared/axes.js",
     *(f"_calculators/{name}.js" for name in ("inputs", "votes_file", "votes", "conversions"))),
    (f"{ASSETS}/static/book.css", f"{ASSETS}/shared/axes.css", "_calculators/calculators.css"),
)  # fmt: skip
INTERACTIVE = (
    (f"{ASSETS}/shared/page.js", f"{ASSETS}/shared/axes.js",
     *(f"_interactive/{name}.js" for name in ("dots", "reliability", "curves", "interactive"))),
    (f"{ASSETS}/shared/axes.css", "_interactive/interactive.css"),
)  # fmt: skip
SORTABLE = (
    (f"{ASSETS}/shared/page.js", f"{ASSETS}/sortable/sortable.js"),
    (f"{ASSETS}/static/book.css", f"{ASSETS}/sortable/sortable.css"),
)
CITE = {"words": "The book (2026). T.", "address": "https://example.org/x.html", "page": "x.html"}


def _page(path: Path, files: tuple[tuple[str, ...], ...], attributes: str, data: Any) -> str:
    """Write a page of one part with its data; return its address."""
    content = json.dumps(data).replace("<", "\\u003c")
    place = f'<div {attributes}><script type="application/json">{content}</script></div>'
    return _write(path, files, place)


def _write(path: Path, files: tuple[tuple[str, ...], ...], content: str) -> str:
    """Write a page of some content, scripts and styles; return its address."""
    scripts, styles = ([(BOOK / name).as_uri() for name in names] for names in files)
    path.write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>t</title>'
        + "".join(f'<link rel="stylesheet" href="{one}">' for one in styles)
        + f"<main><h1>t</h1>{content}</main>"
        + "".join(f'<script src="{one}"></script>' for one in scripts),
        "utf-8",
    )
    return path.as_uri()


def calculator_page(folder: Path, kind: str, data: dict[str, Any]) -> str:
    """Return the address of a page with a calculator of this kind."""
    attributes = f'class="calculator" data-kind="{kind}" role="region" aria-label="Calculator"'
    data = data | {"synthetic": False, "cite": CITE}
    return _page(folder / f"{kind}.html", CALCULATOR, attributes, data)


def interactive_page(folder: Path, data: dict[str, Any], slider: str = "") -> str:
    """Return the address of a page with rows of dots or, with a slider, curves."""
    attributes = f'class="interactive" hidden data-slider="{slider}"'
    return _page(folder / "page.html", INTERACTIVE, attributes, data)


def sortable_page(
    folder: Path, display: Display, by: str = "", is_lowest_first: bool = False
) -> str:
    """Return the address of a page with a published table, which is sorted `by`."""
    scrolled = piece("scrolled", table_html(display), "A table")
    caption = "<figcaption>C</figcaption>"
    note = '<p class="caution">† A note.</p>' if "†" in scrolled else ""
    figure = f'<figure class="published" id="tbl-one">{caption}{scrolled}{note}</figure>'
    place = place_html("tbl-one", by, is_lowest_first, display)
    return _write(folder / "table.html", SORTABLE, place + figure)


def recorded(analysis: str) -> pd.DataFrame:
    """Return the rows of an analysis as they are recorded."""
    files = sorted((PROJECT / "results" / "tables" / analysis).glob("*.csv"), reverse=True)
    return pd.concat([pd.read_csv(file, comment="#") for file in files])


def manifest(rows: pd.DataFrame, **parameters: Any) -> SimpleNamespace:
    """Return rows and parameters as a table's manifest holds them."""
    data = rows.astype(object).where(rows.notna(), None).to_dict("records")
    return SimpleNamespace(data=data, parameters=parameters)
