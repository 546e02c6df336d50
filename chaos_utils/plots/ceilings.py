"""Figures about how many votes are enough, and how low an error can go."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from chaos_utils.base.style import Hue, colour
from chaos_utils.datasets.catalogue import in_order
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.plots.marks import key, label_lines, line, logarithmic, system_hues, write
from chaos_utils.plots.panels import dataset_panels, label_left, panel_grid
from chaos_utils.plots.systems import SYSTEM_NAMES

# The measures that are drawn: how the panel is called, where not by the measure's title.
_DRAWN = {"new_accuracy": "majority label right", "dist_ce": "", "jsd": "", "ece_votes": ""}
_GOAL = 0.95  # of majority labels: the line at which the chapter reads the curves
_N_COLOURED = 3  # datasets that have a colour; those after them are grey
_HOLLOW: dict[str, Any] = {"marker": "o", "markersize": 5, "markerfacecolor": "none",
                           "linestyle": ""}  # fmt: skip
_GUESSES = {"uniform guess": "muted", "old label": "text"}  # with their colours
# The parts of a total error: name, dashes, and the index of the point that bears the name.
_PARTS = {"bias": ("bias", "--", -1), "standard_error": ("standard error", ":", 0)}
_TINY = 1e-6  # rounding, on a logarithmic axis


def plot_annotation_budget(table: pd.DataFrame) -> Figure:
    """Draw the perfect model's score against the votes per item, for four measures.

    Three datasets are in colour, the others grey. Open circles are the error of the votes as an
    estimate of the truth, where the two differ. The table is as
    `analyses.ceilings.annotation_budget` gives it, for one or more datasets.
    """
    figure, axes = panel_grid(len(_DRAWN), columns=2, height=2.3)
    datasets = in_order(table["dataset"])
    hues = [
        "muted" if place >= _N_COLOURED else dataset.colour
        for place, dataset in enumerate(datasets)
    ]
    for axis, (name, title) in zip(axes, _DRAWN.items(), strict=True):
        measure, rows = MEASURES[name], table[table["measure"] == name]
        is_share_right = measure.better == "higher"
        lowest = np.floor(10 * rows["value"].min()) / 10 if is_share_right else 0
        axis.set(ylim=(lowest, 1.01 if is_share_right else 1.06 * rows["value"].max()))
        ends = []
        for dataset, hue in zip(datasets, hues, strict=True):
            curves = rows[rows["dataset"] == dataset.name].pivot(
                index="n_votes", columns="quantity", values="value"
            )
            curves, look = curves.reset_index(), dict[str, Any](linestyle=dataset.dash)
            ends.append(line(axis, curves, "n_votes", "perfect_model", dataset.short, hue, **look))
            if not np.allclose(curves["error"], curves["perfect_model"]):
                line(axis, curves, "n_votes", "error", "", hue, **_HOLLOW)
        if is_share_right:
            axis.axhline(_GOAL, color=colour("muted"), linewidth=0.8, linestyle="dashed")
            write(axis, f"{_GOAL:.0%}", (1, _GOAL), (3, 1), "muted")
            axis.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        unit = f"{measure.unit}, " if measure.unit else ""
        axis.set(title=title or measure.title, xlabel="votes per item")
        axis.set_ylabel(f"{unit}{measure.better} is better")
        logarithmic(axis, table["n_votes"])
        label_lines(axis, ends)
    solid = {"hue": "text", "marker": "o", "markersize": 3.5, "linestyle": "-"}
    key(figure, {"a perfect model, judged by k votes": solid,
                 "k votes as the prediction": {"hue": "text", **_HOLLOW}})  # fmt: skip
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
        axis.margins(y=0.2)  # for the names below the lines
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
            write(axis, name, point, (-1, -3) if index == -1 else (1, -3))
