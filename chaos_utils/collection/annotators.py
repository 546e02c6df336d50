"""Populations of annotators, as mixtures of ways to answer."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.yaml_files import read_yaml

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

KNOWN_TESTS = ("qualification", "training")  # here annotators know that they are tested
POPULATIONS = Path(__file__).with_name("populations.yml")
MOST_CORRECTIONS = 255  # beyond so many, feedback teaches nothing more


@dataclass(frozen=True, slots=True)
class Kind:
    """One way to answer.

    Who attends answers at work as people do, with a draw from the item's distribution, and in a
    known test with the label that most people give. Who does not attend guesses.

    Attributes
    ----------
    lapse : float
        Chance, before any feedback, that an answer at work is a guess; in [0, 1].
    lapse_in_tests : float
        The same in the on-boarding test and in training.
    one_label : bool
        Whether guesses are always one label, which differs between annotators.
    confusion : float
        Chance, before any feedback, that an attentive answer takes one label for another.
    learning : float
        Share of confusion, and of lapses above `least_lapse`, that one correction removes.
    """

    lapse: float
    lapse_in_tests: float
    one_label: bool = False
    confusion: float = 0.0
    learning: float = 0.0
    least_lapse: float = 0.0

    def lapses(self, asked: str, corrections: Ints) -> Floats:
        """Return the chance of a guess, in a test or at work, after each number of corrections."""
        if asked in KNOWN_TESTS:
            return np.full(corrections.shape, self.lapse_in_tests)
        least = min(self.least_lapse, self.lapse)
        return least + (self.lapse - least) * self._unlearnt(corrections)

    def confusions(self, corrections: Ints) -> Floats:
        """Return the chance of a confusion after each number of corrections."""
        return self.confusion * self._unlearnt(corrections)

    def _unlearnt(self, corrections: Ints) -> Floats:
        return np.asarray((1 - self.learning) ** corrections, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Population:
    """A mixture of kinds, and how long its members stay.

    `shares` are those of the kinds among applicants, and sum to 1. How many items an annotator is
    ready to judge is log-normal, with the mean `mean_stay`; `stay_spread` is the standard
    deviation of its logarithm.
    """

    kinds: Mapping[str, Kind]
    shares: Mapping[str, float]
    mean_stay: float
    stay_spread: float = 1.0

    def __post_init__(self) -> None:
        for name, share in self.shares.items():
            _check_share(f"share of {name}", share)
        for name, kind in self.kinds.items():
            for field in ("lapse", "lapse_in_tests", "confusion", "learning", "least_lapse"):
                _check_share(f"{field} of {name}", getattr(kind, field))
        if set(self.shares) != set(self.kinds) or abs(sum(self.shares.values()) - 1) > 1e-9:
            raise ChaosError(
                "The shares of a population do not fit its kinds.",
                found=dict(self.shares),
                expected="a share for each kind, with the sum 1",
            )
        if not self.mean_stay > 0:
            raise ChaosError(
                "The mean stay of a population must be above 0 items.",
                found=self.mean_stay,
                expected="above 0",
            )


def _check_share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ChaosError(
            "A share is out of its range.",
            where=name,
            found=value,
            expected="a number in [0, 1]",
        )


CARELESS: Mapping[str, Kind] = MappingProxyType(
    {
        "hasty": Kind(lapse=0.8, lapse_in_tests=0.2),
        "guessing": Kind(lapse=1.0, lapse_in_tests=1.0),
        "one label": Kind(lapse=1.0, lapse_in_tests=1.0, one_label=True),
        "mis-instructed": Kind(lapse=0.1, lapse_in_tests=0.1, confusion=0.5, learning=0.25),
    }
)
CARELESS_MIX: Mapping[str, float] = MappingProxyType(
    {"hasty": 0.7, "guessing": 0.12, "one label": 0.06, "mis-instructed": 0.12}
)


def mixture(
    careless: float = 0.2,
    lapse: float = 0.1,
    lapse_in_tests: float = 0.05,
    mean_stay: float = 90.0,
    *,
    careless_kinds: Mapping[str, float] = CARELESS_MIX,
) -> Population:
    """Return a population of careful and careless annotators.

    Feedback brings careful annotators' lapses at work down to `lapse`, from twice as many.
    `lapse_in_tests` is how often they lapse where they know that they are tested. `mean_stay`
    counts items. The shares in `careless_kinds` are those among the careless, and sum to 1.
    """
    _check_share("careless", careless)
    _check_share("lapse", lapse)
    careful = Kind(
        lapse=min(1.0, 2 * lapse), lapse_in_tests=lapse_in_tests, learning=0.25, least_lapse=lapse
    )
    shares = {name: careless * share for name, share in careless_kinds.items()}
    return Population(
        kinds={"careful": careful} | {name: CARELESS[name] for name in careless_kinds},
        shares={"careful": 1 - careless} | shares,
        mean_stay=mean_stay,
    )


def stated_parameters(dataset: str) -> dict[str, Any]:
    """Return what is assumed of the applicants for a dataset, as `mixture` takes it."""
    found: dict[str, Any] = read_yaml(POPULATIONS)[dataset]
    return found


def with_careless(population: Population, careless: float) -> Population:
    """Return the same population with another share of annotators who are not careful.

    One of its kinds is ``careful``; the others keep their proportions to each other.
    """
    _check_share("careless", careless)
    others = {name: share for name, share in population.shares.items() if name != "careful"}
    total = sum(others.values()) or 1.0
    shares = {name: careless * share / total for name, share in others.items()}
    return replace(population, shares={"careful": 1 - careless} | shares)


def by_corrections(kinds: Iterable[Kind]) -> tuple[dict[str, Floats], Floats]:
    """Return lapses (by what is asked) and confusions of kinds after 0, 1, 2, … corrections.

    Each array is of shape (n_kinds, `MOST_CORRECTIONS` + 1).
    """
    steps = np.arange(MOST_CORRECTIONS + 1)
    kinds = list(kinds)
    lapses = {
        asked: np.array([kind.lapses(asked, steps) for kind in kinds])
        for asked in (*KNOWN_TESTS, "check", "item")
    }
    return lapses, np.array([kind.confusions(steps) for kind in kinds])


def confused(distributions: Floats) -> Floats:
    """Return distributions with the last two labels exchanged: what a confusion answers.

    Of three labels these are neutral and contradiction.
    """
    order = [*range(distributions.shape[1] - 2), distributions.shape[1] - 1,
             distributions.shape[1] - 2]  # fmt: skip
    return distributions[:, order]


def answer_chances(
    asked: str, people: Floats, lapse: Floats, confusion: Floats, guess: Floats
) -> Floats:
    """Return the chance of each label in each of m answers, of shape (m, k).

    `people` and `guess`, of the same shape, are how people answer the items and how the
    annotators guess; `lapse` and `confusion`, of shape (m,), are the chances of a guess, and of
    taking one label for another.
    """
    shares = people
    if asked in KNOWN_TESTS:
        shares = np.eye(people.shape[1])[people.argmax(axis=1)]
    mixed = confusion[:, None]
    shares = (1 - mixed) * shares + mixed * confused(shares)
    return (1 - lapse[:, None]) * shares + lapse[:, None] * guess
