"""Figures of the atlas of disagreement: a row for each dataset, and what few votes do."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chaos_utils.base.style import colour, is_narrow
from chaos_utils.datasets.catalogue import bundled_datasets, get_dataset
from chaos_utils.plots.marks import intervals, label_lines, line, logarithmic, write
from chaos_utils.plots.panels import panel_grid, row_panels

_ROW_HEIGHT = 0.37  # inches
_TALLEST_BAR = 0.72  # share of a row's height
_BELOW = 0.25  # rows, from a dataset's mean to that without some annotators
# The name of each estimate at its line, and the role of its colour.
_LINES = {
    "plain": ("as they are", "muted"),
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
    """Draw each dataset's quadratic entropy as a share of its maximum, the largest at the top.

    Rows whose ``part`` is ``mean`` have ``evenness`` and the ends of its interval, ``evenness_low``
    and ``evenness_high``, then ``n_labels``, and votes per item from ``fewest`` to ``most``. Rows
    of the part ``items`` have bins from ``low`` to ``high`` and the ``share`` of items in each.
    Rows of the part ``without``, drawn hollow, have the evenness without annotators near chance.
    The package's datasets that no other chapter shows are grey.
    """
    means = table[table["part"] == "mean"].sort_values("evenness", ascending=False, kind="stable")
    rows = means.to_dict("records")
    figure, (axis,) = row_panels([[_label(row) for row in rows]], row=_ROW_HEIGHT)
    for y, (row, tick_label) in enumerate(zip(rows, axis.get_yticklabels(), strict=True)):
        dataset = get_dataset(row["dataset"])
        is_context = not dataset.in_book and dataset in bundled_datasets()
        hue = "muted" if is_context else dataset.colour
        tick_label.set_color(colour("text" if is_context else hue))
        bins = table[(table["part"] == "items") & (table["dataset"] == dataset.name)]
        # Items by their own quadratic entropy, as bars that stand on the dataset's row.
        heights = bins["share"] / bins["share"].max() * _TALLEST_BAR
        axis.bar(bins["low"], -heights, bins["high"] - bins["low"], bottom=y, align="edge",
                 color=colour(hue), alpha=0.45, linewidth=0, zorder=1)  # fmt: skip
        axis.axhline(y, color=colour("grid"), linewidth=0.6, zorder=0)
        intervals(axis, pd.DataFrame([row | {"y": y}]), "evenness", hue)
        without = table[(table["part"] == "without") & (table["dataset"] == dataset.name)]
        if len(without):
            intervals(axis, without.assign(y=y + _BELOW), "evenness", hue, hollow=True)
    axis.set(xlim=(0, 1), ylim=(len(means) - 0.5, -0.8))
    axis.xaxis.set_major_formatter("{x:.0%}")
    explanation = "" if is_narrow() else " (100%: all labels equally often)"
    axis.set_xlabel(f"quadratic entropy, % of its maximum{explanation}")
    return figure


def _label(row: dict[str, float]) -> str:
    """Return a dataset's name, and on a second line its numbers of labels and votes per item."""
    fewest, most = int(row["fewest"]), int(row["most"])
    votes = f"{most}" if fewest == most else f"{fewest}–{most}"
    return f"{get_dataset(str(row['dataset'])).short}\n{int(row['n_labels'])} labels, {votes} votes"


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
    axis.axhline(truth, color=colour("text"), linewidth=0.8, linestyle="dashed")
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
