"""The perfect model's score on simulated collections of votes, whose truth is known."""

import numpy as np
import pytest
from helpers.predictions import votes_from

from chaos_utils.metrics.measures import MEASURES
from chaos_utils.scoring.draws import draw_crowds, measure_draws
from chaos_utils.scoring.references import References

N_ITEMS, N_VOTES = 1500, 100  # about those of SNLI
BOUNDS = {"jsd": 0.03, "kl": 0.03, "ent_ce": 0.02, "dist_ce": 0.02}  # relative


def logistic_normal(n, rng):
    logits = rng.normal([0, 0.5, -0.3], [2.2, 1.6, 2.0], (n, 3))
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


def two_dirichlets(n, rng):
    clear, contested = rng.dirichlet([0.35, 0.3, 0.2], n), rng.dirichlet([3, 6, 2], n)
    return np.where(rng.random((n, 1)) < 0.6, clear, contested)


def betas_and_corners(n, rng):
    """A fifth of the items are certain; the others' shares are products of betas."""
    left, split = rng.beta(0.6, 1.5, n), rng.beta(0.8, 0.8, n)
    shares = np.column_stack([1 - left, left * split, left * (1 - split)])
    shares[rng.random(n) < 0.2] = [1, 0, 0]
    return rng.permuted(shares, axis=1)


TRUTHS = (logistic_normal, two_dirichlets, betas_and_corners)


def collected(votes, truth, rng):
    return votes_from(votes, rng.multinomial(N_VOTES, truth))


def scores_of(truths, rng):
    crowds = draw_crowds(truths, N_VOTES, rng)
    return np.array([measure_draws(MEASURES[name], crowds, truths).value for name in BOUNDS])


@pytest.mark.parametrize("truth_of", TRUTHS)
@pytest.mark.parametrize(
    ("n_collections", "noise"), [(1, 0.03), pytest.param(50, 0, marks=pytest.mark.slow)]
)
def test_the_perfect_model_has_the_true_score(sample, truth_of, n_collections, noise):
    errors = []  # relative, of two estimates
    for number in range(n_collections):
        rng = np.random.default_rng([number, 7])
        truth = truth_of(N_ITEMS, rng)
        several = (20, *truth.shape)
        known = collected(sample[0], truth, rng)
        true = scores_of(np.broadcast_to(truth, several), rng)
        references = References(known)
        ours = np.array([references.perfect_model(name).value for name in BOUNDS])
        plug_in = scores_of(np.broadcast_to(known.counts / N_VOTES, several), rng)
        errors.append(np.stack([ours, plug_in]) / true - 1)
    ours, plug_in = np.mean(errors, axis=0)
    assert (np.abs(ours) < np.array(list(BOUNDS.values())) + noise).all()
    assert (plug_in[:2] < -0.05).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("truth_of", "n_items", "n_collections"),
    [*((truth_of, 300, 20) for truth_of in TRUTHS), (logistic_normal, N_ITEMS, 6)],
)
def test_the_interval_of_the_perfect_model_holds_the_true_score(
    sample, truth_of, n_items, n_collections
):
    rng = np.random.default_rng(99)
    true, inside = scores_of(truth_of(300_000, rng)[np.newaxis], rng), []
    for number in range(n_collections):
        rng = np.random.default_rng([number, 8])
        found = References(collected(sample[0], truth_of(n_items, rng), rng))
        low, high = np.transpose([found.perfect_model_interval(name) for name in BOUNDS])
        inside.append((low <= true) & (true <= high))
    assert (np.mean(inside, axis=0) >= 0.8).all()
