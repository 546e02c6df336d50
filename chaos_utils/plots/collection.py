"""Figures about how opinions are collected."""

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import fill
from typing import Literal

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from matplotlib.ticker import FuncFormatter, PercentFormatter

from chaos_utils.base.style import colour
from chaos_utils.plots.panels import dataset_panels

_Dashes = Literal["-", "--", "-.", ":"]
_SHADES = ("text", "blue", "amber", "green", "pink")
_DASHES: tuple[_Dashes, ...] = ("-", "--", "-.", ":", "--")
_MARKERS = "osD^v"

# The state machine: inches.
_BOX = (1.65, 0.52)
_FRAME = (-2.95, 1.9)  # left and right edge of the frame round states
_STEP, _ASIDE = 1.12, 5.0  # from row to row, and from the column of states to that of ends
_LANE = 1.0  # from one arc to the next


@dataclass(frozen=True, slots=True)
class _Machine:
    """Where each state stands, and which way leads how."""

    places: Mapping[str, tuple[float, float]]
    rows: Mapping[str, int]
    ways: pd.DataFrame
    framed: tuple[str, ...]


def plot_protocol(table: pd.DataFrame) -> Figure:
    """Draw the state machine: states as boxes, ways between them as arrows.

    States that can be left stand in one column, in the order of the table. Who is turned away
    goes to the right, on the row of the state where that happens. States that one event leaves
    for the same end are framed, and one arrow leads out of the frame.

    The table has one row a way: ``from``, ``event``, ``condition``, ``to``, ``reason``,
    ``feedback``, ``discards_votes``.
    """
    machine = _laid_out(table)
    heights = [y for _, y in machine.places.values()]
    low, high = min(heights) - 0.45, max(heights) + 0.45
    left, right = _FRAME[0] - 0.1, _ASIDE + _BOX[0] / 2 + 0.1
    figure, axis = plt.subplots(figsize=(right - left, high - low))
    axis.set(xlim=(left, right), ylim=(low, high), aspect="equal")
    axis.axis("off")
    _draw_frame(axis, machine)
    feedback = set(table.loc[table["feedback"], "from"])
    discards = set(table.loc[table["discards_votes"], "to"])
    for name in machine.places:
        note = "feedback on mistakes" if name in feedback else ""
        note = "no votes count" if name in discards else note
        _draw_state(axis, machine, name, note, "warning" if name in discards else "blue")
    lanes: list[tuple[int, int]] = []
    for (start, end), ways in machine.ways.groupby(["from", "to"], sort=False):
        _draw_way(axis, machine, str(start), str(end), list(ways["label"]), lanes)
    return figure


def _laid_out(table: pd.DataFrame) -> _Machine:
    rows = {name: row for row, name in enumerate(dict.fromkeys(table["from"]))}
    shared = table.groupby(["event", "to"])["from"].transform("nunique") > 1
    common = shared & (table["condition"] == "") & ~table["to"].isin(list(rows))
    framed = tuple(dict.fromkeys(table.loc[common, "from"]))
    ways = table[~common].assign(label=_labels(table)[~common])
    places = {name: (0.0, -_STEP * row) for name, row in rows.items()}
    for start, end in zip(ways["from"], ways["to"], strict=True):
        if end not in rows:
            places[end] = (_ASIDE, places[start][1])
    for name in dict.fromkeys(table.loc[common, "to"]):
        places[name] = (0.0, -_STEP * (len(rows) + 0.25))
    return _Machine(places, rows, ways, framed)


def _labels(table: pd.DataFrame) -> pd.Series:
    """Say what takes each way: the event, and the condition where there are several ways."""
    choices = table.groupby(["from", "event"])["to"].transform("size")
    condition = [
        text.replace(f"{state} ", "")
        for state, text in zip(table["from"], table["condition"], strict=True)
    ]
    told = pd.Series(condition, index=table.index).replace("", "otherwise")
    return table["event"].where(choices == 1, table["event"] + ": " + told)


def _draw_frame(axis: Axes, machine: _Machine) -> None:
    """Frame the states that one event leaves alike, and lead out of the frame."""
    if not machine.framed:
        return
    heights = [machine.places[name][1] for name in machine.framed]
    left, right = _FRAME
    low, high = min(heights) - 0.45, max(heights) + 0.45
    axis.add_patch(
        FancyBboxPatch(
            (left, low), right - left, high - low, boxstyle="round,pad=0,rounding_size=0.15",
            facecolor="none", edgecolor=colour("muted"), linestyle=(0, (5, 4)), linewidth=1,
        )
    )  # fmt: skip
    top = min(y for _, y in machine.places.values()) + _BOX[1] / 2
    _arrow(axis, (0, low), (0, top))
    axis.text(0.1, (low + top) / 2, "stop, in any state of the frame", va="center", fontsize=9)


def _draw_state(axis: Axes, machine: _Machine, name: str, note: str, shade: str) -> None:
    (x, y), (width, height) = machine.places[name], _BOX
    axis.add_patch(
        FancyBboxPatch(
            (x - width / 2, y - height / 2), width, height,
            boxstyle="round,pad=0,rounding_size=0.1", facecolor=colour("low"),
            edgecolor=colour(shade), linewidth=1.6,
        )
    )  # fmt: skip
    lift = 0.1 if note else 0
    axis.text(x, y + lift, name, ha="center", va="center", fontweight="bold")
    axis.text(x, y - 0.12, note, ha="center", va="center", fontsize=8, color=colour("muted"))


def _arrow(axis: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    axis.annotate(
        "", end, start,
        arrowprops={"arrowstyle": "-|>", "color": colour("text"), "linewidth": 1.2,
                    "shrinkA": 0, "shrinkB": 0},
    )  # fmt: skip


def _draw_way(
    axis: Axes,
    machine: _Machine,
    start: str,
    end: str,
    labels: list[str],
    lanes: list[tuple[int, int]],
) -> None:
    (x, y), (to_x, to_y) = machine.places[start], machine.places[end]
    width, height = _BOX
    if end not in machine.rows:
        _arrow(axis, (x + width / 2, y), (to_x - width / 2, to_y))
        middle = (_FRAME[1] + to_x - width / 2) / 2
        for label, (rise, va) in zip(labels, ((0.06, "bottom"), (-0.06, "top")), strict=False):
            axis.text(middle, y + rise, fill(label, 30), ha="center", va=va, fontsize=9)
    elif machine.rows[end] == machine.rows[start] + 1:
        _arrow(axis, (x, y - height / 2), (to_x, to_y + height / 2))
        axis.text(x + 0.1, (y + to_y) / 2, labels[0], va="center", fontsize=9)
    else:
        _draw_arc(axis, machine, start, end, labels[0], lanes)


def _draw_arc(
    axis: Axes,
    machine: _Machine,
    start: str,
    end: str,
    label: str,
    lanes: list[tuple[int, int]],
) -> None:
    """Lead round on the left, in the first lane that is free between the two rows."""
    first, last = sorted((machine.rows[start], machine.rows[end]))
    lane = sum(not (last < a or first > b) for a, b in lanes)
    lanes.append((first, last))
    side = -_BOX[0] / 2
    out = side - 0.35 - _LANE * lane
    # The further out a lane, the further apart its ends, so that no arc crosses another.
    apart = 0.12 if first == last else -0.1 + 0.2 * lane
    order = list(machine.rows)
    upper = machine.places[order[first]][1] + apart
    lower = machine.places[order[last]][1] - apart
    up = machine.rows[end] <= machine.rows[start]
    y, to_y = (lower, upper) if up else (upper, lower)
    axis.plot([side, out, out], [y, y, to_y], color=colour("text"), linewidth=1.2)
    _arrow(axis, (out, to_y), (side, to_y))
    axis.text(
        out - 0.08, (y + to_y) / 2, label.replace(": ", ":\n"), ha="right", va="center", fontsize=9
    )


def plot_annotator_accuracy(table: pd.DataFrame) -> Figure:
    """Draw the accuracy on hidden checks over an annotator's items, a panel for each dataset.

    The table's columns are ``dataset``, ``who`` (``all``, drawn with a band, or ``careful``),
    ``items``, ``accuracy_percent``, ``low``, ``high``; ``plateau_percent`` and ``settled_after``,
    the published level and after how many items it is reached.
    """
    figure, panels = dataset_panels(table["dataset"], panel=(3.5, 3.1))
    lowest = min(table["low"].min(), table["plateau_percent"].min())
    for axis, dataset in panels:
        of_dataset = table[table["dataset"] == dataset.name]
        rows, careful = (of_dataset[of_dataset["who"] == who] for who in ("all", "careful"))
        shade = colour(dataset.colour)
        axis.fill_between(rows["items"], rows["low"], rows["high"], color=shade, alpha=0.2,
                          linewidth=0)  # fmt: skip
        axis.plot(rows["items"], rows["accuracy_percent"], color=shade, marker="o", markersize=4,
                  label="all annotators")  # fmt: skip
        axis.plot(careful["items"], careful["accuracy_percent"], color=colour("text"),
                  linestyle="-.", linewidth=1, label="careful ones alone")  # fmt: skip
        axis.axhline(
            rows["plateau_percent"].iloc[0], color=colour("text"), linestyle="--", linewidth=1.2
        )
        axis.axvline(
            rows["settled_after"].iloc[0], color=colour("muted"), linestyle=":", linewidth=1.2
        )
        axis.set(xlabel="items judged before", xlim=(0, None), ylim=(lowest - 3, 100))
        axis.yaxis.set_major_formatter(PercentFormatter(100, decimals=0))
        axis.set_ylabel("right answers to hidden checks" if axis is panels[0][0] else "")
        axis.legend(loc="lower right", fontsize=9)
    return figure


_VARIANTS = {"nothing": "published protocol", "every stage": "without any stage"}
_EFFECTS = {
    "tvd": "distance to the truth (TVD)",
    "dollars": "cost (dollars)",
    "hours": "annotators’ time (hours)",
}


def plot_protocol_effect(table: pd.DataFrame) -> Figure:
    """Draw error, cost and time of collections from which a stage was left out.

    The table has one row per share and variant: ``careless``, ``without``, ``floor_tvd``, and
    ``tvd``, ``dollars`` and ``hours``, each with ``…_low`` and ``…_high``.
    """
    figure, axes = plt.subplots(1, len(_EFFECTS), figsize=(10.5, 4.0))
    variants = list(dict.fromkeys(table["without"]))
    for axis, (name, title) in zip(axes, _EFFECTS.items(), strict=True):
        for number, without in enumerate(variants):
            rows = table[table["without"] == without].sort_values("careless")
            # Of a single collection the ends are the value, but for rounding.
            low, high = rows[name] - rows[f"{name}_low"], rows[f"{name}_high"] - rows[name]
            axis.errorbar(
                rows["careless"], rows[name], yerr=[low.clip(0), high.clip(0)],
                color=colour(_SHADES[number]), linestyle=_DASHES[number],
                marker=_MARKERS[number], markersize=5, linewidth=1.6, elinewidth=1,
                label=_VARIANTS.get(without, f"without {without}"),
            )  # fmt: skip
        axis.set(title=title, xlabel="careless applicants", ylim=(0, None))
        axis.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    floor = table["floor_tvd"].iloc[0]
    axes[0].axhline(floor, color=colour("muted"), linewidth=1.2)
    axes[0].annotate(
        "votes drawn from the truth", (1, floor),
        xycoords=("axes fraction", "data"), xytext=(0, -4), textcoords="offset points",
        ha="right", va="top", fontsize=9, color=colour("muted"),
    )  # fmt: skip
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure


def plot_bias_variance(table: pd.DataFrame) -> Figure:
    """Draw the squared error against the votes per item, with the bias that it runs into.

    The table's columns are ``without``, ``careless``, ``n_votes``, ``bias_squared``,
    ``squared_error``.
    """
    figure, axes = plt.subplots(1, len(_VARIANTS), figsize=(9, 4.0), sharey=True)
    for axis, (without, title) in zip(axes, _VARIANTS.items(), strict=True):
        of_panel = table[table["without"] == without]
        for number, (share, rows) in enumerate(of_panel.groupby("careless")):
            place = number % len(_SHADES)
            shade = colour(_SHADES[place])
            axis.plot(
                rows["n_votes"], rows["squared_error"], color=shade, linewidth=1.6,
                marker=_MARKERS[place], markersize=5, label=f"{share:.0%}",
            )  # fmt: skip
            axis.plot(rows["n_votes"], rows["bias_squared"], color=shade, linestyle="--",
                      linewidth=1)  # fmt: skip
        axis.set(title=title, xlabel="votes per item", xscale="log", yscale="log")
        sizes = sorted(set(table["n_votes"]))
        axis.set_xticks(sizes, [f"{size:,}" for size in sizes])
        axis.minorticks_off()
    axes[0].set_ylabel("mean squared error of the shares")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, title="careless applicants", loc="outside lower center",
                  ncols=len(labels))  # fmt: skip
    return figure
