"""Figures about how a hundred people answer."""

import math

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from chaos_utils.base.style import colour, is_narrow
from chaos_utils.datasets.catalogue import in_order
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.plots.marks import AT_X, histogram, line, note, write
from chaos_utils.plots.panels import dataset_panels, label_left, panel_grid

_BITS = ("low_bits", "high_bits")
_SIN_60 = math.sqrt(3) / 2
_LARGEST_DOT = 18  # diameter in points: as wide as a cell
_KEY = (5, 50)  # numbers of items, whose dots explain the sizes


def plot_entropy(table: pd.DataFrame) -> Figure:
    """Draw a histogram of item entropies for each dataset, with the mean marked.

    The table has one row per bin: ``dataset``, ``mean_bits``, ``low_bits``, ``high_bits``,
    ``n_items``, ``share_of_splits``. Unless the last is missing, a line shows how many items would
    be in each bin if all splits of the votes were equally frequent.
    """
    figure, panels = dataset_panels(table, height=2.3)
    for axis, dataset, rows in panels:
        _histogram(axis, rows, dataset, _BITS)
        upper, mean = math.log2(dataset.n_classes), rows["mean_bits"].iloc[0]
        note(axis, mean, f"mean {mean:.2f}", "text", right=mean < upper / 2)
        if rows["share_of_splits"].notna().all():
            expected = rows["share_of_splits"] * rows["n_items"].sum()
            histogram(axis, rows, expected, "muted", _BITS, linewidth=1.2)
            axis.set_ylim(top=max(axis.get_ylim()[1], 1.05 * expected.max()))
            words, point = "if all splits\nwere equally\nfrequent", (rows["low_bits"].iloc[-1], 0.8)
            write(axis, words, point, (-4, -1), "muted", xycoords=AT_X)
        axis.set(xlabel="entropy (bits)", xlim=(0, upper))
    label_left((axis for axis, *_ in panels), "items")
    return figure


def _histogram(axis: Axes, rows: pd.DataFrame, dataset: Dataset, bins: tuple[str, str]) -> None:
    """Draw how many items are in each bin, with room for a note at the top."""
    histogram(axis, rows, rows["n_items"], dataset.colour, bins, fill=True, alpha=0.85)
    # Whole numbers only: there are no half items.
    axis.yaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 2.5, 5, 10], integer=True))
    axis.set_ylim(0, 1.24 * rows["n_items"].max())
    axis.grid(visible=False, axis="x")


def plot_majority_share(table: pd.DataFrame) -> Figure:
    """Draw, for each dataset, the share of items on which at least x of the votes agree.

    The table has one row for each share of the votes: ``dataset``, ``percent``,
    ``share_at_least``.
    """
    figure, (axis,) = panel_grid(1, columns=1, height=3.0)
    datasets = in_order(table["dataset"])
    lowest = table.groupby("dataset")["share_at_least"].mean().idxmin()
    for place, dataset in enumerate(datasets, start=1):
        rows = table[table["dataset"] == dataset.name]
        rows = rows.assign(votes=rows["percent"] / 100)
        line(
            axis, rows, "votes", "share_at_least", dataset.short, dataset.colour, marker="",
            drawstyle="steps-pre", linewidth=2, linestyle=dataset.dash,
        )  # fmt: skip
        # Names stand at different heights, right of their lines but left of the lowest one.
        at = rows[rows["share_at_least"] >= place / (len(datasets) + 1)].iloc[-1]
        # On a phone, there is room beside the lowest and the highest line alone.
        below = dataset.name == lowest or (is_narrow() and place < len(datasets))
        shift = (-5, -5) if below else (5, 5)
        point = (at["votes"], at["share_at_least"])
        write(axis, dataset.short, point, shift, dataset.colour, fontweight="bold")
    axis.set(xlim=(1 / max(dataset.n_classes for dataset in datasets), 1), ylim=(0, 1.05))
    axis.set(xlabel="votes for the majority label, at least", ylabel="share of items")
    axis.xaxis.set_major_formatter("{x:.0%}")
    axis.yaxis.set_major_formatter("{x:.0%}")
    return figure


def plot_simplex(table: pd.DataFrame) -> Figure:
    """Draw a dot for each cell in the triangle of a dataset's three labels.

    The nearer a corner, the larger that label's share of the votes. A dot's area is the number of
    items; all panels have one scale. The table has one row per cell: ``dataset``, ``percent_1``,
    ``percent_2``, ``percent_3``, ``majority_label``, ``n_items``. Rows without percentages are not
    drawn.
    """
    figure, panels = dataset_panels(table, height=3.4, columns=2)
    cells = table[table["percent_1"].notna()]
    largest = max([*cells["n_items"], 1])
    scale = _LARGEST_DOT**2 / largest
    for axis, dataset, _ in panels:
        _draw_triangle(axis, dataset)
        dataset_cells = cells[cells["dataset"] == dataset.name]
        x, y = _in_triangle(
            dataset_cells[["percent_1", "percent_2", "percent_3"]].to_numpy(float) / 100
        )
        sns.scatterplot(
            x=x, y=y, hue=dataset_cells["majority_label"].to_numpy(),
            size=dataset_cells["n_items"].to_numpy(),
            palette={label.name: colour(label.colour) for label in dataset.classes},
            sizes=(0, scale * largest), size_norm=(0, largest), linewidth=0, legend=False,
            zorder=3, clip_on=False, ax=axis,
        )  # fmt: skip
    axis = panels[-1][0]
    for height, n_items in zip((0.92, 0.84), _KEY, strict=True):
        if n_items <= largest:
            axis.scatter(0.86, height, s=scale * n_items, color=colour("muted"), linewidths=0)
            write(axis, f"{n_items} items", (0.86, height), (9, 0))
    return figure


def _in_triangle(shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return x and y of shares, shape (n, 3): label 1 lower left, 2 at the top, 3 lower right."""
    return shares[:, 2] + shares[:, 1] / 2, shares[:, 1] * _SIN_60


def _draw_triangle(axis: Axes, dataset: Dataset) -> None:
    """Draw the triangle, grid lines at quarters of each label, and the labels at the corners."""
    corners = np.eye(3)
    axis.plot(*_in_triangle(corners[[0, 1, 2, 0]]), color=colour("muted"), linewidth=1)
    for level in (0.25, 0.5, 0.75):
        for k in range(3):
            ends = level * corners[k] + (1 - level) * corners[[k - 2, k - 1]]
            axis.plot(*_in_triangle(ends), color=colour("grid"), linewidth=0.7, zorder=0)
    corner_labels = (((-0.02, -0.04), "left", "top"), ((0.5, 0.9), "center", "bottom"),
                     ((1.02, -0.04), "right", "top"))  # fmt: skip
    for label, (point, ha, va) in zip(dataset.labels, corner_labels, strict=True):
        axis.text(*point, label, ha=ha, va=va, color=colour("text"), fontweight="bold")
    axis.set_aspect("equal")
    axis.set(xlim=(-0.06, 1.06), ylim=(-0.12, 0.98))
    axis.axis("off")


def plot_original_votes(table: pd.DataFrame) -> Figure:
    """Draw a histogram of the old label's share of the new votes, and mark its old share.

    The table has one row per bin: ``dataset``, ``before`` (the share of the old votes), ``low``,
    ``high``, ``n_items``.
    """
    figure, panels = dataset_panels(table, height=2.3)
    for axis, dataset, rows in panels:
        _histogram(axis, rows, dataset, ("low", "high"))
        old_share = rows["before"].iloc[0]
        note(axis, old_share, f"{old_share:.0%} of the\nold votes", "text", right=False)
        axis.set(xlim=(0, 1), xlabel="old label's share of the new votes")
        axis.xaxis.set_major_formatter("{x:.0%}")
    label_left((axis for axis, *_ in panels), "items")
    return figure
