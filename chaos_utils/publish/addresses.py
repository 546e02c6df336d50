"""Pages that keep addresses alive: redirects, the page for unknown addresses, the site's map.

They stand on their own, without the theme: a server may show the 404 page at any depth.
"""

from collections.abc import Iterable
from html import escape
from urllib.parse import quote

from chaos_utils.publish.citations import Book
from chaos_utils.publish.registry import Redirect

_STYLE = """
:root { color-scheme: light dark; --text: #1f2328; --ground: #fff; --link: #0b4f80; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6edf3; --ground: #14181e; --link: #8ccbf5; }
}
body { margin: 0; background: var(--ground); color: var(--text);
  font: 1.1rem/1.6 system-ui, sans-serif; }
main { max-width: 36rem; margin: 12vh auto 0; padding: 0 1.25rem; overflow-wrap: anywhere; }
a { color: var(--link); }
"""


def moved_html(book: Book, old: str, new: str, notice: str = "") -> str:
    """Return the page at a moved page's old address, which leads to the new one.

    `old` and `new` are names of pages, such as ``figures/fig-old``. `notice` is what every page of
    this build says, for instance that it shows the synthetic sample. All text is escaped.
    """
    there = "../" * old.count("/") + f"{quote(new)}.html"
    lasting = absolute(book, f"{new}.html") or there
    head = (
        f'<meta http-equiv="refresh" content="0; url={escape(there)}">\n'
        f'<link rel="canonical" href="{escape(lasting)}">'
    )
    body = f'<p>It is at <a href="{escape(there)}">{escape(new)}</a> now.</p>'
    return _page(book, "This page has moved", body, notice, head)


def withdrawn_html(book: Book, id: str, redirect: Redirect, notice: str = "") -> str:
    """Return the page of a withdrawn figure or table, which says why; all text is escaped."""
    body = (
        f"<p><code>{escape(id)}</code> was withdrawn: {escape(redirect.withdrawn)}</p>\n"
        '<p><a href="../figures.html">All figures and tables</a></p>'
    )
    return _page(book, "Withdrawn", body, notice)


def not_found_html(book: Book, notice: str = "") -> str:
    """Return the page for addresses that lead nowhere; all text is escaped.

    Its links start from the book's own address, since it may be shown at any depth. Before the book
    has one, they are relative, and lead somewhere from the site's root alone.
    """
    places = {"index": "The book's first page", "figures": "All figures and tables",
              "search": "Search the book"}  # fmt: skip
    links = "".join(
        f'<li><a href="{escape(absolute(book, f"{name}.html") or f"{name}.html")}">{text}</a></li>'
        for name, text in places.items()
    )
    body = f"<p>The book has no page at this address. These may help:</p>\n<ul>{links}</ul>"
    return _page(book, "Nothing is here", body, notice)


def _page(book: Book, title: str, body: str, notice: str, head: str = "") -> str:
    said = f'<p role="note"><strong>{escape(notice)}</strong></p>\n' if notice else ""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
{head}
<title>{escape(title)} — {escape(book.title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
{said}<h1>{escape(title)}</h1>
{body}
</main>
</body>
</html>
"""


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
