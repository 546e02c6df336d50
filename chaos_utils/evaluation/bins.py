"""How scores depend on human agreement: quantile bins of the votes' entropy.

The bins of Figures 4 and 5 of Nie et al. (2020), for each dataset and for SNLI and MNLI pooled.

`binned` is what `binned_scores` gives of `all_votes`, one per dataset, and of `systems` by dataset.
"""

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
from chaos_utils.metrics.resampling import bootstrap_tables, percentile_interval
from chaos_utils.scoring.published import TABLE_5
from chaos_utils.scoring.system import System
from chaos_utils.scoring.systems import class_prior, original_votes, uniform

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

GUESS = "chance"
BIN_GUESS = "commonest label of the bin"
BASELINES = (GUESS, BIN_GUESS, "class prior", "original votes")
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
    systems, families : tuple of str
    roles : tuple of str
        Of each system: ``model``, ``seed`` (a run of a model that has several),
        ``mean of seeds``, ``baseline``.
    n_scored : ndarray of int, shape (n_bins, n_systems)
        Items in the bin that the system covers.
    values : ndarray of float, shape (n_bins, n_systems, 4)
        `TABLE_5`; NaN where the system covers no item.
    draws : ndarray of float, shape (n_bins, n_resamples, n_systems, 4)
        The same on resamples of each bin's items, all systems alike.
    """

    dataset: str
    bins: EntropyBins
    systems: tuple[str, ...]
    families: tuple[str, ...]
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
    """Score systems and baselines in entropy bins, for each dataset and each pool of them.

    Systems that are named alike but for ``, seed N`` also appear as their mean. Systems
    that predict all datasets of a pool under one name are pooled. The baselines are ``chance`` (the
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
    """
    entropies, gold, scores = {}, {}, {}
    for votes in all_votes:
        dataset = votes.dataset.name
        entropies[dataset] = entropy(votes.shares, unit="bits")
        gold[dataset] = [votes.old_label if votes.has_old_labels else None, votes.majority]
        scores[dataset] = _item_scores(votes, systems.get(dataset, ()))
    for pool in pools(all_votes):
        parts = pool.split("+")
        common = [name for name in scores[parts[0]] if all(name in scores[one] for one in parts)]
        entropies[pool] = np.concatenate([entropies[one] for one in parts])
        gold[pool] = [_joined([gold[one][k] for one in parts]) for k in range(2)]
        scores[pool] = {
            name: replace(
                scores[parts[0]][name], by_item=np.concatenate([scores[one][name].by_item
                                                                for one in parts])
            )
            for name in common
        }  # fmt: skip
    found = []
    for dataset, of_dataset in scores.items():
        bins = entropy_bins(entropies[dataset], n_bins)
        everywhere = np.zeros_like(bins.of_item)
        chance = of_dataset[GUESS]
        nothing = np.full(chance.by_item.shape, np.nan)
        for name, group, start in (
            (GUESS, everywhere, chance.by_item), (BIN_GUESS, bins.of_item, nothing)
        ):  # fmt: skip
            guessed = start.copy()
            guessed[:, 2:] = np.column_stack([_guesses(one, group) for one in gold[dataset]])
            of_dataset[name] = replace(chance, name=name, family=name, by_item=guessed)
        found.append(_score_bins(dataset, bins, of_dataset, n_resamples, seed))
    return found


def pools(all_votes: Sequence[Votes]) -> list[str]:
    """Return the pools of datasets that are shown as one, where all of their members are there.

    Returns
    -------
    list of str
        Such as ``snli+mnli``.
    """
    there = {votes.dataset.name for votes in all_votes}
    named = dict.fromkeys(votes.dataset.pooled_as for votes in all_votes)
    return [pool for pool in named if pool and set(pool.split("+")) <= there]


def _joined(parts: Sequence[Ints | None]) -> Ints | None:
    known = [part for part in parts if part is not None]
    return np.concatenate(known) if len(known) == len(parts) else None


@dataclass(frozen=True, slots=True)
class _Scored:
    """A system's measures item by item, shape (n_items, 4); NaN where there is none."""

    name: str
    family: str
    seed: int | None
    origin: str
    by_item: Floats


def _item_scores(votes: Votes, systems: Sequence[System]) -> dict[str, _Scored]:
    for system in systems:
        if system.name in BASELINES:
            raise ChaosError(
                "A system has the name of a baseline.", found=system.name, todo="rename it"
            )
    baselines = [replace(uniform(votes), name=GUESS, family=GUESS)]
    if votes.has_old_labels:
        baselines += [class_prior(votes), original_votes(votes)]
    found = {}
    for system in [*systems, *baselines]:
        judged = system.aligned_to(votes)
        by_item = np.full((len(votes), len(TABLE_5)), np.nan)
        for k, name in enumerate(TABLE_5):
            if votes.has_old_labels or not MEASURES[name].needs:
                by_item[system.rows_in(votes), k] = MEASURES[name].columns(judged)[:, 0]
        found[system.name] = _Scored(
            system.name, system.family, system.seed, system.origin, by_item
        )
    return found


def _guesses(labels: Ints | None, groups: Ints) -> Floats:
    """Return where a group's most frequent label is right, shape (n_items,)."""
    right = np.full(len(groups), np.nan)
    if labels is None:
        return right
    for group in np.unique(groups):
        rows = groups == group
        right[rows] = labels[rows] == np.bincount(labels[rows]).argmax()
    return right


def _score_bins(
    dataset: str, bins: EntropyBins, of_dataset: Mapping[str, _Scored], n_resamples: int, seed: int
) -> BinnedScores:
    scores = _with_means_of_seeds(of_dataset)
    table = np.stack([by_item for _, _, by_item in scores.values()], axis=1)
    covered = ~np.isnan(table)
    cells = list(np.ndindex(table.shape[1:]))
    tables = [
        (np.flatnonzero(covered[:, s, m]), table[covered[:, s, m], s, m][:, np.newaxis])
        for s, m in cells
    ]
    values, draws = [], []
    for number in range(len(bins.low)):
        items = np.flatnonzero(bins.of_item == number)
        n_covered = covered[items].sum(axis=0)
        sums = np.nansum(table[items], axis=0)
        values.append(np.divide(sums, n_covered, out=np.full(sums.shape, np.nan),
                                where=n_covered > 0))  # fmt: skip
        rng = np.random.default_rng([seed, number])
        means = bootstrap_tables(tables, items, n_resamples, rng)
        draws.append(np.concatenate(means, axis=1).reshape(n_resamples, *table.shape[1:]))
    return BinnedScores(
        dataset=dataset,
        bins=bins,
        systems=tuple(scores),
        families=tuple(family for family, _, _ in scores.values()),
        roles=tuple(role for _, role, _ in scores.values()),
        n_scored=np.stack(
            [covered[bins.of_item == b].any(axis=2).sum(axis=0) for b in range(len(bins.low))]
        ),
        values=np.stack(values),
        draws=np.stack(draws),
    )


def _with_means_of_seeds(
    of_dataset: Mapping[str, _Scored],
) -> dict[str, tuple[str, str, Floats]]:
    """Return family, role and scores by system, and a mean before the seeds of each family."""
    families: dict[tuple[object, ...], list[_Scored]] = {}
    for one in of_dataset.values():
        alone = () if one.seed is not None else (one.name,)
        families.setdefault((one.origin, one.family, *alone), []).append(one)
    scores = {}
    for (_, family, *_), members in families.items():
        family = str(family)
        if len(members) > 1:
            mean = np.mean([one.by_item for one in members], axis=0)
            scores[f"{family}, mean of {len(members)} seeds"] = (family, "mean of seeds", mean)
        for one in members:
            role = "baseline" if one.origin == "baseline" else "model"
            role = "seed" if len(members) > 1 else role
            scores[one.name] = (family, role, one.by_item)
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
                bin=b + 1, source="computed", n_scored=scores.n_scored[b].repeat(len(TABLE_5))
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
            "measure": np.array(TABLE_5)[m],
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
        ["bin", "model", "n"], list(TABLE_5), var_name="measure", value_name="value"
    )
    long = long.rename(columns={"model": "system", "n": "n_scored"})
    return long.assign(source="published", role="model")


def drawn(table: pd.DataFrame, *measures: str) -> pd.DataFrame:
    """Return the rows of a `table` of `bin_table` that are shown, of these `measures` or of all.

    Seeds stand as their mean; the class prior is a distribution, so not in accuracies.
    """
    rows = table[table["measure"].isin(measures or TABLE_5) & (table["role"] != "seed")]
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
        One row for each dataset with systems and each ``label`` (``old``, if there are old
        labels, and ``new``):
        ``n_systems``, ``n_items`` (those that every system covers), ``n_all_correct``,
        ``share_all_correct``, ``n_none_correct``, ``share_none_correct``.
    """
    rows = []
    for votes in all_votes:
        dataset = votes.dataset.name
        several = systems.get(dataset, ())
        if not several:
            continue
        predicted = pd.DataFrame(
            {system.name: pd.Series(system.predicted, list(system.uids)) for system in several}
        ).dropna()
        labels = {"old": votes.old_label} if votes.has_old_labels else {}
        for label, gold in (labels | {"new": votes.majority}).items():
            of_item = pd.Series(gold, list(votes.uids)).loc[predicted.index]
            right = predicted.eq(of_item, axis=0)
            every, none = right.all(axis=1), ~right.any(axis=1)
            rows.append(
                {
                    "dataset": dataset,
                    "label": label,
                    "n_systems": len(several),
                    "n_items": len(right),
                    "n_all_correct": int(every.sum()),
                    "share_all_correct": every.mean(),
                    "n_none_correct": int(none.sum()),
                    "share_none_correct": none.mean(),
                }
            )
    columns = "dataset label n_systems n_items n_all_correct share_all_correct n_none_correct"
    return pd.DataFrame(rows, columns=[*columns.split(), "share_none_correct"])
