"""Groups of people: which part of their disagreement lies between groups, what a model is in each.

Two people of different groups may differ more than two of one group although groups answer alike:
it is enough that the people of one vary more, since few pairs are theirs. The part between groups
is 0 then.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from chaos_utils.metrics.jackknife import TwoWay, group_sums, two_way_jackknife
from chaos_utils.metrics.persons import label_points

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

FEWEST_PAIRS = 40  # of two groups that are compared
_ALL = slice(None)
_CHUNK_CELLS = 2_000_000  # 16 MB of sums at a time


@dataclass(frozen=True, slots=True, eq=False)
class GroupDifference:
    """How far two people of one group, and of two groups, differ on an item.

    Attributes
    ----------
    same, other : float
        Mean difference of two people of one group, and of two, after differences between items:
        the chance that they differ, or on a scale half the squared difference.
    between : TwoWay
        The part of two people's difference that lies between groups; it may fall below 0.
    share : TwoWay
        The same as a share of two people's difference, at most 1.
    n_pairs : int
        Pairs of votes on an item, by two people.
    """

    same: float
    other: float
    between: TwoWay
    share: TwoWay
    n_pairs: int


class _Pairs(NamedTuple):
    """Pairs of votes, by the two groups that they come from: sums over some items.

    The normal equations are those of a regression of pairs' differences on the types of pairs, with
    an effect of each item; each vote counts once.
    """

    matrix: Floats  # of the normal equations, (n_types, n_types)
    right: Floats  # their right side, (n_types,)
    weights: Floats  # of the pairs of each type, (n_types,)
    apart: Floats  # how far these are apart, (n_types,)
    votes: Floats  # of each group in each stratum, (n_strata, n_groups)
    number: Floats  # of pairs of each type, (n_types,)


class _GroupedVotes:
    """Votes with the group of each, and the pair types of these groups."""

    def __init__(self, item: Ints, group: Ints, points: Floats, item_stratum: Ints) -> None:
        self.n_items, self.n_groups = int(item.max()) + 1, int(group.max()) + 1
        self.item, self.group, self.item_stratum = item, group, item_stratum
        self.strata = np.eye(int(item_stratum.max()) + 1)
        # Groups that share no stratum have no pair.
        present = np.zeros((self.n_groups, len(self.strata)))
        present[group, item_stratum[item]] = 1
        meet = (present @ present.T > 0) | np.eye(self.n_groups, dtype=bool)
        self.first, self.second = np.nonzero(np.triu(meet))
        self.is_same = self.first == self.second
        # The types of pairs that each stratum has.
        self.types = [
            np.flatnonzero(here[self.first] & here[self.second]) for here in present.T > 0
        ]
        # What each vote adds to the sums of its item and group.
        self.columns = np.column_stack([np.ones(len(item)), (points**2).sum(axis=1), points])
        place = item * self.n_groups + group
        size = self.n_items * self.n_groups
        sums = group_sums(self.columns, place, size)
        self.sums = sums.reshape(self.n_items, self.n_groups, -1)

    def pairs_of(self, sums: Floats, types: Ints | slice = _ALL) -> tuple[Floats, Floats, Floats]:
        """Return the number, the weights, and the differences of pairs, by row of sums and type."""
        a, b = sums[:, self.first[types]], sums[:, self.second[types]]
        is_same = self.is_same[types]
        half = np.where(is_same, 0.5, 1.0)
        number = half * (a[..., 0] * b[..., 0] - is_same * a[..., 0])
        crossed = (a[..., 0] * b[..., 1] + b[..., 0] * a[..., 1]) / 2
        apart = half * (crossed - (a[..., 2:] * b[..., 2:]).sum(axis=-1))
        others = np.maximum(sums[..., 0].sum(axis=1, keepdims=True) - 1, 1)
        return number, number / others, apart / others

    def total(self, sums: Floats, items: Ints | None = None) -> _Pairs:
        """Return the sums over rows of sums, each of which is one of the `items`, or all."""
        n_types = len(self.first)
        matrix, right = np.zeros((n_types, n_types)), np.zeros(n_types)
        all_weights, all_apart, all_number = np.zeros((3, n_types))
        votes = np.zeros((len(self.types), self.n_groups))
        stratum = self.item_stratum if items is None else self.item_stratum[items]
        for one, types in enumerate(self.types):
            rows = sums[stratum == one]
            number, weights, apart = self.pairs_of(rows, types)
            parts = _parts(weights)
            all_number[types] += number.sum(axis=0)
            all_weights[types] += weights.sum(axis=0)
            all_apart[types] += apart.sum(axis=0)
            matrix[np.ix_(types, types)] -= weights.T @ parts
            right[types] += (apart - parts * apart.sum(axis=1, keepdims=True)).sum(axis=0)
            votes[one] = rows[..., 0].sum(axis=0)
        matrix[np.diag_indices(n_types)] += all_weights
        return _Pairs(matrix, right, all_weights, all_apart, votes, all_number)

    def votes_of(self, sums: Floats, items: Ints | None = None) -> Floats:
        """Return the votes of each row of sums by stratum and group."""
        stratum = self.item_stratum if items is None else self.item_stratum[items]
        by_stratum: Floats = self.strata[stratum][:, :, np.newaxis] * sums[:, np.newaxis, :, 0]
        return by_stratum

    def effects(self, pairs: _Pairs) -> Floats:
        """Return the mean difference of each type, on items that have the average difference."""
        raw = np.linalg.pinv(pairs.matrix, rcond=1e-9, hermitian=True) @ pairs.right[..., None]
        return _levelled(raw[..., 0], pairs.weights, pairs.apart)

    def between(self, effects: Floats, votes: Floats, compared: npt.NDArray[np.bool_]) -> Floats:
        """Return the part between groups and two people's difference, along the first axis."""
        shares = votes / votes.sum(axis=(-2, -1), keepdims=True)
        of_strata = shares.sum(axis=-1, keepdims=True)
        within = _divide(shares, of_strata)
        both = 2 * (shares[..., self.first] * within[..., self.second]).sum(axis=-2)
        both *= compared & ~self.is_same
        own = effects[..., self.is_same]
        gaps = effects - (own[..., self.first] + own[..., self.second]) / 2
        between = (both * gaps).sum(axis=-1)
        return np.stack([between, between + (shares.sum(axis=-2) * own).sum(axis=-1)])

    def mean_of(self, effects: Floats, weights: Floats, is_type: npt.NDArray[np.bool_]) -> float:
        """Return the mean effect of some types of pairs; NaN where there are no pairs of them."""
        weight = float(weights[is_type].sum())
        return float((effects * weights)[is_type].sum() / weight) if weight else np.nan


def _levelled(effects: Floats, weights: Floats, apart: Floats) -> Floats:
    """Return effects whose weighted mean is the mean difference of all pairs."""
    mean = (apart - weights * effects).sum(axis=-1) / weights.sum(axis=-1)
    levelled: Floats = effects + mean[..., np.newaxis]
    return levelled


def _parts(weights: Floats) -> Floats:
    """Return each row's weights as parts of its sum; 0 where the sum is 0."""
    return _divide(weights, weights.sum(axis=1, keepdims=True))


def _divide(top: Floats, bottom: Floats) -> Floats:
    """Return top / bottom; 0 where the bottom is 0."""
    bottom = np.broadcast_to(bottom, top.shape)
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 1e-12)


def group_difference(
    item: Ints,
    person: Ints,
    label: Ints,
    group: Ints,
    n_classes: int,
    *,
    scale: npt.ArrayLike | None = None,
    stratum: Ints | None = None,
) -> GroupDifference:
    r"""Return which part of two people's difference lies between groups.

    With :math:`D_{gh}`, the mean difference on an item of a person of group g and one of group h,
    and the groups' shares of the votes :math:`\pi_g`,

    .. math:: X = \sum_{g,h} \pi_g \pi_h D_{gh} - \sum_g \pi_g D_{gg}

    is the part between groups (Rao's; Lewontin's apportionment). It is 0 where all groups give the
    same shares of labels (on a scale, the same mean) to each item, also if the people of one vary
    more. It is estimated without bias, so it may fall below 0. The :math:`D_{gh}` are effects in a
    regression of the pairs' differences on the pairs' groups and on the items, since groups need
    not have judged the same items. Each vote counts once. Two groups with fewer than 40 pairs add
    nothing to X. Errors are over items and people, by the two-way jackknife.

    Parameters
    ----------
    item, person, label : ndarray of int, shape (n_votes,)
        Which item each vote is on, who gave it, and which label it is, from 0; one vote of a
        person on an item.
    group : ndarray of int, shape (n_votes,)
        The group of the person who gave the vote.
    n_classes : int
        The number of labels.
    scale : array_like of float, shape (n_classes,), optional
        The labels' values, where labels are ordered with equal steps.
    stratum : ndarray of int, shape (n_votes,), optional
        A part of the data, such as a language, that an item belongs to. The groups' shares are
        those within strata, so that groups of different strata are not compared.

    Raises
    ------
    ValueError
        If a person has several votes on an item or is in two groups, or there is one group.

    References
    ----------
    Rao, C. R. (1982). Diversity and dissimilarity coefficients. Lewontin, R. C. (1972). The
    apportionment of human diversity.
    """
    item, person, group = _checked(item, person, group)
    points = label_points(label, n_classes, scale)
    grouped = _GroupedVotes(item, group, points, _stratum_of(item, stratum))
    total = grouped.total(grouped.sums)
    effects = grouped.effects(total)
    compared = total.number >= FEWEST_PAIRS

    def both(effects: Floats, votes: Floats) -> Floats:
        between, everything = grouped.between(effects, votes, compared)
        return np.stack([between, np.where(everything > 0, _divide(between, everything), np.nan)])

    without_items, without_votes = (
        both(*_linear(grouped, total, effects, rows)) for rows in (None, np.arange(len(item)))
    )
    without_people = np.stack(
        [both(*_without_person(grouped, total, np.flatnonzero(person == one)))
         for one in range(int(person.max()) + 1)], axis=1,
    )  # fmt: skip
    between, share = (
        TwoWay.of_left_out(
            value,
            without_items=without_items[k],
            without_people=without_people[k],
            without_votes=without_votes[k],
        )
        for k, value in enumerate(both(effects, total.votes))
    )
    return GroupDifference(
        same=grouped.mean_of(effects, total.weights, grouped.is_same),
        other=grouped.mean_of(effects, total.weights, ~grouped.is_same),
        between=between,
        share=share,
        n_pairs=round(total.number.sum()),
    )


def _linear(
    grouped: _GroupedVotes, total: _Pairs, effects: Floats, rows: Ints | None
) -> tuple[Floats, Floats]:
    """Return effects and votes without each item, or without each of the votes in `rows`.

    One item or vote is a small part of the pairs, so effects are taken to be linear in what is left
    out; leaving out a person, who may be an eighth of a group, is computed exactly.
    """
    inverse = np.linalg.pinv(total.matrix, rcond=1e-9, hermitian=True)
    n_rows = grouped.n_items if rows is None else len(rows)
    step = max(1, _CHUNK_CELLS // (grouped.sums[0].size * len(grouped.strata)))
    all_effects, all_votes = [], []
    for start in range(0, n_rows, step):
        part = slice(start, start + step)
        own = grouped.sums[part] if rows is None else grouped.sums[grouped.item[part]]
        lost, items = own.copy(), np.arange(grouped.n_items)[part]
        right, weights, apart = _row_sums(grouped, own, effects)
        if rows is not None:
            items = grouped.item[part]
            lost = np.zeros_like(own)
            lost[np.arange(len(own)), grouped.group[part]] = grouped.columns[part]
            left = _row_sums(grouped, own - lost, effects)
            right, weights, apart = right - left[0], weights - left[1], apart - left[2]
        rest = total.weights - weights, total.apart - apart
        all_effects.append(_levelled(effects - right @ inverse, *rest))
        all_votes.append(total.votes - grouped.votes_of(lost, items))
    return np.concatenate(all_effects), np.concatenate(all_votes)


def _row_sums(
    grouped: _GroupedVotes, sums: Floats, effects: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return each row's part of the normal equations' residual, its weights and differences."""
    _, weights, apart = grouped.pairs_of(sums)
    residual = apart - weights * effects
    return residual - _parts(weights) * residual.sum(axis=1, keepdims=True), weights, apart


def _without_person(grouped: _GroupedVotes, total: _Pairs, rows: Ints) -> tuple[Floats, Floats]:
    """Return effects and votes without one person, whose votes are `rows`."""
    items = grouped.item[rows]
    own = grouped.sums[items]
    left = own.copy()
    left[np.arange(len(rows)), grouped.group[rows]] -= grouped.columns[rows]
    before, after = grouped.total(own, items), grouped.total(left, items)
    rest = _Pairs(*(total[k] - before[k] + after[k] for k in range(len(total))))
    return grouped.effects(rest), rest.votes


def _checked(item: Ints, person: Ints, group: Ints) -> tuple[Ints, Ints, Ints]:
    """Return items, people and groups as running numbers; raise a ValueError where they clash."""
    item, person, group = (np.unique(of, return_inverse=True)[1] for of in (item, person, group))
    n_people = int(person.max()) + 1
    if len(np.unique(item * n_people + person)) < len(item):
        raise ValueError("person: somebody has several votes on an item")
    group_of = np.zeros(n_people, dtype=np.int64)
    group_of[person] = group
    if (group_of[person] != group).any():
        raise ValueError("group: a person is in two")
    if not group.any():
        raise ValueError("group: expected two groups or more, found one")
    return item, person, group


def _stratum_of(item: Ints, stratum: Ints | None) -> Ints:
    """Return the stratum of each item; all are in one without strata."""
    of_item = np.zeros(int(item.max()) + 1, dtype=np.int64)
    if stratum is not None:
        of_item[item] = np.unique(stratum, return_inverse=True)[1]
    return of_item


def shuffled_groups_p(
    item: Ints,
    person: Ints,
    label: Ints,
    group: Ints,
    n_classes: int,
    *,
    n_shuffles: int,
    rng: np.random.Generator,
    scale: npt.ArrayLike | None = None,
    stratum: Ints | None = None,
) -> float:
    """Return how often people shuffled between groups have as large a part between groups.

    A one-sided p-value, in (0, 1], by permutation: each person keeps one group, and the groups'
    numbers of people stay. Where groups answer alike but the people of one vary more, it falls
    below 5% too often: a difference needs an interval of `group_difference` above 0, too.

    Parameters
    ----------
    item, person, label, group, n_classes, scale
        As in `group_difference`.
    n_shuffles : int
        How often groups are shuffled.
    rng : numpy.random.Generator
        The source of randomness.
    stratum : ndarray of int, shape (n_votes,), optional
        A part of the data, such as a language, within which people are shuffled; each person
        and each item belongs to one.

    References
    ----------
    Anderson, M. J. (2001). A new method for non-parametric multivariate analysis of variance.
    """
    item, person, group = _checked(item, person, group)
    points = label_points(label, n_classes, scale)
    n_people = int(person.max()) + 1
    item_stratum = _stratum_of(item, stratum)
    group_of, stratum_of = np.zeros((2, n_people), dtype=np.int64)
    group_of[person], stratum_of[person] = group, item_stratum[item]

    def between(groups: Ints) -> float:
        grouped = _GroupedVotes(item, groups[person], points, item_stratum)
        total = grouped.total(grouped.sums)
        compared = total.number >= FEWEST_PAIRS
        return float(grouped.between(grouped.effects(total), total.votes, compared)[0])

    observed, n_as_large = between(group_of), 0
    in_order = np.argsort(stratum_of, kind="stable")
    for _ in range(n_shuffles):
        shuffled = np.empty_like(group_of)
        shuffled[in_order] = group_of[np.lexsort((rng.random(n_people), stratum_of))]
        n_as_large += between(shuffled) >= observed
    return (1 + n_as_large) / (1 + n_shuffles)


def skill_in_group(
    item: Ints,
    person: Ints,
    label: Ints,
    is_member: npt.NDArray[np.bool_],
    model: npt.ArrayLike,
) -> Mapping[str, TwoWay]:
    r"""Return what a model is worth as a prediction of what one group of people says.

    On the items with two votes or more of the group, all distances are to the group's own people,
    without bias: ``skill`` is 1 − d/d₀, 1 for whoever knows how they would all answer and 0 for
    their base rate; without bias, it may come out above 1. ``two_differ`` is V, how often two of
    them differ on an item, and ``base_rate`` is d₀; where its interval holds 0, no skill is
    defined. A skill s is worth s V/d₀ / (1 − s) of these people. ``gap`` is the skill in the group
    minus that in everybody else. Errors are over items and people, by the two-way jackknife.

    Parameters
    ----------
    item, person, label : ndarray of int, shape (n_votes,)
        Which item each vote is on, who gave it, and which label it is, from 0.
    is_member : ndarray of bool, shape (n_votes,)
        Whether the person belongs to the group.
    model : array_like of float, shape (n_items, n_classes)
        The model's distribution for each item.
    """
    predicted = np.asarray(model, dtype=np.float64)
    n_classes = predicted.shape[1]
    votes = np.column_stack(
        [np.eye(n_classes)[label], predicted[item, label], (predicted[item] ** 2).sum(axis=1)]
    )
    ballots = np.concatenate([votes * is_member[:, None], votes * ~is_member[:, None]], axis=1)

    def columns(sums: Floats) -> Floats:
        return np.concatenate([_skill_columns(part) for part in np.split(sums, 2, axis=1)], axis=1)

    def statistic(name: str) -> Callable[[Floats], Floats]:
        return lambda sums: _skills(np.split(sums, 2, axis=-1)[0])[name]

    def gap(sums: Floats) -> Floats:
        own, others = (_skills(part)["skill"] for part in np.split(sums, 2, axis=-1))
        return np.asarray(own - others)

    statistics = {name: statistic(name) for name in ("skill", "two_differ", "base_rate")}
    return {
        name: two_way_jackknife(item, person, ballots, columns, reduce)
        for name, reduce in (statistics | {"gap": gap}).items()
    }


def _skill_columns(sums: Floats) -> Floats:
    """Return what `_skills` sums over items, from sums over an item's votes; 0 below two votes."""
    counts, of_label, squares = sums[:, :-2], sums[:, -2], sums[:, -1]
    n = counts.sum(axis=1)
    has_two = n > 1.5
    n = np.where(has_two, n, 2.0)
    shares = counts / n[:, None]
    alike = (counts * (counts - 1)).sum(axis=1) / (n * (n - 1))  # without bias
    of_model = (squares - 2 * of_label) / n + alike
    own = (shares**2).sum(axis=1)
    return np.column_stack([np.ones(len(n)), of_model, alike, own, shares]) * has_two[:, None]


def _skills(sums: Floats) -> dict[str, Floats]:
    """Return skill, disagreement and the base rate's distance, from sums over items.

    The base rate of an item is the mean of the shares of all others.
    """
    n, of_model, alike, own = (sums[..., k] for k in range(4))
    square = (sums[..., 4:] ** 2).sum(axis=-1)
    others = np.maximum(n - 1, 1)
    products, squares = (square - own) / others, ((n - 2) * square + own) / others**2
    base = (alike - 2 * products + squares) / n
    person, system = 1 - alike / n, of_model / n
    return {
        "skill": 1 - system / np.where(base > 0, base, np.nan),
        "two_differ": person,
        "base_rate": base,
    }
