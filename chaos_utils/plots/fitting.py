"""The figures of maps that are fitted on votes."""

import pandas as pd
from matplotlib.figure import Figure

from chaos_utils.base.style import colour, is_narrow
from chaos_utils.datasets.catalogue import in_order
from chaos_utils.plots.marks import intervals, key, label_lines, line, logarithmic, reference
from chaos_utils.plots.panels import dataset_panels, row_panels

# What a method knows of an item: the name in the key, the marker, and whether it is hollow.
_GROUPS = {
    "no votes": ("text; no votes seen", "o", False),
    "text": ("text; fitted on votes", "o", True),
    "old label": ("old label too; fitted on votes", "s", True),
}
_AXES = {
    "jsd": "JSD (distance, √nats), lower is better",
    "sq_distance": "squared distance to people, lower is better",
    "kl": "KL (nats), lower is better",
}


def plot_fitting(table: pd.DataFrame) -> Figure:
    """Draw each system's distance, a row each: as it is, fitted on votes, and with the old label.

    The table has one row for each ``dataset``, ``group`` (no votes, text, old label, reference) and
    ``label``: ``distance``, ``distance_low``, ``distance_high``, the measure ``by`` (of `_AXES`),
    and ``map``, which is a reference's name.
    """
    datasets = in_order(table["dataset"])
    is_one_measure = table["by"].nunique() == 1
    parts = [table[table["dataset"] == dataset.name] for dataset in datasets]
    methods = [part[part["group"].isin(_GROUPS)] for part in parts]
    orders = [list(part.groupby("label")["distance"].min().sort_values().index) for part in methods]
    figure, axes = row_panels(orders, sharex=is_one_measure)
    panels = zip(axes, datasets, parts, methods, orders, strict=True)
    for axis, dataset, part, rows, order in panels:
        for y, name in enumerate(order):
            points = rows[rows["label"] == name]
            axis.plot([points["distance"].min(), points["distance"].max()], [y, y],
                      color=colour("grid"), linewidth=3, zorder=0)  # fmt: skip
        for group, group_rows in rows.assign(y=rows["label"].map(order.index)).groupby("group"):
            _, marker, hollow = _GROUPS[group]
            intervals(axis, group_rows, "distance", "text", marker, hollow=hollow)
        for row in part[part["group"] == "reference"].to_dict("records"):
            reference(axis, row["map"], row["distance"])
        axis.set_title(dataset.short, loc="left")
        axis.update_datalim([(0, 0)])
        if not is_one_measure or axis is axes[-1]:
            axis.set_xlabel(_AXES[part["by"].iloc[0]], loc="right")
    key(figure, {
        name: {"hue": "text", "marker": marker, "fillstyle": "none" if hollow else "full"}
        for group, (name, marker, hollow) in _GROUPS.items() if group in set(table["group"])
    })  # fmt: skip
    return figure


def plot_fitting_curve(table: pd.DataFrame) -> Figure:
    """Draw a distance by how many items a map was fitted on, a line for each number of votes.

    The table has one row for each ``dataset``, ``n_fitted`` and ``n_votes``: ``distance``, and the
    measure ``by``.
    """
    is_one_measure = table["by"].nunique() == 1
    figure, panels = dataset_panels(table, height=3.0, sharey=is_one_measure)
    for axis, _, rows in panels:
        distances = table.loc[table["by"] == rows["by"].iloc[0], "distance"]
        room = 0.06 * (distances.max() - distances.min()) or 0.01
        axis.set_xlabel("labelled items (log scale)")
        if not is_one_measure or axis is panels[0][0] or is_narrow():
            axis.set_ylabel(_AXES[rows["by"].iloc[0]])
        axis.set_ylim(distances.min() - room, distances.max() + room)
        logarithmic(axis, rows["n_fitted"])
        ends = []
        for n_votes, points in rows.sort_values("n_fitted").groupby("n_votes"):
            name = f"{n_votes} vote{'s' * (n_votes > 1)}"
            ends.append(line(axis, points, "n_fitted", "distance", name, "blue"))
        label_lines(axis, ends)
    return figure
