"""What a claim is, what decides it, and the rules that turn numbers into a verdict."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.votes import Votes
from chaos_utils.evaluation.baan import in_paper
from chaos_utils.metrics.measures import MEASURES, Judged
from chaos_utils.metrics.resampling import bootstrap_tables, percentile_interval
from chaos_utils.scoring.system import System

Floats = npt.NDArray[np.float64]
HOLDS = "holds"
NOISE = "holds within noise"
FAILS = "does not hold"
OPEN = "cannot be checked with released data"
VERDICTS = (HOLDS, NOISE, FAILS, OPEN)
_ROUNDING = 1e-9  # 0.75 - 0.7495 must not exceed half a unit by floating point alone


class UnavailableError(Exception):
    """Votes or predictions that a claim is checked with are not available; says which."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and its 95% interval.

    Attributes
    ----------
    value, low, high : float
        The ends are NaN where there is no interval.
    """

    value: float
    low: float = np.nan
    high: float = np.nan


@dataclass(frozen=True, slots=True)
class Evidence:
    """What decides a claim.

    Attributes
    ----------
    value, low, high : float
        The deciding number and its 95% interval; NaN where there is none.
    verdict : str
        One of `VERDICTS`.
    text : str
        What the number is, what it is held against, and what a reader should know.
    """

    value: float
    low: float
    high: float
    verdict: str
    text: str


@dataclass(frozen=True, slots=True)
class Grounds:
    """All that claims are checked with.

    Attributes
    ----------
    by_dataset : mapping
        Votes by dataset.
    systems : mapping
        Systems by dataset: released (or simulated) ones, then the reader's own.
    n_resamples : int
        Resamples of the items for each interval, at least 1.
    n_splits : int
        Draws of H1 and H2, at least 1.
    seed : int
        Seed of both.
    released : bool
        Whether the votes are the released ones, so that counts of other files fit them.
    """

    by_dataset: Mapping[str, Votes]
    systems: Mapping[str, Sequence[System]]
    n_resamples: int
    n_splits: int
    seed: int
    released: bool

    def votes(self, dataset: str) -> Votes:
        """Return a dataset's votes."""
        if dataset not in self.by_dataset:
            raise UnavailableError(f"The votes on {dataset} are not available.")
        return self.by_dataset[dataset]

    def everyone(self, dataset: str) -> list[Judged]:
        """Return every available system, aligned to the votes."""
        if not self.systems.get(dataset):
            raise UnavailableError(
                f"No predictions on {dataset} are available; pass `-p predictions=FILE` with yours."
            )
        return [system.aligned_to(self.by_dataset[dataset]) for system in self.systems[dataset]]

    def in_paper(self, dataset: str, seed: int | None = None) -> list[Judged]:
        """Return the model that Baan et al. (2022) tabulate (or a stand-in): each seed, or one."""
        systems = [
            one for one in in_paper(self.systems.get(dataset, ())) if seed in (None, one.seed)
        ]
        if not systems:
            raise UnavailableError(
                f"The predictions that were released on {dataset} are not available."
            )
        return [system.aligned_to(self.by_dataset[dataset]) for system in systems]

    def estimate(
        self, columns: npt.ArrayLike, reduce: Callable[[Floats], Floats] | None = None
    ) -> Estimate:
        """Return a statistic of item means with its item-bootstrap interval.

        Parameters
        ----------
        columns : array_like of float, shape (n_items,) or (n_items, n_columns)
            What is averaged over items.
        reduce : callable, optional
            From means, shape (..., n_columns), to the statistic, shape (...). The mean of
            the first column by default.
        """
        table = np.asarray(columns, dtype=np.float64)
        table = table.reshape(len(table), -1)
        statistic = reduce or (lambda means: means[..., 0])
        items = np.arange(len(table))
        rng = np.random.default_rng([self.seed, 0])  # as `scores.score` resamples
        (means,) = bootstrap_tables([(items, table)], items, self.n_resamples, rng)
        low, high = percentile_interval(statistic(means))
        return Estimate(float(statistic(table.mean(axis=0))), float(low), float(high))

    def gain(self, measure: str, one: Judged, other: Judged) -> Estimate:
        """Return `other`'s value of a measure minus `one`'s, on the same resampled items."""
        found = MEASURES[measure]
        columns = [found.columns(one), found.columns(other)]
        width = columns[0].shape[1]
        return self.estimate(
            np.concatenate(columns, axis=1),
            lambda means: found.reduce(means[..., width:]) - found.reduce(means[..., :width]),
        )

    def score(self, measure: str, judged: Sequence[Judged]) -> Estimate:
        """Return a measure's mean over systems that cover the same items."""
        found = MEASURES[measure]
        blocks = [found.columns(one) for one in judged]
        ends = np.cumsum([block.shape[1] for block in blocks])[:-1]
        return self.estimate(
            np.concatenate(blocks, axis=1),
            lambda means: np.mean(
                [found.reduce(part) for part in np.split(means, ends, axis=-1)], axis=0
            ),
        )


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of a paper, in our own words, and how it is checked.

    Attributes
    ----------
    id : str
        ``c01`` …; never changes once published.
    paper : str
        Citation key.
    place : str
        Section, table or figure.
    claim : str
        What is claimed.
    check : callable
        From `Grounds` to `Evidence`; may raise `UnavailableError`.
    """

    id: str
    paper: str
    place: str
    claim: str
    check: Callable[[Grounds], Evidence]

    def decide(self, material: Grounds) -> Evidence:
        """Return the evidence; where something is not available, say so instead."""
        try:
            return self.check(material)
        except UnavailableError as missing:
            return not_checkable(str(missing))


def by_number(estimate: Estimate, claimed: float, within: float, text: str) -> Evidence:
    """Judge a claim that something is a number.

    It holds where the estimate is the number up to `within` (half a unit of the last digit
    printed); within noise where the number lies in the interval, widened by `within`.

    Parameters
    ----------
    claimed, within : float
        The number, and how far from it still is the same; in the estimate's unit.
    text : str
        What the estimate is, for `Evidence`.
    """
    reach = within + _ROUNDING
    if abs(estimate.value - claimed) <= reach:
        verdict = HOLDS
    elif estimate.low - reach <= claimed <= estimate.high + reach:
        verdict = NOISE
    else:
        verdict = FAILS
    return Evidence(estimate.value, estimate.low, estimate.high, verdict, text)


def by_order(estimate: Estimate, above: float, text: str) -> Evidence:
    """Judge a claim that something is more than `above`.

    It holds where the whole interval lies above; within noise where the interval reaches to
    both sides, so that the data speak neither way. Without an interval the value decides.
    """
    low = estimate.value if np.isnan(estimate.low) else estimate.low
    high = estimate.value if np.isnan(estimate.high) else estimate.high
    verdict = HOLDS if low > above else NOISE if high > above else FAILS
    return Evidence(estimate.value, estimate.low, estimate.high, verdict, text)


def by_count(found: int, of: int, text: str) -> Evidence:
    """Judge a claim about all of several cases: it holds where none is an exception."""
    return Evidence(found, np.nan, np.nan, HOLDS if found == of else FAILS, text)


def not_checkable(text: str) -> Evidence:
    """Return the verdict on a claim whose evidence was not released or is not available."""
    return Evidence(np.nan, np.nan, np.nan, OPEN, text)


def weakest(estimates: Iterable[Estimate]) -> Estimate:
    """Return the smallest of several estimates: the one that a claim about all rests on."""
    return min(estimates, key=lambda estimate: estimate.value)


def least_favourable(parts: Sequence[Evidence], text: str) -> Evidence:
    """Join the evidence on the parts of a claim: it stands or falls with its worst part.

    Of several parts with that verdict, the first gives the number.
    """
    worst = max(parts, key=lambda part: VERDICTS.index(part.verdict))
    return replace(worst, text=text)


def numbered(
    number: int,
    paper: str,
    place: str,
    claim: str,
    check: Callable[..., Evidence],
    **options: object,
) -> Claim:
    """Return a claim whose check is given options."""
    return Claim(f"c{number:02d}", paper, place, claim, partial(check, **options))


def listed(values: "pd.Series | dict[str, float]", form: str) -> str:
    """Write one number per dataset, in one line: ``SNLI 0.123, MNLI 0.456``."""
    return ", ".join(
        f"{get_dataset(str(dataset)).short} {value:{form}}" for dataset, value in values.items()
    )


def closed(material: Grounds, text: str) -> Evidence:
    """Check a claim whose evidence was not released: there is nothing to look at."""
    return not_checkable(text)
