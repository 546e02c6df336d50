"""The tables and sentences of the chapter on how the opinions were collected."""

import math

import numpy as np
import pandas as pd

from chaos_utils.presentation.annotations import listed, name_of
from chaos_utils.report.columns import MISSING, number, signed, with_interval

_FIGURES = {  # with their digits
    "careless": ("careless applicants (%)", 1),
    "lapse": ("lapses of careful annotators at work, once taught (%)", 1),
    "lapse_in_tests": ("their lapses in tests (%)", 1),
    "mean_stay": ("items that an annotator is ready to judge, mean", 0),
    "qualification_fail_rate_percent": ("fail the on-boarding test (%)", 1),
    "filter_rate_percent": ("admitted, then filtered out (%)", 1),
    "annotators": ("annotators", 0),
    "plateau_percent": ("accuracy on hidden checks after 300 items (%)", 1),
    "dismissed_percent": ("admitted, then dismissed in training (%)", 1),
    "blocked_percent": ("admitted, then blocked at work (%)", 1),
    "first_accuracy_percent": ("accuracy on hidden checks, first 50 items (%)", 1),
    "careless_votes_percent": ("kept votes that are of careless annotators (%)", 1),
    "discarded_votes_percent": ("votes thrown away (%)", 1),
    "dollars": ("cost (dollars)", 0),
    "hours": ("annotators’ time (hours)", 0),
    "mean_seconds_per_example": ("seconds for an answer, mean", 1),
}
_ROLES = {
    "fitted": "fitted target",
    "predicted": "predicted",
    "free": "free parameter",
    "input": "from the paper",
}
_WITHOUT = {"nothing": "under the published protocol", "every stage": "without any stage"}


def show_collection(table: pd.DataFrame) -> pd.DataFrame:
    """Set Table 1: published beside simulated, with the difference and what was fitted.

    Parameters
    ----------
    table : DataFrame
        As `comparison.beside_published` gives it.

    Returns
    -------
    DataFrame
        A row per figure and dataset, as texts.
    """
    rows = []
    for role, name in _ROLES.items():
        for figure, of_figure in table[table["role"] == role].groupby("figure", sort=False):
            title, digits = _FIGURES[str(figure)]
            for row in of_figure.to_dict("records"):
                here = with_interval(row["simulated"], row["low"], row["high"], digits)
                rows.append(
                    {
                        "figure": title,
                        "dataset": name_of(row["dataset"]),
                        "published": number(row["published"], digits),
                        "simulated": MISSING if math.isnan(row["simulated"]) else here,
                        "Δ": signed(row["difference"], digits),
                        "role": name,
                    }
                )
    return pd.DataFrame(rows)


def say_fit(table: pd.DataFrame, targets: pd.DataFrame) -> str:
    """Say how many parameters met how many targets, and how close the simulations come.

    Parameters
    ----------
    table : DataFrame
        As `comparison.beside_published` gives it.
    targets : DataFrame
        ``dataset``, ``figure``, ``target``, ``tolerance`` (how close it must be met), and
        ``within`` (whether the fitted population meets it on average).
    """
    of_one = table[table["dataset"] == table["dataset"].iloc[0]]
    n_free, n_fitted = ((of_one["role"] == role).sum() for role in ("free", "fitted"))
    fitted = table[table["role"] == "fitted"].merge(targets, on=["dataset", "figure"])
    n_met = targets["within"].sum()
    outside = fitted[fitted["difference"].abs() > fitted["tolerance"]]
    missed = [
        f"{_FIGURES[row.figure][0]} on {name_of(row.dataset)}" for row in outside.itertuples()
    ]
    is_count = targets["figure"] == "annotators"
    points = targets.loc[~is_count, "tolerance"].max()
    share = (targets["tolerance"] / targets["target"])[is_count].max()
    careless = [
        f"{row.simulated:.0f}% on {name_of(row.dataset)}"
        for row in table[table["figure"] == "careless"].itertuples()
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
    """Say how accuracy in the simulation goes from the first items to those after it settles.

    Parameters
    ----------
    curves : DataFrame
        As `comparison.accuracy_curves` gives it.
    settled : int
        Items after which an annotator counts as settled.
    """
    return (
        f"Between an annotator's first items and all those after {settled}, accuracy in the first "
        f"simulated collection goes {listed(_from_to(curves, 'all'))}. The later level was a "
        "target of the fit; where the curve begins and how it gets there was not. Two things move "
        "it: feedback teaches, and careless annotators are blocked. The simulation can tell them "
        "apart, which the real collection cannot. For careful annotators alone, accuracy goes "
        f"{listed(_from_to(curves, 'careful'))}."
    )


def _from_to(curves: pd.DataFrame, who: str) -> list[str]:
    parts = []
    for dataset, rows in curves[curves["who"] == who].groupby("dataset", sort=False):
        first, late = rows["accuracy_percent"].iloc[0], rows["settled_percent"].iloc[0]
        parts.append(f"from {first:.1f}% to {late:.1f}% on {name_of(str(dataset))}")
    return parts


def say_effects(table: pd.DataFrame, share: float) -> str:
    """Say what leaving a stage out changes, at the share of careless applicants nearest to one.

    Parameters
    ----------
    table : DataFrame
        As `design.stage_effects` gives it.
    share : float
        Share of careless applicants to come near to, in [0, 1].
    """
    shares = table["careless"].unique()
    share = shares[np.abs(shares - share).argmin()]
    means = table[table["careless"] == share].groupby("without", sort=False).mean()
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
    """Say from how many votes on the bias outweighs what chance still adds.

    Parameters
    ----------
    table : DataFrame
        As `comparison.errors_with_and_without` gives it.
    """
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


def show_guidance(table: pd.DataFrame) -> pd.DataFrame:
    """Set the guidance: what a budget buys under each rate of checks and threshold.

    Parameters
    ----------
    table : DataFrame
        As `design.guidance` gives it.

    Returns
    -------
    DataFrame
        A row per option, as texts.
    """
    return pd.DataFrame(
        {
            "hidden checks": "none" if row["check_rate"] == 0 else f"{row['check_rate']:.0%}",
            "accuracy asked for": MISSING
            if row["check_rate"] == 0
            else f"{row['min_check_accuracy']:.0%}",
            "dollars a kept vote": number(row["dollars_per_vote"], 3),
            "votes per item": number(row["votes_per_item"]),
            "bias²": number(row["bias_squared"], 4),
            "expected error (TVD)": number(row["tvd"], 3),
            "best": "lowest error" if row["best"] else "",
        }
        for row in table.to_dict("records")
    )


def say_guidance(
    table: pd.DataFrame, budget: float, n_items: int, published: tuple[float, float]
) -> str:
    """Say what serves a budget best in the simulation, and how much is at stake.

    Parameters
    ----------
    table : DataFrame
        As `design.guidance` gives it.
    budget : float
        Dollars.
    n_items : int
        How many items are judged for them.
    published : (float, float)
        Chance of a hidden check and accuracy asked for, as published.
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
