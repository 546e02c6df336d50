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

    `by` is the heading of the column by which its rows are sorted already, highest first, or with
    the flag `lowest-first` lowest first. Groups of rows with a heading are shown one at a time.
    """

    required_arguments = 1
    option_spec = {  # noqa: RUF012 - docutils wants it so
        "by": directives.unchanged_required,
        "lowest-first": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        """Return the place that the script fills."""
        if BOOK.made(self.env, self.arguments[0]) is None:  # on other data there may be none
            return []
        WIDGET.ask(self.env)
        by, is_lowest_first = self.options.get("by", ""), "lowest-first" in self.options
        return [raw_html(place_html(self.arguments[0], by, is_lowest_first))]


def place_html(id: str, by: str, is_lowest_first: bool = False) -> str:
    """Return the place of the controls of a table."""
    order = " data-lowest-first" * is_lowest_first
    names = f'data-table="{escape(id)}" data-by="{escape(by)}"'
    return f'<div class="sortable" hidden {names}{order}></div>'


def setup(app: Sphinx) -> None:
    """Register the directive."""
    WIDGET.register(app, "sortable", Sortable)
