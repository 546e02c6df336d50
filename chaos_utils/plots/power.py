"""The figure of what n items with v votes each can distinguish."""

import pandas as pd
from matplotlib.figure import Figure

from chaos_utils.base.style import colour
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.plots.marks import label_lines, line, logarithmic
from chaos_utils.plots.panels import dataset_panels, label_left

_ITEMS = (100, 1_000, 10_000)  # numbers of items that have a line


def plot_power(table: pd.DataFrame) -> Figure:
    """Draw the smallest detectable difference against the votes per item, by items judged.

    The table has one row for each ``dataset``, ``n_votes`` and ``judged_items`` in one ``measure``:
    ``difference``, ``n_items`` (of the dataset), ``compared`` (what its systems are), and ``gap``,
    the median difference of neighbouring published models, NaN where there are none.
    """
    measure = MEASURES[table["measure"].iloc[0]]
    figure, panels = dataset_panels(table, height=2.6, sharey=True)
    shown = table[table["judged_items"].isin(_ITEMS)]
    panels[0][0].set(yscale="log", ylim=(0.6 * shown[["difference", "gap"]].min().min(), None))
    panels[0][0].set_ylim(top=1.3 * shown["difference"].max())
    for axis, _, rows in panels:
        logarithmic(axis, rows["n_votes"])
        lines = rows.sort_values("n_votes").groupby("judged_items")
        ends = [
            line(axis, points, "n_votes", "difference", f"{n_items:,} items", "blue")
            for n_items, points in lines
            if n_items in _ITEMS
        ]
        gap = rows["gap"].iloc[0]
        if pd.notna(gap):
            axis.axhline(gap, color=colour("muted"), linewidth=1)
            ends.append((rows["n_votes"].max(), gap, "gap", colour("muted")))
        label_lines(axis, ends)
        axis.set_xlabel(f"votes per item\n({rows['compared'].iloc[0]})")
    unit = f", {measure.unit}" if measure.unit else ""
    label_left((axis for axis, *_ in panels), f"smallest difference found,\n{measure.title}{unit}")
    return figure
