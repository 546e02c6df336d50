"""The feed of changes, ``feed.xml``: an Atom entry for each edition in ``CHANGELOG.md``.

It leads to the page *Changes*, and says of an edition what stands below its heading there.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from docutils import nodes
from sphinx.application import Sphinx

from chaos_book import faults
from chaos_book.addresses import absolute
from chaos_book.book import BOOK, write_last
from chaos_utils.base.authorship import Citation
from chaos_utils.base.errors import ChaosError

CHANGELOG, FEED, _PAGE = "CHANGELOG.md", "feed.xml", "changes.html"
_DATED = re.compile(r"(?P<title>.+?)(?:, (?P<version>\d[\d.]*))? \((?P<date>\d{4}-\d{2}-\d{2})\)")


@dataclass(frozen=True, slots=True)
class Edition:
    """An edition in the changelog: its heading, parts of it, and the paragraph below it.

    `version` is empty for an edition that had none of its own.
    """

    heading: str
    title: str
    version: str
    date: str
    summary: str


def editions(changelog: str) -> list[Edition]:
    """Return the editions in a changelog, as they follow each other there: the newest first."""
    found = []
    for part in re.split(r"^## ", changelog, flags=re.MULTILINE)[1:]:
        heading, _, rest = part.partition("\n")
        match = _DATED.fullmatch(heading)
        summary = " ".join(rest.strip().partition("\n\n")[0].split())
        if match is None or not summary or summary.startswith("#"):
            raise ChaosError(
                "An edition lacks its date, or the paragraph that the feed takes from it.",
                where=f"{CHANGELOG}, ## {heading}",
                found=heading if match is None else summary.partition(" - ")[0] or "nothing",
                expected="## TITLE, VERSION (YYYY-MM-DD), and a paragraph below",
            )
        found.append(
            Edition(heading, match["title"], match["version"] or "", match["date"], summary)
        )
    return found


def feed(book: Citation, changes: Sequence[Edition]) -> str:
    """Return the feed; its links are relative if the book has no address.

    An entry's id is made of the book's title and the edition's, and so outlives every address.
    """

    def entry(edition: Edition) -> str:
        place = f"{absolute(book, _PAGE) or _PAGE}#{nodes.make_id(edition.heading)}"
        return (
            f"<entry><id>{_id(book.title, edition.title)}</id>\n<title>{escape(edition.heading)}"
            f'</title>\n<link href="{escape(place)}"/>\n'
            f"<updated>{edition.date}T00:00:00Z</updated>\n"
            f"<summary>{escape(edition.summary)}</summary></entry>\n"
        )

    authors = "".join(f"<author><name>{escape(name)}</name></author>\n" for name in book.authors)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n'
        f"<id>{_id(book.title)}</id>\n<title>{escape(book.title)}: changes</title>\n"
        f'<link rel="self" href="{escape(absolute(book, FEED) or FEED)}"/>\n'
        f'<link href="{escape(absolute(book, _PAGE) or _PAGE)}"/>\n'
        f"<updated>{changes[0].date}T00:00:00Z</updated>\n{authors}"
        f"{''.join(map(entry, changes))}</feed>\n"
    )


def _id(*names: str) -> str:
    return uuid5(NAMESPACE_URL, "/".join(names)).urn


def _write(app: Sphinx, out: Path) -> None:
    with faults.on_one_line():
        changes = editions((BOOK.project / CHANGELOG).read_text("utf-8"))
    (out / FEED).write_text(feed(BOOK.citation, changes), "utf-8")


def setup(app: Sphinx) -> None:
    """Write the feed after all pages; ``_templates/layout.html`` has each page name it."""
    write_last(app, _write)
