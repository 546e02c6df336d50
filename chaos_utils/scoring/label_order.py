"""Whether predictions have the labels in another order: then lines are valid and numbers wrong."""

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.votes import Ints, Votes
from chaos_utils.metrics.divergence import Floats

MOST_NAMES = 12  # labels in a message
# Another order is reported if it raises agreement with the labels by `_MARGIN`. It is an error if
# its agreement is `_ABOVE_CONSTANT` above the commonest label's and above chance, since a constant
# prediction has no order; or if the rise is `_FLAGRANT`, which no lack of skill explains, and is
# beyond chance.
_MARGIN = 0.15
_ABOVE_CONSTANT = 0.05
_FLAGRANT = 0.5
_BEYOND_CHANCE = 4  # standard deviations
ENOUGH = 30  # items
_TOLD_APART = 2  # standard errors between two labels as read and exchanged
_SHUFFLES = 20  # of the labels: among many classes, some order fits by chance
_ROUNDING = 1e-9


def some_of(names: Sequence[str]) -> str:
    """List names for a message, at most `MOST_NAMES`."""
    return ", ".join(names[:MOST_NAMES]) + (", …" if len(names) > MOST_NAMES else "")


def check_order(
    votes: Votes,
    items: Ints,
    probabilities: Floats,
    *,
    order: Sequence[int],
    is_told: bool,
    where: Path,
    problem: str,
    what: str,
    todo: str,
) -> list[str]:
    """Raise if another order of the labels fits far better; return a note if one may.

    `items` are the rows of the predictions in the votes, `order` the labels in the order of the
    file; `is_told` says whether the file names the labels. The other arguments are for the error.
    """
    labels = votes.dataset.labels
    n, k = probabilities.shape
    if n < ENOUGH:
        are = "item is" if n == 1 else "items are"
        return [f"{n} {are} too few to check the order of the classes"]
    known_labels = (votes.old_label if votes.has_old_labels else votes.majority)[items]
    which = "the old ones" if votes.has_old_labels else "the majority's"
    top = probabilities.argmax(axis=1)
    pairs = _joint_shares(top, known_labels, k)
    best, fit, best_fit = np.arange(k), pairs.trace(), 0.0
    # No order can do better than the commonest label of each prediction.
    if pairs.max(axis=1).sum() >= fit + _MARGIN:
        best, best_fit = _best_order(pairs)
    if best_fit < fit + _MARGIN:
        return [] if is_told else _note_on_exchangeable(pairs, labels, which, n)
    current_order = some_of([labels[c] for c in order])
    better_order = some_of([labels[best[c]] for c in order])
    reading = (
        f"read as {current_order}, {fit:.0%} of the labels are {which}; "
        f"read as {better_order}, {best_fit:.0%}"
    )
    if best_fit < fit + _FLAGRANT or not _is_beyond_chance(pairs, best, n):
        if best_fit < pairs.sum(axis=0).max() + _ABOVE_CONSTANT:
            return [f"the classes may be in another order: {reading}"]
        rng = np.random.default_rng(0)
        for _ in range(_SHUFFLES):
            _, by_chance = _best_order(_joint_shares(top, rng.permutation(known_labels), k))
            if best_fit < by_chance + _ABOVE_CONSTANT:
                return []
    raise ChaosError(
        problem,
        where=where,
        found=reading,
        expected=f"the order {current_order}, which {what} has",
        todo=todo,
    )


def _joint_shares(top: Ints, labels: Ints, k: int) -> Floats:
    """Return the share of items with each pair of predicted and known label, (k, k)."""
    pairs = np.zeros((k, k))
    np.add.at(pairs, (top, labels), 1 / len(top))
    return pairs


def _best_order(pairs: Floats) -> tuple[Ints, float]:
    """Return the reordering of labels with most agreement, and its share of agreeing items."""
    from scipy.optimize import linear_sum_assignment  # slow to import

    _, best = linear_sum_assignment(pairs, maximize=True)
    return best, float(pairs[np.arange(len(pairs)), best].sum())


def _note_on_exchangeable(pairs: Floats, labels: Sequence[str], whose: str, n: int) -> list[str]:
    """Return a note on two labels that could as well be exchanged, if the file names no labels."""
    for a, b in combinations(range(len(pairs)), 2):
        as_read, swapped = pairs[a, a] + pairs[b, b], pairs[a, b] + pairs[b, a]
        variance = as_read + swapped - (as_read - swapped) ** 2
        if as_read - swapped < _TOLD_APART * np.sqrt(max(variance, 0) / n):
            return [
                f"the order of {labels[a]} and {labels[b]} cannot be told from the labels: "
                f"{as_read:.0%} of them are {whose} as read, {swapped:.0%} the other way round"
            ]
    return []


def _is_beyond_chance(pairs: Floats, best: Ints, n: int) -> bool:
    """Return whether labels in random order would hardly ever agree as much with predictions.

    Agreement is a linear permutation statistic, with mean and variance by Hoeffding (1951).
    """
    model_shares, label_shares = pairs.sum(axis=1), pairs.sum(axis=0)
    hits = np.eye(len(pairs))[best]
    mean = model_shares @ hits @ label_shares
    centred = hits - (hits @ label_shares)[:, np.newaxis] - model_shares @ hits + mean
    deviation = np.sqrt(model_shares @ centred**2 @ label_shares / (n - 1))
    return bool((pairs * hits).sum() > mean + _BEYOND_CHANCE * deviation + _ROUNDING)
