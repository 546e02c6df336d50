"""The claims of Nie et al. (2020) about votes, in our own words, each with what decides it."""

import numpy as np
import pandas as pd

from chaos_utils.datasets.catalogue import book_datasets
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.evaluation.claims_rules import (
    Claim,
    Estimate,
    Evidence,
    Floats,
    Grounds,
    UnavailableError,
    by_number,
    by_order,
    closed,
    least_favourable,
    listed,
    numbered,
    weakest,
)
from chaos_utils.metrics.agreement import majority_share
from chaos_utils.metrics.divergence import entropy

_KEY = "nie2020"
_ROUNDED_RATES = {"alphanli": 10, "snli": 25, "mnli": 30}


def _total(material: Grounds) -> Evidence:
    datasets = [material.votes(dataset.name) for dataset in book_datasets()]
    total = sum(int(votes.counts.sum()) for votes in datasets)
    items = sum(map(len, datasets))
    text = f"Votes in the files, on {items:,} items; {464_500:,} are claimed."
    return by_number(Estimate(total), 464_500, 0, text)


def _rate(material: Grounds, dataset: str) -> Estimate:
    votes = material.votes(dataset)
    return material.estimate(100 * (votes.majority != votes.old_label))


def _change_rate(material: Grounds, dataset: str) -> Evidence:
    claimed = (
        read_published("nie2020_table2").set_index("dataset").loc[dataset, "change_rate_percent"]
    )
    text = f"Per cent of items whose stored majority is not the old label; {claimed} is printed."
    return by_number(_rate(material, dataset), float(claimed), 0.005, text)


def _rounded_rates(material: Grounds) -> Evidence:
    rates = {dataset: _rate(material, dataset) for dataset in _ROUNDED_RATES}
    parts = [by_number(rates[dataset], claim, 0.5, "") for dataset, claim in _ROUNDED_RATES.items()]
    text = (
        "Per cent of changed majorities: "
        + listed({dataset: rate.value for dataset, rate in rates.items()}, ".2f")
        + ". The number shown is the first that is not the stated one to a whole per cent; the "
        "sampling of items covers the distance where the verdict says so."
    )
    return least_favourable(parts, text)


def _two_statements(material: Grounds) -> Evidence:
    printed = read_published("nie2020_table2").set_index("dataset")["change_rate_percent"]
    gaps = (printed - pd.Series(_ROUNDED_RATES)).abs()
    text = (
        f"Largest distance, in percentage points, between Table 2 ({listed(printed, '.2f')}) and "
        "the rounded rates of the text; up to 0.5 is rounding. Both describe one data set, so no "
        "sampling stands between them."
    )
    return by_number(Estimate(float(gaps.max())), 0, 0.5, text)


def _full_dev(material: Grounds, dataset: str) -> Evidence:
    if not material.released:
        raise UnavailableError("The development set's size belongs to the released votes.")
    printed = read_published("nie2020_table2").set_index("dataset").loc[dataset]
    votes = material.votes(dataset)
    share = len(votes) / float(printed["full_dev_size"])
    claimed = float(printed["change_rate_full_dev_percent"])
    found = material.estimate(100 * share * (votes.majority != votes.old_label))
    text = f"Changed items as a percentage of the whole development set; {claimed} is printed."
    return by_number(found, claimed, 0.005, text)


def _mean_entropy(material: Grounds) -> Evidence:
    printed = read_published("nie2020_other").set_index("quantity")["value"]
    claimed = float(printed["mean_entropy_bits"])
    found = material.estimate(entropy(material.votes("snli").shares, unit="bits"))
    text = f"Mean entropy in bits; {claimed:.2f} is printed. In nats it would be ln 2 times that."
    return by_number(found, claimed, 0.005, text)


def _thirds(material: Grounds, dataset: str) -> Floats:
    """Return, for each item, in which third of the entropy's range it lies; (n_items, 3)."""
    votes = material.votes(dataset)
    bits = entropy(votes.shares, unit="bits").round(10)
    third = np.floor(3 * bits / np.log2(votes.dataset.n_classes)).clip(0, 2)
    return (third[:, np.newaxis] == np.arange(3)).astype(np.float64)


def _u_shape(material: Grounds) -> Evidence:
    found = material.estimate(
        _thirds(material, "alphanli"),
        lambda means: np.minimum(means[..., 0], means[..., 2]) - means[..., 1],
    )
    text = (
        "Share of αNLI items in the emptier of the outer thirds of the entropy's range, minus "
        "the share in the middle third. The right arm owes much to the scale: many splits near "
        "an even one have an entropy close to 1 bit."
    )
    return by_order(found, 0, text)


def _one_peak(material: Grounds) -> Evidence:
    parts = [
        by_order(
            material.estimate(
                _thirds(material, dataset),
                lambda means: means[..., 1] - np.minimum(means[..., 0], means[..., 2]),
            ),
            0,
            "",
        )
        for dataset in ("snli", "mnli")
    ]
    text = (
        "Share of items in the middle third of the entropy's range minus that in the emptier "
        "outer third, SNLI first: above 0 where there is no dip between two ends."
    )
    return least_favourable(parts, text)


def _more_disagreement(material: Grounds) -> Evidence:
    """Two sets of items, so the interval is of a difference of independent means."""
    means = [
        material.estimate(entropy(material.votes(dataset).shares, unit="bits"))
        for dataset in ("mnli", "snli")
    ]
    value = means[0].value - means[1].value
    # Half-widths of independent means add in squares.
    low = value - np.hypot(means[0].value - means[0].low, means[1].high - means[1].value)
    high = value + np.hypot(means[0].high - means[0].value, means[1].value - means[1].low)
    text = "Mean entropy in bits, MNLI minus SNLI."
    return by_order(Estimate(value, float(low), float(high)), 0, text)


def _noticeable(material: Grounds) -> Evidence:
    shares = {
        t: float(np.mean(majority_share(material.votes(t).counts) <= 0.6))
        for t in (one.name for one in book_datasets())
    }
    text = (
        "Share of items on which at most 60 of 100 agree, where it is smallest: "
        f"{listed(shares, '.3f')}. One in twenty is taken as noticeable."
    )
    found = [
        material.estimate(majority_share(material.votes(dataset).counts) <= 0.6)
        for dataset in (one.name for one in book_datasets())
    ]
    return by_order(weakest(found), 0.05, text)


def _table_7(material: Grounds) -> Evidence:
    table = read_published("nie2020_table7").query("statistic == 'new_raw_count'")
    table = table.set_index("dataset")[["entailment", "neutral", "contradiction"]]
    gaps = {
        str(dataset): int(np.abs(material.votes(str(dataset)).counts.sum(axis=0) - counts).max())
        for dataset, counts in table.iterrows()
    }
    text = (
        f"Largest distance of a label's printed count of new votes from the file's; "
        f"{listed(gaps, 'd')}. Few among {int(table.to_numpy().sum()):,}; release and "
        "table are not vote for vote the same."
    )
    return by_number(Estimate(max(gaps.values())), 0, 0, text)


VOTES: tuple[Claim, ...] = (
    numbered(1, _KEY, "abstract",
             "464,500 judgements were collected, a hundred per item.",
             _total),
    numbered(2, _KEY, "Table 2",
             "A quarter of the SNLI majorities change (24.97%).",
             _change_rate, dataset="snli"),
    numbered(3, _KEY, "Table 2",
             "Nearly a third of the MNLI majorities change (31.77%).",
             _change_rate, dataset="mnli"),
    numbered(4, _KEY, "Table 2",
             "About a tenth of the αNLI majorities change (10.64%).",
             _change_rate, dataset="alphanli"),
    numbered(5, _KEY, "running text",
             "About 10, 25 and 30% of the majorities change on αNLI, SNLI and MNLI.",
             _rounded_rates),
    numbered(6, _KEY, "running text, Table 2",
             "The rates in the text and those in the table are the same.",
             _two_statements),
    numbered(7, _KEY, "Table 2",
             "Over the whole development set of SNLI, 3.78% change.",
             _full_dev, dataset="snli"),
    numbered(8, _KEY, "Table 2",
             "Over the whole development set of MNLI, 5.08% change.",
             _full_dev, dataset="mnli"),
    numbered(9, _KEY, "footnote",
             "The mean entropy on SNLI is 0.80.",
             _mean_entropy),
    numbered(10, _KEY, "Figure 3",
             "The entropies of αNLI have a U shape.",
             _u_shape),
    numbered(11, _KEY, "Figure 3",
             "The entropies of SNLI and MNLI have a single peak.",
             _one_peak),
    numbered(12, _KEY, "Figure 3",
             "People disagree more on MNLI than on SNLI.",
             _more_disagreement),
    numbered(13, _KEY, "abstract",
             "On a noticeable share of the items, people disagree much.",
             _noticeable),
    numbered(14, _KEY, "Table 7",
             "The printed counts of new votes are those of the collected data.",
             _table_7),
    numbered(39, _KEY, "Table 1",
             "How many annotators failed the qualification, and how long they took.",
             closed, text="No record of single annotators was released, only counts of votes."),
)  # fmt: skip
