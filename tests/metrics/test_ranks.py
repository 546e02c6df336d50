from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from chaos_utils.metrics.ranks import rank_sets

TABLES = hnp.arrays(
    np.float64, st.tuples(st.integers(2, 12), st.integers(1, 5)), elements=st.floats(0, 1, width=32)
)


@given(values=TABLES)
def test_sets_hold_the_observed_ranks_and_turn_with_the_order(values):
    found = rank_sets(values, 50, np.random.default_rng(0))
    means = values.mean(axis=0)
    n = values.shape[1]
    lowest = 1 + (means[:, np.newaxis] > means + 1e-9).sum(axis=0)
    highest = n - (means[:, np.newaxis] < means - 1e-9).sum(axis=0)
    assert (found.best <= lowest).all()
    assert (found.worst >= highest).all()
    turned = rank_sets(values, 50, np.random.default_rng(0), highest_first=False)
    assert np.array_equal(turned.best, n + 1 - found.worst)
    assert np.array_equal(turned.worst, n + 1 - found.best)


def test_what_is_far_apart_is_told_apart_and_equals_are_not():
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 0.1, (200, 1))
    values = noise + np.array([0.0, 0.0, 1.0, 2.0]) + rng.normal(0, 0.01, (200, 4))
    found = rank_sets(values, 500, np.random.default_rng(0))
    assert found.best.tolist() == [3, 3, 2, 1]
    assert found.worst.tolist() == [4, 4, 2, 1]
    one = rank_sets(values[:, :1], 20, np.random.default_rng(0))
    assert (one.best, one.worst) == ([1], [1])
    same = rank_sets(np.repeat(values[:, :1], 3, axis=1), 50, np.random.default_rng(0))
    assert (same.best == 1).all()
    assert (same.worst == 3).all()


def slow_sets(values, picks, level):
    """Return the ends of each set by loops, from the items that each resample picks."""
    n = values.shape[1]
    pairs = list(combinations(range(n), 2))
    observed, resampled = {}, {}
    for a, b in pairs:
        gaps = [row[a] - row[b] for row in values]
        shared = [gap for gap in gaps if not np.isnan(gap)]
        mean = sum(shared) / len(shared)
        variance = sum((gap - mean) ** 2 for gap in shared) / (len(shared) - 1)
        error = (variance / len(shared)) ** 0.5
        observed[a, b] = mean / error
        drawn = [[gaps[item] for item in pick if not np.isnan(gaps[item])] for pick in picks]
        resampled[a, b] = [abs(sum(some) / len(some) - mean) / error for some in drawn]
    apart = set()
    while True:
        left = [pair for pair in pairs if pair not in apart]
        if not left:
            break
        largest = [max(resampled[pair][k] for pair in left) for k in range(len(picks))]
        more = {pair for pair in left if abs(observed[pair]) > np.quantile(largest, level)}
        if not more:
            break
        apart |= more
    best, worst = [1] * n, [n] * n
    for a, b in apart:
        better, other = (a, b) if observed[a, b] > 0 else (b, a)
        best[other] += 1
        worst[better] -= 1
    return best, worst, len(apart)


def test_sets_are_those_of_a_slow_computation_on_the_items_that_pairs_share():
    rng = np.random.default_rng(5)
    values = rng.normal(0, 1, (40, 1)) + rng.normal([0, 0.1, 0.3, 0.35, 0.9, 1.0], 0.4, (40, 6))
    values[:3, 1] = values[2:6, 4] = values[2:6, 5] = np.nan
    picks = np.random.default_rng(7).integers(40, size=(200, 40), dtype=np.int32)
    found = rank_sets(values, 200, np.random.default_rng(7))
    best, worst, n_apart = slow_sets(values, picks, 0.95)
    assert 0 < n_apart < 15
    assert found.best.tolist() == best
    assert found.worst.tolist() == worst


def test_steps_down_once_what_is_clear_has_left_the_comparison():
    """A pair that the first step leaves open is told apart when fewer pairs are compared."""
    rng = np.random.default_rng(0)
    values = rng.normal([0.0, 0.0, 9.0, 18.0, 27.0, 36.0], 1.0, (200, 6))
    gaps = values[:, 1] - values[:, 0]
    values[:, 1] += 2.4 * gaps.std(ddof=1) / np.sqrt(200) - gaps.mean()
    found = rank_sets(values, 2000, np.random.default_rng(1))
    assert found.critical > 2.5
    assert found.best.tolist() == found.worst.tolist() == [6, 5, 4, 3, 2, 1]


@pytest.mark.parametrize(
    "values",
    [
        [[1.0]], [1.0, 2.0], [[], []], [[np.inf, 1.0], [0.0, 1.0]], [[np.nan, 1.0], [0.0, 1.0]],
        [[1.0, np.nan], [2.0, np.nan], [np.nan, 1.0], [np.nan, 2.0]],
    ],
)  # fmt: skip
def test_what_cannot_be_ranked_is_refused(values):
    with pytest.raises(ValueError, match="values has shape"):
        rank_sets(values, 10, np.random.default_rng(0))


@pytest.mark.slow
@pytest.mark.parametrize("n_missing", [0, 15])
@pytest.mark.parametrize("means", [[0.0] * 6, [0.0, 0.02, 0.04, 0.06, 0.3, 0.3]])
def test_all_sets_hold_the_true_ranks_in_nineteen_of_twenty_samples(means, n_missing):
    """Simulated: 300 items, correlated and skewed errors, 400 samples; two systems lack items."""
    truth = np.array(means)
    lowest = 1 + (truth[:, np.newaxis] > truth).sum(axis=0)
    highest = len(truth) - (truth[:, np.newaxis] < truth).sum(axis=0)
    rng, hits = np.random.default_rng(2), 0
    for _ in range(400):
        shared = rng.exponential(0.3, (300, 1))
        values = truth + shared + rng.exponential(0.2, (300, len(truth)))
        values[:n_missing, :2] = np.nan
        found = rank_sets(values, 300, rng)
        hits += bool((found.best <= lowest).all() and (found.worst >= highest).all())
    assert hits / 400 > 0.925
