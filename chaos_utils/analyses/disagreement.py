"""The shape of disagreement: entropy, size of the majority, between which labels, old votes."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.votes import Ints, Votes
from chaos_utils.metrics.agreement import chance_of_majority_size, majority_share
from chaos_utils.metrics.divergence import Floats, entropy
from chaos_utils.plots.columns import DATASET
from chaos_utils.recorded import cached_analysis, derived_table
from chaos_utils.report.columns import Column, with_ends

ALL = "all"  # the row for all patterns of old votes
MIN_ITEMS = 5  # items of a cell that has a row of its own
# Half a percentage point off the round shares, so that none lies on an edge.
_SHARE_EDGES = np.r_[np.arange(-0.5, 95, 5), 100.5] / 100
_FAR_POINTS = 20  # percentage points
_NEARLY_ALL = 0.95


def _bits(votes: Votes) -> Floats:
    """Return each item's entropy, rounded so that its bin is the same on every processor."""
    return entropy(votes.shares, unit="bits").round(10)


@cached_analysis(keys=("dataset", "bin"))
def entropy_bins(votes: Votes, *, n_bins: int) -> pd.DataFrame:
    """Count items by the entropy of their votes.

    Bins are equal, from 0 to the largest entropy that the labels allow. ``n_votes`` is the number
    of votes on each item, missing where it varies; ``mean_bits`` is the mean over all items. With
    two labels, ``share_of_splits`` is the share of items that a bin would have if all splits of the
    votes between the labels were equally frequent; NaN for more labels.
    """
    bits = _bits(votes)
    edges = np.linspace(0, np.log2(votes.dataset.n_classes), n_bins + 1).round(10)
    counts = np.histogram(bits, bins=edges)[0]
    splits = np.full(n_bins, np.nan)
    if votes.dataset.n_classes == 2 and votes.n_votes_each is not None:
        first = np.arange(votes.n_votes_each + 1) / votes.n_votes_each
        entropies = entropy(np.column_stack([first, 1 - first]), unit="bits").round(10)
        splits = np.histogram(entropies, bins=edges)[0] / len(first)
    return pd.DataFrame(
        {
            "n_votes": votes.n_votes_each,
            "mean_bits": bits.mean(),
            "bin": np.arange(1, n_bins + 1),
            "low_bits": edges[:-1],
            "high_bits": edges[1:],
            "n_items": counts,
            "share": counts / len(votes),
            "share_of_splits": splits,
        }
    ).astype({"n_votes": "Int64"})


@cached_analysis(keys=("dataset", "percent"))
def majority_shares(votes: Votes) -> pd.DataFrame:
    """Count items by the share of the votes that their majority label has.

    One row for each whole ``percent`` of the votes that a majority can have. Columns count the
    items whose majority has at least, or at most, this share.
    """
    sizes = np.round(100 * majority_share(votes.counts), 8)
    percent = np.arange(100 // votes.dataset.n_classes, 101)
    at_least = (sizes >= percent[:, None]).sum(axis=1)
    return pd.DataFrame(
        {
            "percent": percent,
            "n_at_least": at_least,
            "share_at_least": at_least / len(votes),
            "share_at_most": (sizes <= percent[:, None]).mean(axis=1),
        }
    )


@cached_analysis(keys=("dataset", "percent_1", "percent_2", "percent_3"), needs="three labels")
def vote_cells(votes: Votes, *, step: int) -> pd.DataFrame:
    """Count items by their votes, in cells of the triangle of three labels.

    One row for each cell with at least `MIN_ITEMS` items: the percentages of the votes at its
    centre, in label order, and the ``majority_label`` of most of its items. The items of all other
    cells are in one row without percentages. A cell is a hexagon: the points that are nearer to its
    centre than to any other. A point between two cells is in the one with more votes for the
    earlier label. Neighbouring centres are `step` percentage points apart, a divisor of 100.
    """
    cells = pd.DataFrame(_nearest(votes.counts, 100 // step) * step)
    cells["majority"] = votes.majority
    rows = []
    for centre, majorities in cells.groupby([0, 1, 2])["majority"]:
        if len(majorities) >= MIN_ITEMS:
            label = votes.dataset.labels[int(majorities.mode()[0])]
            rows.append((*centre, label, len(majorities)))
    if n_left := len(votes) - sum(row[-1] for row in rows):
        rows.append((None, None, None, None, n_left))
    percent_columns = [f"percent_{k}" for k in (1, 2, 3)]
    table = pd.DataFrame(rows, columns=[*percent_columns, "majority_label", "n_items"])
    return table.astype(dict.fromkeys(percent_columns, "Int64"))


def _nearest(counts: Ints, n: int) -> Ints:
    """Round each row's shares to multiples of 1/n that sum to 1: by largest remainder."""
    floor, remainder = np.divmod(counts * n, counts.sum(axis=1, keepdims=True))
    rank = np.argsort(np.argsort(-remainder, axis=1, kind="stable"), axis=1)
    units: Ints = floor + (rank < n - floor.sum(axis=1, keepdims=True))
    return units


@cached_analysis(keys=("dataset", "first", "second"))
def contested_pairs(votes: Votes) -> pd.DataFrame:
    """Count the items that are contested between two labels, their two most frequent ones.

    Of tied labels, the earlier one counts as more frequent. Unanimous items are in no pair, but
    ``share`` is that of all items. Neighbours in the dataset's label order come first.

    ``share_of_differing`` is about two people, not about leading labels: of all pairs of people who
    give different labels to the same item, the share that gives these two. Items count alike,
    however many votes they have; NaN where nobody differs.
    """
    labels = votes.dataset.labels
    is_split = (votes.counts > 0).sum(axis=1) > 1
    leading = np.sort(np.argsort(-votes.counts, axis=1, kind="stable")[:, :2], axis=1)
    pairs = sorted(combinations(range(len(labels)), 2), key=lambda pair: pair[1] - pair[0])
    counts = [int((is_split & (leading == pair).all(axis=1)).sum()) for pair in pairs]
    n_pairs = np.maximum(votes.n_votes * (votes.n_votes - 1) / 2, 1)  # an item with one vote has 0
    differing = np.array([(votes.counts[:, pair].prod(axis=1) / n_pairs).sum() for pair in pairs])
    return pd.DataFrame(
        {
            "first": [labels[first] for first, _ in pairs],
            "second": [labels[second] for _, second in pairs],
            "n_items": counts,
            "share": np.array(counts) / len(votes),
            "share_of_differing": differing / differing.sum() if differing.any() else np.nan,
        }
    )


@cached_analysis(keys=("dataset", "pattern"), needs="old votes")
def original_votes(votes: Votes) -> pd.DataFrame:
    """Compare the few original votes with the new ones.

    One row for all items, then one for each ``pattern`` (sorted original counts such as ``3-1-1``),
    the most frequent first:

    * ``median_share_before``, ``mean_share_after``: the old label's share of the original and of
      the new votes;
    * ``share_far``: the share of items on which the share after is more than 20 percentage points
      from the median share before, over all items;
    * ``n_nearly_all``: the items with 95% or more of the new votes for the old label;
    * ``chance_of_selection``: the mean probability that as many votes as most items had, drawn from
      the new distribution, have a majority as large as most items had (on SNLI and MNLI, exactly
      three of five).
    """
    items = _old_and_new_votes(votes)
    usual = items["share_before"].median()
    distance = (100 * (items["share_after"] - usual)).abs().round(6)
    items["is_far"] = distance > _FAR_POINTS
    items["is_nearly_all"] = items["share_after"].round(10) >= _NEARLY_ALL
    rows = pd.concat([items.assign(pattern=ALL), items])
    summary = rows.groupby("pattern").agg(
        n_items=("pattern", "size"),
        median_share_before=("share_before", "median"),
        mean_share_after=("share_after", "mean"),
        share_far=("is_far", "mean"),
        n_nearly_all=("is_nearly_all", "sum"),
        mean_entropy_bits_before=("bits_before", "mean"),
        mean_entropy_bits_after=("bits_after", "mean"),
        chance_of_selection=("chance", "mean"),
    )
    # The most frequent first; in the order of their names where they tie.
    order = summary.sort_values(["n_items", "pattern"], ascending=[False, True]).index.drop(ALL)
    summary = summary.loc[[ALL, *order]].reset_index()
    return summary


@cached_analysis(keys=("dataset", "bin"), needs="old votes")
def original_votes_bins(votes: Votes) -> pd.DataFrame:
    """Count items by the old label's share of the new votes.

    ``before`` is the median of the old label's share of the old votes.
    """
    items = _old_and_new_votes(votes)
    return pd.DataFrame(
        {
            "before": items["share_before"].median(),
            "bin": np.arange(1, len(_SHARE_EDGES)),
            "low": _SHARE_EDGES[:-1],
            "high": _SHARE_EDGES[1:],
            "n_items": np.histogram(items["share_after"], bins=_SHARE_EDGES)[0],
        }
    )


def _old_and_new_votes(votes: Votes) -> pd.DataFrame:
    """Return columns on each item's old and new votes, which only counts are made from."""
    old = votes.old_votes
    n_usual, size_usual = _most_frequent(old.sum(axis=1)), _most_frequent(old.max(axis=1))
    before = old / old.sum(axis=1, keepdims=True)
    items = np.arange(len(votes))
    return pd.DataFrame(
        {
            "pattern": [
                "-".join(str(n) for n in sorted(row, reverse=True) if n) for row in old.tolist()
            ],
            "share_before": before[items, votes.old_label],
            "share_after": votes.shares[items, votes.old_label],
            "bits_before": entropy(before, unit="bits"),
            "bits_after": _bits(votes),
            "chance": chance_of_majority_size(votes.shares, n_usual, size_usual),
        }
    )


@derived_table(keys=("dataset",))
def with_disagreement(rows: pd.DataFrame) -> pd.DataFrame:
    """Add to rows of `atlas.selection` the chance that two votes on an item differ, from 0 to 1.

    ``disagreement`` is that of all items, ``chosen_disagreement`` with its 95% interval that of the
    items that split five people, by the prior, and ``seen_disagreement`` the same by the votes.
    """
    largest = 1 - 1 / rows["dataset"].map(lambda name: get_dataset(name).n_classes)
    ends = [(f"of_chosen{end}", f"chosen_disagreement{end}") for end in ("", "_low", "_high")]
    pairs = [("evenness", "disagreement"), *ends, ("of_seen", "seen_disagreement")]
    return rows.assign(**{name: rows[share] * largest for share, name in pairs})


@derived_table(keys=("dataset", "part", "bin"))
def with_chosen(rows: pd.DataFrame, datasets: Sequence[str]) -> pd.DataFrame:
    """Add to rows of `atlas.drawn_rows` ``is_chosen``: whether items were chosen for disagreement.

    That is so of the `datasets` that are named.
    """
    return rows.assign(is_chosen=rows["dataset"].isin(datasets))


def _most_frequent(numbers: Ints) -> int:
    return Counter(numbers.tolist()).most_common(1)[0][0]


CONTESTED_PAIRS = [
    DATASET,
    Column("the two leading labels", lambda row: f"{row['first']} and {row['second']}"),
    Column("items", "n_items", 0),
    Column("share of items (%)", "share", 0, percent=True),
    Column("pairs of people who differ (%)", "share_of_differing", 0, percent=True),
]
_DIFFER_HEADING = "two votes differ (%)"
SPLIT_ITEMS = [
    Column("all items", "disagreement", 0, percent=True, group=_DIFFER_HEADING),
    with_ends(
        "split items, by the prior", "chosen_disagreement", 0, percent=True, group=_DIFFER_HEADING
    ),
]
ORIGINAL_VOTES = [
    DATASET,
    Column("old votes", "pattern"),
    Column("items", "n_items", 0),
    Column("old label’s share of the new votes (%)", "mean_share_after", 0, percent=True),
    Column("items more than 20 points off (%)", "share_far", 0, percent=True),
    Column("old", "mean_entropy_bits_before", 2, group="mean entropy (bits)"),
    Column("new", "mean_entropy_bits_after", 2, group="mean entropy (bits)"),
    Column("chosen again (%)", "chance_of_selection", 0, percent=True),
]
