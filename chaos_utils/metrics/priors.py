"""The distribution of items' true distributions, learned from votes: a prior over the simplex.

An item's true distribution is never seen. Its posterior, given its `votes` (whole counts, shape
(n_items, n_classes)), needs a prior that all items share. A Dirichlet has one peak (or one dip),
which does not fit people's answers; a prior on a grid of points takes any shape.
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
# Steps of the lattice by number of classes; finer ones change no bias that we could measure.
_STEPS = {2: 100, 3: 40}
_OTHER_STEPS = 20  # a coarser lattice has too few points near the corners
_TOLERANCE = 1e-5  # nats per item: EM stops where a step gains less
_MOST_STEPS = 500
# EM that stops early leaves a smoother prior. What it says of a single item then holds where items
# or votes are few; means over items need the converged one.
SINGLE_ITEM_STEPS = 5
_SMALLEST_LIKELIHOOD = np.float32(1e-30)
_IMPOSSIBLE = -1e9  # in place of log 0
_NEGLIGIBLE = 1e-12  # weight of a point
_CELLS_AT_ONCE = 4_000_000  # 32 MB at a time
_LATTICE_SEED = 20_000  # of the support points of a large simplex


@dataclass(frozen=True, slots=True, eq=False)
class GridPrior:
    """A discrete prior: distributions, `points`, shape (n_points, n_classes), and their `weights`.

    Weights are at least 0 and sum to 1; EM took `n_steps` to fit them.
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
    # Stars and bars: n_classes - 1 bars among n_steps stars leave the whole numbers between them.
    n_positions = n_steps + n_classes - 1
    bars = np.array(list(combinations(range(n_positions), n_classes - 1)))
    ends = np.full((len(bars), 1), n_positions)
    whole_numbers = np.diff(np.concatenate([np.full_like(ends, -1), bars, ends], axis=1)) - 1
    squares = np.square(whole_numbers, dtype=np.float64)
    return squares / squares.sum(axis=1, keepdims=True)


def support_points(votes: npt.ArrayLike) -> Floats:
    """Return the points on which `fit_grid` puts its prior, shape (n_points, n_classes).

    For two to four classes: a `simplex_grid` of 100, 40 and 20 steps (101, 861 and 1,771 points).
    For more classes a lattice of such a size would be too coarse; the points are `MOST_POINTS`
    draws (fixed seed) from the items' posteriors under a Dirichlet prior, and the corners.
    """
    counts = as_votes(votes, "votes")
    k = counts.shape[1]
    n_steps = _STEPS.get(k, _OTHER_STEPS)
    if comb(n_steps + k - 1, k - 1) <= MOST_POINTS:
        return simplex_grid(k, n_steps)
    rng = np.random.default_rng(_LATTICE_SEED)
    n_rounds = -(-MOST_POINTS // len(counts))  # rounded up
    items = np.concatenate([rng.permutation(len(counts)) for _ in range(n_rounds)])[:MOST_POINTS]
    truths = draw_truths(counts[items], fit_dirichlet(counts), rng)[0]
    return np.concatenate([truths, np.eye(k)])


def fit_grid(
    votes: npt.ArrayLike, points: npt.ArrayLike | None = None, *, most_steps: int = _MOST_STEPS
) -> GridPrior:
    """Fit the distribution that items' true distributions are drawn from, of any shape.

    Nonparametric maximum likelihood: EM for the weights of fixed `points`, by default
    `support_points`, under the multinomial likelihood of each item's votes, from even weights,
    until a step gains less than 1e-5 nats per item, or `most_steps` steps. Numbers of votes may
    differ, and may depend on the votes before. A converged prior is for means over items: its few
    points make single items look surer than they are, and `SINGLE_ITEM_STEPS` are enough for these.

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
    last_log_likelihood = -np.inf
    n_steps = 0
    while n_steps < most_steps:
        mixture = likelihoods @ weights
        log_likelihood = float(shares @ np.log(mixture))
        if log_likelihood - last_log_likelihood < _TOLERANCE:
            break
        last_log_likelihood = log_likelihood
        weights = weights * ((shares / mixture) @ likelihoods)
        n_steps += 1
    return GridPrior(grid, weights / weights.sum(), n_steps)


def _likelihoods(rows: Floats, points: Floats) -> Floats:
    """Return likelihoods, shape (n_rows, n_points), over the largest of each row of counts."""
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
    fit = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(-8, 8)] * len(start))
    return np.exp(fit.x)


def draw_truths(
    votes: npt.ArrayLike,
    prior: GridPrior | npt.ArrayLike,
    rng: np.random.Generator,
    n_draws: int = 1,
) -> Floats:
    """Draw items' true distributions from their posteriors, shape (n_draws, n_items, n_classes).

    The `prior` is from `fit_grid`, or Dirichlet parameters, as from `fit_dirichlet`; `n_draws` is
    at least 1.
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
    """Return posterior means of values of the true distributions, shape (n_items, n_values).

    The `prior` is common to all items.

    Parameters
    ----------
    values : array_like of float, shape (n_points, n_values)
        Values, such as entropies, at each point of the prior.
    """
    rows, row_of_item = np.unique(as_votes(votes, "votes"), axis=0, return_inverse=True)
    point_values = np.asarray(values, dtype=np.float64)[prior.weights > _NEGLIGIBLE]
    means = [
        posterior @ point_values / posterior.sum(axis=1, keepdims=True)
        for posterior in _posteriors(rows, _without_negligible(prior))
    ]
    return np.concatenate(means)[row_of_item.ravel()]


def _draw_on_grid(counts: Floats, prior: GridPrior, levels: Floats) -> Floats:
    """Draw from items' posteriors by inverting their cumulative sums at `levels` in [0, 1].

    The levels have shape (n_items, n_draws). Items with equal counts share a posterior.
    """
    rows, row_of_item = np.unique(counts, axis=0, return_inverse=True)
    order = np.argsort(row_of_item.ravel(), kind="stable")
    items_by_row = np.split(order, np.cumsum(np.bincount(row_of_item.ravel()))[:-1])
    likely = _without_negligible(prior)
    drawn_points = np.empty(levels.shape, dtype=np.int64)
    sums_by_row = (sums for part in _posteriors(rows, likely) for sums in np.cumsum(part, axis=1))
    for items, sums in zip(items_by_row, sums_by_row, strict=True):
        indices = np.searchsorted(sums, levels[items] * sums[-1], side="right")
        drawn_points[items] = np.minimum(indices, len(likely.points) - 1)
    return likely.points[drawn_points.T]


def _without_negligible(prior: GridPrior) -> GridPrior:
    """Return a prior without the points whose weight is negligible."""
    is_likely = prior.weights > _NEGLIGIBLE
    return GridPrior(prior.points[is_likely], prior.weights[is_likely])


def _posteriors(rows: Floats, prior: GridPrior) -> Iterator[Floats]:
    """Yield posteriors over points, up to a factor per row, of some rows of counts at a time."""
    step = max(1, _CELLS_AT_ONCE // len(prior.points))
    for start in range(0, len(rows), step):
        yield _likelihoods(rows[start : start + step], prior.points) * prior.weights


def bootstrap_masses(
    votes: npt.ArrayLike, prior: GridPrior, n_resamples: int, rng: np.random.Generator
) -> dict[int, npt.NDArray[np.float32]]:
    """Resample items, refit the prior, and return the mean posteriors of the items.

    Each refit starts from even weights and takes as many steps as the fit on all items took. The
    result has, for each number of votes, an array of shape (n_resamples, n_points): the expected
    share of items that have so many votes and whose truth is that point. All shares of a resample
    sum to 1. So what is expected of a resample's items is a sum over points, without noise of
    draws.
    """
    counts = as_votes(votes, "votes")
    if n_resamples < 1:
        raise ValueError(f"n_resamples is {n_resamples}, expected at least 1")
    rows, times = np.unique(counts, axis=0, return_counts=True)
    sizes = rows.sum(axis=1).astype(int)
    # Half the digits are enough here, and computed twice as fast.
    likelihoods = _likelihoods(rows, prior.points).astype(np.float32)
    n_items = len(counts)
    shares = rng.multinomial(n_items, times / n_items, size=n_resamples).astype(np.float32)
    shares /= n_items
    weights = np.full((n_resamples, len(prior.points)), 1 / len(prior.points), dtype=np.float32)
    for _ in range(prior.n_steps):
        weights *= (shares / _mixture_likelihoods(weights, likelihoods)) @ likelihoods
    ratios = shares / _mixture_likelihoods(weights, likelihoods)
    return {
        int(n): (ratios[:, sizes == n] @ likelihoods[sizes == n]) * weights
        for n in np.unique(sizes)
    }


def _mixture_likelihoods(
    weights: npt.NDArray[np.float32], likelihoods: npt.NDArray[np.float32]
) -> Any:
    return np.maximum(weights @ likelihoods.T, _SMALLEST_LIKELIHOOD)
