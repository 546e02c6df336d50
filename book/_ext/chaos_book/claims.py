"""The papers' claims as cards that readers can filter: the cards, a script and a style."""

from collections import Counter
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

from chaos_utils.analyses.claim_cards import SHORT, card_html, place_of
from chaos_utils.analyses.claims import KINDS, MARKS, PAPERS
from chaos_utils.base.errors import ChaosError
from chaos_utils.pages import explorer
from chaos_utils.sphinx.book import BOOK, raw_html
from chaos_utils.sphinx.widgets import Widget

logger = logging.getLogger(__name__)

WIDGET = Widget("claims", ("claims.css", "claims.js"))
_EXPLORER = "explorer"  # the page


class ClaimCard(nodes.General, nodes.Element):
    """A claim, with an address of its own."""


class Claims(SphinxDirective):
    """Insert the cards of a published table of claims, and the controls that filter them."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the controls and a card for each claim; if there is no table, warn."""
        manifest = BOOK.manifest_of(self)
        if manifest is None:
            return []
        WIDGET.ask(self.env)
        rows = manifest.rows.to_dict("records")  # what is missing is NaN
        n_resamples = manifest.parameters["resamples"]
        content: list[nodes.Node] = [raw_html(_controls_html(rows))]
        for row in rows:
            card = ClaimCard(verdict=SHORT[row["kind"]], paper=row["paper"])
            self.options["name"] = place_of(row)
            self.add_name(card)
            card += raw_html(card_html(row, n_resamples, self._link(row["selection"])))
            content.append(card)
        return content

    def _link(self, selection: str) -> str:
        """Return the address of a selection in the explorer; empty in a book without explorer."""
        if not selection or _EXPLORER not in self.env.found_docs:
            return ""
        try:
            query = explorer.selection(selection)
        except ChaosError as fault:
            logger.warning("%s: %s", selection, fault, location=self.get_location())
            return ""
        builder = self.env.app.builder
        return f"{builder.get_relative_uri(self.env.docname, _EXPLORER)}{query}"


def _controls_html(rows: list[dict[str, Any]]) -> str:
    """Return the controls as HTML, hidden until the script, which they need, shows them."""
    kinds = Counter(row["kind"] for row in rows)
    papers = Counter(row["paper"] for row in rows)
    options_by_name = {
        "verdict": [(SHORT[name], f"{MARKS[name]} {name}", kinds[name]) for name in KINDS],
        "paper": [(key, name, papers[key]) for key, name in PAPERS.items()],
    }
    fieldsets = "".join(
        f"<fieldset><legend>{name.capitalize()}</legend>"
        + "".join(
            f'<label><input type="checkbox" name="{name}" value="{value}" checked> '
            f'{escape(label)} <span class="n">{n}</span></label>'
            for value, label, n in options
            if n
        )
        + "</fieldset>"
        for name, options in options_by_name.items()
    )
    return (
        f'<form id="claims-filter" class="claims-filter" hidden>{fieldsets}'
        '<p><span role="status" aria-live="polite"></span> '
        '<button type="reset">Show all</button></p></form>'
    )


def _visit_card(self: HTML5Translator, node: nodes.Element) -> None:
    data = {"data-verdict": node["verdict"], "data-paper": node["paper"]}
    data["aria-labelledby"] = f"{node['ids'][0]}-title"
    self.body.append(self.starttag(node, "article", CLASS=f"claim {node['verdict']}", **data))


def _depart_card(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append("</article>\n")


def setup(app: Sphinx) -> None:
    """Register the cards and their directive."""
    app.add_node(ClaimCard, html=(_visit_card, _depart_card))
    WIDGET.register(app, "claims", Claims)
