"""Figures about conventions."""

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from chaos_utils.base.style import colour

_LOOKS = (("blue", "o"), ("accent", "s"), ("green", "D"), ("pink", "^"), ("muted", "v"))
_STEP = 0.8  # of a row's height, shared by its systems
_TICKS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)


def plot_conventions(table: pd.DataFrame) -> Figure:
    """Draw how far each quantity moves with its convention, relative to the papers' choice.

    One row per quantity; in it one line per system, from its smallest to its largest value, with
    a mark for each convention. An arrow at the right end stands for infinity, one at the left end
    for 0. The table's columns are ``system``, ``quantity`` and ``relative`` (value over that of
    the papers' convention, in [0, inf]).
    """
    quantities = list(dict.fromkeys(table["quantity"]))
    systems = list(dict.fromkeys(table["system"]))
    figure, axis = plt.subplots(figsize=(7.4, 1.4 + 0.62 * len(quantities)))
    finite = table.loc[(table["relative"] > 0) & np.isfinite(table["relative"]), "relative"]
    left, right = float(finite.min()) / 1.5, float(finite.max()) * 1.5
    for number, system in enumerate(systems):
        name, marker = _LOOKS[number % len(_LOOKS)]
        offset = _STEP * ((number + 0.5) / len(systems) - 0.5)
        label = system
        for row, quantity in enumerate(quantities):
            rows = table[(table["system"] == system) & (table["quantity"] == quantity)]
            if len(rows):
                values = rows["relative"].to_numpy(dtype=np.float64)
                _draw_values(axis, values, row + offset, (left, right), colour(name), marker, label)
                label = ""
    axis.axvline(1, color=colour("text"), linewidth=1, zorder=0)
    axis.set_xscale("log")
    axis.set_xticks([tick for tick in _TICKS if left < tick < right])
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}×"))
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.set(
        xlim=(left, right),
        ylim=(len(quantities) - 0.5, -0.5),
        xlabel="value under a convention, relative to the reference convention",
    )
    axis.set_yticks(range(len(quantities)), quantities)
    axis.tick_params(axis="y", length=0)
    axis.grid(visible=False, axis="y")
    for edge in np.arange(0.5, len(quantities) - 1):
        axis.axhline(edge, color=colour("grid"), linewidth=0.6)
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def _draw_values(
    axis: Axes,
    values: npt.NDArray[np.float64],
    height: float,
    ends: tuple[float, float],
    shade: str,
    marker: str,
    label: str,
) -> None:
    shown = np.clip(values, *ends)
    axis.plot([shown.min(), shown.max()], [height, height], color=shade, linewidth=1.4)
    inside = (values > 0) & np.isfinite(values)
    axis.plot(
        values[inside], np.full(inside.sum(), height), marker, color=shade, markersize=4.5,
        linestyle="none", alpha=0.8, label=label,
    )  # fmt: skip
    for end, arrow, is_there in ((0, "<", (values == 0).any()), (1, ">", np.isinf(values).any())):
        if is_there:
            axis.plot(ends[end], height, arrow, color=shade, markersize=8, clip_on=False, zorder=3)
