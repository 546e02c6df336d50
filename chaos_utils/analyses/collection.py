"""Simulated collections of the votes, beside the paper's report, and with stages left out.

The annotators' work was not released, so every number here that is not published comes from
simulated annotators. The analyses take what `with_examples` returns.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product

import numpy as np
import pandas as pd

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
from chaos_utils.plots.columns import DATASET
from chaos_utils.recorded import cached_analysis, derived_table
from chaos_utils.report.columns import Column, Row, number, signed, with_interval

_NEEDED_PART = "published collection"
_PAPER = ("nie2020_table1", "nie2020_table2")
# Figure 2 of Nie et al. (2020): after so many items, the accuracy on unanimous examples no longer
# rises; its level, read off the figure, is the same for all datasets.
_PLATEAU_FROM, _PLATEAU_PERCENT = 300, 92.0
_BIN, _MOST_ITEMS, _RESAMPLES = 50, 600, 500  # of the accuracy over an annotator's items
_NO_STAGE = {"qualification_items": 0, "training_items": 0, "check_rate": 0.0}
# The protocol with stages left out, by what is left out.
_PROTOCOL_VARIANTS: Mapping[str, Mapping[str, float]] = {
    "nothing": {},
    "the on-boarding test": {"qualification_items": 0},
    "training": {"training_items": 0},
    "hidden checks": {"check_rate": 0.0},
    "every stage": _NO_STAGE,
    "every stage, 1,000 votes per item": {**_NO_STAGE, "votes_per_item": 1000},
}


def with_examples(inputs: AnalysisInputs) -> AnalysisInputs:
    """Return the datasets whose collection is published, each with votes for unanimous examples.

    Datasets with the same labels share their unanimous examples, as SNLI and MNLI did. This holds
    even if a dataset of the book is shown alone: its examples still come from the others, too.
    """
    lenders = gather() if inputs.released and not inputs.is_book else inputs
    by_labels: dict[tuple[str, ...], list[DatasetInputs]] = {}
    for lender in lenders.with_part(_NEEDED_PART):
        by_labels.setdefault(lender.datasets[0].labels, []).append(lender)
    with_lenders = []
    for borrower in inputs.with_part(_NEEDED_PART):
        parts = [borrower]
        parts += [
            lender
            for lender in by_labels.get(borrower.datasets[0].labels, ())
            if lender.name != borrower.name
        ]
        votes = None
        if all(part.given_votes for part in parts):
            votes = tuple(votes for part in parts for votes in part.given_votes or ())
        own = any(part.own for part in parts)
        with_lenders.append(DatasetInputs(borrower.datasets, votes, None, own))
    return AnalysisInputs(tuple(with_lenders))


@lru_cache(maxsize=8)  # the analyses of a page share their simulations
def _simulate_collections(
    votes: Votes,
    all_votes: tuple[Votes, ...],
    collections: int,
    unanimous: float,
    seed: int,
) -> tuple[Simulation, ...]:
    """Simulate the collection of a dataset several times."""
    _check_sizes(collections)
    dataset = votes.dataset.name
    sizes = read_published("nie2020_table2").set_index("dataset")["n_examples"]
    items = cut(votes, all_votes, int(sizes[dataset]), unanimous, seed)
    population = mixture(**assumed_parameters(dataset))
    return tuple(simulate(load_protocol(), items, population, seed + n) for n in range(collections))


def _check_sizes(*sizes: int) -> None:
    if min(sizes) < 1:
        raise ChaosError("Nothing would be simulated.", found=min(sizes), expected="at least 1")


@cached_analysis(keys=("dataset", "quantity"), needs=_NEEDED_PART, published=_PAPER)
def against_paper(
    votes: Votes,
    all_votes: tuple[Votes, ...],
    *,
    collections: int,
    unanimous: float,
    seed: int,
) -> pd.DataFrame:
    """Compare the published numbers on a dataset's collection with simulated ones.

    Unanimous examples come from `all_votes`: items whose share of votes on one label exceeds
    `unanimous`. The ``role`` of a quantity is ``stated`` (an assumed parameter), ``reported`` (in
    the paper) or ``predicted``. ``simulated`` is the mean of the collections, ``low`` and ``high``
    are the lowest and the highest; ``difference`` is simulated minus published.
    """
    dataset = votes.dataset.name
    runs = _simulate_collections(votes, all_votes, collections, unanimous, seed)
    summaries = pd.DataFrame([_summary(run) for run in runs])
    paper = read_published("nie2020_table1").set_index("dataset").loc[dataset]
    simulated = pd.DataFrame(
        {"simulated": summaries.mean(), "low": summaries.min(), "high": summaries.max()}
    )
    simulated["published"] = paper.reindex(simulated.index)
    simulated.loc["plateau_percent", "published"] = _PLATEAU_PERCENT
    simulated["role"] = np.where(simulated["published"].notna(), "reported", "predicted")
    stated = pd.DataFrame({"simulated": assumed_parameters(dataset), "role": "stated"})
    table = pd.concat([stated, simulated]).rename_axis("quantity").reset_index()
    table["difference"] = table["simulated"] - table["published"]
    columns = ["quantity", "role", "published", "simulated", "low", "high", "difference"]
    return table[columns]


def _summary(run: Simulation) -> dict[str, float]:
    """Return numbers on a simulated collection, those of the paper and others; shares in percent.

    The share that failed is that of all applicants. The share filtered out (dismissed in training,
    or blocked at work) is that of all admitted. Annotators are those with counted votes.
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
    return 100 * float(checks.loc[checks["place"] >= _PLATEAU_FROM, "right"].mean())


@cached_analysis(keys=("dataset", "who", "items"), needs=_NEEDED_PART, published=_PAPER)
def accuracy_curves(
    votes: Votes,
    all_votes: tuple[Votes, ...],
    *,
    collections: int,
    unanimous: float,
    seed: int,
) -> pd.DataFrame:
    """Follow the accuracy on hidden checks over an annotator's items, in the first collection.

    One row for ``all`` and for ``careful`` annotators and each bin of the items that an annotator
    judged before; ``items`` is the middle of the bin. The 95% interval is by the bootstrap over
    annotators. ``plateau_percent`` is the published level, ``settled_percent`` the simulated
    accuracy from 300 items to the end, beyond the last bin too.
    """
    run = _simulate_collections(votes, all_votes, collections, unanimous, seed)[0]
    checks = _checks(run)
    is_careful = run.annotators["kind"].to_numpy()[checks["annotator"]] == "careful"
    rows = []
    for kind, kind_checks in {"all": checks, "careful": checks[is_careful]}.items():
        rng = np.random.default_rng(0)
        early = kind_checks[kind_checks["place"] < _MOST_ITEMS]
        for start, bin_checks in early.groupby(early["place"] // _BIN * _BIN):
            by_annotator = bin_checks.groupby("annotator")["right"].agg(["sum", "count"])
            means = bootstrap_means(by_annotator.to_numpy(float), _RESAMPLES, rng)
            low, high = percentile_interval(100 * means[:, 0] / means[:, 1])
            rows.append(
                {
                    "who": kind,
                    "items": start + _BIN / 2,
                    "n_checks": len(bin_checks),
                    "accuracy_percent": 100 * float(bin_checks["right"].mean()),
                    "accuracy_percent_low": float(low),
                    "accuracy_percent_high": float(high),
                    "plateau_percent": _PLATEAU_PERCENT,
                    "settled_percent": _settled_percent(kind_checks),
                }
            )
    return pd.DataFrame(rows)


@cached_analysis(keys=("dataset", "careless", "without"), needs=_NEEDED_PART, published=_PAPER)
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
    """Say what each stage of the collection is worth, by collections without it.

    One row for each share of `careless` applicants and each variant of the protocol. ``tvd`` is the
    mean distance of the estimated distributions from the true ones; ``chance_tvd`` is the distance
    of as many votes as the protocol asks for, drawn from the true ones. ``tvd`` and ``dollars`` are
    means over `replicates` collections, with the lowest and the highest.
    """
    _check_sizes(replicates, len(careless))
    materials = cut(votes, all_votes, items, unanimous, seed)
    assumed = assumed_parameters(votes.dataset.name)
    k = int(load_protocol().parameters["votes_per_item"])
    run_seeds = range(seed, seed + replicates)
    chance_shares = [
        draw_votes(materials.items, k, np.random.default_rng(run_seed)) / k
        for run_seed in run_seeds
    ]
    chance = float(np.mean([total_variation(materials.items, sample) for sample in chance_shares]))
    rows = []
    for share, (without, changes), run_seed in product(
        careless, _PROTOCOL_VARIANTS.items(), run_seeds
    ):
        simulation = simulate(
            load_protocol(**changes),
            materials,
            mixture(**(assumed | {"careless": share})),
            run_seed,
        )
        estimated = simulation.counts / simulation.counts.sum(axis=1, keepdims=True)
        error = float(total_variation(materials.items, estimated).mean())
        rows.append((share, without, error, simulation.dollars))
    outcomes = pd.DataFrame(rows, columns=["careless", "without", "tvd", "dollars"])
    groups = outcomes.groupby(["careless", "without"], sort=False)
    table = groups.mean().assign(chance_tvd=chance)
    for name in ("tvd", "dollars"):
        table[f"{name}_low"], table[f"{name}_high"] = groups[name].min(), groups[name].max()
    return table.reset_index()


@derived_table(keys=("from", "event", "condition", "to"))
def transitions(protocol: Protocol) -> pd.DataFrame:
    """Return the transitions between states that are possible with the values of the parameters.

    ``condition`` is in words, empty for an unconditional transition; ``feedback`` says whether a
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
        for end, guards in _open_branches(transition["branches"], values)
        for state in transition["from"]
    )


def _open_branches(
    branches: Sequence[Json], values: Mapping[str, float]
) -> Iterator[tuple[str, list[Json]]]:
    """Yield the end state and the remaining conditions of each branch that can be taken.

    Conditions on parameters are decided here; a branch without others is always taken, and ends.
    """
    for branch in branches:
        guards = [guard for guard in branch["when"] if "parameter" not in guard]
        parameter_guards = [guard for guard in branch["when"] if "parameter" in guard]
        if all(
            OPERATORS[guard["op"]](values[guard["parameter"]], guard["value"])
            for guard in parameter_guards
        ):
            yield branch["to"], guards
            if not guards:
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


# The name for readers of each quantity that the paper reports, and its decimals.
QUANTITIES = {
    "qualification_fail_rate_percent": ("fail the on-boarding test (%)", 1),
    "filter_rate_percent": ("admitted, then filtered out (%)", 1),
    "annotators": ("annotators", 0),
    "plateau_percent": ("accuracy on hidden checks after 300 items (%)", 1),
}


def reported_rows(compared: pd.DataFrame) -> pd.DataFrame:
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
