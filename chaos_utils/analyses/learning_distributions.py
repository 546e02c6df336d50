"""What moves one encoder toward the human distribution: the methods, side by side."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.analyses.evidence import Evidence
from chaos_utils.analyses.names import dataset_name
from chaos_utils.analyses.recorded import recorded
from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.base.inputs import Input, merged
from chaos_utils.base.table import Table, in_order_of, together
from chaos_utils.datasets.availability import needs_votes
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.splits import grouped_folds, item_groups
from chaos_utils.datasets.tasks import get_task
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.metrics.resampling import bootstrap_means, holm, percentile_interval
from chaos_utils.report.columns import Column
from chaos_utils.scoring.formats import class_columns
from chaos_utils.scoring.recalibration import (
    LIMITS,
    fit_temperature,
    losses_by_temperature,
    lowest_temperature,
    temper,
)
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
from chaos_utils.scoring.systems import computed, own_systems, synthetic_systems, uniform
from chaos_utils.scoring.trained import DEV_FILE, PREDICTIONS_FILE, Run, committed_runs, kind_of

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
NAMES = (
    "jsd", "kl", "dist_ce", "ent_ce", "signed_ent_ce", "rank_cs_expected", "new_accuracy",
    "old_accuracy",
)  # fmt: skip
FIXED_TEMPERATURE = 2.0  # in the released code of Baan et al. (2022)
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
    "floor": "perfect model",
    "ceiling": "second crowd",
}
_COLUMNS = (
    "dataset", "system", "family", "seed", "origin", "temperature", "method", "title", "kind",
    "learned_from", "n_seeds", "n_items", "measure", "value", "low", "high", "seed_values",
    "difference", "difference_low", "difference_high", "p_value", "p_holm", "n_resamples",
)  # fmt: skip
_SEEDS = "seeds"  # the plain runs together; no method
_TRIED = np.geomspace(*LIMITS, 121)  # temperatures, 5% apart
_N_SIMULATED_DEV = 2000


# What the methods are made of


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """The runs of one encoder that a dataset's methods are made of, and a reader's systems.

    `seeds` are the plain ones, by seed, and `plain` that of them which all others are set beside.
    `others`, by method (``smoothing``, ``mc``, ``soft``, ``soft_jsd``), have the plain run's seed.
    """

    seeds: Sequence[Run] = ()
    plain: Run | None = None
    others: Mapping[str, Run] = field(default_factory=dict)
    own: Sequence[System] = ()

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The files that are read of them."""
        found = [run.inputs_of(PREDICTIONS_FILE) for run in (*self.seeds, *self.others.values())]
        if self.plain is not None:
            found.append(self.plain.inputs_of(DEV_FILE))
        return merged(*found, *(one.inputs for one in self.own))


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


def runs_on(
    evidence: Evidence, *, model: str, run_seed: int, predictions: Sequence[str] = ()
) -> Runs:
    """Return the committed runs on a dataset as it was released, and a reader's own systems.

    On other votes than the released ones, no run has predicted the items.
    """
    own: tuple[System, ...] = ()
    if predictions:
        if evidence.votes is None:
            raise needs_votes(evidence.datasets[0])
        own = tuple(own_systems(evidence.votes[0], predictions))
    if not evidence.released:
        return Runs(own=own)
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
    task = get_task(evidence.datasets[0].task).name
    return replace(chosen_runs(of_model, task, run_seed), own=own)


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """What `Runs` predict; all predictions cover all items, in order.

    `others` have, by method, what is said of a run in parentheses, and its predictions.
    `development` has the plain run's probabilities and the gold labels of development items of the
    dataset that are not in ChaosNLI.
    """

    plain: System | None = None
    seeds: Sequence[System] = ()
    others: Mapping[str, tuple[str, System]] = field(default_factory=dict)
    development: tuple[Floats, Ints] | None = None


def predictions_of(votes: Votes, runs: Runs, run_seed: int) -> Predictions:
    """Return what the runs predict on a dataset; on the synthetic sample, simulated ones do."""
    if votes.source.synthetic:
        return simulated(votes, run_seed)
    seeds = [_predictions(run, votes) for run in runs.seeds]
    return Predictions(
        next((one for one in seeds if one.seed == run_seed), None),
        seeds,
        {kind: (_detail(run, kind), _predictions(run, votes)) for kind, run in runs.others.items()},
        None if runs.plain is None else _development(runs.plain, votes),
    )


def _detail(run: Run, kind: str) -> str:
    if kind == "smoothing":
        return f"{run.settings['label_smoothing']:g}"
    if kind == "mc":
        return f"{run.record['predicted']['mc_samples']} passes"
    return f"{run.settings['n_folds']} folds"


def _predictions(run: Run, votes: Votes) -> System:
    found = run.predictions_on(votes)
    row_of = {uid: row for row, uid in enumerate(found.uids)} if found else {}
    lacking = [uid for uid in votes.uids if uid not in row_of]
    if found is None or lacking:
        raise ChaosError(
            "A run does not predict every item.",
            where=run.folder / PREDICTIONS_FILE,
            found=f"{len(lacking)} items are missing, such as {lacking[0]!r}",
            expected=f"the {len(votes):,} items of {votes.dataset.title}",
            todo="run its command again",
        )
    order = [row_of[uid] for uid in votes.uids]
    return replace(
        found,
        uids=votes.uids,
        probabilities=found.probabilities[order],
        predicted=found.predicted[order],
    )


def _development(run: Run, votes: Votes) -> tuple[Floats, Ints] | None:
    table = run.read_table(DEV_FILE)
    of_dataset = table[(table["dataset"] == votes.dataset.name) & ~table["uid"].isin(votes.uids)]
    if of_dataset.empty:
        return None
    values = of_dataset[class_columns(votes.dataset)].to_numpy(dtype=np.float64)
    shares = values / values.sum(axis=1, keepdims=True)  # stored in single precision
    return shares, of_dataset["label"].to_numpy(dtype=np.int64)


def simulated(votes: Votes, run_seed: int) -> Predictions:
    """Return simulated runs for the synthetic sample, with the names of none that was trained.

    The plain ones are `synthetic_systems`, with seeds from 0 to 2. What the others would do to
    them is made up: smoothing and dropout make them less sure, soft labels draw them toward the
    votes.
    """
    seeds = synthetic_systems(votes)
    plain = next((one for one in seeds if one.seed == run_seed), None)
    if plain is None:
        return Predictions(seeds=seeds)
    shares = plain.probabilities
    rng = np.random.default_rng([2022, 4, run_seed])
    noise = rng.normal(scale=0.3, size=(3, *shares.shape))
    blends = {
        "smoothing": ("0.1", _blurred(0.9 * shares + 0.1 / shares.shape[1], noise[0])),
        "mc": ("10 passes", _blurred(temper(shares, 1.1), noise[1])),
        "soft": ("5 folds", _blurred(0.4 * shares + 0.6 * votes.shares, noise[2])),
    }
    others = {}
    for kind, (detail, values) in blends.items():
        one = computed(f"synthetic {kind}, seed {run_seed}", votes, values, origin="simulated")
        one = replace(one, family=f"synthetic {kind}", seed=run_seed)
        if kind == "soft":
            one = replace(one, trained_on=(votes_of(votes.dataset),), out_of_fold=True)
        others[kind] = detail, one
    rows = rng.integers(len(votes), size=_N_SIMULATED_DEV)
    counts = rng.multinomial(1, votes.shares[rows])
    return Predictions(plain, seeds, others, (shares[rows], counts.argmax(axis=1)))


def _blurred(shares: Floats, noise: Floats) -> Floats:
    powers = (shares + 0.01) * np.exp(noise)
    blurred: Floats = powers / powers.sum(axis=1, keepdims=True)
    return blurred


# The temperatures


def fixed_and_fitted(
    votes: Votes, found: Predictions, n_folds: int, seed: int
) -> dict[str, tuple[Floats, int]]:
    """Return the plain run's temperatures by method, and on how many items each was fitted.

    ``fixed``; ``held_out``, where there are development items; ``cross_fitted``: each item's, from
    the votes of the other folds by premise, story and image, of which the fewest items count.
    Without a plain run the fixed one alone remains.
    """
    values = {"fixed": (np.array(FIXED_TEMPERATURE), 0)}
    if found.plain is None:
        return values
    if found.development is not None:
        gold = found.development[1]
        values["held_out"] = np.array(fit_temperature(*found.development)), len(gold)
    folds = grouped_folds(item_groups([votes])[0], n_folds, seed)
    shares = found.plain.probabilities
    others = [folds != fold for fold in range(n_folds)]
    of_fold = np.array([fit_temperature(shares[rows], votes.shares[rows]) for rows in others])
    values["cross_fitted"] = of_fold[folds], min(int(rows.sum()) for rows in others)
    return values


def temperature_interval(
    probabilities: Floats, gold: Ints, n_resamples: int, confidence: float, seed: int
) -> tuple[float, float]:
    """Bootstrap the temperature of least negative log-likelihood over items.

    Each resample's is the `lowest_temperature` of 121 between the ends of `LIMITS`.
    """
    losses = losses_by_temperature(probabilities, gold, _TRIED)
    means = bootstrap_means(losses, n_resamples, np.random.default_rng(seed))
    low, high = percentile_interval(lowest_temperature(means, _TRIED), confidence)
    return float(low), float(high)


@recorded(keys=("dataset", "method"))
def temperatures(
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
    """Tabulate the temperatures of the plain run: fixed, held-out, cross-fitted.

    ``temperature`` is the mean over items. ``spread`` says what ``low`` and ``high`` are the ends
    of: ``none``, ``bootstrap`` or ``folds``.
    """
    _check(n_resamples, confidence, n_folds)
    found = predictions_of(votes, runs, run_seed)
    rows = []
    for method, (values, n_fitted) in fixed_and_fitted(votes, found, n_folds, seed).items():
        spread, low, high = "none", np.nan, np.nan
        if method == "held_out" and found.development is not None:
            shares, gold = found.development
            low, high = temperature_interval(shares, gold, n_resamples, confidence, seed)
            spread = "bootstrap"
        elif method == "cross_fitted":
            spread, low, high = "folds", float(values.min()), float(values.max())
        rows.append((votes.dataset.name, method, values.mean(), low, high, spread, n_fitted))
    columns = ["dataset", "method", "temperature", "low", "high", "spread", "n_fitted"]
    return pd.DataFrame(rows, columns=columns)


# The methods


@dataclass(frozen=True, slots=True, eq=False)
class Method:
    """A way to distributions: a name in `METHODS`, or ``own``; its title; what it predicts."""

    name: str
    title: str
    system: System


def methods(found: Predictions, fitted: Mapping[str, Floats]) -> list[Method]:
    """Return the methods that there is what they need for, in order; `fitted` has temperatures."""
    made: dict[str, tuple[str, System]] = dict(found.others)
    if found.plain is not None:
        plain = found.plain
        made["plain"] = ("", plain)
        for method, values in fitted.items():
            scaled = plain.at_temperature(values, f"{plain.name}, {method}")
            if method == "held_out":
                on = (*plain.trained_on, _development_of(plain.dataset))
                scaled = replace(scaled, trained_on=on)
            elif method == "cross_fitted":
                on = (*plain.trained_on, votes_of(plain.dataset))
                scaled = replace(scaled, trained_on=on, out_of_fold=True)
            made[method] = ("", scaled)
    if len(found.seeds) > 1:
        shares = np.mean([one.probabilities for one in found.seeds], axis=0)
        mean = replace(
            found.seeds[0],
            name="mean of " + "; ".join(one.name for one in found.seeds),
            seed=None,
            probabilities=shares,
            predicted=shares.argmax(axis=1),
            stated=False,
        )
        made["ensemble"] = (f"{len(found.seeds)} seeds", mean)
    return [
        Method(name, f"{title} ({made[name][0]})" if made[name][0] else title, made[name][1])
        for name, title in METHODS.items()
        if name in made
    ]


def learned_from(system: System) -> str:
    """Return what a system learned from, of ``train``, ``dev``, ``votes``, ``own``, ``nothing``.

    These are the gold labels of training items alone; those of development items outside
    ChaosNLI too; votes on other items too; not known; and nothing, for a baseline.
    """
    if known := {"yours": "own", "baseline": "nothing"}.get(system.origin):
        return known
    if votes_of(system.dataset) in system.trained_on:
        return "votes"
    return "dev" if _development_of(system.dataset) in system.trained_on else "train"


def _development_of(dataset: Dataset) -> str:
    return f"development items of {dataset.short}"


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

    One row for each method or reference and measure; `runs` are those of `runs_on`. Methods that
    cover the same items are resampled alike, the plain run with each of them. Intervals are
    percentiles; that of the ``difference`` from the plain run leaves out 0 where ``p_value``, which
    is two-sided, is below 1 − `confidence`. ``p_holm`` is adjusted for all differences on the
    dataset. NaN where there is none: perfect model (``floor``) and second crowd (``ceiling``) have
    no interval, and nothing differs from a plain run that is missing.

    A row is of one run, ``n_seeds`` 1, but for the ensemble, and for the mean over the plain runs'
    scores (kind ``seeds``), whose interval is for other seeds too; ``seed_values`` are the scores.

    Chance is the uniform distribution; for the accuracies it is the share of the most frequent
    label, as in Nie et al. (2020). A drawn crowd has no old label, so old accuracy has neither
    perfect model nor second crowd.
    """
    _check(n_resamples, confidence, n_folds)
    found = predictions_of(votes, runs, run_seed)
    fitted = fixed_and_fitted(votes, found, n_folds, seed)
    made = methods(found, {name: values for name, (values, _) in fitted.items()})
    made += [Method("own", one.name, one) for one in runs.own]
    titles = [one.title for one in made]
    if len(set(titles)) != len(titles):
        double = next(title for title in titles if titles.count(title) > 1)
        raise ChaosError("Two systems have the same name.", found=double, todo="rename one of them")
    names = available(votes, NAMES)
    resampled: dict[str, Any] = {"n_resamples": n_resamples, "seed": seed, "level": confidence}
    plain = None if found.plain is None else found.plain.name
    even = replace(uniform(votes), name=CHANCE, family=CHANCE)
    systems = [even, *(one.system for one in made)]
    scores = score(votes, systems, measures=names, reference=plain, **resampled)
    described = pd.DataFrame(
        {
            "system": one.system.name,
            "method": one.name,
            "title": one.title,
            "kind": "own" if one.name == "own" else "method",
            "learned_from": learned_from(one.system),
            "n_seeds": {"own": pd.NA, "ensemble": len(found.seeds)}.get(one.name, 1),
        }
        for one in made
    )
    parts = [scores[scores["reference"] == ""].merge(described, on="system")] if made else []
    if len(found.seeds) > 1 and n_resamples > 1:
        over = score_over_seeds(votes, found.seeds, measures=names, **resampled)
        about = {"method": _SEEDS, "kind": _SEEDS, "origin": found.seeds[0].origin}
        about["learned_from"] = learned_from(found.seeds[0])
        title = f"plain (mean of {len(found.seeds)} seeds)"
        parts.append(over.assign(**about, title=title, n_resamples=n_resamples))
    chance = chance_scores(votes, names, **resampled)
    drawn = References(votes, seed=seed).scores(
        [name for name in names if not MEASURES[name].needs]
    )
    shown = (chance, *(drawn[drawn["system"] == one] for one in (PERFECT_MODEL, SECOND_CROWD)))
    for (name, title), rows in zip(_REFERENCES.items(), shown, strict=True):
        about = {"method": name, "title": title, "kind": "reference", "learned_from": "nothing"}
        parts.append(rows.assign(**about))
    table = pd.concat(parts, ignore_index=True)
    for name in ("n_seeds", "seed_values"):
        if name not in table:
            table[name] = None
    table = table.drop(columns="p_holm").merge(
        _differences(scores, chance), "left", ["system", "measure"]
    )
    if plain is not None:
        at_plain = table[table["method"] == "plain"].set_index("measure")["value"]
        beside = table["value"] - table["measure"].map(at_plain)
        beside = beside.where(table["kind"] == "reference")
        table["difference"] = table["difference"].fillna(beside)
    order = [*_REFERENCES, "plain", _SEEDS, *list(METHODS)[1:], "own"]
    table["seed_values"] = table["seed_values"].fillna("").astype(object)
    table = table.astype({"n_seeds": "Int64"})
    return in_order_of(table, "method", order)[list(_COLUMNS)]


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


def _check(n_resamples: int, confidence: float, n_folds: int) -> None:
    """Fail with what a reader can act on where a parameter is out of its range."""
    for name, value, fits, expected in (
        ("resamples", n_resamples, n_resamples >= 1, "at least 1"),
        ("confidence", confidence, 0 < confidence < 1, "between 0 and 1, such as 0.95"),
        ("n_folds", n_folds, n_folds >= 2, "at least 2"),
    ):
        if not fits:
            raise ChaosError(f"{name} is out of its range.", found=value, expected=expected)


def compare(
    material: Iterable[Evidence],
    *,
    model: str,
    run_seed: int,
    predictions: Sequence[str],
    **numbers: Any,
) -> tuple[Table, Table]:
    """Return `method_scores` and `temperatures` of each dataset, with the runs of `runs_on`."""
    found = []
    for one in material:
        runs = runs_on(one, model=model, run_seed=run_seed, predictions=predictions)
        plain = Runs([runs.plain], runs.plain) if runs.plain else Runs()
        given = {"model": model, "run_seed": run_seed, **numbers}
        with_own = replace(one, own=one.own or bool(runs.own))
        scores = method_scores(with_own, runs=runs, **given)
        found.append((scores, temperatures(one, runs=plain, **given)))
    of_methods, of_temperatures = zip(*found, strict=True)
    return together(of_methods), together(of_temperatures)


# How they are shown

SHOWN = ("jsd", "kl", "dist_ce", "new_accuracy")
_DIGITS = 3
_VALUES = ("value", "difference", "difference_low", "difference_high")
_LEARNED_FROM = {
    "train": "training labels",
    "dev": "+ development labels",
    "votes": "+ votes on other items",
    "nothing": "",
    "own": "",
}
_FITTED_ON = {"held_out": "held-out labels", "cross_fitted": "votes, out of fold"}
_SPREADS = {"none": "", "bootstrap": "bootstrap over items", "folds": "range over folds"}


def shown_methods(scores: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each method or reference, for `COLUMNS`.

    References first, then methods by their JSD; ``group`` is one for all methods of a dataset.
    """
    keys = ["dataset", "title"]
    shown = scores[[*keys, "kind", "learned_from"]].drop_duplicates(keys)
    shown["group"] = shown["title"].where(shown["kind"] == "reference", "method")
    shown = shown.drop(columns="kind")
    for measure in SHOWN:
        rows = scores.loc[scores["measure"] == measure, [*keys, *_VALUES]]
        names = {name: f"{measure}_{name}" for name in _VALUES}
        shown = shown.merge(rows.rename(columns=names), "left", keys)
    shown["place"] = shown.groupby("dataset", sort=False).ngroup()
    shown["at"] = shown["jsd_value"].where(shown["group"] == "method", -1)
    return shown.sort_values(["place", "at"], kind="stable").drop(columns=["place", "at"])


COLUMNS = [
    Column("dataset", "dataset", names=dataset_name),
    Column("method", "title"),
    Column("learned from", "learned_from", names=_LEARNED_FROM),
    Column("score", "jsd_value", _DIGITS, group=MEASURES["jsd"].title),
    Column(
        "Δ to plain", "jsd_difference", _DIGITS, "jsd_difference_low", "jsd_difference_high",
        signed=True, group=MEASURES["jsd"].title, best="lowest",
    ),
    *(Column(MEASURES[one].title, f"{one}_value", _DIGITS) for one in SHOWN[1:]),
]  # fmt: skip
TEMPERATURE_COLUMNS = [
    Column("dataset", "dataset", names=dataset_name),
    Column("temperature fitted on", "method", names=_FITTED_ON),
    Column("T", "temperature", 2, low="low", high="high"),
    Column("spread of", "spread", names=_SPREADS),
    Column("items fitted on", "n_fitted"),
]
