"""The examples of sentences for a paper, written as `chaos evaluate --report` writes them."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from chaos_book.items import shown_items, shown_systems
from chaos_utils.analyses.machine_crowds import judges_on
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.auxiliary_data import JUDGES, judges_file
from chaos_utils.datasets.loading import load_votes
from chaos_utils.datasets.votes import Votes
from chaos_utils.plots.systems import SYSTEM_NAMES, language_model_name
from chaos_utils.report.values import is_released
from chaos_utils.scoring.api import make_system
from chaos_utils.scoring.evaluate import evaluate_files
from chaos_utils.scoring.methods_sentences import methods_sentences, sentences_on_votes
from chaos_utils.scoring.system import System
from chaos_utils.sphinx.book import BOOK


class ReportExample(SphinxDirective):
    """Set the sentences on a system, or on votes alone, below the directive's words.

    Its argument names a dataset. The option ``system`` names a system on it, or one of the language
    models that gave a label; ``resamples-of`` the table whose resamples and seed the intervals
    have, so that one quantity has one value. Nothing where votes or system are not available.
    """

    required_arguments = 1
    has_content = True
    option_spec = {  # noqa: RUF012 – docutils has it so
        "system": directives.unchanged_required,
        "resamples-of": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        """Return the words, then the sentences as a quotation."""
        votes = _votes_on(self.arguments[0])
        manifest = BOOK.made(self.env, self.options["resamples-of"])
        if votes is None or manifest is None:
            return []
        n_resamples, seed = (manifest.parameters[name] for name in ("resamples", "seed"))
        sentences = example(votes, self.options.get("system", ""), n_resamples, seed)
        if not sentences:
            return []
        words = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, words)
        return [*words.children, nodes.block_quote("", nodes.paragraph("", sentences))]


def example(votes: Votes, name: str, n_resamples: int, seed: int) -> str:
    """Return the sentences on a system by its name, or without one, on the votes alone.

    Nothing where there is no such system.
    """
    if not name:
        return sentences_on_votes(votes, n_resamples, seed)
    system = [one for one in _systems_on(votes, name) if one.name == name]
    shown = SYSTEM_NAMES.get(name) or language_model_name(name)
    spelt = [replace(one, name=shown) for one in system]
    by_dataset = {votes.dataset.name: spelt}
    answer = evaluate_files(by_dataset, [votes], n_resamples=n_resamples, seed=seed)
    return "".join(methods_sentences(answer, by_dataset, [votes], seed=seed))


def _votes_on(dataset: str) -> Votes | None:
    """Return the published votes on a dataset; None where they, or the book's own, are others."""
    if not is_released(BOOK.manifests):
        return None
    shown = {votes.dataset.name: votes for votes in shown_items().votes if votes.is_released}
    try:
        return shown.get(dataset) or load_votes(dataset, "released")
    except ChaosError:
        return None


def _systems_on(votes: Votes, name: str) -> Sequence[System]:
    found = shown_systems(votes)
    if any(system.name == name for system in found):
        return found
    if not (JUDGES.available and judges_file(votes.dataset)):
        return []
    crowd = judges_on(votes)
    if name not in crowd.members:
        return []
    labels = np.array(votes.dataset.labels)[crowd.labels[:, crowd.members.index(name)]]
    return [replace(make_system(name, crowd.votes, labels), notes=())]


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("report-example", ReportExample)
