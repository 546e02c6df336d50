"""The figure of every system's distance from humans."""

from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from chaos_utils.base.style import colour
from chaos_utils.datasets.catalogue import get_dataset, in_order

_TITLES = {"jsd": "JSD (distance, √nats)", "kl": "KL(human ‖ model), nats"}
_LINES = {"chance": "--", "floor": ":", "ceiling": "-."}
_MARKERS: dict[str, dict[str, Any]] = {
    "computed": {"marker": "o"},
    "published": {"marker": "D", "markerfacecolor": "none"},
}


def plot_results(table: pd.DataFrame) -> Figure:
    """Draw JSD and KL of every system, with the references as lines.

    The table has one row per ``dataset``, ``system`` and ``measure`` (jsd, kl): ``source``
    (computed, published), ``kind`` (chance, floor and ceiling become lines), ``value``, ``low``,
    ``high``.
    """
    names = [one.name for one in in_order(table["dataset"])]
    systems = table[~table["kind"].isin(_LINES)]
    n_systems = systems.groupby("dataset")["system"].nunique()
    heights = [max(1, n_systems.get(name, 0)) for name in names]
    figure, axes = plt.subplots(
        len(names), 2, figsize=(8.2, 0.24 * sum(heights) + 0.9 * len(names)), squeeze=False,
        gridspec_kw={"height_ratios": heights},
    )  # fmt: skip
    for row, name in enumerate(names):
        shade = get_dataset(name).colour
        of_dataset = table[table["dataset"] == name]
        order = list(dict.fromkeys(systems[systems["dataset"] == name]["system"]))[::-1]
        for axis, measure in zip(axes[row], _TITLES, strict=True):
            rows = of_dataset[of_dataset["measure"] == measure]
            for system in rows[~rows["kind"].isin(_LINES)].to_dict("records"):
                height = order.index(system["system"])
                axis.plot([system["low"], system["high"]], [height] * 2, color=colour(shade))
                look = _MARKERS[system["source"]]
                axis.plot(system["value"], height, color=colour(shade), markersize=5, **look)
            for kind, dashes in _LINES.items():
                for value in rows[rows["kind"] == kind]["value"]:
                    axis.axvline(value, color=colour("text"), linestyle=dashes, linewidth=1)
            axis.set_yticks(range(len(order)), order if measure == "jsd" else [], fontsize=8)
            axis.set_ylim(-0.7, len(order) - 0.3)
            axis.set_title(f"{get_dataset(name).title}: {_TITLES[measure]}", fontsize=9.5)
            axis.grid(visible=False, axis="x")
            if measure == "kl":
                axis.set_xscale("log")
    return figure
