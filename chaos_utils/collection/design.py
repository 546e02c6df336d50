"""What the stages of a collection buy, and that more votes do not replace them."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
import pandas as pd

from chaos_utils.base.errors import ChaosError
from chaos_utils.collection.annotators import Population, with_careless
from chaos_utils.collection.materials import Materials
from chaos_utils.collection.protocol import Protocol, load_protocol
from chaos_utils.collection.simulate import Simulation, simulate
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.metrics.divergence import jensen_shannon_distance, total_variation
from chaos_utils.metrics.resampling import draw_votes

_NO_STAGE = {"qualification_items": 0, "training_items": 0, "check_rate": 0.0}
# The protocol with stages left out, by what is left out.
WITHOUT: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "nothing": {},
        "the on-boarding test": {"qualification_items": 0},
        "training": {"training_items": 0},
        "hidden checks": {"check_rate": 0.0},
        "every stage": _NO_STAGE,
        "every stage, 1,000 votes per item": {**_NO_STAGE, "votes_per_item": 1000},
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
    for votes drawn from the true ones, as many as the protocol wants, ``hours`` those of all
    answers, tests included, and ``annotators`` those with votes that count.
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
