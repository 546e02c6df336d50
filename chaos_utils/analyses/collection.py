"""The collection of the votes, simulated: beside what the paper reports, and with stages left out.

What the annotators did was not released, so every number here that is not published is one of
simulated annotators. The analyses take what `with_examples` returns.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np
import pandas as pd

from chaos_utils.analyses.evidence import Evidence, Material, gather
from chaos_utils.analyses.names import dataset_name
from chaos_utils.analyses.recorded import derived, recorded
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.table import in_order_of
from chaos_utils.crowd import design
from chaos_utils.crowd.expected import Expectation
from chaos_utils.crowd.fitting import Fit, fit, published_targets
from chaos_utils.crowd.materials import Materials, cut
from chaos_utils.crowd.protocol import OPERATORS, Protocol, load_protocol
from chaos_utils.crowd.simulate import Simulation, simulate
from chaos_utils.crowd.tables import SETTLED, accuracy_curve, summary, transitions
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.votes import Votes
from chaos_utils.report.columns import Column, Row, number, signed, with_interval

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


@lru_cache(maxsize=8)  # the analyses of a page share their fits and simulations
def _fitted(
    votes: Votes, all_votes: tuple[Votes, ...], protocol: Protocol, unanimous: float, seed: int
) -> tuple[Materials, Fit]:
    """Calibrate a population to what is published on a dataset's collection."""
    dataset = votes.dataset.name
    sizes = read_published("nie2020_table2").set_index("dataset")["n_examples"]
    items = _cut(votes, all_votes, int(sizes[dataset]), unanimous, seed)
    return items, fit(Expectation(protocol, items), published_targets(dataset))


@lru_cache(maxsize=8)
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
    items, found = _fitted(votes, all_votes, protocol, unanimous, seed)
    seeds = range(seed, seed + collections)
    return tuple(simulate(protocol, items, found.population, one) for one in seeds)


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

    One row per quantity. Its ``role`` is ``free`` (a parameter that the fit chose), ``fitted`` (a
    target of the fit), ``predicted``, ``input`` (taken from the paper) or ``material`` (what the
    collection works with). ``simulated`` is the mean of the collections; ``low`` and ``high`` are
    the 95% interval of a parameter, else the lowest and the highest collection. ``difference`` is
    simulated minus published; ``expected`` what endlessly many collections would come to.
    """
    items, found = _fitted(votes, all_votes, protocol, unanimous, seed)
    simulated = _collected(votes, all_votes, protocol, collections, unanimous, seed)
    dataset = votes.dataset.name
    targets = published_targets(dataset)
    free = found.parameters.rename(columns={"parameter": "quantity", "value": "simulated"})
    in_percent = free["quantity"] != "mean_stay"
    free.loc[in_percent, ["simulated", "low", "high"]] *= 100
    runs = pd.DataFrame([summary(run) | _predictions(run) for run in simulated])
    drawn = pd.DataFrame(
        {"quantity": runs.columns, "simulated": runs.mean(), "low": runs.min(), "high": runs.max()}
    )
    drawn["published"] = drawn["quantity"].map(targets)
    drawn["expected"] = drawn["quantity"].map(found.targets.set_index("quantity")["fitted"])
    drawn["role"] = np.where(drawn["quantity"].isin(list(targets)), "fitted", "predicted")
    seconds = design.seconds_per_answer(dataset)
    time = {"quantity": "mean_seconds_per_example", "role": "input", "published": seconds}
    sizes = {
        "examples": len(items.pool),
        "repeated_items": items.n_repeated,
        "votes": int(simulated[0].counts.sum()),
    }
    material = pd.DataFrame(sizes.items(), columns=["quantity", "simulated"])
    parts = [free.assign(role="free"), drawn, pd.DataFrame([time])]
    table = pd.concat([*parts, material.assign(role="material")], ignore_index=True)
    table = table.assign(dataset=dataset, difference=table["simulated"] - table["published"])
    columns = ["dataset", "quantity", "role", "published", "simulated", "low", "high", "difference",
               "expected"]  # fmt: skip
    return table[columns]


def _predictions(run: Simulation) -> dict[str, float]:
    """Return what nothing was fitted to: shares in percent, dollars, hours."""
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
            plateau_percent=published_targets(votes.dataset.name)["plateau_percent"],
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
    """Say what each stage buys: collections of the fitted population with each stage left out.

    Means over `replicates` collections of what `design.stage_effects` gives, for each share of
    `careless` applicants; some have the lowest and the highest collection as ``…_low`` and
    ``…_high``.
    """
    _, found = _fitted(votes, all_votes, protocol, unanimous, seed)
    few = _cut(votes, all_votes, items, unanimous, seed)
    each = design.stage_effects(few, found.population, careless, protocol, replicates, seed)
    groups = each.drop(columns="seed").groupby(["careless", "without"], sort=False)
    means = groups.mean()
    for name in _WITH_RANGE:
        means[f"{name}_low"], means[f"{name}_high"] = groups[name].min(), groups[name].max()
    table = means.reset_index()
    table.insert(0, "dataset", votes.dataset.name)
    return table


@recorded(keys=("dataset", "without", "careless", "n_votes"), needs=_NEEDS, published=_PAPER)
def errors_with_and_without(
    votes: Votes,
    all_votes: tuple[Votes, ...],
    *,
    protocol: Protocol,
    items: int,
    careless: Sequence[float],
    n_votes: Sequence[int],
    unanimous: float,
    seed: int,
) -> pd.DataFrame:
    """Split the expected error in bias and variance, with all stages and without any.

    The rows of `design.bias_variance` for each number of votes per item, ``without`` ``nothing`` or
    ``every stage``.
    """
    _, found = _fitted(votes, all_votes, protocol, unanimous, seed)
    few = _cut(votes, all_votes, items, unanimous, seed)
    tables = []
    for without in ("nothing", "every stage"):
        changed = load_protocol(**{**protocol.parameters, **design.WITHOUT[without]})
        expected = Expectation(changed, few)
        errors = design.bias_variance(expected, found.population, careless, n_votes)
        errors.insert(0, "without", without)
        tables.append(errors)
    table = pd.concat(tables, ignore_index=True)
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


# By role: what readers call each quantity, and its decimals.
QUANTITIES = {
    "qualification_fail_rate_percent": ("fail the on-boarding test (%)", 1),
    "filter_rate_percent": ("admitted, then filtered out (%)", 1),
    "annotators": ("annotators", 0),
    "plateau_percent": ("accuracy on hidden checks after 300 items (%)", 1),
    "dismissed_percent": ("admitted, then dismissed in training (%)", 1),
    "blocked_percent": ("admitted, then blocked at work (%)", 1),
    "first_accuracy_percent": ("accuracy on hidden checks, first 50 items (%)", 1),
    "careless_votes_percent": ("kept votes that are of careless annotators (%)", 1),
    "discarded_votes_percent": ("votes thrown away (%)", 1),
    "dollars": ("cost (dollars)", 0),
    "hours": ("annotators’ time (hours)", 0),
    "careless": ("careless applicants (%)", 1),
    "lapse": ("lapses of careful annotators at work, once taught (%)", 1),
    "lapse_in_tests": ("their lapses in tests (%)", 1),
    "mean_stay": ("items that an annotator is ready to judge, mean", 0),
    "mean_seconds_per_example": ("seconds for an answer, mean", 1),
    "examples": ("unanimous examples available", 0),
    "repeated_items": ("items that stand in a second time", 0),
    "votes": ("votes in a collection", 0),
}
_ROLES = {"predicted": "predicted", "free": "free parameter", "material": "material"}


def fitted(compared: pd.DataFrame) -> pd.DataFrame:
    """Return the targets of the fit among the rows of `beside_published`, by quantity."""
    return in_order_of(compared[compared["role"] == "fitted"], "quantity", QUANTITIES)


def by_quantity(compared: pd.DataFrame) -> tuple[pd.DataFrame, list[Column]]:
    """Return what follows from the fit, a row for each quantity, and how this is shown.

    Of the rows of `beside_published`, those that the paper has no number for.
    """
    others = compared[compared["role"].isin(list(_ROLES))]
    values = ["simulated", "low", "high"]
    wide = others.pivot(index=["quantity", "role"], columns="dataset", values=values)
    wide.columns = [f"{what} {dataset}" for what, dataset in wide.columns]
    columns = [
        Column("quantity", lambda row: QUANTITIES[row["quantity"]][0]),
        Column("role", "role", names=_ROLES),
        *(
            Column(dataset_name(name), partial(_simulated, dataset=name))
            for name in compared["dataset"].unique()
        ),
    ]
    return in_order_of(wide.reset_index(), "quantity", QUANTITIES), columns


def _figure(value: str, write: Callable[[float, int], str] = number) -> Callable[[Row], str]:
    """Write a number with the decimals of its quantity."""
    return lambda row: write(row[value], QUANTITIES[row["quantity"]][1])


def _simulated(row: Row, dataset: str = "") -> str:
    value, low, high = (row[f"{name} {dataset}".strip()] for name in ("simulated", "low", "high"))
    digits = QUANTITIES[row["quantity"]][1]
    return number(value, digits) if pd.isna(low) else with_interval(value, low, high, digits)


def _rule(row: Row) -> str:
    if row["kind"] == "share":
        return f"{row['value']:.0%}"
    return f"${row['value']:.2f}" if row["kind"] == "dollars" else f"{row['value']:.0f}"


RULES = [Column("rule", "means"), Column("value", _rule)]
COLLECTION_COLUMNS = [
    Column("quantity", lambda row: QUANTITIES[row["quantity"]][0]),
    Column("dataset", "dataset", names=dataset_name),
    Column("paper", _figure("published")),
    Column("simulated", _simulated),
    Column("Δ", _figure("difference", signed)),
]
