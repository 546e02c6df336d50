"""What n items with v votes each can tell apart: the spread of paired differences."""

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

    total: float  # of one item's difference, over items and votes; of a mean of n it is 1/n
    of_items: float  # what endless repetitions of the v votes leave; NaN with fewer than 2 v votes
    of_votes: float  # the rest, on average over items: it falls about as 1/v


def spread_by_thinning(
    counts: npt.ArrayLike,
    first: EvalBatch,
    second: EvalBatch,
    measures: Sequence[Measure],
    n_votes: int,
    rng: np.random.Generator,
    n_draws: int = 10,
) -> list[VarianceOfDifference]:
    """Return the spread of each measure's difference between two systems at fewer votes.

    Some of an item's votes, drawn without replacement, are what as many people would have given.
    Two disjoint sets of them are two independent crowds: their covariance over items is the part of
    the items, half the mean square of their difference that of the votes. Both are averaged over
    draws, and neither assumes a distribution. Measures must be means over items.
    """
    votes = as_votes(counts, "counts").astype(np.int64)
    fewest = int(votes.sum(axis=1).min())
    if not 1 <= n_votes <= fewest or n_draws < 1 or len(votes) < 2:
        raise ValueError(
            f"{n_votes} votes, {n_draws} draws, {len(votes)} items: expected at most {fewest} "
            "votes, the item with fewest, 1 draw and 2 items"
        )
    if others := [measure.name for measure in measures if not measure.is_mean]:
        raise ValueError(f"{', '.join(others)}: expected means over items")
    in_two = 2 * n_votes <= fewest
    sizes = (n_votes, n_votes) if in_two else (n_votes,)
    totals, items, votes_part = (np.zeros(len(measures)) for _ in range(3))
    for _ in range(n_draws):
        crowds = split_votes(votes, sizes, rng)[: len(sizes)]
        gaps = np.stack([_gaps(crowd, first, second, measures, rng) for crowd in crowds])
        totals += gaps.var(axis=1, ddof=1).mean(axis=0) / n_draws
        if in_two:
            centred = gaps - gaps.mean(axis=1, keepdims=True)
            items += centred.prod(axis=0).sum(axis=0) / (len(votes) - 1) / n_draws
            votes_part += ((gaps[0] - gaps[1]) ** 2).mean(axis=0) / 2 / n_draws
    if not in_two:
        items[:], votes_part[:] = np.nan, np.nan
    return [
        VarianceOfDifference(float(total), float(max(one, 0)) if in_two else np.nan, float(rest))
        for total, one, rest in zip(totals, items, votes_part, strict=True)
    ]


def _gaps(
    crowd: Ints,
    first: EvalBatch,
    second: EvalBatch,
    measures: Sequence[Measure],
    rng: np.random.Generator,
) -> Floats:
    """Return the systems' differences judged by a crowd, shape (n_items, n_measures)."""
    sizes = crowd.sum(axis=1)
    human = crowd / sizes[:, np.newaxis]
    # A tie between labels is settled by lot, as one more person would settle it.
    majority = (crowd + rng.uniform(0, 0.5, size=crowd.shape)).argmax(axis=1)
    sides = [
        EvalBatch(
            human, batch.model, batch.predicted, majority, batch.old_label, sizes, batch.stated
        )
        for batch in (first, second)
    ]
    return np.column_stack(
        [measure.columns(sides[0])[:, 0] - measure.columns(sides[1])[:, 0] for measure in measures]
    )


def spread_of_squared_distance(
    counts: npt.ArrayLike, first: npt.ArrayLike, second: npt.ArrayLike, n_votes: int
) -> VarianceOfDifference:
    """Return the spread of the difference of two systems' squared distances, in closed form.

    The difference on an item, ``|a|² − |b|² − 2 (a − b)·h``, is linear in the votes' shares h, so
    that its variance at v votes, which may be more than there are, is exactly σ²_items + σ²_votes /
    v. Both are estimated without bias, from two votes on each of two items on; so they hold for
    Brier scores of votes and for unbiased squared distances alike.
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
    # Variance of one vote's slope on each item, unbiased.
    of_one = (slope**2 * human).sum(axis=1) - (slope * human).sum(axis=1) ** 2
    of_one = of_one * sizes / (sizes - 1)
    of_items = max(float(gaps.var(ddof=1) - (of_one / sizes).mean()), 0.0)
    of_votes = float(of_one.mean()) / n_votes
    return VarianceOfDifference(of_items + of_votes, of_items, of_votes)


def smallest_difference(variance: npt.ArrayLike, n_items: npt.ArrayLike) -> Floats:
    """Return the difference that is found in 80% of studies by a two-sided test at 5%.

    ``(z_{0.975} + z_{0.8}) · √(variance / n)``, which is 2.80 standard errors, of `n_items`, and of
    the `variance` of one item's paired difference, `VarianceOfDifference.total`.

    References
    ----------
    Card, D. et al. (2020). With little power comes great responsibility.
    """
    return _REACH * np.sqrt(np.asarray(variance, float) / np.asarray(n_items))


def items_needed(variance: npt.ArrayLike, difference: npt.ArrayLike) -> Floats:
    """Return how many items find a `difference` so, given the `variance`.

    `smallest_difference`, inverted.
    """
    return _REACH**2 * np.asarray(variance) / np.asarray(difference, float) ** 2
