"""Tidy tables of what the votes say: `Votes` in, DataFrames out.

`all_votes` are the votes on some datasets, one `Votes` a dataset.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from types import MappingProxyType

import numpy as np
import pandas as pd

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.catalogue import book_datasets
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.votes import Ints, Votes
from chaos_utils.metrics.agreement import (
    chance_of_majority_size,
    is_tied,
    kappa_from_means,
    majority_share,
    pairwise_agreement,
)
from chaos_utils.metrics.divergence import entropy
from chaos_utils.metrics.resampling import bootstrap_means, percentile_interval
from chaos_utils.scoring.system import System

INTERVAL_STATISTICS = (
    "mean_entropy_bits",
    "mean_majority_share",
    "fleiss_kappa",
    "mean_pairwise_agreement",
)
_HAS: Mapping[str, Callable[[Votes], bool]] = MappingProxyType(
    {
        "old labels": lambda votes: votes.has_old_labels,
        "old votes": lambda votes: votes.has_old_labels and votes.has_old_votes,
        "texts": lambda votes: bool(votes.texts),
        "annotators": lambda votes: votes.annotations is not None,
        "published collection": lambda votes: votes.dataset.name in _collected(),
    }
)


def _collected() -> set[str]:
    """Return the datasets on whose collection Nie et al. (2020) report."""
    return set(read_published("nie2020_table1")["dataset"])


def data_notice(all_votes: Sequence[Votes]) -> str:
    """Return a warning in Markdown for data other than what the book shows; else nothing.

    It also says what was left out of the files.
    """
    if all(votes.is_released and votes.dataset.in_book for votes in all_votes):
        return ""
    files = ", ".join(f"`{votes.source.name}`" for votes in all_votes)
    notes = "".join(
        f"\n>\n> {note}"
        for votes in all_votes
        for note in (votes.dataset.warning, *votes.notes)
        if note
    )
    return (
        f"> **Not the released ChaosNLI.** This page was made from {files}. Its numbers, figures "
        "and tables are of that data; what the text and the pictures' descriptions say in words, "
        "and the papers' numbers beside ours, are about the released ChaosNLI." + notes
    )


def having(all_votes: Sequence[Votes], what: str) -> list[Votes]:
    """Return the votes on those datasets that have a part which a dataset may lack."""
    return [votes for votes in all_votes if _HAS[what](votes)]


def left_out(all_votes: Sequence[Votes], what: str, consequence: str = "left out here") -> str:
    """Say in one line of Markdown which datasets lack a part, and what follows.

    Parameters
    ----------
    what : str
        As for `having`.
    consequence : str
        What is done without it.

    Returns
    -------
    str
        Such as "*DICES-990 has no old labels: left out here.*"; empty where none lacks it.
    """
    lacking = [votes.dataset.short for votes in all_votes if not _HAS[what](votes)]
    if not lacking:
        return ""
    has = "has" if len(lacking) == 1 else "have"
    return f"*{_listed(lacking)} {has} no {what}: {consequence}.*"


def without_triangle(all_votes: Sequence[Votes]) -> str:
    """Say in one line of Markdown which datasets cannot be drawn in a triangle.

    Returns
    -------
    str
        Empty where each has three labels.
    """
    others = [o.dataset.short for o in all_votes if o.dataset.n_classes != 3]
    if not others:
        return ""
    are = "is" if len(others) == 1 else "are"
    return f"*{_listed(others)} {are} left out here: a triangle needs three labels.*"


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def shows_the_book(all_votes: Sequence[Votes]) -> bool:
    """Whether these are votes on exactly the datasets that the book shows."""
    return {o.dataset.name for o in all_votes} == {one.name for one in book_datasets()}


def votes_per_item(all_votes: Sequence[Votes]) -> int:
    """Return how many votes each item of all datasets has; 0 where that varies."""
    found = {int(n) for votes in all_votes for n in np.unique(votes.n_votes)}
    return found.pop() if len(found) == 1 else 0


def systems_notice(systems: Iterable[System]) -> str:
    """Return in Markdown which of the systems this project has trained, and on what.

    Returns
    -------
    str
        Empty where it has trained none.
    """
    notes = {}
    for system in systems:
        if system.origin == "trained":
            notes[system.name] = "; ".join(system.notes)
    if not notes:
        return ""
    told = "; ".join(f"**{name}** was {note}" for name, note in notes.items())
    return f"{told}. {{doc}}`finetuning` explains how."


def without_models(all_votes: Sequence[Votes], systems: Iterable[Sequence[System]]) -> str:
    """Say in one line of Markdown for which datasets there are no predictions of a model.

    Parameters
    ----------
    systems : iterable of sequence of System
        Parallel to the votes.

    Returns
    -------
    str
        Empty where each has some.
    """
    without = [o.dataset.short for o, some in zip(all_votes, systems, strict=True) if not some]
    if not without:
        return ""
    return (
        f"*No model's predictions are available for {_listed(without)}: what is computed there "
        "needs none. To add a model, pass `-p predictions=FILE`.*"
    )


def data_statistics(all_votes: Sequence[Votes]) -> pd.DataFrame:
    """Items and changed majorities of each dataset, beside Table 2 of Nie et al. (2020).

    The change rate over the full development set divides the same changed items by the
    published size of that set, since only re-annotated items can change. It is given for
    the released data alone.

    Returns
    -------
    DataFrame
        One row for each dataset with old labels: ``dataset``, ``n_examples``, ``n_changed``,
        ``change_rate_percent``, ``full_dev_size`` and ``change_rate_full_dev_percent`` (NaN
        for αNLI), then for each published value ``published_…`` and ``difference_…`` (ours
        minus theirs; NaN where the paper has none).
    """
    table = read_published("nie2020_table2").set_index("dataset")
    published = table.to_dict("index")
    rows = []
    for votes in having(all_votes, "old labels"):
        dataset = votes.dataset.name
        changed = int((votes.majority != votes.old_label).sum())
        theirs = published.get(dataset, dict.fromkeys(table.columns, np.nan))
        full = float(theirs["full_dev_size"]) if votes.is_released else np.nan
        row = {
            "dataset": dataset,
            "n_examples": len(votes),
            "n_changed": changed,
            "change_rate_percent": 100 * changed / len(votes),
            "full_dev_size": full,
            "change_rate_full_dev_percent": 100 * changed / full,
        }
        for column in ("n_examples", "change_rate_percent", "change_rate_full_dev_percent"):
            row[f"published_{column}"] = theirs[column]
            row[f"difference_{column}"] = row[column] - theirs[column]
        rows.append(row)
    return pd.DataFrame(rows)


def label_counts(all_votes: Sequence[Votes]) -> pd.DataFrame:
    """Majorities and single votes for each label, beside Table 7 of Nie et al. (2020).

    Returns
    -------
    DataFrame
        One row for each dataset, statistic (``old_majority``, ``new_majority``,
        ``old_raw_count``, ``new_raw_count``; those of old labels and votes where there are any)
        and label: ``value``, ``published``, ``difference``. NaN where the paper has no such
        count, as for αNLI.
    """
    table = read_published("nie2020_table7").set_index(["dataset", "statistic"])
    theirs = table.to_dict("index")
    rows = []
    for votes in all_votes:
        dataset = votes.dataset
        counted = {}
        if votes.has_old_labels:
            counted["old_majority"] = np.bincount(votes.old_label, minlength=dataset.n_classes)
        counted["new_majority"] = np.bincount(votes.majority, minlength=dataset.n_classes)
        if votes.given_old_votes is not None:
            counted["old_raw_count"] = votes.given_old_votes.sum(axis=0)
        counted["new_raw_count"] = votes.counts.sum(axis=0)
        for statistic, values in counted.items():
            for label, value in zip(dataset.labels, values.tolist(), strict=True):
                published = float(theirs.get((dataset.name, statistic), {}).get(label, np.nan))
                rows.append(
                    {
                        "dataset": dataset.name,
                        "statistic": statistic,
                        "label": label,
                        "value": value,
                        "published": published,
                        "difference": value - published,
                    }
                )
    return pd.DataFrame(rows)


def label_transitions(all_votes: Sequence[Votes]) -> pd.DataFrame:
    """How often each old label became each new majority.

    Returns
    -------
    DataFrame
        One row for each dataset with old labels, ``old_label`` and ``new_majority``: ``n``,
        and ``row_share``, the share among the items of that old label.
    """
    rows = []
    for votes in having(all_votes, "old labels"):
        dataset = votes.dataset
        for old, old_name in enumerate(dataset.labels):
            of_old = votes.old_label == old
            for new, new_name in enumerate(dataset.labels):
                n = int((of_old & (votes.majority == new)).sum())
                share = n / int(of_old.sum()) if of_old.any() else np.nan
                rows.append(
                    {
                        "dataset": dataset.name,
                        "old_label": old_name,
                        "new_majority": new_name,
                        "n": n,
                        "row_share": share,
                    }
                )
    return pd.DataFrame(rows)


def agreement(all_votes: Sequence[Votes], n_resamples: int, seed: int) -> pd.DataFrame:
    """How far annotators agree on each dataset, with bootstrap intervals over items.

    Parameters
    ----------
    all_votes : sequence of Votes
        One a dataset.
    n_resamples : int
        Bootstrap resamples of the items.
    seed : int
        Seed of the resampling; each dataset has a stream of its own.

    Returns
    -------
    DataFrame
        One row per dataset: ``n_examples``; ``mean_entropy_bits``, ``mean_majority_share``,
        ``fleiss_kappa`` and ``mean_pairwise_agreement``, each with ``…_low`` and
        ``…_high`` (95%); ``n_ties``; ``n_unanimous`` (every vote for one label).
    """
    rows = []
    for number, votes in enumerate(all_votes):
        counts, shares = votes.counts, votes.shares
        # Where items have few votes, one with a single vote has no pair that could agree.
        has_pairs = votes.n_votes > 1
        pairs = np.zeros(len(votes))
        pairs[has_pairs] = pairwise_agreement(counts[has_pairs]) if has_pairs.any() else 0
        values = np.column_stack(
            [entropy(shares, unit="bits"), majority_share(counts), pairs, has_pairs, shares]
        )
        rng = np.random.default_rng([seed, number])
        point = _agreement_of_means(values.mean(axis=0, keepdims=True))[0]
        low, high = percentile_interval(
            _agreement_of_means(bootstrap_means(values, n_resamples, rng))
        )
        row: dict[str, object] = {"dataset": votes.dataset.name, "n_examples": len(votes)}
        for i, name in enumerate(INTERVAL_STATISTICS):
            row |= {name: point[i], f"{name}_low": low[i], f"{name}_high": high[i]}
        row["n_ties"] = int(is_tied(counts).sum())
        row["n_unanimous"] = int((majority_share(counts) == 1).sum())
        rows.append(row)
    return pd.DataFrame(rows)


def _agreement_of_means(means: np.ndarray) -> np.ndarray:
    """From columns (entropy, majority share, pairs, has pairs, shares…) to the statistics."""
    none = np.full(len(means), np.nan)
    pairs = np.divide(means[:, 2], means[:, 3], out=none, where=means[:, 3] > 0)
    kappa = kappa_from_means(pairs, means[:, 4:])
    return np.column_stack([means[:, 0], means[:, 1], kappa, pairs])


def items(all_votes: Sequence[Votes]) -> pd.DataFrame:
    """One row per item: what the figures about single items are drawn from.

    Returns
    -------
    DataFrame
        ``dataset``, ``uid``, ``entropy_bits``, ``majority_share``, ``old_label``,
        ``majority_label``, ``changed`` (<NA> where there are no old labels), ``share_1`` … as
        far as the dataset with most labels needs (in the dataset's label order; NaN beyond its
        last).
    """
    tables = []
    for votes in all_votes:
        names = np.array(votes.dataset.labels)
        table = pd.DataFrame(
            {
                "dataset": votes.dataset.name,
                "uid": votes.uids,
                "entropy_bits": entropy(votes.shares, unit="bits"),
                "majority_share": majority_share(votes.counts),
                "old_label": names[votes.old_label] if votes.has_old_labels else None,
                "majority_label": names[votes.majority],
                "changed": (votes.majority != votes.old_label if votes.has_old_labels else pd.NA),
            }
        ).astype({"old_label": object, "changed": "boolean"})
        for k, shares in enumerate(votes.shares.T, start=1):
            table[f"share_{k}"] = shares
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def original_votes(all_votes: Sequence[Votes]) -> pd.DataFrame:
    """Set what the few original votes said of each item against what the new ones say.

    Returns
    -------
    DataFrame
        One row per item that has several original votes: ``dataset``, ``uid``, ``pattern``
        (sorted original counts, such as ``3-1-1``), ``old_label_share_before`` and
        ``old_label_share_after`` (share of the old label among the original and the
        new votes), ``entropy_bits_before``, ``entropy_bits_after``, and
        ``chance_of_selection``: the probability that votes drawn from the new distribution,
        as many as most items of the dataset had, have a majority as large as most items had
        (on SNLI and MNLI exactly three of five).
    """
    tables = []
    for votes in having(all_votes, "old votes"):
        old = votes.old_votes
        n_usual, size_usual = _most_frequent(old.sum(axis=1)), _most_frequent(old.max(axis=1))
        before = old / old.sum(axis=1, keepdims=True)
        each = np.arange(len(votes))
        tables.append(
            pd.DataFrame(
                {
                    "dataset": votes.dataset.name,
                    "uid": votes.uids,
                    "pattern": ["-".join(str(n) for n in sorted(row, reverse=True) if n)
                                for row in old.tolist()],
                    "old_label_share_before": before[each, votes.old_label],
                    "old_label_share_after": votes.shares[each, votes.old_label],
                    "entropy_bits_before": entropy(before, unit="bits"),
                    "entropy_bits_after": entropy(votes.shares, unit="bits"),
                    "chance_of_selection": chance_of_majority_size(
                        votes.shares, n_usual, size_usual
                    ),
                }
            )
        )  # fmt: skip
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def _most_frequent(numbers: Ints) -> int:
    return Counter(numbers.tolist()).most_common(1)[0][0]


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


def even_splits(at_least_bits: float, n_votes: int) -> tuple[float, int]:
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


def contested_pairs(all_votes: Sequence[Votes]) -> pd.DataFrame:
    """Count between which two labels items are contested.

    Returns
    -------
    DataFrame
        One row for each dataset with more than two labels and each pair of them: ``dataset``,
        ``first``, ``second`` and ``share``, the share of items whose two most frequent labels
        they are (of labels that tie, the earlier one counts; unanimous items count for none).
        Neighbours in the dataset's label order come first.
    """
    rows = []
    for votes in all_votes:
        labels = votes.dataset.labels
        if len(labels) == 2:
            continue
        is_split = (votes.counts > 0).sum(axis=1) > 1
        leading = np.sort(np.argsort(-votes.counts, axis=1, kind="stable")[:, :2], axis=1)
        pairs = combinations(range(len(labels)), 2)
        for first, second in sorted(pairs, key=lambda pair: pair[1] - pair[0]):
            rows.append(
                {
                    "dataset": votes.dataset.name,
                    "first": labels[first],
                    "second": labels[second],
                    "share": float((is_split & (leading == (first, second)).all(axis=1)).mean()),
                }
            )
    return pd.DataFrame(rows, columns=["dataset", "first", "second", "share"])


def examples(all_votes: Sequence[Votes], n_each: int) -> pd.DataFrame:
    """Items worth reading, chosen by rule, and the ones that the papers print.

    The rules, for each dataset: the `n_each` items of highest entropy, and the `n_each`
    items with a changed majority, where there are old labels, on which the new majority is
    largest (ties by uid). The papers' items appear when the data holds them.

    Returns
    -------
    DataFrame
        ``reason``, ``dataset``, ``uid``, ``old_label``, ``majority_label``,
        ``entropy_bits``, and ``votes_1`` … as far as the dataset with most labels needs (in
        the dataset's label order; <NA> beyond its last).
    """
    if n_each < 0:
        raise ChaosError("The number of examples is negative.", found=n_each, expected="0 or more")
    table = items(all_votes)
    tables = [
        pd.DataFrame(o.counts, columns=[f"votes_{k + 1}" for k in range(o.dataset.n_classes)])
        for o in all_votes
    ]
    counts = pd.concat(tables, ignore_index=True).astype("Int64")
    table = pd.concat([table, counts], axis=1)
    picked = []
    for votes in all_votes:
        of_dataset = table[table["dataset"] == votes.dataset.name]
        least = of_dataset.sort_values(["entropy_bits", "uid"], ascending=[False, True])
        changed = of_dataset[of_dataset["changed"]].sort_values(
            ["majority_share", "uid"], ascending=[False, True]
        )
        picked.append(least.head(n_each).assign(reason="least agreement"))
        picked.append(changed.head(n_each).assign(reason="majority changed"))
    printed = read_published("example_items")
    for source, rows in printed.groupby("source", sort=False):
        wanted = rows.merge(table, on=["dataset", "uid"], how="inner")
        picked.append(wanted.assign(reason=f"printed in {source}"))
    columns = ["reason", "dataset", "uid", "old_label", "majority_label", "entropy_bits"]
    return pd.concat(picked, ignore_index=True)[[*columns, *counts.columns]]
