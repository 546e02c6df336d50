"""The page of its own that each figure and table has: what it shows, its files, its origin.

The page stands at ``figures/<id>.html``. The theme around it, and the caption's markup, are
the book's extension's business.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from chaos_utils.base import style
from chaos_utils.datasets.catalogue import shorts_of
from chaos_utils.publish import citations, licences
from chaos_utils.publish.cells import CodeCell
from chaos_utils.publish.citations import Book
from chaos_utils.publish.markup import code, copied, facts_table, scrolled
from chaos_utils.report.artifacts import picture_name
from chaos_utils.report.captions import without_markup
from chaos_utils.report.tables import table_html

_FEW = 4  # values of a column that are shown
_DIGITS = 4
_NARROW = 5  # columns that a table may have beside the margin
# By what follows the id in a file's name.
_KINDS = {
    ".svg": "vector picture",
    "-dark.svg": "vector picture for dark pages",
    "-narrow.svg": "vector picture for phones",
    "-narrow-dark.svg": "vector picture for phones, dark",
    ".png": "picture, 300 dpi",
    ".pdf": "vector picture for print",
    ".csv": "the data behind it",
    ".json": "the data, with everything on this page",
}
_CITATIONS = {"plain": "Plain text", "bibtex": "BibTeX", "ris": "RIS", "csl": "CSL-JSON"}
SECTIONS = {
    "words": "In words",
    "downloads": "Downloads",
    "data": "The data behind it",
    "origin": "How it was made",
    "cite": "How to cite it",
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the book a figure or table stands.

    `link` leads from the landing page to the place in the chapter. `number` is such as ``Fig. 3``.
    `caption` is HTML, its links relative to the landing page.
    """

    chapter: str
    link: str
    number: str
    caption: str


def body(
    manifest: Mapping[str, Any],
    book: Book,
    place: Place,
    command: str,
    sizes: Mapping[str, int],
    cell: CodeCell | None = None,
) -> str:
    """Return the content of a landing page as HTML, all text escaped.

    `command` is what reproduces the figure or table, `sizes` the bytes of each file by its name,
    and `cell` the code that makes it.
    """
    parts = [
        f"<h1>{escape(without_markup(manifest['title']))}</h1>",
        f'<p class="landing-place"><a href="{escape(place.link)}">{escape(place.number)}</a> in '
        f"the chapter <em>{escape(place.chapter)}</em>; its permanent id is "
        f"<code>{escape(manifest['id'])}</code>. "
        f'<a href="../figures.html">All figures and tables</a></p>',
        _warnings(manifest),
        _object(manifest, place),
        _section("words", f"<p>{escape(manifest['alt'])}</p>") if "alt" in manifest else "",
        _section("downloads", _downloads(manifest, sizes)),
        _section("data", _data(book, manifest)),
        _section("origin", _origin(manifest, command, cell)),
        _section("cite", _citations(book, manifest)),
        '<script src="../_static/copy.js"></script>',
    ]
    return "\n".join(filter(None, parts))


def contents(manifest: Mapping[str, Any]) -> str:
    """Return the list of the page's sections as HTML, for the theme to show beside it."""
    items = "".join(
        f'<li><a class="reference internal" href="#{id}">{title}</a></li>'
        for id, title in SECTIONS.items()
        if id != "words" or "alt" in manifest
    )
    title = escape(without_markup(manifest["title"]))
    return f'<ul><li><a class="reference internal" href="#">{title}</a><ul>{items}</ul></li></ul>'


def _section(id: str, content: str) -> str:
    return f'<section id="{id}"><h2>{SECTIONS[id]}</h2>\n{content}\n</section>'


def _warnings(manifest: Mapping[str, Any]) -> str:
    kind, said = manifest["kind"], []
    if manifest["synthetic"]:
        text = f"This {kind} was made from invented items and simulated votes. It is not a result."
        said.append(_note("Synthetic sample", text, "warning"))
    if manifest["recorded"]:
        names = shorts_of(manifest["recorded"])
        text = (
            f"The votes or predictions on {names} were not available when this page was built. "
            f"What the {kind} shows of them was computed earlier, from the files below, and "
            "recorded."
        )
        if manifest["outdated"]:
            text += " Another version of the code made the record."
        said.append(_note("Recorded", text))
    if manifest.get("stale"):
        changed = ", ".join(map(code, manifest["stale"]))
        text = f"What this {kind} was made from has changed since: {changed}."
        said.append(_note("Stale", text, "warning"))
    return "\n".join(said)


def _note(title: str, text: str, kind: str = "note") -> str:
    return (
        f'<div class="admonition {kind}"><p class="admonition-title">{title}</p><p>{text}</p></div>'
    )


def _object(manifest: Mapping[str, Any], place: Place) -> str:
    caption = (
        f'<figcaption><span class="caption-number">{escape(place.number)} </span>'
        f"{place.caption}</figcaption>"
    )
    if manifest["kind"] == "figure":
        shown = picture_html(manifest, "") + caption
    else:
        shown = caption + scrolled(
            table_html(manifest["display"]),
            without_markup(manifest["title"]),
            wide=is_wide(manifest),
        )
        if datasets := licences.shown_datasets(manifest):
            if not manifest["recorded"]:
                shown += (
                    "<p>The items' texts are not part of the table: the chapter shows them.</p>"
                )
            if not manifest["synthetic"]:
                shown += licences.paragraph(licences.votes_notice(datasets))
    return f'<figure class="published published-{manifest["kind"]}">{shown}</figure>'


def is_wide(manifest: Mapping[str, Any]) -> bool:
    """Say whether a table needs the page's margin too."""
    return len(manifest["display"]["header"]) > _NARROW


def picture_html(manifest: Mapping[str, Any], folder: str) -> str:
    """Return a figure's picture for the light and the dark look.

    `folder` leads from the page to the figures: ``../figures/``, or nothing.
    """

    def picture(mode: style.Mode) -> str:
        (width, height), (narrow, tall) = manifest["size"], manifest["narrow_size"]
        id, alt = manifest["id"], escape(manifest["alt"])
        return (
            f'<picture class="only-{mode}"><source media="(max-width: 600px)" '
            f'srcset="{folder}{picture_name(id, mode, narrow=True)}" '
            f'width="{narrow}" height="{tall}">'
            f'<img src="{folder}{picture_name(id, mode)}" loading="lazy" alt="{alt}" '
            f'width="{width}" height="{height}"></picture>'
        )

    # In an element of their own: the theme hides a caption that follows the other mode's picture.
    pictures = "".join(map(picture, style.MODES))
    name = escape(without_markup(manifest["title"]))
    return f'<div class="picture" role="group" aria-label="{name}">{pictures}</div>'


def _downloads(manifest: Mapping[str, Any], sizes: Mapping[str, int]) -> str:
    rows = []
    for name, n_bytes in sizes.items():
        link = f'<a href="{escape(name)}" download>{escape(name)}</a>'
        rows.append((link, _KINDS[name.removeprefix(manifest["id"])], _short(size(n_bytes))))
    return facts_table(f"Files of this {manifest['kind']}", ("file", "what it is", "size"), rows)


def _short(text: str) -> str:
    return f'<span class="short">{escape(text)}</span>'


def size(n_bytes: int) -> str:
    """Write a number of bytes for a reader, such as ``12 kB``."""
    if n_bytes < 1000:
        return f"{n_bytes} B"
    amount, unit = (n_bytes / 1e6, "MB") if n_bytes >= 999_500 else (n_bytes / 1e3, "kB")
    return f"{amount:.0f} {unit}" if amount >= 10 else f"{amount:.1f} {unit}"


def _data(book: Book, manifest: Mapping[str, Any]) -> str:
    """Return what the columns hold, one by one: side by side, many would not fit the page."""
    rows, columns = manifest["data"], manifest["columns"]
    caption = f"{_count(len(rows), 'row')}, {_count(len(columns), 'column')}"
    held = ((code(str(name)), _values(row[name] for row in rows)) for name in columns)
    lines = read_lines(book, manifest)
    return (
        facts_table(caption, ("column", "values"), held)
        + f"<p>After {code('import pandas as pd')}, one line reads either file"
        + (":</p>\n" if book.url else ", in the folder that it stands in:</p>\n")
        + "".join(copied("", line, f"The line for {kind}") for kind, line in lines.items())
    )


def read_lines(book: Book, manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return the line of Python that reads the data into a pandas frame, by kind of file."""
    csv, json = (
        f'"{citations.address(book, manifest, suffix) or manifest["id"] + suffix}"'
        for suffix in (".csv", ".json")
    )
    return {
        "CSV": f"pd.read_csv({csv})",
        "JSON": f'pd.DataFrame(pd.read_json({json}, typ="series")["data"])',
    }


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _values(values: Iterable[object]) -> str:
    """Name the first few that differ."""
    found = list(dict.fromkeys(_shown(value) for value in values))
    listed = ", ".join(found[:_FEW]) + (" …" if len(found) > _FEW else "")
    return f'<span class="values">{escape(listed)}</span>'


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.{_DIGITS}g}".replace("-", "−")
    return "–" if value is None else str(value)


def _origin(manifest: Mapping[str, Any], command: str, cell: CodeCell | None) -> str:
    notebook = escape(manifest["notebook"])
    parameters = facts_table(
        "Parameters",
        ("parameter", "value"),
        ((escape(name), code(repr(value))) for name, value in manifest["parameters"].items()),
    )
    inputs = facts_table(
        "Files it was made from",
        ("file", "SHA-256"),
        (
            (escape(entry["name"]), f'<code class="digest">{escape(entry["sha256"])}</code>')
            for entry in manifest["inputs"]
        ),
    )
    software = facts_table(
        "Versions it was made with",
        ("package", "version"),
        ((escape(name), escape(version)) for name, version in manifest["software"].items()),
    )
    return (
        f'<p>The notebook <a href="../notebooks/{notebook}.py" download><code>{notebook}.py</code>'
        "</a> makes it"
        + (_source(cell) if cell else ".</p>\n<p>")
        + "In a checkout of the book, this command makes it again, into a folder of "
        "its own:</p>\n"
        + copied("", command, "The command")
        + "".join((parameters, inputs, software))
    )


def _source(cell: CodeCell) -> str:
    """Finish a sentence that names the notebook with the cell's lines, and show the cell."""
    lines = f"lines {cell.first} to {cell.last}"
    if cell.link:
        lines = f'<a href="{escape(cell.link)}">{lines}</a>'
    return (
        f", in its {lines}.</p>\n"
        "<details><summary>The code of this cell</summary>"
        f"{copied('', cell.code, 'The code')}</details>\n<p>"
    )


def _citations(book: Book, manifest: Mapping[str, Any]) -> str:
    texts = {name: write(book, manifest) for name, write in citations.FORMATS.items()}
    return "".join(
        copied(title, texts[name].rstrip(), f"{title} citation")
        for name, title in _CITATIONS.items()
    )
