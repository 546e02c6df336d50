"""The state machine, by examples of logs."""

import json
from pathlib import Path

import pytest

from chaos_utils.base.errors import ChaosError
from chaos_utils.crowd.protocol import load_protocol

LOGS = sorted((Path(__file__).parent / "logs").glob("*.json"))
BEGIN = {"type": "begin"}


def answer(kind, right=True):
    given = {"answer": "e" if right else "n", "expected": None if kind == "item" else "e"}
    return {"type": "answer", "kind": kind, "item": "an-item", **given}


def test_the_logs_reach_every_final_state():
    reached = {json.loads(path.read_text())["final"]["state"] for path in LOGS}
    states = load_protocol().table["states"]
    assert reached >= {name for name, entry in states.items() if entry["final"]}


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_a_recorded_log_ends_as_recorded(path):
    recorded = json.loads(path.read_text())
    protocol = load_protocol(**recorded["log"]["parameters"])
    state = protocol.replay(recorded["log"]["events"])
    final = recorded["final"]
    found = {"state": state.name, "reason": state.reason, "counters": dict(state.counters)}
    assert found == {name: final[name] for name in found}
    votes = recorded["log"]["votes"] if protocol.counts_votes(state) else []
    assert len(votes) == final["votes_counted"]
    if protocol.is_final(state):
        with pytest.raises(ChaosError, match="cannot happen"):
            protocol.step(state, answer("item"))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"min_check_accuracy": 1.1}, r"\[0, 1\]"),
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


ADMITTED = load_protocol().replay(
    [BEGIN, *[answer("qualification")] * 5, *[answer("training")] * 12]
)
BEGUN = load_protocol().replay([BEGIN])


@pytest.mark.parametrize(
    ("state", "event", "message"),
    [
        (ADMITTED, {"type": "draw"}, "whether a check comes"),
        (ADMITTED, {"type": "answer"}, "expected: *draw or stop"),
        (BEGUN, answer("item"), "kind 'item'"),
        (BEGUN, answer("qualification") | {"expected": None}, "incomplete"),
    ],
)
def test_an_event_that_does_not_fit_is_refused(state, event, message):
    with pytest.raises(ChaosError, match=message):
        load_protocol().step(state, event)


def test_a_fault_of_a_log_is_named_by_its_event():
    with pytest.raises(ChaosError, match=r"where: +event 2, state"):
        load_protocol().replay([BEGIN, BEGIN])
