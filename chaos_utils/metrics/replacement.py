"""Whether a system may stand in for an annotator: the alternative annotator test."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from chaos_utils.metrics.checks import as_labels

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

FEWEST_ITEMS = 30  # annotators with fewer are left out
_FEWEST_ANNOTATORS = 2
_FALSE_DISCOVERY_RATE = 0.05  # share of the beaten annotators who may be beaten by chance
_PASSING_RATE = 0.5
_SMALLEST_VARIANCE = 1e-12  # a variance that is 0 but for rounding


@dataclass(frozen=True, slots=True, eq=False)
class Replacement:
    """The result of the alternative annotator test, by annotator.

    Attributes
    ----------
    annotator : ndarray of int, shape (n_annotators,)
        The annotators who labelled enough items to be compared with the system.
    n_items : ndarray of int
        How many of an annotator's items have a label of somebody else; items of one group count as
        one.
    advantage : ndarray of float
        The share of these items on which the system agrees with the other annotators at least as
        much as the annotator does.
    p : ndarray of float
        One-sided p-value, under the hypothesis that the system is ε behind or more.
    won : ndarray of bool
        Whether the system wins, by the Benjamini–Yekutieli procedure.
    """

    annotator: Ints
    n_items: Ints
    advantage: Floats
    p: Floats
    won: npt.NDArray[np.bool_]

    @property
    def winning_rate(self) -> float:
        """Share of the annotators whom the system beats, ω."""
        return float(self.won.mean())

    @property
    def passed(self) -> bool:
        """Whether the system may stand in for an annotator: ω is 0.5 or more."""
        return self.winning_rate >= _PASSING_RATE

    @property
    def advantage_probability(self) -> float:
        """Mean advantage over annotators, ρ, by which systems are compared."""
        return float(self.advantage.mean())


def alternative_annotator_test(
    item: npt.ArrayLike,
    annotator: npt.ArrayLike,
    label: npt.ArrayLike,
    predicted: npt.ArrayLike,
    *,
    n_classes: int,
    epsilon: float,
    ordered: bool = False,
    groups: npt.ArrayLike | None = None,
) -> Replacement:
    """Test whether a system agrees with people as well as any one of them does.

    Each annotator is left out in turn. On each item, annotator and system are compared by how well
    they agree with the others: :math:`d_i` is 1 where the annotator agrees more, −1 where the
    system does, 0 where both agree equally. The system wins if the mean of d is below ε, by a
    one-sided t-test, at a false discovery rate of 5% over annotators. Annotators with fewer than 30
    items are left out; at least two must remain.

    Parameters
    ----------
    item, annotator, label : array_like of int, shape (n_votes,)
        The item, annotator and label of each vote, as positions from 0; one label per annotator and
        item.
    predicted : array_like of int, shape (n_items,)
        The system's labels; like people's, below ``n_classes``.
    epsilon : float
        How far a system may be behind, since it costs less, in [0, 1]: the authors propose 0.2
        against experts, 0.15 against skilled annotators, 0.1 against crowd workers.
    ordered : bool
        Whether agreement is measured by the root mean squared difference of label positions;
        otherwise by the share of the others who gave the same label.
    groups : array_like of int, shape (n_items,), optional
        Items of one group, such as those that share a text, are averaged before they are tested; by
        default each item is a group.

    References
    ----------
    Calderon, N., Reichart, R. and Dror, R. (2025). The alternative annotator test for
    LLM-as-a-judge: how to statistically justify replacing human annotators with LLMs.

    Benjamini, Y. and Yekutieli, D. (2001). The control of the false discovery rate in multiple
    testing under dependency.
    """
    from scipy.special import stdtr
    from scipy.stats import false_discovery_control

    items, people = np.asarray(item, dtype=np.int64), np.asarray(annotator, dtype=np.int64)
    labels = as_labels(label, len(items), n_classes, "label")
    system = as_labels(predicted, len(np.asarray(predicted)), n_classes, "predicted")
    if not 0 <= epsilon <= 1:
        raise ValueError(f"epsilon is {epsilon}, expected a share")
    if len(np.unique(items * (people.max(initial=0) + 1) + people)) < len(items):
        raise ValueError("an annotator labelled an item twice, expected one label")
    counts = np.zeros((len(system), n_classes), dtype=np.int64)
    np.add.at(counts, (items, labels), 1)
    shared = counts.sum(axis=1)[items] > 1
    items, people, labels = items[shared], people[shared], labels[shared]
    other_counts = counts[items] - np.eye(n_classes, dtype=np.int64)[labels]
    ahead = np.sign(  # 1 where the annotator agrees more with the others than the system does
        _agreement(other_counts, labels, ordered) - _agreement(other_counts, system[items], ordered)
    )
    not_behind = (ahead <= 0).astype(np.float64)  # of the system
    if groups is not None:
        group = np.asarray(groups, dtype=np.int64)[items]
        # From here on, a row is an annotator and a group, with means over the group's items.
        _, first, row = np.unique(
            people * (group.max(initial=0) + 1) + group, return_index=True, return_inverse=True
        )
        size = np.bincount(row)
        ahead, not_behind = np.bincount(row, ahead) / size, np.bincount(row, not_behind) / size
        people = people[first]
    n_items = np.bincount(people)
    tested = np.flatnonzero(n_items >= FEWEST_ITEMS)
    if len(tested) < _FEWEST_ANNOTATORS:
        raise ValueError(
            f"{len(tested)} annotators labelled {FEWEST_ITEMS} items that others labelled too, "
            f"expected {_FEWEST_ANNOTATORS} at least"
        )
    n = n_items[tested]
    mean = np.bincount(people, ahead)[tested] / n
    variance = (np.bincount(people, ahead**2)[tested] - n * mean**2) / (n - 1)
    shifted_mean = mean - epsilon
    t = np.where(shifted_mean < 0, -np.inf, np.inf)
    np.divide(shifted_mean, np.sqrt(variance / n), out=t, where=variance > _SMALLEST_VARIANCE)
    p = stdtr(n - 1, t)
    advantage = np.bincount(people, not_behind)[tested] / n
    won = false_discovery_control(p, method="by") <= _FALSE_DISCOVERY_RATE
    return Replacement(tested, n, advantage, p, won)


def _agreement(other_counts: Ints, labels: Ints, ordered: bool) -> Ints:
    """Return how well labels agree with the other people's; only the order of values matters."""
    if not ordered:
        return other_counts[np.arange(len(labels)), labels]
    gaps = np.arange(other_counts.shape[1]) - labels[:, np.newaxis]
    return -(other_counts * gaps**2).sum(axis=1)
