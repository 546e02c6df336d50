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
# The first is a baseline's; names in the second cannot be read.
_RESERVED_HUES = (ORANGE, AMBER)
_DODGE = 0.09  # bins, from one model's marks to the next, so that intervals stay apart
_PANEL, _HEADING = 2.35, 0.75  # inches: the height of a panel, and of its title and axis labels
# More than _MOST_NAMES lines whose ends are within this share of a panel's height have one name.
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
    lowest to the highest; a mean of two seeds has no interval: two say little about other seeds.
    """
    top = max(math.sqrt(math.log(2)) * 0.75, 1.05 * table["value"].max())
    return _plot_by_bin(table, "JSD (√nats); lower is better", {"chance": "uniform guess"}, top)


def plot_flattening(table: pd.DataFrame) -> Figure:
    """Draw the entropy of models against the entropy of people, a panel for each dataset.

    The table has one row for each ``dataset``, ``system`` and ``bin`` of people's entropy:
    ``people_bits`` and ``model_bits``. A model that is as sure as people is on the diagonal. More
    than `_MOST_NAMES` lines that end close together are grey, and their names stand in one block.
    """
    titled = table.assign(system=table["system"].replace(SYSTEM_NAMES))
    systems = list(dict.fromkeys(titled["system"]))
    look_of = looks(systems, system_hues(systems, reserved=_RESERVED_HUES))
    figure, panels = dataset_panels(titled, height=_height(titled), columns=2)
    for axis, _, rows in panels:
        top = 1.05 * rows[["people_bits", "model_bits"]].to_numpy().max()
        axis.set(xlim=(0, top), ylim=(0, top))
        axis.plot([0, top], [0, top], color=colour("muted"), linestyle="--", linewidth=1.2)
        ends = [(top, top, "as sure as people", colour("muted"))]
        ordered = rows.sort_values("bin")
        for names in _group_by_end(ordered, _SAME_END * top):
            for name in names:
                look = look_of[name] | ({"hue": "muted"} if len(names) > 1 else {})
                points = ordered[ordered["system"] == name]
                x, y, _, shade = line(axis, points, "people_bits", "model_bits", name, **look)
            ends.append((x, y, "\n".join(reversed(names)), shade))
        label_lines(axis, ends)
    figure.supylabel("mean entropy of the model (bits)", fontsize=8.5)
    figure.supxlabel("mean entropy of people (bits), in fifths", fontsize=8.5)
    return figure


def _group_by_end(rows: pd.DataFrame, apart: float) -> list[list[str]]:
    """Return groups of systems: large ones whose lines end close together, then single systems."""
    ends = rows.groupby("system")["model_bits"].last().sort_values()
    cluster = (ends.diff() > apart).cumsum()
    clusters = [list(cluster_ends.index) for _, cluster_ends in ends.groupby(cluster)]
    large = [names for names in clusters if len(names) > _MOST_NAMES]
    return large + [[name] for names in clusters if names not in large for name in names]


def _height(rows: pd.DataFrame) -> float:
    """Return the height of panels in which there is room for the names of all lines."""
    n_lines = rows.groupby("dataset")["system"].nunique().max() + 1
    return max(_PANEL, LINE * n_lines + _HEADING)


def _plot_by_bin(table: pd.DataFrame, heading: str, names: Mapping[str, str], top: float) -> Figure:
    """Draw values by bin up to `top`: a panel per dataset or pool, baselines by new `names`."""
    family = table["system"].str.replace(r", (seed \d+|mean of \d+ seeds)$", "", regex=True)
    with_family = table.assign(family=family)
    is_of_paper = with_family["role"] == "model of the paper"
    paper_rows, other_rows = with_family[is_of_paper], with_family[~is_of_paper]
    families = other_rows.loc[other_rows["role"] != "baseline", "family"].unique()
    look_of = looks(families, system_hues(families, reserved=_RESERVED_HUES))
    pools = [name for name in with_family["dataset"].unique() if "+" in name]
    single = in_order(set(with_family["dataset"]) - set(pools))
    datasets = [*(dataset.name for dataset in single), *pools]
    figure, axes = panel_grid(len(datasets), columns=2, height=_height(other_rows), sharey=True)
    for axis, dataset in zip(axes, datasets, strict=True):
        axis.set(ylim=(0, top), title=title_of(dataset))
        dataset_rows = other_rows[other_rows["dataset"] == dataset]
        ends = [*_draw_band(axis, paper_rows[paper_rows["dataset"] == dataset])]
        for name, look in _BASELINES.items():
            points = dataset_rows[dataset_rows["system"] == name]
            if len(points):
                ends.append(line(axis, points, "bin", "value", names.get(name, name), **look))
        ends += _draw_models(axis, dataset_rows, look_of)
        label_lines(axis, ends)
        edges = dataset_rows.drop_duplicates("bin").sort_values("bin")
        limits = [*edges["entropy_low_bits"], edges["entropy_high_bits"].iloc[-1]]
        # Alternately on two lines, so that they do not touch.
        tick_labels = ["\n" * (index % 2) + f"{edge:.2f}" for index, edge in enumerate(limits)]
        axis.set_xticks(np.arange(len(limits)) + 0.5, tick_labels, fontsize=7)
        axis.set_xlim(0.5, len(limits) - 0.5)
    figure.supylabel(heading, fontsize=8.5)
    figure.supxlabel("entropy of the votes (bits), edges of the bins", fontsize=8.5)
    return figure


def _draw_band(axis: Axes, rows: pd.DataFrame) -> list[End]:
    """Draw the range of the models of the paper as one band with one name."""
    if rows.empty:
        return []
    spans = rows.groupby("bin")["value"].agg(value_low="min", value_high="max")
    spans = spans.assign(value=spans.mean(axis=1)).reset_index()
    name = f"{rows['system'].nunique()} models of 2020"
    return [line(axis, spans, "bin", "value", name, "muted", marker="", linewidth=0)]


def _draw_models(
    axis: Axes, rows: pd.DataFrame, look_of: Mapping[str, Mapping[str, Any]]
) -> list[End]:
    """Draw models, with their intervals, a little beside each other."""
    ends = []
    families = [name for name in look_of if name in set(rows["family"])]
    for index, name in enumerate(families):
        points = rows[rows["family"] == name]
        shift = _DODGE * (index - (len(families) - 1) / 2)
        points = points.assign(bin=points["bin"] + shift)
        n_seeds = int(points["n_seeds"].iloc[0])
        title = f"{name}, {n_seeds} seeds" if n_seeds > 1 else name
        ends.append(line(axis, points, "bin", "value", title, bars=n_seeds != 2, **look_of[name]))
    return ends
