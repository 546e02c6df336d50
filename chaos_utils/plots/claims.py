"""Figures about the papers' claims."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from chaos_utils.base.style import colour
from chaos_utils.plots.panels import panel_grid

_COLOURS = ("green", "blue", "accent", "muted")


def plot_claims(table: pd.DataFrame) -> Figure:
    """Draw how many claims of each paper got each verdict: a panel a paper, a bar a verdict.

    The table's columns are ``paper`` (as it is to be shown), ``verdict`` and ``n``; each verdict
    stands in the order to be drawn, for every paper.
    """
    papers = list(dict.fromkeys(table["paper"]))
    figure, axes = panel_grid(len(papers), columns=2, height=1.6, sharex=True, sharey=True)
    for axis, paper in zip(axes, papers, strict=True):
        rows = table[table["paper"] == paper]
        bars = axis.barh(
            [name.replace(" with ", "\nwith ") for name in rows["verdict"]],
            rows["n"],
            height=0.62,
            color=[colour(name) for name in _COLOURS[: len(rows)]],
        )
        axis.bar_label(bars, padding=3)
        axis.set_title(paper)
        axis.set_xlim(0, 1.12 * max(table["n"].max(), 1))
        axis.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
        axis.tick_params(axis="y", length=0)
        axis.grid(visible=False, axis="y")
        axis.set_xlabel("number of claims")
        axis.label_outer()
    axes[0].invert_yaxis()  # shared by all
    return figure
