"""Figures about how opinions are collected."""

from collections.abc import Hashable, Mapping
from itertools import cycle
from textwrap import fill

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.path import Path

from chaos_utils.base.style import colour, is_narrow, width
from chaos_utils.plots.marks import intervals, key, line, looks, note, write
from chaos_utils.plots.panels import dataset_panels, label_left, row_panels

# Of the state machine's picture, as shares of its width: where the column of states and that of
# ends stand, and half the width of a box, on a page and on a phone; and the way to the first lane
# at the left, and to the next.
_BOXES, _NARROW_BOXES = (0.34, 0.88, 0.115), (0.335, 0.858, 0.138)
_LANE, _NEXT = 0.05, 0.1
_HEIGHT = 0.5  # inches: of a box


def plot_protocol(table: pd.DataFrame) -> Figure:
    """Draw the state machine: states as boxes, ways between them as arrows.

    States that can be left stand in one column, in the order of the table, and below them the final
    state that several of them lead to. Arrows to other final states go to the right.

    The table has one row per way: ``from``, ``event``, ``condition``, ``to``, ``feedback``,
    ``discards_votes``.
    """
    step, letters_per_line = (1.3, 9) if is_narrow() else (0.85, 27)
    middle, aside, half = (share * width() for share in _boxes())
    # Ways without a condition to a final state are alike: only one of them is drawn.
    is_common = ~table["to"].isin(table["from"]) & (table["condition"] == "")
    column = list(dict.fromkeys([*table["from"], *table.loc[is_common, "to"]]))
    positions = {name: (middle, -step * row) for row, name in enumerate(column)}
    ways = pd.concat([table[~is_common], table[is_common].tail(1)])
    for start, end in zip(ways["from"], ways["to"], strict=True):
        positions.setdefault(end, (aside, positions[start][1]))
    figure, axis = plt.subplots(figsize=(width(), step * (len(column) - 0.3)))
    axis.set(xlim=(0, width()), ylim=(-step * (len(column) - 0.65), 0.35 * step))
    axis.axis("off")
    for name, position in positions.items():
        gives_feedback = table.loc[table["from"] == name, "feedback"].any()
        discards = table.loc[table["to"] == name, "discards_votes"].any()
        _draw_state(axis, position, name, feedback=gives_feedback, discards=discards)
    lane = 0
    for (start, end), group in ways.groupby(["from", "to"], sort=False):
        (x, y), (to_x, to_y) = positions[start], positions[end]
        labels = [_label(way, table, is_common) for way in group.to_dict("records")]
        if to_x > x:
            _draw_way(axis, (x + half, y), (to_x - half, y))
            for label, up in zip(labels, (3, -3), strict=False):
                write(axis, fill(label, letters_per_line), (to_x - half, y), (-4, up))
        elif column.index(end) == column.index(start) + 1:
            _draw_way(axis, (x, y - _HEIGHT / 2), (x, to_y + _HEIGHT / 2))
            write(axis, fill(labels[0], letters_per_line), (x, (y + to_y) / 2), (5, 0))
        else:  # around the left side, each way to another state further out
            side, leave, arrive = x - half, y - 0.1, to_y + 0.1
            lane_x = side - (_LANE + _NEXT * lane) * width()
            _draw_way(axis, (side, leave), (lane_x, leave), (lane_x, arrive), (side, arrive))
            upright = start != end and is_narrow()
            label = labels[0] if upright else labels[0].replace(": ", ":\n")
            write(axis, label, (lane_x, (y + to_y) / 2), (-4, 0), rotation=90 if upright else 0)
            lane += start != end
    return figure


def _boxes() -> tuple[float, float, float]:
    return _NARROW_BOXES if is_narrow() else _BOXES


def _label(way: Mapping[Hashable, str], table: pd.DataFrame, is_common: "pd.Series[bool]") -> str:
    """Return the label of a way: its event, with the condition where the event has several ways."""
    if way["to"] in set(table.loc[is_common, "to"]):
        return f"{way['event']}, here or in the {is_common.sum() - 1} states above"
    same_event = (table["from"] == way["from"]) & (table["event"] == way["event"])
    condition = way["condition"].replace(f"{way['from']} ", "") or "otherwise"
    return way["event"] if same_event.sum() == 1 else f"{way['event']}: {condition}"


def _draw_state(
    axis: Axes, position: tuple[float, float], name: str, *, feedback: bool, discards: bool
) -> None:
    """Draw a state as a box with its name, and below it the feedback or what becomes of votes."""
    (x, y), half = position, _boxes()[-1] * width()
    axis.add_patch(
        FancyBboxPatch(
            (x - half, y - _HEIGHT / 2), 2 * half, _HEIGHT,
            boxstyle="round,pad=0,rounding_size=0.08", facecolor=colour("low"),
            edgecolor=colour("warning" if discards else "blue"), linewidth=1.4,
        )
    )  # fmt: skip
    words = "feedback on mistakes" if feedback else "no votes count" if discards else ""
    lines = fill(words, round(28 * half))  # as many letters as fit into a line of the box
    middle = (x, y + 0.07 * lines.count("\n"))
    write(axis, name, middle, (0, 2 if words else 0), fontweight="bold")
    write(axis, lines, middle, (0, -2), "muted")


def _draw_way(axis: Axes, *points: tuple[float, float]) -> None:
    axis.add_patch(
        FancyArrowPatch(
            path=Path(points), arrowstyle="-|>", mutation_scale=9, color=colour("text"),
            linewidth=1.1, joinstyle="miter",
        )
    )  # fmt: skip


def plot_annotator_accuracy(table: pd.DataFrame) -> Figure:
    """Draw the accuracy on hidden checks over an annotator's items, a panel for each dataset.

    The table's columns are ``dataset``, ``who`` (``all``, drawn with a band, or ``careful``),
    ``items``, ``accuracy_percent`` with the ends of its interval, ``…_low`` and ``…_high``, and
    ``plateau_percent``, the published level.
    """
    figure, panels = dataset_panels(table, height=2.5)
    lowest = table[["accuracy_percent_low", "plateau_percent"]].min().min()
    for axis, _, rows in panels:
        all_rows, careful_rows = (rows[rows["who"] == who] for who in ("all", "careful"))
        line(axis, all_rows, "items", "accuracy_percent", "", "blue")
        without_band = careful_rows[["items", "accuracy_percent"]]
        line(axis, without_band, "items", "accuracy_percent", "", "text", linestyle="-.", marker="")
        published = rows["plateau_percent"].iloc[0]
        axis.axhline(published, color=colour("muted"), linestyle="--", linewidth=1.2)
        axis.set(xlabel="items judged before", xlim=(0, None), ylim=(lowest - 3, 100))
        axis.yaxis.set_major_formatter("{x:.0f}%")
    label_left((axis for axis, *_ in panels), "right on hidden checks")
    key(figure, {
        "all annotators": {"hue": "blue", "linestyle": "-"},
        "careful annotators": {"hue": "text", "linestyle": "-."},
        "published level": {"hue": "muted", "linestyle": "--"},
    })  # fmt: skip
    return figure


_VARIANTS = {
    "nothing": "published protocol",
    "every stage": "without any stages",
    "every stage, 1,000 votes per item": "without any stages, 1,000 votes",
}
_EFFECTS = {"misplaced": "votes misplaced of 100 ↓", "dollars": "cost, dollars"}
_APART = 0.22  # of a row: between its marks


def plot_protocol_effect(table: pd.DataFrame) -> Figure:
    """Draw error and cost of collections without one stage of the protocol, a row for each.

    The table has one row per share and variant: ``careless``, ``without``, ``chance_tvd``, and
    ``tvd`` and ``dollars``, each with ``…_low`` and ``…_high``. Rows are sorted by their error at
    the largest share of careless applicants.
    """
    worst = table[table["careless"] == table["careless"].max()].sort_values("tvd")
    order = list(worst["without"])
    names = [_VARIANTS.get(variant, f"without {variant.removeprefix('the ')}") for variant in order]
    figure, axes = row_panels([names], len(_EFFECTS), row=0.3)
    look_of = looks(sorted(set(table["careless"])), cycle(("high", "text", "warning")))
    ends = {f"misplaced{end}": 100 * table[f"tvd{end}"] for end in ("", "_low", "_high")}
    table = table.assign(y=table["without"].map(order.index), **ends)
    for axis, (name, unit) in zip(axes, _EFFECTS.items(), strict=True):
        for index, (careless, rows) in enumerate(table.groupby("careless")):
            # The costs of one variant are nearly the same.
            rows = rows.assign(y=rows["y"] + _APART * (index - (len(look_of) - 1) / 2))
            intervals(axis, rows, name, look_of[careless]["hue"], look_of[careless]["marker"])
        axis.set_xlabel(unit)
        axis.set_ylim(top=-1.2)  # room for the note
    axes[0].set_xlim(left=0)
    axes[1].set_xscale("log")
    axes[1].minorticks_off()
    axes[1].xaxis.set_major_formatter("{x:,g}")
    chance = 100 * table["chance_tvd"].iloc[0]
    note(axes[0], chance, "chance alone", "muted", right=True, linestyle="-")
    key(figure, {f"{share:.0%}": {**look, "linestyle": ""} for share, look in look_of.items()},
        title="careless applicants")  # fmt: skip
    return figure
