"""Many annotators at once: the protocol's table, interpreted on arrays."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from chaos_utils.collection.protocol import OPERATORS, Json, Protocol

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(slots=True, eq=False)
class Cohort:
    """The states of n annotators.

    `state` holds positions in `names`, and `counters`, of shape (n_counters, n), what the rules
    count, in the table's order.
    """

    protocol: Protocol
    state: Ints
    counters: Ints

    @classmethod
    def start(cls, protocol: Protocol, n: int) -> "Cohort":
        """Return n annotators before their first event."""
        names = list(protocol.table["states"])
        state = np.full(n, names.index(protocol.table["initial"]))
        return cls(protocol, state, np.zeros((len(protocol.table["counters"]), n), dtype=np.int64))

    @property
    def names(self) -> list[str]:
        """The table's states, in order."""
        return list(self.protocol.table["states"])

    def rows_in(self, name: str) -> Ints:
        """Return who is in a state: positions of annotators, ascending."""
        return np.flatnonzero(self.state == self.names.index(name))

    def counter(self, name: str) -> Ints:
        """Return one counter of everybody, as a view: what is written to it is counted."""
        return self.counters[self.protocol.table["counters"].index(name)]

    def take(self, rows: Ints) -> "Cohort":
        """Return a copy of some rows, in the order named; a row may be named more than once."""
        return Cohort(self.protocol, self.state[rows], self.counters[:, rows])

    def step(self, rows: Ints, event: str, *, right: Any = False, check: Any = False) -> None:
        """Let the same type of event happen to annotators who are all in one state.

        A row is named at most once. `right` and `check` say, for all of them or for each, whether
        the answer is right and whether the draw brings a check.
        """
        if not len(rows):
            return
        name = self.names[self.state[rows[0]]]
        transition = next(
            entry
            for entry in self.protocol.table["transitions"]
            if name in entry["from"] and entry["event"] == event
        )
        right = np.broadcast_to(right, rows.shape)
        for update in transition["update"]:
            self._update(rows, update, right)
        left, fields = np.ones(len(rows), dtype=bool), {"check": check}
        for branch in transition["branches"]:
            taken = left.copy()
            for guard in branch["when"]:
                taken &= self._holds(guard, rows, fields)
            self.state[rows[taken]] = self.names.index(branch["to"])
            left &= ~taken

    def _update(self, rows: Ints, update: Json, right: Bools) -> None:
        if "if" in update:
            rows = rows[right if update["if"] == "right" else ~right]
        counter = self.counter(update["counter"])
        if update["op"] == "add":
            counter[rows] += update["value"]
        else:
            counter[rows] = update["value"]

    def _holds(self, guard: Json, rows: Ints, fields: dict[str, Any]) -> Any:
        parameters, bound = self.protocol.parameters, guard["value"]
        if isinstance(bound, str):
            bound = parameters[bound]
        compare = OPERATORS[guard["op"]]
        if "ratio" in guard:
            part, whole = (self.counter(name)[rows] for name in guard["ratio"])
            least = parameters[guard["from"]] if "from" in guard else 1
            return (whole >= least) & compare(part / np.maximum(whole, 1), bound)
        if "counter" in guard:
            return compare(self.counter(guard["counter"])[rows], bound)
        if "parameter" in guard:
            return compare(parameters[guard["parameter"]], bound)
        return compare(fields[guard["event"]], bound)
