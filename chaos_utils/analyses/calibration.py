"""Calibration to a majority label beside calibration to people."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.analyses.baan import (
    agrees,
    available,
    in_paper,
    paper_datasets,
    paper_systems,
    published_beside,
    published_rows,
    released_files,
    rows_about,
)
from chaos_utils.analyses.error_distributions import histogram, title, unbroken
from chaos_utils.analyses.evidence import Evidence
from chaos_utils.analyses.names import dataset_name
from chaos_utils.analyses.recorded import derived, recorded
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.inputs import Input, LaterMapping, merged, of_predictions
from chaos_utils.datasets.availability import datasets_of
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.calibration import classwise_calibration_error as classwise_error
from chaos_utils.metrics.calibration import (
    entropy_error,
    expected_calibration_error,
    hits_of,
    murphy_decomposition,
    reliability_curve,
)
from chaos_utils.metrics.divergence import total_variation
from chaos_utils.metrics.measures import BAAN_BINS as BINS
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.metrics.scores import top_label
from chaos_utils.plots.panels import system_title
from chaos_utils.report.columns import Column, Row, number
from chaos_utils.report.columns import published_beside as beside
from chaos_utils.scoring.recalibration import (
    LIMITS,
    cross_fit_temperatures,
    fit_temperature,
    fit_temperature_to_ece,
    temper,
)
from chaos_utils.scoring.scores import score
from chaos_utils.scoring.seeds import score_over_seeds
from chaos_utils.scoring.system import System, votes_of
from chaos_utils.scoring.systems import oracle

Floats = npt.NDArray[np.float64]
FIXED_TEMPERATURE = 2.0  # in the released code of Baan et al. (2022)
TABLE_1 = ("accuracy", "ece", "rank_cs", "ent_ce", "dist_ce")
BY_TEMPERATURE = ("ece", "ece_votes", "dist_ce", "ent_ce", "kl")
DISTANCE_EDGES = np.linspace(0, 1, 26)
NEAR, FAR = 0.1, 0.5  # DistCE of an item that counts as near to the votes, and as far
_SUM_TOLERANCE = 1e-3
_NOTHING = 1e-12  # the length of an interval that only rounding gives
_DIGITS = 10  # what decides a bin or an order, so that every processor decides alike
_SYSTEM = ("dataset", "system", "temperature")
_SYSTEMS = "baan2022_systems"
PAPER = "baan2022"
GROUP = ["family", "origin", "temperature"]  # what seeds have in common
TENTHS = np.arange(5, 41) / 10  # temperatures, as the paper states its own


def line_up(votes: Votes, systems: Sequence[System], shown_seed: int | None = None) -> list[System]:
    """Set up the paper's comparison: each system as it is, then at T = 2; last, the oracle.

    Parameters
    ----------
    votes : Votes
    systems : sequence of System
        Of the paper's models and simulated ones, those that its tables show are taken; of others,
        all.
    shown_seed : int, optional
        Of a family with several seeds, which one is taken; all by default.

    Raises
    ------
    ChaosError
        If there is no system, one is called like the oracle, or none has this seed.
    """
    of_paper, known = in_paper(systems), ("released", "trained", "yours")
    others = [one for one in systems if one.origin in known and one.paper != PAPER]
    groups = (of_paper, [one for one in others if one not in of_paper])
    if not any(groups):
        raise ChaosError(
            f"This needs predictions on {votes.dataset.title}, and none are available.",
            todo="pass -p predictions=FILE, or run `chaos data fetch` for the released ones",
        )
    everyone = oracle(votes)
    found = []
    for group in groups:
        if any(one.name == everyone.name for one in group):
            raise ChaosError(
                "A system has the name of a reference.", found=everyone.name, todo="rename it"
            )
        found += [*group, *(one.at_temperature(FIXED_TEMPERATURE) for one in group)]
    found.append(everyone)
    return found if shown_seed is None else _with_seed(found, shown_seed)


def _with_seed(systems: Sequence[System], seed: int) -> list[System]:
    seeds: dict[tuple[str, str], set[int | None]] = {}
    for one in systems:
        seeds.setdefault((one.origin, one.family), set()).add(one.seed)
    known = {seed for found in seeds.values() if len(found) > 1 for seed in found}
    if known and seed not in known:
        expected = "one of: " + ", ".join(sorted(map(str, known)))
        raise ChaosError("No model was trained with this seed.", found=seed, expected=expected)
    return [one for one in systems if one.seed == seed or len(seeds[one.origin, one.family]) == 1]


def table_1_datasets(data: str, dataset: str) -> list[str]:
    """Return the dataset of the page, then those that Baan et al. (2022) compare it with.

    There are others only where `data`, as in `gather`, holds all of the paper's datasets.
    """
    held = {one.name for one in datasets_of(data)}
    pair = paper_datasets()
    more = pair if dataset in pair and held.issuperset(pair) else []
    return list(dict.fromkeys([dataset, *more]))


def _values(
    votes: Votes, system: System, measures: Sequence[str], *, in_sample: bool = False
) -> dict[str, float]:
    table = score(votes, [system], measures=measures, in_sample=in_sample)
    return dict(zip(table["measure"], table["value"], strict=True))


def _tidy(rows: Iterable[dict[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame(rows).astype({"seed": "Int64"})


@recorded(keys=_SYSTEM, published=("baan2022_table1", _SYSTEMS))
def human_calibration(votes: Votes, systems: Sequence[System]) -> pd.DataFrame:
    """Compute Table 1 of Baan et al. (2022), published beside reproduced.

    Accuracy takes the last of tied labels, for prediction and gold alike; ECE the first,
    with 10 bins (a, b]; EntCE is in nats.

    Parameters
    ----------
    votes, systems
        For `line_up`.

    Returns
    -------
    DataFrame
        One row per system: its keys, ``accuracy``, ``ece``, ``rank_cs``, ``ent_ce``,
        ``dist_ce``; ``published_…`` (NaN where the paper has no such row) and
        ``difference_…`` (ours minus theirs) of each; ``rank_cs_ties`` (RankCS that minds ties),
        ``n_items``.
    """
    published = published_beside(votes, "baan2022_table1")
    rows = []
    for system in line_up(votes, systems):
        judged = system.aligned_to(votes)
        label, gold = (top_label(p, ties="last") for p in (judged.model, judged.human))
        values = _values(votes, system, (*TABLE_1[1:], "rank_cs_ties"))
        row: dict[str, Any] = dict(system.keys) | {"accuracy": float((label == gold).mean())}
        row |= {name: values[name] for name in TABLE_1[1:]}
        theirs = rows_about(published, system.keys)
        for name in TABLE_1:
            row[f"published_{name}"] = float(theirs[name].iloc[0]) if len(theirs) else np.nan
            row[f"difference_{name}"] = row[name] - row[f"published_{name}"]
        rows.append(row | {"rank_cs_ties": values["rank_cs_ties"], "n_items": len(judged.human)})
    return _tidy(rows)


def over_seeds(table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return means of some columns over the seeds of each model, with its ``title`` and ``kind``.

    The kind, ``reference`` or ``model``, makes groups of rows in which something is best.
    """
    rows = []
    for keys, group in table.groupby(["dataset", *GROUP], sort=False):
        row: dict[str, Any] = dict(zip(["dataset", *GROUP], keys, strict=True))
        row["kind"] = "reference" if row["origin"] == "reference" else "model"
        row["n_seeds"] = len(group)
        rows.append(row | {"title": _family_title(row)} | group[[*names]].mean().to_dict())
    return pd.DataFrame(rows)


def _family_title(row: Row) -> str:
    several = f", {row['n_seeds']} seeds" if row["n_seeds"] > 1 else ""
    return unbroken(system_title(row["family"], row["origin"], row["temperature"]) + several)


CALIBRATION_COLUMNS = [
    Column("dataset", "dataset", names=dataset_name),
    Column("system", "title"),
    Column("accuracy ↑", "accuracy", 3, best="highest"),
    Column("ECE ↓", "ece", 3, best="lowest"),
    Column("RankCS ↑", "rank_cs", 3, best="highest"),
    Column("EntCE ↓", "ent_ce", 3, best="lowest"),
    Column("DistCE ↓", "dist_ce", 3, best="lowest"),
]


@derived(keys=("dataset", *GROUP, "measure"))
def beside_table_1(table: pd.DataFrame) -> pd.DataFrame:
    """Set the published Table 1 beside ours, means over seeds.

    Parameters
    ----------
    table : DataFrame
        As `human_calibration` gives it.

    Returns
    -------
    DataFrame
        One row for each measure of `TABLE_1` and model of the paper: its keys, ``measure``,
        ``n_seeds``, ``value``, ``published``, ``difference`` (ours minus theirs) and
        ``largest_difference`` of one seed, without its sign. Where the paper has none of these
        models, ours stand alone.
    """
    rows = []
    in_paper = table["published_ece"].notna()
    known = table[in_paper] if in_paper.any() else table
    for name in TABLE_1:
        for keys, group in known.groupby(["dataset", *GROUP], sort=False):
            value, published = group[name].mean(), group[f"published_{name}"].mean()
            numbers = {"value": value, "published": published, "difference": value - published}
            numbers["largest_difference"] = group[f"difference_{name}"].abs().max()
            row = dict(zip(["dataset", *GROUP], keys, strict=True))
            rows.append(row | {"measure": name, "n_seeds": len(group)} | numbers)
    columns = ["dataset", *GROUP, "measure", "n_seeds", "value", "published", "difference"]
    return pd.DataFrame(rows, columns=[*columns, "largest_difference"])


_MEASURES = {
    "accuracy": "accuracy",
    "ece": "ECE",
    "rank_cs": "RankCS",
    "ent_ce": "EntCE",
    "dist_ce": "DistCE",
}
TABLE_1_COLUMNS = [
    Column("measure", "measure", names=_MEASURES),
    Column("system", _family_title),
    *beside("mean over seeds", "value", 3, published="published", difference="difference"),
    Column("largest |Δ| of a seed", "largest_difference", 4),
]


@derived(
    keys=("dataset", "family", "temperature", "quantity"), published=("baan2022_other", _SYSTEMS)
)
def rounded_values(table: pd.DataFrame) -> pd.DataFrame:
    """Compare the two-digit values of the paper's section 5.2 with means over seeds.

    Parameters
    ----------
    table : DataFrame
        As `human_calibration` gives it.

    Returns
    -------
    DataFrame
        ``dataset``, ``family``, ``temperature``, ``quantity``, ``published``, ``value`` and
        ``agrees``: whether the value rounds to the published one. Empty where the votes are not
        those that the paper is about.
    """
    known = published_rows("baan2022_other").rename(columns={"value": "published"})
    known = known[known["where"] == "section 5.2"]
    keys = ["dataset", "origin", "family", "temperature"]
    values = table[table["published_ece"].notna()].melt(keys, list(TABLE_1), "quantity")
    means = values.groupby([*keys, "quantity"])["value"].mean().reset_index()
    found = known[[*keys, "quantity", "published"]].merge(means).drop(columns="origin")
    same = map(agrees, found["value"], found["published"])
    return found.assign(agrees=list(same))


def _chosen(votes: Votes, systems: Sequence[System], shown_seed: int | None) -> Sequence[System]:
    return systems if shown_seed is None else line_up(votes, systems, shown_seed)


@recorded(keys=(*_SYSTEM, "bin_low"))
def reliability(
    votes: Votes, systems: Sequence[System], *, shown_seed: int | None = None
) -> pd.DataFrame:
    """Compute reliability diagrams against the majority label, in ten bins (a, b].

    Parameters
    ----------
    votes : Votes
    systems : sequence of System
    shown_seed : int, optional
        The diagrams are those of `line_up` with this seed; by default, of the systems as given.

    Returns
    -------
    DataFrame
        One row for each system and bin: the system's keys, its ``ece``, ``bin_low``,
        ``bin_high``, ``n``, ``confidence`` and ``hits`` (means over the bin's items; NaN in an
        empty bin).
    """
    tables = []
    for system in _chosen(votes, systems, shown_seed):
        judged = system.aligned_to(votes)
        confidence, hits = hits_of(judged.model, judged.first_majority)
        curve = reliability_curve(confidence.round(_DIGITS), hits, BINS)
        columns = {
            "ece": MEASURES["ece"].value(judged),
            "bin_low": BINS.edges[:-1],
            "bin_high": BINS.edges[1:],
            "n": curve.counts,
            "confidence": curve.confidence,
            "hits": curve.hits,
        }
        tables.append(pd.DataFrame(system.keys | columns))
    return pd.concat(tables, ignore_index=True).astype({"seed": "Int64"})


def _distances(votes: Votes, system: System) -> Floats:
    judged = system.aligned_to(votes)
    return total_variation(judged.human, judged.model).round(_DIGITS)


@recorded(keys=(*_SYSTEM, "bin_low"))
def distance_histogram(
    votes: Votes, systems: Sequence[System], *, shown_seed: int | None = None
) -> pd.DataFrame:
    """Count items by their DistCE, in 25 bins.

    Parameters
    ----------
    votes : Votes
    systems : sequence of System
    shown_seed : int, optional
        As for `reliability`; references are left out.

    Returns
    -------
    DataFrame
        One row for each system and bin: the system's keys, ``bin_low``, ``bin_high``, ``n``;
        ``n_items`` and their ``mean``.
    """
    chosen = [o for o in _chosen(votes, systems, shown_seed) if o.origin != "reference"]
    rows = [histogram(one.keys, _distances(votes, one), DISTANCE_EDGES) for one in chosen]
    return pd.concat(rows, ignore_index=True).astype({"seed": "Int64"})


@recorded(keys=("dataset", "system"))
def distance_shares(votes: Votes, systems: Sequence[System], *, shown_seed: int) -> pd.DataFrame:
    """Compute how many items are near to the votes and far from them, before and after scaling.

    Parameters
    ----------
    votes, systems
        For `line_up`.
    shown_seed : int
        As for `line_up`.

    Returns
    -------
    DataFrame
        One row per system, its keys but for the temperature and shares of the items: those with
        a DistCE below `NEAR` (``near``) and above `FAR` (``far``), each also ``…_scaled``;
        ``further``, those whose DistCE the scaling made larger.
    """
    rows = []
    for system in line_up(votes, systems, shown_seed):
        if system.origin != "reference" and system.temperature == 1:
            before = _distances(votes, system)
            after = _distances(votes, system.at_temperature(FIXED_TEMPERATURE))
            shares = {
                "near": (before < NEAR).mean(),
                "near_scaled": (after < NEAR).mean(),
                "far": (before > FAR).mean(),
                "far_scaled": (after > FAR).mean(),
                "further": (after > before).mean(),
            }
            keys = {name: key for name, key in system.keys.items() if name != "temperature"}
            rows.append(keys | shares)
    return _tidy(rows)


@derived(keys=(*_SYSTEM, "bin_low"))
def with_shares(table: pd.DataFrame, shares: pd.DataFrame) -> pd.DataFrame:
    """Add to each row of `distance_histogram` what `distance_shares` says of its system."""
    return table.merge(shares, on=["dataset", "system", "family", "seed", "origin"], how="left")


@recorded(keys=_SYSTEM, published=("baan2022_other", _SYSTEMS))
def classwise_errors(votes: Votes, systems: Sequence[System]) -> pd.DataFrame:
    """Compute class-wise ECE against the majority label under both denominators.

    Parameters
    ----------
    votes, systems
        For `line_up`.

    Returns
    -------
    DataFrame
        One row per system: its keys; ``classwise_ece_binned`` (gaps divided by the items that
        fall into a bin, as in the released code) and ``classwise_ece_all`` (by all items);
        ``n_without_bin`` (probabilities of exactly 0, over all classes); ``published_percent`` of
        Appendix D, and ``agrees``: whether the first value rounds to it (<NA> where there is
        none).
    """
    known = published_beside(votes, "baan2022_other")
    known = known[known["quantity"] == "classwise_ece_percent"]
    rows = []
    for system in line_up(votes, systems):
        judged = system.aligned_to(votes)
        m, gold = judged.model, judged.first_majority
        theirs = rows_about(known, system.keys)["value"]
        errors = {
            "classwise_ece_binned": classwise_error(m, gold, BINS, divide_by="binned"),
            "classwise_ece_all": classwise_error(m, gold, BINS, divide_by="all"),
            "n_without_bin": int((m == 0).sum()),
            "published_percent": float(theirs.iloc[0]) if len(theirs) else np.nan,
        }
        rows.append(system.keys | errors)
    table = _tidy(rows)
    return _with_agreement(table, 100 * table["classwise_ece_binned"], "published_percent")


def _with_agreement(
    table: pd.DataFrame, values: "pd.Series[float]", published: str
) -> pd.DataFrame:
    same = [
        None if np.isnan(theirs) else agrees(ours, theirs)
        for ours, theirs in zip(values, table[published], strict=True)
    ]
    return table.assign(agrees=pd.array(same, dtype="boolean"))


def _classwise_gap(row: Row) -> float:
    return float(100 * row["classwise_ece_binned"] - row["published_percent"])


def _is_off(row: Row) -> bool:
    return row["agrees"] is False


CLASSWISE_COLUMNS = [
    Column("system", title),
    Column("probabilities of 0", "n_without_bin", 0),
    Column("all items", "classwise_ece_all", 2, percent=True),
    Column("paper", "published_percent", 0, group="binned items"),
    Column("here", "classwise_ece_binned", 2, percent=True, group="binned items"),
    Column("Δ", _classwise_gap, 2, signed=True, group="binned items", bold=_is_off),
]


@recorded(keys=_SYSTEM, published=("baan2022_other", _SYSTEMS))
def signed_entropy_errors(votes: Votes, systems: Sequence[System]) -> pd.DataFrame:
    """Compute H(model) − H(human) in nats, of the paper's Appendix B, for every seed.

    Parameters
    ----------
    votes, systems
        For `line_up`; references are left out.

    Returns
    -------
    DataFrame
        One row per system: its keys; ``mean`` and ``median`` over items; ``published``, which the
        paper gives for both (NaN where it gives none), and ``agrees``: whether the mean is equal to
        it as printed (<NA> where there is none).
    """
    known = published_beside(votes, "baan2022_other")
    known = known[known["quantity"] == "signed_ent_ce"].assign(seed=np.nan)
    rows = []
    for system in line_up(votes, systems):
        if system.origin != "reference":
            judged = system.aligned_to(votes)
            errors = entropy_error(judged.human, judged.model)
            theirs = rows_about(known, system.keys)["value"]
            values = {"mean": errors.mean(), "median": float(np.median(errors))}
            printed = float(theirs.iloc[0]) if len(theirs) else np.nan
            rows.append(system.keys | values | {"published": printed})
    table = _tidy(rows)
    return _with_agreement(table, table["mean"], "published")


def _signed_gap(row: Row) -> float:
    return float(row["mean"] - row["published"])


SIGNED_COLUMNS = [
    Column("dataset", "dataset", names=dataset_name),
    Column("system", title),
    Column("paper", "published", 2, signed=True, group="mean"),
    Column("here", "mean", 3, signed=True, group="mean"),
    Column("Δ", _signed_gap, 3, signed=True, group="mean", bold=_is_off),
    Column("median", "median", 3, signed=True),
]


@recorded(keys=_SYSTEM)
def two_targets(votes: Votes, systems: Sequence[System]) -> pd.DataFrame:
    """Compute ``ece`` (majority label) and ``ece_votes`` (vote shares) of `line_up`, in [0, 1]."""
    return _tidy(
        system.keys | _values(votes, system, ["ece", "ece_votes"])
        for system in line_up(votes, systems)
    )


INTERVALS = ("ece", "sq_ce", "ece_votes", "sq_ce_votes", "ent_ce", "dist_ce")


@recorded(keys=("dataset", "system", "origin", "measure"))
def family_scores(
    votes: Votes, systems: Sequence[System], *, n_resamples: int, seed: int
) -> pd.DataFrame:
    """Score each family of `line_up` over its seeds, with 95% intervals where there is one.

    Parameters
    ----------
    votes, systems
        For `line_up`.
    n_resamples, seed : int
        Of the bootstrap over items.

    Returns
    -------
    DataFrame
        One row for each family and measure of `INTERVALS`: ``dataset``, ``system`` (the family,
        with temperature and number of seeds), ``origin``, ``n_seeds``, ``n_items``, ``measure``,
        ``value``, ``low`` and ``high`` (NaN for the plug-in errors), ``seed_sd`` and ``estimand``,
        as `score_over_seeds` gives them.
    """
    chosen = line_up(votes, systems)
    groups: dict[tuple[str, str, float], list[System]] = {}
    for one in chosen:
        groups.setdefault((one.origin, one.family, one.temperature), []).append(one)
    tables = []
    for (origin, family, t), group in groups.items():
        found = score_over_seeds(
            votes, group, measures=INTERVALS, n_resamples=n_resamples, seed=seed
        )
        several = f", {len(group)} seeds" if len(group) > 1 else ""
        name = system_title(family, origin, t) + several
        tables.append(found.assign(system=name, origin=origin))
    columns = ["dataset", "system", "origin", "n_seeds", "n_items", "measure", "value", "low"]
    table = pd.concat(tables, ignore_index=True)[[*columns, "high", "seed_sd", "estimand"]]
    ends = table[["low", "high"]]
    moved = ends["high"] - ends["low"] > _NOTHING  # not where the oracle is right by construction
    return table.assign(**{name: ends[name].where(moved) for name in ends})


def in_columns(table: pd.DataFrame) -> pd.DataFrame:
    """Return `family_scores` with a row for each family; its measures' ends as ``low_…``."""
    keys = ["dataset", "system", "n_seeds"]
    wide = table.pivot(index=keys, columns="measure", values=["value", "low", "high"])
    wide.columns = [name if what == "value" else f"{what}_{name}" for what, name in wide.columns]
    order = pd.MultiIndex.from_frame(table[keys].drop_duplicates())
    return wide.loc[order].reset_index()


INTERVAL_COLUMNS = [
    Column("dataset", "dataset", names=dataset_name),
    Column("system", "system", names=unbroken),
    *(
        Column(heading, name, 3, low=f"low_{name}", high=f"high_{name}", group=group)
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


PARTS = ("reliability", "resolution", "uncertainty", "within_bins")
BRIER = (*PARTS, "brier")


@recorded(keys=_SYSTEM)
def murphy(votes: Votes, systems: Sequence[System]) -> pd.DataFrame:
    """Split the Brier score of the votes of `line_up` by Murphy (1973), in ten bins for each label.

    One row per system: its keys, ``n_items``, `PARTS`, which add up to ``brier``, and ``brier``.
    A probability of 0 falls into the first bin.
    """
    rows = []
    for system in line_up(votes, systems):
        judged = system.aligned_to(votes)
        model = judged.model.round(_DIGITS)
        found = murphy_decomposition(judged.human, model, replace(BINS, zero_in_bin=True))
        parts = {name: getattr(found, name) for name in (*PARTS, "brier")}
        rows.append(system.keys | {"n_items": len(model)} | parts)
    return _tidy(rows)


MURPHY_COLUMNS = [
    Column("dataset", "dataset", names=dataset_name),
    Column("system", "title"),
    Column("reliability ↓", "reliability", 3, best="lowest"),
    Column("− resolution ↑", "resolution", 3, best="highest"),
    Column("+ uncertainty", "uncertainty", 3),
    Column("+ within bins", "within_bins", 3),
    Column("= Brier score ↓", "brier", 3, best="lowest"),
]


@dataclass(frozen=True, slots=True, eq=False)
class Outside:
    """A system's released predictions of items that are not among those of the votes.

    Attributes
    ----------
    probabilities : ndarray of float64, shape (n, k)
    gold : ndarray of int, shape (n,)
        In the file's class order, as the probabilities have it.
    inputs : tuple of Input
    """

    probabilities: Floats
    gold: npt.NDArray[np.int64]
    inputs: tuple[Input, ...] = ()


def find_outside(material: Iterable[Evidence]) -> Mapping[tuple[str, str], Outside]:
    """Find what the paper's models predict outside the datasets' own items, where available.

    Returns
    -------
    mapping of Outside
        By the names of dataset and system; empty without votes and predictions. It is read when it
        is first needed.
    """
    return _beside(material, _outside_files, lambda files, votes: read_outside(files[0], votes))


def _outside_files(dataset: Dataset, family: str, seed: int | None) -> list[Path]:
    """Return the released predictions of a system that reach past the dataset's own items."""
    for known in dataset.systems:
        if known.family == family and known.outside:
            return available([known.outside.format(seed=seed)])
    return []


def read_outside(path: Path, votes: Votes) -> Outside:
    """Read released predictions on items that are *not* among those of the votes.

    Parameters
    ----------
    path : Path
        JSON lines with ``uid``, ``true`` (the gold label) and ``probs``, both in the
        file's own class order, which a temperature does not depend on.
    votes : Votes
        The items to leave out.
    """
    found = _read_predictions([path], votes)
    if not found.is_outside.any():
        raise ChaosError(f"Every item of these is in {votes.dataset.title}.", where=path)
    kept = found.is_outside
    return Outside(found.probabilities[kept], found.gold[kept], found.inputs)


@dataclass(frozen=True, slots=True, eq=False)
class Development:
    """A system's released predictions of a whole development set, and its gold labels.

    As `Outside`; `is_outside` says which items are not among those of the votes.
    """

    probabilities: Floats
    gold: npt.NDArray[np.int64]
    is_outside: npt.NDArray[np.bool_]
    inputs: tuple[Input, ...] = ()


def find_development(material: Iterable[Evidence]) -> Mapping[tuple[str, str], Development]:
    """Find what the paper's models predict on all of the development sets, where available.

    As `find_outside`.
    """
    return _beside(material, released_files, _read_predictions)


_Read = TypeVar("_Read", Outside, Development)


def _beside(
    material: Iterable[Evidence],
    files_of: Callable[[Dataset, str, int | None], list[Path]],
    read: Callable[[list[Path], Votes], _Read],
) -> Mapping[tuple[str, str], _Read]:
    """Return what files of the paper's models hold, by the names of dataset and system."""
    several = [one for one in material if one.given_votes and one.given_systems]

    def load() -> dict[tuple[str, str], _Read]:
        return {
            (votes.dataset.name, one.name): read(files, votes)
            for evidence in several
            for votes, systems in zip(evidence.votes or (), evidence.systems or (), strict=True)
            for one in in_paper(systems)
            if one.origin == "released"
            if (files := files_of(votes.dataset, one.family, one.seed))
        }

    if not all(one.is_known(systems=True) for one in several):
        return load()
    families = set(paper_systems()["family"])
    paths = {
        path
        for evidence in several
        for dataset in evidence.datasets
        for known in dataset.systems
        for seed in known.seeds
        if known.family in families
        for path in files_of(dataset, known.family, seed)
    }
    return LaterMapping(merged(map(of_predictions, paths)), load)


def _read_predictions(paths: Iterable[Path], votes: Votes) -> Development:
    inside, k = set(votes.uids), votes.dataset.n_classes
    rows: dict[str, tuple[list[float], int]] = {}
    inputs = []
    for path in paths:
        inputs.append(of_predictions(path))
        for place, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
            try:
                entry = json.loads(line)
                uid, label, values = entry["uid"], entry["true"], entry["probs"]
                sound = isinstance(uid, str) and uid not in rows and len(values) == k
                sound = sound and min(values) >= 0 and abs(sum(values) - 1) <= _SUM_TOLERANCE
                sound = sound and label in range(k)
            except (ValueError, KeyError, TypeError):
                sound = False
            if not sound:
                raise ChaosError(
                    "A line of the released predictions is invalid.",
                    where=f"{path}, line {place}",
                    found=line[:100],
                    expected=f"JSON with a new uid, true from 0 to {k - 1}, and probs: {k} "
                    "probabilities that sum to 1",
                    todo="remove the file and run `chaos data fetch`",
                )
            rows[uid] = (values, label)
    probabilities = np.array([values for values, _ in rows.values()], dtype=np.float64)
    return Development(
        probabilities / probabilities.sum(axis=1, keepdims=True),
        np.array([label for _, label in rows.values()], dtype=np.int64),
        np.array([uid not in inside for uid in rows]),
        tuple(inputs),
    )


@recorded(keys=("dataset", "system", "items", "temperature"))
def ece_by_temperature(
    votes: Votes,
    systems: Sequence[System],
    *,
    development: Mapping[tuple[str, str], Development],
) -> pd.DataFrame:
    """Compute the ECE of the paper's models at temperatures from 0.5 to 4, on different items.

    Parameters
    ----------
    votes, systems
        Of the systems, those of the paper's tables.
    development : mapping of Development
        As `find_development` gives it.

    Returns
    -------
    DataFrame
        One row for each system, temperature (in tenths) and set of ``items``: ``votes``, those of
        the dataset, against the majority of the votes; ``outside``, the rest of the development
        set, and ``development``, all of it, both against the gold label; the latter two where such
        predictions were released. The system's keys, ``n_items``, ``ece``.
    """
    rows = []
    for system in in_paper(systems):
        judged = system.aligned_to(votes)
        sets = {"votes": (judged.model, judged.first_majority)}
        if one := development.get((votes.dataset.name, system.name)):
            sets["outside"] = (one.probabilities[one.is_outside], one.gold[one.is_outside])
            sets["development"] = (one.probabilities, one.gold)
        for items, (m, gold) in sets.items():
            for t in TENTHS.tolist():
                ece = expected_calibration_error(temper(m, t).round(_DIGITS), gold, BINS)
                keys = system.keys | {"temperature": t, "items": items}
                rows.append(keys | {"n_items": len(gold), "ece": ece})
    columns = [*oracle(votes).keys, "items", "n_items", "ece"]
    return pd.DataFrame(rows, columns=columns).astype({"seed": "Int64"})


@recorded(keys=("dataset", "system", "choice"))
def temperature_choices(
    votes: Votes,
    systems: Sequence[System],
    *,
    outside: Mapping[tuple[str, str], Outside],
    n_folds: int,
    seed: int,
) -> pd.DataFrame:
    """Fit a temperature to each system in each way, and score it there.

    Parameters
    ----------
    votes, systems
        For `line_up`; those that it has as they are, but for references, are fitted.
    outside : mapping of Outside
        As `find_outside` gives it.
    n_folds : int
        For the cross-fitted temperature.
    seed : int
        Deals the folds, the same for all systems.

    Returns
    -------
    DataFrame
        One row for each system and choice (``none``, ``fixed``, ``oracle_nll``,
        ``oracle_ece``, ``outside`` where predictions outside the dataset were released,
        ``cross_fitted``): keys as in other tables; ``choice``; ``n_fitted`` (items
        that it was fitted on; for cross-fitting, the fewest of any fold);
        ``temperature`` (mean over items), ``temperature_low`` and ``temperature_high``
        (over folds); ``ece``, ``ece_votes``, ``dist_ce``, ``ent_ce``, ``kl``.
    """
    rows = []
    for system in _to_fit(votes, systems):
        n_items = len(system.rows_in(votes))
        if not 2 <= n_folds <= n_items:
            expected = f"2 to {n_items}, the number of items"
            raise ChaosError(
                "This number of folds is impossible.", found=n_folds, expected=expected
            )
        beyond = outside.get((votes.dataset.name, system.name))
        for choice, n_fitted, values, scaled in fits(votes, system, n_folds, seed, beyond):
            row = scaled.keys | {"choice": choice, "n_fitted": n_fitted}
            row["temperature"] = float(np.mean(values))
            row |= {"temperature_low": np.min(values), "temperature_high": np.max(values)}
            # An oracle temperature is shown because it was fitted on what judges it.
            in_sample = choice.startswith("oracle")
            rows.append(row | _values(votes, scaled, BY_TEMPERATURE, in_sample=in_sample))
    return _tidy(rows)


def _to_fit(votes: Votes, systems: Sequence[System]) -> list[System]:
    chosen = line_up(votes, systems)
    return [one for one in chosen if one.temperature == 1 and one.origin != "reference"]


def fits(
    votes: Votes, system: System, n_folds: int, seed: int, outside: Outside | None = None
) -> Iterator[tuple[str, int, Floats | float, System]]:
    """Yield each choice, the items fitted on, the temperatures, and the system there."""
    judged = system.aligned_to(votes)
    m, gold, n = judged.model, judged.first_majority, len(judged.model)
    found: list[tuple[str, int, Floats | float]] = [
        ("none", 0, 1.0),
        ("fixed", 0, FIXED_TEMPERATURE),
        ("oracle_nll", n, fit_temperature(m, gold)),
        ("oracle_ece", n, fit_temperature_to_ece(m, gold, BINS)),
    ]
    if outside is not None:
        temperature = fit_temperature(outside.probabilities, outside.gold)
        found.append(("outside", len(outside.gold), temperature))
    folds = cross_fit_temperatures(m, judged.human, n_folds, np.random.default_rng(seed))
    found.append(("cross_fitted", n - -(-n // n_folds), folds))
    # In the order of the votes, as the cross-fitted temperatures are.
    uids = tuple(votes.uids[row] for row in system.rows_in(votes))
    system = replace(system, uids=uids, probabilities=m, predicted=judged.predicted)
    on_votes = (*system.trained_on, votes_of(votes.dataset))
    for choice, n_fitted, temperatures in found:
        scaled = system.at_temperature(temperatures)
        if choice in ("oracle_nll", "oracle_ece", "cross_fitted"):
            crossed = choice == "cross_fitted"
            scaled = replace(scaled, trained_on=on_votes, out_of_fold=crossed)
        yield choice, n_fitted, temperatures, scaled


def choices_over_seeds(choices: pd.DataFrame) -> pd.DataFrame:
    """Return rows of `temperature_choices`, one for each model: T from seed to seed, else means."""
    rows = []
    for (_, family, choice), group in choices.groupby(["origin", "family", "choice"], sort=False):
        seeds = f", {len(group)} seeds" if len(group) > 1 else ""
        row = {
            "family": family,
            "system": unbroken(f"{family}{seeds}"),
            "choice": choice,
            "temperature": _temperatures(group["temperature"]),
        }
        rows.append(row | group[[*BY_TEMPERATURE]].mean().to_dict())
    return pd.DataFrame(rows)


def _temperatures(values: "pd.Series[float]") -> str:
    """Write the least and the greatest temperature; an end of the search is a bound."""
    bounds = dict(zip(LIMITS, ("≤\u00a0", "≥\u00a0"), strict=True))
    ends = []
    for value in (values.min(), values.max()):
        sign = next((bounds[end] for end in LIMITS if np.isclose(value, end)), "")
        ends.append(f"{sign}{number(value, 2)}")
    return "–".join(dict.fromkeys(ends))


# What each choice was fitted to, and on.
_FITTED_TO = {
    "none": "nothing: the model as it is",
    "fixed": "nothing: the released code’s 2",
    "oracle_nll": "NLL of the majority label, the items judged",
    "oracle_ece": "ECE against the majority label, the items judged",
    "outside": "NLL of the old label, items outside ChaosNLI",
    "cross_fitted": "NLL of the vote shares, the other folds’ items",
}
TEMPERATURE_COLUMNS = [
    Column("system", "system"),
    Column("fitted to", "choice", names=_FITTED_TO),
    Column("T", "temperature"),
    Column("ECE", "ece", 3, best="lowest"),
    Column("ECE, votes", "ece_votes", 3, best="lowest"),
    Column("DistCE", "dist_ce", 3, best="lowest"),
    Column("EntCE", "ent_ce", 3, best="lowest"),
    Column("KL", "kl", 3, best="lowest"),
]


@recorded(keys=("dataset", "system", "choice", "temperature", "measure"))
def temperature_curves(
    votes: Votes, systems: Sequence[System], *, choices: pd.DataFrame, n_temperatures: int
) -> pd.DataFrame:
    """Score each system at temperatures from 0.5 to 4, and add the chosen ones.

    Parameters
    ----------
    votes, systems
        As for `temperature_choices`.
    choices : DataFrame
        As `temperature_choices` gives it.
    n_temperatures : int
        At least 1, evenly spread on a logarithmic scale.

    Returns
    -------
    DataFrame
        One row for each system, temperature and measure: keys, ``choice`` (empty where the
        temperature is one of these), ``measure``, ``value``.
    """
    if n_temperatures < 1:
        raise ChaosError("There is no temperature to compute measures at.", found=n_temperatures)
    rows = []
    for system in _to_fit(votes, systems):
        for temperature in np.geomspace(0.5, 4, n_temperatures).tolist():
            scaled = system.at_temperature(temperature)
            values = _values(votes, scaled, BY_TEMPERATURE)
            rows.append(scaled.keys | {"choice": ""} | values)
    chosen = choices[choices["choice"] != "none"]
    keys = [*systems[0].keys, "choice"]
    table = pd.concat([_tidy(rows), chosen], ignore_index=True)[[*keys, *BY_TEMPERATURE]]
    return table.melt(id_vars=keys, var_name="measure", value_name="value")
