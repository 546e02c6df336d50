"""Figures about the errors of single items."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from chaos_utils.base.style import Hue, colour
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.plots.marks import histogram, key, looks, system_hues, write
from chaos_utils.plots.panels import panel_grid
from chaos_utils.plots.systems import SYSTEM_NAMES, system_title

_KEYS = ["system", "origin", "temperature"]
_DISTANCE = "DistCE of the item (total variation), lower is better"
_SHARE = "share of items"

_Key = tuple[str, str, float]  # the values of `_KEYS`


def plot_distances(table: pd.DataFrame) -> Figure:
    """Draw histograms of DistCE over items, a panel for each system.

    A system's lowest temperature is filled, its others are outlines, and colours mean what they do
    in the other figures here. The table is as
    `calibration.distance_histogram` gives it.
    """
    systems = table.groupby(["system", "origin"], sort=False)
    figure, axes = panel_grid(len(systems), columns=2, height=2.4, sharex=True, sharey=True)
    hue_of = _hues(list(table.groupby(_KEYS, sort=False).groups))
    for axis, ((name, origin), system_rows) in zip(axes, systems, strict=True):
        for index, (temperature, rows) in enumerate(system_rows.groupby("temperature")):
            hue = hue_of[name, origin, temperature]
            look: dict[str, Any] = {"linewidth": 1.6} if index else {"alpha": 0.45, "fill": True}
            _draw_distances(axis, rows, hue, f"T = {temperature:g}: ", hue, index, **look)
        axis.set(title=SYSTEM_NAMES.get(name, name), xlabel=_DISTANCE.partition(",")[0])
        axis.grid(visible=False, axis="x")
    axes[0].set_ylim(bottom=0)  # once all are drawn: the panels share it
    figure.supylabel(_SHARE)
    return figure


def plot_error_distributions(table: pd.DataFrame) -> Figure:
    """Draw a histogram of item errors for each system, with the outline of people's on all.

    People come first, then systems by their mean error. The table is as
    `error_distributions.error_histograms` gives it.
    """
    is_model = table["origin"] != "reference"
    with_order = table.assign(order=table["mean"].where(is_model, 0))
    groups = list(with_order.sort_values("order", kind="stable").groupby(_KEYS, sort=False))
    hues = _hues(list(table[is_model].groupby(_KEYS, sort=False).groups))
    figure, axes = panel_grid(len(groups), columns=1, height=1.15, sharex=True, sharey=True)
    for axis, (names, rows) in zip(axes, groups, strict=True):
        title, hue = f"{system_title(*names)}\n", hues.get(names, "muted")
        _draw_distances(axis, rows, hue, title, "text", fill=True, alpha=0.75)
        if axis is not axes[0]:
            people = groups[0][1]
            histogram(axis, people, people["n"] / people["n_items"], "text", linewidth=1)
    axes[-1].set_xlabel(_DISTANCE)
    figure.supylabel(_SHARE)
    return figure


def _hues(systems: Sequence[_Key]) -> dict[_Key, str | Hue]:
    """Return a colour for each system at a temperature: its family's.

    A system as it is, is grey where it is drawn at another temperature, too.
    """
    scaled = {(name, origin) for name, origin, temperature in systems if temperature != 1}
    coloured = [system for system in systems if system[2] != 1 or system[:2] not in scaled]
    hues = system_hues([name for name, *_ in coloured])
    return dict.fromkeys(systems, "muted") | dict(zip(coloured, hues, strict=True))


def _draw_distances(
    axis: Axes, rows: pd.DataFrame, hue: str | Hue, name: str, text_hue: str | Hue,
    line_number: int = 0, **look: Any,
) -> None:  # fmt: skip
    """Draw a histogram of distances, and write the mean at the right, on a line from the top."""
    histogram(axis, rows, rows["n"] / rows["n_items"], hue, **look)
    mean = rows["mean"].iloc[0]
    axis.axvline(mean, color=colour(text_hue), linestyle="--", linewidth=1.2)
    corner: dict[str, Any] = {"xycoords": "axes fraction", "fontweight": "bold"}
    write(axis, f"{name}mean {mean:.3f}", (1, 1 - 0.11 * line_number), (-4, -4), text_hue, **corner)
    axis.set(xlim=(0, 1))
    axis.yaxis.set_major_formatter("{x:.0%}")


def plot_rank_errors(table: pd.DataFrame) -> Figure:
    """Draw signed errors on people's first label, second label, …: a panel each; marks are means.

    The table is as `error_distributions.rank_errors` gives it.
    """
    systems = list(table.groupby(_KEYS, sort=False).groups)
    look_of = looks(systems, _hues(systems).values())
    panels = list(table.groupby(["dataset", "rank"], sort=False))
    columns = table["rank"].nunique()
    figure, axes = panel_grid(len(panels), columns=columns, height=2.0, sharex=True)
    for axis, ((dataset, rank), panel_rows) in zip(axes, panels, strict=True):
        for names, rows in panel_rows.groupby(_KEYS, sort=False):
            hue, marker = look_of[names]["hue"], look_of[names]["marker"]
            histogram(axis, rows, rows["n"] / rows["n_items"], hue, linewidth=1.4)
            axis.plot(rows["mean"].iloc[0], 0, marker, color=colour(hue), clip_on=False, zorder=3)
        axis.axvline(0, color=colour("muted"), linewidth=0.8)
        axis.set(title=f"{get_dataset(dataset).short}: label ranked {rank}", xlim=(-1, 1))
        axis.set_xticks([-1, -0.5, 0, 0.5, 1])
        axis.set_xlabel("model − people")
        axis.set_ylim(bottom=0)
        axis.yaxis.set_major_locator(MaxNLocator(nbins=4, steps=[1, 2, 5, 10]))
        axis.yaxis.set_major_formatter("{x:.0%}")
    key(
        figure, {system_title(*names): look | {"linestyle": "-"} for names, look in look_of.items()}
    )
    figure.supylabel(_SHARE)
    return figure
