"""Calibrate a population to the figures that the paper reports on its collection.

Four parameters, four targets. Everything else that a simulation of the fitted population
shows (who the applicants are, how accuracy rises, what it costs) is a prediction.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.optimize import least_squares

from chaos_utils.base.errors import ChaosError
from chaos_utils.crowd.annotators import Population, mixture
from chaos_utils.crowd.expected import Expectation
from chaos_utils.datasets.published.tables import read_published

Floats = npt.NDArray[np.float64]

PLATEAU_PERCENT = 92.0  # read off Figure 2 of Nie et al. (2020), one curve for all datasets

# Free parameters with their lowest, first and highest values.
FREE: Mapping[str, tuple[float, float, float]] = MappingProxyType(
    {
        "careless": (0.0, 0.1, 0.9),
        "lapse": (0.0, 0.1, 0.5),
        "lapse_in_tests": (0.0, 0.03, 0.3),
        "mean_stay": (5.0, 90.0, 1000.0),
    }
)
TARGETS: Mapping[str, float] = MappingProxyType(  # and how close a fit must come
    {
        "qualification_fail_rate_percent": 1.0,
        "filter_rate_percent": 1.0,
        "annotators": 0.05,  # of the target
        "plateau_percent": 1.0,
    }
)


def published_targets(dataset: str) -> dict[str, float]:
    """Return what the paper reports on the collection for a dataset, by the names of `TARGETS`."""
    row = read_published("nie2020_table1").set_index("dataset").loc[dataset]
    found = {name: float(row[name]) for name in TARGETS if name in row}
    return found | {"plateau_percent": PLATEAU_PERCENT}


@dataclass(frozen=True, slots=True)
class Fit:
    """A calibrated population.

    `parameters` has a row for each free parameter, with its 95% interval (``low``, ``high``), and
    `targets` one for each target, with the columns of `compare`, ``fitted`` for ``simulated``.
    """

    population: Population
    parameters: pd.DataFrame
    targets: pd.DataFrame


def fit(expectation: Expectation, targets: Mapping[str, float]) -> Fit:
    """Find the mixture whose expected figures are the targets, one for each name in `TARGETS`.

    The search is deterministic. The intervals follow from how far the targets themselves would
    scatter between collections with the same population (delta method).
    """
    missing = [name for name in TARGETS if not np.isfinite(targets.get(name, np.nan))]
    if missing:
        raise ChaosError(
            "A target of the calibration is missing.",
            found=", ".join(missing),
            expected="a number for each of " + ", ".join(TARGETS),
            todo="simulate more items, if nobody came to the plateau",
        )
    wanted = np.array([targets[name] for name in TARGETS])
    scale = np.array(list(TARGETS.values()))
    scale[list(TARGETS).index("annotators")] *= targets["annotators"]

    def off(values: Floats) -> Floats:
        found = expectation.summary(mixture(*values))
        return (np.array([found[name] for name in TARGETS]) - wanted) / scale

    low, first, high = np.array(list(FREE.values())).T
    found = least_squares(
        off, first, bounds=(low, high), x_scale=high - low, diff_step=1e-4, ftol=1e-6, xtol=1e-6
    )
    population = mixture(*found.x)
    ends = _interval(found.x, found.jac * scale[:, None], _scatter(expectation, population))
    fitted = found.fun * scale + wanted
    return Fit(
        population=population,
        parameters=pd.DataFrame(
            {
                "parameter": list(FREE),
                "value": found.x,
                "low": np.clip(ends[0], low, high),
                "high": np.clip(ends[1], low, high),
            }
        ),
        targets=compare(dict(zip(TARGETS, fitted, strict=True)), targets).rename(
            columns={"simulated": "fitted"}
        ),
    )


def compare(simulated: Mapping[str, float], targets: Mapping[str, float]) -> pd.DataFrame:
    """Return figures beside their targets, and whether they come as close as they must.

    A row is one quantity: ``target``, ``simulated``, ``difference``, ``tolerance``, ``within``.
    """
    rows = []
    for name, tolerance in TARGETS.items():
        allowed = tolerance * targets[name] if name == "annotators" else tolerance
        difference = simulated[name] - targets[name]
        rows.append(
            {
                "quantity": name,
                "target": targets[name],
                "simulated": simulated[name],
                "difference": difference,
                "tolerance": allowed,
                "within": abs(difference) <= allowed,
            }
        )
    return pd.DataFrame(rows)


def _scatter(expectation: Expectation, population: Population) -> Floats:
    """Return the standard deviation of each target between collections."""
    figures = expectation.summary(population)
    outcomes, shares = expectation.outcomes(population), population.shares

    def mean(field: str) -> float:
        return sum(shares[name] * getattr(one, field) for name, one in outcomes.items())

    applicants = figures["annotators"] / mean("counted")
    admitted = applicants * (1 - mean("rejected"))
    checks = applicants * mean("late_checks")

    def of_share(percent: float, n: float) -> float:
        return float(np.sqrt(percent * (100 - percent) / n))

    # A number of annotators scatters as the mean of their stays does.
    varies = np.sqrt(np.exp(population.stay_spread**2) - 1)
    return np.array(
        [
            of_share(figures["qualification_fail_rate_percent"], applicants),
            of_share(figures["filter_rate_percent"], admitted),
            figures["annotators"] * varies / np.sqrt(figures["annotators"]),
            of_share(figures["plateau_percent"], checks),
        ]
    )


def _interval(values: Floats, slopes: Floats, scatter: Floats) -> tuple[Floats, Floats]:
    inverse = np.linalg.pinv(slopes)
    spread = 1.96 * np.sqrt(((inverse * scatter) ** 2).sum(axis=1))
    return values - spread, values + spread
