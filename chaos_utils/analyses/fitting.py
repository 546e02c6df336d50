"""What maps that are fitted on votes make of systems: out of fold, for every system.

Nothing is fitted to few votes for JSD, or ranked by it: it then rewards overconfidence.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import log_softmax

from chaos_utils.analyses.names import SYSTEM_NAMES, dataset_name
from chaos_utils.analyses.recorded import derived, recorded
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.table import in_order_of
from chaos_utils.datasets.splits import grouped_folds, item_groups
from chaos_utils.datasets.votes import ENOUGH_VOTES, Votes
from chaos_utils.metrics.divergence import jensen_shannon_distance
from chaos_utils.metrics.measures import MEASURES as ALL_MEASURES
from chaos_utils.metrics.resampling import split_votes
from chaos_utils.report.columns import Column, Row
from chaos_utils.scoring.fitting import (
    KINDS,
    OBJECTIVES,
    PENALTIES,
    PENALTY,
    STACKING,
    Kind,
    Objective,
    log_probabilities,
    predict_nested,
    predict_out_of_fold,
)
from chaos_utils.scoring.judging import part_of
from chaos_utils.scoring.published import published_models
from chaos_utils.scoring.references import PERFECT_MODEL, SECOND_CROWD, References, known_rows
from chaos_utils.scoring.scores import score
from chaos_utils.scoring.system import System, are_votes, votes_of
from chaos_utils.scoring.systems import computed
from chaos_utils.scoring.trained import Run, committed_runs, kind_of, ordered
from chaos_utils.scoring.worth import worth

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MEASURES = ("jsd", "kl", "dist_ce", "new_accuracy")
AS_IT_IS, BASE_RATE, CHOSEN, ON_VOTES = "as it is", "base rate", "chosen", "trained on votes"
ALL, ALL_BUT, WITH_YOURS = "all systems", "all but", "all systems and yours"
RECIPE: Kind = "quadratic"
RIVAL = "mean vote given the old label"
ITEMS = (50, 100, 200, 500, 1000)
VOTES = (1, 3, 5, 20)
_NEARLY_NONE = 1e-3  # penalty of base rates
_SEEDS = 3  # ways to deal the folds
_PEOPLE = ("people", "people_low", "people_high")
_MOST_RESAMPLES = 500  # for what each of some hundred systems is worth
_ENDS = ("", "_low", "_high")
_KEYS = ("dataset", "access", "inputs", "map", "objective")


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


def with_distance(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with ``distance``, and its ends if there are some: by the measure in ``by``."""
    for end in _ENDS:
        known = [one for one in _IN_WORDS if f"{one}{end}" in rows]
        if known:
            each = [rows[f"{one}{end}"].where(rows["by"] == one) for one in known]
            rows = rows.assign(**{f"distance{end}": pd.concat(each, axis=1).max(axis=1)})
    return rows


def in_words(rows: pd.DataFrame) -> str:
    """Return what the rows are ranked by, for a caption."""
    return " or ".join(_IN_WORDS[one] for one in rows["by"].unique())


_IN_WORDS = {"jsd": "JSD", "sq_distance": "Squared distance (unbiased)", "kl": "KL"}


# What is fitted to what


@dataclass(frozen=True, slots=True, eq=False)
class Common:
    """The items that all systems predict, and what is known of them.

    `logs` and `systems` are those that maps take as inputs, in one order; `shown` have seen votes,
    though not the items' own, and are shown as they are.
    """

    votes: Votes
    systems: tuple[System, ...]
    shown: tuple[System, ...]
    logs: Floats
    groups: Ints

    @property
    def old_label(self) -> Ints | None:
        """The old labels, if there are any."""
        return self.votes.old_label if self.votes.has_old_labels else None

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


def common(votes: Votes, systems: Sequence[System]) -> Common:
    """Return the items that all systems cover, with each system's predictions of them.

    A system that has learned from votes is no input of a map: what it predicts of the items that a
    map is fitted on would depend on votes on the item that is predicted.

    Raises
    ------
    ChaosError
        If the systems have no item in common, or one has learned from the votes on these items
        themselves.
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
    aligned = [_on(system, part) for system in systems]
    inputs = [one for one in aligned if not any(map(are_votes, one.trained_on))]
    stacked = [one.probabilities for one in inputs]
    empty = np.empty((len(part), 0, votes.dataset.n_classes))
    logs = log_probabilities(np.stack(stacked, axis=1)) if stacked else empty
    shown = tuple(one for one in aligned if one not in inputs)
    return Common(part, tuple(inputs), shown, logs, item_groups([votes])[0][rows])


def _on(system: System, votes: Votes) -> System:
    """Return the same predictions of some votes' items alone, in their order."""
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
        or (kind_of(run) == "predicted" and run.record["predicted"]["mc_samples"])
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


def _of_book(systems: Sequence[System]) -> list[int]:
    """Return the places of the book's systems; of the reader's own where there are no others."""
    return stacks(systems).get(ALL, [0] if systems else [])


def _folds(groups: Ints, n_folds: int, seed: int) -> Ints:
    return grouped_folds(groups, min(n_folds, len(np.unique(groups))), seed)


def _system(made: Common, name: str, probabilities: Floats, *, fitted: bool) -> System:
    return System(
        name,
        made.votes.dataset,
        made.votes.uids,
        probabilities,
        probabilities.argmax(axis=1),
        origin="baseline",
        trained_on=(votes_of(made.votes.dataset),) if fitted else (),
        out_of_fold=fitted,
    )


# The methods


@recorded(keys=_KEYS, published=("nie2020_table5",))
def methods(
    votes: Votes,
    systems: Sequence[System],
    *,
    variants: Sequence[Run] = (),
    n_folds: int,
    n_resamples: int,
    confidence: float,
    seed: int,
) -> pd.DataFrame:
    """Fit every map to every system, out of fold, and score them on the items that all cover.

    Parameters
    ----------
    votes : Votes
    systems : sequence of System
    variants : sequence of Run
        Shown as they are and by each map on the released votes, but in no stack.
    n_folds : int
        Folds by premise, story and image; as many as there are of these, if that is fewer.
    n_resamples : int
        Bootstrap resamples of the items, at least 100.
    confidence : float
        Coverage of the intervals.
    seed : int
        Of folds and resamples.

    Returns
    -------
    DataFrame
        One row for each method: ``access`` (``text``, or ``old label`` where the item's old label
        is an input too; ``reference`` for perfect model, second crowd and the best published
        model); ``inputs``, as `stacks` names them; ``n_systems``; ``map`` (one of `KINDS`,
        ``chosen`` with its penalty by inner folds, for stacks, and the only one for all but those
        systems that may have seen the items; ``as it is``, ``base rate``, ``trained on votes``);
        ``objective`` (kl, jsd, or empty); ``origin``; ``family``; ``first``, whether it is the
        first of its family, and no variant; ``n_items``; ``by``, as `ranked_by` gives it; for it
        and each of `MEASURES` its value with ``_low`` and ``_high``; ``difference``, by that
        measure, from the mean vote given the old label, with its interval; ``people``, what it is
        worth in people on top of the base rate.
    """
    others = [run.predictions_on(votes) for run in variants if votes.is_released]
    known = {one.name for one in systems}  # a reader may have repeated one of the runs
    more = [one for one in others if one is not None and one.name not in known]
    made = common(votes, [*systems, *more])
    folds = _folds(made.groups, n_folds, seed)
    by, objectives = ranked_by(made.votes), objectives_for(made.votes)
    measures = tuple(dict.fromkeys((*MEASURES, by)))
    rows: list[dict[str, object]] = []
    scored: list[System] = []

    def add(probabilities: Floats, about: Mapping[str, object], *, fitted: bool = True) -> None:
        scored.append(_system(made, f"{len(rows)}", probabilities, fitted=fitted))
        unsaid = {"objective": "", "inputs": "", "family": "", "origin": "", "first": False}
        rows.append({"system": scored[-1].name} | unsaid | dict(about))

    def fit(access: str, kind: Kind, places: Sequence[int], about: Mapping[str, object]) -> None:
        for objective in objectives[: 1 if kind == "isotonic" else None]:
            predicted = predict_out_of_fold(
                made.inputs(places),
                made.votes.shares,
                folds,
                kind=kind,
                objective=objective,
                old_label=made.old_label if access == "old label" else None,
                penalty=PENALTY if places else _NEARLY_NONE,
            )
            what = {"access": access, "map": kind if places else BASE_RATE}
            aim = "" if kind == "isotonic" else objective
            add(predicted, what | dict(about) | {"objective": aim})

    accesses = ("text", "old label") if made.old_label is not None else ("text",)
    for access in accesses:
        fit(access, "affine", [], {"n_systems": 0})
    alone = [one.name for one in more]
    for name, places in stacks(made.systems, alone).items():
        members = [made.systems[place] for place in places]
        about = {"inputs": name, "n_systems": len(places)} | _family(name, members, made.systems)
        about["first"] = about["first"] and name not in alone
        mean = np.mean([one.probabilities for one in members], axis=0)
        add(mean, {"access": "text", "map": AS_IT_IS} | about, fitted=False)
        beside = name.startswith(ALL_BUT)  # shown by its headline alone
        for access in accesses[: 1 if beside else None]:
            for kind in () if beside else KINDS if access == "text" else STACKING:
                fit(access, kind, places, about)
            if len(places) > 1:
                label = made.old_label if access == "old label" else None
                predicted = predict_nested(
                    made.inputs(places), made.votes.shares, made.groups, folds,
                    objective=objectives[-1], old_label=label, seed=seed,
                )  # fmt: skip
                what = {"access": access, "map": CHOSEN, "objective": objectives[-1]}
                add(predicted, what | about)
    for one in made.shown:
        about = {"inputs": one.name, "n_systems": 1, "family": one.family, "origin": one.origin}
        add(one.probabilities, {"access": "text", "map": ON_VOTES, "first": True} | about)
    table = pd.DataFrame(rows).assign(dataset=votes.dataset.name, n_items=len(made.votes))
    ranked = _scored(made.votes, scored, rows, measures, by, n_resamples, confidence, seed)
    table = table.merge(ranked, "left")
    how = (min(n_resamples, _MOST_RESAMPLES), seed, confidence)
    people = {one.name: _in_people(made.votes, one, *how) for one in scored}
    for place, column in enumerate(_PEOPLE):
        table[column] = [people[name][place] for name in table["system"]]
    references = _references(votes, made.votes, measures, seed)
    table = pd.concat([table, references], ignore_index=True).drop(columns="system")
    table = table.assign(first=table["first"].eq(True), by=by)
    for name in ("inputs", "family", "origin", "objective"):
        table[name] = table[name].astype(object).where(table[name].notna(), "")
    values = [f"{name}{end}" for name in (*measures, "difference") for end in _ENDS]
    table = table.astype(dict.fromkeys([*values, *_PEOPLE], float))
    about_it = ["n_systems", "origin", "family", "first", "n_items", "by"]
    whole = table.astype({"n_systems": int, "n_items": int})
    return whole[[*_KEYS, *about_it, *values, *_PEOPLE]]


def _family(name: str, members: Sequence[System], systems: Sequence[System]) -> dict[str, object]:
    if len(members) > 1:
        return {"family": name, "origin": "", "first": True}
    (one,) = members
    first = next(other for other in systems if other.family == one.family)
    return {"family": one.family, "origin": one.origin, "first": one is first}


def _scored(
    votes: Votes,
    systems: Sequence[System],
    rows: Sequence[dict[str, object]],
    measures: Sequence[str],
    by: str,
    n_resamples: int,
    confidence: float,
    seed: int,
) -> pd.DataFrame:
    """Return a row of values for each system, with the difference from the rival in the main one.

    That is the base rate that was fitted last: with the old label, where there is one.
    """
    rivals = [one.name for one, row in zip(systems, rows, strict=True) if row["map"] == BASE_RATE]
    rival = rivals[-1]
    found = score(
        votes,
        systems,
        measures=measures,
        reference=rival,
        n_resamples=n_resamples,
        seed=seed,
        level=confidence,
    )
    table = pd.DataFrame({"system": [one.name for one in systems]})
    parts = [(name, found[(found["reference"] == "") & (found["measure"] == name)])
             for name in measures]  # fmt: skip
    parts.append(("difference", found[(found["reference"] != "") & (found["measure"] == by)]))
    for name, part in parts:
        columns = {"value": name, "low": f"{name}_low", "high": f"{name}_high"}
        part = part[["system", *columns]].rename(columns=columns)
        table = table.merge(part, "left", "system")
    return table


def _in_people(
    votes: Votes, system: System, n_resamples: int, seed: int, level: float
) -> tuple[float, float, float]:
    if votes.n_votes.min() < 2:
        return np.nan, np.nan, np.nan
    found = worth(votes, system, n_resamples=n_resamples, seed=seed, level=level).people
    return found.value, found.low, found.high


def _references(votes: Votes, part: Votes, measures: Sequence[str], seed: int) -> pd.DataFrame:
    """Return perfect model and second crowd on the same items, and the best published model."""
    found = known_rows(part, seed) or References(part, seed=seed).rows(measures)
    scores = {(row["system"], row["measure"]): row["value"] for row in found}
    rows: list[dict[str, object]] = [
        {"map": name, "n_items": len(part)}
        | {one: scores[name, one] for one in measures if (name, one) in scores}
        for name in (PERFECT_MODEL, SECOND_CROWD)
    ]
    models = published_models()
    models = models[models["dataset"] == votes.dataset.name]
    if votes.is_released and len(models):
        best = models.loc[models["jsd"].idxmin()]
        values = {name: best[name] for name in MEASURES if name in best}
        name = SYSTEM_NAMES[best["model"]]
        rows.append({"map": "published", "inputs": name, "n_items": len(votes)} | values)
    known = {"access": "reference", "dataset": votes.dataset.name, "n_systems": 0}
    return pd.DataFrame([row | known for row in rows])


# One map for several datasets


@recorded(keys=("dataset", "judged_on", "access", "map"))
def pooling(
    all_votes: Sequence[Votes],
    all_systems: Sequence[Sequence[System]],
    *,
    n_folds: int,
    seed: int,
) -> pd.DataFrame:
    """Fit one map to several datasets, to each alone, and to the others alone.

    Parameters
    ----------
    all_votes : sequence of Votes
    all_systems : sequence of sequences of System
        Inputs are the systems that predict all of the datasets.
    n_folds, seed : int
        As for `methods`.

    Returns
    -------
    DataFrame
        One row for each dataset that is ``judged_on``, ``access`` and ``map``: the JSD, out of
        fold, of maps that are fitted for JSD on the same dataset (``jsd_each``), on all of them
        (``jsd_pooled``), and on the other ones (``jsd_other``), all three the same for the mean of
        the systems as they are; ``n_systems``, ``n_items``. Without rows where votes are few.
    """
    if any(votes.are_few for votes in all_votes):
        names = ["dataset", "judged_on", "access", "map", "n_systems", "n_items",
                 "jsd_each", "jsd_pooled", "jsd_other"]  # fmt: skip
        return pd.DataFrame(columns=names)
    by_name = [
        {one.name: one for one in systems if not any(map(are_votes, one.trained_on))}
        for systems in all_systems
    ]
    shared = [name for name in by_name[0] if all(name in known for known in by_name)]
    found = [
        common(votes, [known[name] for name in shared])
        for votes, known in zip(all_votes, by_name, strict=True)
    ]
    numbered = item_groups(all_votes)
    kept = [
        numbers[np.isin(votes.uids, one.votes.uids)]
        for numbers, votes, one in zip(numbered, all_votes, found, strict=True)
    ]
    groups = np.concatenate(kept)
    folds = _folds(groups, n_folds, seed)
    shares = np.concatenate([one.votes.shares for one in found])
    logs = np.concatenate([one.inputs(range(len(shared))) for one in found])
    dataset = np.repeat(np.arange(len(found)), [len(one.votes) for one in found])
    labels = [one.old_label for one in found if one.old_label is not None]
    old = np.concatenate(labels) if len(labels) == len(found) else None

    def of_dataset(rows: Ints, held: Ints) -> Ints:
        return rows[dataset[rows] == dataset[held[0]]]

    def of_other_groups(rows: Ints, held: Ints) -> Ints:
        return rows[~np.isin(groups[rows], groups[held])]

    # What is predicted together, and what is fitted on for it.
    ways = {
        "each": (folds + dataset * (folds.max() + 1), of_dataset),
        "pooled": (folds, None),
        "other": (dataset, of_other_groups),
    }
    rows = []
    for access in ("text", "old label") if old is not None else ("text",):
        given = old if access == "old label" else None
        kinds: list[str] = [BASE_RATE, *(STACKING if logs.shape[1] else ())]
        if logs.shape[1] and given is None:
            kinds.append(AS_IT_IS)
        for name in kinds:
            x = logs[:, :0] if name == BASE_RATE else logs
            if name == AS_IT_IS:
                whole = np.concatenate([np.exp(one.logs).mean(axis=1) for one in found])
                fitted = dict.fromkeys(ways, whole)
            else:
                fitted = {
                    where: predict_out_of_fold(
                        x, shares, parts,
                        kind="quadratic" if name == "quadratic" else "affine",
                        penalty=_NEARLY_NONE if name == BASE_RATE else PENALTY,
                        old_label=given, learned=learned,
                    )
                    for where, (parts, learned) in ways.items()
                }  # fmt: skip
            n_systems = len(shared) if x.shape[1] else 0
            far = {
                f"jsd_{where}": jensen_shannon_distance(shares, predicted, unit="nats")
                for where, predicted in fitted.items()
            }
            for place, one in enumerate(found):
                row = {"judged_on": one.votes.dataset.name, "access": access, "map": name,
                       "n_systems": n_systems, "n_items": len(one.votes)}  # fmt: skip
                means = {where: float(values[dataset == place].mean())
                         for where, values in far.items()}  # fmt: skip
                rows.append(row | means)
    table = pd.DataFrame(rows).assign(dataset="+".join(one.dataset.name for one in all_votes))
    return table[["dataset", *[name for name in table if name != "dataset"]]]


# How many labelled items, with how many votes


@recorded(keys=("dataset", "objective", "n_fitted", "n_votes"))
def curve(
    votes: Votes, systems: Sequence[System], *, n_folds: int, repeats: int, seed: int
) -> pd.DataFrame:
    """Fit the recipe on fewer items and fewer votes, and judge it by all votes, out of fold.

    Parameters
    ----------
    votes : Votes
    systems : sequence of System
        Those of the book, stacked; the reader's own where there are no others.
    n_folds, seed : int
        As for `methods`.
    repeats : int
        Draws of items and votes that are averaged over; at least 1.

    Returns
    -------
    DataFrame
        One row for each ``objective``, ``n_fitted`` items and ``n_votes`` on each: the mean
        ``jsd``, or what else is named in ``by`` (`ranked_by`), and ``spread``, the standard
        deviation over draws; ``whole`` where all items of
        the other folds are fitted on; ``budget``, votes in all; ``n_systems``. Items are drawn
        anew for each fold, votes without replacement. Without rows where there is no system.
    """
    made = common(votes, systems)
    by = ranked_by(made.votes)
    columns = ["dataset", "objective", "n_fitted", "n_votes", "whole", "budget", by, "spread",
               "recipe", "n_systems", "n_repeats"]  # fmt: skip
    places = _of_book(made.systems)
    if not places:
        return pd.DataFrame(columns=[*columns, "by"])
    logs, counts = made.inputs(places), made.votes.counts
    folds = _folds(made.groups, n_folds, seed)
    fewest = int(min((folds != fold).sum() for fold in np.unique(folds)))
    n_votes = int(np.median(made.votes.n_votes))
    rng = np.random.default_rng([seed, 7])
    thinned = [
        {n: split_votes(counts, (n,), rng)[0] / n for n in VOTES if n < made.votes.n_votes.min()}
        | {n_votes: made.votes.shares}
        for _ in range(repeats)
    ]
    rows = []
    for objective in objectives_for(made.votes):
        for n_items in [*(n for n in ITEMS if n < fewest), fewest]:
            for size in thinned[0]:
                found = []
                for draw, shares in enumerate(thinned):
                    chosen = np.random.default_rng([seed, 11, draw])
                    predicted = predict_out_of_fold(
                        logs, shares[size], folds, kind=RECIPE, objective=objective,
                        learned=lambda rows, _, n=n_items, by=chosen: (  # type: ignore[misc]
                            by.permutation(rows)[:n]
                        ),
                    )  # fmt: skip
                    found.append(_mean(by, made.votes, predicted))
                rows.append((votes.dataset.name, objective, n_items, size, n_items == fewest,
                             n_items * size, np.mean(found), np.std(found), size >= ENOUGH_VOTES,
                             len(places), repeats))  # fmt: skip
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(recipe=table["recipe"] == (table["objective"] == "jsd"), by=by)


@recorded(keys=("dataset", "penalty", "folds_seed"))
def choices(votes: Votes, systems: Sequence[System], *, n_folds: int, seed: int) -> pd.DataFrame:
    """Fit the recipe with other penalties, and with folds that are dealt in other ways.

    Parameters
    ----------
    votes, systems, n_folds, seed
        As for `curve`.

    Returns
    -------
    DataFrame
        ``dataset``, ``penalty``, ``folds_seed``, ``n_systems``, and ``jsd`` or what else is named
        in ``by`` (`ranked_by`); without rows where there is no system.
    """
    made = common(votes, systems)
    by = ranked_by(made.votes)
    places = _of_book(made.systems)
    rows = []
    tried = [(one, seed) for one in PENALTIES]
    tried += [(PENALTY, seed + more) for more in range(1, _SEEDS)]
    for penalty, folds_seed in tried if places else []:
        predicted = predict_out_of_fold(
            made.inputs(places), made.votes.shares, _folds(made.groups, n_folds, folds_seed),
            kind=RECIPE, objective=objectives_for(made.votes)[-1], penalty=penalty,
        )  # fmt: skip
        far = _mean(by, made.votes, predicted)
        rows.append((votes.dataset.name, penalty, folds_seed, far, len(places)))
    columns = ["dataset", "penalty", "folds_seed", by, "n_systems"]
    return pd.DataFrame(rows, columns=columns).assign(by=by)


# How they are shown


@derived(keys=("dataset", "inputs"))
def by_map(methods: pd.DataFrame) -> pd.DataFrame:
    """Return each system's distance as it is, and by each map that is fitted for it, side by side.

    That is JSD, or of few votes what `ranked_by` names; their maps are fitted for KL.
    """
    rows = methods[(methods["access"] == "text") & (methods["n_systems"] > 0)]
    rows = with_distance(rows[~_is_aside(rows) & (rows["map"] != ON_VOTES)])
    rows = rows[~rows["inputs"].str.startswith(ALL_BUT)]
    wide = rows.pivot(index=["dataset", "inputs"], columns="map", values="distance")
    wide = wide.reindex(columns=[AS_IT_IS, *KINDS])
    names = {AS_IT_IS: "as_it_is"} | {kind: str(kind) for kind in KINDS}
    order = rows[["dataset", "inputs", "n_systems"]].drop_duplicates(["dataset", "inputs"])
    found = order.merge(wide.rename(columns=names).reset_index(), "left", ["dataset", "inputs"])
    return found[["dataset", "inputs", "n_systems", *names.values()]]


def _is_aside(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Say of rows of `methods` whether they are fitted for KL where JSD is the main objective."""
    return (rows["objective"] == "kl") & (rows["by"] == "jsd")


def shown(table: pd.DataFrame, access: str) -> pd.DataFrame:
    """Return the rows of `methods` that a page has room for, of one access, nearest first.

    A family is shown by its first seed; by temperature, by the quadratic map and by the chosen one
    the stack of all systems alone, for KL too by the quadratic one; a stack of all but some by the
    chosen one; of variants, those alone that were trained on votes. A reader's own systems are
    shown as that stack is. JSD and TVD to few votes are left to the data.
    """
    rows = table[table["access"] == access]
    kept = rows[rows["first"] | (rows["n_systems"] == 0)]
    largest = kept.groupby("dataset")["n_systems"].transform("max")
    is_largest = (kept["n_systems"] == largest) & (largest > 1) | (kept["origin"] == "yours")
    aside = _is_aside(kept)
    usual = kept["map"].isin([BASE_RATE, "affine"]) & ~aside
    usual |= (kept["map"] == AS_IT_IS) & ((kept["n_systems"] == 1) | is_largest)
    usual |= kept["map"] == ON_VOTES
    more = kept["map"].isin([RECIPE, CHOSEN, "temperature"]) & ~aside & is_largest
    without = kept["inputs"].str.startswith(ALL_BUT)
    usual &= ~without
    more |= without & (kept["map"] == CHOSEN)
    for_kl = aside & ((is_largest & (kept["map"] == RECIPE)) | (kept["n_systems"] == 0))
    chosen = with_distance(kept[usual | more | for_kl]).sort_values("distance", kind="stable")
    hidden = [f"{name}{end}" for name in ("jsd", "dist_ce") for end in _ENDS]
    chosen.loc[chosen["by"] != "jsd", hidden] = np.nan
    return in_order_of(chosen, "dataset", table["dataset"].unique())


def drawn(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `methods` that the figure draws, with their ``group`` and ``label``.

    Of those shown, what is fitted for the main objective: one seed of each family as it is and,
    from the text alone, by the affine map; the stack of all systems by temperature and by the
    chosen one. The best published model is left out where it is one of the systems.
    """
    rows = pd.concat([shown(table, access) for access in ("text", "old label")])
    single = (rows["n_systems"] == 1) & rows["map"].isin([AS_IT_IS, "affine", ON_VOTES])
    single &= rows["access"] == "text"
    stacked = rows["inputs"].isin([ALL, WITH_YOURS]) | rows["inputs"].str.startswith(ALL_BUT)
    stacked &= ~rows["map"].isin(["affine", RECIPE])
    rows = rows[(single | stacked | (rows["n_systems"] == 0)) & ~_is_aside(rows)]
    beside = table[table["access"] == "reference"]
    here = set(zip(rows["dataset"], rows["inputs"].map(_name), strict=True))
    pairs = zip(beside["dataset"], beside["inputs"], strict=True)
    is_here = np.array([pair in here for pair in pairs], dtype=bool) & (
        beside["map"] == "published"
    )
    rows = pd.concat([rows, beside[~is_here]], ignore_index=True)
    records = rows.to_dict("records")
    rows = rows.assign(group=[_group(row) for row in records], label=[_label(r) for r in records])
    rows = with_distance(rows)
    return in_order_of(rows, "dataset", table["dataset"].unique())


def _name(inputs: str) -> str:
    return SYSTEM_NAMES.get(inputs, inputs)


def _group(row: Row) -> str:
    return "no votes" if row["map"] in (AS_IT_IS, "published") else str(row["access"])


def _label(row: Row) -> str:
    if row["map"] == BASE_RATE:
        return RIVAL if row["access"] == "old label" else BASE_RATE
    if row["map"] == "published":
        return f"{row['inputs']} (published)"
    if row["map"] == AS_IT_IS and row["n_systems"] > 1:
        return f"{row['inputs']}, mean"
    if row["map"] in (AS_IT_IS, "affine", ON_VOTES):
        return re.sub(r", \d+ folds", "", _name(row["inputs"]))
    if row["map"] == CHOSEN:
        return f"{row['inputs']}, chosen map"
    return f"{row['inputs']}, {row['map']}" if row["inputs"] else str(row["map"])


def curve_drawn(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `curve` that the figure draws: by the recipe, where systems are stacked.

    Where no dataset has more than one system, all are drawn.
    """
    rows = with_distance(table[table["recipe"].eq(True)])
    several = rows[rows["n_systems"] > 1]
    return several if len(several) else rows


def _map(row: Row) -> str:
    if row["map"] == CHOSEN:
        return "chosen by inner folds"
    if row["map"] == BASE_RATE:
        return f"constant, for {row['objective'].upper()}"
    return f"{row['map']}, for {row['objective'].upper()}" if row["objective"] else str(row["map"])


def _inputs(row: Row) -> str:
    parts = ["old label"] if row["access"] == "old label" else []
    return " + ".join([*parts, *filter(None, [_name(row["inputs"])])]) or "none"


COLUMNS = [
    Column("dataset", "dataset", names=dataset_name),
    Column("inputs", _inputs),
    Column("map", _map),
    Column(
        "squared distance", "sq_distance", 3, "sq_distance_low", "sq_distance_high", best="lowest"
    ),
    Column("JSD", "jsd", 3, "jsd_low", "jsd_high", best="lowest"),
    Column("KL", "kl", 3, best="lowest"),
    Column("TVD", "dist_ce", 3, best="lowest"),
    Column("new accuracy, %", "new_accuracy", 1, percent=True, best="highest"),
    Column("worth", "people", 1, "people_low", "people_high", best="highest"),
]


def columns_of(rows: pd.DataFrame) -> list[Column]:
    """Return those of `COLUMNS` in which the rows of `shown` have numbers."""
    return [
        column
        for column in COLUMNS
        if callable(column.value) or (column.value in rows and rows[column.value].notna().any())
    ]


MAP_COLUMNS = [
    Column("dataset", "dataset", names=dataset_name),
    Column("system", "inputs", names=SYSTEM_NAMES),
    Column("as it is", "as_it_is", 3),
    *(Column(kind, kind, 3) for kind in KINDS),
]
_ACCESS = {"text": "text alone", "old label": "with the old label"}
POOL_COLUMNS = [
    Column("dataset", "judged_on", names=dataset_name),
    Column("from", "access", names=_ACCESS),
    Column("map", "map"),
    Column("this dataset", "jsd_each", 3, group="fitted on"),
    Column("both", "jsd_pooled", 3, group="fitted on"),
    Column("the other", "jsd_other", 3, group="fitted on"),
]
CHOICE_COLUMNS = [
    Column("dataset", "dataset", names=dataset_name),
    Column("penalty", "penalty"),
    Column("folds dealt by seed", "folds_seed"),
    Column("measure", "by", names=_IN_WORDS),
    Column("distance", "distance", 4),
]
