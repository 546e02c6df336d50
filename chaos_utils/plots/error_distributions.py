"""Figures about errors item by item."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from chaos_utils.base.style import colour, system_hues
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.plots.marks import key, looks, stairs, write
from chaos_utils.plots.panels import panel_grid, system_title

_KEYS = ["system", "origin", "temperature"]
# What is drawn of each view; its table has more sides.
_SIDES = {"class": ["marginal"], "rank": ["signed"], "entropy": ["marginal", "signed"]}


def plot_error_distributions(table: pd.DataFrame) -> Figure:
    """Draw a histogram of item errors for each system, the first sample's outline behind.

    People come first, then systems by their mean error. The table has one row for each system and
    bin: ``system``, ``origin``, ``temperature``, ``bin_low``, ``bin_high``, ``n``, ``n_items``,
    ``mean``.
    """
    known = _looks(table)
    groups = list(table.groupby(_KEYS, sort=False))
    (_, first), people = groups[0], [one for one in groups if one[0][1] == "reference"]
    models = [one for one in groups if one[0][1] != "reference"]
    groups = people + sorted(models, key=lambda one: one[1]["mean"].iloc[0])
    figure, axes = panel_grid(len(groups), columns=1, height=1.15, sharex=True, sharey=True)
    for axis, (names, rows) in zip(axes, groups, strict=True):
        stairs(axis, rows, rows["n"] / rows["n_items"], known[names]["hue"], fill=True, alpha=0.75)
        if rows is not first:
            stairs(axis, first, first["n"] / first["n_items"], "text", linewidth=1)
        mean = rows["mean"].iloc[0]
        axis.axvline(mean, color=colour("text"), linestyle="--", linewidth=1)
        words = f"{system_title(*names)}\nmean {mean:.3f}"
        write(axis, words, (1, 1), (-3, -3), xycoords="axes fraction")
        axis.yaxis.set_major_formatter("{x:.0%}")
        axis.set(xlim=(0, 1))
    axes[-1].set_xlabel("DistCE of the item (total variation), lower is better")
    figure.supylabel("share of items", fontsize=8.5)
    return figure


def plot_error_views(table: pd.DataFrame) -> Figure:
    """Draw one view of errors, a panel for each dataset and class, rank or side.

    Classes: what people (filled) and systems give. Ranks: signed errors. Entropy: both. Marks on
    the axis are means.

    The table has the rows of one view: ``dataset``, ``system``, ``origin``, ``temperature``,
    ``view``, ``part``, ``side`` (marginal, signed, absolute), ``bin_low``, ``bin_high``, ``n``,
    ``n_items``, ``mean``. What people give has the origin ``reference``.
    """
    view, known = table["view"].iloc[0], _looks(table)
    drawn = list(_panels(table, view))
    columns = sum(dataset == drawn[0][0] for dataset, *_ in drawn)
    figure, axes = panel_grid(len(drawn), columns=columns, height=2.0)
    for axis, (dataset, part, side, rows) in zip(axes, drawn, strict=True):
        _draw_view(axis, rows, known)
        short = get_dataset(dataset).short
        axis.set_title(f"{short}: {part if side == _SIDES[view][0] else 'error'}")
        axis.set_xlabel(_label(view, side))
        if side == "signed":
            axis.axvline(0, color=colour("muted"), linewidth=0.8)
    shown = table.loc[table["side"].isin(_SIDES[view]), _KEYS].drop_duplicates()
    key(figure, {
        names[0] if names[1] == "reference" else system_title(*names):
            {**known[names], "linestyle": "-"}
        for names in shown.itertuples(index=False, name=None)
    })  # fmt: skip
    figure.supylabel("share of items", fontsize=8.5)
    # With many panels it takes long to lay them out, and each format would do it again.
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure


def _looks(table: pd.DataFrame) -> dict[tuple[str, str, float], dict[str, Any]]:
    """Return a look for each system, and a grey one for people."""
    known = list(table[_KEYS].drop_duplicates().itertuples(index=False, name=None))
    systems = [names for names in known if names[1] != "reference"]
    people = {names: {"hue": "muted", "marker": "o"} for names in known}
    return people | looks(systems, system_hues([names[0] for names in systems]))


def _panels(table: pd.DataFrame, view: str) -> Iterator[tuple[str, str, str, pd.DataFrame]]:
    for (dataset, part), rows in table.groupby(["dataset", "part"], sort=False):
        name = f"{part} label" if view == "rank" else part
        for side in _SIDES[view]:
            yield dataset, name, side, rows[rows["side"] == side]


def _label(view: str, side: str) -> str:
    if view == "entropy":
        return "nats" if side == "marginal" else "model − people, nats"
    return "share of the votes, or probability" if side == "marginal" else "model − people"


def _draw_view(axis: Axes, table: pd.DataFrame, known: Mapping[Any, Mapping[str, Any]]) -> None:
    for names, rows in table.groupby(_KEYS, sort=False):
        hue, marker = known[names]["hue"], known[names]["marker"]
        filled = names[1] == "reference"
        look: dict[str, Any] = {"fill": True, "alpha": 0.4} if filled else {"linewidth": 1.4}
        stairs(axis, rows, rows["n"] / rows["n_items"], hue, **look)
        axis.plot(rows["mean"].iloc[0], 0, marker, color=colour(hue), clip_on=False, zorder=3)
    axis.set(xlim=(table["bin_low"].min(), table["bin_high"].max()))
    axis.set_ylim(bottom=0)
    axis.xaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10]))
    axis.yaxis.set_major_locator(MaxNLocator(nbins=4, steps=[1, 2, 5, 10]))
    axis.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g}%")
