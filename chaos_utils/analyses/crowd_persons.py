"""Noise, persons and groups: what one set of votes says of its disagreement, beside how much.

Noise needs the same people asked again (rounds), persons need named annotators, groups need what
annotators are. What is missing is left out; `crowd_findings.data_needed` says which data it takes.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.analyses.cached_analysis import cached_analysis
from chaos_utils.datasets.votes import Annotations, Ints, Votes
from chaos_utils.metrics.groups import group_difference, shuffled_groups_p
from chaos_utils.metrics.jackknife import TwoWay
from chaos_utils.metrics.persons import repeats, variance_shares
from chaos_utils.metrics.resampling import holm
from chaos_utils.report.columns import Column, with_ends
from chaos_utils.scoring.annotators import (
    agreement_with_rest,
    annotations_of,
    near_chance,
)

FEWEST_PEOPLE = 8  # of a group
_FEWEST_IN_STRATUM = 5  # of a group in one stratum, where there are several
FEWEST_PAIRS = 40  # of votes on an item, within a group and between two
_MOST_VALUES = 12  # numbers with more values, such as ages in years, are cut into thirds
_LEVEL = 0.05
_ENDS = ("low", "high")


def strata(votes: Votes, annotations: Annotations) -> Ints | None:
    """Return the part of the data that each vote belongs to, if people keep to one part each.

    That is the first of the items' fields, such as their language, of which each annotator judged
    one value alone. None where there is no such field: all votes are compared.
    """
    for values in votes.fields.values():
        names, of_item = np.unique(values, return_inverse=True)
        stratum: Ints = of_item[annotations.item]
        if len(names) > 1 and _is_one_of_each(annotations.annotator, stratum):
            return stratum
    return None


def votes_repeatedly(votes: Votes) -> bool:
    """Whether somebody gave several votes on an item in one round, as where several labels count.

    Noise and groups need one vote of a person on an item in each round.
    """
    first = annotations_of(votes)
    pairs = np.unique(np.column_stack([first.item, first.annotator]), axis=0)
    return len(pairs) < len(first.item)


def _is_one_of_each(unit: Ints, value: Ints) -> bool:
    """Whether each unit has one value."""
    pairs = np.unique(np.column_stack([unit, value]), axis=0)
    return len(pairs) == len(np.unique(unit))


@cached_analysis(keys=("dataset", "quantity"), needs="rounds")
def noise(votes: Votes) -> pd.DataFrame:
    """Say how often a person, and how often two people, differ between two rounds.

    Rows of the ``quantity`` are those of `metrics.persons.repeats`: ``same``, ``two``, ``ratio``
    and, of two labels, ``settled``, with 95% intervals over items and annotators. ``n_items`` were
    judged by somebody in two rounds or more, by ``n_annotators`` people. No rows where there are
    none, or where nobody else judged them in another round.
    """
    annotations = votes.annotations
    assert annotations is not None
    assert annotations.round is not None
    is_again = ~annotations.is_first
    rows = []
    if is_again.any() and not votes_repeatedly(votes):
        columns = annotations.item, annotations.annotator, annotations.label, annotations.round
        found = repeats(*columns, votes.dataset.n_classes)
        rows = [
            _estimate(name, value, 0, np.inf if name == "ratio" else 1)
            for name, value in found.items()
            if not np.isnan(value.value)
        ]
    table = pd.DataFrame(rows, columns=["quantity", "value", *_ENDS, "of_five"])
    return table.astype(dict.fromkeys(table.columns[1:], float)).assign(
        n_items=len(np.unique(annotations.item[is_again])),
        n_annotators=len(np.unique(annotations.annotator[is_again])),
    )


def _estimate(quantity: str, jackknife: TwoWay, lowest: float, highest: float) -> dict[str, Any]:
    """Return a row of an estimate, with its interval within what is possible."""
    low, high = jackknife.interval(min(lowest, jackknife.value), max(highest, jackknife.value))
    if np.isnan(jackknife.error):
        low = high = np.nan
    row = {"quantity": quantity, "value": jackknife.value, "of_five": jackknife.of_five}
    return row | {"low": low, "high": high}


@cached_analysis(keys=("dataset", "quantity"), needs="annotators")
def persons(votes: Votes) -> pd.DataFrame:
    """Say which share of a vote's variance goes with the text, with the person, and the rest.

    Rows of the ``quantity`` are those of `metrics.persons.variance_shares` that these votes can
    tell (``opinion`` and ``again`` need rounds), with 95% intervals over items and annotators.
    ``of_five`` is the part of the annotators' variance that comes from five of them. Of ordered
    labels, ``scale_value``, with an interval, is the same for the labels' places on the scale.
    Votes of all rounds count. No rows where no person judged two items, or no item has two people.
    """
    annotations = votes.annotations
    assert annotations is not None
    n_classes = votes.dataset.n_classes
    stratum = strata(votes, annotations)
    columns = annotations.item, annotations.annotator, annotations.label
    estimates = []
    for scale in (None, np.arange(n_classes) if votes.dataset.ordered else None):
        shares = variance_shares(*columns, n_classes, stratum=stratum, scale=scale)
        highest = {"two_differ": np.inf}
        estimates.append(
            [_estimate(name, value, -1, highest.get(name, 1)) for name, value in shares.items()]
        )
    table = pd.DataFrame(estimates[0])
    for name in ("value", *_ENDS):
        table[f"scale_{name}"] = (
            pd.DataFrame(estimates[1])[name] if votes.dataset.ordered else np.nan
        )
    is_shown = table["value"].notna() & table["value"][table["quantity"] == "rest"].notna().all()
    if annotations.round is None or votes_repeatedly(votes):
        is_shown &= ~table["quantity"].isin(["opinion", "again"])
    table = table[is_shown].reset_index(drop=True)
    return table.assign(n_items=len(votes), n_annotators=len(np.unique(annotations.annotator)))


@cached_analysis(keys=("dataset", "annotator"), needs="annotators")
def near_bar(votes: Votes) -> pd.DataFrame:
    """Return the annotators who are near chance, and those of whom it is open, least first.

    ``annotator`` is a running number from 1, in the order of the file, as in
    `your_votes.annotators`. ``corrected`` is the agreement with the rest beyond chance, with a 95%
    interval over the annotator's votes; ``bar`` is half the median annotator's. An annotator with
    a hundred votes or more stands here if ``is_near``, or if the interval holds the bar.
    """
    with_rest = agreement_with_rest(votes)
    found = near_chance(with_rest)
    bar = found.median / 2
    low = 2 * with_rest.corrected - with_rest.highest_corrected
    is_open = (low <= bar) & (bar <= with_rest.highest_corrected)
    rows = np.flatnonzero(found.is_judged & (found.is_near | is_open))
    table = pd.DataFrame(
        {
            "annotator": rows + 1,
            "n_votes": with_rest.n_votes[rows],
            "corrected": with_rest.corrected[rows],
            "low": np.maximum(low[rows], -1),
            "high": np.minimum(with_rest.highest_corrected[rows], 1),
            "bar": bar,
            "is_near": found.is_near[rows],
        }
    )
    return table.sort_values(["corrected", "annotator"], ignore_index=True)


@cached_analysis(keys=("dataset", "field"), needs="annotators’ fields")
def groups(votes: Votes, *, n_shuffles: int, seed: int) -> pd.DataFrame:
    """Say which part of two people's difference lies between groups, by each field of annotators.

    One row for each ``field``. ``share`` is the part between groups
    (`metrics.groups.group_difference`) as a share of the chance that two people differ, with a 95%
    interval over items and annotators; ``same`` and ``other`` are the chances that two people of
    one group, and of two, differ. ``p_holm`` is the p-value of `n_shuffles` shuffles, adjusted for
    all fields by Holm's method. ``differs`` is true where it is below 0.05 and the interval is
    above 0: groups that only vary more can fail one of the two.

    ``n_groups`` are compared, with ``n_people`` in them, of ``n_known`` whose field is given.
    Groups of fewer than eight people, in an item's stratum of fewer than five, or with fewer than
    40 pairs of votes within the group are left out; where fewer than two remain, or no two have 40
    pairs between them, the rest of the row is missing. A field of many numbers, such as an age in
    years, is cut into thirds of the people (``is_cut``).
    """
    annotations = annotations_of(votes)
    n_classes = votes.dataset.n_classes
    rows = []
    all_fields = {} if votes_repeatedly(votes) else annotations.fields
    for place, (field, values) in enumerate(all_fields.items()):
        group_of, is_cut = _group_numbers(values)
        is_kept = _are_compared(votes, annotations, group_of)
        kept = annotations.take(is_kept)
        group = group_of[kept.annotator]
        voted = np.unique(annotations.annotator)
        row: dict[str, Any] = {
            "field": field,
            "is_cut": is_cut,
            "n_groups": len(np.unique(group)),
            "n_people": len(np.unique(kept.annotator)),
            "n_known": int((group_of[voted] >= 0).sum()),
        }
        if row["n_groups"]:
            arguments = kept.item, kept.annotator, kept.label, group, n_classes
            stratum = strata(votes, kept)
            found = group_difference(*arguments, stratum=stratum)
            rng = np.random.default_rng([seed, place])
            estimate = _estimate("share", found.share, -1, 1)
            row |= {"same": found.same, "other": found.other, "share": estimate["value"]}
            row |= {f"share_{end}": estimate[end] for end in _ENDS} | {
                "p": shuffled_groups_p(*arguments, n_shuffles=n_shuffles, rng=rng, stratum=stratum)
            }
        rows.append(row)
    measures = ["same", "other", "share", "share_low", "share_high", "p"]
    columns = ["field", "is_cut", "n_groups", "n_people", "n_known", *measures]
    table = pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(measures, float))
    table["p_holm"] = holm(table["p"])
    table["differs"] = (table["p_holm"] < _LEVEL) & (table["share_low"] > 0)
    return table


def _group_numbers(values: Sequence[str]) -> tuple[Ints, bool]:
    """Return each annotator's group, −1 where it is not known, and whether numbers were cut."""
    is_known = np.array([bool(value) for value in values], dtype=bool)
    names, group = np.unique(values, return_inverse=True)
    group = group.astype(np.int64)
    is_cut = False
    if len(names) > _MOST_VALUES:
        numbers = pd.to_numeric(pd.Series(list(values), dtype=object), errors="coerce").to_numpy()
        if np.isfinite(numbers[is_known]).all():
            edges = np.quantile(numbers[is_known], [1 / 3, 2 / 3])
            group, is_cut = np.searchsorted(edges, numbers, side="right"), True
    return np.where(is_known, group, -1), is_cut


def _are_compared(votes: Votes, annotations: Annotations, group_of: Ints) -> npt.NDArray[np.bool_]:
    """Return which votes come from groups that are compared; none where fewer than two are."""
    group = group_of[annotations.annotator]
    n_groups = int(group_of.max(initial=0)) + 1
    is_kept: npt.NDArray[np.bool_] = group >= 0
    stratum = strata(votes, annotations)
    if stratum is not None:
        cell = stratum * n_groups + group
        is_kept &= _people_of(cell, annotations.annotator, is_kept)[cell] >= _FEWEST_IN_STRATUM
    is_kept &= _people_of(group, annotations.annotator, is_kept)[group] >= FEWEST_PEOPLE
    while True:
        by_item = np.zeros((len(votes), n_groups))
        np.add.at(by_item, (annotations.item[is_kept], group[is_kept]), 1)
        pairs = by_item.T @ by_item
        own = (np.diag(pairs) - by_item.sum(axis=0)) / 2
        has_partner = (pairs * ~np.eye(n_groups, dtype=bool)).max(axis=1) >= FEWEST_PAIRS
        stays = is_kept & ((own >= FEWEST_PAIRS) & has_partner)[group]
        if (stays == is_kept).all():
            return is_kept
        is_kept = stays


def _people_of(unit: Ints, annotator: Ints, is_kept: npt.NDArray[np.bool_]) -> Ints:
    """Return how many people gave votes of each unit, by its number; of no unit below 0."""
    pairs = np.unique(np.column_stack([unit[is_kept], annotator[is_kept]]), axis=0)
    n_units = int(unit.max(initial=0)) + 1
    return np.bincount(pairs[:, 0].astype(np.int64), minlength=n_units)


NOISE: Mapping[str, str] = {
    "same": "the same person, asked again, gives another label (%)",
    "two": "two people, each in another round, differ (%)",
    "ratio": "the former as a share of the latter (%)",
    "settled": "two people would differ, were all changes slips in either direction alike (%)",
}
NOISE_COLUMNS = [
    Column("", "quantity", names=NOISE),
    Column("estimate", "value", 0, *_ENDS, percent=True),
]
PARTS: Mapping[str, str] = {
    "text": "text",
    "person": "person",
    "rest": "rest",
    "opinion": "of the rest: a person’s own view of a text",
    "again": "of the rest: the same person another time",
}
_SHARE: dict[str, Any] = {"percent": True, "group": "share of a vote’s variance (%)"}


def person_columns(votes: Votes) -> list[Column]:
    """Return how `persons` is shown; ordered labels have a column more."""
    columns = [
        Column("goes with", "quantity", names=PARTS),
        Column("by label", "value", 0, *_ENDS, **_SHARE),
        Column("on the scale", "scale_value", 0, "scale_low", "scale_high", **_SHARE),
    ]
    return columns if votes.dataset.ordered else columns[:-1]


def shown_parts(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `persons` that are shares of a vote's variance."""
    return table[table["quantity"].isin(PARTS)]


BAR_COLUMNS = [
    Column("annotator", "annotator"),
    Column("votes", "n_votes"),
    Column("beyond chance", "corrected", 2, *_ENDS),
    Column("bar", "bar", 2),
    Column("", lambda row: "near chance" if row["is_near"] else "above, perhaps by chance"),
]
GROUP_COLUMNS = [
    Column("by", lambda row: f"{row['field']}, in thirds" if row["is_cut"] else row["field"]),
    Column("groups", lambda row: row["n_groups"] or "too few"),
    Column("people", lambda row: f"{row['n_people']:,} of {row['n_known']:,}"),
    with_ends("between groups (%)", "share", 1, percent=True),
    Column("p (Holm)", "p_holm", 3),
]
