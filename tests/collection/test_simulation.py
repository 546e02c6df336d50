"""The simulation: the same protocol as the state machine, and what is promised of its votes."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from chaos_utils.collection.annotators import mixture
from chaos_utils.collection.cohort import Cohort
from chaos_utils.collection.design import stage_effects
from chaos_utils.collection.materials import cut
from chaos_utils.collection.protocol import load_protocol
from chaos_utils.collection.simulate import simulate
from chaos_utils.collection.tables import summary

LOGS = sorted((Path(__file__).parent / "logs").glob("*.json"))


@pytest.fixture(scope="module")
def materials(sample):
    return cut(sample[0], sample, n_items=120)


@pytest.fixture(scope="module")
def made(materials):
    return simulate(load_protocol(), materials, mixture(careless=0.5), seed=1)


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_arrays_and_state_machine_replay_a_log_alike(path):
    recorded = json.loads(path.read_text())
    cohort = Cohort.start(load_protocol(**recorded["log"]["parameters"]), 3)
    rows = np.array([0, 2])  # and nothing happens to the one between
    for event in recorded["log"]["events"]:
        right = event.get("answer") == event.get("expected")
        cohort.step(rows, event["type"], right=right, check=event.get("check", False))
    final = recorded["final"]
    names = [cohort.names[state] for state in cohort.state]
    assert names == [final["state"], "start", final["state"]]
    for name, count in final["counters"].items():
        assert cohort.counter(name).tolist() == [count, 0, count]


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
        log, row = found.log(annotator), found.annotators.iloc[annotator]
        state = protocol.replay(log)
        assert state.name == row["state"]
        assert dict(state.counters) == {name: row[name] for name in state.counters}
        assert protocol.counts_votes(state) == row["counted"]


def test_items_get_votes_of_different_annotators_who_were_checked_and_not_blocked(made):
    assert set(made.counts.sum(axis=1)) == {100}
    assert not made.votes.duplicated(["annotator", "item"]).any()
    state = made.annotators["state"].to_numpy()[made.votes["annotator"]]
    assert set(state[made.votes["counted"]]) == {"finished"}
    assert (state[~made.votes["counted"]] == "blocked").all()
    assert (state == "blocked").any()
    # Hidden checks come at the rate of the protocol.
    draws, checks = made.annotators["draws"].sum(), made.annotators["checks"].sum()
    low, high = binom.interval(0.9999, draws, 0.1)
    assert low <= checks <= high


def test_nobody_sees_an_example_twice_while_the_pool_lasts(made):
    each = made.known.groupby("annotator")["item"]
    fits = each.size() <= len(made.materials.pool)
    assert (each.nunique() == each.size())[fits].all()
    assert set(made.materials.pool_uids).isdisjoint(made.materials.item_uids)


def test_the_seed_decides(materials):
    protocol = load_protocol(votes_per_item=10)
    one, same, other = (simulate(protocol, materials, mixture(), seed) for seed in (3, 3, 4))
    assert one.votes.equals(same.votes)
    rates = [summary(found)["qualification_fail_rate_percent"] for found in (one, other)]
    assert rates[0] != rates[1]


def test_careful_annotators_without_lapses_answer_as_people_do(materials):
    perfect = mixture(careless=0.0, lapse=0.0, lapse_in_tests=0.0)
    found = simulate(load_protocol(), materials, perfect)
    drawn = np.random.default_rng(0).multinomial(100, materials.items) / 100
    errors = [np.abs(one - materials.items).mean() for one in (found.counts / 100, drawn)]
    assert errors[0] < 1.15 * errors[1]
    assert summary(found)["qualification_fail_rate_percent"] == 0


def test_items_that_are_lacking_are_made_up_for_by_others(sample):
    alone = cut(sample[2], sample)
    assert alone.n_repeated == len(alone.pool)
    assert cut(sample[2], sample, n_items=1).n_repeated == 0


def test_the_stages_lower_the_error_and_cost_time_and_more_votes_do_not_replace_them(sample):
    small = cut(sample[0], sample, n_items=60)
    table = stage_effects(small, mixture(), careless=(0.5,)).set_index("without")
    without, more = "every stage", "every stage, 1,000 votes per item"
    assert table["tvd"].idxmax() == without
    assert table["tvd"].min() > table["floor_tvd"].iloc[0]
    assert table.loc["nothing", "tvd"] < table.loc[more, "tvd"]
    assert table.loc["nothing", "hours"] > table.loc[without, "hours"]
    assert table.loc[without, "dollars"] == pytest.approx(60 * 100 * 0.05)
    assert table.loc[more, "dollars"] == pytest.approx(10 * table.loc[without, "dollars"])
