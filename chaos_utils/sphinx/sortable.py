"""Published tables that readers sort, filter and unfold."""

import json
from html import escape

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from chaos_utils.publish.templating import ASSETS
from chaos_utils.report.manifests import Display
from chaos_utils.sphinx.book import BOOK, raw_html
from chaos_utils.sphinx.widgets import Widget

WIDGET = Widget("sortable", ("sortable.css", "sortable.js"), folder=ASSETS / "sortable")


class Sortable(SphinxDirective):
    """Set the controls of the table with an id, above the table; nothing where it was not made.

    `by` is the heading of the column by which its rows are sorted already, highest first, or with
    the flag `lowest-first` lowest first; it is left out where no column sorts them. Groups of rows
    with a heading are shown one at a time. Rows that `publish_table` lets a reader see alone get a
    switch.
    """

    required_arguments = 1
    option_spec = {  # noqa: RUF012 - docutils wants it so
        "by": directives.unchanged_required,
        "lowest-first": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        """Return the place that the script fills."""
        manifest = BOOK.made(self.env, self.arguments[0])
        if manifest is None:  # on other data there may be none
            return []
        WIDGET.ask(self.env)
        by, is_lowest_first = self.options.get("by", ""), "lowest-first" in self.options
        return [raw_html(place_html(self.arguments[0], by, is_lowest_first, manifest.display))]


def place_html(
    id: str, by: str, is_lowest_first: bool = False, display: Display | None = None
) -> str:
    """Return the place of the controls of a table, with the rows that can be shown alone."""
    order = f' data-by="{escape(by)}"' if by else ""
    order += " data-lowest-first" * is_lowest_first
    names = f'data-table="{escape(id)}"'
    data, note = _alone_html(display) if display and display.alone else ("", "")
    return f'<div class="sortable" hidden {names}{order}>{data}</div>{note}'


def _alone_html(display: Display) -> tuple[str, str]:
    """Return the script's data, and what is said without a script.

    Column -1 is the title of a headed table's group of rows.
    """
    alone = display.alone.model_dump() if display.alone else {}
    alone["columns"] = [column - display.headed for column in alone["columns"]]
    content = json.dumps(alone, ensure_ascii=False).replace("<", "\\u003c")
    words = f"All rows are shown. With JavaScript, you can select “{escape(alone['label'])}”."
    return (
        f'<script type="application/json">{content}</script>',
        f"<noscript><p>{words}</p></noscript>",
    )


def setup(app: Sphinx) -> None:
    """Register the directive."""
    WIDGET.register(app, "sortable", Sortable)
