import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_softmax, softmax

from chaos_utils.metrics.calibration import Binning, expected_calibration_error
from chaos_utils.scoring import temperature_scaling

BINS = Binning(10, closed="right", zero_in_bin=False)


@pytest.fixture
def logits():
    return np.random.default_rng(5).normal(scale=2, size=(600, 3))


def drawn_labels(probabilities, seed=1):
    points = np.random.default_rng(seed).random((len(probabilities), 1))
    return (points > probabilities.cumsum(axis=1)).sum(axis=1).clip(max=2)


@settings(max_examples=30)
@given(st.floats(0.1, 10))
def test_a_temperature_divides_logits_of_all_items_or_of_each(temperature):
    logits = np.array([[2.0, -1.0, 0.5], [0.0, 0.0, 3.0]])
    p = softmax(logits, axis=1)
    tempered = temperature_scaling.temper(p, temperature)
    np.testing.assert_allclose(tempered, softmax(logits / temperature, axis=1), atol=1e-12)
    each = temperature_scaling.temper(p, [temperature, 1.0])
    np.testing.assert_allclose(each, [tempered[0], p[1]], atol=1e-12)
    # An impossible label stays next to nothing.
    tempered = temperature_scaling.temper([[0.0, 0.4, 0.6]], 2.0)
    assert tempered[0, 0] < 1e-100
    assert tempered.sum() == pytest.approx(1)


def test_no_other_temperature_has_a_better_likelihood(logits):
    p = softmax(logits, axis=1)
    labels = drawn_labels(softmax(logits / 1.7, axis=1))
    best = temperature_scaling.fit_temperature(p, labels)
    tried = [log_softmax(np.log(p) / t, axis=1) for t in [best, *np.geomspace(0.1, 9, 99)]]
    losses = [-logs[np.arange(600), labels].mean() for logs in tried]
    assert losses[0] <= min(losses[1:])
    assert best == pytest.approx(1.7, rel=0.15)


def test_a_fit_without_an_optimum_ends_at_a_limit_or_stays_at_one():
    p = np.array([[0.7, 0.3], [0.4, 0.6]])
    low, high = temperature_scaling.LIMITS
    assert temperature_scaling.fit_temperature(p, [0, 1]) == pytest.approx(low)
    assert temperature_scaling.fit_temperature(p, [1, 0]) == pytest.approx(high)
    assert temperature_scaling.fit_temperature(np.full((2, 2), 0.5), [0, 1]) == 1


def test_the_ece_fit_beats_neighbours(logits):
    p = softmax(logits, axis=1)
    labels = drawn_labels(softmax(logits / 2, axis=1))
    best = temperature_scaling.fit_temperature_to_ece(p, labels, BINS)

    def error(t):
        return expected_calibration_error(temperature_scaling.temper(p, t), labels, BINS)

    assert error(best) <= min(error(best * 1.05), error(best / 1.05), error(1.0))


def test_cross_fitting_keeps_an_item_out_of_its_own_fit(logits):
    p = softmax(logits[:40], axis=1)
    labels = drawn_labels(p)

    changed = np.append((labels[0] + 1) % 3, labels[1:])
    before, after = (
        temperature_scaling.cross_fit_temperatures(p, target, np.arange(40) % 4)
        for target in (labels, changed)
    )
    assert np.unique(before, return_counts=True)[1].tolist() == [10] * 4
    own = before == before[0]
    np.testing.assert_array_equal(after[own], before[own])
    assert (after[~own] != before[~own]).all()


def test_the_temperature_behind_soft_targets_is_found_and_labels_are_unanimous_ones(logits):
    p, labels = softmax(logits, axis=1), np.arange(600) % 3
    for truth in (0.4, 1.0, 2.5):
        found = temperature_scaling.fit_temperature(p, softmax(logits / truth, axis=1))
        assert found == pytest.approx(truth, rel=1e-5)
    found = temperature_scaling.fit_temperature(p, np.eye(3)[labels])
    assert found == temperature_scaling.fit_temperature(p, labels)
