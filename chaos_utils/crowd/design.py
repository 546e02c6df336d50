"""What the stages of a collection buy, and what more votes cannot repair."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import ndtr

from chaos_utils.base.errors import ChaosError
from chaos_utils.crowd.annotators import Population, answer_chances, with_careless
from chaos_utils.crowd.expected import Expectation
from chaos_utils.crowd.materials import Materials
from chaos_utils.crowd.protocol import Protocol, load_protocol
from chaos_utils.crowd.simulate import Simulation, simulate
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.metrics.divergence import jensen_shannon_distance, total_variation
from chaos_utils.metrics.resampling import draw_votes

Floats = npt.NDArray[np.float64]

# The protocol with stages left out, by what is left out.
WITHOUT: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "nothing": {},
        "the on-boarding test": {"qualification_items": 0},
        "training": {"training_items": 0},
        "hidden checks": {"check_rate": 0.0},
        "every stage": {"qualification_items": 0, "training_items": 0, "check_rate": 0.0},
    }
)


def seconds_per_answer(dataset: str) -> float:
    """Return the published mean time that an answer takes."""
    table = read_published("nie2020_table1").set_index("dataset")
    return float(table.loc[dataset, "mean_seconds_per_example"])


def dollars(simulation: Simulation) -> float:
    """Return what a collection cost: items and hidden checks are paid alike, tests are not.

    Votes that are thrown away were paid too.
    """
    answers = simulation.annotators[["items", "checks"]].to_numpy().sum()
    return float(answers * _price(simulation.protocol))


def hours(simulation: Simulation) -> float:
    """Return how long annotators worked, tests included, at the published mean time per answer."""
    answers = len(simulation.known) + len(simulation.votes)
    return answers * seconds_per_answer(simulation.materials.dataset.name) / 3600


def _price(protocol: Protocol) -> float:
    return protocol.parameters["pay_per_task"] / protocol.parameters["task_size"]


def stage_effects(
    materials: Materials,
    population: Population,
    careless: Sequence[float] = (0.05, 0.2, 0.4, 0.6),
    protocol: Protocol | None = None,
    n_runs: int = 1,
    seed: int = 0,
) -> pd.DataFrame:
    """Collect with each stage switched off in turn, at several shares of careless applicants.

    Each run takes the next seed; the protocol is the published one by default. A row is one run,
    share and variant: ``tvd`` and ``jsd_nats`` (Jensen–Shannon distance) are the mean distances
    of the estimated from the true distributions, ``floor_tvd`` and ``floor_jsd_nats`` the same
    for as many votes drawn from the true ones, ``hours`` those of all answers, tests included,
    and ``annotators`` those with votes that count.
    """
    if n_runs < 1 or not len(careless):
        raise ChaosError(
            "Nothing would be simulated.",
            found=f"{n_runs} collections at {len(careless)} shares of careless applicants",
            expected="at least 1 of each",
        )
    protocol = protocol or load_protocol()
    seeds = range(seed, seed + n_runs)
    runs = [_effects(materials, population, careless, protocol, one) for one in seeds]
    return pd.concat(runs, ignore_index=True)


def _effects(
    materials: Materials,
    population: Population,
    careless: Sequence[float],
    protocol: Protocol,
    seed: int,
) -> pd.DataFrame:
    truth, k = materials.items, int(protocol.parameters["votes_per_item"])
    drawn = draw_votes(truth, k, np.random.default_rng(seed)) / k
    floor = {
        "floor_tvd": float(total_variation(truth, drawn).mean()),
        "floor_jsd_nats": float(jensen_shannon_distance(truth, drawn, unit="nats").mean()),
    }
    rows = []
    for share in careless:
        applying = with_careless(population, share)
        for without, changes in WITHOUT.items():
            changed = load_protocol(**{**protocol.parameters, **changes})
            made = simulate(changed, materials, applying, seed)
            estimated = made.counts / made.counts.sum(axis=1, keepdims=True)
            counted = made.annotators["counted"] & (made.annotators["items"] > 0)
            rows.append(
                {
                    "careless": share,
                    "without": without,
                    "tvd": float(total_variation(truth, estimated).mean()),
                    "jsd_nats": float(
                        jensen_shannon_distance(truth, estimated, unit="nats").mean()
                    ),
                    **floor,
                    "dollars": dollars(made),
                    "hours": hours(made),
                    "applicants": len(made.annotators),
                    "annotators": int(counted.sum()),
                    "seed": seed,
                }
            )
    return pd.DataFrame(rows)


def answer_shares(expectation: Expectation, population: Population) -> Floats:
    """Return what infinitely many votes on each item would come to, of shape (n_items, k)."""
    outcomes, items = expectation.outcomes(population), expectation.materials.items
    weights = {name: population.shares[name] * one.votes for name, one in outcomes.items()}
    total = sum(weights.values())
    guess = np.full(items.shape, 1 / items.shape[1])
    ones = np.ones(len(items))
    return np.sum(
        [
            weights[name]
            / total
            * answer_chances("item", items, one.lapse * ones, one.confusion * ones, guess)
            for name, one in outcomes.items()
        ],
        axis=0,
    )


def bias_variance(
    expectation: Expectation,
    population: Population,
    careless: Sequence[float] = (0.0, 0.2, 0.4, 0.6),
    n_votes: Sequence[int] = (5, 10, 20, 50, 100, 200, 500, 1000),
) -> pd.DataFrame:
    """Split the error of estimated distributions in what more votes remove and what they do not.

    A row is one share of careless applicants and one number of votes per item, with means over
    items: ``bias_squared`` and ``variance`` (sums over labels), their sum ``squared_error``, and
    the expected ``tvd``.
    """
    truth, rows = expectation.materials.items, []
    for share in careless:
        tends_to = answer_shares(expectation, with_careless(population, share))
        bias = float(((tends_to - truth) ** 2).sum(axis=1).mean())
        spread = float((tends_to * (1 - tends_to)).sum(axis=1).mean())
        for n in n_votes:
            rows.append(
                {
                    "careless": share,
                    "n_votes": n,
                    "bias_squared": bias,
                    "variance": spread / n,
                    "squared_error": bias + spread / n,
                    "tvd": expected_tvd(tends_to, truth, n),
                }
            )
    return pd.DataFrame(rows)


def expected_tvd(tends_to: Floats, truth: Floats, n_votes: float) -> float:
    """Return the mean total variation from `truth` of shares of n votes, by normal approximation.

    `tends_to` is what infinitely many votes would come to, as `answer_shares` returns it.
    """
    bias = tends_to - truth
    spread = np.sqrt(np.maximum(tends_to * (1 - tends_to), 1e-12) / n_votes)
    density = np.exp(-(bias**2) / (2 * spread**2)) * np.sqrt(2 / np.pi)
    away = spread * density + bias * (1 - 2 * ndtr(-bias / spread))
    return float(away.sum(axis=1).mean() / 2)
