"""The alternative annotator test of systems against votes whose annotators are known."""

import numpy as np
import pytest

from chaos_utils.base.errors import ChaosError
from chaos_utils.scoring.replacement import replacement_test
from chaos_utils.scoring.systems import base_rate, computed, oracle, uniform


def test_a_system_that_names_the_majority_does_better_than_one_that_does_not(others):
    votes = others[0]
    majority = computed("majority", votes, np.eye(4)[votes.majority])
    wrong = computed("wrong", votes, np.eye(4)[votes.counts.argmin(axis=1)])
    given = {"epsilon": 0.1, "fewest_items": 20}
    better, worse = (replacement_test(votes, one, **given) for one in (majority, wrong))
    assert better.winning_rate > 0.9
    assert worse.winning_rate == 0
    assert len(better.annotator) == len(worse.annotator) > 10
    ordered = replacement_test(votes, majority, ordered=True, **given)
    assert ordered.advantage_probability != better.advantage_probability


def test_what_cannot_be_tested_is_one_error(others):
    votes = others[0]
    with pytest.raises(ChaosError, match="made from the votes that judge it"):
        replacement_test(votes, oracle(votes), epsilon=0.1)
    with pytest.raises(ChaosError, match="nobody labelled 1000 items"):
        replacement_test(votes, base_rate(votes), epsilon=0.1, fewest_items=1000)
    with pytest.raises(ChaosError, match="does not say who gave which label"):
        replacement_test(others[1], uniform(others[1]), epsilon=0.1)
