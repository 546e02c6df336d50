"""The collection of the votes, simulated: beside what the paper reports, and with stages left out.

What the annotators did was not released, so every number here that is not published is one of
simulated annotators. The analyses take what `with_examples` returns.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pandas as pd

from chaos_utils.analyses.evidence import Evidence, Material, gather
from chaos_utils.analyses.recorded import derived, recorded
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.table import in_order_of
from chaos_utils.collection import design
from chaos_utils.collection.annotators import mixture, stated_parameters
from chaos_utils.collection.materials import Materials, cut
from chaos_utils.collection.protocol import OPERATORS, Protocol
from chaos_utils.collection.simulate import Simulation, simulate
from chaos_utils.collection.tables import (
    PLATEAU_PERCENT,
    SETTLED,
    accuracy_curve,
    summary,
    transitions,
)
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.votes import Votes
from chaos_utils.report.columns import DATASET, Column, Row, number, signed, with_interval

_NEEDS = "published collection"
_PAPER = ("nie2020_table1", "nie2020_table2")
_FIRST = 50  # items that count as an annotator's first ones
_WITH_RANGE = ("tvd", "dollars", "hours")


def with_examples(material: Material) -> Material:
    """Return the datasets whose collection is published, each with the votes that lend examples.

    Datasets with the same labels share their unanimous examples, as SNLI and MNLI did. Where one
    of the book's is shown alone, the book's others lend theirs all the same.
    """
    lenders = gather() if material.released and not material.is_book else material
    found = []
    for one in material.having(_NEEDS):
        own = one.datasets[0]
        others = [
            other
            for other in lenders.having(_NEEDS)
            if other.name != one.name and other.datasets[0].labels == own.labels
        ]
        votes = None
        if one.given_votes and all(other.given_votes for other in others):
            lent = (each for other in others for each in other.given_votes or ())
            votes = (*one.given_votes, *lent)
        found.append(Evidence(one.datasets, votes, None, any(e.own for e in (one, *others))))
    return Material(tuple(found))


def _cut(
    votes: Votes, all_votes: Sequence[Votes], n_items: int, unanimous: float, seed: int
) -> Materials:
    # Examples stand in the book's order, whoever's items are judged.
    lending = sorted(all_votes, key=lambda one: one.dataset.in_book)
    return cut(votes, lending, n_items=n_items, bar=unanimous, seed=seed)


def _reported(dataset: str) -> dict[str, float]:
    """Return what the paper reports on a dataset's collection, as `summary` names it."""
    row = read_published("nie2020_table1").set_index("dataset").loc[dataset]
    names = ("qualification_fail_rate_percent", "filter_rate_percent", "annotators")
    return {name: float(row[name]) for name in names} | {"plateau_percent": PLATEAU_PERCENT}


@lru_cache(maxsize=8)  # the analyses of a page share their simulations
def _collected(
    votes: Votes,
    all_votes: tuple[Votes, ...],
    protocol: Protocol,
    collections: int,
    unanimous: float,
    seed: int,
) -> tuple[Simulation, ...]:
    """Simulate the collection of a dataset several times."""
    if collections < 1:
        raise ChaosError("Nothing would be simulated.", found=collections, expected="at least 1")
    dataset = votes.dataset.name
    sizes = read_published("nie2020_table2").set_index("dataset")["n_examples"]
    items = _cut(votes, all_votes, int(sizes[dataset]), unanimous, seed)
    population = mixture(**stated_parameters(dataset))
    return tuple(simulate(protocol, items, population, seed + n) for n in range(collections))


@recorded(keys=("dataset", "quantity"), needs=_NEEDS, published=_PAPER)
def beside_published(
    votes: Votes,
    all_votes: tuple[Votes, ...],
    *,
    protocol: Protocol,
    collections: int,
    unanimous: float,
    seed: int,
) -> pd.DataFrame:
    """Set what is published on a dataset's collection beside what is simulated.

    `all_votes` lend the unanimous examples, whose share of votes on one label exceeds `unanimous`.
    The collection is simulated `collections` times, with seeds from `seed` on.

    One row per quantity. Its ``role`` is ``stated`` (a parameter that is assumed), ``reported`` (in
    the paper), ``predicted``, ``input`` (taken from the paper) or ``material`` (what the collection
    works with). ``simulated`` is the mean of the collections, ``low`` and ``high`` are the lowest
    and the highest; ``difference`` is simulated minus published.
    """
    simulated = _collected(votes, all_votes, protocol, collections, unanimous, seed)
    dataset, items = votes.dataset.name, simulated[0].materials
    reported = _reported(dataset)
    runs = pd.DataFrame([summary(run) | _predictions(run) for run in simulated])
    drawn = pd.DataFrame(
        {"quantity": runs.columns, "simulated": runs.mean(), "low": runs.min(), "high": runs.max()}
    )
    drawn["published"] = drawn["quantity"].map(reported)
    drawn["role"] = np.where(drawn["published"].notna(), "reported", "predicted")
    seconds = design.seconds_per_answer(dataset)
    time = {"quantity": "mean_seconds_per_example", "role": "input", "published": seconds}
    sizes = {
        "examples": len(items.pool),
        "repeated_items": items.n_repeated,
        "votes": int(simulated[0].counts.sum()),
    }
    given = [
        pd.DataFrame(values.items(), columns=["quantity", "simulated"]).assign(role=role)
        for role, values in (("stated", stated_parameters(dataset)), ("material", sizes))
    ]
    table = pd.concat([given[0], drawn, pd.DataFrame([time]), given[1]], ignore_index=True)
    table = table.assign(dataset=dataset, difference=table["simulated"] - table["published"])
    columns = ["dataset", "quantity", "role", "published", "simulated", "low", "high", "difference"]
    return table[columns]


def _predictions(run: Simulation) -> dict[str, float]:
    """Return what the paper does not report: shares in percent, dollars, hours."""
    people, votes, known = run.annotators, run.votes, run.known
    admitted = (people["state"] != "rejected").sum()
    careless = people["kind"].to_numpy()[votes["annotator"]] != "careful"
    first = known[(known["asked"] == "check") & (known["place"] < _FIRST)]
    return {
        "dismissed_percent": 100 * float((people["state"] == "dismissed").sum() / admitted),
        "blocked_percent": 100 * float((people["state"] == "blocked").sum() / admitted),
        "first_accuracy_percent": 100 * float(first["right"].mean()),
        "careless_votes_percent": 100 * float(careless[votes["counted"]].mean()),
        "discarded_votes_percent": 100 * float((~votes["counted"]).mean()),
        "dollars": design.dollars(run),
        "hours": design.hours(run),
    }


@recorded(keys=("dataset", "who", "items"), needs=_NEEDS, published=_PAPER)
def accuracy_curves(
    votes: Votes,
    all_votes: tuple[Votes, ...],
    *,
    protocol: Protocol,
    collections: int,
    unanimous: float,
    seed: int,
) -> pd.DataFrame:
    """Follow the accuracy on hidden checks over an annotator's items, in the first collection.

    The rows of `accuracy_curve` for ``all`` and for ``careful`` annotators. ``plateau_percent`` is
    the published level that the fit was to meet; ``settled_percent`` the simulated one from
    ``settled_after`` items to the end, beyond the last bin too, as `summary` has it.
    """
    run = _collected(votes, all_votes, protocol, collections, unanimous, seed)[0]
    is_careful = run.annotators["kind"].to_numpy()[run.known["annotator"]] == "careful"
    careful = replace(run, known=run.known[is_careful])
    tables = [
        accuracy_curve(chosen).assign(
            dataset=votes.dataset.name,
            who=who,
            plateau_percent=PLATEAU_PERCENT,
            settled_after=SETTLED,
            settled_percent=summary(chosen)["plateau_percent"],
        )
        for who, chosen in {"all": run, "careful": careful}.items()
    ]
    return pd.concat(tables, ignore_index=True)


@recorded(keys=("dataset", "careless", "without"), needs=_NEEDS, published=_PAPER)
def stage_effects(
    votes: Votes,
    all_votes: tuple[Votes, ...],
    *,
    protocol: Protocol,
    items: int,
    careless: Sequence[float],
    replicates: int,
    unanimous: float,
    seed: int,
) -> pd.DataFrame:
    """Say what each stage buys: collections of the stated population with each stage left out.

    Means over `replicates` collections of what `design.stage_effects` gives, for each share of
    `careless` applicants; some have the lowest and the highest collection as ``…_low`` and
    ``…_high``.
    """
    few = _cut(votes, all_votes, items, unanimous, seed)
    population = mixture(**stated_parameters(votes.dataset.name))
    each = design.stage_effects(few, population, careless, protocol, replicates, seed)
    groups = each.drop(columns="seed").groupby(["careless", "without"], sort=False)
    means = groups.mean()
    for name in _WITH_RANGE:
        means[f"{name}_low"], means[f"{name}_high"] = groups[name].min(), groups[name].max()
    table = means.reset_index()
    table.insert(0, "dataset", votes.dataset.name)
    return table


@derived(keys=("from", "event", "condition", "to"))
def open_ways(protocol: Protocol) -> pd.DataFrame:
    """Return the ways from state to state that the values of the parameters leave open.

    The rows of `transitions`, with ``feedback`` (whether a mistake in the state ``from`` is pointed
    out) and ``discards_votes`` (whether the state ``to`` throws votes away).
    """
    is_open = []
    values = protocol.parameters
    for transition in protocol.table["transitions"]:
        of_branches, decided = [], False
        for branch in transition["branches"]:
            guards = [guard for guard in branch["when"] if "parameter" in guard]
            holds = all(OPERATORS[g["op"]](values[g["parameter"]], g["value"]) for g in guards)
            of_branches.append(holds and not decided)
            decided = decided or (holds and len(guards) == len(branch["when"]))
        is_open += of_branches * len(transition["from"])
    states = protocol.table["states"]
    table = transitions(protocol)[is_open].reset_index(drop=True)
    said = {f"{name.replace('_', ' ')} > 0": "" for name in values}
    said["check"] = f"check, chance {values['check_rate']:g}"
    return table.assign(
        condition=table["condition"].replace(said),
        feedback=[bool(states[name].get("feedback")) for name in table["from"]],
        discards_votes=[bool(states[name].get("discards_votes")) for name in table["to"]],
    )


@derived(keys=("rule",))
def rules(protocol: Protocol) -> pd.DataFrame:
    """Return the protocol's parameters: what each means, and its value."""
    described = protocol.table["parameters"]
    rows = [(name, described[name]["kind"], described[name]["means"], float(value))
            for name, value in protocol.parameters.items()]  # fmt: skip
    return pd.DataFrame(rows, columns=["rule", "kind", "means", "value"])


# What readers call each quantity that the paper reports, and its decimals.
QUANTITIES = {
    "qualification_fail_rate_percent": ("fail the on-boarding test (%)", 1),
    "filter_rate_percent": ("admitted, then filtered out (%)", 1),
    "annotators": ("annotators", 0),
    "plateau_percent": ("accuracy on hidden checks after 300 items (%)", 1),
}


def reported(compared: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `beside_published` that the paper has a number for, by quantity."""
    return in_order_of(compared[compared["role"] == "reported"], "quantity", QUANTITIES)


def _figure(value: str, write: Callable[[float, int], str] = number) -> Callable[[Row], str]:
    """Write a number with the decimals of its quantity."""
    return lambda row: write(row[value], QUANTITIES[row["quantity"]][1])


def _simulated(row: Row) -> str:
    digits = QUANTITIES[row["quantity"]][1]
    return with_interval(row["simulated"], row["low"], row["high"], digits)


def _rule(row: Row) -> str:
    if row["kind"] == "share":
        return f"{row['value']:.0%}"
    return f"${row['value']:.2f}" if row["kind"] == "dollars" else f"{row['value']:.0f}"


RULES = [Column("rule", "means"), Column("value", _rule)]
COLLECTION_COLUMNS = [
    Column("quantity", lambda row: QUANTITIES[row["quantity"]][0]),
    DATASET,
    Column("paper", _figure("published")),
    Column("simulated", _simulated),
    Column("Δ", _figure("difference", signed)),
]
