"""What a hundred votes change: Tables 2 and 7 of Nie et al. (2020), agreement, items to read."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binom, false_discovery_control

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.table import in_order_of
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.votes import Ints, Votes
from chaos_utils.metrics.agreement import (
    is_tied,
    kappa_from_means,
    leads,
    majority_share,
    pairwise_agreement,
)
from chaos_utils.metrics.divergence import Floats, entropy
from chaos_utils.metrics.resampling import bootstrap_means, percentile_interval
from chaos_utils.plots.columns import DATASET
from chaos_utils.recorded import cached_analysis, derived_table
from chaos_utils.report import manifests
from chaos_utils.report.columns import Column, Row, number, paper_here_delta, signed, with_ends
from chaos_utils.scoring.annotators import over_people

INTERVAL_STATISTICS = (
    "mean_entropy_bits",
    "mean_majority_share",
    "fleiss_kappa",
    "mean_pairwise_agreement",
)
_FALSE_DISCOVERY_RATE = 0.05
_LOWEST_VALUES = {"fleiss_kappa": -1}  # of statistics that can be below 0


@cached_analysis(keys=("dataset",), needs="old labels", published=("nie2020_table2",))
def data_statistics(votes: Votes) -> pd.DataFrame:
    """Count items and changed majorities, beside Table 2 of Nie et al. (2020).

    ``change_rate_full_dev_percent`` divides the changed items by the published size of the full
    development set, since only re-annotated items can change; NaN for votes that were not released.
    ``n_overruled`` counts the items whose new majority leads the old label beyond chance, by
    `metrics.agreement.leads`; the other changed items are ``too_close_percent``. Each is tested
    alone; ``overruled_all_tested_percent`` are those that remain if all items are tested
    together, at a false discovery rate of 5% (Benjamini and Hochberg 1995). Columns
    ``published_…`` are NaN where the paper has no number, and ``difference_…`` is ours minus the
    published number.
    """
    table = read_published("nie2020_table2").set_index("dataset")
    items = np.arange(len(votes))
    new, old = (votes.counts[items, label] for label in (votes.majority, votes.old_label))
    overruled = int(leads(new, old).sum())
    # An unchanged item says nothing against its old label, but counts as tested.
    p_values = np.where(new > old, np.minimum(2 * binom.cdf(old, new + old, 0.5), 1), 1)
    remaining = false_discovery_control(p_values) < _FALSE_DISCOVERY_RATE
    published = table.to_dict("index").get(votes.dataset.name, dict.fromkeys(table.columns, np.nan))
    changed = int((votes.majority != votes.old_label).sum())
    full_dev_size = float(published["full_dev_size"]) if votes.is_released else np.nan
    row = {
        "n_examples": len(votes),
        "n_changed": changed,
        "change_rate_percent": 100 * changed / len(votes),
        "n_overruled": overruled,
        "overruled_percent": 100 * overruled / len(votes),
        "overruled_all_tested_percent": 100 * float(remaining.mean()),
        "too_close_percent": 100 * (changed - overruled) / len(votes),
        "full_dev_size": full_dev_size,
        "change_rate_full_dev_percent": 100 * changed / full_dev_size,
    }
    for column in ("n_examples", "change_rate_percent", "change_rate_full_dev_percent"):
        row[f"published_{column}"] = float(published[column])
        row[f"difference_{column}"] = row[column] - float(published[column])
    return pd.DataFrame([row])


@cached_analysis(keys=("dataset", "statistic", "label"), published=("nie2020_table7",))
def label_counts(votes: Votes) -> pd.DataFrame:
    """Count majorities and single votes for each label, beside Table 7 of Nie et al. (2020).

    ``statistic`` is ``old_majority``, ``new_majority``, ``old_raw_count`` or ``new_raw_count``
    (single votes); old ones only where a dataset has them. ``change`` is the number of new
    majorities minus that of old ones.
    """
    dataset = votes.dataset
    table = read_published("nie2020_table7")
    published = table[table["dataset"] == dataset.name].set_index("statistic").to_dict("index")
    counts_by_statistic = {}
    if votes.has_old_labels:
        counts_by_statistic["old_majority"] = np.bincount(
            votes.old_label, minlength=dataset.n_classes
        )
    counts_by_statistic["new_majority"] = np.bincount(votes.majority, minlength=dataset.n_classes)
    if votes.given_old_votes is not None:
        counts_by_statistic["old_raw_count"] = votes.given_old_votes.sum(axis=0)
    counts_by_statistic["new_raw_count"] = votes.counts.sum(axis=0)
    parts = []
    for statistic, values in counts_by_statistic.items():
        part = pd.DataFrame({"label": dataset.labels, "value": values})
        is_new = statistic == "new_majority" and votes.has_old_labels
        part["change"] = values - counts_by_statistic["old_majority"] if is_new else np.nan
        part["published"] = part["label"].map(published.get(statistic, {})).astype(float)
        parts.append(part.assign(statistic=statistic, difference=values - part["published"]))
    columns = ["statistic", "label", "value", "change", "published", "difference"]
    return pd.concat(parts).astype({"change": float})[columns]


@cached_analysis(keys=("dataset", "old_label", "new_majority"), needs="old labels")
def label_transitions(votes: Votes) -> pd.DataFrame:
    """Count how often each old label became each new majority.

    ``n_votes`` is the number of votes on each item, missing where it varies; ``row_share`` is the
    share among the items of the same old label, NaN where there are none.
    """
    labels = votes.dataset.labels
    items = {"old_label": votes.old_label, "new_majority": votes.majority}
    label_pairs = pd.DataFrame({name: np.array(labels)[indices] for name, indices in items.items()})
    pairs = pd.MultiIndex.from_product([labels, labels], names=list(items))
    table = label_pairs.value_counts().reindex(pairs, fill_value=0).rename("n").reset_index()
    table["row_share"] = table["n"] / table.groupby("old_label")["n"].transform("sum")
    table.insert(0, "n_votes", votes.n_votes_each)
    return table.astype({"n_votes": "Int64"})


@cached_analysis(keys=("dataset",))
def agreement(votes: Votes, *, n_resamples: int, seed: int) -> pd.DataFrame:
    """Measure how far annotators agree, with 95% intervals.

    One row. ``over`` says what intervals are over: items, by the bootstrap, or items and
    annotators, by `metrics.jackknife`, where annotators are named and such intervals are defined.
    ``n_ties`` items have no single majority label, ``n_unanimous`` items have every vote on one
    label. Each dataset of the book has its own stream of random numbers.
    """
    values = _item_columns(votes.counts)
    rng = np.random.default_rng([seed, max(votes.dataset.in_book - 1, 0)])
    point = _agreement_of_sums(values.sum(axis=0))
    resampled = _agreement_of_sums(bootstrap_means(values, n_resamples, rng))
    row: dict[str, object] = {"n_examples": len(votes)}
    over = "items"
    for i, name in enumerate(INTERVAL_STATISTICS):
        low, high = map(float, percentile_interval(resampled[:, i]))
        if votes.annotations is not None:
            over_annotators = over_people(votes, _item_columns, partial(_statistic, i))
            if not np.isnan(over_annotators.error):
                highest = np.log2(votes.dataset.n_classes) if i == 0 else 1
                low, high = over_annotators.interval(_LOWEST_VALUES.get(name, 0), highest)
                over = "items and annotators"
        row |= {name: point[i], f"{name}_low": low, f"{name}_high": high}
    row["over"] = over
    row["n_ties"] = int(is_tied(votes.counts).sum())
    row["n_unanimous"] = int((votes.counts.max(axis=1) == votes.n_votes).sum())
    return pd.DataFrame([row])


def _item_columns(counts: Ints | Floats) -> Floats:
    """Return columns by item, 0 for an item without votes.

    They are: entropy, majority share, share of pairs of votes that agree, whether the item has a
    pair, whether it has a vote, and the share of each label.
    """
    table = np.zeros((len(counts), 5 + counts.shape[1]))
    totals = counts.sum(axis=1)
    has_votes, has_pairs = totals > 0, totals > 1
    shares = counts[has_votes] / totals[has_votes, np.newaxis]
    table[has_votes, 0] = entropy(shares, unit="bits")
    table[has_votes, 1] = shares.max(axis=1)
    # An item with a single vote has no pair that could agree.
    table[has_pairs, 2] = pairwise_agreement(counts[has_pairs]) if has_pairs.any() else 0
    table[:, 3], table[:, 4] = has_pairs, has_votes
    table[has_votes, 5:] = shares
    return table


def _agreement_of_sums(sums: Floats) -> Floats:
    """Return `INTERVAL_STATISTICS`, shape (..., 4), from sums or means of `_item_columns`."""
    means = sums / sums[..., 4:5]
    missing = np.full(means.shape[:-1], np.nan)
    pair_agreement = np.divide(means[..., 2], means[..., 3], out=missing, where=means[..., 3] > 0)
    kappa = kappa_from_means(pair_agreement, means[..., 5:])
    return np.stack([means[..., 0], means[..., 1], kappa, pair_agreement], axis=-1)


def _statistic(index: int, sums: Floats) -> Floats:
    values: Floats = _agreement_of_sums(sums)[..., index]
    return values


@cached_analysis(keys=("reason", "dataset", "uid"), published=("example_items",))
def examples(votes: Votes, *, n_each: int) -> pd.DataFrame:
    """Choose items worth reading by rule, and find the items that the papers print.

    Chosen are the `n_each` items of highest entropy and, if there are old labels, the `n_each`
    items with a changed majority whose new majority is largest (ties by uid). ``votes_1`` … are the
    votes in the dataset's label order.
    """
    if n_each < 0:
        raise ChaosError("The number of examples is negative.", found=n_each, expected="0 or more")
    dataset = votes.dataset
    labels = np.array(dataset.labels, dtype=object)
    table = pd.DataFrame(
        {
            "dataset": dataset.name,
            "uid": votes.uids,
            "old_label": labels[votes.old_label] if votes.has_old_labels else None,
            "majority_label": labels[votes.majority],
            # Rounded, for the order of ties not to depend on the processor.
            "entropy_bits": np.round(entropy(votes.shares, unit="bits"), 10),
        }
    )
    for k, counts in enumerate(votes.counts.T, start=1):
        table[f"votes_{k}"] = pd.array(counts, dtype="Int64")
    rows_by_reason = {}
    if votes.has_old_labels:
        shares = np.round(majority_share(votes.counts), 10)
        changed = table.assign(share=shares)[votes.majority != votes.old_label]
        changed = changed.sort_values(["share", "uid"], ascending=[False, True])
        rows_by_reason["majority changed"] = changed.drop(columns="share").head(n_each)
    by_entropy = table.sort_values(["entropy_bits", "uid"], ascending=[False, True])
    rows_by_reason["least agreement"] = by_entropy.head(n_each)
    for source, rows in read_published("example_items").groupby("source", sort=False):
        rows_by_reason[f"printed in {source}"] = rows[["dataset", "uid"]].merge(table, "inner")
    parts = [rows.assign(reason=reason) for reason, rows in rows_by_reason.items() if len(rows)]
    items = pd.concat(parts, ignore_index=True) if parts else table.head(0).assign(reason="")
    return items[["reason", *table.columns]]


def label_columns(counts: pd.DataFrame) -> list[Column]:
    """Return how `label_counts` are shown, new majorities and new votes side by side.

    The paper's numbers stand beside ours, where there are any.
    """
    columns = [DATASET, Column("label", "label")]
    for group, statistic in (("new majority", "new_majority"), ("new votes", "new_raw_count")):
        look: dict[str, Any] = {"group": group, "at": {"statistic": statistic}}
        paper = Column("paper", "published", 0, **look)
        ours = Column("here", _value_with_change, **look)
        gap = Column(
            "Δ", "difference", 0, signed=True, bold=lambda row: abs(row["difference"]) > 0, **look
        )
        columns += [paper, ours, gap] if counts["published"].notna().any() else [ours]
    return columns


def _value_with_change(row: Row) -> str:
    change = "" if pd.isna(row["change"]) else f" ({signed(row['change'])})"
    return f"{number(row['value'])}{change}"


@derived_table(keys=("dataset",), published=("nie2020_table1",))
def annotators(datasets: Sequence[str]) -> pd.DataFrame:
    """Return what Table 1 of Nie et al. (2020) reports on the annotators of some datasets."""
    table = read_published("nie2020_table1").set_index("dataset")
    return table.loc[[dataset for dataset in datasets if dataset in table.index]].reset_index()


def by_item(chosen: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `examples` as the table shows them: each item once, by its first rule."""
    items = chosen.drop_duplicates(["dataset", "uid"])
    return in_order_of(items, "reason", chosen["reason"].unique())


def _votes_bar(row: Row) -> manifests.VotesBar:
    n_labels = get_dataset(row["dataset"]).n_classes
    return manifests.VotesBar(
        row["dataset"], tuple(int(row[f"votes_{k}"]) for k in range(1, n_labels + 1))
    )


def _is_tie(row: Row) -> bool:
    counts = sorted(_votes_bar(row).counts)
    return counts[-1] == counts[-2]


def _majority(row: Row) -> str:
    return "tie" if _is_tie(row) else str(row["majority_label"])


def _is_changed(row: Row) -> bool:
    has_old = not pd.isna(row["old_label"])
    return has_old and not _is_tie(row) and row["old_label"] != row["majority_label"]


ANNOTATORS = [
    DATASET,
    Column("annotators", "annotators", 0),
    Column("failed the first test (%)", "qualification_fail_rate_percent", 1),
    Column("filtered out later (%)", "filter_rate_percent", 1),
    Column("median", "median_seconds_per_example", 1, group="seconds per item"),
    Column("mean", "mean_seconds_per_example", 1, group="seconds per item"),
]
DATA_STATISTICS = [
    DATASET,
    Column("items", "n_examples", 0),
    *paper_here_delta("majority changed (%)", "change_rate_percent", 2),
    Column("clearly outvoted (%)", "overruled_percent", 1),
    *paper_here_delta("… of the full development set", "change_rate_full_dev_percent", 2),
]
AGREEMENT = [
    DATASET,
    Column("items", "n_examples", 0),
    with_ends("two people agree (%)", "mean_pairwise_agreement", 1, percent=True),
    with_ends("majority share (%)", "mean_majority_share", 1, percent=True),
    with_ends("Fleiss’ κ", "fleiss_kappa", 2),
    with_ends("entropy (bits)", "mean_entropy_bits", 2),
    Column("unanimous items", "n_unanimous", 0),
    Column("ties", "n_ties", 0),
]
EXAMPLES = [
    Column("chosen for", "reason"),
    Column("item", lambda row: manifests.ItemText(row["dataset"], row["uid"])),
    Column("votes", _votes_bar),
    Column("old label", "old_label"),
    Column("new majority", _majority, bold=_is_changed),
]
