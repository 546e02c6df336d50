"""Published scores that the reader sorts and switches; the static figure stays citable."""

from html import escape
from typing import Any

import pandas as pd
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from chaos_book.book import BOOK, raw_html
from chaos_book.widgets import Widget
from chaos_utils.base.style import SYSTEM_NAMES
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.publish.scripts import compact

WIDGET = Widget("interactive", ("interactive.css", "interactive.js"))
_DIGITS = 4


class Interactive(SphinxDirective):
    """Set a figure's or table's scores as rows of dots: ``{interactive} <id>``.

    The data has a row for each ``dataset`` and ``system``, with a column for each of `measures`, or
    with ``measure`` and ``value``; ``low`` and ``high`` are the ends of intervals. The `slider`
    names a column of numbers of which one is shown at a time, and `where` (``column=value``) the
    rows that are meant.
    """

    required_arguments = 1
    option_spec = {  # noqa: RUF012 - docutils wants it so
        "measures": directives.unchanged_required,
        "slider": directives.unchanged_required,
        "where": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        """Return the data and a place for what the script makes of it."""
        id = self.arguments[0]
        manifest = BOOK.made(self.env, id)
        if manifest is None:  # on other data there may be none
            return []
        rows = manifest.rows
        if "where" in self.options:
            name, _, wanted = self.options["where"].partition("=")
            rows = rows[rows[name].fillna("").astype(str) == wanted]
        if "n_seeds" in rows:  # a mean over seeds would stand among those that it is a mean of
            rows = rows[rows["n_seeds"].isna()]
        if "measure" not in rows:
            rows = _long(rows, self.options["measures"].split())
        rows = rows[rows["value"].notna()]
        if not len(rows):  # likewise
            return []
        slider = self.options.get("slider", "")
        content = compact(scores(rows, slider)).replace("<", "\\u003c")
        WIDGET.ask(self.env)
        html = (
            f'<div class="interactive" hidden data-slider="{escape(slider)}">'
            f'<script type="application/json">{content}</script></div>'
        )
        return [raw_html(html)]


def _long(rows: pd.DataFrame, measures: list[str]) -> pd.DataFrame:
    """Set each of some measures, which stand side by side, in a row of its own."""
    keys = [name for name in ("dataset", "system", "label", "source", "kind") if name in rows]
    parts = []
    for name in measures:
        ends = {f"{name}_{end}": end for end in ("low", "high") if f"{name}_{end}" in rows}
        part = rows[[*keys, name, *ends]].rename(columns={name: "value", **ends})
        parts.append(part.assign(measure=name))
    return pd.concat(parts)


def scores(rows: pd.DataFrame, slider: str = "") -> dict[str, Any]:
    """Return what the script needs of a table of scores: names once, rows as numbers.

    A row is the places of its dataset, system, measure and step of the slider, its value, and the
    ends of its interval, where it has one.
    """
    rows = rows.reset_index(drop=True)
    names = rows["label"] if "label" in rows else rows["system"].replace(dict(SYSTEM_NAMES))
    if "source" in rows:
        names = names.where(rows["source"] != "published", names + " (published)")
    kinds = rows["kind"] if "kind" in rows else pd.Series("model", index=rows.index)
    steps = rows[slider] if slider else pd.Series(0.0, index=rows.index)
    columns = {
        "dataset": rows["dataset"],
        "system": names,
        "measure": rows["measure"],
        "step": steps.round(_DIGITS),
    }
    found = {name: list(dict.fromkeys(column)) for name, column in columns.items()}
    found["step"].sort()
    places = [
        column.map({key: place for place, key in enumerate(found[name])})
        for name, column in columns.items()
    ]
    ends = [rows[end].round(_DIGITS) for end in ("low", "high") if end in rows]
    values = [rows["value"].round(_DIGITS), *ends]
    kind_of = dict(zip(names, kinds, strict=True))
    return {
        "datasets": [get_dataset(name).short for name in found["dataset"]],
        "systems": [[name, kind_of[name]] for name in found["system"]],
        "measures": [_measure(name) for name in found["measure"]],
        "steps": found["step"],
        "rows": [
            [*map(int, place), *(None if pd.isna(one) else one for one in value)]
            for place, value in zip(
                zip(*places, strict=True), zip(*values, strict=True), strict=True
            )
        ],
    }


def _measure(name: str) -> list[str]:
    """Return a measure's title with its unit, and which way is better."""
    measure = MEASURES[name]
    return [", ".join(filter(None, (measure.title, measure.unit))), measure.better]


def setup(app: Sphinx) -> None:
    """Register the directive."""
    WIDGET.register(app, "interactive", Interactive)
