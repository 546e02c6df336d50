"""The part of a page that evaluates a reader's file of predictions in the browser.

Its script reads the votes from the explorer's data, which only the site has. The page itself
contains the other data: titles of measures, and scores of the book's systems.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from chaos_book.items import (
    missing_nodes,
    shown_items,
    shown_systems,
    shown_with_submitted,
    votes_notice,
)
from chaos_utils.analyses import scoreboard
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.votes import ENOUGH_VOTES, Votes
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.metrics.skill import skill_of_people
from chaos_utils.plots.systems import SYSTEM_NAMES, language_model_name
from chaos_utils.publish import scripts
from chaos_utils.scoring import copies
from chaos_utils.scoring.methods_sentences import facts_of_book, wordings
from chaos_utils.scoring.places import Pool, page_pool
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
from chaos_utils.sphinx.book import BOOK, raw_html
from chaos_utils.sphinx.widgets import Widget


def _scoreboards(app: Sphinx) -> dict[str, str]:
    """Return the scripts with the systems of each dataset's scoreboard, by name."""
    if "explorer" not in app.env.found_docs:
        return {}
    return {
        _scoreboard(votes.dataset)["file"]: scoreboard_script(
            votes, scoreboard.pools(votes, shown_with_submitted(votes)), votes_notice()
        )
        for votes in shown_items().votes
        if scoreboard.has_pools(votes)
    }


WIDGET = Widget(
    "evaluate",
    (
        "evaluate.css",
        "reading.js",
        "recalibration.js",
        "measures.js",
        "strip.js",
        "sentences.js",
        "copies.js",
        "places.js",
        "results.js",
        "main.js",
    ),
    _scoreboards,
    shared=("axes.css", "axes.js"),
)
_SCORES, _WORTHS, _FITTED = "tbl-main-results", "tbl-human-equivalents", "tbl-fitting"
_MISPLACED, _FIVE_PEOPLE = "tbl-misplaced", "five people"
# The one fitted map that is shown. Maps of single systems are shown as "recalibrated".
_SHOWN_MAP = {"inputs": "all systems", "access": "text", "map": "quadratic", "objective": "kl"}
# Measures of people and skill, by whether there are enough items for a map.
_WORTH_MEASURES = {
    True: (PEOPLE_RECALIBRATED, SKILL_RECALIBRATED),
    False: (PEOPLE_SHRUNK, SKILL_SHRUNK),
}
_VALUE_AND_ENDS = ("value", "low", "high")
_MEASURES = ("jsd", "kl", "dist_ce", "ent_ce", "new_accuracy", "old_accuracy", "ece")


class EvaluateFile(SphinxDirective):
    """Insert the controls for a reader's file, which the page's scripts make work."""

    def run(self) -> list[nodes.Node]:
        """Return the controls and data; nothing in a book without the votes."""
        if "explorer" not in self.env.found_docs:
            return []
        votes = shown_items().votes
        origins = {
            (dataset_votes.dataset.name, system.name): system.origin
            for dataset_votes in votes
            for system in shown_systems(dataset_votes)
        }
        worth_rows = self._rows_of(_WORTHS)
        page_content = page_data(votes, self._rows_of(_SCORES)) | {
            "skills": skills(worth_rows, self._rows_of(_FITTED), origins),
            "five_people": {
                row["dataset"]: row["misplaced"] / 100
                for row in self._rows_of(_MISPLACED)
                if row["system"] == _FIVE_PEOPLE
            },
            "scoreboards": {
                one.dataset.name: _scoreboard(one.dataset)
                for one in votes
                if scoreboard.has_pools(one)
            },
        }
        content = scripts.compact(page_content).replace("<", "\\u003c")
        data = f'<script type="application/json" id="evaluate-known">{content}</script>'
        return [
            *missing_nodes("evaluates a file of predictions"),
            WIDGET.place(self.env),
            raw_html(data),
        ]

    def _rows_of(self, id: str) -> Sequence[Mapping[str, Any]]:
        """Return the rows of a table; none if it was made from other items than those shown."""
        manifest = BOOK.made(self.env, id)
        if manifest is None or manifest.synthetic != shown_items().synthetic:
            return ()
        return manifest.data


def _scoreboard(dataset: Dataset) -> dict[str, str]:
    """Return the names of the file with a dataset's scoreboard, and of what it sets."""
    return {
        "file": f"scoreboard-{dataset.name}.js",
        "global": f"CHAOS_SCOREBOARD_{dataset.name.replace('-', '_')}",
    }


def scoreboard_script(votes: Votes, pools: Sequence[Pool], notice: str) -> str:
    """Return the script with the pools of a dataset's scoreboard, which begins with a `notice`."""
    order = sorted(votes.uids)  # as the explorer's data has the items
    content = [page_pool(pool, order) for pool in pools]
    for system in (one for pool in content for one in pool["systems"]):
        if system["how"].startswith(scoreboard.LANGUAGE_MODEL):
            system["name"] = language_model_name(system["name"])
    return scripts.packed_script(_scoreboard(votes.dataset)["global"], content, notice)


def page_data(votes: Sequence[Votes], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the data of the page, without the votes.

    Parameters
    ----------
    votes : sequence of Votes
        The votes that the page shows.
    rows : sequence of mapping
        Rows of the main table on these votes: scores to show beside those of a reader's system.

    Returns
    -------
    dict
        * ``measures``: title, unit and better way of each measure, by name
        * ``worth``: by measure, its title, and whether it is of the system as it is
        * ``others``: by dataset, see `_other_systems`
        * ``wordings``: of sentences for a paper, with what these say of the book
        * ``copies``: the numbers and words of the rule that finds copies of the votes
    """
    names = [dataset_votes.dataset.name for dataset_votes in votes]
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
        "others": {name: _other_systems(name, rows) for name in names},
        "wordings": {**wordings(), "book": facts_of_book(), "enough_votes": ENOUGH_VOTES},
        "copies": copies.page_rule(),
    }


def skills(
    worths: Iterable[Mapping[str, Any]],
    fitted: Iterable[Mapping[str, Any]],
    origins: Mapping[tuple[str, str], str],
) -> dict[str, list[dict[str, Any]]]:
    """Return what the book's systems are worth, by dataset, to draw beside a reader's system.

    Parameters
    ----------
    worths, fitted : iterable of mapping
        Rows of the table of what systems are worth, and of that of maps fitted on other items'
        votes.
    origins : mapping
        Where a system comes from, by dataset and name.

    Returns
    -------
    dict
        For each dataset, a list of systems with these keys. Where the dataset has too few items
        for a map, the recalibrated values are those of the shrunk system.

        * ``lane``: the row of the drawing, by the system's origin
        * ``name``
        * ``plain``, ``recalibrated``: the skill and the ends of its interval, or None
        * ``words``: what the system is worth in people, plain and recalibrated
    """
    entries: dict[tuple[str, str], dict[str, Any]] = {}
    credibilities = {}
    for row in worths:
        key = row["dataset"], row["system"]
        lane = "baseline" if row["kind"] == "baseline" else origins.get(key, "released")
        if row["system"] in scoreboard.FROM_OLD_VOTES:
            lane = "votes"
        if row["system"] in SYSTEM_NAMES:
            lane = "published"
        name = SYSTEM_NAMES.get(row["system"], row["system"])
        new = {"lane": lane, "name": name, "plain": None, "recalibrated": None, "words": ["–", "–"]}
        entry = entries.setdefault(key, new)
        people_measure, skill_measure = _WORTH_MEASURES[_has_map(row["dataset"], row["n_items"])]
        if row["measure"] in (PEOPLE, people_measure):
            index = 1 if row["measure"] == people_measure else 0  # of ``words``
            entry["words"][index] = without_reason(row["text"])
            credibilities[row["dataset"], row["n_items"]] = row["credibility"]
        elif row["measure"] in (SKILL, skill_measure) and _number(row["value"]) is not None:
            kind = "recalibrated" if row["measure"] == skill_measure else "plain"
            entry[kind] = [_number(row[end]) for end in _VALUE_AND_ENDS]
    by_dataset: dict[str, list[dict[str, Any]]] = {}
    for (dataset, _), entry in entries.items():
        by_dataset.setdefault(dataset, []).append(entry)
    for row in fitted:
        credibility = credibilities.get((row["dataset"], row["n_items"]))
        is_shown = all(row[name] == value for name, value in _SHOWN_MAP.items())
        if credibility is None or not is_shown:
            continue
        people = [row[f"people{end}"] for end in ("", "_low", "_high")]
        value, *ends = (f"{number:.1f}".replace("-", "−") for number in people)
        name = f"{row['inputs']}, fitted"
        plain = [_number(float(skill_of_people(number, credibility))) for number in people]
        entry = {"lane": "fitted", "name": name, "plain": plain, "recalibrated": None}
        by_dataset[row["dataset"]].append(entry | {"words": [f"{value} [{', '.join(ends)}]", "–"]})
    return by_dataset


def _has_map(dataset: str, n_items: int) -> bool:
    """Say whether a dataset has enough items to recalibrate systems by a map."""
    return not too_few_to_recalibrate(n_items, get_dataset(dataset).n_classes)


def _other_systems(dataset: str, rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the systems on a dataset with their values, without means over seeds.

    A system has a value and the ends of its interval, which may be None, by measure; and
    ``of_paper`` says whether it is a model of Table 5 of Nie et al. (2020). A system that the table
    has twice, computed and published, is returned once, by its first row.
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
            values = {name: found for name in _MEASURES if (found := _values(row, name))}
            by_system.setdefault(row["system"], entry | values)
    return list(by_system.values())


def _values(row: Mapping[str, Any], measure: str) -> list[float | None]:
    """Return a value and the ends of its interval, which may be None; empty without a value."""
    value, *ends = (_number(row.get(f"{measure}{end}")) for end in ("", "_low", "_high"))
    return [] if value is None else [value, *ends]


def _number(cell: object) -> float | None:
    """Return a finite number, rounded; None for other cells."""
    is_number = isinstance(cell, int | float) and math.isfinite(cell)
    return round(float(cell), 4) if is_number else None  # type: ignore[arg-type]


def setup(app: Sphinx) -> None:
    """Register the directive."""
    WIDGET.register(app, "evaluate-file", EvaluateFile)
