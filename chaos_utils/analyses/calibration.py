"""Calibration to a majority label beside calibration to people."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.analyses.baan import (
    FIXED_TEMPERATURE,
    SYSTEMS,
    agreeing,
    agrees,
    available,
    in_paper,
    line_up,
    measured,
    paper_columns,
    paper_datasets,
    paper_systems,
    per_system,
    published_rows,
    released_files,
    title,
    unbroken,
)
from chaos_utils.analyses.error_distributions import histogram, item_errors
from chaos_utils.analyses.evidence import Evidence
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
from chaos_utils.metrics.measures import BAAN_BINS as BINS
from chaos_utils.metrics.measures import MEASURES, Judged
from chaos_utils.metrics.scores import top_label
from chaos_utils.plots.panels import system_title
from chaos_utils.report.columns import DATASET, Column, Row, number
from chaos_utils.scoring.recalibration import (
    LIMITS,
    cross_fit_temperatures,
    fit_temperature,
    fit_temperature_to_ece,
    temper,
)
from chaos_utils.scoring.seeds import score_over_seeds
from chaos_utils.scoring.system import System, votes_of
from chaos_utils.scoring.systems import oracle

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
TABLE_1 = ("accuracy", "ece", "rank_cs", "ent_ce", "dist_ce")
BY_TEMPERATURE = ("ece", "ece_votes", "dist_ce", "ent_ce", "kl")
DISTANCE_EDGES = np.linspace(0, 1, 26)
NEAR, FAR = 0.1, 0.5  # DistCE of an item that counts as near to the votes, and as far
_SUM_TOLERANCE = 1e-3
_NOTHING = 1e-12  # the length of an interval that only rounding gives
_DIGITS = 10  # what decides a bin or an order, so that every processor decides alike
_SYSTEM = ("dataset", "system", "temperature")
GROUP = ["family", "origin", "temperature"]  # what seeds have in common
TENTHS = np.arange(5, 41) / 10  # temperatures, as the paper states its own


def table_1_datasets(data: str, dataset: str) -> list[str]:
    """Return the dataset of the page, then those that Baan et al. (2022) compare it with.

    There are others only where `data`, as in `gather`, holds all of the paper's datasets.
    """
    held = {one.name for one in datasets_of(data)}
    pair = paper_datasets()
    more = pair if dataset in pair and held.issuperset(pair) else []
    return list(dict.fromkeys([dataset, *more]))


@recorded(keys=_SYSTEM, published=("baan2022_table1", SYSTEMS))
def human_calibration(votes: Votes, systems: Sequence[System]) -> pd.DataFrame:
    """Table 1 of Baan et al. (2022) for `line_up`, published beside reproduced.

    Accuracy takes the last of tied labels, for prediction and gold alike; ECE the first, with 10
    bins (a, b]; EntCE is in nats. ``difference_…`` is ours minus theirs; ``rank_cs_ties`` is RankCS
    that minds ties.
    """

    def values(judged: Judged) -> dict[str, float]:
        label, gold = (top_label(p, ties="last") for p in (judged.model, judged.human))
        of_items = {"accuracy": float((label == gold).mean()), "n_items": len(label)}
        return of_items | measured(judged, (*TABLE_1[1:], "rank_cs_ties"))

    published = published_rows("baan2022_table1", votes)
    theirs = {f"published_{name}": name for name in TABLE_1}
    table = per_system(votes, line_up(votes, systems), values, published, **theirs)
    gaps = {f"difference_{name}": table[name] - table[f"published_{name}"] for name in TABLE_1}
    return table.assign(**gaps)


def over_seeds(table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return means of some columns over the seeds of each model, with its ``title`` and ``kind``.

    The kind, ``reference`` or ``model``, makes groups of rows in which something is best.
    """
    groups = table.groupby(["dataset", *GROUP], sort=False)
    found = groups[[*names]].mean().assign(n_seeds=groups.size()).reset_index()
    found["title"] = [_family_title(row) for row in found.to_dict("records")]
    return found.assign(kind=found["origin"].where(found["origin"] == "reference", "model"))


def _family_title(row: Row) -> str:
    several = f", {row['n_seeds']} seeds" if row["n_seeds"] > 1 else ""
    return unbroken(system_title(row["family"], row["origin"], row["temperature"]) + several)


CALIBRATION_COLUMNS = [
    Column("system", "title"),
    Column("accuracy ↑", "accuracy", 3, best="highest"),
    Column("ECE ↓", "ece", 3, best="lowest"),
    Column("RankCS ↑", "rank_cs", 3, best="highest"),
    Column("EntCE ↓", "ent_ce", 3, best="lowest"),
    Column("DistCE ↓", "dist_ce", 3, best="lowest"),
]


@derived(
    keys=("dataset", "family", "temperature", "quantity"), published=("baan2022_other", SYSTEMS)
)
def rounded_values(table: pd.DataFrame) -> pd.DataFrame:
    """Compare the two-digit values of the paper's section 5.2 with means over seeds.

    From `human_calibration`; empty where the votes are not those that the paper is about.
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
    """Return `line_up` with the seed that is shown; without one, the systems as given."""
    return systems if shown_seed is None else line_up(votes, systems, shown_seed)


@recorded(keys=(*_SYSTEM, "bin_low"))
def reliability(
    votes: Votes, systems: Sequence[System], *, shown_seed: int | None = None
) -> pd.DataFrame:
    """Reliability diagrams against the majority label, in ten bins (a, b].

    ``confidence`` and ``hits`` are means over a bin's items, NaN in an empty one.
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
    return item_errors(votes, system).round(_DIGITS)


@recorded(keys=(*_SYSTEM, "bin_low"))
def distance_histogram(
    votes: Votes, systems: Sequence[System], *, shown_seed: int | None = None
) -> pd.DataFrame:
    """Count items by their DistCE, in 25 bins, for each system but the references."""
    chosen = [o for o in _chosen(votes, systems, shown_seed) if o.origin != "reference"]
    rows = [histogram(one.keys, _distances(votes, one), DISTANCE_EDGES) for one in chosen]
    return pd.concat(rows, ignore_index=True).astype({"seed": "Int64"})


@recorded(keys=("dataset", "system"))
def distance_shares(votes: Votes, systems: Sequence[System], *, shown_seed: int) -> pd.DataFrame:
    """Compute how many items are near to the votes and far from them, before and after scaling.

    Shares of the items with a DistCE below `NEAR` and above `FAR`; ``further``, those whose DistCE
    the scaling made larger.
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
    return pd.DataFrame(rows).astype({"seed": "Int64"})


@derived(keys=(*_SYSTEM, "bin_low"))
def with_shares(table: pd.DataFrame, shares: pd.DataFrame) -> pd.DataFrame:
    """Add to each row of `distance_histogram` what `distance_shares` says of its system."""
    return table.merge(shares, on=["dataset", "system", "family", "seed", "origin"], how="left")


@recorded(keys=_SYSTEM, published=("baan2022_other", SYSTEMS))
def classwise_errors(votes: Votes, systems: Sequence[System]) -> pd.DataFrame:
    """Class-wise ECE against the majority label under both denominators, beside Appendix D.

    Gaps are divided by the items that fall into a bin, as in the released code, or by all items;
    ``n_without_bin`` counts probabilities of exactly 0, over all classes.
    """

    def values(judged: Judged) -> dict[str, float]:
        error = partial(classwise_error, judged.model, judged.first_majority, BINS)
        return {
            "classwise_ece_binned": error(divide_by="binned"),
            "classwise_ece_all": error(divide_by="all"),
            "n_without_bin": int((judged.model == 0).sum()),
        }

    known = published_rows("baan2022_other", votes)
    known = known[known["quantity"] == "classwise_ece_percent"]
    chosen = line_up(votes, systems)
    table = per_system(votes, chosen, values, known, published_percent="value")
    return agreeing(table, "classwise_ece_binned", "published_percent", scale=100)


CLASSWISE_COLUMNS = [
    Column("system", title),
    Column("probabilities of 0", "n_without_bin", 0),
    Column("all items", "classwise_ece_all", 2, percent=True),
    *paper_columns("binned items", "classwise_ece_binned", "published_percent", 2, scale=100),
]


@recorded(keys=_SYSTEM, published=("baan2022_other", SYSTEMS))
def signed_entropy_errors(votes: Votes, systems: Sequence[System]) -> pd.DataFrame:
    """H(model) − H(human) in nats, for every seed, beside the paper's Appendix B.

    That gives one value for mean and median; ``agrees`` is about the mean.
    """

    def values(judged: Judged) -> dict[str, float]:
        errors = entropy_error(judged.human, judged.model)
        return {"mean": errors.mean(), "median": float(np.median(errors))}

    known = published_rows("baan2022_other", votes)
    known = known[known["quantity"] == "signed_ent_ce"].assign(seed=np.nan)
    chosen = [one for one in line_up(votes, systems) if one.origin != "reference"]
    return agreeing(
        per_system(votes, chosen, values, known, published="value"), "mean", "published"
    )


SIGNED_COLUMNS = [
    DATASET,
    Column("system", title),
    *paper_columns("mean", "mean", "published", 3, signed=True),
    Column("median", "median", 3, signed=True),
]


@recorded(keys=_SYSTEM)
def two_targets(votes: Votes, systems: Sequence[System]) -> pd.DataFrame:
    """Compute ``ece`` (majority label) and ``ece_votes`` (vote shares) of `line_up`, in [0, 1]."""
    both = partial(measured, measures=("ece", "ece_votes"))
    return per_system(votes, line_up(votes, systems), both)


INTERVALS = ("ece", "sq_ce", "ece_votes", "sq_ce_votes", "ent_ce", "dist_ce")


@recorded(keys=("dataset", "system", "origin", "measure"))
def family_scores(
    votes: Votes, systems: Sequence[System], *, n_resamples: int, seed: int
) -> pd.DataFrame:
    """Score each family of `line_up` over its seeds, with 95% intervals where there is one.

    ``system`` is the family with temperature and number of seeds; the ends are NaN for the plug-in
    errors. As `score_over_seeds` gives them, by a bootstrap over items.
    """
    groups: dict[tuple[str, str, float], list[System]] = {}
    for one in line_up(votes, systems):
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


INTERVAL_COLUMNS = [
    DATASET,
    Column("system", "system", names=unbroken),
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


PARTS = ("reliability", "resolution", "uncertainty", "within_bins")
BRIER = (*PARTS, "brier")


@recorded(keys=_SYSTEM)
def murphy(votes: Votes, systems: Sequence[System]) -> pd.DataFrame:
    """Split the Brier score of the votes of `line_up` by Murphy (1973), in ten bins for each label.

    `PARTS` add up to ``brier``. A probability of 0 falls into the first bin.
    """

    def values(judged: Judged) -> dict[str, float]:
        model = judged.model.round(_DIGITS)
        found = murphy_decomposition(judged.human, model, replace(BINS, zero_in_bin=True))
        return {"n_items": len(model)} | {name: getattr(found, name) for name in BRIER}

    return per_system(votes, line_up(votes, systems), values)


MURPHY_COLUMNS = [
    DATASET,
    Column("system", "title"),
    Column("reliability ↓", "reliability", 3, best="lowest"),
    Column("− resolution ↑", "resolution", 3, best="highest"),
    Column("+ uncertainty", "uncertainty", 3),
    Column("+ within bins", "within_bins", 3),
    Column("= Brier score ↓", "brier", 3, best="lowest"),
]


@dataclass(frozen=True, slots=True, eq=False)
class Development:
    """A system's released predictions of development items, and their gold labels.

    Labels are in the file's own class order, as the probabilities are, which a temperature does not
    depend on; `is_outside` says which items are not among those of the votes.
    """

    probabilities: Floats
    gold: Ints
    is_outside: npt.NDArray[np.bool_]
    inputs: tuple[Input, ...] = ()

    @property
    def outside(self) -> tuple[Floats, Ints]:
        """Probabilities and gold labels of the items that are not among those of the votes."""
        return self.probabilities[self.is_outside], self.gold[self.is_outside]


Developments = Mapping[tuple[str, str], Development]


def find_outside(material: Iterable[Evidence]) -> Developments:
    """Find what the paper's models predict outside the datasets' own items, where available.

    By the names of dataset and system; empty without votes and predictions. It is read when it is
    first needed.
    """
    return _released(material, _outside_files)


def find_development(material: Iterable[Evidence]) -> Developments:
    """Find what they predict on all of the development sets, as `find_outside` does."""
    return _released(material, released_files)


def _outside_files(dataset: Dataset, family: str, seed: int | None) -> list[Path]:
    """Return the released predictions of a system that reach past the dataset's own items."""
    for known in dataset.systems:
        if known.family == family and known.outside:
            return available([known.outside.format(seed=seed)])
    return []


def _released(
    material: Iterable[Evidence], files_of: Callable[[Dataset, str, int | None], list[Path]]
) -> Developments:
    several = [one for one in material if one.given_votes and one.given_systems]

    def load() -> dict[tuple[str, str], Development]:
        return {
            (votes.dataset.name, one.name): read_development(files, votes)
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


def read_development(paths: Sequence[Path], votes: Votes) -> Development:
    """Read released predictions, some of them on items that are *not* among those of the votes.

    Each line has ``uid``, ``true`` (the gold label) and ``probs``.
    """
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
    is_outside = np.array([uid not in inside for uid in rows])
    if not is_outside.any():
        raise ChaosError(f"Every item of these is in {votes.dataset.title}.", where=paths[0])
    probabilities = np.array([values for values, _ in rows.values()], dtype=np.float64)
    return Development(
        probabilities / probabilities.sum(axis=1, keepdims=True),
        np.array([label for _, label in rows.values()], dtype=np.int64),
        is_outside,
        tuple(inputs),
    )


@recorded(keys=("dataset", "system", "items", "temperature"))
def ece_by_temperature(
    votes: Votes, systems: Sequence[System], *, development: Developments
) -> pd.DataFrame:
    """Compute the ECE of the paper's models at temperatures from 0.5 to 4, on different ``items``.

    ``votes``, those of the dataset, against the majority of the votes; where such predictions were
    released, ``outside``, the rest of the development set, and ``development``, all of it, against
    the gold label.
    """
    rows = []
    for system in in_paper(systems):
        judged = system.aligned_to(votes)
        sets = {"votes": (judged.model, judged.first_majority)}
        if one := development.get((votes.dataset.name, system.name)):
            sets |= {"outside": one.outside, "development": (one.probabilities, one.gold)}
        for items, (m, gold) in sets.items():
            for t in TENTHS.tolist():
                ece = expected_calibration_error(temper(m, t).round(_DIGITS), gold, BINS)
                keys = system.keys | {"temperature": t, "items": items}
                rows.append(keys | {"n_items": len(gold), "ece": ece})
    columns = [*oracle(votes).keys, "items", "n_items", "ece"]
    return pd.DataFrame(rows, columns=columns).astype({"seed": "Int64"})


@recorded(keys=("dataset", "system", "choice"))
def temperature_choices(
    votes: Votes, systems: Sequence[System], *, outside: Developments, n_folds: int, seed: int
) -> pd.DataFrame:
    """Fit a temperature to each system in each way, and score it there.

    The choices are ``none``, ``fixed``, ``oracle_nll``, ``oracle_ece``, ``cross_fitted`` and, where
    predictions outside the dataset were released, ``outside``. ``n_fitted`` are the items it was
    fitted on, for cross-fitting the fewest of any fold; the temperature is a mean over items, with
    its ends over folds. The seed deals the folds, the same for all systems.
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
            judged = scaled.aligned_to(votes, in_sample=choice.startswith("oracle"))
            rows.append(row | measured(judged, BY_TEMPERATURE))
    return pd.DataFrame(rows).astype({"seed": "Int64"})


def _to_fit(votes: Votes, systems: Sequence[System]) -> list[System]:
    chosen = line_up(votes, systems)
    return [one for one in chosen if one.temperature == 1 and one.origin != "reference"]


def fits(
    votes: Votes, system: System, n_folds: int, seed: int, outside: Development | None = None
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
        probabilities, labels = outside.outside
        found.append(("outside", len(labels), fit_temperature(probabilities, labels)))
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
    """Score each system at temperatures from 0.5 to 4, and add those of `temperature_choices`.

    They are evenly spread on a logarithmic scale; ``choice`` is empty for them.
    """
    if n_temperatures < 1:
        raise ChaosError("There is no temperature to compute measures at.", found=n_temperatures)
    grid = np.geomspace(0.5, 4, n_temperatures).tolist()
    several = [one.at_temperature(t) for one in _to_fit(votes, systems) for t in grid]
    curves = per_system(votes, several, partial(measured, measures=BY_TEMPERATURE))
    chosen = choices[choices["choice"] != "none"]
    keys = [*systems[0].keys, "choice"]
    table = pd.concat([curves.assign(choice=""), chosen], ignore_index=True)
    return table[[*keys, *BY_TEMPERATURE]].melt(keys, var_name="measure", value_name="value")
