"""The item explorer: its page, the data that `chaos_utils.pages.explorer` makes, links to it."""

import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import ReferenceRole, SphinxDirective

from chaos_book.items import (
    missing_nodes,
    notice_nodes,
    shown_items,
    shown_systems,
    shown_with_submitted,
    texts_notice,
    votes_notice,
)
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.auxiliary_data import JUDGES
from chaos_utils.datasets.loading import load_votes
from chaos_utils.pages import explorer
from chaos_utils.publish import scripts
from chaos_utils.publish.dependencies import CHART_LIBRARY
from chaos_utils.sphinx import faults
from chaos_utils.sphinx.book import BOOK
from chaos_utils.sphinx.widgets import Widget

logger = logging.getLogger(__name__)

_PAGE = "explorer"
_REASONS = "chapters/why"


class ItemExplorer(SphinxDirective):
    """Insert the explorer's controls, which its scripts make work."""

    def run(self) -> list[nodes.Node]:
        """Return the controls with the notice of the licence."""
        missing = missing_nodes("shows the text and votes of every item")
        return [*missing, WIDGET.place(self.env), *notice_nodes()]


class ExplorerLink(ReferenceRole):
    """Link to items in the explorer: ``{explorer}`words <dataset=snli&change=changed>```."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the link, or its words alone in a book without the explorer."""
        try:
            selection = explorer.selection(self.target)
        except ChaosError as fault:
            logger.warning("{explorer}`%s`: %s", self.target, fault, location=self.get_location())
            return [nodes.Text(self.title)], []
        if _PAGE not in self.env.found_docs:
            return [nodes.Text(self.title)], []
        page = self.env.app.builder.get_relative_uri(self.env.docname, _PAGE)
        link = nodes.reference("", self.title, refuri=page + selection, internal=True)
        return [link], []


def _data(app: Sphinx) -> dict[str, str]:
    """Return the scripts with the data, and the charts' library if it is installed, by name."""
    library = BOOK.project / CHART_LIBRARY
    files = {"chart.umd.js": library, "chart.LICENSE.md": library.parents[1] / "LICENSE.md"}
    has_library = library.is_file()
    texts = {name: path.read_text("utf-8") for name, path in files.items() if has_library}
    return texts | _item_scripts(has_chart=has_library) | _other_scripts(app)


def _item_scripts(*, has_chart: bool) -> dict[str, str]:
    """Return the scripts with the items that the chapters were made from, by name."""
    items, datasets = shown_items(), []
    files: dict[str, str] = {}
    for votes in items.votes:
        systems = shown_with_submitted(votes)
        data, system_files = explorer.split_systems(
            explorer.columns(votes, systems, JUDGES), systems, votes_notice()
        )
        datasets.append(data | {"paper": _paper(votes.dataset.release.citation)})
        files |= system_files
    numbers = {
        "scale": explorer.SCALE,
        "synthetic": items.synthetic,
        "datasets": datasets,
        "citation": explorer.citation(BOOK.citation, synthetic=items.synthetic),
        "drawn": has_chart,
    }
    texts = {votes.dataset.name: explorer.texts(votes) for votes in items.votes}
    return files | {
        "items.js": scripts.packed_script("CHAOS_ITEMS", numbers, votes_notice()),
        "texts.js": scripts.packed_script("CHAOS_TEXTS", texts, texts_notice()),
    }


def _other_scripts(app: Sphinx) -> dict[str, str]:
    """Return the scripts with the datasets that are not the book's, by name.

    The first names them, and has the reasons for disagreement on the book's items.
    """
    book_votes = shown_items().votes
    datasets = explorer.other_datasets(book_votes)
    with faults.on_one_line():
        reasons = explorer.reasons_script(book_votes, _address_of_reasons(app))
    index = explorer.other_datasets_script(datasets)
    files = {explorer.OTHER_DATASETS: index + reasons}
    for dataset in datasets:
        with faults.on_one_line():
            votes = load_votes(dataset.name)
        files[explorer.other_dataset_file(dataset)] = explorer.other_dataset_script(
            votes, shown_systems(votes), _paper(dataset.release.citation)
        )
    return files


def _address_of_reasons(app: Sphinx) -> str:
    """Return the address of the chapter on reasons; empty in a book without it."""
    has_chapter = _REASONS in app.env.found_docs
    return app.builder.get_relative_uri(_PAGE, _REASONS) if has_chapter else ""


def _paper(key: str) -> str:
    """Return the BibTeX entry of the paper on a dataset; empty where the book cites none."""
    references = (BOOK.project / "book" / "references.bib").read_text("utf-8")
    pattern = rf"^@\w+\{{{re.escape(key)},.*?^\}}"
    entry = re.search(pattern, references, re.DOTALL | re.MULTILINE)
    return entry[0] if entry else ""


_FILES = ("explorer.css", "model.js", "table.js", "card.js", "chart.js", "main.js")
WIDGET = Widget("explorer", _FILES, _data)


def setup(app: Sphinx) -> None:
    """Register the directive and the role."""
    WIDGET.register(app, "item-explorer", ItemExplorer)
    app.add_role("explorer", ExplorerLink())
