"""What each page says of itself in its head: a description, and the card of a shared link.

The pages of single figures and tables say more, by `chaos_utils.publish.metadata.meta_tags`.
"""

from html import unescape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from chaos_book.book import BOOK
from chaos_book.published import PublishedCaption
from chaos_utils.publish import metadata

CARD = "_static/card.png"
_SHORTEST_TEXT = 60  # characters; less says nothing
_LONGEST_TEXT = 200
# A paragraph in one of these does not speak of the page.
_ASIDE_NODES = (nodes.Admonition, nodes.block_quote, nodes.table, nodes.footnote, PublishedCaption)


def _describe(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    if pagename.startswith("figures/"):  # these have their own
        return
    book = BOOK.citation
    title, description = unescape(str(context.get("title") or book.title)), book.abstract
    if pagename == app.config.root_doc:
        title = book.title
    elif isinstance(doctree, nodes.document):
        title = app.env.titles[pagename].astext()
        description = opening_text(doctree) or description
    tags = metadata.page_tags(book, pagename, title, description, CARD)
    context["metatags"] = f"{context.get('metatags', '')}\n{tags}"


def opening_text(doctree: nodes.document) -> str:
    """Return how a page begins, cut at a word; empty where it begins with no text."""
    for paragraph in doctree.findall(nodes.paragraph):
        around, inside = paragraph.parent, False
        while around is not None:
            inside = inside or isinstance(around, _ASIDE_NODES)
            around = around.parent
        words = (
            text.astext()
            for text in paragraph.findall(nodes.Text)
            if not isinstance(text.parent, nodes.raw)  # the tags of a link
        )
        text = " ".join("".join(words).split())
        if inside or len(text) < _SHORTEST_TEXT or next(paragraph.findall(nodes.math), None):
            continue
        if len(text) <= _LONGEST_TEXT:
            return text
        return f"{text[:_LONGEST_TEXT].rpartition(' ')[0].rstrip(',;:–')} …"
    return ""


def setup(app: Sphinx) -> None:
    """Connect to Sphinx's event."""
    app.connect("html-page-context", _describe)
