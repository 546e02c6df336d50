"""The figure of where to spend the next vote."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from chaos_utils.base.style import colour
from chaos_utils.plots.marks import label_lines, line
from chaos_utils.plots.panels import dataset_panels, label_left

# Rules that have a line: name and colour.
_LINES = {
    "even": ("evenly", "muted"),
    "margin": ("small margins", "text"),
    "majority": ("open majorities", "blue"),
}


def plot_next_vote(table: pd.DataFrame) -> Figure:
    """Draw how often the majority is found against the votes per item, for each way to spend them.

    The table is as `analyses.next_vote.replay` gives it, for one or more datasets; bands are two
    standard deviations over replays each way. A thin line marks what the most even votes reach.
    """
    shown = table[table["quantity"] == "right"]
    spread = 2 * shown["sd"].where(shown["rule"] != "margin", 0)  # two bands hide the third
    shown = shown.assign(value_low=shown["value"] - spread, value_high=shown["value"] + spread)
    columns = 2 if shown["dataset"].nunique() == 4 else 3
    figure, panels = dataset_panels(shown, height=2.5, columns=columns)
    for axis, _, rows in panels:
        rules = {rule: rows[rows["rule"] == rule].sort_values("n_votes") for rule in _LINES}
        axis.axhline(rules["even"]["value"].iloc[-1], color=colour("muted"), linewidth=0.8)
        axis.set_xlim(rows["n_votes"].min() - 0.3, rows["n_votes"].max())
        axis.set_ylim(rows["value_low"].min() - 0.01, min(rows["value_high"].max() + 0.01, 1))
        ends = [
            line(axis, points, "n_votes", "value", name, hue)
            for rule, points in rules.items()
            for name, hue in [_LINES[rule]]
        ]
        label_lines(axis, ends)
        axis.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        axis.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        axis.set_xlabel("votes per item, on average")
    label_left((axis for axis, *_ in panels), "items with the right majority,\nhigher is better")
    return figure
