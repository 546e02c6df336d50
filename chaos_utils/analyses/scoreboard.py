"""The scoreboard: every system in one unit, with the places that it may have among all of them.

Systems are ordered by their worth once they are recalibrated on other items' votes. By this order a
language model's label and a model's probabilities compare; as they are, they would not. Places are
sets that hold for all systems at once, since a single place claims more than the items can show.
"""

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from chaos_utils.analyses.fitting import ALL as ALL_SYSTEMS
from chaos_utils.analyses.fitting import (
    ALL_BUT,
    CommonItems,
    common_items,
    fit_recipe,
    stacks,
)
from chaos_utils.analyses.fitting import variants as variant_runs
from chaos_utils.analyses.machine_crowds import Crowd, judges_on, pooled_logs
from chaos_utils.base.errors import counted
from chaos_utils.base.table import in_order_of
from chaos_utils.datasets.auxiliary_data import JUDGES, AuxiliaryData, judges_file
from chaos_utils.datasets.catalogue import short_of
from chaos_utils.datasets.splits import has_several_groups
from chaos_utils.datasets.votes import Ints, Votes
from chaos_utils.metrics.divergence import Floats
from chaos_utils.metrics.ranks import rank_sets
from chaos_utils.plots.systems import SYSTEM_NAMES, language_model_name
from chaos_utils.recorded import cached_analysis, derived_table
from chaos_utils.report.columns import MISSING, Column, Row, number, with_ends
from chaos_utils.report.tables import Alone
from chaos_utils.scoring.evaluate import MOST_ITEMS, at_most, guesses, part_of, references
from chaos_utils.scoring.human_equivalents import refusal
from chaos_utils.scoring.places import COVERAGE, RANKINGS, Pool, distances, has_places, ranked
from chaos_utils.scoring.recalibration import too_few_to_recalibrate
from chaos_utils.scoring.references import PERFECT_MODEL, SECOND_CROWD, References
from chaos_utils.scoring.scores import available, score, wide
from chaos_utils.scoring.system import Origin, System, check_names, votes_of
from chaos_utils.scoring.systems import computed, load_systems
from chaos_utils.scoring.training_records import Run
from chaos_utils.scoring.worth import (
    PEOPLE,
    PEOPLE_RECALIBRATED,
    PEOPLE_SHRUNK,
    Estimate,
    Worth,
    worth,
)

ALL = "all"  # the pool of the systems that cover the whole dataset
MEASURES = ("dist_ce", "jsd", "new_accuracy", "kl")
MODEL, LANGUAGE_MODEL, STACK, GUESS, OF_PEOPLE, PERFECT = (
    "model", "language model", "stack", "guess", "people", "reference"
)  # fmt: skip
POOLED, WITH_LLMS = "language models, pooled", "all systems + language models"
_FEW_PEOPLE = (5, 10)
_STACKED: tuple[Origin, ...] = ("released", "trained", "yours")
_JUDGES_PAPER = "li2026"
_AS_IT_IS, _ALONE = "as_it_is_", "no_votes_"  # prefixes of places
_PLACES = ("place_best", "place_worst", "place_margin", "n_placed")
_WORTHS = (PEOPLE_RECALIBRATED, PEOPLE, PEOPLE_SHRUNK)
_BY_DEFINITION = (PEOPLE_RECALIBRATED, PEOPLE_SHRUNK)  # k for k people
_ABOUT = ("kind", "origin", "asked", "votes_used", "may_have_seen", "grade", "date", "link")
_COLUMNS = [
    "pool", "system", "family", "n_items", *_ABOUT,
    *(f"{name}{end}" for name in _WORTHS for end in ("", "_low", "_high")), "shrinkage",
    *(f"{among}{how}{end}" for among in ("", _ALONE) for how in ("", _AS_IT_IS) for end in _PLACES),
    *(f"{name}{end}" for name in MEASURES for end in ("", "_low", "_high")),
]  # fmt: skip

# A system that is ranked, and what the scoreboard says of it beside its scores.
_Entry = tuple[System, dict[str, object]]


@cached_analysis(keys=("dataset", "pool", "system"))
def scoreboard(
    votes: Votes,
    systems: Sequence[System],
    *,
    variants: Sequence[Run] = (),
    judges: AuxiliaryData = JUDGES,
    n_resamples: int,
    seed: int,
) -> pd.DataFrame:
    """Rank all systems of a dataset by what they are worth in people, beside people.

    The pool ``all`` holds the systems that cover 95% of the dataset's items. Systems on fewer items
    have pools of their own, named by the number of items, in which all others are scored again, on
    the same items; so have the language models, unless the `judges` are not available. A pool holds
    guesses, the `systems`, the `variants`, stacks of all systems by the recipe of
    `analyses.fitting`, fitted for KL, and people. Its rows are sorted by worth, recalibrated,
    highest first; where items are too few for a map, by worth, shrunk, without places.

    * ``kind``: model, language model, stack, guess, people or reference; ``asked``: what a system
      gives (probabilities, samples, label), or how it was asked, as `System` has it;
      ``votes_used``: whether it was fitted on other items' votes; ``may_have_seen`` the items: no,
      possible or yes; ``grade``: ``run here``, or ``recomputed`` from released predictions;
      ``date``: of a submission, or the year of its paper, if any; ``link``: of a submission;
    * the estimates of `scoring.worth` with ``_low`` and ``_high``; as it is, one label has none.
      For *k* people they are *k* by definition, and as they are, without the base rate, k − k₀;
    * ``place_best``, ``place_worst``: the places, recalibrated, that a system may have among the
      ``n_placed`` that are ranked, for all of these at once; ``place_margin`` says how safe that
      is: see `metrics.ranks.rank_sets`. ``as_it_is_place_best`` and so on: the same as it is;
      ``no_votes_…``: the same among the systems alone that were not fitted on other items' votes;
    * ``dist_ce`` (the share of votes that are misplaced), ``jsd``, ``new_accuracy`` and ``kl``. One
      label per item has no JSD and no KL.

    Systems that have seen the votes themselves are left out. Empty where an item has a single vote.
    """
    if votes.n_votes.min() < 2:
        return pd.DataFrame(columns=_COLUMNS)
    field = _field_on(votes, systems, variants, judges)
    tables = []
    for name, items in _pools(votes, field.systems, field.crowd).items():
        part = part_of(votes, items)
        table = _ranked(part, _entries(votes, part, items, field), n_resamples, seed)
        tables.append(table.assign(pool=name))
    return pd.concat(tables, ignore_index=True)[_COLUMNS]


def has_pools(votes: Votes) -> bool:
    """Return whether another system can be placed: by released votes, on enough items."""
    return votes.is_released and int(votes.n_votes.min()) >= 2 and has_places(votes)


def pools(votes: Votes, systems: Sequence[System] | None = None) -> list[Pool]:
    """Return the pools of the scoreboard on a dataset, in which another system can be placed.

    They hold what `scoreboard` ranks: the `systems`, by default all that are available, submitted
    ones among them. There are none unless `has_pools`.
    """
    if not has_pools(votes):
        return []
    systems = load_systems(votes, submitted=True) if systems is None else systems
    field = _field_on(votes, systems, variant_runs(), JUDGES)
    found = []
    for name, items in _pools(votes, field.systems, field.crowd).items():
        part = part_of(votes, items)
        entries = _entries(votes, part, items, field)
        members = [system for system, _ in entries]
        worths = [worth(part, system, n_resamples=0) for system in members]
        about = [_in_page(entry) for _, entry in entries]
        found.append(Pool(name, part, members, worths, about))
    return [pool for pool in found if has_places(pool.votes)]


def _in_page(about: Row) -> dict[str, object]:
    """Return what a page says of a system: its name and how it was asked."""
    return {"name": SYSTEM_NAMES.get(about["system"], about["system"]), "how": _how(about)}


def places_beside(
    votes: Votes,
    system: System,
    others: Sequence[System],
    *,
    variants: Sequence[Run] = (),
    judges: AuxiliaryData = JUDGES,
    seed: int = 0,
) -> pd.DataFrame:
    """Return the places of all systems on the items of one of them, with and without that one.

    Parameters
    ----------
    votes : Votes
        On all items of a dataset.
    system : System
        Covers 95% of the items of a pool of `scoreboard`, the largest of which is taken.
    others : sequence of System
        The other systems of the `scoreboard`.
    variants, judges, seed
        As for `scoreboard`.

    Returns
    -------
    DataFrame
        ``system``, ``people_on_top_recalibrated``, ``place_best``, ``place_worst`` and
        ``n_placed``, and the last three with ``without_`` before them; highest worth first. Empty
        where items are too few for a map.
    """
    field = _field_on(votes, [*others, system], variants, judges)
    pools = _pools(votes, field.systems, field.crowd).values()
    items = next(items for items in pools if _covers(system.rows_in(votes), items))
    part = part_of(votes, items)
    if too_few_to_recalibrate(len(part), part.dataset.n_classes):
        return pd.DataFrame()
    systems = [entrant for entrant, _ in _entries(votes, part, items, field)]
    worths = [worth(part, entrant, n_resamples=0, seed=seed) for entrant in systems]
    values = [result.estimates[PEOPLE_RECALIBRATED].value for result in worths]
    names = [entrant.name for entrant in systems]
    table = pd.DataFrame({"system": names, PEOPLE_RECALIBRATED: values})
    table = table.join(_places(part, systems, worths, PEOPLE_RECALIBRATED, seed))
    rest = [k for k, name in enumerate(names) if name != system.name]
    without = _places(
        part, [systems[k] for k in rest], [worths[k] for k in rest], PEOPLE_RECALIBRATED, seed
    )
    without.index = pd.Index(rest)
    return table.join(without.add_prefix("without_")).sort_values(
        PEOPLE_RECALIBRATED, ascending=False, kind="stable", ignore_index=True
    )


@dataclass(frozen=True)
class _Field:
    """All systems that may be ranked, the names of those in no stack of others, and a crowd."""

    systems: list[System]
    alone: set[str]
    crowd: Crowd | None


def _field_on(
    votes: Votes, systems: Sequence[System], variants: Sequence[Run], judges: AuxiliaryData
) -> _Field:
    names = {system.name for system in systems}  # a reader may have repeated one of the runs
    runs = [run.predictions_on(votes) for run in variants if votes.is_released]
    variant_systems = [run for run in runs if run and run.name not in names]
    all_systems = [one for one in (*systems, *variant_systems) if not refusal(votes, one)]
    is_judged = votes.is_released and judges.available and judges_file(votes.dataset)
    crowd = judges_on(votes, judges) if is_judged else None
    return _Field(all_systems, {run.name for run in variant_systems}, crowd)


def _entries(votes: Votes, part: Votes, items: Ints, field: _Field) -> list[_Entry]:
    """Return all that is ranked on a part of the votes."""
    covering = [system for system in field.systems if _covers(system.rows_in(votes), items)]
    crowd = field.crowd if field.crowd and field.crowd.votes.uids == part.uids else None
    entries: list[_Entry] = [
        *(_entry(guess, kind=GUESS, asked="") for guess in guesses(part)),
        *map(_entry, covering),
        *(_language_models(crowd) if crowd else ()),
        *_stacks(part, covering, field.alone, crowd),
    ]
    check_names([system for system, _ in entries])
    return entries


def _covers(rows: Ints, items: Ints) -> bool:
    return len(np.intersect1d(rows, items)) >= COVERAGE * len(items)


def _pools(votes: Votes, systems: Sequence[System], crowd: Crowd | None) -> dict[str, Ints]:
    """Return by name the items of each pool: all, those of the crowd, and those of other systems.

    A system brings its own items only if it covers no pool of more.
    """
    item_sets = [np.arange(len(votes))]
    if crowd:
        item_sets.append(np.array([votes.index(uid) for uid in crowd.votes.uids]))
    for system in sorted(systems, key=len, reverse=True):
        rows = system.rows_in(votes)
        if len(rows) and not any(_covers(rows, items) for items in item_sets):
            item_sets.append(rows)
    pools = {ALL: item_sets[0]}
    for items in item_sets[1:]:
        name = counted(len(items), "item")
        n_alike = sum(other.partition(", ")[0] == name for other in pools)
        pools[f"{name}, set {n_alike + 1}" if n_alike else name] = items
    return pools


def _language_models(crowd: Crowd) -> Iterable[_Entry]:
    """Yield each language model's labels, and their pooled votes."""
    about = {"kind": LANGUAGE_MODEL, "may_have_seen": "possible"}
    for member, shares in zip(crowd.members, crowd.one_hot, strict=True):
        system = computed(member, crowd.votes, shares, origin="released")
        yield _entry(replace(system, one_label=True, paper=_JUDGES_PAPER), **about)
    pooled = computed(POOLED, crowd.votes, crowd.counts / crowd.n_members, origin="released")
    pooled = replace(pooled, n_answers=crowd.n_members, paper=_JUDGES_PAPER)
    yield _entry(pooled, **about | {"asked": f"{crowd.n_members} labels"})


def _stacks(
    part: Votes, systems: Sequence[System], alone: set[str], crowd: Crowd | None
) -> Iterable[_Entry]:
    """Yield the stacks of all systems but those `alone`, also with the language models.

    Submitted systems are in none, so that a stack is that of the other chapters.
    """
    stackable = [system for system in systems if system.origin in _STACKED]
    if not stackable or not has_several_groups(part):
        return
    items = common_items(part, stackable)
    if len(items.votes) < COVERAGE * len(part):
        return
    for name, indices in stacks(items.systems, alone).items():
        if name.startswith((ALL_SYSTEMS, ALL_BUT)):
            yield _stack(name, items, items.inputs(indices), [items.systems[k] for k in indices])
            if crowd and name == ALL_SYSTEMS:
                logs = np.concatenate(
                    [items.inputs(indices), pooled_logs(crowd, items.votes)], axis=1
                )
                system, about = _stack(WITH_LLMS, items, logs, items.systems)
                yield system, about | {"may_have_seen": "possible"}


def _stack(name: str, items: CommonItems, logs: Floats, systems: Sequence[System]) -> _Entry:
    system = replace(
        fit_recipe(f"{name}, stacked", items, logs, "kl"),
        trained_on=(votes_of(items.votes.dataset),),
        out_of_fold=True,
    )
    seen = any(system.caution for system in systems)
    return _entry(system, kind=STACK, may_have_seen="possible" if seen else "no")


def _entry(system: System, **about: object) -> _Entry:
    """Return a system with what the scoreboard says of it: by its own fields, unless stated."""
    is_ours = system.origin in ("trained", "baseline", "simulated")
    sampled = system.n_answers or bool(system.n_samples)
    by_default = "samples" if sampled else "probabilities"
    by_fields = {
        "system": system.name,
        "family": system.family,
        "kind": MODEL,
        "origin": system.origin,
        "asked": "label" if system.one_label else system.asked or by_default,
        "votes_used": votes_of(system.dataset) in system.trained_on,
        "may_have_seen": system.may_have_seen or ("possible" if system.caution else "no"),
        "grade": "run here" if is_ours else "recomputed",
        "date": system.date or system.paper[-4:],
        "link": system.link,
    }
    return system, by_fields | about


def _ranked(part: Votes, entries: Sequence[_Entry], n_resamples: int, seed: int) -> pd.DataFrame:
    """Return the rows of a pool, sorted by worth: recalibrated, or with too few items shrunk."""
    systems = [system for system, _ in entries]
    worths = [worth(part, system, n_resamples=n_resamples, seed=seed) for system in systems]
    by = PEOPLE_RECALIBRATED
    if too_few_to_recalibrate(len(part), part.dataset.n_classes):
        by = PEOPLE_SHRUNK
        worths = [_without(PEOPLE_RECALIBRATED, result) for result in worths]
    rows = [
        about | _worth_columns(result) for (_, about), result in zip(entries, worths, strict=True)
    ]
    table = pd.DataFrame(rows)
    saw_no_votes = np.flatnonzero(~table["votes_used"])
    for among, chosen in (("", None), (_ALONE, saw_no_votes)):
        for how, name in (("", PEOPLE_RECALIBRATED), (_AS_IT_IS, PEOPLE)):
            places = _places(part, systems, worths, name, seed, chosen)
            table = table.join(places.add_prefix(f"{among}{how}"))
    measures = available(part, MEASURES)
    scores = score(part, systems, measures=measures, n_resamples=n_resamples, seed=seed)
    scores = wide(scores, "low", "high").set_index("system")
    values = [f"{name}{end}" for name in measures for end in ("", "_low", "_high")]
    table = table.join(scores[values], on="system")
    without = [name for name in values if name.startswith(("jsd", "kl"))]
    table.loc[[result.is_hard for result in worths], without] = np.nan
    people = _people(part, worths[0].credibility, measures, seed)
    table = pd.concat([table, people], ignore_index=True).reindex(columns=_COLUMNS)
    return table.sort_values(by, ascending=False, kind="stable")


def _without(name: str, result: Worth) -> Worth:
    """Return a worth without the estimate of this name."""
    by_item = {key: values for key, values in result.by_item.items() if key != name}
    return replace(result, estimates={**result.estimates, name: Estimate()}, by_item=by_item)


def _worth_columns(result: Worth) -> dict[str, object]:
    columns: dict[str, object] = {"n_items": result.n_items, "shrinkage": result.shrinkage}
    for name in _WORTHS:
        if name in result.shown:
            ends = zip(("", "_low", "_high"), astuple(result.shown[name]), strict=True)
            columns |= {f"{name}{end}": value for end, value in ends}
    return columns


def _places(
    part: Votes, systems: Sequence[System], worths: Sequence[Worth], name: str, seed: int,
    chosen: Iterable[int] | None = None,
) -> pd.DataFrame:  # fmt: skip
    """Return the places of systems by their distances, those of the estimate that is named.

    The places are among all systems, or among those alone whose indices are `chosen`.
    """
    among = range(len(systems)) if chosen is None else set(chosen)
    indices = [index for index in ranked(worths, name) if index in among]
    table = pd.DataFrame(index=range(len(systems)), columns=list(_PLACES), dtype=float)
    if indices:
        members, member_worths = [systems[k] for k in indices], [worths[k] for k in indices]
        by_item = distances(part, members, member_worths, name)
        rng = np.random.default_rng([seed, 23])
        sets = rank_sets(by_item, RANKINGS, rng, highest_first=False)
        n_ranked = np.full(len(indices), len(indices))
        table.loc[indices] = np.column_stack([sets.best, sets.worst, sets.margin, n_ranked])
    return table


def _people(part: Votes, credibility: float, measures: Sequence[str], seed: int) -> pd.DataFrame:
    """Return a few people, a second crowd and a perfect model, with the scores that they reach."""
    drawn = References(at_most(part, MOST_ITEMS, seed), seed=seed)
    known = {(row["system"], row["measure"]): row["value"] for row in references(part, measures)}
    rows = []
    sizes = {f"{n} people": n for n in _FEW_PEOPLE if n < drawn.n_votes}
    for name, n_people in (sizes | {SECOND_CROWD: drawn.n_votes, PERFECT_MODEL: np.inf}).items():
        row: dict[str, object] = {
            "system": name, "family": name, "kind": PERFECT if name == PERFECT_MODEL else OF_PEOPLE,
            "origin": "reference", "asked": "", "votes_used": False,
            "may_have_seen": "no", "grade": "run here", "date": "", "link": "",
            "n_items": len(part),
            PEOPLE: n_people - credibility,
            **dict.fromkeys(_BY_DEFINITION, n_people if np.isfinite(credibility) else np.nan),
        }  # fmt: skip
        for measure in measures:
            few = drawn.people(measure, int(n_people)) if name in sizes else None
            row[measure] = few.value if few else known.get((name, measure), np.nan)
        rows.append(row)
    return pd.DataFrame(rows)


# How they are shown


@derived_table(keys=("dataset", "pool", "system"))
def on_all_items(board: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `scoreboard` on whole datasets, with the ``heading`` of each."""
    return _with_headings(board[board["pool"] == ALL])


@derived_table(keys=("dataset", "pool", "system"))
def on_fewer_items(board: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `scoreboard` on parts of datasets, with the ``heading`` of each."""
    return _with_headings(board[board["pool"] != ALL])


def _with_headings(rows: pd.DataFrame) -> pd.DataFrame:
    pools = rows.groupby(["dataset", "pool"], sort=False)
    n_items = pools["n_items"].transform("max").map(number)
    names = rows["dataset"].map(short_of) + ", " + n_items + " items: "
    headings = {
        f"{among}heading": names
        + pools[f"{among}n_placed"]
        .transform("max")
        .map(lambda n: f"{number(n)} places" if n > 0 else "too few to rank")
        for among in ("", _ALONE)
    }
    return rows.assign(**headings)


def _name(row: Row) -> str:
    """Return the name of a system: a submitted one's is as it was given."""
    name = str(row["system"])
    return (
        language_model_name(name) if row["kind"] == LANGUAGE_MODEL else SYSTEM_NAMES.get(name, name)
    )


def _place(row: Row, prefix: str = "") -> str:
    """Return the places that a system may have, as ``3–6``; the prefix says which."""
    best, worst = (row[f"{prefix}place_{end}"] for end in ("best", "worst"))
    if not best > 0:
        return MISSING
    return number(best) if best == worst else f"{number(best)}–{number(worst)}"


def _worth_text(row: Row) -> str:
    """Return the worth with its interval: recalibrated or, with too few items for that, shrunk."""
    if row["kind"] in (OF_PEOPLE, PERFECT):
        return number(row[PEOPLE_RECALIBRATED])
    name = PEOPLE_RECALIBRATED if np.isfinite(row[PEOPLE_RECALIBRATED]) else PEOPLE_SHRUNK
    return str(with_ends(_WORTH, name, 1).cell(row))


def _as_it_is(row: Row, among: str = "") -> str:
    """Return the worth as it is, with the places; one label per item has none."""
    if row["asked"] == "label":
        return MISSING
    value, place = number(row[PEOPLE], 1), _place(row, f"{among}{_AS_IT_IS}")
    return value if place == MISSING else f"{value} ({place})"


def _how(row: Row) -> str:
    """Say how a system was asked, what it used, and who computed it."""
    says_more = row["asked"] not in ("", "probabilities", "encoder")
    marks = [row["kind"], *([row["asked"]] if says_more else [])]
    marks += ["other items’ votes"] if row["votes_used"] else []
    if row["kind"] in (OF_PEOPLE, PERFECT, GUESS):
        return ", ".join(marks)
    marks += [_SEEN[row["may_have_seen"]]] if row["may_have_seen"] in _SEEN else []
    marks += ["submitted"] if row["origin"] == "submitted" else []
    return ", ".join([*marks, row["grade"]])


_SEEN = {"possible": "may have seen the items", "yes": "has seen the items"}
_WORTH, _AS_IT_IS_HEADING = "worth in people ↑", "as it is (place) ↑"
COLUMNS = [
    Column("dataset", "heading"),
    Column("system", _name),
    Column("place ↓", _place),
    Column(_WORTH, _worth_text),
    Column(_AS_IT_IS_HEADING, _as_it_is),
    Column("misplaced of 100 ↓", "dist_ce", 0, percent=True),
    Column("JSD ↓", lambda row: MISSING if row["asked"] == "label" else number(row["jsd"], 3)),
    Column("accuracy, % ↑", "new_accuracy", 0, percent=True),
    Column("how asked", _how),
]
SAW_NO_VOTES = Alone(
    "Only systems not trained on votes",
    lambda row: not row["votes_used"],
    [
        Column("dataset", f"{_ALONE}heading"),
        Column("place ↓", partial(_place, prefix=_ALONE)),
        Column(_AS_IT_IS_HEADING, partial(_as_it_is, among=_ALONE)),
    ],
)


@derived_table(keys=("dataset", "group", "system", "how"))
def drawn(board: pd.DataFrame) -> pd.DataFrame:
    """Return the worths that the figure draws, in groups of systems.

    ``how`` is ``recalibrated`` or ``as it is``, ``value`` the worth. Language models, and what is
    stacked with them, are on the items that they labelled. ``is_best`` marks the best system of a
    dataset in each group of `_LABELLED`, recalibrated.
    """
    needs_llms = (board["kind"] == LANGUAGE_MODEL) | board["system"].str.startswith(WITH_LLMS)
    rows = board[(board["pool"] == ALL) | needs_llms]
    rows = rows.assign(
        group=[_group(row) for row in rows.to_dict("records")],
        label=[_name(row | {"system": row["family"]}) for row in rows.to_dict("records")],
    )
    keys = ["dataset", "group", "label", "system", "n_items"]
    names = {PEOPLE_RECALIBRATED: "recalibrated", PEOPLE: "as it is"}
    table = rows.melt(keys, list(names), "how", "value").replace({"how": names})
    table = table[np.isfinite(table["value"])]
    candidates = table[(table["how"] == "recalibrated") & table["group"].isin(_LABELLED)]
    best = candidates.groupby(["dataset", "group"])["value"].idxmax()
    table = table.assign(is_best=table.index.isin(best))
    table = table.sort_values("group", key=lambda group: group.map(GROUPS.index), kind="stable")
    return in_order_of(table, "dataset", board["dataset"].unique())


_OLD_VOTES = "original votes, old label"
_LABELLED = ("language models, one label", "models of 2020", "other models", _OLD_VOTES)
GROUPS = (
    "people", "stacks with language models", "stacks", "language models, pooled", *_LABELLED,
    "guesses",
)  # fmt: skip
FROM_OLD_VOTES = ("original votes", "old label", "mean vote given the old label")


def _group(row: Row) -> str:
    if row["kind"] == MODEL:
        return "models of 2020" if row["date"] == "2020" else "other models"
    if row["kind"] == LANGUAGE_MODEL:
        return (
            "language models, one label" if row["asked"] == "label" else "language models, pooled"
        )
    if row["system"].startswith(WITH_LLMS):
        return "stacks with language models"
    if row["system"] in FROM_OLD_VOTES:
        return _OLD_VOTES
    return {OF_PEOPLE: "people", PERFECT: "people", STACK: "stacks", GUESS: "guesses"}[row["kind"]]
