"""Whether predictions have the labels in another order: every line is valid, every number wrong."""

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.votes import Ints, Votes
from chaos_utils.metrics.divergence import Floats

MOST_NAMES = 12  # labels in a message
# Another order must raise agreement with the labels by so much to be reported. It is an error if it
# surpasses the commonest label, and chance, by so much: a constant prediction has no order. A rise
# that no mere lack of skill explains need only go beyond chance.
_MARGIN = 0.15
_ABOVE_CONSTANT = 0.05
_FLAGRANT = 0.5
_BEYOND_CHANCE = 4  # standard deviations
ENOUGH = 30  # items
_TOLD_APART = 2  # standard errors between two labels as read and exchanged
_SHUFFLES = 20  # of the labels: among many classes, some order fits by chance
_ROUNDING = 1e-9


def some_of(names: Sequence[str]) -> str:
    """List labels for a message: not hundreds of them."""
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
    """Raise if another order of the labels fits far better; note a doubt.

    `items` are the places of the predictions in the votes, `order` the labels as they stand in the
    file; `is_told` says whether the file names them. The rest is for the error.
    """
    labels = votes.dataset.labels
    n, k = probabilities.shape
    if n < ENOUGH:
        are = "item is" if n == 1 else "items are"
        return [f"{n} {are} too few to check the order of the classes"]
    labels_of_items = (votes.old_label if votes.has_old_labels else votes.majority)[items]
    which = "the old ones" if votes.has_old_labels else "the majority's"
    top = probabilities.argmax(axis=1)
    pairs = _together(top, labels_of_items, k)
    best, fit, best_fit = np.arange(k), pairs.trace(), 0.0
    # No order can do better than the commonest label of each prediction.
    if pairs.max(axis=1).sum() >= fit + _MARGIN:
        best, best_fit = _best_order(pairs)
    if best_fit < fit + _MARGIN:
        return [] if is_told else _untold(pairs, labels, which, n)
    meant = some_of([labels[c] for c in order])
    better = some_of([labels[best[c]] for c in order])
    reading = (
        f"read as {meant}, {fit:.0%} of the labels are {which}; read as {better}, {best_fit:.0%}"
    )
    if best_fit < fit + _FLAGRANT or not _is_beyond_chance(pairs, best, n):
        if best_fit < pairs.sum(axis=0).max() + _ABOVE_CONSTANT:
            return [f"the classes may be in another order: {reading}"]
        rng = np.random.default_rng(0)
        for _ in range(_SHUFFLES):
            _, by_chance = _best_order(_together(top, rng.permutation(labels_of_items), k))
            if best_fit < by_chance + _ABOVE_CONSTANT:
                return []
    raise ChaosError(
        problem, where=where, found=reading, expected=f"the order {meant}, which {what} has",
        todo=todo,
    )  # fmt: skip


def _together(top: Ints, labels: Ints, k: int) -> Floats:
    """Return how often each predicted label meets each known one, as shares."""
    pairs = np.zeros((k, k))
    np.add.at(pairs, (top, labels), 1 / len(top))
    return pairs


def _best_order(pairs: Floats) -> tuple[Ints, float]:
    """Return which label each is to be read as, so that most agree; and how many then do."""
    from scipy.optimize import linear_sum_assignment  # slow to import

    _, best = linear_sum_assignment(pairs, maximize=True)
    return best, float(pairs[np.arange(len(pairs)), best].sum())


def _untold(pairs: Floats, labels: Sequence[str], whose: str, n: int) -> list[str]:
    """Note two labels that could as well change places, where the file names no order."""
    for a, b in combinations(range(len(pairs)), 2):
        as_read, swapped = pairs[a, a] + pairs[b, b], pairs[a, b] + pairs[b, a]
        spread = as_read + swapped - (as_read - swapped) ** 2
        if as_read - swapped < _TOLD_APART * np.sqrt(max(spread, 0) / n):
            return [
                f"the order of {labels[a]} and {labels[b]} cannot be told from the labels: "
                f"{as_read:.0%} of them are {whose} as read, {swapped:.0%} the other way round"
            ]
    return []


def _is_beyond_chance(pairs: Floats, best: Ints, n: int) -> bool:
    """Whether labels that were dealt to predictions at random would hardly ever agree as much.

    Mean and variance are those of a linear permutation statistic (Hoeffding 1951).
    """
    of_model, of_labels = pairs.sum(axis=1), pairs.sum(axis=0)
    hits = np.eye(len(pairs))[best]
    mean = of_model @ hits @ of_labels
    centred = hits - (hits @ of_labels)[:, np.newaxis] - of_model @ hits + mean
    spread = np.sqrt(of_model @ centred**2 @ of_labels / (n - 1))
    return bool((pairs * hits).sum() > mean + _BEYOND_CHANCE * spread + _ROUNDING)
