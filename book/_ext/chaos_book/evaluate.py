"""The place where a page evaluates a reader's file of predictions in the browser.

It reads the votes from the explorer's data, which enters the site alone. What a page says beside
them stands in the page itself: what measures are called, and what the book's systems scored.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from chaos_book.book import BOOK, raw_html
from chaos_book.widgets import Widget
from chaos_utils.base.style import SYSTEM_NAMES
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.publish import scripts
from chaos_utils.scoring.worth import PEOPLE, PEOPLE_TRUSTED, SKILL, SKILL_TRUSTED, TITLES

WIDGET = Widget("evaluate", ("evaluate.css", "reading.js", "measures.js", "results.js", "main.js"))
_OTHERS = "tbl-main-results"
_MEASURES = ("jsd", "kl", "dist_ce", "ent_ce", "old_accuracy", "new_accuracy", "ece")


class EvaluateFile(SphinxDirective):
    """Set the place for a reader's file, which the page's scripts bring to life."""

    def run(self) -> list[nodes.Node]:
        """Return the place; nothing in a book without the votes."""
        if "explorer" not in self.env.found_docs:
            return []
        manifest = BOOK.made(self.env, _OTHERS)
        items = BOOK.items
        rows: Sequence[Mapping[str, Any]] = ()
        if manifest is not None and manifest.synthetic == items.synthetic:
            rows = manifest.data
        content = scripts.compact(known(items.votes, rows))
        content = content.replace("<", "\\u003c")
        data = f'<script type="application/json" id="evaluate-known">{content}</script>'
        return [*WIDGET.place(self.env, "evaluates a file of predictions"), raw_html(data)]


def known(votes: Sequence[Votes], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what a page knows beside the votes.

    Parameters
    ----------
    votes : sequence of Votes
        Those that the page shows.
    rows : sequence of mapping
        The main table's, of these votes: what the page sets beside a reader's system.

    Returns
    -------
    dict
        ``measures``: title, unit and better way by name; ``worth``: its titles, and whether it is
        that of the system as it is; ``others`` by dataset: the systems with their values by
        measure: a value and the ends of its interval, which may be None.
    """
    measures = {
        name: {"title": MEASURES[name].title, "unit": MEASURES[name].unit,
               "better": MEASURES[name].better}
        for name in _MEASURES
    }  # fmt: skip
    return {
        "measures": measures,
        "worth": {
            name: {"title": TITLES[name], "plain": name in (PEOPLE, SKILL)}
            for name in (PEOPLE, PEOPLE_TRUSTED, SKILL, SKILL_TRUSTED)
        },
        "others": {one.dataset.name: _others(one.dataset.name, rows) for one in votes},
    }


def _others(dataset: str, rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the systems on a dataset, without the means of several that differ in their seed."""
    return [
        {
            "system": SYSTEM_NAMES.get(row["system"], row["system"]),
            "kind": row["kind"],
            "source": row["source"],
        }
        | {name: found for name in _MEASURES if (found := _values(row, name))}
        for row in rows
        if row["dataset"] == dataset and _number(row.get("n_seeds")) is None
    ]


def _values(row: Mapping[str, Any], measure: str) -> list[float | None]:
    """Return a value and the ends of its interval, which may be None; empty without a value."""
    value, *ends = (_number(row.get(f"{measure}{end}")) for end in ("", "_low", "_high"))
    return [] if value is None else [value, *ends]


def _number(cell: object) -> float | None:
    is_number = isinstance(cell, int | float) and math.isfinite(cell)
    return round(float(cell), 4) if is_number else None  # type: ignore[arg-type]


def setup(app: Sphinx) -> None:
    """Register the directive."""
    WIDGET.register(app, "evaluate-file", EvaluateFile)
