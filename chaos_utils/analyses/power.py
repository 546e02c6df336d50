"""What n items with v votes each can distinguish, by the spread of systems' paired differences."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.analyses.recorded import derived, recorded
from chaos_utils.base.table import in_order_of
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.measures import MEASURES, taken
from chaos_utils.report.columns import DATASET, Column
from chaos_utils.scoring.power import (
    Spread,
    items_needed,
    smallest_difference,
    spread_by_thinning,
    spread_of_squared_distance,
)
from chaos_utils.scoring.published import published_models
from chaos_utils.scoring.system import System
from chaos_utils.scoring.systems import baselines

Ints = npt.NDArray[np.int64]
NAMES = ("jsd", "dist_ce", "sq_distance", "new_accuracy")
N_VOTES = (1, 2, 5, 10, 20, 50, 100)
PAIRS: Mapping[str, str] = {  # from the least alike
    "models": "two models",
    "baseline": "a model and the base rate",
    "baselines": "the base rate and the uniform guess",
    "seeds": "two seeds of a model",
}
DRAWN = "jsd"
SHOWN_VOTES = (1, 5, 20, 100)
DRAWN_ITEMS = (10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)
_SQUARED = "sq_distance"
_FEWEST_ITEMS = 10  # with so many votes, for a size to be shown
_KEYS = ("dataset", "pair", "measure", "n_votes")


def pairs_of(votes: Votes, systems: Sequence[System]) -> dict[str, list[tuple[System, System]]]:
    """Return pairs of systems by how alike they are, see `PAIRS`; those that share an item.

    The base rate is that given the old label where there is one.
    """
    known = {one.name: one for one in baselines(votes)}
    mean = known.get("mean vote given the old label", known["base rate"])
    found: dict[str, list[tuple[System, System]]] = {
        "models": [],
        "baseline": [(one, mean) for one in systems],
        "baselines": [(mean, known["uniform guess"])],
        "seeds": [],
    }
    for one, other in combinations(systems, 2):
        alike = (one.origin, one.family) == (other.origin, other.family)
        found["seeds" if alike and one.seed is not None else "models"].append((one, other))
    return {
        kind: kept
        for kind, pairs in found.items()
        if (kept := [(a, b) for a, b in pairs if len(_shared(votes, a, b))])
    }


def _shared(votes: Votes, one: System, other: System) -> Ints:
    """Return the items that two systems cover."""
    return np.intersect1d(one.rows_in(votes), other.rows_in(votes))


@recorded(keys=_KEYS)
def spread_of_differences(
    votes: Votes, systems: Sequence[System], *, n_draws: int, seed: int
) -> pd.DataFrame:
    """Tabulate how much the difference of two systems varies from item to item, by votes per item.

    A row for each kind of ``pair``, of which there are ``n_pairs``, measure and ``n_votes``, up to
    as many as half the items have, or at least two. ``variance`` is that of one item's difference
    over items and votes, the mean over the pairs, between ``least`` and ``most``; ``of_items`` and
    ``of_votes`` are its parts. In closed form for the squared distance, else by thinning the votes
    (`n_draws` draws), where the parts are NaN unless there are twice as many votes.
    """
    rng = np.random.default_rng(seed)
    kinds, n_votes = pairs_of(votes, systems), votes.n_votes
    rows = []
    for size in N_VOTES:
        enough = np.flatnonzero(n_votes >= max(size, 2))
        if len(enough) < max(_FEWEST_ITEMS, len(votes) / 2):
            continue
        for kind, pairs in kinds.items():
            found = [_spreads(votes, a, b, enough, size, n_draws, rng) for a, b in pairs]
            for k, name in enumerate(NAMES):
                of_pairs = [one[k] for one in found if one]
                if not of_pairs:
                    continue
                totals = [one.total for one in of_pairs]
                row = {"dataset": votes.dataset.name, "pair": kind, "n_pairs": len(of_pairs)}
                row |= {"measure": name, "n_votes": size, "n_items": len(enough)}
                row |= {"variance": np.mean(totals), "least": min(totals), "most": max(totals)}
                row["of_items"] = np.mean([one.of_items for one in of_pairs])
                row["of_votes"] = np.mean([one.of_votes for one in of_pairs])
                rows.append(row)
    columns = [*_KEYS, "n_pairs", "n_items", "variance", "least", "most", "of_items", "of_votes"]
    table = pd.DataFrame(rows, columns=columns)
    return in_order_of(table, "pair", tuple(PAIRS))


def _spreads(
    votes: Votes,
    first: System,
    second: System,
    enough: Ints,
    size: int,
    n_draws: int,
    rng: np.random.Generator,
) -> list[Spread]:
    """Return the spread of each measure's difference, or nothing where they share few items."""
    items = np.intersect1d(_shared(votes, first, second), enough)
    if len(items) < _FEWEST_ITEMS:
        return []
    a, b = (
        taken(one.aligned_to(votes), np.searchsorted(one.rows_in(votes), items))
        for one in (first, second)
    )
    counts = votes.counts[items]
    thinned = [name for name in NAMES if name != _SQUARED]
    measures = [MEASURES[name] for name in thinned]
    of_thinned = spread_by_thinning(counts, a, b, measures, size, rng, n_draws)
    found = dict(zip(thinned, of_thinned, strict=True))
    found[_SQUARED] = spread_of_squared_distance(counts, a.model, b.model, size)
    return [found[name] for name in NAMES]


@derived(keys=(*_KEYS, "judged_items"))
def detectable(spread: pd.DataFrame, n_items: Sequence[int]) -> pd.DataFrame:
    """Return the smallest difference that so many items detect, for rows of the analysis above.

    ``difference`` is found in 80% of studies by a two-sided test at 5%; ``share_of_votes`` is the
    part of its variance that more votes could take away.
    """
    parts = []
    for n in n_items:
        found = spread.assign(judged_items=n)
        found["difference"] = smallest_difference(spread["variance"], n)
        found["share_of_votes"] = spread["of_votes"] / spread["variance"]
        parts.append(found)
    return pd.concat(parts, ignore_index=True)


@derived(keys=("dataset", "measure"), published=("nie2020_table5",))
def published_gaps(spread: pd.DataFrame, released: bool) -> pd.DataFrame:
    """Set the gap between neighbouring published models beside what a dataset can detect.

    ``gap`` is the median difference of models that are neighbours by their score; NaN where none
    was published, or the votes are not the `released` ones. The other columns are of `first_pair`
    and most votes: ``difference``, the smallest that the dataset's items detect, and
    ``items_needed`` for the gap.
    """
    rows = []
    models = published_models()
    for (dataset, measure), of_one in spread.groupby(["dataset", "measure"], sort=False):
        known = released and measure in models
        values = models.loc[models["dataset"] == dataset, measure] if known else ()
        group = first_pair(of_one)
        row = group.loc[group["n_votes"].idxmax()]
        found = {"dataset": dataset, "measure": measure, "pair": row["pair"]}
        found |= {"n_votes": row["n_votes"], "n_items": row["n_items"]}
        found["difference"] = float(smallest_difference(row["variance"], row["n_items"]))
        found |= {"n_models": len(values), "gap": np.nan, "items_needed": np.nan}
        if len(values) > 1:
            found["gap"] = float(np.median(np.diff(np.sort(values))))
            found["items_needed"] = float(items_needed(row["variance"], found["gap"]))
        rows.append(found)
    return pd.DataFrame(rows).astype({"n_votes": int, "n_items": int, "n_models": int})


def shown_votes(spread: pd.DataFrame) -> list[int]:
    """Return the numbers of votes that are shown: a few of those there are, and the most."""
    sizes = set(spread["n_votes"])
    return sorted({one for one in SHOWN_VOTES if one in sizes} | {max(sizes)})


def first_pair(spread: pd.DataFrame) -> pd.DataFrame:
    """Return, for each dataset, the rows of the first kind of pair that it has."""
    kinds = spread.groupby("dataset")["pair"].transform("first")
    return spread[spread["pair"] == kinds]


def shown(found: pd.DataFrame, n_votes: Sequence[int]) -> pd.DataFrame:
    """Return the rows of these numbers of votes; baselines alone where there are no systems."""
    n_kinds = found.groupby("dataset")["pair"].transform("nunique")
    return found[found["n_votes"].isin(n_votes) & ((found["pair"] != "baselines") | (n_kinds == 1))]


@derived(keys=(*_KEYS, "judged_items"))
def drawn(found: pd.DataFrame, gaps: pd.DataFrame, shown: Sequence[int]) -> pd.DataFrame:
    """Return what the figure draws: `detectable` of each dataset's first kind of pair, by votes.

    Of JSD and the numbers of votes in `shown`, with each dataset's ``gap`` of `published_gaps`;
    ``detected``, the smallest difference that all its items and votes detect; and
    ``items_needed``, about how many (to two digits) would detect the gap.
    """
    rows = first_pair(found)
    rows = rows[rows["n_votes"].isin(shown) & (rows["measure"] == DRAWN)]
    known = gaps.loc[gaps["measure"] == DRAWN, ["dataset", "difference", "gap", "items_needed"]]
    known = known.rename(columns={"difference": "detected"})
    known["items_needed"] = [float(f"{one:.2g}") for one in known["items_needed"]]
    rows = rows.merge(known, "left", "dataset")
    return rows.assign(compared=rows["pair"].map(PAIRS))


def _difference(heading: str, measure: str, digits: int = 3, *, percent: bool = False) -> Column:
    return Column(heading, "difference", digits, percent=percent, at={"measure": measure})


INDEX = ("dataset", "pair", "n_votes")
COLUMNS = [
    DATASET,
    Column("compared", "pair", names=PAIRS),
    Column("votes per item", "n_votes"),
    _difference("JSD", "jsd"),
    _difference("DistCE", "dist_ce"),
    _difference("squared distance", _SQUARED),
    Column("variance due to votes (%)", "share_of_votes", 0, percent=True,
           at={"measure": _SQUARED}),
    _difference("new accuracy (points)", "new_accuracy", 1, percent=True),
]  # fmt: skip
