from dataclasses import replace

import numpy as np
import pytest
from helpers.strategies import distributions
from hypothesis import given

from chaos_utils.metrics import calibration, divergence
from chaos_utils.metrics.measures import BAAN_BINS, MEASURES, SOUND_BINS, Judged


def judged(h, m):
    top = h.argmax(axis=1)
    return Judged(h, m, m.argmax(axis=1), top, top)


@given(distributions(n_arrays=2, min_items=10))
def test_every_measure_stays_in_its_range(pair):
    one = judged(*pair)
    for measure in MEASURES.values():
        value = measure.value(one)
        if measure.name == "kendall_tau" and np.isnan(value):
            continue
        k = pair[0].shape[1]
        assert measure.low_for(k) - 1e-9 <= value <= measure.high_for(k) + 1e-9, measure.name


@given(distributions(n_arrays=2, min_items=10))
def test_measures_of_means_are_the_plain_ones(pair):
    h, m = pair
    one, gold = judged(h, m), h.argmax(axis=1)
    expected = {
        "dist_ce": divergence.total_variation(h, m).mean(),
        "jsd": divergence.jensen_shannon_distance(h, m, unit="nats").mean(),
        "ece": calibration.expected_calibration_error(m, gold, BAAN_BINS),
        "ece_votes": calibration.expected_calibration_error(m, h, BAAN_BINS),
        "classwise_ece": calibration.classwise_calibration_error(
            m, gold, SOUND_BINS, divide_by="all"
        ),
        "mce": calibration.maximum_calibration_error(m, gold, BAAN_BINS),
        "adaptive_ece": calibration.adaptive_calibration_error(m, gold, 10),
    }
    for name, value in expected.items():
        assert MEASURES[name].value(one) == pytest.approx(value, abs=1e-12), name


def test_the_oracle_is_best_where_a_measure_looks_at_votes():
    rng = np.random.default_rng(0)
    h, m = rng.dirichlet([1, 1, 1], 60), rng.dirichlet([1, 1, 1], 60)
    best, other = judged(h, h), judged(h, m)
    for name in ("jsd", "kl", "dist_ce", "ent_ce", "ece_votes", "classwise_ece_votes", "brier"):
        assert MEASURES[name].better == "lower"
        assert MEASURES[name].value(best) < MEASURES[name].value(other)


def test_metadata_is_whole():
    assert list(MEASURES) == [measure.name for measure in MEASURES.values()]
    for measure in MEASURES.values():
        assert measure.title
        assert measure.source
        assert measure.low < measure.high


@pytest.mark.parametrize("k", [2, 4, 10])
def test_the_largest_entropy_error_is_the_range_s_end(k):
    even, sure = np.full((12, k), 1 / k), np.eye(k)[np.zeros(12, dtype=int)]
    assert MEASURES["ent_ce"].value(judged(sure, even)) == pytest.approx(np.log(k))
    assert MEASURES["ent_ce"].high_for(k) == pytest.approx(np.log(k))
    assert MEASURES["signed_ent_ce"].low_for(k) == pytest.approx(-np.log(k))
    assert MEASURES["brier"].high_for(k) == 2


def test_only_the_old_accuracy_needs_old_labels():
    needing = [name for name, measure in MEASURES.items() if measure.needs]
    assert needing == ["old_accuracy"]
    one = replace(judged(np.eye(4)[[0, 1]], np.eye(4)[[0, 2]]), old_label=None)
    with pytest.raises(ValueError, match="no old label"):
        MEASURES["old_accuracy"].value(one)
    assert MEASURES["new_accuracy"].value(one) == 0.5
