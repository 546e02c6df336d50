"""Figures of scores by human agreement: bins of the votes' entropy."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chaos_utils.base.style import AMBER, ORANGE, SYSTEM_NAMES, colour
from chaos_utils.datasets.catalogue import in_order, title_of
from chaos_utils.plots.marks import LINE, End, label_lines, line, looks, system_hues
from chaos_utils.plots.panels import dataset_panels, panel_grid

_BASELINES: dict[str, dict[str, Any]] = {  # what is context is grey
    "commonest label of the bin": {"hue": "muted", "marker": "", "linestyle": "-."},
    "chance": {"hue": "text", "marker": "", "linestyle": ":"},
    "original votes": {"hue": "accent", "marker": "x", "linestyle": (0, (6, 2))},
}
_NOT_OF_MODELS = (ORANGE, AMBER)  # a baseline's, and one in which names cannot be read
_DODGE = 0.09  # keeps the intervals of neighbours apart
_PANEL, _HEADING = 2.35, 0.75  # inches: of a panel, and of what is not its plot
# More lines than a few that end nearer to each other than this part of a panel have one name.
_MOST_NAMES, _SAME_END = 3, 0.05


def plot_accuracy_by_entropy(table: pd.DataFrame) -> Figure:
    """Draw accuracy, in [0, 1], bin by bin, from a table as for `plot_jsd_by_entropy`."""
    names = {"chance": "commonest label", "commonest label of the bin": "commonest of the bin"}
    figure = _plot_by_bin(table, "new accuracy; higher is better", names, 1.02)
    for axis in figure.axes:
        axis.yaxis.set_major_formatter("{x:.0%}")
    return figure


def plot_jsd_by_entropy(table: pd.DataFrame) -> Figure:
    """Draw Jensen–Shannon distance bin by bin, a panel for each dataset and each pool.

    The table has one row for each ``dataset``, ``bin`` and ``system``: ``entropy_low_bits``,
    ``entropy_high_bits``, ``role``, ``n_seeds``, ``value`` (distance, √nats), ``low``, ``high``.
    See `analyses.agreement.drawn_rows`. The nine models of Nie et al. (2020) are a band from the
    lowest to the highest; a mean of two seeds has no interval, since two say little about others.
    """
    top = max(math.sqrt(math.log(2)) * 0.75, 1.05 * table["value"].max())
    return _plot_by_bin(table, "JSD (√nats); lower is better", {"chance": "uniform guess"}, top)


def plot_flattening(table: pd.DataFrame) -> Figure:
    """Draw how sure models are by how sure people are, a panel for each dataset.

    The table has one row for each ``dataset``, ``system`` and ``bin`` of people's entropy:
    ``people_bits`` and ``model_bits``. A model that is as sure as people is on the diagonal. Many
    lines that end close together are grey, and share a name.
    """
    shown = table.assign(system=table["system"].replace(SYSTEM_NAMES))
    systems = list(dict.fromkeys(shown["system"]))
    look_of = looks(systems, system_hues(systems, reserved=_NOT_OF_MODELS))
    figure, panels = dataset_panels(shown, height=_height(shown), columns=2)
    for axis, _, rows in panels:
        most = 1.05 * rows[["people_bits", "model_bits"]].to_numpy().max()
        axis.set(xlim=(0, most), ylim=(0, most))
        axis.plot([0, most], [0, most], color=colour("muted"), linestyle="--", linewidth=1.2)
        ends = [(most, most, "as sure as people", colour("muted"))]
        ordered = rows.sort_values("bin")
        for names in _group_by_end(ordered, _SAME_END * most):
            for name in names:
                look = look_of[name] | ({"hue": "muted"} if len(names) > 1 else {})
                of_one = ordered[ordered["system"] == name]
                *end, _, shade = line(axis, of_one, "people_bits", "model_bits", name, **look)
            ends.append((end[0], end[1], "\n".join(reversed(names)), shade))
        label_lines(axis, ends)
    figure.supylabel("mean entropy of the model (bits)", fontsize=8.5)
    figure.supxlabel("mean entropy of people (bits), in fifths", fontsize=8.5)
    return figure


def _group_by_end(rows: pd.DataFrame, apart: float) -> list[list[str]]:
    """Return the systems by where they end; together where many end close to each other."""
    last = rows.groupby("system")["model_bits"].last().sort_values()
    groups = [list(some.index) for _, some in last.groupby((last.diff() > apart).cumsum())]
    many = [names for names in groups if len(names) > _MOST_NAMES]
    return many + [[name] for names in groups if names not in many for name in names]


def _height(rows: pd.DataFrame) -> float:
    """Return the height of panels in which there is room for the names of all lines."""
    n_lines = rows.groupby("dataset")["system"].nunique().max() + 1
    return max(_PANEL, LINE * n_lines + _HEADING)


def _plot_by_bin(table: pd.DataFrame, heading: str, names: Mapping[str, str], top: float) -> Figure:
    family = table["system"].str.replace(r", (seed \d+|mean of \d+ seeds)$", "", regex=True)
    shown = table.assign(family=family)
    of_paper = shown["role"] == "model of the paper"
    ours, theirs = shown[~of_paper], shown[of_paper]
    families = ours.loc[ours["role"] != "baseline", "family"].unique()
    look_of = looks(families, system_hues(families, reserved=_NOT_OF_MODELS))
    pools = [name for name in shown["dataset"].unique() if "+" in name]
    datasets = [*(one.name for one in in_order(set(shown["dataset"]) - set(pools))), *pools]
    figure, axes = panel_grid(len(datasets), columns=2, height=_height(ours), sharey=True)
    for axis, dataset in zip(axes, datasets, strict=True):
        axis.set(ylim=(0, top), title=title_of(dataset))
        computed = ours[ours["dataset"] == dataset]
        ends = [*_draw_band(axis, theirs[theirs["dataset"] == dataset])]
        for name, look in _BASELINES.items():
            of_one = computed[computed["system"] == name]
            if len(of_one):
                ends.append(line(axis, of_one, "bin", "value", names.get(name, name), **look))
        ends += _draw_models(axis, computed, look_of)
        label_lines(axis, ends)
        edges = computed.drop_duplicates("bin").sort_values("bin")
        limits = [*edges["entropy_low_bits"], edges["entropy_high_bits"].iloc[-1]]
        # On two lines, so that they do not touch.
        names_of = ["\n" * (place % 2) + f"{edge:.2f}" for place, edge in enumerate(limits)]
        axis.set_xticks(np.arange(len(limits)) + 0.5, names_of, fontsize=7)
        axis.set_xlim(0.5, len(limits) - 0.5)
    figure.supylabel(heading, fontsize=8.5)
    figure.supxlabel("entropy of the votes (bits), edges of the bins", fontsize=8.5)
    return figure


def _draw_band(axis: Axes, several: pd.DataFrame) -> list[End]:
    """Draw the models of the paper as a band, which has one name."""
    if several.empty:
        return []
    spans = several.groupby("bin")["value"].agg(value_low="min", value_high="max")
    spans = spans.assign(value=spans.mean(axis=1)).reset_index()
    name = f"{several['system'].nunique()} models of 2020"
    return [line(axis, spans, "bin", "value", name, "muted", marker="", linewidth=0)]


def _draw_models(
    axis: Axes, computed: pd.DataFrame, look_of: Mapping[str, Mapping[str, Any]]
) -> list[End]:
    """Draw models, with their intervals, a little beside each other."""
    ends = []
    families = [name for name in look_of if name in set(computed["family"])]
    for place, name in enumerate(families):
        rows = computed[computed["family"] == name]
        rows = rows.assign(bin=rows["bin"] + _DODGE * (place - (len(families) - 1) / 2))
        n_seeds = int(rows["n_seeds"].iloc[0])
        title = f"{name}, {n_seeds} seeds" if n_seeds > 1 else name
        ends.append(line(axis, rows, "bin", "value", title, bars=n_seeds != 2, **look_of[name]))
    return ends
