"""How many people, pooled, predict the rest of the crowd as well as a system does, by TVD and JSD.

The answer depends on how many votes judge: a crowd of v people and the system are judged by the
same m other votes, and values for another m, or from another dataset, cannot be compared. By the
squared distance, the answer does not depend on m: see `chaos_utils.scoring.worth`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from chaos_utils.base.errors import ChaosError, check_known
from chaos_utils.datasets.votes import Ints, Votes
from chaos_utils.metrics.divergence import Floats, jensen_shannon_distance, total_variation
from chaos_utils.metrics.resampling import bootstrap_means, percentile_interval, split_votes
from chaos_utils.scoring.scores import ScoreRow
from chaos_utils.scoring.system import System, votes_of

TVD, JSD = "human_equivalent_tvd", "human_equivalent_jsd"
NAMES = (TVD, JSD)
PEOPLE = (1, 2, 3, 5, 8, 10, 15, 20, 30, 40, 50)  # sizes of drawn crowds
DRAWS = 50  # draws of crowds and judges: one number for every page
_DISTANCES: Mapping[str, Callable[[Floats, Floats], Floats]] = {
    TVD: total_variation,
    JSD: lambda human, model: jensen_shannon_distance(human, model, unit="nats"),
}
_FROM_VOTES = ("reference", "simulated")  # origins of systems that are made from the votes


@dataclass(frozen=True, slots=True)
class Equivalent:
    """The number of drawn people who do as well as a system, by the measure `name` of `NAMES`.

    A `value` of 0 stands for less than one person, infinity for more than `limit`, half the crowd.
    `low` and `high` are the ends of the interval, NaN without an interval; `n_judges` other votes
    judge, on each of `n_items`.
    """

    name: str
    value: float
    low: float
    high: float
    limit: int
    n_items: int
    n_judges: int

    @property
    def row(self) -> ScoreRow:
        """The answer as a row of a table, in numbers and in words."""
        return {
            "measure": self.name, "n_items": self.n_items, "n_judges": self.n_judges,
            "value": self.value, "low": self.low, "high": self.high, "text": self.text,
            "estimand": f"as near to {self.n_judges} other votes as the system; "
            "items resampled, each with its votes",
        }  # fmt: skip

    @property
    def text(self) -> str:
        """The answer in words: ``2.4 [2.2, 2.6]``, ``less than one``, ``more than 50``."""
        ends = [self._short(end) for end in (self.low, self.high)]
        value = self._short(self.value)
        words = value.replace("<1", "less than one").replace(">", "more than ")
        if np.isnan(self.low) or (value != words and ends == [value, value]):
            return words
        return f"{words} [{', '.join(ends)}]"

    def _short(self, people: float) -> str:
        if people < 1:
            return "<1"
        if people > self.limit:
            return f">{self.limit}"
        return f"{people:.1f}" if people < 9.95 else f"{people:.0f}"


class Crowds:
    """Crowds of v people on each item, and m judges: other votes that judge crowds and systems.

    Crowds and judges are drawn without replacement from an item's votes, `n_draws` times, whatever
    the systems. By default m, `n_judges`, is half of the votes on the item that has fewest.
    `people` are the sizes v of the crowds: the sizes in `PEOPLE` for which enough votes are left.
    Names of measures are ``human_equivalent_tvd`` and ``human_equivalent_jsd``.
    """

    def __init__(
        self, votes: Votes, n_judges: int | None = None, n_draws: int = DRAWS, seed: int = 0
    ) -> None:
        fewest = int(votes.n_votes.min())
        judges = fewest // 2 if n_judges is None else n_judges
        if not 1 <= judges < fewest:
            raise ChaosError(
                "There are too few votes for both a crowd and its judges.",
                where=votes.dataset.title,
                found=f"{fewest} on the item with fewest; {judges} are to judge",
                expected=f"1 to {fewest - 1} to judge" if fewest > 1 else "2 votes or more",
                todo="ask for fewer judges, or for people_on_top, which needs two votes per item",
            )
        if n_draws < 1:
            raise ChaosError("Crowds must be drawn.", found=n_draws, expected="1 draw or more")
        check_seed(seed)
        self.votes = votes
        self.n_judges = judges
        self.people = tuple(v for v in PEOPLE if v <= fewest - judges)
        self._n_draws = n_draws
        self.seed = seed

    @cached_property
    def _drawn(self) -> tuple[list[Floats], dict[str, Floats]]:
        """The judges of each draw, and crowds' mean distances by measure, (n_items, n_sizes)."""
        rng = np.random.default_rng([self.seed, 2])
        sizes_added = np.diff(self.people, prepend=0).tolist()
        sizes = np.array(self.people)[:, np.newaxis, np.newaxis]
        shape = (len(self.people), len(self.votes))
        distances = {name: np.zeros(shape) for name in _DISTANCES}
        judges = []
        for _ in range(self._n_draws):
            judge_counts, *crowds_added = split_votes(
                self.votes.counts, (self.n_judges, *sizes_added), rng
            )[:-1]
            judges.append(judge_counts / self.n_judges)
            # A larger crowd holds the smaller ones: their difference has less noise.
            crowds = np.concatenate(np.cumsum(crowds_added, axis=0) / sizes)
            human = np.tile(judges[-1], (len(self.people), 1))
            for name, distance in _DISTANCES.items():
                distances[name] += distance(human, crowds).reshape(shape)
        return judges, {name: sums.T / self._n_draws for name, sums in distances.items()}

    def distances(self, name: str) -> Floats:
        """Return the crowds' distances from the judges by measure `name`, (n_items, n_sizes)."""
        return self._drawn[1][name]

    def equivalents(
        self,
        system: System,
        names: Sequence[str] = NAMES,
        *,
        n_resamples: int = 1000,
        seed: int | None = None,
    ) -> list[Equivalent]:
        """Compute the size of the crowd that is as far from the judges as a system, by `names`.

        The size is interpolated, linearly in log v. Its interval holds each v at which the interval
        of the paired difference between system and crowd holds 0; items are resampled, each with
        its votes.
        """
        seed = self.seed if seed is None else seed
        check_seed(seed)
        check_names(names)
        rows, model = predicted(self.votes, system)
        judges, crowds = self._drawn
        equivalents = []
        for name in names:
            distances_by_draw = [_DISTANCES[name](judging[rows], model) for judging in judges]
            system_distances: Floats = np.mean(distances_by_draw, axis=0)
            gaps = system_distances[:, np.newaxis] - crowds[name][rows]  # by item and size
            ends = (np.full(len(self.people), np.nan),) * 2
            if n_resamples:
                rng = np.random.default_rng([seed, 3])
                ends = percentile_interval(bootstrap_means(gaps, n_resamples, rng))
            # The upper end of the difference crosses 0 at the fewest people, the lower at the most.
            value, high, low = map(self._crossing, (gaps.mean(axis=0), *ends))
            limit, n_items = self.people[-1], len(rows)
            equivalents.append(Equivalent(name, value, low, high, limit, n_items, self.n_judges))
        return equivalents

    def _crossing(self, gaps: Floats) -> float:
        """Return the crowd's size at which a system's distance less the crowd's is 0."""
        rising = np.maximum.accumulate(gaps)  # gaps fall with size only by noise of the draws
        if np.isnan(rising).any():
            return np.nan
        if rising[0] > 0:
            return 0.0
        if rising[-1] < 0:
            return np.inf
        return float(np.exp(np.interp(0, rising, np.log(self.people))))


def refusal(votes: Votes, system: System) -> str:
    """Say why a system cannot be judged by these votes as people are; empty where it can be.

    People who predict the rest of the crowd have not seen its votes, and a system must not either.
    """
    if system.origin in _FROM_VOTES:
        return "made from the votes that judge it"
    if votes_of(votes.dataset) in system.trained_on and not system.out_of_fold:
        return "trained or fitted on the votes that judge it"
    return ""


def predicted(votes: Votes, system: System) -> tuple[Ints, Floats]:
    """Return the rows of a system's items in the votes, and its distributions, unless refused."""
    reason = refusal(votes, system)
    if reason:
        raise ChaosError(
            f"The worth of {system.name!r} cannot be computed: it was {reason}.",
            where=votes.dataset.title,
            expected="a system that has not seen these votes, or predictions out of fold",
        )
    return system.rows_in(votes), system.aligned_to(votes).model


def check_names(names: Iterable[str]) -> None:
    """Raise a ChaosError if a name is not in `NAMES`."""
    for name in names:
        check_known("Unknown measure.", name, NAMES)


def check_seed(seed: int) -> None:
    """Raise a ChaosError if a seed is negative."""
    if seed < 0:
        raise ChaosError("The seed is out of range.", found=seed, expected="0 or more")
