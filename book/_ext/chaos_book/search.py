"""What readers find: prose before the package's names, terms of the glossary by their name.

The order is in ``book/_search/scorer.js``.
"""

from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.domains import ObjType
from sphinx.domains.std import StandardDomain


def _leave_out_entries(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Keep entries of the index out of the search, which finds terms and functions as such."""
    for node in list(doctree.findall(addnodes.index)):
        node.parent.remove(node)


def setup(app: Sphinx) -> None:
    """Make terms findable, and set the order."""
    StandardDomain.object_types["term"] = ObjType("glossary term", "term", searchprio=0)
    app.config.html_search_scorer = str(Path(app.srcdir) / "_search" / "scorer.js")
    app.connect("doctree-resolved", _leave_out_entries)
