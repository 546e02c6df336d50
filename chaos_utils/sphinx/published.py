"""The directive that inserts a published figure or table, and the role for a computed value.

A chapter's notebook writes a manifest for each figure and table. ``{published} <id>`` inserts
it with number, caption, downloads and citation. ``{value}`` takes one number from a
table's data, so that no number in the prose is ever typed.
"""

from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.writers.html5 import HTML5Translator

from chaos_utils.publish import templating
from chaos_utils.publish.landing import is_wide
from chaos_utils.report import citations, values
from chaos_utils.report.captions import without_markup
from chaos_utils.report.manifests import Manifest
from chaos_utils.report.tables import table_html
from chaos_utils.sphinx.book import BOOK, raw_html

logger = logging.getLogger(__name__)

_ABSENT = "absent-value"
_PUBLISHED = "published"  # key of a page's metadata: the ids that it shows
# Nodes that are removed once they are empty.
_REMOVED_IF_EMPTY = (
    nodes.bullet_list, nodes.enumerated_list, nodes.list_item, nodes.block_quote, nodes.note
)  # fmt: skip


class PublishedFigure(nodes.General, nodes.Element):
    """A numbered figure."""


class PublishedTable(nodes.General, nodes.Element):
    """A numbered table."""


class PublishedCaption(nodes.Part, nodes.TextElement):
    """The caption of a published figure or table."""


class PublishedDirective(SphinxDirective):
    """Insert a figure or table from its manifest."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the figure or table as a node; if it was not made, warn."""
        manifest = BOOK.manifest_of(self)
        if manifest is None:
            return []
        id = self.arguments[0]
        self.env.metadata[self.env.docname].setdefault(_PUBLISHED, []).append(id)
        BOOK.note_notebook(self.env, manifest.notebook)  # its landing page shows the cell
        is_figure = manifest.kind == "figure"
        node: nodes.Element = PublishedFigure() if is_figure else PublishedTable()
        self.options["name"] = node["published"] = id
        self.add_name(node)
        caption = PublishedCaption()
        text_nodes, messages = self.parse_inline(manifest.caption)
        caption += text_nodes
        root = "../" * self.env.docname.count("/")
        if is_figure:
            node += [raw_html(templating.piece("picture", manifest, f"{root}figures/")), caption]
        else:
            node += [caption, raw_html(_table_html(manifest, root))]
        node += raw_html(_footer_html(manifest, root))
        return [node, *messages]


def published_on(env: BuildEnvironment, page: str) -> list[str]:
    """Return the ids of the figures and tables that a page shows, in its order."""
    return list(env.metadata[page].get(_PUBLISHED, ()))


def published_on_pages(env: BuildEnvironment) -> set[str]:
    """Return the ids of the figures and tables that pages show."""
    return {id for metadata in env.metadata.values() for id in metadata.get(_PUBLISHED, ())}


def _table_html(manifest: Manifest, root: str) -> str:
    """Return a table in a box that scrolls, with the texts of its items and their licences."""
    items = BOOK.items
    table = table_html(manifest.display, items.texts(manifest) if items else None, root)
    title = without_markup(manifest.title)
    notice = items.notice(manifest) if items else ""
    return templating.piece("scrolled", table, title, is_wide(manifest)) + notice


def _footer_html(manifest: Manifest, root: str) -> str:
    book = BOOK.citation
    plain = citations.plain_text(book, manifest)
    cite = {"plain": plain, "BibTeX": citations.bibtex(book, manifest)}
    return templating.render("footer", manifest=manifest, root=root, citations=cite)


class CiteBook(SphinxDirective):
    """Show how to cite the whole book; with `plain`, as text alone."""

    option_spec = {"plain": directives.flag}  # noqa: RUF012 - docutils wants it so

    def run(self) -> list[nodes.Node]:
        """Return the plain citation and the BibTeX entry."""
        book = BOOK.citation
        plain = nodes.paragraph("", citations.book_plain(book))
        if "plain" in self.options:
            return [plain]
        entry = citations.book_bibtex(book)
        return [plain, nodes.literal_block(entry, entry, language="bibtex")]


class Value(SphinxRole):
    """One number of a published table, as `values.value` reads it."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the formatted number, or a warning when the data does not hold it."""
        if not values.is_released(BOOK.manifests):
            return [nodes.inline(self.rawtext, "", classes=[_ABSENT])], []
        BOOK.made(self.env, self.text.split(" ")[0])
        try:
            text = values.value(BOOK.manifests, self.text)
        except ValueError as fault:
            logger.warning("{value}`%s`: %s", self.text, fault, location=self.get_location())
            text = "?"
        return [nodes.inline(self.rawtext, text, classes=["value"])], []


class RemoveAbsentValues(SphinxTransform):
    """Remove paragraphs and list items with values of data that this build does not show."""

    default_priority = 100  # before anything refers to them

    def apply(self, **_: Any) -> None:
        """Remove each paragraph or list item with an absent value, and then lists without items."""
        inline = self.document.findall(nodes.inline)
        absent = [node for node in inline if _ABSENT in node["classes"]]
        for removed in dict.fromkeys(map(_paragraph, absent)):
            parent = removed.parent
            parent.remove(removed)
            while isinstance(parent, _REMOVED_IF_EMPTY) and not len(parent):
                empty, parent = parent, parent.parent
                parent.remove(empty)


def _paragraph(node: nodes.Node) -> nodes.Element:
    """Return the paragraph around a node, or the list item that this paragraph begins."""
    while not isinstance(node, nodes.paragraph):
        if node.parent is None:
            raise ExtensionError("a {value} stands outside paragraphs and lists")
        node = node.parent
    begins_item = isinstance(node.parent, nodes.list_item) and node.parent[0] is node
    return node.parent if begins_item else node


def _visit(self: HTML5Translator, node: nodes.Element) -> None:
    kind = "figure" if isinstance(node, PublishedFigure) else "table"
    self.body.append(self.starttag(node, "figure", CLASS=f"published published-{kind}"))


def _depart(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append("</figure>\n")


def _visit_caption(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append("<figcaption>")
    self.add_fignumber(node.parent)
    self.body.append('<span class="caption-text">')


def _depart_caption(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append("</span>")
    self.add_permalink_ref(node.parent, "Link to this place")
    self.body.append("</figcaption>\n")


def _title(node: nodes.Element) -> str:
    """Return the caption as text, by which Sphinx refers to a figure or table."""
    caption = next(child for child in node.children if isinstance(child, PublishedCaption))
    return str(caption.astext())


def setup(app: Sphinx) -> None:
    """Register nodes, directive and role."""
    app.add_enumerable_node(PublishedFigure, "figure", _title, html=(_visit, _depart))
    app.add_enumerable_node(PublishedTable, "table", _title, html=(_visit, _depart))
    app.add_node(PublishedCaption, html=(_visit_caption, _depart_caption))
    app.add_directive("published", PublishedDirective)
    app.add_directive("cite-book", CiteBook)
    app.add_role("value", Value())
    app.add_transform(RemoveAbsentValues)
