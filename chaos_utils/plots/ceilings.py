"""Figures about how many votes are enough, and how low an error can go."""

from typing import Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from chaos_utils.base.style import colour, is_narrow
from chaos_utils.datasets.catalogue import in_order
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.plots.panels import dataset_panels, panel_grid

_Dashes = Literal["-", "--", "-.", ":"]
_SMALL = 7.5  # points
_NOT_DRAWN = ("kl",)  # its curve is that of JSD on another scale
_NO_MODEL = {"uniform guess": "muted", "old label": "amber"}  # and the colour
_TINY = 1e-6  # rounding, on a logarithmic axis
_APART = 3.5  # at least so many times as many votes, for two names of ticks to stand side by side


def plot_annotation_budget(table: pd.DataFrame) -> Figure:
    """Draw the perfect model's score against the votes per item, for each measure but KL.

    Open circles are the votes' own error as an estimate of the truth, where that is another number.
    The table is as `analyses.ceilings.annotation_budget` gives it, for one or more datasets.
    """
    names = [name for name in dict.fromkeys(table["measure"]) if name not in _NOT_DRAWN]
    figure, axes = panel_grid(len(names), columns=3, height=2.1)
    datasets = in_order(table["dataset"])
    for axis, name in zip(axes, names, strict=True):
        measure = MEASURES[name]
        of_measure = table[table["measure"] == name]
        differ = [_draw_budget(axis, of_measure, one) for one in datasets]
        axis.set_title(measure.title)
        unit = f"{measure.unit}, " if measure.unit else ""
        axis.set_ylabel(f"{unit}{measure.better} is better")
        _vote_axis(axis, table["n_votes"])
        axis.set_xlabel("votes per item")
        axis.set_ylim(bottom=0, top=1.03 if measure.better == "higher" else None)
        if any(differ):
            _note(axis, "○ k votes as\nthe prediction", "text")
    _name_datasets(axes[0], table[table["measure"] == names[0]], datasets)
    return figure


def _draw_budget(axis: Axes, of_measure: pd.DataFrame, dataset: Dataset) -> bool:
    """Draw a dataset's curve, and circles where the votes' own error is another number."""
    shade = colour(dataset.colour)
    rows = of_measure[of_measure["dataset"] == dataset.name]
    sides = rows.pivot(index="n_votes", columns="quantity", values="value")
    axis.plot(
        sides.index, sides["floor"], color=shade, linestyle=dataset.dash, marker=".", linewidth=1.5
    )
    differ = "error" in sides and not np.allclose(sides["error"], sides["floor"])
    if differ:
        axis.plot(
            sides.index, sides["error"], color=shade, linestyle="", marker="o", markersize=5,
            markerfacecolor="none",
        )  # fmt: skip
    return differ


def _name_datasets(axis: Axes, rows: pd.DataFrame, datasets: list[Dataset]) -> None:
    """Name the curves in the empty corner of a panel, from the highest."""
    few = rows[rows["n_votes"] == rows["n_votes"].min()].groupby("dataset")["value"].max()
    ranked = sorted(datasets, key=lambda one: -few[one.name])
    for place, dataset in enumerate(ranked):
        _note(axis, dataset.short, colour(dataset.colour), place)


def _note(axis: Axes, text: str, shade: str, place: int = 0) -> None:
    shade = shade if shade.startswith("#") else colour(shade)
    axis.annotate(
        text, (0.97, 0.97), (0, -11 * place), xycoords="axes fraction", fontsize=8, color=shade,
        textcoords="offset points", ha="right", va="top",
    )  # fmt: skip


def _vote_axis(axis: Axes, sizes: pd.Series) -> list[int]:
    """Make a logarithmic axis of votes per item; return what is named on it."""
    axis.set_xscale("log")
    shown = sorted(set(sizes))
    named = shown[:1]
    for size in shown[1:]:
        if size >= _APART * named[-1]:
            named.append(size)
    axis.set_xticks(named, [f"{size}" for size in named])
    axis.set_xticks(shown, minor=True)
    axis.set_xticklabels([], minor=True)
    return named


def plot_items_by_votes(table: pd.DataFrame) -> Figure:
    """Draw the total error of a few systems' scores against the votes per item, for one budget.

    Thin lines are the two parts of the first one's. The table is as
    `analyses.ceilings.items_by_votes` gives it, for one or more datasets; drawn are the first and
    the last of the models, the old label and the uniform guess.
    """
    figure, panels = dataset_panels(table["dataset"], height=2.9, sharey=True)
    shades = _few_systems(table["system"])
    items = table.groupby("n_votes")["n_items"].first()
    for axis, dataset in panels:
        rows = table[table["dataset"] == dataset.name]
        drawn = [name for name in shades if (rows["system"] == name).any()]
        for place, name in enumerate(drawn):
            of_system = rows[rows["system"] == name]
            total = of_system["total_error"]
            axis.plot(of_system["n_votes"], total, color=shades[name], linewidth=1.6)
            least = of_system.loc[total.idxmin()]
            axis.plot(least["n_votes"], least["total_error"], "o", ms=4.5, color=shades[name])
            if place == 0:
                _draw_parts(axis, of_system, shades[name])
        axis.set_yscale("log")
        named = _vote_axis(axis, table["n_votes"])
        axis.set_xticks(named, [f"{k}\n{items[k]:,}" for k in named])
        axis.set_xlabel("votes per item\nitems that the budget buys")
        axis.tick_params(axis="y", labelleft=True)
    parts = table[["bias", "standard_error"]].abs()
    panels[0][0].set_ylim(bottom=0.6 * parts[parts > _TINY].min().min())  # room for a name
    for axis, _ in panels if is_narrow() else panels[:1]:
        axis.set_ylabel("error of the mean JSD,\nlower is better")
    handles = [Line2D([], [], label=name, color=shade) for name, shade in shades.items()]
    figure.legend(handles=handles, loc="outside upper center", ncols=2 if is_narrow() else 4)
    return figure


def _few_systems(systems: pd.Series) -> dict[str, str]:
    """Return the colours of a first and a last model and of what needs none."""
    known = list(dict.fromkeys(systems))
    models = [name for name in known if name not in _NO_MODEL]
    ends = dict.fromkeys([*models[:1], *models[-1:]])
    shades = dict(zip(ends, ("purple", "pink"), strict=False))
    shades |= {name: shade for name, shade in _NO_MODEL.items() if name in known}
    return {name: colour(shade) for name, shade in shades.items()}


def _draw_parts(axis: Axes, rows: pd.DataFrame, shade: str) -> None:
    """Draw bias and standard error, each named at the end where it stands alone."""
    for part, name, dashes, at, align in (
        ("bias", "bias", "--", -1, ("right", "top")),
        ("standard_error", "standard error", ":", 0, ("left", "top")),
    ):
        size = rows[part].abs()
        size = size.where(size > _TINY)
        axis.plot(rows["n_votes"], size, linestyle=dashes, color=shade, linewidth=1)
        known = size.notna()
        if known.any():
            end = rows[known].iloc[at]["n_votes"], size[known].iloc[at]
            axis.annotate(
                name, end, (2 if at == 0 else -1, -5), fontsize=_SMALL,
                textcoords="offset points", ha=align[0], va=align[1], color=shade,
            )  # fmt: skip
