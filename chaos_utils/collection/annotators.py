"""Simulated annotators: populations that mix ways to answer, and applicants drawn from them."""

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
KNOWN_TESTS = ("qualification", "training")  # states in which annotators know of the test
_STAY_SPREAD = 1.0  # standard deviation of the logarithm of an annotator's stay, in items
# The kinds of careless annotators, with their shares among all careless ones.
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
    """A mixture of kinds of annotators, and how many items they are ready to judge on average.

    An attentive annotator's answer at work is a draw from the item's distribution; in a test that
    annotators know of, it is the label that most people give. An inattentive annotator guesses.
    `kinds` has a row for each kind of annotator, with the columns

    * ``share``: its share of the applicants;
    * ``lapse``, ``lapse_in_tests``: chance that an answer is a guess, at work before any feedback,
      and in the on-boarding test and in training;
    * ``one_label``: 1 if all guesses of an annotator are the same label, which is drawn for each;
    * ``confusion``: chance, before any feedback, that an attentive answer takes one label for
      another;
    * ``learning``: share of confusion, and of lapses above ``least_lapse``, that one correction
      removes;
    * ``least_lapse``: the chance of a guess at work after many corrections, if below ``lapse``.
    """

    kinds: pd.DataFrame
    mean_stay: float


def mixture(
    careless: float = 0.2, lapse: float = 0.1, lapse_in_tests: float = 0.05, mean_stay: float = 90.0
) -> Population:
    """Return a population of careful and careless annotators.

    `careless` is the share of careless annotators. Feedback brings the careful ones' chance of a
    lapse at work down to `lapse`, from twice as much; `lapse_in_tests` is their chance of a lapse
    in tests that they know of. `mean_stay` is a number of items.
    """
    shares = {"careless": careless, "lapse": lapse, "lapse_in_tests": lapse_in_tests}
    for name, value in shares.items():
        if not 0 <= value <= 1:
            raise ChaosError(
                "A share is out of range.",
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
    traits_by_kind = {"careful": careful} | careless_kinds
    kinds = pd.DataFrame.from_dict(traits_by_kind, orient="index").fillna(0.0)
    return Population(kinds, mean_stay)


def assumed_parameters(dataset: str) -> dict[str, Any]:
    """Return the arguments of `mixture` that are assumed for a dataset's applicants."""
    parameters: dict[str, Any] = read_yaml(POPULATIONS)[dataset]
    return parameters


class Applicants:
    """`n` members of a population: the `kind` of each, and how many items each would judge.

    `traits` has each column of `Population.kinds` for each applicant, `guess` the distribution of
    each applicant's guesses, of shape (n, k), and `stay` a number of items.
    """

    def __init__(
        self, population: Population, n: int, n_items: int, k: int, rng: np.random.Generator
    ) -> None:
        kinds = population.kinds
        kind_index = rng.choice(len(kinds), n, p=kinds["share"].to_numpy())
        self.kind = kinds.index.to_numpy()[kind_index]
        self.traits = {str(name): kinds[name].to_numpy()[kind_index] for name in kinds}
        one_label = self.traits["one_label"] == 1
        self.guess = np.full((n, k), 1 / k)
        self.guess[one_label] = np.eye(k)[rng.integers(0, k, one_label.sum())]
        # Log-normal, at least 1 and at most all items.
        logs = rng.normal(np.log(population.mean_stay) - _STAY_SPREAD**2 / 2, _STAY_SPREAD, n)
        self.stay = np.clip(np.ceil(np.exp(logs)), 1, n_items).astype(np.int64)

    def answer(
        self, question: str, rows: Ints, corrections: Ints, people: Floats, rng: np.random.Generator
    ) -> Ints:
        """Draw the label that each of m annotators gives to an item, as an index, of shape (m,).

        `question` is the state of the protocol that asks; `rows`, of shape (m,), are the indices of
        the annotators; `corrections`, of shape (m,), counts the corrections that each has had;
        `people`, of shape (m, k), is the distribution of people's answers to each one's item.
        """
        traits = {name: values[rows] for name, values in self.traits.items()}
        unlearnt = (1 - traits["learning"]) ** corrections
        least_lapse = np.minimum(traits["least_lapse"], traits["lapse"])
        lapse = least_lapse + (traits["lapse"] - least_lapse) * unlearnt
        k = people.shape[1]
        if question in KNOWN_TESTS:
            lapse, people = traits["lapse_in_tests"], np.eye(k)[people.argmax(axis=1)]
        # A confusion exchanges the last two labels: of three, neutral and contradiction.
        confused = people[:, [*range(k - 2), k - 1, k - 2]]
        confusion = (traits["confusion"] * unlearnt)[:, None]
        attentive = (1 - confusion) * people + confusion * confused
        chances = (1 - lapse[:, None]) * attentive + lapse[:, None] * self.guess[rows]
        thresholds = np.cumsum(chances[:, :-1], axis=1)
        return (rng.random(len(chances))[:, None] > thresholds).sum(axis=1)
