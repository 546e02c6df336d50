"""The figures of every system's distance from humans, and of its skill against the base rate."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from chaos_utils.base.style import colour, is_narrow, width
from chaos_utils.datasets.catalogue import in_order
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.metrics.skill import MARKS, skill_of_people

# Groups of rows, from the top, and the kinds of systems in each.
_GROUPS = (("floor", "ceiling", "human"), ("chance", "baseline"), ("model",))
_GROUP_OF = {kind: place for place, kinds in enumerate(_GROUPS) for kind in kinds}
_LINES = {"floor": ("muted", ":"), "ceiling": ("muted", ":"), "chance": ("text", "--")}
_ROW, _HEAD = 0.165, 0.5  # inches: the height of a row, and of what is around a panel
_SEEDS_APART = 0.22  # rows, so that the seeds of a model do not hide each other
_LOWEST = -1.0  # skill that is drawn
_APART = 0.07  # of the axis, that the marks of two numbers of people are at least


def plot_results(table: pd.DataFrame) -> Figure:
    """Draw the JSD of every system, a row for each, sorted in groups: people, guesses, models.

    The table has one row per ``dataset``, ``system``, ``source`` (computed, published) and
    ``measure``, of which ``jsd`` is drawn: ``label`` (of its row; seeds share one), ``kind``
    (chance, floor and ceiling have a line, too), ``value``, ``low``, ``high``.
    """
    rows = table[table["measure"] == "jsd"]
    figure, panels = _row_panels(rows, "value", lowest_on_top=True)
    for axis, dataset, heights in panels:
        for one in _spread(rows[rows["dataset"] == dataset.name], heights):
            if one["kind"] in _LINES:
                shade, dashes = _LINES[one["kind"]]
                axis.axvline(one["value"], color=colour(shade), linestyle=dashes, linewidth=0.9)
            look = _colour_of(one["kind"], dataset)
            axis.plot([one["low"], one["high"]], [one["height"]] * 2, color=look, linewidth=1.3)
            published = one["source"] == "published"
            axis.plot(
                one["value"], one["height"], color=look, markersize=4.5,
                marker="D" if published else "o", markerfacecolor="none" if published else look,
            )  # fmt: skip
        axis.xaxis.set_major_locator(MaxNLocator(4 if len(panels) > 1 else 8))
    _from_zero(panels, rows[["value", "high"]].max().max())
    figure.supxlabel("JSD from the human distribution (√nats); lower is better", fontsize=8.5)
    if (rows["source"] == "published").any():
        _explain(figure, [("o", True, "computed here, 95% interval"), ("D", False, "published")])
    return figure


def plot_skill(table: pd.DataFrame) -> Figure:
    """Draw the skill of each system against the base rate, as it is and trusted, a row for each.

    The table is as `results.drawn_skill` gives it. Seeds of a model share a row. Dotted lines are
    at the skill of some people; what is further than `_LOWEST` below the base rate is an arrow.
    """
    figure, panels = _row_panels(table, "skill", lowest_on_top=False)
    lowest = max(_LOWEST, min(0.0, table["skill"].min()))
    for axis, dataset, heights in panels:
        rows = table[table["dataset"] == dataset.name]
        for one in _spread(rows, heights):
            look = _colour_of(one["kind"], dataset)
            ends = np.clip([one["low"], one["high"]], lowest, 1)
            axis.plot(ends, [one["height"]] * 2, color=look, linewidth=1.1)
            axis.plot(
                max(one["skill"], lowest), one["height"], color=look, markersize=4,
                marker="<" if one["skill"] < lowest else "o",
                markerfacecolor=colour("low") if one["trusted"] else look,
            )  # fmt: skip
        axis.axvline(0, color=colour("text"), linewidth=0.9)
        marks = skill_of_people(MARKS, float(rows["credibility"].iloc[0]))
        last = lowest
        for n_people, at in zip(MARKS, marks, strict=True):
            if at - last < _APART * (1 - lowest):
                continue
            last = at
            axis.axvline(at, color=colour("muted"), linestyle=":", linewidth=0.9)
            axis.text(
                at, 1, f"{n_people}", transform=axis.get_xaxis_transform(), color=colour("muted"),
                ha="center", va="bottom", fontsize=7,
            )  # fmt: skip
        axis.set_title(dataset.short, pad=14)
        axis.xaxis.set_major_locator(MaxNLocator(5))
        axis.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axis.set_xlim(lowest - 0.06, 1.03)
    figure.supxlabel("skill: 0 is the base rate, 1 the population; higher is better", fontsize=8.5)
    _explain(figure, [("o", True, "as it is"), ("o", False, "told how far to trust it")])
    return figure


_Panel = tuple[Axes, Dataset, dict[str, float]]


def _row_panels(
    table: pd.DataFrame, value: str, *, lowest_on_top: bool
) -> tuple[Figure, list[_Panel]]:
    """Return a panel for each dataset, with the height of each label's row.

    Up to three datasets stand side by side and share their rows, which are then sorted by their
    mean rank. On a phone, and where there are more, each has rows of its own below the others'.
    """
    shown = in_order(table["dataset"])
    beside = not is_narrow() and 1 < len(shown) <= 3
    parts = [table if beside else table[table["dataset"] == one.name] for one in shown]
    orders = [_order(part, value, lowest_on_top) for part in parts]
    sizes = [_ROW * len(order) + _HEAD for order, _ in orders]
    if beside:
        figure, axes = plt.subplots(
            1, len(shown), sharex=True, sharey=True, figsize=(width(), sizes[0] + 0.5),
            squeeze=False,
        )  # fmt: skip
    else:
        figure, axes = plt.subplots(
            len(shown), 1, sharex=True, figsize=(width(), sum(sizes) + 0.5), squeeze=False,
            gridspec_kw={"height_ratios": sizes},
        )  # fmt: skip
    panels = []
    for axis, dataset, (order, ends) in zip(axes.flat, shown, orders, strict=True):
        for end in ends:
            axis.axhline(end, color=colour("muted"), linewidth=0.8)
        axis.set_yticks(range(len(order)), order, fontsize=7.5)
        axis.set_ylim(len(order) - 0.4, -0.6)
        axis.tick_params(axis="y", length=0)
        axis.tick_params(axis="x", labelbottom=True)
        axis.grid(visible=False, axis="x")
        axis.set_title(dataset.short)
        panels.append((axis, dataset, {label: float(k) for k, label in enumerate(order)}))
    return figure, panels


def _order(rows: pd.DataFrame, value: str, lowest_on_top: bool) -> tuple[list[str], list[float]]:
    """Return the labels from the top down, and where a group of them ends."""
    ranks = rows.groupby("dataset")[value].rank(pct=True, ascending=lowest_on_top)
    known = rows.assign(rank=ranks, group=rows["kind"].map(_GROUP_OF))
    known = known[known["rank"].notna()]
    means = known.groupby(["group", "label"], as_index=False)["rank"].mean()
    means = means.sort_values(["group", "rank"], kind="stable")
    groups = means["group"].tolist()
    ends = [k - 0.5 for k in range(1, len(groups)) if groups[k] != groups[k - 1]]
    return means["label"].tolist(), ends


def _spread(rows: pd.DataFrame, heights: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return the rows as they are drawn, with their height: seeds of one label a little apart."""
    found = []
    for label, several in rows.groupby("label", sort=False):
        names = list(dict.fromkeys(several["system"]))
        for row in several.to_dict("records"):
            shift = _SEEDS_APART * (names.index(row["system"]) - (len(names) - 1) / 2)
            found.append({**row, "height": heights[str(label)] + shift})
    return found


def _from_zero(panels: Sequence[_Panel], most: float) -> None:
    for axis, *_ in panels:
        axis.set_xlim(0, 1.05 * most)


def _colour_of(kind: str, dataset: Dataset) -> str:
    group = _GROUP_OF[kind]
    return colour(dataset.colour if group == 2 else ("muted", "text")[group])


def _explain(figure: Figure, marks: Sequence[tuple[str, bool, str]]) -> None:
    """Say above the panels what the marks are."""
    shade = colour("muted")
    handles = [
        Line2D([], [], linestyle="", marker=mark, color=shade, markersize=4.5, label=text,
               markerfacecolor=shade if filled else "none")
        for mark, filled, text in marks
    ]  # fmt: skip
    figure.legend(handles=handles, loc="outside upper left", ncols=len(marks), handletextpad=0.2,
                  columnspacing=1.2, borderaxespad=0.1)  # fmt: skip
