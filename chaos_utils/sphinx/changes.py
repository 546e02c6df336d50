"""The page *Changes*, and its feed ``feed.xml``: an Atom entry for each edition in CHANGELOG.md.

An edition's entry leads to the page, and says what stands below its heading there. On the page the
full lists and tables of an edition are folded.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

from chaos_utils.base.authorship import Citation
from chaos_utils.base.errors import ChaosError
from chaos_utils.sphinx import faults
from chaos_utils.sphinx.addresses import absolute
from chaos_utils.sphinx.book import BOOK, raw_html, write_last

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
    if _PAGE.removesuffix(".html") not in app.env.found_docs:
        return
    with faults.on_one_line():
        changes = editions((BOOK.project / CHANGELOG).read_text("utf-8"))
    (out / FEED).write_text(feed(BOOK.citation, changes), "utf-8")


class FoldLists(SphinxTransform):
    """On the page of changes, fold what each edition added, changed, removed and fixed."""

    default_priority = 500  # before the page's contents are collected

    def apply(self, **_: Any) -> None:
        """Put each section below an edition into a box to open, without a heading."""
        if self.env.docname != _PAGE.removesuffix(".html"):
            return
        for edition in list(self.document.findall(nodes.section)):
            if not isinstance(edition.parent, nodes.section):
                continue
            for part in [node for node in edition.children if isinstance(node, nodes.section)]:
                heading, *content = part.children
                lists = [node for node in content if isinstance(node, nodes.bullet_list)]
                n = sum(map(len, [*lists, *part.findall(nodes.tbody)]))
                summary = f"<summary>{escape(heading.astext())} ({n})</summary>"
                places = [nodes.target(ids=part["ids"])]
                opened, closed = raw_html(f"<details>{summary}"), raw_html("</details>")
                part.replace_self([*places, opened, *content, closed])


def setup(app: Sphinx) -> None:
    """Fold the page's lists, and write the feed; the template ``layout.html`` names it."""
    app.add_transform(FoldLists)
    write_last(app, _write)
