"""As how many drawn people systems do: on crowds of known size, and who is refused."""

import numpy as np
import pytest
from helpers.predictions import votes_from

from chaos_utils.metrics.divergence import total_variation
from chaos_utils.scoring import human_equivalents as people
from chaos_utils.scoring.human_equivalents import NAMES, TVD, Crowds
from chaos_utils.scoring.systems import base_rate, computed, oracle, synthetic_systems

WORTH = (1, 2, 5, 10, 20)
PRIOR = (0.9, 0.7, 0.5)


def simulated(sample, n_items, n_votes, rng):
    truths = rng.dirichlet(PRIOR, n_items)
    return truths, votes_from(sample[0], rng.multinomial(n_votes, truths))


def crowd_of(worth, votes, truths, rng):
    """Return a system that is a pooled crowd: other votes from the same truth."""
    return computed(f"{worth} people", votes, rng.multinomial(worth, truths) / worth)


def equivalents(crowds, *systems, **how):
    return [one for system in systems for one in crowds.equivalents(system, **how)]


@pytest.mark.slow
def test_intervals_hold_what_crowds_of_known_size_are_worth(sample):
    hits, worths = [], np.repeat(WORTH, len(NAMES))
    for replicate in range(1000):
        rng = np.random.default_rng([2022, replicate])
        truths, votes = simulated(sample, 200, 100, rng)
        systems = [crowd_of(worth, votes, truths, rng) for worth in WORTH]
        found = equivalents(Crowds(votes, n_draws=3, seed=replicate), *systems, n_resamples=200)
        both = zip(found, worths, strict=True)
        hits.append([one.low <= worth <= one.high for one, worth in both])
    assert np.mean(hits, axis=0).min() >= 0.92
    assert np.mean(hits) >= 0.93


def test_crowds_of_known_size_are_found_by_every_distance(sample):
    """And where there is no number: of one who is always wrong, and of one who knows the truth."""
    rng = np.random.default_rng(0)
    truths, votes = simulated(sample, 2000, 100, rng)
    systems = [crowd_of(worth, votes, truths, rng) for worth in WORTH]
    found = equivalents(Crowds(votes, n_draws=10), *systems, n_resamples=100)
    worths = np.repeat(WORTH, len(NAMES))
    np.testing.assert_allclose([one.value for one in found], worths, rtol=0.12)
    assert all(one.low <= one.value <= one.high for one in found)
    wrong = computed("wrong", votes, np.eye(3)[votes.counts.argmin(axis=1)])
    crowds = Crowds(votes, n_draws=3)
    for one in equivalents(crowds, wrong):
        assert one.text == "less than one"
        assert one.high < 1
    best = computed("truth", votes, truths)
    for one in equivalents(crowds, best):
        assert one.text.startswith("more than 50")
        assert one.high == np.inf


def test_tvd_of_drawn_crowds_is_the_expected_one(sample):
    """Two votes without replacement, on one item, by enumeration."""
    votes = votes_from(sample[0], np.tile([2, 1, 0], (5000, 1)))
    crowds = Crowds(votes, 1, 2)
    assert crowds.people == (1, 2)
    # The one judge is of the first label in 2 of 3 draws: then the other two differ.
    half, first, second = np.array([[0.5, 0.5, 0], [1, 0, 0], [0, 1, 0]])
    expected = total_variation([first, first, second], [half, half, first]).mean()
    assert crowds.distances(TVD)[:, 1].mean() == pytest.approx(expected, abs=0.01)


def test_answers_in_words():
    for *numbers, text in (
        (12.3, 9.96, 15.8, "12 [10, 16]"),
        (1.1, 0.9, 1.3, "1.1 [<1, 1.3]"),
        (np.inf, 44.0, np.inf, "more than 50 [44, >50]"),
        (3.0, np.nan, np.nan, "3.0"),
    ):
        assert people.Equivalent(TVD, *numbers, 50, 10, 50).text == text
    assert people.Equivalent(TVD, np.inf, 4, np.inf, 5, 10, 5).text == "more than 5 [4.0, >5]"


def test_what_was_made_from_the_votes_that_judge_it_is_refused(sample):
    votes = sample[0]
    for system in (oracle(votes), synthetic_systems(votes)[0]):
        assert people.refusal(votes, system)
    assert not people.refusal(votes, base_rate(votes))
