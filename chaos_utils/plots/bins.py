"""Figures of scores by human agreement: bins of the votes' entropy."""

import math
import re
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chaos_utils.base.style import Hue, colour, smallest_type
from chaos_utils.datasets.catalogue import in_order
from chaos_utils.plots.marks import End, label_lines, line, system_hues
from chaos_utils.plots.panels import dataset_panels, panel_grid, panel_title
from chaos_utils.plots.systems import SYSTEM_NAMES

_REFERENCES: dict[str, dict[str, Any]] = {  # the ends between which models lie
    "half a crowd": {"hue": "text", "marker": "", "linestyle": (0, (6, 2))},
    "chance": {"hue": "text", "marker": "", "linestyle": ":"},
}
_CONTEXT: dict[str, Any] = {"marker": "", "linewidth": 0.8, "alpha": 0.7}
_PANEL = 2.35  # inches: the height of a panel


def plot_accuracy_by_entropy(table: pd.DataFrame) -> Figure:
    """Draw accuracy, in [0, 1], bin by bin, from a table as for `plot_jsd_by_entropy`."""
    figure = _plot_by_bin(table, "new accuracy; higher is better", "commonest label", 1.02)
    for axis in figure.axes:
        axis.yaxis.set_major_formatter("{x:.0%}")
    return figure


def plot_jsd_by_entropy(table: pd.DataFrame) -> Figure:
    """Draw Jensen–Shannon distance bin by bin, a panel for each dataset and each pool.

    The table has one row for each ``dataset``, ``bin`` and ``system``: ``entropy_low_bits``,
    ``entropy_high_bits``, ``role``, ``in_colour``, ``value`` (distance, √nats), ``low``, ``high``.
    See `analyses.agreement.drawn_rows`. Models in colour have intervals; the nine models of Nie et
    al. (2020) are a band from the lowest to the highest; all others are thin grey lines.
    """
    top = max(math.sqrt(math.log(2)) * 0.75, 1.05 * table["value"].max())
    return _plot_by_bin(table, "JSD (√nats); lower is better", "uniform guess", top)


def plot_flattening(table: pd.DataFrame) -> Figure:
    """Draw the entropy of models against the entropy of people, a panel for each dataset.

    The table has one row for each ``dataset``, ``system`` and ``bin`` of people's entropy:
    ``people_bits``, ``model_bits`` and ``in_colour``. A model that is as sure as people is on the
    diagonal, a uniform guess at the top. Models that are not in colour are grey.
    """
    hue_of = _hues(table)
    figure, panels = dataset_panels(table, height=2.6, columns=2)
    for axis, dataset, rows in panels:
        most = math.log2(dataset.n_classes)
        axis.set(xlim=(0, most), ylim=(0, 1.04 * most))
        axis.axhline(most, color=colour("text"), linestyle=":", linewidth=1.2)
        axis.plot([0, most], [0, most], color=colour("text"), linestyle=(0, (6, 2)), linewidth=1.2)
        ends = [(most, most, "uniform guess", colour("text"))]
        ends.append((0.9 * most, 0.9 * most, "as sure as people", colour("text")))
        ordered = rows.sort_values(["in_colour", "bin"])
        for name, points in ordered.groupby("system", sort=False):
            look = (
                {"hue": hue_of[name], "linewidth": 2.2}
                if name in hue_of
                else {"hue": "muted"} | _CONTEXT
            )
            end = line(axis, points, "people_bits", "model_bits", _title(name), **look)
            ends += [end] if name in hue_of else []
        label_lines(axis, ends)
    figure.supylabel("mean entropy of the model (bits)")
    figure.supxlabel("mean entropy of people (bits), in fifths of the items")
    return figure


def _hues(table: pd.DataFrame) -> dict[str, Hue]:
    """Return the colour of each system that is in colour."""
    names = list(table.loc[table["in_colour"], "system"].unique())
    return dict(zip(names, system_hues(names), strict=True))


def _title(system: str) -> str:
    """Return the name of a system beside its line; the seeds of its mean are counted."""
    name = re.sub(r", mean of (\d+) seeds$", r",\n\1 seeds", system)
    return SYSTEM_NAMES.get(name, name)


def _plot_by_bin(table: pd.DataFrame, heading: str, guess: str, top: float) -> Figure:
    """Draw values by bin up to `top`, a panel per dataset or pool; the floor is named `guess`."""
    hue_of = _hues(table)
    pools = [name for name in table["dataset"].unique() if "+" in name]
    single = in_order(set(table["dataset"]) - set(pools))
    datasets = [*(dataset.name for dataset in single), *pools]
    figure, axes = panel_grid(len(datasets), columns=2, height=_PANEL, sharey=True)
    for axis, dataset in zip(axes, datasets, strict=True):
        axis.set(ylim=(0, top), title=panel_title(dataset))
        rows = table[table["dataset"] == dataset].sort_values("bin")
        ends = _draw_band(axis, rows[rows["role"] == "model of the paper"])
        is_context = rows["role"].isin(["model", "mean of seeds"]) & ~rows["in_colour"]
        for name, points in rows[is_context].groupby("system", sort=False):
            line(
                axis,
                points.drop(columns=["low", "high"]),
                "bin",
                "value",
                name,
                "muted",
                **_CONTEXT,
            )
        for name, look in _REFERENCES.items():
            points = rows[rows["system"] == name].drop(columns=["low", "high"])
            if len(points):
                ends.append(
                    line(axis, points, "bin", "value", guess if name == "chance" else name, **look)
                )
        for name, points in rows[rows["in_colour"]].groupby("system", sort=False):
            ends.append(line(axis, points, "bin", "value", _title(name), hue_of[name], bars=True))
        label_lines(axis, ends)
        edges = rows.drop_duplicates("bin")
        limits = [*edges["entropy_low_bits"], edges["entropy_high_bits"].iloc[-1]]
        # Alternately on two lines, so that they do not touch.
        tick_labels = ["\n" * (index % 2) + f"{edge:.2f}" for index, edge in enumerate(limits)]
        axis.set_xticks(np.arange(len(limits)) + 0.5, tick_labels, fontsize=smallest_type())
        axis.set_xlim(0.5, len(limits) - 0.5)
    figure.supylabel(heading)
    figure.supxlabel("entropy of the votes (bits), edges of the bins")
    return figure


def _draw_band(axis: Axes, rows: pd.DataFrame) -> list[End]:
    """Draw the range of the models of the paper as one band with one name."""
    if rows.empty:
        return []
    spans = rows.groupby("bin")["value"].agg(value_low="min", value_high="max")
    spans = spans.assign(value=spans.mean(axis=1)).reset_index()
    name = f"{rows['system'].nunique()} models of 2020"
    return [line(axis, spans, "bin", "value", name, "muted", marker="", linewidth=0)]
