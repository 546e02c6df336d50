"""The figures of maps that are fitted on votes."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from chaos_utils.base.style import Hue, colour, is_narrow, width
from chaos_utils.datasets.catalogue import in_order
from chaos_utils.plots.panels import dataset_panels

# From the top; what a method knows of an item has one mark.
_GROUPS = {
    "no votes": ("text; no votes seen", "D"),
    "text": ("text; fitted on votes", "o"),
    "old label": ("old label too; fitted on votes", "s"),
}
_LINES = ("perfect model", "second crowd")
_ROW = 0.155  # inches
_PAD = 0.12  # inches; at a high resolution long labels are a little wider than was laid out
_APART = 0.055  # labels of lines, in heights of a panel
_TICKS = (50, 200, 1000)
_AXES = {
    "jsd": "JSD (distance, √nats), lower is better",
    "sq_distance": "squared distance to people, lower is better",
    "kl": "KL (nats), lower is better",
}


def plot_fitting(table: pd.DataFrame) -> Figure:
    """Draw the distance of each method, nearest first within what it knows of an item.

    The table has one row for each ``dataset``, ``group`` (no votes, text, old label, reference) and
    ``label``: ``distance``, ``distance_low``, ``distance_high``, the measure ``by`` (of `_AXES`),
    and ``map``, which for references says which.
    """
    shown = in_order(table["dataset"])
    rows = [_rows(table[table["dataset"] == dataset.name]) for dataset in shown]
    heights = [_ROW * (len(some) + 1) + 0.35 for some in rows]
    is_one = table["by"].nunique() == 1
    figure, axes = plt.subplots(
        len(shown), 1, figsize=(width(), sum(heights) + 0.2), squeeze=False, sharex=is_one,
        height_ratios=heights, layout="constrained",
    )  # fmt: skip
    figure.get_layout_engine().set(w_pad=_PAD)  # type: ignore[union-attr, call-arg]
    for axis, dataset, some in zip(axes[:, 0], shown, rows, strict=True):
        _draw(axis, some, dataset.colour)
        references = table[(table["dataset"] == dataset.name) & table["map"].isin(_LINES)]
        for name, value in zip(references["map"], references["distance"], strict=True):
            _line(axis, name, value)
        axis.set_title(dataset.title, loc="left")
        if not is_one or axis is axes[-1, 0]:
            by = table.loc[table["dataset"] == dataset.name, "by"].iloc[0]
            axis.set_xlim(left=min(0, *axis.get_xlim()))
            axis.set_xlabel(_AXES[by], loc="right")
    return figure


def _rows(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Return what stands in a panel from the top: each group's heading, then its methods."""
    found: list[dict[str, Any]] = []
    for group, (heading, _) in _GROUPS.items():
        some = rows[rows["group"] == group].sort_values("distance", kind="stable")
        if len(some):
            found.append({"label": heading, "group": group})
            found += some.to_dict("records")
    return found


def _draw(axis: Axes, rows: list[dict[str, Any]], hue: Hue) -> None:
    size = 7 if is_narrow() else 7.5
    axis.set_yticks(range(len(rows)), [row["label"] for row in rows], fontsize=size)
    for height, (row, text) in enumerate(zip(rows, axis.get_yticklabels(), strict=True)):
        if "distance" not in row:
            text.set_fontweight("bold")
            continue
        marker = _GROUPS[row["group"]][1]
        shade = colour("muted") if row["group"] == "no votes" else colour(hue)
        ends = [row["distance_low"], row["distance_high"]]
        axis.plot(ends, [height] * 2, color=shade, linewidth=1.6)
        hollow = row["map"] == "published"
        axis.plot(
            row["distance"], height, marker=marker, markersize=4.5, linestyle="", color=shade,
            markerfacecolor="none" if hollow else shade,
        )  # fmt: skip
    axis.set_ylim(len(rows) - 0.3, -0.8)
    axis.tick_params(axis="y", length=0)
    axis.grid(visible=False, axis="y")


def _line(axis: Axes, name: str, value: float) -> None:
    if np.isnan(value):
        return
    axis.axvline(value, color=colour("muted"), linestyle=":", linewidth=1.2, zorder=1)
    left = name == "perfect model" and value > _APART * axis.get_xlim()[1]
    axis.annotate(
        name, (value, 0), (-2 if left else 3, 5), xycoords=("data", "axes fraction"),
        textcoords="offset points", rotation=90, va="bottom", ha="right" if left else "left",
        fontsize=7 if is_narrow() else 7.5, color=colour("muted"),
    )  # fmt: skip


def plot_fitting_curve(table: pd.DataFrame) -> Figure:
    """Draw a distance by how many items a map was fitted on, a line for each number of votes.

    The table has one row for each ``dataset``, ``n_fitted`` and ``n_votes``: ``distance``, and the
    measure ``by``.
    """
    figure, panels = dataset_panels(table["dataset"], height=3.0)
    for axis, dataset in panels:
        rows = table[table["dataset"] == dataset.name]
        alike = table.loc[table["by"] == rows["by"].iloc[0], "distance"]
        low, high = alike.min(), alike.max()
        room = 0.06 * (high - low) or 0.01
        axis.set(xscale="log", xlabel="labelled items (log scale)", ylim=(low - room, high + room))
        _draw_lines(axis, rows, dataset.colour)
        sizes = sorted(rows["n_fitted"].unique())
        ticks = [n for n in sizes if n in _TICKS] or sizes
        axis.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
        axis.xaxis.set_minor_locator(NullLocator())
        axis.set_xlim(left=sizes[0] / 3)
        axis.set_ylabel(_AXES[rows["by"].iloc[0]])
    return figure


def _draw_lines(axis: Axes, rows: pd.DataFrame, hue: Hue) -> None:
    """Draw a line for each number of votes, the most votes boldest, with its label at its left."""
    lines = [line.sort_values("n_fitted") for _, line in rows.groupby("n_votes")]
    low, high = axis.get_ylim()
    spot = -np.inf
    starts = sorted(lines, key=lambda line: float(line["distance"].iloc[0]))
    for line in starts:
        n_votes = int(line["n_votes"].iloc[0])
        share = n_votes / rows["n_votes"].max()
        axis.plot(
            line["n_fitted"], line["distance"], color=colour(hue), marker="o", markersize=3,
            linewidth=1 + share, alpha=0.45 + 0.55 * share,
        )  # fmt: skip
        first = line.iloc[0]
        spot = max(float(first["distance"]), spot + _APART * (high - low))
        axis.annotate(
            f"{n_votes} vote{'s' * (n_votes > 1)}", (first["n_fitted"], spot), (-6, 0),
            ha="right", va="center", textcoords="offset points", fontsize=7.5,
        )  # fmt: skip
