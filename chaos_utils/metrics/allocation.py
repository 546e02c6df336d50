"""Where to spend the next votes: on items whose majority is open, or whose shares are.

A rule says how often to ask about each item next, given `votes` (whole counts, shape (n_items,
n_classes)) and a budget. Where rules see no difference, the item in the earlier row comes first.
"""

import heapq
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from chaos_utils.metrics.checks import as_votes
from chaos_utils.metrics.priors import GridPrior, fit_dirichlet, fit_grid, posterior_means
from chaos_utils.metrics.scores import shared_top

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
STARTING_VOTES = 3  # on each item, before any rule is followed
_PRIOR_STEPS = 20  # of EM, for the chance of a majority
_REFIT_AFTER = 0.5  # votes per item: the prior hardly changes before


def spread_evenly(n_votes: npt.ArrayLike, budget: int, most: int | None = None) -> Ints:
    """Return how often to ask about each item so that numbers of votes become as even as possible.

    `n_votes` are the votes of each item, the `budget` is what is spent at most: all of it, or what
    brings each item to the `most` votes. Shape (n_items,).
    """
    sizes = np.asarray(n_votes, dtype=np.int64)
    low = int(sizes.min())
    highest = low + budget if most is None else max(most, low)
    height = highest
    while low < height:  # the height to which the budget raises all items
        middle = (low + height + 1) // 2
        if np.maximum(middle - sizes, 0).sum() <= budget:
            low = middle
        else:
            height = middle - 1
    asked = np.maximum(height - sizes, 0)
    if height < highest:
        asked[np.flatnonzero(sizes <= height)[: budget - asked.sum()]] += 1
    return asked


def chance_of_majority(votes: npt.ArrayLike, prior: GridPrior) -> Floats:
    """Return the posterior chance of each item's likeliest majority label, shape (n_items,).

    The `prior` is from `fit_grid`.
    """
    return posterior_means(votes, prior, shared_top(prior.points)).max(axis=1)


def _largest_first(worth: Floats, sizes: Floats, power: float, budget: int) -> Ints:
    """Spend a budget one by one on the largest ``worth / sizes ** power``; sizes grow by 1."""
    queue = [(-worth[i] / sizes[i] ** power, 0, i) for i in range(len(worth))]
    heapq.heapify(queue)
    asked = np.zeros(len(worth), dtype=np.int64)
    for _ in range(budget):
        _, n, i = queue[0]
        heapq.heapreplace(queue, (-worth[i] / (sizes[i] + n + 1) ** power, n + 1, i))
        asked[i] += 1
    return asked


def _for_majority(votes: Floats, prior: Any, budget: int) -> Ints:
    open_chance = np.maximum(1 - chance_of_majority(votes, prior), 0)  # but for rounding
    return _largest_first(open_chance, votes.sum(axis=1), 0.5, budget)


def _by_margin(votes: Floats, prior: Any, budget: int) -> Ints:
    """Spend a budget on the smallest margins, in standard errors, once on each item in turn."""
    second, first = np.sort(votes, axis=1)[:, -2:].T
    order = np.argsort((first - second) / np.sqrt(first + second + 1), kind="stable")
    whole, left = divmod(budget, len(votes))
    asked = np.full(len(votes), whole, dtype=np.int64)
    asked[order[:left]] += 1
    return asked


def _for_shares(votes: Floats, prior: Any, budget: int) -> Ints:
    parameters = votes + prior
    totals = parameters.sum(axis=1)
    means = parameters / totals[:, np.newaxis]
    # By how much a vote is expected to reduce the squared error of the posterior mean.
    return _largest_first(1 - (means**2).sum(axis=1), totals + 1, 2, budget)


def _evenly(votes: Floats, prior: Any, budget: int) -> Ints:
    return spread_evenly(votes.sum(axis=1), budget)


@dataclass(frozen=True, slots=True)
class Rule:
    """How to choose the items to ask about next.

    Attributes
    ----------
    title : str
        For tables.
    fit : callable or None
        Fits the prior that the rule needs to the votes.
    allocate : callable
        Takes votes, such a prior (or None) and a budget; returns how often to ask about each item.
    """

    title: str
    allocate: Callable[[Floats, Any, int], Ints]
    fit: Callable[[Floats], Any] | None = None


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "even": Rule("evenly", _evenly),
        "majority": Rule(
            "where the majority is open",
            _for_majority,
            lambda votes: fit_grid(votes, most_steps=_PRIOR_STEPS),
        ),
        "margin": Rule("where the margin is small", _by_margin),
        "shares": Rule("where the shares are open", _for_shares, fit_dirichlet),
    }
)


def next_votes(votes: npt.ArrayLike, budget: int, rule: Rule, prior: Any = None) -> Ints:
    """Return how often to ask about each item next, shape (n_items,), by a `rule` of `RULES`.

    Where items have fewer than `STARTING_VOTES` votes, the `budget` brings them there, those with
    the fewest votes first, and no more is spent: the rule needs to see these votes. The `prior` is
    the rule's; None to fit it.
    """
    counts = as_votes(votes, "votes")
    start = spread_evenly(counts.sum(axis=1), budget, STARTING_VOTES)
    if start.any():
        return start
    if prior is None and rule.fit:
        prior = rule.fit(counts)
    return rule.allocate(counts, prior, budget)


def spend(
    votes: npt.ArrayLike,
    budget: int,
    round_size: int,
    rule: Rule,
    ask: Callable[[Ints], Ints],
    most: int | None = None,
) -> Iterator[Ints]:
    """Yield the votes after each round, until the `budget` is spent by a `rule` of `RULES`.

    A round has at most `round_size` votes. The rule's prior is fitted anew after half a vote per
    item.

    Parameters
    ----------
    ask : callable
        Takes how often to ask about each item, and returns counts of the new votes, shape
        (n_items, n_classes).
    most : int or None
        An item with so many votes is not asked about again; None for no limit. Where all items
        have them, the rest of the budget is not spent.
    """
    counts = as_votes(votes, "votes")
    prior, fitted_at = None, -np.inf
    while budget > 0:
        room = np.full(len(counts), budget) if most is None else most - counts.sum(axis=1)
        is_open = room > 0
        if not is_open.any():
            return
        if rule.fit and counts.sum() - fitted_at >= _REFIT_AFTER * len(counts):
            prior, fitted_at = rule.fit(counts), counts.sum()
        asked = np.zeros(len(counts), dtype=np.int64)
        asked[is_open] = next_votes(counts[is_open], min(round_size, budget), rule, prior)
        asked = np.minimum(asked, room.astype(np.int64))
        budget -= int(asked.sum())
        counts = counts + ask(asked)
        yield counts.astype(np.int64)
