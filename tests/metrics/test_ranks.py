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


@pytest.mark.parametrize("values", [[[1.0]], [[np.nan, 1.0], [0.0, 1.0]], [1.0, 2.0], [[], []]])
def test_what_cannot_be_ranked_is_refused(values):
    with pytest.raises(ValueError, match="values has shape"):
        rank_sets(values, 10, np.random.default_rng(0))


@pytest.mark.slow
@pytest.mark.parametrize("means", [[0.0] * 6, [0.0, 0.02, 0.04, 0.06, 0.3, 0.3]])
def test_all_sets_hold_the_true_ranks_in_nineteen_of_twenty_samples(means):
    """Simulated: 300 items, correlated and skewed errors, 400 samples."""
    truth = np.array(means)
    lowest = 1 + (truth[:, np.newaxis] > truth).sum(axis=0)
    highest = len(truth) - (truth[:, np.newaxis] < truth).sum(axis=0)
    rng, hits = np.random.default_rng(2), 0
    for _ in range(400):
        shared = rng.exponential(0.3, (300, 1))
        values = truth + shared + rng.exponential(0.2, (300, len(truth)))
        found = rank_sets(values, 300, rng)
        hits += bool((found.best <= lowest).all() and (found.worst >= highest).all())
    assert hits / 400 > 0.925
