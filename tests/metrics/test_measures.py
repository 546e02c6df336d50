import math
from dataclasses import replace

import numpy as np
import pytest
from helpers.strategies import distributions
from hypothesis import given
from hypothesis import strategies as st

from chaos_utils.metrics import calibration, divergence
from chaos_utils.metrics.measures import BAAN_BINS, MEASURES, SOUND_BINS, Judged


def judged(h, m, n_votes=100, **fields):
    top, each = h.argmax(axis=1), np.full(len(h), n_votes)
    return Judged(h, m, m.argmax(axis=1), top, top, each, **fields)


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
        "ece_votes": calibration.expected_calibration_error(m, h, BAAN_BINS, ties="shared"),
        "classwise_ece": calibration.classwise_calibration_error(
            m, gold, SOUND_BINS, divide_by="all"
        ),
        "mce": calibration.maximum_calibration_error(m, gold, BAAN_BINS),
        "adaptive_ece": calibration.adaptive_calibration_error(m, gold, 10),
        "sq_ce": calibration.squared_calibration_error(m, gold, SOUND_BINS),
        "sq_ce_votes": calibration.squared_calibration_error(m, h, SOUND_BINS),
        "manhattan": np.abs(h - m).sum(axis=1).mean(),
        "wasserstein": divergence.wasserstein(h, m).mean(),
        "sq_distance": divergence.squared_distance(h, m, 100).mean(),
        "rank_cs_expected": calibration.expected_same_ranking(h, m).mean(),
    }
    for name, value in expected.items():
        assert MEASURES[name].value(one) == pytest.approx(value, abs=1e-12), name


def test_the_oracle_is_best_where_a_measure_looks_at_votes():
    rng = np.random.default_rng(0)
    h, m = rng.dirichlet([1, 1, 1], 60), rng.dirichlet([1, 1, 1], 60)
    best, other = judged(h, h), judged(h, m)
    for name in ("jsd", "kl", "dist_ce", "ent_ce", "ece_votes", "classwise_ece_votes", "brier",
                 "sq_distance", "manhattan", "wasserstein"):  # fmt: skip
        assert MEASURES[name].better == "lower"
        assert MEASURES[name].value(best) < MEASURES[name].value(other)


def test_a_prediction_that_says_nothing_is_calibrated_to_votes_in_any_order_of_labels():
    h = np.random.default_rng(0).dirichlet([4, 2, 1], 60)
    for human in (h, h[:, ::-1]):
        assert MEASURES["ece_votes"].value(judged(human, np.full_like(h, 1 / 3))) < 1e-12


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
    ends = np.eye(k)[np.full(12, k - 1)]
    assert MEASURES["wasserstein"].value(judged(sure, ends)) == pytest.approx(k - 1)
    assert MEASURES["wasserstein"].high_for(k) == k - 1


@pytest.mark.parametrize("k", [2, 3, 4])
def test_a_uniform_prediction_has_exactly_what_chance_has(k):
    rng = np.random.default_rng(k)
    even = np.full((300, k), 1 / k)
    for h in (rng.multinomial(20, rng.dirichlet(np.ones(k)), 300) / 20, np.eye(k)[[0] * 300]):
        one = judged(h, even)
        for name in ("old_accuracy", "new_accuracy"):
            assert MEASURES[name].value(one) == pytest.approx(1 / k)
            stated = replace(one, predicted=one.majority, stated=True)
            assert MEASURES[name].value(stated) == 1  # a file's own label is taken as it is
        assert MEASURES["rank_cs_expected"].value(one) == pytest.approx(1 / math.factorial(k))


@given(distributions(n_arrays=2, min_items=2), st.randoms())
def test_the_order_of_the_labels_has_no_say_in_what_ties_share(pair, random):
    order = list(range(pair[0].shape[1]))
    random.shuffle(order)
    gold = pair[0].argmax(axis=1)
    moved = np.argsort(order)[gold]
    for name in ("new_accuracy", "rank_cs_expected", "sq_ce_votes"):
        one = judged(*pair)
        other = replace(judged(*(p[:, order] for p in pair)), majority=moved)
        found = MEASURES[name].value(replace(one, majority=gold)), MEASURES[name].value(other)
        assert found[0] == pytest.approx(found[1])


def test_a_stated_label_with_less_than_the_largest_probability_stands():
    h, m = np.array([[0.2, 0.8], [0.6, 0.4]]), np.array([[0.7, 0.3], [0.5, 0.5]])
    one = replace(judged(h, m), predicted=np.array([1, 0]))
    assert MEASURES["new_accuracy"].value(one) == pytest.approx((1 + 0.5) / 2)
    assert MEASURES["new_accuracy"].value(replace(one, stated=True)) == 1


def test_labels_that_tie_in_drawn_votes_share_an_item():
    h, m = np.array([[0.5, 0.5, 0], [0.5, 0.5, 0]]), np.array([[0.2, 0.8, 0], [0.4, 0.4, 0.2]])
    one = judged(h, m, drawn=True)
    assert MEASURES["new_accuracy"].columns(one)[:, 0].tolist() == [0.5, 0.5]
    stated = replace(one, predicted=np.array([1, 2]), stated=True)
    assert MEASURES["new_accuracy"].columns(stated)[:, 0].tolist() == [0.5, 0]


def test_what_a_measure_needs():
    needing = {name: measure.needs for name, measure in MEASURES.items() if measure.needs}
    assert needing == {
        "old_accuracy": "old label", "sq_distance": "two votes", "wasserstein": "ordered labels",
    }  # fmt: skip
    with pytest.raises(ValueError, match="item 0, is 1, expected at least 2"):
        MEASURES["sq_distance"].value(judged(np.eye(3), np.eye(3), n_votes=1))
    with pytest.raises(ValueError, match="not known"):
        MEASURES["sq_distance"].value(replace(judged(np.eye(3), np.eye(3)), n_votes=None))


def test_a_zero_costs_what_nie_et_al_s_floor_says():
    one = judged(np.array([[0.5, 0.5]]), np.array([[1.0, 0.0]]))
    costs = 0.5 * math.log(1e15)
    assert MEASURES["kl"].value(one) == pytest.approx(costs - math.log(2), rel=1e-9)
    assert MEASURES["cross_entropy"].value(one) == pytest.approx(costs, rel=1e-9)


def test_plug_in_calibration_errors_have_no_interval():
    without = {name for name, measure in MEASURES.items() if not measure.has_interval}
    assert without == {
        "ece", "ece_votes", "classwise_ece", "classwise_ece_votes", "mce", "adaptive_ece",
    }  # fmt: skip


def test_an_item_without_an_old_label_has_no_old_accuracy():
    one = replace(judged(np.eye(4)[[0, 1]], np.eye(4)[[0, 2]]), old_label=None)
    with pytest.raises(ValueError, match="no old label"):
        MEASURES["old_accuracy"].value(one)
    assert MEASURES["new_accuracy"].value(one) == 0.5
