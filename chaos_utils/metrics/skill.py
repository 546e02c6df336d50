"""A system's skill and worth beyond the base rate, from squared distances item by item.

The zero of skill is the base rate b: how often each label is given overall. The best prediction
from b and the shares of k people's answers about an item is b + λ (shares − b), λ = k / (k + V/d₀);
its distance d follows from 1/d = 1/d₀ + k/V. V is the chance that two people differ, d and d₀ are
mean squared distances. Intervals have the coverage `level`; items are taken to be drawn from a
population, with their votes.
"""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from chaos_utils.metrics.agreement import quadratic_entropy
from chaos_utils.metrics.checks import as_votes
from chaos_utils.metrics.divergence import squared_distance
from chaos_utils.metrics.resampling import Moments, Ratio, Smooth, constant

Floats = npt.NDArray[np.float64]

MARKS = (1, 2, 5, 10)  # people whose skill is marked on an axis
# Items on which people disagree; with fewer, intervals hold the truth too rarely.
FEWEST_DISPUTED = 30
_ROUNDING = 1e-12  # a mean square that is 0 but for rounding
_SMALLEST_DIVISOR = 1e-12  # on a resample


def leave_one_out_mean(shares: npt.ArrayLike, groups: npt.ArrayLike) -> Floats:
    """Mean vote shares over the items of all other groups: each item's base rate.

    Parameters
    ----------
    shares : array_like of float, shape (n_items, n_classes)
        Vote shares.
    groups : array_like of int, shape (n_items,)
        Items of one group, such as those that share a text, are left out together. NaN where there
        is no other group.
    """
    values = np.asarray(shares, dtype=np.float64)
    sums, group = _sums_without_group(np.column_stack([values, np.ones(len(values))]), groups)
    means = np.full((len(sums), values.shape[1]), np.nan)
    np.divide(sums[:, :-1], sums[:, -1:], out=means, where=sums[:, -1:] > 0.5)
    return means[group]


def _sums_without_group(
    table: Floats, groups: npt.ArrayLike
) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Return a table's column sums without each group, and the group of each item, from 0."""
    # np.unique imports numpy.ma, which takes longer than everything else here.
    codes: dict[int, int] = {}
    names = np.asarray(groups).tolist()
    group = np.array([codes.setdefault(name, len(codes)) for name in names], dtype=np.int64)
    group_sums = np.zeros((len(codes), table.shape[1]))
    np.add.at(group_sums, group, table)
    return table.sum(axis=0) - group_sums, group


@dataclass(frozen=True, slots=True, eq=False)
class Distances:
    r"""Expected squared distances to what all people would say, item by item, without bias.

    Attributes
    ----------
    of_person : ndarray of float, shape (n_items,)
        Distance of one person's answer; its mean is V, the chance that two people differ.
    of_base_rate : ndarray of float
        Distance of the leave-one-out mean b; its mean is d₀.
    of_system : ndarray of float
        Distance of the system as it is, m; its mean is d.
    of_shrunk : ndarray of float
        Distance of b + λ (m − b), with λ fitted on the items of all other groups.
    shrinkage : float
        λ fitted on all items, 0 or more. Below 1, the system is overconfident; above 1, b +
        λ (m − b) may leave [0, 1], as a linear regression may.
    spread, product, square : ndarray of float
        Terms from whose means λ and its gain are fitted on resamples, with the mean share of all
        items for b and the true distribution p: :math:`|p - b|^2` without bias,
        :math:`(m - b) \cdot (h - b)` and :math:`|m - b|^2`.
    """

    of_person: Floats
    of_base_rate: Floats
    of_system: Floats
    of_shrunk: Floats
    shrinkage: float
    spread: Floats
    product: Floats
    square: Floats


def distances(
    counts: npt.ArrayLike,
    model: npt.ArrayLike,
    groups: npt.ArrayLike,
    varying: Floats | float = 0.0,
) -> Distances:
    r"""Return the squared distances of a person, the base rate and a system, item by item.

    The shrinkage :math:`\lambda` of an item is fitted on the items of all other groups, with their
    mean share for b: :math:`\sum (m - b) \cdot (h - b) / \sum |m - b|^2` makes
    :math:`b + \lambda (m - b)` nearest to people.

    Parameters
    ----------
    counts : array_like of int, shape (n_items, n_classes)
        Votes, at least two on each item.
    groups : array_like of int, shape (n_items,)
        As for `leave_one_out_mean`; at least two.
    varying : float, or ndarray of float, shape (n_items,)
        For a random prediction with mean `model`, such as the pooled votes of some judges: the sum
        of its variances over labels. Distances are then expected distances.
    """
    votes = as_votes(counts, "counts")
    n_votes = votes.sum(axis=1)
    shares = votes / n_votes[:, np.newaxis]
    base = leave_one_out_mean(shares, groups)
    if np.isnan(base).any():
        raise ValueError("a base rate needs items of at least two groups")
    of_base_rate = squared_distance(shares, base, n_votes)
    of_system = squared_distance(shares, model, n_votes) + varying
    predicted = np.asarray(model, dtype=np.float64)
    n_classes = predicted.shape[1]
    squares = (predicted**2).sum(axis=1) + varying
    parts = np.column_stack(
        [predicted, shares, (predicted * shares).sum(axis=1), squares, np.ones(len(predicted))]
    )
    sums_of_others, group = _sums_without_group(parts, groups)
    weights = _weights(sums_of_others, n_classes)[group]
    deviation = predicted - base
    products = (deviation * (shares - base)).sum(axis=1)
    of_shrunk = of_base_rate - 2 * weights * products
    of_shrunk += weights**2 * ((deviation**2).sum(axis=1) + varying)
    shrinkage = float(_weights(parts.sum(axis=0, keepdims=True), n_classes)[0])
    mean = shares.mean(axis=0)
    # The mean contains an item's own share, which makes deviations from it too small.
    correction = len(votes) / max(len(votes) - 1, 1)
    noise = (shares * (1 - shares)).sum(axis=1) / (n_votes - 1)
    return Distances(
        of_person=quadratic_entropy(votes),
        of_base_rate=of_base_rate,
        of_system=of_system,
        of_shrunk=of_shrunk,
        shrinkage=shrinkage,
        spread=correction * ((shares - mean) ** 2).sum(axis=1) - noise,
        product=correction * ((predicted - mean) * (shares - mean)).sum(axis=1),
        square=correction * (((predicted - mean) ** 2).sum(axis=1) + varying),
    )


def _weights(sums: Floats, n_classes: int) -> Floats:
    """Return λ, 0 or more, from sums over items, in rows; 0 for the base rate itself.

    The columns are the sums of m and h, by label, of m · h, of |m|² and of 1.
    """
    model, shares, products, squares, n = np.split(sums, np.cumsum([n_classes] * 2 + [1] * 2), 1)
    base = shares / n
    covariance = products[:, 0] - (model * base).sum(axis=1)
    variance = squares[:, 0] - 2 * (model * base).sum(axis=1) + n[:, 0] * (base**2).sum(axis=1)
    varies = variance > _ROUNDING * n[:, 0]
    weights = np.divide(covariance, variance, out=np.zeros(len(sums)), where=varies)
    return np.maximum(weights, 0)


def is_above_zero(values: Floats, level: float = 0.95) -> bool:
    """Return whether the normal interval of a mean over items lies above 0.

    Where the interval of the base rate's squared distances does not, items hardly differ, or votes
    are too few to show that they do, and no skill is defined. False for fewer than two items.
    """
    if len(values) < 2:
        return False
    z = NormalDist().inv_cdf((1 + level) / 2)
    return bool(values.mean() > z * values.std(ddof=1) / np.sqrt(len(values)))


def skill_of_people(n_people: npt.ArrayLike, credibility: float) -> Floats:
    """Return the skill of k people's answers, combined with the base rate: k / (k + k₀).

    k is `n_people`; k₀ = V/d₀ is Bühlmann's `credibility` constant, in people. In [0, 1]; the skill
    of one person is Fleiss' κ.

    References
    ----------
    Bühlmann, H. (1967). Experience rating and credibility.
    """
    people = np.asarray(n_people, dtype=np.float64)
    return np.asarray(people / (people + credibility))


def people_with_skill(skill: float, credibility: float) -> float:
    """Return how many people's answers have a skill: the inverse of `skill_of_people`.

    `skill` is at most 1, where people are infinitely many; `credibility` is k₀ = V/d₀, in people.
    """
    return credibility * skill / (1 - skill) if skill < 1 else np.inf


def people_on_top(
    of_person: npt.ArrayLike, of_base_rate: npt.ArrayLike, of_system: npt.ArrayLike
) -> Floats:
    """Return how many people's answers, on top of the base rate, come as near as a system.

    .. math:: k = V/d - V/d_0

    The arguments are means over items of `Distances`: `of_person` for V, `of_base_rate` for d₀,
    `of_system` for d. The base rate has 0. Infinite where `of_system` is at most 0; minus infinity
    where only `of_base_rate` is at most 0.
    """
    means = map(np.asarray, (of_person, of_base_rate, of_system))
    person, base, system = np.broadcast_arrays(*means)
    infinite = np.full(person.shape, np.inf)
    alone = np.divide(person, system, out=infinite.copy(), where=system > 0)
    base_rate_people = np.divide(person, base, out=infinite.copy(), where=base > 0)
    return np.subtract(alone, base_rate_people, out=infinite, where=np.isfinite(alone))


def skill(of_base_rate: npt.ArrayLike, of_system: npt.ArrayLike) -> Floats:
    """Return a system's skill, 1 − d/d₀, from means over items, `of_system` and `of_base_rate`.

    1 for a system that is as near as the votes can show, 0 for the base rate, negative for a system
    that is farther than the base rate.

    References
    ----------
    Murphy, A. H. (1988). Skill scores based on the mean square error and their relationships to
    the correlation coefficient.
    """
    return np.minimum(1 - np.asarray(of_system) / np.asarray(of_base_rate), 1.0)


def pooled_people(of_person: npt.ArrayLike, of_system: npt.ArrayLike) -> Floats:
    """Return how many people's shares, without the base rate, come as near: V/d, or infinity.

    `of_person` and `of_system` are means over items of `Distances`.
    """
    person, system = np.broadcast_arrays(np.asarray(of_person), np.asarray(of_system))
    return np.divide(person, system, out=np.full(person.shape, np.inf), where=system > 0)


def intervals(
    by_item: Distances,
    of_recalibrated: Floats | None = None,
    *,
    n_resamples: int,
    seed: int,
    level: float = 0.95,
) -> dict[str, tuple[float, float]]:
    """Return the intervals of skill and worth over the items, by bootstrap-t.

    From the distances `by_item`: ``people``, ``people_shrunk``, ``skill``, ``skill_shrunk`` and
    ``pooled``, as in `scoring.worth.Worth`. From the distances `of_recalibrated` also:
    ``people_recalibrated`` and ``skill_recalibrated``. Items are resampled with their votes; the
    base rate and the recalibrated predictions are held fixed, and λ is fitted on each resample.
    Resamples depend on `seed` and the number of items alone.

    References
    ----------
    Davison, A. C. and Hinkley, D. V. (1997). Bootstrap methods and their application.
    """
    columns = {
        "V": by_item.of_person, "base": by_item.of_base_rate, "d": by_item.of_system,
        "spread": by_item.spread, "product": by_item.product, "square": by_item.square,
    }  # fmt: skip
    if of_recalibrated is not None:
        columns["recalibrated"] = of_recalibrated
    names = list(columns)
    rng = np.random.default_rng([seed, 0])  # the resamples of `scores.score`
    moments = Moments.drawn(np.column_stack([*columns.values()]), n_resamples, rng)

    def interval(ratio: Ratio, *arguments: str) -> tuple[float, float]:
        return moments.interval(ratio, [names.index(name) for name in arguments], level)

    person, base = by_item.of_person.mean(), by_item.of_base_rate.mean()
    result: dict[str, tuple[float, float]] = {}
    for suffix, system in (("", "d"), ("_recalibrated", "recalibrated")):
        if system in columns:
            low, high = interval(_ratio, "base", system)
            result[f"skill{suffix}"] = min(1 - high, 1.0), min(1 - low, 1.0)
            if columns[system].mean() < base / 2:  # where people may be infinitely many
                inverse = interval(_inverse_on_top, "V", "base", system)
                result[f"people{suffix}"] = _inverted(inverse)
            else:
                result[f"people{suffix}"] = interval(_on_top, "V", "base", system)
    result["pooled"] = _inverted(interval(_ratio, "V", "d"))
    result["people_shrunk"] = result["skill_shrunk"] = 0.0, 0.0
    spread = float(by_item.spread.mean())
    if by_item.square.mean() > _ROUNDING and spread > 0:
        terms = ("spread", "product", "square")
        low, high = map(_squared, interval(_correlation, *terms))
        result["skill_shrunk"] = low, high
        k_0 = float(person / spread)
        low, high = map(_squared, interval(_correlation_of_people(k_0), "V", *terms))
        result["people_shrunk"] = people_with_skill(low, k_0), people_with_skill(high, k_0)
    return result


def _inverted(interval: tuple[float, float]) -> tuple[float, float]:
    """Return the interval of 1 / x from that of x; an end at or below 0 gives infinity."""
    low, high = interval
    return 1 / high if high > 0 else np.inf, 1 / low if low > 0 else np.inf


def _squared(correlation: float) -> float:
    return min(max(correlation, 0.0), 1.0) ** 2


def _ratio(means: Floats) -> tuple[Smooth, Smooth]:
    """Return the second mean over the first, with derivatives."""
    zero, one = np.zeros_like(means[0]), np.ones_like(means[0])
    return (means[1], (zero, one)), (means[0], (one, zero))


def _on_top(means: Floats) -> tuple[Smooth, Smooth]:
    """Return people on top of the base rate: V (d₀ − d) over d d₀."""
    person, base, system = means
    top = person * (base - system), (base - system, person, -person)
    return top, (base * system, (np.zeros_like(base), system, base))


def _inverse_on_top(means: Floats) -> tuple[Smooth, Smooth]:
    """Return 1 over people on top of the base rate."""
    top, bottom = _on_top(means)
    return bottom, top


def _correlation(means: Floats) -> tuple[Smooth, Smooth]:
    """Return a system's correlation with people: the root of its skill with the best λ."""
    spread, square = (
        np.maximum(means[0], _SMALLEST_DIVISOR),
        np.maximum(means[2], _SMALLEST_DIVISOR),
    )
    root, zero = np.sqrt(spread * square), np.zeros_like(spread)
    top = means[1], (zero, np.ones_like(spread), zero)
    return top, (root, (root / 2 / spread, zero, root / 2 / square))


def _correlation_of_people(credibility: float) -> Ratio:
    """Return the correlation that would make a system worth as much at this `credibility`."""

    def ratio(means: Floats) -> tuple[Smooth, Smooth]:
        person, spread = (
            np.maximum(means[0], _SMALLEST_DIVISOR),
            np.maximum(means[1], _SMALLEST_DIVISOR),
        )
        (product, _), (root, slopes) = _correlation(means[1:])
        correlation = product / root
        # Derivatives of the correlation by two means; below, of the result by two factors.
        by_spread, _, by_square = (-correlation / root * slope for slope in slopes)
        times = np.sqrt(person / spread / credibility)
        bottom = np.maximum(1 + (times**2 - 1) * correlation**2, _SMALLEST_DIVISOR)
        by_correlation = times / bottom**1.5
        by_times = times * correlation * (1 - correlation**2) / 2 / bottom**1.5
        slope = (
            by_times / person, by_correlation * by_spread - by_times / spread,
            by_correlation / root, by_correlation * by_square,
        )  # fmt: skip
        return (times * correlation / np.sqrt(bottom), slope), constant(means)

    return ratio
