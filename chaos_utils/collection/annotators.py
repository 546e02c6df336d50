"""Annotators as they are assumed: populations that mix ways to answer, and members of them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.yaml_files import read_yaml

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

POPULATIONS = Path(__file__).with_name("populations.yml")
KNOWN_TESTS = ("qualification", "training")  # here annotators know that they are tested
_STAY_SPREAD = 1.0  # standard deviation of the logarithm of how many items one is ready to judge
# The ways to answer without care, with their shares among the careless.
_CARELESS = {
    "hasty": {"share": 0.7, "lapse": 0.8, "lapse_in_tests": 0.2},
    "guessing": {"share": 0.12, "lapse": 1.0, "lapse_in_tests": 1.0},
    "one label": {"share": 0.06, "lapse": 1.0, "lapse_in_tests": 1.0, "one_label": 1.0},
    "mis-instructed": {
        "share": 0.12, "lapse": 0.1, "lapse_in_tests": 0.1, "confusion": 0.5, "learning": 0.25,
    },
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """A mixture of ways to answer, and how many items its members are ready to judge on average.

    Who attends answers at work as people do, with a draw from the item's distribution, and in a
    known test with the label that most people give. Who does not attend guesses. `kinds` has a row
    for each way to answer:

    * ``share``: among applicants;
    * ``lapse``, ``lapse_in_tests``: chance that an answer is a guess, at work before any feedback,
      and in the on-boarding test and in training;
    * ``one_label``: 1 where guesses are always one label, which differs between annotators;
    * ``confusion``: chance, before any feedback, that an attentive answer takes one label for
      another;
    * ``learning``: share of confusion, and of lapses above ``least_lapse``, that one correction
      removes.
    """

    kinds: pd.DataFrame
    mean_stay: float


def mixture(
    careless: float = 0.2, lapse: float = 0.1, lapse_in_tests: float = 0.05, mean_stay: float = 90.0
) -> Population:
    """Return a population of careful and careless annotators.

    Feedback brings careful annotators' lapses at work down to `lapse`, from twice as many.
    `lapse_in_tests` is how often they lapse where they know that they are tested. `mean_stay`
    counts items.
    """
    shares = {"careless": careless, "lapse": lapse, "lapse_in_tests": lapse_in_tests}
    for name, value in shares.items():
        if not 0 <= value <= 1:
            raise ChaosError(
                "A share is out of its range.",
                where=name,
                found=value,
                expected="a number in [0, 1]",
            )
    if not mean_stay > 0:
        raise ChaosError(
            "The mean stay of a population must be above 0 items.",
            found=mean_stay,
            expected="above 0",
        )
    careful = {
        "share": 1 - careless,
        "lapse": min(1.0, 2 * lapse),
        "lapse_in_tests": lapse_in_tests,
        "learning": 0.25,
        "least_lapse": lapse,
    }
    careless_kinds = {
        name: traits | {"share": careless * traits["share"]} for name, traits in _CARELESS.items()
    }
    traits_of = {"careful": careful} | careless_kinds
    kinds = pd.DataFrame.from_dict(traits_of, orient="index").fillna(0.0)
    return Population(kinds, mean_stay)


def assumed_parameters(dataset: str) -> dict[str, Any]:
    """Return what is assumed of the applicants for a dataset, as `mixture` takes it."""
    found: dict[str, Any] = read_yaml(POPULATIONS)[dataset]
    return found


class Applicants:
    """Members of a population: of which `kind` each is, and how many items each would judge."""

    def __init__(
        self, population: Population, n: int, n_items: int, k: int, rng: np.random.Generator
    ) -> None:
        kinds = population.kinds
        picks = rng.choice(len(kinds), n, p=kinds["share"].to_numpy())
        self.kind = kinds.index.to_numpy()[picks]
        self.traits = {str(name): kinds[name].to_numpy()[picks] for name in kinds}
        one_label = self.traits["one_label"] == 1
        self.guess = np.full((n, k), 1 / k)
        self.guess[one_label] = np.eye(k)[rng.integers(0, k, one_label.sum())]
        # Log-normal, at least 1 and at most all items.
        logs = rng.normal(np.log(population.mean_stay) - _STAY_SPREAD**2 / 2, _STAY_SPREAD, n)
        self.stay = np.clip(np.ceil(np.exp(logs)), 1, n_items).astype(np.int64)

    def answer(
        self, question: str, rows: Ints, corrections: Ints, people: Floats, rng: np.random.Generator
    ) -> Ints:
        """Draw the label that each of m annotators gives, by its position.

        `corrections`, of shape (m,), counts what feedback they had; `people`, of shape (m, k), is
        how people answer the items.
        """
        of = {name: values[rows] for name, values in self.traits.items()}
        unlearnt = (1 - of["learning"]) ** corrections
        least = np.minimum(of["least_lapse"], of["lapse"])
        lapse = least + (of["lapse"] - least) * unlearnt
        k = people.shape[1]
        if question in KNOWN_TESTS:
            lapse, people = of["lapse_in_tests"], np.eye(k)[people.argmax(axis=1)]
        # A confusion exchanges the last two labels: of three, neutral and contradiction.
        confused = people[:, [*range(k - 2), k - 1, k - 2]]
        mixed = (of["confusion"] * unlearnt)[:, None]
        attentive = (1 - mixed) * people + mixed * confused
        chances = (1 - lapse[:, None]) * attentive + lapse[:, None] * self.guess[rows]
        steps = np.cumsum(chances[:, :-1], axis=1)
        return (rng.random(len(chances))[:, None] > steps).sum(axis=1)
