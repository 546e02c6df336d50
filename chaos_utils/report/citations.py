"""How to cite the book, and a figure or table of it or of a run with other parameters."""

import json
from collections.abc import Callable, Mapping

from chaos_utils.base.authorship import Citation
from chaos_utils.report.manifests import Manifest
from chaos_utils.report.provenance import RunRecord

_DIGEST_DIGITS, _COMMIT_DIGITS = 16, 12  # hexadecimal digits that a citation shows
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
    words = f"{title}. In {_container(book)}. Data: <data>."
    return _line(book, words, url)


def page_plain(book: Citation, title: str, url: str) -> str:
    """Return a citation of a page in one line of text; `url` is as in `item_plain`."""
    title_sentence = title if title.endswith("?") else f"{title}."
    return _line(book, f"{title_sentence} In {_container(book)}.", url)


def item_bibtex(book: Citation, title: str, url: str) -> str:
    """Return a BibTeX entry for one item; ``<key>`` and ``<data>`` are to be filled in.

    The title is taken as it is, not escaped; `url` is as in `item_plain`.
    """
    note = f"In {_container_in_bibtex(book)}; data: <data>"
    return _entry(book, "<key>", title, url, note)


def plain_text(book: Citation, manifest: Manifest, run: RunRecord | None = None) -> str:
    """Return a citation of a figure or table in one line of text.

    If `run` is the record of a run, this and the other formats cite the run's figure or table, not
    the book's.
    """
    words = f"{manifest.name}. {_note(book, manifest, run)}."
    return _line(book, words, _address(book, manifest, run))


def bibtex(book: Citation, manifest: Manifest, run: RunRecord | None = None) -> str:
    """Return a BibTeX entry for a figure or table."""
    kind, key = manifest.kind.capitalize(), _key(manifest, run)
    note = f"{kind} \\texttt{{{manifest.id}}} in {_container_in_bibtex(book)}"
    if run:
        note = f"{note}; {latex(run_in_words(run))}"
    return _entry(book, key, latex(manifest.name), _address(book, manifest, run), note)


def ris(book: Citation, manifest: Manifest, run: RunRecord | None = None) -> str:
    """Return a RIS record of a figure or table; its lines end in CR and LF, as RIS has it."""
    url = _address(book, manifest, run)
    fields = [
        ("TY", "FIGURE" if manifest.kind == "figure" else "DATA"),
        ("ID", _key(manifest, run)),
        ("TI", manifest.name),
        *(("AU", name) for name in book.authors),
        ("PY", book.year),
        ("T2", book.title),
        ("ET", book.version),
        ("N1", _note(book, manifest, run)),
        *([("UR", url)] if url else []),
        ("ER", ""),
    ]
    return "".join(f"{tag}  - {value}\r\n" for tag, value in fields)


def csl(book: Citation, manifest: Manifest, run: RunRecord | None = None) -> str:
    """Return CSL-JSON for a figure or table: a list of one item."""
    url = _address(book, manifest, run)
    item = {
        "id": _key(manifest, run),
        "type": "figure" if manifest.kind == "figure" else "dataset",
        "title": manifest.name,
        "author": [{"literal": name} for name in book.authors],
        "issued": {"date-parts": [[int(book.year)]]},
        "container-title": book.title,
        "version": book.version,
        "note": _note(book, manifest, run),
        **({"URL": url} if url else {}),
    }
    return json.dumps([item], indent=1, ensure_ascii=False)


# By the names that `chaos cite --format` takes.
FORMATS: Mapping[str, Callable[[Citation, Manifest, RunRecord | None], str]] = {
    "plain": plain_text,
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


def run_in_words(run: RunRecord) -> str:
    """Describe a run: its id, chapter, changed parameters, the reader's own data, and the code."""
    changed = [
        f"{name} = {value_in_words(value)} (in the book {value_in_words(default)})"
        for name, (value, default) in run.changed.items()
    ]
    own_inputs = [
        f"{entry.name} (SHA-256 {entry.sha256[:_DIGEST_DIGITS]}…)" for entry in run.own_inputs
    ]
    code = f"code version {run.code.version}"
    if run.code.commit:
        changes = " with uncommitted changes" if run.code.uncommitted_changes else ""
        code += f", commit {run.code.commit[:_COMMIT_DIGITS]}{changes}"
    parts = [
        f"run {run.id} of the chapter “{run.title}”",
        f"with {', '.join(changed) or 'the parameters of the book'}",
        *([f"own data {', '.join(own_inputs)}"] if own_inputs else []),
        code,
    ]
    return "; ".join(parts)


def value_in_words(value: object) -> str:
    """Write a parameter's value for a reader: texts without quotes, an empty text as ``none``."""
    if isinstance(value, list):
        return f"[{', '.join(map(value_in_words, value))}]"
    return str(value) if value != "" else "none"


def _key(manifest: Manifest, run: RunRecord | None) -> str:
    """Return the key of a citation: the id, followed by the digest of the run, if any."""
    return f"{manifest.id}-{run.id.rpartition('-')[2]}" if run else manifest.id


def _address(book: Citation, manifest: Manifest, run: RunRecord | None) -> str:
    """Return the address of a figure's or table's page; for a run, the address of the book."""
    return book.url if run else address(book, manifest)


def _note(book: Citation, manifest: Manifest, run: RunRecord | None) -> str:
    """Return the kind and id of a figure or table, the book that has it, and the run, if any."""
    words = f"{manifest.kind.capitalize()} {manifest.id} in {_container(book)}"
    return f"{words}; {run_in_words(run)}" if run else words


def _container(book: Citation) -> str:
    """Return the book that has an item, with the book's DOI: an item has no DOI of its own."""
    return ", ".join(filter(None, [book.title, f"version {book.version}", book.resolver]))


def _container_in_bibtex(book: Citation) -> str:
    parts = [rf"\emph{{{latex(book.title)}}}", f"version {book.version}", latex(book.resolver)]
    return ", ".join(filter(None, parts))


def latex(text: str) -> str:
    """Escape the characters that are special in LaTeX."""
    return "".join(LATEX.get(character, character) for character in text)


def address(book: Citation, manifest: Manifest) -> str:
    """Return the address of a figure's or table's page; empty before the book is published."""
    return file_address(book, manifest, ".html") if book.url else ""


def file_address(book: Citation, manifest: Manifest, suffix: str) -> str:
    """Return the address of a figure's or table's file; its name before the book is published.

    `suffix` is what follows the id in the file's name, such as ``-dark.svg``.
    """
    name = f"{manifest.id}{suffix}"
    return f"{book.url.rstrip('/')}/figures/{name}" if book.url else name
