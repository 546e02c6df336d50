"""How to get from one convention's number to another's, checked on predictions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.analyses.conventions import chosen_systems
from chaos_utils.analyses.recorded import recorded
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics import calibration, divergence, scores
from chaos_utils.metrics.divergence import Floats
from chaos_utils.metrics.measures import BAAN_BINS, NIE_FLOOR, Judged
from chaos_utils.report.columns import Column, Row, number
from chaos_utils.scoring.system import System

_LOG_2 = float(np.log(2))
_ROUNDING = 1e-9  # below it, an error is that of rounding alone
Pair = tuple[npt.ArrayLike, npt.ArrayLike]


@dataclass(frozen=True, slots=True)
class Conversion:
    """A recipe from one convention to another.

    Attributes
    ----------
    quantity, given, wanted : str
        What is known and what is looked for.
    recipe : str
        What to do with the given number.
    applies_to : {'mean', 'item', 'class'}
        What the recipe must be applied to: the reported mean, or each item's or class's value.
    exact : bool
        Whether it gives the wanted number, up to rounding. Where not, it is what one
        might try, and the error shows what would come of it.
    both : callable
        From `Judged` to the converted and the directly computed value, or values.
    """

    quantity: str
    given: str
    wanted: str
    recipe: str
    applies_to: str
    exact: bool
    both: Callable[[Judged], Pair]


def _distance(j: Judged) -> Floats:
    return divergence.jensen_shannon_distance(j.human, j.model, unit="nats")


def _divergence(j: Judged) -> Floats:
    return divergence.jensen_shannon_divergence(j.human, j.model, unit="nats")


def _kl(j: Judged, floor: float = NIE_FLOOR) -> Floats:
    return divergence.kl_divergence(j.human, j.model, unit="nats", floor=floor)


def _ece(j: Judged, target: npt.ArrayLike) -> float:
    return calibration.expected_calibration_error(j.model, target, BAAN_BINS)


def _by_class(j: Judged) -> Pair:
    """Class-wise errors divided by the binned, times the share binned; and divided by all."""
    probabilities, hits = calibration.classwise_hits(j.model, j.first_majority)
    sums = np.stack(
        [
            calibration.bin_sums(probabilities[:, k], hits[:, k], BAAN_BINS)
            for k in range(probabilities.shape[1])
        ]
    )
    gaps = np.abs(sums[..., 2] - sums[..., 1]).sum(axis=1)
    binned = sums[..., 0].sum(axis=1)
    divided_by_binned = gaps / np.maximum(binned, 1)
    return divided_by_binned * (binned / len(probabilities)), gaps / len(probabilities)


def _accuracies(j: Judged) -> Pair:
    last = scores.top_label(j.model, ties="last") == scores.top_label(j.human, ties="last")
    return last.mean(), (j.predicted == j.majority).mean()


CONVERSIONS: tuple[Conversion, ...] = (
    Conversion(
        "Jensen–Shannon", "distance, nats", "distance, bits", "divide by √ln 2 (× 1.2011)",
        "mean", True,
        lambda j: (
            _distance(j).mean() / np.sqrt(_LOG_2),
            divergence.jensen_shannon_distance(j.human, j.model, unit="bits").mean(),
        ),
    ),
    Conversion(
        "Jensen–Shannon", "divergence, nats", "divergence, bits", "divide by ln 2 (× 1.4427)",
        "mean", True,
        lambda j: (
            _divergence(j).mean() / _LOG_2,
            divergence.jensen_shannon_divergence(j.human, j.model, unit="bits").mean(),
        ),
    ),
    Conversion(
        "Jensen–Shannon", "distance", "divergence", "square", "item", True,
        lambda j: (_distance(j) ** 2, _divergence(j)),
    ),
    Conversion(
        "Jensen–Shannon", "mean distance", "mean divergence",
        "square, which leaves out the variance over items", "mean", False,
        lambda j: (_distance(j).mean() ** 2, _divergence(j).mean()),
    ),
    Conversion(
        "KL", "nats", "bits", "divide by ln 2 (× 1.4427)", "mean", True,
        lambda j: (
            _kl(j).mean() / _LOG_2,
            divergence.kl_divergence(j.human, j.model, unit="bits", floor=NIE_FLOOR).mean(),
        ),
    ),
    Conversion(
        "KL", "KL(human ‖ model)", "soft cross-entropy",
        "add the mean human entropy in the same unit", "mean", True,
        lambda j: (
            _kl(j).mean() + divergence.entropy(j.human, unit="nats").mean(),
            scores.soft_cross_entropy(j.human, j.model, unit="nats", floor=NIE_FLOOR).mean(),
        ),
    ),
    Conversion(
        "KL", "averaged over all cells (reduction='mean')", "averaged over items",
        "multiply by the number of labels", "mean", True,
        lambda j: (
            _cells(j).mean() * j.human.shape[1],
            _kl(j).mean(),
        ),
    ),
    Conversion(
        "KL", "human ‖ model, floor 0.001", "model ‖ human, floor 0.001",
        "none: it takes the distributions", "mean", False,
        lambda j: (
            _kl(j, 1e-3).mean(),
            divergence.kl_divergence(j.model, j.human, unit="nats", floor=1e-3).mean(),
        ),
    ),
    Conversion(
        "KL", "floor 1e-15", "floor 0.001", "none: it takes the distributions", "mean", False,
        lambda j: (_kl(j).mean(), _kl(j, 1e-3).mean()),
    ),
    Conversion(
        "entropy", "bits", "nats", "multiply by ln 2 (× 0.6931)", "mean", True,
        lambda j: (
            divergence.entropy(j.model, unit="bits").mean() * _LOG_2,
            divergence.entropy(j.model, unit="nats").mean(),
        ),
    ),
    Conversion(
        "EntCE", "nats", "bits", "divide by ln 2 (× 1.4427)", "mean", True,
        lambda j: (
            np.abs(calibration.entropy_error(j.human, j.model)).mean() / _LOG_2,
            np.abs(
                divergence.entropy(j.model, unit="bits") - divergence.entropy(j.human, unit="bits")
            ).mean(),
        ),
    ),
    Conversion(
        "EntCE", "mean signed error", "mean absolute error",
        "take the absolute value, which lets errors of both signs cancel", "mean", False,
        lambda j: (
            abs(calibration.entropy_error(j.human, j.model).mean()),
            np.abs(calibration.entropy_error(j.human, j.model)).mean(),
        ),
    ),
    Conversion(
        "DistCE", "TVD", "L1 distance", "multiply by 2", "mean", True,
        lambda j: (
            divergence.total_variation(j.human, j.model).mean() * 2,
            np.abs(j.human - j.model).sum(axis=1).mean(),
        ),
    ),
    Conversion(
        "DistCE", "TVD", "soft accuracy", "subtract from 1", "mean", True,
        lambda j: (
            1 - divergence.total_variation(j.human, j.model).mean(),
            scores.soft_accuracy(j.human, j.model).mean(),
        ),
    ),
    Conversion(
        "accuracy", "ties to the last label", "label as stated, gold as stored",
        "none; they differ at most by the share of items with a tie on either side", "mean", False,
        _accuracies,
    ),
    Conversion(
        "ECE", "against the majority", "against the vote shares",
        "none: it takes the distributions", "mean", False,
        lambda j: (_ece(j, j.first_majority), _ece(j, j.human)),
    ),
    Conversion(
        "ECE", "mean majority share of the votes", "ECE of the oracle against the majority",
        "subtract from 1", "mean", True,
        lambda j: (
            1 - j.human.max(axis=1).mean(),
            calibration.expected_calibration_error(j.human, j.first_majority, BAAN_BINS),
        ),
    ),
    Conversion(
        "class-wise ECE", "divided by the binned items", "divided by all items",
        "multiply by the share of items that fall into a bin", "class", True, _by_class,
    ),
    Conversion(
        "RankCS", "equal values by position", "tie-aware",
        "none; they agree where no two values of an item are equal", "mean", False,
        lambda j: (
            calibration.same_ranking(j.human, j.model, ties="index").mean(),
            calibration.same_ranking(j.human, j.model, ties="aware").mean(),
        ),
    ),
    Conversion(
        "Brier score", "summed over labels (0 to 2)", "halved (0 to 1)", "divide by 2",
        "mean", True,
        lambda j: (
            scores.brier_of_votes(j.human, j.model).mean() / 2,
            # Half the sum, the other way round: by the squared misses of each single vote.
            (j.human * _squared_misses(j)).sum(axis=1).mean() / 2,
        ),
    ),
    Conversion(
        "Brier score", "against single votes", "squared distance to the vote shares",
        "subtract the mean of 1 − Σh²", "mean", True,
        lambda j: (
            scores.brier_of_votes(j.human, j.model).mean() - (1 - (j.human**2).sum(axis=1)).mean(),
            ((j.model - j.human) ** 2).sum(axis=1).mean(),
        ),
    ),
)  # fmt: skip


def _cells(j: Judged) -> Floats:
    """Return the terms of KL(human ‖ model) for each item and label, in nats."""
    model = np.maximum(j.model, NIE_FLOOR)
    model = model / model.sum(axis=1, keepdims=True)
    return j.human * np.log(np.where(j.human > 0, j.human, 1) / np.where(j.human > 0, model, 1))


def _squared_misses(j: Judged) -> Floats:
    """Return, for each item and label, the squared distance of the model to that label alone."""
    labels = np.eye(j.model.shape[1])
    return ((j.model[:, np.newaxis, :] - labels) ** 2).sum(axis=2)


@recorded(keys=("dataset", "quantity", "from_convention", "to_convention"))
def conversions(votes: Votes, systems: Sequence[System], *, temperature: float) -> pd.DataFrame:
    """Try every conversion on the systems that the chapter shows.

    Parameters
    ----------
    votes, systems, temperature
        For `chosen_systems`.

    Returns
    -------
    DataFrame
        One row per conversion: ``dataset``, ``quantity``, ``from_convention``,
        ``to_convention``, ``recipe``, ``applies_to`` (mean, item or class), ``exact``,
        ``largest_error`` (over the systems: distance of the converted to the directly
        computed number).
    """
    chosen = chosen_systems(votes, systems, temperature)
    judged = [system.aligned_to(votes) for system in chosen]
    return pd.DataFrame(
        {
            "dataset": votes.dataset.name,
            "quantity": conversion.quantity,
            "from_convention": conversion.given,
            "to_convention": conversion.wanted,
            "recipe": conversion.recipe,
            "applies_to": conversion.applies_to,
            "exact": conversion.exact,
            "largest_error": max(error_of(conversion, j) for j in judged),
        }
        for conversion in CONVERSIONS
    )


def error_of(conversion: Conversion, judged: Judged) -> float:
    """Return the largest distance between what a conversion gives and the direct number.

    Returns
    -------
    float
        In the unit of the wanted number.
    """
    converted, direct = (np.asarray(side, dtype=np.float64) for side in conversion.both(judged))
    return float(np.abs(converted - direct).max())


def _error(row: Row) -> str:
    error = row["largest_error"]
    return "rounding alone" if error < _ROUNDING else number(error, 3)


_PLACES = {"mean": "the mean", "item": "each item", "class": "each class"}
COLUMNS = [
    Column("quantity", "quantity"),
    Column("from", "from_convention"),
    Column("to", "to_convention"),
    Column("recipe", "recipe"),
    Column("applies to", "applies_to", names=_PLACES),
    Column("exact", "exact", names={True: "yes", False: "no"}),
    Column("largest error here", _error),
]
