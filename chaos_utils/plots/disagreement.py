"""Figures about the shape of disagreement."""

import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from chaos_utils.base.style import colour
from chaos_utils.datasets.catalogue import get_dataset, in_order
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.plots.panels import dataset_panels, the_votes

_SIN_60 = math.sqrt(3) / 2
# Half a percentage point off the round shares, so that none lies on an edge.
_SHARE_EDGES = np.r_[np.arange(-0.5, 95, 5), 100.5] / 100
# Of the patterns of old votes: the most frequent ones have a look.
_PATTERN_LOOKS = (
    ("-", "muted"),
    ("--", "accent"),
    ("-.", "blue"),
    ("-", "green"),
    ("--", "purple"),
    ("-.", "pink"),
)


def plot_entropy(table: pd.DataFrame, n_votes: int = 0) -> Figure:
    """Draw a histogram of item entropies for each dataset, with the mean marked.

    Parameters
    ----------
    table : DataFrame
        One row per item: ``dataset``, ``entropy_bits``.
    n_votes : int
        Votes that each item has; 0 where that varies.
    """
    figure, panels = dataset_panels(table["dataset"], panel=(3.3, 2.9))
    for axis, dataset in panels:
        values = table.loc[table["dataset"] == dataset.name, "entropy_bits"]
        upper = math.log2(dataset.n_classes)
        sns.histplot(
            x=values, bins=np.linspace(0, upper, 21), ax=axis,
            color=colour(dataset.colour), alpha=0.85, edgecolor="none",
        )  # fmt: skip
        mean = values.mean()
        axis.axvline(mean, color=colour("text"), linestyle="--", linewidth=1.2)
        right = mean < upper / 2
        axis.annotate(
            f"mean {mean:.2f}",
            (mean, 0.97),
            xycoords=("data", "axes fraction"),
            xytext=(5 if right else -5, 0),
            textcoords="offset points",
            ha="left" if right else "right",
            va="top",
        )
        axis.set(xlabel=f"entropy of {the_votes(n_votes)} (bits)", xlim=(0, upper))
        whole = MaxNLocator("auto", steps=[1, 2, 2.5, 5, 10], integer=True)
        axis.yaxis.set_major_locator(whole)  # there are no half items
        axis.set_ylabel("items" if axis is panels[0][0] else "")
        _leave_headroom(axis)
    return figure


def plot_majority_share(table: pd.DataFrame) -> Figure:
    """Draw, for each dataset, the share of items on which at least x of the votes agree.

    Parameters
    ----------
    table : DataFrame
        One row per item: ``dataset``, ``majority_share``.
    """
    figure, axis = plt.subplots(figsize=(6.4, 3.7))
    datasets = in_order(table["dataset"])
    for dataset in datasets:
        name = dataset.name
        values = np.sort(table.loc[table["dataset"] == name, "majority_share"].to_numpy())
        if len(values) == 0:
            continue
        at_least = 1 - np.arange(len(values)) / len(values)
        axis.step(
            np.r_[values, 1.0],
            np.r_[at_least, 0.0],
            where="pre",
            color=colour(dataset.colour),
            linestyle=dataset.dash,
            linewidth=2,
            label=dataset.title,
        )
    axis.set(
        xlabel="votes for the majority label, at least",
        ylabel="share of items",
        xlim=(1 / max(dataset.n_classes for dataset in datasets), 1),
        ylim=(0, 1.02),
    )
    axis.xaxis.set_major_formatter(PercentFormatter(1))
    axis.yaxis.set_major_formatter(PercentFormatter(1))
    axis.legend(loc="lower left")
    return figure


def plot_simplex(table: pd.DataFrame) -> Figure:
    """Draw each item as a point in the triangle of a dataset's three labels.

    The nearer a corner, the larger that label's share of the votes. Items with the same
    votes are one point, the larger the more items.

    Parameters
    ----------
    table : DataFrame
        One row per item: ``dataset``, ``share_1``, ``share_2``, ``share_3``,
        ``majority_label``. Datasets with fewer or more labels are left out; at least one
        has three.
    """
    n_labels = table["dataset"].map(lambda name: get_dataset(name).n_classes)
    three_way = table[n_labels == 3]
    figure, panels = dataset_panels(three_way["dataset"], panel=(4.3, 4.1))
    columns = ["share_1", "share_2", "share_3", "majority_label"]
    for axis, dataset in panels:
        _draw_triangle(axis, dataset)
        points = three_way[three_way["dataset"] == dataset.name].groupby(columns).size()
        spots = points.rename("n").reset_index()
        for label in dataset.classes:
            of_label = spots[spots["majority_label"] == label.name]
            axis.scatter(
                *_in_triangle(of_label[columns[:3]].to_numpy()),
                s=7 + 5 * (of_label["n"] - 1),
                color=colour(label.colour),
                alpha=0.6,
                linewidths=0,
                rasterized=True,  # thousands of points would make a heavy SVG
            )
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
    axis.set_title(dataset.title, pad=16)
    axis.set_aspect("equal")
    axis.set(xlim=(-0.06, 1.06), ylim=(-0.12, 0.98))
    axis.axis("off")


def plot_original_votes(table: pd.DataFrame, n_votes: int = 0) -> Figure:
    """Draw what a few original votes said of the items against what the new ones say.

    Upper row: the old label's share of the new votes, with its share of the old ones
    marked. Lower row: entropy of the new votes for each pattern of old votes, of those with
    the usual number of votes, with the entropy of that pattern itself marked.

    Parameters
    ----------
    table : DataFrame
        As `description.original_votes` gives it.
    n_votes : int
        New votes that each item has; 0 where that varies.
    """
    datasets = in_order(table["dataset"])
    figure, axes = plt.subplots(2, len(datasets), figsize=(4.4 * len(datasets), 5.6), squeeze=False)
    for column, dataset in enumerate(datasets):
        of_dataset = table[table["dataset"] == dataset.name]
        _draw_old_label_share(axes[0, column], of_dataset, dataset)
        _draw_entropy_by_pattern(axes[1, column], of_dataset)
        axes[0, column].set_xlabel(f"old label's share of {the_votes(n_votes)}")
        axes[1, column].set_xlabel(f"entropy of {the_votes(n_votes)} (bits)")
        axes[1, column].set_xlim(0, math.log2(dataset.n_classes))
        axes[0, column].set_title(dataset.title)
        axes[0, column].set_ylabel("items" if column == 0 else "")
        axes[1, column].set_ylabel("share of items, at most" if column == 0 else "")
    return figure


def _draw_old_label_share(axis: Axes, table: pd.DataFrame, dataset: Dataset) -> None:
    sns.histplot(
        x=table["old_label_share_after"], bins=_SHARE_EDGES, ax=axis,
        color=colour(dataset.colour), alpha=0.85, edgecolor="none",
    )  # fmt: skip
    before = table["old_label_share_before"].median()
    axis.axvline(before, color=colour("text"), linewidth=1.2, linestyle="--")
    axis.annotate(
        f"{before:.0%} of the\nold votes",
        (before, 0.97),
        xycoords=("data", "axes fraction"),
        xytext=(-5, 0),
        textcoords="offset points",
        ha="right",
        va="top",
    )
    axis.set(xlabel="", xlim=(0, 1))
    axis.xaxis.set_major_formatter(PercentFormatter(1))
    _leave_headroom(axis)


def _leave_headroom(axis: Axes) -> None:
    """Keep the bars of a histogram clear of the note at its top."""
    axis.set_ylim(top=axis.get_ylim()[1] * 1.18)
    axis.grid(visible=False, axis="x")


def _draw_entropy_by_pattern(axis: Axes, table: pd.DataFrame) -> None:
    for pattern, (dashes, shade) in zip(_patterns(table["pattern"]), _PATTERN_LOOKS, strict=False):
        rows = table[table["pattern"] == pattern]
        sns.ecdfplot(
            x=rows["entropy_bits_after"], ax=axis, color=colour(shade), linestyle=dashes,
            linewidth=2, label=f"{pattern} ({len(rows):,} items)",
        )  # fmt: skip
        axis.axvline(
            rows["entropy_bits_before"].iloc[0], color=colour(shade), linestyle=":", linewidth=1.4
        )
    axis.set_xlabel("")
    axis.yaxis.set_major_formatter(PercentFormatter(1))
    axis.legend(title="old votes", loc="upper left", fontsize=9, title_fontsize=9)


def _patterns(of_items: pd.Series) -> list[str]:
    """Return the commonest patterns with the usual number of votes, the most agreed one first."""
    frequent = of_items.value_counts()
    counts = {str(pattern): [int(n) for n in str(pattern).split("-")] for pattern in frequent.index}
    n_usual = sum(counts[str(frequent.index[0])])
    usual = [pattern for pattern in counts if sum(counts[pattern]) == n_usual]
    return sorted(usual[: len(_PATTERN_LOOKS)], key=lambda one: counts[one], reverse=True)
