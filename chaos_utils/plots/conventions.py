"""The figure of how far a number moves with its convention."""

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from chaos_utils.base.style import colour, is_narrow, width

_TICKS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)
_ROOM = 2.0  # times the smallest and largest value, for the numbers beside the lines
_SMALL = 7.5  # points


def plot_conventions(table: pd.DataFrame) -> Figure:
    """Draw how far each quantity of one system moves with its convention.

    One row per quantity, that with the widest range on top; in it a mark for each convention, the
    reference on the line at 1, and the smallest and largest values in figures. An arrow at the
    right end stands for infinity, one at the left end for 0. The table's columns are ``quantity``,
    ``varies`` (what differs between its conventions), ``relative`` (value over that of the
    reference convention, in [0, inf]) and ``is_reference``.
    """
    ranges = table.groupby("quantity", sort=False)["relative"].agg(["min", "max"])
    ranges["spread"] = ranges["max"] / ranges["min"]
    order = list(ranges.sort_values("spread", ascending=False, kind="stable").index)
    varies = table.groupby("quantity")["varies"].first()
    row_height = 0.47 if is_narrow() else 0.4
    figure, axis = plt.subplots(figsize=(width(), 0.7 + row_height * len(order)))
    finite = table.loc[(table["relative"] > 0) & np.isfinite(table["relative"]), "relative"]
    ends = float(finite.min()) / _ROOM, float(finite.max()) * _ROOM
    for place, quantity in enumerate(order):
        rows = table[table["quantity"] == quantity]
        _draw_values(axis, rows["relative"].to_numpy(dtype=np.float64), place, ends)
    axis.axvline(1, color=colour("muted"), linewidth=1, zorder=0)
    axis.set_xscale("log")
    axis.set_xticks([tick for tick in _TICKS if ends[0] < tick < ends[1]])
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}×"))
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.set(
        xlim=ends,
        ylim=(len(order) - 0.5, -0.5),
        xlabel="value, as a multiple of the\nreference convention’s"
        if is_narrow()
        else "value under a convention, as a multiple of the reference convention’s",
    )
    names = [f"{quantity}\n({varies[quantity]})" for quantity in order]
    axis.set_yticks(range(len(order)), names, fontsize=_SMALL)
    axis.tick_params(axis="y", length=0)
    axis.grid(visible=False, axis="y")
    return figure


def _draw_values(
    axis: Axes, values: npt.NDArray[np.float64], place: float, ends: tuple[float, float]
) -> None:
    shade = colour("muted")
    shown = np.clip(values, *ends)
    axis.plot([shown.min(), shown.max()], [place, place], color=shade, linewidth=1.4)
    inside = (values > 0) & np.isfinite(values)
    axis.plot(
        values[inside], np.full(inside.sum(), place), "o", color=shade, markersize=4, alpha=0.8,
        linestyle="none",
    )  # fmt: skip
    axis.plot(1, place, "o", color=colour("text"), markersize=5)
    for end, value, arrow in ((0, values.min(), "<"), (1, values.max(), ">")):
        if value == (0, np.inf)[end]:
            axis.plot(ends[end], place, arrow, color=shade, markersize=8, clip_on=False, zorder=3)
        elif abs(value - 1) >= 0.005:
            axis.annotate(
                f"{value:.2f}×", (value, place), (-5 if end == 0 else 5, 0), va="center",
                textcoords="offset points", ha="right" if end == 0 else "left", fontsize=_SMALL,
            )  # fmt: skip
