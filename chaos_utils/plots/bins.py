"""Figures of scores by human agreement: bins of the votes' entropy."""

import math
import re
from collections.abc import Collection, Mapping
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from chaos_utils.base.style import HUES, ORANGE, Hue, colour, system_hues
from chaos_utils.datasets.catalogue import in_order, title_of
from chaos_utils.plots.panels import LINE, label_lines, panel_grid

_Look = tuple[str | Hue, str, Any]  # colour, marker, dashes
_BASELINE_LOOKS: dict[str, _Look] = {
    "commonest label of the bin": (HUES[7], "", "-."),
    "chance": ("text", "", ":"),
    "original votes": ("accent", "x", (0, (6, 2))),
}
_NOT_OF_MODELS = (ORANGE, HUES[6], HUES[7])  # of baselines, and a grey
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "*")
_DASHES: tuple[Any, ...] = ("-", "--", "-.", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))
_DODGE = 0.09  # keeps the intervals of neighbours apart
_PANEL, _HEAD = 2.35, 0.75  # inches: of a panel, and of what is not its plot


def plot_accuracy_by_entropy(table: pd.DataFrame) -> Figure:
    """Draw accuracy, in [0, 1], bin by bin, from a table as for `plot_jsd_by_entropy`."""
    names = {"chance": "commonest label", "commonest label of the bin": "commonest of the bin"}
    figure, axes = _plot(table, "new accuracy; higher is better", names)
    for axis in axes:
        axis.yaxis.set_major_formatter(PercentFormatter(1))
    return figure


def plot_jsd_by_entropy(table: pd.DataFrame) -> Figure:
    """Draw Jensen–Shannon distance bin by bin, a panel for each dataset and each pool.

    The table has one row for each ``dataset``, ``bin`` and ``system``: ``entropy_low_bits``,
    ``entropy_high_bits``, ``source``, ``role``, ``n_seeds``, ``value`` (distance, √nats), ``low``,
    ``high``. See `analyses.agreement.drawn`. Published models are a band from the lowest to the
    highest; a mean of two seeds has no interval, since two say little about others.
    """
    return _plot(table, "JSD (√nats); lower is better", {"chance": "uniform guess"})[0]


def plot_flattening(table: pd.DataFrame) -> Figure:
    """Draw how sure models are by how sure people are, a panel for each dataset.

    The table has one row for each ``dataset``, ``system`` and ``bin`` of people's entropy:
    ``people_bits`` and ``model_bits``. A model that is as sure as people is on the diagonal.
    """
    looks = model_looks(list(dict.fromkeys(table["system"])))
    n_lines = table.groupby("dataset")["system"].nunique().max() + 1
    height = max(_PANEL, LINE * n_lines + _HEAD)
    shown = in_order(table["dataset"])
    figure, axes = panel_grid(len(shown), columns=2, height=height)
    for axis, dataset in zip(axes, shown, strict=True):
        rows = table[table["dataset"] == dataset.name]
        most = 1.05 * rows[["people_bits", "model_bits"]].to_numpy().max()
        axis.set(xlim=(0, most), ylim=(0, most), title=dataset.title)
        axis.plot([0, most], [0, most], color=colour("muted"), linestyle="--", linewidth=1.2)
        ends = [(most, most, "as sure as people", colour("muted"))]
        for name, of_one in rows.groupby("system", sort=False):
            shade, marker, dashes = looks[str(name)]
            line = of_one.sort_values("bin")
            axis.plot(
                line["people_bits"], line["model_bits"], color=colour(shade), marker=marker,
                markersize=4, linestyle=dashes, linewidth=1.6,
            )  # fmt: skip
            last = line.iloc[-1]
            ends.append((last["people_bits"], last["model_bits"], str(name), colour(shade)))
        label_lines(axis, ends, height - _HEAD)
    figure.supylabel("mean entropy of the model (bits)", fontsize=8.5)
    figure.supxlabel("mean entropy of people (bits), in fifths", fontsize=8.5)
    return figure


def model_looks(models: Collection[str]) -> dict[str, _Look]:
    """Return a look for each model: colour, which no other system has, marker and dashes."""
    hues = system_hues(list(models), taken=_NOT_OF_MODELS)
    return dict(zip(models, zip(hues, cycle(_MARKERS), cycle(_DASHES), strict=False), strict=False))


def _plot(table: pd.DataFrame, heading: str, names: Mapping[str, str]) -> tuple[Figure, list[Axes]]:
    datasets = _panels(table["dataset"])
    computed = table[table["source"] == "computed"]
    models = computed.loc[computed["role"] != "baseline", "system"].unique()
    looks = model_looks(models)
    n_lines = computed.groupby("dataset")["system"].nunique().max() + 1
    height = max(_PANEL, LINE * n_lines + _HEAD)
    figure, axes = panel_grid(len(datasets), columns=2, height=height, sharey=True)
    top = math.sqrt(math.log(2)) * 0.75 if "JSD" in heading else 1.02
    for axis, dataset in zip(axes, datasets, strict=True):
        axis.set_ylim(0, max(top, 1.05 * table["value"].max() if "JSD" in heading else top))
        _draw_panel(axis, table[table["dataset"] == dataset], looks, names, height - _HEAD)
        axis.set_title(title_of(dataset))
        axis.tick_params(labelleft=True)
    figure.supylabel(heading, fontsize=8.5)
    figure.supxlabel("entropy of the votes (bits), edges of the bins", fontsize=8.5)
    return figure, axes


def _panels(groups: "pd.Series[str]") -> list[str]:
    """Order datasets and pools: datasets in no pool, then each pool and those it is made of."""
    shown = list(dict.fromkeys(groups))
    pools = [group for group in shown if "+" in group]
    alone = [one.name for one in in_order(group for group in shown if "+" not in group)]
    members = {pool: [name for name in alone if name in pool.split("+")] for pool in pools}
    pooled = [name for pool in pools for name in (pool, *members[pool])]
    return list(dict.fromkeys([*(name for name in alone if name not in pooled), *pooled]))


def _draw_panel(
    axis: Axes,
    table: pd.DataFrame,
    looks: dict[str, _Look],
    names: Mapping[str, str],
    height: float,
) -> None:
    ends: list[tuple[float, float, str, str]] = []  # of lines: where, name, colour
    published = table[table["source"] == "published"]
    if len(published):
        spans = published.groupby("bin")["value"].agg(["min", "max"])
        axis.fill_between(
            spans.index, spans["min"], spans["max"], color=colour("muted"), alpha=0.3, linewidth=0
        )
        name = f"{published['system'].nunique()} published models"
        last = spans.iloc[-1]
        ends.append((float(spans.index[-1]), float(last.mean()), name, colour("muted")))
    computed = table[table["source"] == "computed"]
    for name, (shade, marker, dashes) in _BASELINE_LOOKS.items():
        rows = computed[computed["system"] == name]
        if len(rows):
            axis.plot(
                rows["bin"], rows["value"], color=colour(shade), linestyle=dashes, linewidth=1.3,
                marker=marker, markersize=4,
            )  # fmt: skip
            ends.append((*_end(rows), names.get(name, name), colour(shade)))
    here = [name for name in looks if name in set(computed["system"])]
    for place, name in enumerate(here):
        shade, marker, dashes = looks[name]
        rows = computed[computed["system"] == name]
        bins = rows["bin"] + _DODGE * (place - (len(here) - 1) / 2)
        axis.plot(
            bins, rows["value"], color=colour(shade), linestyle=dashes, linewidth=1.6,
            marker=marker, markersize=4, zorder=3,
        )  # fmt: skip
        known = (rows["n_seeds"] != 2).to_numpy()
        axis.vlines(
            bins[known], rows["low"][known], rows["high"][known], color=colour(shade),
            linewidth=1.1, zorder=3,
        )  # fmt: skip
        short = re.sub(r", mean of (\d+ seeds)$", r", \1", name)
        ends.append((float(bins.iloc[-1]), float(rows["value"].iloc[-1]), short, colour(shade)))
    label_lines(axis, ends, height)
    edges = table.drop_duplicates("bin").sort_values("bin")
    limits = [*edges["entropy_low_bits"], edges["entropy_high_bits"].iloc[-1]]
    axis.set_xticks(np.arange(len(limits)) + 0.5, [f"{end:.2f}" for end in limits], fontsize=7)
    axis.set_xlim(0.5, len(limits) - 0.5)


def _end(rows: pd.DataFrame) -> tuple[float, float]:
    return float(rows["bin"].iloc[-1]), float(rows["value"].iloc[-1])
