"""Figures of crowds of machines beside crowds of people."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from chaos_utils.base.style import colour, is_narrow, system_hues
from chaos_utils.plots.panels import dataset_panels, label_lines, panel_grid, readable_on

_FEW = 10  # machines, up to which the axis is linear
_MANY = 100  # machines; so many people never agree
_NAMED = 0.03  # share of items, from which on it is written
_ROOM = 1.25  # the highest number of people, times this, is the end of the axis,
_FEWEST = 1.5  # or this
_KINDS = {
    "language models": "LLMs",
    "all fine-tuned models": "fine-tuned",
    "all models with yours": "with yours",
}


def _shades(crowds: pd.Series) -> dict[str, str]:
    names = [*_KINDS, *sorted(set(crowds) - set(_KINDS))]
    return {name: colour(hue) for name, hue in zip(names, system_hues(names), strict=True)}


def _title(crowd: str, n: int) -> str:
    return f"{n} {_KINDS[crowd]}" if crowd in _KINDS else f"{n} × {crowd}"


def plot_machine_worth(table: pd.DataFrame) -> Figure:
    """Draw how many people some machines are worth, by how many of them are pooled.

    The table has one row for each ``panel``, ``crowd`` and ``n_members``: ``worth``, ``low``,
    ``high``.
    """
    names = list(dict.fromkeys(table["panel"]))
    height = 2.6
    columns = 1 if is_narrow() else 2 if len(names) == 4 else 3
    figure, axes = panel_grid(len(names), columns=columns, height=height)
    shades = _shades(table["crowd"])
    highs = table["high"].to_numpy(dtype=float)
    most = max(_FEWEST, _ROOM * highs[np.isfinite(highs)].max(initial=0))
    for axis, name in zip(axes, names, strict=True):
        rows = table[table["panel"] == name]
        n_most = int(rows["n_members"].max())
        people = np.linspace(1, min(n_most, most), 50)
        axis.plot(people, people, color=colour("muted"), linestyle="--", linewidth=1.2)
        place = min(0.85 * most, people[-1])
        right = n_most > _FEW
        axis.annotate(
            "people", (place, place), (4 if right else -4, 0), textcoords="offset points",
            ha="left" if right else "right", va="bottom", fontsize=7.5, color=colour("muted"),
        )  # fmt: skip
        ends = []
        for crowd, line in rows.groupby("crowd", sort=False):
            shade = shades[str(crowd)]
            axis.fill_between(line["n_members"], line["low"], line["high"], color=shade, alpha=0.2,
                              linewidth=0)  # fmt: skip
            axis.plot(line["n_members"], line["worth"], color=shade, marker="o", markersize=3)
            last = line.iloc[-1]
            title = _title(str(crowd), int(last["n_members"]))
            ends.append((last["n_members"], last["worth"], title, shade))
        _machine_axis(axis, sorted(set(rows["n_members"])))
        axis.set_ylim(0, most)
        axis.set_title(name)
        label_lines(axis, ends, height / 2)
    for axis in axes[::columns]:
        axis.set_ylabel("worth in people, higher is better")
    return figure


def _machine_axis(axis: Axes, sizes: list[int]) -> None:
    if sizes[-1] > _FEW:
        axis.set_xscale("log")
        axis.set_xticks([n for n in (1, 10, 100, 1000) if n <= sizes[-1]])
        axis.xaxis.set_major_formatter("{x:g}")
        axis.set_xlabel("machines pooled (log scale)")
    else:
        axis.set_xticks(sizes)
        axis.set_xlabel("machines pooled")


def plot_unanimity(table: pd.DataFrame) -> Figure:
    """Draw how often machines are of one mind, by how large people's majority is.

    The table has one row for each ``dataset``, ``crowd`` and ``bin``: ``share`` (of the majority,
    the bin's mean), ``unanimous``, ``low``, ``high``, ``n_members`` and ``people``, the same for as
    many people; that of the largest crowd below a hundred is drawn.
    """
    height = 2.8
    figure, panels = dataset_panels(table["dataset"], height=height, sharey=True)
    shades = _shades(table["crowd"])
    for axis, dataset in panels:
        rows = table[table["dataset"] == dataset.name]
        ends = []
        for crowd, line in rows.groupby("crowd", sort=False):
            shade = shades[str(crowd)]
            axis.fill_between(line["share"], line["low"], line["high"], color=shade, alpha=0.18,
                              linewidth=0)  # fmt: skip
            axis.plot(line["share"], line["unanimous"], color=shade, marker="o", markersize=3)
            last = line.iloc[-1]
            title = _title(str(crowd), int(last["n_members"]))
            ends.append((last["share"], last["unanimous"], title, shade))
        few = rows[(rows["n_members"] < _MANY) & rows["people"].notna()].sort_values(
            "n_members", kind="stable"
        )
        of_people = few[few["crowd"] == few["crowd"].iloc[-1]] if len(few) else few
        axis.plot(of_people["share"], of_people["people"], color=colour("muted"), linestyle="--")
        for _, last in of_people.tail(1).iterrows():
            name = f"{last['n_members']} people"
            ends.append((last["share"], last["people"], name, colour("muted")))
        axis.set_ylim(0, 1.02)
        axis.set_xticks([0.5, 0.7, 0.9])
        axis.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
        axis.yaxis.set_major_formatter(lambda y, _: f"{y:.0%}")
        axis.tick_params(labelleft=True)
        axis.set_xlabel("people with the majority")
        label_lines(axis, ends, height / 2)
    for axis, _ in panels if is_narrow() else panels[:1]:
        axis.set_ylabel("items on which all agree")
    return figure


def plot_gold_shares(table: pd.DataFrame) -> Figure:
    """Draw which share of people, and of machines, gave the gold label.

    The table has one row for each ``people`` and ``machines``, tenths from 0 to 9: ``n_items``.
    """
    cells = table.pivot(index="people", columns="machines", values="n_items").to_numpy(float)
    cells = cells / cells.sum()
    figure, (left, right) = panel_grid(2, columns=2, height=2.9)
    middles = (np.arange(len(cells)) + 0.5) / len(cells)
    shades = {"people": colour("muted"), "BERTs": colour(system_hues(["BERT-base"])[0])}
    for place, (name, shares) in enumerate((("people", cells.sum(1)), ("BERTs", cells.sum(0)))):
        offset = (place - 0.5) * 0.042
        left.bar(middles + offset, shares, width=0.042, color=shades[name])
        top = int(shares.argmax())
        left.annotate(
            name, (middles[top] + offset, shares[top]), (0, 2), textcoords="offset points",
            ha="center", va="bottom", fontsize=8, color=shades[name],
        )  # fmt: skip
    left.yaxis.set_major_formatter(lambda y, _: f"{y:.0%}")
    left.set(xlabel="gave the gold label", ylabel="items", title="Each crowd")
    left.grid(visible=False, axis="x")
    ramp = LinearSegmentedColormap.from_list("items", [colour("low"), colour("high")])
    depth = np.sqrt(cells / cells.max())
    right.imshow(depth, origin="lower", extent=(0, 1, 0, 1), cmap=ramp, aspect="auto", vmin=0)
    for (row, column), share in np.ndenumerate(cells):
        if share >= _NAMED:
            shade = readable_on(ramp(float(depth[row, column])))
            at = float(middles[column]), float(middles[row])
            right.text(*at, f"{share:.0%}", ha="center", va="center", fontsize=7, color=shade)
    right.set(xlabel="BERTs that gave it", ylabel="people that gave it", title="Item by item")
    right.grid(visible=False)
    for axis in (left, right):
        axis.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
    right.yaxis.set_major_formatter(lambda y, _: f"{y:.0%}")
    return figure
