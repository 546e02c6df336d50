"""The runs behind the comparison of methods: ours where they are, simulated on the sample."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.datasets.tasks import get_task
from chaos_utils.datasets.votes import Votes
from chaos_utils.scoring.formats import class_columns
from chaos_utils.scoring.recalibration import temper
from chaos_utils.scoring.system import System, votes_of
from chaos_utils.scoring.systems import computed, synthetic_systems
from chaos_utils.scoring.trained import DEV_FILE, PREDICTIONS_FILE, Run, committed_runs, kind_of

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
_N_SIMULATED_DEV = 2000


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """What runs of one encoder left on a dataset; all predictions cover all items, in order.

    Attributes
    ----------
    plain : System or None
        Of the run that all others are set beside; one of `seeds`.
    seeds : sequence of System
        The plain runs, one per seed.
    others : mapping
        What is said of a run in parentheses, and its predictions, by method: ``smoothing``,
        ``mc``, ``soft``, where there is such a run with the plain run's seed.
    development : (ndarray of float, ndarray of int) or None
        The plain run's probabilities and the gold labels of development items of the dataset
        that are not in ChaosNLI.
    """

    plain: System | None = None
    seeds: Sequence[System] = ()
    others: Mapping[str, tuple[str, System]] = field(default_factory=dict)
    development: tuple[Floats, Ints] | None = None


def gather(votes: Votes, model: str, run_seed: int) -> Material:
    """Return what there is on a dataset: for the released votes, of the committed runs.

    Parameters
    ----------
    votes : Votes
        On the synthetic sample, runs are simulated; on votes of a reader's own there are none.
    model : str
        The encoder, as runs name it; without effect on the sample.
    run_seed : int
        Seed of the plain run.
    """
    if votes.source.synthetic:
        return simulated(votes, run_seed)
    if not votes.is_released:
        return Material()
    runs = [run for run in committed_runs() if not run.record["synthetic"]]
    known = sorted({str(run.settings["model"]) for run in runs})
    if known and model not in known:
        raise ChaosError(
            "No committed run is of this encoder.",
            found=model,
            expected=did_you_mean(model, known),
            todo="name one that has runs, or make them with `chaos finetune`",
        )
    return from_runs(votes, [run for run in runs if run.settings["model"] == model], run_seed)


def from_runs(votes: Votes, runs: Sequence[Run], run_seed: int) -> Material:
    """Return what runs of one encoder left on a dataset.

    Of several runs that would do, the first counts.

    Parameters
    ----------
    runs : sequence of Run
        Of one encoder.
    run_seed : int
        Seed of the plain run.
    """
    training = get_task(votes.dataset.task)
    by_kind: dict[tuple[str, int], Run] = {}
    for run in runs:
        kind = method_of(run)
        if kind and run.settings["task"] == training.name:
            by_kind.setdefault((kind, int(run.settings["seed"])), run)
    chosen = by_kind.get(("plain", run_seed))
    seeds = [
        _predictions(run, votes) for (kind, _), run in sorted(by_kind.items()) if kind == "plain"
    ]
    others = {
        kind: (_detail(run, kind), _predictions(run, votes))
        for (kind, seed), run in by_kind.items()
        if kind != "plain" and seed == run_seed
    }
    plain = next((one for one in seeds if one.seed == run_seed), None)
    development = None if chosen is None else _development(chosen, votes)
    return Material(plain, seeds, others, development)


def method_of(run: Run) -> str:
    """Return which method a run is made for; empty where it is no part of the comparison.

    The run that is set beside the plain one must differ from it in one thing alone.

    Returns
    -------
    str
        ``plain``, ``smoothing``, ``mc``, ``soft`` or empty.
    """
    kind, settings = kind_of(run), run.settings
    smoothed = bool(settings["label_smoothing"])
    if kind == "votes":
        softened = settings["loss"] == "soft" and settings["init"] and not smoothed
        return "soft" if softened else ""
    if settings["max_train_examples"] or settings["teacher"] or settings["init"]:
        return ""
    if kind == "predicted":
        return "mc" if run.record["predicted"]["mc_samples"] and not smoothed else ""
    return kind  # plain or smoothing


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
    return _shares(of_dataset, votes), of_dataset["label"].to_numpy(dtype=np.int64)


def _shares(table: pd.DataFrame, votes: Votes) -> Floats:
    values = table[class_columns(votes.dataset)].to_numpy(dtype=np.float64)
    rescaled: Floats = values / values.sum(axis=1, keepdims=True)  # stored in single precision
    return rescaled


def simulated(votes: Votes, run_seed: int) -> Material:
    """Return simulated runs for the synthetic sample, with the names of none that was trained.

    The plain ones are `synthetic_systems`. What the others would do to them is made up:
    smoothing and dropout make them less sure, soft labels draw them toward the votes.

    Parameters
    ----------
    run_seed : int
        From 0 to 2; with another there is no plain run.

    Returns
    -------
    Material
        The same at every call.
    """
    seeds = synthetic_systems(votes)
    plain = next((one for one in seeds if one.seed == run_seed), None)
    if plain is None:
        return Material(seeds=seeds)
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
        on_votes = kind == "soft"
        others[kind] = (
            detail,
            replace(
                one,
                family=f"synthetic {kind}",
                seed=run_seed,
                trained_on=(votes_of(votes.dataset),) if on_votes else (),
                out_of_fold=on_votes,
            ),
        )
    rows = rng.integers(len(votes), size=_N_SIMULATED_DEV)
    counts = rng.multinomial(1, votes.shares[rows])
    return Material(plain, seeds, others, (shares[rows], counts.argmax(axis=1)))


def _blurred(shares: Floats, noise: Floats) -> Floats:
    powers = (shares + 0.01) * np.exp(noise)
    blurred: Floats = powers / powers.sum(axis=1, keepdims=True)
    return blurred
