"""Addresses that keep working: redirects, a page for unknown ones, the map of the site."""

from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sphinx.application import Sphinx
from sphinx.util import logging

from chaos_utils.base.authorship import Citation
from chaos_utils.base.yaml_files import read_yaml
from chaos_utils.publish import dependencies, registry, templating
from chaos_utils.report import policy
from chaos_utils.sphinx import faults
from chaos_utils.sphinx.book import BOOK, write_last
from chaos_utils.sphinx.landing import LIST
from chaos_utils.sphinx.site import notice

logger = logging.getLogger(__name__)

NOT_FOUND = "404"
SITEMAP = "sitemap.xml"
_UTILITY_PAGES = {"genindex", "search", NOT_FOUND}  # not for reading


def _set_redirects(app: Sphinx) -> list[tuple[str, dict[str, Any], str]]:
    """Tell sphinx-reredirects what has moved; return the pages of withdrawn figures and tables."""
    if app.builder.format != "html":
        return []
    redirects = registry.read_registry().redirects
    withdrawn = {f"figures/{id}": id for id, entry in redirects.items() if entry.withdrawn}
    figure_pages = {f"figures/{id}" for id in BOOK.manifests}
    pages = {*app.env.found_docs, *figure_pages, *withdrawn, *_UTILITY_PAGES}
    with faults.on_one_line():
        moved = registry.read_moved_pages(pages)
    instead = LIST if LIST in app.env.found_docs else app.config.root_doc
    for id, entry in redirects.items():
        if entry.moved_to:
            target = f"figures/{entry.moved_to}"
            # A book of the sample may lack it.
            moved[f"figures/{id}"] = target if target in figure_pages else instead
    # Relative: an address that begins with a slash is wrong on pages at the site's root.
    app.config.redirects = {
        old: app.builder.get_relative_uri(old, new) for old, new in moved.items()
    }
    return [
        (page, _withdrawn_context(id, redirects[id].withdrawn, instead == LIST), "page.html")
        for page, id in withdrawn.items()
    ]


def _withdrawn_context(id: str, reason: str, is_listed: bool) -> dict[str, str]:
    """Return the template's context for the page of a withdrawn figure or table."""
    return {
        "title": "Withdrawn",
        "metatags": '<meta name="robots" content="noindex">',
        "body": templating.render("withdrawn", id=id, reason=reason, is_listed=is_listed),
    }


def _write(app: Sphinx, out: Path) -> None:
    """Write the page for unknown addresses and, if the book has an address, the site's map."""
    book = BOOK.citation
    (out / f"{NOT_FOUND}.html").write_text(
        policy.with_site_policy(not_found_html(book, notice())), "utf-8"
    )
    if book.url:
        redirected = {f"figures/{id}" for id in registry.read_registry().redirects}
        left_out = _UTILITY_PAGES | redirected | registry.read_redirects().keys()
        pages = (f"{page}.html" for page in set(_pages(out)) - left_out)
        (out / SITEMAP).write_text(sitemap(book, pages), "utf-8")
    else:
        logger.info("no %s: it needs the book's address, `url` in CITATION.cff", SITEMAP)


def _pages(out: Path) -> Iterator[str]:
    """Yield the site's pages, such as ``chapters/results``."""
    for path in out.rglob("*.html"):
        name = path.relative_to(out).with_suffix("").as_posix()
        if not name.startswith("_static/"):
            yield name


def not_found_html(book: Citation, notice: str = "") -> str:
    """Return the page for addresses that lead nowhere; all text is escaped.

    Its links, among them one to the first page of each part, are absolute, since it may be shown
    at any depth. If the book has no address, they are relative to its root, which a script finds.
    """
    titles = {"index": "The book's first page", "search": "Search the book"}
    parts = read_yaml(BOOK.project / "_toc.yml").get("parts", ())
    titles |= {part["chapters"][0]["file"]: part["caption"] for part in parts}
    if LIST in dict(dependencies.files()):
        titles[LIST] = "How to cite, and all figures and tables"
    links = {absolute(book, f"{name}.html") or f"{name}.html": titles[name] for name in titles}
    return templating.render("not_found", book=book, notice=notice, links=links)


def sitemap(book: Citation, pages: Iterable[str]) -> str:
    """Return ``sitemap.xml``, whose addresses are absolute: the book must have an address.

    `pages` are paths from the site's root, such as ``chapters/results.html``.
    """
    lines = "".join(
        f"<url><loc>{escape(absolute(book, page))}</loc></url>\n" for page in sorted(pages)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{lines}</urlset>\n'
    )


def absolute(book: Citation, path: str) -> str:
    """Return the address of a path from the site's root; empty if the book has no address."""
    return f"{book.url.rstrip('/')}/{quote(path)}" if book.url else ""


def setup(app: Sphinx) -> None:
    """Connect before sphinx-reredirects, and to the end of the build, after all other pages."""
    app.connect("html-collect-pages", _set_redirects, priority=400)
    write_last(app, _write, priority=900)
