"""Figures about how many votes are enough, and how low an error can go."""

from itertools import pairwise
from textwrap import fill
from typing import Any, Literal

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from chaos_utils.base.style import colour, is_narrow, width
from chaos_utils.datasets.catalogue import in_order
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.plots.panels import dataset_panels, panel_grid

_Dashes = Literal["-", "--", "-.", ":"]
_SMALL = 7.5  # points
_NOT_DRAWN = ("kl",)  # its curve is that of JSD on another scale
# References: a name, dashes, on which side of the line the name stands, and at which end.
_REFERENCES: dict[str, tuple[str, _Dashes, str, str]] = {
    "floor": ("perfect model", ":", "right", "bottom"),
    "ceiling": ("second crowd", "-.", "left", "bottom"),
    "uniform": ("uniform guess", "--", "left", "top"),
}
_GROUPS = ("human", "baseline", "model")  # from the top
_SOURCES: dict[str, dict[str, Any]] = {
    "computed": {},
    "published": {"marker": "D", "markerfacecolor": "none", "markersize": 5.5},
}
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


def plot_noise_ceiling(table: pd.DataFrame) -> Figure:
    """Draw systems' scores on each dataset beside perfect model, second crowd and uniform guess.

    The table has one row for each ``dataset`` and ``system``, in one ``measure``: ``kind`` (human,
    baseline, model), ``source`` (computed, published), ``value``, ``low``, ``high``, and the
    references ``floor``, ``ceiling`` and ``uniform``. The uniform guess is a line, no row.
    """
    datasets = in_order(table["dataset"])
    measure = MEASURES[table["measure"].iloc[0]]
    orders = [_ranked(table[table["dataset"] == one.name]) for one in datasets]
    heights = [max(len(order), 4) + 2 for order in orders]
    row_height = 0.28 if is_narrow() else 0.215  # inches
    figure, axes = plt.subplots(
        len(datasets), 1, figsize=(width(), 0.5 + row_height * sum(heights)), squeeze=False,
        sharex=True, height_ratios=heights,
    )  # fmt: skip
    for axis, dataset, order in zip(axes[:, 0], datasets, orders, strict=True):
        rows = table[table["dataset"] == dataset.name]
        _draw_references(axis, rows)
        _draw_scores(axis, rows, order, colour(dataset.colour))
        axis.set_title(dataset.title, loc="left")
    unit = f", {measure.unit}" if measure.unit else ""
    axes[-1, 0].set_xlabel(f"{measure.title}{unit}, {measure.better} is better")
    axes[-1, 0].set_xlim(left=0)
    return figure


def _ranked(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a dataset's systems from the top: by group, the nearest first."""
    named = rows[rows["system"] != "uniform guess"]
    ranked = named.assign(group=named["kind"].map(_GROUPS.index))
    return ranked.sort_values(["group", "value"], kind="stable")


def _draw_references(axis: Axes, rows: pd.DataFrame) -> None:
    # Systems that cover fewer items have references of their own: draw the widest cover's.
    widest = rows.loc[rows["n_items"].idxmax()]
    for reference, (name, dashes, side, end) in _REFERENCES.items():
        if pd.isna(widest[reference]):
            continue
        axis.axvline(
            widest[reference], color=colour("muted"), linestyle=dashes, linewidth=1.2, zorder=1
        )
        axis.annotate(
            name, (widest[reference], 0.02 if end == "bottom" else 0.98),
            (-2 if side == "right" else 2.5, 0), xycoords=("data", "axes fraction"),
            textcoords="offset points", ha=side, va=end, rotation=90, fontsize=_SMALL,
            color=colour("muted"),
        )  # fmt: skip


def _draw_scores(axis: Axes, rows: pd.DataFrame, ranked: pd.DataFrame, shade: str) -> None:
    for place, row in enumerate(ranked.to_dict("records")):
        ends = [row["low"], row["high"]]
        axis.plot(ends, [place] * 2, color=shade, linewidth=2, solid_capstyle="butt")
        look: dict[str, Any] = {"marker": "o", "markersize": 4.5} | _SOURCES[row["source"]]
        axis.plot(row["value"], place, color=shade, **look)
    for place, (one, other) in enumerate(pairwise(ranked["group"])):
        if one != other:
            axis.axhline(place + 0.5, color=colour("grid"), linewidth=0.8)
    names = [_row_name(row) for row in ranked.to_dict("records")]
    axis.set_yticks(range(len(names)), names, fontsize=_SMALL)
    axis.set_ylim(max(len(names), 4) - 0.4, -0.8)
    axis.grid(visible=False, axis="y")
    axis.tick_params(axis="y", length=0)


def _row_name(row: dict[str, Any]) -> str:
    name = row["system"] if row["source"] == "computed" else f"{row['system']} ({row['source']})"
    return fill(name, 22) if is_narrow() else name


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
