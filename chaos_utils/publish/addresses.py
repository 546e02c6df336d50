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

    Parameters
    ----------
    old, new : str
        Names of pages, such as ``figures/fig-old``.
    notice : str
        What every page of this build says, such as that it shows the synthetic sample.

    Returns
    -------
    str
        HTML, all text escaped.
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
    """Return the page of a figure or table that was withdrawn, which says why.

    Parameters
    ----------
    id : str
        Of the figure or table.
    redirect : Redirect
        Says why it was withdrawn.
    notice : str
        As in `moved_html`.

    Returns
    -------
    str
        HTML, all text escaped.
    """
    body = (
        f"<p><code>{escape(id)}</code> was withdrawn: {escape(redirect.withdrawn)}</p>\n"
        '<p><a href="../figures.html">All figures and tables</a></p>'
    )
    return _page(book, "Withdrawn", body, notice)


def not_found_html(book: Book, notice: str = "") -> str:
    """Return the page for addresses that lead nowhere.

    Its links start from the book's own address, since it may be shown at any depth. Before
    the book has one, they are relative, and lead somewhere from the site's root alone.

    Parameters
    ----------
    notice : str
        As in `moved_html`.

    Returns
    -------
    str
        HTML, all text escaped.
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

    Parameters
    ----------
    pages : iterable of str
        Paths of pages from the site's root, such as ``chapters/results.html``.

    Returns
    -------
    str
        XML, in the order of the paths.
    """
    lines = "".join(
        f"<url><loc>{escape(absolute(book, page))}</loc></url>\n" for page in sorted(pages)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{lines}</urlset>\n'
    )


def absolute(book: Book, path: str) -> str:
    """Return the whole address of a file of the site.

    Parameters
    ----------
    path : str
        From the site's root.

    Returns
    -------
    str
        Empty before the book has an address.
    """
    return f"{book.url.rstrip('/')}/{quote(path)}" if book.url else ""
