"""Entropies and distances in each unit, with each floor; as measures, test_measures has them."""

import numpy as np
import pytest
import scipy.spatial.distance
import scipy.stats
from helpers.strategies import distributions
from hypothesis import given, settings

from chaos_utils.metrics.divergence import (
    energy_distance,
    entropy,
    jensen_shannon_distance,
    jensen_shannon_divergence,
    kl_divergence,
    miller_madow,
    squared_distance,
    total_variation,
)

BASES = {"bits": 2, "nats": np.e}


@pytest.mark.parametrize("unit", BASES)
@settings(max_examples=50)
@given(three=distributions(n_arrays=3))
def test_entropy_and_distances_agree_with_scipy_and_are_metrics(unit, three):
    p, q, r = three
    base = BASES[unit]
    np.testing.assert_allclose(
        entropy(p, unit=unit), scipy.stats.entropy(p, base=base, axis=1), atol=1e-12
    )
    assert not np.signbit(entropy([[1, 0, 0]], unit=unit))
    found = jensen_shannon_distance(p, q, unit=unit)
    # SciPy gives NaN where rounding leaves a divergence a hair below 0.
    expected = np.nan_to_num(scipy.spatial.distance.jensenshannon(p, q, base=base, axis=1))
    np.testing.assert_allclose(found, expected, atol=2e-8)
    np.testing.assert_allclose(found**2, jensen_shannon_divergence(p, q, unit=unit), atol=1e-15)
    m = (q + 0.01) / (q + 0.01).sum(axis=1, keepdims=True)
    found = kl_divergence(p, m, unit=unit, floor=0)
    np.testing.assert_allclose(found, scipy.stats.entropy(p, m, base=base, axis=1), atol=1e-9)
    assert (found >= 0).all()
    for distance in (total_variation, lambda a, b: jensen_shannon_distance(a, b, unit=unit)):
        d = distance(p, q)
        np.testing.assert_allclose(d, distance(q, p), atol=1e-12)
        assert ((d >= 0) & (d <= 1 + 1e-12)).all()
        assert (d <= distance(p, r) + distance(r, q) + 1e-7).all()


def test_kl_floor_decides_what_a_zero_costs():
    h, m = [[0.5, 0.5]], [[1.0, 0.0]]
    assert kl_divergence(h, m, unit="nats", floor=0)[0] == np.inf
    found = kl_divergence(h, m, unit="nats", floor=1e-15)[0]
    assert found == pytest.approx(0.5 * np.log(0.5) + 0.5 * np.log(0.5e15), rel=1e-9)
    assert kl_divergence([[1, 0]], m, unit="nats", floor=0)[0] == 0  # human zeros stay
    found = kl_divergence(h, m, unit="nats", floor=0.1)  # the model's row sums to 1 again
    np.testing.assert_allclose(found, scipy.stats.entropy(h, [[1 / 1.1, 0.1 / 1.1]], axis=1))


@pytest.mark.parametrize("n_votes", [2, 3, 6])
def test_the_squared_distance_is_right_on_average_from_two_votes_on(n_votes):
    truth, model = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.7, 0.1])
    counts = np.array([c for c in np.ndindex(*(n_votes + 1,) * 3) if sum(c) == n_votes])
    chances = scipy.stats.multinomial.pmf(counts, n_votes, truth)
    for one in (model, truth):
        found = squared_distance(counts / n_votes, np.tile(one, (len(counts), 1)), n_votes)
        assert chances @ found == pytest.approx(((one - truth) ** 2).sum(), abs=1e-12)


@pytest.mark.parametrize("unit", BASES)
def test_miller_madow_adds_the_first_term_of_the_bias(unit):
    votes = np.array([[3, 1, 0], [4, 0, 0], [1, 1, 1]])
    shares = votes / votes.sum(axis=1, keepdims=True)
    added = np.array([1 / 8, 0, 2 / 6]) / np.log(BASES[unit])
    np.testing.assert_allclose(miller_madow(votes, unit=unit), entropy(shares, unit=unit) + added)


def test_the_energy_distance_is_without_bias_for_any_number_of_answers():
    rng = np.random.default_rng(0)
    few, many = rng.normal(size=(4000, 4)), rng.normal(size=(4000, 9))
    alike = [energy_distance(*pair) for pair in zip(few, many, strict=True)]
    assert abs(np.mean(alike)) < 3 * np.std(alike) / np.sqrt(len(alike))
    # SciPy's is the root of twice the same, of whole distributions.
    x, y = rng.normal(size=500), rng.normal(1, 2, size=800)
    whole = scipy.stats.energy_distance(x, y) ** 2 / 2
    assert energy_distance(x, y) == pytest.approx(whole, abs=0.01)
    assert energy_distance([3.0], [5.0]) == 2
