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
_LETTER = 0.08  # inches that a letter takes


def plot_label_transitions(table: pd.DataFrame) -> Figure:
    """Draw what became of each old label: a bar of its items, cut by their new majority.

    Each dataset has a panel, each old label a bar. The table's columns are ``dataset``,
    ``old_label``, ``new_majority``, ``n``, ``row_share``.
    """
    datasets = in_order(table["dataset"])
    names = [[f"was {label}" for label in dataset.labels] for dataset in datasets]
    figure, axes = row_panels(names, row=_BAR, sharex=True)
    for axis, dataset in zip(axes, datasets, strict=True):
        of_dataset = table[(table["dataset"] == dataset.name) & (table["n"] > 0)]
        _draw_bars(axis, of_dataset.dropna(subset=["row_share"]), dataset)
        axis.set_title(dataset.title, loc="left")
    axes[-1].set_xlabel("share of the items with this old label")
    return figure


def _draw_bars(axis: Axes, rows: pd.DataFrame, dataset: Dataset) -> None:
    places = {label: place for place, label in enumerate(dataset.labels)}
    shades = {label.name: colour(label.colour) for label in dataset.classes}
    rows = rows.sort_values("new_majority", key=lambda names: names.map(places))
    ends = rows.groupby("old_label")["row_share"].cumsum()
    sns.histplot(
        y=rows["old_label"].map(places).to_numpy(), weights=rows["row_share"].to_numpy(),
        hue=rows["new_majority"].to_numpy(), hue_order=list(reversed(shades)), palette=shades,
        multiple="stack", discrete=True, shrink=0.82, alpha=1, edgecolor=colour("grid"),
        linewidth=0.5, legend=False, ax=axis,
    )  # fmt: skip
    axis.set_xlabel("")  # "Count"
    for row, end in zip(rows.to_dict("records"), ends, strict=True):
        share, label = row["row_share"], row["new_majority"]
        axis.text(
            end - share / 2, places[row["old_label"]], _fit_text(share, f"{row['n']:,}", label),
            ha="center", va="center", color=readable_on(shades[label]),
        )  # fmt: skip
    axis.set(xlim=(0, 1), ylim=(len(places) - 0.5, -0.5))
    axis.xaxis.set_major_formatter("{x:.0%}")
    axis.spines[["left", "bottom"]].set_visible(False)


def _fit_text(share: float, n: str, label: str) -> str:
    """Return as much of "n label" as a piece of a bar has room for."""
    room = share * (width() - _MARGINS) / _LETTER
    return next((text for text in (f"{n} {label}", n) if len(text) + 1 <= room), "")
