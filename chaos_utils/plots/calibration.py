"""Figures about calibration to a majority label, and to people."""

from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chaos_utils.base.style import Hue, colour, is_narrow
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.plots.marks import histogram, key, system_hues, write
from chaos_utils.plots.panels import panel_grid, row_panels
from chaos_utils.plots.systems import SYSTEM_NAMES, system_title

# How temperatures are chosen: marker and name. The oracle's need no mark: the curves' minima.
_MARKED_CHOICES = {
    "outside": ("o", "fitted outside ChaosNLI"),
    "fixed": ("s", "fixed at 2"),
    "cross_fitted": ("D", "cross-fitted to votes"),
}
_TARGETS = {  # the column, its marker, and whether the mark is hollow
    "against the majority label": ("ece", "o", False),
    "against vote shares": ("ece_votes", "D", True),
}


def plot_reliability(table: pd.DataFrame) -> Figure:
    """Draw for each system the accuracy at each confidence, and the share of items there.

    A line leads from each bin's accuracy to its mean confidence, thicker where the bin holds
    more items: ECE is the lines' mean length, weighted by items. The first model is drawn at
    temperature 2, too. The table is as `calibration.reliability` gives it, with any temperatures.
    """
    is_first = table["family"] == table["family"].iloc[0]
    table = table[(table["temperature"] == 1) | (is_first & (table["temperature"] == 2))]
    systems = table.groupby(["system", "origin", "temperature"], sort=False)
    figure, axes = panel_grid(len(systems), columns=3, height=2.3, sharex=True, sharey=True)
    for axis, (names, rows) in zip(axes, systems, strict=True):
        share = rows["n"] / rows["n"].sum()
        bars: dict[str, Any] = {"element": "bars", "fill": True, "alpha": 1, "shrink": 0.94}
        histogram(axis, rows, share, "grid", **bars)
        axis.plot([0, 1], [0, 1], color=colour("muted"), linestyle="--", linewidth=1)
        x, hits = rows["confidence"], rows["hits"]
        axis.vlines(x, hits, x, color=colour("accent"), linewidth=0.8 + 7 * share)
        axis.scatter(x, hits, s=8 + 90 * share, color=colour("blue"), clip_on=False, zorder=3)
        write(axis, f"ECE\n{rows['ece'].iloc[0]:.3f}", (0, 1), (4, -3), xycoords="axes fraction")
        axis.set(xlim=(0, 1), ylim=(0, 1), xlabel="confidence")
        axis.set_title(system_title(*names).replace(", ", ",\n", 1))
    key(figure, {
        "accuracy": {"hue": "blue", "marker": "o"},
        "gap to mean confidence": {"hue": "accent", "linestyle": "-", "linewidth": 2},
        "share of items": {"hue": "grid", "marker": "s", "markersize": 8},
    })  # fmt: skip
    return figure


def plot_two_targets(table: pd.DataFrame) -> Figure:
    """Draw, for each model, ECE against the majority label and against vote shares.

    Seeds share a row: small marks for seeds, large ones for their means. References come first,
    then models by their error against the votes. The table is as `calibration.human_calibration`
    gives it.
    """
    groups = sorted(
        table.groupby(["family", "origin", "temperature"], sort=False),
        key=lambda group: (group[0][1] != "reference", group[1]["ece_votes"].mean()),
    )
    figure, (axis,) = row_panels([[system_title(*names) for names, _ in groups]], row=0.3)
    for y, (_, rows) in enumerate(groups):
        means = rows[["ece", "ece_votes"]].mean()
        axis.hlines(y, means.min(), means.max(), color=colour("muted"), linewidth=1.2)
        for column, marker, hollow in _TARGETS.values():
            look: dict[str, Any] = {"marker": marker, "clip_on": False}
            axis.scatter(
                means[column], y, s=40, zorder=3, edgecolors=colour("text"),
                facecolors="none" if hollow else colour("text"), **look,
            )  # fmt: skip
            if len(rows) > 1:
                axis.scatter(rows[column], [y] * len(rows), s=12, color=colour("muted"), **look)
    axis.set_xlim(left=-0.008)
    measure = "ECE" if is_narrow() else "expected calibration error (ECE)"
    axis.set_xlabel(f"{measure}, lower is better")
    key(figure, {
        name: {"hue": "text", "marker": marker, "fillstyle": "none" if hollow else "full"}
        for name, (_, marker, hollow) in _TARGETS.items()
    })  # fmt: skip
    return figure


def plot_temperatures(table: pd.DataFrame) -> Figure:
    """Draw measures against temperature, with some chosen temperatures marked.

    Thin lines are seeds; thick lines and marks are means over the seeds of a family. The table is
    as `calibration.temperature_curves` gives it.
    """
    measures = table["measure"].unique()
    families = list(table.groupby(["origin", "family"], sort=False))
    hues = system_hues([family for (_, family), _ in families])
    figure, axes = panel_grid(len(measures), columns=3, height=2.2, sharex=True)
    for axis, measure in zip(axes, measures, strict=True):
        for (_, rows), hue in zip(families, hues, strict=True):
            _draw_curves(axis, rows[rows["measure"] == measure], hue)
        unit = MEASURES[measure].unit
        axis.set(title=MEASURES[measure].title + f" ({unit})" * bool(unit), xlabel="temperature")
        axis.set_ylabel("")
        axis.set_xscale("log", base=2)
        axis.set_xticks([0.5, 1, 2, 4], ["0.5", "1", "2", "4"])
        axis.set_ylim(bottom=0)
    figure.supylabel("lower is better")
    lines = {}
    for ((_, family), rows), hue in zip(families, hues, strict=True):
        n_seeds = rows["system"].nunique()
        name = SYSTEM_NAMES.get(family, family) + f", {n_seeds} seeds (thin)" * (n_seeds > 1)
        lines[name] = {"hue": hue, "linestyle": "-"}
    key(figure, lines | {
        name: {"hue": "text", "marker": marker, "markerfacecolor": "none"}
        for choice, (marker, name) in _MARKED_CHOICES.items() if choice in set(table["choice"])
    })  # fmt: skip
    return figure


def _draw_curves(axis: Axes, rows: pd.DataFrame, hue: Hue) -> None:
    """Draw one family: a curve per seed, their mean, and marks at the chosen temperatures."""
    curves = rows[rows["choice"] == ""]
    point: dict[str, Any] = {"x": "temperature", "y": "value", "color": colour(hue), "ax": axis}
    sns.lineplot(curves, **point, units="system", estimator=None, linewidth=0.7, alpha=0.6)
    sns.lineplot(curves, **point, estimator="mean", errorbar=None, linewidth=1.8)
    choices = rows[rows["choice"].isin(_MARKED_CHOICES)].groupby("choice", as_index=False)
    sns.scatterplot(
        choices[["temperature", "value"]].mean(), **point, style="choice", s=34, zorder=3,
        markers={choice: marker for choice, (marker, _) in _MARKED_CHOICES.items()},
        edgecolor=colour("text"), linewidth=0.8, legend=False,
    )  # fmt: skip
