"""What the figures share: panels, and the rows in them.

seaborn's FacetGrid lays panels out by itself, and leaves no room for names at their right and a key
above them; so the grids are matplotlib's.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from chaos_utils.base.style import is_narrow, smallest_type, width
from chaos_utils.datasets.catalogue import get_dataset, in_order, title_of
from chaos_utils.datasets.dataset import Dataset

_MARGIN, _HEAD = 0.5, 0.3  # inches: of a panel beside its rows, of a figure above its panels
_FEWEST_ROWS = 3  # rows for which a panel has room


def panel_grid(n: int, *, columns: int, height: float, **options: Any) -> tuple[Figure, list[Axes]]:
    """Return a figure of the page's width with some panels, row by row.

    There are `n` panels, each of a `height` in inches, in at most so many `columns`, on a phone in
    one. The `options` are those of `matplotlib.pyplot.subplots`.
    """
    columns = 1 if is_narrow() else min(n, columns)
    rows = -(-n // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(width(), height * rows), squeeze=False, **options
    )
    for axis in axes.flat:
        axis.tick_params(labelbottom=True, labelleft=True)  # also where panels share an axis
    for unused in axes.flat[n:]:
        unused.set_visible(False)
    return figure, list(axes.flat[:n])


def dataset_panels(
    table: pd.DataFrame, *, height: float, columns: int = 3, **options: Any
) -> tuple[Figure, list[tuple[Axes, Dataset, pd.DataFrame]]]:
    """Return a figure with one titled panel for each dataset, in the project's order.

    Each panel comes with its dataset and the dataset's rows of the `table`. The `height`, `columns`
    and `options` are as for `panel_grid`.
    """
    datasets = in_order(table["dataset"])
    figure, axes = panel_grid(len(datasets), columns=columns, height=height, **options)
    panels = [
        (axis, dataset, table[table["dataset"] == dataset.name])
        for axis, dataset in zip(axes, datasets, strict=True)
    ]
    for axis, dataset, _ in panels:
        axis.set_title(dataset.short)
    return figure, panels


def panel_title(group: str) -> str:
    """Return how a dataset, or several that are joined by ``+``, is called above a panel."""
    return title_of(group) if "+" in group else get_dataset(group).short


def label_left(axes: Iterable[Axes], label: str) -> None:
    """Label the vertical axes of the panels in the first column."""
    for axis in axes:
        cell = axis.get_subplotspec()
        if cell is not None and cell.is_first_col():
            axis.set_ylabel(label)


def legible(figure: Figure) -> Figure:
    """Return a figure whose letters are all as large as `style.smallest_type` at least."""
    smallest = smallest_type()
    for axis in figure.axes:
        for side in ("x", "y"):
            size = getattr(axis, f"{side}axis").get_ticklabels()[:1]
            if any(text.get_fontsize() < smallest for text in size):
                axis.tick_params(axis=side, labelsize=smallest)
    for text in figure.findobj(Text):
        text.set_fontsize(max(text.get_fontsize(), smallest))
    return figure


def row_panels(
    parts: Sequence[Sequence[str]], columns: int = 1, *, row: float = 0.18, **options: Any
) -> tuple[Figure, list[Axes]]:
    """Return a figure whose panels have named rows, from the top.

    Each of the `parts` holds the names of the rows of one line of panels. A line has as many panels
    as there are `columns`; on a phone, they stand below each other. A row is `row` inches high. The
    `options` are as for `panel_grid`.
    """
    n_columns = 1 if is_narrow() else columns
    lines = [names for names in parts for _ in range(columns // n_columns)]
    heights = [row * max(len(names), _FEWEST_ROWS) + _MARGIN for names in lines]
    figure, axes = plt.subplots(
        len(lines), n_columns, figsize=(width(), sum(heights) + _HEAD), height_ratios=heights,
        squeeze=False, **options,
    )  # fmt: skip
    for names, line_axes in zip(lines, axes, strict=True):
        for axis in line_axes:
            axis.set_yticks(range(len(names)), names, fontsize=smallest_type())
            axis.set_ylim(max(len(names), _FEWEST_ROWS) - 0.4, -0.7)
            axis.tick_params(axis="y", length=0, labelleft=axis is line_axes[0])
            axis.tick_params(axis="x", labelbottom=True)
            axis.grid(visible=False, axis="y")
    return figure, list(axes.flat)
