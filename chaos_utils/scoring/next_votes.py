"""Which items to ask about next, and what that gains.

Votes that are asked where the vote is close find majorities sooner, and bias what is said of people
by them: that then comes from the first votes alone, or from a prior.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.base.inputs import OWN
from chaos_utils.datasets.adaptive import refuse_adaptive
from chaos_utils.datasets.votes import Ints, Votes
from chaos_utils.metrics.allocation import RULES, STARTING_VOTES, Rule, next_votes, spend
from chaos_utils.metrics.divergence import Floats, total_variation
from chaos_utils.metrics.priors import (
    SINGLE_ITEM_STEPS,
    draw_truths,
    fit_grid,
    posterior_means,
)
from chaos_utils.metrics.scores import shared_top

AIMS = ("majority", "shares")
_FEWEST_FOR_PRIOR = 50  # items: from fewer, a prior of any shape says too little
_MOST_ROUNDS = 20  # in a forecast
_MOST_VOTES = 1000  # per item, that a budget may buy
_DRAWS_OF_ITEMS, _MOST_DRAWS = 20_000, 20  # of truths, in a forecast


@dataclass(frozen=True, slots=True)
class Outlook:
    """What votes are expected to say once a budget is spent.

    `right` is the share of items whose majority is that of all people; `misplaced` how many of a
    hundred votes the shares that a prior expects leave misplaced. `right_error` is the forecast's
    standard error of the difference of `right` from that before the budget is spent.
    """

    right: float
    misplaced: float
    right_error: float


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Which items to ask about in the next round, and what the whole budget is expected to gain.

    Attributes
    ----------
    uids : tuple of str
        The items, in the order of the file.
    asked : ndarray of int, shape (n_items,)
        How often to ask about each in this round.
    batch : int
        The number that the new votes bear in the column of batches.
    starting : bool
        Whether the round only gives each item its first votes.
    n_rounds : int
        Rounds until the budget is spent, this one included.
    rule : str
        The rule's name in `metrics.allocation.RULES`.
    now, even, planned : Outlook
        Before any vote of the budget; with all of it spread evenly; and by this rule.
    """

    uids: tuple[str, ...]
    asked: Ints
    batch: int
    starting: bool
    n_rounds: int
    rule: str
    now: Outlook
    even: Outlook
    planned: Outlook

    def rows(self) -> Iterator[tuple[object, ...]]:
        """Yield the columns' names, ``item``, ``votes`` and ``batch``, then the items to ask about.

        Identifiers are those of the votes, unchanged, since both files are joined by them.
        """
        yield ("item", "votes", "batch")
        for uid, n in zip(self.uids, self.asked.tolist(), strict=True):
            if n:
                yield (uid, n, self.batch)


def plan(votes: Votes, budget: int, aim: str, round_size: int | None = None, *, seed: int) -> Plan:
    """Plan the next round of a `budget` of votes.

    Ties are decided by a digest of the items' identifiers, so that a plan depends on no order.

    Parameters
    ----------
    aim : str
        One of `AIMS`: what the votes are for.
    round_size : int or None
        The most votes to ask for before the next plan; by default a third of the items, and at most
        the budget.
    seed : int
        Of the draws for the forecast; the plan has none.

    Raises
    ------
    ChaosError
        If the budget does not bring each item to three votes, or buys more than 1,000 per item; if
        a round is empty or larger than the budget; or if earlier votes were asked where the vote
        was close, without their batches.
    """
    refuse_adaptive(votes)
    where = votes.source.name.removeprefix(OWN)
    if budget < 1:
        raise ChaosError(
            "The budget is too small.", found=f"--votes {budget}", expected="1 or more"
        )
    if budget > _MOST_VOTES * len(votes):
        raise ChaosError(
            "The budget is too large for a plan.",
            where=where,
            found=f"--votes {budget}; {counted(len(votes), 'item')}",
            expected=f"at most {_MOST_VOTES:,} votes per item",
        )
    if round_size is not None and not 1 <= round_size <= budget:
        raise ChaosError(
            "The size of a round is out of range.", found=f"--round-size {round_size}",
            expected=f"1 to {budget:,}, the number of --votes",
        )  # fmt: skip
    order = np.array(sorted(range(len(votes)), key=lambda k: _digest(votes.uids[k])))
    counts = votes.all_counts[order]
    missing = int(np.maximum(STARTING_VOTES - counts.sum(axis=1), 0).sum())
    if budget < missing:
        n_few = int((counts.sum(axis=1) < STARTING_VOTES).sum())
        raise ChaosError(
            f"Each item needs {STARTING_VOTES} votes before a plan can choose between items.",
            where=where,
            found=f"--votes {budget}; {counted(n_few, 'item')} with fewer",
            expected=f"at least {missing:,} votes",
            todo="ask for more votes, or about fewer items",
        )
    name = aim
    if aim == "majority" and len(votes) < _FEWEST_FOR_PRIOR:
        name = "margin"
    size = round_size or min(max(len(votes) // 3, 1), budget)
    asked = np.zeros(len(votes), dtype=np.int64)
    asked[order] = next_votes(counts, size, RULES[name])
    is_start = missing > 0
    first, last = (votes.batches or (1,))[0], (votes.batches or (1,))[-1]
    start_rounds = -(-missing // size)
    return Plan(
        uids=votes.uids,
        asked=asked,
        batch=first if is_start and first == last else last + 1,
        starting=is_start,
        n_rounds=start_rounds + -(-(budget - missing) // size),
        rule=name,
        **_outlooks(counts, budget, size, RULES[name], seed),
    )


def _digest(uid: str) -> str:
    return sha256(uid.encode()).hexdigest()


def _outlooks(
    counts: Ints, budget: int, round_size: int, rule: Rule, seed: int
) -> dict[str, Outlook]:
    """Return what is expected now, and after a budget is spent evenly and by a rule.

    Truths are drawn from the posterior, and both ways are tried on the same truths. Under a
    converged prior, present majorities would look surer than they are, and more votes worse.
    """
    rng = np.random.default_rng([seed, 0])
    n_draws = min(max(_DRAWS_OF_ITEMS // len(counts), 2), _MOST_DRAWS)
    prior = fit_grid(counts, most_steps=SINGLE_ITEM_STEPS)
    truths = draw_truths(counts, prior, rng, n_draws)
    size = max(round_size, -(-budget // _MOST_ROUNDS))
    ways: dict[str, list[Floats]] = {"now": [], "even": [], "planned": []}
    for truth in truths:

        def ask(asked: Ints, truth: Floats = truth) -> Ints:
            return rng.multinomial(asked, truth)

        ways["now"].append(_values(counts, truth))
        for way, followed in (("even", RULES["even"]), ("planned", rule)):
            *_, spent = spend(counts, budget, size, followed, ask)
            ways[way].append(_values(spent, truth))
    by_item = {way: np.concatenate(values) for way, values in ways.items()}
    outlooks = {}
    for way, values in by_item.items():
        right, misplaced = values.mean(axis=0).tolist()
        gains = values[:, 0] - by_item["now"][:, 0]
        outlooks[way] = Outlook(right, misplaced, float(gains.std() / np.sqrt(len(gains))))
    return outlooks


def _values(counts: Ints, truth: Floats) -> Floats:
    """Return the share of right majorities and the votes misplaced of a hundred, by item."""
    prior = fit_grid(counts)
    right = (shared_top(counts / counts.sum(axis=1, keepdims=True)) * shared_top(truth)).sum(axis=1)
    misplaced = 100 * total_variation(truth, posterior_means(counts, prior, prior.points))
    return np.column_stack([right, misplaced])


def label_rows(votes: Votes, *, shrunken: bool = False) -> Iterator[tuple[object, ...]]:
    """Yield soft labels for training, or to look at: the columns' names, then a row for each item.

    They are vote shares, of the first batch where there are several; or, if `shrunken`, the shares
    that a prior fitted to all votes expects. The latter are nearer to people item by item, and
    worse to train on: a model that learns from the former shrinks by itself, and sees no bias. The
    columns are those in which `chaos evaluate` reads predictions.
    """
    labels = votes.shares
    if shrunken:
        prior = fit_grid(votes.all_counts)
        labels = posterior_means(votes.all_counts, prior, prior.points)
    yield ("uid", *votes.dataset.codes)
    for uid, row in zip(votes.uids, labels.tolist(), strict=True):
        yield (uid, *(f"{share:.6g}" for share in row))
