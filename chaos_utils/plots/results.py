"""The figures of every system's distance from humans, and of how many people that is worth."""

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from chaos_utils.base.style import Hue, colour
from chaos_utils.datasets.catalogue import get_dataset, in_order

_TITLES = {"jsd": "JSD (distance, √nats)", "kl": "KL(human ‖ model), nats"}
_LINES = {"chance": "--", "floor": ":", "ceiling": "-."}
# What stands beside each line, and on which side of it.
_ON_LINES = {
    "chance": ("uniform guess", "right"),
    "floor": ("perfect model", "right"),
    "ceiling": ("second crowd", "left"),
}
_GROUPS = ("human", "baseline", "model")  # of rows, from the top
_MARKERS: dict[str, dict[str, Any]] = {
    "computed": {"marker": "o"},
    "published": {"marker": "D", "markerfacecolor": "none"},
}


def plot_results(table: pd.DataFrame) -> Figure:
    """Draw JSD and KL of every system, the nearest of each group on top; references are lines.

    The table has one row per ``dataset``, ``system`` and ``measure`` (jsd, kl): ``source``
    (computed, published), ``kind`` (chance, floor and ceiling become lines), ``value``, ``low``,
    ``high``.
    """
    names = [one.name for one in in_order(table["dataset"])]
    systems = table[~table["kind"].isin(_LINES)]
    n_systems = systems.groupby("dataset")["system"].nunique()
    heights = [max(1, n_systems.get(name, 0)) for name in names]
    figure, axes = plt.subplots(
        len(names), 2, figsize=(8.2, 0.24 * sum(heights) + 0.9 * len(names)), squeeze=False,
        gridspec_kw={"height_ratios": heights},
    )  # fmt: skip
    for row, name in enumerate(names):
        shade = get_dataset(name).colour
        of_dataset = table[table["dataset"] == name]
        order, ends = _order(systems[systems["dataset"] == name])
        for axis, measure in zip(axes[row], _TITLES, strict=True):
            rows = of_dataset[of_dataset["measure"] == measure]
            for system in rows[~rows["kind"].isin(_LINES)].to_dict("records"):
                height = order.index(system["system"])
                axis.plot([system["low"], system["high"]], [height] * 2, color=colour(shade))
                look = _MARKERS[system["source"]]
                axis.plot(system["value"], height, color=colour(shade), markersize=5, **look)
            for kind, dashes in _LINES.items():
                for value in rows[rows["kind"] == kind]["value"]:
                    axis.axvline(value, color=colour("text"), linestyle=dashes, linewidth=1)
                    text, side = _ON_LINES[kind]
                    at_top = kind == "chance"
                    axis.annotate(
                        text, (value, len(order) - 0.4 if at_top else -0.55),
                        (-2 if side == "right" else 3, 0), textcoords="offset points", ha=side,
                        va="top" if at_top else "bottom", rotation=90, fontsize=7.5,
                    )  # fmt: skip
            for end in ends:
                axis.axhline(end, color=colour("muted"), linewidth=0.8)
            axis.set_yticks(range(len(order)), order if measure == "jsd" else [], fontsize=8)
            axis.set_ylim(-0.7, len(order) - 0.3)
            axis.set_title(f"{get_dataset(name).title}: {_TITLES[measure]}", fontsize=9)
            axis.grid(visible=False, axis="x")
            if measure == "kl":
                axis.set_xscale("log")
                axis.set_xlim(left=axis.get_xlim()[0] / 1.6)
            else:
                axis.set_xlim(left=0)
    return figure


def _order(systems: pd.DataFrame) -> tuple[list[str], list[float]]:
    """Return a dataset's systems from the bottom up, and where a group of them ends."""
    jsd = systems[systems["measure"] == "jsd"]
    ranked = jsd.assign(group=jsd["kind"].map(_GROUPS.index)).sort_values(["group", "value"])
    groups = ranked["group"].tolist()[::-1]
    ends = [k - 0.5 for k in range(1, len(groups)) if groups[k] != groups[k - 1]]
    return ranked["system"].tolist()[::-1], ends


_TICKS = (0.5, 1, 2, 3, 5, 10, 20, 50)
_LABELS_FROM = 8.5  # people: right of it the curve is below the labels


def plot_human_equivalents(table: pd.DataFrame) -> Figure:
    """Draw the squared distance of v people, pooled, and where systems stand on that curve.

    The table is as `results.drawn_equivalents` gives it. Systems of one label share one text.
    """
    shown = in_order(table["dataset"])
    n_labels = [max(_n_labels(table, one.name), 5) for one in shown]
    heights = [0.9 + 0.2 * n for n in n_labels]
    figure, axes = plt.subplots(
        len(shown), 1, figsize=(5.6, sum(heights) + 0.3), squeeze=False,
        gridspec_kw={"height_ratios": heights}, sharex=True,
    )  # fmt: skip
    for axis, dataset in zip(axes[:, 0], shown, strict=True):
        _draw_equivalents(axis, table[table["dataset"] == dataset.name], dataset.colour)
        axis.set_title(dataset.title, loc="left")
        axis.set_ylabel("squared distance\n(lower is better)", fontsize=9)
    axes[-1, 0].set_xlabel("people whose pooled votes come as near")
    return figure


def _n_labels(table: pd.DataFrame, dataset: str) -> int:
    systems = (table["dataset"] == dataset) & (table["kind"] != "crowd")
    return int(table[systems]["label"].nunique())


def _draw_equivalents(axis: Axes, rows: pd.DataFrame, shade: Hue) -> None:
    crowd = rows[rows["kind"] == "crowd"]
    systems = rows[rows["kind"] != "crowd"]
    limit = crowd["n_people"].max()
    of_one = crowd.set_index("n_people")["value"][1]
    lowest = min(0.7, *systems["n_people"] * 0.8)
    curve = np.geomspace(lowest, limit, 50)
    axis.set(xscale="log", xlim=(lowest, max(75, *1.5 * systems["n_people"])))
    axis.plot(curve, of_one / curve, color=colour("muted"), linewidth=1.2, zorder=1)
    axis.annotate(
        f"{limit:g} people", (limit, of_one / limit), (0, 5), textcoords="offset points",
        fontsize=8, ha="right", color=colour("muted"),
    )  # fmt: skip
    axis.plot(crowd["n_people"], crowd["value"], "|", color=colour("muted"), markersize=7, zorder=1)
    spots = []
    for label, several in systems.groupby("label", sort=False):
        is_model = several["kind"].iloc[0] == "model"
        look = colour(shade) if is_model else colour("text")
        flattened = (several["temperature"] != 1).any()
        for row in several.to_dict("records"):
            ends = np.clip([row["low"], row["high"]], lowest, limit)
            axis.plot(ends, [row["value"]] * 2, color=look, linewidth=1.6, zorder=2)
            axis.plot(
                row["n_people"], row["value"], marker="o" if is_model else "s", color=look,
                markersize=5, zorder=3, markerfacecolor=colour("low") if flattened else look,
            )  # fmt: skip
        middle = sorted(several["n_people"])[len(several) // 2]
        spots.append((middle, str(label), look))
    _label(axis, spots, of_one)


def _label(axis: Axes, spots: Sequence[tuple[float, str, str]], of_one: float) -> None:
    """Write each label at the right, as high as its mark where there is room, with a line to it."""
    ordered = sorted(spots)  # from the top of the curve downwards
    top = of_one / ordered[0][0] if ordered else of_one
    axis.set_ylim(0, 1.1 * max(top, of_one))
    step = 0.85 * max(top, of_one) / max(len(ordered), 5)
    wanted = [of_one / people for people, _, _ in ordered]
    places: list[float] = []
    for place in wanted:
        places.append(min(place, places[-1] - step) if places else place)
    # Where the last ones would come down to the curve, those above make room.
    for k in range(len(places) - 1, -1, -1):
        lowest = places[k + 1] + step if k + 1 < len(places) else 0.19 * max(top, of_one)
        places[k] = max(places[k], lowest)
    for (people, text, look), place in zip(ordered, places, strict=True):
        axis.annotate(
            text, (people, of_one / people), (_LABELS_FROM, place), fontsize=8.5, va="center",
            color=look, arrowprops={"arrowstyle": "-", "color": colour("muted"), "linewidth": 0.5,
                                    "shrinkA": 1, "shrinkB": 5, "relpos": (0, 0.5)},
        )  # fmt: skip
    axis.set_xticks(_TICKS, [f"{tick:g}" for tick in _TICKS])
    axis.xaxis.set_minor_locator(NullLocator())
