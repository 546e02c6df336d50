"""How many votes are enough: the error of a measure at a few votes per item."""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.votes import Votes
from chaos_utils.evaluation.ceilings import NAMES
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.scoring.draws import (
    Floats,
    draw_crowds,
    draw_posterior,
    repeated,
)
from chaos_utils.scoring.system import System

VOTES = (1, 2, 3, 5, 10, 20, 50, 100)


def annotation_budget(
    votes: Votes,
    n_draws: int,
    seed: int,
    measures: Iterable[str] = NAMES,
    sizes: Sequence[int] = VOTES,
) -> pd.DataFrame:
    """Compute the error of each measure at k votes per item.

    Parameters
    ----------
    n_draws : int
        Draws of the truth behind the votes, at least 1.
    measures : iterable of str
        Names in `MEASURES`.
    sizes : sequence of int
        The numbers of votes per item, each at least 1.

    Returns
    -------
    DataFrame
        ``dataset``, ``measure``, ``quantity``, ``n_votes``, ``value``, ``sd`` (over draws).
        ``floor``: a perfect model judged by k votes. ``error``: the shares of k votes
        judged by the truth; the same for a measure that is symmetric, and left out for
        one without an upper end.
    """
    chosen = [MEASURES[name] for name in measures]
    rng = np.random.default_rng(seed)
    truths = draw_posterior(votes.counts, n_draws, rng)
    rows = []
    for n_votes in sizes:
        crowds = draw_crowds(truths, n_votes, rng)
        for quantity, pair in (("floor", (crowds, truths)), ("error", (truths, crowds))):
            for measure in chosen:
                # Without an upper end, what an empty label costs is up to the floor in place of 0.
                if quantity == "error" and not np.isfinite(measure.high):
                    continue
                scores = repeated(measure, *pair)
                rows.append(
                    {
                        "dataset": votes.dataset.name,
                        "measure": measure.name,
                        "quantity": quantity,
                        "n_votes": n_votes,
                        "value": scores.value,
                        "sd": scores.values.std(),
                    }
                )
    return pd.DataFrame(rows)


def items_by_votes(
    votes: Votes,
    systems: Sequence[System],
    budget: int,
    n_draws: int,
    seed: int,
    measure: str = "jsd",
) -> pd.DataFrame:
    """Say what a fixed number of votes is worth on many items, or on few.

    Items are taken to be drawn from a population like theirs, which may be fewer
    than a budget could buy.

    Parameters
    ----------
    budget : int
        Votes in all. Divided by the votes per item it gives the items, rounded down.
    measure : str
        A mean over items of one value.

    Returns
    -------
    DataFrame
        ``dataset``, ``system``, ``measure``, ``n_votes``, ``n_items``, ``value`` (expected
        score), ``bias`` (it minus the score against the truth), ``standard_error``, and
        ``total_error``, the root of their summed squares.
    """
    if budget < 1:
        raise ChaosError("The budget buys no vote.", found=budget, expected="1 or more")
    rng = np.random.default_rng(seed)
    truths = draw_posterior(votes.counts, n_draws, rng)
    rows_of = [system.rows_in(votes) for system in systems]

    def scores(human: Floats, rows: npt.NDArray[np.int64], system: System) -> Floats:
        shares = system.aligned_to(votes).model
        model = np.broadcast_to(shares, (n_draws, *shares.shape))
        return repeated(MEASURES[measure], human[:, rows], model).columns[..., 0]

    against_truth = [
        scores(truths, rows, system).mean() for rows, system in zip(rows_of, systems, strict=True)
    ]
    parts = []
    for n_votes in (k for k in VOTES if k <= budget):
        crowds = draw_crowds(truths, n_votes, rng)
        n_items = budget // n_votes
        for rows, system, truth in zip(rows_of, systems, against_truth, strict=True):
            found = scores(crowds, rows, system)
            bias, error = found.mean() - truth, found.std() / np.sqrt(n_items)
            parts.append(
                {
                    "dataset": votes.dataset.name,
                    "system": system.name,
                    "measure": measure,
                    "n_votes": n_votes,
                    "n_items": n_items,
                    "value": found.mean(),
                    "bias": bias,
                    "standard_error": error,
                    "total_error": np.hypot(bias, error),
                }
            )
    return pd.DataFrame(parts)
