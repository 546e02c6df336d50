"""What the figures share: panels for each dataset, and what systems and votes are called."""

from collections.abc import Iterable, Sequence
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.typing import ColorType

from chaos_utils.base.style import colour, is_narrow, width
from chaos_utils.datasets.catalogue import in_order
from chaos_utils.datasets.dataset import Dataset


def panel_grid(n: int, *, columns: int, height: float, **options: Any) -> tuple[Figure, list[Axes]]:
    """Return a figure of the page's width with some panels, row by row.

    Parameters
    ----------
    n : int
        How many panels.
    columns : int
        At most so many beside each other; on a phone they stand in one column.
    height : float
        Of a panel, in inches.
    **options
        Those of `matplotlib.pyplot.subplots`.

    Returns
    -------
    tuple of Figure and list of Axes
        The figure, and its `n` panels.
    """
    columns = 1 if is_narrow() else min(n, columns)
    rows = -(-n // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(width(), height * rows), squeeze=False, **options
    )
    for unused in axes.flat[n:]:
        unused.set_visible(False)
    return figure, list(axes.flat[:n])


def dataset_panels(
    datasets: Iterable[str], *, height: float, **options: Any
) -> tuple[Figure, list[tuple[Axes, Dataset]]]:
    """Return a figure with one titled panel for each dataset, in the project's order.

    Parameters
    ----------
    datasets : iterable of str
        By name; each counts once.
    height : float
        Of a panel, in inches.
    **options
        As for `panel_grid`.

    Returns
    -------
    tuple of Figure and list of (Axes, Dataset)
        The figure, and its panels, each with its dataset.
    """
    shown = in_order(datasets)
    figure, axes = panel_grid(len(shown), columns=3, height=height, **options)
    pairs = list(zip(axes, shown, strict=True))
    for axis, dataset in pairs:
        axis.set_title(dataset.title)
    return figure, pairs


LINE = 0.125  # inches: of a line of labels


def label_lines(axis: Axes, ends: Sequence[tuple[float, float, str, str]], height: float) -> None:
    """Write the names of lines at the right of a panel, as high as their ends where there is room.

    Parameters
    ----------
    axis : Axes
        The panel. The limits of its vertical axis must be set, and that axis be linear or
        logarithmic.
    ends : sequence of (float, float, str, str)
        Of each line the place of its end on both axes, its name and its colour.
    height : float
        Of the plot, in inches.
    """
    to_axes = axis.transData + axis.transAxes.inverted()
    placed = sorted((to_axes.transform((x, y))[1], x, y, name, shade) for x, y, name, shade in ends)
    step, lowest = LINE / height, 0.0
    heights = []
    for wanted, *_ in placed:
        heights.append(max(wanted, lowest))
        lowest = heights[-1] + step
    highest = 1.0
    for k in range(len(heights) - 1, -1, -1):  # those at the top make room
        heights[k] = min(heights[k], highest)
        highest = heights[k] - step
    for (_, x, y, name, shade), place in zip(placed, heights, strict=True):
        axis.annotate(
            name, (x, y), (1.03, place), textcoords="axes fraction", fontsize=7.5, va="center",
            color=shade if _can_be_read(shade) else colour("text"),
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": shade, "linewidth": 0.6, "alpha": 0.7,
                        "shrinkA": 0, "shrinkB": 2, "relpos": (0, 0.5)},
        )  # fmt: skip


def system_title(system: str, origin: str, temperature: float) -> str:
    """Return how figures and tables call a system; references have no temperature to speak of."""
    if origin == "reference":
        return "oracle (the votes)" if system == "oracle" else system
    return f"{system}, T = {temperature:g}"


def _can_be_read(shade: ColorType) -> bool:
    """Say whether small letters of a colour stand out from the page (4.5 : 1, WCAG)."""
    page = _luminance(readable_on(colour("text")))
    low, high = sorted([page, _luminance(shade)])
    return (high + 0.05) / (low + 0.05) >= 4.5


def readable_on(background: ColorType) -> str:
    """Return black or white, whichever stands out more (relative luminance as in WCAG)."""
    return "#000000" if _luminance(background) > 0.179 else "#ffffff"


def _luminance(shade: ColorType) -> float:
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in to_rgb(shade)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
