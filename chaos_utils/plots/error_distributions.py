"""Figures about errors item by item."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter

from chaos_utils.base.style import colour, is_narrow, system_hues
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.plots.panels import panel_grid, system_title

_KEYS = ["system", "origin", "temperature"]
_MARKERS = ("^", "v", "s", "D")
# What is drawn of each view; its table has more sides.
_SIDES = {"class": ["marginal"], "rank": ["signed"], "entropy": ["marginal", "signed"]}


def plot_error_distributions(table: pd.DataFrame) -> Figure:
    """Draw a histogram of item errors for each system, the first sample's outline behind.

    People come first, then systems by their mean error. The table has one row for each system and
    bin: ``system``, ``origin``, ``temperature``, ``bin_low``, ``bin_high``, ``n``, ``n_items``,
    ``mean``.
    """
    groups = list(table.groupby(_KEYS, sort=False))
    systems_first = sorted((keys for keys, _ in groups), key=lambda keys: keys[1] == "reference")
    names = [keys[0] for keys in systems_first]
    hues = dict(zip(systems_first, system_hues(names), strict=True))
    first = groups[0][1]
    people = [group for group in groups if group[0][1] == "reference"]
    others = [group for group in groups if group[0][1] != "reference"]
    groups = people + sorted(others, key=lambda group: group[1]["mean"].iloc[0])
    figure, axes = panel_grid(len(groups), columns=1, height=1.15, sharex=True, sharey=True)
    for axis, (keys, rows) in zip(axes, groups, strict=True):
        _stairs(axis, rows, fill=True, color=colour(hues[keys]), alpha=0.75)
        if rows is not first:
            _stairs(axis, first, color=colour("text"), linewidth=1)
        mean = rows["mean"].iloc[0]
        axis.axvline(mean, color=colour("text"), linestyle="--", linewidth=1)
        axis.text(
            0.99,
            0.94,
            f"{system_title(*keys)}\nmean {mean:.3f}",
            transform=axis.transAxes,
            ha="right",
            va="top",
        )
        axis.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        axis.set(xlim=(0, 1))
    axes[-1].set_xlabel("DistCE of the item (total variation), lower is better")
    figure.supylabel("share of items", fontsize=8.5)
    return figure


def plot_error_views(table: pd.DataFrame) -> Figure:
    """Draw one view of errors, a panel for each dataset and class, rank or side.

    Classes: what people (filled) and systems give. Ranks: signed errors. Entropy: both. Marks on
    the axis are means.

    The table has the rows of one view: ``dataset``, ``system``, ``origin``, ``temperature``,
    ``view``, ``part``, ``side`` (marginal, signed, absolute), ``bin_low``, ``bin_high``, ``n``,
    ``n_items``, ``mean``. What people give has the origin ``reference``.
    """
    view = table["view"].iloc[0]
    systems = table.loc[table["origin"] != "reference", _KEYS].drop_duplicates()
    series = list(systems.itertuples(index=False, name=None))
    drawn = list(_panels(table, view))
    columns = sum(dataset == drawn[0][0] for dataset, *_ in drawn)
    figure, axes = panel_grid(len(drawn), columns=columns, height=2.0)
    for axis, (dataset, part, side, rows) in zip(axes, drawn, strict=True):
        _draw_view(axis, rows, series)
        short = get_dataset(dataset).short
        axis.set_title(f"{short}: {part if side == _SIDES[view][0] else 'error'}")
        axis.set_xlabel(_label(view, side))
        if side == "signed":
            axis.axvline(0, color=colour("muted"), linewidth=0.8)
    named: dict[str, Artist] = {}
    for axis in axes:
        handles, names = axis.get_legend_handles_labels()
        named |= dict(zip(names, handles, strict=True))
    figure.legend(
        list(named.values()),
        list(named),
        loc="outside upper center",
        ncols=1 if is_narrow() else min(len(named), 3),
    )
    figure.supylabel("share of items", fontsize=8.5)
    _settle(figure)
    return figure


def _panels(table: pd.DataFrame, view: str) -> Iterator[tuple[str, str, str, pd.DataFrame]]:
    for (dataset, part), rows in table.groupby(["dataset", "part"], sort=False):
        name = f"{part} label" if view == "rank" else part
        for side in _SIDES[view]:
            yield dataset, name, side, rows[rows["side"] == side]


def _label(view: str, side: str) -> str:
    if view == "entropy":
        return "nats" if side == "marginal" else "model − people, nats"
    return "share of the votes, or probability" if side == "marginal" else "model − people"


def _settle(figure: Figure) -> None:
    """Lay the figure out once: with many panels it takes long, and each format would do it."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


def _draw_view(axis: Axes, table: pd.DataFrame, series: Sequence[tuple[str, str, float]]) -> None:
    hues = system_hues([name for name, *_ in series])
    for keys, rows in table.groupby(_KEYS, sort=False):
        if keys not in series:  # people
            _stairs(axis, rows, fill=True, color=colour("muted"), alpha=0.4, label=keys[0])
            _mark_mean(axis, rows, colour("muted"), "o")
            continue
        number = series.index(keys)
        shade = colour(hues[number])
        _stairs(axis, rows, linewidth=1.4, label=system_title(*keys), color=shade)
        _mark_mean(axis, rows, shade, _MARKERS[number % len(_MARKERS)])
    axis.set(xlim=(table["bin_low"].min(), table["bin_high"].max()))
    axis.set_ylim(bottom=0)
    axis.xaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10]))
    axis.yaxis.set_major_locator(MaxNLocator(nbins=4, steps=[1, 2, 5, 10]))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g}%"))


def _stairs(axis: Axes, rows: pd.DataFrame, **look: Any) -> None:
    """Draw the share of items in each bin."""
    edges = np.append(rows["bin_low"], rows["bin_high"].iloc[-1])
    axis.stairs(rows["n"] / rows["n_items"], edges, **look)


def _mark_mean(axis: Axes, rows: pd.DataFrame, shade: str, marker: str) -> None:
    axis.plot(
        rows["mean"].iloc[0], 0, marker=marker, markersize=5.5, color=shade, clip_on=False, zorder=3
    )
