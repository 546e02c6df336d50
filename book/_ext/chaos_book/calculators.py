"""Two calculators: how many votes and items a study needs, and one convention read in another.

Their numbers are those of published tables and figures, which the page contains as data; scripts
interpolate and convert them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from chaos_book.conventions import UNMEASURED, forms, shifts
from chaos_utils.analyses.power import PAIRS
from chaos_utils.datasets.catalogue import get_dataset, short_of
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.pages.explorer import name_in_lists
from chaos_utils.publish.scripts import compact
from chaos_utils.report.manifests import Manifest
from chaos_utils.scoring.power import smallest_difference
from chaos_utils.sphinx.book import BOOK, raw_html
from chaos_utils.sphinx.page_citations import citation
from chaos_utils.sphinx.widgets import Widget

_FILES = ("calculators.css", "inputs.js", "votes_file.js", "votes.js", "conversions.js")
WIDGET = Widget("calculators", _FILES, shared=("axes.css", "axes.js"))
Rows = Iterable[Mapping[str, Any]]
# The two curves of the votes calculator: measure and quantity of their rows in the tables.
_CURVES = {"label": ("new_accuracy", "perfect_model"), "shares": ("dist_ce", "error")}
_LONG_NAMES = {"Nie et al. 2020": "Nie et al. 2020 (ChaosNLI)"}
_ORACLE = "oracle"
_PAIRS_SHOWN = ("models", "seeds")
_REQUIRED_IDS = {
    "votes": (
        "fig-annotation-budget", "tbl-power", "tbl-vote-bias", "tbl-crowds-votes", "tbl-crowds",
    ),
    "conversions": ("tbl-conventions",),
}  # fmt: skip
_TITLES = {"votes": "How many votes, how many items?", "conversions": "Which JSD was that?"}


class Calculator(SphinxDirective):
    """Set a calculator, ``votes`` or ``conversions``; nothing where its tables are missing."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return its data, and an element that the script fills."""
        kind = self.arguments[0]
        if kind not in _REQUIRED_IDS:
            raise self.error(f"no such calculator: {kind}, one of {', '.join(_REQUIRED_IDS)}")
        manifests = [found for id in _REQUIRED_IDS[kind] if (found := BOOK.made(self.env, id))]
        if len(manifests) < len(_REQUIRED_IDS[kind]):
            return []
        data = votes_data(*manifests) if kind == "votes" else conversions_data(*manifests)
        data |= {
            "synthetic": manifests[0].synthetic,
            "cite": citation(self.env.docname, _TITLES[kind]),
        }
        WIDGET.ask(self.env)
        content = compact(data).replace("<", "\\u003c")
        return [
            raw_html(
                f'<div class="calculator" data-kind="{kind}" role="region" '
                f'aria-label="{_TITLES[kind]}">'
                f'<script type="application/json">{content}</script>'
                "<noscript><p>The calculator needs JavaScript.</p></noscript></div>"
            )
        ]


def votes_data(
    budgets: Manifest, power: Manifest, shifted: Manifest, crowds: Manifest, atlas: Manifest
) -> dict[str, Any]:
    """Return the data of the votes calculator.

    Returns
    -------
    dict
        * ``datasets``: for each dataset its names, and
            * ``label``, ``shares``: rows of a number of votes, the value and its standard deviation
            * ``models``: by pair and measure, see `_difference_variances`
            * ``bias``: rows of a number of votes, the median and the largest shift
            * ``draws``: how many draws the curves are means of
            * ``disagreement``: how often two votes on an item differ, of ``n_labels`` labels

          Datasets that only `crowds` has come last, without ``models`` and ``bias``.
        * ``reach``: `smallest_difference` of one item with variance 1
        * ``pairs``, ``measures``: their titles by name
    """
    names = list(dict.fromkeys(row["dataset"] for row in budgets.data))
    datasets = []
    for name in names:
        budget_rows, power_rows, bias_rows = (
            [row for row in manifest.data if row["dataset"] == name]
            for manifest in (budgets, power, shifted)
        )
        curves = {
            curve: _sorted_rows(
                (row for row in budget_rows if (row["measure"], row["quantity"]) == key),
                ("n_votes", "value", "sd"),
            )
            for curve, key in _CURVES.items()
        }
        datasets.append(
            {
                "name": name,
                "short": short_of(name),
                "listed": name_in_lists(get_dataset(name)),
                **curves,
                "models": _difference_variances(power_rows),
                "bias": _sorted_rows(bias_rows, ("n_votes", "median", "largest")),
                "draws": budgets.parameters["draws"],
            }
        )
    for name in dict.fromkeys(row["dataset"] for row in crowds.data):
        if name not in names:
            datasets.append(_crowd_data(name, crowds))
    by_name = {row["dataset"]: row for row in atlas.data}
    for dataset in datasets:
        dataset |= {key: by_name[dataset["name"]][key] for key in ("disagreement", "n_labels")}
    measures = dict.fromkeys(row["measure"] for row in power.data)
    unbiased_first = sorted(measures, key=lambda name: name != "sq_distance")
    return {
        "datasets": datasets,
        "reach": float(smallest_difference(1.0, 1)),
        "pairs": {name: PAIRS[name] for name in _PAIRS_SHOWN},
        "measures": {name: MEASURES[name].title for name in unbiased_first},
    }


def _crowd_data(name: str, crowds: Manifest) -> dict[str, Any]:
    """Return the data of a dataset of which only the votes are known, no models."""
    rows = [row for row in crowds.data if row["dataset"] == name]
    curves = {
        curve: _sorted_rows(
            (row for row in rows if row["quantity"] == curve), ("n_votes", "value", "sd")
        )
        for curve in _CURVES
    }
    names = {"name": name, "short": short_of(name), "listed": name_in_lists(get_dataset(name))}
    return names | curves | {"models": {}, "bias": [], "draws": crowds.parameters["draws"]}


def _sorted_rows(rows: Rows, names: Sequence[str]) -> list[list[float]]:
    """Return rows as lists of the columns `names`, sorted."""
    return sorted([row[name] for name in names] for row in rows)


def _difference_variances(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return, by pair and measure, the variances of differences between two models.

    Each entry has ``n_pairs``, and ``rows`` of a number of votes and the mean, least and largest
    variance.
    """
    variances: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row["pair"] in _PAIRS_SHOWN:
            pair_entries = variances.setdefault(row["pair"], {})
            entry = pair_entries.setdefault(row["measure"], {"n_pairs": row["n_pairs"], "rows": []})
            entry["rows"].append([row[name] for name in ("n_votes", "variance", "least", "most")])
    for pair_entries in variances.values():
        for entry in pair_entries.values():
            entry["rows"].sort()
    return variances


def conversions_data(table: Manifest) -> dict[str, Any]:
    """Return the data of the conversions calculator.

    Each of the ``forms`` is a convention with its ``measured`` values, one for each of ``systems``
    that has one; an infinite value is None. ``used_by`` has the conventions' keys by paper or
    library. The oracle is not among the systems: its values decide ``shifts``.
    """
    values = {(row["system"], row["quantity"], row["convention"]): row for row in table.data}
    systems = dict.fromkeys(row["system"] for row in table.data if row["system"] != _ORACLE)
    users = {(quantity, convention): names for quantity, convention, names in UNMEASURED}
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
    oracle_values = {
        (quantity, convention): row["value"]
        for (system, quantity, convention), row in values.items()
        if system == _ORACLE
    }
    return {
        "forms": form_data,
        "shifts": shifts(oracle_values),
        "used_by": used_by,
        "systems": [*systems],
        "dataset": short_of(table.data[0]["dataset"]),
        "n_items": table.data[0]["n_items"],
    }


def setup(app: Sphinx) -> None:
    """Register the directive."""
    WIDGET.register(app, "calculator", Calculator)
