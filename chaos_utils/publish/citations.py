"""How to cite the book, a figure or a table."""

import json
from collections.abc import Callable, Mapping

from chaos_utils.base.authorship import Citation
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


def book_plain(book: Citation) -> str:
    """Return a citation of the whole book in one line of text."""
    return _line(book, f"{book.title}, version {book.version}.", book.resolver or book.url)


def book_bibtex(book: Citation) -> str:
    """Return a BibTeX entry for the whole book."""
    return _entry(book, "living-book", latex(book.title), book.url, doi=book.doi)


def item_plain(book: Citation, title: str, url: str) -> str:
    """Return a citation of one item in one line of text; ``<data>`` is to be filled in.

    `url` is where the item is shown; empty before the book is published.
    """
    words = f"{title}. In {_named(book)}. Data: <data>."
    return _line(book, words, url)


def page_plain(book: Citation, title: str, url: str) -> str:
    """Return a citation of a page in one line of text; `url` is as in `item_plain`."""
    ended = title if title.endswith("?") else f"{title}."
    return _line(book, f"{ended} In {_named(book)}.", url)


def item_bibtex(book: Citation, title: str, url: str) -> str:
    """Return a BibTeX entry for one item; ``<key>`` and ``<data>`` are to be filled in.

    The title is taken as it is, not escaped; `url` is as in `item_plain`.
    """
    note = f"In {_named_in_bibtex(book)}; data: <data>"
    return _entry(book, "<key>", title, url, note)


def plain(book: Citation, manifest: Manifest) -> str:
    """Return a citation of a figure or table in one line of text."""
    words = f"{manifest.name}. {_note(book, manifest)}."
    return _line(book, words, address(book, manifest))


def bibtex(book: Citation, manifest: Manifest) -> str:
    """Return a BibTeX entry for a figure or table."""
    id, kind = manifest.id, manifest.kind.capitalize()
    note = f"{kind} \\texttt{{{id}}} in {_named_in_bibtex(book)}"
    return _entry(book, id, latex(manifest.name), address(book, manifest), note)


def ris(book: Citation, manifest: Manifest) -> str:
    """Return a RIS record of a figure or table; its lines end in CR and LF, as RIS has it."""
    url = address(book, manifest)
    fields = [
        ("TY", "FIGURE" if manifest.kind == "figure" else "DATA"),
        ("ID", manifest.id),
        ("TI", manifest.name),
        *(("AU", name) for name in book.authors),
        ("PY", book.year),
        ("T2", book.title),
        ("ET", book.version),
        ("N1", _note(book, manifest)),
        *([("UR", url)] if url else []),
        ("ER", ""),
    ]
    return "".join(f"{tag}  - {value}\r\n" for tag, value in fields)


def csl(book: Citation, manifest: Manifest) -> str:
    """Return CSL-JSON for a figure or table: a list of one item."""
    url = address(book, manifest)
    item = {
        "id": manifest.id,
        "type": "figure" if manifest.kind == "figure" else "dataset",
        "title": manifest.name,
        "author": [{"literal": name} for name in book.authors],
        "issued": {"date-parts": [[int(book.year)]]},
        "container-title": book.title,
        "version": book.version,
        "note": _note(book, manifest),
        **({"URL": url} if url else {}),
    }
    return json.dumps([item], indent=1, ensure_ascii=False)


# By the names that `chaos cite --format` takes.
FORMATS: Mapping[str, Callable[[Citation, Manifest], str]] = {
    "plain": plain,
    "bibtex": bibtex,
    "ris": ris,
    "csl": csl,
}


def _line(book: Citation, words: str, url: str) -> str:
    return f"{', '.join(book.authors)} ({book.year}). {words} {url}".rstrip()


def _entry(book: Citation, key: str, title: str, url: str, note: str = "", doi: str = "") -> str:
    fields = {
        "title": f"{{{title}}}",
        # A name in braces of its own is not taken apart into first and last name.
        "author": " and ".join(f"{{{latex(name)}}}" for name in book.authors),
        "year": book.year,
        "version": book.version,
        "note": note,
        "doi": latex(doi),
        "url": url,
    }
    lines = [f"  {name:<8}= {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@misc{{{key},", *lines, "}"])


def _note(book: Citation, manifest: Manifest) -> str:
    kind = manifest.kind.capitalize()
    return f"{kind} {manifest.id} in {_named(book)}"


def _named(book: Citation) -> str:
    """Return what an item is in. The DOI is the book's, not the item's: it stands here alone."""
    return ", ".join(filter(None, [book.title, f"version {book.version}", book.resolver]))


def _named_in_bibtex(book: Citation) -> str:
    named = [rf"\emph{{{latex(book.title)}}}", f"version {book.version}", latex(book.resolver)]
    return ", ".join(filter(None, named))


def latex(text: str) -> str:
    """Escape the characters that are special in LaTeX."""
    return "".join(LATEX.get(character, character) for character in text)


def address(book: Citation, manifest: Manifest) -> str:
    """Return where a figure's or table's page stands; nothing before the book is published."""
    return file_address(book, manifest, ".html") if book.url else ""


def file_address(book: Citation, manifest: Manifest, suffix: str) -> str:
    """Return where a file of a figure or table stands; its name before the book is published.

    `suffix` is what follows the id in the file's name, such as ``-dark.svg``.
    """
    name = f"{manifest.id}{suffix}"
    return f"{book.url.rstrip('/')}/figures/{name}" if book.url else name
