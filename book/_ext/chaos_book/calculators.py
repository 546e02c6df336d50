"""Two calculators: how many votes and items a study needs, and one convention read in another.

Their numbers are those of published tables and figures, which stand in the page as data; scripts
interpolate and convert.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from chaos_book.book import BOOK, raw_html
from chaos_book.conventions import UNMEASURED, forms, shifts
from chaos_book.widgets import Widget
from chaos_utils.analyses.power import PAIRS
from chaos_utils.datasets.catalogue import get_dataset, short_of
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.publish.scripts import compact
from chaos_utils.report import citations
from chaos_utils.report.manifests import SYNTHETIC_NOTE, Manifest
from chaos_utils.scoring.power import smallest_difference

_FILES = ("calculators.css", "inputs.js", "votes_file.js", "votes.js", "conversions.js")
WIDGET = Widget("calculators", _FILES, shared=("axes.css", "axes.js"))
Rows = Iterable[Mapping[str, Any]]
# What is asked of votes, by the measure and quantity of the table that answers it.
_CURVES = {"label": ("new_accuracy", "perfect_model"), "shares": ("dist_ce", "error")}
_LONG_NAMES = {"Nie et al. 2020": "Nie et al. 2020 (ChaosNLI)"}
_ORACLE = "oracle"
_PAIRS_SHOWN = ("models", "seeds")
_NEEDS = {
    "votes": ("fig-annotation-budget", "tbl-power", "tbl-vote-bias", "tbl-crowds-votes"),
    "conversions": ("tbl-conventions",),
}
_TITLES = {"votes": "How many votes, how many items?", "conversions": "Which JSD was that?"}


class Calculator(SphinxDirective):
    """Set a calculator, ``votes`` or ``conversions``; nothing where its tables are missing."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return its data and a place for what the script makes of it."""
        kind = self.arguments[0]
        if kind not in _NEEDS:
            raise self.error(f"no such calculator: {kind}, one of {', '.join(_NEEDS)}")
        manifests = [one for id in _NEEDS[kind] if (one := BOOK.made(self.env, id))]
        if len(manifests) < len(_NEEDS[kind]):
            return []
        data = votes_data(*manifests) if kind == "votes" else conversions_data(*manifests)
        data |= {"synthetic": manifests[0].synthetic, "cite": _citation(kind, self.env.docname)}
        WIDGET.ask(self.env)
        content = compact(data).replace("<", "\\u003c")
        return [
            raw_html(
                f'<div class="calculator" data-kind="{kind}" role="region" '
                f'aria-label="{_TITLES[kind]}">'
                f'<script type="application/json">{content}</script>'
                "<noscript><p>The calculator needs JavaScript. The rest of this page does not."
                "</p></noscript></div>"
            )
        ]


def _citation(kind: str, page: str) -> dict[str, str]:
    """Return a citation of the page, which ends where its address follows, and that address."""
    book = BOOK.citation
    title = f"{SYNTHETIC_NOTE}: {_TITLES[kind]}" if BOOK.is_synthetic else _TITLES[kind]
    address = f"{book.url.rstrip('/')}/{page}.html" if book.url else ""
    return {
        "words": citations.page_plain(book, title, ""),
        "address": address,
        "page": f"{page}.html",
    }


def votes_data(
    budgets: Manifest, power: Manifest, shifted: Manifest, crowds: Manifest
) -> dict[str, Any]:
    """Return what is known of votes and items, by dataset; of those in `crowds` alone, of votes.

    ``label`` and ``shares`` have rows of a number of votes, the value, and its standard deviation;
    ``models`` has, by pair and measure, the number of pairs and rows of votes, mean variance of a
    difference, and the least and largest; ``bias`` rows of votes, median and largest shift.
    """
    names = list(dict.fromkeys(row["dataset"] for row in budgets.data))
    datasets = []
    for name in names:
        of_budgets, of_power, of_bias = (
            [row for row in one.data if row["dataset"] == name] for one in (budgets, power, shifted)
        )
        curves = {
            curve: _columns(
                (row for row in of_budgets if (row["measure"], row["quantity"]) == key),
                ("n_votes", "value", "sd"),
            )
            for curve, key in _CURVES.items()
        }
        datasets.append(
            {
                "name": name,
                "short": short_of(name),
                "title": get_dataset(name).title,
                **curves,
                "models": _spreads(of_power),
                "bias": _columns(of_bias, ("n_votes", "median", "largest")),
                "draws": budgets.parameters["draws"],
            }
        )
    for name in dict.fromkeys(row["dataset"] for row in crowds.data):
        if name not in names:
            datasets.append(_crowd_data(name, crowds))
    measures = dict.fromkeys(row["measure"] for row in power.data)
    unbiased_first = sorted(measures, key=lambda name: name != "sq_distance")
    return {
        "datasets": datasets,
        "reach": float(smallest_difference(1.0, 1)),
        "pairs": {name: PAIRS[name] for name in _PAIRS_SHOWN},
        "measures": {name: MEASURES[name].title for name in unbiased_first},
    }


def _crowd_data(name: str, crowds: Manifest) -> dict[str, Any]:
    rows = [row for row in crowds.data if row["dataset"] == name]
    curves = {
        curve: _columns(
            (row for row in rows if row["quantity"] == curve), ("n_votes", "value", "sd")
        )
        for curve in _CURVES
    }
    titles = {"name": name, "short": short_of(name), "title": get_dataset(name).title}
    return titles | curves | {"models": {}, "bias": [], "draws": crowds.parameters["draws"]}


def _columns(rows: Rows, names: Sequence[str]) -> list[list[float]]:
    return sorted([row[name] for name in names] for row in rows)


def _spreads(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the variances of differences, by pair and measure."""
    spreads: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row["pair"] in _PAIRS_SHOWN:
            of_pair = spreads.setdefault(row["pair"], {})
            entry = of_pair.setdefault(row["measure"], {"n_pairs": row["n_pairs"], "rows": []})
            entry["rows"].append([row[name] for name in ("n_votes", "variance", "least", "most")])
    for measures in spreads.values():
        for entry in measures.values():
            entry["rows"].sort()
    return spreads


def conversions_data(table: Manifest) -> dict[str, Any]:
    """Return every convention with what converts it, and what systems had under each.

    ``measured`` is by key of the convention, one value for each of ``systems``; infinite is None.
    The oracle is no system here: what it gives enters ``shifts``.
    """
    values = {(row["system"], row["quantity"], row["convention"]): row for row in table.data}
    systems = dict.fromkeys(row["system"] for row in table.data if row["system"] != _ORACLE)
    users = {(quantity, convention): by for quantity, convention, by in UNMEASURED}
    users |= {key[1:]: row["used_by"] for key, row in values.items()}
    used_by: dict[str, list[str]] = {}
    form_data = []
    for form in forms(key[1:] for key in values):
        pair = form.quantity, form.convention
        rows = [values[system, *pair] for system in systems if (system, *pair) in values]
        form_data.append(form.as_data() | {"measured": [row["value"] for row in rows]})
        for name in filter(None, users[pair].split("; ")):
            name = _LONG_NAMES.get(name, name)
            used_by.setdefault(name, []).append(form.key)
    of_oracle = {
        (quantity, convention): row["value"]
        for (system, quantity, convention), row in values.items()
        if system == _ORACLE
    }
    return {
        "forms": form_data,
        "shifts": shifts(of_oracle),
        "used_by": used_by,
        "systems": [*systems],
        "dataset": short_of(table.data[0]["dataset"]),
        "n_items": table.data[0]["n_items"],
    }


def setup(app: Sphinx) -> None:
    """Register the directive."""
    WIDGET.register(app, "calculator", Calculator)
