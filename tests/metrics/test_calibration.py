"""Bins, curves and decompositions; as measures, test_measures has calibration errors."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from helpers.strategies import distributions
from hypothesis import given, settings
from hypothesis import strategies as st

from chaos_utils.metrics import calibration
from chaos_utils.metrics.calibration import NO_BIN, Binning
from chaos_utils.metrics.measures import BAAN_BINS, MEASURES, SOUND_BINS, EvalBatch
from chaos_utils.metrics.scores import brier_of_votes

BAAN = Binning(10, "right", zero_in_bin=False)


def test_edges_belong_where_the_rule_says():
    values = [0.0, 0.05, 0.1, 0.95, 1.0]
    assert BAAN.assign(values).tolist() == [NO_BIN, 0, 0, 9, 9]
    assert Binning(10, "right", zero_in_bin=True).assign(values).tolist() == [0, 0, 0, 9, 9]
    assert Binning(10, "left", zero_in_bin=False).assign(values).tolist() == [0, 0, 1, 9, 9]


@pytest.mark.slow  # imports PyTorch
@settings(max_examples=25)
@given(distributions(min_items=5), st.randoms())
def test_ece_agrees_with_torchmetrics_under_its_own_edges(p, random):
    import torch
    from torchmetrics.functional.classification import multiclass_calibration_error

    gold = np.array([random.randrange(p.shape[1]) for _ in p])
    theirs = multiclass_calibration_error(
        torch.tensor(p), torch.tensor(gold), num_classes=p.shape[1], n_bins=15, norm="l1"
    )
    ours = calibration.expected_calibration_error(p, gold, Binning(15, "left", zero_in_bin=True))
    # Its confidences are single precision, so one at an edge may fall on the other side.
    at_edge = np.abs(p.max(axis=1, keepdims=True) - np.linspace(0, 1, 16)).min() < 1e-6
    assert at_edge or ours == pytest.approx(float(theirs), abs=1e-5)


def test_classwise_error_depends_on_what_it_is_divided_by():
    given = [[1.0, 0.0], [0.5, 0.5]], [1, 0], BAAN
    one = calibration.classwise_calibration_error(*given, divide_by="all")
    other = calibration.classwise_calibration_error(*given, divide_by="binned")
    # The second class has a probability of exactly 0, which falls into no bin.
    assert one == pytest.approx((0.75 + 0.25) / 2)
    assert other == pytest.approx((0.75 + 0.5) / 2)


@settings(max_examples=50)
@given(distributions(n_arrays=2, min_items=3))
def test_errors_of_predictions_are_those_of_the_table_of_measures(pair):
    """The functions sum over bins; the measures, which test_measures checks, are means."""
    h, m = pair
    gold = h.argmax(axis=1)
    expected = {
        "ece": calibration.expected_calibration_error(m, gold, BAAN_BINS),
        "ece_votes": calibration.expected_calibration_error(m, h, BAAN_BINS, ties="shared"),
        "classwise_ece": calibration.classwise_calibration_error(
            m, gold, SOUND_BINS, divide_by="all"
        ),
        "adaptive_ece": calibration.adaptive_calibration_error(m, gold, min(10, len(m))),
    }
    judged = EvalBatch(h, m, m.argmax(axis=1), gold)
    for name, value in expected.items():
        assert MEASURES[name].value(judged) == pytest.approx(value, abs=1e-12), name


@settings(max_examples=50)
@given(distributions(n_arrays=2), st.integers(2, 12))
def test_murphy_s_parts_add_up_to_the_brier_score(pair, n_bins):
    h, m = pair
    for closed in ("left", "right"):
        bins = Binning(n_bins, closed, zero_in_bin=True)
        parts = calibration.murphy_decomposition(h, m, bins)
        assert parts["brier"] == pytest.approx(brier_of_votes(h, m).mean(), abs=1e-12)
        assert min(parts["reliability"], parts["resolution"], parts["uncertainty"]) >= -1e-12
    same = calibration.murphy_decomposition(h, np.tile(h.mean(axis=0), (len(h), 1)), bins)
    assert [same["resolution"], same["reliability"]] == pytest.approx([0, 0], abs=1e-12)
    assert same["brier"] == pytest.approx(same["uncertainty"])


def test_murphy_s_parts_by_hand_of_two_bins_without_spread():
    h = np.array([[0.0, 1.0], [0.5, 0.5], [1.0, 0.0], [0.5, 0.5]])
    m = np.array([[0.25, 0.75]] * 2 + [[0.75, 0.25]] * 2)
    parts = calibration.murphy_decomposition(h, m, Binning(2, "right", zero_in_bin=True))
    assert parts["reliability"] == parts["within_bins"] == 0
    assert parts["resolution"] == pytest.approx(2 * 0.25**2)
    assert parts["uncertainty"] == pytest.approx(0.5)


def orders(shares):
    """Return every order of the labels from the smallest share up; equal ones either way."""
    return {
        order for order in permutations(range(len(shares)))
        if all(shares[a] <= shares[b] + 1e-12 for a, b in pairwise(order))
    }  # fmt: skip


@settings(max_examples=60)
@given(distributions(n_arrays=2, max_items=6))
def test_rankings_with_ties_agree_as_often_as_all_their_orders_do(pair):
    found = calibration.expected_same_ranking(*pair)
    for human, model, chance in zip(*pair, found, strict=True):
        one, other = orders(human), orders(model)
        assert chance == pytest.approx(len(one & other) / len(one) / len(other))
    tied = [[0.3, 0.1 + 0.2, 0.4]]  # equal but for rounding
    assert calibration.expected_same_ranking(tied, [[0.2, 0.3, 0.5]]) == pytest.approx([1 / 2])


def test_rankings_of_hundreds_of_labels_without_a_vote():
    human = np.zeros((2, 400))
    human[:, 3] = 1
    model = np.full((2, 400), 0.5 / 399)
    model[:, 3] = 0.5
    model[1, 3], model[1, 4] = model[1, 4], 0.5
    log_ways = np.log(np.arange(1, 400)).sum()  # the other 399 labels tie on both sides
    found = calibration.expected_same_ranking(human, model)
    assert found == pytest.approx([np.exp(-log_ways), 0], abs=1e-300)
    assert np.isfinite(found).all()
