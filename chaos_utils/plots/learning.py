"""The figure of methods that move one encoder toward the human distribution."""

import pandas as pd
from matplotlib.figure import Figure

from chaos_utils.base.style import colour
from chaos_utils.datasets.catalogue import in_order
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.plots.marks import interval, key, reference
from chaos_utils.plots.panels import row_panels

_MEASURES = ("jsd", "signed_ent_ce")
# What a method learned from: its name in the key, marker and colour. Who saw votes stands out.
_SOURCES = {
    "train": ("training labels", "o", "muted"),
    "dev": ("and development labels", "s", "muted"),
    "votes": ("and votes on other items", "D", "purple"),
}


def plot_learning(table: pd.DataFrame) -> Figure:
    """Draw each method's JSD and signed entropy error on each dataset, the lowest JSD on top.

    Colour and marker say what a method learned from. The table has one row for each ``dataset``,
    ``method`` or reference, and ``measure``: ``title``, ``kind`` (reference, method),
    ``learned_from``, ``value``, ``low``, ``high``.
    """
    shown = in_order(table["dataset"])
    references = table[table["kind"] == "reference"]
    methods = table[table["kind"] != "reference"].sort_values("value", kind="stable")
    by_jsd = methods[methods["measure"] == "jsd"]
    orders = [list(dict.fromkeys(by_jsd.loc[by_jsd["dataset"] == one.name, "title"]))
              for one in shown]  # fmt: skip
    figure, axes = row_panels(orders, len(_MEASURES), row=0.2)
    places = [(one, name, order) for one, order in zip(shown, orders, strict=True)
              for name in _MEASURES]  # fmt: skip
    for axis, (dataset, name, order) in zip(axes, places, strict=True):
        here = (methods["dataset"] == dataset.name) & (methods["measure"] == name)
        for row in methods[here].to_dict("records"):
            _, marker, hue = _SOURCES[row["learned_from"]]
            values = [row["value"], row["low"], row["high"]]
            interval(axis, order.index(row["title"]), values, hue, marker)
        axis.margins(x=0.08)
        if name != "jsd":
            axis.axvline(0, color=colour("muted"), linewidth=1, zorder=1)
            axis.set_xlabel("entropy minus people’s (nats), 0 is best")
            continue
        here = (references["dataset"] == dataset.name) & (references["measure"] == name)
        for row in references[here].to_dict("records"):
            reference(axis, row["title"], row["value"])
        axis.set_title(dataset.title, loc="left")
        axis.set_xlim(left=0)
        axis.set_xlabel(f"JSD ({MEASURES[name].unit}), lower is better")
    known = set(methods["learned_from"])
    key(figure, {name: {"marker": marker, "hue": hue}
                 for source, (name, marker, hue) in _SOURCES.items() if source in known},
        title="learned from")  # fmt: skip
    return figure
