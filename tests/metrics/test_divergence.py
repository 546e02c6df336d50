import numpy as np
import pytest
import scipy.spatial.distance
import scipy.stats
from helpers.strategies import distributions
from hypothesis import given
from hypothesis import strategies as st

from chaos_utils.metrics.divergence import (
    entropy,
    jensen_shannon_distance,
    jensen_shannon_divergence,
    kl_divergence,
    miller_madow,
    squared_distance,
    total_variation,
    wasserstein,
)

BASES = {"bits": 2, "nats": np.e}
units = st.sampled_from(["bits", "nats"])


@given(distributions(), units)
def test_entropy_agrees_with_scipy_and_its_bounds(p, unit):
    found = entropy(p, unit=unit)
    expected = scipy.stats.entropy(p, base=BASES[unit], axis=1)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert (found >= 0).all()
    assert (found <= np.log(p.shape[1]) / np.log(BASES[unit]) + 1e-12).all()


def test_entropy_at_its_ends():
    found = entropy([[1, 0, 0], [1 / 3, 1 / 3, 1 / 3], [0.5, 0.5, 0]], unit="bits")
    np.testing.assert_allclose(found, [0, np.log2(3), 1])
    assert not np.signbit(found[0])


@given(distributions(n_arrays=2), units)
def test_jensen_shannon_agrees_with_scipy(pair, unit):
    p, q = pair
    found = jensen_shannon_distance(p, q, unit=unit)
    expected = scipy.spatial.distance.jensenshannon(p, q, base=BASES[unit], axis=1)
    # SciPy gives NaN where rounding leaves a divergence a hair below 0.
    np.testing.assert_allclose(found, np.nan_to_num(expected), atol=2e-8)
    np.testing.assert_allclose(found**2, jensen_shannon_divergence(p, q, unit=unit), atol=1e-15)


@given(distributions(n_arrays=2, zeros=False), units)
def test_kl_agrees_with_scipy(pair, unit):
    h, m = pair
    found = kl_divergence(h, m, unit=unit, floor=0)
    np.testing.assert_allclose(
        found, scipy.stats.entropy(h, m, base=BASES[unit], axis=1), atol=1e-9
    )
    assert (found >= 0).all()


def test_kl_floor_decides_what_a_zero_costs():
    h, m = [[0.5, 0.5]], [[1.0, 0.0]]
    assert kl_divergence(h, m, unit="nats", floor=0)[0] == np.inf
    found = kl_divergence(h, m, unit="nats", floor=1e-15)[0]
    assert found == pytest.approx(0.5 * np.log(0.5) + 0.5 * np.log(0.5e15), rel=1e-9)
    assert kl_divergence([[1, 0]], m, unit="nats", floor=0)[0] == 0  # human zeros stay
    found = kl_divergence(h, m, unit="nats", floor=0.1)  # the model's row sums to 1 again
    np.testing.assert_allclose(found, scipy.stats.entropy(h, [[1 / 1.1, 0.1 / 1.1]], axis=1))


def test_kl_is_from_human_to_model():
    h, m = [[0.9, 0.1]], [[0.5, 0.5]]
    expected = 0.9 * np.log(0.9 / 0.5) + 0.1 * np.log(0.1 / 0.5)
    assert kl_divergence(h, m, unit="nats", floor=0)[0] == pytest.approx(expected)
    assert kl_divergence(m, h, unit="nats", floor=0)[0] != pytest.approx(expected)


@given(distributions(n_arrays=3))
def test_distances_are_metrics(three):
    p, q, r = three
    for distance in (total_variation, lambda a, b: jensen_shannon_distance(a, b, unit="bits")):
        d = distance(p, q)
        np.testing.assert_allclose(d, distance(q, p), atol=1e-12)
        np.testing.assert_allclose(distance(p, p), 0, atol=1e-7)
        assert ((d >= 0) & (d <= 1 + 1e-12)).all()
        assert (d <= distance(p, r) + distance(r, q) + 1e-7).all()


@given(distributions(n_arrays=2), st.randoms())
def test_the_order_of_labels_does_not_matter(pair, random):
    p, q = pair
    order = list(range(p.shape[1]))
    random.shuffle(order)
    for measure in (
        total_variation,
        lambda a, b: jensen_shannon_divergence(a, b, unit="nats"),
        lambda a, b: kl_divergence(a, b, unit="nats", floor=1e-15),
    ):
        np.testing.assert_allclose(measure(p, q), measure(p[:, order], q[:, order]), atol=1e-12)


def test_the_largest_distance_in_nats_is_not_one():
    found = jensen_shannon_distance([[1, 0]], [[0, 1]], unit="nats")
    assert found[0] == pytest.approx(np.sqrt(np.log(2)))
    assert total_variation([[1, 0]], [[0, 1]]) == [1]


@given(distributions(n_arrays=2))
def test_wasserstein_agrees_with_scipy_and_is_at_least_the_mass_that_moves(pair):
    p, q = pair
    steps = np.arange(p.shape[1])
    expected = [
        scipy.stats.wasserstein_distance(steps, steps, a, b) for a, b in zip(p, q, strict=True)
    ]
    found = wasserstein(p, q)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert (found >= total_variation(p, q) - 1e-12).all()
    if p.shape[1] == 2:
        np.testing.assert_allclose(found, total_variation(p, q), atol=1e-12)


@pytest.mark.parametrize("n_votes", [2, 3, 6])
def test_the_squared_distance_is_right_on_average_from_two_votes_on(n_votes):
    truth, model = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.7, 0.1])
    counts = np.array([c for c in np.ndindex(*(n_votes + 1,) * 3) if sum(c) == n_votes])
    chances = scipy.stats.multinomial.pmf(counts, n_votes, truth)
    found = squared_distance(counts / n_votes, np.tile(model, (len(counts), 1)), n_votes)
    assert chances @ found == pytest.approx(((model - truth) ** 2).sum())
    assert chances @ squared_distance(
        counts / n_votes, np.tile(truth, (len(counts), 1)), n_votes
    ) == pytest.approx(0, abs=1e-12)


@given(distributions(n_arrays=2), st.integers(2, 100))
def test_the_squared_distance_of_many_votes_is_the_plain_one(pair, n_votes):
    h, m = pair
    plain = ((h - m) ** 2).sum(axis=1)
    found = squared_distance(h, m, n_votes)
    assert (found <= plain + 1e-12).all()
    assert (plain - found <= 1 / (n_votes - 1)).all()
    each = np.arange(2, 2 + len(h))
    np.testing.assert_allclose(
        squared_distance(h, m, each)[-1:], squared_distance(h[-1:], m[-1:], each[-1])
    )


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0.5, 0.5], "shape"),
        (np.zeros((0, 3)), "shape"),
        ([[1.0]], "shape"),
        ([[0.5, 0.5], [0.5, 0.4]], "row 1, sums to 0.9"),
        ([[1.5, -0.5]], "row 0, holds .*negative"),
        ([[np.nan, 1.0]], "row 0, holds .*finite"),
        ([[0.5, 0.4], [0.3, 0.3]], "and 1 more"),
    ],
)
def test_what_is_no_distribution_is_refused_with_its_place(values, message):
    with pytest.raises(ValueError, match=message):
        entropy(values, unit="bits")


def test_other_bad_input():
    with pytest.raises(ValueError, match="differ"):
        total_variation([[0.5, 0.5]], [[0.2, 0.3, 0.5]])
    with pytest.raises(ValueError, match="unit is 'dits'"):
        entropy([[0.5, 0.5]], unit="dits")
    with pytest.raises(ValueError, match="floor is -1"):
        kl_divergence([[0.5, 0.5]], [[0.5, 0.5]], unit="nats", floor=-1)
    with pytest.raises(ValueError, match="item 1, is 1, expected at least 2"):
        squared_distance(np.eye(2), np.eye(2), [2, 1])


@pytest.mark.parametrize("unit", ["bits", "nats"])
def test_miller_madow_adds_the_first_term_of_the_bias(unit):
    votes = np.array([[3, 1, 0], [4, 0, 0], [1, 1, 1]])
    shares = votes / votes.sum(axis=1, keepdims=True)
    added = np.array([1 / 8, 0, 2 / 6]) / np.log(BASES[unit])
    np.testing.assert_allclose(miller_madow(votes, unit=unit), entropy(shares, unit=unit) + added)


def test_miller_madow_mends_part_of_the_bias_of_many_votes_and_not_of_few():
    p = np.array([0.5, 0.3, 0.2])
    truth = entropy(p[np.newaxis], unit="nats")[0]
    rng = np.random.default_rng(0)
    for n, left in ((4, 0.03), (200, 0.001)):
        votes = rng.multinomial(n, p, 20_000)
        plain = entropy(votes / n, unit="nats").mean()
        corrected = miller_madow(votes, unit="nats").mean()
        assert plain < corrected < truth + 0.001
        assert (truth - corrected < left) == (n == 200)
