"""Priors over the simplex: the grid, its fit, draws from it, refits."""

from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multinomial

from chaos_utils.metrics import priors, resampling
from chaos_utils.metrics.divergence import total_variation


@settings(max_examples=30)
@given(st.integers(2, 5), st.integers(1, 8))
def test_a_lattice_holds_corners_and_middle(k, n_steps):
    points = priors.simplex_grid(k, n_steps)
    assert points.shape == (comb(n_steps + k - 1, k - 1), k)
    np.testing.assert_allclose(points.sum(axis=1), 1)
    assert (points >= 0).all()
    assert len(np.unique(points.round(12), axis=0)) == len(points)
    for corner in np.eye(k):
        assert (points == corner).all(axis=1).any()


@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_fit_is_close_to_the_largest_likelihood(k):
    rng = np.random.default_rng(k)
    votes = rng.multinomial(rng.integers(5, 40, 300), rng.dirichlet(np.full(k, 0.6), 300))
    prior = priors.fit_grid(votes)
    likelihoods = np.exp(multinomial.logpmf(votes[:, np.newaxis], votes.sum(axis=1)[:, np.newaxis],
                                            prior.points))  # fmt: skip
    mixed = likelihoods @ prior.weights
    # By concavity, no weights have a mean log-likelihood that is larger by more than this.
    gap = (likelihoods / mixed[:, np.newaxis]).mean(axis=0).max() - 1
    assert 0 <= gap < 0.05


def test_a_posterior_is_drawn_from():
    prior = priors.GridPrior(np.array([[0.5, 0.5], [0.9, 0.1], [0, 1]]), np.array([0.3, 0.6, 0.1]))
    votes = np.array([[3, 1], [0, 2]])
    drawn = priors.draw_truths(votes, prior, np.random.default_rng(0), 40_000)
    likelihoods = np.array([[0.5**4, 0.9**3 * 0.1, 0], [0.25, 0.01, 1]])
    posterior = likelihoods * prior.weights
    posterior /= posterior.sum(axis=1, keepdims=True)
    found = np.stack([(drawn == point).all(axis=2).mean(axis=0) for point in prior.points], axis=1)
    np.testing.assert_allclose(found, posterior, atol=0.01)


def test_dirichlet_is_recovered():
    rng = np.random.default_rng(9)
    truth = np.array([0.5, 1.5, 3.0])
    votes = resampling.draw_votes(rng.dirichlet(truth, 4000), 100, rng)
    np.testing.assert_allclose(priors.fit_dirichlet(votes), truth, rtol=0.07)


def test_refits_spread_as_other_items_would_make_them():
    def collection(seed, n=400):
        rng = np.random.default_rng(seed)
        shares = rng.beta(0.7, 1.2, n)
        return rng.multinomial(20, np.column_stack([shares, 1 - shares]))

    votes = collection(0)
    prior = priors.fit_grid(votes)
    (mass,) = priors.bootstrap_masses(votes, prior, 150, np.random.default_rng(0)).values()
    np.testing.assert_allclose(mass.sum(axis=1), 1, rtol=1e-4)
    spread = (mass @ prior.points.prod(axis=1)).std()
    fits = [priors.fit_grid(collection(seed)) for seed in range(1, 60)]
    others = [one.weights @ one.points.prod(axis=1) for one in fits]
    assert spread == pytest.approx(np.std(others), rel=0.35)
    # Items of 20 and of 5 votes are kept apart.
    both = np.concatenate([votes[:90], np.tile([[4, 1], [2, 3]], (15, 1))])
    masses = priors.bootstrap_masses(both, prior, 100, np.random.default_rng(0))
    shares = {n: one.sum(axis=1).mean() for n, one in masses.items()}
    assert shares == pytest.approx({5: 0.25, 20: 0.75}, abs=0.02)


def test_what_is_expected_of_an_item_is_the_mean_of_its_posterior():
    rng = np.random.default_rng(0)
    prior = priors.GridPrior(rng.dirichlet([1, 1, 1], 9), rng.dirichlet(np.ones(9)))
    votes = np.array([[3, 0, 1], [0, 0, 2], [3, 0, 1], [1, 0, 0]])
    values = rng.normal(size=(9, 2))
    found = priors.posterior_means(votes, prior, values)
    for row, counts in zip(found, votes, strict=True):
        likely = multinomial.pmf(counts, counts.sum(), prior.points) * prior.weights
        np.testing.assert_allclose(row, likely @ values / likely.sum())


def floor(truths, n_votes, rng):
    return np.mean([
        total_variation(resampling.draw_votes(truth, n_votes, rng) / n_votes, truth).mean()
        for truth in truths
    ])  # fmt: skip


@pytest.mark.parametrize(("k", "n_votes"), [(2, 20), (3, 20), (4, 20), (10, 30)])
def test_the_noise_floor_is_that_of_known_truths(k, n_votes):
    """Either posterior gives the floor of a perfect model; the votes' own shares would not."""
    rng = np.random.default_rng(10)
    truths = rng.dirichlet(np.linspace(0.8, 0.2, k), 1200)
    votes = resampling.draw_votes(truths, n_votes, rng)
    known = floor([truths] * 10, n_votes, rng)
    plug_in = floor([votes / n_votes] * 10, n_votes, rng)
    for prior in (priors.fit_dirichlet(votes), priors.fit_grid(votes)):
        found = floor(priors.draw_truths(votes, prior, rng, 10), n_votes, rng)
        assert found == pytest.approx(known, rel=0.06)  # so few votes, so few items
        assert abs(plug_in - known) > 2 * abs(found - known)


def test_many_classes_have_no_more_points_than_few():
    rng = np.random.default_rng(0)
    for k in (2, 3, 4, 5, 10, 30):
        votes = rng.multinomial(8, rng.dirichlet(np.ones(k), 50))
        points = priors.support_points(votes)
        assert len(points) <= priors.MOST_POINTS + k
        np.testing.assert_allclose(points.sum(axis=1), 1)
        np.testing.assert_array_equal(points, priors.support_points(votes))
