"""The sentences of the chapter on how the opinions were collected.

Each takes the rows of the analysis in `collection` that it is about.
"""

import numpy as np
import pandas as pd

from chaos_utils.analyses.collection import QUANTITIES
from chaos_utils.analyses.names import dataset_name, listed

_WITHOUT = {"nothing": "under the published protocol", "every stage": "without any stage"}


def say_fit(table: pd.DataFrame, targets: pd.DataFrame) -> str:
    """Say how many parameters met how many targets, and how close the simulations come.

    `table` is of `beside_published`, `targets` of `fit_targets`.
    """
    of_one = table[table["dataset"] == table["dataset"].iloc[0]]
    n_free, n_fitted = ((of_one["role"] == role).sum() for role in ("free", "fitted"))
    fitted = table[table["role"] == "fitted"].merge(targets, on=["dataset", "quantity"])
    n_met = targets["within"].sum()
    outside = fitted[fitted["difference"].abs() > fitted["tolerance"]]
    missed = [
        f"{QUANTITIES[row.quantity][0]} on {dataset_name(row.dataset)}"
        for row in outside.itertuples()
    ]
    is_count = targets["quantity"] == "annotators"
    points = targets.loc[~is_count, "tolerance"].max()
    share = (targets["tolerance"] / targets["target"])[is_count].max()
    careless = [
        f"{row.simulated:.0f}% on {dataset_name(row.dataset)}"
        for row in table[table["quantity"] == "careless"].itertuples()
    ]
    return (
        f"Each dataset's fit has {n_free} free parameters for {n_fitted} targets. So that it *can* "
        "meet them says nothing for the model; only the rows marked *predicted* could, and to "
        "those the paper gives no number. Close means within "
        f"{points:g} percentage point of a rate and {share:.0%} of the number of annotators. What "
        f"endlessly many collections would come to is that close for {n_met} of the {len(targets)} "
        "targets of {numref}`tbl-collection`; the mean of those that were drawn, which scatters, "
        + (f"is not in: {listed(missed)}." if missed else "is for all of them.")
        + f" The share of careless applicants that this takes in this model is {listed(careless)}."
    )


def say_accuracy(curves: pd.DataFrame, settled: int) -> str:
    """Say how accuracy in the simulation goes from the first items to those after `settled`."""
    return (
        f"Between an annotator's first items and all those after {settled}, accuracy in the first "
        f"simulated collection goes {listed(_from_to(curves, 'all'))}. The later level was a "
        "target of the fit; where the curve begins and how it gets there was not. Two things move "
        "it: feedback teaches, and careless annotators are blocked. The simulation can tell them "
        "apart, which the real collection cannot. For careful annotators alone, accuracy goes "
        f"{listed(_from_to(curves, 'careful'))}."
    )


def _from_to(curves: pd.DataFrame, who: str) -> list[str]:
    return [
        f"from {row.accuracy_percent:.1f}% to {row.settled_percent:.1f}% on "
        f"{dataset_name(row.dataset)}"
        for row in curves[curves["who"] == who].drop_duplicates("dataset").itertuples()
    ]


def say_effects(table: pd.DataFrame, share: float) -> str:
    """Say what leaving a stage out changes, at the share of careless applicants nearest to one."""
    shares = table["careless"].unique()
    share = shares[np.abs(shares - share).argmin()]
    means = table[table["careless"] == share].set_index("without")
    full = means.loc["nothing"]
    one_out = means.drop(["nothing", "every stage"])
    worst = one_out["tvd"].idxmax()
    spared = one_out["hours"].idxmin()
    least = (one_out["tvd"] - full["tvd"]).abs().idxmin()
    bare = means.loc["every stage"]
    return (
        f"With {share:.0%} careless applicants, the simulated error is {full['tvd']:.3f} under the "
        f"published protocol and {bare['tvd']:.3f} without any stage; as many votes drawn from "
        f"the truth would leave {full['floor_tvd']:.3f}. Of the single stages, leaving out {worst} "
        f"hurts most ({one_out.loc[worst, 'tvd']:.3f}), {least} least "
        f"({one_out.loc[least, 'tvd']:.3f}). All stages together change the cost by "
        f"{_percent(full['dollars'] / bare['dollars'])} and the annotators’ time by "
        f"{_percent(full['hours'] / bare['hours'])}; the single stage whose absence saves most "
        f"time is {spared}."
    )


def _percent(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.0f}%".replace("-", "−")


def say_bias(table: pd.DataFrame) -> str:
    """Say from how many votes on the bias outweighs what chance still adds."""
    parts = []
    for without, rows in table.groupby("without", sort=False):
        few = rows[rows["n_votes"] == rows["n_votes"].min()].sort_values("careless")
        turn = np.ceil(few["variance"] * few["n_votes"] / few["bias_squared"])
        ends = [
            f"{turn.iloc[end]:,.0f} votes with {few['careless'].iloc[end]:.0%}" for end in (0, -1)
        ]
        parts.append(f"{_WITHOUT[str(without)]} from {' and '.join(ends)} careless applicants")
    return (
        "The squared error of vote shares has two parts. *Variance* is the chance of which votes "
        "were drawn: twice the votes, half the variance. *Bias* is the distance between the truth "
        "and what endless votes of this crowd would come to; no number of votes changes it. In "
        f"{{numref}}`fig-bias-variance`, bias is the larger part {'; '.join(parts)}. From there "
        "on, not even endless votes would halve the squared error."
    )


def say_guidance(
    table: pd.DataFrame, budget: float, n_items: int, published: tuple[float, float]
) -> str:
    """Say what a budget in dollars buys at best in the simulation, and how much is at stake.

    `published` are the chance of a hidden check and the accuracy asked for, as published.
    """
    best = table[table["best"]].iloc[0]
    rate, highest = best["check_rate"], table["check_rate"].max()
    rate_then, bar = published
    sentences = [
        f"With ${budget:,.0f} for {n_items:,} items, the simulated error is lowest with "
        f"{_option(best)}: {_bought(best)}."
    ]
    if rate == highest:
        sentences.append("That is the most checks that were tried; more might serve better still.")
    for name, chosen in (
        ("As published", (table["check_rate"] == rate_then) & (table["min_check_accuracy"] == bar)),
        ("Without hidden checks", table["check_rate"] == 0),
    ):
        others = table[chosen & ~table["best"]]
        if len(others):
            sentences.append(f"{name}, the same money buys {_bought(others.iloc[0])}.")
    # A threshold matters at the rate that is best: how far apart do they lie there?
    same = table[(table["check_rate"] == rate) & (table["votes_per_item"] > 0)]
    if len(same) > 1:
        worst = same.loc[same["tvd"].idxmax()]
        sentences.append(
            f"At the best rate of checks, the worst threshold of those tried is "
            f"{worst['min_check_accuracy']:.0%}, with a distance of {worst['tvd']:.3f}."
        )
    return " ".join(sentences)


def _option(row: pd.Series) -> str:
    if row["check_rate"] == 0:
        return "no hidden checks"
    return (
        f"a chance of {row['check_rate']:.0%} for a hidden check and "
        f"{row['min_check_accuracy']:.0%} of them to be right"
    )


def _bought(row: pd.Series) -> str:
    votes = int(row["votes_per_item"])
    if not votes:
        return "not even one vote per item"
    noun = "vote" if votes == 1 else "votes"
    return f"{votes:,} {noun} per item, at an expected distance of {row['tvd']:.3f}"
