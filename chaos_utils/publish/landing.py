"""The landing page of a figure or table: what it shows, its files, its origin, its citation.

The page stands at ``figures/<id>.html``. The theme around it, and the caption's markup, are
the book's extension's business.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from chaos_utils.base import project
from chaos_utils.base.authorship import Citation
from chaos_utils.base.errors import counted
from chaos_utils.base.numbers import true_minus
from chaos_utils.publish import licences, templating
from chaos_utils.publish.cells import CodeCell
from chaos_utils.report import citations
from chaos_utils.report.manifests import Manifest
from chaos_utils.report.tables import table_html

_VALUES_SHOWN = 4  # of a column
_DIGITS = 4
_COLUMNS_BESIDE_MARGIN = 5  # columns that a table may have beside the margin
# What a file is, by the part of its name after the id.
_FILE_KINDS = {
    ".svg": "vector picture",
    "-dark.svg": "vector picture for dark pages",
    "-narrow.svg": "vector picture for phones",
    "-narrow-dark.svg": "vector picture for phones, dark",
    ".png": "picture, 300 dpi",
    ".pdf": "vector picture for print",
    ".csv": "the data behind it",
    ".json": "the data and the manifest",
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
class FigurePlace:
    """Where in the book a figure or table is.

    `link` leads from the landing page to it in its chapter. `number` is, for example, ``Fig. 3``.
    `caption` is HTML, its links relative to the landing page. `is_listed` says whether the book has
    a page, ``cite``, that lists all figures and tables.
    """

    chapter: str
    link: str
    number: str
    caption: str
    is_listed: bool = True


def body(
    manifest: Manifest,
    book: Citation,
    place: FigurePlace,
    command: str,
    sizes: Mapping[str, int],
    cell: CodeCell | None = None,
) -> str:
    """Return the content of a landing page as HTML, all text escaped.

    `command` reproduces the figure or table; `sizes` has the number of bytes of each file, by name;
    `cell` has the code that makes it.
    """
    rows, columns = manifest.data, manifest.columns
    table_values = {}
    if manifest.kind == "table":
        groups = licences.shown_groups(manifest)
        table_values = {
            "table": table_html(manifest.display, root="../"),
            "wide": is_wide(manifest),
            "notice": licences.paragraph(licences.votes_notice(groups)) if groups else "",
        }
    return templating.render(
        "landing",
        manifest=manifest,
        place=place,
        sections=SECTIONS,
        recorded=manifest.recorded and project.current().listed(manifest.recorded),
        files=[
            (name, _FILE_KINDS[name.removeprefix(manifest.id)], size(n_bytes))
            for name, n_bytes in sizes.items()
        ],
        data_size=f"{counted(len(rows), 'row')}, {counted(len(columns), 'column')}",
        columns=[
            (name, _example_values(row[name] for row in rows), manifest.meanings.get(name, ""))
            for name in columns
        ],
        online=bool(book.url),
        lines=reading_code(book, manifest),
        command=command,
        cell=cell,
        citations={
            title: citations.FORMATS[name](book, manifest, None).rstrip()
            for name, title in _CITATIONS.items()
        },
        **table_values,
    )


def contents(manifest: Manifest) -> str:
    """Return the list of the page's sections as HTML, for the theme to show beside it."""
    sections = {id: name for id, name in SECTIONS.items() if id != "words" or manifest.alt}
    return templating.render("contents", title=manifest.title, sections=sections)


def is_wide(manifest: Manifest) -> bool:
    """Say whether a table needs the page's margin too."""
    return len(manifest.display.header) > _COLUMNS_BESIDE_MARGIN


def size(n_bytes: int) -> str:
    """Write a number of bytes for a reader, such as ``12 kB``."""
    if n_bytes < 1000:
        return f"{n_bytes} B"
    amount, unit = (n_bytes / 1e6, "MB") if n_bytes >= 999_500 else (n_bytes / 1e3, "kB")
    return f"{amount:.0f} {unit}" if amount >= 10 else f"{amount:.1f} {unit}"


def reading_code(book: Citation, manifest: Manifest) -> dict[str, str]:
    """Return the line of Python that reads the data into a pandas frame, by kind of file."""
    csv, json = (
        f'"{citations.file_address(book, manifest, suffix)}"' for suffix in (".csv", ".json")
    )
    return {
        "CSV": f"pd.read_csv({csv})",
        "JSON": f'pd.DataFrame(pd.read_json({json}, typ="series")["data"])',
    }


def _example_values(values: Iterable[object]) -> str:
    """Return the first few distinct values of a column as text."""
    distinct = list(dict.fromkeys(_value_text(value) for value in values))
    return ", ".join(distinct[:_VALUES_SHOWN]) + (" …" if len(distinct) > _VALUES_SHOWN else "")


def _value_text(value: object) -> str:
    if isinstance(value, float):
        return true_minus(f"{value:.{_DIGITS}g}")
    return "–" if value in (None, "") else str(value)
