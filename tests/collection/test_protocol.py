"""The state machine, by examples of logs."""

import json

import numpy as np
import pytest
from helpers.logs import LOGS

from chaos_utils.base.errors import ChaosError
from chaos_utils.collection.protocol import load_protocol


def test_the_logs_reach_every_final_state():
    reached = {json.loads(path.read_text())["final"]["state"] for path in LOGS}
    states = load_protocol().table["states"]
    assert reached >= {name for name, entry in states.items() if entry["final"]}


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_a_recorded_log_ends_as_recorded_for_one_and_for_many(path):
    recorded = json.loads(path.read_text())
    log, final = recorded["log"], recorded["final"]
    protocol = load_protocol(**log["parameters"])
    one = protocol.replay(log["events"])
    assert one.states == [final["state"]]
    assert {name: counter[0] for name, counter in one.counters.items()} == final["counters"]
    assert (len(log["votes"]) if one.counted[0] else 0) == final["votes_counted"]
    if protocol.table["states"][final["state"]]["final"]:
        with pytest.raises(ChaosError, match="cannot happen"):
            protocol.replay([*log["events"], {"type": "draw", "check": False}])
    many, rows = protocol.start(3), np.array([0, 2])  # and nothing happens to the one between
    for event in log["events"]:
        right = event.get("answer") == event.get("expected")
        many.step(rows, event["type"], right=right, check=event.get("check", False))
    assert many.states.tolist() == [final["state"], "start", final["state"]]
    for name, count in final["counters"].items():
        assert many.counters[name].tolist() == [count, 0, count]
