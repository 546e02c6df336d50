"""The figure of methods that move one encoder toward the human distribution."""

from typing import Any, Literal

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from chaos_utils.base.style import colour, is_narrow, width
from chaos_utils.datasets.catalogue import in_order
from chaos_utils.metrics.measures import MEASURES

_Dashes = Literal["--", "-.", ":"]
_MEASURES = ("jsd", "signed_ent_ce")
_SMALL = 7.5  # points
# References in JSD: a name, dashes, on which side of the line the name stands, and at which end.
_REFERENCES: dict[str, tuple[str, _Dashes, str, str]] = {
    "floor": ("perfect model", ":", "right", "bottom"),
    "ceiling": ("second crowd", "-.", "left", "bottom"),
    "chance": ("uniform guess", "--", "left", "top"),
}
# What a method learned from: its name in the key, marker and colour. Who saw votes stands out.
_SOURCES: dict[str, tuple[str, str, str]] = {
    "train": ("training labels", "o", "muted"),
    "dev": ("and development labels", "s", "muted"),
    "votes": ("and votes on other items", "D", "purple"),
    "own": ("your predictions", "^", "text"),
}


def plot_learning(table: pd.DataFrame) -> Figure:
    """Draw each method's JSD and signed entropy error on each dataset, the lowest JSD on top.

    Colour and marker say what a method learned from. The table has one row for each ``dataset``,
    ``method`` or reference, and ``measure``: ``title``, ``kind`` (reference, method, own),
    ``learned_from``, ``value``, ``low``, ``high``.
    """
    datasets = in_order(table["dataset"])
    drawn = table[table["kind"] != "reference"]
    orders = {one.name: _order(drawn[drawn["dataset"] == one.name]) for one in datasets}
    places = [(dataset, name) for dataset in datasets for name in _MEASURES]
    columns = 1 if is_narrow() else len(_MEASURES)
    heights = [max(len(orders[dataset.name]), 4) + 4 for dataset, _ in places[::columns]]
    figure, axes = plt.subplots(
        len(places) // columns, columns, figsize=(width(), 0.5 + 0.2 * sum(heights)),
        squeeze=False, height_ratios=heights,
    )  # fmt: skip
    for axis, (dataset, name) in zip(axes.flat, places, strict=True):
        here = (table["dataset"] == dataset.name) & (table["measure"] == name)
        order = orders[dataset.name]
        _draw(axis, table[here], order)
        leads = name == _MEASURES[0] or is_narrow()
        axis.set_yticks(range(len(order)), order if leads else [])
        axis.set_ylim(max(len(order), 4) - 0.4, -1.2)
        if name == _MEASURES[0]:
            axis.set_title(dataset.title, loc="left")
            axis.set_xlim(left=0)
            axis.set_xlabel(f"JSD ({MEASURES[name].unit}), lower is better")
        else:
            axis.axvline(0, color=colour("muted"), linewidth=1, zorder=1)
            axis.set_xlabel("entropy minus people’s (nats), 0 is best")
    figure.legend(
        handles=_key(drawn["learned_from"]), loc="outside upper center",
        ncols=1 if is_narrow() else 4, title="learned from", title_fontsize=8,
    )  # fmt: skip
    return figure


def _order(rows: pd.DataFrame) -> list[str]:
    jsd = rows[rows["measure"] == _MEASURES[0]]
    return list(dict.fromkeys(jsd.sort_values("value", kind="stable")["title"]))


def _draw(axis: Axes, rows: pd.DataFrame, order: list[str]) -> None:
    for method, place in _REFERENCES.items():
        for value in rows.loc[(rows["method"] == method) & (rows["measure"] == "jsd"), "value"]:
            _draw_reference(axis, value, *place)
    for row in rows[rows["kind"] != "reference"].to_dict("records"):
        height = order.index(row["title"])
        _, marker, name = _SOURCES[row["learned_from"]]
        look: dict[str, Any] = {"color": colour(name)}
        axis.plot([row["low"], row["high"]], [height] * 2, linewidth=2, **look)
        axis.plot(row["value"], height, marker=marker, markersize=5.5, linestyle="", **look)
    axis.grid(visible=False, axis="y")
    axis.tick_params(axis="y", length=0)
    axis.margins(x=0.08)


def _draw_reference(
    axis: Axes, value: float, name: str, dashes: _Dashes, side: str, end: str
) -> None:
    axis.axvline(value, color=colour("muted"), linestyle=dashes, linewidth=1.2, zorder=1)
    axis.annotate(
        name, (value, 0.02 if end == "bottom" else 0.98), (-2 if side == "right" else 2.5, 0),
        xycoords=("data", "axes fraction"), textcoords="offset points", ha=side, va=end,
        rotation=90, fontsize=_SMALL, color=colour("muted"),
    )  # fmt: skip


def _key(learned_from: pd.Series) -> list[Line2D]:
    shown = set(learned_from)
    return [
        Line2D([], [], label=label, marker=marker, linestyle="", color=colour(name))
        for source, (label, marker, name) in _SOURCES.items()
        if source in shown
    ]
