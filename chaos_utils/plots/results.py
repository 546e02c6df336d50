"""The figures of every system's distance from humans, and of its skill against the base rate."""

import re
from itertools import cycle
from typing import Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from chaos_utils.base.style import colour, is_narrow
from chaos_utils.datasets.catalogue import in_order
from chaos_utils.plots.marks import KINDS, intervals, key, skill_marks, write
from chaos_utils.plots.panels import panel_grid, row_panels
from chaos_utils.plots.systems import run_titles

# The table's kinds, each with the kind of the figures that it belongs to.
_KINDS = {
    "perfect_model": "human", "second_crowd": "human", "human": "human", "chance": "baseline",
    "baseline": "baseline", "model": "model", "trained": "trained",
}  # fmt: skip
_LINES: dict[str, Literal[":", "--"]] = {"perfect_model": ":", "second_crowd": ":", "chance": "--"}
_SEEDS_APART = 0.22  # rows, so that the seeds of a model do not hide each other
_SKILL = ["skill", "low", "high"]
_LOWEST = -1.0  # skill that is drawn
_APART = 0.07  # share of the axis: the smallest distance of two marks of people
_WORTH = (-2.0, 20.0)  # people that are drawn
_PEOPLE = ["people", "people_low", "people_high"]
_FILLED = {"hue": "muted", "marker": "o"}
_HOLLOW = _FILLED | {"markerfacecolor": "none"}
_ROW = 0.36  # inches: of a row of the figure that opens the chapter


def plot_results(table: pd.DataFrame) -> Figure:
    """Draw the JSD of every system, a row for each, sorted in groups: people, guesses, models.

    The table has one row per ``dataset``, ``system`` and ``source`` (computed, published):
    ``label`` (the row's name; seeds share it), ``kind`` (chance, perfect_model and second_crowd
    have a line, too), ``value``, ``low``, ``high``.
    """
    scored = table[table["value"].notna()]  # one label per item has no distance
    figure, panels = _panels(scored, "value", lowest_on_top=True)
    for axis, rows in panels:
        for kind, dashes in _LINES.items():
            for value in rows.loc[rows["kind"] == kind, "value"]:
                shade = colour(KINDS[_KINDS[kind]])
                axis.axvline(value, color=shade, linestyle=dashes, linewidth=1)
        for (kind, source), group_rows in rows.groupby(["group", "source"]):
            is_published = source == "published"
            marker = "D" if is_published else "o"
            intervals(axis, group_rows, "value", KINDS[kind], marker, hollow=is_published)
        axis.xaxis.set_major_locator(MaxNLocator(4 if len(panels) > 1 or is_narrow() else 8))
        axis.set_xlim(0, 1.05 * table[["value", "high"]].max().max())
    figure.supxlabel("JSD from the human distribution (√nats); lower is better")
    if (table["source"] == "published").any():
        _draw_key(figure, "computed here, 95% interval", "published", "D")
    return figure


def plot_skill(table: pd.DataFrame) -> Figure:
    """Draw the skill of each system against the base rate, as it is and recalibrated.

    Each system has a row, which the seeds of a model share. The axis is even in skill and counts
    people; a skill below `_LOWEST` is an arrow. The table is as `results.drawn_skill` gives it;
    systems of the kind ``trained`` are hollow squares, and their names are those of `run_titles`.
    """
    is_run = table["kind"] == "trained"
    titles = run_titles(table.loc[is_run, "label"])
    short = table["label"].map(titles).where(is_run, table["label"].map(_shortened))
    figure, panels = _panels(table.assign(label=short), "skill", lowest_on_top=False, sharex=False)
    lowest = max(_LOWEST, min(0.0, table["skill"].min()))
    for axis, rows in panels:
        clipped = rows.assign(beyond=rows["skill"] < lowest)
        clipped[_SKILL] = clipped[_SKILL].clip(lowest, 1)
        for (kind, form, beyond), group_rows in clipped.groupby(["group", "how", "beyond"]):
            is_trained = kind == "trained"
            marker = "<" if beyond else "s" if is_trained else "o"
            is_hollow = is_trained or form != "as it is"
            intervals(axis, group_rows, "skill", KINDS[kind], marker, hollow=is_hollow)
        axis.axvline(0, color=colour("text"), linewidth=0.9)
        apart = (2 if is_narrow() else 1) * _APART * (1 - lowest)
        marks = [(0, 0.0), *skill_marks(rows["credibility"].iloc[0], 0, apart)]
        axis.set_xticks([skill for _, skill in marks], [f"{people}" for people, _ in marks])
        axis.grid(visible=True, axis="x")
        axis.set_xlim(lowest - 0.15, 1.03)
    figure.supxlabel("worth in people: 0 is the base rate; more is better")
    forms = [form for form in table["how"].unique() if form != "as it is"]
    looks = {"as it is": _FILLED, " or ".join(forms) or "recalibrated": _HOLLOW}
    if is_run.any():
        looks["trained on votes"] = _HOLLOW | {"marker": "s"}
    key(figure, looks)
    return figure


def _shortened(name: str) -> str:
    """Return a row's name without its seed, and so that a phone has room for it."""
    name = re.sub(r", seed \d+$", "", name)
    return name.replace(" given the ", "\ngiven the ") if is_narrow() else name


def plot_misplaced(table: pd.DataFrame) -> Figure:
    """Draw how many of a hundred votes people, a guess and models misplace, a row for each.

    The table has one row per ``label`` and ``how``: ``kind``, ``misplaced`` (of a hundred),
    ``low``, ``high``. How is ``as it is``, ``recalibrated``, or ``range`` for a row that stands for
    several models, has no ``misplaced``, and is placed by its middle. See
    `analyses.results.drawn_misplaced`.
    """
    is_range, is_mapped = table["how"] == "range", table["how"] == "recalibrated"
    mapped = set(table.loc[is_mapped, "label"])
    table = table.assign(place=table["misplaced"].fillna(table[["low", "high"]].mean(axis=1)))
    order = table[~is_mapped].sort_values("place", kind="stable")["label"].tolist()
    figure, (axis,) = panel_grid(1, columns=1, height=_ROW * len(order) + 0.75)
    table = table.assign(y=table["label"].map(order.index))
    for row in table[is_range].itertuples():
        axis.barh(row.y, row.high - row.low, left=row.low, height=0.34, color=colour("blue"))
        write(axis, f"{row.low:.0f} to {row.high:.0f}", (row.high, row.y), (6, 0), "blue")
    for row in table[~is_range].itertuples():
        hue = {"reference": "muted", "people": "muted", "model": "blue"}.get(row.kind, "text")
        point = (row.misplaced, row.y)
        axis.plot(
            *point, marker="o", markersize=8, color=colour(hue), clip_on=False,
            markerfacecolor="none" if row.how == "recalibrated" else colour(hue),
        )  # fmt: skip
        before = row.how == "as it is" and row.label in mapped
        is_named = not is_narrow() and (before or row.how == "recalibrated")
        text = f"{row.misplaced:.0f}" + f", {row.how}" * is_named
        write(axis, text, point, (8 if before or row.kind != "model" else -8, 0), hue)
    for _, two in table[~is_range & (table["kind"] == "model")].groupby("label"):
        if len(two) > 1:
            x, y = two["misplaced"], two["y"].iloc[0]
            axis.annotate(
                "", (x.min(), y), (x.max(), y), zorder=0,
                arrowprops={"arrowstyle": "->", "color": colour("blue"), "shrinkA": 5,
                            "shrinkB": 5, "linewidth": 1.2},
            )  # fmt: skip
    narrow_names = [f"{name},\nrecalibrated" * (name in mapped) or name for name in order]
    axis.set_yticks(range(len(order)), narrow_names if is_narrow() else order)
    axis.set_ylim(len(order) - 0.5, -0.5)
    axis.tick_params(axis="y", length=0)
    axis.grid(visible=False, axis="y")
    axis.set_xlim(0, 1.35 * table[["misplaced", "high"]].max().max())
    axis.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    parts = ("misplaced votes per hundred;", "lower is better")
    axis.set_xlabel(("\n" if is_narrow() else " ").join(parts))
    return figure


def plot_worth(table: pd.DataFrame) -> Figure:
    """Draw what each system is worth in people, as it is and recalibrated, joined by a line.

    Each system has a row, which the seeds of a model share. A worth outside `_WORTH` is an
    arrow. The table is as `results.drawn_worth` gives it: ``people``, ``people_low``,
    ``people_high``.
    """
    figure, panels = _panels(table, "people", lowest_on_top=False)
    finite = table["people"][np.isfinite(table["people"])]
    lowest = max(_WORTH[0], min(0.0, finite.min()))
    highest = min(_WORTH[1], max(1.0, finite.max()))
    for axis, rows in panels:
        is_below, is_above = rows["people"] < lowest, rows["people"] > highest
        clipped = rows.assign(marker=np.select([is_below, is_above], ["<", ">"], "o"))
        clipped[_PEOPLE] = clipped[_PEOPLE].clip(lowest, 1.2 * highest)
        for (_, y), two in clipped.groupby(["system", "y"]):
            axis.plot(two["people"], [y] * len(two), color=colour("muted"), linewidth=0.9, zorder=1)
        for (kind, form, marker), group_rows in clipped.groupby(["group", "how", "marker"]):
            drawn = group_rows[[*_PEOPLE, "y"] if form != "as it is" else ["people", "y"]]
            intervals(axis, drawn, "people", KINDS[kind], marker, hollow=form != "as it is")
        axis.axvline(0, color=colour("text"), linewidth=0.9)
        axis.set_xlim(lowest - 0.15, 1.22 * highest)
        axis.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        axis.grid(visible=True, axis="x")
    figure.supxlabel("worth in people: 0 is the base rate; more is better")
    forms = [form for form in table["how"].unique() if form != "as it is"]
    _draw_key(figure, "as it is", " or ".join(forms) or "recalibrated")
    return figure


def _panels(
    table: pd.DataFrame, value: str, *, lowest_on_top: bool, sharex: bool = True
) -> tuple[Figure, list[tuple[Axes, pd.DataFrame]]]:
    """Return a panel for each dataset with its part of the table, ``group`` and ``y`` added.

    Up to three datasets stand side by side and share the order of their rows, by mean rank. On a
    phone, and where there are more, panels stand below each other, each with an order of its own.
    """
    datasets = in_order(table["dataset"])
    parts = [table[table["dataset"] == dataset.name] for dataset in datasets]
    side_by_side = not is_narrow() and len(datasets) <= 3
    orders = [
        _rows_from_top(part, value, lowest_on_top) for part in ([table] if side_by_side else parts)
    ]
    names = [list(order.index) for order in orders]
    has_two_lines = any("\n" in name for part in names for name in part)
    figure, axes = row_panels(
        names, len(datasets) if side_by_side else 1, row=0.24 if has_two_lines else 0.18,
        sharex=sharex,
    )  # fmt: skip
    for axis, dataset, order in zip(axes, datasets, cycle(orders), strict=False):
        for y in np.flatnonzero(np.diff(order)):  # the last row of each group but the lowest
            axis.axhline(y + 0.5, color=colour("muted"), linewidth=0.8)
        axis.grid(visible=side_by_side, axis="y")
        axis.grid(visible=False, axis="x")
        axis.set_title(dataset.short)
    with_y = [_with_heights(part, order) for part, order in zip(parts, cycle(orders), strict=False)]
    return figure, list(zip(axes, with_y, strict=True))


def _rows_from_top(rows: pd.DataFrame, value: str, lowest_on_top: bool) -> "pd.Series[int]":
    """Return the labels from the top down, as index, with the group of each."""
    ranks = rows.groupby("dataset")[value].rank(pct=True, ascending=lowest_on_top)
    groups = rows["kind"].map(_KINDS).map(list(KINDS).index)
    ranked = rows.assign(rank=ranks, group=groups).dropna(subset=["rank"])
    means = ranked.groupby(["group", "label"], as_index=False)["rank"].mean()
    return means.sort_values(["group", "rank"], kind="stable").set_index("label")["group"]


def _with_heights(rows: pd.DataFrame, order: "pd.Series[int]") -> pd.DataFrame:
    """Return the rows with their ``group`` and height ``y``: seeds of one label a little apart."""
    seeds = rows.groupby("label")["system"]
    seed_index = seeds.transform(lambda names: pd.factorize(names)[0])
    shift = _SEEDS_APART * (seed_index - (seeds.transform("nunique") - 1) / 2)
    height = rows["label"].map(order.index.get_loc) + shift
    return rows.assign(y=height, group=rows["kind"].map(_KINDS))


def _draw_key(figure: Figure, filled: str, hollow: str, marker: str = "o") -> None:
    """Explain filled circles and hollow marks, above the figure."""
    key(figure, {filled: _FILLED, hollow: _HOLLOW | {"marker": marker}})
