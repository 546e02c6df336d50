"""Addresses that keep working: redirects, a page for unknown ones, the map of the site."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

from chaos_book import faults
from chaos_book.book import BOOK, write_last
from chaos_book.site import notice
from chaos_utils.publish import addresses, registry

logger = logging.getLogger(__name__)

NOT_FOUND = "404"
SITEMAP = "sitemap.xml"
_NO_READING = {"genindex", "search", NOT_FOUND}


def _redirect(app: Sphinx) -> list[tuple[str, dict[str, Any], str]]:
    """Let sphinx-reredirects know what has moved, and return the pages of what was withdrawn."""
    if app.builder.format != "html":
        return []
    known = registry.read_registry().redirects
    withdrawn = {f"figures/{id}": id for id, entry in known.items() if entry.withdrawn}
    made = {f"figures/{id}" for id in BOOK.manifests}
    pages = {*app.env.found_docs, *made, *withdrawn, *_NO_READING}
    with faults.on_one_line():
        moved = registry.read_moved_pages(pages)
    for id, entry in known.items():
        if entry.moved_to:
            now = f"figures/{entry.moved_to}"  # which a book of the sample may lack
            moved[f"figures/{id}"] = now if now in made else "figures"
    # Relative: what starts with a slash leads astray from pages at the site's root.
    app.config.redirects = {
        old: app.builder.get_relative_uri(old, new) for old, new in moved.items()
    }
    return [
        (page, addresses.withdrawn_page(id, known[id]), "page.html")
        for page, id in withdrawn.items()
    ]


def _write(app: Sphinx, out: Path) -> None:
    book = BOOK.citation
    (out / f"{NOT_FOUND}.html").write_text(addresses.not_found_html(book, notice()), "utf-8")
    if book.url:
        gone = {f"figures/{id}" for id in registry.read_registry().redirects}
        left_out = _NO_READING | gone | registry.read_redirects().keys()
        listed = (f"{page}.html" for page in set(_pages(out)) - left_out)
        (out / SITEMAP).write_text(addresses.sitemap(book, listed), "utf-8")
    else:
        logger.info("no %s: it needs the book's address, `url` in CITATION.cff", SITEMAP)


def _pages(out: Path) -> Iterator[str]:
    for path in out.rglob("*.html"):
        name = path.relative_to(out).with_suffix("").as_posix()
        if not name.startswith("_static/"):
            yield name


def setup(app: Sphinx) -> None:
    """Connect before sphinx-reredirects, and to the end of the build, after all other pages."""
    app.connect("html-collect-pages", _redirect, priority=400)
    write_last(app, _write, priority=900)
