"""The collection, simulated: a population goes through the protocol until every item is judged."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.base.errors import ChaosError
from chaos_utils.collection.annotators import (
    MOST_CORRECTIONS,
    Population,
    answer_chances,
    by_corrections,
)
from chaos_utils.collection.cohort import Bools, Cohort, Ints
from chaos_utils.collection.materials import Materials
from chaos_utils.collection.protocol import Protocol

_LEAST_YIELD = 0.001  # share of the votes wanted that a round of applicants must bring

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Simulation:
    """What came of a simulated collection. None of it is data.

    Attributes
    ----------
    annotators : DataFrame
        One row an applicant, in order of arrival: ``kind``, ``state``, ``counted`` (whether
        the votes are kept), and the counters of the protocol.
    known : DataFrame
        One row an answer to a unanimous example: ``annotator``, ``asked``, ``place`` (how
        many items came before), ``item`` (position in the pool), ``label``, ``right``.
    votes : DataFrame
        One row a judged item: ``annotator``, ``place``, ``item``, ``label``, ``counted``.
    counts : ndarray of int, shape (n_items, k)
        The counted votes.
    """

    protocol: Protocol
    materials: Materials
    population: Population
    annotators: pd.DataFrame
    known: pd.DataFrame
    votes: pd.DataFrame
    counts: Ints

    def log(self, annotator: int) -> list[dict[str, Any]]:
        """Return the events of one row of `annotators`, such as `Protocol.replay` reads."""
        codes, uids = self.materials.dataset.codes, self.materials.item_uids
        known = self.known[self.known["annotator"] == annotator].itertuples()
        tests: list[dict[str, Any]] = []
        checks: dict[int, dict[str, Any]] = {}
        for row in known:
            event = {
                "type": "answer",
                "kind": row.asked,
                "item": self.materials.pool_uids[row.item],
                "answer": codes[row.label],
                "expected": codes[self.materials.expected[row.item]],
            }
            if row.asked == "check":
                checks[row.place] = event
            else:
                tests.append(event)
        events = [{"type": "begin"}, *tests]
        votes = self.votes[self.votes["annotator"] == annotator]
        judged = {row.place: row for row in votes.itertuples()}
        for place in sorted(checks.keys() | judged.keys()):
            events.append({"type": "draw", "check": place in checks})
            events += [checks[place]] if place in checks else []
            if place in judged:
                item, label = uids[judged[place].item], codes[judged[place].label]
                events.append(_vote(item, label))
        if self.annotators["state"].iloc[annotator] == "finished":
            events.append({"type": "stop"})
        return events


def _vote(item: str, label: str) -> dict[str, Any]:
    return {"type": "answer", "kind": "item", "item": item, "answer": label, "expected": None}


class _Applicants:
    """A round of annotators on their way through the protocol."""

    def __init__(
        self,
        protocol: Protocol,
        materials: Materials,
        population: Population,
        n: int,
        rng: np.random.Generator,
    ) -> None:
        self.protocol, self.materials, self.rng = protocol, materials, rng
        self.cohort = Cohort.start(protocol, n)
        names = list(population.kinds)
        self.kind = rng.choice(len(names), n, p=[population.shares[name] for name in names])
        k = materials.dataset.n_classes
        self.guess = np.full((n, k), 1 / k)
        one_label = np.array([population.kinds[name].one_label for name in names])[self.kind]
        self.guess[one_label] = np.eye(k)[rng.integers(0, k, one_label.sum())]
        self.stay = draw_stays(population, len(materials.items), n, rng)
        self.corrections = np.zeros(n, dtype=np.int64)
        self.pool_order = rng.permutation(len(materials.pool))
        self.next_example = rng.integers(0, len(materials.pool), n)
        self.lapses, self.confusions = by_corrections(population.kinds.values())
        nobody = np.zeros(0, dtype=np.int64)
        self.known: list[dict[str, Any]] = []
        self._note("check", nobody, 0, nobody, nobody, nobody > 0)  # the columns, in any case
        self.judged: list[dict[str, Any]] = []

    def chances(self, asked: str, rows: Ints, corrections: Ints, people: Floats) -> Floats:
        taught = np.minimum(corrections, MOST_CORRECTIONS)
        kind = self.kind[rows]
        return answer_chances(
            asked,
            people,
            self.lapses[asked][kind, taught],
            self.confusions[kind, taught],
            self.guess[rows],
        )

    def answer_known(self, asked: str, rows: Ints, place: int) -> None:
        """Let each annotator answer a unanimous example: a new one, until the pool is used up."""
        item = self.pool_order[self.next_example[rows] % len(self.pool_order)]
        self.next_example[rows] += 1
        chances = self.chances(asked, rows, self.corrections[rows], self.materials.pool[item])
        label = draw_labels(chances, self.rng)
        right = label == self.materials.expected[item]
        self.cohort.step(rows, "answer", right=right)
        if self.protocol.table["states"][asked]["feedback"]:
            self.corrections[rows] += ~right
        self._note(asked, rows, place, item, label, right)

    def _note(
        self, asked: str, rows: Ints, place: int, item: Ints, label: Ints, right: Bools
    ) -> None:
        self.known.append({"annotator": rows, "asked": asked, "place": place, "item": item,
                           "label": label, "right": right})  # fmt: skip

    def run(self) -> None:
        cohort = self.cohort
        cohort.step(np.arange(len(cohort.state)), "begin")
        for asked in ("qualification", "training"):
            while len(rows := cohort.rows_in(asked)):
                self.answer_known(asked, rows, 0)
        place = 0
        while len(rows := cohort.rows_in("ready")):
            stays = self.stay[rows] > place
            cohort.step(rows[~stays], "stop")
            rows = rows[stays]
            check = self.rng.random(len(rows)) < self.protocol.parameters["check_rate"]
            cohort.step(rows, "draw", check=check)
            if check.any():
                self.answer_known("check", rows[check], place)
            rows = cohort.rows_in("item")
            cohort.step(rows, "answer")
            self.judged.append(
                {"annotator": rows, "place": place, "taught": self.corrections[rows]}
            )
            place += 1


def draw_stays(population: Population, most: int, n: int, rng: np.random.Generator) -> Ints:
    """Draw how many items annotators are ready to judge: log-normal, at least 1, at most `most`."""
    spread = population.stay_spread
    logs = rng.normal(np.log(population.mean_stay) - spread**2 / 2, spread, n)
    return np.clip(np.ceil(np.exp(logs)), 1, most).astype(np.int64)


def draw_labels(chances: Floats, rng: np.random.Generator) -> Ints:
    """Draw a label, by its position, from each row of chances."""
    steps = np.cumsum(chances[:, :-1], axis=1)
    return (rng.random(len(chances))[:, None] > steps).sum(axis=1)


def simulate(
    protocol: Protocol, materials: Materials, population: Population, seed: int = 0
) -> Simulation:
    """Let annotators apply, one after the other, until every item has its ``votes_per_item``.

    Votes of annotators who are blocked are thrown away and collected anew from others.
    """
    rng = np.random.default_rng(seed)
    wanted = len(materials.items) * int(protocol.parameters["votes_per_item"])
    size = int(1.3 * wanted / population.mean_stay) + 50
    rounds: list[_Applicants] = []
    collected = 0
    while collected < wanted:
        applicants = _Applicants(protocol, materials, population, size, rng)
        applicants.run()
        rounds.append(applicants)
        kept = _counted(applicants.cohort)
        brought = int(applicants.cohort.counter("items")[kept].sum())
        if brought < _LEAST_YIELD * wanted:
            raise ChaosError(
                "This population does not get through the protocol, so the collection never ends.",
                found=f"{brought:,} votes that count from {size:,} applicants",
                expected=f"{wanted:,} votes",
                todo="lower a threshold of the protocol, or take a more careful population",
            )
        collected += brought
    return _finish(protocol, materials, population, rounds, wanted, rng)


def _counted(cohort: Cohort) -> Bools:
    states = cohort.protocol.table["states"]
    keeps = np.array([not states[name].get("discards_votes", False) for name in cohort.names])
    return keeps[cohort.state]


def _joined(rounds: list[_Applicants], which: str) -> dict[str, Any]:
    """Join what the rounds recorded, with annotators numbered through."""
    parts: list[Mapping[str, Any]] = []
    before = 0
    for one in rounds:
        parts += [part | {"annotator": part["annotator"] + before} for part in getattr(one, which)]
        before += len(one.cohort.state)
    sizes = [len(part["annotator"]) for part in parts]
    columns: dict[str, Any] = {}
    for name in parts[0]:
        values = [part[name] for part in parts]
        is_single = not isinstance(values[0], np.ndarray)
        columns[name] = np.repeat(values, sizes) if is_single else np.concatenate(values)
    return columns


def _finish(
    protocol: Protocol,
    materials: Materials,
    population: Population,
    rounds: list[_Applicants],
    wanted: int,
    rng: np.random.Generator,
) -> Simulation:
    """Send the last ones home when all votes are in, deal out the items, and draw the votes."""
    names = np.array(list(population.kinds))
    counters = np.concatenate([one.cohort.counters for one in rounds], axis=1)
    table = pd.DataFrame(
        {
            "kind": names[np.concatenate([one.kind for one in rounds])],
            "state": np.array(rounds[0].cohort.names)[
                np.concatenate([one.cohort.state for one in rounds])
            ],
            "counted": np.concatenate([_counted(one.cohort) for one in rounds]),
        }
        | dict(zip(protocol.table["counters"], counters, strict=True))
    )
    kept = np.where(table["counted"], table["items"], 0)
    ends = kept.cumsum()
    last = int(np.searchsorted(ends, wanted))
    most = np.full(len(table), np.iinfo(np.int64).max)
    most[last] = wanted - (ends[last] - kept[last])
    first = (ends - kept) % len(materials.items)

    votes = _votes(rounds, materials, first, rng)
    votes = votes[(votes["annotator"] <= last) & (votes["place"] < most[votes["annotator"]])]
    known = pd.DataFrame(_joined(rounds, "known"))
    known = known[(known["annotator"] <= last) & (known["place"] < most[known["annotator"]])]
    votes["counted"] = table["counted"].to_numpy()[votes["annotator"]]
    made = Simulation(
        protocol=protocol,
        materials=materials,
        population=population,
        annotators=table.iloc[: last + 1].copy(),
        known=known.sort_values(["annotator"], kind="stable", ignore_index=True),
        votes=votes.reset_index(drop=True),
        counts=_tally(votes, materials),
    )
    # The last one was sent home early: the counters are those of the shorter log.
    state = protocol.replay(made.log(last))
    made.annotators.loc[last, list(state.counters)] = list(state.counters.values())
    return made


def _votes(
    rounds: list[_Applicants], materials: Materials, first: Ints, rng: np.random.Generator
) -> pd.DataFrame:
    """Deal items out in turn, so that nobody meets one twice, and draw the votes on them."""
    tables = []
    before = 0
    for one in rounds:
        judged = _joined([one], "judged")
        rows = judged["annotator"]
        item = (first[rows + before] + judged["place"]) % len(materials.items)
        chances = one.chances("item", rows, judged["taught"], materials.items[item])
        tables.append(
            pd.DataFrame(
                {
                    "annotator": rows + before,
                    "place": judged["place"],
                    "item": item,
                    "label": draw_labels(chances, rng),
                }
            )
        )
        before += len(one.cohort.state)
    return pd.concat(tables, ignore_index=True)


def _tally(votes: pd.DataFrame, materials: Materials) -> Ints:
    n, k = materials.items.shape
    counted = votes[votes["counted"]]
    cells = counted["item"].to_numpy() * k + counted["label"].to_numpy()
    return np.bincount(cells, minlength=n * k).reshape(n, k)
