"""Figures on why people disagree: by reason, and once a sentence is disambiguated."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from chaos_utils.base.style import Hue, colour, is_narrow, system_hues, width
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.plots.panels import label_lines, panel_grid

_PEOPLE = "people"
_KINDS = {
    "meaning": "meaning is uncertain",
    "guidelines": "guidelines leave it open",
    "annotators": "habits of annotators",
    "": "",
}
_FEW = 20  # items, below which a mark is hollow
_ROW = 0.16  # inches
_MARKERS = ("o", "s", "^", "D", "v")
_Series = tuple[str, pd.DataFrame, Hue | None]  # its name, its rows, its colour
_SHOWN = {"as written": "text", "a reading": "blue", "a distractor": "muted"}


def plot_reasons(table: pd.DataFrame) -> Figure:
    """Draw how people disagree, and how far systems are from them, by reason.

    Reasons stand in their groups, the highest entropy first. The table is that of
    `analyses.why.reasons`, on one dataset.
    """
    people = table[table["holder"] == _PEOPLE]
    rows = _rows(people[people["quantity"] == "entropy"])
    places = {row["reason"]: height for height, row in enumerate(rows) if "mean" in row}
    dataset = get_dataset(str(table["dataset"].iloc[0]))
    families = [name for name in dict.fromkeys(table["holder"]) if name != _PEOPLE]
    hues = dict(zip(families, system_hues(families), strict=True))
    middle = next((label for label in dataset.labels if label == "neutral"), dataset.labels[0])
    labels: list[_Series] = [
        (name, people[people["quantity"] == name], one.colour)
        for name, one in zip(dataset.labels, dataset.classes, strict=True)
    ]
    systems = table[table["holder"] != _PEOPLE]
    far, above = (
        [(name, some[some["holder"] == name], hues[name]) for name in families]
        for some in (systems[systems["quantity"] == what] for what in ("jsd", middle))
    )
    entropy: list[_Series] = [("", people[people["quantity"] == "entropy"], None)]
    panels: list[tuple[str, str, list[_Series]]] = [
        ("Disagreement", "entropy of the votes, bits", entropy),
        ("Votes by label", "share of the votes", labels),
        ("Models’ distance", "JSD (√nats), lower is better", far),
        (f"Models’ {middle}", f"share of {middle} minus people’s", above),
    ]
    panels = [panel for panel in panels if panel[2]]
    columns = 1 if is_narrow() else 2
    n_rows = -(-len(panels) // columns)
    figure, axes = plt.subplots(
        n_rows, columns, figsize=(width(), n_rows * (_ROW * len(rows) + 0.85)), squeeze=False,
        sharey=True, layout="constrained",
    )  # fmt: skip
    for axis, (title, label, series) in zip(axes.flat, panels, strict=False):
        _draw(axis, series, places)
        if series is labels:
            axis.legend(
                loc="lower right", bbox_to_anchor=(1.02, 0.985), ncols=len(series), fontsize=7.5,
                frameon=False, handletextpad=0, columnspacing=0.6, borderpad=0,
            )  # fmt: skip
        axis.set_title(title, loc="left", pad=16)
        axis.set_xlabel(label)
        axis.tick_params(axis="y", length=0)
        axis.grid(visible=False, axis="y")
    for unused in axes.flat[len(panels) :]:
        unused.set_visible(False)
    for axis in axes[:, 0]:
        _name(axis, rows)
    axes.flat[len(panels) - 1].axvline(0, color=colour("muted"), linewidth=0.8, zorder=0)
    if families:
        handles = axes.flat[len(panels) - 1].get_legend_handles_labels()[0]
        figure.legend(
            handles=handles, loc="outside lower right", ncols=1 if is_narrow() else 3, frameon=False
        )
    return figure


def _rows(entropies: pd.DataFrame) -> list[dict[str, Any]]:
    """Return what stands on the vertical axis from the top: each group's heading, its reasons."""
    found: list[dict[str, Any]] = []
    for kind, heading in _KINDS.items():
        some = entropies[entropies["kind"] == kind].sort_values("mean", ascending=False)
        if len(some):
            found.append({"reason": heading})
        found += some.to_dict("records")
    return found


def _name(axis: Axes, rows: list[dict[str, Any]]) -> None:
    names = [row["reason"] + (f" ({row['n_items']})" if "mean" in row else "") for row in rows]
    axis.set_yticks(range(len(rows)), names, fontsize=7 if is_narrow() else 7.5)
    axis.set_ylim(len(rows) - 0.4, -0.6)
    for row, text in zip(rows, axis.get_yticklabels(), strict=True):
        if "mean" not in row:
            text.set_fontweight("bold")


def _draw(axis: Axes, series: list[_Series], places: dict[str, int]) -> None:
    """Draw the means of each series with their intervals."""
    step = 0.26 if len(series) > 1 else 0
    for number, (name, rows, hue) in enumerate(series):
        shade = colour(hue or "text")
        marker = _MARKERS[number % len(_MARKERS)]
        heights = [places[r] + step * (number - (len(series) - 1) / 2) for r in rows["reason"]]
        axis.hlines(heights, rows["low"], rows["high"], color=shade, linewidth=1.1)
        for height, mean, n_items in zip(heights, rows["mean"], rows["n_items"], strict=True):
            inside = "none" if n_items < _FEW else shade
            axis.plot(mean, height, marker, color=shade, markersize=3.6, markerfacecolor=inside)
        axis.plot([], [], marker, color=shade, markersize=4, label=name)
        if not name:
            overall = rows["overall"].iloc[0]
            axis.axvline(overall, color=colour("muted"), linestyle=":", linewidth=1, zorder=0)
            axis.annotate(
                "mean of the ten", (overall, 1), (0, 2), xycoords=("data", "axes fraction"),
                textcoords="offset points", ha="center", fontsize=7.5, color=colour("muted"),
            )  # fmt: skip


def plot_readings(table: pd.DataFrame) -> Figure:
    """Draw how large majorities are for pairs as written, and on each of their readings.

    The table is that of `analyses.why.readings`.
    """
    figure, (axis,) = panel_grid(1, columns=1, height=2.6)
    ends = []
    axis.set_ylim(0, 1.12 * table["share"].max())
    axis.set_xlim(table["majority"].min() - 0.3, table["majority"].max() + 0.15)
    for shown, rows in table.groupby("shown", sort=False):
        role = _SHOWN[str(shown)]
        axis.plot(rows["majority"], rows["share"], color=colour(role), marker="o", markersize=4,
                  linewidth=1.8)  # fmt: skip
        last = rows.iloc[-1]
        ends.append((last["majority"], last["share"], str(shown), colour(role)))
    label_lines(axis, ends, height=1.9)
    n_votes = int(table["n_votes"].iloc[0])
    axis.set_xticks(np.unique(table["majority"]))
    axis.set_xlabel(f"votes for the majority label, of {n_votes}")
    axis.set_ylabel("share of pairs")
    axis.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    return figure
