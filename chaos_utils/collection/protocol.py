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
    def states(self) -> tuple[str, ...]:
        """The table's states, in order."""
        return tuple(self.table["states"])

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The file of the table, among the inputs of what shows it."""
        return (Input(f"chaos_utils/collection/{_FILE.name}", digest(_FILE)),)

    def start(self, n: int = 1) -> "Cohort":
        """Return n annotators before their first event."""
        state = np.full(n, self.states.index(self.table["initial"]))
        zeros = {name: np.zeros(n, dtype=np.int64) for name in self.table["counters"]}
        return Cohort(self, state, zeros)

    def replay(self, events: Iterable[Event]) -> "Cohort":
        """Return where one annotator stands after a log of events, from the first one on.

        An event is ``{"type": "begin"}``, ``{"type": "draw", "check": bool}``, ``{"type": "stop"}``
        or ``{"type": "answer", "kind": …, "item": …, "answer": …, "expected": …}``.
        An answer's kind is what the state asks; an item's expected label is None.
        """
        cohort, row = self.start(), np.arange(1)
        for number, event in enumerate(events, start=1):
            try:
                name = str(cohort.states[0])
                self.transition(name, event.get("type"))
                _check_fields(self.table["states"][name], event)
            except ChaosError as fault:
                raise fault.within(f"event {number}") from fault
            right, check = event.get("answer") == event.get("expected"), event.get("check", False)
            cohort.step(row, event["type"], right=right, check=check)
        return cohort

    def transition(self, state: str, event: object) -> Json:
        """Return what a type of event does in a state."""
        possible: list[Json] = [one for one in self.table["transitions"] if state in one["from"]]
        for entry in possible:
            if event == entry["event"]:
                return entry
        raise ChaosError(
            "This event cannot happen here.",
            where=f"state {state!r}",
            found=repr(event),
            expected=" or ".join(entry["event"] for entry in possible) or "no further event",
        )


@dataclass(slots=True, eq=False)
class Cohort:
    """Where n annotators stand: `state` has positions in the table's states, `counters` counts."""

    protocol: Protocol
    state: Ints
    counters: dict[str, Ints]

    @property
    def states(self) -> npt.NDArray[np.str_]:
        """The name of each one's state."""
        return np.array(self.protocol.states)[self.state]

    @property
    def counted(self) -> Bools:
        """Whether what each one has voted is kept."""
        states = self.protocol.table["states"].values()
        return np.array([not one.get("discards_votes", False) for one in states])[self.state]

    def rows_in(self, name: str) -> Ints:
        """Return who is in a state: positions of annotators, ascending."""
        return np.flatnonzero(self.state == self.protocol.states.index(name))

    def step(self, rows: Ints, event: str, *, right: Any = False, check: Any = False) -> None:
        """Let the same type of event happen to annotators who are all in one state.

        A row is named at most once. `right` and `check` say, for all of them or for each, whether
        the answer is right and whether the draw brings a check.
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
    return dict(json.loads(_FILE.read_text("utf-8")))


def load_protocol(**parameters: float) -> Protocol:
    """Return the published protocol, with other values for the parameters that are named.

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
