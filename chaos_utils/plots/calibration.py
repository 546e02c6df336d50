"""Figures about calibration to a majority label, and to people."""

from collections.abc import Iterator
from typing import Literal

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import ScalarFormatter

from chaos_utils.base.style import colour
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.plots.panels import system_title

CHOICES = {
    "none": "as it is",
    "fixed": "fixed",
    "oracle_nll": "oracle, by NLL",
    "oracle_ece": "oracle, by ECE",
    "outside": "items outside ChaosNLI",
    "cross_fitted": "cross-fitted to votes",
}
# Marker and colour of each chosen temperature.
_MARKS = {
    "fixed": ("s", "text"),
    "oracle_nll": ("^", "purple"),
    "oracle_ece": ("v", "pink"),
    "outside": ("o", "accent"),
    "cross_fitted": ("D", "green"),
}
_Dashes = Literal["-", "--", ":", "-."]
_DASHES: tuple[_Dashes, ...] = ("-", "--", ":", "-.")


def _systems(table: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each system's title and rows, in the table's order."""
    for keys, rows in table.groupby(["system", "origin", "temperature"], sort=False):
        yield system_title(*keys), rows


def plot_reliability(table: pd.DataFrame) -> Figure:
    """Draw a reliability diagram for each system, and below it how many items each bin holds.

    Bars are accuracy; a hatched piece leads from a bar to the bin's mean confidence. The table is
    as `calibration.reliability` gives it.
    """
    systems = list(_systems(table))
    figure, axes = plt.subplots(
        2, len(systems), figsize=(3.1 * len(systems), 4.4), squeeze=False, sharex=True,
        sharey="row", height_ratios=[3, 1.2],
    )  # fmt: skip
    for column, (title, rows) in enumerate(systems):
        _draw_reliability(axes[0, column], rows)
        below = axes[1, column]
        middle = (rows["bin_low"] + rows["bin_high"]) / 2
        below.bar(middle, rows["n"], width=0.096, color=colour("muted"))
        below.set(xlabel="confidence")
        axes[0, column].set_title(title.replace(", ", ",\n", 1))
    axes[0, 0].set_ylabel("accuracy")
    axes[1, 0].set_ylabel("items")
    return figure


def _draw_reliability(axis: Axes, rows: pd.DataFrame) -> None:
    filled = rows[rows["n"] > 0]
    middle = (filled["bin_low"] + filled["bin_high"]) / 2
    axis.bar(middle, filled["hits"], width=0.096, color=colour("blue"), alpha=0.85)
    gaps = filled["confidence"] - filled["hits"]
    axis.bar(
        middle, gaps, width=0.096, bottom=filled["hits"], color="none", hatch="////",
        edgecolor=colour("accent"), linewidth=0.8,
    )  # fmt: skip
    axis.plot([0, 1], [0, 1], color=colour("text"), linestyle="--", linewidth=1.2)
    axis.text(0.04, 0.95, f"ECE\n{rows['ece'].iloc[0]:.3f}", transform=axis.transAxes, va="top")
    axis.set(xlim=(0, 1), ylim=(0, 1))


def plot_distances(table: pd.DataFrame) -> Figure:
    """Draw histograms of DistCE over items: a row per system, a column per temperature.

    The table is as `calibration.distance_histogram` gives it.
    """
    systems = list(dict.fromkeys(zip(table["system"], table["origin"], strict=True)))
    temperatures = sorted(set(table["temperature"]))
    figure, axes = plt.subplots(
        len(systems), len(temperatures), figsize=(3.9 * len(temperatures), 2.9 * len(systems)),
        squeeze=False, sharex=True, sharey="row",
    )  # fmt: skip
    for i, (system, origin) in enumerate(systems):
        for j, temperature in enumerate(temperatures):
            axis = axes[i, j]
            here = (table["system"] == system) & (table["temperature"] == temperature)
            _draw_histogram(axis, table[here])
            axis.set_title(system_title(system, origin, temperature))
            axis.set(xlim=(0, 1), ylabel="items" if j == 0 else "")
            axis.grid(visible=False, axis="x")
        axes[i, 0].set_ylim(top=axes[i, 0].get_ylim()[1] * 1.1)
    for axis in axes[-1]:
        axis.set_xlabel("DistCE of the item")
    return figure


def _draw_histogram(axis: Axes, rows: pd.DataFrame) -> None:
    axis.bar(
        rows["bin_low"], rows["n"], width=rows["bin_high"] - rows["bin_low"], align="edge",
        color=colour("blue"), alpha=0.85, edgecolor="none",
    )  # fmt: skip
    for mean in rows["mean"].head(1):
        axis.axvline(mean, color=colour("text"), linestyle="--", linewidth=1.4)
        axis.annotate(
            f"mean {mean:.3f}", (mean, 0.97), xycoords=("data", "axes fraction"),
            xytext=(5, 0), textcoords="offset points", va="top",
        )  # fmt: skip


def plot_two_targets(table: pd.DataFrame) -> Figure:
    """Draw, for each system, ECE against the majority label and against vote shares.

    The table is as `calibration.two_targets` gives it.
    """
    titles = [system_title(row.system, row.origin, row.temperature) for row in table.itertuples()]
    places = np.arange(len(table))[::-1]
    figure, axis = plt.subplots(figsize=(7, 1.3 + 0.36 * len(table)))
    axis.hlines(places, table["ece"], table["ece_votes"], color=colour("muted"), linewidth=1.2)
    axis.scatter(
        table["ece"], places, marker="o", s=60, color=colour("blue"), zorder=3,
        label="against the majority label",
    )  # fmt: skip
    axis.scatter(
        table["ece_votes"], places, marker="D", s=46, facecolor="none", linewidths=1.8,
        edgecolor=colour("accent"), zorder=3, label="against vote shares",
    )  # fmt: skip
    axis.set_yticks(places, titles)
    axis.set(xlabel="expected calibration error")
    axis.set_xlim(left=-0.008)
    axis.grid(visible=False, axis="y")
    axis.legend(loc="lower center", bbox_to_anchor=(0.4, 1), ncols=2)
    return figure


def plot_temperatures(table: pd.DataFrame) -> Figure:
    """Draw measures against temperature, with the chosen temperatures marked on the curves.

    The table is as `calibration.temperature_curves` gives it.
    """
    measures = list(dict.fromkeys(table["measure"]))
    figure, axes = plt.subplots(2, 3, figsize=(10.2, 6.2), sharex=True)
    *panels, corner = axes.flat
    for axis, name in zip(panels, measures, strict=True):
        of_measure = table[table["measure"] == name]
        for number, (_, rows) in enumerate(of_measure.groupby("system", sort=False)):
            _draw_curve(axis, rows, *_look(number))
        measure = MEASURES[name]
        axis.set_title(measure.title)
        axis.set_xscale("log", base=2)
        axis.set(xlabel="temperature", ylabel=measure.unit)
        axis.set_ylim(bottom=0)
        axis.xaxis.set_major_formatter(ScalarFormatter())
        axis.tick_params(labelbottom=True)
    _draw_key(corner, table)
    return figure


def _look(number: int) -> tuple[str, _Dashes]:
    """Return colour and dashes of a curve, different for the first twelve."""
    shade = ("blue", "amber", "muted")[number // len(_DASHES) % 3]
    return colour(shade), _DASHES[number % len(_DASHES)]


def _draw_curve(axis: Axes, rows: pd.DataFrame, shade: str, dashes: _Dashes) -> None:
    curve = rows[rows["choice"] == ""]
    axis.plot(curve["temperature"], curve["value"], color=shade, linestyle=dashes, linewidth=1.4)
    for choice, (marker, mark_shade) in _MARKS.items():
        chosen = rows[rows["choice"] == choice]
        axis.scatter(
            chosen["temperature"], chosen["value"], marker=marker, s=42, zorder=3,
            facecolor="none", edgecolor=colour(mark_shade), linewidths=1.6,
        )  # fmt: skip


def _draw_key(axis: Axes, table: pd.DataFrame) -> None:
    axis.axis("off")
    handles = []
    for number, system in enumerate(dict.fromkeys(table["system"])):
        shade, dashes = _look(number)
        handles.append(Line2D([], [], color=shade, linestyle=dashes, label=system))
    for choice, (marker, shade) in _MARKS.items():
        if choice in set(table["choice"]):
            handles.append(
                Line2D([], [], marker=marker, linestyle="none", markersize=7, markeredgewidth=1.6,
                       markerfacecolor="none", markeredgecolor=colour(shade),
                       label=CHOICES[choice])
            )  # fmt: skip
    axis.legend(handles=handles, loc="center")
