"""How to cite the book, a figure or a table."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from chaos_utils.errors import ChaosError

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


@dataclass(frozen=True, slots=True)
class Book:
    """What CITATION.cff says of the book.

    Attributes
    ----------
    title, version, year : str
    authors : tuple of str
        As they are printed.
    url : str
        Where it is published; empty before it is.
    """

    title: str
    version: str
    year: str
    authors: tuple[str, ...]
    url: str


def read_book(path: Path) -> Book:
    """Read CITATION.cff; a ChaosError names a field that is missing."""
    content = yaml.safe_load(path.read_text("utf-8"))
    try:
        authors = tuple(
            person.get("name") or f"{person['given-names']} {person['family-names']}"
            for person in content["authors"]
        )
        return Book(
            title=content["title"],
            version=str(content["version"]),
            year=str(content["date-released"])[:4],
            authors=authors,
            url=content.get("url", ""),
        )
    except KeyError as fault:
        raise ChaosError("A field is missing.", where=path.name, expected=str(fault)) from fault


def book_bibtex(book: Book) -> str:
    """Return a BibTeX entry for the whole book."""
    return _entry("living-book", {"title": f"{{{latex(book.title)}}}"} | _common(book), book.url)


def book_plain(book: Book) -> str:
    """Return a citation of the whole book in one line of text."""
    where = f" {book.url}" if book.url else ""
    return f"{', '.join(book.authors)} ({book.year}). {book.title}, version {book.version}.{where}"


def bibtex(book: Book, manifest: Mapping[str, Any]) -> str:
    """Return a BibTeX entry for a figure or table."""
    kind = manifest["kind"].capitalize()
    note = f"{kind} \\texttt{{{manifest['id']}}} in \\emph{{{latex(book.title)}}}"
    fields = {"title": f"{{{latex(_title(manifest))}}}"} | _common(book)
    fields["note"] = f"{note}, version {book.version}"
    return _entry(manifest["id"], fields, _url(book, manifest))


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


def plain(book: Book, manifest: Mapping[str, Any]) -> str:
    """Return a citation of a figure or table in one line of text."""
    kind = manifest["kind"].capitalize()
    url = _url(book, manifest)
    where = f" {url}" if url else ""
    return (
        f"{', '.join(book.authors)} ({book.year}). {_title(manifest)}. {kind} {manifest['id']} in "
        f"{book.title}, version {book.version}.{where}"
    )


def latex(text: str) -> str:
    """Escape the characters that are special in LaTeX."""
    return "".join(_LATEX.get(character, character) for character in text)


def _title(manifest: Mapping[str, Any]) -> str:
    title: str = manifest["title"]
    return f"Synthetic sample: {title}" if manifest["synthetic"] else title


def _url(book: Book, manifest: Mapping[str, Any]) -> str:
    return f"{book.url.rstrip('/')}/figures/{manifest['id']}.json" if book.url else ""
