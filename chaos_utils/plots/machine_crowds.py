"""Figures of language models beside people."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from chaos_utils.base.style import colour
from chaos_utils.datasets.catalogue import in_order
from chaos_utils.plots.marks import (
    intervals,
    label_lines,
    line,
    logarithmic,
    note,
    skill_marks,
    write,
)
from chaos_utils.plots.panels import dataset_panels, label_left, legible, row_panels
from chaos_utils.plots.systems import language_model_name

_LOWEST = -0.3  # skill, below which nothing is drawn
_APART = 0.06  # skill: the smallest distance of two marks of people
# The columns of skill: name, colour and dashes of their lines.
_LINES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "people_skill": ("people", "muted", {"linestyle": "--", "marker": ""}),
    "skill_shrunk": ("shrunk", "text", {"markerfacecolor": "none"}),
    "skill": ("as it is", "text", {}),
}
_REFERENCES = {  # with their names in the figure
    "people": "two people",
    "the majority of the others": "majority",
}

_SETTINGS = {  # with their names in the figure
    "temperature": "temperature",
    "reasoning_effort": "effort",
    "thinking_budget": "budget",
    "structured_personas": "personas,",
}
_EFFORTS = ("low", "medium", "high")
# References with their names in the figure, whether these stand at the right, and how high.
_BESIDE_SETTINGS = {
    "the other half of the people": ("people", False, 1.0),
    "the other half's median, alone": ("median", True, 0.97),
    "uniform guess": ("uniform", False, 1.0),
}


def plot_members(table: pd.DataFrame) -> Figure:
    """Draw how often each language model agrees with a person, beside people.

    The table has one row for each ``dataset`` and ``model``: ``with_people``, with ``_low`` and
    ``_high``, ``maker`` (empty for people and majorities), and ``side`` (above or below
    people, empty where the difference may be chance).
    """
    models = table[table["maker"] != ""]
    ranks = models.groupby("dataset")["with_people"].rank()
    order = list(ranks.groupby(models["model"]).mean().sort_values(ascending=False).index)
    datasets = in_order(table["dataset"])
    names = [language_model_name(name) for name in order]
    figure, axes = row_panels([names], len(datasets), row=0.145)
    for axis, dataset in zip(axes, datasets, strict=True):
        dataset_rows = table[table["dataset"] == dataset.name]
        model_rows = dataset_rows[dataset_rows["maker"] != ""]
        model_rows = model_rows.assign(
            y=model_rows["model"].map(order.index), differs=model_rows["side"] != ""
        )
        for differs, rows in model_rows.groupby("differs"):
            intervals(axis, rows, "with_people", "blue" if differs else "muted")
        for row in dataset_rows.to_dict("records"):
            if row["model"] in _REFERENCES:
                name, is_people = _REFERENCES[row["model"]], row["model"] == "people"
                height = 1.0 if is_people else 0.97
                note(axis, row["with_people"], name, "text", right=is_people, height=height)
        axis.set_ylim(top=-3)  # room for the notes
        axis.xaxis.set_major_formatter("{x:.0%}")
        axis.xaxis.set_major_locator(MultipleLocator(0.05))
        axis.set(title=dataset.short, xlabel="agrees with a person")
    return legible(figure)


def plot_machine_worth(table: pd.DataFrame) -> Figure:
    """Draw the skill of random panels of language models by size, and of panels of people.

    The table has one row for each ``dataset`` and ``n_members``: ``people_skill``; ``skill`` and
    ``skill_shrunk`` with ``_low`` and ``_high``; ``credibility``, which gives the marks of people.
    """
    figure, panels = dataset_panels(table, height=2.9)
    for axis, _, rows in panels:
        axis.set_ylim(_LOWEST, 1.02)
        axis.axhline(0, color=colour("text"), linewidth=0.9)
        ticks = logarithmic(axis, rows["n_members"])
        places = np.flatnonzero(rows["n_members"].isin(ticks)).tolist()
        ends = []
        for column, (name, hue, look) in _LINES.items():
            x, y, _, shade = line(
                axis, rows, "n_members", column, name, hue, markevery=places, **look
            )
            ends.append((x, max(y, _LOWEST), name, shade))
        marks = [(0, 0.0), *skill_marks(rows["credibility"].iloc[0], 0, _APART)]
        axis.set_yticks([skill for _, skill in marks], [f"{people}" for people, _ in marks])
        axis.set_xlim(0.5, rows["n_members"].max() * 1.1)
        axis.set_xlabel("models, or people, pooled")
        axis.grid(visible=False, axis="x")
        label_lines(axis, ends)
    label_left((axis for axis, *_ in panels), "worth in people, higher is better")
    return legible(figure)


def plot_unanimity(table: pd.DataFrame) -> Figure:
    """Draw the share of people who give the models' label, by the share of models that give it.

    The table has one row for each ``dataset`` and ``bin``: ``share`` (of models), ``people`` (the
    share of people) with its interval from ``low`` to ``high``, ``share_of_items``.
    """
    figure, panels = dataset_panels(table, height=2.7, sharey=True)
    for axis, _, rows in panels:
        axis.plot([0.3, 1], [0.3, 1], "--", color=colour("muted"), linewidth=1)
        axis.text(
            0.52, 0.56, "as many people", fontsize=7, color=colour("muted"), rotation=45,
            rotation_mode="anchor", transform_rotates_text=True,
        )  # fmt: skip
        line(axis, rows, "share", "people", "", "blue", bars=True)
        for row in rows.to_dict("records"):
            if row["share"] == 1:  # the last point: there is room at the right
                point, shift = (row["share"], row["people"]), (5, 0)
            else:
                point, shift = (row["share"], row["low"]), (0, -3)
            write(axis, f"{row['share_of_items']:.0%}", point, shift, "muted")
        axis.set(xlim=(0.3, 1.15), ylim=(0.1, 1.02), xlabel="models that give one label")
        axis.set_xticks([0.4, 0.6, 0.8, 1])
        axis.xaxis.set_major_formatter("{x:.0%}")
        axis.yaxis.set_major_formatter("{x:.0%}")
    label_left((axis for axis, *_ in panels), "people who give it too")
    return legible(figure)


def plot_asking(table: pd.DataFrame) -> Figure:
    """Draw how far settings of language models are from people on a scale, and how spread out.

    The table has one row for each ``model``, ``setting`` and ``value``: ``distance`` with ``_low``
    and ``_high``, ``sd``, and ``kind`` (setting or reference). Settings without a distance are left
    out.
    """
    of_models = table[(table["kind"] == "setting") & table["distance"].notna()]
    means = of_models.groupby("model")["distance"].mean().sort_values(ascending=False)
    names: list[str] = []
    parts = []
    of_models = of_models.sort_values(
        ["setting", "value"], key=lambda column: column.map(_setting_order), kind="stable"
    )
    for model in means.index:  # its name, and its settings below it
        part = of_models[of_models["model"] == model]
        names.append(language_model_name(model))
        parts.append(part.assign(y=range(len(names), len(names) + len(part))))
        names += [f"{_SETTINGS[row['setting']]} {row['value']}" for row in part.to_dict("records")]
    rows = pd.concat(parts)
    figure, (left, right) = row_panels([names], 2, row=0.15)
    intervals(left, rows, "distance", "blue")
    intervals(right, rows[["y", "sd"]], "sd", "blue")
    references = table[table["kind"] == "reference"].set_index("model")
    for model, (name, is_right, height) in _BESIDE_SETTINGS.items():
        note(left, references.loc[model, "distance"], name, "text", right=is_right, height=height)
    note(right, references["sd"].max(), "people", "text", right=False)
    left.set_xlabel("distance, points; lower is nearer")
    right.set_xlabel("spread, points; people’s is best")
    for axis in (left, right):
        axis.set_ylim(top=-3)  # room for the notes
        axis.set_xlim(left=-0.5)
        for y, text in enumerate(axis.get_yticklabels()):
            text.set_fontweight("normal" if y in rows["y"].to_numpy() else "bold")
    return legible(figure)


def _setting_order(text: object) -> float:
    """Return where a setting stands among others: in the order of the key, by effort or number."""
    for names in (tuple(_SETTINGS), _EFFORTS):
        if text in names:
            return names.index(str(text))
    number = pd.to_numeric(str(text), errors="coerce")
    return 0.0 if pd.isna(number) else float(number)
