"""How votes are collected: an explicit state machine that a table in JSON defines.

``protocol.json`` holds states, events, transitions and thresholds. This module, for one annotator
or for many at once, and the book's page interpret the same table. Nothing here draws at random:
whoever runs the protocol draws, and records the draw as an event, so that a log can be replayed.
"""

import json
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.base.inputs import Input, digest

_FILE = Path(__file__).with_name("protocol.json")
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Event = Mapping[str, Any]
Json = dict[str, Any]

# The fields of an event of each type, in addition to its type.
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


@dataclass(frozen=True, slots=True, eq=False)
class Protocol:
    """The table of rules, which must not be changed, with a value for every parameter."""

    table: Json
    parameters: Mapping[str, float]

    @property
    def version(self) -> str:
        """The version of the table, which files of recorded votes name."""
        return str(self.table["version"])

    @property
    def states(self) -> tuple[str, ...]:
        """The table's states, in order."""
        return tuple(self.table["states"])

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The file of the table, as an input of figures and tables that show it."""
        return (Input(f"chaos_utils/collection/{_FILE.name}", digest(_FILE)),)

    def start(self, n: int = 1) -> "Cohort":
        """Return n annotators before their first event."""
        state = np.full(n, self.states.index(self.table["initial"]))
        zeros = {name: np.zeros(n, dtype=np.int64) for name in self.table["counters"]}
        return Cohort(self, state, zeros)

    def replay(self, events: Iterable[Event]) -> "Cohort":
        """Return the state of one annotator after a log of events, as a cohort of one.

        An event is ``{"type": "begin"}``, ``{"type": "draw", "check": bool}``, ``{"type": "stop"}``
        or ``{"type": "answer", "kind": …, "item": …, "answer": …, "expected": …}``.
        An answer's kind is what the state asks for; if that is an item, the expected label is None.
        """
        cohort, rows = self.start(), np.arange(1)
        for number, event in enumerate(events, start=1):
            try:
                state = str(cohort.states[0])
                self.transition(state, event.get("type"))
                _check_fields(self.table["states"][state], event)
            except ChaosError as fault:
                raise fault.within(f"event {number}") from fault
            right, check = event.get("answer") == event.get("expected"), event.get("check", False)
            cohort.step(rows, event["type"], right=right, check=check)
        return cohort

    def transition(self, state: str, event: object) -> Json:
        """Return the table's entry for a type of event in a state."""
        entries: list[Json] = [
            entry for entry in self.table["transitions"] if state in entry["from"]
        ]
        for entry in entries:
            if event == entry["event"]:
                return entry
        raise ChaosError(
            "This event cannot happen here.",
            where=f"state {state!r}",
            found=repr(event),
            expected=" or ".join(entry["event"] for entry in entries) or "no further event",
        )


@dataclass(slots=True, eq=False)
class Cohort:
    """The progress of n annotators through the protocol.

    `state`, of shape (n,), has the index of each one's state among the protocol's states;
    `counters` has an array of the same shape for each counter of the table.
    """

    protocol: Protocol
    state: Ints
    counters: dict[str, Ints]

    @property
    def states(self) -> npt.NDArray[np.str_]:
        """The name of each annotator's state, of shape (n,)."""
        return np.array(self.protocol.states)[self.state]

    @property
    def counted(self) -> Bools:
        """Whether each annotator's votes count, of shape (n,)."""
        states = self.protocol.table["states"].values()
        return np.array([not state.get("discards_votes", False) for state in states])[self.state]

    def rows_in(self, name: str) -> Ints:
        """Return the indices of the annotators who are in a state, ascending."""
        return np.flatnonzero(self.state == self.protocol.states.index(name))

    def step(self, rows: Ints, event: str, *, right: Any = False, check: Any = False) -> None:
        """Apply the same type of event to annotators who are all in one state.

        `rows` are their indices, each at most once. `right` (whether the answer is right) and
        `check` (whether the draw brings a check) are one value for all of them, or one for each.
        """
        if not len(rows):
            return
        names = self.protocol.states
        transition = self.protocol.transition(names[self.state[rows[0]]], event)
        right = np.broadcast_to(right, rows.shape)
        for update in transition["update"]:
            chosen = {"right": rows[right], "wrong": rows[~right]}.get(update.get("if"), rows)
            counter = self.counters[update["counter"]]
            counter[chosen] = update["value"] + counter[chosen] * (update["op"] == "add")
        remaining = np.ones(len(rows), dtype=bool)
        for branch in transition["branches"]:
            moving = remaining.copy()
            for guard in branch["when"]:
                moving &= self._holds(guard, rows, check)
            self.state[rows[moving]] = names.index(branch["to"])
            remaining &= ~moving

    def _holds(self, guard: Json, rows: Ints, check: Any) -> Any:
        """Return whether a condition of a branch holds: for each of the annotators, or for all."""
        parameters = self.protocol.parameters
        bound = parameters.get(guard["value"], guard["value"])
        compare = OPERATORS[guard["op"]]
        if "ratio" in guard:
            part, total = (self.counters[name][rows] for name in guard["ratio"])
            least = parameters[guard["from"]] if "from" in guard else 1
            return (total >= least) & compare(part / np.maximum(total, 1), bound)
        if "counter" in guard:
            return compare(self.counters[guard["counter"]][rows], bound)
        if "parameter" in guard:
            return compare(parameters[guard["parameter"]], bound)
        return compare(check, bound)


def _check_fields(state: Json, event: Event) -> None:
    """Refuse an event that has other fields, or other values, than its type and the state allow."""
    kind = event["type"]
    if unknown := sorted(event.keys() - {"type"} - FIELDS[kind]):
        raise ChaosError(
            "An event has fields that its type does not have.",
            where=f"type {kind!r}",
            found=", ".join(unknown),
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
    return dict(json.loads(_FILE.read_text("utf-8")))


def load_protocol(**parameters: float) -> Protocol:
    """Return the published protocol, with these values of parameters instead of the defaults.

    ``protocol.json`` holds their names and ranges.
    """
    table = _table()
    declared = table["parameters"]
    for name, value in parameters.items():
        if name not in declared:
            raise ChaosError(
                "The protocol has no such parameter.",
                found=name,
                expected=did_you_mean(name, declared),
            )
        _check_value(name, value, declared[name])
    defaults = {name: entry["default"] for name, entry in declared.items()}
    return Protocol(table, MappingProxyType(defaults | parameters))


def _check_value(name: str, value: object, entry: Json) -> None:
    """Refuse a value that a parameter cannot have; `entry` is the table's for the parameter."""
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
            "A parameter of the protocol is out of range.",
            where=name,
            found=repr(value),
            expected=expected[kind],
        )
