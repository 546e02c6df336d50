"""The one place where systems are judged, and set beside what a reader must compare them with.

`judge` returns rows of the table of scores: measures, and what systems are worth in people.
`references` returns perfect model, second crowd and baselines on the same items. `chaos evaluate`,
the API and the analyses select from these.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import numpy.typing as npt

from chaos_utils.datasets.votes import Ints, Votes
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.scoring import human_equivalents as people
from chaos_utils.scoring import worth as worths
from chaos_utils.scoring.references import (
    PERFECT_MODEL,
    SECOND_CROWD,
    UNSETTLED,
    References,
    is_settled,
    known_rows,
)
from chaos_utils.scoring.scores import OF_LABELS, Row, metadata_columns, score_rows
from chaos_utils.scoring.system import System
from chaos_utils.scoring.systems import baselines

IN_PEOPLE = (*worths.NAMES, *people.NAMES)  # what is asked of systems that have not seen the votes
BASELINES = ("uniform guess", "base rate", "mean vote given the old label", "old label",
             "original votes")  # fmt: skip
NOT_AVAILABLE = "not available"
SEED = 0  # of references, baselines and drawn crowds: one number for every page
_NO_VALUE = dict.fromkeys(("value", "low", "high", "p"), np.nan) | {"text": NOT_AVAILABLE}
MOST_ITEMS = 20_000  # that references are drawn for: their error is then below 0.002


def judge(
    votes: Votes,
    systems: Sequence[System],
    names: Iterable[str] | None = None,
    *,
    groups: Mapping[str, npt.ArrayLike] | None = None,
    comparisons: Sequence[tuple[str, str]] = (),
    crowds: people.Crowds | None = None,
    n_resamples: int = 0,
    seed: int = 0,
) -> list[Row]:
    """Return scores of systems, differences between those compared, and what systems are worth.

    `names` are measures, by default all that the votes allow, and those of `IN_PEOPLE`, which may
    not be asked of a system that has seen the votes; `crowds` are drawn if they are needed. Of a
    system that gives one label per item there are values by `OF_LABELS`, and what it is worth; all
    others are NaN.
    """
    chosen = None if names is None else list(names)
    measures = None if chosen is None else [name for name in chosen if name not in IN_PEOPLE]
    rows: list[Row] = []
    if measures is None or measures:
        rows = score_rows(
            votes,
            systems,
            measures=measures,
            groups=groups,
            comparisons=comparisons,
            n_resamples=n_resamples,
            seed=seed,
        )
    wanted = [name for name in chosen or () if name in IN_PEOPLE]
    drawn = [name for name in wanted if name in people.NAMES]
    how = {"n_resamples": n_resamples, "seed": seed}
    in_people: list[tuple[System, worths.Worth | people.Equivalent]] = []
    if len(drawn) < len(wanted):
        in_people += [(system, worths.worth(votes, system, **how)) for system in systems]
    if drawn:
        given = crowds or people.Crowds(votes, seed=SEED)
        in_people += [(system, one) for system in systems
                      for one in given.equivalents(system, drawn, **how)]  # fmt: skip
    rows += [
        metadata_columns(system) | row
        for system, one in in_people
        for row in one.rows
        if row["measure"] in wanted
    ]
    hard = {system.name for system in systems if system.one_label}
    for_labels = (*OF_LABELS, *worths.NAMES)
    return [
        row | _NO_VALUE
        if row["measure"] not in for_labels and hard & {row["system"], row.get("reference")}
        else row
        for row in rows
    ]


def references(
    votes: Votes,
    names: Sequence[str],
    *,
    seed: int = SEED,
    most: int = MOST_ITEMS,
    recorded: bool = True,
    computed: bool = True,
) -> list[Row]:
    """Return perfect model, second crowd and baselines: as `recorded`, or as `computed` now.

    Perfect model and second crowd are drawn for at most so many items. A base rate that cannot be
    formed, since all items share a text, has NaN for each measure.
    """
    measures = [name for name in names if name in MEASURES]
    found = known_rows(votes, seed) if recorded else []
    if computed and not {row["measure"] for row in found}.issuperset(measures):
        # Crowds that are drawn have no old label.
        by_votes = [name for name in measures if MEASURES[name].needs != "old label"]
        found = References(at_most(votes, most, seed), seed=seed).rows(by_votes)
        found += score_rows(votes, guesses(votes), measures=measures)
    origins = dict.fromkeys((PERFECT_MODEL, SECOND_CROWD), "reference")
    origins |= dict.fromkeys(BASELINES, "baseline")
    by_key = {(row["system"], row["measure"]): row for row in found}
    about = {"dataset": votes.dataset.name, "temperature": 1.0}
    for name in measures:  # a base rate that cannot be formed has its row all the same
        if ("uniform guess", name) in by_key:
            unknown = {"value": np.nan, "n_items": len(votes)}
            by_key.setdefault(("base rate", name), unknown)
    rows = []
    for (system, origin), name in product(origins.items(), measures):
        if (row := by_key.get((system, name))) is not None:
            value, error = row["value"], row.get("standard_error", np.nan)
            text = {} if is_settled(name, value, error) else {"text": UNSETTLED}
            text = {"text": NOT_AVAILABLE} if np.isnan(value) else text
            named = {"system": system, "family": system, "origin": origin, "measure": name}
            rows.append(about | named | {"n_items": row["n_items"], "value": value} | text)
    return rows


def guesses(votes: Votes) -> list[System]:
    """Return the baselines that stand beside every answer."""
    return [one for one in baselines(votes) if one.name in BASELINES]


def part_of(votes: Votes, items: Ints) -> Votes:
    """Return the votes on some of the items, such as those that systems cover.

    The same where all are covered; else without annotators.
    """
    if len(items) == len(votes):
        return votes
    old_label, old_votes = votes.given_old_label, votes.given_old_votes
    return replace(
        votes,
        uids=tuple(votes.uids[i] for i in items),
        counts=votes.counts[items],
        majority=votes.majority[items],
        given_old_label=None if old_label is None else old_label[items],
        given_old_votes=None if old_votes is None else old_votes[items],
        texts=tuple(votes.texts[i] for i in items) if votes.texts else (),
        annotations=None,
    )


def at_most(votes: Votes, most: int, seed: int) -> Votes:
    """Return the votes on so many items at most, drawn at random."""
    if len(votes) <= most:
        return votes
    drawn = np.random.default_rng(seed).choice(len(votes), most, replace=False)
    return part_of(votes, np.sort(drawn))
