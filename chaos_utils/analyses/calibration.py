"""Calibration to a majority label beside calibration to people."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from chaos_utils.analyses.baan import (
    FIXED_TEMPERATURE,
    MODEL,
    SYSTEMS,
    comparison_systems,
    measure_values,
    paper_datasets,
    paper_systems,
    published_rows,
    released_lines,
    row_title,
    rows_per_system,
    with_published,
    without_breaks,
)
from chaos_utils.analyses.error_distributions import histogram, item_errors
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.loading import datasets_of
from chaos_utils.datasets.splits import folds_of, item_groups
from chaos_utils.datasets.votes import Ints, Votes
from chaos_utils.metrics.calibration import classwise_calibration_error as classwise_error
from chaos_utils.metrics.calibration import (
    entropy_error,
    expected_calibration_error,
    hits_of,
    murphy_decomposition,
    reliability_curve,
)
from chaos_utils.metrics.divergence import Floats
from chaos_utils.metrics.measures import BAAN_BINS as BINS
from chaos_utils.metrics.measures import MEASURES, EvalBatch
from chaos_utils.metrics.scores import top_label
from chaos_utils.plots.columns import DATASET
from chaos_utils.plots.systems import SYSTEM_NAMES
from chaos_utils.recorded import cached_analysis, derived_table
from chaos_utils.report.columns import Column, Row, number, paper_here_delta
from chaos_utils.scoring.published import published_models
from chaos_utils.scoring.seeds import score_over_seeds
from chaos_utils.scoring.system import System, votes_of
from chaos_utils.scoring.temperature_scaling import (
    LIMITS,
    cross_fit_temperatures,
    fit_temperature,
    fit_temperature_to_ece,
    temper,
)

TABLE_1 = ("accuracy", "ece", "rank_cs", "ent_ce", "dist_ce")
BY_TEMPERATURE = ("ece", "ece_votes", "dist_ce", "ent_ce", "kl")
DISTANCE_EDGES = np.linspace(0, 1, 26)
FAR_DISTANCE = 0.5  # DistCE of an item that counts as far from the votes
_ROUNDING_ERROR = 1e-12  # the length of an interval that only rounding gives
_DIGITS = 10  # of values before they are binned or ordered, the same on every processor
_SYSTEM = ("dataset", "system", "temperature")
_FAMILY = ("dataset", *MODEL)
_COMPARED = (1.0, FIXED_TEMPERATURE)  # the temperatures of `comparison_systems`
TENTHS = np.arange(5, 41) / 10  # temperatures, as the paper states its own


def table_1_datasets(data: str, dataset: str) -> list[str]:
    """Return the dataset of the page, then those that Baan et al. (2022) compare it with.

    There are others only where `data`, as in `gather`, holds all of the paper's datasets.
    """
    available = {dataset.name for dataset in datasets_of(data)}
    pair = paper_datasets()
    more = pair if dataset in pair and available.issuperset(pair) else []
    return list(dict.fromkeys([dataset, *more]))


@cached_analysis(keys=_SYSTEM, published=("baan2022_table1", SYSTEMS))
def human_calibration(votes: Votes, systems: Sequence[System]) -> pd.DataFrame:
    """Compute Table 1 of Baan et al. (2022) for `comparison_systems`, with ``ece_votes``.

    Accuracy takes the last of tied labels, for prediction and gold alike; ECE takes the first, with
    10 bins (a, b]; EntCE is in nats. ``ece_votes`` is the ECE against the vote shares,
    ``rank_cs_ties`` the tie-aware RankCS.
    """

    def values(batch: EvalBatch) -> dict[str, float]:
        label, gold = (top_label(p, ties="last") for p in (batch.model, batch.human))
        first_columns = {"accuracy": float((label == gold).mean()), "n_items": len(label)}
        return first_columns | measure_values(batch, (*TABLE_1[1:], "rank_cs_ties", "ece_votes"))

    table = rows_per_system(votes, comparison_systems(votes, systems), values)
    published = published_rows("baan2022_table1", votes)
    return with_published(table, published, TABLE_1, (*MODEL, "seed"))


def means_over_seeds(
    table: pd.DataFrame, names: Sequence[str], keys: Sequence[str] = _FAMILY
) -> pd.DataFrame:
    """Return means of some columns over the seeds of each model, and ends of its temperatures.

    ``n_seeds`` is their number. ``kind`` is ``reference`` or ``model``: a table marks the best row
    of each kind.
    """
    groups = table.groupby([*keys], sort=False)
    ends = {"temperature_low": "min", "temperature_high": "max"}
    means = groups.agg({name: ends.get(name, "mean") for name in names})
    means = means.assign(n_seeds=groups.size()).reset_index()
    return means.assign(kind=means["origin"].where(means["origin"] == "reference", "model"))


@derived_table(keys=_FAMILY)
def seed_means(table: pd.DataFrame) -> pd.DataFrame:
    """Return the means over seeds of `human_calibration`, which the paper's section 5.2 rounds."""
    return means_over_seeds(table, TABLE_1)


CALIBRATION_COLUMNS = [
    Column("system", row_title),
    Column("accuracy ↑", "accuracy", 3, best="highest"),
    Column("ECE ↓", "ece", 3, best="lowest"),
    Column("RankCS ↑", "rank_cs", 3, best="highest"),
    Column("EntCE ↓", "ent_ce", 3, best="lowest"),
    Column("DistCE ↓", "dist_ce", 3, best="lowest"),
]


def is_drawn(table: pd.DataFrame) -> "pd.Series[bool]":
    """Return whether each row is drawn in figures with a panel or a line for each system.

    All are, but the small encoders that this project trained, and of the nine models of Nie et al.
    (2020) all but the largest RoBERTa.
    """
    other_models = set(published_models()["model"]) - {"roberta-large"}
    is_other = table["family"].isin(other_models) & (table["origin"] == "released")
    return ~is_other & (table["origin"] != "trained")


def _diagram_systems(
    votes: Votes, systems: Sequence[System], shown_seed: int | None
) -> Sequence[System]:
    """Return `comparison_systems` of the shown seed; without a seed, `systems` unchanged."""
    return systems if shown_seed is None else comparison_systems(votes, systems, shown_seed)


def _at_other_temperatures(systems: Sequence[System], n_temperatures: int) -> list[System]:
    """Return the drawn models at all temperatures but those that the paper compares."""
    is_shown = is_drawn(pd.DataFrame([system.keys for system in systems]))
    return [
        system.at_temperature(temperature)
        for system, shown in zip(systems, is_shown, strict=True)
        if shown and system.temperature == 1 and system.origin != "reference"
        for temperature in _temperatures(n_temperatures)
        if not np.isclose(temperature, _COMPARED).any()
    ]


def _temperatures(n: int) -> list[float]:
    """Return so many temperatures from 0.5 to 4, evenly spread on a logarithmic scale."""
    if n < 1:
        raise ChaosError("There is no temperature to compute measures at.", found=n)
    return np.geomspace(0.5, 4, n).tolist()


@cached_analysis(keys=(*_SYSTEM, "bin_low"))
def reliability(
    votes: Votes,
    systems: Sequence[System],
    *,
    shown_seed: int | None = None,
    n_temperatures: int = 0,
) -> pd.DataFrame:
    """Reliability diagrams against the majority label, in ten bins (a, b].

    ``confidence`` and ``hits`` are means over a bin's items, NaN in an empty one. The systems that
    figures draw are scaled to each of `n_temperatures`, too, as in `temperature_curves`; of these
    diagrams there are no empty bins.
    """
    chosen = _diagram_systems(votes, systems, shown_seed)
    scaled = _at_other_temperatures(chosen, n_temperatures) if n_temperatures else []
    tables = []
    for system in (*chosen, *scaled):
        batch = system.aligned_to(votes)
        confidence, hits = hits_of(batch.model, batch.first_majority)
        curve = reliability_curve(confidence.round(_DIGITS), hits, BINS)
        columns = {
            "ece": MEASURES["ece"].value(batch),
            "bin_low": BINS.edges[:-1],
            "bin_high": BINS.edges[1:],
            "n": curve.counts,
            "confidence": curve.confidence,
            "hits": curve.hits,
        }
        table = pd.DataFrame(system.keys | columns)
        tables.append(table if system.temperature in _COMPARED else table[table["n"] > 0])
    return pd.concat(tables, ignore_index=True).astype({"seed": "Int64"})


@cached_analysis(keys=(*_SYSTEM, "bin_low"))
def distance_histogram(
    votes: Votes, systems: Sequence[System], *, shown_seed: int | None = None
) -> pd.DataFrame:
    """Count items by their DistCE, in 25 bins, for each system but the references.

    ``far`` is the share of a system's items with a DistCE above `FAR_DISTANCE`, and ``further`` the
    share with a larger DistCE than at the first temperature of the same run.
    """
    tables: list[pd.DataFrame] = []
    first_errors: dict[tuple[str, str, int | None], Floats] = {}
    for system in _diagram_systems(votes, systems, shown_seed):
        if system.origin != "reference":
            errors = item_errors(votes, system).round(_DIGITS)
            first = first_errors.setdefault((system.origin, system.family, system.seed), errors)
            shares = {"far": (errors > FAR_DISTANCE).mean(), "further": (errors > first).mean()}
            tables.append(histogram(system.keys, errors, DISTANCE_EDGES).assign(**shares))
    return pd.concat(tables, ignore_index=True).astype({"seed": "Int64"})


@cached_analysis(keys=_SYSTEM, published=("baan2022_other", SYSTEMS))
def classwise_errors(votes: Votes, systems: Sequence[System]) -> pd.DataFrame:
    """Class-wise ECE against the majority label under both denominators, beside Appendix D.

    Gaps are divided by the items that fall into a bin, as in the released code, or by all items;
    ``n_without_bin`` counts probabilities of exactly 0, over all classes.
    """

    def values(batch: EvalBatch) -> dict[str, float]:
        error = partial(classwise_error, batch.model, batch.first_majority, BINS)
        return {
            "classwise_ece_binned": error(divide_by="binned"),
            "classwise_ece_all": error(divide_by="all"),
            "n_without_bin": int((batch.model == 0).sum()),
        }

    table = rows_per_system(votes, comparison_systems(votes, systems), values)
    return _with_appendix(table, votes, "classwise_ece_percent", "classwise_ece_binned", 100)


def _with_appendix(
    table: pd.DataFrame, votes: Votes, quantity: str, ours: str, scale: float = 1
) -> pd.DataFrame:
    """Add to the rows of each model, whatever the seed, a number of the paper's appendices."""
    appendix = published_rows("baan2022_other", votes).query("quantity == @quantity")
    return with_published(table, appendix.assign(**{ours: appendix["value"] / scale}), [ours])


CLASSWISE_COLUMNS = [
    Column("system", row_title),
    Column("probabilities of 0", "n_without_bin", 0),
    Column("all items", "classwise_ece_all", 2, percent=True),
    *paper_here_delta("binned items", "classwise_ece_binned", 2, printed=0, percent=True),
]


@cached_analysis(keys=_SYSTEM, published=("baan2022_other", SYSTEMS))
def signed_entropy_errors(votes: Votes, systems: Sequence[System]) -> pd.DataFrame:
    """Compute H(model) − H(human) in nats, for every seed, beside the paper's Appendix B.

    The appendix gives one value for both mean and median.
    """

    def values(batch: EvalBatch) -> dict[str, float]:
        errors = entropy_error(batch.human, batch.model)
        return {"mean": errors.mean(), "median": float(np.median(errors))}

    chosen = [
        system for system in comparison_systems(votes, systems) if system.origin != "reference"
    ]
    return _with_appendix(rows_per_system(votes, chosen, values), votes, "signed_ent_ce", "mean")


SIGNED_COLUMNS = [
    DATASET,
    Column("system", row_title),
    *paper_here_delta("mean", "mean", 3, printed=2, signed=True),
    Column("median", "median", 3, signed=True),
]
INTERVAL_MEASURES = ("ece", "sq_ce", "ece_votes", "sq_ce_votes", "ent_ce", "dist_ce")


@cached_analysis(keys=(*_FAMILY, "measure"))
def family_scores(
    votes: Votes, systems: Sequence[System], *, n_resamples: int, seed: int
) -> pd.DataFrame:
    """Score each family of `comparison_systems` over its seeds, with 95% intervals.

    The intervals are those of `score_over_seeds`, by a bootstrap over items. Plug-in errors have
    none: their ends are NaN.
    """
    families: dict[tuple[str, str, float], list[System]] = {}
    for system in comparison_systems(votes, systems):
        families.setdefault((system.origin, system.family, system.temperature), []).append(system)
    tables = []
    for (origin, _, temperature), group in families.items():
        scores = score_over_seeds(
            votes, group, measures=INTERVAL_MEASURES, n_resamples=n_resamples, seed=seed
        )
        tables.append(scores.assign(origin=origin, temperature=temperature))
    columns = [*_FAMILY, "n_seeds", "n_items", "measure", "value", "low", "high", "seed_sd"]
    table = pd.concat(tables, ignore_index=True)[[*columns, "estimand"]]
    # The oracle is right by construction, whatever is resampled: its intervals have no length.
    is_empty = table["high"] - table["low"] <= _ROUNDING_ERROR
    return table.assign(**{name: table[name].mask(is_empty) for name in ("low", "high")})


INTERVAL_COLUMNS = [
    DATASET,
    Column("system", row_title),
    *(
        Column(heading, "value", 3, "low", "high", at={"measure": name}, group=group)
        for group, heading, name in (
            ("majority label", "ECE", "ece"),
            ("majority label", "squared", "sq_ce"),
            ("vote shares", "ECE", "ece_votes"),
            ("vote shares", "squared", "sq_ce_votes"),
            ("item by item", "EntCE", "ent_ce"),
            ("item by item", "DistCE", "dist_ce"),
        )
    ),
]


BRIER_PARTS = ("reliability", "resolution", "uncertainty", "within_bins", "brier")


@cached_analysis(keys=_SYSTEM)
def murphy(votes: Votes, systems: Sequence[System]) -> pd.DataFrame:
    """Split the Brier score of `comparison_systems` by Murphy (1973), in ten bins for each label.

    The columns are `BRIER_PARTS`. A probability of 0 falls into the first bin.
    """

    def values(batch: EvalBatch) -> dict[str, float]:
        model = batch.model.round(_DIGITS)
        parts = murphy_decomposition(batch.human, model, replace(BINS, zero_in_bin=True))
        return {"n_items": len(model), **parts}

    return rows_per_system(votes, comparison_systems(votes, systems), values)


MURPHY_COLUMNS = [
    DATASET,
    Column("system", row_title),
    Column("reliability ↓", "reliability", 3, best="lowest"),
    Column("− resolution ↑", "resolution", 3, best="highest"),
    Column("+ uncertainty", "uncertainty", 3),
    Column("+ within bins", "within_bins", 3),
    Column("= Brier score ↓", "brier", 3, best="lowest"),
]


def development_predictions(votes: Votes, system: System) -> dict[str, tuple[Floats, Ints]]:
    """Return a model's released probabilities and gold labels on the development set.

    ``development`` has all items of that set, ``outside`` the items that are not among the votes.
    Probabilities and labels follow the file's own order of labels, which a fitted temperature does
    not depend on. Empty for systems without released files.
    """
    lines = [line for file in released_lines(votes, system) for line in file]
    if not lines:
        return {}
    p = np.array([line["probs"] for line in lines])
    p, gold = p / p.sum(axis=1, keepdims=True), np.array([line["true"] for line in lines])
    is_outside = ~np.isin([line["uid"] for line in lines], votes.uids)
    return {"outside": (p[is_outside], gold[is_outside]), "development": (p, gold)}


@cached_analysis(keys=("dataset", "system", "items", "temperature"))
def ece_by_temperature(votes: Votes, systems: Sequence[System]) -> pd.DataFrame:
    """Compute the ECE of the paper's models at temperatures from 0.5 to 4, on different ``items``.

    ``votes`` are the items of the dataset, judged by the majority of the votes; the other items are
    those of `development_predictions`, judged by the gold label.
    """
    rows = []
    for system in paper_systems(systems):
        batch = system.aligned_to(votes)
        item_sets = {
            "votes": (batch.model, batch.first_majority),
            **development_predictions(votes, system),
        }
        for items, (model, gold) in item_sets.items():
            for temperature in TENTHS.tolist():
                ece = expected_calibration_error(
                    temper(model, temperature).round(_DIGITS), gold, BINS
                )
                keys = system.keys | {"temperature": temperature, "items": items}
                rows.append(keys | {"n_items": len(gold), "ece": ece})
    return pd.DataFrame(rows).astype({"seed": "Int64"} if rows else {})


@cached_analysis(keys=("dataset", "system", "choice"))
def temperature_choices(votes: Votes, systems: Sequence[System]) -> pd.DataFrame:
    """Fit a temperature to each system in each way, and score it there.

    ``choice`` is ``none``, ``fixed``, ``oracle_nll``, ``oracle_ece``, ``cross_fitted`` or, where
    predictions outside the dataset were released, ``outside``. ``n_fitted`` counts the items that
    the temperature was fitted on, for cross-fitting the fewest of any fold. ``temperature`` is a
    mean over items; ``temperature_low`` and ``temperature_high`` are the ends over the ten folds.
    """
    rows = []
    for system in _unscaled_models(votes, systems):
        for choice, n_fitted, values, scaled in temperature_fits(votes, system):
            row = scaled.keys | {"choice": choice, "n_fitted": n_fitted}
            row["temperature"] = float(np.mean(values))
            row |= {"temperature_low": np.min(values), "temperature_high": np.max(values)}
            # An oracle temperature is shown because it was fitted on what judges it.
            batch = scaled.aligned_to(votes, in_sample=choice.startswith("oracle"))
            rows.append(row | measure_values(batch, BY_TEMPERATURE))
    return pd.DataFrame(rows).astype({"seed": "Int64"})


def _unscaled_models(votes: Votes, systems: Sequence[System]) -> list[System]:
    chosen = comparison_systems(votes, systems)
    return [system for system in chosen if system.temperature == 1 and system.origin != "reference"]


def temperature_fits(
    votes: Votes, system: System
) -> Iterator[tuple[str, int, Floats | float, System]]:
    """Yield each choice, its number of fitted items, its temperatures, and the scaled system."""
    batch = system.aligned_to(votes)
    m, gold, n = batch.model, batch.first_majority, len(batch.model)
    choices: dict[str, tuple[int, Floats | float]] = {
        "none": (0, 1.0),
        "fixed": (0, FIXED_TEMPERATURE),
        "oracle_nll": (n, fit_temperature(m, gold)),
        "oracle_ece": (n, fit_temperature_to_ece(m, gold, BINS)),
    }
    if outside := development_predictions(votes, system).get("outside"):
        choices["outside"] = len(outside[1]), fit_temperature(*outside)
    rows = system.rows_in(votes)
    folds = folds_of(item_groups([votes])[0])[rows]
    if (folds != folds[0]).any():
        crossed = cross_fit_temperatures(m, batch.human, folds)
        choices["cross_fitted"] = n - int(np.bincount(folds).max()), crossed
    # In the order of the votes, as the cross-fitted temperatures are.
    uids = tuple(votes.uids[row] for row in rows)
    system = replace(system, uids=uids, probabilities=m, predicted=batch.predicted)
    on_votes = (*system.trained_on, votes_of(votes.dataset))
    for choice, (n_fitted, temperatures) in choices.items():
        scaled = system.at_temperature(temperatures)
        if choice in ("oracle_nll", "oracle_ece", "cross_fitted"):
            out_of_fold = choice == "cross_fitted"
            scaled = replace(scaled, trained_on=on_votes, out_of_fold=out_of_fold)
        yield choice, n_fitted, temperatures, scaled


def choices_over_seeds(choices: pd.DataFrame) -> pd.DataFrame:
    """Return means over seeds of `temperature_choices`, and the ends of the temperatures."""
    ends = ("temperature", "temperature_low", "temperature_high")
    keys = ("dataset", "origin", "family", "choice")
    return means_over_seeds(choices, (*ends, *BY_TEMPERATURE), keys)


def _family(row: Row) -> str:
    name = SYSTEM_NAMES.get(str(row["family"]), str(row["family"]))
    return without_breaks(name + (f", {row['n_seeds']} seeds" if row["n_seeds"] > 1 else ""))


def _temperature(row: Row) -> str:
    """Write a temperature, with its ends where they differ; limits of the search get ≤ or ≥."""
    value, low, high = (
        _BOUND_SIGNS.get(round(value, 6), "") + number(value, 2)
        for value in (row["temperature"], row["temperature_low"], row["temperature_high"])
    )
    return value if low == high else f"{value} [{low}, {high}]"


_BOUND_SIGNS = dict(zip(LIMITS, ("≤\u00a0", "≥\u00a0"), strict=True))
# What each choice was fitted to, and on.
_CHOICE_NAMES = {
    "none": "nothing (the model as it is)",
    "fixed": "nothing (2 in the released code)",
    "oracle_nll": "NLL of the majority label, on the scored items",
    "oracle_ece": "ECE against the majority label, on the scored items",
    "outside": "NLL of the old label, on items outside ChaosNLI",
    "cross_fitted": "NLL of the vote shares, on the other folds’ items",
}
TEMPERATURE_COLUMNS = [
    Column("system", _family),
    Column("fitted to", "choice", names=_CHOICE_NAMES),
    Column("T", _temperature),
    Column("ECE", "ece", 3, best="lowest"),
    Column("ECE, votes", "ece_votes", 3, best="lowest"),
    Column("DistCE", "dist_ce", 3, best="lowest"),
    Column("EntCE", "ent_ce", 3, best="lowest"),
    Column("KL", "kl", 3, best="lowest"),
]


@cached_analysis(keys=("dataset", "system", "choice", "temperature", "measure"))
def temperature_curves(
    votes: Votes, systems: Sequence[System], *, choices: pd.DataFrame, n_temperatures: int
) -> pd.DataFrame:
    """Score each system at temperatures from 0.5 to 4, and add those of `temperature_choices`.

    The temperatures are evenly spread on a logarithmic scale; their rows have no ``choice``.
    """
    scaled_systems = [
        system.at_temperature(temperature)
        for system in _unscaled_models(votes, systems)
        for temperature in _temperatures(n_temperatures)
    ]
    curves = rows_per_system(
        votes, scaled_systems, partial(measure_values, measures=BY_TEMPERATURE)
    )
    chosen = choices[choices["choice"] != "none"]
    keys = [*systems[0].keys, "choice"]
    table = pd.concat([curves.assign(choice=""), chosen], ignore_index=True)
    return table[[*keys, *BY_TEMPERATURE]].melt(keys, var_name="measure", value_name="value")
