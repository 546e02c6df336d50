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
_NAME = re.compile("[a-z][a-z0-9_]*")  # of a measure: columns, options and JSON keys
_LABEL_PAIRS_AT_ONCE = 5_000_000  # of pairs of labels that are held at once


@dataclass(frozen=True, slots=True)
class EvalBatch:
    """A system's predictions beside what humans said, item by item.

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
        Whether `predicted` are labels that the system states itself. Otherwise they follow from
        the probabilities, and labels that are tied for the largest one share an item.
    ties_share : bool
        Whether no majority of the votes is stated: labels that are tied for most votes then share
        an item too.
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
        Name in tables and answers for programs; says unit and convention.
    title : str
        Name for readers.
    unit : str
        Empty for a share.
    low, high : float
        Range; infinite where it has no end. See `low_for` and `high_for`.
    better : {'lower', 'higher', 'zero'}
        Which way is better.
    source : str
        Whose measure it is, in short.
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
        What `low` and `high` are multiples of: log n_classes, the largest entropy, or the steps
        between the first and the last label.
    has_interval : bool
        Whether an interval of it may be shown. False where a percentile interval holds the truth
        less often than it says: a resample is always less well calibrated than its items are.
    studentised : bool
        Whether its interval is a bootstrap-t, and needs items on which people disagree: it is a
        mean whose few large values a percentile interval misses.
    estimand : str
        What is estimated, where it is not the mean over a population of items, each judged by the
        observed votes.
    few_votes_bias : {'', 'none', 'favours_overconfident'}
        What few votes do to a comparison of systems. With ``none``, differences are unbiased, and
        the truth scores best; with ``favours_overconfident``, an overconfident system scores better
        than the truth. Empty where the truth is not alone best by endless votes either, such as
        accuracies. A simulation tests it.
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
        """Return the lower end of the range, in the measure's `unit`; minus infinity for none."""
        return self.low * _FACTORS[self.times](n_classes)

    def high_for(self, n_classes: int) -> float:
        """Return the upper end of the range, in the measure's `unit`; infinity for none."""
        return self.high * _FACTORS[self.times](n_classes)

    def value(self, judged: EvalBatch) -> float:
        """Return the measure on all items of `judged`, in its `unit`."""
        return float(self.reduce(self.columns(judged).mean(axis=0)))


def columns_of(measure: Measure, judged: EvalBatch) -> Floats:
    """Return a measure's columns, some items at a time: pairs of labels take memory."""
    n, k = judged.human.shape
    step = max(1, _LABEL_PAIRS_AT_ONCE // k**2)
    if n <= step or not measure.by_item:
        return measure.columns(judged)
    parts = (take_items(judged, np.arange(i, min(i + step, n))) for i in range(0, n, step))
    return np.concatenate([measure.columns(part) for part in parts])


def take_items(judged: EvalBatch, rows: npt.NDArray[np.generic]) -> EvalBatch:
    """Return some of the items of predictions beside votes."""
    arrays = ("human", "model", "predicted", "majority", "old_label", "n_votes")
    given = {name: getattr(judged, name) for name in arrays}
    return replace(judged, **{n: values[rows] for n, values in given.items() if values is not None})


def _mean(per_item: Callable[[EvalBatch], npt.ArrayLike]) -> dict[str, Any]:
    """Describe a measure that is the mean over items of one value."""

    def columns(judged: EvalBatch) -> Floats:
        return np.asarray(per_item(judged), dtype=np.float64)[:, np.newaxis]

    return {"columns": columns, "reduce": _first}


def _first(means: Floats) -> Floats:
    return means[..., 0]


def _bin_columns(bins: npt.NDArray[np.int64], n_bins: int, *values: Floats) -> Floats:
    """Spread values over the columns of their bins; no bin leaves a row of zeros."""
    inside = bins[:, np.newaxis] == np.arange(n_bins)
    return np.concatenate([inside * value[:, np.newaxis] for value in values], axis=1)


def _ratio(top: Floats, bottom: Floats, otherwise: float) -> Floats:
    """Divide what is above 0; `otherwise` where nothing is."""
    return np.divide(top, bottom, out=np.full(top.shape, otherwise), where=bottom > 0)


def _sum_of_gaps(means: Floats) -> Floats:
    return np.abs(means).sum(axis=-1)


def _ece(
    target: Callable[[EvalBatch], npt.ArrayLike], ties: Literal["first", "shared"]
) -> dict[str, Any]:
    def columns(judged: EvalBatch) -> Floats:
        confidence, hits = calibration.hits_of(judged.model, target(judged), ties=ties)
        return _bin_columns(BAAN_BINS.assign(confidence), BAAN_BINS.n_bins, hits - confidence)

    return {"columns": columns, "reduce": _sum_of_gaps, "has_interval": False}


def _squared_error(target: Callable[[EvalBatch], npt.ArrayLike]) -> dict[str, Any]:
    n_bins = SOUND_BINS.n_bins

    def columns(judged: EvalBatch) -> Floats:
        confidence, hits = calibration.hits_of(judged.model, target(judged), ties="shared")
        gaps = hits - confidence
        bins = SOUND_BINS.assign(confidence)
        of_bins = _bin_columns(bins, n_bins, np.ones_like(gaps), gaps, gaps**2)
        return np.column_stack([of_bins, np.full(len(gaps), len(gaps))])

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
    def columns(judged: EvalBatch) -> Floats:
        probabilities, hits = calibration.classwise_hits(judged.model, target(judged))
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


def _mce_columns(j: EvalBatch) -> Floats:
    confidence, hits = calibration.hits_of(j.model, j.first_majority)
    bins = BAAN_BINS.assign(confidence)
    return _bin_columns(bins, BAAN_BINS.n_bins, hits - confidence, np.ones(len(bins)))


def _largest_gap(means: Floats) -> Floats:
    gaps, shares = np.split(means, 2, axis=-1)
    return _ratio(np.abs(gaps), shares, 0.0).max(axis=-1)


def _adaptive_columns(j: EvalBatch) -> Floats:
    confidence, hits = calibration.hits_of(j.model, j.first_majority)
    n_bins = min(BAAN_BINS.n_bins, len(confidence))
    return _bin_columns(calibration.equal_mass_bins(confidence, n_bins), n_bins, hits - confidence)


def _tau_columns(j: EvalBatch) -> Floats:
    tau = calibration.kendall_tau_b(j.human, j.model)
    return np.column_stack([np.nan_to_num(tau), ~np.isnan(tau)])


def _ratio_where_defined(means: Floats) -> Floats:
    return _ratio(means[..., 0], means[..., 1], np.nan)


def _simbench_columns(j: EvalBatch) -> Floats:
    even = np.full_like(j.human, 1 / j.human.shape[1])
    return np.column_stack([divergence.total_variation(j.human, one) for one in (j.model, even)])


def _gain_on_uniform_guess(means: Floats) -> Floats:
    """One less the model's mean TVD over a uniform guess's, as their script has it by dataset."""
    return 100 * (1 - _ratio_where_defined(means))


def _old_accuracy(j: EvalBatch) -> npt.ArrayLike:
    if j.old_label is None:
        raise ValueError("the items have no old label, which the old accuracy needs")
    return _correct(j, j.old_label)


def _new_accuracy(j: EvalBatch) -> npt.ArrayLike:
    if not j.ties_share:
        return _correct(j, j.majority)
    shared = scores.shared_top(j.human)
    if j.stated:
        return shared[np.arange(len(shared)), j.predicted]
    return scores.expected_correct(j.model, j.predicted, shared)


def _correct(j: EvalBatch, gold: npt.NDArray[np.int64]) -> npt.ArrayLike:
    if j.stated:
        return j.predicted == gold
    return scores.expected_correct(j.model, j.predicted, gold)


def _squared_distance(j: EvalBatch) -> Floats:
    if j.n_votes is None:
        raise ValueError("the items' numbers of votes are not known, which sq_distance needs")
    return divergence.squared_distance(j.human, j.model, j.n_votes)


def _js_distance(j: EvalBatch) -> Floats:
    return divergence.jensen_shannon_distance(j.human, j.model, unit="nats")


def _kl(j: EvalBatch) -> Floats:
    return divergence.kl_divergence(j.human, j.model, unit="nats", floor=NIE_FLOOR)


def _cross_entropy(j: EvalBatch) -> Floats:
    return scores.soft_cross_entropy(j.human, j.model, unit="nats", floor=NIE_FLOOR)


_NIE, _BAAN = "Nie et al. 2020", "Baan et al. 2022"
_OBSERVED_ORDER = "the order of the observed votes, which few votes know badly"
_OF_BINS = "the mean over ten fixed bins of confidence of the squared gap"
_JS_HIGH = float(np.sqrt(np.log(2)))


def by_name(measures: Sequence[Measure]) -> Mapping[str, Measure]:
    """Return measures by name; a ValueError where one is declared twice, or a name is no word."""
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
                    **_mean(lambda j: divergence.total_variation(j.human, j.model))),
            Measure(name="ent_ce", title="EntCE", unit="nats", low=0, high=1, better="lower",
                    source=_BAAN, times="log k", few_votes_bias="favours_overconfident",
                    **_mean(lambda j: np.abs(calibration.entropy_error(j.human, j.model)))),
            Measure(name="signed_ent_ce", title="signed EntCE", unit="nats", low=-1, high=1,
                    better="zero", source=_BAAN, times="log k",
                    few_votes_bias="favours_overconfident",
                    **_mean(lambda j: calibration.entropy_error(j.human, j.model))),
            Measure(name="rank_cs", title="RankCS", unit="", low=0, high=1, better="higher",
                    source=_BAAN,
                    **_mean(lambda j: calibration.same_ranking(j.human, j.model, ties="index")),
                    estimand=_OBSERVED_ORDER),
            Measure(name="rank_cs_ties", title="RankCS, tie-aware", unit="", low=0, high=1,
                    better="higher", source="this book",
                    **_mean(lambda j: calibration.same_ranking(j.human, j.model, ties="aware")),
                    estimand=_OBSERVED_ORDER),
            Measure(name="rank_cs_expected", title="RankCS, ties at random", unit="", low=0,
                    high=1, better="higher", source="this book",
                    **_mean(lambda j: calibration.expected_same_ranking(j.human, j.model)),
                    estimand=_OBSERVED_ORDER),
            Measure(name="kendall_tau", title="Kendall’s τ-b", unit="", low=-1, high=1,
                    better="higher", source="Kendall 1945", columns=_tau_columns,
                    reduce=_ratio_where_defined, estimand=_OBSERVED_ORDER),
            Measure(name="ece", title="ECE, majority label", unit="", low=0, high=1,
                    better="lower", source="Guo et al. 2017",
                    **_ece(lambda j: j.first_majority, "first")),
            Measure(name="ece_votes", title="ECE, vote shares", unit="", low=0, high=1,
                    better="lower", source="this book", **_ece(lambda j: j.human, "shared")),
            Measure(name="classwise_ece", title="class-wise ECE, majority label", unit="",
                    low=0, high=1, better="lower", source="Kull et al. 2019",
                    **_classwise(lambda j: j.first_majority)),
            Measure(name="classwise_ece_votes", title="class-wise ECE, vote shares", unit="",
                    low=0, high=1, better="lower", source="this book",
                    **_classwise(lambda j: j.human)),
            Measure(name="mce", title="maximum calibration error", unit="", low=0, high=1,
                    better="lower", source="Guo et al. 2017", columns=_mce_columns,
                    reduce=_largest_gap, has_interval=False),
            Measure(name="adaptive_ece", title="ECE, equal-mass bins", unit="", low=0, high=1,
                    better="lower", source="Nixon et al. 2019", columns=_adaptive_columns,
                    reduce=_sum_of_gaps, by_item=False, has_interval=False),
            Measure(name="sq_ce", title="squared calibration error, majority label", unit="",
                    low=-1, high=1, better="lower", source="Kumar et al. 2019",
                    **_squared_error(lambda j: j.first_majority),
                    estimand=f"{_OF_BINS}; right is the majority of the observed votes"),
            Measure(name="sq_ce_votes", title="squared calibration error, vote shares", unit="",
                    low=-1, high=1, better="lower", source="Kumar et al. 2019",
                    **_squared_error(lambda j: j.human), estimand=_OF_BINS),
            Measure(name="soft_accuracy", title="soft accuracy (1 − TVD)", unit="", low=0,
                    high=1, better="higher", source="this book",
                    **_mean(lambda j: scores.soft_accuracy(j.human, j.model)),
                    few_votes_bias="favours_overconfident"),
            Measure(name="cross_entropy", title="soft cross-entropy", unit="nats", low=0,
                    high=np.inf, better="lower", source="Shannon 1948", **_mean(_cross_entropy),
                    few_votes_bias="none"),
            Measure(name="brier", title="Brier score of the votes", unit="", low=0, high=2,
                    better="lower", source="Brier 1950",
                    **_mean(lambda j: scores.brier_of_votes(j.human, j.model)),
                    few_votes_bias="none",
                    estimand="the Brier score of one more vote on each item"),
            Measure(name="sq_distance", title="squared distance, unbiased", unit="", low=-0.5,
                    high=2, better="lower", source="Brier 1950", **_mean(_squared_distance),
                    needs="two votes", few_votes_bias="none", studentised=True,
                    estimand="the squared distance to all people, not to the observed votes"),
            Measure(name="manhattan", title="Manhattan distance (2 × TVD)", unit="", low=0,
                    high=2, better="lower", source="Leonardelli et al. 2025",
                    **_mean(lambda j: 2 * divergence.total_variation(j.human, j.model)),
                    few_votes_bias="favours_overconfident"),
            Measure(name="simbench", title="SimBench score", unit="", low=-np.inf, high=100,
                    better="higher", source="Hu et al. 2025", columns=_simbench_columns,
                    reduce=_gain_on_uniform_guess, few_votes_bias="favours_overconfident"),
            Measure(name="wasserstein", title="Wasserstein distance", unit="steps", low=0,
                    high=1, better="lower", source="Leonardelli et al. 2025",
                    **_mean( lambda j: divergence.wasserstein(j.human, j.model)),
                    needs="ordered labels", times="k - 1",
                    few_votes_bias="favours_overconfident"),
        )
)  # fmt: skip
