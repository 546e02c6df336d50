"""The search: it finds prose but no code, names of the package after prose, and terms by name.

The order is in ``assets/scorer.js``, and ``book/pages.yml`` says which page answers what.
"""

import json
import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.domains import ObjType
from sphinx.domains.std import StandardDomain

from chaos_utils.publish.templating import ASSETS
from chaos_utils.sphinx.page_notes import page_notes

_BELOW_A_FIGURE = re.compile(
    r"<details><summary>(?:Parameters|Cite this )[^<]*</summary>.*?</details>", re.DOTALL
)


def _leave_out_entries(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Remove index entries from the search, which finds terms and functions by themselves."""
    for node in list(doctree.findall(addnodes.index)):
        node.parent.remove(node)


def _adapt_index(app: Sphinx) -> None:
    """Leave the code of chapters out of the search's index, and add what each page answers."""
    if app.builder.format != "html":
        return
    index = app.builder.index_page  # type: ignore[attr-defined]
    notes = page_notes(app)

    def index_prose(page: str, doctree: nodes.document, title: str) -> None:
        text = prose(doctree)
        if page in notes:
            text += [nodes.paragraph("", words) for words in notes[page].search]
        index(page, text, title)

    app.builder.index_page = index_prose  # type: ignore[attr-defined]


def prose(doctree: nodes.document) -> nodes.document:
    """Return a copy of a page without the code of its cells and the citations of its figures."""
    copy = doctree.deepcopy()
    for node in list(copy.findall(nodes.raw)):
        text = _BELOW_A_FIGURE.sub("", node.astext())
        node.replace_self(nodes.raw("", text, format=node.get("format", "")))
    for node in list(copy.findall(nodes.container)):
        if "cell_input" in node["classes"]:
            node.parent.remove(node)
    return copy


def _write_order(app: Sphinx) -> None:
    """Write the script that orders results, with the words that each page answers."""
    answers = [[page, notes.search] for page, notes in page_notes(app).items() if notes.search]
    script = (ASSETS / "scorer.js").read_text("utf-8")
    made = Path(app.doctreedir) / "scorer.js"
    made.parent.mkdir(parents=True, exist_ok=True)
    made.write_text(f"{script}\nScorer.answers = {json.dumps(answers)};\n", "utf-8")
    app.config.html_search_scorer = str(made)


def setup(app: Sphinx) -> None:
    """Let the search find terms, and set the order of its results."""
    StandardDomain.object_types["term"] = ObjType("glossary term", "term", searchprio=0)
    _write_order(app)
    app.connect("builder-inited", _adapt_index)
    app.connect("doctree-resolved", _leave_out_entries)
