import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaos_utils.metrics.resampling import bootstrap_means, percentile_interval


def test_one_seed_gives_one_result_whatever_the_chunks(monkeypatch):
    values = np.random.default_rng(1).random((50, 2))
    whole = bootstrap_means(values, 300, np.random.default_rng(7))
    monkeypatch.setattr("chaos_utils.metrics.resampling._CHUNK_CELLS", 50 * 100)
    np.testing.assert_allclose(bootstrap_means(values, 300, np.random.default_rng(7)), whole)


def test_spread_agrees_with_the_standard_error():
    values = np.random.default_rng(2).normal(3, 2, size=(400, 1))
    means = bootstrap_means(values, 4000, np.random.default_rng(3))
    assert means.mean() == pytest.approx(values.mean(), abs=0.01)
    assert means.std() == pytest.approx(values.std() / np.sqrt(400), rel=0.05)


def test_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(4)
    hits = 0
    for _ in range(300):
        values = rng.exponential(size=(100, 1))
        low, high = percentile_interval(bootstrap_means(values, 500, rng))
        hits += bool(low[0] <= 1 <= high[0])
    assert 0.89 <= hits / 300 <= 0.98


@given(st.floats(-5, 5), st.integers(1, 20), st.integers(1, 20))
def test_a_constant_has_no_spread(value, n_items, n_resamples):
    means = bootstrap_means(np.full((n_items, 1), value), n_resamples, np.random.default_rng(0))
    np.testing.assert_allclose(means, value)


@pytest.mark.parametrize(
    ("values", "n", "message"),
    [([1.0, 2.0], 10, "shape"), (np.zeros((0, 2)), 10, "shape"), ([[1.0]], 0, "n_resamples")],
)
def test_bad_input(values, n, message):
    with pytest.raises(ValueError, match=message):
        bootstrap_means(values, n, np.random.default_rng(0))


def test_bad_level():
    with pytest.raises(ValueError, match="level"):
        percentile_interval([[1.0]], level=95)
