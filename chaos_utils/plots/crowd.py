"""Figures about one crowd: how clear its majorities are, and what few votes do to estimates."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chaos_utils.base.style import colour
from chaos_utils.plots.marks import SMALL, label_lines, line, logarithmic, note, stairs, write
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


def plot_crowd(table: pd.DataFrame) -> Figure:
    """Draw how large majorities are, and how far a few votes are from all people.

    The table's ``part`` is ``sizes``, with ``low``, ``high``, ``plain`` and ``value`` (the shares
    of items in a bin, by the votes and of all people), or ``votes``, with ``n_votes``, ``value``
    (the distance), ``most_votes`` and ``median``, the votes per item that there are.
    """
    figure, (left, right) = panel_grid(2, columns=2, height=2.7)
    _draw_sizes(left, table[table["part"] == "sizes"])
    _draw_votes(right, table[table["part"] == "votes"])
    return figure


def _draw_sizes(axis: Axes, rows: pd.DataFrame) -> None:
    bins = ("low", "high")
    stairs(axis, rows, rows["plain"], "grid", bins, fill=True, label="by their votes")
    stairs(axis, rows, rows["value"], "blue", bins, linewidth=1.8, label="by the prior: all people")
    axis.set(title="Size of the majority", ylabel="share of items")
    axis.set_xlabel("share of the majority label")
    axis.set_xlim(rows["low"].iloc[0], rows["high"].iloc[-1])
    axis.set_ylim(0, 1.3 * rows[["plain", "value"]].max().max())
    axis.xaxis.set_major_formatter("{x:.0%}")
    axis.yaxis.set_major_formatter("{x:.0%}")
    axis.legend(loc="upper left", fontsize=SMALL)


def _draw_votes(axis: Axes, rows: pd.DataFrame) -> None:
    known = rows[rows["n_votes"] <= rows["most_votes"]]
    beyond = rows[rows["n_votes"] >= (known["n_votes"].max() if len(known) else 0)]
    line(axis, known, "n_votes", "value", "", "blue")
    line(axis, beyond, "n_votes", "value", "", "blue", linestyle=":", markerfacecolor="none")
    logarithmic(axis, rows["n_votes"])
    median = rows["median"].iloc[0]
    note(axis, median, f"{median:g} votes,\nas here", "muted", right=median <= 8, linestyle="-")
    axis.set(title="A few votes against all people", ylabel="DistCE, lower is nearer")
    axis.set_xlabel("votes per item")
    axis.set_ylim(0, 1.15 * rows["value"].max())


def plot_thinning(table: pd.DataFrame) -> Figure:
    """Draw what taking votes away does to each estimate, for each dataset.

    The table is that of `analyses.crowd.few_votes`.
    """
    datasets = list(dict.fromkeys(table["dataset"]))
    panels = [(name, quantity) for name in datasets for quantity in _TITLES]
    figure, axes = panel_grid(len(panels), columns=3, height=2.3)
    for axis, (dataset, quantity) in zip(axes, panels, strict=True):
        rows = table[(table["dataset"] == dataset) & (table["quantity"] == quantity)]
        title, label = _TITLES[quantity]
        _draw_thinning(axis, rows)
        axis.set_title(title if len(datasets) == 1 else f"{title}\n({rows['title'].iloc[0]})")
        axis.set(xlabel="votes per item", ylabel=label)
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
