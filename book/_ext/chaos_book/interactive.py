"""Published scores as interactive figures; the static figures stay citable."""

from collections.abc import Mapping, Sequence
from html import escape
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.pages.explorer import name_in_lists
from chaos_utils.plots.marks import system_hues
from chaos_utils.plots.systems import SYSTEM_NAMES, language_model_name
from chaos_utils.publish.scripts import compact
from chaos_utils.report.captions import MARK, mark
from chaos_utils.scoring.worth import PEOPLE_RECALIBRATED, TITLES, UNITS
from chaos_utils.sphinx.book import BOOK, raw_html
from chaos_utils.sphinx.widgets import Widget

WIDGET = Widget(
    "interactive",
    ("interactive.css", "dots.js", "reliability.js", "curves.js", "interactive.js"),
    shared=("axes.css", "axes.js"),
)
_DIGITS = 6  # rounded to nearly the digits shown, a number could differ from that in its table
_REFERENCES = "tbl-noise-ceiling"
_REFERENCE_TITLES = {"perfect_model": "perfect model", "second_crowd_halves": "second crowd"}
_ORACLE = "tbl-human-calibration"
_MISPLACED = "tbl-misplaced"
# The measures that a slider is about, as a reader meets them: title, unit, factor, digits.
_LEADING_MEASURES = {
    "ece": ("ECE", "", 1, 3),
    "dist_ce": ("votes misplaced", "of a hundred", 100, 1),
}
# The guess by a distance, and by a measure of which more is better.
_GUESSES = SYSTEM_NAMES["chance"].split(", ")
# The groups of systems by the ``kind`` of their rows, in this order.
_GROUPS_BY_KIND = {
    "human": "people", "chance": "guess", "baseline": "guess", "model": "model",
}  # fmt: skip
_UNDEFINED = {
    "kl": "A second crowd has no KL: it is infinite where one crowd never gives a label that the "
    "other gives.",
}
# Measures that only machine crowds have: title, unit, better way.
_MACHINE_MEASURES = {
    "with_people": ["agreement with a person", "share of pairs", "higher"],
    PEOPLE_RECALIBRATED: [TITLES[PEOPLE_RECALIBRATED], UNITS[PEOPLE_RECALIBRATED], "higher"],
}
_LINE_TITLES = {"people": "two people"}
_LINES_BY_DEFINITION = {PEOPLE_RECALIBRATED: {"base rate": 0.0}}


class Interactive(SphinxDirective):
    """Set a figure's or table's scores as rows of dots, or as curves: ``{interactive} <id>``.

    The data has a row for each ``dataset`` and ``system`` (or ``model``), with a column for each of
    `measures`, or with ``measure`` and ``value``; ``low`` and ``high`` are the ends of intervals.
    Rows can be sorted by ``kind``, or by the column that `group` names; rows without a group are
    drawn as lines. Dots open on the dataset that `opens` names, or on the first. `slider` names a
    column of numbers, over which curves are drawn; `where` (``column=value``) selects rows,
    `without` leaves out systems whose names begin with one of its texts, between which are
    semicolons. Of published and computed scores, the computed ones are shown. `diagrams` is the id
    of the reliability diagrams at the slider's numbers. With a script, what a slider drives takes
    the place of the figure's picture.
    """

    required_arguments = 1
    option_spec = {  # noqa: RUF012 - docutils wants it so
        "measures": directives.unchanged_required,
        "opens": directives.unchanged_required,
        "group": directives.unchanged_required,
        "slider": directives.unchanged_required,
        "diagrams": directives.unchanged_required,
        "where": directives.unchanged_required,
        "without": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        """Return an element with the data, which the scripts fill."""
        manifest = BOOK.made(self.env, self.arguments[0])
        if manifest is None:  # on other data there may be none
            return []
        rows = manifest.rows
        if "where" in self.options:
            name, _, value = self.options["where"].partition("=")
            rows = rows[rows[name].fillna("").astype(str) == value]
        if "without" in self.options:
            beginnings = tuple(self.options["without"].split("; "))
            rows = rows[~rows["system"].str.startswith(beginnings)]
        if "source" in rows:  # computed rows come first
            rows = rows.drop_duplicates(["dataset", "system"])
        if "n_seeds" in rows:  # leave out means over seeds: the seeds are shown
            rows = rows[rows["n_seeds"].isna()]
        group, slider = self.options.get("group", "kind"), self.options.get("slider", "")
        if "model" in rows:
            rows = rows.assign(system=rows["model"].map(language_model_name))
        if "measure" not in rows:
            rows = _row_per_measure(rows, self.options["measures"].split(), group)
        rows = rows[rows["value"].notna()].reset_index(drop=True)
        if not len(rows):  # on other data there may be none
            return []
        lines = references(
            self._rows_of(_REFERENCES), self._rows_of(_ORACLE), self._rows_of(_MISPLACED)
        )
        if slider:
            diagrams = pd.DataFrame(self._rows_of(self.options["diagrams"]))
            data = curves(rows, slider, lines, diagrams)
        else:
            data = scores(rows, lines, group, manifest.cautions)
            data["opens"] = self.options.get("opens", "")
        content = compact(data).replace("<", "\\u003c")
        WIDGET.ask(self.env)
        attributes = f'data-slider="{escape(slider)}" data-figure="{escape(manifest.id)}"'
        html = (
            f'<div class="interactive" hidden {attributes * bool(slider)}>'
            f'<script type="application/json">{content}</script></div>'
        )
        if slider:
            html += (
                "<noscript><p>The slider needs JavaScript, but the figure above also shows the "
                "measures at every position.</p></noscript>"
            )
        return [raw_html(html)]

    def _rows_of(self, id: str) -> Sequence[Mapping[str, Any]]:
        """Return the rows of a table; none if it was not made."""
        manifest = BOOK.made(self.env, id)
        return () if manifest is None else manifest.data


def _row_per_measure(rows: pd.DataFrame, measures: list[str], group: str) -> pd.DataFrame:
    """Return a table with columns of measures as one with a row for each measure."""
    keys = [name for name in ("dataset", "system", "label", "source", group) if name in rows]
    parts = []
    for name in measures:
        ends = {f"{name}_{end}": end for end in ("low", "high") if f"{name}_{end}" in rows}
        part = rows[[*keys, name, *ends]].rename(columns={name: "value", **ends})
        parts.append(part.assign(measure=name))
    return pd.concat(parts)


def references(
    reference_rows: Sequence[Mapping[str, Any]],
    calibration_rows: Sequence[Mapping[str, Any]],
    misplaced_rows: Sequence[Mapping[str, Any]] = (),
) -> dict[tuple[str, str], dict[str, float]]:
    """Return the scores of a perfect model and of people, by dataset and measure.

    The table of references has no ECE against the majority: the score shown is the oracle's, whose
    predictions are the votes' own shares. Of the votes misplaced, five people's are shown.
    """
    by_measure = {
        (row["dataset"], row["measure"]): {
            title: row[name] for name, title in _REFERENCE_TITLES.items() if _is_number(row[name])
        }
        for row in reference_rows
    }
    oracles = [row for row in calibration_rows if row["system"] == "oracle"]
    for row in misplaced_rows:
        if row["system"] == "five people":
            people = {row["system"]: row["misplaced"] / 100}
            by_measure.setdefault((row["dataset"], "dist_ce"), {}).update(people)
    return by_measure | {(row["dataset"], "ece"): {"oracle": row["ece"]} for row in oracles}


def _is_number(cell: object) -> bool:
    return isinstance(cell, int | float) and not pd.isna(cell)


_Lines = Mapping[tuple[str, str], Mapping[str, float]]


def scores(
    rows: pd.DataFrame,
    lines: _Lines,
    group: str = "kind",
    cautions: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return the script's data for rows of dots: each name once, rows refer to names by index.

    The names of systems with one of the `cautions` have a mark, and the caution is among the notes.

    A row has the indices of its dataset, system and measure, its value, and the ends of its
    interval, if any. A line has the indices of its dataset and measure, its name and its value.
    """
    rows = rows.reset_index(drop=True)
    if group not in rows:
        rows[group] = "model"
    is_line = rows[group].fillna("") == ""
    is_guess = rows[group] == "chance"
    names = rows["label"] if "label" in rows else rows["system"].replace(dict(SYSTEM_NAMES))
    by_distance = rows["measure"].map(
        lambda name: name in MEASURES and MEASURES[name].better == "lower"
    )
    names = names.mask(is_guess & by_distance, _GUESSES[0])
    names = names.mask(is_guess & ~by_distance, _GUESSES[1])
    if "source" in rows:
        names = names.where(rows["source"] != "published", names + " (published)")
    names = names.map(lambda name: mark(name, cautions))
    groups = sorted(set(rows.loc[~is_line, group]))
    if group == "kind":
        groups.sort(key=lambda name: [*_GROUPS_BY_KIND, name].index(name))
    datasets, measures = (list(dict.fromkeys(rows[name])) for name in ("dataset", "measure"))
    systems = list(dict.fromkeys(zip(names[~is_line], rows.loc[~is_line, group], strict=True)))
    dots, marks = [], []
    for index, row in enumerate(rows.to_dict("records")):
        key = [datasets.index(row["dataset"]), measures.index(row["measure"])]
        value = round(row["value"], _DIGITS)
        if is_line[index]:
            marks.append([*key, _LINE_TITLES.get(names[index], names[index]), value])
            continue
        ends = [round(row[end], _DIGITS) for end in ("low", "high") if _is_number(row.get(end))]
        dots.append([key[0], systems.index((names[index], row[group])), key[1], value, *ends])
        if is_guess[index]:
            marks.append([*key, names[index], value])
    for i, dataset in enumerate(datasets):
        for j, measure in enumerate(measures):
            titles = {**lines.get((dataset, measure), {}), **_LINES_BY_DEFINITION.get(measure, {})}
            marks += [[i, j, title, round(value, _DIGITS)] for title, value in titles.items()]
    return {
        "group": "group" if group == "kind" else group,
        "notes": [
            f"{MARK} {name}: {caution}."
            for name, caution in cautions.items()
            if names.str.contains(f"{name}{MARK}", regex=False).any()
        ],
        "datasets": [[name, name_in_lists(get_dataset(name))] for name in datasets],
        "systems": [
            [name, groups.index(key), _GROUPS_BY_KIND.get(key, "model"), _group_title(key)]
            for name, key in systems
        ],
        "measures": [[name, *_measure_texts(name), _UNDEFINED.get(name, "")] for name in measures],
        "rows": dots,
        "lines": marks,
    }


def _group_title(group: str) -> str:
    """Return the title of a group; empty for a kind, whose title the script has."""
    return "" if group in _GROUPS_BY_KIND else group


def curves(
    rows: pd.DataFrame, slider: str, lines: _Lines, diagrams: pd.DataFrame
) -> dict[str, Any]:
    """Return the script's data for curves of one dataset: values by measure, system and step.

    The systems of a family have one colour; of each family, one system has `diagrams`. There is one
    for each step: its bins that hold items, with the lower edge, the number of items, and their
    mean confidence and accuracy. Values are rounded to `_DIGITS` digits.
    """
    steps = sorted(rows[slider].unique())
    (dataset,) = rows["dataset"].unique()
    systems = list(dict.fromkeys(zip(rows["system"], rows["family"], strict=True)))
    filled = diagrams[(diagrams["n"] > 0) & diagrams["system"].isin(rows["system"])]
    families = list(dict.fromkeys(filled["family"]))
    measures = sorted(
        dict.fromkeys(rows["measure"]), key=lambda name: name not in _LEADING_MEASURES
    )
    shown = {name: _leading_texts(name) for name in measures}
    values = rows.set_index(["measure", "system", slider])["value"]
    return {
        "slider": slider,
        "steps": [round(step, _DIGITS) for step in steps],
        "dataset": get_dataset(dataset).short,
        "families": [
            [system, SYSTEM_NAMES.get(system, system), hue.light, hue.dark]
            for system, hue in zip(
                filled.drop_duplicates("family")["system"], system_hues(families), strict=True
            )
        ],
        "systems": [
            [name, families.index(family)] for name, family in systems if family in families
        ],
        "measures": [
            [name, title, unit, digits] for name, (title, unit, _, digits) in shown.items()
        ],
        "values": [
            [
                [round(factor * values[measure, system, step], _DIGITS) for step in steps]
                for system, family in systems
                if family in families
            ]
            for measure, (_, _, factor, _) in shown.items()
        ],
        "lines": [
            [index, title, round(factor * value, _DIGITS)]
            for index, (measure, (_, _, factor, _)) in enumerate(shown.items())
            for title, value in lines.get((dataset, measure), {}).items()
            if title != "second crowd"
        ],
        "diagrams": [
            [_bins(of_family[np.isclose(of_family[slider], step)]) for step in steps]
            for _, of_family in filled.groupby("family", sort=False)
        ],
    }


def _leading_texts(name: str) -> tuple[str, str, int, int]:
    """Return a measure's title, its unit, by what its values are multiplied, and their digits."""
    if name in _LEADING_MEASURES:
        return _LEADING_MEASURES[name]
    title, unit, _ = _measure_texts(name)
    return title, unit, 1, 3


def _bins(rows: pd.DataFrame) -> list[list[float]]:
    """Return the bins of a reliability diagram as the script reads them."""
    columns = rows[["bin_low", "n", "confidence", "hits"]].round(_DIGITS)
    return [list(values) for values in columns.itertuples(index=False)]


def _measure_texts(name: str) -> list[str]:
    """Return a measure's title, its unit and which way is better."""
    if name in _MACHINE_MEASURES:
        return _MACHINE_MEASURES[name]
    measure = MEASURES[name]
    return [measure.title, measure.unit, measure.better]


def setup(app: Sphinx) -> None:
    """Register the directive."""
    WIDGET.register(app, "interactive", Interactive)
