"""How scores grow with training, bin by bin of human agreement (Figure 8 of Nie et al., 2020)."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from chaos_utils.analyses.agreement import (
    BIN_COLUMNS,
    GUESS,
    MODELS,
    BinScores,
    bin_columns,
    intervals,
    score_bins,
)
from chaos_utils.analyses.inputs import AnalysisInputs, DatasetInputs
from chaos_utils.datasets.votes import Ints, Votes
from chaos_utils.metrics.divergence import Floats
from chaos_utils.recorded import cached_analysis
from chaos_utils.report.columns import Column
from chaos_utils.scoring.published import TABLE_5
from chaos_utils.scoring.seeds import over_seeds
from chaos_utils.scoring.system import System
from chaos_utils.scoring.training_records import Run, committed_runs, kind_of

SHOWN_MEASURES = ("new_accuracy", "old_accuracy", "jsd")
_GUESSES = {"new_accuracy": "commonest label", "jsd": "uniform guess"}
_MEASURE_INDICES = [TABLE_5.index(name) for name in SHOWN_MEASURES]
_KEYS = ("dataset", "items", "bin", "measure")


def runs_by_size() -> list[Run]:
    """Return the committed runs on all training items, or on a part of them."""
    return [run for run in committed_runs() if kind_of(run) in ("plain", "size")]


def systems_by_size(runs: Iterable[Run], votes: Votes) -> list[System]:
    """Return the runs' predictions on a dataset in order of size; a family is a size.

    Of two runs with the same size and seed, the first counts.
    """
    systems: dict[tuple[int, int], System] = {}
    for run in runs:
        if system := run.predictions_on(votes):
            items, seed = run.record.data.n_train, run.settings.seed
            system_of_size = replace(system, name=f"{items} items, seed {seed}", family=str(items))
            systems.setdefault((items, seed), system_of_size)
    return [systems[key] for key in sorted(systems)]


def with_pools(inputs: AnalysisInputs) -> list[DatasetInputs]:
    """Return each pool, and the datasets that are in none."""
    pools = list(inputs.pooled())
    inside = {dataset.name for pool in pools for dataset in pool.datasets}
    return [
        *pools,
        *(dataset_inputs for dataset_inputs in inputs if dataset_inputs.name not in inside),
    ]


@cached_analysis(keys=_KEYS)
def by_size(
    all_votes: Sequence[Votes],
    *,
    runs: Sequence[Run],
    model: str,
    n_bins: int,
    n_resamples: int,
    seed: int,
) -> pd.DataFrame:
    """Score the runs of a model by their number of training items, in entropy bins.

    Bin 0 is all items. Several datasets are scored as one, with common bins, as in the paper's
    figures; runs that differ in their seed alone are averaged. ``chance`` is the score of the
    most frequent label of all items, and for JSD that of the uniform distribution; ``change`` is
    the value minus that of the fewest training items, whose seeds are held fixed. All runs share
    their resamples. With several seeds (``n_seeds``), the 95% intervals are for other seeds too.
    Without rows where a dataset has no run.
    """
    chosen = [run for run in runs if run.settings.model == model]
    systems = [systems_by_size(chosen, votes) for votes in all_votes]
    if not all(systems):
        return pd.DataFrame(columns=list(_KEYS), dtype=object)
    scores = score_bins(all_votes, systems, n_bins=n_bins, n_resamples=n_resamples, seed=seed)
    roles = zip(scores.families, scores.roles, strict=True)
    index_of_size = {int(family): k for k, (family, role) in enumerate(roles) if role in MODELS}
    sizes = sorted(index_of_size)
    indices, guess_index = [index_of_size[items] for items in sizes], scores.systems.index(GUESS)
    low_edges = [scores.bins.low[0], *scores.bins.low]
    high_edges = [scores.bins.high[-1], *scores.bins.high]
    parts = []
    for b, (values, draws, n_items) in enumerate(zip(*_with_all_items(scores), strict=True)):
        low, high, _ = intervals(scores, values, draws, n_items)
        columns = {"value": values, "low": low, "high": high}
        columns = {name: column[indices] for name, column in columns.items()}
        columns |= _change_from_first(scores, values, draws, indices, n_items)
        for m, measure in enumerate(SHOWN_MEASURES):
            about = {
                "items": sizes,
                "n_seeds": [len(scores.members[index]) for index in indices],
                "dataset": scores.dataset,
                "bin": b,
                "entropy_low_bits": low_edges[b],
                "entropy_high_bits": high_edges[b],
                "n": n_items[indices],
                "measure": measure,
                "chance": values[guess_index, m],
            }
            measure_columns = {name: column[:, m] for name, column in columns.items()}
            parts.append(pd.DataFrame(about | measure_columns))
    return pd.concat(parts).sort_values(["bin", "items"], kind="stable")


def _change_from_first(
    scores: BinScores, values: Floats, draws: Floats, indices: Sequence[int], n_items: Ints
) -> dict[str, Floats]:
    """Return each size minus the smallest, shape (n_sizes, n_measures); seeds are unpaired."""
    first_seeds = list(scores.members[indices[0]])
    first_scores = values[first_seeds], draws[:, first_seeds]
    effects = []
    for index in indices[1:]:
        seeds = list(scores.members[index])
        seed_scores = values[seeds], draws[:, seeds]
        effects.append(over_seeds(*seed_scores, n_items=n_items[index], against=first_scores))
    no_change = np.zeros((1, values.shape[1]))
    return {
        "change": np.vstack([no_change, *(effect.value for effect in effects)]),
        "change_low": np.vstack([no_change, *(effect.low for effect in effects)]),
        "change_high": np.vstack([no_change, *(effect.high for effect in effects)]),
    }


def _with_all_items(scores: BinScores) -> tuple[Floats, Floats, Ints]:
    """Return values, draws and numbers of items: of all items, then of each bin.

    Shapes: values (n_bins + 1, n_systems, n_measures), draws (n_bins + 1, n_resamples, n_systems,
    n_measures), numbers (n_bins + 1, n_systems).
    """
    n_items = scores.n_scored.sum(axis=0)
    weights = scores.n_scored / n_items
    values, draws = scores.values[..., _MEASURE_INDICES], scores.draws[..., _MEASURE_INDICES]
    mean = np.nansum(weights[..., np.newaxis] * values, axis=0)
    mean_draws = np.nansum(weights[:, np.newaxis, :, np.newaxis] * draws, axis=0)
    return (
        np.concatenate([mean[np.newaxis], values]),
        np.concatenate([mean_draws[np.newaxis], draws]),
        np.vstack([n_items, scores.n_scored]),
    )


def shown_sizes(growth: pd.DataFrame) -> pd.DataFrame:
    """Return new accuracy and JSD of `by_size`, and after them a row for the guess."""
    shown = growth[growth["measure"].isin(_GUESSES)]
    parts = []
    for _, rows in shown.groupby(["dataset", "measure"], sort=False):
        guess = rows.drop_duplicates("bin")
        guess_columns = {"items": guess["measure"].map(_GUESSES), "value": guess["chance"]}
        parts += [rows, guess.assign(**guess_columns, low=np.nan, high=np.nan)]
    return pd.concat(parts)


def size_columns(growth: pd.DataFrame) -> list[Column]:
    """Return how `shown_sizes` are shown, bins side by side."""
    all_items, *bins = bin_columns(growth)
    items = Column("training items", "items")
    return [*BIN_COLUMNS, items, replace(all_items, heading="all items"), *bins]
