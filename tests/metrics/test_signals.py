import numpy as np
import pytest
import scipy.stats
from helpers.strategies import distributions
from hypothesis import given, settings

from chaos_utils.metrics import signals
from chaos_utils.metrics.divergence import entropy


def pairs_of(n, rng, slope=0.6, votes=100):
    """Return vote shares and predictions whose entropies go together."""
    model = rng.dirichlet([1, 0.7, 0.5], n)
    gammas = rng.standard_gamma(8 * slope * model + 8 * (1 - slope) / 3)
    truth = gammas / gammas.sum(axis=1, keepdims=True)
    return rng.multinomial(votes, truth) / votes, model


@settings(max_examples=50)
@given(distributions(n_arrays=2, min_items=4))
def test_values_agree_with_scipy_and_scikit_learn(pair):
    import sklearn.metrics

    h, m = pair
    ours, theirs = (entropy(p, unit="nats").round(10) for p in (m, h))
    found = signals.entropy_correlation(h, m)
    if len(set(ours)) > 1 and len(set(theirs)) > 1:
        expected = scipy.stats.spearmanr(ours, theirs).statistic
        assert found.value == pytest.approx(expected, abs=1e-9)
    else:
        assert np.isnan(found.value)
    marked = signals.contested(h, majority_below=0.7)
    found = signals.contested_auroc(h, m, majority_below=0.7)
    if 0 < marked.sum() < len(h):
        expected = sklearn.metrics.roc_auc_score(marked, ours)
        assert found.value == pytest.approx(expected)
        assert np.isnan(found.low) or 0 <= found.low <= found.value <= found.high <= 1
    else:
        assert np.isnan([found.value, found.low, found.high]).all()


def test_the_influence_function_is_the_infinitesimal_jackknife():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 9, 60).astype(float)  # with ties
    y = x + rng.integers(0, 9, 60)
    found = signals.spearman(x, y)
    error = np.arctanh([found.low, found.high]) @ [-1, 1] / (2 * scipy.stats.norm.ppf(0.975))
    # The jackknife knows nothing of the formula.
    every = np.arange(60)
    left_out = [signals.spearman(x[every != i], y[every != i]).value for i in every]
    jackknife = np.std(left_out) * np.sqrt(59) / (1 - found.value**2)
    assert error == pytest.approx(jackknife, rel=0.05)


def test_delong_s_variance_by_its_definition():
    rng = np.random.default_rng(2)
    score, positive = rng.normal(size=50).round(1), rng.random(50) < 0.4
    score += positive
    found = signals.auroc(score, positive)
    over = score[positive][:, None] - score[~positive]
    wins = (over > 0) + 0.5 * (over == 0)
    variance = wins.mean(axis=1).var(ddof=1) / positive.sum()
    variance += wins.mean(axis=0).var(ddof=1) / (~positive).sum()
    assert found.value == pytest.approx(wins.mean())
    half = np.diff(scipy.special.logit([found.low, found.high]))[0] / 2
    slope = found.value * (1 - found.value)
    assert half * slope == pytest.approx(scipy.stats.norm.ppf(0.975) * np.sqrt(variance))


def test_what_has_no_value_or_no_interval():
    nothing = signals.spearman([1, 1, 1, 1], [1, 2, 3, 4])
    assert np.isnan([nothing.value, nothing.low, nothing.high]).all()
    perfect = signals.spearman(range(9), range(9))
    assert perfect.value == pytest.approx(1)
    assert np.isnan(perfect.low)
    apart = signals.auroc([1, 2, 3, 4], [False, False, True, True])
    assert apart.value == 1
    assert np.isnan(apart.high)
    assert apart.n == 4
    h = [[0.5, 0.5], [0.9, 0.1], [0.6, 0.4]]
    assert signals.contested(h, majority_below=0.6).tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("n_items", "n_replicates", "n_large", "slope", "votes"),
    [
        (150, 300, 40_000, 0.6, 100),
        *(
            pytest.param(1500, 1000, 400_000, slope, votes, marks=pytest.mark.slow)
            for slope in (0.0, 0.6, 0.95)
            for votes in (5, 100)
        ),
    ],
)
def test_intervals_hold_the_truth(n_items, n_replicates, n_large, slope, votes):
    def both(n, rng):
        h, m = pairs_of(n, rng, slope, votes)
        return (signals.entropy_correlation(h, m),
                signals.contested_auroc(h, m, majority_below=0.6))  # fmt: skip

    truths = [one.value for one in both(n_large, np.random.default_rng(99))]
    rng = np.random.default_rng(3)
    held = [
        [
            one.low <= truth <= one.high
            for one, truth in zip(both(n_items, rng), truths, strict=True)
        ]
        for _ in range(n_replicates)
    ]
    assert (np.mean(held, axis=0) >= 0.92).all()
