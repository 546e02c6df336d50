"""Every public function of the measures with two, four and ten classes."""

import inspect

import numpy as np
import pytest
from scipy.stats import binom, multinomial

from chaos_utils.metrics import (
    agreement,
    calibration,
    divergence,
    measures,
    priors,
    resampling,
    scores,
    signals,
)

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
        calibration.expected_same_ranking,
        lambda h, m: divergence.squared_distance(h, m, 7),
    ]
    for function in functions:
        found = function(human, model)
        assert found.shape == (N,)
        np.testing.assert_allclose(found, of_labels(function, human, model, order=order))
    for function in (
        agreement.majority_share,
        agreement.is_tied,
        agreement.pairwise_agreement,
        agreement.quadratic_entropy,
        lambda counts: divergence.miller_madow(counts, unit="nats"),
    ):
        np.testing.assert_allclose(function(votes), of_labels(function, votes, order=order))


def test_every_measure_has_a_value_in_its_range(k, human, model):
    rng = np.random.default_rng(0)
    old = rng.integers(k, size=N)
    judged = measures.Judged(
        human, model, model.argmax(axis=1), human.argmax(axis=1), old, np.full(N, 7)
    )
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


def test_ordered_labels_can_be_read_from_either_end(k, human, model):
    found = divergence.wasserstein(human, model)
    np.testing.assert_allclose(found, divergence.wasserstein(human[:, ::-1], model[:, ::-1]))


def test_credible_intervals_hold_the_posterior_mean(k, votes):
    low, high = agreement.credible_intervals(votes, 0.5)
    mean = (votes + 0.5) / (votes + 0.5).sum(axis=1, keepdims=True)
    assert low.shape == high.shape == (N, k)
    assert ((low <= mean) & (mean <= high)).all()


def test_kappa_is_one_where_all_agree_and_about_nought_by_chance(k):
    agreed = 9 * np.eye(k, dtype=int)[np.arange(N) % k]
    chance = np.random.default_rng(k).multinomial(40, np.full(k, 1 / k), size=2000)
    for counts, expected in ((agreed, 1), (chance, 0)):
        pairs = agreement.pairwise_agreement(counts).mean()
        shares = (counts / counts.sum(axis=1, keepdims=True)).mean(axis=0)
        assert agreement.kappa_from_means(pairs, shares) == pytest.approx(expected, abs=0.01)


def test_alpha_is_kappa_of_many_votes(k, votes):
    many = 500 * votes
    shares = many.sum(axis=0) / many.sum()
    sizes = many.sum(axis=1)
    pairs = np.average(agreement.pairwise_agreement(many), weights=sizes)
    expected = agreement.kappa_from_means(pairs, shares)
    assert agreement.krippendorff_alpha(many) == pytest.approx(float(expected), abs=1e-4)
    reversed_ = agreement.krippendorff_alpha(votes[:, ::-1], ordered=True)
    assert agreement.krippendorff_alpha(votes, ordered=True) == pytest.approx(reversed_)


def test_labels_and_calibration(k, human, model):
    first, last = (scores.top_label(model, ties=ties) for ties in ("first", "last"))
    np.testing.assert_array_equal(first, last)
    gold = human.argmax(axis=1)
    np.testing.assert_array_equal(first == gold, scores.expected_correct(model, first, gold))
    np.testing.assert_array_equal(scores.shared_top(model), np.eye(k)[first])
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
        calibration.squared_calibration_error,
    ):
        assert error(human, human, BINS) == pytest.approx(0)  # the votes are calibrated to votes
        assert 0 < error(model, human, BINS) <= 1
    parts = calibration.murphy_decomposition(human, model, BINS)
    assert parts.brier == pytest.approx(scores.brier_of_votes(human, model).mean())


def test_resampling(k, votes, human):
    rng = np.random.default_rng(0)
    one, other, rest = resampling.split_votes(votes, (3, 3), rng)
    np.testing.assert_array_equal(one + other + rest, votes)
    np.testing.assert_array_equal(one.sum(axis=1), 3)
    drawn = resampling.draw_votes(human, votes.sum(axis=1), rng)
    np.testing.assert_array_equal(drawn.sum(axis=1), votes.sum(axis=1))
    grid = priors.fit_grid(votes)
    assert priors.simplex_grid(k, 2).shape[1] == priors.support_points(votes).shape[1] == k
    np.testing.assert_allclose(priors.draw_truths(votes, grid, rng).sum(axis=2), 1)
    np.testing.assert_allclose(priors.posterior_means(votes, grid, grid.points).sum(axis=1), 1)
    for mass in priors.bootstrap_masses(votes, grid, 3, rng).values():
        assert mass.shape == (3, len(grid.points))
    prior = priors.fit_dirichlet(votes)
    assert prior.shape == (k,)
    (truths,) = priors.draw_truths(votes, prior, rng)
    np.testing.assert_allclose(truths.sum(axis=1), 1)
    means = resampling.bootstrap_means(human, 200, rng)
    some = np.arange(0, N, 2)
    tables = [(np.arange(N), human), (some, human[some])]
    of_all, of_some = resampling.bootstrap_tables(tables, np.arange(N), 200, rng)
    assert of_all.shape == of_some.shape == (200, k)
    np.testing.assert_allclose(of_all.sum(axis=1), 1)
    low, high = resampling.percentile_interval(means)
    assert ((low <= human.mean(axis=0)) & (human.mean(axis=0) <= high)).all()
    assert resampling.paired_p_value(means - means[:, [0]]).shape == (k,)
    best, tied = resampling.best_shares(means, "higher")
    assert best.shape == tied.shape == (k,)


def test_signals_of_disagreement(k, human, model):
    mine = signals.contested(human, majority_below=np.median(human.max(axis=1)))
    assert 0 < mine.sum() < N
    for found in (
        signals.entropy_correlation(human, human * 0.999 + 0.001 / k),
        signals.contested_auroc(human, human, majority_below=np.median(human.max(axis=1))),
    ):
        assert found.value > 0.9
        assert found.n == N
    assert -1 < signals.entropy_correlation(human, model).value < 0.9


# Of numbers, not of classes.
_OF_NUMBERS = ("rescale", "holm", "smallest_p_value", "fewest_resamples", "spearman", "auroc")


def test_no_public_function_is_forgotten():
    source = inspect.getsource(inspect.getmodule(test_no_public_function_is_forgotten))
    for module in (agreement, calibration, divergence, priors, resampling, scores, signals):
        for name, function in inspect.getmembers(module, inspect.isfunction):
            public = function.__module__ == module.__name__ and not name.startswith("_")
            needs_classes = public and name not in _OF_NUMBERS
            assert not needs_classes or f".{name}" in source, name
