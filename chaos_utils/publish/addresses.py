"""Pages that keep addresses alive: redirects, the page for unknown addresses, the site's map.

They stand on their own, without the theme: a server may show the 404 page at any depth.
"""

from collections.abc import Iterable
from html import escape
from urllib.parse import quote

from chaos_utils.publish import templating
from chaos_utils.publish.citations import Book
from chaos_utils.publish.registry import Redirect


def moved_html(book: Book, old: str, new: str, notice: str = "") -> str:
    """Return the page at a moved page's old address, which leads to the new one.

    `old` and `new` are names of pages, such as ``figures/fig-old``. `notice` is what every page of
    this build says, for instance that it shows the synthetic sample. All text is escaped.
    """
    there = "../" * old.count("/") + f"{quote(new)}.html"
    lasting = absolute(book, f"{new}.html") or there
    return templating.render(
        "moved", book=book, notice=notice, there=there, lasting=lasting, new=new
    )


def withdrawn_html(book: Book, id: str, redirect: Redirect, notice: str = "") -> str:
    """Return the page of a withdrawn figure or table, which says why; all text is escaped."""
    return templating.render(
        "withdrawn", book=book, notice=notice, id=id, reason=redirect.withdrawn
    )


def not_found_html(book: Book, notice: str = "") -> str:
    """Return the page for addresses that lead nowhere; all text is escaped.

    Its links start from the book's own address, since it may be shown at any depth. Before the book
    has one, they are relative, and lead somewhere from the site's root alone.
    """
    titles = {"index": "The book's first page", "figures": "All figures and tables",
              "search": "Search the book"}  # fmt: skip
    places = {absolute(book, f"{name}.html") or f"{name}.html": titles[name] for name in titles}
    return templating.render("not_found", book=book, notice=notice, places=places)


def sitemap(book: Book, pages: Iterable[str]) -> str:
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


def absolute(book: Book, path: str) -> str:
    """Return the whole address of a path from the site's root; empty before the book has one."""
    return f"{book.url.rstrip('/')}/{quote(path)}" if book.url else ""
