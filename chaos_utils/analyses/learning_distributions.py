"""What moves one encoder toward the human distribution: the methods, side by side."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.analyses.baan import FIXED_TEMPERATURE
from chaos_utils.analyses.evidence import Evidence
from chaos_utils.analyses.fitting import at_items_of
from chaos_utils.analyses.recorded import recorded
from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.base.inputs import Input, merged
from chaos_utils.base.table import Table, in_order_of, together
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.splits import grouped_folds, item_groups
from chaos_utils.datasets.tasks import get_task
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.metrics.resampling import holm
from chaos_utils.scoring.formats import class_columns
from chaos_utils.scoring.recalibration import fit_temperature
from chaos_utils.scoring.references import (
    CHANCE,
    PERFECT_MODEL,
    SECOND_CROWD,
    References,
    chance_scores,
)
from chaos_utils.scoring.scores import available, score
from chaos_utils.scoring.seeds import score_over_seeds
from chaos_utils.scoring.system import System, votes_of
from chaos_utils.scoring.systems import uniform
from chaos_utils.scoring.trained import DEV_FILE, PREDICTIONS_FILE, Run, committed_runs, kind_of

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
NAMES = (
    "jsd", "kl", "dist_ce", "ent_ce", "signed_ent_ce", "rank_cs_expected", "new_accuracy",
    "old_accuracy",
)  # fmt: skip
METHODS: Mapping[str, str] = {  # titles
    "plain": "plain",
    "fixed": f"T = {FIXED_TEMPERATURE:g} (fixed)",
    "held_out": "T (held-out labels)",
    "cross_fitted": "T (votes, out of fold)",
    "smoothing": "label smoothing",
    "ensemble": "seed ensemble",
    "mc": "MC dropout",
    "soft": "soft labels",
    "soft_jsd": "soft labels, for JSD",
}
_REFERENCES = {  # titles
    "chance": "uniform guess",
    "perfect_model": PERFECT_MODEL,
    "second_crowd": SECOND_CROWD,
}
_SEEDS = "seeds"  # the plain runs together; no method
_COLUMNS = [
    "dataset", "system", "family", "seed", "origin", "temperature", "method", "title", "kind",
    "learned_from", "n_seeds", "n_items", "measure", "value", "low", "high", "seed_values",
    "difference", "difference_low", "difference_high", "p_value", "p_holm", "n_resamples",
]  # fmt: skip


# What the methods are made of


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """The runs of one encoder that a dataset's methods are made of.

    `seeds` are the plain ones, by seed, and `plain` that of them which all others are set beside.
    `others`, by method (``smoothing``, ``mc``, ``soft``, ``soft_jsd``), have the plain run's seed.
    """

    seeds: Sequence[Run] = ()
    plain: Run | None = None
    others: Mapping[str, Run] = field(default_factory=dict)

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The files that are read of them."""
        found = [run.inputs_of(PREDICTIONS_FILE) for run in (*self.seeds, *self.others.values())]
        if self.plain is not None:
            found.append(self.plain.inputs_of(DEV_FILE))
        return merged(*found)


def chosen_runs(runs: Iterable[Run], task: str, run_seed: int) -> Runs:
    """Return what is compared of one encoder's runs; of several that would do, the first."""
    by_kind: dict[str, dict[int, Run]] = {}
    for run in runs:
        if run.settings["task"] == task:
            by_kind.setdefault(method_of(run), {}).setdefault(int(run.settings["seed"]), run)
    by_kind.pop("", None)
    plain = by_kind.pop("plain", {})
    others = {kind: by_seed[run_seed] for kind, by_seed in by_kind.items() if run_seed in by_seed}
    return Runs([plain[seed] for seed in sorted(plain)], plain.get(run_seed), others)


def method_of(run: Run) -> str:
    """Return which method a run is made for; empty where it is no part of the comparison.

    The run that is set beside the plain one must differ from it in one thing alone.
    """
    kind, settings = kind_of(run), run.settings
    smoothed = bool(settings["label_smoothing"])
    if kind == "votes":
        softened = {"soft": "soft", "jsd": "soft_jsd"}.get(settings["loss"], "")
        return softened if settings["init"] and not smoothed else ""
    if settings["max_train_examples"] or settings["teacher"] or settings["init"]:
        return ""
    if kind == "predicted":
        return "mc" if run.record["predicted"]["mc_samples"] and not smoothed else ""
    return kind  # plain or smoothing


def runs_on(evidence: Evidence, *, model: str, run_seed: int) -> Runs:
    """Return the committed runs on a dataset as it was released; on other votes there are none."""
    if not evidence.released:
        return Runs()
    runs = [run for run in committed_runs() if not run.record["synthetic"]]
    known = sorted({str(run.settings["model"]) for run in runs})
    if known and model not in known:
        raise ChaosError(
            "No committed run is of this encoder.",
            found=model,
            expected=did_you_mean(model, known),
            todo="name one that has runs, or make them with `chaos finetune`",
        )
    of_model = [run for run in runs if run.settings["model"] == model]
    return chosen_runs(of_model, get_task(evidence.datasets[0].task).name, run_seed)


def predictions_of(run: Run, votes: Votes) -> System:
    """Return what a run predicts, in the order of the votes; it must predict every item."""
    found = run.predictions_on(votes)
    predicted = set(found.uids if found else ())
    lacking = [uid for uid in votes.uids if uid not in predicted]
    if found is None or lacking:
        raise ChaosError(
            "A run does not predict every item.",
            where=run.folder / PREDICTIONS_FILE,
            found=f"{len(lacking)} items are missing, such as {lacking[0]!r}",
            expected=f"the {len(votes):,} items of {votes.dataset.title}",
            todo="run its command again",
        )
    return at_items_of(votes, found)


def development_of(run: Run, votes: Votes) -> tuple[Floats, Ints] | None:
    """Return a run's probabilities and the gold labels of development items outside the votes."""
    table = run.read_table(DEV_FILE)
    of_dataset = table[(table["dataset"] == votes.dataset.name) & ~table["uid"].isin(votes.uids)]
    if of_dataset.empty:
        return None
    values = of_dataset[class_columns(votes.dataset)].to_numpy(dtype=np.float64)
    shares = values / values.sum(axis=1, keepdims=True)  # stored in single precision
    return shares, of_dataset["label"].to_numpy(dtype=np.int64)


# The methods


def cross_fitted(votes: Votes, shares: Floats, n_folds: int, seed: int) -> Floats:
    """Return each item's temperature, fitted to the votes of the other folds by text."""
    folds = grouped_folds(item_groups([votes])[0], n_folds, seed)
    others = [folds != fold for fold in range(n_folds)]
    return np.array([fit_temperature(shares[rows], votes.shares[rows]) for rows in others])[folds]


def methods(
    votes: Votes, runs: Runs, seeds: Sequence[System], *, n_folds: int, seed: int
) -> dict[str, tuple[str, System]]:
    """Return title and predictions of each of `METHODS` that there are runs for, in order.

    `seeds` has what the plain runs predict.
    """
    assert runs.plain is not None
    plain = seeds[runs.seeds.index(runs.plain)]

    def at_temperature(name: str, temperature: npt.ArrayLike, learned: str = "") -> None:
        scaled = plain.at_temperature(temperature, f"{plain.name}, {name}")
        on = (*plain.trained_on, learned) if learned else plain.trained_on
        of_votes = learned == votes_of(votes.dataset)
        made[name] = "", replace(scaled, trained_on=on, out_of_fold=of_votes)

    made = {name: (_detail(run), predictions_of(run, votes)) for name, run in runs.others.items()}
    made["plain"] = "", plain
    at_temperature("fixed", FIXED_TEMPERATURE)
    if (development := development_of(runs.plain, votes)) is not None:
        at_temperature("held_out", fit_temperature(*development), _development(votes.dataset))
    of_votes = cross_fitted(votes, plain.probabilities, n_folds, seed)
    at_temperature("cross_fitted", of_votes, votes_of(votes.dataset))
    if len(seeds) > 1:
        shares = np.mean([one.probabilities for one in seeds], axis=0)
        mean = replace(
            seeds[0],
            name="mean of " + "; ".join(one.name for one in seeds),
            seed=None,
            probabilities=shares,
            predicted=shares.argmax(axis=1),
            stated=False,
        )
        made["ensemble"] = f"{len(seeds)} seeds", mean
    return {
        name: (f"{title} ({made[name][0]})" if made[name][0] else title, made[name][1])
        for name, title in METHODS.items()
        if name in made
    }


def _detail(run: Run) -> str:
    if kind_of(run) == "smoothing":
        return f"{run.settings['label_smoothing']:g}"
    if kind_of(run) == "predicted":
        return f"{run.record['predicted']['mc_samples']} passes"
    return f"{run.settings['n_folds']} folds"


def _development(dataset: Dataset) -> str:
    return f"development items of {dataset.short}"


def learned_from(system: System) -> str:
    """Return ``votes`` if a system learned from votes too, ``dev`` if from development labels."""
    if votes_of(system.dataset) in system.trained_on:
        return "votes"
    return "dev" if _development(system.dataset) in system.trained_on else "train"


@recorded(keys=("dataset", "kind", "system", "measure"))
def method_scores(
    votes: Votes,
    *,
    runs: Runs,
    model: str,
    run_seed: int,
    n_folds: int,
    n_resamples: int,
    confidence: float,
    seed: int,
) -> pd.DataFrame:
    """Score methods and references, and set each beside the plain run on the same items.

    `runs` are those of `runs_on`; without a plain one there are no rows. ``p_value`` is that of the
    ``difference`` from it, two-sided, and ``p_holm`` adjusted for all of a dataset. A row is of one
    run (``n_seeds``), but for the ensemble, and for the mean of the plain runs' scores (kind
    ``seeds``), whose interval is for other seeds too. Chance is the uniform distribution, for the
    accuracies the share of the most frequent label, as in Nie et al. (2020).
    """
    if runs.plain is None:
        return pd.DataFrame(columns=_COLUMNS)
    seeds = [predictions_of(run, votes) for run in runs.seeds]
    made = methods(votes, runs, seeds, n_folds=n_folds, seed=seed)
    names = available(votes, NAMES)
    resampled: dict[str, Any] = {"n_resamples": n_resamples, "seed": seed, "level": confidence}
    even = replace(uniform(votes), name=CHANCE, family=CHANCE)
    systems = [even, *(system for _, system in made.values())]
    plain = made["plain"][1].name
    scores = score(votes, systems, measures=names, reference=plain, **resampled)
    described = pd.DataFrame(
        {
            "system": system.name,
            "method": name,
            "title": title,
            "kind": "method",
            "learned_from": learned_from(system),
            "n_seeds": len(seeds) if name == "ensemble" else 1,
        }
        for name, (title, system) in made.items()
    )
    parts = [scores[scores["reference"] == ""].merge(described, on="system")]
    if len(seeds) > 1:
        over = score_over_seeds(votes, seeds, measures=names, **resampled)
        about = {"method": _SEEDS, "kind": _SEEDS, "title": f"plain (mean of {len(seeds)} seeds)"}
        about |= {"origin": seeds[0].origin, "learned_from": learned_from(seeds[0])}
        parts.append(over.assign(**about, n_resamples=n_resamples))
    chance = chance_scores(votes, names, **resampled)
    known = [name for name in names if not MEASURES[name].needs]  # a drawn crowd has no old label
    drawn = References(votes, seed=seed).scores(known)
    shown = (chance, *(drawn[drawn["system"] == one] for one in (PERFECT_MODEL, SECOND_CROWD)))
    for (name, title), rows in zip(_REFERENCES.items(), shown, strict=True):
        about = {"method": name, "title": title, "kind": "reference", "learned_from": "nothing"}
        parts.append(rows.assign(**about))
    table = pd.concat(parts, ignore_index=True).drop(columns="p_holm")
    table = table.merge(_differences(scores, chance), "left", ["system", "measure"])
    at_plain = table[table["method"] == "plain"].set_index("measure")["value"]
    beside = table["value"] - table["measure"].map(at_plain)
    beside = beside.where(table["kind"] == "reference")
    table["difference"] = table["difference"].fillna(beside)
    table = table.reindex(columns=_COLUMNS).astype({"n_seeds": "Int64"})
    table["seed_values"] = table["seed_values"].astype(object).fillna("")
    order = [*_REFERENCES, "plain", _SEEDS, *list(METHODS)[1:]]
    return in_order_of(table, "method", order)


def _differences(scores: pd.DataFrame, chance: pd.DataFrame) -> pd.DataFrame:
    """Return the differences from the reference in columns of their own."""
    renamed = {"value": "difference", "low": "difference_low", "high": "difference_high",
               "p": "p_value", "p_holm": "p_holm"}  # fmt: skip
    rows = scores[scores["reference"] != ""]
    # For the accuracies, chance is no prediction, so only its value can be compared.
    no_prediction = chance.loc[chance["interval"] == "", "measure"]
    rows = rows[(rows["system"] != CHANCE) | ~rows["measure"].isin(no_prediction)]
    rows = rows.assign(p_holm=holm(rows["p"]))
    return rows[["system", "measure", *renamed]].rename(columns=renamed)


def compared(material: Iterable[Evidence], *, model: str, run_seed: int, **numbers: Any) -> Table:
    """Return `method_scores` of each dataset, with the runs of `runs_on`."""
    return together(
        method_scores(
            one, runs=runs_on(one, model=model, run_seed=run_seed),
            model=model, run_seed=run_seed, **numbers,
        )
        for one in material
    )  # fmt: skip
