"""The figure of how far a number moves with its convention."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from chaos_utils.base.style import colour, is_narrow
from chaos_utils.plots.marks import write
from chaos_utils.plots.panels import row_panels

_TICKS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)
_ROOM = 2.0  # a factor beyond the smallest and largest value, for the numbers beside the lines
_SMALLEST = 0.005  # nearer to 1 a value is not written


def plot_conventions(table: pd.DataFrame) -> Figure:
    """Draw how far each quantity of one system moves with its convention.

    One row per quantity, the widest range on top. A row has a mark for each convention, the
    reference on the line at 1, and the smallest and largest values as numbers. An arrow at the
    right end stands for infinity, an arrow at the left end for 0. The table's columns are
    ``quantity``, ``varies`` (what differs between the quantity's conventions), ``relative`` (the
    value over the reference convention's, in [0, inf]) and ``is_reference``.
    """
    ranges = table.groupby("quantity", sort=False)["relative"].agg(["min", "max"])
    ranges["spread"] = ranges["max"] / ranges["min"]
    ranges = ranges.sort_values("spread", ascending=False, kind="stable")
    varies = table.groupby("quantity")["varies"].first()
    names = [f"{quantity}\n({varies[quantity]})" for quantity in ranges.index]
    figure, (axis,) = row_panels([names], row=0.45 if is_narrow() else 0.38)
    finite = table.loc[(table["relative"] > 0) & np.isfinite(table["relative"]), "relative"]
    least, most = float(finite.min()) / _ROOM, float(finite.max()) * _ROOM
    shade = colour("muted")
    for y, (quantity, row) in enumerate(ranges.iterrows()):
        values = table.loc[table["quantity"] == quantity, "relative"]
        inside = values[(values > 0) & np.isfinite(values)]
        axis.hlines(y, max(row["min"], least), min(row["max"], most), color=shade)
        axis.plot(inside, [y] * len(inside), "o", color=shade, markersize=4, alpha=0.8)
        axis.plot(1, y, "o", color=colour("text"), markersize=5)
        for value, off_scale, end, arrow, shift in (
            (row["min"], 0, least, "<", -5), (row["max"], np.inf, most, ">", 5),
        ):  # fmt: skip
            if value == off_scale:
                axis.plot(end, y, arrow, color=shade, markersize=8, clip_on=False, zorder=3)
            elif abs(value - 1) >= _SMALLEST:
                write(axis, f"{value:.2f}×", (value, y), (shift, 0))
    axis.axvline(1, color=shade, linewidth=1, zorder=0)
    axis.set(xscale="log", xlim=(least, most))
    axis.set_xticks([tick for tick in _TICKS if least < tick < most])
    axis.xaxis.set_major_formatter("{x:g}×")
    axis.xaxis.set_minor_formatter(NullFormatter())
    gap = "\n" if is_narrow() else " "
    axis.set_xlabel(
        f"value under a convention,{gap}as a multiple of{gap}the reference convention’s"
    )
    return figure
