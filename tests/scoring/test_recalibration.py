"""The map that recalibrates: what it finds, and what it may not know."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from chaos_utils.scoring import fitting, recalibration
from chaos_utils.scoring.recalibration import recalibrated, too_few_to_recalibrate

RNG = np.random.default_rng(4)
TRUTH = RNG.dirichlet([1.2, 2.0, 0.8], size=900)
COUNTS = RNG.multinomial(20, TRUTH)
SHARES = COUNTS / 20
SYSTEM = softmax(2 * np.log(TRUTH) + RNG.normal(scale=0.8, size=TRUTH.shape), axis=1)
FOLDS = np.arange(900) % 10


def distance(model):
    return ((model - TRUTH) ** 2).sum(axis=1).mean()


@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_map_is_that_of_the_fitting_chapter(k):
    rng = np.random.default_rng(k)
    truth = rng.dirichlet(np.ones(k), size=700)
    shares = rng.multinomial(10, truth) / 10
    logs = np.log(softmax(np.log(truth) + rng.normal(size=truth.shape), axis=1))
    weights, intercepts = recalibration.fit_affine(logs, shares)
    other = fitting.fit_map(logs[:, np.newaxis], shares, kind="affine", objective="kl")
    ours = softmax(logs @ weights + intercepts, axis=1)
    np.testing.assert_allclose(ours, other.predict(logs[:, np.newaxis]), atol=2e-5)


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 4), st.floats(0.2, 4), st.integers(0, 2**32 - 1))
def test_no_map_that_scipy_finds_has_less_of_the_loss(k, sharpness, seed):
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.ones(k), size=300)
    shares = rng.multinomial(5, truth) / 5
    logs = log_softmax(sharpness * np.log(truth) + rng.normal(size=truth.shape), axis=1)
    means, scales = logs.mean(axis=0), logs.std(axis=0)

    def loss(numbers):
        weights, intercepts = numbers[:-k].reshape(k, k), numbers[-k:]
        scores = (logs - means) / scales @ weights + intercepts
        fit = -(shares * log_softmax(scores, axis=1)).sum()
        return (fit + recalibration.PENALTY * (weights**2).sum()) / len(logs)

    weights, intercepts = recalibration.fit_affine(logs, shares)
    ours = [*(weights * scales[:, np.newaxis]).ravel(), *(intercepts + means @ weights)]
    theirs = minimize(loss, np.zeros(k * (k + 1)), options={"gtol": 1e-7})
    assert loss(np.array(ours)) <= theirs.fun + 1e-9


def test_what_is_too_sure_comes_nearer_and_no_item_knows_its_own_fold():
    found = recalibrated(SYSTEM, SHARES, FOLDS)
    assert distance(found) < 0.7 * distance(SYSTEM)
    changed = SHARES.copy()
    changed[FOLDS == 3] = [0, 0, 1]
    again = recalibrated(SYSTEM, changed, FOLDS)
    np.testing.assert_array_equal(again[FOLDS == 3], found[FOLDS == 3])
    assert np.abs(again - found)[FOLDS != 3].max() > 0.01


def test_a_label_is_the_mean_vote_given_it_on_the_other_folds():
    labels = SYSTEM.argmax(axis=1)
    found = recalibrated(np.eye(3)[labels], SHARES, FOLDS)
    for label in range(3):
        of_others = (FOLDS != 2) & (labels == label)
        here = (FOLDS == 2) & (labels == label)
        np.testing.assert_allclose(found[here], [SHARES[of_others].mean(axis=0)] * here.sum())
    # One item has a label that no other has.
    lonely = np.eye(3)[np.where(np.arange(900) == 7, 2, 0)]
    found = recalibrated(lonely, SHARES, FOLDS)
    np.testing.assert_allclose(found[7], SHARES[FOLDS != 7].mean(axis=0))


def test_counts_get_half_an_answer_for_each_label():
    three = RNG.multinomial(3, TRUTH) / 3
    bare, smooth = (recalibrated(three, SHARES, FOLDS, n) for n in (0, 3))
    assert distance(smooth) < distance(bare)


@pytest.mark.parametrize(("k", "fewest"), [(2, 500), (3, 500), (4, 800), (10, 4400)])
def test_a_map_takes_forty_items_for_each_number(k, fewest):
    assert too_few_to_recalibrate(fewest, k) == ""
    assert f"{k * (k + 1)} numbers takes {fewest:,} items" in too_few_to_recalibrate(fewest - 1, k)


def test_certain_and_impossible_labels_have_a_map():
    sure = np.where(
        np.arange(900)[:, np.newaxis] % 2 == 0, np.eye(3)[SYSTEM.argmax(axis=1)], SYSTEM
    )
    never = SYSTEM * [1, 1, 0]
    for model in (sure, never / never.sum(axis=1, keepdims=True), np.full((900, 3), 1 / 3)):
        found = recalibrated(model, SHARES, FOLDS)
        np.testing.assert_allclose(found.sum(axis=1), 1)
    unanimous = recalibrated(SYSTEM, np.tile([1.0, 0, 0], (900, 1)), FOLDS)
    assert unanimous[:, 0].min() > 0.999


@pytest.mark.parametrize(
    "misfit",
    [(SYSTEM[:5], SHARES, FOLDS), (SYSTEM, SHARES, FOLDS[:5]), (SYSTEM, SHARES, FOLDS * 0)],
    ids=["other items", "other folds", "one fold"],
)
def test_what_does_not_fit_is_refused(misfit):
    with pytest.raises(ValueError, match=r"shape|single fold"):
        recalibrated(*misfit)
