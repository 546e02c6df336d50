"""Figures about how opinions are collected."""

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import fill

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from chaos_utils.base.style import colour, is_narrow, width
from chaos_utils.plots.marks import interval, key, line, looks, note
from chaos_utils.plots.panels import dataset_panels, label_left, row_panels


@dataclass(frozen=True, slots=True)
class _Plan:
    """Where the parts of the state machine stand: inches, but for letters and points."""

    box: tuple[float, float]
    end: float  # the width of an end's box
    frame: tuple[float, float]  # left and right edge of the frame round states
    step: float  # from row to row
    aside: float  # from the column of states to that of ends
    lane: tuple[float, float]  # from a box to the first arc, and from one arc to the next
    letters: int  # of a line of text beside an arrow to an end
    size: float  # of type


_WIDE = _Plan((1.4, 0.5), 1.3, (-2.5, 1.6), 0.95, 3.65, (0.3, 0.75), 19, 8)
_NARROW = _Plan((1.05, 0.6), 0.8, (-1.32, 0.68), 1.2, 1.93, (0.12, 0.42), 11, 7)


@dataclass(frozen=True, slots=True)
class _Machine:
    """Where each state stands, and which way leads how."""

    plan: _Plan
    places: Mapping[str, tuple[float, float]]
    rows: Mapping[str, int]
    ways: pd.DataFrame
    framed: tuple[str, ...]

    def width_of(self, name: str) -> float:
        """Return how wide a state's box is."""
        return self.plan.box[0] if self.places[name][0] == 0 else self.plan.end


def plot_protocol(table: pd.DataFrame) -> Figure:
    """Draw the state machine: states as boxes, ways between them as arrows.

    States that can be left stand in one column, in the order of the table. Who is turned away
    goes to the right, on the row of the state where that happens. States that one event leaves
    for the same end are framed, and one arrow leads out of the frame.

    The table has one row a way: ``from``, ``event``, ``condition``, ``to``, ``reason``,
    ``feedback``, ``discards_votes``.
    """
    machine = _laid_out(table, _NARROW if is_narrow() else _WIDE)
    plan = machine.plan
    heights = [y for _, y in machine.places.values()]
    low, high = min(heights) - 0.35, max(heights) + 0.35
    left, right = plan.frame[0] - 0.05, plan.aside + plan.end / 2 + 0.05
    figure, axis = plt.subplots(figsize=(width(), (high - low) * width() / (right - left)))
    axis.set(xlim=(left, right), ylim=(low, high), aspect="equal")
    axis.axis("off")
    _draw_frame(axis, machine)
    feedback = set(table.loc[table["feedback"], "from"])
    discards = set(table.loc[table["discards_votes"], "to"])
    for name in machine.places:
        words = "feedback on mistakes" if name in feedback else ""
        words = "no votes count" if name in discards else words
        _draw_state(axis, machine, name, words, "warning" if name in discards else "blue")
    lanes: list[tuple[int, int]] = []
    for (start, end), ways in machine.ways.groupby(["from", "to"], sort=False):
        _draw_way(axis, machine, str(start), str(end), list(ways["label"]), lanes)
    return figure


def _laid_out(table: pd.DataFrame, plan: _Plan) -> _Machine:
    rows = {name: row for row, name in enumerate(dict.fromkeys(table["from"]))}
    shared = table.groupby(["event", "to"])["from"].transform("nunique") > 1
    common = shared & (table["condition"] == "") & ~table["to"].isin(list(rows))
    framed = tuple(dict.fromkeys(table.loc[common, "from"]))
    ways = table[~common].assign(label=_labels(table)[~common])
    places = {name: (0.0, -plan.step * row) for name, row in rows.items()}
    for start, end in zip(ways["from"], ways["to"], strict=True):
        if end not in rows:
            places[end] = (plan.aside, places[start][1])
    for name in dict.fromkeys(table.loc[common, "to"]):
        places[name] = (0.0, -plan.step * (len(rows) + 0.25))
    return _Machine(plan, places, rows, ways, framed)


def _labels(table: pd.DataFrame) -> pd.Series:
    """Say what takes each way: the event, and the condition where there are several ways."""
    choices = table.groupby(["from", "event"])["to"].transform("size")
    condition = [
        text.replace(f"{state} ", "")
        for state, text in zip(table["from"], table["condition"], strict=True)
    ]
    needed = pd.Series(condition, index=table.index).replace("", "otherwise")
    return table["event"].where(choices == 1, table["event"] + ": " + needed)


def _draw_frame(axis: Axes, machine: _Machine) -> None:
    """Frame the states that one event leaves alike, and lead out of the frame."""
    if not machine.framed:
        return
    plan = machine.plan
    heights = [machine.places[name][1] for name in machine.framed]
    left, right = plan.frame
    edge = plan.box[1] / 2 + 0.12
    low, high = min(heights) - edge, max(heights) + edge
    axis.add_patch(
        FancyBboxPatch(
            (left, low), right - left, high - low, boxstyle="round,pad=0,rounding_size=0.12",
            facecolor="none", edgecolor=colour("muted"), linestyle=(0, (5, 4)), linewidth=1,
        )
    )  # fmt: skip
    top = min(y for _, y in machine.places.values()) + plan.box[1] / 2
    _arrow(axis, (0, low), (0, top))
    axis.text(
        0.1, (low + top) / 2, "stop, in any state of the frame", va="center", fontsize=plan.size
    )


def _draw_state(axis: Axes, machine: _Machine, name: str, words: str, shade: str) -> None:
    plan = machine.plan
    (x, y), height = machine.places[name], plan.box[1]
    width = machine.width_of(name)
    axis.add_patch(
        FancyBboxPatch(
            (x - width / 2, y - height / 2), width, height,
            boxstyle="round,pad=0,rounding_size=0.08", facecolor=colour("low"),
            edgecolor=colour(shade), linewidth=1.4,
        )
    )  # fmt: skip
    lines = fill(words, round(15.5 * width))  # letters that an inch holds
    lift = 0.06 * (1 + len(lines.splitlines())) if words else 0
    axis.text(x, y + lift, name, ha="center", va="center", fontweight="bold", fontsize=plan.size)
    axis.text(x, y - 0.1, lines, ha="center", va="center", fontsize=7, color=colour("muted"))


def _arrow(axis: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    axis.annotate(
        "", end, start,
        arrowprops={"arrowstyle": "-|>", "color": colour("text"), "linewidth": 1.1,
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
    plan = machine.plan
    (x, y), (to_x, to_y) = machine.places[start], machine.places[end]
    width, height = plan.box
    if end not in machine.rows:
        near = to_x - plan.end / 2
        _arrow(axis, (x + width / 2, y), (near, to_y))
        middle = (plan.frame[1] + near) / 2
        for label, (rise, va) in zip(labels, ((0.05, "bottom"), (-0.05, "top")), strict=False):
            text = fill(label, plan.letters)
            axis.text(middle, y + rise, text, ha="center", va=va, fontsize=plan.size)
    elif machine.rows[end] == machine.rows[start] + 1:
        _arrow(axis, (x, y - height / 2), (to_x, to_y + height / 2))
        text = fill(labels[0], plan.letters)
        axis.text(x + 0.08, (y + to_y) / 2, text, va="center", fontsize=plan.size)
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
    plan = machine.plan
    first, last = sorted((machine.rows[start], machine.rows[end]))
    lane = sum(not (last < a or first > b) for a, b in lanes)
    lanes.append((first, last))
    side = -plan.box[0] / 2
    out = side - plan.lane[0] - plan.lane[1] * lane
    # The further out a lane, the further apart its ends, so that no arc crosses another.
    apart = 0.12 if first == last else -0.1 + 0.2 * lane
    order = list(machine.rows)
    upper = machine.places[order[first]][1] + apart
    lower = machine.places[order[last]][1] - apart
    up = machine.rows[end] <= machine.rows[start]
    y, to_y = (lower, upper) if up else (upper, lower)
    axis.plot([side, out, out], [y, y, to_y], color=colour("text"), linewidth=1.1)
    _arrow(axis, (out, to_y), (side, to_y))
    upright = first < last and is_narrow()
    text = label if upright else label.replace(": ", ":\n")
    axis.text(
        out - 0.06, (y + to_y) / 2, text, ha="right", va="center", fontsize=plan.size,
        rotation=90 if upright else 0,
    )  # fmt: skip


def plot_annotator_accuracy(table: pd.DataFrame) -> Figure:
    """Draw the accuracy on hidden checks over an annotator's items, a panel for each dataset.

    The table's columns are ``dataset``, ``who`` (``all``, drawn with a band, or ``careful``),
    ``items``, ``accuracy_percent``, ``low``, ``high``; ``plateau_percent``, the published level.
    """
    figure, panels = dataset_panels(table, height=2.5)
    lowest = min(table["low"].min(), table["plateau_percent"].min())
    for axis, _, rows in panels:
        for who, some in rows.groupby("who"):
            line(axis, some, "items", "accuracy_percent", "", **_WHO[str(who)])
            if who == "all":
                axis.fill_between(some["items"], some["low"], some["high"], color=colour("blue"),
                                  alpha=0.2, linewidth=0)  # fmt: skip
        published = rows["plateau_percent"].iloc[0]
        axis.axhline(published, color=colour("muted"), linestyle="--", linewidth=1.2)
        axis.set(xlabel="items judged before", xlim=(0, None), ylim=(lowest - 3, 100))
        axis.yaxis.set_major_formatter("{x:.0f}%")
    label_left((axis for axis, *_ in panels), "right on hidden checks")
    key(figure, {
        "all annotators": {**_WHO["all"], "linestyle": "-"},
        "careful ones": _WHO["careful"],
        "published level": {"hue": "muted", "linestyle": "--"},
    })  # fmt: skip
    return figure


_SHADES = ("muted", "high", "text", "warning")  # the last for the largest share
_WHO = {"all": {"hue": "blue"}, "careful": {"hue": "text", "linestyle": "-.", "marker": ""}}
_VARIANTS = {
    "nothing": "published protocol",
    "every stage": "without any stage",
    "every stage, 1,000 votes per item": "none, but 1,000 votes",
}
_EFFECTS = {
    "tvd": ("Error", "TVD (lower is better)"),
    "dollars": ("Cost", "dollars"),
    "hours": ("Annotators’ time", "hours"),
}


def plot_protocol_effect(table: pd.DataFrame) -> Figure:
    """Draw error, cost and time of collections from which a stage was left out, a row for each.

    The table has one row per share and variant: ``careless``, ``without``, ``floor_tvd``, and
    ``tvd``, ``dollars`` and ``hours``, each with ``…_low`` and ``…_high``. Rows are sorted by
    their error at the largest share of careless applicants.
    """
    worst = table[table["careless"] == table["careless"].max()].sort_values("tvd")
    order = list(worst["without"])
    names = [_VARIANTS.get(one, f"without {one.removeprefix('the ')}") for one in order]
    figure, axes = row_panels([names], len(_EFFECTS), row=0.3)
    shares = sorted(set(table["careless"]))
    known = looks(shares, [_SHADES[(k - len(shares)) % len(_SHADES)] for k in range(len(shares))])
    for axis, (name, (title, unit)) in zip(axes, _EFFECTS.items(), strict=True):
        for row in table.to_dict("records"):
            look, place = known[row["careless"]], order.index(row["without"])
            values = [row[name], row[f"{name}_low"], row[f"{name}_high"]]
            interval(axis, place, values, look["hue"], look["marker"])
        axis.set(title=title, xlabel=unit)
        if name == "tvd":
            axis.set_xlim(left=0)
        else:
            axis.set_xscale("log")
            axis.minorticks_off()
        axis.xaxis.set_major_formatter("{x:,g}")
    note(axes[0], table["floor_tvd"].iloc[0], "chance alone", "muted", right=True, linestyle="-")
    axes[0].set_ylim(top=-1.2)  # room for the note
    key(figure, {f"{share:.0%}": {**look, "linestyle": ""} for share, look in known.items()},
        title="careless applicants")  # fmt: skip
    return figure
