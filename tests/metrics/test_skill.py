"""Skill and people on top of the base rate: by hand, and by simulation with known truth."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaos_utils.metrics.agreement import kappa_from_means, pairwise_agreement
from chaos_utils.metrics.divergence import squared_distance
from chaos_utils.metrics.skill import (
    distances,
    intervals,
    is_above_zero,
    leave_one_out_mean,
    people_on_top,
    pooled_people,
    skill,
    skill_of_people,
)

NAMES = ("skill", "skill_shrunk", "people", "people_shrunk")


def population(k, concentration):
    return np.linspace(2, 1, k) / np.linspace(2, 1, k).sum() * concentration


def drawn(seed, n=40, k=3, n_votes=9, concentration=3.0):
    rng = np.random.default_rng(seed)
    truths = rng.dirichlet(population(k, concentration), n)
    return rng, truths, rng.multinomial(n_votes, truths)


def test_base_rate_and_shrinkage_are_those_of_the_other_groups():
    rng, truths, counts = drawn(0)
    shares, groups = counts / 9, np.arange(40) // 3
    model = (truths + rng.dirichlet(np.ones(3), 40)) / 2  # knows enough for λ to be above 0
    found = distances(counts, model, groups)
    for group in np.unique(groups):
        here, rest = groups == group, groups != group
        base = shares[rest].mean(axis=0)
        away = model[rest] - base
        assert (away * (shares[rest] - base)).sum() > 0
        shrinkage = max((away * (shares[rest] - base)).sum() / (away**2).sum(), 0)
        near = base + shrinkage * (model[here] - base)
        np.testing.assert_allclose(leave_one_out_mean(shares, groups)[here], [base] * here.sum())
        far = squared_distance(shares[here], near, 9)
        np.testing.assert_allclose(found.of_shrunk[here], far)
    np.testing.assert_allclose(found.of_system, squared_distance(shares, model, 9))
    noise = (shares * (1 - shares) / 8).sum(axis=1).mean()
    np.testing.assert_allclose(found.spread.mean(), np.cov(shares.T).trace() - noise)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from([2, 3, 10]), st.integers(2, 12))
def test_people_and_skill_are_one_scale(seed, k, n_votes):
    rng, _, counts = drawn(seed, 60, k, n_votes)
    found = distances(counts, rng.dirichlet(np.ones(k), 60), np.arange(60))
    person, base = found.of_person.mean(), found.of_base_rate.mean()
    if not is_above_zero(found.of_base_rate):
        return
    ends = intervals(found, n_resamples=50, seed=0)
    known = skill(base, found.of_system.mean())
    assert ends["skill"][0] <= known <= ends["skill"][1] <= 1
    people = people_on_top(person, base, found.of_system.mean())
    assert people == pytest.approx(person / base * known / (1 - known))
    if people >= 0:
        assert skill_of_people(people, person / base) == pytest.approx(known)
    assert skill(base, -0.1) == skill(base, 0) == 1
    assert people_on_top(person, base, 0) == np.inf


def test_one_person_has_the_skill_that_is_fleiss_kappa():
    _, _, counts = drawn(2, 5000, n_votes=7)
    found = distances(counts, np.full((5000, 3), 1 / 3), np.arange(5000))
    kappa = kappa_from_means(pairwise_agreement(counts).mean(), (counts / 7).mean(axis=0))
    one = skill_of_people(1, found.of_person.mean() / found.of_base_rate.mean())
    assert one == pytest.approx(kappa, abs=1e-3)


def test_drawn_people_are_worth_what_they_are():
    """Their shares as they are come to fewer: with the base rate, they count for k/(k + k₀)."""
    for k, concentration in ((3, 3), (2, 1), (3, 9)):
        rng, truths, counts = drawn(3, 20_000, k, 40, concentration)
        for people in (1, 2, 5, 10):
            shares = rng.multinomial(people, truths) / people
            found = distances(counts, shares, np.arange(20_000))
            means = [x.mean() for x in (found.of_person, found.of_base_rate, found.of_shrunk)]
            assert people_on_top(*means) == pytest.approx(people, rel=0.06)
            assert found.shrinkage == pytest.approx(
                people / (people + means[0] / means[1]), rel=0.03
            )
            assert pooled_people(means[0], found.of_system.mean()) == pytest.approx(
                people, rel=0.06
            )


def systems(truths, rng):
    """Return what knows little, is overconfident, and is nearly right."""
    k = truths.shape[1]
    sharp = (rng.multinomial(5, truths) + 0.02) ** 3
    return {
        "two people": rng.multinomial(2, truths) / 2,
        "overconfident": sharp / sharp.sum(axis=1, keepdims=True),
        "near": 0.9 * truths + 0.1 * rng.dirichlet(np.ones(k), len(truths)),
    }


def truth_of(k, concentration, n, n_votes):
    """Return each system's skill and people against a base rate of n − 1 items, by `NAMES`."""
    alpha = population(k, concentration)
    rng = np.random.default_rng(99)
    truths = rng.dirichlet(alpha, 100_000)
    mean = alpha / alpha.sum()
    person = 1 - (truths**2).sum(axis=1).mean()
    spread = ((truths - mean) ** 2).sum(axis=1).mean()
    error = (spread + person / n_votes) / (n - 1)  # of the base rate
    found = {}
    for name, model in systems(truths, rng).items():
        away = model - mean
        gain, square = (away * (truths - mean)).sum(axis=1).mean(), (away**2).sum(axis=1).mean()
        shrink = (gain + error) / (square + error)
        shrunk = spread - 2 * shrink * gain + shrink**2 * square + (1 - shrink) ** 2 * error
        base, plain = spread + error, ((model - truths) ** 2).sum(axis=1).mean()
        found[name] = [1 - one / base for one in (plain, shrunk)]
        found[name] += [person / one - person / base for one in (plain, shrunk)]
    return found


def simulate(k, concentration, n, n_votes, n_replicates):
    """Return how often intervals hold the truth, and the error of skill from mean distances."""
    truth = truth_of(k, concentration, n, n_votes)
    missed = np.zeros((len(truth), len(NAMES)))
    means = np.zeros((len(truth), 3))
    for replicate in range(n_replicates):
        rng, truths, counts = drawn([7, replicate], n, k, n_votes, concentration)
        for i, (name, model) in enumerate(systems(truths, rng).items()):
            found = distances(counts, model, np.arange(n))
            distant = (found.of_base_rate, found.of_system, found.of_shrunk)
            means[i] += np.mean(distant, axis=1)
            if not is_above_zero(found.of_base_rate):
                continue  # no claim
            ends = intervals(found, n_resamples=200, seed=replicate)
            low, high = np.transpose([ends[name] for name in NAMES])
            missed[i] += ~((low <= truth[name]) & (truth[name] <= high))
    known = np.array(list(truth.values()))[:, :2]
    return 1 - missed / n_replicates, 1 - means[:, 1:] / means[:, :1] - known


def test_intervals_hold_the_truth_and_distances_have_no_bias():
    held, errors = simulate(3, 3, 100, 5, 300)
    assert held.min() >= 0.88  # by chance, 0.92 needs more replicates than fit here
    assert 0.92 <= held.mean() <= 0.98
    assert np.abs(errors).max() < 0.03


@pytest.mark.slow
@pytest.mark.parametrize("n_votes", [2, 5, 20, 100])
@pytest.mark.parametrize("n", [50, 200, 1000])
@pytest.mark.parametrize("differ", [1, 8])
@pytest.mark.parametrize("k", [3, 10])
def test_intervals_hold_the_truth_whatever_the_crowd(k, differ, n, n_votes):
    """With `differ` of 8, items hardly differ: of people who agree little, one has a κ of .04."""
    held, errors = simulate(k, k * differ, n, n_votes, 600)
    assert held.min() >= 0.88
    assert held.mean() >= 0.92
    if differ == 1:
        assert np.abs(errors).max() < 0.1
