"""How much of what differs between items a system knows, from squared distances item by item.

The zero is the base rate: how often each label is given overall. Someone who knows it, and asks k
people about an item, is best served by b + λ (shares − b), λ = k / (k + V/d₀), and then comes to
1/d = 1/d₀ + k/V; V is the chance that two people differ, d and d₀ are mean squared distances.
Intervals have the coverage `level`; items are taken to be drawn from a population, with their
votes.
"""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from chaos_utils.metrics.agreement import quadratic_entropy
from chaos_utils.metrics.checks import as_votes
from chaos_utils.metrics.divergence import squared_distance
from chaos_utils.metrics.resampling import bootstrap_means, percentile_interval

Floats = npt.NDArray[np.float64]

MARKS = (1, 2, 5, 10)  # people whose skill is marked on an axis
_ROUNDING = 1e-12  # of a mean square


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
    sums, group = _of_others(np.column_stack([values, np.ones(len(values))]), groups)
    means = np.full((len(sums), values.shape[1]), np.nan)
    np.divide(sums[:, :-1], sums[:, -1:], out=means, where=sums[:, -1:] > 0.5)
    return means[group]


def _of_others(table: Floats, groups: npt.ArrayLike) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Return a table's sums without each group, and which group an item is of."""
    # np.unique imports numpy.ma, which takes longer than everything else here.
    places: dict[int, int] = {}
    given = np.asarray(groups).tolist()
    group = np.array([places.setdefault(one, len(places)) for one in given], dtype=np.int64)
    of_group = np.zeros((len(places), table.shape[1]))
    np.add.at(of_group, group, table)
    return table.sum(axis=0) - of_group, group


@dataclass(frozen=True, slots=True, eq=False)
class Distances:
    """Expected squared distances to what all people would say, item by item, without bias.

    Attributes
    ----------
    of_person : ndarray of float, shape (n_items,)
        Of one person's answer; its mean is V, the chance that two people differ.
    of_base_rate : ndarray of float
        Of the leave-one-out mean b; its mean is d₀.
    of_system : ndarray of float
        Of the system as it is, m; its mean is d.
    of_trusted : ndarray of float
        Of b + λ (m − b), with λ fitted on the items of all other groups.
    trust : float
        λ fitted on all items, 0 or more. Below 1, the system is surer than it may be; above 1, b +
        λ (m − b) may leave [0, 1], as a linear regression may.
    spread, product, square : ndarray of float
        What λ and its gain are fitted from on resamples, around the mean share of all items: means
        of the square of p − b, without bias, of (m − b) · (h − b) and of the square of m − b.
    """

    of_person: Floats
    of_base_rate: Floats
    of_system: Floats
    of_trusted: Floats
    trust: float
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

    The one number :math:`\lambda` that makes :math:`b + \lambda (m - b)` nearest to the people of
    other items is :math:`\sum (m - b) \cdot (h - b) / \sum |m - b|^2` over these, with their mean
    share for b. Nothing in it depends on the item's own group.

    Parameters
    ----------
    counts : array_like of int, shape (n_items, n_classes)
        Votes, at least two on each item.
    groups : array_like of int, shape (n_items,)
        As for `leave_one_out_mean`; at least two.
    varying : float, or ndarray of float, shape (n_items,)
        Of a prediction that is drawn, such as the pooled votes of some judges: the sum of its
        variances, around `model`. Distances are then the expected ones.
    """
    votes = as_votes(counts, "counts")
    n_votes = votes.sum(axis=1)
    shares = votes / n_votes[:, np.newaxis]
    base = leave_one_out_mean(shares, groups)
    if np.isnan(base).any():
        raise ValueError("a base rate needs items of at least two groups")
    of_base_rate = squared_distance(shares, base, n_votes)
    of_system = squared_distance(shares, model, n_votes) + varying
    given = np.asarray(model, dtype=np.float64)
    n_classes = given.shape[1]
    squares = (given**2).sum(axis=1) + varying
    parts = np.column_stack(
        [given, shares, (given * shares).sum(axis=1), squares, np.ones(len(given))]
    )
    others, group = _of_others(parts, groups)
    weights = _weights(others, n_classes)[group]
    away = given - base
    gained = (away * (shares - base)).sum(axis=1)
    of_trusted = of_base_rate - 2 * weights * gained
    of_trusted += weights**2 * ((away**2).sum(axis=1) + varying)
    trust = float(_weights(parts.sum(axis=0, keepdims=True), n_classes)[0])
    mean = shares.mean(axis=0)
    lost = len(votes) / max(len(votes) - 1, 1)  # since the mean holds an item's own share
    noise = (shares * (1 - shares)).sum(axis=1) / (n_votes - 1)
    return Distances(
        of_person=quadratic_entropy(votes),
        of_base_rate=of_base_rate,
        of_system=of_system,
        of_trusted=of_trusted,
        trust=trust,
        spread=lost * ((shares - mean) ** 2).sum(axis=1) - noise,
        product=lost * ((given - mean) * (shares - mean)).sum(axis=1),
        square=lost * (((given - mean) ** 2).sum(axis=1) + varying),
    )


def _weights(sums: Floats, n_classes: int) -> Floats:
    """Return λ, 0 or more, from sums of m, h, m · h, |m|² and 1; 0 for the base rate itself."""
    model, shares, products, squares, n = np.split(sums, np.cumsum([n_classes] * 2 + [1] * 2), 1)
    base = shares / n
    along = products[:, 0] - (model * base).sum(axis=1)
    away = squares[:, 0] - 2 * (model * base).sum(axis=1) + n[:, 0] * (base**2).sum(axis=1)
    found = np.divide(along, away, out=np.zeros(len(sums)), where=away > _ROUNDING * n[:, 0])
    return np.maximum(found, 0)


def ratio_interval(top: Floats, bottom: Floats, level: float = 0.95) -> tuple[float, float, float]:
    """Return the ratio of two means over the same items, and Fieller's interval of it.

    The ratio is infinite where the mean of `bottom` is at most 0; the interval holds each v at
    which 0 is in that of the mean of `bottom` − `top` / v. Of unbiased squared distances of one
    person and of a system, by item, it is how many people, pooled, come as near as the system.

    References
    ----------
    Fieller, E. C. (1954). Some problems in interval estimation.
    """
    above, below = top.mean(), bottom.mean()
    value = float(above / below) if below > 0 else np.inf
    if above == 0 < below:
        return 0.0, 0.0, 0.0
    if len(top) < 2:
        return value, 0.0, np.inf
    z = NormalDist().inv_cdf((1 + level) / 2)
    ((above2, both), (_, below2)) = np.cov(top, bottom) * z**2 / len(top)
    # In r = 1 / v, the quadratic a r² − 2 b r + c is at most 0.
    a, b, c = above**2 - above2, above * below - both, below**2 - below2
    if a <= 0:  # the mean of `top` may be 0: any ratio would do
        return value, 0.0, np.inf
    root = np.sqrt(max(b**2 - a * c, 0.0))
    ends = ((b + root) / a, (b - root) / a)
    low, high = (float(1 / end) if end > 0 else np.inf for end in ends)
    return value, low, high


def is_above_zero(values: Floats, level: float = 0.95) -> bool:
    """Return whether the normal interval of a mean over items lies above 0.

    Where that of the base rate's squared distances does not, items hardly differ, or votes are too
    few to show it, and no skill is defined. False for fewer than two items.
    """
    if len(values) < 2:
        return False
    z = NormalDist().inv_cdf((1 + level) / 2)
    return bool(values.mean() > z * values.std(ddof=1) / np.sqrt(len(values)))


def skill_interval(
    of_base_rate: Floats, of_system: Floats, level: float = 0.95
) -> tuple[float, float, float]:
    """Return a system's skill against the base rate, 1 − d/d₀, with Fieller's interval.

    1 for what comes as near as the votes can show; 0 for the base rate, which is held fixed;
    negative beyond it. NaN unless the base rate's distance `is_above_zero`. `of_base_rate` and
    `of_system` are those of `Distances`.

    References
    ----------
    Murphy, A. H. (1988). Skill scores based on the mean square error and their relationships to
    the correlation coefficient.
    """
    if not is_above_zero(of_base_rate, level):
        return np.nan, np.nan, np.nan
    value, low, high = (1 - 1 / end for end in ratio_interval(of_base_rate, of_system, level))
    return value, low, high


def skill_of_people(n_people: npt.ArrayLike, credibility: float) -> Floats:
    """Return the skill of k people's answers, used as well as the base rate allows: k / (k + k₀).

    k is `n_people`; k₀ = V/d₀ is Bühlmann's `credibility` constant, in people. In [0, 1]; of one
    person, Fleiss' κ.

    References
    ----------
    Bühlmann, H. (1967). Experience rating and credibility.
    """
    people = np.asarray(n_people, dtype=np.float64)
    return np.asarray(people / (people + credibility))


def people_on_top(
    of_person: npt.ArrayLike, of_base_rate: npt.ArrayLike, of_system: npt.ArrayLike
) -> Floats:
    """Return how many people's answers, on top of the base rate, come as near as a system.

    .. math:: k = V/d - V/d_0

    Means over items of `Distances` go in: `of_person`, `of_base_rate`, `of_system`. 0 is the base
    rate. Infinite where `of_system` is at most 0, and then minus infinity where `of_base_rate`
    alone is.
    """
    one, base, system = np.broadcast_arrays(*map(np.asarray, (of_person, of_base_rate, of_system)))
    far = np.full(one.shape, np.inf)
    needed = np.divide(one, system, out=far.copy(), where=system > 0)
    known = np.divide(one, base, out=far, where=base > 0)
    return np.subtract(needed, known, out=np.full(one.shape, np.inf), where=np.isfinite(needed))


def bootstrap_intervals(
    found: Distances, n_resamples: int, seed: int, level: float = 0.95
) -> dict[str, tuple[float, float]]:
    """Return the intervals that Fieller's does not give, from resamples of the items.

    They are of ``people``, ``people_trusted`` and ``skill_trusted``, as in `scoring.worth.Worth`.
    An item is resampled with its votes; the base rate is held fixed, λ is fitted on each resample.
    (With λ fixed, intervals of a system that knows little are too narrow: they held what simulated
    systems of skill below 0.1 were worth in 84 to 91 % of samples.) What is drawn depends on `seed`
    and the number of items in `found` alone.
    """
    columns = (
        found.of_person, found.of_base_rate, found.of_system,
        found.spread, found.product, found.square,
    )  # fmt: skip
    rng = np.random.default_rng([seed, 0])  # the resamples of `scores.score`
    means = bootstrap_means(np.column_stack(columns), n_resamples, rng)
    person, base, system, spread, product, square = means.T
    gain = np.divide(
        np.maximum(product, 0) ** 2, square, out=np.zeros(len(means)), where=square > _ROUNDING
    )
    skill = np.divide(gain, spread, out=np.ones(len(means)), where=spread > gain)
    drawn = {
        "people": people_on_top(person, base, system),
        "people_trusted": people_on_top(person, spread, spread - gain),
        "skill_trusted": skill,
    }
    low, high = percentile_interval(np.column_stack([*drawn.values()]), level)
    return dict(zip(drawn, zip(low.tolist(), high.tolist(), strict=True), strict=True))
