"""The item explorer: its page, its scripts, the data that they read, and links to selections.

`chaos_utils.publish.explorer` makes the data. It enters the site alone, never a notebook or
`results/`, since it holds texts of others.
"""

import re
import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import ReferenceRole, SphinxDirective

from chaos_book import book_votes, drafts, faults, page_files
from chaos_book.published import project_of
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_text
from chaos_utils.datasets.loading import load_votes
from chaos_utils.publish import citations, explorer, scripts
from chaos_utils.publish.dependencies import CHART_LIBRARY

logger = logging.getLogger(__name__)

_PAGE = "explorer"
_REASONS = "chapters/why"
_FOLDER = "explorer"  # below _static
_SCRIPTS = ("model.js", "table.js", "card.js", "chart.js", "main.js")


class ItemExplorer(SphinxDirective):
    """Set the explorer's controls, which its scripts bring to life."""

    def run(self) -> list[nodes.Node]:
        """Return the controls, and note that this page is the explorer."""
        page_files.ask(self.env, _FOLDER)
        page = (_assets(self.env.app) / "page.html").read_text("utf-8")
        said = book_votes.missing_nodes("shows the text and votes of every item")
        place = nodes.raw("", page, format="html")
        return [*said, place, *book_votes.notice_nodes()]


class ExplorerLink(ReferenceRole):
    """Link to items in the explorer: ``{explorer}`words <dataset=snli&change=changed>```."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the link, or its words alone in a book without the explorer."""
        try:
            asked = explorer.selection(self.target)
        except ChaosError as fault:
            logger.warning("{explorer}`%s`: %s", self.target, fault, location=self.get_location())
            return [nodes.Text(self.title)], []
        if _PAGE not in self.env.found_docs:
            return [nodes.Text(self.title)], []
        place = self.env.app.builder.get_relative_uri(self.env.docname, _PAGE)
        link = nodes.reference("", self.title, refuri=place + asked, internal=True)
        return [link], []


def _assets(app: Sphinx) -> Path:
    return project_of(app) / "book" / "_explorer"


def _add_assets(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Let this page alone load the explorer's scripts and style."""
    if page_files.asks(app, pagename, _FOLDER):
        app.add_css_file(f"{_FOLDER}/explorer.css")
        for file in _SCRIPTS:
            app.add_js_file(f"{_FOLDER}/{file}", loading_method="defer")


def _write_files(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.format != "html":
        return
    page = page_files.asking(app, _FOLDER)
    if page is None:
        return
    target = Path(app.outdir) / "_static" / _FOLDER
    target.mkdir(exist_ok=True)
    for file in ("explorer.css", *_SCRIPTS):
        shutil.copyfile(_assets(app) / file, target / file)
    library = project_of(app) / CHART_LIBRARY
    if library.is_file():
        shutil.copyfile(library, target / "chart.umd.js")
        shutil.copyfile(library.parents[1] / "LICENSE.md", target / "chart.LICENSE.md")
    if drafts.is_draft(app) and (target / explorer.OTHERS).is_file():
        return
    for name, content in {**_data(app), **_others(app, page)}.items():
        write_text(target / name, content)


def _data(app: Sphinx) -> dict[str, str]:
    """Return the scripts that hold the data which the chapters were made from."""
    items = book_votes.shown()
    book = citations.read_book(project_of(app) / "CITATION.cff")
    numbers = {
        "scale": explorer.SCALE,
        "synthetic": items.synthetic,
        "datasets": [
            explorer.columns(votes, book_votes.systems(votes))
            | {"paper": _paper(app, votes.dataset.release.citation)}
            for votes in items.votes
        ],
        "citation": explorer.citation(book, synthetic=items.synthetic),
        "drawn": (project_of(app) / CHART_LIBRARY).is_file(),
    }
    texts = {votes.dataset.name: explorer.texts(votes) for votes in items.votes}
    return {
        "items.js": scripts.packed("CHAOS_ITEMS", numbers, book_votes.votes_notice()),
        "texts.js": scripts.packed("CHAOS_TEXTS", texts, book_votes.notice()),
    }


def _others(app: Sphinx, page: str) -> dict[str, str]:
    """Return the scripts that hold what readers may choose beside the book's datasets.

    The first also says why people disagree on the book's items.
    """
    shown = book_votes.shown().votes
    datasets = explorer.others_available(shown)
    with faults.on_one_line():
        reasons = explorer.reasons_script(shown, _address_of_reasons(app, page))
    made = {explorer.OTHERS: explorer.others_listed(datasets) + reasons}
    for dataset in datasets:
        with faults.on_one_line():
            votes = load_votes(dataset.name)
        made[explorer.others_file(dataset)] = explorer.others_script(
            votes, book_votes.systems(votes), _paper(app, dataset.release.citation)
        )
    return made


def _address_of_reasons(app: Sphinx, page: str) -> str:
    there = _REASONS in app.env.found_docs
    return app.builder.get_relative_uri(page, _REASONS) if there else ""


def _paper(app: Sphinx, key: str) -> str:
    """Return the BibTeX entry of the paper on a dataset; empty where the book cites none."""
    references = (project_of(app) / "book" / "references.bib").read_text("utf-8")
    entry = re.escape(key)
    found = re.search(rf"^@\w+\{{{entry},.*?^\}}", references, re.DOTALL | re.MULTILINE)
    return found[0] if found else ""


def setup(app: Sphinx) -> None:
    """Register the directive and connect to Sphinx's events."""
    app.add_directive("item-explorer", ItemExplorer)
    app.add_role("explorer", ExplorerLink())
    app.connect("html-page-context", _add_assets)
    app.connect("build-finished", _write_files)
