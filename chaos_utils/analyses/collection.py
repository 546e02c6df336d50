"""The collection of the votes, simulated: beside what the paper reports, and with stages left out.

What the annotators did was not released, so every number here that is not published is one of
simulated annotators. The analyses take what `with_examples` returns.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product

import numpy as np
import pandas as pd

from chaos_utils.analyses.cached_analysis import cached_analysis, derived_table
from chaos_utils.analyses.inputs import AnalysisInputs, DatasetInputs, gather
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.table import in_order_of
from chaos_utils.collection.annotators import assumed_parameters, mixture
from chaos_utils.collection.materials import cut
from chaos_utils.collection.protocol import OPERATORS, Json, Protocol, load_protocol
from chaos_utils.collection.simulate import Simulation, simulate
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.divergence import total_variation
from chaos_utils.metrics.resampling import bootstrap_means, draw_votes, percentile_interval
from chaos_utils.report.columns import DATASET, Column, Row, number, signed, with_interval

_NEEDS = "published collection"
_PAPER = ("nie2020_table1", "nie2020_table2")
# Figure 2 of Nie et al. (2020): the accuracy on unanimous examples no longer rises after so many
# items; its level, read off the figure, is one for all datasets.
_SETTLED, _PLATEAU_PERCENT = 300, 92.0
_BIN, _UPTO, _RESAMPLES = 50, 600, 500  # of the accuracy over an annotator's items
_NO_STAGE = {"qualification_items": 0, "training_items": 0, "check_rate": 0.0}
# The protocol with stages left out, by what is left out.
_WITHOUT: Mapping[str, Mapping[str, float]] = {
    "nothing": {},
    "the on-boarding test": {"qualification_items": 0},
    "training": {"training_items": 0},
    "hidden checks": {"check_rate": 0.0},
    "every stage": _NO_STAGE,
    "every stage, 1,000 votes per item": {**_NO_STAGE, "votes_per_item": 1000},
}


def with_examples(material: AnalysisInputs) -> AnalysisInputs:
    """Return the datasets whose collection is published, each with the votes that lend examples.

    Datasets with the same labels share their unanimous examples, as SNLI and MNLI did. Where one
    of the book's is shown alone, the book's others lend theirs all the same.
    """
    lenders = gather() if material.released and not material.is_book else material
    found = []
    for one in material.with_part(_NEEDS):
        own = one.datasets[0]
        others = [
            other
            for other in lenders.with_part(_NEEDS)
            if other.name != one.name and other.datasets[0].labels == own.labels
        ]
        votes = None
        if one.given_votes and all(other.given_votes for other in others):
            lent = (each for other in others for each in other.given_votes or ())
            votes = (*one.given_votes, *lent)
        found.append(DatasetInputs(one.datasets, votes, None, any(e.own for e in (one, *others))))
    return AnalysisInputs(tuple(found))


@lru_cache(maxsize=8)  # the analyses of a page share their simulations
def _collected(
    votes: Votes,
    all_votes: tuple[Votes, ...],
    collections: int,
    unanimous: float,
    seed: int,
) -> tuple[Simulation, ...]:
    """Simulate the collection of a dataset several times."""
    _refuse_none(collections)
    dataset = votes.dataset.name
    sizes = read_published("nie2020_table2").set_index("dataset")["n_examples"]
    items = cut(votes, all_votes, int(sizes[dataset]), unanimous, seed)
    population = mixture(**assumed_parameters(dataset))
    return tuple(simulate(load_protocol(), items, population, seed + n) for n in range(collections))


def _refuse_none(*sizes: int) -> None:
    if min(sizes) < 1:
        raise ChaosError("Nothing would be simulated.", found=min(sizes), expected="at least 1")


@cached_analysis(keys=("dataset", "quantity"), needs=_NEEDS, published=_PAPER)
def against_paper(
    votes: Votes,
    all_votes: tuple[Votes, ...],
    *,
    collections: int,
    unanimous: float,
    seed: int,
) -> pd.DataFrame:
    """Set what is published on a dataset's collection beside what is simulated.

    `all_votes` lend the unanimous examples, whose share of votes on one label exceeds `unanimous`.
    The ``role`` of a quantity is ``stated`` (a parameter that is assumed), ``reported`` (in the
    paper) or ``predicted``. ``simulated`` is the mean of the collections, ``low`` and ``high`` are
    the lowest and the highest; ``difference`` is simulated minus published.
    """
    dataset = votes.dataset.name
    runs = _collected(votes, all_votes, collections, unanimous, seed)
    each = pd.DataFrame([_summary(run) for run in runs])
    paper = read_published("nie2020_table1").set_index("dataset").loc[dataset]
    drawn = pd.DataFrame({"simulated": each.mean(), "low": each.min(), "high": each.max()})
    drawn["published"] = paper.reindex(drawn.index)
    drawn.loc["plateau_percent", "published"] = _PLATEAU_PERCENT
    drawn["role"] = np.where(drawn["published"].notna(), "reported", "predicted")
    stated = pd.DataFrame({"simulated": assumed_parameters(dataset), "role": "stated"})
    table = pd.concat([stated, drawn]).rename_axis("quantity").reset_index()
    table["difference"] = table["simulated"] - table["published"]
    columns = ["quantity", "role", "published", "simulated", "low", "high", "difference"]
    return table[columns]


def _summary(run: Simulation) -> dict[str, float]:
    """Return what the paper reports on its collection, and what it does not: shares in percent.

    Who failed is of those who applied; who was filtered out (dismissed in training, or blocked at
    work) of those who were admitted; annotators are those with counted votes.
    """
    votes, state = run.votes, run.annotators["state"]
    careless = run.annotators["kind"].to_numpy()[votes["annotator"]] != "careful"
    admitted = state != "rejected"
    filtered = state.isin(["dismissed", "blocked"]).sum() / max(admitted.sum(), 1)
    return {
        "qualification_fail_rate_percent": 100 * float((~admitted).mean()),
        "filter_rate_percent": 100 * float(filtered),
        "annotators": float(votes.loc[votes["counted"], "annotator"].nunique()),
        "plateau_percent": _settled_percent(_checks(run)),
        "careless_votes_percent": 100 * float(careless[votes["counted"]].mean()),
        "discarded_votes_percent": 100 * float((~votes["counted"]).mean()),
        "dollars": run.dollars,
    }


def _checks(run: Simulation) -> pd.DataFrame:
    return run.known[run.known["asked"] == "check"]


def _settled_percent(checks: pd.DataFrame) -> float:
    """Return the accuracy on hidden checks once it no longer rises; NaN without any."""
    return 100 * float(checks.loc[checks["place"] >= _SETTLED, "right"].mean())


@cached_analysis(keys=("dataset", "who", "items"), needs=_NEEDS, published=_PAPER)
def accuracy_curves(
    votes: Votes,
    all_votes: tuple[Votes, ...],
    *,
    collections: int,
    unanimous: float,
    seed: int,
) -> pd.DataFrame:
    """Follow the accuracy on hidden checks over an annotator's items, in the first collection.

    For ``all`` and for ``careful`` annotators, by how many items they have judged before: bins,
    with their middle in ``items``. The band is a bootstrap interval of 95% over annotators.
    ``plateau_percent`` is the published level that was to be met, ``settled_percent`` the simulated
    one from 300 items to the end, beyond the last bin too.
    """
    run = _collected(votes, all_votes, collections, unanimous, seed)[0]
    checks = _checks(run)
    is_careful = run.annotators["kind"].to_numpy()[checks["annotator"]] == "careful"
    rows = []
    for who, chosen in {"all": checks, "careful": checks[is_careful]}.items():
        rng = np.random.default_rng(0)
        early = chosen[chosen["place"] < _UPTO]
        for start, of_bin in early.groupby(early["place"] // _BIN * _BIN):
            each = of_bin.groupby("annotator")["right"].agg(["sum", "count"])
            means = bootstrap_means(each.to_numpy(float), _RESAMPLES, rng)
            low, high = percentile_interval(100 * means[:, 0] / means[:, 1])
            rows.append(
                {
                    "who": who,
                    "items": start + _BIN / 2,
                    "n_checks": len(of_bin),
                    "accuracy_percent": 100 * float(of_bin["right"].mean()),
                    "accuracy_percent_low": float(low),
                    "accuracy_percent_high": float(high),
                    "plateau_percent": _PLATEAU_PERCENT,
                    "settled_percent": _settled_percent(chosen),
                }
            )
    return pd.DataFrame(rows)


@cached_analysis(keys=("dataset", "careless", "without"), needs=_NEEDS, published=_PAPER)
def stage_effects(
    votes: Votes,
    all_votes: tuple[Votes, ...],
    *,
    items: int,
    careless: Sequence[float],
    replicates: int,
    unanimous: float,
    seed: int,
) -> pd.DataFrame:
    """Say what each stage buys: collections of the stated population with each stage left out.

    For each share of `careless` applicants, ``tvd`` is the mean distance of the estimated from the
    true distributions, ``chance_tvd`` that of as many votes as the protocol wants, drawn from the
    true ones. Means over `replicates` collections, with the lowest and the highest.
    """
    _refuse_none(replicates, len(careless))
    few = cut(votes, all_votes, items, unanimous, seed)
    stated = assumed_parameters(votes.dataset.name)
    k = int(load_protocol().parameters["votes_per_item"])
    runs = range(seed, seed + replicates)
    ideal = [draw_votes(few.items, k, np.random.default_rng(run)) / k for run in runs]
    chance = float(np.mean([total_variation(few.items, drawn) for drawn in ideal]))
    rows = []
    for share, (without, changes), run in product(careless, _WITHOUT.items(), runs):
        made = simulate(
            load_protocol(**changes), few, mixture(**(stated | {"careless": share})), run
        )
        estimated = made.counts / made.counts.sum(axis=1, keepdims=True)
        error = float(total_variation(few.items, estimated).mean())
        rows.append((share, without, error, made.dollars))
    each = pd.DataFrame(rows, columns=["careless", "without", "tvd", "dollars"])
    groups = each.groupby(["careless", "without"], sort=False)
    table = groups.mean().assign(chance_tvd=chance)
    for name in ("tvd", "dollars"):
        table[f"{name}_low"], table[f"{name}_high"] = groups[name].min(), groups[name].max()
    return table.reset_index()


@derived_table(keys=("from", "event", "condition", "to"))
def ways(protocol: Protocol) -> pd.DataFrame:
    """Return the ways from state to state that the values of the parameters leave open.

    ``condition`` is in words, and empty where none is left to be met; ``feedback`` says whether a
    mistake in the state ``from`` is pointed out, ``discards_votes`` whether the state ``to`` throws
    votes away.
    """
    states, values = protocol.table["states"], protocol.parameters
    return pd.DataFrame(
        {
            "from": state,
            "event": transition["event"],
            "condition": " and ".join(_in_words(guard, values) for guard in guards),
            "to": end,
            "feedback": states[state].get("feedback", False),
            "discards_votes": states[end].get("discards_votes", False),
        }
        for transition in protocol.table["transitions"]
        for end, guards in _open_ends(transition["branches"], values)
        for state in transition["from"]
    )


def _open_ends(
    branches: Sequence[Json], values: Mapping[str, float]
) -> Iterator[tuple[str, list[Json]]]:
    """Yield where branches lead that can be taken, and what is left to be met for that."""
    for branch in branches:
        left = [guard for guard in branch["when"] if "parameter" not in guard]
        settled = [guard for guard in branch["when"] if "parameter" in guard]
        if all(OPERATORS[one["op"]](values[one["parameter"]], one["value"]) for one in settled):
            yield branch["to"], left
            if not left:
                return


def _in_words(guard: Json, values: Mapping[str, float]) -> str:
    if "event" in guard:
        return f"check, chance {values['check_rate']:g}"
    words = guard.get("counter") or " / ".join(guard["ratio"])
    sign = {"<": "<", ">": ">", ">=": "≥", "==": "="}[guard["op"]]
    bound = values.get(guard["value"], guard["value"])
    since = f", from {values[guard['from']]:g} {guard['ratio'][1]} on" if "from" in guard else ""
    return f"{words.replace('_', ' ')} {sign} {bound:g}{since}"


@derived_table(keys=("rule",))
def rules(protocol: Protocol) -> pd.DataFrame:
    """Return the protocol's parameters: what each means, and its value."""
    described = pd.DataFrame.from_dict(protocol.table["parameters"], orient="index")
    values = pd.Series(dict(protocol.parameters), dtype=float)
    return described[["kind", "means"]].assign(value=values).rename_axis("rule").reset_index()


# What readers call each quantity that the paper reports, and its decimals.
QUANTITIES = {
    "qualification_fail_rate_percent": ("fail the on-boarding test (%)", 1),
    "filter_rate_percent": ("admitted, then filtered out (%)", 1),
    "annotators": ("annotators", 0),
    "plateau_percent": ("accuracy on hidden checks after 300 items (%)", 1),
}


def reported(compared: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `against_paper` that the paper has a number for, by quantity."""
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
