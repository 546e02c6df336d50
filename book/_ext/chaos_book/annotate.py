"""The page on which a reader annotates: its place, its scripts, and the data that they read.

The data enters the site alone, never a notebook or `results/`, since it holds texts of others.
"""

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from chaos_book import book_votes, page_files
from chaos_utils.base.files import write_text
from chaos_utils.collection.materials import is_unanimous
from chaos_utils.collection.protocol import load_protocol
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.publish import annotate, scripts

_FOLDER = "annotate"  # below _static
_DATA = "data.js"
# As they load.
_FILES = ("annotate.css", "protocol.js", "session.js", "views.js", "results.js", "main.js")
_PLACE = """
<div id="annotate" class="annotate" role="region" aria-label="Annotate" tabindex="-1">
<noscript><p>To annotate, this page needs JavaScript.</p></noscript>
</div>
"""


class Annotate(SphinxDirective):
    """Set the place that the page's scripts fill."""

    def run(self) -> list[nodes.Node]:
        """Return the place with the notice of the licence, and note which page this is."""
        page_files.ask(self.env, _FOLDER)
        said = book_votes.missing_nodes("asks you to judge items that a hundred people judged")
        place = nodes.raw("", _PLACE, format="html")
        return [*said, place, *book_votes.notice_nodes()]


def _add_files(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Let this page alone load the scripts, the style and the data."""
    if not page_files.asks(app, pagename, _FOLDER):
        return
    # Put in place before the page is written, so that their addresses there carry digests.
    target = Path(app.outdir) / "_static" / _FOLDER
    write_text(target / _DATA, scripts.script("CHAOS_ANNOTATE", _content(app), book_votes.notice()))
    app.add_js_file(f"{_FOLDER}/{_DATA}", loading_method="defer")
    page_files.load(app, _FOLDER, _FILES)


def _content(app: Sphinx) -> dict[str, Any]:
    items = book_votes.shown()
    systems = {votes.dataset.name: book_votes.systems(votes) for votes in items.votes}
    published = read_published("nie2020_table1").set_index("dataset")
    return annotate.material(items.votes, is_unanimous, systems) | {
        "protocol": load_protocol().table,
        "fail_rates": published["qualification_fail_rate_percent"].to_dict(),
        "synthetic": items.synthetic,
    }


def setup(app: Sphinx) -> None:
    """Register the directive and connect to Sphinx's events."""
    app.add_directive("annotate", Annotate)
    app.connect("html-page-context", _add_files)
