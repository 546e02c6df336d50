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

from chaos_book.book import BOOK, raw_html, systems
from chaos_book.widgets import Widget
from chaos_utils.base.style import SYSTEM_NAMES
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.metrics.skill import skill_of_people
from chaos_utils.publish import scripts
from chaos_utils.scoring.recalibration import too_few_to_recalibrate
from chaos_utils.scoring.worth import (
    AS_IT_IS,
    PEOPLE,
    PEOPLE_RECALIBRATED,
    PEOPLE_SHRUNK,
    POOLED,
    SKILL,
    SKILL_RECALIBRATED,
    SKILL_SHRUNK,
    TITLES,
    without_reason,
)

WIDGET = Widget(
    "evaluate",
    (
        "evaluate.css",
        "reading.js",
        "recalibration.js",
        "measures.js",
        "strip.js",
        "results.js",
        "main.js",
    ),
    shared=("axes.css", "axes.js"),
)
_OTHERS, _WORTHS, _FITTED = "tbl-main-results", "tbl-human-equivalents", "tbl-fitting"
# Which of those fitted is shown: of one system, what is recalibrated is.
_MAP = {"inputs": "all systems", "access": "text", "map": "quadratic", "objective": "kl"}
_MEASURES_WITH_MAP = {
    True: (PEOPLE_RECALIBRATED, SKILL_RECALIBRATED),
    False: (PEOPLE_SHRUNK, SKILL_SHRUNK),
}
_ENDS = ("value", "low", "high")
_MEASURES = ("jsd", "kl", "dist_ce", "ent_ce", "old_accuracy", "new_accuracy", "ece")


class EvaluateFile(SphinxDirective):
    """Set the place for a reader's file, which the page's scripts bring to life."""

    def run(self) -> list[nodes.Node]:
        """Return the place; nothing in a book without the votes."""
        if "explorer" not in self.env.found_docs:
            return []
        votes = BOOK.items.votes
        origins = {
            (part.dataset.name, system.name): system.origin
            for part in votes
            for system in systems(part)
        }
        of_worth = self._rows_of(_WORTHS)
        known_data = page_data(votes, self._rows_of(_OTHERS)) | {
            "skills": skills(of_worth, self._rows_of(_FITTED), origins)
        }
        content = scripts.compact(known_data)
        content = content.replace("<", "\\u003c")
        data = f'<script type="application/json" id="evaluate-known">{content}</script>'
        return [*WIDGET.place(self.env, "evaluates a file of predictions"), raw_html(data)]

    def _rows_of(self, id: str) -> Sequence[Mapping[str, Any]]:
        """Return the rows of a table; none where it was made from other items than are shown."""
        manifest = BOOK.made(self.env, id)
        is_of_these = manifest is not None and manifest.synthetic == BOOK.items.synthetic
        return manifest.data if manifest is not None and is_of_these else ()


def page_data(votes: Sequence[Votes], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
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
        that of the system as it is; ``others`` by dataset: the systems, whether they are models
        of Table 5 of Nie et al. (2020), with their values by measure: a value and the ends of its
        interval, which may be None.
    """
    measures = {
        name: {"title": MEASURES[name].title, "unit": MEASURES[name].unit,
               "better": MEASURES[name].better}
        for name in _MEASURES
    }  # fmt: skip
    return {
        "measures": measures,
        "worth": {
            name: {"title": title, "plain": name in AS_IT_IS}
            for name, title in TITLES.items()
            if name != POOLED
        },
        "others": {one.dataset.name: _other_systems(one.dataset.name, rows) for one in votes},
    }


def skills(
    worths: Iterable[Mapping[str, Any]],
    fitted: Iterable[Mapping[str, Any]],
    origins: Mapping[tuple[str, str], str],
) -> dict[str, list[dict[str, Any]]]:
    """Return what the book's systems are worth, by dataset: what a reader's file is drawn beside.

    Parameters
    ----------
    worths, fitted : iterable of mapping
        Rows of the tables of what systems are worth, and of maps fitted on other items' votes.
    origins : mapping
        Where a system comes from, by dataset and name.

    Returns
    -------
    dict
        Of each system its ``lane``, ``name``, skill ``plain`` and ``recalibrated`` with the ends of
        intervals, None where there is none, and ``words``: what it is worth, plain and so. Where
        the dataset has too few items for a map, what is shrunk stands for what is recalibrated.
    """
    entries: dict[tuple[str, str], dict[str, Any]] = {}
    credibilities = {}
    for row in worths:
        key = row["dataset"], row["system"]
        lane = "baseline" if row["kind"] == "baseline" else origins.get(key, "released")
        if row["system"] in SYSTEM_NAMES:
            lane = "published"
        name = SYSTEM_NAMES.get(row["system"], row["system"])
        new = {"lane": lane, "name": name, "plain": None, "recalibrated": None, "words": ["–", "–"]}
        entry = entries.setdefault(key, new)
        of_people, of_skill = _MEASURES_WITH_MAP[_has_map(row["dataset"], row["n_items"])]
        if row["measure"] in (PEOPLE, of_people):
            entry["words"][row["measure"] == of_people] = without_reason(row["text"])
            credibilities[row["dataset"], row["n_items"]] = row["credibility"]
        elif row["measure"] in (SKILL, of_skill) and _number(row["value"]) is not None:
            known_as = "recalibrated" if row["measure"] == of_skill else "plain"
            entry[known_as] = [_number(row[end]) for end in _ENDS]
    by_dataset: dict[str, list[dict[str, Any]]] = {}
    for (dataset, _), entry in entries.items():
        by_dataset.setdefault(dataset, []).append(entry)
    for row in fitted:
        credibility = credibilities.get((row["dataset"], row["n_items"]))
        is_meant = all(row[name] == wanted for name, wanted in _MAP.items())
        if credibility is None or not is_meant:
            continue
        people = [row[f"people{end}"] for end in ("", "_low", "_high")]
        value, *ends = (f"{number:.1f}".replace("-", "−") for number in people)
        name = f"{row['inputs']}, fitted"
        plain = [_number(float(skill_of_people(number, credibility))) for number in people]
        entry = {"lane": "fitted", "name": name, "plain": plain, "recalibrated": None}
        by_dataset[row["dataset"]].append(entry | {"words": [f"{value} [{', '.join(ends)}]", "–"]})
    return by_dataset


def _has_map(dataset: str, n_items: int) -> bool:
    return not too_few_to_recalibrate(n_items, get_dataset(dataset).n_classes)


def _other_systems(dataset: str, rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the systems on a dataset, without the means of several that differ in their seed.

    Those of the paper stand there once, as computed where they are.
    """
    by_system: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row["dataset"] == dataset and _number(row.get("n_seeds")) is None:
            entry = {
                "system": SYSTEM_NAMES.get(row["system"], row["system"]),
                "kind": row["kind"],
                "source": row["source"],
                "of_paper": row["kind"] == "model" and row["system"] in SYSTEM_NAMES,
            }
            values = {name: known for name in _MEASURES if (known := _values(row, name))}
            by_system.setdefault(row["system"], entry | values)
    return list(by_system.values())


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
