from itertools import combinations, pairwise, permutations

import numpy as np
import pytest
import scipy.stats
from helpers.strategies import distributions
from hypothesis import given, settings
from hypothesis import strategies as st

from chaos_utils.metrics import calibration
from chaos_utils.metrics.calibration import NO_BIN, Binning
from chaos_utils.metrics.scores import brier_of_votes

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


@settings(max_examples=30)
@given(distributions(n_arrays=2, max_items=4))
def test_the_chance_of_the_same_ranking_by_trying_every_way_to_break_ties(pair):
    h, m = pair

    def orders(shares):
        ways = permutations(range(len(shares)))
        return {
            way for way in ways if all(shares[a] <= shares[b] + 1e-12 for a, b in pairwise(way))
        }

    expected = []
    for one, other in zip(h, m, strict=True):
        theirs, ours = orders(one), orders(other)
        expected.append(len(theirs & ours) / len(theirs) / len(ours))
    found = calibration.expected_same_ranking(h, m)
    np.testing.assert_allclose(found, expected)
    certain = (found == 0) | (found == 1)
    same = calibration.same_ranking(h, m, ties="index")
    np.testing.assert_array_equal(found[certain], same[certain])


@given(distributions(n_arrays=2, min_items=3))
def test_the_squared_error_is_that_of_pairs_in_a_bin(pair):
    h, m = pair
    confidence, hits = calibration.hits_of(m, h, ties="shared")
    bins, gaps = BAAN.assign(confidence), hits - confidence
    expected = 0.0
    for b in set(bins):
        inside = gaps[bins == b]
        pairs = [one * other for one, other in combinations(inside, 2)]
        expected += len(inside) * np.mean(pairs) if pairs else 0
    found = calibration.squared_calibration_error(m, h, BAAN)
    assert found == pytest.approx(expected / len(h), abs=1e-12)


def test_the_squared_error_has_no_bias():
    rng = np.random.default_rng(0)
    bins = Binning(4, "right", zero_in_bin=True)
    found = []
    for _ in range(2000):  # right with the chance that is predicted, of 30 items
        right = rng.random(30) < (p := rng.uniform(0.5, 1, 30))
        model = np.column_stack([p, 1 - p])
        found.append(calibration.squared_calibration_error(model, np.where(right, 0, 1), bins))
    assert abs(np.mean(found)) < 3 * np.std(found) / np.sqrt(len(found))
    assert min(found) < 0


@given(distributions(n_arrays=2), st.integers(2, 12))
def test_murphy_s_parts_add_up_to_the_brier_score(pair, n_bins):
    h, m = pair
    for closed in ("left", "right"):
        bins = Binning(n_bins, closed, zero_in_bin=True)
        parts = calibration.murphy_decomposition(h, m, bins)
        assert parts.brier == pytest.approx(brier_of_votes(h, m).mean(), abs=1e-12)
        assert min(parts.reliability, parts.resolution, parts.uncertainty) >= -1e-12
    overall = h.mean(axis=0)
    same = calibration.murphy_decomposition(h, np.tile(overall, (len(h), 1)), bins)
    assert same.resolution == pytest.approx(0, abs=1e-12)
    assert same.reliability == pytest.approx(0, abs=1e-12)
    assert same.brier == pytest.approx(same.uncertainty)


def test_murphy_s_parts_by_hand_of_two_bins_without_spread():
    h = np.array([[0.0, 1.0], [0.5, 0.5], [1.0, 0.0], [0.5, 0.5]])
    m = np.array([[0.25, 0.75]] * 2 + [[0.75, 0.25]] * 2)
    parts = calibration.murphy_decomposition(h, m, Binning(2, "right", zero_in_bin=True))
    assert parts.reliability == parts.within_bins == 0
    assert parts.resolution == pytest.approx(2 * 0.25**2)
    assert parts.uncertainty == pytest.approx(0.5)
    with pytest.raises(ValueError, match="zero_in_bin"):
        calibration.murphy_decomposition(h, h, BAAN)


@given(distributions(n_arrays=2))
def test_tau_agrees_with_scipy(pair):
    h, m = pair
    expected = [scipy.stats.kendalltau(a, b).statistic for a, b in zip(h, m, strict=True)]
    np.testing.assert_allclose(calibration.kendall_tau_b(h, m), expected, atol=1e-12)


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
