"""Figures of training: its course, and how scores grow with it."""

import math
from itertools import cycle
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator, PercentFormatter

from chaos_utils.base.style import colour
from chaos_utils.datasets.catalogue import get_dataset, title_of
from chaos_utils.datasets.tasks import tasks

_HUES = ("blue", "pink", "green", "amber", "purple", "text", "muted")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
_DASHES: tuple[Any, ...] = ("-", "--", "-.", (0, (5, 1)), (0, (3, 1, 1, 1)))
_BIN_HUES = ("blue", "green", "amber", "pink", "purple")
_LEGEND: dict[str, Any] = {
    "loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "fontsize": 8.5, "handlelength": 3.2,
}  # fmt: skip


def plot_training_curves(table: pd.DataFrame) -> Figure:
    """Draw training loss and accuracy on development items against items seen.

    The table has one row for each ``task`` (``nli``, ``alphanli``), ``run``, ``fold`` and point:
    ``system``, ``measure`` (``loss`` in nats, ``dev_accuracy``), ``items``, ``value``.
    """
    shown = [task for name, task in tasks().items() if name in set(table["task"])]
    figure, grid = plt.subplots(
        len(shown), 2, figsize=(9.6, 3.1 * len(shown) + 0.2), squeeze=False, sharex="row"
    )
    for axes, task in zip(grid, shown, strict=True):
        of_task, k = table[table["task"] == task.name], len(task.labels)
        title = " + ".join(get_dataset(name).short for name in task.datasets)
        looks = zip(cycle(_HUES), cycle(_MARKERS), cycle(_DASHES), strict=False)
        for (_, runs), look in zip(of_task.groupby("run", sort=False), looks, strict=False):
            _draw_run(axes, runs, look)
        for axis, guess in zip(axes, (math.log(k), 1 / k), strict=True):
            axis.axhline(guess, color=colour("muted"), linestyle=":", linewidth=1.2,
                         label="even guess")  # fmt: skip
            axis.set(xscale="log", xlabel="training items seen")
        axes[0].set(ylabel="training loss (nats)", title=title)
        axes[0].set_ylim(bottom=0)
        axes[1].set(ylabel="accuracy on development items", title=title)
        axes[1].yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        axes[1].legend(**_LEGEND)
    return figure


def _draw_run(axes: Any, rows: pd.DataFrame, look: tuple[str, str, Any]) -> None:
    hue, marker, dashes = look
    for axis, measure in zip(axes, ("loss", "dev_accuracy"), strict=True):
        label = rows["system"].iloc[0]
        for _, fold in rows[rows["measure"] == measure].groupby("fold"):
            axis.plot(
                fold["items"], fold["value"], color=colour(hue), linestyle=dashes, linewidth=1.3,
                marker=marker, markersize=4.5, label=label,
                markevery=0.2 if measure == "loss" else 1,
            )  # fmt: skip
            label = None  # the other folds look the same


def plot_training_size(table: pd.DataFrame) -> Figure:
    """Draw accuracy and distance in each entropy bin against the number of training items.

    The table has one row for each ``dataset`` (or several joined by ``+``), ``items``, ``bin``
    (from 1) and ``measure`` (``new_accuracy``, ``jsd``): ``entropy_low_bits``,
    ``entropy_high_bits``, ``n``, ``value``, ``low``, ``high``, ``chance``.
    """
    return _plot_growth(table, "training items", ticks=True)


def plot_training_trajectory(table: pd.DataFrame) -> Figure:
    """Draw accuracy and distance in each entropy bin against the items that a run has seen.

    The table is as for `plot_training_size`.
    """
    return _plot_growth(table, "training items seen", ticks=False)


def _plot_growth(table: pd.DataFrame, heading: str, *, ticks: bool) -> Figure:
    groups = list(table["dataset"].unique())
    figure, grid = plt.subplots(
        len(groups), 2, figsize=(9.6, 3.2 * len(groups) + 0.2), squeeze=False
    )
    for axes, group in zip(grid, groups, strict=True):
        of_group = table[table["dataset"] == group]
        for axis, measure in zip(axes, ("new_accuracy", "jsd"), strict=True):
            _draw_bins(axis, of_group[of_group["measure"] == measure])
            axis.set(xscale="log", xlabel=heading, title=title_of(group))
            if ticks:
                sizes = sorted(of_group["items"].unique())
                axis.xaxis.set_major_locator(FixedLocator(sizes))
                axis.xaxis.set_minor_locator(NullLocator())
                axis.xaxis.set_minor_formatter(NullFormatter())
                axis.set_xticklabels([f"{n:,}" for n in sizes], rotation=90, fontsize=8)
        axes[0].set_ylabel("accuracy on the new majority")
        axes[0].yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        axes[1].set_ylabel("JSD (distance, √nats)")
        axes[1].legend(title="entropy (bits), items", title_fontsize=8.5, **_LEGEND)
    return figure


def _draw_bins(axis: Axes, table: pd.DataFrame) -> None:
    looks = zip(cycle(_BIN_HUES), cycle(_MARKERS), cycle(_DASHES), strict=False)
    for (_, rows), (hue, marker, dashes) in zip(table.groupby("bin"), looks, strict=False):
        rows = rows.sort_values("items")
        last = rows.iloc[-1]
        span = f"{last['entropy_low_bits']:.2f}–{last['entropy_high_bits']:.2f}"
        axis.errorbar(
            rows["items"],
            rows["value"],
            # Percentile ends lie on their sides of the value but for rounding.
            yerr=np.maximum([rows["value"] - rows["low"], rows["high"] - rows["value"]], 0),
            color=colour(hue),
            marker=marker,
            markersize=5,
            linestyle=dashes,
            linewidth=1.7,
            elinewidth=0.9,
            label=f"{span}, {last['n']:,}",
        )
        # Chance is another in each bin: its mark stands at the right edge, and a line leads there.
        axis.axhline(last["chance"], color=colour(hue), linestyle=":", linewidth=1, zorder=1)
        axis.plot(
            1, last["chance"], transform=axis.get_yaxis_transform(), color=colour(hue),
            marker=marker, markersize=6, markerfacecolor="none", linestyle="", clip_on=False,
        )  # fmt: skip
