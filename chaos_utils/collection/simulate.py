"""The collection, simulated: a population goes through the protocol until every item is judged."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.base.errors import ChaosError
from chaos_utils.collection.annotators import KNOWN_TESTS, Applicants, Population
from chaos_utils.collection.materials import Materials
from chaos_utils.collection.protocol import Ints, Protocol

_LEAST_YIELD = 0.001  # share of the votes wanted that a round of applicants must bring


@dataclass(frozen=True, slots=True, eq=False)
class Simulation:
    """What came of a simulated collection. None of it is data.

    Attributes
    ----------
    annotators : DataFrame
        One row an applicant, in order of arrival: ``kind``, ``state`` and ``counted`` (whether
        the votes are kept).
    known : DataFrame
        One row an answer to a unanimous example: ``annotator``, ``asked``, ``place`` (how
        many items came before), ``item`` (position in the pool), ``label``, ``right``.
    votes : DataFrame
        One row a judged item: ``annotator``, ``place``, ``item``, ``label``, ``counted``.
    counts : ndarray of int, shape (n_items, k)
        The counted votes.
    """

    protocol: Protocol
    annotators: pd.DataFrame
    known: pd.DataFrame
    votes: pd.DataFrame
    counts: Ints

    @property
    def dollars(self) -> float:
        """What the collection cost: items and hidden checks are paid alike, tests are not.

        Votes that are thrown away were paid too.
        """
        paid = len(self.votes) + (self.known["asked"] == "check").sum()
        parameters = self.protocol.parameters
        return float(paid * (parameters["pay_per_task"] / parameters["task_size"]))


class _Round:
    """Applicants on their way through the protocol, of whom the first has the number `first`."""

    def __init__(
        self,
        protocol: Protocol,
        materials: Materials,
        population: Population,
        first: int,
        rng: np.random.Generator,
    ) -> None:
        n_items, k = materials.items.shape
        wanted = n_items * protocol.parameters["votes_per_item"]
        self.n = int(1.3 * wanted / population.mean_stay) + 50
        self.protocol, self.materials, self.first, self.rng = protocol, materials, first, rng
        self.cohort = protocol.start(self.n)
        self.people = Applicants(population, self.n, n_items, k, rng)
        self.corrections = np.zeros(self.n, dtype=np.int64)
        self.pool_order = rng.permutation(len(materials.pool))
        self.next_example = rng.integers(0, len(materials.pool), self.n)
        self.known: list[dict[str, npt.NDArray[np.generic]]] = []
        self.judged: list[dict[str, npt.NDArray[np.generic]]] = []

    def run(self) -> None:
        """Take everybody to an end: through the tests, then through items until their stay ends."""
        cohort = self.cohort
        cohort.step(np.arange(self.n), "begin")
        for test in KNOWN_TESTS:
            while len(rows := cohort.rows_in(test)):
                self._answer_test(test, rows, 0)
        place = 0
        while len(rows := cohort.rows_in("ready")):
            stays = self.people.stay[rows] > place
            cohort.step(rows[~stays], "stop")
            rows = rows[stays]
            check = self.rng.random(len(rows)) < self.protocol.parameters["check_rate"]
            cohort.step(rows, "draw", check=check)
            self._answer_test("check", rows[check], place)
            rows = cohort.rows_in("item")
            cohort.step(rows, "answer")
            self.judged.append(
                {
                    "annotator": rows + self.first,
                    "place": np.full(len(rows), place),
                    "taught": self.corrections[rows],
                }
            )
            place += 1

    def _answer_test(self, test: str, rows: Ints, place: int) -> None:
        """Let each annotator answer a unanimous example: a new one, until the pool is used up."""
        item = self.pool_order[self.next_example[rows] % len(self.pool_order)]
        self.next_example[rows] += 1
        shares, expected = self.materials.pool[item], self.materials.expected[item]
        label = self.people.answer(test, rows, self.corrections[rows], shares, self.rng)
        right = label == expected
        self.cohort.step(rows, "answer", right=right)
        if self.protocol.table["states"][test]["feedback"]:
            self.corrections[rows] += ~right
        self.known.append(
            {
                "annotator": rows + self.first,
                "asked": np.full(len(rows), test),
                "place": np.full(len(rows), place),
                "item": item,
                "label": label,
                "right": right,
            }
        )

    @property
    def annotators(self) -> pd.DataFrame:
        """The rows of `Simulation.annotators`, with ``items``: how many each judged."""
        cohort = self.cohort
        return pd.DataFrame(
            {
                "kind": self.people.kind,
                "state": cohort.states,
                "counted": cohort.counted,
                "items": cohort.counters["items"],
            }
        )

    def votes(self, start: Ints) -> pd.DataFrame:
        """Deal items out in turn, each annotator's from a `start` on, and draw the votes on them.

        So nobody meets one twice.
        """
        votes = _join_answers(self.judged)
        annotator, taught = votes["annotator"].to_numpy(), votes.pop("taught").to_numpy()
        item = (start[annotator] + votes["place"].to_numpy()) % len(self.materials.items)
        shares = self.materials.items[item]
        label = self.people.answer("item", annotator - self.first, taught, shares, self.rng)
        return votes.assign(item=item, label=label)


def _join_answers(parts: list[dict[str, npt.NDArray[np.generic]]]) -> pd.DataFrame:
    return pd.DataFrame({name: np.concatenate([one[name] for one in parts]) for name in parts[0]})


def simulate(
    protocol: Protocol, materials: Materials, population: Population, seed: int = 0
) -> Simulation:
    """Let annotators apply, one after the other, until every item has its ``votes_per_item``.

    Votes of annotators who are blocked are thrown away and collected anew from others.
    """
    rng = np.random.default_rng(seed)
    n_items = len(materials.items)
    n_needed = n_items * int(protocol.parameters["votes_per_item"])
    rounds: list[_Round] = []
    people = pd.DataFrame()
    ends = np.zeros(1, dtype=np.int64)
    while ends[-1] < n_needed:
        group = _Round(protocol, materials, population, len(people), rng)
        group.run()
        rounds.append(group)
        people = pd.concat([people, group.annotators], ignore_index=True)
        n_counted = np.where(people["counted"], people["items"], 0)
        brought, ends = n_counted.sum() - ends[-1], n_counted.cumsum()
        if brought < _LEAST_YIELD * n_needed:
            raise ChaosError(
                "This population does not get through the protocol, so the collection never ends.",
                found=f"{brought:,} votes that count from {group.n:,} applicants",
                expected=f"{n_needed:,} votes",
                todo="lower a threshold of the protocol, or take a more careful population",
            )
    # The last one is sent home when all votes are in.
    last = int(np.searchsorted(ends, n_needed))
    most = np.full(len(people), n_items)
    most[last] = n_needed - (ends[last] - n_counted[last])

    def until_then(answers: pd.DataFrame) -> pd.DataFrame:
        annotator = answers["annotator"].to_numpy()
        is_in_time = (annotator <= last) & (answers["place"] < most[annotator])
        return answers[is_in_time].reset_index(drop=True)

    votes = until_then(pd.concat([group.votes((ends - n_counted) % n_items) for group in rounds]))
    votes["counted"] = people["counted"].to_numpy()[votes["annotator"]]
    counts = np.zeros(materials.items.shape, dtype=np.int64)
    tallied = votes[votes["counted"]]
    np.add.at(counts, (tallied["item"], tallied["label"]), 1)
    known = until_then(pd.concat([_join_answers(group.known) for group in rounds]))
    return Simulation(protocol, people.iloc[: last + 1].drop(columns="items"), known, votes, counts)
