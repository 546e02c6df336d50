"""What the item explorer shows: every item's votes, predictions and distances, in columns.

The columns travel as packed scripts. Numbers and texts are apart, each under a notice of its own.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from chaos_utils.datasets.votes import Opinions
from chaos_utils.metrics.divergence import entropy, jensen_shannon_distance, total_variation
from chaos_utils.publish import citations
from chaos_utils.publish.citations import Book
from chaos_utils.scoring.predictions import Predictions

SCALE = 10_000  # shares, entropies and distances are whole ten-thousandths, which are short


def columns(opinions: Opinions, systems: Sequence[Predictions]) -> dict[str, Any]:
    """Return a task's items as columns, in the order of their uids.

    Parameters
    ----------
    opinions : Opinions
        The votes; n items, k labels.
    systems : sequence of Predictions
        On this task; an item that a system does not cover is None in its columns.

    Returns
    -------
    dict
        ``name``, ``title``, ``short``, ``labels``, ``fields`` (of the texts); ``uids``;
        ``votes`` and ``old_votes`` (a column of counts for each label; ``old_votes`` None where
        only the label was released); ``majority`` and ``old_label`` (positions in ``labels``);
        ``entropy`` (of the votes, bits); and ``systems``: ``name``, ``shares`` (a column for each
        label but the last, whose share is the rest), ``label`` (stated, a position), ``jsd``
        (Jensen–Shannon distance from the votes, nats) and ``tvd`` (total variation). Shares,
        entropies and distances are in units of 1 / `SCALE`.
    """
    task = opinions.task
    order = _order(opinions)
    return {
        "name": task.name,
        "title": task.title,
        "short": task.short,
        "labels": list(task.labels),
        "fields": list(task.text_fields),
        "uids": [opinions.uids[i] for i in order],
        "votes": opinions.votes[order].T.tolist(),
        "old_votes": opinions.old_votes[order].T.tolist() if task.n_old_labels else None,
        "majority": opinions.majority[order].tolist(),
        "old_label": opinions.old_label[order].tolist(),
        "entropy": _scaled(entropy(opinions.shares, unit="bits"))[order].tolist(),
        "systems": [_system(system, opinions, order) for system in systems],
    }


def texts(opinions: Opinions) -> list[list[str]]:
    """Return a task's texts, a column for each field, in the order of `columns`.

    Parameters
    ----------
    opinions : Opinions

    Returns
    -------
    list of list of str
    """
    return [
        [opinions.texts[i][field].strip() for i in _order(opinions)]
        for field in opinions.task.text_fields
    ]


def citation(book: Book, *, synthetic: bool) -> dict[str, Any]:
    """Return templates for citing one item, to be filled in where it is shown.

    Parameters
    ----------
    book : Book
    synthetic : bool
        Whether the items are the sample's; the title says so then.

    Returns
    -------
    dict
        ``plain`` and ``bibtex``, in which ``<uid>`` and ``<title>`` (of the task), in
        ``bibtex`` also ``<key>``, stand for the item's; ``<place>`` stands for the uid as part
        of an address; and ``latex``: what replaces the characters that LaTeX takes as its own.
    """
    title = "Item <uid> of <title>"
    if synthetic:
        title = f"Synthetic sample: {title}"
    url = f"{book.url.rstrip('/')}/explorer.html#<place>" if book.url else ""
    return {
        "plain": citations.item_plain(book, title, url),
        "bibtex": citations.item_bibtex(book, title, url),
        "latex": dict(citations.LATEX),
    }


def _order(opinions: Opinions) -> list[int]:
    return sorted(range(len(opinions)), key=lambda i: opinions.uids[i])


def _system(system: Predictions, opinions: Opinions, order: Sequence[int]) -> dict[str, Any]:
    row_of = {uid: row for row, uid in enumerate(system.uids)}
    rows = [row_of.get(opinions.uids[i]) for i in order]
    position = {uid: i for i, uid in enumerate(opinions.uids)}
    human = opinions.shares[[position[uid] for uid in system.uids]]

    def placed(values: npt.NDArray[Any]) -> list[int | None]:
        return [None if row is None else int(values[row]) for row in rows]

    return {
        "name": system.model,
        "shares": [placed(column) for column in _scaled(system.probabilities).T[:-1]],
        "label": placed(system.predicted),
        "jsd": placed(_scaled(jensen_shannon_distance(human, system.probabilities, unit="nats"))),
        "tvd": placed(_scaled(total_variation(human, system.probabilities))),
    }


def _scaled(values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    return np.rint(values * SCALE).astype(np.int64)
