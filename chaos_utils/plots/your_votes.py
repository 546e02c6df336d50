"""Figures about one set of votes: how clear majorities are, and what few do to estimates."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chaos_utils.base.style import colour
from chaos_utils.plots.marks import SMALL, label_lines, line, logarithmic, stairs, write
from chaos_utils.plots.panels import panel_grid

# Of each estimate: its name on the line, and its role's colour.
_LINES = {
    "plain": ("as they are", "muted"),
    "miller_madow": ("Miller–Madow", "pink"),
    "prior": ("prior", "blue"),
    "unbiased": ("unbiased", "green"),
}
_TITLES = {
    "shannon": ("Shannon entropy", "mean, nats"),
    "quadratic": ("Quadratic entropy", "two people differ, mean"),
    "squared_distance": ("Squared distance", "mean vote to people"),
}


def plot_majorities(table: pd.DataFrame) -> Figure:
    """Draw how large majorities are, among the votes and among all people.

    The table is that of `analyses.your_votes.majority_sizes`.
    """
    figure, (axis,) = panel_grid(1, columns=1, height=2.7)
    bins = ("low", "high")
    stairs(axis, table, table["plain"], "grid", bins, fill=True, label="by their votes")
    stairs(
        axis, table, table["value"], "blue", bins, linewidth=1.8, label="by the prior: all people"
    )
    axis.set(xlabel="share of the majority label", ylabel="share of items")
    axis.set_xlim(table["low"].iloc[0], table["high"].iloc[-1])
    axis.xaxis.set_major_formatter("{x:.0%}")
    axis.yaxis.set_major_formatter("{x:.0%}")
    axis.legend(loc="upper left", fontsize=SMALL)
    return figure


def plot_thinning(table: pd.DataFrame) -> Figure:
    """Draw what taking votes away from one dataset does to each estimate.

    The table is that of `analyses.your_votes.few_votes`.
    """
    figure, axes = panel_grid(len(_TITLES), columns=3, height=2.3)
    for axis, (quantity, (title, label)) in zip(axes, _TITLES.items(), strict=True):
        _draw_thinning(axis, table[table["quantity"] == quantity])
        axis.set(title=title, xlabel="votes per item", ylabel=label)
    return figure


def _draw_thinning(axis: Axes, rows: pd.DataFrame) -> None:
    truth = rows["of_all"].iloc[0]
    axis.axhline(truth, color=colour("text"), linewidth=0.8, linestyle="dashed")
    values = [*rows["value"], truth]
    room = 0.15 * (max(values) - min(values))
    axis.set_ylim(min(values) - room, max(values) + room)
    logarithmic(axis, rows["n_votes"])
    estimates = rows.groupby("estimate", sort=False)
    label_lines(
        axis, [line(axis, some, "n_votes", "value", *_LINES[str(one)]) for one, some in estimates]
    )
    write(axis, "all votes", (rows["n_votes"].min(), truth), (1, 2))
