"""Temperatures for one run: fixed, fitted on held-out labels, cross-fitted on votes."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.datasets.corpora import from_votes
from chaos_utils.datasets.splits import group_folds
from chaos_utils.datasets.tasks import get_task
from chaos_utils.datasets.votes import Votes
from chaos_utils.evaluation.learning_runs import Material
from chaos_utils.metrics.resampling import bootstrap_means, percentile_interval
from chaos_utils.scoring.recalibration import (
    LIMITS,
    fit_temperature,
    losses_by_temperature,
    lowest_temperature,
)

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
FIXED_TEMPERATURE = 2.0  # in the released code of Baan et al. (2022)
_TRIED = np.geomspace(*LIMITS, 121)  # temperatures, 5% apart


@dataclass(frozen=True, slots=True, eq=False)
class Temperature:
    """A temperature of a method.

    Attributes
    ----------
    method : str
    values : ndarray of float, shape (n_items,) or ()
        Each item's temperature, or one for all.
    low, high : float
        A bootstrap interval over the items that it was fitted on, or the range over folds.
    spread : {'none', 'bootstrap', 'folds'}
        Which of the two.
    n_fitted : int
        Items that it was fitted on; for folds, the fewest.
    """

    method: str
    values: npt.NDArray[np.float64]
    low: float
    high: float
    spread: str
    n_fitted: int


def temperatures(
    votes: Votes,
    material: Material,
    *,
    n_folds: int,
    n_resamples: int,
    confidence: float,
    seed: int,
) -> list[Temperature]:
    """Return the temperatures of the plain run: fixed, held-out, cross-fitted.

    Parameters
    ----------
    material : Material
        Without a plain run there is nothing to fit: the fixed temperature alone remains.
    n_folds : int
        Of ChaosNLI's items by premise or story, at least 2; each fold's temperature is
        fitted on the votes of the others.
    n_resamples, confidence, seed
        Of the interval of the held-out temperature; the seed also deals the folds.

    Returns
    -------
    list of Temperature
        ``fixed``, ``held_out`` (where there are development items), ``cross_fitted``.
    """
    two = FIXED_TEMPERATURE
    found = [Temperature("fixed", np.array(two), two, two, "none", 0)]
    plain = material.plain
    if plain is None:
        return found
    if material.development is not None:
        p, gold = material.development
        low, high = temperature_interval(p, gold, n_resamples, confidence, seed)
        fitted = np.array(fit_temperature(p, gold))
        found.append(Temperature("held_out", fitted, low, high, "bootstrap", len(gold)))
    training = get_task(votes.dataset.task)
    folds = group_folds(from_votes([votes], training), n_folds, seed)
    others = [folds != fold for fold in range(n_folds)]
    of_fold = np.array(
        [fit_temperature(plain.probabilities[rows], votes.shares[rows]) for rows in others]
    )
    fewest = min(int(rows.sum()) for rows in others)
    low, high = float(of_fold.min()), float(of_fold.max())
    return [*found, Temperature("cross_fitted", of_fold[folds], low, high, "folds", fewest)]


def temperature_interval(
    probabilities: Floats, gold: Ints, n_resamples: int, confidence: float, seed: int
) -> tuple[float, float]:
    """Bootstrap the temperature of least negative log-likelihood over items.

    Each resample's is the `lowest_temperature` of 121 between the ends of `LIMITS`.

    Parameters
    ----------
    n_resamples, confidence, seed
        At least 1; the interval's coverage; the seed of the resamples.

    Returns
    -------
    low, high : float
        Percentiles, within `LIMITS`.
    """
    losses = losses_by_temperature(probabilities, gold, _TRIED)
    means = bootstrap_means(losses, n_resamples, np.random.default_rng(seed))
    low, high = percentile_interval(lowest_temperature(means, _TRIED), confidence)
    return float(low), float(high)


def temperature_table(votes: Votes, fitted: Iterable[Temperature]) -> pd.DataFrame:
    """Tabulate temperatures.

    Returns
    -------
    DataFrame
        ``dataset``, ``method``, ``temperature`` (mean over items), ``low``, ``high``,
        ``spread`` (of what: none, bootstrap, folds), ``n_fitted``.
    """
    columns = ["dataset", "method", "temperature", "low", "high", "spread", "n_fitted"]
    rows = [
        (votes.dataset.name, t.method, float(t.values.mean()), t.low, t.high, t.spread, t.n_fitted)
        for t in fitted
    ]
    return pd.DataFrame(rows, columns=columns)
