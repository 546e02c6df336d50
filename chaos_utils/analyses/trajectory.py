"""How scores grow with training, bin by bin of human agreement (Figure 8 of Nie et al., 2020)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.analyses.agreement import (
    BIN_COLUMNS,
    GUESS,
    MODELS,
    BinScores,
    bin_columns,
    score_bins,
)
from chaos_utils.analyses.evidence import Evidence, Material
from chaos_utils.analyses.recorded import recorded
from chaos_utils.base.inputs import Later, merged
from chaos_utils.datasets.tasks import get_task
from chaos_utils.datasets.votes import Votes
from chaos_utils.report.columns import Column
from chaos_utils.scoring.published import TABLE_5
from chaos_utils.scoring.seeds import OverSeeds, over_seeds
from chaos_utils.scoring.system import System
from chaos_utils.scoring.trained import (
    PREDICTIONS_FILE,
    Run,
    committed_runs,
    kind_of,
    predictions_in,
)

Floats = npt.NDArray[np.float64]

SHOWN = ("new_accuracy", "old_accuracy", "jsd")
_GUESSES = {"new_accuracy": "commonest label", "jsd": "uniform guess"}
_OF_MEASURES = [TABLE_5.index(name) for name in SHOWN]
_KEYS = ("dataset", "items", "bin", "measure")


@dataclass(frozen=True, slots=True, eq=False)
class Stage(System):
    """A model, as runs name it, that was trained on so many items, for so many epochs."""

    items: int = 0
    model: str = ""
    run: str = ""
    epochs: int = 1


def with_sizes(material: Material, model: str, runs: Iterable[Run] | None = None) -> Material:
    """Return the votes, with the ends of a model's runs on growing parts of the pairs as systems.

    Of two runs alike in task, size and seed, the first counts. By default the runs are the
    committed ones.
    """
    found: dict[tuple[str, int, int], Run] = {}
    for run in committed_runs() if runs is None else runs:
        if run.settings["model"] == model and kind_of(run) in ("plain", "size"):
            key = (run.settings["task"], run.record["data"]["n_train"], run.settings["seed"])
            found.setdefault(key, run)
    several = [run for _, run in sorted(found.items(), key=lambda one: one[0])]
    return Material(tuple(_with_stages(one, several) for one in material), material.trained)


def _with_stages(evidence: Evidence, runs: Iterable[Run]) -> Evidence:
    """Put what runs predict of a dataset into its evidence; it is read later."""
    if evidence.given_votes is None:
        return replace(evidence, given_systems=None)
    chosen = [one for one in runs if evidence.name in get_task(one.settings["task"]).datasets]
    inputs = merged(*(run.inputs_of(PREDICTIONS_FILE) for run in chosen))
    return replace(evidence, given_systems=(Later(inputs, partial(_stages, evidence, chosen)),))


def _stages(evidence: Evidence, runs: Iterable[Run]) -> tuple[System, ...]:
    """Return what runs predict as stages; those that differ in their seed are one family."""
    (votes,) = evidence.votes or ()
    found = []
    for run in runs:
        if system := predictions_in(run.read_table(PREDICTIONS_FILE), votes, ""):
            fields = {field: getattr(system, field) for field in System.__dataclass_fields__}
            fields |= {name: run.settings[name] for name in ("model", "epochs", "seed")}
            fields |= {"origin": "trained", "inputs": run.inputs_of(PREDICTIONS_FILE)}
            items = run.record["data"]["n_train"]
            fields |= {"name": f"{items} items, seed {fields['seed']}", "family": str(items)}
            found.append(Stage(**fields, items=items, run=run.name))
    return tuple(found)


def with_pools(material: Material) -> list[Evidence]:
    """Return each pool, and the datasets that are in none."""
    pools = list(material.pooled())
    inside = {one.name for pool in pools for one in pool.datasets}
    return [*pools, *(one for one in material if one.name not in inside)]


@recorded(keys=_KEYS)
def by_size(
    all_votes: Sequence[Votes],
    all_systems: Sequence[Sequence[Stage]],
    *,
    model: str,
    n_bins: int,
    n_resamples: int,
    seed: int,
) -> pd.DataFrame:
    """Score the runs of a model on growing parts of the training items, in entropy bins.

    Bin 0 is all items. Several datasets are scored as one, with common bins, as in the paper's
    figures; stages that differ in their seed alone are averaged. ``chance`` is the most frequent
    majority, or old label, of all items, and for JSD the uniform distribution; ``over_chance`` is
    the value minus that, ``change`` minus that of the fewest items. All stages are resampled
    alike. With several seeds (``n_seeds``) the 95% intervals are for other seeds too; the seeds of
    two stages are taken to have nothing in common. Without rows where a dataset has no stage.
    """
    stages = [[one for one in systems if one.model == model] for systems in all_systems]
    if not all(stages):
        return pd.DataFrame(columns=list(_KEYS), dtype=object)
    scores = score_bins(all_votes, stages, n_bins=n_bins, n_resamples=n_resamples, seed=seed)
    values, draws = _with_all(scores)
    roles = zip(scores.families, scores.roles, strict=True)
    place_of = {int(family): k for k, (family, role) in enumerate(roles) if role in MODELS}
    sizes = sorted(place_of)
    places, guess = [place_of[items] for items in sizes], scores.systems.index(GUESS)
    n = np.vstack([scores.n_scored.sum(axis=0), scores.n_scored])[:, places]
    shape = (len(values), len(places), len(SHOWN))
    b, s, m = (axis.ravel() for axis in np.indices(shape))
    table = pd.DataFrame([_about(items, stages) for items in sizes]).iloc[s].reset_index(drop=True)
    table["dataset"] = scores.dataset
    table["bin"] = b
    table["entropy_low_bits"] = np.r_[scores.bins.low[0], scores.bins.low][b]
    table["entropy_high_bits"] = np.r_[scores.bins.high[-1], scores.bins.high][b]
    table["n"] = n[b, s]
    table["measure"] = np.array(SHOWN)[m]
    table["chance"] = np.broadcast_to(values[:, [guess]], shape).ravel()
    for name, prefix, baseline in (
        ("value", "", None),
        ("over_chance", "over_chance_", guess),
        ("change", "change_", places[0]),
    ):
        found = [
            _over_seeds(scores, each, drawn, place, baseline, n_items)
            for each, drawn, of_bin in zip(values, draws, n, strict=True)
            for place, n_items in zip(places, of_bin, strict=True)
        ]
        table[name] = np.concatenate([one.value for one in found])
        table[f"{prefix}low"] = np.concatenate([one.low for one in found])
        table[f"{prefix}high"] = np.concatenate([one.high for one in found])
    return table


def _over_seeds(
    scores: BinScores,
    values: Floats,
    draws: Floats,
    place: int,
    other: int | None,
    n_items: int,
) -> OverSeeds:
    """Return a stage's scores in one bin, or their differences from another one's or chance."""
    mine, theirs = (list(scores.members[k]) for k in (place, place if other is None else other))
    if place == other:  # no seed differs from itself
        values, draws = np.zeros_like(values), np.zeros_like(draws)
    against = None if other in (None, place) else (values[theirs], draws[:, theirs])
    return over_seeds(values[mine], draws[:, mine], against=against, n_items=n_items)


def _with_all(scores: BinScores) -> tuple[Floats, Floats]:
    """Return values and draws of all items and of each bin: (1 + n_bins, [draws,] systems, 3)."""
    weights = scores.n_scored / scores.n_scored.sum(axis=0)
    values, draws = scores.values[..., _OF_MEASURES], scores.draws[..., _OF_MEASURES]
    every = np.nansum(weights[..., np.newaxis] * values, axis=0)
    drawn = np.nansum(weights[:, np.newaxis, :, np.newaxis] * draws, axis=0)
    return np.concatenate([every[np.newaxis], values]), np.concatenate([drawn[np.newaxis], draws])


def _about(items: int, stages: Iterable[Iterable[Stage]]) -> dict[str, object]:
    alike = [one for some in stages for one in some if one.items == items]
    return {
        "items": items,
        "epochs": max(one.epochs for one in alike),
        "n_seeds": len({one.seed for one in alike}),
        "runs": " ".join(dict.fromkeys(one.run for one in alike)),
    }


def shown_sizes(growth: pd.DataFrame) -> pd.DataFrame:
    """Return new accuracy and JSD of `by_size` by number of training items, a guess after them."""
    shown = growth[growth["measure"].isin(_GUESSES)]
    parts = []
    for _, rows in shown.groupby(["dataset", "measure"], sort=False):
        guess = rows.drop_duplicates("bin")
        known = {"items": guess["measure"].map(_GUESSES), "value": guess["chance"]}
        parts += [rows, guess.assign(**known, low=np.nan, high=np.nan)]
    return pd.concat(parts)


def size_columns(growth: pd.DataFrame) -> list[Column]:
    """Return how `shown_sizes` are shown, bins side by side."""
    everyone, *bins = bin_columns(growth)
    items = Column("training items", "items")
    return [*BIN_COLUMNS, items, replace(everyone, heading="all items"), *bins]
