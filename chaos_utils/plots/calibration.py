"""Figures about calibration to a majority label, and to people."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from chaos_utils.base.style import Hue, colour, distinct_hues, is_narrow, system_hues
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.plots.marks import key, stairs, write
from chaos_utils.plots.panels import panel_grid, row_panels, system_title

# The chosen temperatures that are marked, and how; the oracle ones lie in the curves' valleys.
_CHOICES = {
    "outside": ("o", "fitted outside ChaosNLI"),
    "fixed": ("s", "fixed at 2"),
    "cross_fitted": ("D", "cross-fitted to votes"),
}
_TARGETS = {
    "against the majority label": ("ece", "blue", "o"),
    "against vote shares": ("ece_votes", "accent", "D"),
}


def plot_reliability(table: pd.DataFrame) -> Figure:
    """Draw for each system the accuracy at each confidence, and the share of items there.

    A line leads from each bin's accuracy to its mean confidence, thicker where it holds more items:
    ECE is their total. The table is as `calibration.reliability` gives it.
    """
    systems = table.groupby(["system", "origin", "temperature"], sort=False)
    figure, axes = panel_grid(len(systems), columns=3, height=2.3, sharex=True, sharey=True)
    for axis, (names, rows) in zip(axes, systems, strict=True):
        filled = rows[rows["n"] > 0]
        share = filled["n"] / rows["n"].sum()
        middle = (filled["bin_low"] + filled["bin_high"]) / 2
        axis.bar(middle, share, width=0.094, color=colour("grid"))
        axis.plot([0, 1], [0, 1], color=colour("muted"), linestyle="--", linewidth=1)
        axis.vlines(
            filled["confidence"], filled["hits"], filled["confidence"], color=colour("accent"),
            linewidth=0.8 + 7 * share,
        )  # fmt: skip
        axis.scatter(
            filled["confidence"], filled["hits"], s=8 + 90 * share, color=colour("blue"),
            clip_on=False, zorder=3,
        )  # fmt: skip
        write(axis, f"ECE\n{rows['ece'].iloc[0]:.3f}", (0, 1), (4, -3), xycoords="axes fraction")
        axis.set(xlim=(0, 1), ylim=(0, 1), xlabel="confidence")
        axis.set_title(system_title(*names).replace(", ", ",\n", 1))
    key(figure, {
        "accuracy": {"hue": "blue", "marker": "o"},
        "gap to mean confidence": {"hue": "accent", "linestyle": "-", "linewidth": 2},
        "share of items": {"hue": "grid", "marker": "s", "markersize": 8},
    })  # fmt: skip
    return figure


def plot_distances(table: pd.DataFrame) -> Figure:
    """Draw histograms of DistCE over items, a panel for each system.

    Of a system's temperatures, the lowest is filled and the others are outlines. The table is as
    `calibration.distance_histogram` gives it.
    """
    systems = table.groupby(["system", "origin"], sort=False)
    figure, axes = panel_grid(len(systems), columns=2, height=2.4, sharex=True, sharey=True)
    for axis, ((name, _), of_system) in zip(axes, systems, strict=True):
        temperatures = of_system.groupby("temperature")
        hues: list[str | Hue] = ["muted", *distinct_hues(len(temperatures))[1:]]
        for place, ((temperature, rows), hue) in enumerate(zip(temperatures, hues, strict=True)):
            look: dict[str, Any] = {"linewidth": 1.6} if place else {"alpha": 0.45, "fill": True}
            stairs(axis, rows, rows["n"] / rows["n_items"], hue, **look)
            mean = rows["mean"].iloc[0]
            axis.axvline(mean, color=colour(hue), linestyle="--", linewidth=1.2)
            words = f"T = {temperature:g}: mean {mean:.3f}"
            look = {"xycoords": "axes fraction", "fontweight": "bold"}
            write(axis, words, (1, 1 - 0.11 * place), (-4, -4), hue, **look)
        axis.set(title=name, xlabel="DistCE of the item (total variation)", xlim=(0, 1))
        axis.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
        axis.yaxis.set_major_formatter("{x:.0%}")
        axis.grid(visible=False, axis="x")
    axes[0].set_ylim(bottom=0)  # once all are drawn: the panels share it
    figure.supylabel("share of items", fontsize=8.5)
    return figure


def plot_two_targets(table: pd.DataFrame) -> Figure:
    """Draw, for each model, ECE against the majority label and against vote shares.

    Seeds share a row: small marks, beside their means. References come first, then models by their
    error against the votes. The table is as `calibration.two_targets` gives it.
    """
    groups = sorted(
        table.groupby(["family", "origin", "temperature"], sort=False),
        key=lambda group: (group[0][1] != "reference", group[1]["ece_votes"].mean()),
    )
    figure, (axis,) = row_panels([[system_title(*names) for names, _ in groups]], row=0.3)
    for place, (_, rows) in enumerate(groups):
        means = rows[["ece", "ece_votes"]].mean()
        axis.hlines(place, means.min(), means.max(), color=colour("muted"), linewidth=1.2)
        for column, hue, marker in _TARGETS.values():
            look: dict[str, Any] = {"color": colour(hue), "marker": marker, "clip_on": False}
            axis.scatter(means[column], place, s=40, zorder=3, **look)
            if len(rows) > 1:
                axis.scatter(rows[column], [place] * len(rows), s=12, alpha=0.5, **look)
    axis.set_xlim(left=0)
    name = "ECE" if is_narrow() else "expected calibration error (ECE)"
    axis.set_xlabel(f"{name}, lower is better")
    key(figure, {name: {"hue": hue, "marker": marker}
                 for name, (_, hue, marker) in _TARGETS.items()})  # fmt: skip
    return figure


def plot_temperatures(table: pd.DataFrame) -> Figure:
    """Draw measures against temperature, with some chosen temperatures marked.

    Thin lines are seeds; a thick one, and the marks, are their means. The table is as
    `calibration.temperature_curves` gives it.
    """
    measures = list(dict.fromkeys(table["measure"]))
    families = table.groupby(["origin", "family"], sort=False)["system"].nunique()
    hues = dict(zip(families.index, system_hues([name for _, name in families.index]), strict=True))
    figure, axes = panel_grid(len(measures), columns=3, height=2.2, sharex=True)
    for axis, name in zip(axes, measures, strict=True):
        of_measure = table[table["measure"] == name].groupby(["origin", "family"], sort=False)
        for family, rows in of_measure:
            _draw_curves(axis, rows, hues[family])
        measure = MEASURES[name]
        axis.set_title(measure.title + (f" ({measure.unit})" if measure.unit else ""))
        axis.set_xscale("log", base=2)
        axis.set_ylim(bottom=0)
        axis.set_xticks([0.5, 1, 2, 4], ["0.5", "1", "2", "4"])
        axis.set_xlabel("temperature")
    figure.supylabel("lower is better", fontsize=8.5)
    lines = {
        f"{name}, {n_seeds} seeds" if n_seeds > 1 else name: {"hue": hue, "linestyle": "-"}
        for ((_, name), n_seeds), hue in zip(families.items(), hues.values(), strict=True)
    }
    key(figure, lines | {
        name: {"hue": "text", "marker": marker, "markerfacecolor": "none"}
        for choice, (marker, name) in _CHOICES.items() if choice in set(table["choice"])
    })  # fmt: skip
    return figure


def _draw_curves(axis: Axes, rows: pd.DataFrame, hue: Hue) -> None:
    shade = colour(hue)
    curves = rows[rows["choice"] == ""]
    seeds = curves.pivot_table(index="temperature", columns="system", values="value")
    if seeds.shape[1] > 1:
        axis.plot(seeds, color=shade, linewidth=0.7, alpha=0.6)
    axis.plot(seeds.mean(axis=1), color=shade, linewidth=1.8)
    for choice, (marker, _) in _CHOICES.items():
        chosen = rows.loc[rows["choice"] == choice, ["temperature", "value"]].mean()
        axis.scatter(
            chosen["temperature"], chosen["value"], marker=marker, s=34, zorder=3, color=shade,
            edgecolor=colour("text"), linewidths=0.8,
        )  # fmt: skip
