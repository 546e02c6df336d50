"""How to cite the book, a figure or a table."""

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from chaos_utils.base.authorship import read_authors, read_citation
from chaos_utils.base.errors import ChaosError
from chaos_utils.report.manifests import Manifest

LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    # BibTeX counts braces with a backslash too: what is cited must not unbalance the entry.
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}

# The variable that holds the book's address for one build, instead of CITATION.cff.
ADDRESS = "CHAOS_URL"
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_ADDRESS = re.compile(
    r"https?://[a-z0-9-]+(\.[a-z0-9-]+)*(:\d{1,5})?(/[\w.~%+@!$&'*,;=-]+)*/?", re.A | re.I
)


@dataclass(frozen=True, slots=True)
class Book:
    """What CITATION.cff says of the book.

    `date` is that of this version's release, such as ``2026-11-20``; `authors` are as they are
    printed. `url` and `repository` are where the book and its code are published, and empty before
    they are.
    """

    title: str
    version: str
    abstract: str
    date: str
    authors: tuple[str, ...]
    url: str
    repository: str = ""

    @property
    def year(self) -> str:
        """Of this version's release."""
        return self.date[:4]


def read_book(path: Path) -> Book:
    """Read CITATION.cff; the variable `ADDRESS` overrides its `url`."""
    content = read_citation(path)
    given = os.environ.get(ADDRESS)
    try:
        return Book(
            title=str(content["title"]),
            version=str(content["version"]),
            abstract=" ".join(str(content.get("abstract") or "").split()),
            date=_date(content["date-released"], path.name),
            authors=read_authors(path),
            url=checked_address(given, ADDRESS)
            if given
            else checked_address(content.get("url"), f"{path.name}, url"),
            repository=str(content.get("repository-code") or ""),
        )
    except KeyError as fault:
        raise ChaosError("A field is missing.", where=path.name, expected=str(fault)) from fault


def _date(value: object, where: str) -> str:
    if not _DATE.fullmatch(str(value)):
        raise ChaosError(
            "This is not a date.",
            where=f"{where}, date-released",
            found=str(value),
            expected="such as 2026-11-20",
        )
    return str(value)


def checked_address(url: object, where: str) -> str:
    """Return the address of a site; one that is empty or None as an empty text.

    Parameters
    ----------
    url : object
        What was given.
    where : str
        Where it was given, for the error.

    Raises
    ------
    ChaosError
        If no site can have this address.
    """
    text = str(url or "")
    if text and (not _ADDRESS.fullmatch(text) or text.endswith((".html", ".html/"))):
        raise ChaosError(
            "This is not the address of a site.",
            where=where,
            found=text,
            expected="the whole address of the folder that holds index.html, "
            "such as https://example.org/book",
        )
    return text


def book_bibtex(book: Book) -> str:
    """Return a BibTeX entry for the whole book."""
    return _entry("living-book", {"title": f"{{{latex(book.title)}}}"} | _common(book), book.url)


def book_plain(book: Book) -> str:
    """Return a citation of the whole book in one line of text."""
    where = f" {book.url}" if book.url else ""
    return f"{', '.join(book.authors)} ({book.year}). {book.title}, version {book.version}.{where}"


def bibtex(book: Book, manifest: Manifest) -> str:
    """Return a BibTeX entry for a figure or table."""
    kind = manifest.kind.capitalize()
    note = f"{kind} \\texttt{{{manifest.id}}} in \\emph{{{latex(book.title)}}}"
    fields = {"title": f"{{{latex(manifest.name)}}}"} | _common(book)
    fields["note"] = f"{note}, version {book.version}"
    return _entry(manifest.id, fields, address(book, manifest))


def item_plain(book: Book, title: str, url: str) -> str:
    """Return a citation of one item in one line of text; ``<data>`` is to be filled in.

    `url` is where the item is shown; empty before the book is published.
    """
    where = f" {url}" if url else ""
    return (
        f"{', '.join(book.authors)} ({book.year}). {title}. In {book.title}, "
        f"version {book.version}. Data: <data>.{where}"
    )


def item_bibtex(book: Book, title: str, url: str) -> str:
    """Return a BibTeX entry for one item; ``<key>`` and ``<data>`` are to be filled in.

    The title is taken as it is, not escaped; `url` is as in `item_plain`.
    """
    fields = {"title": f"{{{title}}}"} | _common(book)
    fields["note"] = f"In \\emph{{{latex(book.title)}}}, version {book.version}; "
    fields["note"] += "data: <data>"
    return _entry("<key>", fields, url)


def _common(book: Book) -> dict[str, str]:
    return {
        # A name in braces of its own is not taken apart into first and last name.
        "author": " and ".join(f"{{{latex(name)}}}" for name in book.authors),
        "year": book.year,
        "version": book.version,
    }


def _entry(key: str, fields: Mapping[str, str], url: str) -> str:
    lines = [f"  {name:<8}= {{{value}}}," for name, value in fields.items()]
    if url:
        lines.append(f"  url     = {{{url}}},")
    return "\n".join([f"@misc{{{key},", *lines, "}"])


def plain(book: Book, manifest: Manifest) -> str:
    """Return a citation of a figure or table in one line of text."""
    url = address(book, manifest)
    where = f" {url}" if url else ""
    return (
        f"{', '.join(book.authors)} ({book.year}). {manifest.name}. {_note(book, manifest)}."
        + where
    )


def ris(book: Book, manifest: Manifest) -> str:
    """Return a RIS record of a figure or table; its lines end in CR and LF, as RIS has it."""
    fields = [
        ("TY", "FIGURE" if manifest.kind == "figure" else "DATA"),
        ("ID", manifest.id),
        ("TI", manifest.name),
        *(("AU", name) for name in book.authors),
        ("PY", book.year),
        ("T2", book.title),
        ("ET", book.version),
        ("N1", _note(book, manifest)),
        *(("UR", url) for url in [address(book, manifest)] if url),
        ("ER", ""),
    ]
    return "".join(f"{tag}  - {value}\r\n" for tag, value in fields)


def csl(book: Book, manifest: Manifest) -> str:
    """Return CSL-JSON for a figure or table: a list of one item."""
    item = {
        "id": manifest.id,
        "type": "figure" if manifest.kind == "figure" else "dataset",
        "title": manifest.name,
        "author": [{"literal": name} for name in book.authors],
        "issued": {"date-parts": [[int(book.year)]]},
        "container-title": book.title,
        "version": book.version,
        "note": _note(book, manifest),
    }
    url = address(book, manifest)
    return json.dumps([item | ({"URL": url} if url else {})], indent=1, ensure_ascii=False)


# By the names that `chaos cite --format` takes.
FORMATS: Mapping[str, Callable[[Book, Manifest], str]] = {
    "plain": plain,
    "bibtex": bibtex,
    "ris": ris,
    "csl": csl,
}


def _note(book: Book, manifest: Manifest) -> str:
    kind = manifest.kind.capitalize()
    return f"{kind} {manifest.id} in {book.title}, version {book.version}"


def latex(text: str) -> str:
    """Escape the characters that are special in LaTeX."""
    return "".join(LATEX.get(character, character) for character in text)


def address(book: Book, manifest: Manifest, suffix: str = ".html") -> str:
    """Return where a figure's or table's page, or another file of it, stands.

    `suffix` is what follows the id in the file's name, such as ``-dark.svg``. The address is empty
    before the book is published.
    """
    return f"{book.url.rstrip('/')}/figures/{manifest.id}{suffix}" if book.url else ""
