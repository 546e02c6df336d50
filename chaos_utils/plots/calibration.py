"""Figures about calibration to a majority label, and to people."""

from collections.abc import Iterator, Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, PercentFormatter

from chaos_utils.base.style import Hue, colour, distinct_hues, is_narrow, system_hues, width
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.plots.panels import panel_grid, system_title

# The chosen temperatures that are marked, and how; the oracle ones lie in the curves' valleys.
_MARKS = {
    "outside": ("o", "fitted outside ChaosNLI"),
    "fixed": ("s", "fixed at 2"),
    "cross_fitted": ("D", "cross-fitted to votes"),
}
_FAMILY = ["origin", "family", "temperature"]


def plot_reliability(table: pd.DataFrame) -> Figure:
    """Draw for each system the accuracy at each confidence, and the share of items there.

    A line leads from each bin's accuracy to its mean confidence, thicker where it holds more items:
    ECE is their total. The table is as `calibration.reliability` gives it.
    """
    systems = list(_systems(table))
    figure, axes = panel_grid(len(systems), columns=3, height=2.3, sharex=True, sharey=True)
    for axis, (title, rows) in zip(axes, systems, strict=True):
        _draw_reliability(axis, rows)
        axis.set_title(title.replace(", ", ",\n", 1))
        _label_below(axis, "confidence")
    figure.legend(
        handles=[
            Line2D([], [], marker="o", linestyle="none", color=colour("blue"), label="accuracy"),
            Line2D([], [], color=colour("accent"), linewidth=2, label="gap to mean confidence"),
            Patch(color=colour("grid"), label="share of items"),
        ],
        loc="outside upper center",
        ncols=2 if is_narrow() else 3,
    )
    return figure


def _systems(table: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each system's title and rows, in the table's order."""
    for keys, rows in table.groupby(["system", "origin", "temperature"], sort=False):
        yield system_title(*keys), rows


def _label_below(axis: Axes, label: str) -> None:
    """Label a panel's horizontal axis, also where panels below share it or none are there."""
    axis.set_xlabel(label)
    axis.tick_params(labelbottom=True)


def _draw_reliability(axis: Axes, rows: pd.DataFrame) -> None:
    filled = rows[rows["n"] > 0]
    share = filled["n"] / rows["n"].sum()
    middle = (filled["bin_low"] + filled["bin_high"]) / 2
    axis.bar(middle, share, width=0.094, color=colour("grid"))
    axis.plot([0, 1], [0, 1], color=colour("muted"), linestyle="--", linewidth=1)
    axis.vlines(
        filled["confidence"], filled["hits"], filled["confidence"],
        color=colour("accent"), linewidth=0.8 + 7 * share,
    )  # fmt: skip
    axis.scatter(
        filled["confidence"], filled["hits"], s=8 + 90 * share, color=colour("blue"),
        clip_on=False, zorder=3,
    )  # fmt: skip
    axis.text(0.04, 0.97, f"ECE\n{rows['ece'].iloc[0]:.3f}", transform=axis.transAxes, va="top")
    axis.set(xlim=(0, 1), ylim=(0, 1))


def plot_distances(table: pd.DataFrame) -> Figure:
    """Draw histograms of DistCE over items, a panel for each system.

    Of a system's temperatures, the lowest is filled and the others are outlines. The table is as
    `calibration.distance_histogram` gives it.
    """
    systems = [
        (name, [group for _, group in rows.groupby("temperature")])
        for (name, _), rows in table.groupby(["system", "origin"], sort=False)
    ]
    figure, axes = panel_grid(len(systems), columns=2, height=2.4, sharex=True, sharey=True)
    for axis, (name, groups) in zip(axes, systems, strict=True):
        hues = [colour("muted"), *(colour(hue) for hue in distinct_hues(len(groups))[1:])]
        for place, (rows, shade) in enumerate(zip(groups, hues, strict=True)):
            _draw_distances(axis, rows, shade, filled=place == 0)
            mean, temperature = rows["mean"].iloc[0], rows["temperature"].iloc[0]
            axis.text(
                0.98, 0.95 - 0.11 * place, f"T = {temperature:g}: mean {mean:.3f}",
                transform=axis.transAxes, ha="right", va="top", color=shade, fontweight="bold",
            )  # fmt: skip
        axis.set_title(name)
        axis.set(xlim=(0, 1))
        axis.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
        axis.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        axis.grid(visible=False, axis="x")
        _label_below(axis, "DistCE of the item (total variation)")
    axes[0].set_ylim(bottom=0)  # once all are drawn: the panels share it
    figure.supylabel("share of items", fontsize=8.5)
    return figure


def _draw_distances(axis: Axes, rows: pd.DataFrame, shade: str, *, filled: bool) -> None:
    edges = np.append(rows["bin_low"], rows["bin_high"].iloc[-1])
    look: dict[str, Any] = {"alpha": 0.35, "fill": True} if filled else {"linewidth": 1.6}
    axis.stairs(rows["n"] / rows["n_items"], edges, color=shade, **look)
    axis.axvline(rows["mean"].iloc[0], color=shade, linestyle="--", linewidth=1.2)


def plot_two_targets(table: pd.DataFrame) -> Figure:
    """Draw, for each model, ECE against the majority label and against vote shares.

    Seeds share a row: small marks, beside their means. References come first, then models by their
    error against the votes. The table is as `calibration.two_targets` gives it.
    """
    groups = sorted(
        table.groupby(_FAMILY, sort=False),
        key=lambda group: (group[0][0] != "reference", group[1]["ece_votes"].mean()),
    )
    figure, axis = plt.subplots(figsize=(width(), 1.0 + 0.34 * len(groups)))
    looks = {"ece": (colour("blue"), "o"), "ece_votes": (colour("accent"), "D")}
    for place, (_, rows) in enumerate(groups):
        means = rows[[*looks]].mean()
        axis.hlines(place, means.min(), means.max(), color=colour("muted"), linewidth=1.2)
        for name, (shade, marker) in looks.items():
            look: dict[str, Any] = {"marker": marker, "color": shade, "clip_on": False, "zorder": 3}
            axis.scatter(means[name], place, s=40, **look)
            if len(rows) > 1:
                axis.scatter(rows[name], [place] * len(rows), s=12, alpha=0.5, **look)
    axis.set_yticks(range(len(groups)), [_family_title(*keys) for keys, _ in groups])
    axis.set_ylim(len(groups) - 0.5, -0.5)
    axis.set_xlim(left=0)
    name = "ECE" if is_narrow() else "expected calibration error (ECE)"
    axis.set_xlabel(f"{name}, lower is better")
    axis.grid(visible=False, axis="y")
    labels = {"ece": "against the majority label", "ece_votes": "against vote shares"}
    handles = [
        Line2D([], [], marker=marker, linestyle="none", color=shade, label=labels[name])
        for name, (shade, marker) in looks.items()
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=2, columnspacing=1)
    return figure


def _family_title(origin: str, family: str, temperature: float) -> str:
    return system_title(family, origin, temperature)


def plot_temperatures(table: pd.DataFrame) -> Figure:
    """Draw measures against temperature, with some chosen temperatures marked.

    Thin lines are seeds; a thick one, and the marks, are their means. The table is as
    `calibration.temperature_curves` gives it.
    """
    measures = list(dict.fromkeys(table["measure"]))
    families = list(dict.fromkeys(zip(table["origin"], table["family"], strict=True)))
    names = [family for _, family in families]
    hues = dict(zip(families, system_hues(names), strict=True))
    spare = 0 if is_narrow() else 1  # a place for the key, which stands above in one column
    figure, panels = panel_grid(len(measures) + spare, columns=3, height=2.2, sharex=True)
    if spare:
        panels.pop().set_axis_off()
    for axis, name in zip(panels, measures, strict=True):
        of_measure = table[table["measure"] == name]
        for family, rows in of_measure.groupby(["origin", "family"], sort=False):
            _draw_curves(axis, rows, colour(hues[family]))
        measure = MEASURES[name]
        axis.set_title(measure.title + (f" ({measure.unit})" if measure.unit else ""))
        axis.set_xscale("log", base=2)
        axis.set_ylim(bottom=0)
        axis.set_xticks([0.5, 1, 2, 4], ["0.5", "1", "2", "4"])
        _label_below(axis, "temperature")
    figure.supylabel("lower is better", fontsize=8.5)
    key = _key(table, hues)
    if spare:
        figure.axes[-1].legend(handles=key, loc="center", borderpad=0, handlelength=1.5)
    else:
        figure.legend(handles=key, loc="outside upper center")
    return figure


def _draw_curves(axis: Axes, rows: pd.DataFrame, shade: str) -> None:
    curves = rows[rows["choice"] == ""]
    seeds = curves.pivot_table(index="temperature", columns="system", values="value")
    if seeds.shape[1] > 1:
        axis.plot(seeds.index, seeds.to_numpy(), color=shade, linewidth=0.7, alpha=0.6)
    axis.plot(seeds.index, seeds.mean(axis=1), color=shade, linewidth=1.8)
    for choice, (marker, _) in _MARKS.items():
        chosen = rows.loc[rows["choice"] == choice, ["temperature", "value"]].mean()
        axis.scatter(
            chosen["temperature"], chosen["value"], marker=marker, s=34, zorder=3, color=shade,
            edgecolor=colour("text"), linewidths=0.8,
        )  # fmt: skip


def _key(table: pd.DataFrame, hues: Mapping[tuple[str, str], Hue]) -> list[Line2D]:
    handles = []
    for (origin, family), hue in hues.items():
        of_family = (table["origin"] == origin) & (table["family"] == family)
        n_seeds = table.loc[of_family, "system"].nunique()
        label = f"{family}, {n_seeds} seeds" if n_seeds > 1 else family
        handles.append(Line2D([], [], color=colour(hue), linewidth=1.8, label=label))
    for choice, (marker, label) in _MARKS.items():
        if choice in set(table["choice"]):
            handles.append(
                Line2D([], [], marker=marker, linestyle="none", markersize=6, label=label,
                       markerfacecolor="none", markeredgecolor=colour("text"))
            )  # fmt: skip
    return handles
