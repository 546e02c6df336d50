import numpy as np
import pytest
from helpers.strategies import distributions
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime
from scipy.special import softmax

from chaos_utils.datasets.splits import grouped_folds
from chaos_utils.metrics.divergence import jensen_shannon_distance, kl_divergence
from chaos_utils.scoring import fitting


def jsd(human, model):
    return jensen_shannon_distance(human, model, unit="nats").mean()


# Of 900 items: the truth, fifty votes, one label, and two systems that are too sure and err.
RNG = np.random.default_rng(3)
TRUTH = RNG.dirichlet([1.2, 2.0, 0.8], size=900)
SHARES = RNG.multinomial(50, TRUTH) / 50
LABELS = (RNG.random((900, 1)) > TRUTH.cumsum(axis=1)).sum(axis=1)
NOISE = RNG.normal(scale=0.8, size=(2, *TRUTH.shape))
SYSTEMS = softmax(2 * (np.log(TRUTH) + NOISE), axis=2).swapaxes(0, 1)
LOGS = fitting.log_probabilities(SYSTEMS)


@settings(max_examples=40)
@given(distributions(max_items=8), st.integers(0, 10**6), st.sampled_from(fitting.OBJECTIVES))
def test_the_slope_is_that_of_the_loss(shares, seed, objective):
    scores = np.random.default_rng(seed).normal(scale=2, size=shares.shape)

    def loss(flat):
        return fitting.loss_and_slope(flat.reshape(shares.shape).T, shares.T, objective)[0]

    slope = fitting.loss_and_slope(scores.T, shares.T, objective)[1].T
    found = approx_fprime(scores.ravel(), loss, 1e-7).reshape(shares.shape)
    np.testing.assert_allclose(slope, found, atol=1e-5)


@settings(max_examples=40)
@given(distributions(), st.integers(0, 10**6))
def test_the_losses_are_the_measures(shares, seed):
    scores = np.random.default_rng(seed).normal(size=shares.shape)
    q = softmax(scores, axis=1)
    entropy = -(shares * np.log(np.where(shares > 0, shares, 1))).sum(axis=1).mean()
    kl = kl_divergence(shares, q, unit="nats", floor=1e-15).mean()
    assert fitting.loss_and_slope(scores.T, shares.T, "kl")[0] - entropy == pytest.approx(kl)
    found = fitting.loss_and_slope(scores.T, shares.T, "jsd")[0]
    assert found == pytest.approx(jsd(shares, q), abs=1e-3)  # 10⁻⁶ stands under the root


def test_affine_for_kl_is_multinomial_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    for shares, penalty in ((np.eye(3)[LABELS], 0.0), (TRUTH, 5.0)):
        fitted = fitting.fit_map(LOGS, shares, kind="affine", objective="kl", penalty=penalty)
        flat = LOGS.reshape(len(LOGS), -1)
        inputs = (flat - flat.mean(axis=0)) / flat.std(axis=0)
        each = [np.repeat(inputs, 3, axis=0), np.tile([0, 1, 2], len(flat)), shares.ravel()]
        c = 1 / (2 * penalty) if penalty else 1e9
        theirs = LogisticRegression(C=c, tol=1e-10, max_iter=5000).fit(*each)
        predicted = theirs.predict_proba(inputs)
        np.testing.assert_allclose(fitted.predict(LOGS), predicted, atol=2e-4)


@pytest.mark.parametrize("kind", fitting.STACKING)
@pytest.mark.parametrize("objective", fitting.OBJECTIVES)
def test_no_step_from_the_fitted_weights_is_better(kind, objective):
    fitted = fitting.fit_map(LOGS, SHARES, kind=kind, objective=objective, penalty=0)
    inputs = fitting.inputs_of(LOGS, kind)
    scores = inputs @ fitted.weights + fitted.intercepts
    slope = fitting.loss_and_slope(scores.T, SHARES.T, objective)[1].T
    assert np.abs(inputs.T @ slope).max() < 2e-5
    assert np.abs(slope.sum(axis=0)).max() < 1e-6


def test_without_systems_a_map_is_the_base_rate():
    none, given = LOGS[:, :0], {"kind": "affine", "objective": "kl", "penalty": 1e-9}
    (rate,) = np.unique(fitting.fit_map(none, TRUTH, **given).predict(none).round(9), axis=0)
    np.testing.assert_allclose(rate, TRUTH.mean(axis=0), atol=1e-6)
    by_label = fitting.fit_map(none, TRUTH, old_label=LABELS, **given)
    found = by_label.predict(none[:3], old_label=[0, 1, 2])
    expected = [TRUTH[label == LABELS].mean(axis=0) for label in range(3)]
    np.testing.assert_allclose(found, expected, atol=1e-4)


@settings(max_examples=20)
@given(
    distributions(n_arrays=3, min_items=4),
    st.sampled_from(fitting.KINDS),
    st.sampled_from(fitting.OBJECTIVES),
    st.permutations(range(4)),
)
def test_maps_give_distributions_and_know_no_order_of_labels(arrays, kind, objective, order):
    shares, *systems = arrays
    turn = [k for k in order if k < shares.shape[1]]
    logs = fitting.log_probabilities(np.stack(systems, axis=1))
    folds = np.arange(len(shares)) % 2
    given = {"kind": kind, "objective": objective, "penalty": 1.0}
    predicted = fitting.predict_out_of_fold(logs, shares, folds, **given)
    np.testing.assert_allclose(predicted.sum(axis=1), 1)
    assert (predicted >= 0).all()
    turned = fitting.predict_out_of_fold(logs[:, :, turn], shares[:, turn], folds, **given)
    if objective == "kl" and kind != "temperature":  # the JSD of few items has several optima
        np.testing.assert_allclose(turned, predicted[:, turn], atol=1e-4)


@pytest.mark.parametrize("kind", fitting.KINDS)
def test_the_votes_on_an_item_have_no_say_in_its_prediction(kind):
    logs, shares, folds = LOGS[:300], SHARES[:300], grouped_folds(np.arange(300) // 3, 10, 0)
    changed = shares.copy()
    changed[30:33] = [0, 0, 1]  # a group
    before, after = (
        fitting.predict_out_of_fold(logs, one, folds, kind=kind) for one in (shares, changed)
    )
    same = folds == folds[30]
    np.testing.assert_array_equal(before[same], after[same])
    assert (before[~same] != after[~same]).any(axis=1).all()


def test_only_what_is_chosen_is_learned_from():
    folds, seen = np.arange(900) % 5, []

    def first(rows):
        seen.append(set(rows.tolist()))
        return rows[:100]

    predicted = fitting.predict_out_of_fold(LOGS, SHARES, folds, kind="affine", learned=first)
    for fold, rows in enumerate(seen):
        assert rows == set(np.flatnonzero(folds != fold))
    some = np.flatnonzero(folds != 0)[:100]
    fitted = fitting.fit_map(LOGS[some], SHARES[some], kind="affine")
    np.testing.assert_array_equal(predicted[folds == 0], fitted.predict(LOGS[folds == 0]))
