"""The title page's opening: an item whose votes the reader guesses before they are shown."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from chaos_book.items import missing_nodes, shown_items, shown_systems, texts_notice
from chaos_utils.book import group_of
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.pages import opening
from chaos_utils.publish import licences
from chaos_utils.publish.scripts import compact
from chaos_utils.report.tables import votes_html
from chaos_utils.sphinx.book import raw_html
from chaos_utils.sphinx.widgets import Widget

logger = logging.getLogger(__name__)
WIDGET = Widget("opening", ("opening.css", "opening.js"))


class Opening(SphinxDirective):
    """Let the reader guess the votes on an item, and on more.

    ``{opening} <dataset> <uid> <family of systems>``. The items come from the reader's own copy of
    the data. The system is the first of its family. The directive's content is shown after the
    first guess. Without a script, the first item is shown with its votes. Without the data, the
    sample's items are shown, marked as an example.
    """

    required_arguments = 3
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the item, and the data of the script; nothing without such a dataset."""
        name, uid, family = self.arguments
        items = shown_items()
        votes = next((votes for votes in items.votes if votes.dataset.name == name), None)
        if votes is None:
            return []
        if not items.synthetic and uid not in votes.uids:
            logger.warning("%s has no item %s", name, uid, location=self.get_location())
            return []
        systems = (
            system for system in shown_systems(votes) if items.synthetic or system.family == family
        )
        content = opening.rounds(votes, uid, next(systems, None))
        WIDGET.ask(self.env)
        answer = nodes.container(classes=["opening-told"])
        answer += raw_html(_item_html(content, votes.dataset))
        if not items.synthetic:
            words = nodes.container(classes=["opening-words"])
            self.state.nested_parse(self.content, self.content_offset, words)
            answer += words
        data = compact(content).replace("<", "\\u003c")
        play = (
            '<div class="opening" role="group" aria-label="Guess the votes">'
            f'<script type="application/json">{data}</script></div>'
        )
        notice = texts_notice() if items.synthetic else licences.notice([group_of(votes.dataset)])
        purpose = "asks how a hundred people voted"
        missing = missing_nodes(purpose, "the box below") if items.synthetic else []
        return [*missing, raw_html(play), answer, raw_html(licences.paragraph(notice))]


def _item_html(content: Mapping[str, Any], dataset: Dataset) -> str:
    """Return the first item as shown without a script: its votes, and the first other guess."""
    first = content["pairs"][0]
    texts = "".join(
        f'<p><span class="text-name">{escape(title)}</span> {escape(text)}</p>'
        for title, text in zip(content["titles"], first["texts"], strict=True)
    )
    name, shares, _ = first["others"][0]
    rows = _row("100 people", dataset, first["votes"]) + _row(name, dataset, shares, "%")
    labels = "".join(
        f'<span><i class="vote" style="--light:{light};--dark:{dark}"></i> {escape(label)}</span>'
        for label, (light, dark) in zip(content["labels"], content["colours"], strict=True)
    )
    return f'<div class="one-item">{texts}{rows}<p class="labels">{labels}</p></div>'


def _row(name: str, dataset: Dataset, shares: Sequence[float], unit: str = "") -> str:
    """Return a name and a bar of shares, in percent, as HTML."""
    bar = votes_html(dataset.name, [round(share) for share in shares], unit)
    return f'<div class="one-row"><span>{escape(name)}</span>{bar}</div>'


def setup(app: Sphinx) -> None:
    """Register the directive."""
    WIDGET.register(app, "opening", Opening)
