"""The atlas of disagreement: a row for each dataset with votes."""

import pandas as pd
from matplotlib.figure import Figure

from chaos_utils.base.style import colour, is_narrow
from chaos_utils.datasets.catalogue import bundled_datasets, get_dataset
from chaos_utils.plots.marks import interval
from chaos_utils.plots.panels import row_panels

_ROW = 0.37  # inches
_TALLEST = 0.72  # of a row, of the fullest bin


def plot_atlas(table: pd.DataFrame) -> Figure:
    """Draw each dataset's quadratic entropy as a share of its maximum, the largest at the top.

    Rows whose ``part`` is ``mean`` have ``evenness`` with its ends ``evenness_low`` and
    ``evenness_high``, ``n_labels``, and votes per item from ``fewest`` to ``most``; those of
    ``items`` have bins from ``low`` to ``high`` with the ``share`` of items. Grey are the package's
    datasets that no other chapter shows.
    """
    means = table[table["part"] == "mean"].sort_values("evenness", ascending=False, kind="stable")
    rows = means.to_dict("records")
    figure, (axis,) = row_panels([[_label(row) for row in rows]], row=_ROW)
    for place, (row, text) in enumerate(zip(rows, axis.get_yticklabels(), strict=True)):
        dataset = get_dataset(row["dataset"])
        is_context = not dataset.in_book and dataset in bundled_datasets()
        hue = "muted" if is_context else dataset.colour
        text.set_color(colour("text" if is_context else hue))
        bins = table[(table["part"] == "items") & (table["dataset"] == dataset.name)]
        # Items by their own quadratic entropy, as bars that stand on the dataset's row.
        heights = bins["share"] / bins["share"].max() * _TALLEST
        axis.bar(bins["low"], -heights, bins["high"] - bins["low"], bottom=place, align="edge",
                 color=colour(hue), alpha=0.45, linewidth=0, zorder=1)  # fmt: skip
        axis.axhline(place, color=colour("grid"), linewidth=0.6, zorder=0)
        interval(axis, place, [row["evenness"], row["evenness_low"], row["evenness_high"]], hue)
    axis.set(xlim=(0, 1), ylim=(len(means) - 0.5, -0.8))
    axis.xaxis.set_major_formatter("{x:.0%}")
    end = "" if is_narrow() else " (100%: all labels equally often)"
    axis.set_xlabel(f"quadratic entropy, % of its maximum{end}")
    return figure


def _label(row: dict[str, float]) -> str:
    """Name a dataset, and below it how many labels and votes per item it has."""
    fewest, most = int(row["fewest"]), int(row["most"])
    votes = f"{most}" if fewest == most else f"{fewest}–{most}"
    return f"{get_dataset(str(row['dataset'])).short}\n{int(row['n_labels'])} labels, {votes} votes"
