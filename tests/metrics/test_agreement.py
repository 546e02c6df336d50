from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from statsmodels.stats import inter_rater

from chaos_utils.metrics import agreement

same_totals = st.integers(2, 4).flatmap(
    lambda k: st.lists(
        st.lists(st.integers(0, k - 1), min_size=6, max_size=6), min_size=1, max_size=20
    ).map(lambda items: np.array([np.bincount(item, minlength=k) for item in items]))
)


def kappa(votes):
    shares = votes / votes.sum(axis=1, keepdims=True)
    pairs = agreement.pairwise_agreement(votes).mean()
    return float(agreement.kappa_from_means(pairs, shares.mean(axis=0)))


@given(same_totals)
def test_kappa_agrees_with_statsmodels(votes):
    found = kappa(votes)
    if (votes.sum(axis=0) > 0).sum() == 1:
        assert np.isnan(found)  # all votes of all items for one label
    else:
        assert found == pytest.approx(inter_rater.fleiss_kappa(votes), abs=1e-9)
        assert found <= 1


@given(same_totals, st.randoms())
def test_agreement_does_not_depend_on_order(votes, random):
    labels, items = list(range(votes.shape[1])), list(range(len(votes)))
    random.shuffle(labels)
    random.shuffle(items)
    other = votes[items][:, labels]
    assert kappa(votes) == pytest.approx(kappa(other), abs=1e-9, nan_ok=True)
    np.testing.assert_array_equal(
        agreement.majority_share(votes)[items], agreement.majority_share(other)
    )
    np.testing.assert_array_equal(agreement.is_tied(votes)[items], agreement.is_tied(other))


@given(hnp.arrays(np.int64, (3, 3), elements=st.integers(0, 4)))
def test_pairwise_agreement_counts_pairs(votes):
    if (votes.sum(axis=1) < 2).any():
        with pytest.raises(ValueError, match="vote"):
            agreement.pairwise_agreement(votes)
        return
    expected = []
    for counts in votes:
        single = np.repeat(np.arange(3), counts)
        expected.append(np.mean([a == b for a, b in combinations(single, 2)]))
    np.testing.assert_allclose(agreement.pairwise_agreement(votes), expected)


def test_majority_share_and_ties():
    votes = [[50, 50, 0], [34, 33, 33], [0, 0, 100]]
    np.testing.assert_allclose(agreement.majority_share(votes), [0.5, 0.34, 1])
    assert agreement.is_tied(votes).tolist() == [True, False, False]


@given(st.lists(st.integers(1, 50), min_size=3, max_size=3))
def test_chance_of_majority_size_by_enumeration(weights):
    p = np.array(weights) / sum(weights)
    expected = sum(
        np.prod(p[list(draw)])
        for draw in product(range(3), repeat=5)
        if np.bincount(draw).max() == 3
    )
    found = agreement.chance_of_majority_size(p[np.newaxis], 5, 3)
    np.testing.assert_allclose(found, [expected], atol=1e-12)


def test_chances_of_all_sizes_sum_to_one():
    p = np.array([[0.2, 0.5, 0.3], [1, 0, 0]])
    total = sum(agreement.chance_of_majority_size(p, 5, size) for size in range(1, 6))
    np.testing.assert_allclose(total, 1)


@pytest.mark.parametrize(
    ("votes", "message"),
    [
        ([[0, 0, 0]], "at least one vote"),
        ([[1.5, 1, 1]], "whole counts"),
        ([[-1, 2, 1]], "negative"),
        ([[1, 2, np.inf]], "finite"),
    ],
)
def test_what_are_no_votes_is_refused(votes, message):
    with pytest.raises(ValueError, match=message):
        agreement.majority_share(votes)
