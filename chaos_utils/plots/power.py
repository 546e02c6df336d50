"""The figure of what n items with v votes each can tell apart."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from chaos_utils.base.style import Hue, colour
from chaos_utils.datasets.catalogue import in_order
from chaos_utils.metrics.measures import MEASURES

_DASHES = ("-", "--", "-.", ":")  # from most votes to fewest


def plot_power(table: pd.DataFrame) -> Figure:
    """Draw the smallest difference that is found against the items judged, by votes per item.

    The table has one row for each ``dataset``, ``measure``, ``n_votes`` and ``judged_items``:
    ``difference``, ``n_items`` (of the dataset), ``compared`` (what its systems are), and ``gap``,
    the median one between neighbouring published models, NaN where there are none.
    """
    datasets, names = in_order(table["dataset"]), list(dict.fromkeys(table["measure"]))
    sizes = sorted(set(table["n_votes"]), reverse=True)
    dashes = dict(zip(sizes, _DASHES, strict=False))
    figure, axes = plt.subplots(
        len(names), len(datasets), figsize=(max(2.75 * len(datasets), 4.5), 2.7 * len(names) + 0.4),
        squeeze=False, sharex=True, sharey="row",
    )  # fmt: skip
    for row, name in enumerate(names):
        for axis, dataset in zip(axes[row], datasets, strict=True):
            here = (table["dataset"] == dataset.name) & (table["measure"] == name)
            _draw(axis, table[here], dashes, dataset.colour)
            if row == 0 and here.any():
                compared = table.loc[here, "compared"].iloc[0]
                axis.set_title(f"{dataset.short}\n{compared}", fontsize=9)
            axis.set_xscale("log")
            axis.set_yscale("log")
        lowest = table.loc[table["measure"] == name, ["difference", "gap"]].min().min()
        axes[row, 0].set_ylim(bottom=0.5 * lowest)  # room for the words on the line
        unit = f", {MEASURES[name].unit}" if MEASURES[name].unit else ""
        axes[row, 0].set_ylabel(
            f"{MEASURES[name].title}{unit}:\nsmallest difference found", fontsize=9
        )
    for axis in axes[-1]:
        axis.set_xlabel("items judged", fontsize=9)
    handles = [
        Line2D([], [], color=colour("text"), linestyle=dash, label=f"{size}")
        for size, dash in dashes.items()
    ]
    figure.legend(
        handles=handles, title="votes per item", loc="outside upper center", ncols=len(handles),
        fontsize=9, title_fontsize=9,
    )  # fmt: skip
    return figure


def _draw(axis: Axes, rows: pd.DataFrame, dashes: dict[int, str], shade: Hue) -> None:
    for size, dash in dashes.items():
        of_size = rows[rows["n_votes"] == size]
        axis.plot(of_size["judged_items"], of_size["difference"], linestyle=dash,
                  color=colour(shade), linewidth=1.4)  # fmt: skip
    if rows.empty:
        return
    gap = rows["gap"].iloc[0]
    if pd.notna(gap):
        axis.axhline(gap, color=colour("muted"), linewidth=1)
        axis.annotate(
            "neighbouring models", (0.02, gap), (0, -3), fontsize=7.5, va="top",
            xycoords=("axes fraction", "data"), textcoords="offset points", color=colour("muted"),
        )  # fmt: skip
    most = rows[rows["n_votes"] == rows["n_votes"].max()]
    n_items = most["n_items"].iloc[0]
    # 1/√n: the line's height at the dataset's own number of items.
    height = most["difference"].iloc[0] * (most["judged_items"].iloc[0] / n_items) ** 0.5
    axis.plot(n_items, height, marker="o", markersize=5, color=colour("text"))
    axis.annotate(
        f"{n_items:,} items", (n_items, height), (-5, -3), textcoords="offset points",
        fontsize=8, ha="right", va="top", color=colour("text"),
    )  # fmt: skip
