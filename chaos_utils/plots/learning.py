"""The figure of methods that move one encoder toward the human distribution."""

from typing import Literal

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from chaos_utils.base.style import Hue, colour, distinct_hues
from chaos_utils.datasets.catalogue import in_order
from chaos_utils.metrics.measures import MEASURES

_Dashes = Literal["--", "-.", ":"]
_REFERENCES: dict[str, tuple[str, _Dashes]] = {
    "chance": ("chance (uniform)", "--"),
    "floor": ("floor", ":"),
    "ceiling": ("ceiling", "-."),
}
# What a method learned from: its name in the key, and marker.
_SOURCES: dict[str, tuple[str, str]] = {
    "train": ("training labels", "o"),
    "dev": ("and development labels", "s"),
    "votes": ("and votes on other items", "D"),
    "own": ("your predictions", "^"),
}


def plot_learning(table: pd.DataFrame) -> Figure:
    """Draw each method's measures on each dataset, beside chance, floor and ceiling.

    A method has one colour in all panels, and a marker that says what it learned from. The table
    has one row for each ``dataset``, ``method`` or reference, and ``measure``: ``title``,
    ``kind`` (reference, method, own), ``learned_from``, ``value``, ``low``, ``high``.
    """
    datasets = in_order(table["dataset"])
    names = list(dict.fromkeys(table["measure"]))
    drawn = table[table["kind"] != "reference"]
    counts = [
        drawn.loc[drawn["dataset"] == dataset.name, "title"].nunique() for dataset in datasets
    ]
    systems = _systems(drawn)
    shades = dict(zip(dict.fromkeys(systems), distinct_hues(systems.nunique()), strict=True))
    heights = [max(count, 2) + 1 for count in counts]
    figure, axes = plt.subplots(
        len(datasets), len(names), figsize=(3.2 * len(names) + 1.8, 0.8 + 0.34 * sum(heights)),
        squeeze=False, sharey="row", height_ratios=heights,
    )  # fmt: skip
    for row, dataset in enumerate(datasets):
        order = list(dict.fromkeys(drawn.loc[drawn["dataset"] == dataset.name, "title"]))
        for axis, name in zip(axes[row], names, strict=True):
            here = (table["dataset"] == dataset.name) & (table["measure"] == name)
            _draw(axis, table[here], order, shades)
            if name == "kl":
                axis.set_xscale("log")
            unit = f" ({MEASURES[name].unit})" if MEASURES[name].unit else ""
            axis.set_xlabel(MEASURES[name].title + unit, fontsize=9)
        axes[row, 0].set_yticks(range(len(order)), order, fontsize=9)
        axes[row, 0].set_ylim(max(len(order), 1) - 0.4, -0.6)
        axes[row, 0].set_title(dataset.short, loc="left")
    figure.legend(handles=_key(drawn["learned_from"]), loc="outside upper center", ncols=4)
    return figure


def _systems(rows: pd.DataFrame) -> pd.Series:
    """Return what has one colour: a method, whatever its details on a dataset; one's own system."""
    return rows["title"].where(rows["kind"] == "own", rows["method"])


def _draw(axis: Axes, rows: pd.DataFrame, order: list[str], shades: dict[str, Hue]) -> None:
    for method, (_, dashes) in _REFERENCES.items():
        for value in rows.loc[rows["method"] == method, "value"]:
            axis.axvline(value, color=colour("muted"), linestyle=dashes, linewidth=1.4, zorder=1)
    drawn = rows[rows["kind"] != "reference"]
    for name, row in zip(_systems(drawn), drawn.to_dict("records"), strict=True):
        height, shade = order.index(row["title"]), colour(shades[name])
        axis.plot([row["low"], row["high"]], [height] * 2, color=shade, linewidth=2)
        marker = _SOURCES[row["learned_from"]][1]
        axis.plot(row["value"], height, marker=marker, markersize=6, linestyle="", color=shade)
    axis.grid(visible=False, axis="y")
    axis.margins(x=0.08)


def _key(learned_from: pd.Series) -> list[Line2D]:
    shown = [name for name in _SOURCES if name in set(learned_from)]
    handles = [
        Line2D([], [], label=label, marker=marker, linestyle="", color=colour("text"))
        for label, marker in (_SOURCES[name] for name in shown)
    ]
    handles += [
        Line2D([], [], color=colour("muted"), linestyle=dashes, linewidth=1.4, label=label)
        for label, dashes in _REFERENCES.values()
    ]
    return handles
