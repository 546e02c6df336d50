"""Every public function of the measures with two, four and ten classes."""

import inspect

import numpy as np
import pytest
from scipy.stats import binom, multinomial

from chaos_utils.metrics import agreement, calibration, divergence, measures, resampling, scores

N = 30
BINS = calibration.Binning(5, closed="right", zero_in_bin=True)


@pytest.fixture(params=[2, 4, 10])
def k(request):
    return request.param


@pytest.fixture
def votes(k):
    rng = np.random.default_rng(k)
    sizes = rng.integers(7, 21, size=N)
    return rng.multinomial(sizes, rng.dirichlet(np.ones(k), size=N))


@pytest.fixture
def human(votes):
    return votes / votes.sum(axis=1, keepdims=True)


@pytest.fixture
def model(k):
    return np.random.default_rng([k, 1]).dirichlet(np.ones(k), size=N)


def of_labels(function, *arrays, order):
    """Call a function on arrays whose classes stand in another order."""
    return function(*(array[:, order] for array in arrays))


def test_item_by_item_the_order_of_the_classes_does_not_matter(k, votes, human, model):
    order = np.random.default_rng(3).permutation(k)
    functions = [
        lambda h, m: divergence.entropy(h, unit="bits"),
        lambda h, m: divergence.kl_divergence(h, m, unit="nats", floor=1e-15),
        lambda h, m: divergence.jensen_shannon_divergence(h, m, unit="bits"),
        lambda h, m: divergence.jensen_shannon_distance(h, m, unit="nats"),
        divergence.total_variation,
        scores.soft_accuracy,
        scores.brier_of_votes,
        lambda h, m: scores.soft_cross_entropy(h, m, unit="nats", floor=1e-15),
        calibration.entropy_error,
        calibration.kendall_tau_b,
        lambda h, m: calibration.same_ranking(h, m, ties="aware"),
        lambda h, m: agreement.chance_of_majority_size(m, 5, 3),
    ]
    for function in functions:
        found = function(human, model)
        assert found.shape == (N,)
        np.testing.assert_allclose(found, of_labels(function, human, model, order=order))
    for function in (
        agreement.majority_share,
        agreement.is_tied,
        agreement.pairwise_agreement,
    ):
        np.testing.assert_allclose(function(votes), of_labels(function, votes, order=order))


def test_every_measure_has_a_value_in_its_range(k, human, model):
    rng = np.random.default_rng(0)
    old = rng.integers(k, size=N)
    judged = measures.Judged(human, model, model.argmax(axis=1), human.argmax(axis=1), old)
    for measure in measures.MEASURES.values():
        assert measure.low_for(k) <= measure.value(judged) <= measure.high_for(k), measure.name


def test_chance_of_a_majority_is_that_of_the_multinomial(k):
    p = np.random.default_rng(k).dirichlet(np.ones(k))
    # More than half of the votes can be for one label only, so the labels' chances add up.
    expected = binom.pmf(12, 20, p).sum()
    assert agreement.chance_of_majority_size([p], 20, 12)[0] == pytest.approx(expected)
    even = [np.full(k, 1 / k)]
    alone = multinomial.pmf([1] * k, k, even[0])  # each label has one vote
    assert agreement.chance_of_majority_size(even, k, 1)[0] == pytest.approx(alone)


def test_kappa_is_one_where_all_agree_and_about_nought_by_chance(k):
    agreed = 9 * np.eye(k, dtype=int)[np.arange(N) % k]
    chance = np.random.default_rng(k).multinomial(40, np.full(k, 1 / k), size=2000)
    for counts, expected in ((agreed, 1), (chance, 0)):
        pairs = agreement.pairwise_agreement(counts).mean()
        shares = (counts / counts.sum(axis=1, keepdims=True)).mean(axis=0)
        assert agreement.kappa_from_means(pairs, shares) == pytest.approx(expected, abs=0.01)


def test_labels_and_calibration(k, human, model):
    first, last = (scores.top_label(model, ties=ties) for ties in ("first", "last"))
    np.testing.assert_array_equal(first, last)
    gold = human.argmax(axis=1)
    right = scores.is_correct(first, gold, n_classes=k)
    np.testing.assert_array_equal(right, scores.is_in_top(model, gold, k=1))
    assert scores.is_in_top(model, gold, k=k).all()
    assert calibration.same_ranking(human, human, ties="index").all()
    confidence, hits = calibration.hits_of(model, human)
    curve = calibration.reliability_curve(confidence, hits, BINS)
    assert curve.counts.sum() == calibration.bin_sums(confidence, hits, BINS)[:, 0].sum() == N
    by_class, _ = calibration.classwise_hits(model, gold)
    assert by_class.shape == (N, k)
    assert set(calibration.equal_mass_bins(confidence, 6)) == set(range(6))
    for error in (
        calibration.expected_calibration_error,
        calibration.maximum_calibration_error,
        lambda m, h, bins: calibration.adaptive_calibration_error(m, h, 6),
        lambda m, h, bins: calibration.classwise_calibration_error(m, h, bins, divide_by="all"),
    ):
        assert error(human, human, BINS) == pytest.approx(0)  # the votes are calibrated to votes
        assert 0 < error(model, human, BINS) <= 1


def test_resampling(k, votes, human):
    rng = np.random.default_rng(0)
    one, other, rest = resampling.split_votes(votes, (3, 3), rng)
    np.testing.assert_array_equal(one + other + rest, votes)
    np.testing.assert_array_equal(one.sum(axis=1), 3)
    drawn = resampling.draw_votes(human, votes.sum(axis=1), rng)
    np.testing.assert_array_equal(drawn.sum(axis=1), votes.sum(axis=1))
    prior = resampling.fit_dirichlet(votes)
    assert prior.shape == (k,)
    truths = resampling.draw_truths(votes, prior, rng)
    np.testing.assert_allclose(truths.sum(axis=1), 1)
    means = resampling.bootstrap_means(human, 200, rng)
    some = np.arange(0, N, 2)
    tables = [(np.arange(N), human), (some, human[some])]
    of_all, of_some = resampling.bootstrap_tables(tables, np.arange(N), 200, rng)
    assert of_all.shape == of_some.shape == (200, k)
    np.testing.assert_allclose(of_all.sum(axis=1), 1)
    low, high = resampling.percentile_interval(means)
    jackknife = (human.sum(axis=0) - human) / (N - 1)
    ends = resampling.bca_interval(means, human.mean(axis=0), jackknife)
    for below, above in ((low, high), ends):
        assert ((below <= human.mean(axis=0)) & (human.mean(axis=0) <= above)).all()
    assert resampling.paired_p_value(means - means[:, [0]]).shape == (k,)


def test_no_public_function_is_forgotten():
    source = inspect.getsource(inspect.getmodule(test_no_public_function_is_forgotten))
    for module in (agreement, calibration, divergence, resampling, scores):
        for name, function in inspect.getmembers(module, inspect.isfunction):
            public = function.__module__ == module.__name__ and not name.startswith("_")
            needs_classes = public and name not in ("rescale", "holm")
            assert not needs_classes or f".{name}" in source, name
