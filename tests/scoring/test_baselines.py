"""Guesses that need no model: what they say, and that none has seen the votes that judge it."""

from dataclasses import replace

import numpy as np
import pytest

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.votes import frozen
from chaos_utils.scoring.systems import class_prior, mean_vote, mean_vote_given_old_label


@pytest.mark.parametrize("baseline", [mean_vote, mean_vote_given_old_label])
def test_what_an_item_says_does_not_touch_its_own_prediction(sample, baseline):
    votes = sample[0]
    before = baseline(votes).probabilities
    counts = votes.counts.copy()
    counts[7] = counts[7][::-1] + 50
    after = baseline(replace(votes, counts=frozen(counts))).probabilities
    np.testing.assert_array_equal(after[7], before[7])
    assert not np.array_equal(after, before)
    np.testing.assert_allclose(after.sum(axis=1), 1)
    system = baseline(votes)
    assert (system.out_of_fold, system.trained_on) == (True, ("votes of snli",))
    assert "votes of other items" in system.notes[0]


def test_the_prior_does_not_know_its_own_item(sample):
    prior = class_prior(sample[0]).probabilities
    assert 1 < len(np.unique(prior, axis=0)) <= 10  # one a fold
    np.testing.assert_allclose(prior.sum(axis=1), 1)


def test_the_mean_vote_is_the_mean_of_the_other_folds(sample):
    votes = sample[0]
    two = mean_vote(votes, seed=3, n_folds=2).probabilities
    one, other = np.unique(two, axis=0)
    fold = (two == one).all(axis=1)
    np.testing.assert_allclose(one, votes.shares[~fold].mean(axis=0))
    np.testing.assert_allclose(other, votes.shares[fold].mean(axis=0))
    np.testing.assert_allclose(mean_vote(votes, n_folds=1).probabilities, 1 / 3)


def test_given_the_old_label_items_of_one_label_and_fold_share_a_prediction(sample):
    votes = sample[0]
    found = mean_vote_given_old_label(votes, n_folds=2).probabilities
    assert len(np.unique(found, axis=0)) == 6
    # A label that no other item has: its item gets the mean vote.
    lonely = replace(votes, given_old_label=frozen(np.arange(len(votes)) == 5))
    given, mean = mean_vote_given_old_label(lonely), mean_vote(lonely)
    np.testing.assert_allclose(given.probabilities[5], mean.probabilities[5])
    with pytest.raises(ChaosError, match="old labels"):
        mean_vote_given_old_label(replace(votes, given_old_label=None))
