"""Figures of training: curves of loss and accuracy, and scores by the number of items."""

import math
from collections.abc import Mapping
from colorsys import hls_to_rgb
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chaos_utils.base.style import Hue, colour, is_narrow
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.tasks import tasks
from chaos_utils.plots.marks import AT_Y, key, line, logarithmic, looks, write
from chaos_utils.plots.panels import legible, panel_grid, panel_title
from chaos_utils.plots.results import plot_skill

# One hue, since bins and sizes have an order: how light it is from the first of them to the last.
_TURN, _SATURATION = 0.57, 0.55
_LIGHTNESS = {"light": (0.57, 0.15), "dark": (0.42, 0.9)}
_SECOND_MEASURES = ("dev_accuracy", "inner_loss")
_TITLES = {
    "loss": "training loss (nats)",
    "dev_accuracy": "development accuracy",
    "inner_loss": "loss on the inner fold (nats)",
}
_SMOOTHING = 0.08  # share of a run's points over which the loss is averaged


def plot_training_curves(table: pd.DataFrame) -> Figure:
    """Draw training loss against items seen, and accuracy on development items beside it.

    The table has one row for each ``task``, ``run``, ``fold`` and point: ``label`` (of the run;
    runs with one label look alike), ``measure`` (``loss`` in nats,
    ``dev_accuracy``, ``inner_loss`` in nats), ``items``, ``value``. Losses are drawn smoothed, over
    the raw losses in grey. Where there is no accuracy, the second panel has the loss on the inner
    fold.
    """
    table_tasks = [task for name, task in tasks().items() if name in set(table["task"])]
    figure, axes = panel_grid(2 * len(table_tasks), columns=2, height=2.5)
    labels = list(dict.fromkeys(table["label"]))  # from the most items to the fewest
    look_of = looks(labels, _ramp(len(labels))[::-1])
    for k, task in enumerate(table_tasks):
        task_rows = table[table["task"] == task.name]
        present = [name for name in _SECOND_MEASURES if (task_rows["measure"] == name).any()]
        second = present[0] if present else "dev_accuracy"
        panels = dict(zip(("loss", second), axes[2 * k : 2 * k + 2], strict=True))
        for (*_, measure), rows in task_rows.groupby(["run", "fold", "measure"], sort=False):
            if measure in panels:
                _draw_run(panels[measure], rows, look_of[rows["label"].iloc[0]])
        title = " + ".join(get_dataset(name).short for name in task.datasets) or task.title
        n_labels = len(task.labels)
        for measure, axis in panels.items():
            if n_labels:  # which own votes have in any number
                guess = 1 / n_labels if measure == "dev_accuracy" else math.log(n_labels)
                axis.axhline(guess, color=colour("muted"), linestyle=":", linewidth=1.2)
                write(axis, "uniform guess", (1, guess), (-2, 3), "muted", xycoords=AT_Y)
            part = "training items" if measure == "loss" else "new items"
            axis.set(xlabel="training items seen", title=f"{title}: {part}")
            axis.set_xscale("linear" if measure == "inner_loss" else "log")  # it starts at 0 items
            axis.set_ylabel(_TITLES[measure])
            axis.margins(y=0.12)
        panels["loss"].set_ylim(bottom=0)
        if second == "dev_accuracy":
            panels[second].yaxis.set_major_formatter("{x:.0%}")
    if len(look_of) > 1:
        key(
            figure,
            {name: {**look, "marker": ""} for name, look in look_of.items()},
            title="training items of the run",
        )
    return legible(figure)


def _ramp(n: int) -> list[Hue]:
    """Return `n` shades of one hue, from the faintest on the page to the strongest."""
    shades = {}
    for mode, (faint, strong) in _LIGHTNESS.items():
        lightness = [strong + (faint - strong) * k / max(n - 1, 1) for k in reversed(range(n))]
        parts = [hls_to_rgb(_TURN, value, _SATURATION) for value in lightness]
        shades[mode] = ["#" + "".join(f"{round(255 * p):02x}" for p in rgb) for rgb in parts]
    return [Hue(light=light, dark=dark) for light, dark in zip(*shades.values(), strict=True)]


def plot_trained(table: pd.DataFrame) -> Figure:
    """Draw the skill of what was trained on votes beside other systems: as `plot_skill`."""
    return legible(plot_skill(table))


def _draw_run(axis: Axes, rows: pd.DataFrame, look: Mapping[str, Any]) -> None:
    """Draw one measure of one run and fold; training loss smoothed, over the raw one in grey."""
    if rows["measure"].iloc[0] == "loss":
        axis.plot(rows["items"], rows["value"], color=colour("grid"), linewidth=0.7, zorder=1.5)
        window = max(round(_SMOOTHING * len(rows)), 1)
        smooth = rows["value"].rolling(window, center=True, min_periods=1).mean()
        rows = rows.assign(value=smooth)
    marker = "o" if len(rows) == 1 or rows["measure"].iloc[0] == "inner_loss" else ""
    line(axis, rows, "items", "value", "", **{**look, "marker": marker})


def plot_training_size(table: pd.DataFrame) -> Figure:
    """Draw accuracy and distance in each entropy bin against the number of training items.

    The table has one row for each ``dataset`` (or several joined by ``+``), ``items``, ``bin``
    (from 1) and ``measure`` (``new_accuracy``, ``jsd``): ``value``, ``low``, ``high``, ``chance``.
    """
    groups = table.groupby("dataset", sort=False)
    figure, axes = panel_grid(2 * len(groups), columns=2, height=2.5)
    bins = sorted(table["bin"].unique())
    look_of = looks(bins, _ramp(len(bins)))
    for accuracy_axis, jsd_axis, (group, rows) in zip(axes[::2], axes[1::2], groups, strict=True):
        for axis, measure in ((accuracy_axis, "new_accuracy"), (jsd_axis, "jsd")):
            for bin_number, bin_rows in rows[rows["measure"] == measure].groupby("bin"):
                _draw_bin(axis, bin_rows.sort_values("items"), look_of[bin_number])
            axis.set(xlabel="training items", title=panel_title(str(group)))
            logarithmic(axis, rows["items"])
            first, last = axis.get_xlim()
            axis.set_xlim(right=last * (last / first) ** 0.08)  # room for the guesses' marks
        accuracy_axis.set_ylabel("accuracy ↑")
        accuracy_axis.yaxis.set_major_formatter("{x:.0%}")
        jsd_axis.set_ylabel("JSD, √nats ↓")
    ends = {bins[-1]: "people agree least", bins[0]: "people agree most"}
    hollow = {"hue": "text", "marker": "o", "markerfacecolor": "none"}
    names = {ends.get(b, f"bin {b} of {len(bins)}"): look for b, look in look_of.items()}
    guesses = "a guess" if is_narrow() else "most common label (accuracy), uniform guess (JSD)"
    key(figure, names | {f"hollow: {guesses}": hollow})
    return legible(figure)


def _draw_bin(axis: Axes, rows: pd.DataFrame, look: Mapping[str, Any]) -> None:
    """Draw the line of one bin, and beyond its end a hollow mark at the score of a guess."""
    *_, shade = line(axis, rows, "items", "value", "", bars=True, **look)
    # Each bin has a chance of its own: the marks stand at the right edge of the panel.
    axis.plot(
        0.97, rows["chance"].iloc[-1], transform=axis.get_yaxis_transform(), color=shade,
        marker=look["marker"], markersize=5, markerfacecolor="none", linestyle="", clip_on=False,
    )  # fmt: skip
