"""*Cite this page*, at the end of each page of the contents."""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from chaos_utils.publish import templating
from chaos_utils.report import citations
from chaos_utils.report.manifests import SYNTHETIC_NOTE
from chaos_utils.sphinx.book import BOOK
from chaos_utils.sphinx.landing import LIST


def citation(page: str, title: str) -> dict[str, str]:
    """Return a page's citation up to its address, ``words``, and its ``address`` and ``page``.

    The address is empty before the book has one.
    """
    book = BOOK.citation
    marked = f"{SYNTHETIC_NOTE}: {title}" if BOOK.is_synthetic else title
    return {
        "words": citations.page_plain(book, marked, ""),
        "address": f"{book.url.rstrip('/')}/{page}.html" if book.url else "",
        "page": f"{page}.html",
    }


def _add_citation(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Add the citation to a page of the book's contents."""
    if not isinstance(doctree, nodes.document) or pagename in (app.config.root_doc, LIST):
        return
    cited = citation(pagename, app.env.titles[pagename].astext())
    text = f"{cited['words']} {cited['address'] or cited['page']}"
    root = "../" * pagename.count("/")
    is_explained = LIST in app.env.found_docs
    context["body"] += templating.piece("page_citation", text, root, is_explained)


def setup(app: Sphinx) -> None:
    """Connect to Sphinx's event, before tables and definitions are looked at."""
    app.connect("html-page-context", _add_citation)
