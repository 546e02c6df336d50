"""Guesses that need no model: what they say, and that none has seen the votes that judge it."""

from dataclasses import replace

import numpy as np
import pytest

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.splits import item_groups
from chaos_utils.datasets.votes import frozen
from chaos_utils.scoring.evaluate import at_most, guesses, part_of
from chaos_utils.scoring.systems import (
    BASELINES,
    base_rate,
    baselines,
    class_prior,
    mean_vote_given_old_label,
)


@pytest.mark.parametrize("baseline", [base_rate, mean_vote_given_old_label])
def test_what_an_item_says_does_not_touch_its_own_prediction(sample, baseline):
    votes = sample[0]
    before = baseline(votes).probabilities
    counts = votes.counts.copy()
    counts[7] = counts[7][::-1] + 50
    after = baseline(replace(votes, counts=frozen(counts))).probabilities
    np.testing.assert_allclose(after[7], before[7], rtol=1e-12)
    assert not np.array_equal(after, before)
    np.testing.assert_allclose(after.sum(axis=1), 1)
    assert (baseline(votes).out_of_fold, baseline(votes).trained_on) == (True, ("votes of snli",))


def test_the_names_of_all_baselines_are_known_without_votes(sample):
    assert {one.name for votes in sample for one in baselines(votes)} == {*BASELINES}


def test_the_prior_does_not_know_its_own_item(sample):
    prior = class_prior(sample[0]).probabilities
    assert 1 < len(np.unique(prior, axis=0)) <= 10  # one a fold


def test_the_base_rate_is_the_mean_of_the_other_texts(sample):
    votes = sample[0]
    groups = item_groups([votes])[0]
    expected = [votes.shares[groups != group].mean(axis=0) for group in groups]
    np.testing.assert_allclose(base_rate(votes).probabilities, expected)
    alone = part_of(votes, np.arange(1))
    assert [one.name for one in guesses(alone)] == ["uniform guess", "old label", "original votes"]
    for fitted in (base_rate, class_prior, mean_vote_given_old_label):
        with pytest.raises(ChaosError, match="All items share one text"):
            fitted(alone)


def test_a_part_of_the_votes_keeps_its_own_labels_and_many_items_are_thinned_by_lot(sample):
    votes, items = sample[0], np.array([250, 3, 90])
    part = part_of(votes, items)
    for name in ("counts", "majority", "old_label", "old_votes"):
        np.testing.assert_array_equal(getattr(part, name), getattr(votes, name)[items])
    few, others = (at_most(votes, 50, seed) for seed in (0, 1))
    assert (len(few), len(at_most(votes, 300, 0))) == (50, 300)
    assert few.uids != others.uids
    assert few.uids != votes.uids[:50]


def test_given_the_old_label_items_of_one_label_and_fold_share_a_prediction(sample):
    votes = sample[0]
    found = mean_vote_given_old_label(votes).probabilities
    assert len(np.unique(found, axis=0)) == 30
    # A label that no other item has: its item gets the mean of the others.
    lonely = replace(votes, given_old_label=frozen(np.arange(len(votes)) == 5))
    given, mean = mean_vote_given_old_label(lonely), base_rate(lonely)
    np.testing.assert_allclose(given.probabilities[5], mean.probabilities[5], atol=0.02)
    assert "for 1 item whose old label no item of another fold has" in given.notes[-1]
    with pytest.raises(ChaosError, match="old labels"):
        mean_vote_given_old_label(replace(votes, given_old_label=None))
