"""Replays of where to spend the next vote."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from helpers.evidence import drawn, first_items

from chaos_utils.analyses.next_vote import replay


def by_key(votes, n_replays, column="value"):
    table = replay.function(votes, n_replays=n_replays, seed=0)
    return table.set_index(["rule", "quantity", "n_votes"])[column]


def test_replays_stay_within_the_votes_there_are(sample, truth):
    votes = drawn(sample[0], truth[::25], 20)
    values, spreads = (by_key(votes, 2, column) for column in ("value", "sd"))
    assert (values.xs("votes_for_majority", level="quantity").dropna() >= 3).all()
    assert values.loc["even", "votes_for_majority", 5] == 5
    assert 0 < spreads.loc["majority", "votes_for_majority", 5] < 2
    assert np.isnan(spreads.loc["even", "votes_for_majority", 5])
    assert values.loc["majority", "right", 3] == values.loc["even", "right", 3]
    assert values.loc["majority", "right", 10] > values.loc["even", "right", 10]
    same = values.xs("disagreement_true", level="quantity")
    assert same.nunique() == 1


def test_even_votes_are_right_as_often_as_all_draws_of_them(sample, truth):
    votes = drawn(sample[0], truth[::40], 20)
    expected = []
    for counts in votes.counts:
        top = (counts == counts.max()) / (counts == counts.max()).sum()
        draws = list(combinations(np.repeat([0, 1, 2], counts), 3))
        numbers = np.array([np.bincount(draw, minlength=3) for draw in draws])
        leading = numbers == numbers.max(axis=1, keepdims=True)
        expected.append((leading / leading.sum(axis=1, keepdims=True) @ top).mean())
    values = by_key(votes, 2)
    for rule in ("even", "majority", "shares"):
        assert values.loc[rule, "right", 3] == pytest.approx(np.mean(expected))
    assert abs(values.loc["even", "right", 4] - np.mean(expected)) > 0.001


def test_items_with_few_votes_are_not_replayed(sample, truth):
    assert replay.function(drawn(sample[0], truth, 19), n_replays=2, seed=0).empty


# Of an independent prototype: the votes that do for majorities what ten even ones do, asked one by
# one and in rounds of 500; five votes' right majorities, even and not; the chance that two of the
# latter votes differ; the votes that do for shares what ten even ones do.
EXPECTED = {
    "snli": (4.6, 5.3, 0.864, 0.904, 0.257, 9.5),
    "mnli": (5.5, 6.3, 0.778, 0.825, 0.362, 9.7),
    "alphanli": (3.8, 4.6, 0.945, 0.970, 0.109, 7.7),
}


@pytest.mark.parametrize("number", range(3))
def test_half_the_votes_do_for_majorities_and_bias_what_follows(released, number):
    votes = released[number]
    low, high, even, adaptive, disagreement, for_shares = EXPECTED[votes.dataset.name]
    values = by_key(votes, 3)
    assert low - 0.4 < values.loc["majority", "votes_for_majority", 10] < high + 0.4
    assert values.loc["even", "right", 5] == pytest.approx(even, abs=0.015)
    assert values.loc["majority", "right", 5] == pytest.approx(adaptive, abs=0.015)
    assert values.loc["margin", "right", 5] == pytest.approx(adaptive, abs=0.02)
    assert values.loc["shares", "votes_for_shares", 10] == pytest.approx(for_shares, abs=0.4)
    true = values.loc["majority", "disagreement_true", 5]
    assert values.loc["majority", "disagreement", 5] == pytest.approx(disagreement, abs=0.025)
    for sound in ("disagreement_first", "disagreement_prior"):
        assert values.loc["majority", sound, 5] == pytest.approx(true, abs=0.02)


def test_a_stated_majority_decides_who_is_right(released):
    votes = first_items(released[0], 60)
    turned = replace(votes, majority=votes.counts.argmin(axis=1))
    assert by_key(turned, 1).loc["even", "right", 10] < 0.2
