"""Figures about errors item by item."""

import math
from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter

from chaos_utils.base.style import colour
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.plots.panels import system_title

_BINS = 30
_VIEW_BINS = 25  # with 100 votes per item, four shares fall into each bin
_KEYS = ["system", "origin", "temperature"]
_DIGITS = 10  # errors are rounded so far before binning, or equal ones part at an edge
# Colour, dashes and marker of each series; a fifth begins again.
_LOOKS = (
    ("accent", "-", "^"),
    ("text", "--", "v"),
    ("green", "-.", "s"),
    ("purple", ":", "D"),
)
_SAMPLE_LOOKS = {"H1": "blue", "H2": "green"}


def plot_error_distributions(table: pd.DataFrame) -> Figure:
    """Draw a histogram of item errors for each system, the first one's outline behind.

    Parameters
    ----------
    table : DataFrame
        One row for each item and system: ``system``, ``origin``, ``temperature``, ``dist_ce``.
    """
    groups = list(table.groupby(_KEYS, sort=False)["dist_ce"])
    figure, axes = plt.subplots(
        len(groups),
        1,
        figsize=(6.8, 0.6 + 1.35 * len(groups)),
        sharex=True,
        sharey=True,
        squeeze=False,
    )
    edges = np.linspace(0, 1, _BINS + 1)
    first = _shares(groups[0][1], edges)
    for axis, (keys, errors) in zip(axes[:, 0], groups, strict=True):
        axis.stairs(
            _shares(errors, edges),
            edges,
            fill=True,
            color=colour(_SAMPLE_LOOKS.get(keys[0], "accent")),
            alpha=0.75,
        )
        if axis is not axes[0, 0]:
            axis.stairs(first, edges, color=colour("text"), linewidth=1)
        mean = errors.mean()
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

    Each row is a part (a class, a rank, entropy) of a dataset. In the first column what
    people give is filled; markers on the axis are means.

    Parameters
    ----------
    table : DataFrame
        Rows of one view of `evaluation.errors.error_views`.
    """
    rows = list(table.groupby(["dataset", "part"], sort=False))
    series = list(table[_KEYS].drop_duplicates().itertuples(index=False, name=None))
    is_entropy = table["view"].iloc[0] == "entropy"
    figure, axes = plt.subplots(
        len(rows),
        3,
        figsize=(9.2, 0.9 + (2.1 if is_entropy else 1.5) * len(rows)),
        sharex="col",
        squeeze=False,
    )
    for line, ((dataset, part), group) in zip(axes, rows, strict=True):
        _draw_views(
            line, group, series, limit=math.log(get_dataset(dataset).n_classes) if is_entropy else 1
        )
        name = get_dataset(dataset).short if is_entropy else f"{get_dataset(dataset).short}\n{part}"
        line[0].set_ylabel(name, fontweight="bold")
    what = "entropy (nats)" if is_entropy else "share of an item"
    for column, (title, label) in enumerate(
        [("marginal", what), ("signed", "model − people"), ("absolute", "|model − people|")]
    ):
        axes[0, column].set_title(title)
        axes[-1, column].set_xlabel(label)
    handles, names = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=min(len(names), 3))
    _settle(figure)
    return figure


def _settle(figure: Figure) -> None:
    """Lay the figure out once: with many panels it takes long, and each format would do it."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


def _draw_views(
    line: Sequence[Axes],
    group: pd.DataFrame,
    series: Sequence[tuple[str, str, float]],
    limit: float,
) -> None:
    marginal, signed, absolute = line
    edges = np.linspace(0, limit, _VIEW_BINS + 1)
    two_sided = np.linspace(-limit, limit, 2 * _VIEW_BINS)  # an odd number: one bin is around 0
    people = group.drop_duplicates("uid")["human"]
    marginal.stairs(
        _shares(people, edges), edges, fill=True, color=colour("muted"), alpha=0.4, label="people"
    )
    _mark_mean(marginal, people, "muted", "o")
    for number, keys in enumerate(series):
        of_series = group[(group[_KEYS] == keys).all(axis=1)]
        if of_series.empty:
            continue  # this system does not predict the dataset
        shade, dashes, marker = _LOOKS[number % len(_LOOKS)]
        columns = (
            (marginal, of_series["model"], edges),
            (signed, of_series["error"], two_sided),
            (absolute, of_series["error"].abs(), edges),
        )
        for axis, values, bins in columns:
            axis.stairs(
                _shares(values, bins),
                bins,
                color=colour(shade),
                linestyle=dashes,
                linewidth=1.5,
                label=system_title(*keys) if axis is marginal else None,
            )
            _mark_mean(axis, values, shade, marker)
    signed.axvline(0, color=colour("muted"), linewidth=0.8)
    for axis, low in ((marginal, 0), (signed, -limit), (absolute, 0)):
        axis.set(xlim=(low, limit))
        axis.set_ylim(bottom=0)
        axis.yaxis.set_major_locator(MaxNLocator(nbins=4, steps=[1, 2, 5, 10]))
        axis.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g}%"))


def _mark_mean(axis: Axes, values: pd.Series, shade: str, marker: str) -> None:
    axis.plot(
        values.mean(), 0, marker=marker, markersize=6, color=colour(shade), clip_on=False, zorder=3
    )


def _shares(values: pd.Series, edges: np.ndarray) -> np.ndarray:
    """Return the share of the values in each bin."""
    counts = np.histogram(values.round(_DIGITS), edges.round(_DIGITS))[0]
    return counts / len(values)
