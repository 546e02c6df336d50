"""The one place where systems are evaluated, and set beside what a reader must compare them with.

`evaluate_systems` returns rows of the table of scores: measures, and what systems are worth in
people. `references` returns perfect model, second crowd and baselines on the same items. The API
and the analyses select from these; `evaluate_files` answers `chaos evaluate`. All rows are plain,
without pandas, which takes longer to import than a file takes to evaluate.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations, product
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np

from chaos_utils.base.errors import ChaosError, check_known, counted, did_you_mean
from chaos_utils.base.inputs import OWN
from chaos_utils.datasets.adaptive import refuse_adaptive
from chaos_utils.datasets.catalogue import are_own
from chaos_utils.datasets.votes import Ints, Votes
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.metrics.resampling import behind_holm, fewest_resamples, holm
from chaos_utils.metrics.skill import MARKS, skill_of_people
from chaos_utils.scoring import human_equivalents as people
from chaos_utils.scoring import worth as worths
from chaos_utils.scoring.copies import COPIED, copied_votes, warning
from chaos_utils.scoring.places import RANKED_BY, Pool, place
from chaos_utils.scoring.predictions import join, notes_on_missing, read_predictions
from chaos_utils.scoring.published import rank_among_published
from chaos_utils.scoring.recalibration import too_few_to_recalibrate
from chaos_utils.scoring.references import (
    PERFECT_MODEL,
    SECOND_CROWD,
    UNSETTLED,
    References,
    is_settled,
    known_rows,
)
from chaos_utils.scoring.scores import (
    ALL,
    COLUMNS,
    OF_LABELS,
    EvaluationRequest,
    ScoreRow,
    available,
    chosen_measures,
    metadata_columns,
    score_rows,
)
from chaos_utils.scoring.system import System, check_names, covering_alike
from chaos_utils.scoring.systems import baselines

IN_PEOPLE = (*worths.NAMES, *people.NAMES)  # only for systems that have not seen the votes
# Both papers' main measures, and what systems are worth.
USUAL = ("jsd", "kl", "old_accuracy", "new_accuracy", "dist_ce", "ent_ce", "rank_cs_expected",
         "ece", worths.PEOPLE, worths.PEOPLE_RECALIBRATED, worths.PEOPLE_SHRUNK,
         worths.SKILL, worths.SKILL_RECALIBRATED, worths.SKILL_SHRUNK)  # fmt: skip
ANSWER_COLUMNS = (*COLUMNS, "unit", "better", "rank", "ranked", "place_best", "place_worst",
                  "n_placed", "synthetic")  # fmt: skip
BASELINES = ("uniform guess", "base rate", "mean vote given the old label", "old label",
             "original votes")  # fmt: skip
NOT_AVAILABLE = "not available"
SEED = 0  # for references, baselines and drawn crowds: one number for every page
MOST_ITEMS = 20_000  # references are drawn for no more: their error is then below 0.002
BIASED = [
    name for name, measure in MEASURES.items() if measure.few_votes_bias == "favours_overconfident"
]
# Measures by which few votes can compare systems, shown first; a squared distance is also a level.
UNBIASED = ("sq_distance", "kl")
RESAMPLES = 2000  # for intervals, by default; as many as for those of the chapters
_LEVEL = 0.95
_LONG = 20_000  # resamples, over all systems, that may take more than a second
_NO_VALUE: ScoreRow = {
    "value": np.nan, "low": np.nan, "high": np.nan, "p": np.nan, "text": NOT_AVAILABLE,
}  # fmt: skip


def evaluate_systems(
    votes: Votes,
    systems: Sequence[System],
    request: EvaluationRequest,
    crowds: people.Crowds | None = None,
) -> list[ScoreRow]:
    """Return scores of systems, differences between compared systems, and what systems are worth.

    Measures are by default all that the votes allow. Measures in `IN_PEOPLE` raise a ChaosError for
    a system that has seen the votes; `crowds` are drawn if they are needed and not passed. A system
    that gives one label per item has values by `OF_LABELS` and a worth; its other values are NaN.
    """
    names = request.measures
    measures = None if names is None else [name for name in names if name not in IN_PEOPLE]
    rows: list[ScoreRow] = []
    if measures is None or measures:
        rows = score_rows(votes, systems, replace(request, measures=measures))
    rows += _rows_in_people(votes, systems, request, crowds)
    one_label = {system.name for system in systems if system.one_label}
    for_labels = (*OF_LABELS, *worths.NAMES)
    return [
        row | _NO_VALUE
        if row["measure"] not in for_labels and one_label & {row["system"], row.get("reference")}
        else row
        for row in rows
    ]


def _rows_in_people(
    votes: Votes,
    systems: Sequence[System],
    request: EvaluationRequest,
    crowds: people.Crowds | None,
) -> Iterator[ScoreRow]:
    """Yield what systems are worth, then their human equivalents, by the requested measures."""
    names, seed, n_resamples = request.measures or (), request.seed, request.n_resamples
    if any(name in worths.NAMES for name in names):
        for system in systems:
            copied = f", {COPIED}" if copy_warning(votes, system) else ""
            worth_of_system = worths.worth(
                votes, system, n_resamples=n_resamples, seed=seed, level=request.level
            )
            rows = (row for row in worth_of_system.rows if row["measure"] in names)
            for row in rows:
                in_people = worths.UNITS[row["measure"]] and worths.is_number(row["text"])
                text = row["text"] + copied * bool(in_people)
                yield metadata_columns(system) | row | {"text": text}
    if crowd_measures := [name for name in names if name in people.NAMES]:
        crowds = crowds or people.Crowds(votes, seed=SEED)
        for system in systems:
            equivalents = crowds.equivalents(
                system, crowd_measures, n_resamples=n_resamples, seed=seed
            )
            yield from (metadata_columns(system) | equivalent.row for equivalent in equivalents)


def copy_warning(votes: Votes, system: System) -> str:
    """Warn that a system copied the votes; empty for none, and for what is openly made of them."""
    is_open = system.origin in ("baseline", "reference") or people.refusal(votes, system)
    if is_open:
        return ""
    return warning(system.name, votes.dataset.short, copied_votes(votes, system))


def references(
    votes: Votes,
    names: Sequence[str],
    *,
    seed: int = SEED,
    most: int = MOST_ITEMS,
    recorded: bool = True,
    computed: bool = True,
) -> list[ScoreRow]:
    """Return perfect model, second crowd and baselines: as `recorded`, or as `computed` now.

    Perfect model and second crowd are drawn for at most `most` items. If all items share a text,
    there is no base rate, and its rows have NaN for each measure.
    """
    measures = [name for name in names if name in MEASURES]
    # Drawn crowds have no old label.
    by_votes = [name for name in measures if MEASURES[name].needs != "old label"]
    wanted = {(PERFECT_MODEL, name) for name in by_votes}
    wanted |= {("uniform guess", name) for name in measures}
    rows: list[ScoreRow] = known_rows(votes, seed) if recorded else []
    if computed and not wanted <= {(row["system"], row["measure"]) for row in rows}:
        rows = References(at_most(votes, most, seed), seed=seed).rows(by_votes)
        rows += score_rows(votes, guesses(votes), EvaluationRequest(measures))
    by_key = {(row["system"], row["measure"]): row for row in rows}
    for name in measures:  # a row for the base rate, also if there is none
        if ("uniform guess", name) in by_key:
            by_key.setdefault(("base rate", name), {"value": np.nan, "n_items": len(votes)})
    return [
        _reference_row(votes.dataset.name, system, name, by_key[system, name])
        for system, name in product((PERFECT_MODEL, SECOND_CROWD, *BASELINES), measures)
        if (system, name) in by_key
    ]


def _reference_row(dataset: str, system: str, measure: str, row: ScoreRow) -> ScoreRow:
    """Return a reference or baseline as a row of scores, with a text if it has no usable value."""
    reference: ScoreRow = {
        "dataset": dataset, "temperature": 1.0, "system": system, "family": system,
        "origin": "baseline" if system in BASELINES else "reference", "measure": measure,
        "n_items": row["n_items"], "value": row["value"],
    }  # fmt: skip
    if np.isnan(row["value"]):
        reference["text"] = NOT_AVAILABLE
    elif not is_settled(measure, row["value"], row.get("standard_error", np.nan)):
        reference["text"] = UNSETTLED
    return reference


def guesses(votes: Votes) -> list[System]:
    """Return the baselines that stand beside every answer."""
    return [system for system in baselines(votes) if system.name in BASELINES]


def part_of(votes: Votes, items: Ints) -> Votes:
    """Return the votes on some of the items, such as those that systems cover.

    The votes themselves if these are all items; otherwise they lack annotators.
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
        fields=votes.fields_at(items),
        later_counts=None if votes.later_counts is None else votes.later_counts[items],
    )


def at_most(votes: Votes, most: int, seed: int) -> Votes:
    """Return the votes on at most `most` items, drawn at random."""
    if len(votes) <= most:
        return votes
    items = np.random.default_rng(seed).choice(len(votes), most, replace=False)
    return part_of(votes, np.sort(items))


@dataclass(frozen=True, slots=True)
class Answer:
    """What `chaos evaluate` answers.

    `rows` are by dataset: systems, then perfect model, second crowd and baselines on the same
    items, then differences. A row has the columns of the table of scores (`COLUMNS`) that apply,
    and further

    * ``unit`` and ``better``: the measure's unit, and which direction is better
    * ``rank``: among the models of Table 5 of Nie et al. (2020) and this system; 1 is best
    * ``ranked``: how many models are ranked, this system included
    * ``place_best``, ``place_worst``, ``n_placed``: the places that it may have among all systems
      of the scoreboard on the same items, by its worth, where these were asked for
    * ``synthetic``: whether the votes are those of the synthetic sample
    * ``text``: a number of people, in words

    If systems cover different items, ``group`` names the systems that cover the same items.

    `best` holds dataset, group, measure and name of each system that is better than all other
    systems that cover the same items, if the intervals of all these differences leave out 0.
    """

    rows: list[ScoreRow]
    best: set[tuple[str, str, str, str]]
    n_resamples: int
    titles: Mapping[str, str]
    notes: list[str]

    @property
    def synthetic(self) -> bool:
        """Whether these are votes of the synthetic sample, and so no results."""
        return any(row["synthetic"] for row in self.rows)


def measures_of(text: str) -> list[str] | None:
    """Return the measures that an option names, separated by commas; None for ``all``."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    offered = [*MEASURES, *IN_PEOPLE]
    if names == ["all"]:
        return None
    if not names:
        raise ChaosError(
            "No measure is named.", found=f"--measures {text!r}",
            expected=f"names separated by commas, such as jsd,kl, or all; of: {', '.join(offered)}",
        )  # fmt: skip
    for name in names:
        if name not in offered:
            raise ChaosError(
                "Unknown measure.", where="--measures", found=repr(name),
                expected="all by itself" if name == "all" else did_you_mean(name, offered),
            )  # fmt: skip
        if names.count(name) > 1:
            raise ChaosError("A measure is named twice.", where="--measures", found=repr(name))
    return names


class ReadingOptions(TypedDict, total=False):
    """Options of `read_predictions` that hold for every file."""

    model: str | None
    answers: Mapping[str, str] | None
    filter: str | None
    scorer: str | None
    asked: str | None


def read_files(
    files: Sequence[Path],
    all_votes: Sequence[Votes],
    *,
    join_as: str = "",
    allow_missing: bool = False,
    **options: Unpack[ReadingOptions],
) -> dict[str, list[System]]:
    """Read the systems in prediction files, by dataset; datasets without an item are left out.

    With a name in `join_as`, the files are parts of one system; otherwise each is read by itself.
    """
    systems: dict[str, list[System]] = {}
    # A part of a system need not cover its dataset.
    allow_part = allow_missing or bool(join_as)
    for file in files:
        for system in read_predictions(file, all_votes, allow_missing=allow_part, **options):
            systems.setdefault(system.dataset.name, []).append(system)
    for votes in all_votes if join_as else ():
        if parts := systems.get(votes.dataset.name):
            system = join(parts, join_as)
            items = system.rows_in(votes)
            notes = notes_on_missing(join_as, votes, items, allowed=allow_missing)
            systems[votes.dataset.name] = [replace(system, notes=(*system.notes, *notes))]
    for dataset_systems in systems.values():
        check_names(
            dataset_systems, "rename one of them, or join parts of one system with --join NAME"
        )
    return systems


def evaluate_files(
    systems: Mapping[str, Sequence[System]],
    all_votes: Sequence[Votes],
    *,
    measures: Sequence[str] | None = USUAL,
    n_resamples: int | None = None,
    seed: int = 0,
    against: str | None = None,
    pairs: bool = False,
    seek_best: bool = False,
    pools_on: Callable[[Votes], Sequence[Pool]] | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> Answer:
    """Score systems that were read from files; compare them `against` one system, or in `pairs`.

    With `USUAL`, and with None (all measures), measures that the votes do not allow are left out;
    if votes are few, `UNBIASED` comes first. Intervals come from 2,000 resamples by default, or
    from as many as the adjusted p-values need. `seed` is for the intervals; references, baselines,
    drawn crowds and places use a fixed one. `seek_best` asks for `Answer.best`, for which all pairs
    are compared, and `pools_on` for places in the pools that it returns. `tell` is called before a
    step that may take more than a second, with its name.

    References and baselines are for the items that a system covers. References that are not
    recorded are computed only if there are intervals. A system is ranked among published models
    only on all items, and only by the released votes.
    """
    comparisons = _comparisons(systems, against, pairs)
    if any(comparisons.values()) and measures and set(measures) <= set(IN_PEOPLE):
        raise ChaosError(
            "Systems cannot be compared by how many people they are worth.",
            found=", ".join(measures), expected="another measure too, such as sq_distance",
            todo="add it to --measures, or leave --pairs and --against out",
        )  # fmt: skip
    votes_on = {votes.dataset.name: votes for votes in all_votes}
    for dataset in systems:
        refuse_adaptive(votes_on[dataset])
    measures_shown = {
        dataset: _shown(votes_on[dataset], measures, systems[dataset]) for dataset in systems
    }
    notes = [note for dataset in systems for note in _notes(votes_on[dataset], systems[dataset])]
    n_comparisons = sum(
        len(comparisons[dataset]) * sum(name in MEASURES and MEASURES[name].has_interval
                                        for name in measures_shown[dataset])
        for dataset in systems
    )  # fmt: skip
    n_resamples, note = _enough_resamples(n_resamples, n_comparisons)
    notes += filter(None, [note])
    rows: list[ScoreRow] = []
    best: set[tuple[str, str, str, str]] = set()
    for dataset, dataset_systems in systems.items():
        votes = votes_on[dataset]
        needs_new_references = not votes.is_released or any(
            len(system) < len(votes) for system in dataset_systems
        )
        if n_resamples and (needs_new_references or n_resamples * len(dataset_systems) > _LONG):
            tell(
                f"{votes.dataset.title}: {n_resamples:,} resamples, {len(dataset_systems)} systems"
            )
        request = EvaluationRequest(
            measures_shown[dataset],
            comparisons=comparisons[dataset],
            n_resamples=n_resamples,
            seed=seed,
        )
        wants_best = seek_best and n_resamples >= fewest_resamples(_LEVEL)
        answer = _evaluate_dataset(votes, dataset_systems, request, wants_best)
        rows += answer.rows
        best |= answer.best
        notes += answer.notes
        if pools_on is not None:
            tell(f"{votes.dataset.title}: places among all systems of the scoreboard")
            notes += _add_places(votes, dataset_systems, pools_on(votes), answer.rows)
    # p-values are adjusted for all differences in the answer, over all datasets.
    p = [row.get("p", np.nan) for row in rows]
    adjusted = holm(p)
    for row, p_holm, p_behind in zip(rows, adjusted, behind_holm(p, adjusted), strict=True):
        row |= {"p_holm": p_holm, "p_behind": p_behind}
    titles = {dataset: votes_on[dataset].dataset.title for dataset in systems}
    return Answer(rows, best, n_resamples, titles, notes)


def _comparisons(
    systems: Mapping[str, Sequence[System]], against: str | None, pairs: bool
) -> dict[str, list[tuple[str, str]]]:
    """Return the pairs of names that are compared, by dataset."""
    by_dataset = {
        dataset: [s.name for s in dataset_systems] for dataset, dataset_systems in systems.items()
    }
    every_name = sorted({name for names in by_dataset.values() for name in names})
    if against is not None:
        problem = "There is no such system to compare with."
        check_known(problem, against, every_name, where="--against")
    pairs_by_dataset = {
        dataset: list(combinations(names, 2))
        if pairs
        else [pair for pair in permutations(names, 2) if pair[1] == against]
        for dataset, names in by_dataset.items()
    }
    if (pairs or against is not None) and not any(pairs_by_dataset.values()):
        raise ChaosError(
            "There is no pair of systems to compare.",
            found=f"{', '.join(map(repr, every_name))}, on {', '.join(by_dataset)}",
            expected="at least two systems on one dataset",
            todo="add the file of another system, or leave --pairs and --against out",
        )
    return pairs_by_dataset


def _enough_resamples(n_resamples: int | None, n_comparisons: int) -> tuple[int, str]:
    """Return how many resamples are drawn, and a note where they are too few for the p-values."""
    needed = max(RESAMPLES, fewest_resamples(_LEVEL, n_comparisons)) if n_comparisons else 0
    if n_resamples is None:
        return needed or RESAMPLES, ""
    if n_comparisons and not n_resamples:
        raise ChaosError("A comparison needs resamples.", found="--bootstrap 0")
    if n_resamples >= needed or needed <= RESAMPLES:
        return n_resamples, ""
    return n_resamples, (
        f"{n_resamples:,} resamples are too few for {n_comparisons:,} comparisons: adjusted "
        f"for them, even the smallest p would not be below 0.05; take {needed:,}, or leave "
        "--bootstrap out"
    )


def _shown(votes: Votes, measures: Sequence[str] | None, systems: Sequence[System]) -> list[str]:
    """Return the measures by which systems on a dataset are shown."""
    if measures is not None and measures != USUAL:
        chosen_measures(votes, [name for name in measures if name in MEASURES])  # raises
        return list(measures)
    candidates = [*MEASURES, *IN_PEOPLE] if measures is None else list(measures)
    if votes.are_few:
        candidates = list(dict.fromkeys([*UNBIASED, *candidates]))
    allowed = available(votes, (name for name in candidates if name in MEASURES))
    if all(system.one_label for system in systems):
        allowed = [name for name in allowed if name in OF_LABELS]
    allowed += IN_PEOPLE if int(votes.n_votes.min()) >= 2 else ()
    # With None (all measures), rows say why there is no value; the usual measures leave them out.
    if measures and too_few_to_recalibrate(len(votes), votes.dataset.n_classes):
        allowed = [name for name in allowed if name not in worths.RECALIBRATED]
    return [name for name in candidates if name in allowed]


def _evaluate_dataset(
    votes: Votes, systems: Sequence[System], request: EvaluationRequest, seek_best: bool
) -> Answer:
    """Return the answer on one dataset: values, in groups by items covered, then differences."""
    names = request.measures or ()
    measures = [name for name in names if name in MEASURES]
    pairs = dict.fromkeys(request.comparisons)
    if seek_best:
        every_pair = combinations((system.name for system in systems), 2)
        pairs |= dict.fromkeys(pair for pair in every_pair if pair[::-1] not in pairs)
    in_people = [name for name in names if name in IN_PEOPLE]
    people_systems = [
        system for system in systems if in_people and not people.refusal(votes, system)
    ]
    scores: list[ScoreRow] = []
    if measures:
        measure_request = replace(request, measures=measures, comparisons=[*pairs])
        scores = evaluate_systems(votes, systems, measure_request)
    differences = [row for row in scores if row["reference"]]
    values = [row for row in scores if not row["reference"]]
    if people_systems:
        people_request = replace(request, measures=in_people, comparisons=())
        values += evaluate_systems(votes, people_systems, people_request)
    rows: list[ScoreRow] = []
    notes: list[str] = []
    best: set[tuple[str, str, str, str]] = set()
    for group, members in _by_cover(votes, systems).items():
        covering = {system.name for system in members}
        group_rows = [row for row in values if row["system"] in covering]
        notes += _notes_on_worth(votes, members if in_people else [], group_rows)
        order = [(system.name, name) for system in members for name in names]
        group_rows.sort(key=lambda row: order.index((row["system"], row["measure"])))
        reference_rows, reference_notes = _references_beside(
            votes, members[0].rows_in(votes), request
        )
        notes += reference_notes
        rows += [row | {"group": group} for row in (*group_rows, *reference_rows)]
        best |= {
            (votes.dataset.name, group, measure, system)
            for measure, system in _best(covering, differences)
            if not (votes.are_few and measure in BIASED)
        }
    requested_pairs = request.comparisons
    rows += (row for row in differences if (row["system"], row["reference"]) in requested_pairs)
    for row in rows:
        _describe(row, votes)
    return Answer(rows, best, request.n_resamples, {}, notes)


def _references_beside(
    votes: Votes, items: Ints, request: EvaluationRequest
) -> tuple[list[ScoreRow], list[str]]:
    """Return references and baselines on some items, which systems cover, and notes on both."""
    names = request.measures or ()
    measures = [name for name in names if name in MEASURES]
    in_people = [name for name in names if name in IN_PEOPLE]
    covered = part_of(votes, items)
    rows = references(covered, measures, computed=request.n_resamples > 0)
    notes = [*_notes_on_votes(covered, measures, rows)]
    if in_people:
        baseline_systems = guesses(covered)
        rows += evaluate_systems(
            votes, baseline_systems, EvaluationRequest(in_people, seed=request.seed)
        )
        notes += [f"{guess.name}: {note}" for guess in baseline_systems for note in guess.notes[1:]]
    return rows, notes


def _describe(row: ScoreRow, votes: Votes) -> None:
    """Add to a row its unit, which way is better, and its rank among published models."""
    measure = MEASURES.get(row["measure"])
    row["unit"] = measure.unit if measure else worths.UNITS.get(row["measure"], "people")
    row["better"] = measure.better if measure else "higher"
    row["synthetic"] = votes.source.synthetic
    is_system = not row.get("reference") and row["origin"] not in ("reference", "baseline")
    is_published = votes.is_released and not votes.source.synthetic
    if is_system and is_published and row["n_items"] == len(votes):
        row |= rank_among_published(row)


def _add_places(
    votes: Votes, systems: Sequence[System], pools: Sequence[Pool], rows: Sequence[ScoreRow]
) -> Iterator[str]:
    """Add places to the rows of what systems are worth; yield notes on places elsewhere, and none.

    A system has places in each pool whose items it covers: in the first by its rows.
    """
    for system in systems:
        covered = [pool for pool in pools if pool.is_covered_by(system)]
        if people.refusal(votes, system) or not covered:
            yield f"{system.name} has no places: " + (
                "it has learned from these votes"
                if covered
                else "the scoreboard ranks systems on released votes, on a whole set of items"
            )
            continue
        first, *others = (place(pool, system) for pool in covered)
        for row in rows:
            if row["system"] == system.name and row["measure"] in RANKED_BY:
                row |= first.columns(row["measure"])
        for placing in others:
            phrases = [
                f"{in_places(columns)} {how}"
                for name, how in zip(RANKED_BY, ("recalibrated", "as it is"), strict=True)
                if (columns := placing.columns(name))
            ]
            where = f"{votes.dataset.short}, {placing.pool.name} of the scoreboard"
            yield f"{where}: {system.name} has {', '.join(phrases)}"


def in_places(row: Mapping[str, Any]) -> str:
    """Return the places of a system in words, such as ``places 3–6 of 33``; empty without any."""
    if not row.get("n_placed"):
        return ""
    best, worst, n_placed = row["place_best"], row["place_worst"], row["n_placed"]
    return (
        f"place {best} of {n_placed}" if best == worst else f"places {best}–{worst} of {n_placed}"
    )


def _by_cover(votes: Votes, systems: Sequence[System]) -> dict[str, list[System]]:
    """Return groups of systems that cover the same items, by a name for each group."""
    return {
        ALL
        if len(members[0].rows_in(votes)) == len(votes)
        else f"items of {', '.join(system.name for system in members)}": members
        for members in covering_alike(votes, systems)
    }


def _best(group: set[str], differences: Sequence[ScoreRow]) -> Iterator[tuple[str, str]]:
    """Yield measure and name of each system that beats all others of a group, beyond intervals."""
    beaten: dict[tuple[str, str], set[str]] = {}
    for row in differences:
        low, high = row.get("low", np.nan), row.get("high", np.nan)
        direction = MEASURES[row["measure"]].better
        if direction != "zero" and (low > 0 or high < 0):
            winner, loser = row["system"], row["reference"]
            if (high < 0) != (direction == "lower"):
                winner, loser = loser, winner
            beaten.setdefault((row["measure"], winner), set()).add(loser)
    for (measure, name), losers in beaten.items():
        if name in group and len(group) > 1 and group <= losers | {name}:
            yield measure, name


def _notes(votes: Votes, systems: Sequence[System]) -> Iterator[str]:
    """Yield notes on the votes on a dataset, and on its systems from reading them."""
    dataset, source = votes.dataset, votes.source
    if are_own(dataset):
        file = source.name.removeprefix(OWN)
        title = dataset.title
        yield f"{dataset.name} stands for {title}, read from {file}, and for no released file"
    if votes.are_few:
        yield note_on_few(votes)
    if source.synthetic:
        yield f"{dataset.title} here is the synthetic sample: made up, and no result"
    yield from votes.notes
    yield from (f"{system.name}: {note}" for system in systems for note in system.notes)


def note_on_few(votes: Votes) -> str:
    """Say by which measures few votes can compare systems, and by which they cannot."""
    is_level = int(votes.n_votes.min()) >= 2
    by = "the squared distance, which few votes do not bias" if is_level else "KL"
    return (
        f"{votes.dataset.title}: few votes (median {np.median(votes.n_votes):g} per item); to "
        f"them, JSD, TVD and EntCE reward overconfidence; compare systems by {by}"
    )


def _notes_on_votes(
    votes: Votes, measures: Sequence[str], references: Sequence[ScoreRow]
) -> Iterator[str]:
    """Yield notes on the votes on some items, and on the references there."""
    short = votes.dataset.short
    n_tied = int(((votes.counts == votes.counts.max(axis=1, keepdims=True)).sum(axis=1) > 1).sum())
    if "new_accuracy" in measures and votes.ties_share and n_tied:
        yield (
            f"{short}: labels tie for most votes on {n_tied:,} of {len(votes):,} items; "
            "accuracy counts one of m such labels as 1/m right, ECE takes the first of the "
            "dataset's"
        )
    accuracy_of = {
        row["system"]: row["value"] for row in references if row["measure"] == "new_accuracy"
    }
    if base_rate_misleads(accuracy_of):
        yield (
            f"{short}: the base rate is less accurate than a uniform guess because it leaves out "
            "each item's own votes: where labels are about equally frequent, this makes the item's "
            "own label seem the rarer one"
        )
    if any(row.get("text") == NOT_AVAILABLE for row in references):
        yield (
            f"{short}: the base rate is not available: it is fitted on items of other texts, and "
            f"{counted(len(votes), 'item')} of one text {'are' if len(votes) > 1 else 'is'} all "
            "there is"
        )
    values = {(row["system"], row["measure"]): row["value"] for row in references}
    misleading_titles = []  # measures by which few votes look better than the truth
    for name in BIASED if votes.are_few else ():
        crowd = values.get((SECOND_CROWD, name), np.nan)
        truth = values.get((PERFECT_MODEL, name), np.nan)
        is_better = crowd > truth if MEASURES[name].better == "higher" else crowd < truth
        if is_better:
            misleading_titles.append(MEASURES[name].title)
    if misleading_titles:
        yield (
            f"{short}: in {', '.join(misleading_titles)} a second crowd scores better than the "
            "perfect model: few votes are as sharp as the few that judge, and the truth is not; by "
            "these measures such votes rank nothing"
        )
    n_drawn = min((row["n_items"] for row in references), default=len(votes))
    if n_drawn < len(votes):
        yield (
            f"{short}: perfect model and second crowd are those of {n_drawn:,} of the "
            f"{len(votes):,} items, drawn at random"
        )


def base_rate_misleads(accuracy_of: Mapping[str, float]) -> bool:
    """Return whether the base rate is less accurate than a uniform guess, by their names.

    No constant label is. But the base rate leaves out an item's own votes: where labels are about
    equally frequent, the item's own label seems rarer than the others.
    """
    return accuracy_of.get("base rate", np.nan) < accuracy_of.get("uniform guess", np.nan)


def _notes_on_worth(
    votes: Votes, systems: Sequence[System], rows: Sequence[ScoreRow]
) -> Iterator[str]:
    """Yield notes on what systems are worth, and on systems that cannot be judged so."""
    for system in systems:
        if reason := people.refusal(votes, system):
            yield f"{system.name} is worth no number of people: it was {reason}"
        if copied := copy_warning(votes, system):
            yield copied
    worth_rows = [row for row in rows if row["measure"] in worths.NAMES]
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in worth_rows:
        if not worths.is_number(row["text"]):
            title = worths.TITLES[row["measure"]]
            reasons.setdefault((row["system"], row["text"]), []).append(title)
    for (name, text), titles in reasons.items():
        yield f"{name}: {'; '.join(titles)}: {text}"
    labels = dict.fromkeys(row["system"] for row in worth_rows if row["is_hard"])
    if labels:
        yield f"{', '.join(labels)}: one label per item cannot show where people disagree"
    if labels or (worth_rows and any(file.is_own for file in votes.inputs)):
        on_votes = ", on votes with annotators" if votes.annotations is None else ""
        yield (
            f"{votes.dataset.short}: worth does not say whether a system may replace an annotator; "
            f"to test this{on_votes}: chaos run crowd -p data=VOTES -p predictions=FILE -p "
            "epsilon=… -p why=…"
        )
    credibilities = (row["credibility"] for row in worth_rows if row["credibility"] >= 0)
    if (credibility := next(credibilities, None)) is not None:
        skills = zip(MARKS, skill_of_people(MARKS, credibility), strict=True)
        skills_listed = ", ".join(f"{people} {skill:.2f}" for people, skill in skills)
        yield f"{votes.dataset.short}: skill by number of people asked: {skills_listed}"
