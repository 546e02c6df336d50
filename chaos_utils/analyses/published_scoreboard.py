"""Published results in the columns of the scoreboard: exactly, by bounds, or not at all.

A row of the table ``leaderboard`` has the mean that a source prints, under the source's convention.
It is never taken for more than it says: where only bounds follow, bounds are shown, and where its
own columns contradict it, it is not shown at all.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd

from chaos_utils.analyses.baan import digits_of
from chaos_utils.datasets.catalogue import book_datasets, get_dataset, short_of
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.splits import folds_of, item_groups
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics import bounds, divergence, scores
from chaos_utils.metrics.agreement import is_tied
from chaos_utils.metrics.bounds import GREATEST_DISTANCE, LOG_2, Bounds
from chaos_utils.metrics.measures import NIE_FLOOR
from chaos_utils.plots.systems import SYSTEM_NAMES, language_model_name
from chaos_utils.recorded import cached_analysis, derived_table
from chaos_utils.report.columns import MISSING, Column, Row, number
from chaos_utils.report.manifests import WebLink
from chaos_utils.scoring.recalibration import recalibrated, too_few_to_recalibrate
from chaos_utils.scoring.scores import score
from chaos_utils.scoring.system import System, votes_of
from chaos_utils.scoring.systems import baselines, oracle
from chaos_utils.scoring.temperature_scaling import cross_fit_temperatures, temper

FILE = "leaderboard"
HOWS = EXACT, BOUNDS, NOT_COMPARED = "exact", "bounds", "cannot be compared"
GRADES = ("recomputed", "read", "secondary")  # from released predictions, in the source, elsewhere
AS_IT_IS, ONE_TEMPERATURE, RECALIBRATED = "as it is", "one temperature", "recalibrated"
_GUESSES = ("uniform guess", "base rate", "mean vote given the old label")
_BASELINES = (*_GUESSES, "class prior", "old label", "original votes")
_HIGH_FLOOR = 1e-3  # shows what another floor changes
_FIXED_TEMPERATURE = 2.0  # of Baan et al. (2022)
_ROUNDING = 1e-9
_SYSTEM = ["dataset", "items", "paper", "model", "method"]  # one system on one set of items
_ABOUT = ["year", "n_items", "is_whole", "source", "link"]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a published number is: a quantity of `metrics.bounds`, times `scale`.

    `column` is the measure on the scoreboard that it says something of, `floor` that of a KL, and
    `by_ties` whether an accuracy breaks ties otherwise than the scoreboard does.
    """

    quantity: str
    column: str
    scale: float = 1.0
    floor: float = NIE_FLOOR
    by_ties: bool = False


_DISTANCE = Reading("distance", "jsd")
_IN_BITS = Reading("divergence", "jsd", bounds.in_nats(1.0, kind="divergence", unit="bits"))
_VARIATION = Reading("variation", "dist_ce")
_CROSS_ENTROPY = Reading("cross_entropy", "kl")
_ACCURACY = Reading("accuracy", "new_accuracy")
# By measure and convention; every other pair cannot be compared.
READINGS: Mapping[tuple[str, str], Reading] = {
    ("jsd", "JS distance (root), natural log"): _DISTANCE,
    ("jsd", "JS distance, natural log (code)"): _DISTANCE,
    ("jsd", "JS divergence, base 2"): _IN_BITS,
    ("jsd", "JS divergence, nats"): Reading("divergence", "jsd"),
    ("kl", "KL(human||model), nats, model floor 1e-15"): Reading("kl", "kl"),
    ("kl", "KL(human||model), nats, clip 1e-10 (code)"): Reading("kl", "kl", floor=1e-10),
    ("dist_ce", "TVD"): _VARIATION,
    ("tvd", "total variation"): _VARIATION,
    ("nll", "cross-entropy to vote shares, nats"): _CROSS_ENTROPY,
    ("cross-entropy", "to vote shares, nats (as given)"): _CROSS_ENTROPY,
    ("new_accuracy", "predicted label = majority of 100"): _ACCURACY,
    ("new_accuracy", "majority of 100"): _ACCURACY,
    ("new_accuracy", "majority of 100 (as given)"): _ACCURACY,
    ("accuracy", "majority of 100, argsort last tie"): replace(_ACCURACY, by_ties=True),
}
_CALIBRATION = "a calibration error, which says nothing of the distance to the votes"
_PANEL = "says how alike judges are, not how near to people"
_OWN_GOLD = "judged by a label of the authors’ choice, not by the votes"
_CORRELATION = "a correlation over items, from which no distance follows"
REASONS: Mapping[str, str] = {
    "old_accuracy": "judged by the old label, not by the votes",
    "accuracy": _OWN_GOLD,
    "accuracy (percent)": "which label counts as right is not said",
    "cohen_kappa_vs_gold": _OWN_GOLD,
    "alt_test_winrate": "a variant of a test that needs single people’s labels",
    "nll": "the logarithm, or the target, is not said",
    "brier": "one name for three scales, and which one is not said",
    "ece": _CALIBRATION,
    "ECE-true (percent)": _CALIBRATION,
    "delta ECE hard - easy": _CALIBRATION,
    "ent_ce": "a difference of entropies, from which no distance follows",
    "rank_cs": "the share of items whose labels are ranked alike",
    "entropy correlation": _CORRELATION,
    "distance correlation": _CORRELATION,
    "mean pairwise error correlation": _PANEL,
    "effective judges": _PANEL,
    "n_eff": _PANEL,
    "PR": _PANEL,
    "nu_H": _PANEL,
    "nu_MSE": _PANEL,
    "J": "how often two people disagree, whatever the judges",
    "E": "a squared distance of judges whose labels are known, which the scoreboard has itself",
    "reduction of JSD (percent, at most)": "a change, without the value that it starts from",
}
_CONTRADICTED = "contradicts its range, or what else is printed of the system"
_UNKNOWN_CONVENTION = "a convention that the book does not know"
_UNKNOWN_ITEMS = "needs the votes’ entropy, and its items are not known"
_GREATEST = {
    "distance": GREATEST_DISTANCE, "divergence": LOG_2, "variation": 1.0, "accuracy": 1.0,
}  # fmt: skip
# What a mean bounds: known, wanted, as it is written.
PAIRS = {
    ("distance", "divergence"): "a² ≤ D ≤ a √ln 2",
    ("divergence", "distance"): "D / √ln 2 ≤ a ≤ √D",
    ("variation", "divergence"): "g(V) ≤ D ≤ V ln 2",
    ("divergence", "variation"): "D / ln 2 ≤ V ≤ g⁻¹(D)",
    ("variation", "distance"): "√g(V) ≤ a ≤ √(V ln 2)",
    ("distance", "variation"): "a² / ln 2 ≤ V ≤ g⁻¹(a²)",
    ("kl", "distance"): "0 ≤ a ≤ √f(KL)",
    ("kl", "divergence"): "0 ≤ D ≤ f(KL)",
}
_FURTHER_PAIRS = {
    ("variation", "squared_distance"): "(1/⌊k/2⌋ + 1/⌈k/2⌉) V² ≤ d² ≤ 2 V, k labels",
    ("kl", "kl_high_floor"): "KL′ ≤ KL + ln(1 + 0.001 (k − 1)), k labels",
    ("accuracy", "distance"): "right labels nearest or farthest, item by item",
    ("accuracy", "agreement"): "wrong labels where they lose least or most",
}


def _bounds_by(known: str, wanted: str, value: float) -> Bounds:
    result: Bounds = getattr(bounds, f"{wanted}_from_{known}")(value)
    return result


# What the items and the computed systems are


@cached_analysis(keys=("dataset",))
def item_sets(all_votes: Sequence[Votes]) -> pd.DataFrame:
    """Say what conversions need of `all_votes` of a dataset, or of a pool of datasets.

    ``n_items``, their ``mean_entropy`` in nats, and the share of them that is ``tied`` for the
    majority.
    """
    shares = np.concatenate([votes.shares for votes in all_votes])
    entropies = divergence.entropy(shares, unit="nats")
    tied = np.concatenate([is_tied(votes.counts) for votes in all_votes])
    return pd.DataFrame(
        {"n_items": [len(shares)], "mean_entropy": [entropies.mean()], "tied": [tied.mean()]}
    )


@cached_analysis(keys=("dataset", "accuracy"), published=(FILE,))
def allowed_by_accuracy(all_votes: Sequence[Votes]) -> pd.DataFrame:
    """Bound the mean distance of a system by each accuracy that is printed of all these items.

    These are the items of `all_votes`, of a dataset or a pool of them. ``low`` and ``high`` are
    those of `distance_from_accuracy`.
    """
    name = "+".join(votes.dataset.name for votes in all_votes)
    shares = np.concatenate([votes.shares for votes in all_votes])
    majority = np.concatenate([votes.majority for votes in all_votes])
    rows = read_published(FILE)
    is_of_them = (rows["dataset"] == name) & (rows["items"] == str(len(shares)))
    printed = sorted(set(rows.loc[is_of_them & (rows["measure"] == "new_accuracy"), "value"]))
    found = [bounds.distance_from_accuracy(shares, majority, accuracy) for accuracy in printed]
    low, high = np.array(found).reshape(-1, 2).T
    return pd.DataFrame({"accuracy": printed, "low": low, "high": high})


@cached_analysis(keys=("dataset", "system", "prediction"))
def means_of_systems(votes: Votes, systems: Sequence[System]) -> pd.DataFrame:
    """Return every mean that bounds speak of, for `systems` and baselines, on their ``n_items``.

    They are judged by `votes`. ``prediction`` says whether they are taken as they are, at one
    temperature, or recalibrated; both are fitted on the votes on other texts. Columns are the
    quantities of `metrics.bounds`, in nats, ``kl`` with a floor of 1e-15 and ``kl_high_floor`` of
    0.001, ``agreement`` (how often a person gives the system's label), and what ``accuracy``
    allows: ``agreement_low``, ``agreement_high``, ``distance_low``, ``distance_high``.
    """
    folds = folds_of(item_groups([votes])[0])
    rows = []
    for system in [*_eligible(votes, systems), *baselines(votes)]:
        batch, items = system.aligned_to(votes), system.rows_in(votes)
        for prediction, model in _predictions(system, batch.human, batch.model, folds[items]):
            rows.append(
                {"system": system.name, "prediction": prediction, "n_items": len(items)}
                | _means(batch.human, model, batch.majority)
            )
    return pd.DataFrame(rows)


def _eligible(votes: Votes, systems: Sequence[System]) -> list[System]:
    """Return the systems that have not seen these votes."""
    return [s for s in systems if s.out_of_fold or votes_of(votes.dataset) not in s.trained_on]


def _predictions(
    system: System, human: divergence.Floats, model: divergence.Floats, folds: np.ndarray
) -> Iterator[tuple[str, divergence.Floats]]:
    yield AS_IT_IS, model
    if system.origin == "baseline" or (folds == folds[0]).all():
        return
    if not system.one_label:
        yield ONE_TEMPERATURE, temper(model, cross_fit_temperatures(model, human, folds))
    if not too_few_to_recalibrate(*model.shape):
        yield RECALIBRATED, recalibrated(model, human, folds, system.n_answers)


def _means(
    human: divergence.Floats, model: divergence.Floats, majority: np.ndarray
) -> dict[str, float]:
    label = model.argmax(axis=1)
    accuracy = float((label == majority).mean())
    found = {
        "distance": divergence.jensen_shannon_distance(human, model, unit="nats"),
        "divergence": divergence.jensen_shannon_divergence(human, model, unit="nats"),
        "variation": divergence.total_variation(human, model),
        "squared_distance": ((human - model) ** 2).sum(axis=1),
        "kl": divergence.kl_divergence(human, model, unit="nats", floor=NIE_FLOOR),
        "kl_high_floor": divergence.kl_divergence(human, model, unit="nats", floor=_HIGH_FLOOR),
        "agreement": human[np.arange(len(human)), label],
    }
    row = {name: float(values.mean()) for name, values in found.items()} | {"accuracy": accuracy}
    for wanted in ("agreement", "distance"):
        function = getattr(bounds, f"{wanted}_from_accuracy")
        row[f"{wanted}_low"], row[f"{wanted}_high"] = function(human, majority, accuracy)
    return row | {"n_classes": human.shape[1]}


@derived_table(keys=("dataset", "known", "wanted"))
def tightness(means: pd.DataFrame) -> pd.DataFrame:
    """Say how tight each bound is on the `means` of `means_of_systems`, and whether it holds.

    ``n_within`` of the ``n_predictions`` lie within it; ``value``, ``low`` and ``high`` are medians
    over systems and baselines as they are.
    """
    rows = []
    for dataset, group in means.groupby("dataset", sort=False):
        for (known, wanted), formula in (PAIRS | _FURTHER_PAIRS).items():
            low, high = np.array([_bounds_of(row, known, wanted) for row in _records(group)]).T
            value = group[wanted].to_numpy()
            is_plain = (group["prediction"] == AS_IT_IS).to_numpy()
            medians = {
                name: np.median(ends[is_plain])
                for name, ends in (("value", value), ("low", low), ("high", high))
            }
            within = (low - _ROUNDING <= value) & (value <= high + _ROUNDING)
            rows.append({
                "dataset": dataset, "known": known, "wanted": wanted, "formula": formula,
                "n_predictions": len(group), "n_within": int(within.sum()), **medians,
            })  # fmt: skip
    return pd.DataFrame(rows)


def _bounds_of(row: Row, known: str, wanted: str) -> Bounds:
    """Return the bounds of one mean of a system by another."""
    if known == "accuracy":
        return row[f"{wanted}_low"], row[f"{wanted}_high"]
    if wanted == "squared_distance":
        return bounds.squared_distance_from_variation(row[known], row["n_classes"])
    if wanted == "kl_high_floor":
        k = row["n_classes"]
        return bounds.kl_at_floor(row[known], floor=NIE_FLOOR, wanted=_HIGH_FLOOR, n_classes=k)
    return _bounds_by(known, wanted, row[known])


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return table.to_dict("records")


# What was published


@derived_table(keys=("row",), published=(FILE,))
def published_rows(
    sets: pd.DataFrame, allowed: pd.DataFrame, *, same_votes: bool = True
) -> pd.DataFrame:
    """Return every published result with what it says of a column of the scoreboard.

    One row for each row of the file, by its number ``row``; none unless the votes are the book's
    (`same_votes`). ``how`` is ``exact``, ``bounds`` or ``cannot be compared``, with a ``reason``;
    ``column`` is the measure, ``low`` and ``high`` its value or bounds. ``fault`` says what else
    the row, or another of the same system and items, says that it cannot be; such a row is not
    compared.

    Parameters
    ----------
    sets, allowed : DataFrame
        From `item_sets` and `allowed_by_accuracy`.
    same_votes : bool
    """
    rows = read_rows() if same_votes else read_rows().iloc[:0]
    return converted(rows, sets, allowed)


def read_rows() -> pd.DataFrame:
    """Return the file's rows, each with its number in the file (the first below the head is 2)."""
    rows = read_published(FILE)
    texts = ["system", "items", "link"]
    rows = rows.astype(dict.fromkeys(texts, "object")).fillna(dict.fromkeys(texts, ""))
    rows = rows.rename(columns={"value": "published"})
    rows.insert(0, "row", np.arange(len(rows)) + 2)
    return rows


def converted(rows: pd.DataFrame, sets: pd.DataFrame, allowed: pd.DataFrame) -> pd.DataFrame:
    """Return `published_rows` of `rows` such as those of `read_rows`, by `sets` and `allowed`."""
    sets_by_name = {row["dataset"]: row for row in _records(sets)}
    groups = rows.groupby(["paper", "dataset", "measure"], sort=False)["published"]
    digits = groups.transform(lambda values: max(map(digits_of, values))).astype(int)
    n_items = rows["items"].str.extract(r"(\d+)", expand=False).astype("Int64")
    rows = rows.assign(digits=digits, n_items=n_items)
    rows["is_whole"] = [_is_whole(row, sets_by_name.get(row["dataset"])) for row in _records(rows)]
    faults = _faults(_records(rows), sets_by_name, allowed)
    rows["fault"] = [faults.get(row, "") for row in rows["row"]]
    read = [_read(row, sets_by_name.get(row["dataset"])) for row in _records(rows)]
    columns = ["column", "how", "low", "high", "reason"]
    rows[columns] = pd.DataFrame(read, columns=columns, index=rows.index)
    return rows


def _reading(row: Row) -> Reading | None:
    return READINGS.get((row["measure"], row["convention"]))


def _is_whole(row: Row, item_set: Row | None) -> bool:
    """Return whether a row's items are all items of its dataset, or pool."""
    return item_set is not None and row["items"] == str(item_set["n_items"])


def _read(row: Row, item_set: Row | None) -> tuple[str, str, float, float, str]:
    """Return column, how, low, high and reason of a row."""
    reading, nan = _reading(row), float("nan")
    if reading is None or row["fault"]:
        reason = _CONTRADICTED if row["fault"] else REASONS.get(row["measure"], _UNKNOWN_CONVENTION)
        return "", NOT_COMPARED, nan, nan, reason
    value = row["published"] * reading.scale
    low = high = value
    if reading.quantity == "divergence":
        low, high = bounds.distance_from_divergence(value)
    elif reading.floor != NIE_FLOOR:
        k = get_dataset(row["dataset"].partition("+")[0]).n_classes
        low, high = bounds.kl_at_floor(value, floor=reading.floor, wanted=NIE_FLOOR, n_classes=k)
    elif reading.quantity == "cross_entropy" or reading.by_ties:
        if item_set is None or not _is_whole(row, item_set):
            return reading.column, NOT_COMPARED, nan, nan, _UNKNOWN_ITEMS
        if reading.by_ties:  # labels that tie are rare: only tied votes are counted
            low, high = max(value - item_set["tied"], 0.0), min(value + item_set["tied"], 1.0)
        else:
            kl = bounds.kl_from_cross_entropy(value, item_set["mean_entropy"])
            low = high = max(kl, 0.0)  # below 0 by rounding alone
    how = EXACT if low == high else BOUNDS
    return reading.column, how, low, high, ""


# Whether it can be true


def _faults(rows: Sequence[Row], sets: Mapping[str, Row], allowed: pd.DataFrame) -> dict[int, str]:
    """Return what is wrong with rows, by their numbers."""
    faults: dict[int, str] = {}
    systems: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        if outside := _outside(row, sets.get(row["dataset"])):
            faults[row["row"]] = outside
        else:
            systems.setdefault(tuple(row[name] for name in _SYSTEM), []).append(row)
    for system in systems.values():
        for row, other in permutations(system, 2):
            contradiction = _contradiction(row, other) or _beyond_accuracy(
                row, other, sets.get(row["dataset"]), allowed
            )
            if contradiction:  # either may be the wrong one
                faults.setdefault(row["row"], f"{contradiction} (row {other['row']})")
                faults.setdefault(other["row"], f"row {row['row']}: {contradiction}")
    return faults


def _outside(row: Row, item_set: Row | None) -> str:
    """Say that a value is outside what its convention allows on any items, or on these."""
    reading = _reading(row)
    if reading is None:
        return ""
    greatest = _GREATEST.get(reading.quantity, np.inf) / reading.scale
    if not 0 <= row["published"] <= greatest + _half_unit(row):
        return f"outside [0, {greatest:.4g}], the range of its convention"
    if reading.quantity == "cross_entropy" and item_set is not None and _is_whole(row, item_set):
        entropy = item_set["mean_entropy"]
        if row["published"] + _half_unit(row) < entropy:
            return f"below {entropy:.4g}, the entropy of the votes"
    return ""


def _half_unit(row: Row) -> float:
    """Return half a unit of the last digit that a paper prints of a measure."""
    return float(0.5 * 10.0 ** -row["digits"])


def _ends(row: Row, reading: Reading) -> Bounds:
    """Return the values, in nats, that round to what is printed."""
    greatest, half = _GREATEST.get(reading.quantity, np.inf), _half_unit(row)
    ends = [(row["published"] + sign * half) * reading.scale for sign in (-1, 1)]
    return max(ends[0], 0.0), min(ends[1], greatest)


def _contradiction(row: Row, other: Row) -> str:
    """Say what is wrong with a row by another of the same system and items; empty if nothing."""
    mine, theirs = _reading(row), _reading(other)
    if (row["measure"], row["convention"]) == (other["measure"], other["convention"]):
        differ = abs(row["published"] - other["published"]) > _half_unit(row)
        return f"{row['published']:g} and {other['published']:g} of one system and items" * differ
    if mine is None or theirs is None or (theirs.quantity, mine.quantity) not in PAIRS:
        return ""
    least, greatest = _ends(row, mine)
    ends = [_bounds_by(theirs.quantity, mine.quantity, end) for end in _ends(other, theirs)]
    low, high = ends[0][0], ends[1][1]
    if least <= high + _ROUNDING and greatest >= low - _ROUNDING:
        return ""
    scaled = f"{low / mine.scale:.4g} to {high / mine.scale:.4g}"
    return f"{row['published']:g} where {other['measure']} {other['published']:g} allows {scaled}"


def _beyond_accuracy(row: Row, other: Row, item_set: Row | None, allowed: pd.DataFrame) -> str:
    """Say that a distance is more, or less, than the system's accuracy on all items allows."""
    reading = _reading(row)
    if reading is None or reading.column != "jsd" or not _is_whole(row, item_set):
        return ""
    if _reading(other) != _ACCURACY:
        return ""
    low, high = _ends(row, reading)
    if reading.quantity == "divergence":
        low, high = (bounds.distance_from_divergence(end)[k] for k, end in enumerate((low, high)))
    is_of_it = (allowed["dataset"] == row["dataset"]) & (allowed["accuracy"] == other["published"])
    for limits in _records(allowed[is_of_it]):
        # An accuracy is rounded, too; its bounds move by less than it does.
        if low > limits["high"] + _half_unit(other) or high < limits["low"] - _half_unit(other):
            ends = f"{limits['low']:.4g} to {limits['high']:.4g}"
            return f"{row['published']:g} where accuracy {other['published']:g} allows {ends}"
    return ""


# What is shown


@derived_table(keys=tuple(_SYSTEM))
def published_systems(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each system on one set of items, from the `rows` of `published_rows`.

    Systems that are computed here stand on the scoreboard itself, and are left out, and so are
    those of which no distance is known. ``jsd_low`` and ``jsd_high`` bound the distance in nats,
    and so do those of ``dist_ce``, ``kl`` and ``new_accuracy``; NaN where nothing is known.
    ``grade`` is the worst of its numbers. Sets of items stand together, all items of a dataset
    first; within a set, systems are sorted by the farthest that they can be.
    """
    columns = list(dict.fromkeys(reading.column for reading in READINGS.values()))
    ends = [f"{column}_{end}" for column in columns for end in ("low", "high")]
    compared = rows[(rows["how"] != NOT_COMPARED) & (rows["system"] == "")]
    systems = []
    for key, group in compared.groupby(_SYSTEM, sort=False):
        first = group.iloc[0]
        system = dict(zip(_SYSTEM, key, strict=True)) | dict.fromkeys(ends, np.nan)
        for row in _records(group):
            for end, narrower in (("low", np.fmax), ("high", np.fmin)):
                name = f"{row['column']}_{end}"
                system[name] = narrower(system[name], row[end])
        if set(group["column"]) == {"new_accuracy"}:
            continue
        grade = max(group["grade"], key=GRADES.index)
        about = {name: first[name] for name in _ABOUT}
        systems.append(system | about | {"grade": grade})
    table = pd.DataFrame(systems, columns=[*_SYSTEM, *_ABOUT, *ends, "grade"])
    table = table.astype({"n_items": "Int64", "is_whole": bool} | dict.fromkeys(ends, float))
    places = {dataset.name: place for place, dataset in enumerate(book_datasets())}
    table["place"] = table["dataset"].map(lambda name: places.get(name, len(places)))  # pools last
    by = ["is_whole", "place", "n_items", "items", "jsd_high"]
    table = table.sort_values(by, ascending=[False, True, False, True, True], kind="stable")
    table = table.drop(columns="place")
    table.insert(0, "item_set", [_item_set(row) for row in _records(table)])
    return table.reset_index(drop=True)


def _item_set(row: Row) -> str:
    """Name a set of items: all of a dataset, a number of them, or a part as its source names it."""
    items = str(row["items"])
    counted = f"{int(items):,} items" if items.isdigit() else items
    return f"{short_of(row['dataset'])}, {'all ' * row['is_whole']}{counted}"


@derived_table(keys=("system", "prediction"))
def in_bits(means: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Set systems on all items of a pool of datasets beside the results published on them.

    Of the `means` of `means_of_systems`, those on all items are pooled exactly.
    ``divergence_bits`` is the mean divergence in bits, exact for all; ``distance`` the mean
    distance in nats, which ends in ``_low`` and ``_high`` where only bounds are known. The nearest
    first. ``is_published`` marks those among the `rows` of `published_rows`. ``ratio`` is the
    divergence over the least that was published, and ``apparent_ratio`` the distance over it, as if
    both were one unit.
    """
    published = rows[rows["is_whole"] & rows["dataset"].str.contains("+", regex=False)]
    published = published[[_is_divergence(row) for row in _records(published)]]
    if published.empty or means.empty:
        return pd.DataFrame(columns=["system", "prediction"])
    pool, n_items = published["dataset"].iloc[0], int(published["n_items"].iloc[0])
    parts = means[means["dataset"].isin(pool.split("+"))]
    table = []
    for (system, prediction), group in parts.groupby(["system", "prediction"], sort=False):
        if group["n_items"].sum() == n_items:
            distance, nats = (
                bounds.pooled_mean(group[name], group["n_items"])
                for name in ("distance", "divergence")
            )
            table.append((system, prediction, nats / LOG_2, distance, distance, False))
    for row in _records(published):
        bits = row["published"] * READINGS[row["measure"], row["convention"]].scale / LOG_2
        table.append((row["model"], row["method"], bits, row["low"], row["high"], True))
    columns = ["system", "prediction", "divergence_bits", "distance_low", "distance_high"]
    found = pd.DataFrame(table, columns=[*columns, "is_published"])
    least = found.loc[found["is_published"], "divergence_bits"].min()
    found["ratio"] = found["divergence_bits"] / least
    found["apparent_ratio"] = found["distance_high"].mask(found["is_published"]) / least
    found.insert(0, "dataset", pool)
    found.insert(1, "n_items", n_items)
    return found.sort_values("divergence_bits", kind="stable").reset_index(drop=True)


def _is_divergence(row: Row) -> bool:
    reading = _reading(row)
    return reading is not None and reading.quantity == "divergence" and row["how"] != NOT_COMPARED


def chosen_in_bits(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the `table` of `in_bits` that are shown.

    They are those that were published, guesses by votes, and every prediction of each system that
    is the nearest of all taken as they are, at one temperature or recalibrated.
    """
    if table.empty:
        return table
    is_model = ~table["is_published"] & ~table["system"].isin(_BASELINES)
    nearest = set(table[is_model].drop_duplicates("prediction")["system"])
    return table[table["is_published"] | table["system"].isin(nearest | set(_GUESSES))]


@derived_table(keys=("how", "measure", "reason"))
def uses(rows: pd.DataFrame) -> pd.DataFrame:
    """Count the `rows` of `published_rows` by ``how`` they compare, measure and reason.

    ``numbers`` counts rows, ``sources`` the papers and repositories that print them, ``faults``
    what contradicts itself. ``recomputed``, ``read`` and ``secondary`` count the rows of a grade.
    """
    groups = rows.groupby(["how", "measure", "reason"], sort=False)
    counts = groups.agg(
        numbers=("row", "size"),
        sources=("paper", "nunique"),
        faults=("fault", lambda faults: int((faults != "").sum())),
        **{
            grade: ("grade", lambda grades, grade=grade: int((grades == grade).sum()))
            for grade in GRADES
        },
    ).reset_index()
    order = counts["how"].map({how: place for place, how in enumerate(HOWS)})
    counts = counts.assign(order=order).sort_values(
        ["order", "numbers", "measure"], ascending=[True, False, True], ignore_index=True
    )
    return counts.drop(columns="order")


# Beside what is computed here


@cached_analysis(keys=("dataset", "system", "measure"))
def comparable_scores(votes: Votes, systems: Sequence[System]) -> pd.DataFrame:
    """Score `systems` against `votes` by every measure that papers print of them, as papers do.

    Systems of Baan et al. (2022) are there at their temperature too, with the oracle and the
    baselines. ``accuracy_last`` breaks ties, of labels and votes, by the last label.
    """
    names = ["jsd", "kl", "dist_ce", "new_accuracy", "ece", "rank_cs", "ent_ce"]
    names += ["old_accuracy"] if votes.has_old_labels else []
    scaled = [
        system.at_temperature(_FIXED_TEMPERATURE, f"{system.name}, T = {_FIXED_TEMPERATURE:g}")
        for system in systems
        if system.paper == "baan2022"
    ]
    chosen = [*_eligible(votes, systems), *scaled, oracle(votes), *baselines(votes)]
    table = score(votes, chosen, measures=names)[["system", "measure", "n_items", "value"]]
    last = []
    for system in chosen:
        batch = system.aligned_to(votes)
        labels = [scores.top_label(part, ties="last") for part in (batch.model, batch.human)]
        last.append((system.name, "accuracy_last", len(labels[0]), np.mean(labels[0] == labels[1])))
    return pd.concat([table, pd.DataFrame(last, columns=table.columns)], ignore_index=True)


@derived_table(keys=("row",))
def beside_computed(rows: pd.DataFrame, computed: pd.DataFrame) -> pd.DataFrame:
    """Set `rows` of `published_rows` beside ours, `computed` by `comparable_scores`.

    ``value`` is ours, ``difference`` ours minus theirs, and ``agrees`` says whether both are the
    same to the digits printed. Numbers of measures that we do not compute are left out.
    """
    names = rows["measure"].mask(
        (rows["measure"] == "accuracy") & (rows["system"] != ""), "accuracy_last"
    )
    table = rows.assign(computed=names)[rows["system"] != ""]
    ours = computed.rename(columns={"measure": "computed"}).drop(columns="n_items")
    table = table.merge(ours, on=["dataset", "system", "computed"])
    difference = table["value"] - table["published"]
    agrees = difference.abs() <= 0.5 * 10.0 ** -table["digits"] + _ROUNDING
    columns = ["row", "dataset", "paper", "model", "system", "measure", "published", "value"]
    return table[columns].assign(difference=difference, agrees=agrees)


@derived_table(keys=("paper",))
def count_agreeing(beside: pd.DataFrame) -> pd.DataFrame:
    """Count the rows of `beside`, from `beside_computed`, for each paper; ``agree`` those alike."""
    groups = beside.groupby("paper", sort=False)
    return groups.agg(numbers=("row", "size"), agree=("agrees", "sum")).reset_index()


# Columns


def _range(column: str, digits: int, scale: float = 1.0) -> Any:
    """Return a function that writes a value, or its bounds."""

    def write(row: Row) -> str:
        low, high = (scale * row[f"{column}_{end}"] for end in ("low", "high"))
        if np.isnan(low):
            return MISSING
        if low == high:
            return number(low, digits)
        # Outwards, so that they remain bounds.
        shift = 0.5 * 10.0**-digits
        ends = number(max(low - shift, 0.0), digits), number(high + shift, digits)
        return "–".join(ends) if np.isfinite(high) else f"≥ {ends[0]}"

    return write


def _source(row: Row) -> object:
    """Link a source by its first author or name, year and grade; plain where it has no address."""
    name = str(row["paper"]).partition(", ")[0].partition(" (")[0]
    text = f"{name} {row['year']}, {row['grade']}"
    return WebLink(text, row["link"]) if row["link"] else text


def _system_name(name: str) -> str:
    return SYSTEM_NAMES.get(name) or language_model_name(name)


SYSTEM_COLUMNS = [
    Column("items", "item_set"),
    Column("system", "model", names=_system_name),
    Column("how", "method"),
    Column("JSD (distance, √nats) ↓", _range("jsd", 3)),
    Column("misplaced of 100 ↓", _range("dist_ce", 1, 100)),
    Column("KL (nats) ↓", _range("kl", 3)),
    Column("accuracy, % ↑", _range("new_accuracy", 1, 100)),
    Column("source, grade", _source),
]
UNIT_COLUMNS = [
    Column("system", "system", names=_system_name),
    Column("prediction", "prediction"),
    Column("JSD (bits)", "divergence_bits", 3),
    Column("JSD (distance, √nats)", _range("distance", 3)),
]
_MEASURE_NAMES = {
    "jsd": "JSD", "kl": "KL", "tvd": "TVD", "ece": "ECE", "nll": "NLL", "brier": "Brier score",
    "dist_ce": "DistCE", "ent_ce": "EntCE", "rank_cs": "RankCS", "new_accuracy": "new accuracy",
    "old_accuracy": "old accuracy", "cohen_kappa_vs_gold": "Cohen’s κ with the gold label",
    "alt_test_winrate": "winning rate of the alt-test", "n_eff": "effective number of judges",
    "nu_H": "ν by entropy", "nu_MSE": "ν by squared error",
}  # fmt: skip
_QUANTITIES = {
    "distance": "distance a", "divergence": "divergence D", "variation": "total variation V",
    "squared_distance": "squared distance d²", "kl": "KL, floor 1e-15",
    "kl_high_floor": "KL′, floor 0.001", "accuracy": "accuracy, known items",
    "agreement": "share of people with the label",
}  # fmt: skip


def _median_bounds(row: Row) -> str:
    return f"{number(row['low'], 3)}–{number(row['high'], 3)}"


def tightness_columns(datasets: Sequence[str]) -> list[Column]:
    """Return how `tightness` is shown, with these `datasets` side by side."""
    columns = [
        Column("known mean", "known", names=_QUANTITIES),
        Column("wanted", "wanted", names=_QUANTITIES),
        Column("rule", "formula"),
    ]
    for name in datasets:
        look: dict[str, Any] = {"group": short_of(name), "at": {"dataset": name}}
        columns += [
            Column("value", "value", 3, **look),
            Column("bounds", _median_bounds, **look),
        ]
    return columns


USES_COLUMNS = [
    Column("compares", "how"),
    Column("measure", "measure", names=_MEASURE_NAMES),
    Column("why not", "reason", names={"": MISSING}),
    Column("numbers", "numbers", 0),
    Column("sources", "sources", 0),
]
BESIDE_COLUMNS = [
    Column("source", "paper"),
    Column("numbers", "numbers", 0),
    Column("agree to the printed digits", "agree", 0),
]
