"""The simulation: the same protocol as the state machine, and what is promised of its votes."""

import numpy as np
import pandas as pd
import pytest
from helpers.logs import log_of
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from chaos_utils.collection.annotators import Applicants, Population, mixture
from chaos_utils.collection.materials import cut
from chaos_utils.collection.protocol import load_protocol
from chaos_utils.collection.simulate import simulate


@pytest.fixture(scope="module")
def materials(sample):
    return cut(sample[0], sample, 120)


@pytest.fixture(scope="module")
def made(materials):
    return simulate(load_protocol(), materials, mixture(careless=0.5), seed=1)


@settings(max_examples=8)
@given(
    seed=st.integers(0, 1000),
    careless=st.floats(0, 0.6),
    parameters=st.fixed_dictionaries(
        {
            "qualification_items": st.integers(0, 4),
            "training_items": st.integers(0, 6),
            "check_rate": st.sampled_from([0.0, 0.1, 0.5]),
            "min_checks": st.integers(1, 15),
            "max_wrong_in_a_row": st.integers(1, 5),
            "votes_per_item": st.integers(1, 12),
        }
    ),
)
def test_the_state_machine_replays_simulated_logs_to_the_same_end(
    materials, seed, careless, parameters
):
    protocol = load_protocol(**parameters)
    found = simulate(protocol, materials, mixture(careless=careless, mean_stay=25), seed)
    chosen = np.random.default_rng(seed).integers(0, len(found.annotators), 4)
    for annotator in {*chosen.tolist(), len(found.annotators) - 1}:
        row, end = (
            found.annotators.iloc[annotator],
            protocol.replay(log_of(found, materials, annotator)),
        )
        assert (end.states[0], end.counted[0]) == (row["state"], row["counted"])


def test_items_get_votes_of_different_annotators_who_were_checked_and_not_blocked(made):
    assert set(made.counts.sum(axis=1)) == {100}
    assert not made.votes.duplicated(["annotator", "item"]).any()
    state = made.annotators["state"].to_numpy()[made.votes["annotator"]]
    assert set(state[made.votes["counted"]]) == {"finished"}
    assert (state[~made.votes["counted"]] == "blocked").all()
    assert (state == "blocked").any()
    # Hidden checks come at the rate of the protocol.
    checks = (made.known["asked"] == "check").sum()
    low, high = binom.interval(0.9999, len(made.votes), 0.1)
    assert low <= checks <= high
    assert made.dollars == pytest.approx(0.05 * (len(made.votes) + checks))


def test_nobody_sees_an_example_twice_while_the_pool_lasts(materials, made):
    each = made.known.groupby("annotator")["item"]
    fits = each.size() <= len(materials.pool)
    assert (each.nunique() == each.size())[fits].all()
    assert set(materials.pool_uids).isdisjoint(materials.item_uids)


def test_the_seed_decides(materials):
    protocol = load_protocol(votes_per_item=10)
    one, same, other = (simulate(protocol, materials, mixture(), seed) for seed in (3, 3, 4))
    assert one.votes.equals(same.votes)
    assert not one.votes.equals(other.votes)


def test_careful_annotators_without_lapses_answer_as_people_do(materials):
    perfect = mixture(careless=0.0, lapse=0.0, lapse_in_tests=0.0)
    found = simulate(load_protocol(), materials, perfect)
    drawn = np.random.default_rng(0).multinomial(100, materials.items) / 100
    errors = [np.abs(one - materials.items).mean() for one in (found.counts / 100, drawn)]
    assert errors[0] < 1.15 * errors[1]
    assert set(found.annotators["state"]) == {"finished"}


def test_feedback_on_wrong_answers_corrects_and_on_right_ones_does_not(materials):
    """Of people who take neutral for contradiction, until one correction."""
    one = {"share": 1.0, "lapse": 0, "lapse_in_tests": 0, "one_label": 0, "confusion": 1,
           "learning": 1, "least_lapse": 0}  # fmt: skip
    mixed_up = Population(pd.DataFrame(one, index=["mixed up"], dtype=float), 20.0)
    lenient = {"qualification_items": 0, "min_training_accuracy": 0.0, "check_rate": 0.0}
    lenient |= {"votes_per_item": 2}
    known = simulate(load_protocol(**lenient), materials, mixed_up).known
    wrong_before = (~known["right"]).groupby(known["annotator"]).cumsum() - ~known["right"]
    confusable = materials.expected[known["item"]] > 0
    assert known["right"][wrong_before > 0].all()
    assert not known["right"][(wrong_before == 0) & confusable].any()
    assert known["right"].nunique() == 2


def test_people_stay_as_long_as_is_said_on_average():
    rng = np.random.default_rng(0)
    found = Applicants(mixture(mean_stay=90.0), 200_000, 10**9, 3, rng)
    assert found.stay.mean() == pytest.approx(90, rel=0.02)


def test_items_that_are_lacking_are_made_up_for_by_others(sample):
    alone = cut(sample[2], sample, len(sample[2]))
    assert len(set(alone.item_uids)) == len(alone.item_uids) - len(alone.pool)
