"""The page on which a reader annotates."""

from collections.abc import Mapping

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from chaos_book.items import missing_nodes, notice_nodes, shown_items, shown_systems, texts_notice
from chaos_utils.collection.protocol import load_protocol
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.pages import annotate
from chaos_utils.publish import scripts
from chaos_utils.sphinx.widgets import Widget


def _data(app: Sphinx) -> Mapping[str, str]:
    """Return the script with the items, the protocol and published rates, by its file's name."""
    items = shown_items()
    systems = {votes.dataset.name: shown_systems(votes) for votes in items.votes}
    published = read_published("nie2020_table1").set_index("dataset")
    content = annotate.material(items.votes, systems) | {
        "protocol": load_protocol().table,
        "fail_rates": published["qualification_fail_rate_percent"].to_dict(),
        "synthetic": items.synthetic,
    }
    return {"data.js": scripts.script("CHAOS_ANNOTATE", content, texts_notice())}


_SCRIPTS = ("data.js", "protocol.js", "session.js", "views.js", "results.js", "main.js")
WIDGET = Widget("annotate", ("annotate.css", *_SCRIPTS), _data)


class Annotate(SphinxDirective):
    """Insert the element that the page's scripts fill."""

    def run(self) -> list[nodes.Node]:
        """Return the element with the notice of the licence."""
        element = WIDGET.place(self.env)
        return [
            *missing_nodes("asks you to judge items that a hundred people judged"),
            element,
            *notice_nodes(),
        ]


def setup(app: Sphinx) -> None:
    """Register the directive."""
    WIDGET.register(app, "annotate", Annotate)
