"""Where to spend the next vote: rules replayed on items whose many votes are known."""

from collections.abc import Iterator
from itertools import combinations_with_replacement
from math import comb

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import multivariate_hypergeom

from chaos_utils.analyses.forecasts import inputs_of_many_votes
from chaos_utils.analyses.inputs import AnalysisInputs
from chaos_utils.datasets.votes import Ints, Votes
from chaos_utils.metrics.agreement import quadratic_entropy
from chaos_utils.metrics.allocation import RULES, STARTING_VOTES, spend
from chaos_utils.metrics.priors import fit_grid, posterior_means
from chaos_utils.metrics.resampling import split_votes, take_votes
from chaos_utils.metrics.scores import shared_top
from chaos_utils.recorded import cached_analysis

MEANS = (3, 4, 5, 6, 8, 10)  # votes per item, on average
EVEN = (5, 10)  # even votes, whose worth the rules reach with fewer
_ERROR_AT = (4, 5, 8, 10)  # between which the error of shares is read
_FEWEST = 2 * MEANS[-1]  # votes on each item, to draw from and to judge by
_MOST_OUTCOMES = 1000  # of so many votes on an item; where there are more, replays must do
# A rule, and which share of the items a round asks about.
_REPLAYS = {
    "even": ("even", 1 / 10),
    "majority": ("majority", 1 / 10),
    "majority in large rounds": ("majority", 1 / 3),
    "margin": ("margin", 1 / 10),
    "shares": ("shares", 1 / 10),
}


def replay_inputs(inputs: AnalysisInputs) -> AnalysisInputs:
    """Return the inputs, and beside the book's datasets the one with a thousand votes per item."""
    return AnalysisInputs((*inputs, *inputs_of_many_votes(inputs))) if inputs.released else inputs


@cached_analysis(keys=("dataset", "rule", "quantity", "n_votes"))
def replay(votes: Votes, *, n_replays: int, seed: int) -> pd.DataFrame:
    """Ask for votes by each rule, of those that each item has, and compare with all of them.

    Votes are drawn without replacement, `STARTING_VOTES` on each item, then by the ``rule``, in
    rounds that ask for a tenth of the items or, *in large rounds*, a third. ``value`` is the mean
    over `n_replays` replays, ``sd`` their standard deviation, by ``quantity`` and ``n_votes``, the
    votes per item on average:

    * ``right``: the share of items whose majority is that of all votes (tied labels share an item).
      Of even votes, so of the first ones too, the expected share over all ways to draw them, unless
      an item has more than a thousand; ``right_by_others``: in replays alone, drawn from one half
      of the votes and judged by the other half;
    * ``votes_for_majority``: how many votes per item are as often right as ``n_votes`` even ones;
      NaN where that is not reached;

    at fewer numbers of votes, further

    * ``squared_error``: of the shares that a prior fitted to the votes expects, summed over labels;
      ``votes_for_shares``: how many votes per item err as little as ``n_votes`` even ones;
    * ``disagreement``: the chance that two votes differ, as a mean over items that would be
      unbiased, were votes not asked where the vote is close; ``disagreement_first`` from the first
      votes alone, ``disagreement_prior`` from the prior; ``disagreement_true`` by all votes.

    No rows where an item has fewer than twenty votes.
    """
    columns = ["rule", "quantity", "n_votes", "value", "sd", "n_items"]
    if votes.n_votes.min() < _FEWEST:
        return pd.DataFrame(columns=columns)
    rows = []
    for name in _REPLAYS:
        for number in range(n_replays):
            rng = np.random.default_rng([seed, number])
            rows += [row | {"rule": name, "replay": number} for row in _replayed(votes, name, rng)]
    replays = pd.DataFrame(rows)
    keys = ["rule", "quantity", "n_votes"]
    table = replays.groupby(keys, sort=False)["value"].agg(value="mean", sd="std").reset_index()
    for n_votes, share in _right_of_even(votes):
        is_even = (table["rule"] == "even") | (n_votes == STARTING_VOTES)
        is_right = (table["quantity"] == "right") & (table["n_votes"] == n_votes)
        table.loc[is_even & is_right, "value"] = share
    table = pd.concat([table, pd.DataFrame(_votes_needed(table, replays))], ignore_index=True)
    return table.assign(n_items=len(votes))[columns]


def _true_majority(votes: Votes) -> npt.NDArray[np.float64]:
    """Return each item's majority as a distribution: the stated one, or that of all its votes."""
    if votes.dataset.states_majority:
        return np.eye(votes.dataset.n_classes)[votes.majority]
    return shared_top(votes.shares)


def _right_of_even(votes: Votes) -> Iterator[tuple[int, float]]:
    """Yield, by the number of votes on each item, how often their majority is expected to be right.

    A sum over all counts that so many votes can have, each as likely as a draw without replacement.
    """
    k, truth = votes.dataset.n_classes, _true_majority(votes)
    for n_votes in MEANS:
        if comb(n_votes + k - 1, k - 1) <= _MOST_OUTCOMES:
            draws = combinations_with_replacement(range(k), n_votes)
            drawn = np.array([np.bincount(draw, minlength=k) for draw in draws])
            chances = multivariate_hypergeom.pmf(drawn, votes.counts[:, None], n_votes)
            yield n_votes, float((chances * (truth @ shared_top(drawn / n_votes).T)).sum(1).mean())


def _replayed(votes: Votes, name: str, rng: np.random.Generator) -> Iterator[dict[str, object]]:
    """Yield the rows of one replay of a rule."""
    truth = _true_majority(votes)
    first = None
    for n_votes, counts in _asked(votes.counts, name, rng):
        first = counts if first is None else first
        values = {"right": (shared_top(_shares(counts)) * truth).sum(axis=1).mean()}
        if n_votes in _ERROR_AT:
            prior = fit_grid(counts)
            by_point = np.column_stack([prior.points, 1 - (prior.points**2).sum(axis=1)])
            expected = posterior_means(counts, prior, by_point)
            values["squared_error"] = ((expected[:, :-1] - votes.shares) ** 2).sum(axis=1).mean()
        if n_votes in EVEN:
            values |= {
                "disagreement": quadratic_entropy(counts).mean(),
                "disagreement_first": quadratic_entropy(first).mean(),
                "disagreement_prior": expected[:, -1].mean(),
                "disagreement_true": quadratic_entropy(votes.counts).mean(),
            }
        for quantity, value in values.items():
            yield {"quantity": quantity, "n_votes": n_votes, "value": float(value)}
    mine, others = split_votes(votes.counts, [int(votes.n_votes.min()) // 2], rng)
    by_others = shared_top(_shares(others))
    for n_votes, counts in _asked(mine, name, rng):
        right = (shared_top(_shares(counts)) * by_others).sum(axis=1).mean()
        yield {"quantity": "right_by_others", "n_votes": n_votes, "value": float(right)}


def _asked(all_counts: Ints, name: str, rng: np.random.Generator) -> Iterator[tuple[int, Ints]]:
    """Yield numbers of votes per item, on average, and the votes then drawn of all there are."""
    rule, share = _REPLAYS[name]
    round_size = max(int(share * len(all_counts)), 1)
    counts = take_votes(all_counts, STARTING_VOTES, rng)
    remaining = all_counts - counts

    def ask(asked: Ints) -> Ints:
        nonlocal remaining
        new = take_votes(remaining, asked, rng)
        remaining = remaining - new
        return new

    most = int(all_counts.sum(axis=1).min())
    for n_votes in MEANS:
        budget = n_votes * len(all_counts) - int(counts.sum())
        *_, counts = (counts, *spend(counts, budget, round_size, RULES[rule], ask, most))
        yield n_votes, counts


def _votes_needed(table: pd.DataFrame, replays: pd.DataFrame) -> Iterator[dict[str, object]]:
    """Yield how many votes per item do what even votes do, read between the points.

    Their ``sd`` is that of single replays, NaN where one of them does not reach it.
    """
    for quantity, what, sign in (
        ("right", "votes_for_majority", 1), ("squared_error", "votes_for_shares", -1),
    ):  # fmt: skip
        rows, single = (part[part["quantity"] == quantity] for part in (table, replays))
        values = sign * rows.pivot(index="n_votes", columns="rule", values="value")
        curves = sign * single.pivot(index="n_votes", columns=["rule", "replay"], values="value")
        for rule, n_votes in ((rule, n) for rule in _REPLAYS for n in EVEN):
            goal = values.loc[n_votes, "even"]
            needed = curves[rule].apply(_first_at, goal=goal)
            yield {"rule": rule, "quantity": what, "n_votes": n_votes,
                   "value": _first_at(values[rule], goal),
                   "sd": needed.std(skipna=False) if rule != "even" else np.nan}  # fmt: skip


def _first_at(values: "pd.Series[float]", goal: float) -> float:
    """Return where a curve first reaches a goal, between its points; NaN where it does not."""
    above = np.flatnonzero(values >= goal)
    if not len(above):
        return np.nan
    last = above[0]
    if not last:
        return float(values.index[0])
    low, high = values.iloc[last - 1 : last + 1]
    first, second = values.index[last - 1 : last + 1]
    return float(first + (goal - low) / (high - low) * (second - first))


def _shares(counts: Ints) -> npt.NDArray[np.float64]:
    return counts / counts.sum(axis=1, keepdims=True)
