"""Figures of training: its course, and how scores grow with it."""

import math
from collections.abc import Mapping
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator, PercentFormatter

from chaos_utils.base.style import colour, is_narrow
from chaos_utils.datasets.catalogue import get_dataset, title_of
from chaos_utils.datasets.tasks import tasks
from chaos_utils.plots.panels import panel_grid

_Look = tuple[str, Any]  # colour, dashes
_HUES = ("blue", "amber", "pink", "green", "purple", "accent", "text")
_DASHES: tuple[Any, ...] = ("-", "--", "-.", (0, (5, 1)), (0, (3, 1, 1, 1)), ":")
# Of bins, from much agreement to little.
_BIN_HUES = ("blue", "green", "amber", "pink", "purple")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
_SMOOTHED = 0.08  # of a run: how much of the loss is averaged


def plot_training_curves(table: pd.DataFrame) -> Figure:
    """Draw training loss and accuracy on development items against items seen.

    The table has one row for each ``task`` (``nli``, ``alphanli``), ``run``, ``fold`` and point:
    ``label`` (of the run; those with one label look alike), ``measure`` (``loss`` in nats,
    ``dev_accuracy``), ``items``, ``value``. Losses are drawn smoothed, over the raw ones in grey.
    """
    shown = [task for name, task in tasks().items() if name in set(table["task"])]
    figure, axes = panel_grid(2 * len(shown), columns=2, height=2.5)
    labels = dict.fromkeys(table["label"])
    looks = dict(zip(labels, zip(cycle(_HUES), cycle(_DASHES), strict=False), strict=False))
    for k, task in enumerate(shown):
        pair = axes[2 * k : 2 * k + 2]
        of_task, n_labels = table[table["task"] == task.name], len(task.labels)
        for _, run in of_task.groupby("run", sort=False):
            _draw_run(pair, run, looks[run["label"].iloc[0]])
        title = " + ".join(get_dataset(name).short for name in task.datasets)
        for axis, guess in zip(pair, (math.log(n_labels), 1 / n_labels), strict=True):
            axis.axhline(guess, color=colour("muted"), linestyle=":", linewidth=1.2)
            axis.annotate(
                "even guess", (1, guess), xycoords=axis.get_yaxis_transform(), xytext=(-2, 3),
                textcoords="offset points", ha="right", color=colour("muted"), fontsize=7.5,
            )  # fmt: skip
            axis.set(xscale="log", xlabel="training items seen", title=title)
        pair[0].set_ylabel("training loss (nats)")
        pair[0].set_ylim(bottom=0)
        pair[1].set_ylabel("development accuracy")
        pair[1].yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        pair[1].margins(y=0.12)
    if len(looks) > 1:
        _name_runs(figure, looks)
    return figure


def _draw_run(axes: Any, rows: pd.DataFrame, look: _Look) -> None:
    hue, dashes = look
    for axis, measure in zip(axes, ("loss", "dev_accuracy"), strict=True):
        for _, fold in rows[rows["measure"] == measure].groupby("fold"):
            values = fold["value"]
            if measure == "loss":
                axis.plot(fold["items"], values, color=colour("grid"), linewidth=0.7, zorder=1.5)
                window = max(round(_SMOOTHED * len(values)), 1)
                values = values.rolling(window, center=True, min_periods=1).mean()
            single = len(values) == 1
            axis.plot(
                fold["items"], values, color=colour(hue), linestyle=dashes, linewidth=1.6,
                marker="o" if single else "", markersize=4,
            )  # fmt: skip


def _name_runs(figure: Figure, looks: Mapping[str, _Look]) -> None:
    """Name the lines above all panels."""
    handles = [
        Line2D([], [], color=colour(hue), linestyle=dashes, linewidth=2)
        for hue, dashes in looks.values()
    ]
    figure.legend(
        handles, looks, loc="outside upper center", ncols=2 if is_narrow() else 5,
        title="training items of the run", title_fontsize=8, columnspacing=1.2,
    )  # fmt: skip


def plot_training_size(table: pd.DataFrame) -> Figure:
    """Draw accuracy and distance in each entropy bin against the number of training items.

    The table has one row for each ``dataset`` (or several joined by ``+``), ``items``, ``bin``
    (from 1) and ``measure`` (``new_accuracy``, ``jsd``): ``value``, ``low``, ``high``, ``chance``.
    """
    groups = list(table["dataset"].unique())
    figure, axes = panel_grid(2 * len(groups), columns=2, height=2.5)
    for k, group in enumerate(groups):
        of_group = table[table["dataset"] == group]
        pair = axes[2 * k : 2 * k + 2]
        for axis, measure in zip(pair, ("new_accuracy", "jsd"), strict=True):
            _draw_bins(axis, of_group[of_group["measure"] == measure])
            axis.set(xscale="log", xlabel="training items", title=title_of(group))
            _name_sizes(axis, sorted(of_group["items"].unique()))
        pair[0].set_ylabel("new accuracy (higher is better)")
        pair[0].yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        pair[1].set_ylabel("JSD, √nats (lower is better)")
    _name_bins(figure, sorted(table["bin"].unique()))
    return figure


def _name_sizes(axis: Axes, sizes: list[int]) -> None:
    """Put the sizes of runs on an axis, without those that would touch the next larger one."""
    kept = [n for n, larger in zip(sizes, [*sizes[1:], math.inf], strict=True) if larger > 1.8 * n]
    axis.xaxis.set_major_locator(FixedLocator(kept))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.set_xticklabels([f"{n:,}" for n in kept], fontsize=7.5)


def _draw_bins(axis: Axes, table: pd.DataFrame) -> None:
    looks = zip(cycle(_BIN_HUES), cycle(_MARKERS), cycle(_DASHES), strict=False)
    for (_, rows), (hue, marker, dashes) in zip(table.groupby("bin"), looks, strict=False):
        rows = rows.sort_values("items")
        last = rows.iloc[-1]
        axis.errorbar(
            rows["items"],
            rows["value"],
            # Percentile ends lie on their sides of the value but for rounding.
            yerr=np.maximum([rows["value"] - rows["low"], rows["high"] - rows["value"]], 0),
            color=colour(hue),
            marker=marker,
            markersize=4,
            linestyle=dashes,
            linewidth=1.5,
            elinewidth=0.8,
        )
        # Chance is another in each bin: its mark stands beyond the last point.
        axis.plot(
            1.04, last["chance"], transform=axis.get_yaxis_transform(), color=colour(hue),
            marker=marker, markersize=5, markerfacecolor="none", linestyle="", clip_on=False,
        )  # fmt: skip


def _name_bins(figure: Figure, bins: list[int]) -> None:
    """Explain the looks above all panels."""
    names = {bins[0]: f"bin {bins[0]} (people agree most)"}
    names |= {b: f"bin {b}" for b in bins[1:-1]}
    names |= {b: f"bin {b} (least)" for b in bins[-1:] if b != bins[0]}
    looks = zip(cycle(_BIN_HUES), cycle(_MARKERS), cycle(_DASHES), strict=False)
    handles = [
        Line2D([], [], color=colour(hue), marker=marker, markersize=4, linestyle=dashes)
        for _, (hue, marker, dashes) in zip(bins, looks, strict=False)
    ]
    chance = Line2D(
        [], [], color=colour("text"), marker="o", markersize=5, markerfacecolor="none", linestyle=""
    )
    figure.legend(
        [*handles, chance], [*(names[b] for b in bins), "hollow: a guess"],
        loc="outside upper center", ncols=2 if is_narrow() else len(bins) + 1, handlelength=2.6,
        columnspacing=1.2,
    )  # fmt: skip
