"""What the figures draw, by seaborn: intervals, lines, histograms; and names beside them.

Intervals come from the tables: seaborn resamples nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator
from matplotlib.typing import ColorType
from seaborn.utils import relative_luminance

from chaos_utils.base.style import (
    BLUE,
    GREEN,
    HUES,
    ORANGE,
    PINK,
    PURPLE,
    Hue,
    colour,
    distinct_hues,
    smallest_type,
    width,
)
from chaos_utils.metrics.skill import MARKS, skill_of_people
from chaos_utils.plots.systems import SYSTEM_NAMES

LINE = 0.1375  # inches: of a line of labels
# The colour of each kind of system.
KINDS = {"human": "muted", "baseline": "text", "model": "blue", "trained": "blue"}
# The references' lines: dashes, the height of the name in the panel, and its shift in points.
_REFERENCES = {
    "perfect model": (":", 0.02, (-2, 1)),
    "second crowd": ("-.", 0.02, (2.5, 1)),
    "uniform guess": ("--", 0.98, (2.5, -1)),
}
# Values for xycoords: only x, or only y, is in units of the data.
AT_X, AT_Y = ("data", "axes fraction"), ("axes fraction", "data")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "*")
_DASHES: tuple[Any, ...] = ("-", "--", "-.", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))
_TICKS = 4  # about how many numbers a logarithmic axis names

End = tuple[float, float, str, str]  # x and y of the end of a line, its name and its colour
# Each three values are an estimate and the two ends of its interval.
_TABLE_INTERVALS: dict[str, Any] = {
    "estimator": lambda three: three.iloc[0],
    "errorbar": lambda three: tuple(three.iloc[1:]),
}
_LINE: dict[str, Any] = {"marker": "o", "markersize": 3.5, "markeredgewidth": 1, "linewidth": 1.6}

# The families that stand in several figures have one colour in the whole book.
_FAMILY_HUES = {
    "RoBERTa-base": PURPLE, "RoBERTa-large": BLUE, "DeBERTa-v3-large": ORANGE,
    "ModernBERT-large": GREEN, "MPNet-base": PINK, "BERT-base": HUES[9], "MiniLM-L6": HUES[7],
}  # fmt: skip
_CONTEXT_HUE = HUES[6]  # a grey: no system's, since what is grey is context


def system_hues(names: Sequence[str], *, reserved: Sequence[Hue] = ()) -> list[Hue]:
    """Return a colour for each system of one plot: its family's, else one that is free.

    A system's name is its family's, which a comma and more may follow; the `names` may be as tables
    or as figures write them. The second system of a family, and systems of families without a
    colour, get colours that no other system here has and that are not `reserved`.
    """
    owned: dict[int, Hue] = {}
    for index, name in enumerate(names):
        family = name.partition(",")[0]
        hue = _FAMILY_HUES.get(SYSTEM_NAMES.get(family, family))
        if hue is not None and hue not in (*owned.values(), *reserved):
            owned[index] = hue
    unavailable = [*_FAMILY_HUES.values(), _CONTEXT_HUE, *reserved]
    free = [hue for hue in distinct_hues(len(names) + len(unavailable)) if hue not in unavailable]
    spare = iter(free)
    return [owned[index] if index in owned else next(spare) for index in range(len(names))]


def looks(names: Iterable[Any], hues: Iterable[str | Hue]) -> dict[Any, dict[str, Any]]:
    """Return a look for each of the `names`: one of the `hues`, a marker and dashes."""
    styles = zip(dict.fromkeys(names), hues, cycle(_MARKERS), cycle(_DASHES), strict=False)
    return {
        name: {"hue": hue, "marker": marker, "linestyle": dashes}
        for name, hue, marker, dashes in styles
    }


def intervals(
    axis: Axes, rows: pd.DataFrame, value: str, hue: str | Hue, marker: str = "o", *,
    hollow: bool = False,
) -> None:  # fmt: skip
    """Draw values with their intervals, each at its row's ``y``.

    The `rows` are drawn on the `axis`, no two at one ``y``. The ends of the interval of the column
    `value` are in ``…_low`` and ``…_high``, else in ``low`` and ``high``. A `hue` is a role of the
    style, or a colour in light and in dark; the `marker` may be `hollow`.
    """
    shade = colour(hue)
    prefix = f"{value}_" if f"{value}_low" in rows else ""
    positions, values = _with_ends(rows, "y", value, prefix)
    sns.pointplot(
        x=values, y=positions, orient="y", native_scale=True, **_TABLE_INTERVALS, ax=axis,
        color=shade, marker=marker, markersize=4.5, markeredgewidth=1,
        markerfacecolor="none" if hollow else shade, linestyle="none", err_kws={"linewidth": 1.4},
    )  # fmt: skip


def line(
    axis: Axes, rows: pd.DataFrame, x: str, y: str, name: str, hue: str | Hue, *,
    bars: bool = False, **look: Any,
) -> End:  # fmt: skip
    """Draw a column over another, and return where its name belongs.

    The column `y` of the `rows` is drawn over the column `x` on the `axis`, with a band where there
    are columns ``…_low`` and ``…_high`` for `y`, or with `bars` from ``low`` to ``high``. The `hue`
    is as for `intervals`; the `look` holds matplotlib's properties of a line. The end of the line
    is returned with the `name`, for `label_lines`.
    """
    shade = colour(hue)
    positions, values = _with_ends(rows, x, y, "" if bars else f"{y}_")
    sns.lineplot(
        x=positions, y=values, sort=False, **_TABLE_INTERVALS, ax=axis, color=shade,
        err_style="bars" if bars else "band", err_kws={"linewidth": 1.1 if bars else 0},
        **_LINE | {"markeredgecolor": shade} | look,
    )  # fmt: skip
    return float(rows[x].iloc[-1]), float(rows[y].iloc[-1]), name, shade


def _with_ends(
    rows: pd.DataFrame, position: str, value: str, prefix: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return positions and values of all rows, followed by those of their intervals' ends."""
    columns = [name for name in (value, f"{prefix}low", f"{prefix}high") if name in rows]
    values = [rows[name].to_numpy(float) for name in columns]
    return np.tile(rows[position].to_numpy(float), len(columns)), np.concatenate(values)


def histogram(
    axis: Axes, rows: pd.DataFrame, heights: "pd.Series[float]", hue: str | Hue,
    bins: tuple[str, str] = ("bin_low", "bin_high"), **look: Any,
) -> None:  # fmt: skip
    """Draw a height for each bin: filled, or an outline.

    There is one of the `heights` for each of the `rows`, which have the bins' edges in the two
    columns `bins`. The `axis`, the `hue` and the `look` are as for `line`.
    """
    low, high = bins
    style = {"element": "step", "color": colour(hue)} | look
    style |= {"linewidth": 0} if style.setdefault("fill", False) else {}
    middles, edges = (rows[low] + rows[high]).to_numpy() / 2, [*rows[low], rows[high].iloc[-1]]
    sns.histplot(x=middles, weights=heights.to_numpy(float), bins=edges, ax=axis, **style)
    axis.set_ylabel("")  # else seaborn writes "Count"


def label_lines(axis: Axes, ends: Iterable[End]) -> None:
    """Write the names of lines at the right of a panel, as near to their ends as there is room.

    The `ends` are those that `line` returns. The limits of the vertical `axis` must be set; it may
    be linear or logarithmic.
    """
    to_axes = axis.transData + axis.transAxes.inverted()
    labels = sorted((to_axes.transform((x, y))[1], x, y, name, shade) for x, y, name, shade in ends)
    line_height = LINE / (axis.get_position().height * axis.figure.get_figheight())  # type: ignore[union-attr]
    halves = [(1 + name.count("\n")) * line_height / 2 for *_, name, _ in labels]
    # From the bottom up, each label moves above the one before; then the highest ones move down.
    lowest, heights = -line_height / 2, []
    for (height, *_), half in zip(labels, halves, strict=True):
        heights.append(max(height, lowest + half))
        lowest = heights[-1] + half
    highest = 1 + line_height / 2
    for k in range(len(heights) - 1, -1, -1):
        heights[k] = min(heights[k], highest - halves[k])
        highest = heights[k] - halves[k]
    for (_, x, y, name, shade), height in zip(labels, heights, strict=True):
        axis.annotate(
            name, (x, y), (1.03, height), textcoords="axes fraction", va="center",
            fontsize=smallest_type(),
            color=shade if _is_readable(shade) else colour("text"),
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": shade, "linewidth": 0.6, "alpha": 0.7,
                        "shrinkA": 0, "shrinkB": 2, "relpos": (0, 0.5)},
        )  # fmt: skip


def write(
    axis: Axes, text: str, point: tuple[float, float], shift: tuple[float, float],
    hue: str | Hue = "text", **look: Any,
) -> None:  # fmt: skip
    """Write a text in small letters at a `point`, shifted right and up by some points of type."""
    across, up = shift
    axis.annotate(
        text, point, shift, textcoords="offset points", fontsize=smallest_type(), color=colour(hue),
        ha="left" if across > 0 else "right" if across < 0 else "center",
        va="bottom" if up > 0 else "top" if up < 0 else "center", **look,
    )  # fmt: skip


def reference(axis: Axes, name: str, x: float) -> None:
    """Draw a reference as a vertical line with its name along it; nothing where `x` is NaN."""
    if pd.isna(x):
        return
    dashes, height, shift = _REFERENCES[name]
    axis.axvline(x, color=colour("muted"), linestyle=dashes, linewidth=1.2, zorder=1)
    write(axis, name, (x, height), shift, "muted", xycoords=AT_X, rotation=90)


def note(
    axis: Axes, x: float, text: str, hue: str | Hue, *, right: bool, height: float = 0.97,
    **look: Any,
) -> None:  # fmt: skip
    """Draw a vertical line with a text beside it; the `height` is a share of the panel's."""
    axis.axvline(x, color=colour(hue), **{"linestyle": "--", "linewidth": 1.2, **look})
    shift = 4 if right else -4, -1 if height > 0.5 else 1
    write(axis, text, (x, height), shift, hue, xycoords=AT_X)


def skill_marks(credibility: float, lowest: float, apart: float) -> list[tuple[int, float]]:
    """Return numbers of people with their skill, the marks at least `apart`, also from `lowest`."""
    marks: list[tuple[int, float]] = []
    for people, skill in zip(MARKS, skill_of_people(MARKS, credibility), strict=True):
        if skill - lowest >= apart:
            marks.append((int(people), float(skill)))
            lowest = float(skill)
    return marks


def logarithmic(axis: Axes, sizes: Iterable[float]) -> list[float]:
    """Make the horizontal axis logarithmic, with ticks at some of the sizes; return the ticks."""
    numbers = sorted(set(sizes))
    apart = 0.95 * (numbers[-1] / numbers[0]) ** (1 / _TICKS)
    ticks: list[float] = []
    for size in reversed(numbers):
        if not ticks or size * apart <= ticks[0]:
            ticks.insert(0, size)
    ticks[0] = numbers[0]
    axis.set_xscale("log")
    axis.set_xticks(ticks, [f"{size:,g}" for size in ticks])
    axis.xaxis.set_minor_locator(NullLocator())
    return ticks


def key(
    figure: Figure, marks: Mapping[str, Mapping[str, Any]], title: str | None = None, *,
    panel: Axes | None = None,
) -> None:  # fmt: skip
    """Explain marks or lines above all panels of a figure, or above one.

    The `marks` have names and looks: a ``hue``, and matplotlib's properties of a line. They stand
    at the top of the `figure`, below a `title`; or, side by side, on the one `panel` that has them.
    """
    handles = []
    for name, look in marks.items():
        properties = {"linestyle": "", "markersize": 4.5, "color": colour(look["hue"]), **look}
        del properties["hue"]
        handles.append(Line2D([], [], label=name, **properties))
    if panel is not None:
        panel.legend(
            handles=handles, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=len(marks),
            columnspacing=0.6, handletextpad=0.1, borderaxespad=0.1,
        )  # fmt: skip
        return
    # In letters: each entry, whose mark and gaps take 6, and a line of the key.
    entry_widths, line_width = [len(name) + 6 for name in marks], 15 * width()
    figure.legend(
        handles=handles, loc="outside upper center",
        ncols=len(marks) if sum(entry_widths) <= line_width
        else max(1, int(line_width / max(entry_widths))),
        title=title, title_fontsize=smallest_type(), columnspacing=1.2, handletextpad=0.5,
        borderaxespad=0.1,
    )  # fmt: skip


def _is_readable(shade: ColorType) -> bool:
    """Return whether small letters of a colour stand out from the page (4.5 : 1, WCAG)."""
    page = relative_luminance(readable_on(colour("text")))
    low, high = sorted([page, relative_luminance(shade)])
    return (high + 0.05) / (low + 0.05) >= 4.5


def readable_on(background: ColorType) -> str:
    """Return black or white, whichever stands out more (relative luminance as in WCAG)."""
    return "#000000" if relative_luminance(background) > 0.179 else "#ffffff"
