"""Figures on why people disagree: asked again, by reason, and once a sentence is disambiguated."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from chaos_utils.base.style import colour
from chaos_utils.datasets.catalogue import get_dataset, short_of
from chaos_utils.plots.marks import AT_X, intervals, key, label_lines, line, write
from chaos_utils.plots.panels import panel_grid, row_panels

_FEWEST_ITEMS = 20  # reasons with fewer are not drawn
_MARKERS = ("o", "s", "^", "D", "v")
_APART = 0.22  # rows, from one label's mark to the next
# Names, markers, and how far they are from the middle of their row. The square is hollow.
_AGAIN = {"same": ("same person", "s", -0.12), "two": ("two people", "o", 0.12)}
_KINDS = {"as written": "text", "a reading": "blue", "a distractor": "muted"}


def plot_again(table: pd.DataFrame) -> Figure:
    """Draw how often the same person, and how often two people, differ between two rounds.

    The table is that of `analyses.persons.again`; each part of each dataset has a row, with its
    number of items, and at the right the ratio of the two chances.
    """
    parts = table[["dataset", "part", "n_items"]].drop_duplicates(["dataset", "part"])
    several = parts["dataset"].nunique() > 1
    names = [
        f"{f'{short_of(dataset)}, ' if several else ''}{part}\n{n} items"
        for dataset, part, n in parts.itertuples(index=False)
    ]
    figure, (differ, ratio) = row_panels([names], 2, row=0.42)
    table = table.merge(parts.assign(y=range(len(parts))))
    for quantity, (_, marker, shift) in _AGAIN.items():
        rows = table[table["quantity"] == quantity].assign(y=lambda rows, d=shift: rows["y"] + d)
        intervals(differ, rows, "value", "text", marker, hollow=marker == "s")
    rows = table[table["quantity"] == "ratio"]
    intervals(ratio, rows, "value", "text")
    for row in rows.to_dict("records"):
        write(ratio, f"{row['value']:.0%}", (row["value"], row["y"]), (0, 7), "text")
    differ.set(xlabel="another label in the other round", xlim=(0, None))
    ratio.set(xlabel="same person ÷ two people", xlim=(0, None))
    for axis in (differ, ratio):
        axis.xaxis.set_major_formatter("{x:.0%}")
    ratio.set_xlim(0, max(1, ratio.get_xlim()[1]))
    key(figure, {
        name: {"hue": "text", "marker": marker, "fillstyle": "none" if marker == "s" else "full"}
        for name, marker, _ in _AGAIN.values()
    })  # fmt: skip
    return figure


def plot_reasons(table: pd.DataFrame) -> Figure:
    """Draw how much people disagree by reason, and between which labels.

    Reasons of at least `_FEWEST_ITEMS` items (all reasons, if none has so many) have a row each;
    the one with the largest share of the last label is on top. The table is that of
    `analyses.why.reasons`, on one dataset; its rarer reasons and its models are not drawn.
    """
    dataset = get_dataset(str(table["dataset"].iloc[0]))
    frequent = table["n_items"] >= _FEWEST_ITEMS
    people = table[(table["holder"] == "people") & (frequent | ~frequent.any())]
    last_label = people[people["quantity"] == dataset.labels[-1]]
    by_last_label = last_label.sort_values("mean", ascending=False)
    order = list(by_last_label["reason"])
    n_items = by_last_label["n_items"]
    names = [f"{reason} ({n})" for reason, n in zip(order, n_items, strict=True)]
    figure, (entropy_axis, votes_axis) = row_panels([names], 2, row=0.3)
    looks = {
        label.name: (label.colour, marker)
        for label, marker in zip(dataset.classes, _MARKERS, strict=False)
    }
    people = people.assign(y=people["reason"].map(order.index))
    intervals(entropy_axis, people[people["quantity"] == "entropy"], "mean", "text")
    for index, (label, look) in enumerate(looks.items()):
        shift = _APART * (index - (len(looks) - 1) / 2)
        label_rows = people[people["quantity"] == label]
        intervals(votes_axis, label_rows.assign(y=label_rows["y"] + shift), "mean", *look)
    overall = people.loc[people["quantity"] == "entropy", "overall"].iloc[0]
    entropy_axis.axvline(overall, color=colour("muted"), linestyle=":", linewidth=1, zorder=0)
    write(entropy_axis, "mean of all ten reasons", (overall, 1), (0, 2), "muted", xycoords=AT_X)
    entropy_axis.set_title("Disagreement", pad=18)
    votes_axis.set_title("Votes by label", pad=18)
    entropy_axis.set(xlabel="entropy of the votes, bits", xlim=(0, None))
    votes_axis.set(xlabel="share of the votes", xlim=(0, None))
    votes_axis.xaxis.set_major_formatter("{x:.0%}")
    key(
        figure, {name: {"hue": hue, "marker": marker} for name, (hue, marker) in looks.items()},
        panel=votes_axis,
    )  # fmt: skip
    return figure


def plot_readings(table: pd.DataFrame) -> Figure:
    """Draw how large majorities are for pairs as written, and for each of their readings.

    The table is that of `analyses.why.readings`.
    """
    figure, (axis,) = panel_grid(1, columns=1, height=2.6)
    axis.set_ylim(0, 1.12 * table["share"].max())
    axis.set_xlim(table["majority"].min() - 0.3, table["majority"].max() + 0.15)
    kinds = table.groupby("shown", sort=False)
    label_lines(axis, [
        line(axis, rows, "majority", "share", str(kind), _KINDS[str(kind)]) for kind, rows in kinds
    ])  # fmt: skip
    axis.set_xticks(np.unique(table["majority"]))
    axis.set_xlabel(f"votes for the majority label, of {int(table['n_votes'].iloc[0])}")
    axis.set_ylabel("share of pairs")
    axis.yaxis.set_major_formatter("{x:.0%}")
    return figure
