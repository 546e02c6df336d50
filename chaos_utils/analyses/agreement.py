"""How scores depend on human agreement: quantile bins of the votes' entropy.

The bins of Figures 4 and 5 of Nie et al. (2020), on a dataset or on several that are pooled.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.analyses.names import SYSTEM
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.table import in_order_of
from chaos_utils.datasets.catalogue import short_of
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.votes import ENOUGH_VOTES, Ints, Votes
from chaos_utils.metrics.divergence import Floats, entropy, jensen_shannon_distance
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.metrics.resampling import (
    behind_holm,
    holm,
    paired_p_value,
    percentile_interval,
    smallest_p_value,
    split_votes,
)
from chaos_utils.plots.columns import DATASET, p_value
from chaos_utils.recorded import cached_analysis, derived_table
from chaos_utils.report.columns import MISSING, Column, Row, number, signed
from chaos_utils.scoring.pools import pool_systems, pool_votes
from chaos_utils.scoring.published import TABLE_5, published_models
from chaos_utils.scoring.scores import resampled
from chaos_utils.scoring.seeds import families_of, over_seeds
from chaos_utils.scoring.system import System
from chaos_utils.scoring.systems import class_prior, original_votes, uniform

GUESS = "chance"
BIN_GUESS = "commonest label of the bin"
FIRST_BIN = "first bin"
HALF_CROWD = "half a crowd"
SEED = r", (seed \d+|mean of \d+ seeds)$"  # at the end of a system's name
_IN_COLOUR = 2  # models in a figure; the others are grey
BASELINES = (GUESS, BIN_GUESS, "class prior", "original votes")
MODELS = ("model", "mean of seeds")  # roles of rows that stand for a model
PAPER_ROLE = "model of the paper"  # role, in figures, of the nine that are drawn together
LEVEL = 0.05  # of tests
_SMALLEST_P = 0.001  # smaller p-values are not told apart
_ROUNDING = 1e-9
_DISTANCES = ("jsd", "kl")
# A guess is another label for each accuracy.
_MEASURES_BY_GOLD = {("old_accuracy",): "old", (*_DISTANCES, "new_accuracy"): "new"}
_DECIMALS = 10  # equal entropies must not fall on both sides of an edge
_EDGE_TOLERANCE = 1e-5  # published edges have six decimals
_KEYS = ("dataset", "bin", "system", "source", "measure")


@dataclass(frozen=True, slots=True)
class EntropyBins:
    """Quantile bins of entropies in bits, [low, high), the last one closed.

    `low` and `high` have an entry for each bin; `of_item` has the bin of each item, from 0.
    """

    low: Floats
    high: Floats
    of_item: Ints


def cut_by_entropy(entropies: npt.ArrayLike, n_bins: int) -> EntropyBins:
    """Cut entropies in bits, rounded to ten decimals, at their quantiles (linear interpolation).

    Empty bins, which many equal entropies can leave, are left out.
    """
    values = np.asarray(entropies, dtype=np.float64).round(_DECIMALS)
    if not 2 <= n_bins <= len(values):
        raise ValueError(f"n_bins is {n_bins}, expected 2 to the number of items, {len(values)}")
    edges = np.quantile(values, np.linspace(0, 1, n_bins + 1)).round(_DECIMALS)
    bin_of_item = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, n_bins - 1)
    filled, of_item = np.unique(bin_of_item, return_inverse=True)
    return EntropyBins(edges[filled], edges[filled + 1], of_item)


@dataclass(frozen=True, slots=True)
class BinScores:
    """Scores of systems and baselines on a dataset, or on several pooled, bin by bin.

    `n_scored`, shape (n_bins, n_systems), counts the items of a bin that a system covers. `values`,
    shape (n_bins, n_systems, 4), have an entry for each measure of `TABLE_5`, NaN where a system
    has no such score. `draws`, shape (n_bins, n_resamples, n_systems, 4), are scores on resamples
    of each bin's items, the same for all systems. `roles` are ``model``, ``seed`` (a run of a model
    that has several), ``mean of seeds`` or ``baseline``. `members` have, for a mean, the indices of
    its seeds, and for any other system its own index.
    """

    dataset: str
    bins: EntropyBins
    systems: tuple[str, ...]
    families: tuple[str, ...]
    roles: tuple[str, ...]
    members: tuple[tuple[int, ...], ...]
    n_scored: Ints
    values: Floats
    draws: Floats


def score_bins(
    all_votes: Sequence[Votes],
    all_systems: Sequence[Sequence[System]],
    *,
    n_bins: int,
    n_resamples: int,
    seed: int,
) -> BinScores:
    """Score systems and baselines in entropy bins of a dataset, or of several datasets as one.

    Systems that differ in their seed alone also appear as their mean. On several datasets, only
    systems that predict all of them under one name are scored. The baselines are ``chance`` (the
    uniform distribution for JSD and KL, the most frequent label of all items for the accuracies),
    the most frequent label of each bin (for accuracies alone; it is chosen with hindsight), the
    class prior and the original votes. Items are resampled within each bin; the edges stay.
    """
    if clashes := [
        system.name for systems in all_systems for system in systems if system.name in BASELINES
    ]:
        raise ChaosError("A system has the name of a baseline.", found=clashes[0], todo="rename it")
    votes = pool_votes(all_votes)
    bins = cut_by_entropy(entropy(votes.shares, unit="bits"), n_bins)
    groups = {f"bin {b + 1}": bins.of_item == b for b in range(len(bins.low))}
    baselines = []
    if votes.has_old_labels:
        baselines = pool_systems(
            all_votes, [[class_prior(part), original_votes(part)] for part in all_votes]
        )
    models = pool_systems(all_votes, all_systems)
    shape = (len(groups), len(models) + len(baselines) + 2, len(TABLE_5))
    values, draws = np.full(shape, np.nan), np.full((shape[0], n_resamples, *shape[1:]), np.nan)
    for measures, gold in _MEASURES_BY_GOLD.items():
        labels = votes.majority if gold == "new" else votes.given_old_label
        if labels is None:
            continue
        systems = [
            *models,
            _guess(votes, GUESS, labels, np.zeros_like(labels)),
            *baselines,
            _guess(votes, BIN_GUESS, labels, bins.of_item),
        ]
        scores = resampled(
            votes, systems, measures=measures, groups=groups, n_resamples=n_resamples, seed=seed
        )
        indices = [TABLE_5.index(measure) for measure in measures]
        values[..., indices], draws[..., indices] = scores.values, scores.draws
    for array in (values, draws):
        array[..., -1, [TABLE_5.index(name) for name in _DISTANCES]] = (
            np.nan
        )  # a label is no distribution
    chosen = _with_means_of_seeds(systems)
    names, families, roles, members = zip(*chosen, strict=True)
    return BinScores(
        dataset=votes.dataset.name,
        bins=bins,
        systems=names,
        families=families,
        roles=roles,
        # The seeds of a mean come after it.
        members=tuple(
            tuple(range(index + 1, index + 1 + len(indices))) if len(indices) > 1 else (index,)
            for index, (*_, indices) in enumerate(chosen)
        ),
        n_scored=np.stack([scores.n_items[:, indices].min(axis=1) for indices in members], axis=1),
        values=np.stack([values[:, indices].mean(axis=1) for indices in members], axis=1),
        draws=np.stack([draws[:, :, indices].mean(axis=2) for indices in members], axis=2),
    )


def intervals(
    scores: BinScores, values: Floats, draws: Floats, n_items: Ints
) -> tuple[Floats, Floats, Floats]:
    """Return low and high ends of 95% intervals, and p-values of the values being 0.

    `values`, shape (n_systems, n_measures), are linear in the systems' scores, on `n_items` each;
    `draws`, shape (n_resamples, n_systems, n_measures), are the same on resamples. Intervals are
    for other items, and for means of seeds for other seeds too. The p-values invert the intervals.
    """
    (low, high), p = percentile_interval(draws), paired_p_value(draws)
    for index, members in enumerate(scores.members):
        if len(members) > 1:
            seeds = list(members)
            estimate = over_seeds(values[seeds], draws[:, seeds], n_items=n_items[index])
            low[index], high[index], p[index] = estimate.low, estimate.high, estimate.p
    return low, high, p


def _guess(votes: Votes, name: str, gold: Ints, groups: Ints) -> System:
    """Return a system that predicts the uniform distribution, and each group's commonest label."""
    commonest = [np.bincount(gold[groups == group]).argmax() for group in range(groups.max() + 1)]
    answers = np.array(commonest)[groups]
    return replace(uniform(votes), name=name, family=name, predicted=answers, stated=True)


def _with_means_of_seeds(systems: Sequence[System]) -> list[tuple[str, str, str, list[int]]]:
    """Return name, family, role and indices of each system; a mean comes before its seeds."""
    rows = []
    for name, indices in families_of(systems).items():
        first = systems[indices[0]]
        role = "baseline" if first.origin == "baseline" else "model"
        if len(indices) > 1:
            role = "seed"
            rows.append((name, first.family, "mean of seeds", indices))
        rows += [(systems[index].name, first.family, role, [index]) for index in indices]
    return rows


@cached_analysis(keys=(*_KEYS, "reference"), published=("nie2020_entropy_bins",))
def binned_scores(
    all_votes: Sequence[Votes],
    all_systems: Sequence[Sequence[System]],
    *,
    n_bins: int,
    n_resamples: int,
    seed: int,
) -> pd.DataFrame:
    """Score systems in entropy bins, beside the published scores of Nie et al. (2020).

    Where ``reference`` is empty, ``value`` is a score. Else it is a model's difference from the
    reference, and ``p`` is the p-value of no difference: in each bin from ``chance`` and from the
    ``commonest label of the bin``, in the last bin from the ``first bin``. Intervals are of 95%,
    over items, and over seeds too where ``n_seeds`` is above 1. Published rows, without interval,
    are included where the published bins have the same edges.
    """
    columns = "dataset bin entropy_low_bits entropy_high_bits n system source role n_seeds"
    columns += " n_scored measure reference value low high p"
    scores = score_bins(all_votes, all_systems, n_bins=n_bins, n_resamples=n_resamples, seed=seed)
    parts = []
    for b, (value, draws) in enumerate(zip(scores.values, scores.draws, strict=True)):
        parts.append(_rows(scores, b, "", value, draws))
        for reference in (GUESS, BIN_GUESS):
            k = [scores.systems.index(reference)]
            parts.append(_rows(scores, b, reference, value - value[k], draws - draws[:, k]))
    change, change_draws = (array[-1] - array[0] for array in (scores.values, scores.draws))
    parts.append(_rows(scores, len(scores.values) - 1, FIRST_BIN, change, change_draws))
    ours = pd.concat(parts, ignore_index=True)
    is_model_difference = ours["role"].isin(MODELS) & ours["value"].notna()
    ours = ours[(ours["reference"] == "") | is_model_difference]
    published_rows = _published_rows(scores, ours)
    table = pd.concat([ours, published_rows], ignore_index=True) if len(published_rows) else ours
    bin_index = table["bin"].to_numpy() - 1
    table = table.assign(
        dataset=scores.dataset,
        entropy_low_bits=scores.bins.low[bin_index],
        entropy_high_bits=scores.bins.high[bin_index],
        n=np.bincount(scores.bins.of_item)[bin_index],
    )
    return table[columns.split()].astype({"n_seeds": "Int64"})  # published rows have none


def _rows(
    scores: BinScores, bin_index: int, reference: str, values: Floats, draws: Floats
) -> pd.DataFrame:
    """Return rows for one bin's values, shape (n_systems, 4), with intervals from their draws."""
    low, high, p = intervals(scores, values, draws, scores.n_scored[bin_index])
    systems = pd.DataFrame(
        {
            "system": scores.systems,
            "role": scores.roles,
            "n_seeds": [len(members) for members in scores.members],
            "n_scored": scores.n_scored[bin_index],
        }
    )
    cells = pd.MultiIndex.from_product([scores.systems, TABLE_5], names=["system", "measure"])
    numbers = {"value": values.ravel(), "low": low.ravel(), "high": high.ravel()}
    numbers["p"] = p.ravel() if reference else np.full(p.size, np.nan)
    rows = pd.DataFrame(numbers, index=cells).reset_index().merge(systems, on="system")
    return rows.assign(bin=bin_index + 1, source="computed", reference=reference)


def _published_rows(scores: BinScores, computed: pd.DataFrame) -> pd.DataFrame:
    """Return published scores and their differences; without rows if their bins are others."""
    table = read_published("nie2020_entropy_bins")
    table = table[table["dataset"] == scores.dataset]
    edges = table.groupby("bin")[["entropy_low_bits", "entropy_high_bits"]].first()
    bin_edges = np.column_stack([scores.bins.low, scores.bins.high])
    if edges.shape != bin_edges.shape or not np.allclose(edges, bin_edges, atol=_EDGE_TOLERANCE):
        table = table.head(0)
    scored = table.melt(["bin", "model", "n"], list(TABLE_5), "measure", "value")
    scored = scored.rename(columns={"model": "system", "n": "n_scored"})
    scored = scored.assign(source="published", role="model")
    guesses = computed[(computed["reference"] == "") & computed["system"].isin([GUESS, BIN_GUESS])]
    guesses = guesses.assign(reference=guesses["system"]).dropna(subset="value")
    first_bin = scored[scored["bin"] == 1].assign(bin=len(bin_edges), reference=FIRST_BIN)
    parts = []
    for base, keys in ((guesses, ["bin", "measure"]), (first_bin, ["bin", "measure", "system"])):
        reference_rows = base[[*keys, "reference", "value"]].rename(columns={"value": "other"})
        parts.append(scored.merge(reference_rows, on=keys))
        parts[-1]["value"] -= parts[-1].pop("other")
    return pd.concat([scored.assign(reference=""), *parts])


@cached_analysis(keys=("dataset", "bin", "measure"))
def half_crowds(
    all_votes: Sequence[Votes], *, n_bins: int, n_draws: int, seed: int
) -> pd.DataFrame:
    """Score one half of each item's people as a prediction of the other, in entropy bins.

    The bins are those of `binned_scores`, cut by all votes. ``value`` is the new accuracy, which
    counts one of m labels that tie as 1/m, or the JSD: the mean over items and over `n_draws` cuts
    into halves. ``n_votes`` is the size of a half. Empty where halves have fewer than
    `ENOUGH_VOTES` votes.
    """
    columns = ["bin", "measure", "n", "n_votes", "value"]
    votes = pool_votes(all_votes)
    half = int(votes.n_votes.min()) // 2
    if half < ENOUGH_VOTES:
        return pd.DataFrame(columns=columns)
    bins = cut_by_entropy(entropy(votes.shares, unit="bits"), n_bins)
    rng = np.random.default_rng([seed, 6])
    by_item = np.zeros((2, len(votes)))
    for _ in range(n_draws):
        halves = split_votes(votes.counts, (half, half), rng)[:2]
        tops = [part == part.max(axis=1, keepdims=True) for part in halves]
        by_item[0] += np.multiply(*(top / top.sum(axis=1, keepdims=True) for top in tops)).sum(
            axis=1
        )
        by_item[1] += jensen_shannon_distance(halves[0] / half, halves[1] / half, unit="nats")
    sizes = np.bincount(bins.of_item)
    rows = []
    for measure, sums in zip(("new_accuracy", "jsd"), by_item, strict=True):
        values = np.bincount(bins.of_item, sums) / sizes / n_draws
        bins_of_rows = range(1, len(sizes) + 1)
        rows += [
            (b, measure, n, half, value)
            for b, n, value in zip(bins_of_rows, sizes, values, strict=True)
        ]
    return pd.DataFrame(rows, columns=columns).assign(dataset=votes.dataset.name)


@cached_analysis(keys=("dataset", "system", "cut", "bin"))
def flattening(
    votes: Votes, systems: Sequence[System], *, n_bins: int, n_draws: int, seed: int
) -> pd.DataFrame:
    """Say how sure models are, and how near, in equal bins by people's entropy and by their own.

    ``cut`` says whose entropy makes the bins: that of half of an item's ``people``, judged by the
    other half, since the votes that make the bins cannot fairly judge in them; or that of the
    ``model``, judged by all votes. ``gap`` is the system's JSD minus that of the uniform guess on
    the same items, with a 95% interval over items. All numbers are means over seeds and over
    `n_draws` cuts into halves; each cut orders items of equal entropy at random. Without rows where
    halves have fewer than `ENOUGH_VOTES` votes.
    """
    columns = ["system", "cut", "bin", "n_seeds", "n_votes", "n_items", *_FLATTENING]
    half = int(votes.n_votes.min()) // 2
    if half < ENOUGH_VOTES or not systems:
        return pd.DataFrame(columns=columns)
    rng = np.random.default_rng([seed, 4])
    cuts = [split_votes(votes.counts, (half, half), rng)[:2] for _ in range(n_draws)]
    random_orders = [rng.permutation(len(votes)) for _ in cuts]  # of equal entropies
    parts = []
    for system in systems:
        items, model = system.rows_in(votes), system.aligned_to(votes).model
        sizes = [len(part) for part in np.array_split(items, n_bins)]
        by_model = "model", entropy(model, unit="bits"), votes.shares, int(np.median(votes.n_votes))
        for draw, ((half_a, half_b), random_order) in enumerate(
            zip(cuts, random_orders, strict=True)
        ):
            by_people = "people", entropy(half_a[items] / half, unit="bits"), half_b / half, half
            for cut, bits, judging, n_votes in (by_people, by_model):
                ranked = np.lexsort([random_order[items], bits.round(_DECIMALS)])
                rows = _item_scores(judging[items], model).iloc[ranked]
                rows["bin"] = np.repeat(np.arange(1, n_bins + 1), sizes)
                about = {"system": system.family, "seed": system.name, "n_votes": n_votes}
                parts.append(rows.assign(cut=cut, draw=draw, **about))
    by_item = pd.concat(parts, ignore_index=True)
    keys = ["system", "cut", "bin"]
    groups = by_item.groupby([*keys, "seed", "draw"], sort=False)
    by_draw = groups.mean().assign(error=groups["gap"].sem(), n_items=groups.size())
    means = by_draw.groupby(keys, sort=False).mean().round({"n_items": 0, "n_votes": 0})
    half_width = _QUANTILE * means["error"]
    means = means.assign(gap_low=means["gap"] - half_width, gap_high=means["gap"] + half_width)
    means["n_seeds"] = by_item.groupby(keys, sort=False)["seed"].nunique()
    return means.reset_index()[columns].astype({"n_items": int, "n_votes": int})


def _item_scores(shares: Floats, model: Floats) -> pd.DataFrame:
    """Return the first five columns of `_FLATTENING` by item; the `shares` of votes judge."""
    uniform = np.full_like(shares, 1 / shares.shape[1])
    entropies = [entropy(distributions, unit="bits") for distributions in (shares, model)]
    jsd, uniform_jsd = (
        jensen_shannon_distance(shares, distributions, unit="nats")
        for distributions in (model, uniform)
    )
    columns = (*entropies, jsd, uniform_jsd, jsd - uniform_jsd)
    return pd.DataFrame(dict(zip(_FLATTENING, columns, strict=False)))


_FLATTENING = ("people_bits", "model_bits", "jsd", "uniform", "gap", "gap_low", "gap_high")
_QUANTILE = 1.959964
_CUTS = {"people": "half of the votes", "model": "the model itself"}
FLATTENING_COLUMNS = [
    DATASET,
    SYSTEM,
    Column("bins by the entropy of", "cut", names=_CUTS),
    Column("bin", "bin"),
    Column("people", "people_bits", 2, group="entropy (bits)"),
    Column("model", "model_bits", 2, group="entropy (bits)"),
    Column("model", "jsd", 3, group="JSD"),
    Column("uniform guess", "uniform", 3, group="JSD"),
    Column("model − guess", "gap", 3, "gap_low", "gap_high", signed=True, group="JSD"),
]


def outer_bins(table: pd.DataFrame) -> pd.DataFrame:
    """Return the first and the last bin of `flattening`."""
    return table[table["bin"].isin([1, table["bin"].max()])]


@derived_table(keys=_KEYS)
def scores_with_change(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the scores of `binned_scores`, and their ``change`` from the first bin to the last."""
    rows = scores[scores["reference"] == ""].drop(columns=["reference", "p"])
    changes = scores[scores["reference"] == FIRST_BIN]
    names = {"value": "change", "low": "change_low", "high": "change_high"}
    return rows.merge(changes[[*_KEYS, *names]].rename(columns=names), "left", [*_KEYS])


@derived_table(keys=("dataset", "bin", "system", "source", "measure", "reference"))
def against_guesses(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `binned_scores` that compare models with a guess, model minus guess.

    They compare new accuracy in the first and the last bin with either guess, and JSD in every bin
    with the uniform guess. ``p_holm`` is ``p``, adjusted for all comparisons, and ``p_behind`` the
    p-value that decided it; published models have neither. ``better`` says whether the model is on
    the better side of the guess. ``verdict`` is better or worse where ``p_holm`` is below 0.05,
    else indistinguishable; it is empty for published models.
    """
    compared = scores["reference"].isin([GUESS, BIN_GUESS])
    models = scores[compared & scores["role"].isin(MODELS)]
    end_bins = scores.groupby("dataset")["bin"].agg(["min", "max"])
    ends = [models["dataset"].map(end_bins[end]) for end in end_bins]
    at_end = (models["bin"] == ends[0]) | (models["bin"] == ends[1])
    accuracy = (models["measure"] == "new_accuracy") & at_end
    distance = (models["measure"] == "jsd") & (models["reference"] == GUESS)
    table = models[accuracy | distance].reset_index(drop=True)
    is_computed = table["source"] == "computed"
    table.loc[is_computed, "p_holm"] = holm(table.loc[is_computed, "p"])
    table["p_behind"] = behind_holm(table["p"], table["p_holm"])
    table["better"] = (table["value"] > 0) == (table["measure"] == "new_accuracy")
    sides = np.where(table["better"], "better", "worse")
    verdicts = np.where(table["p_holm"] < LEVEL, sides, "indistinguishable")
    table["verdict"] = np.where(is_computed, verdicts, "")
    columns = "dataset bin system source measure reference value low high p p_holm p_behind better"
    return table[[*columns.split(), "verdict"]]


@derived_table(keys=_KEYS)
def drawn_rows(
    scores: pd.DataFrame,
    measure: str,
    halves: pd.DataFrame | None = None,
    chosen: Sequence[str] = (),
) -> pd.DataFrame:
    """Return the scores of a measure that a figure draws; the nine models have `PAPER_ROLE`.

    From `half_crowds` there are rows of `HALF_CROWD`. ``in_colour`` marks the systems that
    `in_colour` picks.
    """
    rows = scores[scores["reference"] == ""].drop(columns=["reference", "p"])
    table = _without_duplicates(_without_seeds(rows, [measure]))
    table = table.assign(role=table["role"].mask(_is_paper_model(table), PAPER_ROLE))
    is_model = ~table["role"].isin(["baseline"])
    table["in_colour"] = in_colour(table["system"].where(is_model, ""), chosen)
    if halves is None or not len(halves):
        return table
    edges = ["dataset", "bin", "entropy_low_bits", "entropy_high_bits"]
    people = halves[halves["measure"] == measure].merge(table[edges].drop_duplicates())
    people = people.assign(system=HALF_CROWD, source="computed", role="people", in_colour=False)
    return pd.concat(
        [table, people.drop(columns="n_votes").assign(n_scored=people["n"], n_seeds=1)]
    )


@derived_table(keys=("dataset", "system", "cut", "bin"))
def drawn_flattening(table: pd.DataFrame, *, chosen: Sequence[str] = ()) -> pd.DataFrame:
    """Return the rows of `flattening` that a figure draws; ``in_colour`` is as in `drawn_rows`."""
    rows = table[table["cut"] == "people"]
    return rows.assign(in_colour=in_colour(rows["system"], chosen))


def in_colour(systems: "pd.Series[str]", chosen: Sequence[str]) -> "pd.Series[bool]":
    """Return which rows a figure draws in colour: those of two models, the others being context.

    They are the first two of the models `chosen`, by the names without seeds, that are among the
    `systems`, else the first ones there.
    """
    families = systems.astype(str).str.replace(SEED, "", regex=True)
    names = [name for name in dict.fromkeys([*chosen, *families]) if name]
    return families.isin([name for name in names if name in set(families)][:_IN_COLOUR])


def _without_seeds(rows: pd.DataFrame, measures: Sequence[str]) -> pd.DataFrame:
    """Leave out single seeds, and accuracies of the class prior, which is a distribution."""
    rows = rows[rows["measure"].isin(measures) & (rows["role"] != "seed")]
    is_prior_accuracy = (rows["system"] == "class prior") & ~rows["measure"].isin(_DISTANCES)
    return rows[~is_prior_accuracy].dropna(subset="value")


def _without_duplicates(rows: pd.DataFrame) -> pd.DataFrame:
    """Leave out the published rows of models that are computed too."""
    models = pd.MultiIndex.from_frame(rows[["dataset", "system"]])
    computed = rows["source"] == "computed"
    return rows[computed | ~models.isin(models[computed])]


def _is_paper_model(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Return whether each row is on the paper's datasets, or a pool of them, and of its models."""
    paper = published_models()
    datasets = set(paper["dataset"])
    return rows["system"].isin(paper["model"]) & rows["dataset"].map(
        lambda name: datasets.issuperset(name.split("+"))
    ).astype(bool)


def shown_rows(scores: pd.DataFrame, *measures: str) -> pd.DataFrame:
    """Return the rows of `scores_with_change` that are shown, the nine models as their mean.

    The column ``part`` names the dataset and the measure of a row.
    """
    rows = _without_duplicates(_without_seeds(scores, measures))
    is_paper_model = _is_paper_model(rows)
    paper_rows, other_rows = rows[is_paper_model], rows[~is_paper_model]
    n_models = paper_rows.groupby("dataset")["system"].transform("nunique").astype(str)
    paper_rows = paper_rows.assign(system=n_models + " models of Nie et al. 2020, mean")
    keys = ["dataset", "measure", "bin", "system"]
    means = paper_rows.groupby(keys, as_index=False)[["value", "change"]].mean()
    table = pd.concat([other_rows, means])
    order = {"dataset": pd.unique(rows["dataset"]), "measure": measures}
    for name in reversed(order):
        table = in_order_of(table, name, order[name])
    titles = table["dataset"].map(short_of) + ": " + table["measure"].map(_measure_title)
    return table.assign(part=titles)


def _score(row: Row) -> str:
    scale, digits = (100, 1) if row["measure"].endswith("accuracy") else (1, 3)
    return number(scale * row["value"], digits)


def _change(row: Row) -> str:
    scale, digits = (100, 1) if row["measure"].endswith("accuracy") else (1, 3)
    names = ("change", "change_low", "change_high")
    value, low, high = (signed(scale * row[name], digits) for name in names)
    return value if low == MISSING else f"{value} [{low}, {high}]"


def _measure_title(measure: str) -> str:
    return MEASURES[measure].title + (" (%)" if measure.endswith("accuracy") else "")


PART = Column("dataset and measure", "part")
BIN_COLUMNS = [DATASET, Column("measure", "measure", names=_measure_title)]


def bin_columns(scores: pd.DataFrame, *, change: bool = False) -> list[Column]:
    """Return a column for the scores of each bin, and one for the change to the last bin."""
    numbers = sorted(set(scores["bin"]))
    columns = [Column(f"bin {b}", _score, at={"bin": b}) for b in numbers]
    return [*columns, Column("change", _change, at={"bin": numbers[-1]})] if change else columns


def shown_guesses(against: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `against_guesses` by new accuracy in the last bin, without published ones.

    Systems that differ from no guess are left out, unless no system differs from any.
    """
    last = against["bin"] == against.groupby("dataset")["bin"].transform("max")
    ours = against[last & (against["measure"] == "new_accuracy") & (against["verdict"] != "")]
    differs = ours["verdict"] != "indistinguishable"
    system_differs = differs.groupby([ours["dataset"], ours["system"]]).transform("any")
    return ours[system_differs | (not system_differs.any())]


def adjusted_p(row: Row, n_resamples: int) -> str:
    """Write Holm's p; a p that is not from resamples may be below the smallest p of resamples."""
    behind = row.get("p_behind", row["p"])
    if behind < smallest_p_value(n_resamples) * (1 - _ROUNDING):
        return "< 0.001" if row["p_holm"] < _SMALLEST_P else number(row["p_holm"], 3)
    return p_value(row["p_holm"], n_resamples, raw=behind * (1 - _ROUNDING)) or MISSING


def guess_columns(n_resamples: int) -> list[Column]:
    """Return how `shown_guesses` are shown, the two guesses side by side."""
    columns = [DATASET, SYSTEM]
    guesses = {GUESS: "minus the commonest label", BIN_GUESS: "minus the commonest of the bin"}
    for reference, group in guesses.items():
        look: dict[str, Any] = {"at": {"reference": reference}, "group": group}
        points = Column("points", "value", 1, "low", "high", signed=True, percent=True, **look)
        columns += [points, Column("p", partial(adjusted_p, n_resamples=n_resamples), **look)]
    return columns
