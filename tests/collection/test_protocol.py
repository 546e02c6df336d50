"""The state machine, by examples of logs."""

import json
from pathlib import Path

import pytest

from chaos_utils.base.errors import ChaosError
from chaos_utils.collection.protocol import load_protocol

LOGS = sorted((Path(__file__).parent / "logs").glob("*.json"))


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
    if protocol.table["states"][state.name]["final"]:
        with pytest.raises(ChaosError, match="cannot happen"):
            protocol.step(state, {"type": "draw", "check": False})
