"""The figure of what n items with v votes each can distinguish."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from chaos_utils.base.style import Hue, colour, is_narrow
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.plots.panels import dataset_panels

_DASHES = ("-", "--", "-.", ":")  # from most votes to fewest
_SMALL = 7.5  # points


def plot_power(table: pd.DataFrame) -> Figure:
    """Draw the smallest difference that is found against the items judged, by votes per item.

    The table has one row for each ``dataset``, ``n_votes`` and ``judged_items`` in one ``measure``:
    ``difference``, ``n_items`` (of the dataset), ``compared`` (what its systems are), and ``gap``,
    the median one between neighbouring published models, NaN where there are none.
    """
    measure = MEASURES[table["measure"].iloc[0]]
    sizes = sorted(set(table["n_votes"]), reverse=True)
    dashes = dict(zip(sizes, _DASHES, strict=False))
    figure, panels = dataset_panels(table["dataset"], height=2.6, sharey=True)
    lowest = table[["difference", "gap"]].min().min()
    for axis, dataset in panels:
        rows = table[table["dataset"] == dataset.name]
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.tick_params(axis="y", labelleft=True)
        _draw(axis, rows, dashes, dataset.colour)
        axis.set_xlabel(f"items judged\n({rows['compared'].iloc[0]})")
    panels[0][0].set_ylim(bottom=0.4 * lowest)  # room for the words below the line
    for axis, _ in panels if is_narrow() else panels[:1]:
        unit = f", {measure.unit}" if measure.unit else ""
        axis.set_ylabel(f"smallest difference found,\n{measure.title}{unit}")
    handles = [
        Line2D([], [], color=colour("text"), linestyle=dash, label=f"{size}")
        for size, dash in dashes.items()
    ]
    figure.legend(
        handles=handles, title="votes per item", loc="outside upper center", ncols=len(handles),
        title_fontsize=8,
    )  # fmt: skip
    return figure


def _draw(axis: Axes, rows: pd.DataFrame, dashes: dict[int, str], shade: Hue) -> None:
    for size, dash in dashes.items():
        of_size = rows[rows["n_votes"] == size]
        axis.plot(of_size["judged_items"], of_size["difference"], linestyle=dash,
                  color=colour(shade), linewidth=1.4)  # fmt: skip
    gap = rows["gap"].iloc[0]
    if pd.notna(gap):
        axis.axhline(gap, color=colour("muted"), linewidth=1)
        axis.annotate(
            "gap of neighbours", (0.02, gap), (0, -2), fontsize=_SMALL, va="top",
            xycoords=("axes fraction", "data"), textcoords="offset points", color=colour("muted"),
        )  # fmt: skip
    most = rows[rows["n_votes"] == rows["n_votes"].max()]
    n_items = most["n_items"].iloc[0]
    # 1/√n: the line's height at the dataset's own number of items.
    height = most["difference"].iloc[0] * (most["judged_items"].iloc[0] / n_items) ** 0.5
    axis.plot(n_items, height, marker="o", markersize=5, color=colour("text"))
    axis.annotate(
        f"{n_items:,} items", (n_items, height), (3, 3), textcoords="offset points",
        fontsize=_SMALL, ha="left", va="bottom", color=colour("text"),
    )  # fmt: skip
