from itertools import combinations, pairwise

import numpy as np
import pytest
import scipy.stats
from helpers.strategies import distributions
from hypothesis import given, settings
from hypothesis import strategies as st

from chaos_utils.metrics import calibration
from chaos_utils.metrics.calibration import NO_BIN, Binning

BAAN = Binning(10, "right", zero_in_bin=False)


def test_edges_belong_where_the_rule_says():
    values = [0.0, 0.05, 0.1, 0.95, 1.0]
    assert Binning(10, "right", zero_in_bin=False).assign(values).tolist() == [NO_BIN, 0, 0, 9, 9]
    assert Binning(10, "right", zero_in_bin=True).assign(values).tolist() == [0, 0, 0, 9, 9]
    assert Binning(10, "left", zero_in_bin=False).assign(values).tolist() == [0, 0, 1, 9, 9]


@pytest.mark.parametrize("n_bins", [0, 1, -3])
def test_too_few_bins(n_bins):
    with pytest.raises(ValueError, match="at least 2"):
        Binning(n_bins, "right", zero_in_bin=True)
    with pytest.raises(ValueError, match="expected 1 to"):
        calibration.equal_mass_bins([0.5, 0.6], 3)


def test_more_equal_mass_bins_than_items():
    with pytest.raises(ValueError, match="number of items, 2"):
        calibration.equal_mass_bins([0.5, 0.6], 3)


@given(distributions(n_arrays=2, min_items=3))
def test_the_oracle_is_perfect_against_vote_shares_and_never_against_the_majority(pair):
    h, m = pair
    majority = h.argmax(axis=1)
    against = calibration.expected_calibration_error
    assert against(h, h, BAAN) == pytest.approx(0, abs=1e-12)
    assert against(h, majority, BAAN) == pytest.approx(1 - h.max(axis=1).mean(), abs=1e-12)
    for target in (h, majority):
        assert 0 <= against(m, target, BAAN) <= 1


@given(distributions(n_arrays=2, min_items=3))
def test_ece_by_a_plain_loop(pair):
    h, m = pair
    majority = h.argmax(axis=1)
    confidence, hit = m.max(axis=1), m.argmax(axis=1) == majority
    expected = 0.0
    edges = np.linspace(0, 1, 11)
    for low, high in pairwise(edges):
        inside = (confidence > low) & (confidence <= high)
        if inside.any():
            expected += inside.mean() * abs(hit[inside].mean() - confidence[inside].mean())
    found = calibration.expected_calibration_error(m, majority, BAAN)
    assert found == pytest.approx(expected, abs=1e-12)


@settings(max_examples=25)
@given(distributions(min_items=5, zeros=False), st.randoms())
def test_ece_agrees_with_torchmetrics_under_its_own_edges(p, random):
    torch = pytest.importorskip("torch")
    torchmetrics = pytest.importorskip("torchmetrics.functional.classification")
    gold = np.array([random.randrange(p.shape[1]) for _ in p])
    theirs = torchmetrics.multiclass_calibration_error(
        torch.tensor(p), torch.tensor(gold), num_classes=p.shape[1], n_bins=15, norm="l1"
    )
    ours = calibration.expected_calibration_error(p, gold, Binning(15, "left", zero_in_bin=True))
    # Its confidences are single precision, so one at an edge may fall on the other side.
    at_edge = np.abs(p.max(axis=1, keepdims=True) - np.linspace(0, 1, 16)).min() < 1e-6
    if not at_edge:
        assert ours == pytest.approx(float(theirs), abs=1e-5)


def test_reliability_curve_counts_every_item_once():
    curve = calibration.reliability_curve([0.05, 0.15, 0.15, 1.0], [0, 1, 0, 1], BAAN)
    assert curve.counts.tolist() == [1, 2, 0, 0, 0, 0, 0, 0, 0, 1]
    assert curve.hits[1] == 0.5
    assert np.isnan(curve.hits[2])


def test_classwise_error_depends_on_what_it_is_divided_by():
    model = [[1.0, 0.0], [0.5, 0.5]]
    gold = [1, 0]
    one = calibration.classwise_calibration_error(model, gold, BAAN, divide_by="all")
    other = calibration.classwise_calibration_error(model, gold, BAAN, divide_by="binned")
    # The second class has a probability of exactly 0, which falls into no bin.
    assert one == pytest.approx((0.75 + 0.25) / 2)
    assert other == pytest.approx((0.75 + 0.5) / 2)


@given(distributions(min_items=4), st.randoms())
def test_maximum_and_adaptive_errors_bound_and_agree(p, random):
    gold = np.array([random.randrange(p.shape[1]) for _ in p])
    ece = calibration.expected_calibration_error(p, gold, BAAN)
    assert ece <= calibration.maximum_calibration_error(p, gold, BAAN) + 1e-12
    found = calibration.adaptive_calibration_error(p, gold, 2)
    confidence, hits = calibration.hits_of(p, gold)
    order = np.argsort(confidence, kind="stable")
    parts = np.array_split((hits - confidence)[order], 2)
    assert found == pytest.approx(sum(abs(part.sum()) for part in parts) / len(p))


def test_entropy_error_has_a_sign():
    found = calibration.entropy_error([[0.5, 0.5]], [[1, 0]])
    np.testing.assert_allclose(found, [-np.log(2)])


@given(distributions(n_arrays=2))
def test_rankings(pair):
    h, m = pair
    orders = (np.argsort(shares, axis=1, kind="stable") for shares in (h, m))
    expected = np.equal(*orders).all(axis=1).tolist()
    assert calibration.same_ranking(h, m, ties="index").tolist() == expected
    aware = [
        all(np.sign(a[i] - a[j]) == np.sign(b[i] - b[j]) for i, j in combinations(range(len(a)), 2))
        for a, b in zip(h, m, strict=True)
    ]
    assert calibration.same_ranking(h, m, ties="aware").tolist() == aware
    assert calibration.same_ranking(h, h, ties="aware").all()
    with pytest.raises(ValueError, match="ties"):
        calibration.same_ranking(h, m, ties="none")


@given(distributions(n_arrays=2))
def test_tau_agrees_with_scipy(pair):
    h, m = pair
    expected = [scipy.stats.kendalltau(a, b).statistic for a, b in zip(h, m, strict=True)]
    np.testing.assert_allclose(calibration.kendall_tau_b(h, m), expected, atol=1e-12)
