"""The same predictions under every convention in use."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations, product
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.analyses.recorded import derived, recorded
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics import calibration, divergence, scores
from chaos_utils.metrics.calibration import Binning, Closed
from chaos_utils.metrics.divergence import Unit
from chaos_utils.metrics.measures import BAAN_BINS, NIE_FLOOR, SOUND_BINS, Judged
from chaos_utils.report.columns import MISSING, Column, Row
from chaos_utils.scoring.system import System
from chaos_utils.scoring.systems import oracle, uniform

UNITS: tuple[Unit, ...] = ("nats", "bits")
FLOORS = (0.0, 1e-15, 1e-12, 1e-6, 1e-3)
N_BINS = (5, 10, 15, 20)
HIGHER_IS_BETTER = ("accuracy, new majority", "RankCS")
_NO_BETTER_SIDE = "entropy of the predictions"
VARIES = {  # what differs between a quantity's conventions
    "Jensen–Shannon": "square root, unit",
    "KL": "direction, floor, unit",
    _NO_BETTER_SIDE: "unit",
    "EntCE": "unit",
    "accuracy, new majority": "ties",
    "RankCS": "ties",
    "ECE": "target, bins",
    "class-wise ECE": "target, zeros",
    "Brier score": "target, sum or mean",
}
# Shown in no table: more of the same, in the data.
_MORE_OF_THE_SAME = ("floor 1e-12", "floor 1e-06", ", 5 bins", ", 20 bins")
_NOTHING = 1e-9  # a difference, or a value, that is there by rounding alone
_INTERVALS: dict[Closed, str] = {"right": "(a, b]", "left": "[a, b)"}
_NIE, _BAAN, _OURS = "Nie et al. 2020", "Baan et al. 2022", "this book"
_TO_MODEL = "human ‖ model"
DivideBy = Literal["all", "binned"]


@dataclass(frozen=True, slots=True)
class Convention:
    """One way to compute a quantity.

    Attributes
    ----------
    quantity, name : str
        What is computed, and how.
    value : callable
        From `Judged` to the number.
    used_by : str
        A paper or a library's default that computes it so; empty where none is known to us.
    is_reference : bool
        Whether the others are compared with it: the choice of the paper that uses the
        quantity. Each quantity has exactly one.
    """

    quantity: str
    name: str
    value: Callable[[Judged], float]
    used_by: str = ""
    is_reference: bool = False


def _mean(values: npt.ArrayLike) -> float:
    return float(np.mean(np.asarray(values, dtype=np.float64)))


def _jensen_shannon(j: Judged, *, kind: str, unit: Unit) -> float:
    if kind == "distance":
        return _mean(divergence.jensen_shannon_distance(j.human, j.model, unit=unit))
    return _mean(divergence.jensen_shannon_divergence(j.human, j.model, unit=unit))


def _kl(j: Judged, *, direction: str, floor: float, unit: Unit) -> float:
    """KL in a direction; the floor raises whichever distribution comes second."""
    one, other = (j.human, j.model) if direction == _TO_MODEL else (j.model, j.human)
    return _mean(divergence.kl_divergence(one, other, unit=unit, floor=floor))


def _entropy(j: Judged, *, unit: Unit) -> float:
    return _mean(divergence.entropy(j.model, unit=unit))


def _entropy_error(j: Judged, *, unit: Unit) -> float:
    nats = _mean(np.abs(calibration.entropy_error(j.human, j.model)))
    return nats if unit == "nats" else nats / float(np.log(2))


def _stated_accuracy(j: Judged) -> float:
    return _mean(j.predicted == j.majority)


def _shared_accuracy(j: Judged) -> float:
    return _mean(scores.expected_correct(j.model, j.predicted, j.majority))


def _accuracy(j: Judged, *, label: scores.TieRule, gold: scores.TieRule) -> float:
    return _mean(scores.top_label(j.model, ties=label) == scores.top_label(j.human, ties=gold))


def _target(j: Judged, target: str) -> npt.ArrayLike:
    return j.first_majority if target == "majority" else j.human


def _ece(j: Judged, *, target: str, binning: Binning) -> float:
    return calibration.expected_calibration_error(j.model, _target(j, target), binning)


def _equal_mass(j: Judged, *, target: str, n_bins: int) -> float:
    n = min(n_bins, len(j.model))
    return calibration.adaptive_calibration_error(j.model, _target(j, target), n)


def _classwise(j: Judged, *, target: str, binning: Binning, divide_by: DivideBy) -> float:
    return calibration.classwise_calibration_error(
        j.model, _target(j, target), binning, divide_by=divide_by
    )


def _rank_cs(j: Judged, *, ties: Literal["index", "aware"]) -> float:
    return _mean(calibration.same_ranking(j.human, j.model, ties=ties))


def _expected_rank_cs(j: Judged) -> float:
    return _mean(calibration.expected_same_ranking(j.human, j.model))


def _brier(j: Judged, *, target: str, divide_by: float) -> float:
    labels = np.eye(j.model.shape[1])
    wanted = j.human if target == "single votes" else labels[j.first_majority]
    return _mean(scores.brier_of_votes(wanted, j.model)) / divide_by


def _brier_averaged(j: Judged) -> float:
    return _brier(j, target="single votes", divide_by=j.model.shape[1])


def _squared_distance(j: Judged) -> float:
    return _mean(((j.model - j.human) ** 2).sum(axis=1))


def _of_distributions() -> Iterator[Convention]:
    name = "Jensen–Shannon"
    used_by = {
        ("distance", "nats"): f"{_NIE}; default of scipy’s jensenshannon",
        ("divergence", "bits"): "Lin 1991",
    }
    for kind, unit in product(("distance", "divergence"), UNITS):
        value = partial(_jensen_shannon, kind=kind, unit=unit)
        by = used_by.get((kind, unit), "")
        yield Convention(name, f"{kind}, {unit}", value, by, by.startswith(_NIE))

    by_kl = {
        (_TO_MODEL, NIE_FLOOR, "nats"): _NIE,
        (_TO_MODEL, 0.0, "nats"): "scipy’s entropy(h, m); torch’s kl_div(log m, h)",
    }
    for direction, floor, unit in product((_TO_MODEL, "model ‖ human"), FLOORS, UNITS):
        value = partial(_kl, direction=direction, floor=floor, unit=unit)
        by = by_kl.get((direction, floor, unit), "")
        yield Convention("KL", f"{direction}, floor {floor:g}, {unit}", value, by, by == _NIE)

    name = _NO_BETTER_SIDE
    yield Convention(
        name, "bits", partial(_entropy, unit="bits"), f"{_NIE}; ChaosNLI’s files", True
    )
    yield Convention(
        name, "nats", partial(_entropy, unit="nats"), "default of scipy’s entropy"
    )  # fmt: skip
    yield Convention("EntCE", "nats", partial(_entropy_error, unit="nats"), _BAAN, True)
    yield Convention("EntCE", "bits", partial(_entropy_error, unit="bits"))


def _of_labels() -> Iterator[Convention]:
    name = "accuracy, new majority"
    yield Convention(name, "label as stated, gold as stored", _stated_accuracy, _NIE, True)
    rules: tuple[scores.TieRule, ...] = ("first", "last")
    for label, gold in product(rules, repeat=2):
        by = _BAAN if label == gold == "last" else ""
        value = partial(_accuracy, label=label, gold=gold)
        yield Convention(name, f"of tied labels the {label}, of tied votes the {gold}", value, by)
    yield Convention(name, "tied labels share an item, gold as stored", _shared_accuracy, _OURS)

    yield Convention(
        "RankCS", "equal values by position", partial(_rank_cs, ties="index"), _BAAN, True
    )
    yield Convention("RankCS", "tie-aware", partial(_rank_cs, ties="aware"))
    yield Convention("RankCS", "ties at random", _expected_rank_cs, _OURS)


def _of_bins() -> Iterator[Convention]:
    used_by = {
        ("majority", 10, "right"): _BAAN,
        ("majority", 15, "right"): "Guo et al. 2017",
        ("majority", 15, "left"): "default of torchmetrics",
    }
    targets = ("majority", "vote shares")
    for target, n_bins, closed in product(targets, N_BINS, _INTERVALS):
        binning = Binning(n_bins, closed, zero_in_bin=False)
        by = used_by.get((target, n_bins, closed), "")
        value = partial(_ece, target=target, binning=binning)
        words = f"against the {target}, {n_bins} bins {_INTERVALS[closed]}"
        yield Convention("ECE", words, value, by, by == _BAAN)
    for target, n_bins in product(targets, N_BINS):
        yield Convention(
            "ECE",
            f"against the {target}, {n_bins} bins of equal mass",
            partial(_equal_mass, target=target, n_bins=n_bins),
            "Nixon et al. 2019" if target == "majority" else "",
        )

    ways: dict[str, tuple[Binning, DivideBy]] = {
        "(a, b], 0 in no bin, divided by the binned": (BAAN_BINS, "binned"),
        "(a, b], 0 in no bin, divided by all": (BAAN_BINS, "all"),
        "(a, b], 0 in the first bin": (SOUND_BINS, "all"),
        "[a, b)": (Binning(10, "left", zero_in_bin=True), "all"),
    }
    for target, (way, (binning, divide_by)) in product(targets, ways.items()):
        by = _BAAN if (target, divide_by) == ("majority", "binned") else ""
        value = partial(_classwise, target=target, binning=binning, divide_by=divide_by)
        words = f"against the {target}, 10 bins {way}"
        yield Convention("class-wise ECE", words, value, by, by == _BAAN)


def _of_squares() -> Iterator[Convention]:
    name = "Brier score"
    counts, majority = (partial(_brier, target=t) for t in ("single votes", "majority"))
    yield Convention(
        name, "single votes, summed over labels", partial(counts, divide_by=1), "Brier 1950", True
    )
    yield Convention(name, "single votes, halved", partial(counts, divide_by=2))
    yield Convention(name, "single votes, averaged over labels", _brier_averaged)
    yield Convention(
        name,
        "majority label, summed over labels",
        partial(majority, divide_by=1),
        "default of scikit-learn for three labels",
    )
    yield Convention(name, "majority label, halved", partial(majority, divide_by=2))
    yield Convention(name, "squared distance to the vote shares", _squared_distance)


CONVENTIONS: tuple[Convention, ...] = (
    *_of_distributions(),
    *_of_labels(),
    *_of_bins(),
    *_of_squares(),
)


def chosen_systems(votes: Votes, systems: Sequence[System], temperature: float) -> list[System]:
    """Return what the chapter shows: a first system, it at a temperature, and references.

    The first and the same at `temperature`, the first of our own, the reader's, the uniform guess
    and the oracle.
    """
    first = list(systems[:1])
    scaled = [one.at_temperature(temperature, f"{one.name}, T = {temperature:g}") for one in first]
    ours = [one for one in systems[1:] if one.origin == "trained"][:1]
    own = [one for one in systems[1:] if one.origin == "yours"]
    return [*first, *scaled, *ours, *own, uniform(votes), oracle(votes)]


@recorded(keys=("dataset", "system", "quantity", "convention"))
def under_every_convention(
    votes: Votes, systems: Sequence[System], *, temperature: float
) -> pd.DataFrame:
    """Compute every quantity of every system of `chosen_systems` under every convention.

    ``relative`` is the value over the reference convention's, NaN where that is 0.
    """
    rows = []
    for system in chosen_systems(votes, systems, temperature):
        judged = system.aligned_to(votes)
        values = {one: one.value(judged) for one in CONVENTIONS}
        references = {one.quantity: values[one] for one in CONVENTIONS if one.is_reference}
        for one, value in values.items():
            reference = references[one.quantity]
            known = {
                "n_items": len(system),
                "quantity": one.quantity,
                "convention": one.name,
                "value": value,
                # Rounding leaves 1e-17 where the reference is 0, as the oracle's JSD.
                "relative": value / reference if reference > _NOTHING else np.nan,
                "is_reference": one.is_reference,
                "used_by": one.used_by,
            }
            rows.append(system.keys | known)
    return pd.DataFrame(rows).astype({"seed": "Int64"})


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that are shown: not all floors and numbers of bins, and no KL in bits."""
    named = table["convention"].astype(str)
    more = np.any([named.str.contains(words, regex=False) for words in _MORE_OF_THE_SAME], axis=0)
    return table[~more & ~((table["quantity"] == "KL") & named.str.endswith("bits"))]


def _marked(row: Row) -> str:
    return row["convention"] + (" ◆" if row["is_reference"] else "")


def columns_for(systems: Iterable[str]) -> list[Column]:
    """Return how `under_every_convention` is shown, systems side by side."""
    return [
        Column("quantity", "quantity"),
        Column("convention", _marked),
        *(Column(name, "value", 3, at={"system": name}) for name in systems),
        Column("used by", "used_by", names={"": MISSING}),
    ]


def leading_system(table: pd.DataFrame) -> str:
    """Return the system that the figure shows: the reader's own, or else the first."""
    own = table.loc[table["origin"] == "yours", "system"]
    return str((own if len(own) else table["system"]).iloc[0])


@derived(keys=("dataset", "quantity", "convention"))
def drawn(table: pd.DataFrame) -> pd.DataFrame:
    """Return what the figure draws of `under_every_convention`: one system's rows, and `VARIES`."""
    rows = table[(table["system"] == leading_system(table)) & table["relative"].notna()]
    rows = rows.drop(columns=["n_items", "used_by"])
    return rows.assign(varies=rows["quantity"].map(VARIES))


@derived(keys=("dataset", "quantity"))
def spread(table: pd.DataFrame) -> pd.DataFrame:
    """Summarise each quantity: how far it moves, and how often systems change places.

    Of the `leading_system` the ``smallest`` and ``largest`` value; of all pairs of systems, how
    many change their order under some convention, ``n_turned``, with an ``example``, the change
    that the most conventions make.
    """
    keys = ["dataset", "quantity"]
    leading = table[table["system"] == leading_system(table)]
    groups = leading.groupby(keys, sort=False)["value"]
    found = groups.agg(n_conventions="size", smallest="min", largest="max").reset_index()
    reference = leading[leading["is_reference"]].set_index(keys)["value"].rename("reference")
    found = found.join(reference, on=keys).assign(system=leading_system(table))
    n_systems = table["system"].nunique()
    changes = order_changes(table)
    ranked = changes.sort_values("n_turned", ascending=False, kind="stable")
    most = ranked.drop_duplicates(keys)
    examples = most["behind"] + " passes " + most["ahead"] + ": " + most["convention"]
    most = most[keys].assign(example=examples)
    turned = changes.groupby(keys, as_index=False).size().rename(columns={"size": "n_turned"})
    found = found.merge(turned, "left", keys).merge(most, "left", keys)
    found["n_pairs"] = n_systems * (n_systems - 1) // 2
    found = found.fillna({"n_turned": 0, "example": ""}).astype({"n_turned": int})
    order = ["dataset", "quantity", "n_conventions", "system", "reference", "smallest", "largest"]
    return found[[*order, "n_pairs", "n_turned", "example"]]


def order_changes(table: pd.DataFrame) -> pd.DataFrame:
    """Find pairs of systems whose order under the reference another convention turns round.

    Better is larger for accuracy and RankCS, smaller for the others; the entropy of the predictions
    has no better side and is left out. ``n_turned`` counts the conventions that turn the order,
    ``convention`` is the first of them. Differences below 1e-9 count as none.
    """
    rows = []
    for (dataset, quantity), group in table.groupby(["dataset", "quantity"], sort=False):
        if quantity == _NO_BETTER_SIDE:
            continue
        values = group.pivot(index="convention", columns="system", values="value")
        values = values.loc[group["convention"].unique(), group["system"].unique()]
        reference = group.loc[group["is_reference"], "convention"].iloc[0]
        if quantity in HIGHER_IS_BETTER:
            values = -values
        for ahead, behind in permutations(values.columns, 2):
            if values.loc[reference, ahead] < values.loc[reference, behind] - _NOTHING:
                turned = values[ahead] > values[behind] + _NOTHING
                if turned.any():
                    rows.append(
                        (dataset, quantity, ahead, behind, int(turned.sum()), turned.idxmax())
                    )
    columns = ["dataset", "quantity", "ahead", "behind", "n_turned", "convention"]
    return pd.DataFrame(rows, columns=columns)


SPREAD_COLUMNS = [
    Column("quantity", "quantity"),
    Column("conventions", "n_conventions"),
    Column("smallest", "smallest", 3),
    Column("reference", "reference", 3),
    Column("largest", "largest", 3),
    Column("pairs that change places", lambda row: f"{row['n_turned']} of {row['n_pairs']}"),
    Column("for example", "example", names={"": MISSING}),
]
