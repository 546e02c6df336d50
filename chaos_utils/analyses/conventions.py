"""The same predictions under every convention in use."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from typing import Literal

import numpy as np
import pandas as pd

from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics import calibration, divergence, scores
from chaos_utils.metrics.calibration import Binning, Closed
from chaos_utils.metrics.divergence import Unit
from chaos_utils.metrics.measures import BAAN_BINS, NIE_FLOOR, SOUND_BINS, EvalBatch
from chaos_utils.recorded import cached_analysis, derived_table
from chaos_utils.report.columns import MISSING, Column
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
# Conventions that no table shows, though the data have them.
_NOT_SHOWN = ("floor 1e-12", "floor 1e-06", ", 5 bins", ", 20 bins")
_ROUNDING_ERROR = 1e-9  # a difference, or a value, that is there by rounding alone
_INTERVALS: dict[Closed, str] = {"right": "(a, b]", "left": "[a, b)"}
_NIE, _BAAN, _OURS = "Nie et al. 2020", "Baan et al. 2022", "this book"
_TO_MODEL = "human ‖ model"
DivideBy = Literal["all", "binned"]


@dataclass(frozen=True, slots=True)
class Convention:
    """A quantity of a system, computed in one way.

    Attributes
    ----------
    quantity, convention : str
        What is computed, and how.
    value : float
    used_by : str
        A paper, or a library's default, with this convention; empty where we know of none.
    is_reference : bool
        Whether this is the choice of the paper that uses the quantity, with which other conventions
        are compared. Each quantity has exactly one.
    """

    quantity: str
    convention: str
    value: float
    used_by: str = ""
    is_reference: bool = False


def every_convention(batch: EvalBatch) -> list[Convention]:
    """Return each quantity of a system under each convention."""
    return [
        *_distribution_conventions(batch),
        *_label_conventions(batch),
        *_bin_conventions(batch),
        *_brier_conventions(batch),
    ]


def _distribution_conventions(batch: EvalBatch) -> Iterator[Convention]:
    """Yield Jensen–Shannon, KL, the entropy of the predictions, and EntCE."""
    users = {
        ("distance", "nats"): f"{_NIE}; default of scipy’s jensenshannon",
        ("divergence", "bits"): "Lin 1991",
    }
    kinds = {
        "distance": divergence.jensen_shannon_distance,
        "divergence": divergence.jensen_shannon_divergence,
    }
    for (kind, measure), unit in product(kinds.items(), UNITS):
        value = measure(batch.human, batch.model, unit=unit).mean()
        used_by = users.get((kind, unit), "")
        yield Convention(
            "Jensen–Shannon", f"{kind}, {unit}", value, used_by, used_by.startswith(_NIE)
        )

    kl_users = {
        (_TO_MODEL, NIE_FLOOR, "nats"): _NIE,
        (_TO_MODEL, 0.0, "nats"): "scipy’s entropy(h, m); torch’s kl_div(log m, h)",
    }
    directions = {
        _TO_MODEL: (batch.human, batch.model),
        "model ‖ human": (batch.model, batch.human),
    }
    for (direction, pair), floor, unit in product(directions.items(), FLOORS, UNITS):
        value = divergence.kl_divergence(*pair, unit=unit, floor=floor).mean()
        used_by = kl_users.get((direction, floor, unit), "")
        yield Convention(
            "KL", f"{direction}, floor {floor:g}, {unit}", value, used_by, used_by == _NIE
        )

    bits, nats = (divergence.entropy(batch.model, unit=unit).mean() for unit in ("bits", "nats"))
    yield Convention(_NO_BETTER_SIDE, "bits", bits, f"{_NIE}; ChaosNLI’s files", True)
    yield Convention(_NO_BETTER_SIDE, "nats", nats, "default of scipy’s entropy")
    error = np.abs(calibration.entropy_error(batch.human, batch.model)).mean()
    yield Convention("EntCE", "nats", error, _BAAN, True)
    yield Convention("EntCE", "bits", error / np.log(2))


def _label_conventions(batch: EvalBatch) -> Iterator[Convention]:
    """Yield accuracy and RankCS, which differ in how ties are broken."""
    name = "accuracy, new majority"
    stated = (batch.predicted == batch.majority).mean()
    yield Convention(name, "label as stated, gold as stored", stated, _NIE, True)
    rules: tuple[scores.TieRule, ...] = ("first", "last")
    for label, gold in product(rules, repeat=2):
        is_right = scores.top_label(batch.model, ties=label) == scores.top_label(
            batch.human, ties=gold
        )
        words = f"of tied labels the {label}, of tied votes the {gold}"
        yield Convention(name, words, is_right.mean(), _BAAN if label == gold == "last" else "")
    shared_ties = scores.expected_correct(batch.model, batch.predicted, batch.majority).mean()
    yield Convention(name, "tied labels share an item, gold as stored", shared_ties, _OURS)

    position_ties = calibration.same_ranking(batch.human, batch.model, ties="index").mean()
    tie_aware = calibration.same_ranking(batch.human, batch.model, ties="aware").mean()
    random_ties = calibration.expected_same_ranking(batch.human, batch.model).mean()
    yield Convention("RankCS", "equal values by position", position_ties, _BAAN, True)
    yield Convention("RankCS", "tie-aware", tie_aware)
    yield Convention("RankCS", "ties at random", random_ties, _OURS)


def _bin_conventions(batch: EvalBatch) -> Iterator[Convention]:
    """Yield ECE and class-wise ECE, which differ in target and bins."""
    users = {
        ("majority", 10, "right"): _BAAN,
        ("majority", 15, "right"): "Guo et al. 2017",
        ("majority", 15, "left"): "default of torchmetrics",
    }
    targets = {"majority": batch.first_majority, "vote shares": batch.human}
    for (target, gold), n_bins, closed in product(targets.items(), N_BINS, _INTERVALS):
        binning = Binning(n_bins, closed, zero_in_bin=False)
        value = calibration.expected_calibration_error(batch.model, gold, binning)
        used_by = users.get((target, n_bins, closed), "")
        words = f"against the {target}, {n_bins} bins {_INTERVALS[closed]}"
        yield Convention("ECE", words, value, used_by, used_by == _BAAN)
    for (target, gold), n_bins in product(targets.items(), N_BINS):
        value = calibration.adaptive_calibration_error(
            batch.model, gold, min(n_bins, len(batch.model))
        )
        words = f"against the {target}, {n_bins} bins of equal mass"
        yield Convention("ECE", words, value, "Nixon et al. 2019" if target == "majority" else "")

    rules: dict[str, tuple[Binning, DivideBy]] = {
        "(a, b], 0 in no bin, divided by the binned": (BAAN_BINS, "binned"),
        "(a, b], 0 in no bin, divided by all": (BAAN_BINS, "all"),
        "(a, b], 0 in the first bin": (SOUND_BINS, "all"),
        "[a, b)": (Binning(10, "left", zero_in_bin=True), "all"),
    }
    for (target, gold), (rule, (binning, divide_by)) in product(targets.items(), rules.items()):
        value = calibration.classwise_calibration_error(
            batch.model, gold, binning, divide_by=divide_by
        )
        used_by = _BAAN if (target, divide_by) == ("majority", "binned") else ""
        words = f"against the {target}, 10 bins {rule}"
        yield Convention("class-wise ECE", words, value, used_by, used_by == _BAAN)


def _brier_conventions(batch: EvalBatch) -> Iterator[Convention]:
    """Yield Brier scores, which differ in target and scale."""
    name, k = "Brier score", batch.model.shape[1]
    votes = scores.brier_of_votes(batch.human, batch.model).mean()
    label = scores.brier_of_votes(np.eye(k)[batch.first_majority], batch.model).mean()
    distance = ((batch.model - batch.human) ** 2).sum(axis=1).mean()
    by_label = "default of scikit-learn for three labels"
    yield Convention(name, "single votes, summed over labels", votes, "Brier 1950", True)
    yield Convention(name, "single votes, halved", votes / 2)
    yield Convention(name, "single votes, averaged over labels", votes / k)
    yield Convention(name, "majority label, summed over labels", label, by_label)
    yield Convention(name, "majority label, halved", label / 2)
    yield Convention(name, "squared distance to the vote shares", distance)


def chosen_systems(votes: Votes, systems: Sequence[System], temperature: float) -> list[System]:
    """Return the systems that the chapter shows.

    They are the first system, as it is and at `temperature`, the first of our own, the reader's,
    the uniform guess and the oracle.
    """
    first = list(systems[:1])
    scaled = [
        system.at_temperature(temperature, f"{system.name}, T = {temperature:g}")
        for system in first
    ]
    trained = [system for system in systems[1:] if system.origin == "trained"][:1]
    submitted = [system for system in systems[1:] if system.origin == "yours"]
    return [*first, *scaled, *trained, *submitted, uniform(votes), oracle(votes)]


@cached_analysis(keys=("dataset", "system", "quantity", "convention"))
def under_every_convention(
    votes: Votes, systems: Sequence[System], *, temperature: float
) -> pd.DataFrame:
    """Compute every quantity of every system of `chosen_systems` under every convention.

    ``relative`` is the value over that of the reference convention, NaN where the latter is 0.
    """
    parts = []
    for system in chosen_systems(votes, systems, temperature):
        values = pd.DataFrame(every_convention(system.aligned_to(votes)))
        references = values[values["is_reference"]].set_index("quantity")["value"]
        # Where the reference is 0, as the JSD of the oracle, rounding leaves 1e-17.
        reference = values["quantity"].map(references[references > _ROUNDING_ERROR])
        values["relative"] = values["value"] / reference
        parts.append(values.assign(**system.keys, n_items=len(system)))
    columns = ["n_items", "quantity", "convention", "value", "relative", "is_reference", "used_by"]
    table = pd.concat(parts, ignore_index=True).astype({"seed": "Int64"})
    return table[[*system.keys, *columns]]


def shown_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that are shown: not all floors and numbers of bins, and no KL in bits."""
    names = table["convention"].astype(str)
    is_hidden = np.any([names.str.contains(words, regex=False) for words in _NOT_SHOWN], axis=0)
    return table[~is_hidden & ~((table["quantity"] == "KL") & names.str.endswith("bits"))]


def columns_for(systems: Iterable[str]) -> list[Column]:
    """Return how `under_every_convention` is shown, systems side by side."""
    return [
        Column("quantity", "quantity"),
        Column("convention", lambda row: row["convention"] + " ◆" * row["is_reference"]),
        *(Column(name, "value", 3, at={"system": name}) for name in systems),
        Column("used by", "used_by", names={"": MISSING}),
    ]


def leading_system(table: pd.DataFrame) -> str:
    """Return the system that the figure shows: the reader's own, or else the first."""
    own = table.loc[table["origin"] == "yours", "system"]
    return str((own if len(own) else table["system"]).iloc[0])


@derived_table(keys=("dataset", "quantity", "convention"))
def drawn_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `under_every_convention` for the `leading_system`, with `VARIES`."""
    rows = table[(table["system"] == leading_system(table)) & table["relative"].notna()]
    rows = rows.drop(columns=["n_items", "used_by"])
    return rows.assign(varies=rows["quantity"].map(VARIES))


@derived_table(keys=("dataset", "quantity"))
def spread(table: pd.DataFrame) -> pd.DataFrame:
    """Summarise each quantity: how far conventions move it, and how often they change an order.

    * ``smallest``, ``largest``, ``reference``: values of the `leading_system`, over its
      ``n_conventions`` and by the reference convention;
    * ``n_turned``: the number of pairs of systems, of ``n_pairs``, whose order some convention
      reverses; ``example``: the reversal that most conventions make.
    """
    keys = ["dataset", "quantity"]
    leading = table[table["system"] == leading_system(table)]
    values = leading.groupby(keys, sort=False)["value"]
    summary = values.agg(n_conventions="size", smallest="min", largest="max")
    summary["reference"] = leading[leading["is_reference"]].set_index(keys)["value"]
    changes = order_changes(table).sort_values("n_turned", ascending=False, kind="stable")
    examples = changes.drop_duplicates(keys).set_index(keys)
    summary["n_turned"] = changes.groupby(keys).size()
    summary["example"] = (
        examples["behind"] + " passes " + examples["ahead"] + ": " + examples["convention"]
    )
    n_systems = table["system"].nunique()
    summary = summary.assign(system=leading_system(table), n_pairs=n_systems * (n_systems - 1) // 2)
    summary = summary.fillna({"n_turned": 0, "example": ""}).astype({"n_turned": int}).reset_index()
    order = ["dataset", "quantity", "n_conventions", "system", "reference", "smallest", "largest"]
    return summary[[*order, "n_pairs", "n_turned", "example"]]


def order_changes(table: pd.DataFrame) -> pd.DataFrame:
    """Find pairs of systems whose order by the reference convention another convention reverses.

    ``ahead`` is better by the reference, ``behind`` by another convention. ``n_turned`` counts the
    conventions that reverse the order, ``convention`` is the first of them. Larger is better for
    accuracy and RankCS, smaller for other quantities; the entropy of the predictions has no better
    side and is left out. Differences below 1e-9 count as none.
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
            if values.loc[reference, ahead] < values.loc[reference, behind] - _ROUNDING_ERROR:
                reversal = values[ahead] > values[behind] + _ROUNDING_ERROR
                if reversal.any():
                    rows.append(
                        (dataset, quantity, ahead, behind, int(reversal.sum()), reversal.idxmax())
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
