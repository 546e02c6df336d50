"""What keeps addresses alive: pages of what was withdrawn and for unknown ones, the site's map."""

from collections.abc import Iterable
from html import escape
from urllib.parse import quote

from chaos_utils.base.authorship import Citation
from chaos_utils.publish import templating
from chaos_utils.publish.registry import Registered


def withdrawn_page(id: str, redirect: Registered) -> dict[str, str]:
    """Return what Sphinx puts on the page of a withdrawn figure or table, which says why."""
    return {
        "title": "Withdrawn",
        "metatags": '<meta name="robots" content="noindex">',
        "body": templating.render("withdrawn", id=id, reason=redirect.withdrawn),
    }


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
