"""What distributions items have, learned from their votes: a prior over the simplex.

An item's true distribution is never seen. Its posterior, given its `votes` (whole counts, shape
(n_items, n_classes)), needs a prior that all items share. A Dirichlet has one peak (or one dip),
which people's answers do not keep to; a prior on a grid of points takes any shape.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from chaos_utils.metrics.checks import as_votes

Floats = npt.NDArray[np.float64]

MOST_POINTS = 2000  # of a grid
_FINEST = {2: 100, 3: 40}  # steps; finer ones change no bias that we could measure
_COARSEST = 20  # steps; a coarser lattice has too few points near the corners
_TOLERANCE = 1e-5  # nats per item: EM stops where a step gains less
_MOST_STEPS = 500
_SMALLEST_LIKELIHOOD = np.float32(1e-30)
_IMPOSSIBLE = -1e9  # in place of log 0
_NEGLIGIBLE = 1e-12  # weight of a point
_CELLS_AT_ONCE = 4_000_000  # 32 MB at a time
_LATTICE_SEED = 20_000  # of the support points of a large simplex


@dataclass(frozen=True, slots=True, eq=False)
class GridPrior:
    """A discrete prior: distributions, `points`, shape (n_points, n_classes), and their `weights`.

    Weights are at least 0 and sum to 1; EM found them in `n_steps`.
    """

    points: Floats
    weights: Floats
    n_steps: int = 0


def simplex_grid(n_classes: int, n_steps: int) -> Floats:
    r"""Return a lattice of distributions, closer together near the edges.

    Points are :math:`p_k \propto i_k^2` for whole :math:`i_k \ge 0` that sum to `n_steps`: even on
    the scale of :math:`\sqrt{p}`, on which the sampling error of a share does not depend on the
    share. Corners and edges of ``n_classes`` labels are among them.
    """
    if n_classes < 2 or n_steps < 1:
        raise ValueError(
            f"{n_classes} classes, {n_steps} steps: expected at least 2 classes and 1 step"
        )
    places = n_steps + n_classes - 1
    bars = np.array(list(combinations(range(places), n_classes - 1)))
    ends = np.full((len(bars), 1), places)
    whole = np.diff(np.concatenate([np.full_like(ends, -1), bars, ends], axis=1)) - 1
    squares = np.square(whole, dtype=np.float64)
    return squares / squares.sum(axis=1, keepdims=True)


def support_points(votes: npt.ArrayLike) -> Floats:
    """Return the points on which `fit_grid` puts its prior, shape (n_points, n_classes).

    Two to four classes: a `simplex_grid` of 100, 40 and 20 steps (101, 861 and 1,771 points). A
    lattice of more classes would be too coarse for its size; there they are `MOST_POINTS` draws
    (fixed seed) from the items' posteriors under a Dirichlet prior, and the corners.
    """
    counts = as_votes(votes, "votes")
    k = counts.shape[1]
    n_steps = _FINEST.get(k, _COARSEST)
    if comb(n_steps + k - 1, k - 1) <= MOST_POINTS:
        return simplex_grid(k, n_steps)
    rng = np.random.default_rng(_LATTICE_SEED)
    times = -(-MOST_POINTS // len(counts))
    items = np.concatenate([rng.permutation(len(counts)) for _ in range(times)])[:MOST_POINTS]
    drawn = draw_truths(counts[items], fit_dirichlet(counts), rng)[0]
    return np.concatenate([drawn, np.eye(k)])


def fit_grid(votes: npt.ArrayLike, points: npt.ArrayLike | None = None) -> GridPrior:
    """Fit the distribution that items' true distributions are drawn from, of any shape.

    Nonparametric maximum likelihood: EM for the weights of fixed `points`, by default
    `support_points`, under the multinomial likelihood of each item's votes, from even weights,
    until a step gains less than 1e-5 nats per item, or 500 steps. Numbers of votes may differ.

    References
    ----------
    Kiefer, J. and Wolfowitz, J. (1956). Consistency of the maximum likelihood estimator in the
    presence of infinitely many incidental parameters. Laird, N. (1978). Nonparametric maximum
    likelihood estimation of a mixing distribution.
    """
    counts = as_votes(votes, "votes")
    grid = support_points(counts) if points is None else np.asarray(points, dtype=np.float64)
    rows, times = np.unique(counts, axis=0, return_counts=True)
    likelihoods = _likelihoods(rows, grid)
    shares = times / times.sum()
    weights = np.full(len(grid), 1 / len(grid))
    before = -np.inf
    n_steps = 0
    while n_steps < _MOST_STEPS:
        mixed = likelihoods @ weights
        after = float(shares @ np.log(mixed))
        if after - before < _TOLERANCE:
            break
        before = after
        weights = weights * ((shares / mixed) @ likelihoods)
        n_steps += 1
    return GridPrior(grid, weights / weights.sum(), n_steps)


def _likelihoods(rows: Floats, points: Floats) -> Floats:
    """Return the likelihood of each row of counts at each point, over the row's largest one."""
    logs = np.log(points, out=np.full(points.shape, _IMPOSSIBLE), where=points > 0)
    log_likelihoods = rows @ logs.T
    best = log_likelihoods.max(axis=1, keepdims=True)
    if best.min() <= _IMPOSSIBLE:
        raise ValueError("no point of the grid allows the votes of some item; add inner points")
    log_likelihoods -= best
    return np.exp(log_likelihoods, out=log_likelihoods)


def fit_dirichlet(votes: npt.ArrayLike) -> Floats:
    """Fit the Dirichlet distribution that items' true distributions are drawn from.

    Maximises the Dirichlet-multinomial likelihood of the votes; parameters are above 0.

    References
    ----------
    Minka, T. (2000). Estimating a Dirichlet distribution.
    """
    from scipy.optimize import minimize  # slow to import, and rarely needed
    from scipy.special import digamma, gammaln

    counts = as_votes(votes, "votes")
    totals = counts.sum(axis=1)

    def loss(logs: Floats) -> tuple[float, Floats]:
        alpha = np.exp(logs)
        total = alpha.sum()
        value = (gammaln(total) - gammaln(total + totals)).sum()
        value += (gammaln(alpha + counts) - gammaln(alpha)).sum()
        common = (digamma(total) - digamma(total + totals)).sum()
        slopes = common + (digamma(alpha + counts) - digamma(alpha)).sum(axis=0)
        return -value / len(counts), -alpha * slopes / len(counts)

    start = np.zeros(counts.shape[1])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(-8, 8)] * len(start))
    return np.exp(found.x)


def draw_truths(
    votes: npt.ArrayLike,
    prior: GridPrior | npt.ArrayLike,
    rng: np.random.Generator,
    n_draws: int = 1,
) -> Floats:
    """Draw items' true distributions from their posteriors, shape (n_draws, n_items, n_classes).

    The `prior` is what `fit_grid` finds, or Dirichlet parameters, as of `fit_dirichlet`; `n_draws`
    is at least 1.
    """
    counts = as_votes(votes, "votes")
    if n_draws < 1:
        raise ValueError(f"n_draws is {n_draws}, expected at least 1")
    if isinstance(prior, GridPrior):
        return _draw_on_grid(counts, prior, rng.random((len(counts), n_draws)))
    alpha = counts + np.asarray(prior, dtype=np.float64)
    gammas = rng.standard_gamma(alpha, size=(n_draws, *counts.shape))
    gammas = np.maximum(gammas, np.finfo(float).tiny)
    return gammas / gammas.sum(axis=-1, keepdims=True)


def posterior_means(votes: npt.ArrayLike, prior: GridPrior, values: npt.ArrayLike) -> Floats:
    """Return what is expected of each item's true distribution, given its votes and a `prior`.

    Parameters
    ----------
    values : array_like of float, shape (n_points, n_values)
        What is wanted, such as entropies, at each point of the prior.
    """
    rows, of_item = np.unique(as_votes(votes, "votes"), axis=0, return_inverse=True)
    point_values = np.asarray(values, dtype=np.float64)[prior.weights > _NEGLIGIBLE]
    means = [
        posterior @ point_values / posterior.sum(axis=1, keepdims=True)
        for posterior in _posteriors(rows, _likely(prior))
    ]
    return np.concatenate(means)[of_item.ravel()]


def _draw_on_grid(counts: Floats, prior: GridPrior, levels: Floats) -> Floats:
    """Read each item's posterior at the levels, shape (n_items, n_draws), of its cumulation."""
    rows, of_item = np.unique(counts, axis=0, return_inverse=True)
    order = np.argsort(of_item.ravel(), kind="stable")
    items_of = np.split(order, np.cumsum(np.bincount(of_item.ravel()))[:-1])
    likely = _likely(prior)
    chosen = np.empty(levels.shape, dtype=np.int64)
    cumulations = (each for part in _posteriors(rows, likely) for each in np.cumsum(part, axis=1))
    for items, cumulated in zip(items_of, cumulations, strict=True):
        places = np.searchsorted(cumulated, levels[items] * cumulated[-1], side="right")
        chosen[items] = np.minimum(places, len(likely.points) - 1)
    return likely.points[chosen.T]


def _likely(prior: GridPrior) -> GridPrior:
    """Return a prior without the points whose weight is negligible."""
    kept = prior.weights > _NEGLIGIBLE
    return GridPrior(prior.points[kept], prior.weights[kept])


def _posteriors(rows: Floats, prior: GridPrior) -> Iterator[Floats]:
    """Yield how likely each point is behind some rows of counts at a time, up to a factor."""
    step = max(1, _CELLS_AT_ONCE // len(prior.points))
    for start in range(0, len(rows), step):
        yield _likelihoods(rows[start : start + step], prior.points) * prior.weights


def bootstrap_masses(
    votes: npt.ArrayLike, prior: GridPrior, n_resamples: int, rng: np.random.Generator
) -> dict[int, npt.NDArray[np.float32]]:
    """Resample items, refit the prior, and say how often each truth lies behind the items.

    Each refit starts from even weights and takes as many steps as the fit on all items took. What
    is expected of a resample's items is then a sum over points, without noise of draws. By number
    of votes, and of shape (n_resamples, n_points): the share of items that have so many, and whose
    truth is that point (the mean of their posteriors). All shares of a resample sum to 1.
    """
    counts = as_votes(votes, "votes")
    if n_resamples < 1:
        raise ValueError(f"n_resamples is {n_resamples}, expected at least 1")
    rows, times = np.unique(counts, axis=0, return_counts=True)
    sizes = rows.sum(axis=1).astype(int)
    # Half the digits are enough here, and twice as fast.
    likelihoods = _likelihoods(rows, prior.points).astype(np.float32)
    n_items = len(counts)
    shares = rng.multinomial(n_items, times / n_items, size=n_resamples).astype(np.float32)
    shares /= n_items
    weights = np.full((n_resamples, len(prior.points)), 1 / len(prior.points), dtype=np.float32)
    for _ in range(prior.n_steps):
        weights *= (shares / _mixture_likelihoods(weights, likelihoods)) @ likelihoods
    pulls = shares / _mixture_likelihoods(weights, likelihoods)
    return {
        int(n): (pulls[:, sizes == n] @ likelihoods[sizes == n]) * weights for n in np.unique(sizes)
    }


def _mixture_likelihoods(
    weights: npt.NDArray[np.float32], likelihoods: npt.NDArray[np.float32]
) -> Any:
    return np.maximum(weights @ likelihoods.T, _SMALLEST_LIKELIHOOD)
