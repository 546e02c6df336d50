"""Which differences n items with v votes each detect, by the variance of paired differences."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import combinations

import numpy as np
import pandas as pd

from chaos_utils.base.table import in_order_of
from chaos_utils.datasets.votes import Ints, Votes
from chaos_utils.metrics.measures import MEASURES, take_items
from chaos_utils.plots.columns import DATASET
from chaos_utils.recorded import cached_analysis, derived_table
from chaos_utils.report.columns import Column
from chaos_utils.scoring.power import (
    VarianceOfDifference,
    difference_variances,
    items_needed,
    smallest_difference,
    squared_distance_variance,
)
from chaos_utils.scoring.published import published_models
from chaos_utils.scoring.system import System, shared_rows
from chaos_utils.scoring.systems import baselines

NAMES = ("jsd", "dist_ce", "sq_distance", "new_accuracy")
N_VOTES = (1, 2, 5, 10, 20, 50, 100)
PAIRS: Mapping[str, str] = {  # kinds of pairs of systems, the least alike first
    "models": "two models",
    "baseline": "a model and the base rate",
    "baselines": "the base rate and the uniform guess",
    "seeds": "two seeds of a model",
}
DRAWN_MEASURE = "jsd"
SHOWN_VOTES = (1, 5, 20, 100)
DRAWN_ITEMS = (10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)
_SQUARED = "sq_distance"
_FEWEST_ITEMS = 10  # items with so many votes; with fewer, a number of votes has no row
_KEYS = ("dataset", "pair", "measure", "n_votes")


def pairs_of(votes: Votes, systems: Sequence[System]) -> dict[str, list[tuple[System, System]]]:
    """Return the pairs of systems that share an item, by kind, see `PAIRS`.

    The base rate is the mean vote given the old label, where there are old labels.
    """
    guesses = {guess.name: guess for guess in baselines(votes)}
    mean = guesses.get("mean vote given the old label", guesses.get("base rate"))
    means = [] if mean is None else [mean]  # None where all items share a text
    pairs_by_kind: dict[str, list[tuple[System, System]]] = {
        "models": [],
        "baseline": [(system, mean) for mean in means for system in systems],
        "baselines": [(mean, guesses["uniform guess"]) for mean in means],
        "seeds": [],
    }
    for first, second in combinations(systems, 2):
        alike = (first.origin, first.family) == (second.origin, second.family)
        pairs_by_kind["seeds" if alike and first.seed is not None else "models"].append(
            (first, second)
        )
    return {
        kind: overlapping
        for kind, pairs in pairs_by_kind.items()
        if (overlapping := [pair for pair in pairs if len(shared_rows(votes, pair))])
    }


@cached_analysis(keys=_KEYS)
def spread_of_differences(
    votes: Votes, systems: Sequence[System], *, n_draws: int, seed: int
) -> pd.DataFrame:
    """Tabulate how much the difference of two systems varies from item to item, by votes per item.

    One row for each kind of ``pair``, ``measure`` and ``n_votes``, up to as many votes as half of
    the items have. ``variance`` is the variance of one item's difference, over items and votes: the
    mean over ``n_pairs`` pairs, of which ``least`` and ``most`` are the extremes. ``of_items`` and
    ``of_votes`` are its parts. All are in closed form for the squared distance; for other measures
    they come from thinned votes (`n_draws` draws), and the parts are NaN unless there are twice as
    many votes.
    """
    rng = np.random.default_rng(seed)
    kinds = pairs_of(votes, systems)
    rows = []
    for size in N_VOTES:
        with_votes = np.flatnonzero(votes.n_votes >= max(size, 2))
        if len(with_votes) < max(_FEWEST_ITEMS, len(votes) / 2):
            continue
        about = {"n_votes": size, "n_items": len(with_votes)}
        for kind, pairs in kinds.items():
            for pair in pairs:
                items = np.intersect1d(shared_rows(votes, pair), with_votes)
                if len(items) >= _FEWEST_ITEMS:
                    variances = _difference_variances(votes, pair, items, size, n_draws, rng)
                    rows += [about | {"pair": kind, "measure": name} | asdict(variance)
                             for name, variance in variances.items()]  # fmt: skip
    parts = ["total", "of_items", "of_votes"]
    table = pd.DataFrame(rows, columns=["pair", "measure", "n_votes", "n_items", *parts])
    summary = table.groupby(["n_votes", "pair", "measure", "n_items"], sort=False).agg(
        n_pairs=("total", "size"),
        variance=("total", "mean"),
        least=("total", "min"),
        most=("total", "max"),
        of_items=("of_items", "mean"),
        of_votes=("of_votes", "mean"),
    )
    summary = in_order_of(summary.reset_index(), "pair", PAIRS)
    return summary[[*_KEYS[1:], "n_pairs", "n_items", "variance", "least", "most", *parts[1:]]]


def _difference_variances(
    votes: Votes,
    pair: tuple[System, System],
    items: Ints,
    size: int,
    n_draws: int,
    rng: np.random.Generator,
) -> dict[str, VarianceOfDifference]:
    """Return the variance of each measure's difference between two systems on some items."""
    first, second = (
        take_items(system.aligned_to(votes), np.searchsorted(system.rows_in(votes), items))
        for system in pair
    )
    counts = votes.counts[items]
    thinned = [name for name in NAMES if name != _SQUARED]
    measures = [MEASURES[name] for name in thinned]
    variances = difference_variances(counts, first, second, measures, size, rng, n_draws)
    squared = squared_distance_variance(counts, first.model, second.model, size)
    by_measure = dict(zip(thinned, variances, strict=True)) | {_SQUARED: squared}
    return {name: by_measure[name] for name in NAMES}


@derived_table(keys=(*_KEYS, "judged_items"))
def detectable(spread: pd.DataFrame, n_items: Sequence[int]) -> pd.DataFrame:
    """Return the smallest difference that so many items detect, by `spread_of_differences`.

    ``difference`` is found in 80% of studies by a two-sided test at 5%; ``share_of_votes`` is the
    part of its variance that more votes could take away.
    """
    table = spread.merge(pd.DataFrame({"judged_items": n_items}), "cross")
    return table.assign(
        difference=smallest_difference(table["variance"], table["judged_items"]),
        share_of_votes=table["of_votes"] / table["variance"],
    )


def shown_votes(spread: pd.DataFrame) -> list[int]:
    """Return the numbers of votes that are shown: those of `SHOWN_VOTES`, and the largest."""
    sizes = set(spread["n_votes"])
    return sorted({size for size in SHOWN_VOTES if size in sizes} | {max(sizes)})


def first_pairs(spread: pd.DataFrame) -> pd.DataFrame:
    """Return, for each dataset, the rows of the first kind of pair that it has."""
    kinds = spread.groupby("dataset")["pair"].transform("first")
    return spread[spread["pair"] == kinds]


def shown_rows(table: pd.DataFrame, n_votes: Sequence[int]) -> pd.DataFrame:
    """Return the rows with these numbers of votes; baselines alone where there are no systems."""
    n_kinds = table.groupby("dataset")["pair"].transform("nunique")
    return table[table["n_votes"].isin(n_votes) & ((table["pair"] != "baselines") | (n_kinds == 1))]


@derived_table(keys=(*_KEYS, "judged_items"), published=("nie2020_table5",))
def drawn_rows(table: pd.DataFrame, n_votes: Sequence[int], released: bool) -> pd.DataFrame:
    """Return what the figure draws: `detectable` of each dataset's first kind of pair, by votes.

    The measure is JSD, and there are rows for each of `n_votes` per item. ``detected`` is the
    smallest difference that all of a dataset's items and votes detect. ``gap`` is the median
    difference between models that are neighbours by their published score; NaN where no scores were
    published, or the votes are not the `released` ones. The numbers of items that would detect the
    gap, to two digits, are ``items_needed_low`` for systems as alike as two seeds of a model (or
    the most alike pair), and ``items_needed_high`` for systems as unlike as two models on average.
    """
    rows = first_pairs(table)
    rows = rows[rows["measure"] == DRAWN_MEASURE]
    models = published_models()
    gaps = models.groupby("dataset")[DRAWN_MEASURE].agg(
        lambda scores: scores.sort_values().diff().median()
    )
    with_all_votes = rows.loc[rows.groupby("dataset")["n_votes"].idxmax()].set_index("dataset")
    detected = smallest_difference(with_all_votes["variance"], with_all_votes["n_items"])
    gap = gaps.reindex(with_all_votes.index) if released else np.nan
    summary = pd.DataFrame({"detected": detected, "gap": gap}, with_all_votes.index)
    seed_rows = table[(table["pair"] == "seeds") & (table["measure"] == DRAWN_MEASURE)]
    seeds_with_all_votes = seed_rows.loc[
        seed_rows.groupby("dataset")["n_votes"].idxmax()
    ].set_index("dataset")
    least_variance = (
        seeds_with_all_votes["variance"]
        .reindex(with_all_votes.index)
        .fillna(with_all_votes["least"])
    )
    for end, variance in (("low", least_variance), ("high", with_all_votes["variance"])):
        needed = items_needed(variance, summary["gap"])
        summary[f"items_needed_{end}"] = [float(f"{number:.2g}") for number in needed]
    rows = rows[rows["n_votes"].isin(n_votes)].join(summary, on="dataset")
    return rows.assign(compared=rows["pair"].map(PAIRS))


def _column(heading: str, measure: str, digits: int = 3, *, percent: bool = False) -> Column:
    return Column(heading, "difference", digits, percent=percent, at={"measure": measure})


INDEX = ("dataset", "pair", "n_votes")
COLUMNS = [
    DATASET,
    Column("compared", "pair", names=PAIRS),
    Column("votes per item", "n_votes"),
    _column("JSD", "jsd"),
    _column("DistCE", "dist_ce"),
    _column("squared distance", _SQUARED),
    Column("variance due to votes (%)", "share_of_votes", 0, percent=True,
           at={"measure": _SQUARED}),
    _column("new accuracy (points)", "new_accuracy", 1, percent=True),
]  # fmt: skip
