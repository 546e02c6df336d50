"""How votes are collected: an explicit state machine that a table in JSON defines.

``protocol.json`` holds states, events, transitions and thresholds. This module, the
simulation and the book's page interpret the same table. Nothing here draws at random: whoever
runs the protocol draws, and records the draw as an event, so that a log can be replayed.
"""

import json
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any

from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.base.inputs import Input, digest

_FILE = "protocol.json"
Event = Mapping[str, Any]
Json = dict[str, Any]

# What an event of each type carries beside its type.
FIELDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "begin": frozenset(),
        "draw": frozenset({"check"}),
        "stop": frozenset(),
        "answer": frozenset({"kind", "item", "answer", "expected"}),
    }
)
OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = MappingProxyType(
    {"<": operator.lt, ">": operator.gt, ">=": operator.ge, "==": operator.eq}
)


@dataclass(frozen=True, slots=True)
class State:
    """Where one annotator stands, with the reason in a final state that has one."""

    name: str
    counters: Mapping[str, int]
    reason: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Protocol:
    """The table of rules, which is not to be changed, with a value for every parameter."""

    table: Json
    parameters: Mapping[str, float]

    @property
    def version(self) -> str:
        """Name of the table, as recorded votes carry it."""
        return str(self.table["version"])

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The file of the table, among the inputs of what follows from it.

        With other values of its parameters it is another table.
        """
        found, name = digest(Path(__file__).with_name(_FILE)), f"chaos_utils/collection/{_FILE}"
        defaults = {one: entry["default"] for one, entry in self.table["parameters"].items()}
        if self.parameters == defaults:
            return (Input(name, found),)
        changed = json.dumps([found, dict(self.parameters)], sort_keys=True)
        return (Input(f"{name} with other values", sha256(changed.encode()).hexdigest()),)

    def start(self) -> State:
        """Return the state before the first event."""
        zeros = dict.fromkeys(self.table["counters"], 0)
        return State(self.table["initial"], MappingProxyType(zeros))

    def counts_votes(self, state: State) -> bool:
        """Return whether what the annotator has voted is kept."""
        return not self.table["states"][state.name].get("discards_votes", False)

    def step(self, state: State, event: Event) -> State:
        """Return the state after an event.

        An event is ``{"type": "begin"}``, ``{"type": "draw", "check": bool}``, ``{"type": "stop"}``
        or ``{"type": "answer", "kind": …, "item": …, "answer": …, "expected": …}``.
        An answer's kind is what the state asks; an item's expected label is None.
        """
        transition = self._transition(state, event)
        _check_fields(self.table["states"][state.name], event)
        counters = dict(state.counters)
        for update in transition["update"]:
            if "if" not in update or (update["if"] == "right") == is_right(event):
                base = counters[update["counter"]] if update["op"] == "add" else 0
                counters[update["counter"]] = base + update["value"]
        for branch in transition["branches"]:
            if all(self._holds(guard, counters, event) for guard in branch["when"]):
                return State(branch["to"], MappingProxyType(counters), branch.get("reason"))
        raise AssertionError(f"no branch of {state.name} holds")  # the last one has no guard

    def replay(self, events: Iterable[Event]) -> State:
        """Return the state after a log of events, from the first one on."""
        state = self.start()
        for number, event in enumerate(events, start=1):
            try:
                state = self.step(state, event)
            except ChaosError as fault:
                raise fault.within(f"event {number}") from fault
        return state

    def _transition(self, state: State, event: Event) -> Json:
        possible = [t for t in self.table["transitions"] if state.name in t["from"]]
        for transition in possible:
            if event.get("type") == transition["event"]:
                return transition
        raise ChaosError(
            "This event cannot happen here.",
            where=f"state {state.name!r}",
            found=repr(event.get("type")),
            expected=" or ".join(t["event"] for t in possible) or "no further event",
        )

    def _holds(self, guard: Json, counters: Mapping[str, int], event: Event) -> bool:
        bound = guard["value"]
        if isinstance(bound, str):
            bound = self.parameters[bound]
        if "ratio" in guard:
            part, whole = (counters[name] for name in guard["ratio"])
            least = self.parameters[guard["from"]] if "from" in guard else 1
            if whole < least:
                return False
            found: Any = part / whole
        elif "counter" in guard:
            found = counters[guard["counter"]]
        elif "parameter" in guard:
            found = self.parameters[guard["parameter"]]
        else:
            found = event[guard["event"]]
        return bool(OPERATORS[guard["op"]](found, bound))


def is_right(event: Event) -> bool:
    """Return whether an answer is the expected one."""
    return bool(event.get("answer") == event.get("expected"))


def _check_fields(state: Json, event: Event) -> None:
    """Refuse an event whose fields its type does not have."""
    kind = event["type"]
    if foreign := sorted(event.keys() - {"type"} - FIELDS[kind]):
        raise ChaosError(
            "An event has fields that its type does not have.",
            where=f"type {kind!r}",
            found=", ".join(foreign),
            expected=", ".join(sorted(FIELDS[kind])) or "no other field",
        )
    if kind == "draw" and not isinstance(event.get("check"), bool):
        raise ChaosError(
            "A draw says whether a check comes.", found=repr(event), expected="check: true or false"
        )
    if kind != "answer":
        return
    if event.get("kind") != state["asks"]:
        raise ChaosError(
            "This answer cannot come here.",
            found=f"kind {event.get('kind')!r}",
            expected=repr(state["asks"]),
        )
    is_item = state["asks"] == "item"
    if (
        not all(isinstance(event.get(field), str) and event[field] for field in ("item", "answer"))
        or is_item != (event.get("expected") is None)
        or not isinstance(event.get("expected"), str | None)
    ):
        raise ChaosError(
            "This answer is incomplete.",
            found=repr(dict(event)),
            expected="item and answer, and "
            + ("expected: null" if is_item else "the expected label"),
        )


@cache
def _table() -> Json:
    return dict(json.loads(Path(__file__).with_name(_FILE).read_text("utf-8")))


def load_protocol(**parameters: float) -> Protocol:
    """Return the published protocol, with other values for the parameters that are named.

    ``protocol.json`` holds their names and ranges.
    """
    table = _table()
    known = table["parameters"]
    for name, value in parameters.items():
        if name not in known:
            raise ChaosError(
                "The protocol has no such parameter.",
                found=name,
                expected=did_you_mean(name, known),
            )
        _check_value(name, value, known[name])
    defaults = {name: entry["default"] for name, entry in known.items()}
    return Protocol(table, MappingProxyType(defaults | parameters))


def _check_value(name: str, value: object, entry: Json) -> None:
    least, kind = entry.get("least", 0), entry["kind"]
    is_number = isinstance(value, int if kind == "count" else int | float)
    most = 1 if kind == "share" else float("inf")
    if isinstance(value, bool) or not is_number or not least <= value <= most:  # type: ignore[operator]
        expected = {
            "share": "a number in [0, 1]",
            "count": f"an integer, at least {least}",
            "dollars": "dollars, at least 0",
        }
        raise ChaosError(
            "A parameter of the protocol is out of its range.",
            where=name,
            found=repr(value),
            expected=expected[kind],
        )
