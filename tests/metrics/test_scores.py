import numpy as np
import pytest
import sklearn.metrics
from helpers.strategies import distributions
from hypothesis import given
from hypothesis import strategies as st

from chaos_utils.metrics import scores
from chaos_utils.metrics.divergence import entropy, kl_divergence

TIED = [[0.4, 0.4, 0.2], [0.2, 0.4, 0.4], [1, 0, 0]]


def test_the_tie_rule_decides():
    assert scores.top_label(TIED, ties="first").tolist() == [0, 1, 0]
    assert scores.top_label(TIED, ties="last").tolist() == [1, 2, 0]
    with pytest.raises(ValueError, match="ties"):
        scores.top_label(TIED, ties="middle")


@given(distributions(min_items=2), st.randoms())
def test_accuracies_agree_with_scikit_learn(p, random):
    k = p.shape[1]
    gold = np.array([random.randrange(k) for _ in p])
    top = scores.top_label(p, ties="first")
    alone = scores.shared_top(p).max(axis=1) == 1
    if alone.any():
        found = scores.expected_correct(p[alone], top[alone], gold[alone]).mean()
        assert found == pytest.approx(sklearn.metrics.accuracy_score(gold[alone], top[alone]))


@given(distributions(min_items=2), st.randoms())
def test_tied_labels_share_an_item(p, random):
    gold = np.array([random.randrange(p.shape[1]) for _ in p])
    first, last = (scores.top_label(p, ties=ties) for ties in ("first", "last"))
    expected = []
    for row, label in zip(p, gold, strict=True):
        tied = np.flatnonzero(np.isclose(row, row.max(), atol=1e-12, rtol=0))
        expected.append(float(label in tied) / len(tied))
    for predicted in (first, last):
        found = scores.expected_correct(p, predicted, gold)
        np.testing.assert_allclose(found, expected)
    np.testing.assert_allclose(scores.shared_top(p).sum(axis=1), 1)


@given(distributions(min_items=2, zeros=False), st.randoms())
def test_brier_agrees_with_scikit_learn_on_single_votes(p, random):
    gold = np.array([random.randrange(p.shape[1]) for _ in p])
    one_hot = np.eye(p.shape[1])[gold]
    found = scores.brier_of_votes(one_hot, p).mean()
    expected = np.mean(((p - one_hot) ** 2).sum(axis=1))
    assert found == pytest.approx(expected)
    theirs = sklearn.metrics.brier_score_loss(
        gold, p, labels=range(p.shape[1]), scale_by_half=False
    ) if p.shape[1] > 2 else expected  # fmt: skip
    assert found == pytest.approx(theirs)


@given(distributions(n_arrays=2))
def test_brier_and_cross_entropy_are_proper(pair):
    h, m = pair
    assert (scores.brier_of_votes(h, h) <= scores.brier_of_votes(h, m) + 1e-12).all()
    own = scores.soft_cross_entropy(h, h, unit="nats", floor=1e-15)
    other = scores.soft_cross_entropy(h, m, unit="nats", floor=1e-15)
    assert (own <= other + 1e-9).all()
    np.testing.assert_allclose(scores.brier_of_votes(h, h), 1 - (h**2).sum(axis=1), atol=1e-12)


@given(distributions(n_arrays=2))
def test_cross_entropy_is_kl_and_entropy(pair):
    h, m = pair
    found = scores.soft_cross_entropy(h, m, unit="bits", floor=1e-15)
    expected = kl_divergence(h, m, unit="bits", floor=1e-15) + entropy(h, unit="bits")
    np.testing.assert_allclose(found, expected)


def test_soft_accuracy():
    np.testing.assert_allclose(scores.soft_accuracy([[0.5, 0.5]], [[0.75, 0.25]]), [0.75])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: scores.expected_correct(TIED[:2], [0, 1], [0]), "2 integers"),
        (lambda: scores.expected_correct(TIED[:2], [0, 3], [0, 1]), "row 1, is 3"),
        (lambda: scores.expected_correct(TIED[:2], [0.5, 1], [0, 1]), "integers"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
