"""Figures about the shape of disagreement."""

import math
from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from chaos_utils.base.style import colour, is_narrow, width
from chaos_utils.datasets.catalogue import in_order
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.plots.panels import dataset_panels, panel_grid

_SIN_60 = math.sqrt(3) / 2
# Of the patterns of old votes.
_PATTERN_LOOKS = (
    ("-", "text"),
    ("--", "muted"),
    ("-.", "blue"),
    ("-", "green"),
    ("--", "purple"),
    ("-.", "pink"),
)
_LARGEST_DOT = 18  # diameter in points: as wide as a cell
_KEY = (5, 50)  # items whose dots explain the sizes
_NAMED_AT, _NAME_HEIGHT = 78, 0.07  # percent of the votes at which lines are named; of the axis
_STAGGER = 0.2  # of the axis, from one pattern's name to the next


def plot_entropy(table: pd.DataFrame) -> Figure:
    """Draw a histogram of item entropies for each dataset, with the mean marked.

    Where the table has it, a line shows how many items would be in a bin if all splits were equally
    frequent. The table has one row per bin: ``dataset``, ``mean_bits``, ``low_bits``,
    ``high_bits``, ``n_items``, ``share_of_splits``.
    """
    figure, panels = dataset_panels(table["dataset"], height=2.3)
    for axis, dataset in panels:
        bins = table[table["dataset"] == dataset.name]
        upper = math.log2(dataset.n_classes)
        _bars(axis, bins["low_bits"], bins["high_bits"], bins["n_items"], dataset)
        mean = bins["mean_bits"].iloc[0]
        _mark(axis, mean, f"mean {mean:.2f}", right=mean < upper / 2)
        if bins["share_of_splits"].notna().all():
            _draw_splits(axis, bins)
        axis.set(xlabel="entropy (bits)", xlim=(0, upper))
        axis.set_ylabel("items" if axis is panels[0][0] or is_narrow() else "")
    return figure


def _draw_splits(axis: Axes, bins: pd.DataFrame) -> None:
    expected = bins["share_of_splits"] * bins["n_items"].sum()
    axis.stairs(expected, [0, *bins["high_bits"]], color=colour("muted"), linewidth=1.2)
    axis.set_ylim(top=max(axis.get_ylim()[1], 1.05 * expected.max()))
    axis.annotate(
        "if all splits\nwere equally\nfrequent", (bins["low_bits"].iloc[-1], 0.8),
        xycoords=("data", "axes fraction"), xytext=(-4, 0), textcoords="offset points",
        ha="right", va="top", color=colour("muted"),
    )  # fmt: skip


def _bars(
    axis: Axes, low: "pd.Series[float]", high: "pd.Series[float]", n_items: "pd.Series[int]",
    dataset: Dataset,
) -> None:  # fmt: skip
    """Draw a histogram, with room for a note at its top."""
    axis.bar(
        low, n_items, width=high - low, align="edge", color=colour(dataset.colour), alpha=0.85,
        edgecolor="none",
    )  # fmt: skip
    whole = MaxNLocator("auto", steps=[1, 2, 2.5, 5, 10], integer=True)
    axis.yaxis.set_major_locator(whole)  # there are no half items
    axis.set_ylim(top=axis.get_ylim()[1] * 1.18)
    axis.grid(visible=False, axis="x")


def _mark(axis: Axes, place: float, note: str, *, right: bool) -> None:
    axis.axvline(place, color=colour("text"), linestyle="--", linewidth=1.2)
    axis.annotate(
        note,
        (place, 0.97),
        xycoords=("data", "axes fraction"),
        xytext=(5 if right else -5, 0),
        textcoords="offset points",
        ha="left" if right else "right",
        va="top",
    )


def plot_majority_share(table: pd.DataFrame) -> Figure:
    """Draw, for each dataset, the share of items on which at least x of the votes agree.

    The table has one row for each share of the votes: ``dataset``, ``percent``,
    ``share_at_least``.
    """
    figure, axis = plt.subplots(figsize=(width(), 3.0))
    datasets = in_order(table["dataset"])
    first = 100 / max(dataset.n_classes for dataset in datasets)
    heights = {}
    for dataset in datasets:
        rows = table[table["dataset"] == dataset.name]
        axis.step(
            np.r_[rows["percent"] / 100, 1],
            np.r_[rows["share_at_least"], 0],
            where="pre",
            color=colour(dataset.colour),
            linestyle=dataset.dash,
            linewidth=2,
        )
        beyond = rows["percent"] >= _NAMED_AT
        heights[dataset.short] = float(rows.loc[beyond, "share_at_least"].iloc[0])
    places = _apart(heights, _NAME_HEIGHT)
    lowest = min(places, key=places.__getitem__)
    for dataset in datasets:  # the lowest is named below its line, the others above
        above = dataset.short != lowest or len(datasets) == 1
        axis.annotate(
            dataset.short, (_NAMED_AT / 100, places[dataset.short]),
            xytext=(6, 4) if above else (-6, -4), textcoords="offset points",
            ha="left" if above else "right", va="bottom" if above else "top",
            color=colour(dataset.colour), fontweight="bold",
        )  # fmt: skip
    axis.set(
        xlabel="votes for the majority label, at least",
        ylabel="share of items",
        xlim=(first / 100, 1),
        ylim=(0, 1.05),
    )
    axis.xaxis.set_major_formatter(PercentFormatter(1))
    axis.yaxis.set_major_formatter(PercentFormatter(1))
    return figure


def _apart(heights: Mapping[str, float], least: float) -> dict[str, float]:
    """Move names up, from the lowest on, until each is at least so far above the one below."""
    places: dict[str, float] = {}
    for name in sorted(heights, key=heights.__getitem__):
        places[name] = max([heights[name], *(place + least for place in places.values())])
    return places


def plot_simplex(table: pd.DataFrame) -> Figure:
    """Draw a dot for each cell in the triangle of a dataset's three labels.

    The nearer a corner, the larger that label's share of the votes. A dot's area is the number of
    items; all panels have one scale. The table has one row per cell: ``dataset``, ``percent_1``,
    ``percent_2``, ``percent_3``, ``majority_label``, ``n_items``. A row without a place is not
    drawn.
    """
    shown = in_order(table["dataset"])
    figure, axes = panel_grid(len(shown), columns=2, height=3.4)
    panels = list(zip(axes, shown, strict=True))
    cells = table[table["percent_1"].notna()]
    largest = max([*cells["n_items"], 1])
    scale = _LARGEST_DOT**2 / largest
    for axis, dataset in panels:
        _draw_triangle(axis, dataset)
        for label in dataset.classes:
            of_label = cells["majority_label"] == label.name
            some = cells[(cells["dataset"] == dataset.name) & of_label]
            shares = some[["percent_1", "percent_2", "percent_3"]].to_numpy(float) / 100
            axis.scatter(
                *_in_triangle(shares),
                s=scale * some["n_items"],
                color=colour(label.colour),
                linewidths=0,
                zorder=3,
                clip_on=False,
            )
    axis = panels[-1][0]
    for height, n_items in zip((0.92, 0.84), _KEY, strict=True):
        if n_items <= largest:
            axis.scatter(0.86, height, s=scale * n_items, color=colour("muted"), linewidths=0)
            axis.text(0.9, height, f"{n_items} items", va="center")
    return figure


def _in_triangle(shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """From shares to the plane: the first label lower left, the second top, the third right."""
    return shares[:, 2] + shares[:, 1] / 2, shares[:, 1] * _SIN_60


def _draw_triangle(axis: Axes, dataset: Dataset) -> None:
    corners = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]], dtype=float)
    axis.plot(*_in_triangle(corners), color=colour("muted"), linewidth=1)
    for level in (0.25, 0.5, 0.75):
        for k in range(3):
            ends = np.full((2, 3), 0.0)
            ends[:, k] = level
            ends[0, (k + 1) % 3] = ends[1, (k + 2) % 3] = 1 - level
            axis.plot(*_in_triangle(ends), color=colour("grid"), linewidth=0.7, zorder=0)
    places = (((-0.02, -0.04), "left", "top"), ((0.5, 0.9), "center", "bottom"),
              ((1.02, -0.04), "right", "top"))  # fmt: skip
    for label, (place, ha, va) in zip(dataset.labels, places, strict=True):
        axis.text(*place, label, ha=ha, va=va, color=colour("text"), fontweight="bold")
    axis.set_title(dataset.title, pad=3)
    axis.set_aspect("equal")
    axis.set(xlim=(-0.06, 1.06), ylim=(-0.12, 0.98))
    axis.axis("off")


def plot_original_votes(table: pd.DataFrame) -> Figure:
    """Draw what a few original votes said of the items against what the new ones say.

    First the old label's share of the new votes, with its share of the old ones marked. Then the
    entropy of the new votes, cumulated, for each pattern of old votes, with the entropy of that
    pattern itself marked.

    The table has one row per bin: ``dataset``, ``quantity`` (old_label_share, entropy_bits),
    ``pattern``, ``before``, ``low``, ``high``, ``n_items``, ``share_at_most``.
    """
    datasets = in_order(table["dataset"])
    figure, axes = panel_grid(2 * len(datasets), columns=len(datasets), height=2.3)
    pairs = zip(datasets, axes[: len(datasets)], axes[len(datasets) :], strict=True)
    for column, (dataset, upper, lower) in enumerate(pairs):
        bins = table[table["dataset"] == dataset.name]
        _draw_old_label_share(upper, bins[bins["quantity"] == "old_label_share"], dataset)
        _draw_entropy_by_pattern(lower, bins[bins["quantity"] == "entropy_bits"])
        first = column == 0 or is_narrow()
        upper.set(title=dataset.title, xlabel="old label's share of the new votes")
        upper.set_ylabel("items" if first else "")
        lower.set(title=dataset.title, xlabel="entropy of the new votes (bits)")
        lower.set_ylabel("share of items, at most" if first else "")
        lower.set(xlim=(0, math.log2(dataset.n_classes)), ylim=(0, 1))
    return figure


def _draw_old_label_share(axis: Axes, bins: pd.DataFrame, dataset: Dataset) -> None:
    _bars(axis, bins["low"], bins["high"], bins["n_items"], dataset)
    before = bins["before"].iloc[0]
    _mark(axis, before, f"{before:.0%} of the\nold votes", right=False)
    axis.set(xlim=(0, 1))
    axis.xaxis.set_major_formatter(PercentFormatter(1))


def _draw_entropy_by_pattern(axis: Axes, bins: pd.DataFrame) -> None:
    patterns = bins.groupby("pattern", sort=False)
    for place, (pattern, rows) in enumerate(patterns):
        dashes, shade = _PATTERN_LOOKS[place]
        before = rows["before"].iloc[0]
        axis.plot(
            np.r_[0, rows["high"]],
            np.r_[0, rows["share_at_most"]],
            color=colour(shade),
            linestyle=dashes,
            linewidth=2,
        )
        axis.axvline(before, color=colour(shade), linestyle=":", linewidth=1.4)
        # Curves rise from lower left to upper right: there is room at the top and the bottom.
        step = _STAGGER * (place // 2)
        right = before < bins["high"].max() / 4
        axis.annotate(
            f"{pattern}\n{rows['n_items'].sum():,} items",
            (before, 0.04 + step if place % 2 else 0.97 - step),
            xycoords=("data", "axes fraction"), xytext=(4 if right else -4, 0),
            textcoords="offset points", ha="left" if right else "right",
            va="bottom" if place % 2 else "top", color=colour(shade),
        )  # fmt: skip
    axis.yaxis.set_major_formatter(PercentFormatter(1))
