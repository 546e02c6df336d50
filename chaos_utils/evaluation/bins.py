"""How scores depend on human agreement: quantile bins of the votes' entropy.

The bins of Figures 4 and 5 of Nie et al. (2020), for each dataset and for SNLI and MNLI pooled.

`binned` is what `binned_scores` gives of `all_votes`, one a dataset, and of `systems` by dataset.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.divergence import entropy
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.metrics.resampling import bootstrap_means, percentile_interval
from chaos_utils.scoring.system import System
from chaos_utils.scoring.systems import class_prior, original_votes, uniform

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

BIN_MEASURES = ("jsd", "kl", "old_accuracy", "new_accuracy")
POOLED = ("snli", "mnli")
GUESS = "chance"
BIN_GUESS = "commonest label of the bin"
BASELINES = (GUESS, BIN_GUESS, "class prior", "original votes")
_SEED = re.compile(r"(?P<model>.+), seed \d+")
_DECIMALS = 10  # equal entropies must not fall on both sides of an edge
_EDGE_TOLERANCE = 1e-5  # published edges have six decimals


@dataclass(frozen=True, slots=True)
class EntropyBins:
    """Quantile bins of entropies: intervals [low, high), the last one closed.

    Attributes
    ----------
    low, high : ndarray of float, shape (n_bins,)
        Bits.
    of_item : ndarray of int, shape (n_items,)
        Each item's bin, from 0.
    """

    low: Floats
    high: Floats
    of_item: Ints


def entropy_bins(entropies: npt.ArrayLike, n_bins: int) -> EntropyBins:
    """Cut entropies at their quantiles (linear interpolation).

    Parameters
    ----------
    entropies : array_like of float, shape (n_items,)
        Bits; rounded to ten decimals first.
    n_bins : int
        From 2 to the number of items. Bins that no item falls into, as many equal
        entropies can leave them, are left out.

    Raises
    ------
    ValueError
        If there are too few bins or too few items for them.
    """
    values = np.asarray(entropies, dtype=np.float64).round(_DECIMALS)
    if not 2 <= n_bins <= len(values):
        raise ValueError(f"n_bins is {n_bins}, expected 2 to the number of items, {len(values)}")
    edges = np.quantile(values, np.linspace(0, 1, n_bins + 1)).round(_DECIMALS)
    found = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, n_bins - 1)
    filled, of_item = np.unique(found, return_inverse=True)
    return EntropyBins(edges[filled], edges[filled + 1], of_item)


@dataclass(frozen=True, slots=True)
class BinnedScores:
    """Scores of the systems on one dataset, or on SNLI and MNLI pooled, bin by bin.

    Attributes
    ----------
    dataset : str
        A dataset's name, or ``snli+mnli``.
    bins : EntropyBins
    systems : tuple of str
    roles : tuple of str
        Of each system: ``model``, ``seed`` (a run of a model that has several),
        ``mean of seeds``, ``baseline``.
    n_scored : ndarray of int, shape (n_bins, n_systems)
        Items in the bin that the system covers.
    values : ndarray of float, shape (n_bins, n_systems, 4)
        `BIN_MEASURES`; NaN where the system covers no item.
    draws : ndarray of float, shape (n_bins, n_resamples, n_systems, 4)
        The same on resamples of each bin's items, all systems alike.
    """

    dataset: str
    bins: EntropyBins
    systems: tuple[str, ...]
    roles: tuple[str, ...]
    n_scored: Ints
    values: Floats
    draws: Floats


def binned_scores(
    all_votes: Sequence[Votes],
    systems: Mapping[str, Sequence[System]],
    *,
    n_bins: int,
    n_resamples: int,
    seed: int,
) -> list[BinnedScores]:
    """Score systems and baselines in entropy bins, for each dataset and for SNLI+MNLI pooled.

    Systems that are named alike but for ``, seed N`` also appear as their mean. Systems
    that predict SNLI and MNLI under one name are pooled. The baselines are ``chance`` (the
    uniform distribution for JSD and KL, the most frequent label of all items for the
    accuracies), the most frequent label of each bin (accuracies alone; it is chosen with
    hindsight), the class prior and the original votes.

    Parameters
    ----------
    all_votes : sequence of Votes
        One a dataset.
    systems : mapping from str to sequence of System
        By dataset; may be empty.
    n_bins : int
        See `entropy_bins`.
    n_resamples : int
        Bootstrap resamples of the items within each bin, at least 1; the edges stay.
    seed : int
        Seed of the bootstrap.

    Raises
    ------
    ChaosError
        If a system is named as a baseline is.
    ValueError
        As `entropy_bins`, or if `n_resamples` is below 1.
    """
    entropies, gold, scores = {}, {}, {}
    for votes in all_votes:
        dataset = votes.dataset.name
        entropies[dataset] = entropy(votes.shares, unit="bits")
        gold[dataset] = np.column_stack([votes.old_label, votes.majority])
        scores[dataset] = _item_scores(votes, systems.get(dataset, ()))
    if set(POOLED) <= set(scores):
        first, second = POOLED
        common = [name for name in scores[first] if name in scores[second]]
        pooled = "+".join(POOLED)
        entropies[pooled] = np.concatenate([entropies[dataset] for dataset in POOLED])
        gold[pooled] = np.concatenate([gold[dataset] for dataset in POOLED])
        scores[pooled] = {
            name: np.concatenate([scores[dataset][name] for dataset in POOLED]) for name in common
        }
    found = []
    for number, dataset in enumerate(scores):
        bins = entropy_bins(entropies[dataset], n_bins)
        by_item = scores[dataset]
        everywhere = np.zeros_like(bins.of_item)
        by_item[GUESS] = by_item[GUESS].copy()
        by_item[GUESS][:, 2:] = _guesses(gold[dataset], everywhere)
        by_item[BIN_GUESS] = np.full_like(by_item[GUESS], np.nan)
        by_item[BIN_GUESS][:, 2:] = _guesses(gold[dataset], bins.of_item)
        rng = np.random.default_rng([seed, number])
        found.append(_score_bins(dataset, bins, by_item, n_resamples, rng))
    return found


def _item_scores(votes: Votes, systems: Sequence[System]) -> dict[str, Floats]:
    """Return each system's measures, shape (n_items, 4), NaN for items it does not cover."""
    for system in systems:
        if system.name in BASELINES:
            raise ChaosError(
                "A system has the name of a baseline.", found=system.name, todo="rename it"
            )
    chance = replace(uniform(votes), name=GUESS)
    scores = {}
    for system in [*systems, chance, class_prior(votes), original_votes(votes)]:
        judged = system.aligned_to(votes)
        table = np.full((len(votes), len(BIN_MEASURES)), np.nan)
        table[system.rows_in(votes)] = np.column_stack(
            [MEASURES[name].columns(judged) for name in BIN_MEASURES]
        )
        scores[system.name] = table
    return scores


def _guesses(gold: Ints, groups: Ints) -> Floats:
    """Return where a group's most frequent label is right; both of shape (n_items, 2)."""
    right = np.empty(gold.shape)
    for group in np.unique(groups):
        rows = groups == group
        for column in range(gold.shape[1]):
            labels = gold[rows, column]
            right[rows, column] = labels == np.bincount(labels).argmax()
    return right


def _score_bins(
    dataset: str,
    bins: EntropyBins,
    by_item: Mapping[str, Floats],
    n_resamples: int,
    rng: np.random.Generator,
) -> BinnedScores:
    scores = _with_means_of_seeds(by_item)
    table = np.stack([scores[name][1] for name in scores], axis=1)
    covered = ~np.isnan(table)
    flat = np.concatenate([np.nan_to_num(table), covered], axis=2).reshape(len(table), -1)

    def ratio(means: Floats) -> Floats:
        shape = (*means.shape[:-1], table.shape[1], 2 * table.shape[2])
        sums, shares = np.split(means.reshape(shape), 2, axis=-1)
        return np.divide(sums, shares, out=np.full(sums.shape, np.nan), where=shares > 0)

    rows = [bins.of_item == b for b in range(len(bins.low))]
    return BinnedScores(
        dataset=dataset,
        bins=bins,
        systems=tuple(scores),
        roles=tuple(role for role, _ in scores.values()),
        n_scored=np.stack([covered[row].any(axis=2).sum(axis=0) for row in rows]),
        values=np.stack([ratio(flat[row].mean(axis=0)) for row in rows]),
        draws=np.stack([ratio(bootstrap_means(flat[row], n_resamples, rng)) for row in rows]),
    )


def _with_means_of_seeds(by_item: Mapping[str, Floats]) -> dict[str, tuple[str, Floats]]:
    """Return role and scores by system, and a mean before the seeds of each model."""
    families: dict[str, list[str]] = {}
    for name in by_item:
        match = _SEED.fullmatch(name)
        families.setdefault(match["model"] if match else name, []).append(name)
    scores = {}
    for model, names in families.items():
        if len(names) > 1:
            mean = np.mean([by_item[name] for name in names], axis=0)
            scores[f"{model}, mean of {len(names)} seeds"] = ("mean of seeds", mean)
        for name in names:
            alone = "baseline" if name in BASELINES else "model"
            scores[name] = ("seed" if len(names) > 1 else alone, by_item[name])
    return scores


def bin_table(binned: Sequence[BinnedScores]) -> pd.DataFrame:
    """Set the bins' scores in a tidy table, beside those that Nie et al. (2020) published.

    Published rows are there where the published bins are these bins (the pooled dataset has
    none, nor has other data).

    Returns
    -------
    DataFrame
        One row for each dataset, bin (from 1), system and measure: ``entropy_low_bits``,
        ``entropy_high_bits``, ``n``, ``published_n``, ``difference_n``, ``system``,
        ``source`` (``computed`` or ``published``), ``role``, ``n_scored``, ``measure``,
        ``value``, ``low``, ``high`` (95%; NaN for published values).
    """
    published = read_published("nie2020_entropy_bins")
    tables = []
    for scores in binned:
        table = pd.concat(
            _rows(scores, value, draws).assign(
                bin=b + 1, source="computed", n_scored=scores.n_scored[b].repeat(len(BIN_MEASURES))
            )
            for b, (value, draws) in enumerate(zip(scores.values, scores.draws, strict=True))
        )
        theirs = _same_bins(published[published["dataset"] == scores.dataset], scores.bins)
        table = pd.concat([table, _as_rows(theirs)] if len(theirs) else [table])
        n_theirs = theirs.groupby("bin")["n"].first()
        place = table["bin"].to_numpy() - 1
        table["dataset"] = scores.dataset
        table["entropy_low_bits"] = scores.bins.low[place]
        table["entropy_high_bits"] = scores.bins.high[place]
        table["n"] = np.bincount(scores.bins.of_item)[place]
        table["published_n"] = table["bin"].map(n_theirs).astype("Int64")
        table["difference_n"] = table["n"] - table["published_n"]
        tables.append(table)
    columns = "dataset bin entropy_low_bits entropy_high_bits n published_n difference_n system"
    columns += " source role n_scored measure value low high"
    return pd.concat(tables, ignore_index=True)[columns.split()]


def _rows(scores: BinnedScores, values: Floats, draws: Floats) -> pd.DataFrame:
    """Set values, shape (n_systems, 4), in rows, with intervals from their resamples."""
    low, high = percentile_interval(draws)
    s, m = (axis.ravel() for axis in np.indices(values.shape))
    return pd.DataFrame(
        {
            "system": np.array(scores.systems)[s],
            "role": np.array(scores.roles)[s],
            "measure": np.array(BIN_MEASURES)[m],
            "value": values.ravel(),
            "low": low.ravel(),
            "high": high.ravel(),
        }
    )


def _same_bins(published: pd.DataFrame, bins: EntropyBins) -> pd.DataFrame:
    """Return the published rows if they are of these bins, else none."""
    edges = published.groupby("bin")[["entropy_low_bits", "entropy_high_bits"]].first()
    ours = np.column_stack([bins.low, bins.high])
    same = edges.shape == ours.shape and np.allclose(edges, ours, atol=_EDGE_TOLERANCE)
    return published if same else published.head(0)


def _as_rows(published: pd.DataFrame) -> pd.DataFrame:
    long = published.melt(
        ["bin", "model", "n"], list(BIN_MEASURES), var_name="measure", value_name="value"
    )
    long = long.rename(columns={"model": "system", "n": "n_scored"})
    return long.assign(source="published", role="model")


def drawn(table: pd.DataFrame, *measures: str) -> pd.DataFrame:
    """Return the rows of a `table` of `bin_table` that are shown, of these `measures` or of all.

    Seeds stand as their mean; the class prior is a distribution, so not in accuracies.
    """
    rows = table[table["measure"].isin(measures or BIN_MEASURES) & (table["role"] != "seed")]
    of_prior = (rows["system"] == "class prior") & rows["measure"].str.endswith("accuracy")
    return rows[~of_prior].dropna(subset="value")


def contrasts(binned: Sequence[BinnedScores]) -> pd.DataFrame:
    """Compare the last bin with the first, and in every bin each system with the guesses.

    Returns
    -------
    DataFrame
        One row for each dataset, bin, ``reference`` (``first bin``, in the last bin alone;
        ``chance``; ``commonest label of the bin``), system and measure: ``role``,
        ``value``, ``low``, ``high`` (95%).
    """
    tables = []
    for scores in binned:
        values, draws = scores.values, scores.draws
        last = len(values)
        compared = {(last, "first bin"): (values[-1] - values[0], draws[-1] - draws[0])}
        for reference in (GUESS, BIN_GUESS):
            k = scores.systems.index(reference)
            for b in range(last):
                compared[b + 1, reference] = (
                    values[b] - values[b, [k]],
                    draws[b] - draws[b][:, [k]],
                )
        for (number, reference), (value, resampled) in compared.items():
            table = _rows(scores, value, resampled)
            tables.append(table.assign(dataset=scores.dataset, bin=number, reference=reference))
    columns = "dataset bin reference system role measure value low high"
    return pd.concat(tables, ignore_index=True)[columns.split()]


def all_correct(
    all_votes: Sequence[Votes], systems: Mapping[str, Sequence[System]]
) -> pd.DataFrame:
    """Count the items that every system gets right, and those that none does.

    Returns
    -------
    DataFrame
        One row for each dataset with systems and each ``label`` (``old``, ``new``):
        ``n_systems``, ``n_items`` (those that every system covers), ``n_all_correct``,
        ``share_all_correct``, ``n_none_correct``, ``share_none_correct``.
    """
    rows = []
    for votes in all_votes:
        dataset = votes.dataset.name
        at_hand = systems.get(dataset, ())
        if not at_hand:
            continue
        predicted = pd.DataFrame(
            {system.name: pd.Series(system.predicted, list(system.uids)) for system in at_hand}
        ).dropna()
        for label, gold in (("old", votes.old_label), ("new", votes.majority)):
            of_item = pd.Series(gold, list(votes.uids)).loc[predicted.index]
            right = predicted.eq(of_item, axis=0)
            every, none = right.all(axis=1), ~right.any(axis=1)
            rows.append(
                {
                    "dataset": dataset,
                    "label": label,
                    "n_systems": len(at_hand),
                    "n_items": len(right),
                    "n_all_correct": int(every.sum()),
                    "share_all_correct": every.mean(),
                    "n_none_correct": int(none.sum()),
                    "share_none_correct": none.mean(),
                }
            )
    columns = "dataset label n_systems n_items n_all_correct share_all_correct n_none_correct"
    return pd.DataFrame(rows, columns=[*columns.split(), "share_none_correct"])
