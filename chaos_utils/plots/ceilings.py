"""Figures about how many votes are enough, and how low an error can go."""

from collections.abc import Iterable
from itertools import cycle
from typing import Any, Literal

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from chaos_utils.base.style import colour, distinct_hues
from chaos_utils.datasets.catalogue import in_order
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.plots.panels import dataset_panels

_Dashes = Literal["-", "--", "-.", ":"]
_MARKERS = "osD^vPXpdh*"
_REFERENCES: dict[str, _Dashes] = {"floor": ":", "ceiling": "-.", "uniform": "--"}
_NAMES = {"floor": "perfect model", "ceiling": "second crowd", "uniform": "uniform prediction"}
_SOURCES: dict[str, dict[str, Any]] = {
    "computed": {},
    "published": {"marker": "D", "markerfacecolor": "none", "markersize": 6},
}
_ERRORS: dict[str, tuple[str, _Dashes]] = {
    "bias": ("bias, its size", "--"),
    "standard_error": ("standard error", "-"),
}
_TINY = 1e-6  # rounding, on a logarithmic axis
_APART = 1.6  # at least so many times as many votes, for two names of items to stand side by side


def plot_annotation_budget(table: pd.DataFrame) -> Figure:
    """Draw each measure's floor and the votes' own error against the votes per item.

    The table is as `analyses.ceilings.annotation_budget` gives it, for one or more datasets.
    """
    names = list(dict.fromkeys(table["measure"]))
    n_columns = 4
    n_rows = -(-(len(names) + 1) // n_columns)  # one place is the key's
    figure, axes = plt.subplots(n_rows, n_columns, figsize=(11, 2.7 * n_rows), squeeze=False)
    datasets = in_order(table["dataset"])
    for axis, name in zip(axes.flat, names, strict=False):
        for dataset in datasets:
            rows = table[(table["measure"] == name) & (table["dataset"] == dataset.name)]
            _draw_budget(axis, rows, colour(dataset.colour), dataset.dash)
        axis.set_title(MEASURES[name].title)
        axis.set_ylabel(MEASURES[name].unit)
        _vote_axis(axis, table["n_votes"])
        axis.set_xlabel("votes per item, k")
        if MEASURES[name].better == "lower":
            axis.set_ylim(bottom=0)
        else:
            axis.set_ylim(0, 1.03)
    for axis in axes.flat[len(names) :]:
        axis.axis("off")
    handles = [
        Line2D([], [], color=colour(dataset.colour), linestyle=dataset.dash, label=dataset.short)
        for dataset in datasets
    ]
    handles += [
        Line2D([], [], color=colour("text"), marker=".", label="perfect model,\njudged by k votes"),
        Line2D([], [], color=colour("text"), marker="o", markersize=7, linewidth=0,
               markerfacecolor="none", label="k votes,\njudged by the truth"),
    ]  # fmt: skip
    axes.flat[len(names)].legend(handles=handles, loc="center left")
    return figure


def _draw_budget(axis: Axes, rows: pd.DataFrame, shade: str, dashes: str) -> None:
    floor = rows[rows["quantity"] == "floor"]
    axis.plot(
        floor["n_votes"], floor["value"], color=shade, linestyle=dashes, marker=".", linewidth=1.6
    )
    error = rows[rows["quantity"] == "error"]
    axis.plot(
        error["n_votes"], error["value"], color=shade, linestyle="", marker="o", markersize=7,
        markerfacecolor="none",
    )  # fmt: skip


def _looks(systems: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return a colour for each system, which no other has, and a marker."""
    names = list(dict.fromkeys(systems))
    hues = distinct_hues(len(names))
    return {
        name: {"color": colour(hue), "marker": marker}
        for name, hue, marker in zip(names, hues, cycle(_MARKERS), strict=False)
    }


def _vote_axis(axis: Axes, sizes: pd.Series) -> None:
    axis.set_xscale("log")
    shown = sorted(set(sizes))
    axis.set_xticks(shown, [f"{size}" for size in shown])
    axis.minorticks_off()


def plot_noise_ceiling(table: pd.DataFrame) -> Figure:
    """Draw systems' scores on each dataset beside floor, ceiling and uniform prediction.

    The table has one row for each ``dataset``, ``system`` and ``measure``: ``source``
    (``computed`` or ``published``), ``value``, ``low``, ``high``, ``floor``, ``ceiling``,
    ``uniform``.
    """
    datasets = in_order(table["dataset"])
    names = list(dict.fromkeys(table["measure"]))
    heights = [
        table.loc[table["dataset"] == dataset.name, "system"].nunique() + 1 for dataset in datasets
    ]
    looks = _looks(table["system"])
    figure, axes = plt.subplots(
        len(datasets), len(names), figsize=(4.6 * len(names), 0.9 + 0.34 * sum(heights)),
        squeeze=False, sharex="col", sharey="row", height_ratios=heights,
    )  # fmt: skip
    for row, dataset in enumerate(datasets):
        of_dataset = table[table["dataset"] == dataset.name]
        by_first = of_dataset[of_dataset["measure"] == names[0]].sort_values("value")
        order = list(dict.fromkeys([*by_first["system"], *of_dataset["system"]]))
        for axis, name in zip(axes[row], names, strict=True):
            _draw_scores(axis, of_dataset[of_dataset["measure"] == name], order, looks)
        axes[row, 0].set_yticks(range(len(order)), order)
        axes[row, 0].set_ylim(len(order) - 0.4, -0.6)
        axes[row, 0].set_title(dataset.short, loc="left")
    for axis, name in zip(axes[-1], names, strict=True):
        unit = f", {MEASURES[name].unit}" if MEASURES[name].unit else ""
        axis.set_xlabel(MEASURES[name].title + unit)
        axis.set_xlim(left=0)
    handles = [
        Line2D([], [], color=colour("muted"), linestyle=dashes, linewidth=1.4, label=_NAMES[name])
        for name, dashes in _REFERENCES.items()
    ]
    both: dict[str, Any] = {"color": colour("text"), "marker": "o", "linewidth": 0}
    handles += [
        Line2D([], [], label="computed here", **both),
        Line2D([], [], label="published", **both | _SOURCES["published"]),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure


def _draw_scores(
    axis: Axes, rows: pd.DataFrame, order: list[str], looks: dict[str, dict[str, str]]
) -> None:
    for name, dashes in _REFERENCES.items():
        # Systems that cover fewer items have references of their own: draw the widest cover's.
        widest = rows.loc[rows["n_items"].idxmax(), name]
        axis.axvline(widest, color=colour("muted"), linestyle=dashes, linewidth=1.4, zorder=1)
    for row in rows.to_dict("records"):
        place, look = order.index(row["system"]), looks[row["system"]]
        ends = [row["low"], row["high"]]
        axis.plot(ends, [place] * 2, color=look["color"], linewidth=2, solid_capstyle="butt")
        axis.plot(row["value"], place, **{"markersize": 5} | look | _SOURCES[row["source"]])


def plot_items_by_votes(table: pd.DataFrame) -> Figure:
    """Draw bias and standard error of systems' scores against the votes per item.

    The table is as `analyses.ceilings.items_by_votes` gives it, for one or more datasets and one
    budget.
    """
    figure, panels = dataset_panels(table["dataset"], panel=(4, 4.4))
    looks: dict[str, dict[str, Any]] = {
        name: look | {"markersize": 4.5, "linewidth": 1.2}
        for name, look in _looks(table["system"]).items()
    }
    items = table.groupby("n_votes")["n_items"].first()
    labels = []
    named = 0.0
    for k, n in items.items():
        near = float(str(k)) < _APART * named  # two as near as that cannot both name their items
        labels.append(f"{k}" if near else f"{k}\n{n:,}")
        named = named if near else float(str(k))
    for axis, dataset in panels:
        if axis is not panels[0][0]:
            axis.sharey(panels[0][0])
        for name, rows in table[table["dataset"] == dataset.name].groupby("system", sort=False):
            for quantity, (_, dashes) in _ERRORS.items():
                size = rows[quantity].abs()
                axis.plot(
                    rows["n_votes"], size.where(size > _TINY), linestyle=dashes, **looks[str(name)]
                )
        axis.set_yscale("log")
        _vote_axis(axis, table["n_votes"])
        axis.set_xticks(items.index, labels, fontsize=8)
        axis.set_title(dataset.short)
        axis.set_xlabel("votes per item\nitems that the budget buys")
    panels[0][0].set_ylabel("size of the error")
    handles = [Line2D([], [], label=name, **look) for name, look in looks.items()]
    handles += [
        Line2D([], [], color=colour("text"), linestyle=dashes, label=label)
        for label, dashes in _ERRORS.values()
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=5, fontsize=9)
    return figure
