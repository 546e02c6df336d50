"""Whose opinions votes are: the same person asked again, persons, and groups of people.

Needs votes whose annotators are named. Errors are over items and people.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.analyses.inputs import AnalysisInputs, gather
from chaos_utils.datasets.catalogue import bundled_datasets, short_of
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.votes import Annotations, Ints, Votes
from chaos_utils.metrics.divergence import Floats
from chaos_utils.metrics.groups import (
    FEWEST_PAIRS,
    group_difference,
    shuffled_groups_p,
    skill_in_group,
)
from chaos_utils.metrics.jackknife import TwoWay, group_sums
from chaos_utils.metrics.persons import SHARES, repeats, variance_shares
from chaos_utils.metrics.resampling import holm
from chaos_utils.metrics.skill import people_with_skill
from chaos_utils.plots.columns import DATASET
from chaos_utils.recorded import cached_analysis, derived_table
from chaos_utils.report.columns import MISSING, Column, Row, with_ends
from chaos_utils.report.literal import in_markdown
from chaos_utils.scoring.annotators import (
    agreement_over_people,
    agreement_with_rest,
    annotations_of,
    near_chance,
    votes_kept,
)
from chaos_utils.scoring.recalibration import are_labels
from chaos_utils.scoring.system import System
from chaos_utils.scoring.training_records import Run, committed_runs, kind_of, ordered
from chaos_utils.scoring.worth import people_in_words

Booleans = npt.NDArray[np.bool_]

READS = ("votes",)
ALL, SAME, OTHER = "all", "same language", "another language"  # parts of the items
CLEAR, SPLIT = "where others agree", "where others are split"  # parts of the votes
_AGREE = 0.8  # share of the others' votes that are for one label, or more
EVERYONE, WITHOUT = "everyone", "without those near chance"
BY_LABEL, ON_SCALE = "labels", "scale"
FEWEST_IN_GROUP = 8  # people of a group
FEWEST_IN_STRATUM = 5  # people of a group in each part of the data, if there are several
_FEWEST_SHOWN = 10  # people of a crowd
_FEWEST_ITEMS = 100  # with two votes of a group, where a model is judged by it
_GROUPS = "what annotators are"  # as a dataset's part
_LEAST_CHANGE = 0.01  # of how often two people differ
_AGES = (30, 45, 60)  # years at which ages are cut
_MODEL_KEYS = ("system", "field", "group")
_REPEATED = ("same", "two", "ratio", "settled")


def persons_inputs(data: str, inputs: AnalysisInputs) -> AnalysisInputs:
    """Return all datasets whose annotators are named, or the reader's own votes.

    `inputs` are what `data` holds.
    """
    if data in ("auto", "released"):
        inputs = gather(data, [], datasets=[dataset.name for dataset in bundled_datasets()])
    return inputs.with_part("annotators")


def strata(votes: Votes) -> Ints:
    """Return the stratum of each item: parts of the data that no annotator crosses.

    These are the values of items' fields, such as languages, if each annotator judged items of one
    value alone; one stratum, from 0, if there is no such field.
    """
    annotations = annotations_of(votes)
    columns = [np.zeros(len(votes), dtype=np.int64)]
    for values in votes.fields.values():
        codes = np.unique(values, return_inverse=True)[1]
        first = np.zeros(int(annotations.annotator.max()) + 1, dtype=np.int64)
        first[annotations.annotator] = codes[annotations.item]
        if (first[annotations.annotator] == codes[annotations.item]).all():
            columns.append(codes)
    return np.unique(np.column_stack(columns), axis=0, return_inverse=True)[1].ravel()


def vote_repeatedly(votes: Votes) -> bool:
    """Whether somebody gave an item several votes in one round, as where several labels count."""
    annotations = votes.annotations
    assert annotations is not None
    columns = [annotations.item, annotations.annotator]
    columns += [] if annotations.round is None else [annotations.round]
    return len(np.unique(np.column_stack(columns), axis=0)) < len(annotations.item)


def _errors(name: str, value: TwoWay, low: float = -np.inf, high: float = 1.0) -> dict[str, float]:
    """Return a value and the ends of its interval, as columns."""
    ends = value.interval(low, high)
    return {name: value.value, f"{name}_low": ends[0], f"{name}_high": ends[1]}


# The same person again


@cached_analysis(keys=("dataset", "part", "quantity"), needs="rounds")
def again(votes: Votes) -> pd.DataFrame:
    """Say how often the same person, and how often two people, differ between two rounds.

    One row for each ``part`` of the items and each ``quantity`` of `metrics.persons.repeats`, with
    a 95% interval, ``low`` to ``high``, over items and people. Parts are all items and, where a
    field of the items says in which language each round was, those with the same language and with
    another; ``n_items`` were judged again, by ``n_people``. Two more parts are of a person's votes
    on an item: where four in five of the other people's votes, of all rounds, are for one label,
    and where fewer are. How often two people differ there repeats the choice, and has no row.
    Without rows where nobody labelled an item twice, or somebody twice in one round.
    """
    annotations = votes.annotations
    assert annotations is not None
    records = []
    for part, is_part in () if vote_repeatedly(votes) else _parts(votes):
        if not is_part.any():
            continue
        kept = annotations.take(is_part)
        assert kept.round is not None
        found = repeats(kept.item, kept.annotator, kept.label, kept.round, votes.dataset.n_classes)
        is_again = ~kept.is_first
        numbers = [len(np.unique(of[is_again])) for of in (kept.item, kept.annotator)]
        for quantity in _REPEATED[:1] if part in (CLEAR, SPLIT) else _REPEATED:
            if quantity in found and not np.isnan(found[quantity].value):
                error = found[quantity]
                low, high = error.interval(0, np.inf if quantity == "ratio" else 1)
                records.append((part, quantity, error.value, low, high, *numbers))
    columns = ["part", "quantity", "value", "low", "high", "n_items", "n_people"]
    return pd.DataFrame(records, columns=columns)


def _parts(votes: Votes) -> Iterator[tuple[str, Booleans]]:
    """Yield parts of the votes of all rounds, with a mask each.

    They are by the languages of two rounds, by how far the other people agree, and all votes.
    """
    annotations = votes.annotations
    assert annotations is not None
    for values in votes.fields.values():
        pairs = [re.fullmatch(r"([a-z]{2})-([a-z]{2})", value) for value in values]
        same = np.array([bool(pair and pair[1] == pair[2]) for pair in pairs])
        if all(pairs) and same.any() and not same.all():
            yield SAME, same[annotations.item]
            yield OTHER, ~same[annotations.item]
    yield ALL, np.ones(len(annotations.item), dtype=bool)
    labels = np.eye(votes.dataset.n_classes)[annotations.label]
    cells = np.column_stack([annotations.item, annotations.annotator])
    own_cells, cell = np.unique(cells, axis=0, return_inverse=True)
    own = group_sums(labels, cell.ravel(), len(own_cells))[cell.ravel()]
    others = group_sums(labels, annotations.item, len(votes))[annotations.item] - own
    agree = others.max(axis=1) >= _AGREE * np.maximum(others.sum(axis=1), 1)
    yield CLEAR, agree
    yield SPLIT, ~agree


# Persons


@cached_analysis(keys=("dataset", "people", "by"), needs="annotators")
def shares(votes: Votes) -> pd.DataFrame:
    """Say which shares of a vote's variance come from the text, from the person, and from neither.

    * ``people``: everyone, or without those near chance (`scoring.annotators.near_chance`), where
      there are any; the latter look too good, since they were chosen by these votes;
    * ``by``: ``labels``, or the labels' values on a ``scale``, where they are ordered numbers;
    * ``two_differ``: the chance that two people differ on an item; the mean over items;
    * ``text``, ``person``, ``rest``: shares of the variance, as in `metrics.persons`. Where people
      were asked in rounds, ``opinion`` and ``again`` make up the rest;
    * ``n_left_out`` people are near chance, ``largest_near`` is their largest agreement beyond
      chance, ``smallest_kept`` the smallest of others with as many votes.

    With 95% intervals over items and people. People are compared within parts of the data that
    nobody crosses, such as languages.
    """
    annotations, first = votes.annotations, annotations_of(votes)
    assert annotations is not None
    with_rest = agreement_with_rest(votes)
    found = near_chance(with_rest)
    near = np.flatnonzero(found.is_near)
    about = {
        "n_left_out": len(near),
        "largest_near": max(with_rest.corrected[near], default=np.nan),
        "smallest_kept": min(with_rest.corrected[found.is_judged & ~found.is_near], default=np.nan),
    }
    stratum = strata(votes)
    records = []
    for people, left_out in ((EVERYONE, near[:0]), (WITHOUT, near)):
        if people == WITHOUT and not len(near):
            continue
        kept = ~np.isin(annotations.annotator, left_out)
        row = about | {"people": people}
        row |= {"n_people": len(np.unique(annotations.annotator[kept]))}
        row |= {"n_items": len(np.unique(annotations.item[kept]))}
        row |= _errors("two_differ", _two_differ(votes, ~np.isin(first.annotator, left_out)), 0)
        for by, scale in _scales(votes.dataset):
            item, annotator, label = (
                of[kept] for of in (annotations.item, annotations.annotator, annotations.label)
            )
            parts = variance_shares(
                item, annotator, label, votes.dataset.n_classes, scale=scale, stratum=stratum[item]
            )
            has_rounds = annotations.round is not None
            for name in SHARES[1:]:
                if has_rounds or name not in ("opinion", "again"):
                    row |= _errors(name, parts[name])
                else:
                    row |= dict.fromkeys((name, f"{name}_low", f"{name}_high"), np.nan)
            records.append(row | {"by": by})
    return pd.DataFrame(records)


def _two_differ(votes: Votes, is_kept: Booleans) -> TwoWay:
    """Return the chance that two people differ, by the votes that a mask keeps."""
    return agreement_over_people(votes_kept(votes, is_kept))["disagreement"]


def _scales(dataset: Dataset) -> Iterator[tuple[str, list[float] | None]]:
    """Yield how labels are compared: as labels, and as values where they are ordered numbers."""
    yield BY_LABEL, None
    names = [label.name for label in dataset.classes]
    if dataset.ordered and all(re.fullmatch(r"-?\d+", name) for name in names):
        yield ON_SCALE, list(map(float, names))


def shown_shares(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `shares` that a page shows, persons' largest shares first.

    Left out are crowds too small to speak for others, and people left out who change little.
    """
    enough = rows[rows["n_people"] >= _FEWEST_SHOWN]
    of_everyone = enough["dataset"].map(
        rows[rows["people"] == EVERYONE]
        .drop_duplicates("dataset")
        .set_index("dataset")["two_differ"]
    )
    changed = (enough["two_differ"] - of_everyone).abs() > _LEAST_CHANGE
    shown = enough[(enough["people"] == EVERYONE) | changed]
    return (shown if len(shown) else rows).sort_values("person", ascending=False)


# Groups


def groupings(votes: Votes) -> Iterator[tuple[str, npt.NDArray[np.str_], Booleans]]:
    """Yield what annotators are: a field, the group of each vote, and whether the vote counts.

    Ages are cut into groups. Groups of fewer than `FEWEST_IN_GROUP` people are left out, and those
    of fewer than `FEWEST_IN_STRATUM` within a part of the data; so are parts with one group, and
    groups without `metrics.groups.FEWEST_PAIRS` pairs of votes, within them and with another.
    """
    annotations = annotations_of(votes)
    stratum = strata(votes)[annotations.item]
    fewest = FEWEST_IN_STRATUM if stratum.any() else FEWEST_IN_GROUP
    for name, values in annotations.fields.items():
        group = np.array(_groups_of(name, values))[annotations.annotator]
        columns = {"group": group, "stratum": stratum, "person": annotations.annotator}
        rows = pd.DataFrame(columns | {"item": annotations.item})
        rows = rows[rows["group"] != ""]
        for keys, least in ((["group", "stratum"], fewest), (["group"], FEWEST_IN_GROUP)):
            rows = rows[rows.groupby(keys)["person"].transform("nunique") >= least]
        rows = rows[rows.groupby("stratum")["group"].transform("nunique") > 1]
        while len(rows) and not (has_pairs := _have_pairs(rows)).all():
            rows = rows[has_pairs]
        yield name, group, np.isin(np.arange(len(group)), rows.index)


def _have_pairs(rows: pd.DataFrame) -> Booleans:
    """Return whether the group of each vote has enough pairs, within and with another group."""
    counts = pd.crosstab(rows["item"], rows["group"])
    pairs = counts.to_numpy().T @ counts.to_numpy()
    within = (np.diag(pairs) - counts.sum().to_numpy()) / 2
    with_another = np.where(np.eye(len(pairs), dtype=bool), 0, pairs).max(axis=1)
    enough = (within >= FEWEST_PAIRS) & (with_another >= FEWEST_PAIRS)
    return enough[counts.columns.get_indexer(rows["group"])]


def _groups_of(name: str, values: tuple[str, ...]) -> list[str]:
    """Return a group for each value: ages by decades of life, other fields as they are."""
    numbers = [re.search(r"\d+", value) for value in values]
    is_known = [bool(value) for value in values]
    is_age = "age" in re.split(r"[^a-z]+", name.lower())
    if not is_age or not all(np.array(numbers, dtype=bool)[is_known]):
        return list(values)
    ages = [int(found[0]) if found else None for found in numbers]
    return ["" if age is None else str(np.searchsorted(_AGES, age, "right")) for age in ages]


@cached_analysis(keys=("dataset", "field"), needs=_GROUPS)
def groups(votes: Votes, *, n_shuffles: int, seed: int) -> pd.DataFrame:
    """Say which part of two people's disagreement lies between groups of people.

    One row for each ``field`` that says what annotators are. ``n_groups`` groups are compared, of
    ``n_people`` people; ``n_left_out`` people are in too small a group, or in none. ``same`` and
    ``other`` are the chances that two people of one group and of two groups differ; ``share``, with
    a 95% interval over items and people, is the part of the disagreement that lies between groups,
    with ``error`` and ``degrees`` of freedom, and ``p`` says how often people shuffled between
    groups have as large a part. See `metrics.groups`. No rows where somebody has several votes on
    an item in one round.
    """
    annotations, stratum = annotations_of(votes), strata(votes)
    records: list[dict[str, Any]] = []
    for name, group, is_kept in () if vote_repeatedly(votes) else groupings(votes):
        n_groups = len(np.unique(group[is_kept]))
        row: dict[str, Any] = {"field": name, "n_groups": n_groups}
        n_people = len(np.unique(annotations.annotator[is_kept]))
        n_all = len(np.unique(annotations.annotator))
        row |= {"n_people": n_people, "n_left_out": n_all - n_people}
        if n_groups > 1:
            kept = annotations.take(is_kept)
            of_people = np.unique(group[is_kept], return_inverse=True)[1]
            arguments = (kept.item, kept.annotator, kept.label, of_people, votes.dataset.n_classes)
            within = stratum[kept.item]
            found = group_difference(*arguments, stratum=within)
            row |= {"same": found.same, "other": found.other} | _errors("share", found.share)
            row |= {"error": found.share.error, "degrees": found.share.degrees}
            rng = np.random.default_rng([seed, len(records)])
            row["p"] = shuffled_groups_p(*arguments, n_shuffles=n_shuffles, rng=rng, stratum=within)
        records.append(row)
    columns = ["field", "n_groups", "n_people", "n_left_out", "same", "other", "share"]
    columns += ["share_low", "share_high", "error", "degrees", "p"]
    return pd.DataFrame(records, columns=columns)


@derived_table(keys=("dataset", "field"))
def jointly(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `groups`, with what holds for all of them at once.

    ``p_holm`` is p adjusted by Holm; ``joint_high`` is the upper end of an interval by Bonferroni,
    so that all intervals hold at once with 95%.
    """
    from scipy.special import stdtrit  # slow to import

    if not len(table):
        return table
    tested = table["p"].notna()
    table = table.assign(p_holm=np.nan, joint_high=np.nan)
    if tested.any():
        rows = table[tested]
        factor = stdtrit(rows["degrees"], 1 - 0.025 / len(rows))
        table.loc[tested, "p_holm"] = holm(rows["p"])
        table.loc[tested, "joint_high"] = rows["share"] + factor * rows["error"]
    return table


# A model, in each group


def runs_in_groups(inputs: AnalysisInputs) -> list[Run]:
    """Return the project's own runs that learnt, out of fold, votes of people who are something."""
    names = {dataset.name for part in inputs if part.has(_GROUPS) for dataset in part.datasets}
    runs = [run for run in ordered(committed_runs()) if kind_of(run) == "votes"]
    return [run for run in runs if names & run.record.data.trained_on.keys()]


@cached_analysis(keys=("dataset", "system", "field", "group"), needs=_GROUPS)
def models(votes: Votes, systems: Sequence[System], *, runs: Sequence[Run] = ()) -> pd.DataFrame:
    """Say what systems, and `runs` out of fold, are worth as predictions of each group of people.

    One row for each group of `groupings`, of ``n_people`` people, on the ``n_items`` items that the
    system predicts and on which two of them voted, ``n_votes`` each on average. Systems that give
    one label per item are left out. See `metrics.groups.skill_in_group`, whose statistics have 95%
    intervals over items and people. ``people`` is what a ``skill`` is worth, and its ends are those
    of the skill. ``p`` is that of the ``gap`` from everybody else, and ``p_holm`` is adjusted for
    all groups of the system. Without values, and with ``few``, below `_FEWEST_ITEMS` items, or
    where the votes do not show that the group's answers differ between items. No rows where
    somebody has several votes on an item in one round.
    """
    predicted = [run.predictions_on(votes) for run in runs]
    own = {system.name for system in systems}
    systems = [*systems, *(one for one in predicted if one is not None and one.name not in own)]
    annotations = annotations_of(votes)
    tables = [pd.DataFrame(columns=_MODEL_KEYS)]
    for system in () if vote_repeatedly(votes) else systems:
        model = np.full(votes.counts.shape, np.nan)
        covered = system.rows_in(votes)
        model[covered] = system.aligned_to(votes).model
        if are_labels(model[covered]):  # which compare with people only once recalibrated
            continue
        is_covered = np.isin(annotations.item, covered)
        rows = []
        for field, group, is_kept in groupings(votes):
            is_known = (group != "") & is_covered
            part = annotations.take(is_known)
            for name in np.unique(group[is_kept]):
                row = {"system": system.name, "field": field, "group": _group_name(field, name)}
                rows.append(row | _model_row(part, group[is_known] == name, model))
        table = pd.DataFrame(rows)
        tables.append(table.assign(p_holm=holm(table["p"])) if len(table) else table)
    return pd.concat(tables, ignore_index=True)


def _model_row(annotations: Annotations, is_member: Booleans, model: Floats) -> dict[str, Any]:
    """Return the columns of `models` for one group, from its votes and those of everybody else."""
    from scipy.special import stdtr  # slow to import

    item = annotations.item
    sizes = np.bincount(item[is_member])
    row: dict[str, Any] = {
        "n_people": len(np.unique(annotations.annotator[is_member])),
        "n_items": int((sizes > 1).sum()),
        "n_votes": float(sizes[sizes > 1].mean()) if (sizes > 1).any() else np.nan,
    }
    found: Mapping[str, TwoWay] = {}
    if row["n_items"] >= _FEWEST_ITEMS:
        found = skill_in_group(item, annotations.annotator, annotations.label, is_member, model)
        if not found["base_rate"].interval(-np.inf, np.inf)[0] > 0:
            found = {}
    for name in ("skill", "two_differ", "gap"):
        ends = dict.fromkeys((name, f"{name}_low", f"{name}_high"), np.nan)
        row |= _errors(name, found[name]) if found else ends
    for end in ("", "_low", "_high"):
        row[f"people{end}"] = np.nan
        if found:
            credibility = found["two_differ"].value / found["base_rate"].value
            row[f"people{end}"] = people_with_skill(row[f"skill{end}"], credibility)
    gap = found.get("gap")
    row["p"] = 2 * float(stdtr(gap.degrees, -abs(gap.value) / gap.error)) if gap else np.nan
    return row | {"few": not found}


def _group_name(field: str, group: str) -> str:
    """Return a group's name as a page shows it: of ages by `_groups_of`, their range."""
    is_age = "age" in re.split(r"[^a-z]+", field.lower()) and group in map(str, range(4))
    if not is_age:
        return group
    ends = (0, *_AGES, 0)
    low, high = ends[int(group)], ends[int(group) + 1]
    return f"from {low}" if not high else f"{low} to {high - 1}" if low else f"below {high}"


_BY_SHOWN = {BY_LABEL: "", ON_SCALE: ", by value"}


def _crowd_name(row: Row) -> str:
    """Return the name of a crowd in `shares`."""
    left_out = "" if row["people"] == EVERYONE else f" without {row['n_left_out']:.0f}"
    return f"{short_of(row['dataset'])}{left_out}{_BY_SHOWN[row['by']]}"


SHARES_COLUMNS = [
    Column("crowd", _crowd_name),
    with_ends("text, %", "text", 0, percent=True, group="of a vote’s variance"),
    with_ends("person, %", "person", 0, percent=True, group="of a vote’s variance"),
    with_ends("rest, %", "rest", 0, percent=True, group="of a vote’s variance"),
    with_ends("two people differ, %", "two_differ", 1, percent=True),
    Column("people", "n_people", 0),
]
GROUPS_COLUMNS = [
    DATASET,
    Column("grouped by", "field", names=lambda name: str(name).lower()),
    with_ends("between groups, %", "share", 1, percent=True),
    Column("p, Holm", "p_holm", 2),
    Column("same group, %", "same", 1, percent=True, group="two people differ"),
    Column("two groups, %", "other", 1, percent=True, group="two people differ"),
    Column("groups", "n_groups", 0),
    Column("people", "n_people", 0),
]
MODEL_COLUMNS = [
    Column("grouped by", "field", names=lambda name: str(name).lower()),
    Column("group", lambda row: in_markdown(row["group"])),
    with_ends("skill", "skill", 2),
    Column("worth in its people", lambda row: _worth_text(row)),
    with_ends("more than elsewhere", "gap", 2),
    Column("p, Holm", "p_holm", 2),
    Column("people", "n_people", 0),
    Column("votes per item", "n_votes", 1),
]


def model_columns(rows: pd.DataFrame) -> list[Column]:
    """Return how `models` are shown by field, with dataset and system where there are several."""
    field, *others = MODEL_COLUMNS
    names = (DATASET, Column("system", "system"))
    return [field, *(name for name in names if rows[str(name.value)].nunique() > 1), *others]


def _worth_text(row: Row) -> str:
    """Return a worth in people with its interval, or a dash where the votes are too few for one."""
    if row["few"]:
        return MISSING
    low, high = (people_in_words(row[end]) for end in ("people_low", "people_high"))
    return f"{people_in_words(row['people'])} [{low}, {high}]"
