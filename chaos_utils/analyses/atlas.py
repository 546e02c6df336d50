"""Every dataset with votes, side by side: how far people agree, whatever the number of labels.

The chance that two votes on an item differ (quadratic entropy) has no bias from two votes on. It
compares datasets with as many labels: an even split over two labels gives half, over ten nine
tenths. As a share of this maximum it favours few labels: votes of three to one are three quarters
of the maximum with two labels, and just over half with three. What few votes do to the other
numbers is in `few_votes`, and what choosing items by few votes does to a dataset in `selection`.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from chaos_utils.analyses import your_votes
from chaos_utils.analyses.ceilings import VOTES
from chaos_utils.analyses.inputs import AnalysisInputs, gather
from chaos_utils.datasets.catalogue import book_datasets, bundled_datasets
from chaos_utils.datasets.votes import Ints, Votes
from chaos_utils.metrics.agreement import (
    chance_of_majority_size,
    is_tied,
    krippendorff_alpha,
    majority_share,
    quadratic_entropy,
)
from chaos_utils.metrics.divergence import entropy, miller_madow, squared_distance
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.metrics.priors import draw_truths, fit_grid, posterior_means
from chaos_utils.metrics.resampling import percentile_interval, split_votes
from chaos_utils.plots.columns import DATASET
from chaos_utils.recorded import cached_analysis, derived_table
from chaos_utils.report.columns import Column, number, with_ends
from chaos_utils.scoring.draws import draw_crowds, measure_draws

READS = ("votes",)
FEWEST_TO_THIN = 30  # votes on each item
_THINNED_SIZES = (3, 5, 10, 20)
_REFERENCE_ESTIMATES = ("miller_madow", "unbiased", "usual")  # estimates, by all votes
_QUANTITIES = {
    "shannon": "Shannon entropy (nats)",
    "quadratic": "quadratic entropy",
    "squared_distance": "squared distance of the mean vote",
    "alpha": "Krippendorff’s α",
    "tied": "items with a tie for the majority",
    "no_majority": "items where no label has more than half",
    "unanimous": "items on which all agree",
}
_ESTIMATES = {
    "plain": "raw vote shares",
    "miller_madow": "Miller–Madow",
    "prior": "nonparametric prior",
    "unbiased": "unbiased",
    "usual": "as defined",
}
FEWEST_FOR_ITEMS = 20  # votes of an item, for an estimate of its own
_N_CHOOSING = 5  # votes by which ChaosNLI's items were chosen
_N_AGREEING = 3  # of these votes, for the most frequent label
_MOST_LABELS = 3  # with more labels, three of five votes is much agreement


def atlas_inputs(data: str, inputs: AnalysisInputs) -> AnalysisInputs:
    """Return all datasets of the package, and the reader's own votes before them.

    `inputs` are what `data` holds. They alone are returned for the synthetic sample, and where
    `data` names a dataset.
    """
    names = [dataset.name for dataset in bundled_datasets()]
    if data in ("auto", "released"):
        return gather(data, datasets=names)
    if inputs.synthetic or data in names:
        return inputs
    own_names = [dataset.name for dataset in inputs]
    package_inputs = gather("auto", datasets=[name for name in names if name not in own_names])
    return AnalysisInputs((*inputs, *package_inputs))


def book_inputs(inputs: AnalysisInputs) -> AnalysisInputs:
    """Return ChaosNLI's datasets among these: with a hundred votes, many can be taken away."""
    return inputs.named(*(dataset.name for dataset in book_datasets()))


@cached_analysis(keys=("dataset",))
def atlas(votes: Votes, *, most: int, n_resamples: int, seed: int) -> pd.DataFrame:
    """Say in one row what the votes on a dataset are, and how far people agree.

    * the columns of `your_votes.contents`;
    * over items with two votes or more: ``disagreement`` (the chance that two votes on an item
      differ), ``evenness`` (the disagreement over its maximum), and Krippendorff's ``alpha`` for
      labels without an order, each with a 95% interval ``over`` items, or items and annotators;
      ``alpha_ordered`` is α for ordered labels;
    * ``alike``, ``of_five``: as in `your_votes.agreement`;
    * ``shannon``: the mean entropy in nats that the nonparametric prior expects, fitted on at most
      `most` items; ``shannon_evenness``: the same over its maximum;
    * ``tied``, ``no_majority`` (no label has more than half the votes), ``unanimous``: shares of
      items.
    """
    (row,) = your_votes.contents.function(votes).to_dict("records")
    agreement = your_votes.agreement.function(votes, n_resamples=n_resamples, seed=seed)
    quantities = ["disagreement", "evenness", "alpha", "alpha_ordered", "alike"]
    # Quantities that single votes do not have become NaN.
    agreement = agreement.set_index("quantity").reindex(quantities)
    for quantity in quantities[:3]:
        for column, end in (("value", ""), ("low", "_low"), ("high", "_high")):
            row[quantity + end] = agreement.loc[quantity, column]
    row["alpha_ordered"] = agreement.loc["alpha_ordered", "value"]
    row["alike"] = agreement.loc["alike", "value"]
    row["over"], row["of_five"] = agreement.loc["disagreement", ["over", "of_five"]]
    counts = _sample(votes.counts, most, seed)
    prior = fit_grid(counts)
    point_entropies = entropy(prior.points, unit="nats")[:, np.newaxis]
    row["shannon"] = posterior_means(counts, prior, point_entropies).mean()
    row["shannon_evenness"] = row["shannon"] / np.log(votes.dataset.n_classes)
    row |= _majority_shares(votes.counts)
    return pd.DataFrame([row]).astype({"n_annotators": "Int64"})


def _sample(counts: Ints, most: int, seed: int) -> Ints:
    """Return the votes on at most so many items, drawn at random."""
    chosen = np.random.default_rng([seed, 4]).permutation(len(counts))[:most]
    return counts[np.sort(chosen)]


def _majority_shares(counts: Ints) -> dict[str, float]:
    shares = majority_share(counts)
    return {
        "tied": is_tied(counts).mean(),
        "no_majority": (shares <= 0.5).mean(),
        "unanimous": (shares == 1).mean(),
    }


@cached_analysis(keys=("dataset", "bin"))
def spread(votes: Votes, *, n_bins: int) -> pd.DataFrame:
    """Count items by their own quadratic entropy, over its maximum.

    One row for each of `n_bins` equal bins from 0 to 1. ``share`` is the share of items between
    ``low`` and ``high``; an estimate above 1 counts as 1. Items need
    `FEWEST_FOR_ITEMS` votes; without rows where less than half of them have so many.
    """
    enough = votes.n_votes >= FEWEST_FOR_ITEMS
    if enough.mean() < 0.5:
        return pd.DataFrame(columns=["bin", "low", "high", "share"])
    largest = 1 - 1 / votes.dataset.n_classes
    values = np.clip((quadratic_entropy(votes.counts[enough]) / largest).round(10), 0, 1)
    edges = np.linspace(0, 1, n_bins + 1).round(10)
    shares = np.histogram(values, edges)[0] / enough.sum()
    return pd.DataFrame(
        {
            "bin": np.arange(1, n_bins + 1),
            "low": edges[:-1],
            "high": edges[1:],
            "share": shares,
        }
    )


@derived_table(keys=("dataset", "part", "bin"))
def drawn_rows(rows: pd.DataFrame, bins: pd.DataFrame, near: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that `plots.atlas.plot_atlas` draws.

    ``part`` is ``mean`` for rows of `atlas`, ``items`` for rows of `spread`, and ``without`` for
    means without the annotators whom `your_votes.near_chance` finds.
    """
    ends = ["", "_low", "_high"]
    values = [f"disagreement{end}" for end in ends]
    means = rows[["dataset", "n_labels", "fewest", "median", "most", *values]].assign(part="mean")
    parts = [means, bins.assign(part="items")]
    if len(near):
        columns = ["dataset", *(f"disagreement_without{end}" for end in ends)]
        without = near.loc[near["n_near"] > 0, columns]
        parts.append(without.set_axis(["dataset", *values], axis=1).assign(part="without"))
    return pd.concat(parts, ignore_index=True).fillna({"bin": 0}).astype({"bin": int})


@cached_analysis(keys=("dataset",))
def selection(
    votes: Votes, *, most: int, n_draws: int, n_resamples: int, seed: int
) -> pd.DataFrame:
    """Say how a dataset changes if items are chosen on which just three of five votes agree.

    One row, for a dataset of two or three labels on which some item has two votes:

    * ``evenness``: the quadratic entropy of all items over its maximum;
    * ``chosen``, ``of_chosen``: by the nonparametric prior, fitted on at most `most` items, the
      share of items on which just three of five people agree, and the evenness of these items.
      Both have 95% intervals over items, with the prior refitted on each resample. Five votes per
      item do not determine the prior: in simulations, intervals of ``of_chosen`` held the truth in
      three of four cases;
    * ``seen``, ``of_seen``: by the votes, where most items have five or more, the share of items on
      which just three of five votes agree that are drawn at random, and the evenness of these items
      by the votes that were not drawn.
    """
    k = votes.dataset.n_classes
    row = dict.fromkeys(("evenness", "chosen", "of_chosen", "seen", "of_seen"), np.nan)
    if k > _MOST_LABELS or votes.n_votes.max() < 2:
        return pd.DataFrame(columns=[*row])
    largest = 1 - 1 / k
    sample_counts = _sample(votes.counts, most, seed)
    row["evenness"] = quadratic_entropy(votes.counts[votes.n_votes >= 2]).mean() / largest
    row["chosen"], row["of_chosen"] = _split_by_prior(sample_counts)
    rng = np.random.default_rng([seed, 7])
    resampled = (
        rng.integers(len(sample_counts), size=len(sample_counts)) for _ in range(n_resamples)
    )
    draws = np.array([_split_by_prior(sample_counts[rows]) for rows in resampled])
    low, high = percentile_interval(draws, 0.95)
    row["chosen_low"], row["of_chosen_low"] = low
    row["chosen_high"], row["of_chosen_high"] = high
    counts = votes.counts[votes.n_votes >= _N_CHOOSING]
    if 2 * len(counts) >= len(votes):
        rng = np.random.default_rng([seed, 5])
        shares, values = [], []
        for _ in range(n_draws):
            five, other_votes = split_votes(counts, (_N_CHOOSING,), rng)
            is_split = five.max(axis=1) == _N_AGREEING
            shares.append(is_split.mean())
            other_counts = other_votes[is_split & (other_votes.sum(axis=1) >= 2)]
            values += list(quadratic_entropy(other_counts)) if len(other_counts) else []
        row["seen"] = float(np.mean(shares))
        row["of_seen"] = float(np.mean(values)) / largest if values else np.nan
    return pd.DataFrame([row])


def _split_by_prior(counts: Ints) -> tuple[float, float]:
    """Return by the prior the share of items on which just three of five agree; their evenness."""
    prior = fit_grid(counts)
    split_weights = prior.weights * chance_of_majority_size(prior.points, _N_CHOOSING, _N_AGREEING)
    disagreement = split_weights @ (1 - (prior.points**2).sum(axis=1)) / split_weights.sum()
    return split_weights.sum(), disagreement / (1 - 1 / counts.shape[1])


@cached_analysis(keys=("dataset", "quantity", "n_votes"))
def by_votes(votes: Votes, *, most: int, n_draws: int, seed: int) -> pd.DataFrame:
    """Compute how well k votes per item show the true distribution, over draws of the truth.

    For the ``quantity`` ``label``, ``value`` is the share of items on which the votes' majority
    label is that of the truth; for ``shares`` it is the mean distance (TVD) of the vote shares from
    the truth. Both are as in ``ceilings.annotation_budget``, on at most `most` items. The largest k
    is at most the largest number of votes on an item. Without rows where less than half of the
    items have `FEWEST_FOR_ITEMS` votes: the truth would then depend on the prior alone.
    """
    rows: list[dict[str, float | str]] = []
    if (votes.n_votes >= FEWEST_FOR_ITEMS).mean() >= 0.5:
        # The same draws as in `ceilings.annotation_budget`, so that both tables have one number.
        rng = np.random.default_rng(seed)
        counts = _sample(votes.counts, most, seed)
        truths = draw_truths(counts, fit_grid(counts), rng, n_draws)
        for n_votes in (k for k in VOTES if k <= votes.n_votes.max()):
            crowds = draw_crowds(truths, n_votes, rng)
            for quantity, estimate in (
                ("label", measure_draws(MEASURES["new_accuracy"], crowds, truths)),
                ("shares", measure_draws(MEASURES["dist_ce"], truths, crowds)),
            ):
                row = {"value": estimate.value, "sd": estimate.values.std()}
                rows.append({"quantity": quantity, "n_votes": n_votes, **row})
    return pd.DataFrame(rows, columns=["quantity", "n_votes", "value", "sd"])


@cached_analysis(keys=("dataset", "quantity", "estimate", "n_votes"))
def few_votes(votes: Votes, *, seed: int, n_draws: int = 50) -> pd.DataFrame:
    """Measure what fewer votes do to each estimate, by taking votes away.

    One row for each ``quantity`` (``shannon``, in nats; ``quadratic``; ``squared_distance``, of the
    mean vote from people; ``alpha`` and shares of items), ``estimate`` and ``n_votes``. ``value``
    is the mean over draws of so many votes per item, without replacement. ``of_all`` is the
    quantity by all votes: by Miller and Madow for Shannon entropy, else unbiased, or as defined.
    Without rows where an item has fewer than `FEWEST_TO_THIN` votes.
    """
    columns = ["quantity", "estimate", "n_votes", "value", "of_all"]
    if votes.n_votes.min() < FEWEST_TO_THIN:
        return pd.DataFrame(columns=columns)
    rows = []
    for estimate, stream in ((_estimate_means, 2), (_estimate_shares, 6)):
        rng = np.random.default_rng([seed, stream])
        all_vote_estimates = estimate(votes.counts)
        truth = {
            key[0]: value
            for key, value in all_vote_estimates.items()
            if key[1] in _REFERENCE_ESTIMATES
        }
        for size in _THINNED_SIZES:
            drawn_estimates = [
                estimate(split_votes(votes.counts, (size,), rng)[0]) for _ in range(n_draws)
            ]
            for key in all_vote_estimates:
                rows.append(
                    (
                        *key,
                        size,
                        np.mean([estimates[key] for estimates in drawn_estimates]),
                        truth[key[0]],
                    )
                )
    return pd.DataFrame(rows, columns=columns)


def _estimate_means(counts: Ints) -> dict[tuple[str, str], float]:
    """Return the mean of each quantity over items by each of its estimates."""
    sizes = counts.sum(axis=1)
    shares = counts / sizes[:, np.newaxis]
    prior = fit_grid(counts)
    point_entropies = entropy(prior.points, unit="nats")
    mean_vote = np.broadcast_to(shares.mean(axis=0), shares.shape)
    by_item = {
        ("shannon", "plain"): entropy(shares, unit="nats"),
        ("shannon", "miller_madow"): miller_madow(counts, unit="nats"),
        ("shannon", "prior"): posterior_means(counts, prior, point_entropies[:, np.newaxis]),
        ("quadratic", "plain"): 1 - (shares**2).sum(axis=1),
        ("quadratic", "unbiased"): quadratic_entropy(counts),
        ("squared_distance", "plain"): ((mean_vote - shares) ** 2).sum(axis=1),
        ("squared_distance", "unbiased"): squared_distance(shares, mean_vote, sizes),
    }
    return {key: float(values.mean()) for key, values in by_item.items()}


def _estimate_shares(counts: Ints) -> dict[tuple[str, str], float]:
    """Return the quantities that have a single estimate, by their definition."""
    values = {"alpha": krippendorff_alpha(counts), **_majority_shares(counts)}
    return {(quantity, "usual"): value for quantity, value in values.items()}


@derived_table(keys=("dataset",))
def by_disagreement(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows of `atlas`, those with few labels first, then most disagreement."""
    order = {"by": ["n_labels", "disagreement"], "ascending": [True, False]}
    return rows.sort_values(**order, kind="stable", ignore_index=True)


@derived_table(keys=("dataset",))
def by_evenness(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows of `selection`, most disagreement first."""
    return rows.sort_values("evenness", ascending=False, kind="stable", ignore_index=True)


def _votes_per_item(row: Mapping[str, int]) -> str:
    fewest, most = int(row["fewest"]), int(row["most"])
    return number(most) if fewest == most else f"{number(fewest)}–{number(most)}"


ATLAS_COLUMNS = [
    DATASET,
    Column("labels", "n_labels"),
    Column("items", "n_items"),
    Column("votes per item", _votes_per_item),
    Column("annotators", "n_annotators"),
    with_ends("two votes differ (%)", "disagreement", 0, percent=True),
    Column("of the maximum (%)", "evenness", 0, percent=True),
    with_ends("Krippendorff’s α", "alpha", 2),
]
_SPLIT_HEADING = "items split 3 of 5 (%)"
_EVENNESS_HEADING = "quadratic entropy, % of its maximum"
SELECTION_COLUMNS = [
    DATASET,
    with_ends("by the prior", "chosen", 0, percent=True, group=_SPLIT_HEADING),
    Column("by votes", "seen", 0, percent=True, group=_SPLIT_HEADING),
    Column("all items", "evenness", 0, percent=True, group=_EVENNESS_HEADING),
    with_ends("split items, by the prior", "of_chosen", 0, percent=True, group=_EVENNESS_HEADING),
    Column("split items, by votes", "of_seen", 0, percent=True, group=_EVENNESS_HEADING),
]


_TABLE_SIZES = (3, 5, 20)
BY_VOTES_INDEX = ("dataset",)


def _size_columns(group: str, quantity: str, digits: int, *, percent: bool = False) -> list[Column]:
    look: dict[str, Any] = {"group": group, "percent": percent}
    return [
        Column(f"{k} votes", "value", digits, at={"quantity": quantity, "n_votes": k}, **look)
        for k in _TABLE_SIZES
    ]


BY_VOTES_COLUMNS = [
    DATASET,
    *_size_columns("majority label right, % of items", "label", 0, percent=True),
    *_size_columns("distance (TVD) of the shares", "shares", 2),
]
FEW_VOTES_INDEX = ("dataset", "quantity", "estimate")
FEW_VOTES_COLUMNS = [
    DATASET,
    Column("", "quantity", names=_QUANTITIES),
    Column("estimate", "estimate", names=_ESTIMATES),
    *(Column(f"{size} votes", "value", 3, at={"n_votes": size}) for size in _THINNED_SIZES),
    Column("all votes", "of_all", 3),
]
