"""The collection, simulated: a population goes through the protocol until every item is judged."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.base.errors import ChaosError
from chaos_utils.collection.annotators import KNOWN_TESTS, Applicants, Population
from chaos_utils.collection.materials import Materials
from chaos_utils.collection.protocol import Ints, Protocol

_LEAST_YIELD = 0.001  # share of the needed votes that a round of applicants must bring


@dataclass(frozen=True, slots=True, eq=False)
class Simulation:
    """The result of a simulated collection. None of it is data.

    Attributes
    ----------
    annotators : DataFrame
        A row for each applicant, in order of arrival: ``kind``, ``state``, and ``counted`` (whether
        the applicant's votes count).
    known : DataFrame
        A row for each answer to a unanimous example: ``annotator`` (row in `annotators`), ``asked``
        (state of the protocol that asked), ``place`` (how many items the annotator had judged
        before), ``item`` (index in the pool), ``label``, ``right``.
    votes : DataFrame
        A row for each vote on an item: ``annotator``, ``place``, ``item`` (index among the items),
        ``label``, ``counted``.
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
        """The cost of the collection: items and hidden checks are paid alike, tests are not.

        Votes that do not count are paid, too.
        """
        n_paid = len(self.votes) + (self.known["asked"] == "check").sum()
        parameters = self.protocol.parameters
        return float(n_paid * (parameters["pay_per_task"] / parameters["task_size"]))


class _Round:
    """Applicants on their way through the protocol, numbered from `first` on."""

    def __init__(
        self,
        protocol: Protocol,
        materials: Materials,
        population: Population,
        first: int,
        rng: np.random.Generator,
    ) -> None:
        n_items, k = materials.items.shape
        n_votes = n_items * protocol.parameters["votes_per_item"]
        self.n = int(1.3 * n_votes / population.mean_stay) + 50
        self.protocol, self.materials, self.first, self.rng = protocol, materials, first, rng
        self.cohort = protocol.start(self.n)
        self.people = Applicants(population, self.n, n_items, k, rng)
        self.corrections = np.zeros(self.n, dtype=np.int64)
        self.pool_order = rng.permutation(len(materials.pool))
        self.next_example = rng.integers(0, len(materials.pool), self.n)
        self.known: list[dict[str, npt.NDArray[np.generic]]] = []
        self.judged: list[dict[str, npt.NDArray[np.generic]]] = []

    def run(self) -> None:
        """Take all applicants through the tests, then through items until their stay ends."""
        cohort = self.cohort
        cohort.step(np.arange(self.n), "begin")
        for test in KNOWN_TESTS:
            while len(rows := cohort.rows_in(test)):
                self._answer_test(test, rows, 0)
        place = 0
        while len(rows := cohort.rows_in("ready")):
            is_staying = self.people.stay[rows] > place
            cohort.step(rows[~is_staying], "stop")
            rows = rows[is_staying]
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
        """Let each annotator answer a unanimous example, a new one until the pool is used up."""
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
        """Deal items out in turn, and return the votes on them.

        Each annotator judges a run of consecutive items, and so none twice. `start`, of shape
        (n_annotators,), has the index of each one's first item.
        """
        votes = _join_answers(self.judged)
        annotator, corrections = votes["annotator"].to_numpy(), votes.pop("taught").to_numpy()
        item = (start[annotator] + votes["place"].to_numpy()) % len(self.materials.items)
        shares = self.materials.items[item]
        label = self.people.answer("item", annotator - self.first, corrections, shares, self.rng)
        return votes.assign(item=item, label=label)


def _join_answers(parts: list[dict[str, npt.NDArray[np.generic]]]) -> pd.DataFrame:
    """Return the columns of all parts as one frame."""
    return pd.DataFrame({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})


def simulate(
    protocol: Protocol, materials: Materials, population: Population, seed: int = 0
) -> Simulation:
    """Let annotators apply, one after the other, until every item has its ``votes_per_item``.

    Votes of annotators who are blocked do not count, and are collected anew from others.
    """
    rng = np.random.default_rng(seed)
    n_items = len(materials.items)
    n_needed = n_items * int(protocol.parameters["votes_per_item"])
    rounds: list[_Round] = []
    annotators = pd.DataFrame()
    n_so_far = np.zeros(1, dtype=np.int64)  # counted votes up to each annotator's last
    while n_so_far[-1] < n_needed:
        group = _Round(protocol, materials, population, len(annotators), rng)
        group.run()
        rounds.append(group)
        annotators = pd.concat([annotators, group.annotators], ignore_index=True)
        n_counted = np.where(annotators["counted"], annotators["items"], 0)
        n_new, n_so_far = n_counted.sum() - n_so_far[-1], n_counted.cumsum()
        if n_new < _LEAST_YIELD * n_needed:
            raise ChaosError(
                "This population does not get through the protocol, so the collection never ends.",
                found=f"{n_new:,} votes that count from {group.n:,} applicants",
                expected=f"{n_needed:,} votes",
                todo="lower a threshold of the protocol, or take a more careful population",
            )
    # The last annotator is sent home as soon as all votes are in.
    last = int(np.searchsorted(n_so_far, n_needed))
    most_items = np.full(len(annotators), n_items)
    most_items[last] = n_needed - (n_so_far[last] - n_counted[last])

    def before_the_end(answers: pd.DataFrame) -> pd.DataFrame:
        annotator = answers["annotator"].to_numpy()
        is_in_time = (annotator <= last) & (answers["place"] < most_items[annotator])
        return answers[is_in_time].reset_index(drop=True)

    start = (n_so_far - n_counted) % n_items
    votes = before_the_end(pd.concat([group.votes(start) for group in rounds]))
    votes["counted"] = annotators["counted"].to_numpy()[votes["annotator"]]
    counts = np.zeros(materials.items.shape, dtype=np.int64)
    counted_votes = votes[votes["counted"]]
    np.add.at(counts, (counted_votes["item"], counted_votes["label"]), 1)
    known = before_the_end(pd.concat([_join_answers(group.known) for group in rounds]))
    annotators = annotators.iloc[: last + 1].drop(columns="items")
    return Simulation(protocol, annotators, known, votes, counts)
