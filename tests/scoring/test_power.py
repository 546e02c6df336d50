import numpy as np
import pytest
from scipy.stats import norm

from chaos_utils.metrics.measures import MEASURES, EvalBatch
from chaos_utils.metrics.resampling import bootstrap_means, draw_votes, paired_p_value
from chaos_utils.scoring import power

MEANS = [MEASURES[name] for name in ("jsd", "dist_ce", "brier", "new_accuracy")]


def population(n, rng):
    """Draw items: their true distributions, and what two systems predict of them."""
    truths = rng.dirichlet([0.6, 0.9, 0.5], n)
    noise = rng.normal(scale=0.7, size=(2, n, 3))
    models = (truths + 0.05) ** np.array([0.9, 0.7])[:, np.newaxis, np.newaxis] * np.exp(noise)
    return truths, *(models / models.sum(axis=2, keepdims=True))


def judged(counts, model, rng):
    majority = (counts + rng.uniform(0, 0.5, counts.shape)).argmax(axis=1)
    sizes = counts.sum(axis=1)
    human = counts / sizes[:, np.newaxis]
    return EvalBatch(human, model, model.argmax(axis=1), majority, None, sizes)


def collected(n, n_votes, rng):
    truths, *models = population(n, rng)
    counts = draw_votes(truths, n_votes, rng)
    return counts, *(judged(counts, one, rng) for one in models)


def gaps_of(measure, *sides):
    first, second = (measure.columns(one)[:, 0] for one in sides)
    return first - second


@pytest.mark.parametrize("n_votes", [1, 4, 20])
def test_thinned_votes_vary_as_votes_of_as_many_people(n_votes):
    rng = np.random.default_rng(0)
    truths, *models = population(20_000, rng)
    many, few = draw_votes(truths, 40, rng), draw_votes(truths, n_votes, rng)
    sides = [judged(many, one, rng) for one in models]
    found = power.difference_variances(many, *sides, MEANS, n_votes, rng, 3)
    for measure, spread in zip(MEANS, found, strict=True):
        gaps = gaps_of(measure, *(judged(few, one, rng) for one in models))
        assert spread.total == pytest.approx(gaps.var(), rel=0.05), measure.name
        assert spread.of_items + spread.of_votes == pytest.approx(spread.total, rel=1e-2)


def of_labels(counts, label):
    model = np.eye(3)[np.full(len(counts), label)]
    return judged(counts, model, np.random.default_rng(0))


def test_tied_votes_are_settled_by_lot_whatever_the_labels_order():
    """Two systems, for one of two labels with equal votes each: either is right half the time."""
    counts = np.tile([6, 0, 6], (4000, 1))
    sides = [of_labels(counts, label) for label in (0, 2)]
    accuracy = [MEASURES["new_accuracy"]]
    for n_votes in (1, 2, 12):
        rng = np.random.default_rng(0)
        (spread,) = power.difference_variances(counts, *sides, accuracy, n_votes, rng)
        assert spread.total == pytest.approx(1, abs=0.01)  # differences of 1 and -1 alike


def test_few_items_vary_no_less():
    counts = np.eye(3, dtype=int)[[0, 2, 0]]
    sides = [of_labels(counts, label) for label in (0, 2)]
    accuracy = [MEASURES["new_accuracy"]]
    (spread,) = power.difference_variances(counts, *sides, accuracy, 1, np.random.default_rng(0))
    assert spread.total == pytest.approx(np.var([1, -1, 1], ddof=1))


def test_the_closed_form_is_that_of_thinned_votes_and_of_known_truths():
    rng = np.random.default_rng(2)
    truths, first, second = population(100_000, rng)
    counts = draw_votes(truths, 12, rng)
    few = [judged(counts[:9000], one[:9000], rng) for one in (first, second)]
    for n_votes in (1, 3, 6):
        (thinned,) = power.difference_variances(
            counts[:9000], *few, [MEASURES["brier"]], n_votes, rng, 20
        )
        closed = power.squared_distance_variance(
            counts[:9000], first[:9000], second[:9000], n_votes
        )
        assert closed.total == pytest.approx(thinned.total, rel=0.02)
        assert closed.of_votes == pytest.approx(thinned.of_votes, rel=0.02)
    closed = power.squared_distance_variance(counts, first, second, 6)
    slope = 2 * (first - second)
    exact = (slope**2 * truths).sum(axis=1) - (slope * truths).sum(axis=1) ** 2
    assert closed.of_votes * 6 == pytest.approx(exact.mean(), rel=0.01)
    of_truth = (first**2 - second**2 - slope * truths).sum(axis=1)
    assert closed.of_items == pytest.approx(of_truth.var(), rel=0.02)


def test_differences_and_items_are_one_formula():
    from statsmodels.stats.power import TTestPower

    assert power.smallest_difference(1, 100) == pytest.approx(
        (norm.ppf(0.975) + norm.ppf(0.8)) / 10
    )
    assert power.smallest_difference(4, 100) == pytest.approx(2 * power.smallest_difference(1, 100))
    assert power.items_needed(2.5, power.smallest_difference(2.5, 321)) == pytest.approx(321)
    needed = TTestPower().solve_power(effect_size=0.1, power=0.8, alpha=0.05)
    assert power.items_needed(1, 0.1) == pytest.approx(needed, rel=0.01)


def test_the_stated_difference_is_found_in_four_of_five_studies():
    rng, n_votes, n_studies, n_found = np.random.default_rng(4), 5, 300, 0
    counts, *sides = collected(1500, 60, rng)
    (spread,) = power.difference_variances(counts, *sides, MEANS[:1], n_votes, rng, 5)
    gaps = gaps_of(MEANS[0], *collected(100_000, n_votes, rng)[1:])
    n_items = round(float(power.items_needed(spread.total, gaps.mean())))
    assert 60 < n_items < 3000
    for _ in range(n_studies):
        items = rng.integers(len(gaps), size=n_items)
        draws = bootstrap_means(gaps[items, np.newaxis], 200, rng)
        n_found += paired_p_value(draws)[0] < 0.05
    assert n_found / n_studies == pytest.approx(0.8, abs=0.07)
