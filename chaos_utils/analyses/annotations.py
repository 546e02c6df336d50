"""What a hundred votes change: Tables 2 and 7 of Nie et al. (2020), agreement, items to read."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from chaos_utils.analyses.names import dataset_name
from chaos_utils.analyses.recorded import recorded
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.agreement import (
    is_tied,
    kappa_from_means,
    majority_share,
    pairwise_agreement,
)
from chaos_utils.metrics.divergence import entropy
from chaos_utils.metrics.resampling import bootstrap_means, percentile_interval
from chaos_utils.report import tables
from chaos_utils.report.columns import Column, Row, number, published_beside, signed

INTERVAL_STATISTICS = (
    "mean_entropy_bits",
    "mean_majority_share",
    "fleiss_kappa",
    "mean_pairwise_agreement",
)
COUNT_NAMES = {
    "old_majority": "old majority",
    "new_majority": "new majority",
    "old_raw_count": "old votes",
    "new_raw_count": "new votes",
}


@recorded(keys=("dataset",), needs="old labels", published=("nie2020_table2",))
def data_statistics(votes: Votes) -> pd.DataFrame:
    """Count items and changed majorities, beside Table 2 of Nie et al. (2020).

    The change rate over the full development set divides the same changed items by the published
    size of that set, since only re-annotated items can change; it is given for the released data
    alone. A difference is ours minus theirs. NaN where the paper has no number.
    """
    dataset = votes.dataset.name
    table = read_published("nie2020_table2").set_index("dataset")
    theirs = table.to_dict("index").get(dataset, dict.fromkeys(table.columns, np.nan))
    changed = int((votes.majority != votes.old_label).sum())
    full = float(theirs["full_dev_size"]) if votes.is_released else np.nan
    row = {
        "n_examples": len(votes),
        "n_changed": changed,
        "change_rate_percent": 100 * changed / len(votes),
        "full_dev_size": full,
        "change_rate_full_dev_percent": 100 * changed / full,
    }
    for column in ("n_examples", "change_rate_percent", "change_rate_full_dev_percent"):
        row[f"published_{column}"] = float(theirs[column])
        row[f"difference_{column}"] = row[column] - float(theirs[column])
    return pd.DataFrame([{"dataset": dataset} | row])


@recorded(keys=("dataset", "statistic", "label"), published=("nie2020_table7",))
def label_counts(votes: Votes) -> pd.DataFrame:
    """Count majorities and single votes for each label, beside Table 7 of Nie et al. (2020).

    A row for each label and ``statistic``, as in `COUNT_NAMES`, of old labels and votes where there
    are any. ``change`` is new majorities minus old ones, NaN for other counts; what is published is
    NaN where the paper has no such count.
    """
    dataset = votes.dataset
    table = read_published("nie2020_table7")
    theirs = table[table["dataset"] == dataset.name].set_index("statistic").to_dict("index")
    counted = {}
    if votes.has_old_labels:
        counted["old_majority"] = np.bincount(votes.old_label, minlength=dataset.n_classes)
    counted["new_majority"] = np.bincount(votes.majority, minlength=dataset.n_classes)
    if votes.given_old_votes is not None:
        counted["old_raw_count"] = votes.given_old_votes.sum(axis=0)
    counted["new_raw_count"] = votes.counts.sum(axis=0)
    parts = []
    for statistic, values in counted.items():
        part = pd.DataFrame({"label": dataset.labels, "value": values})
        is_new = statistic == "new_majority" and votes.has_old_labels
        part["change"] = values - counted["old_majority"] if is_new else np.nan
        part["published"] = part["label"].map(theirs.get(statistic, {})).astype(float)
        parts.append(part.assign(statistic=statistic, difference=values - part["published"]))
    columns = ["dataset", "statistic", "label", "value", "change", "published", "difference"]
    return pd.concat(parts).assign(dataset=dataset.name).astype({"change": float})[columns]


@recorded(keys=("dataset", "old_label", "new_majority"), needs="old labels")
def label_transitions(votes: Votes) -> pd.DataFrame:
    """Count how often each old label became each new majority.

    ``n_votes`` are those of each item, missing where that varies; ``row_share`` is the share among
    the items of that old label, NaN where there are none.
    """
    labels = votes.dataset.labels
    square = np.zeros((len(labels), len(labels)), dtype=int)
    np.add.at(square, (votes.old_label, votes.majority), 1)
    old, new = np.indices(square.shape)
    of_old = square.sum(axis=1, keepdims=True)
    shares = np.divide(square, of_old, out=np.full(square.shape, np.nan), where=of_old > 0)
    return pd.DataFrame(
        {
            "dataset": votes.dataset.name,
            "n_votes": votes.n_votes_each,
            "old_label": np.array(labels)[old.ravel()],
            "new_majority": np.array(labels)[new.ravel()],
            "n": square.ravel(),
            "row_share": shares.ravel(),
        }
    ).astype({"n_votes": "Int64"})


@recorded(keys=("dataset",))
def agreement(votes: Votes, *, n_resamples: int, seed: int) -> pd.DataFrame:
    """Measure how far annotators agree, with 95% bootstrap intervals over items.

    One row. ``n_unanimous`` items have every vote on one label. Each dataset of the book has a
    stream of random numbers of its own.
    """
    counts, shares = votes.counts, votes.shares
    # Where items have few votes, one with a single vote has no pair that could agree.
    has_pairs = votes.n_votes > 1
    pairs = np.zeros(len(votes))
    pairs[has_pairs] = pairwise_agreement(counts[has_pairs]) if has_pairs.any() else 0
    values = np.column_stack(
        [entropy(shares, unit="bits"), majority_share(counts), pairs, has_pairs, shares]
    )
    rng = np.random.default_rng([seed, max(votes.dataset.in_book - 1, 0)])
    point = _agreement_of_means(values.mean(axis=0, keepdims=True))[0]
    low, high = percentile_interval(_agreement_of_means(bootstrap_means(values, n_resamples, rng)))
    row: dict[str, object] = {"dataset": votes.dataset.name, "n_examples": len(votes)}
    for i, name in enumerate(INTERVAL_STATISTICS):
        row |= {name: point[i], f"{name}_low": low[i], f"{name}_high": high[i]}
    row["n_ties"] = int(is_tied(counts).sum())
    row["n_unanimous"] = int((counts.max(axis=1) == votes.n_votes).sum())
    return pd.DataFrame([row])


def _agreement_of_means(means: np.ndarray) -> np.ndarray:
    """From columns (entropy, majority share, pairs, has pairs, shares…) to the statistics."""
    none = np.full(len(means), np.nan)
    pairs = np.divide(means[:, 2], means[:, 3], out=none, where=means[:, 3] > 0)
    kappa = kappa_from_means(pairs, means[:, 4:])
    return np.column_stack([means[:, 0], means[:, 1], kappa, pairs])


@recorded(keys=("reason", "dataset", "uid"), published=("example_items",))
def examples(votes: Votes, *, n_each: int) -> pd.DataFrame:
    """Choose items worth reading by rule, and find the ones that the papers print.

    For each dataset, `n_each` of highest entropy, and as many of those with a changed majority, if
    there are old labels: where the new majority is largest (ties by uid). ``votes_1`` … are in the
    dataset's label order.
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
    least = table.sort_values(["entropy_bits", "uid"], ascending=[False, True])
    picked = {"least agreement": least.head(n_each)}
    if votes.has_old_labels:
        shares = np.round(majority_share(votes.counts), 10)
        changed = table.assign(share=shares)[votes.majority != votes.old_label]
        changed = changed.sort_values(["share", "uid"], ascending=[False, True])
        picked["majority changed"] = changed.drop(columns="share").head(n_each)
    for source, rows in read_published("example_items").groupby("source", sort=False):
        picked[f"printed in {source}"] = rows[["dataset", "uid"]].merge(table, "inner")
    chosen = [rows.assign(reason=reason) for reason, rows in picked.items() if len(rows)]
    found = pd.concat(chosen, ignore_index=True) if chosen else table.head(0).assign(reason="")
    return found[["reason", *table.columns]]


def by_label(counts: pd.DataFrame) -> tuple[pd.DataFrame, list[Column]]:
    """Return `label_counts` with columns for each label, and how these are shown.

    Where the paper has counts of some datasets, those that it lacks are left out.
    """
    keys = ["dataset", "statistic"]
    any_published = counts["published"].notna().any()
    if any_published:
        counts = counts[counts.groupby(keys)["published"].transform("count") > 0]
    shown = ["value", "change", "published", "difference"]
    wide = counts.pivot(index=keys, columns="label", values=shown)
    wide.columns = [f"{what} {label}" for what, label in wide.columns]
    wide = wide.loc[list(counts.groupby(keys, sort=False).groups)].reset_index()
    columns = [Column("dataset", "dataset", names=dataset_name)]
    columns.append(Column("count", "statistic", names=COUNT_NAMES))
    for label in counts["label"].unique():
        paper = Column("paper", f"published {label}", 0, group=label)
        here = Column("here", _with_change(label), group=label)
        gap = Column("Δ", f"difference {label}", 0, group=label, signed=True)
        columns += [paper, here, gap] if any_published else [here]
    return wide, columns


def _with_change(label: str) -> Callable[[Row], str]:
    def cell(row: Row) -> str:
        change = row[f"change {label}"]
        after = "" if pd.isna(change) else f" ({signed(change)})"
        return f"{number(row[f'value {label}'])}{after}"

    return cell


def _votes_of(row: Row) -> tables.Votes:
    n_labels = get_dataset(row["dataset"]).n_classes
    return tables.Votes(
        row["dataset"], tuple(int(row[f"votes_{k}"]) for k in range(1, n_labels + 1))
    )


DATA_STATISTICS = [
    Column("dataset", "dataset", names=dataset_name),
    *published_beside("items", "n_examples", 0),
    *published_beside("change rate (%)", "change_rate_percent", 2),
    *published_beside("… of the full development set", "change_rate_full_dev_percent", 2),
]
_HEADINGS = ("mean entropy (bits)", "mean majority share", "Fleiss’ κ", "pairwise agreement")
AGREEMENT = [
    Column("dataset", "dataset", names=dataset_name),
    Column("items", "n_examples", 0),
    *(
        Column(heading, name, 3, low=f"{name}_low", high=f"{name}_high")
        for heading, name in zip(_HEADINGS, INTERVAL_STATISTICS, strict=True)
    ),
    Column("ties", "n_ties", 0),
    Column("unanimous", "n_unanimous", 0),
]
EXAMPLES = [
    Column("item", lambda row: tables.Item(row["dataset"], row["uid"])),
    Column("votes", _votes_of),
    Column("old label", "old_label"),
    Column("majority", "majority_label"),
    Column("entropy (bits)", "entropy_bits", 2),
    Column("chosen for", "reason"),
]
