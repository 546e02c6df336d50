"""Addresses that keep working: redirects, a page for unknown ones, the map of the site."""

from collections.abc import Iterator
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util import logging

from chaos_book.published import project_of
from chaos_book.site import notice
from chaos_utils.base.errors import ChaosError
from chaos_utils.publish import addresses, citations, registry

logger = logging.getLogger(__name__)

NOT_FOUND = "404"
SITEMAP = "sitemap.xml"
_NO_READING = {"genindex", "search", NOT_FOUND}


def _write(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    book = citations.read_book(project_of(app) / "CITATION.cff")
    pages = set(_pages(out))
    try:
        redirects = dict(_redirects(app, book, pages))
    except ChaosError as fault:
        raise ExtensionError(str(fault)) from fault
    redirects[NOT_FOUND] = addresses.not_found_html(book, notice(app))
    for name, text in redirects.items():
        path = out / f"{name}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    if book.url:
        listed = (f"{page}.html" for page in pages - _NO_READING)
        (out / SITEMAP).write_text(addresses.sitemap(book, listed), "utf-8")
    else:
        logger.info("no %s: it needs the book's address, `url` in CITATION.cff", SITEMAP)


def _pages(out: Path) -> Iterator[str]:
    for path in out.rglob("*.html"):
        name = path.relative_to(out).with_suffix("").as_posix()
        if not name.startswith("_static/"):
            yield name


def _redirects(app: Sphinx, book: citations.Book, pages: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each page at an old address."""
    for id, redirect in registry.read_registry().redirects.items():
        old, new = f"figures/{id}", f"figures/{redirect.moved_to}"
        if redirect.withdrawn:
            yield old, addresses.withdrawn_html(book, id, redirect, notice(app))
        else:
            yield old, addresses.moved_html(book, old, new, notice(app))
    for old, new in registry.read_moved_pages(pages).items():
        yield old, addresses.moved_html(book, old, new, notice(app))


def setup(app: Sphinx) -> None:
    """Connect to the end of the build, after all other pages."""
    app.connect("build-finished", _write, priority=900)
