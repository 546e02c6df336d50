"""Addresses that keep working: redirects, a page for unknown ones, the map of the site."""

from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sphinx.application import Sphinx
from sphinx.util import logging

from chaos_book import faults
from chaos_book.book import BOOK, write_last
from chaos_book.site import notice
from chaos_utils.base.authorship import Citation
from chaos_utils.publish import registry, templating
from chaos_utils.report import policy

logger = logging.getLogger(__name__)

NOT_FOUND = "404"
SITEMAP = "sitemap.xml"
_NO_READING = {"genindex", "search", NOT_FOUND}


def _redirect(app: Sphinx) -> list[tuple[str, dict[str, Any], str]]:
    """Let sphinx-reredirects know what has moved, and return the pages of what was withdrawn."""
    if app.builder.format != "html":
        return []
    redirects = registry.read_registry().redirects
    withdrawn = {f"figures/{id}": id for id, entry in redirects.items() if entry.withdrawn}
    figure_pages = {f"figures/{id}" for id in BOOK.manifests}
    pages = {*app.env.found_docs, *figure_pages, *withdrawn, *_NO_READING}
    with faults.on_one_line():
        moved = registry.read_moved_pages(pages)
    for id, entry in redirects.items():
        if entry.moved_to:
            now = f"figures/{entry.moved_to}"  # which a book of the sample may lack
            moved[f"figures/{id}"] = now if now in figure_pages else "figures"
    # Relative: what starts with a slash leads astray from pages at the site's root.
    app.config.redirects = {
        old: app.builder.get_relative_uri(old, new) for old, new in moved.items()
    }
    return [
        (page, _withdrawn(id, redirects[id].withdrawn), "page.html")
        for page, id in withdrawn.items()
    ]


def _withdrawn(id: str, reason: str) -> dict[str, str]:
    """Return what Sphinx puts on the page of a withdrawn figure or table."""
    return {
        "title": "Withdrawn",
        "metatags": '<meta name="robots" content="noindex">',
        "body": templating.render("withdrawn", id=id, reason=reason),
    }


def _write(app: Sphinx, out: Path) -> None:
    book = BOOK.citation
    (out / f"{NOT_FOUND}.html").write_text(
        policy.with_site_policy(not_found_html(book, notice())), "utf-8"
    )
    if book.url:
        gone = {f"figures/{id}" for id in registry.read_registry().redirects}
        left_out = _NO_READING | gone | registry.read_redirects().keys()
        listed = (f"{page}.html" for page in set(_pages(out)) - left_out)
        (out / SITEMAP).write_text(sitemap(book, listed), "utf-8")
    else:
        logger.info("no %s: it needs the book's address, `url` in CITATION.cff", SITEMAP)


def _pages(out: Path) -> Iterator[str]:
    for path in out.rglob("*.html"):
        name = path.relative_to(out).with_suffix("").as_posix()
        if not name.startswith("_static/"):
            yield name


def not_found_html(book: Citation, notice: str = "") -> str:
    """Return the page for addresses that lead nowhere; all text is escaped.

    Its links start from the book's own address, since it may be shown at any depth. Before the book
    has one, they are relative, and lead somewhere from the site's root alone.
    """
    titles = {"index": "The book's first page", "figures": "All figures and tables",
              "search": "Search the book"}  # fmt: skip
    places = {absolute(book, f"{name}.html") or f"{name}.html": titles[name] for name in titles}
    return templating.render("not_found", book=book, notice=notice, places=places)


def sitemap(book: Citation, pages: Iterable[str]) -> str:
    """Return ``sitemap.xml``, which holds whole addresses only: the book must have one.

    `pages` are paths from the site's root, as in ``chapters/results.html``; their order is kept.
    """
    lines = "".join(
        f"<url><loc>{escape(absolute(book, page))}</loc></url>\n" for page in sorted(pages)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{lines}</urlset>\n'
    )


def absolute(book: Citation, path: str) -> str:
    """Return the whole address of a path from the site's root; empty before the book has one."""
    return f"{book.url.rstrip('/')}/{quote(path)}" if book.url else ""


def setup(app: Sphinx) -> None:
    """Connect before sphinx-reredirects, and to the end of the build, after all other pages."""
    app.connect("html-collect-pages", _redirect, priority=400)
    write_last(app, _write, priority=900)
