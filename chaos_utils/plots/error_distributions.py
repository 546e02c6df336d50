"""Figures about errors item by item."""

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter

from chaos_utils.base.style import colour, distinct_hues
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.plots.panels import system_title

_KEYS = ["system", "origin", "temperature"]
_DASHES = ("-", "--", "-.", ":")
_MARKERS = ("^", "v", "s", "D")


def plot_error_distributions(table: pd.DataFrame) -> Figure:
    """Draw a histogram of item errors for each system, the first one's outline behind.

    The table has one row for each system and bin: ``system``, ``origin``, ``temperature``,
    ``bin_low``, ``bin_high``, ``n``, ``n_items``, ``mean``.
    """
    groups = list(table.groupby(_KEYS, sort=False))
    figure, axes = plt.subplots(
        len(groups),
        1,
        figsize=(6.8, 0.6 + 1.35 * len(groups)),
        sharex=True,
        sharey=True,
        squeeze=False,
    )
    first = groups[0][1]
    systems_first = sorted((keys for keys, _ in groups), key=lambda keys: keys[1] == "reference")
    hues = dict(zip(systems_first, distinct_hues(len(groups)), strict=True))
    for axis, (keys, rows) in zip(axes[:, 0], groups, strict=True):
        _stairs(axis, rows, fill=True, color=colour(hues[keys]), alpha=0.75)
        if axis is not axes[0, 0]:
            _stairs(axis, first, color=colour("text"), linewidth=1)
        mean = rows["mean"].iloc[0]
        axis.axvline(mean, color=colour("text"), linestyle="--", linewidth=1.2)
        axis.text(
            0.99,
            0.92,
            f"{system_title(*keys)}\nmean {mean:.3f}",
            transform=axis.transAxes,
            ha="right",
            va="top",
        )
        axis.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        axis.set(xlim=(0, 1))
    axes[-1, 0].set_xlabel("DistCE of an item, against all its votes")
    figure.supylabel("share of items", fontsize=10)
    return figure


def plot_error_views(table: pd.DataFrame) -> Figure:
    """Draw errors in three views: values on both sides, signed errors, absolute errors.

    Each row is a part (a class, a rank, entropy) of a dataset. In the first column what people
    give is filled; markers on the axis are means.

    The table has the rows of one view: ``dataset``, ``system``, ``origin``, ``temperature``,
    ``view``, ``part``, ``side`` (marginal, signed, absolute), ``bin_low``, ``bin_high``, ``n``,
    ``n_items``, ``mean``. What people give has the origin ``reference``.
    """
    rows = list(table.groupby(["dataset", "part"], sort=False))
    systems = table.loc[table["origin"] != "reference", _KEYS].drop_duplicates()
    series = list(systems.itertuples(index=False, name=None))
    is_entropy = table["view"].iloc[0] == "entropy"
    figure, axes = plt.subplots(
        len(rows),
        3,
        figsize=(9.2, 0.9 + (2.1 if is_entropy else 1.5) * len(rows)),
        sharex="col",
        squeeze=False,
    )
    for line, ((dataset, part), group) in zip(axes, rows, strict=True):
        _draw_views(line, group, series)
        name = get_dataset(dataset).short if is_entropy else f"{get_dataset(dataset).short}\n{part}"
        line[0].set_ylabel(name, fontweight="bold")
    what = "entropy (nats)" if is_entropy else "share of an item"
    for column, (title, label) in enumerate(
        [("marginal", what), ("signed", "model − people"), ("absolute", "|model − people|")]
    ):
        axes[0, column].set_title(title)
        axes[-1, column].set_xlabel(label)
    named: dict[str, Artist] = {}
    for axis in axes[:, 0]:
        handles, names = axis.get_legend_handles_labels()
        named |= dict(zip(names, handles, strict=True))
    figure.legend(
        list(named.values()), list(named), loc="outside upper center", ncols=min(len(named), 3)
    )
    _settle(figure)
    return figure


def _settle(figure: Figure) -> None:
    """Lay the figure out once: with many panels it takes long, and each format would do it."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


def _draw_views(
    line: Sequence[Axes], group: pd.DataFrame, series: Sequence[tuple[str, str, float]]
) -> None:
    hues = distinct_hues(len(series))
    for axis, side in zip(line, ("marginal", "signed", "absolute"), strict=True):
        of_side = group[group["side"] == side]
        for keys, rows in of_side.groupby(_KEYS, sort=False):
            if keys not in series:  # people
                _stairs(axis, rows, fill=True, color=colour("muted"), alpha=0.4, label=keys[0])
                _mark_mean(axis, rows, colour("muted"), "o")
                continue
            number = series.index(keys)
            look = {"color": colour(hues[number]), "linestyle": _DASHES[number % len(_DASHES)]}
            _stairs(axis, rows, linewidth=1.5, label=system_title(*keys), **look)
            _mark_mean(axis, rows, look["color"], _MARKERS[number % len(_MARKERS)])
        axis.set(xlim=(of_side["bin_low"].min(), of_side["bin_high"].max()))
        axis.set_ylim(bottom=0)
        axis.yaxis.set_major_locator(MaxNLocator(nbins=4, steps=[1, 2, 5, 10]))
        axis.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g}%"))
        if side == "signed":
            axis.axvline(0, color=colour("muted"), linewidth=0.8)


def _stairs(axis: Axes, rows: pd.DataFrame, **look: Any) -> None:
    """Draw the share of items in each bin."""
    edges = np.append(rows["bin_low"], rows["bin_high"].iloc[-1])
    axis.stairs(rows["n"] / rows["n_items"], edges, **look)


def _mark_mean(axis: Axes, rows: pd.DataFrame, shade: str, marker: str) -> None:
    axis.plot(
        rows["mean"].iloc[0], 0, marker=marker, markersize=6, color=shade, clip_on=False, zorder=3
    )
