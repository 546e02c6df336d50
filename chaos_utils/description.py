"""Tidy tables of what the votes say: `Opinions` in, DataFrames out.

`datasets` are the votes on some tasks, one `Opinions` a task.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.votes import Opinions
from chaos_utils.metrics.agreement import (
    chance_of_majority_size,
    is_tied,
    kappa_from_means,
    majority_share,
    pairwise_agreement,
)
from chaos_utils.metrics.divergence import entropy
from chaos_utils.metrics.resampling import bootstrap_means, percentile_interval
from chaos_utils.scoring.predictions import Predictions

INTERVAL_STATISTICS = (
    "mean_entropy_bits",
    "mean_majority_share",
    "fleiss_kappa",
    "mean_pairwise_agreement",
)


def data_notice(datasets: Sequence[Opinions]) -> str:
    """Return a warning in Markdown for data that is not the release; nothing for the release."""
    if all(opinions.is_released for opinions in datasets):
        return ""
    files = ", ".join(f"`{opinions.source.name}`" for opinions in datasets)
    return (
        f"> **Not the released data.** This page was made from {files}. Its numbers, figures and "
        "tables are of that data; what the text and the pictures' descriptions say in words, and "
        "the papers' numbers beside ours, are about the released ChaosNLI."
    )


def systems_notice(systems: Iterable[Predictions]) -> str:
    """Return in Markdown which of the systems this project has trained, and on what.

    Parameters
    ----------
    systems : iterable of Predictions

    Returns
    -------
    str
        Empty where it has trained none.
    """
    notes = {}
    for system in systems:
        if system.is_ours:
            notes[system.model] = "; ".join(system.notes)
    if not notes:
        return ""
    told = "; ".join(f"**{name}** was {note}" for name, note in notes.items())
    return f"{told}. {{doc}}`finetuning` tells how."


def data_statistics(datasets: Sequence[Opinions]) -> pd.DataFrame:
    """Items and changed majorities of each task, beside Table 2 of Nie et al. (2020).

    The change rate over the full development set divides the same changed items by the
    published size of that set, since only re-annotated items can change. It is given for
    the released data alone.

    Returns
    -------
    DataFrame
        One row a task: ``task``, ``n_examples``, ``n_changed``, ``change_rate_percent``,
        ``full_dev_size`` and ``change_rate_full_dev_percent`` (NaN for αNLI), then for
        each published value ``published_…`` and ``difference_…`` (ours minus theirs).
    """
    published = read_published("nie2020_table2").set_index("task")
    rows = []
    for opinions in datasets:
        task = opinions.task.name
        changed = int((opinions.majority != opinions.old_label).sum())
        full = float(published.loc[task, "full_dev_size"]) if opinions.is_released else np.nan
        row = {
            "task": task,
            "n_examples": len(opinions),
            "n_changed": changed,
            "change_rate_percent": 100 * changed / len(opinions),
            "full_dev_size": full,
            "change_rate_full_dev_percent": 100 * changed / full,
        }
        for column in ("n_examples", "change_rate_percent", "change_rate_full_dev_percent"):
            row[f"published_{column}"] = published.loc[task, column]
            row[f"difference_{column}"] = row[column] - published.loc[task, column]
        rows.append(row)
    return pd.DataFrame(rows)


def label_counts(datasets: Sequence[Opinions]) -> pd.DataFrame:
    """Majorities and single votes for each label, beside Table 7 of Nie et al. (2020).

    Returns
    -------
    DataFrame
        One row for each task, statistic (``old_majority``, ``new_majority``,
        ``old_raw_count``, ``new_raw_count``) and label: ``value``, ``published``,
        ``difference``. The paper has no such table for αNLI: NaN there.
    """
    table = read_published("nie2020_table7").set_index(["task", "statistic"])
    rows = []
    for opinions in datasets:
        task = opinions.task
        counted = {
            "old_majority": np.bincount(opinions.old_label, minlength=task.n_classes),
            "new_majority": np.bincount(opinions.majority, minlength=task.n_classes),
            "old_raw_count": opinions.old_votes.sum(axis=0),
            "new_raw_count": opinions.votes.sum(axis=0),
        }
        for statistic, values in counted.items():
            for label, value in zip(task.labels, values.tolist(), strict=True):
                known = (task.name, statistic) in table.index
                published = float(table.loc[(task.name, statistic), label]) if known else np.nan
                rows.append(
                    {
                        "task": task.name,
                        "statistic": statistic,
                        "label": label,
                        "value": value,
                        "published": published,
                        "difference": value - published,
                    }
                )
    return pd.DataFrame(rows)


def label_transitions(datasets: Sequence[Opinions]) -> pd.DataFrame:
    """How often each old label became each new majority.

    Returns
    -------
    DataFrame
        One row for each task, ``old_label`` and ``new_majority``: ``n``, and
        ``row_share``, the share among the items of that old label.
    """
    rows = []
    for opinions in datasets:
        task = opinions.task
        for old, old_name in enumerate(task.labels):
            of_old = opinions.old_label == old
            for new, new_name in enumerate(task.labels):
                n = int((of_old & (opinions.majority == new)).sum())
                share = n / int(of_old.sum()) if of_old.any() else np.nan
                rows.append(
                    {
                        "task": task.name,
                        "old_label": old_name,
                        "new_majority": new_name,
                        "n": n,
                        "row_share": share,
                    }
                )
    return pd.DataFrame(rows)


def agreement(datasets: Sequence[Opinions], n_resamples: int, seed: int) -> pd.DataFrame:
    """How far annotators agree on each task, with bootstrap intervals over items.

    Parameters
    ----------
    datasets : sequence of Opinions
        One a task.
    n_resamples : int
        Bootstrap resamples of the items.
    seed : int
        Seed of the resampling; each task has a stream of its own.

    Returns
    -------
    DataFrame
        One row a task: ``n_examples``; ``mean_entropy_bits``, ``mean_majority_share``,
        ``fleiss_kappa`` and ``mean_pairwise_agreement``, each with ``…_low`` and
        ``…_high`` (95%); ``n_ties``; ``n_unanimous`` (every vote for one label).
    """
    rows = []
    for number, opinions in enumerate(datasets):
        votes, shares = opinions.votes, opinions.shares
        # Where items have few votes, one with a single vote has no pair that could agree.
        has_pairs = votes.sum(axis=1) > 1
        pairs = np.zeros(len(votes))
        pairs[has_pairs] = pairwise_agreement(votes[has_pairs]) if has_pairs.any() else 0
        values = np.column_stack(
            [entropy(shares, unit="bits"), majority_share(votes), pairs, has_pairs, shares]
        )
        rng = np.random.default_rng([seed, number])
        point = _agreement_of_means(values.mean(axis=0, keepdims=True))[0]
        low, high = percentile_interval(
            _agreement_of_means(bootstrap_means(values, n_resamples, rng))
        )
        row: dict[str, object] = {"task": opinions.task.name, "n_examples": len(opinions)}
        for i, name in enumerate(INTERVAL_STATISTICS):
            row |= {name: point[i], f"{name}_low": low[i], f"{name}_high": high[i]}
        row["n_ties"] = int(is_tied(votes).sum())
        row["n_unanimous"] = int((majority_share(votes) == 1).sum())
        rows.append(row)
    return pd.DataFrame(rows)


def _agreement_of_means(means: np.ndarray) -> np.ndarray:
    """From columns (entropy, majority share, pairs, has pairs, shares…) to the statistics."""
    none = np.full(len(means), np.nan)
    pairs = np.divide(means[:, 2], means[:, 3], out=none, where=means[:, 3] > 0)
    kappa = kappa_from_means(pairs, means[:, 4:])
    return np.column_stack([means[:, 0], means[:, 1], kappa, pairs])


def items(datasets: Sequence[Opinions]) -> pd.DataFrame:
    """One row an item: what the figures about single items are drawn from.

    Returns
    -------
    DataFrame
        ``task``, ``uid``, ``entropy_bits``, ``majority_share``, ``old_label``,
        ``majority_label``, ``changed``, ``share_1`` … ``share_3`` (in the task's label
        order; NaN where it has two labels).
    """
    tables = []
    for opinions in datasets:
        names = np.array(opinions.task.labels)
        table = pd.DataFrame(
            {
                "task": opinions.task.name,
                "uid": opinions.uids,
                "entropy_bits": entropy(opinions.shares, unit="bits"),
                "majority_share": majority_share(opinions.votes),
                "old_label": names[opinions.old_label],
                "majority_label": names[opinions.majority],
                "changed": opinions.majority != opinions.old_label,
            }
        )
        for k in range(3):
            has_label = k < opinions.task.n_classes
            table[f"share_{k + 1}"] = opinions.shares[:, k] if has_label else np.nan
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def original_votes(datasets: Sequence[Opinions]) -> pd.DataFrame:
    """Set what the few original votes said of each item against what the new ones say.

    Returns
    -------
    DataFrame
        One row an item that has several original votes: ``task``, ``uid``, ``pattern``
        (sorted original counts, such as ``3-1-1``), ``old_label_share_before`` and
        ``old_label_share_after`` (share of the old label among the original and the
        new votes), ``entropy_bits_before``, ``entropy_bits_after``, and
        ``chance_of_selection``: the probability that five votes drawn from the new
        distribution have a majority of exactly three.
    """
    tables = []
    for opinions in datasets:
        if not opinions.task.n_old_labels:
            continue
        old = opinions.old_votes
        before = old / old.sum(axis=1, keepdims=True)
        each = np.arange(len(opinions))
        tables.append(
            pd.DataFrame(
                {
                    "task": opinions.task.name,
                    "uid": opinions.uids,
                    "pattern": ["-".join(str(n) for n in sorted(row, reverse=True) if n)
                                for row in old.tolist()],
                    "old_label_share_before": before[each, opinions.old_label],
                    "old_label_share_after": opinions.shares[each, opinions.old_label],
                    "entropy_bits_before": entropy(before, unit="bits"),
                    "entropy_bits_after": entropy(opinions.shares, unit="bits"),
                    "chance_of_selection": chance_of_majority_size(opinions.shares, 5, 3),
                }
            )
        )  # fmt: skip
    return pd.concat(tables, ignore_index=True)


def entropy_thirds(entropies: pd.Series) -> tuple[float, float, float]:
    """Return the shares of two-label items in each third of the range from 0 to 1 bit.

    Parameters
    ----------
    entropies : Series of float
        Bits, in [0, 1].

    Returns
    -------
    low, mid, high : float
        They sum to 1.
    """
    counts = np.histogram(entropies, bins=np.linspace(0, 1, 4))[0]
    low, mid, high = (counts / counts.sum()).tolist()
    return low, mid, high


def even_splits(at_least_bits: float, n_votes: int = 100) -> tuple[float, int]:
    """Return which splits of the votes between two labels have at least this entropy.

    Parameters
    ----------
    at_least_bits : float
        In [0, 1].
    n_votes : int
        Votes to be split, at least 1.

    Returns
    -------
    rate : float
        Their share among all splits: the share of items one would see if every split
        from 0 to `n_votes` were equally frequent.
    largest : int
        The most votes that the larger label has in any of them.
    """
    first = np.arange(n_votes + 1) / n_votes
    entropies = entropy(np.column_stack([first, 1 - first]), unit="bits")
    enough = entropies >= at_least_bits
    return float(enough.mean()), int(np.flatnonzero(enough).max())


def contested_pairs(datasets: Sequence[Opinions]) -> pd.DataFrame:
    """Count between which two labels items are contested.

    Returns
    -------
    DataFrame
        One row for each three-way task: ``task``, ``short``, and for each pair of labels,
        such as ``entailment_neutral``, the share of items whose two most frequent labels
        it is (a third label that ties with the second leaves the earlier one counted).
    """
    rows = []
    for opinions in datasets:
        labels = opinions.task.labels
        if len(labels) != 3:
            continue
        leading = np.sort(np.argsort(-opinions.votes, axis=1, kind="stable")[:, :2], axis=1)
        row: dict[str, object] = {"task": opinions.task.name, "short": opinions.task.short}
        for first, second in ((0, 1), (1, 2), (0, 2)):
            is_pair = (leading == (first, second)).all(axis=1)
            row[f"{labels[first]}_{labels[second]}"] = float(is_pair.mean())
        rows.append(row)
    return pd.DataFrame(rows)


def examples(datasets: Sequence[Opinions], n_each: int) -> pd.DataFrame:
    """Items worth reading, chosen by rule, and the ones that the papers print.

    The rules, for each task: the `n_each` items of highest entropy, and the `n_each`
    items with a changed majority on which the new majority is largest (ties by uid).
    The papers' items appear when the data holds them.

    Returns
    -------
    DataFrame
        ``reason``, ``task``, ``uid``, ``old_label``, ``majority_label``,
        ``entropy_bits``, and ``votes_1`` … ``votes_3`` (in the task's label order;
        <NA> where it has two labels).
    """
    if n_each < 0:
        raise ChaosError("The number of examples is negative.", found=n_each, expected="0 or more")
    table = items(datasets)
    counts = {opinions.task.name: opinions.votes for opinions in datasets}
    for k in range(3):
        column = np.concatenate(
            [
                votes[:, k] if k < votes.shape[1] else np.full(len(votes), np.nan)
                for votes in counts.values()
            ]
        )
        table[f"votes_{k + 1}"] = pd.array(column).astype("Int64")
    picked = []
    for opinions in datasets:
        of_task = table[table["task"] == opinions.task.name]
        least = of_task.sort_values(["entropy_bits", "uid"], ascending=[False, True])
        changed = of_task[of_task["changed"]].sort_values(
            ["majority_share", "uid"], ascending=[False, True]
        )
        picked.append(least.head(n_each).assign(reason="least agreement"))
        picked.append(changed.head(n_each).assign(reason="majority changed"))
    printed = read_published("example_items")
    for source, rows in printed.groupby("source", sort=False):
        wanted = rows.merge(table, on=["task", "uid"], how="inner")
        picked.append(wanted.assign(reason=f"printed in {source}"))
    columns = ["reason", "task", "uid", "old_label", "majority_label", "entropy_bits"]
    return pd.concat(picked, ignore_index=True)[
        [*columns, *(f"votes_{k + 1}" for k in range(3))]
    ]  # fmt: skip
