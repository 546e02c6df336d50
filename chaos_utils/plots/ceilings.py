"""Figures about how many votes are enough, and how low an error can go."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chaos_utils.base.style import SYSTEM_NAMES, Hue
from chaos_utils.datasets.catalogue import in_order
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.plots.marks import key, line, logarithmic, system_hues, write
from chaos_utils.plots.panels import dataset_panels, label_left, panel_grid

_NOT_DRAWN = ("kl",)  # its curve is that of JSD on another scale
_GUESSES = {"uniform guess": "muted", "old label": "text"}  # with their colours
# The parts of a total error: name, dashes, and the index of the point that bears the name.
_PARTS = {"bias": ("bias", "--", -1), "standard_error": ("standard error", ":", 0)}
_TINY = 1e-6  # rounding, on a logarithmic axis


def plot_annotation_budget(table: pd.DataFrame) -> Figure:
    """Draw the perfect model's score against the votes per item, for each measure but KL.

    Open circles are the error of the votes as an estimate of the truth, where the two differ.
    The table is as `analyses.ceilings.annotation_budget` gives it, for one or more datasets.
    """
    names = [name for name in dict.fromkeys(table["measure"]) if name not in _NOT_DRAWN]
    figure, axes = panel_grid(len(names), columns=3, height=2.1)
    datasets = in_order(table["dataset"])
    looks = {
        dataset.short: {"hue": dataset.colour, "linestyle": dataset.dash} for dataset in datasets
    }
    hollow: dict[str, Any] = {"marker": "o", "markersize": 5, "markerfacecolor": "none",
                              "linestyle": ""}  # fmt: skip
    for axis, name in zip(axes, names, strict=True):
        measure, measure_rows = MEASURES[name], table[table["measure"] == name]
        for dataset in datasets:
            rows = measure_rows[measure_rows["dataset"] == dataset.name]
            wide = rows.pivot(index="n_votes", columns="quantity", values="value").reset_index()
            look: dict[str, Any] = {"marker": ".", "markersize": 6, "linestyle": dataset.dash}
            line(axis, wide, "n_votes", "perfect_model", "", dataset.colour, **look)
            if "error" in wide and not np.allclose(wide["error"], wide["perfect_model"]):
                line(axis, wide, "n_votes", "error", "", dataset.colour, **hollow)
        unit = f"{measure.unit}, " if measure.unit else ""
        axis.set(title=measure.title, ylabel=f"{unit}{measure.better} is better")
        axis.set_xlabel("votes per item")
        logarithmic(axis, table["n_votes"])
        axis.set_ylim(bottom=0, top=1.03 if measure.better == "higher" else None)
    key(figure, looks | {"k votes as the prediction": {"hue": "text", **hollow}})
    return figure


def plot_items_by_votes(table: pd.DataFrame) -> Figure:
    """Draw the total error of a few systems' scores against the votes per item, for one budget.

    The systems are the table's first and last model, the old label and the uniform guess. Thin
    lines are the two parts of the first system's error. The table is as
    `analyses.ceilings.items_by_votes` gives it, for one or more datasets.
    """
    figure, panels = dataset_panels(table, height=2.9, sharey=True)
    systems = list(dict.fromkeys(table["system"]))
    models = [name for name in systems if name not in _GUESSES]
    ends = list(dict.fromkeys([*models[:1], *models[-1:]]))
    shades: dict[str, str | Hue] = dict(zip(ends, system_hues(ends), strict=True))
    shades |= {name: shade for name, shade in _GUESSES.items() if name in systems}
    items = table.groupby("n_votes")["n_items"].first()
    for axis, _, rows in panels:
        present = [name for name in shades if (rows["system"] == name).any()]
        for name in present:
            system_rows = rows[rows["system"] == name]
            *_, shade = line(
                axis, system_rows, "n_votes", "total_error", name, shades[name], marker=""
            )
            lowest = system_rows.loc[system_rows["total_error"].idxmin()]
            axis.plot(lowest["n_votes"], lowest["total_error"], "o", markersize=4.5, color=shade)
            if name == present[0]:
                _draw_parts(axis, system_rows, shades[name])
        axis.set_yscale("log")
        axis.margins(y=0.12)  # for the names below the lines
        ticks = logarithmic(axis, table["n_votes"])
        axis.set_xticks(ticks, [f"{n_votes:g}\n{items[n_votes]:,}" for n_votes in ticks])
        axis.set_xlabel("votes per item\nitems that the budget buys")
    label_left((axis for axis, *_ in panels), "error of the mean JSD,\nlower is better")
    look = {"linestyle": "-", "linewidth": 1.6}
    key(figure, {str(SYSTEM_NAMES.get(name, name)): look | {"hue": shade}
                 for name, shade in shades.items()})  # fmt: skip
    return figure


def _draw_parts(axis: Axes, rows: pd.DataFrame, hue: str | Hue) -> None:
    """Draw bias and standard error, each with its name where its line is away from the others."""
    for part, (name, dashes, index) in _PARTS.items():
        points = rows[rows[part].abs() > _TINY].sort_values("n_votes")
        points = points.assign(size=points[part].abs())
        if len(points):
            look: dict[str, Any] = {"marker": "", "linestyle": dashes, "linewidth": 1}
            line(axis, points, "n_votes", "size", name, hue, **look)
            point = points["n_votes"].iloc[index], points["size"].iloc[index]
            write(axis, name, point, (-1, -5) if index == -1 else (1, 5), hue)
