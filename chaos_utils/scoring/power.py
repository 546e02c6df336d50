"""Which differences n items with v votes each can show: the variance of paired differences."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from chaos_utils.metrics.checks import as_distributions, as_votes
from chaos_utils.metrics.divergence import Floats
from chaos_utils.metrics.measures import EvalBatch, Measure
from chaos_utils.metrics.resampling import split_votes

Ints = npt.NDArray[np.int64]
_POWER, _LEVEL = 0.8, 0.05
_REACH = NormalDist().inv_cdf(1 - _LEVEL / 2) + NormalDist().inv_cdf(_POWER)


@dataclass(frozen=True, slots=True)
class VarianceOfDifference:
    """The variance between items of the difference of two systems, judged by v votes per item."""

    total: float  # for one item, over items and votes; for a mean of n items, divide by n
    of_items: float  # part left after endless repetitions of the v votes; NaN below 2 v votes
    of_votes: float  # part of the votes, on average over items: it falls about as 1/v


def difference_variances(
    counts: npt.ArrayLike,
    first: EvalBatch,
    second: EvalBatch,
    measures: Sequence[Measure],
    n_votes: int,
    rng: np.random.Generator,
    n_draws: int = 10,
) -> list[VarianceOfDifference]:
    """Return the variance of each measure's difference between two systems, at `n_votes` per item.

    Votes drawn without replacement from an item's votes stand for a crowd of as many people. Two
    disjoint draws are two independent crowds: the covariance over items of their differences is the
    part of the items, and half the mean square of the gap between them is the part of the votes.
    Both parts are averaged over `n_draws`, and assume no distribution. Measures must be means over
    items.
    """
    votes = as_votes(counts, "counts").astype(np.int64)
    fewest = int(votes.sum(axis=1).min())
    if not 1 <= n_votes <= fewest or n_draws < 1 or len(votes) < 2:
        raise ValueError(
            f"{n_votes} votes, {n_draws} draws, {len(votes)} items: expected at most {fewest} "
            "votes, the item with fewest, 1 draw and 2 items"
        )
    if not_means := [measure.name for measure in measures if not measure.is_mean]:
        raise ValueError(f"{', '.join(not_means)}: expected means over items")
    fits_two_crowds = 2 * n_votes <= fewest
    sizes = (n_votes, n_votes) if fits_two_crowds else (n_votes,)
    totals, item_parts, vote_parts = (np.zeros(len(measures)) for _ in range(3))
    for _ in range(n_draws):
        crowds = split_votes(votes, sizes, rng)[: len(sizes)]
        gaps = np.stack([_gaps(crowd, first, second, measures, rng) for crowd in crowds])
        totals += gaps.var(axis=1, ddof=1).mean(axis=0) / n_draws
        if fits_two_crowds:
            centred = gaps - gaps.mean(axis=1, keepdims=True)
            item_parts += centred.prod(axis=0).sum(axis=0) / (len(votes) - 1) / n_draws
            vote_parts += ((gaps[0] - gaps[1]) ** 2).mean(axis=0) / 2 / n_draws
    if not fits_two_crowds:
        item_parts[:], vote_parts[:] = np.nan, np.nan
    return [
        VarianceOfDifference(
            float(total), float(max(item_part, 0)) if fits_two_crowds else np.nan, float(vote_part)
        )
        for total, item_part, vote_part in zip(totals, item_parts, vote_parts, strict=True)
    ]


def _gaps(
    crowd: Ints,
    first: EvalBatch,
    second: EvalBatch,
    measures: Sequence[Measure],
    rng: np.random.Generator,
) -> Floats:
    """Return the systems' differences, judged by a crowd, shape (n_items, n_measures)."""
    sizes = crowd.sum(axis=1)
    human = crowd / sizes[:, np.newaxis]
    # A tie between labels is settled by lot, as one more person would settle it.
    majority = (crowd + rng.uniform(0, 0.5, size=crowd.shape)).argmax(axis=1)
    batches = [
        EvalBatch(
            human, batch.model, batch.predicted, majority, batch.old_label, sizes, batch.stated
        )
        for batch in (first, second)
    ]
    return np.column_stack(
        [
            measure.columns(batches[0])[:, 0] - measure.columns(batches[1])[:, 0]
            for measure in measures
        ]
    )


def squared_distance_variance(
    counts: npt.ArrayLike, first: npt.ArrayLike, second: npt.ArrayLike, n_votes: int
) -> VarianceOfDifference:
    """Return the variance of the difference of two systems' squared distances, in closed form.

    The difference on an item, ``|a|² − |b|² − 2 (a − b)·h``, is linear in the votes' shares h, so
    its variance at v votes, which may be more than there are, is exactly σ²_items + σ²_votes / v.
    σ²_items and σ²_votes are estimated without bias, if there are two items with two votes each.
    They hold for Brier scores of votes and for unbiased squared distances.
    """
    votes = as_votes(counts, "counts")
    a, b = as_distributions(first, "first"), as_distributions(second, "second")
    sizes = votes.sum(axis=1)
    if len(votes) < 2 or sizes.min() < 2 or n_votes < 1:
        raise ValueError(
            f"{len(votes)} items, {sizes.min()} votes on one, {n_votes} votes to judge by: "
            "expected at least 2, 2 and 1"
        )
    human = votes / sizes[:, np.newaxis]
    slope = 2 * (a - b)
    gaps = (a**2).sum(axis=1) - (b**2).sum(axis=1) - (slope * human).sum(axis=1)
    # Variance of slope·vote for one vote on each item, unbiased.
    vote_variance = (slope**2 * human).sum(axis=1) - (slope * human).sum(axis=1) ** 2
    vote_variance = vote_variance * sizes / (sizes - 1)
    item_part = max(float(gaps.var(ddof=1) - (vote_variance / sizes).mean()), 0.0)
    vote_part = float(vote_variance.mean()) / n_votes
    return VarianceOfDifference(item_part + vote_part, item_part, vote_part)


def smallest_difference(variance: npt.ArrayLike, n_items: npt.ArrayLike) -> Floats:
    """Return the difference that a two-sided test at 5% finds in 80% of studies.

    ``(z_{0.975} + z_{0.8}) · √(variance / n)`` with n = `n_items`, which is 2.80 standard errors.
    `variance` is that of one item's paired difference, `VarianceOfDifference.total`.

    References
    ----------
    Card, D. et al. (2020). With little power comes great responsibility.
    """
    return _REACH * np.sqrt(np.asarray(variance, float) / np.asarray(n_items))


def items_needed(variance: npt.ArrayLike, difference: npt.ArrayLike) -> Floats:
    """Return the number of items for which `difference` is the `smallest_difference`.

    `variance` is as there.
    """
    return _REACH**2 * np.asarray(variance) / np.asarray(difference, float) ** 2
