"""Figures about old and new labels."""

import math

import pandas as pd
import seaborn as sns
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure

from chaos_utils.base.style import colour
from chaos_utils.datasets.catalogue import in_order
from chaos_utils.plots.panels import dataset_panels

_ROOMY = 4  # labels that a panel of the usual size holds


def plot_label_transitions(table: pd.DataFrame) -> Figure:
    """Draw one heat map for each dataset: old majority in rows, new majority in columns.

    The table's columns are ``dataset``, ``n_votes``, ``old_label``, ``new_majority``, ``n``,
    ``row_share``.
    """
    n_labels = max(dataset.n_classes for dataset in in_order(table["dataset"]))
    size = max(1, n_labels / _ROOMY)
    figure, panels = dataset_panels(table["dataset"], panel=(3.4 * size, 3.3 * size))
    shades = LinearSegmentedColormap.from_list("shades", [colour("low"), colour("high")])
    for axis, dataset in panels:
        of_dataset = table[table["dataset"] == dataset.name]
        labels = list(dataset.labels)
        square = of_dataset.pivot(index="old_label", columns="new_majority", values="row_share")
        counts = of_dataset.pivot(index="old_label", columns="new_majority", values="n")
        square, counts = square.loc[labels, labels], counts.loc[labels, labels]
        sns.heatmap(
            square, vmin=0, vmax=1, cmap=shades, cbar=False, square=True, ax=axis, linewidths=1.5,
            linecolor=(0, 0, 0, 0),
        )  # fmt: skip
        for row, old in enumerate(labels):
            for column, new in enumerate(labels):
                share = square.loc[old, new]
                if math.isnan(share):
                    continue  # the old label does not occur
                axis.text(
                    column + 0.5,
                    row + 0.5,
                    f"{counts.loc[old, new]:,}\n{share:.0%}",
                    ha="center",
                    va="center",
                    color=_readable_on(shades(share)),
                )
        axis.grid(visible=False)
        n_votes = of_dataset["n_votes"].iloc[0]
        axis.set(
            xlabel="new majority" if pd.isna(n_votes) else f"new majority ({n_votes:,} votes)",
            ylabel="old label" if axis is panels[0][0] else "",
        )
        axis.tick_params(length=0)
        axis.set_xticklabels(labels, rotation=90 if len(labels) > _ROOMY else 0, fontsize=8.5)
        axis.set_yticklabels(labels, rotation=90, va="center", fontsize=8.5)
    return figure


def _readable_on(background: tuple[float, float, float, float]) -> str:
    """Return black or white, whichever stands out more (relative luminance as in WCAG)."""
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in to_rgb(background[:3])
    ]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if luminance > 0.179 else "#ffffff"
