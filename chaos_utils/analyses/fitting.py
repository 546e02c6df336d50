"""Maps that are fitted on votes, applied to every system out of fold.

With few votes, no map is fitted for JSD and nothing is ranked by it, since JSD then rewards
overconfidence.
"""

from collections.abc import Collection, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import log_softmax, softmax

from chaos_utils.analyses.baan import FIXED_TEMPERATURE
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.table import in_order_of
from chaos_utils.datasets.catalogue import short_of
from chaos_utils.datasets.splits import folds_of, grouped_folds, item_groups, one_text_error
from chaos_utils.datasets.votes import ENOUGH_VOTES, Ints, Votes
from chaos_utils.metrics.conformal import label_sets as sets_of_labels
from chaos_utils.metrics.divergence import Floats, entropy, total_variation
from chaos_utils.metrics.measures import MEASURES as ALL_MEASURES
from chaos_utils.metrics.resampling import holm, split_votes
from chaos_utils.metrics.signals import entropy_correlation
from chaos_utils.plots.columns import DATASET, p_value
from chaos_utils.plots.systems import SYSTEM_NAMES
from chaos_utils.recorded import cached_analysis
from chaos_utils.report.columns import Column, Row
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
from chaos_utils.scoring.system import System, are_votes, shared_rows
from chaos_utils.scoring.systems import computed
from chaos_utils.scoring.training_records import Run, committed_runs, kind_of, ordered
from chaos_utils.scoring.worth import PEOPLE, of_predictions

MEASURES = ("jsd", "kl", "dist_ce", "new_accuracy")
TEXT, OLD_LABEL, REFERENCE = "text", "old label", "reference"  # what a method knows of an item
AS_IT_IS, BASE_RATE, ON_VOTES = "as it is", "base rate", "trained on votes"
FIXED = f"T = {FIXED_TEMPERATURE:g}"
ALL, ALL_BUT, WITH_YOURS = "all systems", "all but", "all systems and yours"
RECIPE: Kind = "quadratic"
LEVEL = 0.05  # of tests
ITEMS = (50, 100, 200, 500, 1000)
VOTES = (1, 3, 5, 20)
THEMSELVES = "the votes themselves"
LEVEL_OF_SETS = 0.9
_DISPUTED = 0.2  # share of the items, those with the largest entropy
_ROUNDING = 1e-9
_BASE_RATE_PENALTY = 1e-3  # penalty of base rates
_MOST_RESAMPLES = 500  # for the worth of each of some hundred systems
_PEOPLE = ["people", "people_low", "people_high"]
_SIGNAL = ["spearman", "spearman_low", "spearman_high"]
_ENDS = ("", "_low", "_high")
_KEYS = ("dataset", "access", "inputs", "map", "objective")
_NO_SYSTEM: dict[str, object] = {
    "inputs": "", "objective": "", "n_systems": 0, "origin": "", "family": "", "first": False
}  # fmt: skip


# What is fitted for, and ranked by


def ranked_by(votes: Votes) -> str:
    """Return the measure that ranks: JSD, or with few votes the unbiased squared distance.

    The squared distance needs two votes on each item; where an item has a single vote, KL ranks.
    """
    if not votes.are_few:
        return "jsd"
    return "sq_distance" if int(votes.n_votes.min()) >= 2 else "kl"


def objectives_for(votes: Votes) -> tuple[Objective, ...]:
    """Return the objectives that maps are fitted for, the main one last."""
    return OBJECTIVES[:1] if votes.are_few else OBJECTIVES


def _mean_score(by: str, votes: Votes, predicted: Floats) -> float:
    return ALL_MEASURES[by].value(computed("", votes, predicted).aligned_to(votes))


def measure_names(rows: pd.DataFrame) -> str:
    """Return the names of the measures that rank the rows, for a caption."""
    return " or ".join(_MEASURE_NAMES[measure] for measure in rows["by"].unique())


_MEASURE_NAMES = {"jsd": "JSD", "sq_distance": "Squared distance (unbiased)", "kl": "KL"}


# What is fitted to what


@dataclass(frozen=True, slots=True, eq=False)
class CommonItems:
    """The items that all systems predict, with the systems' predictions.

    Maps take `systems` as inputs; `logs`, shape (n_items, n_systems, n_classes), are their
    log-probabilities. `systems_on_votes` have learned from votes, though not from those on the
    items themselves, and no map takes them. `groups` and `folds` have a number for each item: see
    `splits.folds_of`.
    """

    votes: Votes
    systems: tuple[System, ...]
    systems_on_votes: tuple[System, ...]
    logs: Floats
    groups: Ints
    folds: Ints

    def inputs(self, indices: Sequence[int]) -> Floats:
        """Return the inputs of a map of some systems, of shape (n_items, n_inputs, n_classes).

        Where the systems are of several families, the seeds of each family enter as one input, the
        normalised mean of their log-probabilities: a map with fewer weights needs fewer items.
        """
        families: dict[str, list[int]] = {}
        for index in indices:
            families.setdefault(self.systems[index].family, []).append(index)
        if len(families) < 2:
            return self.logs[:, indices]
        means = [self.logs[:, seeds].mean(axis=1) for seeds in families.values()]
        return np.asarray(log_softmax(np.stack(means, axis=1), axis=2))


def common_items(votes: Votes, systems: Sequence[System]) -> CommonItems:
    """Return the items that all systems cover, with each system's predictions of them.

    A system that has learned from votes is no input of a map: its predictions of the items that the
    map is fitted on would depend on the votes on the item that the map predicts. A system that has
    learned from the votes on these items themselves is refused.
    """
    rows = shared_rows(votes, systems)
    if not len(rows):
        raise ChaosError(
            "The systems have no item in common.",
            found=", ".join(system.name for system in systems),
            expected="predictions of the same items",
            todo="leave the predictions of other items out",
        )
    part = part_of(votes, rows)
    for system in systems:
        system.aligned_to(part)  # fails for a system that has seen these votes
    aligned = [select_items(part, system) for system in systems]
    inputs = [system for system in aligned if not any(map(are_votes, system.trained_on))]
    probabilities = [system.probabilities for system in inputs]
    empty = np.empty((len(part), 0, votes.dataset.n_classes))
    logs = log_probabilities(np.stack(probabilities, axis=1)) if probabilities else empty
    systems_on_votes = tuple(system for system in aligned if system not in inputs)
    groups = item_groups([votes])[0]
    if (groups[rows] == groups[rows[0]]).all():
        raise one_text_error(part)
    return CommonItems(
        part, tuple(inputs), systems_on_votes, logs, groups[rows], folds_of(groups)[rows]
    )


def fit_recipe(name: str, items: CommonItems, inputs: Floats, objective: Objective) -> System:
    """Return the out-of-fold predictions of the recipe for inputs, see `CommonItems.inputs`."""
    predicted = predict_out_of_fold(
        inputs, items.votes.shares, items.folds, kind=RECIPE, objective=objective
    )
    return computed(name, items.votes, predicted)


def select_items(votes: Votes, system: System) -> System:
    """Return a system's predictions of the items of `votes` alone, in their order."""
    row_of_uid = {uid: row for row, uid in enumerate(system.uids)}
    rows = [row_of_uid[uid] for uid in votes.uids]
    return replace(
        system,
        uids=votes.uids,
        probabilities=system.probabilities[rows],
        predicted=system.predicted[rows],
    )


def variants() -> list[Run]:
    """Return our runs with another way to learn or predict: smoothing, MC dropout, votes."""
    return [
        run
        for run in ordered(committed_runs())
        if kind_of(run) in ("smoothing", "votes")
        or (run.record.predicted and run.record.predicted.mc_samples)
    ]


def stacks(systems: Sequence[System], alone: Collection[str] = ()) -> dict[str, list[int]]:
    """Return by name the stacks: the indices of the systems that are the inputs of one map.

    The stacks are: each system by itself; the seeds of a family; all of the book's systems; the
    same without those that may have seen the items; and all systems with the reader's own. Systems
    whose names are in `alone` are only stacked by themselves.
    """
    stacks = {system.name: [index] for index, system in enumerate(systems)}
    all_indices = [index for index, system in enumerate(systems) if system.name not in alone]
    book_indices = [index for index, system in enumerate(systems) if system.origin != "yours"]
    book_indices = [index for index in book_indices if index in all_indices] or all_indices
    families: dict[str, list[int]] = {}
    for index in book_indices:
        if systems[index].seed is not None:
            families.setdefault(systems[index].family, []).append(index)
    for family, indices in families.items():
        if 1 < len(indices) < len(book_indices):
            stacks[f"{family}, {len(indices)} seeds"] = indices
    if len(book_indices) > 1:
        stacks[ALL] = book_indices
        unseen = [index for index in book_indices if not systems[index].caution]
        if 1 < len(unseen) < len(book_indices):
            doubtful = dict.fromkeys(system.family for system in systems if system.caution)
            stacks[f"{ALL_BUT} {', '.join(doubtful)}"] = unseen
    if len(book_indices) < len(all_indices):
        stacks[WITH_YOURS] = all_indices
    return stacks


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

    * ``access``: ``text``; ``old label`` where the item's old label is an input too; ``reference``
      for perfect model and second crowd;
    * ``inputs``: the name of a stack of `stacks`, in which `variants` are only by themselves;
    * ``first``: whether this is the first system of its family;
    * ``distance``: the value of the measure that ranks, which ``by`` names;
    * ``spearman``: the rank correlation of the method's entropy with people's, over items;
    * ``people``: the worth in people on top of the base rate; for maps only if fitted for KL.
    """
    names = {system.name for system in systems}  # a reader may have repeated one of the runs
    variant_predictions = [run.predictions_on(votes) for run in variants if votes.is_released]
    variant_systems = [
        system for system in variant_predictions if system and system.name not in names
    ]
    items = common_items(votes, [*systems, *variant_systems])
    part, folds = items.votes, items.folds
    by, objectives = ranked_by(part), objectives_for(part)
    accesses = (TEXT, OLD_LABEL) if part.has_old_labels else (TEXT,)
    scored: list[System] = []
    rows: list[dict[str, object]] = []

    def add(prediction: Floats | System, about: dict[str, object]) -> None:
        system = prediction if isinstance(prediction, System) else computed("", part, prediction)
        scored.append(replace(system, name=f"{len(rows)}"))
        rows.append({"system": scored[-1].name, "access": TEXT} | _NO_SYSTEM | about)

    def fit(
        access: str, kind: Kind, objective: Objective, about: dict[str, object], *indices: int
    ) -> None:
        """Add the predictions of a map of some systems, of none for the base rate."""
        predicted = predict_out_of_fold(
            items.inputs(indices),
            part.shares,
            folds,
            kind=kind,
            objective=objective,
            old_label=part.old_label if access == OLD_LABEL else None,
            penalty=PENALTY if indices else _BASE_RATE_PENALTY,
        )
        add(predicted, {"access": access, "map": kind, "objective": objective} | about)

    for access, objective in product(accesses, objectives):
        fit(access, "affine", objective, {"map": BASE_RATE})
    variant_names = {system.name for system in variant_systems}
    first_of: dict[str, str] = {}
    for name, indices in stacks(items.systems, variant_names).items():
        first, is_stack = items.systems[indices[0]], len(indices) > 1
        family = name if is_stack else first.family
        about = {"inputs": name, "n_systems": len(indices), "family": family}
        about["origin"] = "" if is_stack else first.origin
        about["first"] = first_of.setdefault(family, name) == name and name not in variant_names
        mean = np.mean([items.systems[index].probabilities for index in indices], axis=0)
        # A single system is passed whole, since it may state its labels.
        add(mean if is_stack else first, {"map": AS_IT_IS} | about)
        mean_logs = items.inputs(indices).mean(axis=1)
        add(softmax(mean_logs / FIXED_TEMPERATURE, axis=1), {"map": FIXED} | about)
        for access in accesses:
            for kind, objective in product(KINDS if access == TEXT else STACKING, objectives):
                fit(access, kind, objective, about, *indices)
    for system in items.systems_on_votes:
        about = {"inputs": system.name, "family": system.family, "origin": system.origin}
        add(system, {"map": ON_VOTES, "n_systems": 1, "first": True} | about)

    measures = tuple(dict.fromkeys((*MEASURES, by)))
    bootstrap: dict[str, Any] = {"seed": seed, "level": confidence}
    scores = score(part, scored, measures=measures, n_resamples=n_resamples, **bootstrap)
    values = [f"{name}{end}" for name in measures for end in _ENDS]
    bootstrap["n_resamples"] = min(n_resamples, _MOST_RESAMPLES)
    table = pd.DataFrame(rows)
    people = [
        (np.nan,) * len(_PEOPLE)
        if objective == "jsd"
        else _worth_in_people(items, system, **bootstrap)
        for objective, system in zip(table["objective"], scored, strict=True)
    ]
    table = table.join(pd.DataFrame(people, columns=_PEOPLE))
    table = table.join(wide(scores, "low", "high").set_index("system")[values], on="system")
    correlations = [entropy_correlation(part.shares, system.probabilities) for system in scored]
    table[_SIGNAL] = [
        (correlation.value, correlation.low, correlation.high) for correlation in correlations
    ]
    table = table.assign(n_items=len(part))
    table = pd.concat([table, _references(part, measures, seed)], ignore_index=True)
    distance = {f"distance{end}": table[f"{by}{end}"] for end in _ENDS}
    descriptions = ["n_systems", "origin", "family", "first", "n_items", "by"]
    columns = [*_KEYS[1:], *descriptions, *distance, *values, *_SIGNAL, *_PEOPLE]
    return table.assign(by=by, **distance)[columns]


def _worth_in_people(items: CommonItems, system: System, **bootstrap: Any) -> tuple[float, ...]:
    """Return the worth of a fitted system with its ends; NaN where an item has a single vote."""
    if items.votes.n_votes.min() < 2:
        return (np.nan,) * len(_PEOPLE)
    arguments = items.votes.counts, system.probabilities, items.groups, items.folds
    result = of_predictions(*arguments, is_fitted=True, **bootstrap)
    return astuple(result.estimates[PEOPLE])


def _references(part: Votes, measures: Sequence[str], seed: int) -> pd.DataFrame:
    """Return perfect model and second crowd on the same items."""
    reference_rows = known_rows(part, seed) or References(part, seed=seed).rows(measures)
    scores = {(row["system"], row["measure"]): row["value"] for row in reference_rows}
    rows = [
        {"access": REFERENCE, "map": name, "n_items": len(part)}
        | {measure: scores[name, measure] for measure in measures if (name, measure) in scores}
        for name in (PERFECT_MODEL, SECOND_CROWD)
    ]
    return pd.DataFrame([_NO_SYSTEM | row for row in rows])


@cached_analysis(keys=("dataset", "left_out"))
def contributions(
    votes: Votes, systems: Sequence[System], *, n_resamples: int, seed: int
) -> pd.DataFrame:
    """Say what the stack of the book's systems loses, out of fold, if some systems are left out.

    One row for each family that is ``left_out``, and for the models of each paper together.
    ``value`` is the distance by the measure ``by`` without these systems minus the distance with
    them, on the same items, both by the recipe and the main objective. The 95% interval and ``p``
    are over items, with the fits held fixed; ``p_holm`` is adjusted for all rows of a dataset. The
    ``verdict`` is adds or costs where ``p_holm`` is below 0.05, else indistinguishable. Empty where
    there are fewer than two families.
    """
    columns = ["left_out", "n_systems", "n_items", "by", "value", "low", "high", "p"]
    items = common_items(votes, systems)
    all_indices = stacks(items.systems).get(ALL, [])
    groups = _omitted_groups(items.systems, all_indices)
    remaining = {name: sorted({*all_indices} - {*omitted}) for name, omitted in groups.items()}
    remaining = {name: indices for name, indices in remaining.items() if indices}
    if not remaining:
        return pd.DataFrame(columns=[*columns, "p_holm", "verdict"])
    objective = objectives_for(items.votes)[-1]
    stacked = [
        fit_recipe(name, items, items.inputs(indices), objective)
        for name, indices in {ALL: all_indices, **remaining}.items()
    ]
    by = ranked_by(items.votes)
    table = score(
        items.votes, stacked, measures=(by,), comparisons=[(name, ALL) for name in remaining],
        n_resamples=n_resamples, seed=seed,
    )  # fmt: skip
    losses = table[table["reference"] != ""].rename(columns={"system": "left_out"})
    losses = losses.assign(by=by, n_systems=[len(groups[name]) for name in losses["left_out"]])
    losses["p_holm"] = holm(losses["p"])
    sides = np.where(losses["value"] > 0, "adds", "costs")
    losses["verdict"] = np.where(losses["p_holm"] < LEVEL, sides, "indistinguishable")
    return losses[[*columns, "p_holm", "verdict"]]


def _omitted_groups(systems: Sequence[System], indices: Sequence[int]) -> dict[str, list[int]]:
    """Return by name the systems to leave out: of each paper with several families, each family."""
    papers: dict[str, list[int]] = {}
    for index in indices:
        if systems[index].paper:
            papers.setdefault(systems[index].paper, []).append(index)
    by_family = families_of([systems[index] for index in indices])
    groups = {
        f"those of {_PAPERS[paper]}": members
        for paper, members in papers.items()
        if len({systems[index].family for index in members}) > 1
    }
    for name, positions in by_family.items():
        seeds = f"{systems[indices[positions[0]]].family}, {len(positions)} seeds"
        groups[seeds if len(positions) > 1 else name] = [indices[k] for k in positions]
    return groups


_PAPERS = {"nie2020": "Nie et al. 2020", "baan2022": "Baan et al. 2022"}


@cached_analysis(keys=("dataset", "judged_on"))
def carried_over(
    all_votes: Sequence[Votes], all_systems: Sequence[Sequence[System]]
) -> pd.DataFrame:
    """Judge the recipe by JSD on each dataset when it is fitted on the other datasets alone.

    The systems are those that predict all of the datasets. ``jsd_other`` is the JSD of the map that
    was fitted on the other datasets, ``jsd_same`` that of the map of the same systems that was
    fitted on the same dataset, out of fold, and ``jsd_as_it_is`` that of the systems' mean without
    a map; ``misplaced_other`` and so on are votes misplaced of a hundred. Without rows where no
    system predicts all datasets, or where votes are few.
    """
    by_name = [
        {system.name: system for system in systems if not any(map(are_votes, system.trained_on))}
        for systems in all_systems
    ]
    shared = [name for name in by_name[0] if all(name in systems for systems in by_name)]
    if not shared or any(votes.are_few for votes in all_votes):
        return pd.DataFrame(columns=["judged_on"])
    all_items = [
        common_items(votes, [systems[name] for name in shared])
        for votes, systems in zip(all_votes, by_name, strict=True)
    ]
    groups = [
        numbers[np.isin(votes.uids, items.votes.uids)]
        for numbers, votes, items in zip(item_groups(all_votes), all_votes, all_items, strict=True)
    ]
    dataset_index = np.repeat(np.arange(len(all_items)), [len(items.votes) for items in all_items])
    item_group = np.concatenate(groups)
    logs = np.concatenate([items.inputs(range(len(shared))) for items in all_items])
    shares = np.concatenate([items.votes.shares for items in all_items])
    rows = []
    for index, items in enumerate(all_items):
        is_judged = dataset_index == index
        # Items of other datasets that share a premise, story or image with these are left out.
        is_fitted = ~np.isin(item_group, item_group[is_judged])
        fitted_on_others = fit_map(logs[is_fitted], shares[is_fitted], kind=RECIPE)
        inputs = logs[is_judged]
        row: dict[str, object] = {"judged_on": items.votes.dataset.name, "n_systems": len(shared)}
        row["n_items"] = is_judged.sum()
        for name, predicted in (
            ("as_it_is", np.exp(items.logs).mean(axis=1)),
            ("other", fitted_on_others.predict(inputs)),
            ("same", fit_recipe("", items, inputs, "jsd").probabilities),
        ):
            row[f"jsd_{name}"] = _mean_score("jsd", items.votes, predicted)
            apart = total_variation(items.votes.shares, predicted)
            row[f"misplaced_{name}"] = 100 * apart.mean()
        rows.append(row)
    return pd.DataFrame(rows)


# Sets of labels


@cached_analysis(keys=("dataset", "system"))
def label_sets(
    votes: Votes, systems: Sequence[System], *, n_splits: int, seed: int
) -> pd.DataFrame:
    """Say how many labels a set needs to hold a new vote, or most votes on most items.

    Items are split into halves `n_splits` times, no text in both. On one half it is determined how
    likely a label must be to be in a set; sets are then made and judged on the other half, and the
    other way round. All values are means over items and splits.

    One row for the stack of all systems, by the recipe of the headlines; for the first system of
    each family, by an affine map; for the base rate; and for the ``votes themselves``, as if they
    were a prediction. Maps are fitted for KL, out of fold.

    * ``new_vote_size``: the labels in sets that hold a new vote with a chance of `LEVEL_OF_SETS`;
      ``new_vote_held``: the share of the votes that they hold, and ``new_vote_held_disputed``
      the same on the fifth of the items whose votes have the largest entropy;
    * ``most_votes_size``: the labels in sets that hold this share of the votes on this share of the
      items; ``most_votes_held``: the share of the items on which they do, and
      ``most_votes_held_disputed`` the same on the most disputed fifth. NaN where votes are few.
    """
    items = common_items(votes, systems)
    part, shares = items.votes, items.votes.shares
    predictions = {BASE_RATE: _affine(items, (), _BASE_RATE_PENALTY), THEMSELVES: shares}
    first_of: dict[str, str] = {}
    for index, system in enumerate(items.systems):
        if first_of.setdefault(system.family, system.name) == system.name:
            predictions[system.name] = _affine(items, (index,), PENALTY)
    if indices := stacks(items.systems).get(ALL):
        predictions[ALL] = fit_recipe(ALL, items, items.inputs(indices), "kl").probabilities
    spread = entropy(shares, unit="bits")
    is_disputed = spread >= np.quantile(spread, 1 - _DISPUTED)
    halves = [grouped_folds(items.groups, 2, seed + split) for split in range(n_splits)]
    rules: dict[str, float | None] = {"new_vote": None}
    if not part.are_few:
        rules["most_votes"] = LEVEL_OF_SETS
    table = []
    for name, probabilities in predictions.items():
        row: dict[str, object] = {"system": name, "n_items": len(part)}
        for rule, share in rules.items():
            by_split = [_sets_on_halves(probabilities, shares, half, share) for half in halves]
            held = np.mean([held for _, held in by_split], axis=0)
            row[f"{rule}_size"] = np.mean([size for size, _ in by_split])
            row[f"{rule}_held"] = held.mean()
            row[f"{rule}_held_disputed"] = held[is_disputed].mean()
        table.append(row)
    return pd.DataFrame(table).reindex(columns=_SETS_VALUES)


_SETS_VALUES = [
    "system",
    "n_items",
    *(
        f"{rule}_{name}"
        for rule in ("new_vote", "most_votes")
        for name in ("size", "held", "held_disputed")
    ),
]


def _affine(items: CommonItems, indices: Sequence[int], penalty: float) -> Floats:
    return predict_out_of_fold(
        items.inputs(indices), items.votes.shares, items.folds,
        kind="affine", objective="kl", penalty=penalty,
    )  # fmt: skip


def _sets_on_halves(
    probabilities: Floats, shares: Floats, half: Ints, share: float | None
) -> tuple[float, Floats]:
    """Return the mean size of the items' sets, and how far each item's set holds its votes.

    That is the share of the votes that it holds, or whether it holds this `share`. What is in a set
    is determined on the half in which the item is not.
    """
    sets = np.zeros(shares.shape, dtype=bool)
    for judged in (half == 0, half == 1):
        sets[judged] = sets_of_labels(
            probabilities[judged], probabilities[~judged], shares[~judged], LEVEL_OF_SETS,
            held=share,
        )  # fmt: skip
    held = (shares * sets).sum(axis=1)
    size = float(sets.sum(axis=1).mean())
    return size, held if share is None else (held >= share - _ROUNDING).astype(np.float64)


# How many labelled items, with how many votes


@cached_analysis(keys=("dataset", "objective", "n_fitted", "n_votes"))
def curve(votes: Votes, systems: Sequence[System], *, repeats: int, seed: int) -> pd.DataFrame:
    """Fit the recipe on fewer items and fewer votes, and judge it by all votes, out of fold.

    The book's systems are stacked, or the reader's own where there are no others. ``distance`` is
    the mean over draws by the measure ``by``, and ``spread`` the standard deviation; ``misplaced``
    is how many of a hundred votes are misplaced, NaN where votes are few. ``whole`` says that all
    items of the other folds are fitted on, ``recipe`` that the objective is the one for so many
    votes. Items are drawn again for each fold, votes without replacement. Without rows where there
    is no system.
    """
    items = common_items(votes, systems)
    by = ranked_by(items.votes)
    indices = stacks(items.systems).get(ALL, [0] if items.systems else [])
    if not indices:
        return pd.DataFrame(columns=["objective", "n_fitted", "n_votes"])
    logs, counts = items.inputs(indices), items.votes.counts
    folds = items.folds
    fewest = int(min((folds != fold).sum() for fold in np.unique(folds)))
    n_votes = int(np.median(items.votes.n_votes))
    rng = np.random.default_rng([seed, 7])
    thinned = [
        {n: split_votes(counts, (n,), rng)[0] / n for n in VOTES if n < items.votes.n_votes.min()}
        | {n_votes: items.votes.shares}
        for _ in range(repeats)
    ]
    sizes = [*(n for n in ITEMS if n < fewest), fewest]
    rows = []
    for objective, n_items, size in product(objectives_for(items.votes), sizes, thinned[0]):
        distances, misplaced = [], []
        for draw, shares in enumerate(thinned):
            item_rng = np.random.default_rng([seed, 11, draw])
            predicted = predict_out_of_fold(
                logs, shares[size], folds, kind=RECIPE, objective=objective,
                learned=lambda rows, n=n_items, rng=item_rng: rng.permutation(rows)[:n],  # type: ignore[misc]
            )  # fmt: skip
            distances.append(_mean_score(by, items.votes, predicted))
            misplaced.append(100 * total_variation(items.votes.shares, predicted).mean())
        rows.append({
            "objective": objective, "n_fitted": n_items, "n_votes": size,
            "whole": n_items == fewest, "distance": np.mean(distances),
            "spread": np.std(distances),
            "misplaced": np.nan if items.votes.are_few else np.mean(misplaced),
            "recipe": (objective == "jsd") == (size >= ENOUGH_VOTES),
            "n_systems": len(indices), "by": by,
        })  # fmt: skip
    return pd.DataFrame(rows)


# How they are shown


def _is_secondary(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Return whether each row of `methods` is fitted for KL where JSD is the main objective."""
    return (rows["objective"] == "kl") & (rows["by"] == "jsd")


def by_map(table: pd.DataFrame) -> pd.DataFrame:
    """Return rows of `methods`: each family's first seed and stacks, nearest by the recipe first.

    Base rates, which are maps of no system, stand in the column of the recipe. Maps fitted for JSD
    get the worth of the same map fitted for KL.
    """
    keys = ["dataset", "access", "inputs", "map"]
    worth = table.loc[table["objective"] == "kl", [*keys, *_PEOPLE]]
    worth_by_row = table[keys].merge(worth, "left", keys).set_index(table.index)
    table = table.assign(**{name: table[name].fillna(worth_by_row[name]) for name in _PEOPLE})
    rows = table[(table["first"] | (table["map"] == BASE_RATE)) & ~_is_secondary(table)]
    rows = rows.replace({"map": {BASE_RATE: RECIPE}})
    system = ["dataset", "inputs"]
    nearest = rows[(rows["access"] == TEXT) & (rows["map"] == RECIPE)]
    rows = rows.merge(nearest[[*system, "distance"]], on=system, suffixes=("", "_at_best"))
    rows = rows.sort_values("distance_at_best", kind="stable")
    return in_order_of(rows, "dataset", table["dataset"].unique())


_TEXT_HEADING, _LABEL_HEADING = "from the text alone", "with the old label"
_BY_TEXT, _BY_LABEL = ({"access": access, "map": RECIPE} for access in (TEXT, OLD_LABEL))
COLUMNS = [
    DATASET,
    Column("system", "inputs", names=SYSTEM_NAMES | {"": "none (base rate)"}),
    *(
        Column(name, "distance", 3, at=_BY_TEXT | {"map": name}, best="lowest", group=_TEXT_HEADING)
        for name in (AS_IT_IS, "temperature", "affine")
    ),
    Column(
        RECIPE, "distance", 3, "distance_low", "distance_high",
        at=_BY_TEXT, best="lowest", group=_TEXT_HEADING,
    ),
    Column("worth", "people", 1, at=_BY_TEXT, best="highest", group=_TEXT_HEADING),
    Column(RECIPE, "distance", 3, at=_BY_LABEL, best="lowest", group=_LABEL_HEADING),
    Column("worth", "people", 1, at=_BY_LABEL, best="highest", group=_LABEL_HEADING),
]  # fmt: skip


def columns_of(rows: pd.DataFrame) -> list[Column]:
    """Return those of `COLUMNS` in which some row of `by_map` has a value."""
    return [
        column
        for column in COLUMNS
        if column.row_of(rows.dropna(subset=column.value).to_dict("records"))
    ]


def drawn_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `methods` that the figure draws, with their ``group`` and ``label``.

    These are one seed of each family, and all systems together, as they are and by the recipe.
    """
    single = table["first"] & (table["n_systems"] == 1)
    stacked = table["inputs"].str.startswith((ALL, ALL_BUT))
    is_drawn = single | stacked | (table["n_systems"] == 0)
    return _figure_labels(table[is_drawn & (table["map"] != FIXED)])


def drawn_training_rows(table: pd.DataFrame, encoder: str) -> pd.DataFrame:
    """Return the rows of `methods` on ways to train and use one encoder, as `drawn_rows` does.

    These are the encoder's first seed, its seeds together, and its `variants`.
    """
    family = table["family"]
    is_own = family.str.startswith(f"{encoder},") | (table["first"] & (family == encoder))
    is_drawn = (table["access"] == TEXT) & is_own | table["map"].isin([PERFECT_MODEL, SECOND_CROWD])
    is_tempered_variant = (table["map"] == FIXED) & (family != encoder)
    return _figure_labels(table[is_drawn & ~is_tempered_variant & is_own.any()])


def _figure_labels(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows by the recipe and without a map, with a figure's ``group`` and ``label``."""
    rows = table[~_is_secondary(table) & ~table["map"].isin(["temperature", "affine"])]
    is_unfitted = rows["map"].isin([AS_IT_IS, FIXED])
    label = rows["family"].where(rows["family"] != "", rows["inputs"]).replace(SYSTEM_NAMES)
    label = label.str.replace(r", \d+ folds", "", regex=True)
    label += rows["map"].map({FIXED: f", {FIXED}"}).fillna("")
    label = label.mask(label == "", rows["map"])
    return rows.assign(group=rows["access"].mask(is_unfitted, "no votes"), label=label)


def drawn_curve_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `curve` that the figure draws: by the recipe, where systems are stacked.

    Where no dataset has more than one system, all are drawn.
    """
    rows = table[table["recipe"].eq(True)]
    stacked = rows[rows["n_systems"] > 1]
    return stacked if len(stacked) else rows


def contribution_columns(n_resamples: int) -> list[Column]:
    """Return how `contributions` are shown, datasets side by side."""

    def adjusted_p(row: Row) -> str:
        return p_value(row["p_holm"], n_resamples, raw=row["p"])

    return [
        DATASET,
        Column("left out", "left_out", names=SYSTEM_NAMES),
        Column("distance without, minus with", "value", 4, "low", "high", signed=True),
        Column("p", adjusted_p),
        Column("the systems left out", "verdict"),
    ]


CARRIED_COLUMNS = [
    Column("dataset", "judged_on", names=short_of),
    *(
        Column(heading, f"{measure}_{name}", digits, group=group)
        for measure, digits, group in (("misplaced", 0, "votes misplaced"), ("jsd", 3, "JSD"))
        for name, heading in (
            ("as_it_is", "as it is"),
            ("other", "map of the other dataset"),
            ("same", "map of the same dataset"),
        )
    ),
]


def shown_sets(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `label_sets` that are shown: of single systems, the smallest sets."""
    is_single = ~table["system"].isin([THEMSELVES, ALL, BASE_RATE])
    smallest = table[is_single].groupby("dataset", sort=False)["new_vote_size"].idxmin()
    rows = table[~is_single | table.index.isin(smallest)]
    order = {THEMSELVES: 0, ALL: 1, BASE_RATE: 3}
    rows = rows.sort_values("system", key=lambda names: names.map(order).fillna(2), kind="stable")
    return in_order_of(rows, "dataset", table["dataset"].unique())


def _sets_columns(heading: str, kind: str) -> list[Column]:
    return [
        Column("labels", f"{kind}_size", 2, group=heading),
        Column("held, %", f"{kind}_held", 0, percent=True, group=heading),
        Column("most disputed fifth, %", f"{kind}_held_disputed", 0, percent=True, group=heading),
    ]


SETS_COLUMNS = [
    DATASET,
    Column("prediction", "system", names=SYSTEM_NAMES),
    *_sets_columns("90% of new votes", "new_vote"),
    *_sets_columns("90% of the votes on 90% of items", "most_votes"),
]
