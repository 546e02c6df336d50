"""The figure of all systems in one unit."""

import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from chaos_utils.base.style import colour, is_narrow
from chaos_utils.datasets.catalogue import in_order
from chaos_utils.plots.marks import key, write
from chaos_utils.plots.panels import legible, row_panels

_LOWEST, _HIGHEST = -1.5, 10.0  # people; what lies beyond is not drawn
_LONGEST = 24  # letters of a name for which a phone has room
_APART = 0.17  # rows, between a system as it is and recalibrated
_LOOKS = {"recalibrated": ("blue", False), "as it is": ("muted", True)}  # colour, filled


def plot_scoreboard(table: pd.DataFrame) -> Figure:
    """Draw what systems are worth in people, as they are and recalibrated, in groups.

    A panel for each dataset has a row for each group, with a mark for each system. The table is as
    `scoreboard.drawn` gives it; groups stand in its order.
    """
    datasets = in_order(table["dataset"])
    parts = [table[table["dataset"] == dataset.name] for dataset in datasets]
    groups = [list(dict.fromkeys(part["group"])) for part in parts]
    figure, axes = row_panels(groups, row=0.3, sharex=True)
    for axis, dataset, part, names in zip(axes, datasets, parts, groups, strict=True):
        axis.axvline(0, color=colour("text"), linewidth=0.9)
        inside = part[part["value"].between(_LOWEST, _HIGHEST)]
        for how, (hue, filled) in _LOOKS.items():
            rows = inside[inside["how"] == how]
            shift = _APART if how == "as it is" else -_APART
            shade = colour(hue)
            sns.scatterplot(
                x=rows["value"], y=rows["group"].map(names.index) + shift, ax=axis, s=18,
                color=shade if filled else "none", edgecolor=shade, linewidth=0.9, alpha=0.8,
            )  # fmt: skip
        for row in inside[inside["is_best"]].to_dict("records"):
            if len(row["label"]) <= _LONGEST or not is_narrow():
                point = row["value"], names.index(row["group"]) - _APART
                write(axis, row["label"], point, (5, 0))
        room = 3.5 if is_narrow() else 0.3  # people: names at the right must not be cut
        axis.set(title=dataset.short, xlim=(_LOWEST - 0.2, _HIGHEST + room), xlabel="", ylabel="")
    figure.supxlabel("worth in people: 0 is the base rate; higher is better")
    key(
        figure,
        {
            "as it is": {"hue": "muted", "marker": "o"},
            "recalibrated": {"hue": "blue", "marker": "o", "markerfacecolor": "none"},
        },
    )
    return legible(figure)
