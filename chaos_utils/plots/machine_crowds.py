"""Figures of language models beside people."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from chaos_utils.base.style import colour, is_narrow
from chaos_utils.metrics.skill import MARKS, skill_of_people
from chaos_utils.plots.panels import dataset_panels, label_lines

_LINE = 0.135  # inches: of a row of models
_LOWEST = -0.3  # skill, below which nothing is drawn
_APART = 0.06  # of skill, that two marks are at least
_LINES = {  # of the skill of panels: name and colour
    "people_skill": ("people", "muted"),
    "skill_trusted": ("trusted", "blue"),
    "skill": ("as it is", "amber"),
}
_REFERENCES = {"people": "two people", "the majority of the others": "majority"}


def plot_members(table: pd.DataFrame) -> Figure:
    """Draw how often each language model agrees with a person, beside people.

    The table has one row for each ``dataset`` and ``model``: ``with_people``, with ``_low`` and
    ``_high``, ``maker`` (empty for people and majorities), and ``side``, above or below people.
    """
    models = table[table["maker"] != ""]
    ranks = models.groupby("dataset")["with_people"].rank()
    order = list(ranks.groupby(models["model"]).mean().sort_values().index)
    height = 0.8 + _LINE * len(order)
    figure, panels = dataset_panels(table["dataset"], height=height, sharey=not is_narrow())
    for axis, dataset in panels:
        rows = models[models["dataset"] == dataset.name].set_index("model").reindex(order)
        places = np.arange(len(order))
        shades = [colour("muted" if not side else "blue") for side in rows["side"].fillna("")]
        axis.hlines(places, rows["with_people_low"], rows["with_people_high"], color=shades,
                    linewidth=1, alpha=0.6)  # fmt: skip
        axis.scatter(rows["with_people"], places, c=shades, s=10, zorder=3)
        others = table[(table["dataset"] == dataset.name) & (table["maker"] == "")]
        for _, row in others[others["model"].isin(_REFERENCES)].iterrows():
            place = row["with_people"]
            axis.axvline(place, color=colour("text"), linestyle="--", linewidth=0.9)
            first = row["model"] == "people"
            side, shift, row_above = ("left", 2, 0.6) if first else ("right", -2, -0.4)
            axis.annotate(
                _REFERENCES[row["model"]], (place, len(order) + row_above), (shift, 0),
                textcoords="offset points", ha=side, va="bottom", fontsize=7,
            )  # fmt: skip
        axis.set_yticks(places, order, fontsize=7)
        axis.set_ylim(-0.8, len(order) + 1.8)
        axis.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
        axis.xaxis.set_major_locator(MultipleLocator(0.05))
        axis.set_xlabel("agrees with a person")
        axis.grid(visible=False, axis="y")
    return figure


def plot_machine_worth(table: pd.DataFrame) -> Figure:
    """Draw the skill of random panels of language models by their size, and of as many people.

    The table has one row for each ``dataset`` and ``n_members``: ``people_skill``; ``skill`` and
    ``skill_trusted`` with ``_low`` and ``_high``; ``credibility``, which places marks of people.
    """
    height = 2.9
    figure, panels = dataset_panels(table["dataset"], height=height, sharey=True)
    for axis, dataset in panels:
        rows = table[table["dataset"] == dataset.name]
        axis.set_xscale("log")
        axis.set_ylim(_LOWEST, 1.02)
        axis.axhline(0, color=colour("text"), linewidth=0.9)
        ends = []
        for name, (title, shade) in _LINES.items():
            drawn, value = colour(shade), rows[name]
            if f"{name}_low" in rows:
                axis.plot(rows["n_members"], value, color=drawn, marker="o", markersize=3)
                axis.fill_between(rows["n_members"], rows[f"{name}_low"], rows[f"{name}_high"],
                                  color=drawn, alpha=0.2, linewidth=0)  # fmt: skip
            else:
                axis.plot(rows["n_members"], value, "--", color=drawn)
            end = rows["n_members"].iloc[-1], max(value.iloc[-1], _LOWEST)
            ends.append((*end, title, drawn))
        _mark_people(axis, float(rows["credibility"].iloc[0]))
        sizes = sorted(set(rows["n_members"]))
        axis.set_xlim(0.5, sizes[-1] * 1.1)
        axis.set_xticks([n for n in (1, 2, 5, 10) if n < 0.8 * sizes[-1]] + sizes[-1:])
        axis.minorticks_off()
        axis.xaxis.set_major_formatter("{x:g}")
        axis.set_xlabel("models, or people, pooled")
        axis.tick_params(labelleft=True)
        axis.grid(visible=False)
        label_lines(axis, ends, height / 2)
    for axis, _ in panels if is_narrow() else panels[:1]:
        axis.set_ylabel("skill, higher is better")
    return figure


def _mark_people(axis: Axes, credibility: float) -> None:
    last = -np.inf
    for people, skill in zip(MARKS, skill_of_people(MARKS, credibility), strict=True):
        if skill - last < _APART:
            continue
        last = skill
        axis.axhline(skill, color=colour("grid"), linewidth=0.7, zorder=0)
        axis.annotate(
            f"{people}", (0.02, skill), xycoords=("axes fraction", "data"), fontsize=7,
            va="center", color=colour("muted"),
        )  # fmt: skip


def plot_unanimity(table: pd.DataFrame) -> Figure:
    """Draw how many people give the language models' label, by how many of the models give it.

    The table has one row for each ``dataset`` and ``bin``: ``share`` of the models, ``people`` with
    ``low`` and ``high``, ``share_of_items``.
    """
    figure, panels = dataset_panels(table["dataset"], height=2.7, sharey=True)
    for axis, dataset in panels:
        rows = table[table["dataset"] == dataset.name]
        axis.plot([0.3, 1], [0.3, 1], "--", color=colour("muted"), linewidth=1)
        axis.text(
            0.52, 0.56, "as many people", fontsize=7, color=colour("muted"), rotation=45,
            rotation_mode="anchor", transform_rotates_text=True,
        )  # fmt: skip
        gaps = [rows["people"] - rows["low"], rows["high"] - rows["people"]]
        axis.errorbar(rows["share"], rows["people"], gaps, color=colour("blue"), marker="o",
                      markersize=4, linewidth=1.4, elinewidth=1)  # fmt: skip
        for _, row in rows.iterrows():
            whole = row["share"] == 1  # there is room at the right
            axis.annotate(
                f"{row['share_of_items']:.0%}", (row["share"], row["people" if whole else "low"]),
                (5, 0) if whole else (0, -3), textcoords="offset points", fontsize=7,
                ha="left" if whole else "center", va="center" if whole else "top",
                color=colour("muted"),
            )  # fmt: skip
        axis.set_xlim(0.3, 1.15)
        axis.set_ylim(0.1, 1.02)
        for side in (axis.xaxis, axis.yaxis):
            side.set_major_formatter(lambda x, _: f"{x:.0%}")
        axis.tick_params(labelleft=True)
        axis.set_xlabel("models that give one label")
    for axis, _ in panels if is_narrow() else panels[:1]:
        axis.set_ylabel("people who give it too")
    return figure
