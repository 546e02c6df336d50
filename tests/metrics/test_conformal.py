"""Sets of labels that hold votes on new items: coverage, and what it does not depend on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaos_utils.metrics import conformal
from chaos_utils.metrics.conformal import label_sets

LEVELS = st.floats(0.05, 0.95)


@st.composite
def items(draw):
    """Predictions and vote shares, which have nothing to do with each other."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n, k = draw(st.integers(1, 12)), draw(st.integers(2, 4))
    return rng.dirichlet(np.ones(k), n), rng.multinomial(10, rng.dirichlet(np.ones(k), n)) / 10


def drawn(rng, n, n_votes):
    """Return predictions that are too sure, true distributions and vote shares of items."""
    truth = rng.dirichlet((0.8, 0.5, 0.4), n)
    sharp = (truth + 0.02) ** 2 * rng.gamma(2, 1, truth.shape)
    shares = rng.multinomial(n_votes, truth) / n_votes
    return sharp / sharp.sum(axis=1, keepdims=True), truth, shares


@pytest.mark.parametrize("n_votes", [1, 5, 100])
@pytest.mark.parametrize("n", [9, 60])
def test_a_new_vote_on_a_new_item_falls_in_the_set_as_often_as_is_said(n, n_votes):
    rng = np.random.default_rng(0)
    held = []
    for _ in range(1500):
        p, truth, shares = drawn(rng, n + 1, n_votes)
        sets = label_sets(p[-1:], p[:-1], shares[:-1], 0.8)
        held.append((truth[-1:] * sets).sum())
    error = np.std(held) / np.sqrt(len(held))
    assert np.mean(held) > 0.8 - 3 * error
    # Not by taking all labels: with n items, too much by about one item and one vote at most.
    assert np.mean(held) < 0.8 + 1.5 / n + 3 * error


@pytest.mark.parametrize("n", [9, 60])
def test_a_set_holds_most_votes_on_as_many_new_items_as_is_said(n):
    rng = np.random.default_rng(1)
    held = []
    for _ in range(1500):
        p, _, shares = drawn(rng, n + 1, 100)
        sets = label_sets(p[-1:], p[:-1], shares[:-1], 0.8, held=0.9)
        held.append((shares[-1:] * sets).sum() >= 0.9 - 1e-9)
    error = 0.4 / np.sqrt(len(held))
    # The chance of an exact rank among n + 1; where the likeliest label suffices, a little more.
    assert 0.8 - 3 * error < np.mean(held) < 0.8 + 1.5 / n + 3 * error


@given(items(), LEVELS, LEVELS)
def test_thresholds_are_the_largest_that_reach_the_level(made, level, held):
    p, shares = made
    n = len(p)

    def reaches(least, most):
        inside = (shares * (p >= least)).sum(axis=1)
        total = (inside >= held - 1e-9).sum() if most else inside.sum()
        return total / (n + 1) >= level - 1e-9

    for most, least in (
        (False, conformal._for_new_votes(p, shares, level)),
        (True, conformal._for_most_votes(p, shares, level, held)),
    ):
        assert least == 0 or reaches(least, most)
        assert not any(reaches(larger, most) for larger in p[p > least])


@given(items(), LEVELS, LEVELS, st.sampled_from([None, 0.9]))
def test_sets_grow_with_the_level_and_neither_order_changes_them(made, one, other, held):
    p, shares = made
    low, high = sorted((one, other))
    smaller, larger = (label_sets(p, p, shares, level, held=held) for level in (low, high))
    assert (smaller <= larger).all()
    assert smaller.any(axis=1).all()
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(len(p)), rng.permutation(p.shape[1])
    mixed = np.ix_(rows, columns)
    found = label_sets(p[:, columns], p[mixed], shares[mixed], high, held=held)
    assert np.array_equal(found, larger[:, columns])


def test_few_items_ask_for_all_labels():
    p, shares = np.array([[0.7, 0.2, 0.1]] * 8), np.array([[0.0, 1.0, 0.0]] * 8)
    # Eight items and a ninth, unknown, cannot promise 90%.
    assert label_sets(p, p, shares, 0.9).all()
    assert label_sets(p, p, shares, 0.9, held=0.9).all()
    assert label_sets(p, p, shares, 0.8)[0].tolist() == [True, True, False]
