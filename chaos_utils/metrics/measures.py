"""Every measure of a system on a dataset, with what a reader must know to use its number.

A measure is a function of *means over items*: it turns each item into a few columns, and
the columns' means into its value. So one set of bootstrap weights resamples all measures
of all systems at once, an item's influence is known, and nothing is computed item by item.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from chaos_utils.metrics import calibration, divergence, scores
from chaos_utils.metrics.calibration import Binning
from chaos_utils.metrics.divergence import Floats

NIE_FLOOR = 1e-15
BAAN_BINS = Binning(10, closed="right", zero_in_bin=False)
SOUND_BINS = Binning(10, closed="right", zero_in_bin=True)
Needs = Literal["", "old label", "two votes", "ordered labels"]
_FACTORS: Mapping[str, Callable[[int], float]] = {
    "": lambda k: 1.0,
    "log k": lambda k: float(np.log(k)),
    "k - 1": lambda k: k - 1.0,
}
_NAME = re.compile("[a-z][a-z0-9_]*")  # fit for columns, options and JSON keys
_LABEL_PAIRS_AT_ONCE = 5_000_000  # pairs of labels that are held in memory at once


@dataclass(frozen=True, slots=True)
class EvalBatch:
    """A system's predictions beside the human votes, item by item.

    Attributes
    ----------
    human : ndarray of float, shape (n_items, n_classes)
        Vote shares.
    model : ndarray of float, shape (n_items, n_classes)
        Predicted distributions.
    predicted, majority : ndarray of int, shape (n_items,)
        Label positions: the system's label, and the majority label.
    old_label : ndarray of int, shape (n_items,), or None
        The original dataset's label; None where there is none.
    n_votes : ndarray of int, shape (n_items,), or None
        How many votes each item has; None where that is not known.
    stated : bool
        Whether the system itself states the labels `predicted`. Otherwise they follow from the
        probabilities, and labels that are tied for the largest one share an item.
    ties_share : bool
        Whether labels that are tied for most votes share an item: where the data states no
        majority label.
    """

    human: Floats
    model: Floats
    predicted: npt.NDArray[np.int64]
    majority: npt.NDArray[np.int64]
    old_label: npt.NDArray[np.int64] | None = None
    n_votes: npt.NDArray[np.int64] | None = None
    stated: bool = False
    ties_share: bool = False

    @property
    def first_majority(self) -> npt.NDArray[np.int64]:
        """The first of the labels with most votes: the gold label of ECE in Baan et al."""
        return scores.top_label(self.human, ties="first")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A measure and its metadata.

    Attributes
    ----------
    name : str
        Name in tables and in output for programs; it says unit and convention.
    title : str
        Name for readers.
    unit : str
        Empty for a share.
    low, high : float
        Ends of the range; infinite where it has no end. See `low_for` and `high_for`.
    better : {'lower', 'higher', 'zero'}
        Which way is better.
    source : str
        Short reference to the paper that the measure is from.
    columns : callable
        From `EvalBatch` to an array of shape (n_items, n_columns).
    reduce : callable
        From means of the columns, shape (..., n_columns), to values, shape (...).
    by_item : bool
        Whether an item's columns depend on that item alone.
    needs : str
        What the votes must have, beside counts: ``old label``, ``two votes`` (each item),
        ``ordered labels``, or empty.
    times : {'', 'log k', 'k - 1'}
        What `low` and `high` are multiplied by: log n_classes, the largest entropy, or the steps
        between the first and the last label.
    has_interval : bool
        Whether intervals of the measure may be shown. False where a percentile interval holds the
        truth less often than its level: a resample is always less well calibrated than all items.
    studentised : bool
        Whether the interval is a bootstrap-t, which needs items on which people disagree: for a
        mean with few large values, which a percentile interval misses.
    estimand : str
        What is estimated, where it is not the mean over a population of items, each judged by the
        observed votes.
    few_votes_bias : {'', 'none', 'favours_overconfident'}
        What few votes do to a comparison of systems. With ``none``, differences are unbiased, and
        the truth scores best; with ``favours_overconfident``, an overconfident system scores better
        than the truth. Empty where the truth does not score best alone with endless votes
        either, as by accuracies. A simulation tests this.
    """

    name: str
    title: str
    unit: str
    low: float
    high: float
    better: Literal["lower", "higher", "zero"]
    source: str
    columns: Callable[[EvalBatch], Floats]
    reduce: Callable[[Floats], Floats]
    by_item: bool = True
    needs: Needs = ""
    times: Literal["", "log k", "k - 1"] = ""
    has_interval: bool = True
    studentised: bool = False
    estimand: str = ""
    few_votes_bias: Literal["", "none", "favours_overconfident"] = ""

    @property
    def is_mean(self) -> bool:
        """Whether the value is the mean over items of one column."""
        return self.reduce is _first

    def low_for(self, n_classes: int) -> float:
        """Return the lower end of the range, in the measure's `unit`; minus infinity if none."""
        return self.low * _FACTORS[self.times](n_classes)

    def high_for(self, n_classes: int) -> float:
        """Return the upper end of the range, in the measure's `unit`; infinity if none."""
        return self.high * _FACTORS[self.times](n_classes)

    def value(self, batch: EvalBatch) -> float:
        """Return the measure on all items of a `batch`, in its `unit`."""
        return float(self.reduce(self.columns(batch).mean(axis=0)))


def columns_of(measure: Measure, batch: EvalBatch) -> Floats:
    """Return a measure's columns, some items at a time, since pairs of labels take memory."""
    n, k = batch.human.shape
    step = max(1, _LABEL_PAIRS_AT_ONCE // k**2)
    if n <= step or not measure.by_item:
        return measure.columns(batch)
    parts = (take_items(batch, np.arange(i, min(i + step, n))) for i in range(0, n, step))
    return np.concatenate([measure.columns(part) for part in parts])


def take_items(batch: EvalBatch, rows: npt.NDArray[np.generic]) -> EvalBatch:
    """Return a batch of some of its items, by index or by mask."""
    names = ("human", "model", "predicted", "majority", "old_label", "n_votes")
    arrays = {name: getattr(batch, name) for name in names}
    parts = {name: values[rows] for name, values in arrays.items() if values is not None}
    return replace(batch, **parts)


def _mean(per_item: Callable[[EvalBatch], npt.ArrayLike]) -> dict[str, Any]:
    """Return the arguments of a `Measure` that is the mean over items of one value."""

    def columns(batch: EvalBatch) -> Floats:
        return np.asarray(per_item(batch), dtype=np.float64)[:, np.newaxis]

    return {"columns": columns, "reduce": _first}


def _first(means: Floats) -> Floats:
    return means[..., 0]


def _bin_columns(bins: npt.NDArray[np.int64], n_bins: int, *values: Floats) -> Floats:
    """Return each of the values in a column per bin: 0 outside its item's bin."""
    inside = bins[:, np.newaxis] == np.arange(n_bins)
    return np.concatenate([inside * value[:, np.newaxis] for value in values], axis=1)


def _ratio(top: Floats, bottom: Floats, otherwise: float) -> Floats:
    """Return top / bottom, `otherwise` where the bottom is 0."""
    return np.divide(top, bottom, out=np.full(top.shape, otherwise), where=bottom > 0)


def _sum_of_gaps(means: Floats) -> Floats:
    return np.abs(means).sum(axis=-1)


def _ece(
    target: Callable[[EvalBatch], npt.ArrayLike], ties: Literal["first", "shared"]
) -> dict[str, Any]:
    """Return the arguments of an expected calibration error: columns are gaps by bin."""

    def columns(batch: EvalBatch) -> Floats:
        confidence, hits = calibration.hits_of(batch.model, target(batch), ties=ties)
        return _bin_columns(BAAN_BINS.assign(confidence), BAAN_BINS.n_bins, hits - confidence)

    return {"columns": columns, "reduce": _sum_of_gaps, "has_interval": False}


def _squared_error(target: Callable[[EvalBatch], npt.ArrayLike]) -> dict[str, Any]:
    """Return the arguments of a squared calibration error, unbiased: a sum over pairs of items."""
    n_bins = SOUND_BINS.n_bins

    def columns(batch: EvalBatch) -> Floats:
        confidence, hits = calibration.hits_of(batch.model, target(batch), ties="shared")
        gaps = hits - confidence
        bins = SOUND_BINS.assign(confidence)
        by_bin = _bin_columns(bins, n_bins, np.ones_like(gaps), gaps, gaps**2)
        return np.column_stack([by_bin, np.full(len(gaps), len(gaps))])

    def reduce(means: Floats) -> Floats:
        n_items = means[..., -1:]
        shares, gaps, squares = np.split(means[..., :-1], 3, axis=-1)
        n_others = n_items * shares - 1
        pairs = n_items * gaps**2 - squares
        # A bin's single item has no pair; 0.5 is halfway to two items.
        squared_gaps = np.divide(pairs, n_others, out=np.zeros_like(pairs), where=n_others > 0.5)
        return squared_gaps.sum(axis=-1)

    return {"columns": columns, "reduce": reduce, "by_item": False}


def _classwise(target: Callable[[EvalBatch], npt.ArrayLike]) -> dict[str, Any]:
    """Return the arguments of a class-wise calibration error: columns are gaps by class and bin."""

    def columns(batch: EvalBatch) -> Floats:
        probabilities, hits = calibration.classwise_hits(batch.model, target(batch))
        n_classes = probabilities.shape[1]
        return np.concatenate(
            [
                _bin_columns(
                    SOUND_BINS.assign(probabilities[:, k]),
                    SOUND_BINS.n_bins,
                    (hits[:, k] - probabilities[:, k]) / n_classes,
                )
                for k in range(n_classes)
            ],
            axis=1,
        )

    return {"columns": columns, "reduce": _sum_of_gaps, "has_interval": False}


def _mce_columns(b: EvalBatch) -> Floats:
    confidence, hits = calibration.hits_of(b.model, b.first_majority)
    bins = BAAN_BINS.assign(confidence)
    return _bin_columns(bins, BAAN_BINS.n_bins, hits - confidence, np.ones(len(bins)))


def _largest_gap(means: Floats) -> Floats:
    gaps, shares = np.split(means, 2, axis=-1)
    return _ratio(np.abs(gaps), shares, 0.0).max(axis=-1)


def _adaptive_columns(b: EvalBatch) -> Floats:
    confidence, hits = calibration.hits_of(b.model, b.first_majority)
    n_bins = min(BAAN_BINS.n_bins, len(confidence))
    return _bin_columns(calibration.equal_mass_bins(confidence, n_bins), n_bins, hits - confidence)


def _tau_columns(b: EvalBatch) -> Floats:
    tau = calibration.kendall_tau_b(b.human, b.model)
    return np.column_stack([np.nan_to_num(tau), ~np.isnan(tau)])


def _ratio_where_defined(means: Floats) -> Floats:
    return _ratio(means[..., 0], means[..., 1], np.nan)


def _simbench_columns(b: EvalBatch) -> Floats:
    uniform = np.full_like(b.human, 1 / b.human.shape[1])
    return np.column_stack(
        [divergence.total_variation(b.human, model) for model in (b.model, uniform)]
    )


def _gain_on_uniform_guess(means: Floats) -> Floats:
    """Return 100 (1 − the model's mean TVD over a uniform guess's), as Hu et al.'s script does."""
    return 100 * (1 - _ratio_where_defined(means))


def _old_accuracy(b: EvalBatch) -> npt.ArrayLike:
    if b.old_label is None:
        raise ValueError("the items have no old label, which the old accuracy needs")
    return _correct(b, b.old_label)


def _new_accuracy(b: EvalBatch) -> npt.ArrayLike:
    """Return by item how right the label is against the majority, which tied labels may share."""
    if not b.ties_share:
        return _correct(b, b.majority)
    shared = scores.shared_top(b.human)
    if b.stated:
        return shared[np.arange(len(shared)), b.predicted]
    return scores.expected_correct(b.model, b.predicted, shared)


def _correct(b: EvalBatch, gold: npt.NDArray[np.int64]) -> npt.ArrayLike:
    if b.stated:
        return b.predicted == gold
    return scores.expected_correct(b.model, b.predicted, gold)


def _squared_distance(b: EvalBatch) -> Floats:
    if b.n_votes is None:
        raise ValueError("the items' numbers of votes are not known, which sq_distance needs")
    return divergence.squared_distance(b.human, b.model, b.n_votes)


def _js_distance(b: EvalBatch) -> Floats:
    return divergence.jensen_shannon_distance(b.human, b.model, unit="nats")


def _kl(b: EvalBatch) -> Floats:
    return divergence.kl_divergence(b.human, b.model, unit="nats", floor=NIE_FLOOR)


def _cross_entropy(b: EvalBatch) -> Floats:
    return scores.soft_cross_entropy(b.human, b.model, unit="nats", floor=NIE_FLOOR)


_NIE, _BAAN = "Nie et al. 2020", "Baan et al. 2022"
_OBSERVED_ORDER = "the order of the observed votes, which few votes know badly"
_GAP_OF_BINS = "the mean over ten fixed bins of confidence of the squared gap"
_JS_HIGH = float(np.sqrt(np.log(2)))


def by_name(measures: Sequence[Measure]) -> Mapping[str, Measure]:
    """Return measures by name; a ValueError where a name is declared twice or has a wrong form."""
    names = [measure.name for measure in measures]
    for name in names:
        if not _NAME.fullmatch(name):
            raise ValueError(f"the measure {name!r}: expected a name such as 'dist_ce'")
        if names.count(name) > 1:
            raise ValueError(f"the measure {name!r} is declared twice")
    return MappingProxyType(dict(zip(names, measures, strict=True)))


MEASURES: Mapping[str, Measure] = by_name(
        (
            Measure(name="jsd", title="JSD (distance)", unit="√nats", low=0, high=_JS_HIGH,
                    better="lower", source=_NIE, **_mean(_js_distance),
                    few_votes_bias="favours_overconfident"),
            Measure(name="kl", title="KL(human ‖ model)", unit="nats", low=0, high=np.inf,
                    better="lower", source=_NIE, **_mean(_kl), few_votes_bias="none"),
            Measure(name="old_accuracy", title="old accuracy", unit="", low=0, high=1,
                    better="higher", source=_NIE, **_mean(_old_accuracy), needs="old label"),
            Measure(name="new_accuracy", title="new accuracy", unit="", low=0, high=1,
                    better="higher", source=_NIE, **_mean(_new_accuracy)),
            Measure(name="dist_ce", title="DistCE (TVD)", unit="", low=0, high=1,
                    better="lower", source=_BAAN, few_votes_bias="favours_overconfident",
                    **_mean(lambda b: divergence.total_variation(b.human, b.model))),
            Measure(name="ent_ce", title="EntCE", unit="nats", low=0, high=1, better="lower",
                    source=_BAAN, times="log k", few_votes_bias="favours_overconfident",
                    **_mean(lambda b: np.abs(calibration.entropy_error(b.human, b.model)))),
            Measure(name="signed_ent_ce", title="signed EntCE", unit="nats", low=-1, high=1,
                    better="zero", source=_BAAN, times="log k",
                    few_votes_bias="favours_overconfident",
                    **_mean(lambda b: calibration.entropy_error(b.human, b.model))),
            Measure(name="rank_cs", title="RankCS", unit="", low=0, high=1, better="higher",
                    source=_BAAN,
                    **_mean(lambda b: calibration.same_ranking(b.human, b.model, ties="index")),
                    estimand=_OBSERVED_ORDER),
            Measure(name="rank_cs_ties", title="RankCS, tie-aware", unit="", low=0, high=1,
                    better="higher", source="this book",
                    **_mean(lambda b: calibration.same_ranking(b.human, b.model, ties="aware")),
                    estimand=_OBSERVED_ORDER),
            Measure(name="rank_cs_expected", title="RankCS, ties at random", unit="", low=0,
                    high=1, better="higher", source="this book",
                    **_mean(lambda b: calibration.expected_same_ranking(b.human, b.model)),
                    estimand=_OBSERVED_ORDER),
            Measure(name="kendall_tau", title="Kendall’s τ-b", unit="", low=-1, high=1,
                    better="higher", source="Kendall 1945", columns=_tau_columns,
                    reduce=_ratio_where_defined, estimand=_OBSERVED_ORDER),
            Measure(name="ece", title="ECE, majority label", unit="", low=0, high=1,
                    better="lower", source="Guo et al. 2017",
                    **_ece(lambda b: b.first_majority, "first")),
            Measure(name="ece_votes", title="ECE, vote shares", unit="", low=0, high=1,
                    better="lower", source="this book", **_ece(lambda b: b.human, "shared")),
            Measure(name="classwise_ece", title="class-wise ECE, majority label", unit="",
                    low=0, high=1, better="lower", source="Kull et al. 2019",
                    **_classwise(lambda b: b.first_majority)),
            Measure(name="classwise_ece_votes", title="class-wise ECE, vote shares", unit="",
                    low=0, high=1, better="lower", source="this book",
                    **_classwise(lambda b: b.human)),
            Measure(name="mce", title="maximum calibration error", unit="", low=0, high=1,
                    better="lower", source="Guo et al. 2017", columns=_mce_columns,
                    reduce=_largest_gap, has_interval=False),
            Measure(name="adaptive_ece", title="ECE, equal-mass bins", unit="", low=0, high=1,
                    better="lower", source="Nixon et al. 2019", columns=_adaptive_columns,
                    reduce=_sum_of_gaps, by_item=False, has_interval=False),
            Measure(name="sq_ce", title="squared calibration error, majority label", unit="",
                    low=-1, high=1, better="lower", source="Kumar et al. 2019",
                    **_squared_error(lambda b: b.first_majority),
                    estimand=f"{_GAP_OF_BINS}; right is the majority of the observed votes"),
            Measure(name="sq_ce_votes", title="squared calibration error, vote shares", unit="",
                    low=-1, high=1, better="lower", source="Kumar et al. 2019",
                    **_squared_error(lambda b: b.human), estimand=_GAP_OF_BINS),
            Measure(name="soft_accuracy", title="soft accuracy (1 − TVD)", unit="", low=0,
                    high=1, better="higher", source="this book",
                    **_mean(lambda b: scores.soft_accuracy(b.human, b.model)),
                    few_votes_bias="favours_overconfident"),
            Measure(name="cross_entropy", title="soft cross-entropy", unit="nats", low=0,
                    high=np.inf, better="lower", source="Shannon 1948", **_mean(_cross_entropy),
                    few_votes_bias="none"),
            Measure(name="brier", title="Brier score of the votes", unit="", low=0, high=2,
                    better="lower", source="Brier 1950",
                    **_mean(lambda b: scores.brier_of_votes(b.human, b.model)),
                    few_votes_bias="none",
                    estimand="the Brier score of one more vote on each item"),
            Measure(name="sq_distance", title="squared distance, unbiased", unit="", low=-0.5,
                    high=2, better="lower", source="Brier 1950", **_mean(_squared_distance),
                    needs="two votes", few_votes_bias="none", studentised=True,
                    estimand="the squared distance to all people, not to the observed votes"),
            Measure(name="manhattan", title="Manhattan distance (2 × TVD)", unit="", low=0,
                    high=2, better="lower", source="Leonardelli et al. 2025",
                    **_mean(lambda b: 2 * divergence.total_variation(b.human, b.model)),
                    few_votes_bias="favours_overconfident"),
            Measure(name="simbench", title="SimBench score", unit="", low=-np.inf, high=100,
                    better="higher", source="Hu et al. 2025", columns=_simbench_columns,
                    reduce=_gain_on_uniform_guess, few_votes_bias="favours_overconfident"),
            Measure(name="wasserstein", title="Wasserstein distance", unit="steps", low=0,
                    high=1, better="lower", source="Leonardelli et al. 2025",
                    **_mean( lambda b: divergence.wasserstein(b.human, b.model)),
                    needs="ordered labels", times="k - 1",
                    few_votes_bias="favours_overconfident"),
        )
)  # fmt: skip
