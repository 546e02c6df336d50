"""Metadata in the head of each page: its description, and the card of a shared link.

A page is described by its first paragraph, unless ``book/pages.yml`` says better. Its card has the
first figure that it shows.

Landing pages of figures and tables have more: see `chaos_utils.publish.metadata.meta_tags`.
"""

from html import unescape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from chaos_utils.publish import metadata
from chaos_utils.sphinx.book import BOOK
from chaos_utils.sphinx.page_notes import page_notes
from chaos_utils.sphinx.published import PublishedCaption, published_on

CARD = "_static/card.png"
_SHORTEST_TEXT = 60  # characters; a shorter paragraph is no description
_LONGEST_TEXT = 200
# A paragraph inside one of these does not describe the page.
_ASIDE_NODES = (nodes.Admonition, nodes.block_quote, nodes.table, nodes.footnote, PublishedCaption)


def _describe(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Add a page's metadata to the tags of its head."""
    if pagename.startswith("figures/"):  # these have their own
        return
    book = BOOK.citation
    title, description = unescape(str(context.get("title") or book.title)), book.abstract
    if pagename == app.config.root_doc:
        title = book.title
    elif isinstance(doctree, nodes.document):
        title = app.env.titles[pagename].astext()
        notes = page_notes(app).get(pagename)
        description = (notes and notes.description) or opening_text(doctree) or description
    shown = (BOOK.manifests[id] for id in published_on(app.env, pagename))
    figure = next((manifest for manifest in shown if "png" in manifest.formats), None)
    has_card = (BOOK.project / "book" / CARD).is_file()
    tags = metadata.page_tags(book, pagename, title, description, CARD * has_card, figure)
    context["metatags"] = f"{context.get('metatags', '')}\n{tags}"


def opening_text(doctree: nodes.document) -> str:
    """Return a page's first suitable paragraph, cut at a word; empty where there is none."""
    for paragraph in doctree.findall(nodes.paragraph):
        parent, is_aside = paragraph.parent, False
        while parent is not None:
            is_aside = is_aside or isinstance(parent, _ASIDE_NODES)
            parent = parent.parent
        words = (
            text.astext()
            for text in paragraph.findall(nodes.Text)
            if not isinstance(text.parent, nodes.raw)  # the tags of a link
        )
        text = " ".join("".join(words).split())
        if is_aside or len(text) < _SHORTEST_TEXT or next(paragraph.findall(nodes.math), None):
            continue
        if len(text) <= _LONGEST_TEXT:
            return text
        return f"{text[:_LONGEST_TEXT].rpartition(' ')[0].rstrip(',;:–')} …"
    return ""


def setup(app: Sphinx) -> None:
    """Connect to Sphinx's event."""
    app.connect("html-page-context", _describe)
