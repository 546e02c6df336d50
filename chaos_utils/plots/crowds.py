"""The atlas of disagreement: a row for each dataset with votes."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from chaos_utils.base.style import colour, is_narrow, width
from chaos_utils.datasets.catalogue import bundled_datasets, get_dataset
from chaos_utils.datasets.dataset import Dataset

_ROW = 0.37  # inches
_TALLEST = 0.72  # of a row, of the fullest bin
_SMALL = 7.5


def plot_atlas(table: pd.DataFrame) -> Figure:
    """Draw each dataset's quadratic entropy as a share of its maximum, the largest at the top.

    Rows whose ``part`` is ``mean`` have ``evenness`` with its ends ``evenness_low`` and
    ``evenness_high``, ``n_labels``, and votes per item from ``fewest`` to ``most``; those of
    ``items`` have bins from ``low`` to ``high`` with the ``share`` of items. Grey are the package's
    datasets that no other chapter shows.
    """
    means = table[table["part"] == "mean"].sort_values("evenness", ascending=False, kind="stable")
    figure, axis = plt.subplots(figsize=(width(), _ROW * len(means) + 0.55), layout="constrained")
    rows = means.to_dict("records")
    axis.set_yticks(range(len(rows)), map(_label, rows), fontsize=7 if is_narrow() else _SMALL)
    for place, (row, text) in enumerate(zip(rows, axis.get_yticklabels(), strict=True)):
        dataset = get_dataset(row["dataset"])
        shade = colour("muted") if _is_context(dataset) else colour(dataset.colour)
        text.set_color(colour("text") if _is_context(dataset) else shade)
        bins = table[(table["part"] == "items") & (table["dataset"] == dataset.name)]
        _items(axis, bins, place, shade)
        axis.axhline(place, color=colour("grid"), linewidth=0.6, zorder=0)
        ends = [row["evenness_low"], row["evenness_high"]]
        axis.plot(ends, [place] * 2, color=shade, linewidth=1.6, zorder=3)
        axis.plot(row["evenness"], place, "o", color=shade, markersize=5, zorder=4, clip_on=False)
    axis.tick_params(axis="y", length=0)
    axis.set_ylim(len(means) - 0.5, -0.8)
    axis.set_xlim(0, 1)
    axis.grid(visible=False, axis="y")
    axis.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    end = "" if is_narrow() else " (100%: all labels equally often)"
    axis.set_xlabel(f"quadratic entropy, % of its maximum{end}")
    return figure


def _is_context(dataset: Dataset) -> bool:
    return not dataset.in_book and dataset in bundled_datasets()


def _items(axis: Axes, bins: pd.DataFrame, place: int, shade: str) -> None:
    """Draw items by their own quadratic entropy, as bars that stand on the dataset's row."""
    if not len(bins):
        return
    heights = bins["share"] / bins["share"].max() * _TALLEST
    axis.bar(bins["low"], -heights, bins["high"] - bins["low"], bottom=place, align="edge",
             color=shade, alpha=0.28, linewidth=0, zorder=1)  # fmt: skip


def _label(row: dict[str, float]) -> str:
    """Name a dataset, and below it how many labels and votes per item it has."""
    fewest, most = int(row["fewest"]), int(row["most"])
    votes = f"{most}" if fewest == most else f"{fewest}–{most}"
    return f"{get_dataset(str(row['dataset'])).short}\n{int(row['n_labels'])} labels, {votes} votes"
