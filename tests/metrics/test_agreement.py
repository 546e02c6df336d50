from itertools import combinations, product

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, multinomial

from chaos_utils.metrics import agreement

same_totals = st.integers(2, 4).flatmap(
    lambda k: st.lists(
        st.lists(st.integers(0, k - 1), min_size=6, max_size=6), min_size=1, max_size=20
    ).map(lambda items: np.array([np.bincount(item, minlength=k) for item in items]))
)


@settings(max_examples=50)
@given(same_totals)
def test_kappa_agrees_with_statsmodels(votes):
    from statsmodels.stats import inter_rater

    pairs = agreement.pairwise_agreement(votes).mean()
    found = float(agreement.kappa_from_means(pairs, votes.mean(axis=0) / 6))
    if (votes.sum(axis=0) > 0).sum() == 1:
        assert np.isnan(found)  # all votes of all items for one label
    else:
        assert found == pytest.approx(inter_rater.fleiss_kappa(votes), abs=1e-9)
        assert found <= 1


@settings(max_examples=50)
@given(same_totals)
def test_pairwise_agreement_counts_pairs(votes):
    expected = []
    for counts in votes:
        single = np.repeat(np.arange(len(counts)), counts)
        expected.append(np.mean([a == b for a, b in combinations(single, 2)]))
    np.testing.assert_allclose(agreement.pairwise_agreement(votes), expected)


def test_majority_share_and_ties():
    votes = [[50, 50, 0], [34, 33, 33], [0, 0, 100]]
    np.testing.assert_allclose(agreement.majority_share(votes), [0.5, 0.34, 1])
    assert agreement.is_tied(votes).tolist() == [True, False, False]


@given(st.lists(st.integers(0, 60), min_size=2, max_size=2))
def test_a_label_leads_where_the_binomial_test_says_so(votes):
    first, second = votes
    clear = first > second and binomtest(first, first + second).pvalue < 0.05
    assert agreement.leads([first], [second]).tolist() == [clear]
    assert agreement.leads([60, 61], [40, 39]).tolist() == [False, True]


@settings(max_examples=20)
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


@pytest.mark.parametrize("n_votes", [2, 3, 6])
def test_quadratic_entropy_is_right_on_average_from_two_votes_on(n_votes):
    truth = np.array([0.5, 0.3, 0.2])
    counts = np.array([c for c in np.ndindex(*(n_votes + 1,) * 3) if sum(c) == n_votes])
    found = agreement.quadratic_entropy(counts)
    chances = multinomial.pmf(counts, n_votes, truth)
    assert chances @ found == pytest.approx(1 - (truth**2).sum())


def test_alpha_is_that_of_the_library():
    rng = np.random.default_rng(0)
    votes = rng.multinomial(rng.integers(1, 6, 12), rng.dirichlet([0.5, 0.5, 0.5, 0.5], 12))
    assert (votes.sum(axis=1) == 1).any()
    for ordered, level in ((False, "nominal"), (True, "ordinal")):
        found = agreement.krippendorff_alpha(votes, ordered=ordered)
        theirs = krippendorff.alpha(value_counts=votes, level_of_measurement=level)
        assert found == pytest.approx(theirs)
    # Of nothing to compare it is undefined.
    assert np.isnan(agreement.krippendorff_alpha([[1, 0], [0, 1]]))
    assert np.isnan(agreement.krippendorff_alpha([[3, 0], [2, 0]]))
    assert agreement.krippendorff_alpha([[3, 0], [0, 2]]) == 1
