"""What maps that are fitted on votes make of systems: out of fold, for every system.

Nothing is fitted to few votes for JSD, or ranked by it: it then rewards overconfidence.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import log_softmax, softmax

from chaos_utils.analyses.baan import FIXED_TEMPERATURE
from chaos_utils.analyses.cached_analysis import cached_analysis
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.style import SYSTEM_NAMES
from chaos_utils.base.table import in_order_of
from chaos_utils.datasets.catalogue import short_of
from chaos_utils.datasets.splits import folds_of, item_groups, one_text_error
from chaos_utils.datasets.votes import ENOUGH_VOTES, Votes
from chaos_utils.metrics.measures import MEASURES as ALL_MEASURES
from chaos_utils.metrics.resampling import holm, split_votes
from chaos_utils.metrics.signals import entropy_correlation
from chaos_utils.report.columns import DATASET, Column, Row, p_value
from chaos_utils.scoring.evaluate import part_of
from chaos_utils.scoring.fitting import (
    KINDS,
    OBJECTIVES,
    PENALTY,
    STACKING,
    Kind,
    Objective,
    fit_map,
    log_probabilities,
    predict_out_of_fold,
)
from chaos_utils.scoring.references import PERFECT_MODEL, SECOND_CROWD, References, known_rows
from chaos_utils.scoring.scores import score, wide
from chaos_utils.scoring.seeds import families_of
from chaos_utils.scoring.system import System, are_votes
from chaos_utils.scoring.systems import computed
from chaos_utils.scoring.training_records import Run, committed_runs, kind_of, ordered
from chaos_utils.scoring.worth import of_predictions

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MEASURES = ("jsd", "kl", "dist_ce", "new_accuracy")
TEXT, OLD_LABEL, REFERENCE = "text", "old label", "reference"  # what a method has of an item
AS_IT_IS, BASE_RATE, ON_VOTES = "as it is", "base rate", "trained on votes"
FIXED = f"T = {FIXED_TEMPERATURE:g}"
ALL, ALL_BUT, WITH_YOURS = "all systems", "all but", "all systems and yours"
RECIPE: Kind = "quadratic"
LEVEL = 0.05  # of tests
ITEMS = (50, 100, 200, 500, 1000)
VOTES = (1, 3, 5, 20)
_NEARLY_NONE = 1e-3  # penalty of base rates
_MOST_RESAMPLES = 500  # for what each of some hundred systems is worth
_PEOPLE = ["people", "people_low", "people_high"]
_SIGNAL = ["spearman", "spearman_low", "spearman_high"]
_ENDS = ("", "_low", "_high")
_KEYS = ("dataset", "access", "inputs", "map", "objective")
_UNSAID: dict[str, object] = {
    "inputs": "", "objective": "", "n_systems": 0, "origin": "", "family": "", "first": False
}  # fmt: skip


# What is fitted for, and ranked by


def ranked_by(votes: Votes) -> str:
    """Return the measure that ranks: JSD, or of few votes the unbiased squared distance.

    That needs two votes on each item; where one has a single vote, it is KL.
    """
    if not votes.are_few:
        return "jsd"
    return "sq_distance" if int(votes.n_votes.min()) >= 2 else "kl"


def objectives_for(votes: Votes) -> tuple[Objective, ...]:
    """Return what maps are fitted for, the main objective last."""
    return OBJECTIVES[:1] if votes.are_few else OBJECTIVES


def _mean(by: str, votes: Votes, predicted: Floats) -> float:
    return ALL_MEASURES[by].value(computed("", votes, predicted).aligned_to(votes))


def in_words(rows: pd.DataFrame) -> str:
    """Return what the rows are ranked by, for a caption."""
    return " or ".join(_IN_WORDS[one] for one in rows["by"].unique())


_IN_WORDS = {"jsd": "JSD", "sq_distance": "Squared distance (unbiased)", "kl": "KL"}


# What is fitted to what


@dataclass(frozen=True, slots=True, eq=False)
class CommonItems:
    """The items that all systems predict, and what is known of them.

    `logs` and `systems` are those that maps take as inputs, in one order; `shown` have seen votes,
    though not the items' own, and are shown as they are. `folds` are those of `splits.folds_of`.
    """

    votes: Votes
    systems: tuple[System, ...]
    shown: tuple[System, ...]
    logs: Floats
    groups: Ints
    folds: Ints

    def inputs(self, places: Sequence[int]) -> Floats:
        """Return what a map of some systems takes, of shape (n_items, n_inputs, n_classes).

        Where these are of several families, the seeds of each enter as one: normalised means of
        their log-probabilities. A map of fewer numbers needs fewer items.
        """
        families: dict[str, list[int]] = {}
        for place in places:
            families.setdefault(self.systems[place].family, []).append(place)
        if len(families) < 2:
            return self.logs[:, places]
        means = [self.logs[:, seeds].mean(axis=1) for seeds in families.values()]
        return np.asarray(log_softmax(np.stack(means, axis=1), axis=2))


def common(votes: Votes, systems: Sequence[System]) -> CommonItems:
    """Return the items that all systems cover, with each system's predictions of them.

    A system that has learned from votes is no input of a map: what it predicts of the items that a
    map is fitted on would depend on votes on the item that is predicted. One that has learned from
    the votes on these items themselves is refused.
    """
    rows = np.arange(len(votes))
    for system in systems:
        rows = np.intersect1d(rows, system.rows_in(votes))
    if not len(rows):
        raise ChaosError(
            "The systems have no item in common.",
            found=", ".join(system.name for system in systems),
            expected="predictions of the same items",
            todo="leave the predictions of other items out",
        )
    part = part_of(votes, rows)
    for system in systems:
        system.aligned_to(part)  # refuses what has seen these votes
    aligned = [at_items_of(part, system) for system in systems]
    inputs = [one for one in aligned if not any(map(are_votes, one.trained_on))]
    stacked = [one.probabilities for one in inputs]
    empty = np.empty((len(part), 0, votes.dataset.n_classes))
    logs = log_probabilities(np.stack(stacked, axis=1)) if stacked else empty
    shown = tuple(one for one in aligned if one not in inputs)
    groups = item_groups([votes])[0]
    if (groups[rows] == groups[rows[0]]).all():
        raise one_text_error(part)
    return CommonItems(part, tuple(inputs), shown, logs, groups[rows], folds_of(groups)[rows])


def at_items_of(votes: Votes, system: System) -> System:
    """Return a system's predictions of some votes' items alone, in their order."""
    place = {uid: row for row, uid in enumerate(system.uids)}
    rows = [place[uid] for uid in votes.uids]
    return replace(
        system,
        uids=votes.uids,
        probabilities=system.probabilities[rows],
        predicted=system.predicted[rows],
    )


def variants() -> list[Run]:
    """Return the runs of ours that learned or predict otherwise: smoothing, MC dropout, votes."""
    return [
        run
        for run in ordered(committed_runs())
        if kind_of(run) in ("smoothing", "votes")
        or (run.record.predicted and run.record.predicted.mc_samples)
    ]


def stacks(systems: Sequence[System], alone: Collection[str] = ()) -> dict[str, list[int]]:
    """Return which systems are the inputs of one map, by what tables call them.

    Each by itself; a family's seeds; all of the book's systems; these but for any that may have
    seen the items; and all with the reader's own. Those whose names are in `alone` are in no stack.
    """
    found = {one.name: [place] for place, one in enumerate(systems)}
    everyone = [place for place, one in enumerate(systems) if one.name not in alone]
    known = [place for place, one in enumerate(systems) if one.origin != "yours"]
    known = [place for place in known if place in everyone] or everyone
    families: dict[str, list[int]] = {}
    for place in known:
        if systems[place].seed is not None:
            families.setdefault(systems[place].family, []).append(place)
    for family, places in families.items():
        if 1 < len(places) < len(known):
            found[f"{family}, {len(places)} seeds"] = places
    if len(known) > 1:
        found[ALL] = known
        unseen = [place for place in known if not systems[place].caution]
        if 1 < len(unseen) < len(known):
            doubtful = dict.fromkeys(one.family for one in systems if one.caution)
            found[f"{ALL_BUT} {', '.join(doubtful)}"] = unseen
    if len(known) < len(everyone):
        found[WITH_YOURS] = everyone
    return found


# The methods


@cached_analysis(keys=_KEYS)
def methods(
    votes: Votes,
    systems: Sequence[System],
    *,
    variants: Sequence[Run] = (),
    n_resamples: int,
    confidence: float,
    seed: int,
) -> pd.DataFrame:
    """Fit every map to every system, out of fold, and score them on the items that all cover.

    ``access`` is ``old label`` where the item's old label is an input too, and ``reference`` for
    perfect model and second crowd. ``inputs`` are as `stacks` names them, `variants` in none;
    ``first`` is said of one system of each family. ``distance`` is that by the measure that ranks,
    ``by``; ``spearman`` how well a method's entropy orders the items as people's does; ``people``
    what it is worth in people on top of the base rate: of maps, of those fitted for KL alone.
    """
    others = [run.predictions_on(votes) for run in variants if votes.is_released]
    known = {one.name for one in systems}  # a reader may have repeated one of the runs
    more = [one for one in others if one is not None and one.name not in known]
    made = common(votes, [*systems, *more])
    part, folds = made.votes, made.folds
    by, objectives = ranked_by(part), objectives_for(part)
    accesses = (TEXT, OLD_LABEL) if part.has_old_labels else (TEXT,)
    scored: list[System] = []
    rows: list[dict[str, object]] = []

    def add(one: Floats | System, about: dict[str, object]) -> None:
        given = one if isinstance(one, System) else computed("", part, one)
        scored.append(replace(given, name=f"{len(rows)}"))
        rows.append({"system": scored[-1].name, "access": TEXT} | _UNSAID | about)

    def fit(
        access: str, kind: Kind, objective: Objective, about: dict[str, object], *places: int
    ) -> None:
        predicted = predict_out_of_fold(
            made.inputs(places),
            part.shares,
            folds,
            kind=kind,
            objective=objective,
            old_label=part.old_label if access == OLD_LABEL else None,
            penalty=PENALTY if places else _NEARLY_NONE,
        )
        add(predicted, {"access": access, "map": kind, "objective": objective} | about)

    for access, objective in product(accesses, objectives):
        fit(access, "affine", objective, {"map": BASE_RATE})
    alone = {one.name for one in more}
    first_of: dict[str, str] = {}
    for name, places in stacks(made.systems, alone).items():
        one, several = made.systems[places[0]], len(places) > 1
        family = name if several else one.family
        about = {"inputs": name, "n_systems": len(places), "family": family}
        about["origin"] = "" if several else one.origin
        about["first"] = first_of.setdefault(family, name) == name and name not in alone
        mean = np.mean([made.systems[place].probabilities for place in places], axis=0)
        add(mean if several else one, {"map": AS_IT_IS} | about)  # which may state its labels
        mean_logs = made.inputs(places).mean(axis=1)
        add(softmax(mean_logs / FIXED_TEMPERATURE, axis=1), {"map": FIXED} | about)
        for access in accesses:
            for kind, objective in product(KINDS if access == TEXT else STACKING, objectives):
                fit(access, kind, objective, about, *places)
    for one in made.shown:
        about = {"inputs": one.name, "family": one.family, "origin": one.origin}
        add(one, {"map": ON_VOTES, "n_systems": 1, "first": True} | about)

    measures = tuple(dict.fromkeys((*MEASURES, by)))
    how: dict[str, Any] = {"seed": seed, "level": confidence}
    found = score(part, scored, measures=measures, n_resamples=n_resamples, **how)
    values = [f"{name}{end}" for name in measures for end in _ENDS]
    how["n_resamples"] = min(n_resamples, _MOST_RESAMPLES)
    table = pd.DataFrame(rows)
    people = [
        (np.nan,) * len(_PEOPLE) if one == "jsd" else _in_people(made, system, **how)
        for one, system in zip(table["objective"], scored, strict=True)
    ]
    table = table.join(pd.DataFrame(people, columns=_PEOPLE))
    table = table.join(wide(found, "low", "high").set_index("system")[values], on="system")
    signals = [entropy_correlation(part.shares, one.probabilities) for one in scored]
    table[_SIGNAL] = [(one.value, one.low, one.high) for one in signals]
    table = table.assign(n_items=len(part))
    table = pd.concat([table, _references(part, measures, seed)], ignore_index=True)
    distance = {f"distance{end}": table[f"{by}{end}"] for end in _ENDS}
    about_it = ["n_systems", "origin", "family", "first", "n_items", "by"]
    shown = [*_KEYS[1:], *about_it, *distance, *values, *_SIGNAL, *_PEOPLE]
    return table.assign(by=by, **distance)[shown]


def _in_people(made: CommonItems, system: System, **how: Any) -> tuple[float, ...]:
    if made.votes.n_votes.min() < 2:
        return (np.nan,) * len(_PEOPLE)
    given = made.votes.counts, system.probabilities, made.groups, made.folds
    found = of_predictions(*given, is_fitted=True, **how).people
    return found.value, found.low, found.high


def _references(part: Votes, measures: Sequence[str], seed: int) -> pd.DataFrame:
    """Return perfect model and second crowd on the same items."""
    found = known_rows(part, seed) or References(part, seed=seed).rows(measures)
    scores = {(row["system"], row["measure"]): row["value"] for row in found}
    rows = [
        {"access": REFERENCE, "map": name, "n_items": len(part)}
        | {one: scores[name, one] for one in measures if (name, one) in scores}
        for name in (PERFECT_MODEL, SECOND_CROWD)
    ]
    return pd.DataFrame([_UNSAID | row for row in rows])


@cached_analysis(keys=("dataset", "left_out"))
def contributions(
    votes: Votes, systems: Sequence[System], *, n_resamples: int, seed: int
) -> pd.DataFrame:
    """Say what the stack of the book's systems loses, out of fold, where some are left out.

    These are each family, and the models of each paper together. ``value`` is the distance by the
    measure ``by`` without them minus that with them, on the same items, both by the recipe and the
    main objective; its 95% interval and ``p`` are over items, the fits held fixed, and ``p_holm``
    is adjusted for all that are left out on a dataset. The ``verdict`` is adds or costs where that
    is below 0.05, else indistinguishable. Empty where there are fewer than two families.
    """
    columns = ["left_out", "n_systems", "n_items", "by", "value", "low", "high", "p"]
    made = common(votes, systems)
    whole = stacks(made.systems).get(ALL, [])
    groups = _left_out(made.systems, whole)
    rests = {name: [place for place in whole if place not in some] for name, some in groups.items()}
    rests = {name: rest for name, rest in rests.items() if rest}
    if not rests:
        return pd.DataFrame(columns=[*columns, "p_holm", "verdict"])
    objective = objectives_for(made.votes)[-1]
    stacked = [
        computed(
            name, made.votes,
            predict_out_of_fold(
                made.inputs(places), made.votes.shares, made.folds, kind=RECIPE, objective=objective
            ),
        )
        for name, places in {ALL: whole, **rests}.items()
    ]  # fmt: skip
    by = ranked_by(made.votes)
    table = score(
        made.votes, stacked, measures=(by,), comparisons=[(name, ALL) for name in rests],
        n_resamples=n_resamples, seed=seed,
    )  # fmt: skip
    found = table[table["reference"] != ""].rename(columns={"system": "left_out"})
    found = found.assign(by=by, n_systems=[len(groups[name]) for name in found["left_out"]])
    found["p_holm"] = holm(found["p"])
    sides = np.where(found["value"] > 0, "adds", "costs")
    found["verdict"] = np.where(found["p_holm"] < LEVEL, sides, "indistinguishable")
    return found[[*columns, "p_holm", "verdict"]]


def _left_out(systems: Sequence[System], places: Sequence[int]) -> dict[str, list[int]]:
    """Return the systems of each paper, where there are several families, and of each family."""
    papers: dict[str, list[int]] = {}
    for place in places:
        if systems[place].paper:
            papers.setdefault(systems[place].paper, []).append(place)
    by_family = families_of([systems[place] for place in places])
    found = {
        f"those of {_PAPERS[paper]}": some
        for paper, some in papers.items()
        if len({systems[place].family for place in some}) > 1
    }
    for name, several in by_family.items():
        seeds = f"{systems[places[several[0]]].family}, {len(several)} seeds"
        found[seeds if len(several) > 1 else name] = [places[k] for k in several]
    return found


_PAPERS = {"nie2020": "Nie et al. 2020", "baan2022": "Baan et al. 2022"}


@cached_analysis(keys=("dataset", "judged_on"))
def carried_over(
    all_votes: Sequence[Votes], all_systems: Sequence[Sequence[System]]
) -> pd.DataFrame:
    """Judge the recipe by JSD on each dataset, where it was fitted on the other ones alone.

    ``jsd_as_it_is`` is of the mean of the systems, which are those that predict all of the
    datasets. Without rows where there is none, and where votes are few.
    """
    by_name = [
        {one.name: one for one in systems if not any(map(are_votes, one.trained_on))}
        for systems in all_systems
    ]
    shared = [name for name in by_name[0] if all(name in known for known in by_name)]
    if not shared or any(votes.are_few for votes in all_votes):
        return pd.DataFrame(columns=["judged_on"])
    found = [
        common(votes, [known[name] for name in shared])
        for votes, known in zip(all_votes, by_name, strict=True)
    ]
    groups = [
        numbers[np.isin(votes.uids, one.votes.uids)]
        for numbers, votes, one in zip(item_groups(all_votes), all_votes, found, strict=True)
    ]
    dataset_of = np.repeat(np.arange(len(found)), [len(one.votes) for one in found])
    group = np.concatenate(groups)
    logs = np.concatenate([one.inputs(range(len(shared))) for one in found])
    shares = np.concatenate([one.votes.shares for one in found])
    rows = []
    for place, one in enumerate(found):
        here = dataset_of == place
        # An item of another dataset with the same premise, story or image is not fitted on.
        others = ~np.isin(group, group[here])
        carried = fit_map(logs[others], shares[others], kind=RECIPE).predict(logs[here])
        row: dict[str, object] = {"judged_on": one.votes.dataset.name, "n_systems": len(shared)}
        row["jsd_as_it_is"] = _mean("jsd", one.votes, np.exp(one.logs).mean(axis=1))
        rows.append(row | {"n_items": here.sum(), "jsd_other": _mean("jsd", one.votes, carried)})
    return pd.DataFrame(rows)


# How many labelled items, with how many votes


@cached_analysis(keys=("dataset", "objective", "n_fitted", "n_votes"))
def curve(votes: Votes, systems: Sequence[System], *, repeats: int, seed: int) -> pd.DataFrame:
    """Fit the recipe on fewer items and fewer votes, and judge it by all votes, out of fold.

    The book's systems are stacked; the reader's own where there are no others. A row has the mean
    ``distance`` over draws, in the measure ``by``, and its standard deviation, ``balanced_subset``.
    ``whole`` says that all items of the other folds are fitted on, ``recipe`` that the objective is
    the one for so many votes. Items are drawn anew for each fold, votes without replacement.
    Without rows where there is no system.
    """
    made = common(votes, systems)
    by = ranked_by(made.votes)
    places = stacks(made.systems).get(ALL, [0] if made.systems else [])
    if not places:
        return pd.DataFrame(columns=["objective", "n_fitted", "n_votes"])
    logs, counts = made.inputs(places), made.votes.counts
    folds = made.folds
    fewest = int(min((folds != fold).sum() for fold in np.unique(folds)))
    n_votes = int(np.median(made.votes.n_votes))
    rng = np.random.default_rng([seed, 7])
    thinned = [
        {n: split_votes(counts, (n,), rng)[0] / n for n in VOTES if n < made.votes.n_votes.min()}
        | {n_votes: made.votes.shares}
        for _ in range(repeats)
    ]
    sizes = [*(n for n in ITEMS if n < fewest), fewest]
    rows = []
    for objective, n_items, size in product(objectives_for(made.votes), sizes, thinned[0]):
        found = []
        for draw, shares in enumerate(thinned):
            chosen = np.random.default_rng([seed, 11, draw])
            predicted = predict_out_of_fold(
                logs, shares[size], folds, kind=RECIPE, objective=objective,
                learned=lambda rows, n=n_items, by=chosen: by.permutation(rows)[:n],  # type: ignore[misc]
            )  # fmt: skip
            found.append(_mean(by, made.votes, predicted))
        rows.append({
            "objective": objective, "n_fitted": n_items, "n_votes": size,
            "whole": n_items == fewest, "distance": np.mean(found),
            "spread": np.std(found), "recipe": (objective == "jsd") == (size >= ENOUGH_VOTES),
            "n_systems": len(places), "by": by,
        })  # fmt: skip
    return pd.DataFrame(rows)


# How they are shown


def _is_aside(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Say of rows of `methods` whether they are fitted for KL where JSD is the main objective."""
    return (rows["objective"] == "kl") & (rows["by"] == "jsd")


def by_map(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a family's first seed, or of a stack, nearest by the recipe first.

    The base rates, which are what a map of no system comes to, stand where the recipe does. What a
    map is worth is that of the same fitted for KL.
    """
    same = ["dataset", "access", "inputs", "map"]
    of_kl = table.loc[table["objective"] == "kl", [*same, *_PEOPLE]]
    beside = table[same].merge(of_kl, "left", same).set_index(table.index)
    table = table.assign(**{name: table[name].fillna(beside[name]) for name in _PEOPLE})
    rows = table[(table["first"] | (table["map"] == BASE_RATE)) & ~_is_aside(table)]
    rows = rows.replace({"map": {BASE_RATE: RECIPE}})
    system = ["dataset", "inputs"]
    nearest = rows[(rows["access"] == TEXT) & (rows["map"] == RECIPE)]
    rows = rows.merge(nearest[[*system, "distance"]], on=system, suffixes=("", "_at_best"))
    rows = rows.sort_values("distance_at_best", kind="stable")
    return in_order_of(rows, "dataset", table["dataset"].unique())


_ALONE, _WITH = "from the text alone", "with the old label"
_AT, _AT_LABEL = ({"access": access, "map": RECIPE} for access in (TEXT, OLD_LABEL))
COLUMNS = [
    DATASET,
    Column("system", "inputs", names=SYSTEM_NAMES | {"": "none (base rate)"}),
    *(
        Column(
            name, "distance", 3, at={"access": TEXT, "map": name}, best="lowest", group=_ALONE
        )
        for name in (AS_IT_IS, "temperature", "affine")
    ),
    Column(
        RECIPE, "distance", 3, "distance_low", "distance_high",
        at=_AT, best="lowest", group=_ALONE,
    ),
    Column("worth", "people", 1, at=_AT, best="highest", group=_ALONE),
    Column(RECIPE, "distance", 3, at=_AT_LABEL, best="lowest", group=_WITH),
    Column("worth", "people", 1, at=_AT_LABEL, best="highest", group=_WITH),
]  # fmt: skip


def columns_of(rows: pd.DataFrame) -> list[Column]:
    """Return those of `COLUMNS` in which the rows of `by_map` have something."""
    return [one for one in COLUMNS if one.row_of(rows.dropna(subset=one.value).to_dict("records"))]


def drawn(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `methods` that the figure draws, with their ``group`` and ``label``.

    Of one seed of each family, and of all systems together, these are as they are and by the
    recipe.
    """
    one = table["first"] & (table["n_systems"] == 1)
    stacked = table["inputs"].str.startswith((ALL, ALL_BUT))
    return _labelled(table[(one | stacked | (table["n_systems"] == 0)) & (table["map"] != FIXED)])


def ways_drawn(table: pd.DataFrame, encoder: str) -> pd.DataFrame:
    """Return the rows of `methods` on ways to train one encoder and to use it, as `drawn` does.

    These are the encoder's first seed, its seeds together, and the runs that learned otherwise.
    """
    family = table["family"]
    ours = family.str.startswith(f"{encoder},") | (table["first"] & (family == encoder))
    known = (table["access"] == TEXT) & ours | table["map"].isin([PERFECT_MODEL, SECOND_CROWD])
    is_aside = (table["map"] == FIXED) & (family != encoder)
    return _labelled(table[known & ~is_aside & ours.any()])


def _labelled(table: pd.DataFrame) -> pd.DataFrame:
    """Return rows as the figures draw them: by the recipe, and without a map."""
    rows = table[~_is_aside(table) & ~table["map"].isin(["temperature", "affine"])]
    no_votes = rows["map"].isin([AS_IT_IS, FIXED])
    label = rows["family"].where(rows["family"] != "", rows["inputs"]).replace(SYSTEM_NAMES)
    label = label.str.replace(r", \d+ folds", "", regex=True)
    label += rows["map"].map({FIXED: f", {FIXED}"}).fillna("")
    label = label.mask(label == "", rows["map"])
    return rows.assign(group=rows["access"].mask(no_votes, "no votes"), label=label)


def curve_drawn(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `curve` that the figure draws: by the recipe, where systems are stacked.

    Where no dataset has more than one system, all are drawn.
    """
    rows = table[table["recipe"].eq(True)]
    several = rows[rows["n_systems"] > 1]
    return several if len(several) else rows


def contribution_columns(n_resamples: int) -> list[Column]:
    """Return how `contributions` are shown, datasets side by side."""

    def p_of(row: Row) -> str:
        return p_value(row["p_holm"], n_resamples, raw=row["p"])

    return [
        DATASET,
        Column("left out", "left_out", names=SYSTEM_NAMES),
        Column("distance without, minus with", "value", 4, "low", "high", signed=True),
        Column("p", p_of),
        Column("the systems left out", "verdict"),
    ]


CARRIED_COLUMNS = [
    Column("dataset", "judged_on", names=short_of),
    Column("as it is", "jsd_as_it_is", 3),
    Column("fitted on the other", "jsd_other", 3),
]
