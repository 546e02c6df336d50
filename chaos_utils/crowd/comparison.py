"""Simulated collections beside what the paper reports on the real one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from chaos_utils.base.errors import ChaosError
from chaos_utils.crowd.annotators import Population
from chaos_utils.crowd.design import WITHOUT, bias_variance, dollars, hours, seconds_per_answer
from chaos_utils.crowd.expected import Expectation
from chaos_utils.crowd.fitting import Fit, fit, published_targets
from chaos_utils.crowd.materials import Materials
from chaos_utils.crowd.protocol import OPERATORS, Json, Protocol, load_protocol
from chaos_utils.crowd.simulate import Simulation, simulate
from chaos_utils.crowd.tables import SETTLED, accuracy_curve, summary, transitions
from chaos_utils.datasets.published.tables import read_published

_FIRST = 50  # items that count as an annotator's first ones


@dataclass(frozen=True, slots=True, eq=False)
class Collection:
    """The collection for one dataset, calibrated and then simulated several times.

    Attributes
    ----------
    expectation : Expectation
        The published protocol at work on the dataset's items.
    fit : Fit
        The population that was fitted to the published figures.
    runs : tuple of Simulation
        Collections with that population, each with a seed of its own.
    """

    expectation: Expectation
    fit: Fit
    runs: tuple[Simulation, ...]

    @property
    def dataset(self) -> str:
        """Name of the dataset."""
        return self.expectation.materials.dataset.name


def published_size(dataset: str) -> int:
    """Return how many items of a dataset the paper had judged."""
    return int(read_published("nie2020_table2").set_index("dataset").loc[dataset, "n_examples"])


def collect(materials: Materials, n_runs: int, seed: int = 0) -> Collection:
    """Calibrate a population to the published figures and simulate its collection.

    Parameters
    ----------
    n_runs : int
        Collections to simulate.
    seed : int
        Seed of the first one; each of the others has the next number.
    """
    if n_runs < 1:
        raise ChaosError("Nothing would be simulated.", found=n_runs, expected="at least 1")
    expectation = Expectation(load_protocol(), materials)
    found = fit(expectation, published_targets(materials.dataset.name))
    seeds = range(seed, seed + n_runs)
    runs = [simulate(expectation.protocol, materials, found.population, one) for one in seeds]
    return Collection(expectation, found, tuple(runs))


def beside_published(collections: Sequence[Collection]) -> pd.DataFrame:
    """Return published and simulated figures of each dataset's collection.

    Parameters
    ----------
    collections : sequence of Collection
        One a dataset.

    Returns
    -------
    DataFrame
        Per dataset and figure: ``dataset``, ``figure``, ``role`` (``free``, a parameter that
        the fit chose; ``fitted``, a target of the fit; ``predicted``; ``input``, taken from
        the paper), ``published`` and ``simulated`` (mean of the collections, NaN where there
        is none), ``low`` and ``high`` (of a parameter its 95% interval, else the lowest and
        highest collection), ``difference`` (simulated minus published).
    """
    table = pd.concat([_figures_of(one) for one in collections], ignore_index=True)
    table["difference"] = table["simulated"] - table["published"]
    columns = ["dataset", "figure", "role", "published", "simulated", "low", "high", "difference"]
    return table[columns]


def _figures_of(collection: Collection) -> pd.DataFrame:
    targets = published_targets(collection.dataset)
    free = collection.fit.parameters.rename(columns={"parameter": "figure", "value": "simulated"})
    in_percent = free["figure"] != "mean_stay"
    free.loc[in_percent, ["simulated", "low", "high"]] *= 100
    runs = pd.DataFrame([summary(run) | _predictions(run) for run in collection.runs])
    simulated = pd.DataFrame(
        {"figure": runs.columns, "simulated": runs.mean(), "low": runs.min(), "high": runs.max()}
    )
    known = simulated["figure"].isin(list(targets))
    time = {"figure": "mean_seconds_per_example", "role": "input"}
    table = pd.concat(
        [
            free.assign(role="free"),
            simulated.assign(
                role=np.where(known, "fitted", "predicted"),
                published=simulated["figure"].map(targets),
            ),
            pd.DataFrame([time | {"published": seconds_per_answer(collection.dataset)}]),
        ],
        ignore_index=True,
    )
    return table.assign(dataset=collection.dataset)


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
        "dollars": dollars(run),
        "hours": hours(run),
    }


def accuracy_curves(collections: Sequence[Collection]) -> pd.DataFrame:
    """Return `accuracy_curve` of each dataset's first collection, for all and for the careful ones.

    Parameters
    ----------
    collections : sequence of Collection
        One a dataset.

    Returns
    -------
    DataFrame
        As `accuracy_curve` gives it, with ``dataset``, ``who`` (``all`` or ``careful``),
        ``plateau_percent``, the published level that the fit was to meet;
        ``settled_after``, the items after which it is reached; and ``settled_percent``, the
        simulated level from there to the end, beyond the last bin too, as `summary` has it.
    """
    tables = []
    for one in collections:
        run, plateau = one.runs[0], published_targets(one.dataset)["plateau_percent"]
        is_careful = run.annotators["kind"].to_numpy()[run.known["annotator"]] == "careful"
        careful = replace(run, known=run.known[is_careful])
        tables += [
            accuracy_curve(chosen).assign(
                dataset=one.dataset,
                who=who,
                plateau_percent=plateau,
                settled_after=SETTLED,
                settled_percent=summary(chosen)["plateau_percent"],
            )
            for who, chosen in {"all": run, "careful": careful}.items()
        ]
    return pd.concat(tables, ignore_index=True)


def open_ways(protocol: Protocol) -> pd.DataFrame:
    """Return the ways from state to state that the values of the parameters leave open.

    Returns
    -------
    DataFrame
        As `transitions` gives it, with ``feedback`` (whether a mistake in the state ``from``
        is pointed out) and ``discards_votes`` (whether the state ``to`` throws votes away).
    """
    is_open = []
    for transition in protocol.table["transitions"]:
        of_branches, decided = [], False
        for branch in transition["branches"]:
            guards = [guard for guard in branch["when"] if "parameter" in guard]
            holds = all(_holds(guard, protocol) for guard in guards)
            of_branches.append(holds and not decided)
            decided = decided or (holds and len(guards) == len(branch["when"]))
        is_open += of_branches * len(transition["from"])
    states = protocol.table["states"]
    table = transitions(protocol)[is_open].reset_index(drop=True)
    by_parameter = table["condition"].isin(
        {f"{name.replace('_', ' ')} > 0" for name in protocol.parameters}
    )
    return table.assign(
        condition=table["condition"]
        .mask(by_parameter, "")
        .replace("check", f"check, chance {protocol.parameters['check_rate']:g}"),
        feedback=[bool(states[name].get("feedback")) for name in table["from"]],
        discards_votes=[bool(states[name].get("discards_votes")) for name in table["to"]],
    )


def _holds(guard: Json, protocol: Protocol) -> bool:
    return bool(OPERATORS[guard["op"]](protocol.parameters[guard["parameter"]], guard["value"]))


def errors_with_and_without(
    materials: Materials,
    population: Population,
    careless: Sequence[float],
    n_votes: Sequence[int],
) -> pd.DataFrame:
    """Return `bias_variance` under the published protocol and with every stage left out.

    Parameters
    ----------
    population : Population
        Who applies, such as a fitted one.
    careless, n_votes
        As in `bias_variance`.

    Returns
    -------
    DataFrame
        As `bias_variance` gives it, after a column ``without`` (``nothing`` or
        ``every stage``).
    """
    tables = []
    for without in ("nothing", "every stage"):
        expectation = Expectation(load_protocol(**WITHOUT[without]), materials)
        found = bias_variance(expectation, population, careless, n_votes)
        tables.append(found.assign(without=without))
    table = pd.concat(tables, ignore_index=True)
    return table[["without", *table.columns.drop("without")]]
