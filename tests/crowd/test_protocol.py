"""The state machine, by examples of logs and by properties."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaos_utils.base.errors import ChaosError
from chaos_utils.crowd.protocol import load_protocol

LOGS = sorted((Path(__file__).parent / "logs").glob("*.json"))
BEGIN, STOP = {"type": "begin"}, {"type": "stop"}


def answer(kind, right=True):
    expected = None if kind == "item" else "e"
    return {
        "type": "answer",
        "kind": kind,
        "item": "an-item",
        "answer": "e" if right else "n",
        "expected": expected,
    }


def draw(check):
    return {"type": "draw", "check": check}


def admitted(protocol):
    events = [answer("qualification")] * protocol.parameters["qualification_items"]
    events += [answer("training")] * protocol.parameters["training_items"]
    return protocol.replay([BEGIN, *events])


@st.composite
def walks(draw_from):
    """A protocol, and the events of someone who goes through it until a final state."""
    protocol = load_protocol(
        qualification_items=draw_from(st.integers(0, 3)),
        training_items=draw_from(st.integers(0, 4)),
        min_checks=draw_from(st.integers(1, 12)),
    )
    state, events = protocol.start(), [BEGIN]
    state = protocol.step(state, BEGIN)
    rights = iter(draw_from(st.lists(st.booleans(), max_size=120)))
    while not protocol.is_final(state):
        right = next(rights, None)
        if right is None:
            event = STOP
        elif state.name == "ready":
            event = draw(right)
        else:
            event = answer(state.name, right)
        events.append(event)
        state = protocol.step(state, event)
    return protocol, events


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_a_recorded_log_ends_as_recorded(path):
    recorded = json.loads(path.read_text())
    protocol = load_protocol(**recorded["log"]["parameters"])
    state = protocol.replay(recorded["log"]["events"])
    final = recorded["final"]
    assert (state.name, state.reason, dict(state.counters)) == (
        final["state"],
        final["reason"],
        final["counters"],
    )
    votes = recorded["log"]["votes"] if protocol.counts_votes(state) else []
    assert len(votes) == final["votes_counted"]


def test_the_logs_reach_every_final_state():
    reached = {json.loads(path.read_text())["final"]["state"] for path in LOGS}
    states = load_protocol().table["states"]
    assert reached >= {name for name, entry in states.items() if entry["final"]}


@given(walks())
def test_replaying_a_log_gives_the_same_state(walk):
    protocol, events = walk
    stepwise = protocol.start()
    for event in events:
        stepwise = protocol.step(stepwise, event)
    assert protocol.replay(json.loads(json.dumps(events))) == stepwise


@given(walks())
def test_no_vote_of_a_blocked_annotator_counts_and_nothing_follows(walk):
    protocol, events = walk
    state = protocol.replay(events)
    assert protocol.counts_votes(state) == (state.name == "finished")
    with pytest.raises(ChaosError, match="cannot happen"):
        protocol.step(state, answer("item"))


@given(st.lists(st.booleans(), max_size=60))
def test_four_mistakes_in_a_row_always_block(rights):
    protocol = load_protocol()
    state = admitted(protocol)
    for right in [*rights, False, False, False, False]:
        if protocol.is_final(state):
            break
        state = protocol.step(protocol.step(state, draw(True)), answer("check", right))
        if not protocol.is_final(state):
            state = protocol.step(state, answer("item"))
    assert state.name == "blocked"


@given(st.integers(0, 5))
def test_admission_takes_all_five(n_right):
    protocol = load_protocol()
    rights = [True] * n_right + [False] * (5 - n_right)
    state = protocol.replay([BEGIN, *(answer("qualification", right) for right in rights)])
    assert state.name == ("training" if n_right == 5 else "rejected")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"min_check_accuracy": 1.1}, r"\[0, 1\]"),
        ({"check_rate": -0.1}, r"\[0, 1\]"),
        ({"check_rate": float("nan")}, r"\[0, 1\]"),
        ({"min_training_accuracy": "high"}, r"\[0, 1\]"),
        ({"training_items": 2.5}, "an integer"),
        ({"max_wrong_in_a_row": 0}, "at least 1"),
        ({"training_item": 3}, "training_items"),
    ],
)
def test_a_parameter_out_of_range_is_refused(parameters, message):
    with pytest.raises(ChaosError, match=message):
        load_protocol(**parameters)


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ({"type": "draw"}, "whether a check comes"),
        ({"type": "answer"}, "expected: *draw or stop"),
        ({}, "draw or stop"),
    ],
)
def test_a_malformed_event_is_refused(event, message):
    protocol = load_protocol()
    with pytest.raises(ChaosError, match=message):
        protocol.step(admitted(protocol), event)


def test_an_answer_of_another_kind_or_without_a_label_is_refused():
    protocol = load_protocol()
    state = protocol.step(protocol.start(), BEGIN)
    with pytest.raises(ChaosError, match="kind 'item'"):
        protocol.step(state, answer("item"))
    with pytest.raises(ChaosError, match="incomplete"):
        protocol.step(state, answer("qualification") | {"expected": None})
    with pytest.raises(ChaosError, match=r"where: +event 2, state"):
        protocol.replay([BEGIN, BEGIN])
