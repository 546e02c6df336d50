"""Figures about old and new labels."""

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chaos_utils.base.style import colour, width
from chaos_utils.datasets.catalogue import in_order
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.plots.marks import readable_on
from chaos_utils.plots.panels import row_panels

_BAR = 0.3  # inches: the height of a bar with its gap
_MARGINS = 1.1  # inches beside the bars, for the old labels
_LETTER = 0.08  # inches: the width of a letter


def plot_label_transitions(table: pd.DataFrame) -> Figure:
    """Draw how many items of each old label have which new majority, as stacked bars.

    Each dataset has a panel, each old label a bar. The table's columns are ``dataset``,
    ``old_label``, ``new_majority``, ``n``, ``row_share``.
    """
    datasets = in_order(table["dataset"])
    names = [[f"was {label}" for label in dataset.labels] for dataset in datasets]
    figure, axes = row_panels(names, row=_BAR, sharex=True)
    for axis, dataset in zip(axes, datasets, strict=True):
        dataset_rows = table[(table["dataset"] == dataset.name) & (table["n"] > 0)]
        _draw_bars(axis, dataset_rows.dropna(subset=["row_share"]), dataset)
        axis.set_title(dataset.short, loc="left")
    axes[-1].set_xlabel("share of the items with this old label")
    return figure


def _draw_bars(axis: Axes, rows: pd.DataFrame, dataset: Dataset) -> None:
    """Draw a bar for each old label, with a piece for each new majority."""
    label_index = {label: index for index, label in enumerate(dataset.labels)}
    shades = {label.name: colour(label.colour) for label in dataset.classes}
    rows = rows.sort_values("new_majority", key=lambda names: names.map(label_index))
    ends = rows.groupby("old_label")["row_share"].cumsum()
    sns.histplot(
        y=rows["old_label"].map(label_index).to_numpy(), weights=rows["row_share"].to_numpy(),
        hue=rows["new_majority"].to_numpy(), hue_order=list(reversed(shades)), palette=shades,
        multiple="stack", discrete=True, shrink=0.82, alpha=1, edgecolor=colour("grid"),
        linewidth=0.5, legend=False, ax=axis,
    )  # fmt: skip
    axis.set_xlabel("")  # else seaborn writes "Count"
    for row, end in zip(rows.to_dict("records"), ends, strict=True):
        share, label = row["row_share"], row["new_majority"]
        axis.text(
            end - share / 2, label_index[row["old_label"]],
            _fit_text(share, f"{row['n']:,}", label),
            ha="center", va="center", color=readable_on(shades[label]),
        )  # fmt: skip
    axis.set(xlim=(0, 1), ylim=(len(label_index) - 0.5, -0.5))
    axis.xaxis.set_major_formatter("{x:.0%}")
    axis.spines[["left", "bottom"]].set_visible(False)


def _fit_text(share: float, n: str, label: str) -> str:
    """Return "n label", or the number alone, or nothing: what fits into a piece of a bar."""
    room = share * (width() - _MARGINS) / _LETTER
    return next((text for text in (f"{n} {label}", n) if len(text) + 1 <= room), "")
