"""Where to spend the next votes: rules against hand-made votes and against known truths."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaos_utils.metrics.agreement import quadratic_entropy
from chaos_utils.metrics.allocation import RULES, STARTING_VOTES, next_votes, spend, spread_evenly
from chaos_utils.metrics.scores import shared_top

ADAPTIVE = ("majority", "margin", "shares")


@settings(max_examples=50)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=8), st.integers(1, 40))
def test_even_votes_go_one_by_one_to_the_item_with_the_fewest(sizes, budget):
    expected = np.array(sizes)
    for _ in range(budget):
        expected[expected.argmin()] += 1
    asked = spread_evenly(sizes, budget)
    assert sorted(asked + sizes) == sorted(expected)
    assert asked.sum() == budget
    capped = spread_evenly(sizes, budget, 4)
    assert (capped <= np.maximum(4 - np.array(sizes), 0)).all()
    assert capped.sum() == min(budget, np.maximum(4 - np.array(sizes), 0).sum())


@pytest.mark.parametrize("rule", RULES)
def test_each_item_has_three_votes_before_any_rule_is_followed(rule):
    votes = np.array([[1, 0, 0], [2, 2, 0], [1, 1, 0], [0, 5, 0]])
    assert next_votes(votes, 9, RULES[rule]).tolist() == [2, 0, 1, 0]
    assert next_votes(votes, 1, RULES[rule]).tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize("rule", ADAPTIVE)
def test_split_items_are_asked_about_and_ties_go_to_the_earlier_row(rule):
    # A label that nobody chose is no obstacle.
    votes = np.array([[6, 0, 0]] * 20 + [[3, 3, 0], [3, 3, 0], [5, 1, 0]])
    assert next_votes(votes, 1, RULES[rule]).tolist() == [0] * 20 + [1, 0, 0]
    assert next_votes(votes, 2, RULES[rule]).tolist() == [0] * 20 + [1, 1, 0]
    for budget in (7, 60):
        assert next_votes(votes, budget, RULES[rule]).sum() == budget


@pytest.mark.parametrize("rule", RULES)
def test_items_that_are_all_alike_are_asked_about_alike(rule):
    assert next_votes([[3, 0]] * 9, 12, RULES[rule]).tolist() == [2] * 3 + [1] * 6


def test_the_margin_is_in_standard_errors():
    votes = np.array([[20, 17, 0], [2, 1, 0], [3, 0, 0]])
    # 3 / sqrt(38) = .49, 1 / sqrt(4) = .5, 3 / sqrt(4) = 1.5
    assert next_votes(votes, 1, RULES["margin"]).tolist() == [1, 0, 0]
    assert next_votes(votes, 5, RULES["margin"]).tolist() == [2, 2, 1]


@pytest.mark.parametrize("seed", range(3))
def test_votes_where_the_majority_is_open_find_it_with_fewer(seed):
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet([0.6, 0.5, 0.4], 2000)
    start = rng.multinomial(STARTING_VOTES, truth)

    def asked(rule, mean):
        budget = (mean - STARTING_VOTES) * len(truth)
        *_, counts = spend(start, budget, 500, RULES[rule], lambda n: rng.multinomial(n, truth))
        assert counts.sum() == mean * len(truth)
        return counts

    def right(counts):
        return (shared_top(counts / counts.sum(axis=1, keepdims=True)) * shared_top(truth)).sum()

    apart = (1 - (truth**2).sum(axis=1)).mean()
    nine = right(asked("even", 9))
    for rule in ("majority", "margin"):
        adaptive = asked(rule, 7)
        assert right(adaptive) > nine
        # And they bias what is said of people by them; the first votes do not.
        assert quadratic_entropy(adaptive).mean() < 0.85 * apart
    assert quadratic_entropy(start).mean() == pytest.approx(apart, abs=0.05)


def test_no_item_gets_more_votes_than_there_are():
    votes = np.array([[3, 3], [6, 0], [5, 1]])

    def ask(asked):
        return np.column_stack([asked, np.zeros_like(asked)])

    *_, counts = spend(votes, 100, 4, RULES["majority"], ask, most=8)
    assert counts.sum(axis=1).tolist() == [8, 8, 8]
