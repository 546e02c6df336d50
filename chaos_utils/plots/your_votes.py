"""The figure about a reader's votes: how large their majorities are."""

import pandas as pd
from matplotlib.figure import Figure

from chaos_utils.base.style import smallest_type
from chaos_utils.plots.marks import histogram
from chaos_utils.plots.panels import panel_grid


def plot_majorities(table: pd.DataFrame) -> Figure:
    """Draw how large majorities are: by the votes, and by the prior for all people.

    The table is that of `analyses.your_votes.majority_sizes`.
    """
    figure, (axis,) = panel_grid(1, columns=1, height=2.7)
    bins = ("low", "high")
    fill = {"fill": True, "alpha": 1, "label": "by their votes"}
    histogram(axis, table, table["plain"], "grid", bins, **fill)
    outline = {"linewidth": 1.8, "label": "by the prior: all people"}
    histogram(axis, table, table["value"], "blue", bins, **outline)
    axis.set(xlabel="share of the majority label", ylabel="share of items")
    axis.set_xlim(table["low"].iloc[0], table["high"].iloc[-1])
    axis.xaxis.set_major_formatter("{x:.0%}")
    axis.yaxis.set_major_formatter("{x:.0%}")
    axis.legend(loc="upper left", fontsize=smallest_type())
    return figure
