"""The search: it finds prose but no code, names of the package after prose, and terms by name.

The order is in ``book/_search/scorer.js``.
"""

from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.domains import ObjType
from sphinx.domains.std import StandardDomain


def _leave_out_entries(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Remove index entries from the search, which finds terms and functions by themselves."""
    for node in list(doctree.findall(addnodes.index)):
        node.parent.remove(node)


def _leave_out_code(app: Sphinx) -> None:
    """Leave the code of chapters out of the search's index; pages still show it."""
    if app.builder.format != "html":
        return
    index = app.builder.index_page  # type: ignore[attr-defined]

    def index_prose(page: str, doctree: nodes.document, title: str) -> None:
        index(page, prose(doctree), title)

    app.builder.index_page = index_prose  # type: ignore[attr-defined]


def prose(doctree: nodes.document) -> nodes.document:
    """Return a copy of a page without the code of its cells."""
    copy = doctree.deepcopy()
    for node in list(copy.findall(nodes.container)):
        if "cell_input" in node["classes"]:
            node.parent.remove(node)
    return copy


def setup(app: Sphinx) -> None:
    """Let the search find terms, and set the order of its results."""
    StandardDomain.object_types["term"] = ObjType("glossary term", "term", searchprio=0)
    app.config.html_search_scorer = str(Path(app.srcdir) / "_search" / "scorer.js")
    app.connect("builder-inited", _leave_out_code)
    app.connect("doctree-resolved", _leave_out_entries)
