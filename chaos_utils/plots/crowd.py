"""Figures about one crowd: how clear its majorities are, and what few votes do to estimates."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter, PercentFormatter

from chaos_utils.base.style import colour
from chaos_utils.plots.panels import label_lines, panel_grid

_HEIGHT = 2.7  # inches of a panel
_SMALL = 7.5
# Of each estimate: its name on the line, and its role's colour.
_LINES = {
    ("shannon", "plain"): ("as they are", "muted"),
    ("shannon", "miller_madow"): ("Miller–Madow", "pink"),
    ("shannon", "prior"): ("prior", "blue"),
    ("quadratic", "plain"): ("as they are", "muted"),
    ("quadratic", "unbiased"): ("unbiased", "green"),
    ("squared_distance", "plain"): ("as they are", "muted"),
    ("squared_distance", "unbiased"): ("unbiased", "green"),
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
    figure, (left, right) = panel_grid(2, columns=2, height=_HEIGHT)
    _draw_sizes(left, table[table["part"] == "sizes"])
    _draw_votes(right, table[table["part"] == "votes"])
    return figure


def _draw_sizes(axis: Axes, rows: pd.DataFrame) -> None:
    widths = rows["high"] - rows["low"]
    axis.bar(rows["low"], rows["plain"], widths, align="edge", color=colour("grid"),
             edgecolor=colour("muted"), linewidth=0.5, label="by their votes")  # fmt: skip
    edges = [*rows["low"], rows["high"].iloc[-1]]
    axis.stairs(rows["value"], edges, color=colour("blue"), linewidth=1.8,
                label="by the prior: all people")  # fmt: skip
    axis.set_title("Size of the majority")
    axis.set_xlabel("share of the majority label")
    axis.set_ylabel("share of items")
    axis.set_xlim(edges[0], edges[-1])
    axis.set_ylim(0, 1.3 * rows[["plain", "value"]].max().max())
    axis.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axis.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axis.legend(loc="upper left", fontsize=_SMALL)


def _draw_votes(axis: Axes, rows: pd.DataFrame) -> None:
    known = rows[rows["n_votes"] <= rows["most_votes"]]
    beyond = rows[rows["n_votes"] >= (known["n_votes"].max() if len(known) else 0)]
    shade = colour("blue")
    axis.set_xscale("log")
    axis.plot(known["n_votes"], known["value"], color=shade, marker="o", markersize=3.5)
    axis.plot(beyond["n_votes"], beyond["value"], color=shade, linestyle="dotted", marker="o",
              markersize=3.5, markerfacecolor="none")  # fmt: skip
    median = rows["median"].iloc[0]
    axis.axvline(median, color=colour("muted"), linewidth=1)
    late = median > 8
    axis.annotate(
        f"{median:g} votes,\nas here", (median, 1), (-4 if late else 4, -2),
        xycoords=("data", "axes fraction"), textcoords="offset points", fontsize=_SMALL, va="top",
        ha="right" if late else "left", color=colour("muted"),
    )  # fmt: skip
    axis.set_title("A few votes against all people")
    axis.set_xlabel("votes per item")
    axis.set_ylabel("DistCE, lower is nearer")
    axis.set_ylim(0, 1.15 * rows["value"].max())
    _count(axis, rows["n_votes"])


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
        _draw_thinning(axis, rows, quantity)
        title = title if len(datasets) == 1 else f"{title}\n({rows['title'].iloc[0]})"
        axis.set_title(title)
        axis.set_ylabel(label)
        axis.set_xlabel("votes per item")
    return figure


def _draw_thinning(axis: Axes, rows: pd.DataFrame, quantity: str) -> None:
    truth = rows["of_all"].iloc[0]
    axis.set_xscale("log")
    axis.axhline(truth, color=colour("text"), linewidth=0.8, linestyle="dashed")
    values = [*rows["value"], truth]
    room = 0.15 * (max(values) - min(values))
    axis.set_ylim(min(values) - room, max(values) + room)
    _count(axis, rows["n_votes"])
    ends = []
    for estimate, line in rows.groupby("estimate", sort=False):
        name, role = _LINES[quantity, str(estimate)]
        axis.plot(line["n_votes"], line["value"], color=colour(role), marker="o", markersize=3.5)
        last = line.iloc[-1]
        ends.append((last["n_votes"], last["value"], name, colour(role)))
    first = rows["n_votes"].min()
    axis.annotate("all votes", (first, truth), (0, 2), textcoords="offset points",
                  fontsize=_SMALL, va="bottom", color=colour("text"))  # fmt: skip
    label_lines(axis, ends, height=1.5)


def _count(axis: Axes, sizes: "pd.Series[int]") -> None:
    """Name the numbers of votes on a logarithmic axis."""
    axis.set_xticks(sorted(set(sizes)))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.minorticks_off()
