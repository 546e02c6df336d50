"""Judge files of predictions: the numbers that `chaos evaluate` answers with.

Plain rows, without pandas, which takes longer to import than a file takes to judge.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np

from chaos_utils.base.errors import ChaosError, counted, did_you_mean
from chaos_utils.base.inputs import OWN
from chaos_utils.datasets.catalogue import are_own
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.metrics.resampling import behind_holm, fewest_resamples, holm
from chaos_utils.metrics.skill import MARKS, skill_of_people
from chaos_utils.scoring import human_equivalents as people
from chaos_utils.scoring import worth as worths
from chaos_utils.scoring.beside import (
    IN_PEOPLE,
    NOT_AVAILABLE,
    guesses,
    judge,
    part_of,
    references,
)
from chaos_utils.scoring.predictions import join, notes_on_missing, read_predictions
from chaos_utils.scoring.published import rank_among_published
from chaos_utils.scoring.recalibration import too_few_to_recalibrate
from chaos_utils.scoring.references import PERFECT_MODEL, SECOND_CROWD
from chaos_utils.scoring.scores import (
    ALL,
    COLUMNS,
    OF_LABELS,
    Row,
    available,
    chosen_measures,
)
from chaos_utils.scoring.system import System, check_names

# Both papers' main measures, and what systems are worth.
USUAL = ("jsd", "kl", "old_accuracy", "new_accuracy", "dist_ce", "ent_ce", "rank_cs_expected",
         "ece", worths.PEOPLE, worths.PEOPLE_RECALIBRATED, worths.PEOPLE_SHRUNK,
         worths.SKILL, worths.SKILL_RECALIBRATED, worths.SKILL_SHRUNK)  # fmt: skip
ANSWER_COLUMNS = (*COLUMNS, "unit", "better", "rank", "ranked", "synthetic")
_RESAMPLES = 1000
_LEVEL = 0.95
_LONG = 20_000  # resamples of all systems
BIASED = [name for name, one in MEASURES.items() if one.few_votes_bias == "favours_overconfident"]
# What few votes compare, and come first of these; the squared distance is a level, too.
UNBIASED = ("sq_distance", "kl")


@dataclass(frozen=True, slots=True)
class Answer:
    """What `chaos evaluate` answers.

    The rows are those of the table of scores (`COLUMNS`, where a row has something to say), by
    dataset: systems, then perfect model, second crowd and baselines on the same items, then
    differences. Beside it ``unit`` and ``better``; ``rank`` among the models of Table 5 of Nie et
    al. (2020) and this one (1 is best), and ``ranked``, their number; ``synthetic``; for numbers of
    people ``text``, in words. Where systems cover different items, ``group`` names those who share
    them.

    The best, by dataset, group, measure and name, are better than each other system that covers the
    same items, and the intervals of all these differences leave out 0.
    """

    rows: list[Row]
    best: set[tuple[str, str, str, str]]
    n_resamples: int
    titles: Mapping[str, str]
    notes: list[str]

    @property
    def synthetic(self) -> bool:
        """Whether these are votes of the synthetic sample, and so no results."""
        return any(row["synthetic"] for row in self.rows)


def measures_of(text: str) -> list[str] | None:
    """Return the measures that an option names, separated by commas; none for ``all``."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    known = [*MEASURES, *IN_PEOPLE]
    if names == ["all"]:
        return None
    if not names:
        raise ChaosError(
            "There is no measure.", found=f"--measures {text!r}",
            expected=f"names separated by commas, such as jsd,kl, or all; of: {', '.join(known)}",
        )  # fmt: skip
    for name in names:
        if name not in known:
            raise ChaosError(
                "Unknown measure.", where="--measures", found=repr(name),
                expected="all, without others" if name == "all" else did_you_mean(name, known),
            )  # fmt: skip
        if names.count(name) > 1:
            raise ChaosError("A measure is named twice.", where="--measures", found=repr(name))
    return names


def read_files(
    files: Sequence[Path],
    all_votes: Sequence[Votes],
    *,
    model: str | None = None,
    answers: Mapping[str, str] | None = None,
    filter: str | None = None,
    scorer: str | None = None,
    join_as: str = "",
    allow_missing: bool = False,
) -> dict[str, list[System]]:
    """Read the systems that prediction files hold, by dataset; those whose uids occur are taken.

    With a name in `join_as` the files are parts of one system; else each stands alone.
    """
    found: dict[str, list[System]] = {}
    for file in files:
        # A part of a system covers its dataset in part, by its nature.
        partial = allow_missing or bool(join_as)
        for one in read_predictions(
            file,
            all_votes,
            model=model,
            answers=answers,
            filter=filter,
            scorer=scorer,
            allow_missing=partial,
        ):
            found.setdefault(one.dataset.name, []).append(one)
    for votes in all_votes if join_as else ():
        if parts := found.get(votes.dataset.name):
            whole = join(parts, join_as)
            items = whole.rows_in(votes)
            notes = notes_on_missing(join_as, votes, items, allowed=allow_missing)
            found[votes.dataset.name] = [replace(whole, notes=(*whole.notes, *notes))]
    for systems in found.values():
        check_names(systems, "rename one of them, or join parts of one system with --join NAME")
    return found


def judge_files(
    found: Mapping[str, Sequence[System]],
    all_votes: Sequence[Votes],
    *,
    measures: Sequence[str] | None = USUAL,
    n_resamples: int | None = None,
    seed: int = 0,
    against: str | None = None,
    pairs: bool = False,
    seek_best: bool = False,
    tell: Callable[[str], None] = lambda text: None,
) -> Answer:
    """Score systems that were read from files, and compare them: `against` one, or in `pairs`.

    Of `USUAL`, and of all measures (None), those are left out that the votes lack something for,
    and of few votes `UNBIASED` come first. Intervals are of 1,000 resamples by default, or as many
    as the adjusted p-values need; `seed` is theirs alone: that of references, baselines and drawn
    crowds is fixed. `seek_best` asks for `Answer.best`, which takes comparing all pairs. `tell` is
    called with what is done now where it may take more than a second.

    References and baselines are those of the items that a system covers. What is not recorded of
    them is computed only beside intervals. No system is ranked among the published ones on a part
    of the items, or by other votes.
    """
    compared = _compared(found, against, pairs)
    if any(compared.values()) and measures and set(measures) <= set(IN_PEOPLE):
        raise ChaosError(
            "Systems are not compared by how many people they are worth.",
            found=", ".join(measures), expected="another measure too, such as sq_distance",
            todo="add it to --measures, or leave --pairs and --against out",
        )  # fmt: skip
    by_name = {votes.dataset.name: votes for votes in all_votes}
    chosen = {
        name: _chosen(by_name[name], measures, all(system.one_label for system in systems))
        for name, systems in found.items()
    }
    n_comparisons = sum(
        len(compared[name]) * sum(one in MEASURES and MEASURES[one].has_interval for one in names)
        for name, names in chosen.items()
    )
    needed = max(_RESAMPLES, fewest_resamples(_LEVEL, n_comparisons)) if n_comparisons else 0
    if n_resamples is None:
        n_resamples = needed or _RESAMPLES
    if n_comparisons and not n_resamples:
        raise ChaosError("A comparison needs resamples.", found="--bootstrap 0")
    notes = _notes(found, by_name)
    if n_resamples < needed > _RESAMPLES:
        notes.append(
            f"{n_resamples:,} resamples are too few for {n_comparisons:,} comparisons: adjusted "
            f"for them, even the smallest p would not be below 0.05; take {needed:,}, or leave "
            "--bootstrap out"
        )
    rows: list[Row] = []
    best: set[tuple[str, str, str, str]] = set()
    for name, systems in found.items():
        votes = by_name[name]
        is_drawn = not votes.is_released or any(len(one) < len(votes) for one in systems)
        if n_resamples and (is_drawn or n_resamples * len(systems) > _LONG):
            tell(f"{votes.dataset.title}: {n_resamples:,} resamples, {len(systems)} systems")
        seek = seek_best and n_resamples >= fewest_resamples(_LEVEL)
        part, of_part = _judged(
            votes, systems, chosen[name], n_resamples, seed, compared[name], seek, notes
        )
        rows += part
        best |= of_part
    # Adjusted for all differences that are shown, of whatever dataset.
    raw = [row.get("p", np.nan) for row in rows]
    adjusted = holm(raw)
    of_rows = zip(rows, adjusted, behind_holm(raw, adjusted), strict=True)
    rows = [row | {"p_holm": p, "p_behind": behind} for row, p, behind in of_rows]
    titles = {name: by_name[name].dataset.title for name in found}
    return Answer(rows, best, n_resamples, titles, notes)


def _compared(
    found: Mapping[str, Sequence[System]], against: str | None, pairs: bool
) -> dict[str, list[tuple[str, str]]]:
    """Return the names of the systems that are compared, by dataset."""
    by_dataset = {name: [system.name for system in systems] for name, systems in found.items()}
    known = sorted({name for names in by_dataset.values() for name in names})
    if against is not None and against not in known:
        raise ChaosError(
            "There is no such system to compare with.", where="--against", found=repr(against),
            expected=did_you_mean(against, known),
        )  # fmt: skip
    compared = {
        dataset: list(combinations(names, 2))
        if pairs
        else [pair for pair in permutations(names, 2) if pair[1] == against]
        for dataset, names in by_dataset.items()
    }
    if (pairs or against is not None) and not any(compared.values()):
        raise ChaosError(
            "There is no pair of systems to compare.",
            found=f"{', '.join(map(repr, known))}, on {', '.join(by_dataset)}",
            expected="at least two systems on one dataset",
            todo="add the file of another system, or leave --pairs and --against out",
        )
    return compared


def _chosen(votes: Votes, measures: Sequence[str] | None, are_labels: bool) -> list[str]:
    """Return the measures that are shown of a dataset, and of systems that may be labels alone."""
    if measures is None or measures == USUAL:
        every = [*MEASURES, *IN_PEOPLE] if measures is None else measures
        if votes.are_few:
            every = list(dict.fromkeys([*UNBIASED, *every]))
        enough = int(votes.n_votes.min()) >= 2
        fitting = available(votes, (name for name in every if name in MEASURES))
        if are_labels:
            fitting = [name for name in fitting if name in OF_LABELS]
        fitting += IN_PEOPLE if enough else ()
        # All of them say why they are not there; the usual ones leave the room to others.
        if measures and too_few_to_recalibrate(len(votes), votes.dataset.n_classes):
            fitting = [name for name in fitting if name not in worths.RECALIBRATED]
        return [name for name in every if name in fitting]
    chosen_measures(votes, [name for name in measures if name in MEASURES])  # raises
    return list(measures)


def _notes(found: Mapping[str, Sequence[System]], by_name: Mapping[str, Votes]) -> list[str]:
    notes = []
    for name, systems in found.items():
        if are_own(by_name[name].dataset):
            title, file = by_name[name].dataset.title, by_name[name].source.name.removeprefix(OWN)
            notes.append(f"{name} stands for {title}, read from {file}, and for no released file")
        if by_name[name].are_few:
            notes.append(note_on_few(by_name[name]))
        if by_name[name].source.synthetic:
            title = by_name[name].dataset.title
            notes.append(f"{title} here is the synthetic sample: made up, and no result")
        notes += by_name[name].notes
        notes += [f"{system.name}: {note}" for system in systems for note in system.notes]
    return notes


def note_on_few(votes: Votes) -> str:
    """Say by what few votes can judge, and by what they cannot."""
    is_level = int(votes.n_votes.min()) >= 2
    by = "the squared distance, which few votes do not bias" if is_level else "KL"
    return (
        f"{votes.dataset.title}: few votes (median {np.median(votes.n_votes):g} per item); to "
        f"them, JSD, TVD and EntCE reward overconfidence; compare systems by {by}"
    )


def _notes_on(votes: Votes, measures: Sequence[str], references: Sequence[Row]) -> Iterator[str]:
    """Yield what to know of the votes on some items, and of what systems are set beside there."""
    short = votes.dataset.short
    n_tied = int(((votes.counts == votes.counts.max(axis=1, keepdims=True)).sum(axis=1) > 1).sum())
    if "new_accuracy" in measures and votes.ties_share and n_tied:
        yield (
            f"{short}: labels tie for most votes on {n_tied:,} of {len(votes):,} items; "
            "accuracy counts one of m such labels as 1/m right, ECE takes the first of the "
            "dataset's"
        )
    if any(row.get("text") == NOT_AVAILABLE for row in references):
        yield (
            f"{short}: the base rate is not available: it is fitted on items of other texts, and "
            f"{counted(len(votes), 'item')} of one text {'are' if len(votes) > 1 else 'is'} all "
            "there is"
        )
    values = {(row["system"], row["measure"]): row["value"] for row in references}
    beaten = []  # measures by which few votes, as a prediction, look better than the truth
    for name in BIASED if votes.are_few else ():
        crowd, truth = (values.get((one, name), np.nan) for one in (SECOND_CROWD, PERFECT_MODEL))
        if crowd > truth if MEASURES[name].better == "higher" else crowd < truth:
            beaten.append(MEASURES[name].title)
    if beaten:
        yield (
            f"{short}: in {', '.join(beaten)} a second crowd scores better than the perfect model: "
            "few votes are as sharp as the few that judge, and the truth is not; by these measures "
            "such votes rank nothing"
        )
    drawn = min((row["n_items"] for row in references), default=len(votes))
    if drawn < len(votes):
        yield (
            f"{short}: perfect model and second crowd are those of {drawn:,} of the "
            f"{len(votes):,} items, drawn at random"
        )


def _judged(
    votes: Votes,
    systems: Sequence[System],
    names: Sequence[str],
    n_resamples: int,
    seed: int,
    compared: Sequence[tuple[str, str]],
    seek_best: bool,
    notes: list[str],
) -> tuple[list[Row], set[tuple[str, str, str, str]]]:
    """Return the rows of one dataset, and where a system is best; add notes."""
    measures = [name for name in names if name in MEASURES]
    pairs = dict.fromkeys(compared)
    if seek_best:
        every = combinations((system.name for system in systems), 2)
        pairs |= dict.fromkeys(pair for pair in every if pair[::-1] not in pairs)
    in_people = [name for name in names if name in IN_PEOPLE]
    asked = [one for one in systems if in_people and not people.refusal(votes, one)]
    how: dict[str, Any] = {"n_resamples": n_resamples, "seed": seed}
    scored = judge(votes, systems, measures, comparisons=[*pairs], **how) if measures else []
    worth = judge(votes, asked, in_people, **how) if asked else []
    differences = [row for row in scored if row["reference"]]
    order = [(system.name, name) for system in systems for name in names]
    rows: list[Row] = []
    best = set()
    for group, members in _by_cover(votes, systems).items():
        part = part_of(votes, members[0].rows_in(votes))
        of_group = {system.name for system in members}
        both = (row for row in (*scored, *worth) if not row.get("reference"))
        ours = [row for row in both if row["system"] in of_group]
        notes += _notes_on_worth(votes, members if in_people else [], ours)
        ours.sort(key=lambda row: order.index((row["system"], row["measure"])))
        others = references(part, measures, computed=n_resamples > 0)
        notes += _notes_on(part, measures, others)
        if in_people:
            baselines = guesses(part)
            others += judge(votes, baselines, in_people, seed=seed)
            notes += [f"{one.name}: {note}" for one in baselines for note in one.notes[1:]]
        rows += [row | {"group": group} for row in (*ours, *others)]
        best |= {
            (votes.dataset.name, group, measure, system)
            for measure, system in _best(of_group, differences)
            if not (votes.are_few and measure in BIASED)
        }
    rows += [row for row in differences if (row["system"], row["reference"]) in compared]
    is_whole = votes.is_released and not votes.source.synthetic
    for row in rows:
        measure = MEASURES.get(row["measure"])
        row["unit"] = measure.unit if measure else worths.UNITS.get(row["measure"], "people")
        row["better"] = measure.better if measure else "higher"
        row["synthetic"] = votes.source.synthetic
        is_ours = not row.get("reference") and row["origin"] not in ("reference", "baseline")
        if is_whole and is_ours and row["n_items"] == len(votes):
            wanted = (row["measure"], row["value"], row["better"])
            row |= rank_among_published(votes.dataset.name, *wanted)
    return rows, best


def _by_cover(votes: Votes, systems: Sequence[System]) -> dict[str, list[System]]:
    """Return the systems that cover the same items, by a name for the group."""
    found: dict[bytes, list[System]] = {}
    for system in systems:
        found.setdefault(system.rows_in(votes).tobytes(), []).append(system)
    return {
        ALL
        if len(members[0].rows_in(votes)) == len(votes)
        else f"items of {', '.join(one.name for one in members)}": members
        for members in found.values()
    }


def _notes_on_worth(votes: Votes, systems: Sequence[System], rows: Sequence[Row]) -> Iterator[str]:
    """Yield what to know of what systems are worth, and why some are not asked."""
    for system in systems:
        if reason := people.refusal(votes, system):
            yield f"{system.name} is worth no number of people: it was {reason}"
    of_worth = [row for row in rows if row["measure"] in worths.NAMES]
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in of_worth:
        if not worths.is_number(row["text"]):
            title = worths.TITLES[row["measure"]]
            reasons.setdefault((row["system"], row["text"]), []).append(title)
    for (name, text), titles in reasons.items():
        yield f"{name}: {'; '.join(titles)}: {text}"
    if labels := dict.fromkeys(row["system"] for row in of_worth if row["is_hard"]):
        yield (
            f"{', '.join(labels)}: one label per item; recalibrated or shrunk, it compares with "
            "people, of whom one is worth about 1"
        )
    known = (row["credibility"] for row in of_worth if row["credibility"] >= 0)
    if (credibility := next(known, None)) is not None:
        skills = zip(MARKS, skill_of_people(MARKS, credibility), strict=True)
        of_people = ", ".join(f"{people} {skill:.2f}" for people, skill in skills)
        yield f"{votes.dataset.short}: skill by number of people asked: {of_people}"


def _best(group: set[str], differences: Sequence[Row]) -> Iterator[tuple[str, str]]:
    """Yield by which measures which system of a group beats each other one, beyond intervals."""
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
