"""What the simulation comes to on average, without drawing: fast enough to be fitted.

Annotators differ, before a question, only in what the protocol has counted and in how often
they were corrected. So the chances of every such case are followed from question to question;
which case leads where, the protocol's table decides.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from scipy.stats import binom, lognorm

from chaos_utils.crowd.annotators import Kind, Population, answer_chances, by_corrections
from chaos_utils.crowd.cohort import Cohort, Ints
from chaos_utils.crowd.materials import Materials
from chaos_utils.crowd.protocol import Protocol
from chaos_utils.crowd.tables import SETTLED

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class _Question:
    """A question, the cases that meet it, and where a right and a wrong answer lead."""

    asked: str
    corrections: Ints
    right: csr_matrix  # (cases of the next question, then final states) × cases
    wrong: csr_matrix


def _questions(protocol: Protocol, most_checks: int) -> list[_Question]:
    """Follow every case that can occur, up to a number of hidden checks."""
    states = protocol.table["states"]
    cohort, corrections = Cohort.start(protocol, 1), np.zeros(1, dtype=np.int64)
    cohort.step(np.arange(1), "begin")
    questions: list[_Question] = []
    for _ in range(_tests(protocol) + most_checks):
        cohort.step(cohort.rows_in("ready"), "draw", check=True)
        asked = states[cohort.names[cohort.state[0]]]["asks"]
        n = len(cohort.state)
        after, rows = cohort.take(np.tile(np.arange(n), 2)), np.arange(2 * n)
        after.step(rows, "answer", right=rows < n)
        after.step(after.rows_in("item"), "answer")
        taught = np.tile(corrections, 2)
        taught[n:] += bool(states[asked]["feedback"])
        going = np.flatnonzero([not states[after.names[state]]["final"] for state in after.state])
        keys = np.column_stack([after.counters[:, going].T, taught[going]])
        _, kept, place = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        target = len(kept) + after.state
        target[going] = place.ravel()
        shape = (len(kept) + len(states), n)
        ways = [
            csr_matrix((np.ones(n), (half, np.arange(n))), shape=shape)
            for half in (target[:n], target[n:])
        ]
        questions.append(_Question(asked, corrections, *ways))
        cohort, corrections = after.take(going[kept]), taught[going[kept]]
        if not len(kept):
            break
    return questions


def _tests(protocol: Protocol) -> int:
    return int(protocol.parameters["qualification_items"] + protocol.parameters["training_items"])


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What one kind of applicant comes to, for each applicant of that kind.

    Chances of failing the on-boarding test (`rejected`), of being dismissed in training, of being
    blocked at work, and of giving votes that count; mean numbers of votes that count, of items
    and hidden checks answered, whether the votes count or not (`paid`), of hidden checks after
    300 items, and of right answers to them. `lapse` and `confusion` are means over the votes.
    """

    rejected: float
    dismissed: float
    blocked: float
    counted: float
    votes: float
    paid: float
    late_checks: float
    late_right: float
    lapse: float
    confusion: float


class Expectation:
    """The protocol at work on given materials, ready to be asked about many populations."""

    def __init__(self, protocol: Protocol, materials: Materials) -> None:
        self.protocol, self.materials = protocol, materials
        rate, n_items = protocol.parameters["check_rate"], len(materials.items)
        most = int(binom.ppf(0.999, n_items, rate)) if rate else 0
        self.questions = _questions(protocol, most)
        self.n_checks = len(self.questions) - _tests(protocol)
        places = np.arange(n_items)[:, None]
        # before each item: the chance of having met so many checks
        self.met: Floats = binom.pmf(np.arange(self.n_checks + 1)[None, :], places, rate)
        self.next_check = self.met[:, :-1] * rate  # the chance that the next check comes here
        self.met_before_leaving = np.cumsum(self.next_check, axis=0)  # by items judged, from 1

    def outcomes(self, population: Population) -> dict[str, Outcome]:
        """Return what applicants of each kind come to, by the kind's name."""
        k = self.materials.dataset.n_classes
        stays = stay_chances(population, len(self.materials.items))
        # who always guesses one label does so in k ways, all equally frequent
        ways = [
            (name, kind, guess)
            for name, kind in population.kinds.items()
            for guess in (np.eye(k) if kind.one_label else np.full((1, k), 1 / k))
        ]
        found = self._by_way([kind for _, kind, _ in ways], [guess for *_, guess in ways], stays)
        names = np.array([name for name, *_ in ways])
        return {
            name: Outcome(
                **{field: float(values[names == name].mean()) for field, values in found.items()}
            )
            for name in population.kinds
        }

    def _by_way(
        self, kinds: Sequence[Kind], guesses: Sequence[Floats], stays: Floats
    ) -> dict[str, Floats]:
        """Return the fields of `Outcome`, each of shape (n_ways,)."""
        names = list(self.protocol.table["states"])
        right_by = {
            asked: np.array([self._chances_of_right(asked, guess) for guess in guesses]).T
            for asked in {question.asked for question in self.questions}
        }
        lapses, confusions = by_corrections(kinds)
        ends = np.zeros((len(names), len(kinds)))
        weight = np.ones((1, len(kinds)))
        checks: list[Floats] = []
        for question in self.questions:
            attentive, confused, guessed = right_by[question.asked]
            taught = question.corrections
            slips, mixed = lapses[question.asked][:, taught].T, confusions[:, taught].T
            is_right = (1 - slips) * ((1 - mixed) * attentive + mixed * confused) + slips * guessed
            rights = weight * is_right
            after = question.right @ rights + question.wrong @ (weight - rights)
            n_next = len(after) - len(names)
            if question.asked == "check":
                sums = (weight, rights, after[n_next:], weight * slips, weight * mixed)
                checks.append(np.array([values.sum(axis=0) for values in sums]))
            else:
                ends += after[n_next:]
            weight = after[:n_next]
        by_check = np.array(checks).reshape(-1, 5, len(kinds)).transpose(1, 0, 2)
        rejected, dismissed = (ends[names.index(name)] for name in ("rejected", "dismissed"))
        found = {"rejected": rejected, "dismissed": dismissed}
        found |= self._at_work(stays, 1 - rejected - dismissed, by_check)
        if not checks:  # nothing is learnt at work
            found |= {"lapse": lapses["item"][:, 0], "confusion": confusions[:, 0]}
        return found

    def _at_work(self, stays: Floats, through: Floats, by_check: Floats) -> dict[str, Floats]:
        alive, right, blocked, lapse, confusion = by_check
        here = stays[::-1].cumsum()[::-1]  # the chance of being ready for this item too
        kept = through - self.met_before_leaving @ blocked
        places = np.arange(len(stays))
        comes = here @ self.next_check
        given = (stays * (places + 1)) @ kept
        lost = (here * places) @ self.next_check @ blocked
        late = here[SETTLED:] @ self.next_check[SETTLED:]
        # where an item comes, so many checks have been met
        cases = here @ self.met[:, : len(alive)]
        total = np.maximum(cases @ alive, np.finfo(float).tiny)
        return {
            "blocked": comes @ blocked,
            "counted": stays @ kept,
            "votes": given,
            "paid": given + lost + comes @ alive,
            "late_checks": late @ alive,
            "late_right": late @ right,
            "lapse": cases @ lapse / total,
            "confusion": cases @ confusion / total,
        }

    def _chances_of_right(self, asked: str, guess: Floats) -> tuple[float, float, float]:
        """Return how often attentive, confused and guessed answers are right, over the pool."""
        pool, rows = self.materials.pool, np.arange(len(self.materials.pool))
        zeros, ones = np.zeros(len(pool)), np.ones(len(pool))
        guesses = np.broadcast_to(guess, pool.shape)
        found = [
            answer_chances(asked, pool, lapse, confusion, guesses)[rows, self.materials.expected]
            for lapse, confusion in ((zeros, zeros), (zeros, ones), (ones, zeros))
        ]
        return float(found[0].mean()), float(found[1].mean()), float(found[2].mean())

    def summary(self, population: Population) -> dict[str, float]:
        """Return the expected values of what `tables.summary` reports.

        The plateau is NaN where no late checks are expected.
        """
        outcomes, shares = self.outcomes(population), population.shares

        def mean(field: str) -> float:
            return sum(shares[name] * getattr(one, field) for name, one in outcomes.items())

        admitted = 1 - mean("rejected")
        wanted = len(self.materials.items) * self.protocol.parameters["votes_per_item"]
        late = mean("late_checks")
        return {
            "qualification_fail_rate_percent": 100 * mean("rejected"),
            "filter_rate_percent": 100 * (mean("dismissed") + mean("blocked")) / admitted,
            "annotators": wanted * mean("counted") / mean("votes"),
            "plateau_percent": 100 * mean("late_right") / late if late else np.nan,
        }


def stay_chances(population: Population, most: int) -> Floats:
    """Return the chance of being ready for 1, 2, … `most` items; the last takes all above."""
    spread = population.stay_spread
    scale = population.mean_stay * np.exp(-(spread**2) / 2)
    below = lognorm.cdf(np.arange(1, most), spread, scale=scale)
    return np.diff(np.concatenate([[0.0], below, [1.0]]))
