"""Published tables that readers sort, filter and unfold."""

from html import escape

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from chaos_book.book import BOOK, raw_html
from chaos_book.widgets import Widget

WIDGET = Widget("sortable", ("sortable.css", "sortable.js"))


class Sortable(SphinxDirective):
    """Set the controls of the table with an id, above the table; nothing where it was not made.

    `by` is the heading of the column by which its rows are sorted already, highest first. Groups of
    rows with a heading are shown one at a time.
    """

    required_arguments = 1
    option_spec = {"by": directives.unchanged_required}  # noqa: RUF012 - docutils wants it so

    def run(self) -> list[nodes.Node]:
        """Return the place that the script fills."""
        if BOOK.made(self.env, self.arguments[0]) is None:  # on other data there may be none
            return []
        WIDGET.ask(self.env)
        return [raw_html(place_html(self.arguments[0], self.options.get("by", "")))]


def place_html(id: str, by: str) -> str:
    """Return the place of the controls of a table."""
    return f'<div class="sortable" hidden data-table="{escape(id)}" data-by="{escape(by)}"></div>'


def setup(app: Sphinx) -> None:
    """Register the directive."""
    WIDGET.register(app, "sortable", Sortable)
