"""Figures of scores by human agreement: bins of the votes' entropy."""

import math
from collections.abc import Collection
from itertools import cycle
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from chaos_utils.base.style import HUES, ORANGE, Hue, colour, distinct_hues
from chaos_utils.datasets.catalogue import in_order, title_of

_Look = tuple[str | Hue, str, Any]  # colour, marker, dashes
_BASELINE_LOOKS: dict[str, _Look] = {
    "commonest label of the bin": ("muted", "", "-."),
    "chance": ("text", "", ":"),
    "class prior": (HUES[7], "", "--"),
    "original votes": ("accent", "x", (0, (6, 2))),
}
_NOT_OF_MODELS = (ORANGE, HUES[6], HUES[7])  # of baselines, and a grey
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "*")
_DASHES: tuple[Any, ...] = ("-", "--", "-.", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))
_PUBLISHED = "models of Nie et al. (published)"
_DODGE = 0.09  # keeps the intervals of neighbours apart


def plot_accuracy_by_entropy(table: pd.DataFrame) -> Figure:
    """Draw accuracy, in [0, 1], bin by bin, from a table as for `plot_jsd_by_entropy`."""
    figure, axes = _plot(table, "accuracy on the new majority")
    for axis in axes:
        axis.set_ylim(0, 1.02)
        axis.yaxis.set_major_formatter(PercentFormatter(1))
    return figure


def plot_jsd_by_entropy(table: pd.DataFrame) -> Figure:
    """Draw Jensen–Shannon distance bin by bin, a panel for each dataset and each pool.

    The table has one row for each ``dataset``, ``bin`` and ``system``: ``entropy_low_bits``,
    ``entropy_high_bits``, ``source``, ``role``, ``value`` (distance, √nats), ``low``, ``high``.
    See `analyses.agreement.drawn`.
    """
    figure, axes = _plot(table, "JSD (distance, √nats)")
    top = max(math.sqrt(math.log(2)) * 0.75, 1.05 * table["value"].max())
    for axis in axes:
        axis.set_ylim(0, top)
    return figure


def model_looks(models: Collection[str]) -> dict[str, _Look]:
    """Return a look for each model: colour, which no other system has, marker and dashes."""
    known = distinct_hues(len(models) + len(_NOT_OF_MODELS))
    hues = [hue for hue in known if hue not in _NOT_OF_MODELS]
    return dict(zip(models, zip(hues, cycle(_MARKERS), cycle(_DASHES), strict=False), strict=False))


def _plot(table: pd.DataFrame, heading: str) -> tuple[Figure, list[Axes]]:
    datasets = _panels(table["dataset"])
    n_columns = min(len(datasets), 2)
    n_rows = math.ceil(len(datasets) / n_columns)
    figure, grid = plt.subplots(
        n_rows,
        n_columns,
        figsize=(3.4 + 3 * n_columns, 3.1 * n_rows + 1.2),
        sharey=True,
        squeeze=False,
    )
    computed = table[table["source"] == "computed"]
    models = computed.loc[computed["role"] != "baseline", "system"].unique()
    looks = model_looks(models)
    axes = list(grid.flat)
    for axis, dataset in zip(axes, datasets, strict=False):
        _draw_panel(axis, table[table["dataset"] == dataset], looks)
        axis.set_title(title_of(dataset))
    for axis in axes[len(datasets) :]:
        axis.remove()
    for row in grid[:, 0]:
        row.set_ylabel(heading)
    handles = {
        label: handle
        for axis in axes[: len(datasets)]
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    baselines = [f"{name} (computed)" for name in _BASELINE_LOOKS]
    order = sorted(handles, key=lambda label: (label == _PUBLISHED, label in baselines))
    figure.legend(
        [handles[label] for label in order],
        order,
        loc="outside lower center",
        ncols=1 + n_columns,
        fontsize=8.5,
        columnspacing=1.2,
    )
    return figure, axes[: len(datasets)]


def _panels(groups: "pd.Series[str]") -> list[str]:
    """Order datasets and pools: datasets in no pool, then each pool and those it is made of."""
    shown = list(dict.fromkeys(groups))
    pools = [group for group in shown if "+" in group]
    alone = [one.name for one in in_order(group for group in shown if "+" not in group)]
    members = {pool: [name for name in alone if name in pool.split("+")] for pool in pools}
    pooled = [name for pool in pools for name in (pool, *members[pool])]
    return list(dict.fromkeys([*(name for name in alone if name not in pooled), *pooled]))


def _draw_panel(axis: Axes, table: pd.DataFrame, looks: dict[str, _Look]) -> None:
    for _, rows in table[table["source"] == "published"].groupby("system", sort=False):
        axis.plot(
            rows["bin"], rows["value"], color=colour("muted"), linewidth=0.8, alpha=0.7,
            label=_PUBLISHED, zorder=1,
        )  # fmt: skip
    computed = table[table["source"] == "computed"]
    for name, (shade, marker, dashes) in _BASELINE_LOOKS.items():
        rows = computed[computed["system"] == name]
        if len(rows):
            axis.plot(
                rows["bin"], rows["value"], color=colour(shade), linestyle=dashes, linewidth=1.6,
                marker=marker, markersize=5, label=f"{name} (computed)",
            )  # fmt: skip
    here = [name for name in looks if name in set(computed["system"])]
    for place, name in enumerate(here):
        shade, marker, dashes = looks[name]
        rows = computed[computed["system"] == name]
        axis.errorbar(
            rows["bin"] + _DODGE * (place - (len(here) - 1) / 2),
            rows["value"],
            # Percentile ends lie on their sides of the value but for rounding.
            yerr=np.maximum([rows["value"] - rows["low"], rows["high"] - rows["value"]], 0),
            color=colour(shade),
            marker=marker,
            markersize=5,
            linestyle=dashes,
            linewidth=1.8,
            elinewidth=1.2,
            label=f"{name} (computed)",
            zorder=3,
        )
    if not here:
        # As a key, since that keeps clear of the lines.
        axis.legend(
            [Line2D([], [], linewidth=0)], ["no model computed here"], loc="best", handlelength=0,
            handletextpad=0, fontsize=9, labelcolor=colour("muted"),
        )  # fmt: skip
    edges = table.drop_duplicates("bin").sort_values("bin")
    ends = [*edges["entropy_low_bits"], edges["entropy_high_bits"].iloc[-1]]
    axis.set_xticks([0.5 + b for b in range(len(ends))], [f"{end:.2f}" for end in ends])
    axis.set(xlabel="entropy of the votes (bits), edges of the bins", xlim=(0.5, len(ends) - 0.5))
