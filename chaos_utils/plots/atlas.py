"""Figures of the atlas of disagreement: a row for each dataset, and what few votes do."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chaos_utils.base.style import colour, is_narrow
from chaos_utils.datasets.catalogue import bundled_datasets, get_dataset
from chaos_utils.plots.marks import intervals, label_lines, line, logarithmic, write
from chaos_utils.plots.panels import panel_grid, row_panels

_ROW_HEIGHT = 0.37  # inches
_TALLEST_BAR = 0.72  # share of a row's height
_MANY_LABELS = 4  # from here on, datasets share a panel
_BELOW = 0.25  # rows, from the mean without some annotators to that of all
# The name of each estimate at its line, and the role of its colour.
_LINES = {
    "plain": ("raw votes", "muted"),
    "miller_madow": ("Miller–Madow", "pink"),
    "prior": ("prior", "blue"),
    "unbiased": ("unbiased", "green"),
}
_TITLES = {
    "shannon": ("Shannon entropy", "mean, nats"),
    "quadratic": ("Quadratic entropy", "two people differ, mean"),
    "squared_distance": ("Squared distance", "mean vote to people"),
}


def plot_atlas(table: pd.DataFrame) -> Figure:
    """Draw how often two votes on an item differ, a panel for two, three and more labels.

    Rows whose ``part`` is ``mean`` have ``disagreement`` and the ends of its interval,
    ``disagreement_low`` and ``disagreement_high``, then ``n_labels``, votes per item from
    ``fewest`` to ``most``, and ``is_chosen`` where items were chosen for their disagreement; in
    each panel, the largest stands at the top. A tick marks the maximum for so many labels. Rows
    of the part ``items`` have bins from ``low`` to ``high``, as shares of this maximum, and the
    ``share`` of items in each. Rows of the part ``without`` have the disagreement without
    annotators near chance; this decides the place of a dataset, and that by all votes is hollow.
    The package's datasets that no other chapter shows are grey.
    """
    without = table[table["part"] == "without"].set_index("dataset")["disagreement"]
    means = table[table["part"] == "mean"]
    means = means.assign(place=means["dataset"].map(without).fillna(means["disagreement"]))
    means = means.sort_values("place", ascending=False, kind="stable")
    groups = means.groupby(means["n_labels"].clip(upper=_MANY_LABELS))
    figure, axes = row_panels(
        [[_label(row) for row in group.to_dict("records")] for _, group in groups],
        row=_ROW_HEIGHT, sharex=True,
    )  # fmt: skip
    for axis, (n_labels, group) in zip(axes, groups, strict=True):
        for y, row in enumerate(group.to_dict("records")):
            _draw_dataset(axis, y, row, table[table["dataset"] == row["dataset"]])
        axis.set(xlim=(0, 1), ylim=(len(group) - 0.5, -0.8))
        is_last = n_labels == _MANY_LABELS and group["n_labels"].max() > _MANY_LABELS
        axis.set_title(f"{int(n_labels)} labels" + (" or more" if is_last else ""), loc="left")
        axis.xaxis.set_major_formatter("{x:.0%}")
    explanation = "" if is_narrow() else " (tick: all labels equally often)"
    axes[-1].set_xlabel(f"chance that two votes on an item differ{explanation}")
    return figure


def _draw_dataset(axis: Axes, y: int, row: dict[str, Any], rows: pd.DataFrame) -> None:
    """Draw a dataset at the height `y`: its mean from `row`, its bins and the rest from `rows`."""
    dataset = get_dataset(row["dataset"])
    is_context = not dataset.in_book and dataset in bundled_datasets()
    hue = "muted" if is_context else dataset.colour
    axis.get_yticklabels()[y].set_color(colour("text" if is_context else hue))
    largest = 1 - 1 / row["n_labels"]
    # Items by their own quadratic entropy, as bars that stand on the dataset's row.
    bins = rows[rows["part"] == "items"]
    heights = bins["share"] / bins["share"].max() * _TALLEST_BAR
    low, high = bins["low"] * largest, bins["high"] * largest
    axis.bar(low, -heights, high - low, bottom=y, align="edge",
             color=colour(hue), alpha=0.45, linewidth=0, zorder=1)  # fmt: skip
    axis.axhline(y, color=colour("grid"), linewidth=0.6, zorder=0)
    axis.plot([largest], [y], marker="|", color=colour("text"), markersize=7, linestyle="none")
    without = rows[rows["part"] == "without"]
    by_all = pd.DataFrame([row])
    if len(without):
        intervals(axis, without.assign(y=y), "disagreement", hue)
        intervals(axis, by_all.assign(y=y + _BELOW), "disagreement", hue, hollow=True)
    else:
        intervals(axis, by_all.assign(y=y), "disagreement", hue)


def _label(row: dict[str, Any]) -> str:
    """Return a dataset's name, and below it the votes per item; many labels are counted too."""
    fewest, most = int(row["fewest"]), int(row["most"])
    votes = f"{most}" if fewest == most else f"{fewest}–{most}"
    labels = f"{int(row['n_labels'])} labels, " if row["n_labels"] >= _MANY_LABELS else ""
    chosen = ", chosen" if row["is_chosen"] else ""
    return f"{get_dataset(str(row['dataset'])).short}\n{labels}{votes} votes{chosen}"


def plot_few_votes(table: pd.DataFrame) -> Figure:
    """Draw how each estimate changes when votes are taken away from one dataset.

    The table is that of `analyses.atlas.few_votes`.
    """
    figure, axes = panel_grid(len(_TITLES), columns=3, height=2.3)
    for axis, (quantity, (title, label)) in zip(axes, _TITLES.items(), strict=True):
        _draw_thinning(axis, table[table["quantity"] == quantity])
        axis.set(title=title, xlabel="votes per item", ylabel=label)
    return figure


def _draw_thinning(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw a line for each estimate, and a dashed one at the value that all votes give."""
    truth = rows["of_all"].iloc[0]
    axis.axhline(truth, color=colour("text"), linewidth=0.8, linestyle="dashed", zorder=3)
    values = [*rows["value"], truth]
    room = 0.15 * (max(values) - min(values))
    axis.set_ylim(min(values) - room, max(values) + room)
    logarithmic(axis, rows["n_votes"])
    estimates = rows.groupby("estimate", sort=False)
    label_lines(
        axis,
        [
            line(axis, points, "n_votes", "value", *_LINES[str(estimate)])
            for estimate, points in estimates
        ],
    )
    write(axis, "all votes", (rows["n_votes"].min(), truth), (1, 2))
