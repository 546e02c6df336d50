"""What one set of votes says of its crowd, however few they are: agreement, majority, annotators.

Few votes make people look more of one mind than they are. What has an unbiased estimate is
estimated so; the rest comes from a nonparametric prior (`metrics.priors`), and `few_votes` measures
how far off that is where there are votes enough to take some away.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from html import escape
from itertools import combinations

import numpy as np
import pandas as pd

from chaos_utils.analyses.evidence import Evidence, Material, gather
from chaos_utils.analyses.recorded import derived, recorded
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets import sources
from chaos_utils.datasets.availability import needs_votes
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.votes import Ints, Votes
from chaos_utils.metrics.agreement import (
    is_tied,
    kappa_from_means,
    krippendorff_alpha,
    majority_share,
    quadratic_entropy,
)
from chaos_utils.metrics.divergence import entropy, miller_madow, squared_distance
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.metrics.priors import (
    GridPrior,
    bootstrap_masses,
    draw_truths,
    fit_dirichlet,
    fit_grid,
    posterior_means,
)
from chaos_utils.metrics.resampling import bootstrap_means, percentile_interval, split_votes
from chaos_utils.metrics.scores import shared_top
from chaos_utils.report.columns import DATASET, Column, Row, number
from chaos_utils.report.tables import Item
from chaos_utils.report.tables import Votes as VotesCell
from chaos_utils.scoring import worth as worths
from chaos_utils.scoring.annotators import agreement_with_rest, dawid_skene
from chaos_utils.scoring.human_equivalents import refusal
from chaos_utils.scoring.judging import part_of
from chaos_utils.scoring.references import References
from chaos_utils.scoring.scores import score, wide
from chaos_utils.scoring.system import System
from chaos_utils.scoring.systems import baselines, own_systems, refuse_unused

THINNED = (3, 5, 10, 20)
FEWEST_TO_THIN = 30  # votes on each item
_REFITS = 100  # of the prior, for an interval
_DRAWS = 400  # of an item's true distribution, for an interval
_SURE = 0.95
_FEWEST_ITEMS = 10  # with two votes
_FEWEST_VOTES = 10  # of an annotator, for a place in the order
_MOST_ERRORS = 50_000_000  # cells of all annotators' confusion matrices
_MOST_KEYS = 12
_LONGEST = 600  # characters of a text
_JUDGED_BY = ("sq_distance", "dist_ce", "jsd", "new_accuracy")
LEVEL = 0.05
OPEN = "these votes leave it open"
MACHINES = "machine votes"


def some_items(evidence: Evidence, most: int, seed: int) -> Evidence:
    """Return the evidence on at most so many items, drawn at random, without annotators."""
    assert evidence.votes is not None
    (votes,) = evidence.votes
    if len(votes) <= most:
        return evidence
    kept = part_of(votes, _drawn(len(votes), most, seed))
    return replace(evidence, given_votes=(kept,), given_systems=((),), own=True)


def _drawn(n_items: int, most: int, seed: int) -> Ints:
    return np.sort(np.random.default_rng(seed).choice(n_items, most, replace=False))


def texts_of(votes: Votes) -> Callable[[str, str], Mapping[str, str] | None]:
    """Return where `report.tables.publish_table` finds the texts of the items, not too long."""
    titles = dict(zip(votes.dataset.text_fields, votes.dataset.text_titles, strict=True))

    def text(dataset: str, uid: str) -> Mapping[str, str] | None:
        if dataset != votes.dataset.name or not votes.texts:
            return None
        fields = votes.texts[votes.index(uid)]
        return {
            titles[name]: value if len(value) <= _LONGEST else f"{value[:_LONGEST].rstrip()} …"
            for name, value in fields.items()
        }

    return text


@recorded(keys=("dataset",))
def contents(votes: Votes) -> pd.DataFrame:
    """Count what a file of votes holds, in one row.

    ``n_items``, ``n_labels``, ``n_votes``; votes per item from ``fewest`` over ``median`` to
    ``most``; ``n_single``, items with a single vote; ``n_annotators``, missing where not known.
    """
    known = votes.annotations
    sizes = votes.n_votes
    row = {"dataset": votes.dataset.name, "n_items": len(votes), "n_votes": int(sizes.sum())}
    row |= {"n_labels": votes.dataset.n_classes, "fewest": int(sizes.min())}
    row |= {"median": float(np.median(sizes)), "most": int(sizes.max())}
    row |= {"n_single": int((sizes == 1).sum())}
    row |= {"n_annotators": None if known is None else len(np.unique(known.annotator))}
    return pd.DataFrame([row]).astype({"n_annotators": "Int64"})


@recorded(keys=("dataset", "quantity"))
def agreement(votes: Votes, *, n_resamples: int, seed: int) -> pd.DataFrame:
    """Say how far people agree: as the votes show it, and corrected for their number.

    A row per ``quantity``: ``plain`` is computed as if the vote shares were people's, ``value`` is
    corrected, with a 95% interval over items (and the votes on them); ``n_items`` are those with
    two votes or more. ``disagreement`` is the chance that two people give different labels,
    ``evenness`` the same over its maximum; both are unbiased. ``alpha`` is Krippendorff's, for
    labels without an order; ``alpha_ordered``, where the labels have one, has no interval here.
    """
    several = votes.n_votes >= 2
    rows: list[dict[str, object]] = []
    if several.any():
        counts, shares = votes.counts[several], votes.shares[several]
        sizes, k = counts.sum(axis=1), votes.dataset.n_classes
        apart = quadratic_entropy(counts)
        table = np.column_stack([apart, sizes * apart, counts])
        drawn = bootstrap_means(table, n_resamples, np.random.default_rng([seed, 0]))
        plain = float((1 - (shares**2).sum(axis=1)).mean())
        full = 1 - 1 / k
        low, high = np.clip(percentile_interval(drawn[:, 0]), 0, full)
        found = {"plain": plain, "value": apart.mean(), "low": low, "high": high}
        rows.append({"quantity": "disagreement", **found})
        rows.append({"quantity": "evenness", **{name: one / full for name, one in found.items()}})
        n = drawn[:, 2:].sum(axis=1)
        # α is κ on pooled votes, but for one vote.
        kappas = kappa_from_means(1 - drawn[:, 1] / n, drawn[:, 2:] / n[:, np.newaxis])
        low, high = percentile_interval(kappas)
        rows.append(
            {"quantity": "alpha", "value": krippendorff_alpha(counts), "low": low, "high": high}
        )
        if votes.dataset.ordered:
            ordered = krippendorff_alpha(counts, ordered=True)
            rows.append({"quantity": "alpha_ordered", "value": ordered})
    columns = ["quantity", "plain", "value", "low", "high"]
    table = pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(columns[1:], float))
    return table.assign(dataset=votes.dataset.name, n_items=int(several.sum()))


@recorded(keys=("dataset", "quantity"))
def entropies(votes: Votes, *, seed: int) -> pd.DataFrame:
    """Estimate the mean Shannon entropy in nats, which has no unbiased estimate.

    As `agreement`: ``plain`` is that of the vote shares. ``miller_madow`` adds the first term of
    the bias; ``prior`` is what the nonparametric prior expects, with an interval for other items,
    the prior refitted.
    """
    plain = float(entropy(votes.shares, unit="nats").mean())
    prior = fit_grid(votes.counts)
    of_points = entropy(prior.points, unit="nats")
    rng = np.random.default_rng([seed, 1])
    masses = bootstrap_masses(votes.counts, prior, _REFITS, rng)
    drawn = np.sum(list(masses.values()), axis=0) @ of_points
    value = posterior_means(votes.counts, prior, of_points[:, np.newaxis]).mean()
    low, high = percentile_interval(drawn - drawn.mean() + value)
    rows = [
        {"quantity": "miller_madow", "value": miller_madow(votes.counts, unit="nats").mean()},
        {"quantity": "prior", "value": value, "low": low, "high": high},
    ]
    table = pd.DataFrame(rows).astype({"low": float, "high": float})
    return table.assign(dataset=votes.dataset.name, plain=plain, n_items=len(votes))


@derived(keys=("dataset", "quantity"))
def how_much(agreed: pd.DataFrame, shannon: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `agreement` and `entropies` together, for `AGREEMENT_COLUMNS`."""
    return pd.concat([agreed, shannon], ignore_index=True)


@recorded(keys=("dataset", "quantity"))
def majorities(votes: Votes) -> pd.DataFrame:
    """Say how clear the majorities are, among the votes and among all people.

    A row per ``quantity``: ``plain`` is counted in the votes, ``value`` what the nonparametric
    prior expects of all people; NaN where one of them says nothing. ``right`` is the share of items
    whose majority label is all people's first label, ``sure`` that of the items where this has a
    chance of 95% or more.
    """
    prior = fit_grid(votes.counts)
    tops = prior.points.max(axis=1)
    wanted = np.column_stack([tops, tops < 0.5, shared_top(prior.points)])
    expected = posterior_means(votes.counts, prior, wanted)
    right = expected[np.arange(len(votes)), 2 + votes.majority]
    shares = majority_share(votes.counts)
    nan = np.nan
    rows = [
        ("majority_share", shares.mean(), expected[:, 0].mean()),
        ("no_majority", (shares < 0.5).mean(), expected[:, 1].mean()),
        ("tied", is_tied(votes.counts).mean(), nan),
        ("unanimous", (shares == 1).mean(), nan),
        ("right", nan, right.mean()),
        ("sure", nan, (right >= _SURE).mean()),
    ]
    if votes.dataset.n_classes == 2:
        del rows[1]  # no label of two has less than half
    table = pd.DataFrame(rows, columns=["quantity", "plain", "value"])
    return table.assign(dataset=votes.dataset.name, n_items=len(votes))


@recorded(keys=("dataset", "bin"))
def majority_sizes(votes: Votes, *, n_bins: int) -> pd.DataFrame:
    """Count items by the share of the majority label, among the votes and among all people.

    A row for each of the equal bins from 1/k to 1, ``low`` to ``high``: ``plain`` is the share of
    items in it by their votes, ``value`` by the nonparametric prior.
    """
    edges = np.linspace(1 / votes.dataset.n_classes, 1, n_bins + 1).round(10)
    prior = fit_grid(votes.counts)
    tops = prior.points.max(axis=1).round(10)
    inside = np.clip(np.searchsorted(edges, tops, side="right") - 1, 0, n_bins - 1)
    expected = posterior_means(votes.counts, prior, np.eye(n_bins)[inside]).mean(axis=0)
    seen = np.histogram(majority_share(votes.counts).round(10), bins=edges)[0] / len(votes)
    return pd.DataFrame(
        {
            "dataset": votes.dataset.name,
            "bin": np.arange(1, n_bins + 1),
            "low": edges[:-1],
            "high": edges[1:],
            "plain": seen,
            "value": expected,
        }
    )


@derived(keys=("dataset", "n_votes"))
def by_votes(budget: pd.DataFrame) -> pd.DataFrame:
    """Set the errors of `ceilings.annotation_budget` side by side, a row per number of votes.

    ``jsd`` and ``dist_ce`` are how far so many votes are from all people, ``new_accuracy`` the
    share of items whose majority label among them is all people's.
    """
    errors = budget[budget["quantity"] == "error"]
    table = errors.pivot(index=["dataset", "n_votes", "most_votes"], columns="measure")["value"]
    return table.reset_index()[["dataset", "n_votes", "most_votes", *_BUDGET]]


_BUDGET = ("dist_ce", "jsd", "new_accuracy")


@derived(keys=("dataset", "wanted"))
def enough(by_number: pd.DataFrame) -> pd.DataFrame:
    """Return the fewest votes per item, of those in `by_votes`, that reach an aim.

    ``n_votes`` is missing where none does; ``most_votes`` is how many there are.
    """
    rows = []
    for dataset, table in by_number.groupby("dataset", sort=False):
        for wanted, (column, least) in AIMS.items():
            reached = table[column] >= least if column == "new_accuracy" else table[column] <= least
            found = table.loc[reached, "n_votes"]
            n_votes = int(found.min()) if len(found) else None
            row = {"dataset": dataset, "wanted": wanted, "n_votes": n_votes}
            rows.append(row | {"most_votes": table["most_votes"].iloc[0]})
    return pd.DataFrame(rows).astype({"n_votes": "Int64"})


AIMS: Mapping[str, tuple[str, float]] = {
    "the majority label is all people's on 90% of items": ("new_accuracy", 0.9),
    "the majority label is all people's on 95% of items": ("new_accuracy", 0.95),
    "vote shares are within 0.10 of all people's (DistCE)": ("dist_ce", 0.1),
    "vote shares are within 0.05 of all people's (DistCE)": ("dist_ce", 0.05),
}


@recorded(keys=("dataset", "quantity", "estimate", "n_votes"))
def few_votes(
    votes: Votes, *, seed: int, n_votes: Sequence[int] = THINNED, n_draws: int = 50
) -> pd.DataFrame:
    """Measure what fewer votes do to each estimate, by taking votes away.

    A row per ``quantity`` (``shannon``, in nats; ``quadratic``; ``squared_distance``, that of the
    mean vote to people), ``estimate`` and ``n_votes``: the mean ``value`` over draws of so many
    votes per item, without replacement, and ``of_all``, what all votes give: by Miller and Madow
    for Shannon entropy, else unbiased; ``title`` names the dataset. Without rows where an item has
    fewer than `FEWEST_TO_THIN`.
    """
    keys = ["quantity", "estimate"]
    if votes.n_votes.min() < FEWEST_TO_THIN:
        return pd.DataFrame(columns=["dataset", *keys, "n_votes", "value", "of_all", "title"])
    rng = np.random.default_rng([seed, 2])
    of_all = _estimates(votes.counts)
    truth = {"shannon": of_all["shannon", "miller_madow"]}
    truth |= {name: of_all[name, "unbiased"] for name in ("quadratic", "squared_distance")}
    rows = []
    for size in n_votes:
        drawn = [_estimates(split_votes(votes.counts, (size,), rng)[0]) for _ in range(n_draws)]
        for key in of_all:
            value = np.mean([one[key] for one in drawn])
            rows.append((*key, size, value, truth[key[0]]))
    table = pd.DataFrame(rows, columns=[*keys, "n_votes", "value", "of_all"])
    return table.assign(dataset=votes.dataset.name, title=votes.dataset.short)


def _estimates(counts: Ints) -> dict[tuple[str, str], float]:
    """Return the mean of each quantity over items by each of its estimates."""
    sizes = counts.sum(axis=1)
    shares = counts / sizes[:, np.newaxis]
    prior: GridPrior = fit_grid(counts)
    of_points = entropy(prior.points, unit="nats")
    mean = np.broadcast_to(shares.mean(axis=0), shares.shape)
    found = {
        ("shannon", "plain"): entropy(shares, unit="nats"),
        ("shannon", "miller_madow"): miller_madow(counts, unit="nats"),
        ("shannon", "prior"): posterior_means(counts, prior, of_points[:, np.newaxis]),
        ("quadratic", "plain"): 1 - (shares**2).sum(axis=1),
        ("quadratic", "unbiased"): quadratic_entropy(counts),
        ("squared_distance", "plain"): ((mean - shares) ** 2).sum(axis=1),
        ("squared_distance", "unbiased"): squared_distance(shares, mean, sizes),
    }
    return {key: float(values.mean()) for key, values in found.items()}


@recorded(keys=("dataset", "uid"))
def divided_items(votes: Votes, *, n_items: int, most: int, seed: int) -> pd.DataFrame:
    """Return the items on which people are most divided, the most divided first.

    ``disagreement`` is the chance that two people give different labels, as the nonparametric prior
    expects it from the item's votes: an item of two votes that differ is not the most divided one
    for that; what is alike to two digits is ordered by the votes themselves. ``n_alike`` items have
    the same votes for each label, and so the same place. ``low`` to ``high`` holds it with 95%, by
    a Dirichlet prior: the other one has few points, and its intervals are too short. ``counts`` are
    the votes by label. The priors are fitted on at most `most` items.
    """
    rng = np.random.default_rng([seed, 3])
    rows = rng.permutation(len(votes))[:most] if len(votes) > most else np.arange(len(votes))
    prior = fit_grid(votes.counts[rows])
    apart = 1 - (prior.points**2).sum(axis=1, keepdims=True)
    expected = posterior_means(votes.counts, prior, apart)[:, 0]
    seen = 1 - (votes.shares**2).sum(axis=1)
    order = np.lexsort((-votes.n_votes, -seen.round(10), -expected.round(2)))[:n_items]
    smooth = fit_dirichlet(votes.counts[rows])
    drawn = 1 - (draw_truths(votes.counts[order], smooth, rng, _DRAWS) ** 2).sum(axis=2)
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    return pd.DataFrame(
        {
            "dataset": votes.dataset.name,
            "uid": [votes.uids[row] for row in order],
            "counts": [" ".join(map(str, votes.counts[row].tolist())) for row in order],
            "disagreement": expected[order],
            "n_alike": [
                int((votes.counts == votes.counts[row]).all(axis=1).sum()) for row in order
            ],
            "low": low,
            "high": high,
        }
    )


@recorded(keys=("dataset", "annotator"), needs="annotators")
def annotators(votes: Votes) -> pd.DataFrame:
    """Say how each annotator's votes go with the rest, those who agree least first.

    ``annotator`` is a running number from 1, in the order of the file. ``agreement``, with a 95%
    interval, is the share of the others' votes that are for the same label, ``by_chance`` what it
    would be at random and ``corrected`` what is beyond, as a share of what is possible.
    ``accuracy`` is that of Dawid and Skene, who take each item to have one right label; NaN where
    there are too many labels and annotators for that. Who has fewer than ten votes comes last, and
    so does who can only agree, since everyone gave one label.
    """
    found = agreement_with_rest(votes)
    n_annotators = len(found.n_votes)
    accuracy = np.full(n_annotators, np.nan)
    if n_annotators * votes.dataset.n_classes**2 <= _MOST_ERRORS:
        accuracy = dawid_skene(votes).accuracy
    table = pd.DataFrame(
        {
            "dataset": votes.dataset.name,
            "annotator": np.arange(1, n_annotators + 1),
            "n_votes": found.n_votes,
            "agreement": found.observed,
            "low": np.clip(found.observed - 1.96 * found.error, 0, 1),
            "high": np.clip(found.observed + 1.96 * found.error, 0, 1),
            "by_chance": found.by_chance,
            "corrected": found.corrected,
            "accuracy": accuracy,
        }
    )
    table["few"] = (table["n_votes"] < _FEWEST_VOTES) | table["corrected"].isna()
    return table.sort_values(["few", "corrected", "annotator"], ignore_index=True)


@recorded(keys=("dataset", "quantity"), needs="annotators")
def annotators_together(votes: Votes) -> pd.DataFrame:
    """Sum up the annotators: how many there are, and what Dawid and Skene make of the majorities.

    A row per ``quantity``, with its ``value``: ``n_annotators``, the ``median_votes`` of one,
    ``at_chance``, how many with ten votes or more do not surely agree more than by chance (by the
    interval's lower end), and ``relabelled``, the share of items whose most likely label is
    not a majority one.
    """
    table = annotators.function(votes)
    usual = table[~table["few"]]
    found: dict[str, float] = {
        "n_annotators": len(table),
        "median_votes": float(table["n_votes"].median()),
        "at_chance": int((usual["low"] <= usual["by_chance"]).sum()),
    }
    if table["accuracy"].notna().any():
        labels = dawid_skene(votes).chances.argmax(axis=1)
        top = votes.counts.max(axis=1)
        found["relabelled"] = (votes.counts[np.arange(len(votes)), labels] < top).mean()
    return pd.DataFrame(
        {"dataset": votes.dataset.name, "quantity": found.keys(), "value": found.values()}
    ).astype({"value": float})


@recorded(keys=("dataset", "system"))
def evaluated(
    votes: Votes, systems: Sequence[System], *, most: int, n_resamples: int, seed: int
) -> pd.DataFrame:
    """Judge systems beside perfect model, second crowd and baselines; the nearest first.

    A row per system: ``kind`` (reference, baseline, model, or machine votes), ``n_items``, its
    measures with 95% intervals, and ``people`` and ``people_trusted``, what it is worth as it is
    and once it is trusted as far as it may be. Items with a single vote are left out. Perfect model
    and second crowd are drawn for at most `most` items.
    """
    votes = _of_two_votes(votes)
    guesses = baselines(votes, seed)
    everyone = [*guesses, *systems]
    scores = score(votes, everyone, measures=_JUDGED_BY, n_resamples=n_resamples, seed=seed)
    kinds = dict.fromkeys((one.name for one in guesses), "baseline")
    kinds |= dict.fromkeys((one.name for one in systems if one.n_samples), MACHINES)
    worth = {
        one.name: worths.worth(votes, one, seed=seed) for one in everyone if not refusal(votes, one)
    }
    table = wide(scores, "low", "high").sort_values(_JUDGED_BY[0], kind="stable")
    names = table["system"]
    table = table.assign(kind=names.map(kinds).fillna("model"))
    for column, name in (("people", worths.PEOPLE), ("people_trusted", worths.PEOPLE_TRUSTED)):
        said = {system: one.text(name) for system, one in worth.items() if name in one.estimates}
        table[column] = names.map(said)
    several = votes if len(votes) <= most else part_of(votes, _drawn(len(votes), most, seed))
    references = wide(References(several, seed=seed).scores(_JUDGED_BY)).assign(kind="reference")
    columns = ["dataset", "system", "kind", "n_items"]
    columns += [f"{name}{end}" for name in _JUDGED_BY for end in ("", "_low", "_high")]
    both = pd.concat([references, table], ignore_index=True)
    return both.reindex(columns=[*columns, "people", "people_trusted"])


@recorded(keys=("dataset", "system", "reference"))
def compared(
    votes: Votes, systems: Sequence[System], *, n_resamples: int, seed: int
) -> pd.DataFrame:
    """Compare each two systems, and each with the base rate, by what these votes can say.

    By the unbiased squared distance, on items with two votes or more: ``value`` is `system` minus
    `reference`, with a 95% interval and ``p_holm``. ``verdict`` names the one that is nearer to
    people, where ``p_holm`` is below 0.05; else it says that these votes leave it open.
    ``machines`` lists those of the two that are machine votes. Two that share no item are left out.
    """
    votes = _of_two_votes(votes)
    (mean,) = (one for one in baselines(votes, seed) if one.name == "base rate")
    several = [*systems, mean]
    pairs = [
        (a.name, b.name)
        for a, b in combinations(several, 2)
        if len(np.intersect1d(a.rows_in(votes), b.rows_in(votes)))
    ]
    found = score(
        votes,
        several,
        measures=_JUDGED_BY[:1],
        comparisons=pairs,
        n_resamples=n_resamples,
        seed=seed,
    )
    found = found[found["reference"] != ""].reset_index(drop=True)
    nearer = np.where(found["value"] < 0, found["system"], found["reference"])
    found["verdict"] = np.where(found["p_holm"] < LEVEL, nearer, OPEN)
    drawn = {one.name for one in systems if one.n_samples}
    both = zip(found["system"], found["reference"], strict=True)
    found["machines"] = [
        " and ".join(name for name, one in zip(("system", "reference"), pair, strict=True)
                     if one in drawn)
        for pair in both
    ]  # fmt: skip
    columns = ["dataset", "system", "reference", "n_items", "value", "low", "high"]
    return found[[*columns, "p", "p_holm", "verdict", "machines"]]


def _of_two_votes(votes: Votes) -> Votes:
    return part_of(votes, np.flatnonzero(votes.n_votes >= 2))


CONTENTS_COLUMNS = [
    DATASET,
    Column("items", "n_items"),
    Column("labels", "n_labels"),
    Column("votes", "n_votes"),
    Column("votes per item", lambda row: _range(row["fewest"], row["median"], row["most"])),
    Column("with a single vote", "n_single"),
    Column("annotators", "n_annotators"),
]


def _range(fewest: int, median: float, most: int) -> str:
    if fewest == most:
        return str(fewest)
    return f"{number(median, 0 if median % 1 == 0 else 1)} ({fewest} to {most})"


QUANTITIES: Mapping[str, str] = {
    "disagreement": "two people give different labels (quadratic entropy)",
    "evenness": "the same, as a share of its maximum",
    "alpha": "Krippendorff’s α",
    "alpha_ordered": "Krippendorff’s α, ordinal",
    "miller_madow": "Shannon entropy (nats), Miller–Madow",
    "prior": "Shannon entropy (nats), nonparametric prior",
    "majority_share": "share of the majority label",
    "no_majority": "items where no label has half the votes",
    "tied": "items with a tie for the majority",
    "unanimous": "items on which all agree",
    "right": "majority label is also the commonest of all people",
    "sure": "items where that is 95% sure",
    "n_annotators": "annotators",
    "median_votes": "votes of one annotator, median",
    "at_chance": "annotators who are not clearly above chance",
    "relabelled": "items whose likeliest label is no majority label",
    "shannon": "Shannon entropy (nats)",
    "quadratic": "quadratic entropy",
    "squared_distance": "squared distance of the mean vote",
    "plain": "vote shares as they are",
    "unbiased": "unbiased",
}
AGREEMENT_COLUMNS = [
    Column("", "quantity", names=QUANTITIES),
    Column("votes as they are", "plain", 3),
    Column("corrected for few votes", "value", 3, "low", "high"),
]
_ESTIMATES = {
    "miller_madow": "Miller–Madow",
    "prior": "nonparametric prior",
    "usual": "as defined",
}
MAJORITY_COLUMNS = [
    Column("", "quantity", names=QUANTITIES),
    Column("among the votes (%)", "plain", 1, percent=True),
    Column("among all people (%)", "value", 1, percent=True),
]


def _votes_or_prior(row: Row) -> str:
    """Return a number of votes per item, marked where there are not so many."""
    beyond = " (prior alone)" if row["n_votes"] > row["most_votes"] else ""
    return f"{row['n_votes']}{beyond}"


BUDGET_COLUMNS = [
    Column("votes per item", _votes_or_prior),
    Column("DistCE (TVD) from all people", "dist_ce", 3),
    Column("JSD from all people", "jsd", 3),
    Column("majority label is all people’s (%)", "new_accuracy", 1, percent=True),
]
ENOUGH_COLUMNS = [
    Column("so that", "wanted"),
    Column(
        "votes per item",
        lambda row: "more than 100" if pd.isna(row["n_votes"]) else _votes_or_prior(row),
    ),
]
REFERENCE_COLUMNS = [
    Column("measure", "measure", names=lambda name: MEASURES[name].title),
    Column("perfect model", "perfect_model", 3, "perfect_model_low", "perfect_model_high"),
    Column("second crowd", "second_crowd", 3),
    Column("uniform guess", "uniform", 3),
]
ITEM_COLUMNS = [
    Column("item", lambda row: Item(row["dataset"], row["uid"])),
    Column(
        "votes",
        lambda row: VotesCell(row["dataset"], tuple(map(int, row["counts"].split()))),
    ),
    Column("two people differ", "disagreement", 2, "low", "high"),
    Column("items with these votes", "n_alike"),
]
ANNOTATOR_COLUMNS = [
    Column("annotator", "annotator"),
    Column("votes", "n_votes"),
    Column("agree with the rest (%)", "agreement", 0, "low", "high", percent=True),
    Column("by chance (%)", "by_chance", 0, percent=True),
    Column("beyond chance", "corrected", 2),
    Column("accuracy, Dawid–Skene (%)", "accuracy", 0, percent=True),
]
TOGETHER_COLUMNS = [
    Column("", "quantity", names=QUANTITIES),
    Column(
        "",
        lambda row: (
            f"{100 * row['value']:.1f}%"
            if row["quantity"] == "relabelled"
            else number(row["value"], 0 if row["value"] % 1 == 0 else 1)
        ),
    ),
]


def _marked(name: str, are_machines: bool) -> str:
    return f"{name} ({MACHINES})" if are_machines else name


SYSTEM_COLUMNS = [
    Column("system", lambda row: _marked(row["system"], row["kind"] == MACHINES)),
    Column("items", "n_items"),
    Column("squared distance, unbiased", "sq_distance", 3, "sq_distance_low", "sq_distance_high"),
    Column("DistCE", "dist_ce", 3, "dist_ce_low", "dist_ce_high"),
    Column("JSD", "jsd", 3, "jsd_low", "jsd_high"),
    Column("accuracy (%)", "new_accuracy", 1, "new_accuracy_low", "new_accuracy_high",
           percent=True),
    Column("worth in people", "people"),
    Column("trusted", "people_trusted"),
]  # fmt: skip
PAIR_COLUMNS = [
    Column("system", lambda row: _marked(row["system"], "system" in str(row["machines"]))),
    Column("against", lambda row: _marked(row["reference"], "reference" in str(row["machines"]))),
    Column("nearer to people", "verdict"),
    Column("difference", "value", 3, "low", "high", signed=True),
    Column("p (Holm)", "p_holm", 3),
]


THINNED_INDEX = ("dataset", "quantity", "estimate")


def thinned_columns(table: pd.DataFrame) -> list[Column]:
    """Return how `few_votes` are shown: a number for each size there is."""
    sizes = sorted(set(table["n_votes"]))
    return [
        DATASET,
        Column("", "quantity", names=QUANTITIES),
        Column("estimate", "estimate", names={**QUANTITIES, **_ESTIMATES}),
        *(Column(f"{size} votes", "value", 3, at={"n_votes": size}) for size in sizes),
        Column("all votes", "of_all", 3),
    ]


@derived(keys=("dataset", "measure"))
def references(bounds: pd.DataFrame) -> pd.DataFrame:
    """Return rows of `ceilings.noise_ceiling`, of a few measures, with one ``second_crowd``.

    That of split halves, or of drawn crowds where there are too few votes to split.
    """
    rows = bounds[bounds["measure"].isin(("dist_ce", "jsd", "new_accuracy"))]
    second = rows["second_crowd_halves"].fillna(rows["second_crowd_posterior"])
    model = ["perfect_model", "perfect_model_low", "perfect_model_high"]
    columns = ["dataset", "measure", "n_votes", *model, "second_crowd", "uniform"]
    return rows.assign(second_crowd=second)[columns]


def crowd_of(data: str, dataset: str, predictions: Sequence[str]) -> Material:
    """Return the evidence on one dataset: by its name, or the first that `data` holds.

    Its systems are those of the reader's files alone. Fails where too few items have two votes.
    """
    material = gather(data, datasets=[dataset] if dataset else ())
    first = material[0]
    if first.votes is None:
        raise needs_votes(first.datasets[0])
    n_several = int((first.votes[0].n_votes >= 2).sum())
    if n_several < _FEWEST_ITEMS:
        raise ChaosError(
            "These votes cannot say how far people agree.",
            where=first.votes[0].source.name,
            found=f"{n_several} items with two votes or more",
            expected=f"at least {_FEWEST_ITEMS}",
        )
    systems = own_systems(first.votes[0], predictions)
    refuse_unused(predictions, first.votes, systems)
    found = replace(first, given_systems=(tuple(systems),), own=first.own or bool(systems))
    return Material((found,))


def yardsticks(name: str, here: Evidence) -> list[Evidence]:
    """Return the evidence on a released dataset, where it is available and not the one here."""
    if sources.find(get_dataset(name).file) is None or here.datasets[0].name == name:
        return []
    return list(gather("auto", datasets=[name]))


@derived(keys=("dataset", "part", "at"))
def drawn(sizes: pd.DataFrame, by_number: pd.DataFrame, held: pd.DataFrame) -> pd.DataFrame:
    """Return what `plots.crowd.plot_crowd` draws: `majority_sizes`, and DistCE of `by_votes`."""
    median = held["median"].iloc[0]
    right = by_number.rename(columns={"dist_ce": "value"})
    right = right[["dataset", "n_votes", "most_votes", "value"]]
    right = right.assign(part="votes", at=right["n_votes"], median=median)
    return pd.concat([sizes.assign(part="sizes", at=sizes["bin"]), right], ignore_index=True)


def at_the_ends(table: pd.DataFrame, n: int) -> pd.DataFrame:
    """Return the first and last so many rows of `annotators` that have votes enough."""
    usual = table[~table["few"]] if (~table["few"]).any() else table
    return usual if len(usual) <= 2 * n else pd.concat([usual.head(n), usual.tail(n)])


def key_of(votes: Votes) -> str:
    """Return in HTML the labels in the colours of their votes."""
    more = votes.dataset.n_classes > _MOST_KEYS
    return " ".join(
        f'<span class="vote" style="--light:{label.colour.light};--dark:{label.colour.dark};'
        f'display:inline-block;padding:0 0.5em">{escape(label.name)}</span>'
        for label in votes.dataset.classes[:_MOST_KEYS]
    ) + (f" and {votes.dataset.n_classes - _MOST_KEYS} more" if more else "")
