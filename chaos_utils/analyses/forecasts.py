"""What the book forecasts from few votes, tested where about a thousand people judged each item."""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from chaos_utils.analyses.inputs import AnalysisInputs, gather
from chaos_utils.datasets.catalogue import bundled_datasets
from chaos_utils.datasets.votes import Ints, Votes
from chaos_utils.metrics.divergence import Floats, entropy, total_variation
from chaos_utils.metrics.priors import (
    SINGLE_ITEM_STEPS,
    draw_truths,
    fit_dirichlet,
    fit_grid,
    posterior_means,
)
from chaos_utils.metrics.resampling import split_votes
from chaos_utils.metrics.scores import shared_top
from chaos_utils.recorded import cached_analysis
from chaos_utils.report.columns import Column, number
from chaos_utils.scoring.draws import draw_crowds

READS = ("lalor2016/irt_file_*.csv",)
SIZES = (5, 20, 100)  # votes per item, from which is forecast
FEWEST = 500  # votes on each item: what the votes that are left say is then what people say
_POSTERIOR_DRAWS = 200  # of each item's true distribution
_SURE = 0.95  # chance of a majority label that counts as sure, and level of the intervals
_NORMAL = 1.96
_QUANTITIES = {  # by their names in the table: what they are, and whether they are percentages
    "perfect_model": ("k votes from all people (TVD)", False),
    "second_crowd": ("k votes from k others (TVD)", False),
    "majority": ("majority label right, % of items", True),
    "entropy": ("Shannon entropy (nats)", False),
    "entropy_plain": ("the same, by raw vote shares", False),
    "sure": ("“95% sure” majorities right, %", True),
    "interval": ("95% intervals that hold the share, %", True),
    "interval_early": ("the same, if the prior’s fit stops early", True),
    "interval_dirichlet": ("the same, by a Dirichlet prior", True),
}


def inputs_of_many_votes(inputs: AnalysisInputs) -> AnalysisInputs:
    """Return the dataset with a thousand votes per item, or the reader's own votes as they are."""
    if not inputs.released:
        return inputs
    return gather(datasets=[one.name for one in bundled_datasets() if fnmatch(one.file, READS[0])])


@cached_analysis(keys=("dataset", "quantity", "n_votes"))
def forecasts(votes: Votes, *, n_draws: int, seed: int) -> pd.DataFrame:
    """Compare what is forecast from a few votes per item with what all other votes say.

    Draws of 5, 20 and 100 votes on each item, without replacement, forecast; the votes that are
    left judge. One row for each ``quantity`` and number of votes. ``forecast`` is by the
    nonparametric prior, fitted to the drawn votes alone, and ``seen`` what came out; both are means
    over items and draws. ``gap_low`` to ``gap_high`` is a 95% interval over items for their
    difference, forecast less seen.

    * ``perfect_model``: the distance (TVD) of the drawn votes' shares from those of all others,
      which are themselves a sample; ``second_crowd``: from as many others;
    * ``majority``: whether the label with most votes is that of all others;
    * ``entropy`` in nats, and ``entropy_plain``: of the shares of the drawn votes;
    * ``sure``: the same on the items where it has a chance of 95% or more by the item's votes;
    * ``interval``, ``interval_early``, ``interval_dirichlet``: how often a 95% interval of a
      label's share among all others holds it, by the nonparametric prior, by the same after
      `SINGLE_ITEM_STEPS` steps of EM, or by a Dirichlet prior.

    Without rows where an item has fewer than `FEWEST` votes.
    """
    if votes.n_votes.min() < FEWEST:
        return pd.DataFrame(columns=["quantity", "n_votes", "forecast", "seen"])
    rng = np.random.default_rng(seed)
    rows = []
    for size in SIZES:
        draws = [dict(_by_item(votes.counts, size, rng)) for _ in range(n_draws)]
        for quantity in _QUANTITIES:
            forecast, seen, weight = np.mean([draw[quantity] for draw in draws], axis=0)
            rows.append({"quantity": quantity, "n_votes": size, **_gap(forecast, seen, weight)})
    return pd.DataFrame(rows)


def _by_item(
    counts: Ints, size: int, rng: np.random.Generator
) -> Iterator[tuple[str, tuple[Floats, Floats, Floats]]]:
    """Yield each quantity with its forecast, what was seen, and the weight, by item.

    Forecasts and what was seen are multiplied by the weight.
    """
    drawn, second, rest = split_votes(counts, (size, size), rng)
    others = second + rest
    shares, truth = _shares(drawn), _shares(others)
    even = np.ones(len(counts))
    prior, dirichlet = fit_grid(drawn), fit_dirichlet(drawn)
    truths = draw_truths(drawn, prior, rng, _POSTERIOR_DRAWS)
    crowd, second_crowd = (draw_crowds(truths, size, rng) for _ in range(2))
    # The other votes are a sample too, and add their part to the distance.
    widened = np.sqrt(1 + size / others.sum(axis=1))
    distance = _distances(crowd, truths) * widened
    yield "perfect_model", (distance, total_variation(shares, truth), even)
    seen = total_variation(shares, _shares(second))
    yield "second_crowd", (_distances(crowd, second_crowd), seen, even)
    top = shared_top(shares)
    points = np.column_stack([shared_top(prior.points), entropy(prior.points, unit="nats")])
    expected = posterior_means(drawn, prior, points)
    chance, right = ((top * of).sum(axis=1) for of in (expected[:, :-1], shared_top(truth)))
    yield "majority", (_share_with_the_same_top(crowd, truths), right, even)
    seen = entropy(truth, unit="nats")
    yield "entropy", (expected[:, -1], seen, even)
    yield "entropy_plain", (entropy(shares, unit="nats"), seen, even)
    is_sure = (chance >= _SURE).astype(float)
    yield "sure", (chance * is_sure, right * is_sure, is_sure)
    dirichlet_truths = draw_truths(drawn, dirichlet, rng, _POSTERIOR_DRAWS)
    early, own_rng = fit_grid(drawn, most_steps=SINGLE_ITEM_STEPS), rng.spawn(1)[0]
    early_truths = draw_truths(drawn, early, own_rng, _POSTERIOR_DRAWS)
    for quantity, drawn_truths, of_rng in (
        ("interval", truths, rng),
        ("interval_dirichlet", dirichlet_truths, rng),
        ("interval_early", early_truths, own_rng),
    ):
        # The others are a sample, too.
        draws = draw_crowds(drawn_truths, others.sum(axis=1), of_rng)
        low, high = np.quantile(draws, [(1 - _SURE) / 2, (1 + _SURE) / 2], axis=0)
        holds = ((low <= truth) & (truth <= high)).mean(axis=1)
        yield quantity, (_SURE * even, holds, even)


def _shares(counts: Ints) -> Floats:
    shares: Floats = counts / counts.sum(axis=1, keepdims=True)
    return shares


def _distances(first: Floats, second: Floats) -> Floats:
    """Return the mean distance over draws of two distributions for each item."""
    return np.mean([total_variation(*pair) for pair in zip(first, second, strict=True)], axis=0)


def _share_with_the_same_top(first: Floats, second: Floats) -> Floats:
    """Return for each item how often, over draws, two distributions have the same largest share."""
    pairs = zip(first, second, strict=True)
    return np.mean([(shared_top(a) * shared_top(b)).sum(axis=1) for a, b in pairs], axis=0)


def _gap(forecast: Floats, seen: Floats, weight: Floats) -> dict[str, float]:
    """Return the weighted means over items, and an interval for their difference."""
    total = weight.mean()
    if not total:
        return dict.fromkeys(("forecast", "seen", "gap_low", "gap_high"), np.nan)
    gap = (forecast - seen).mean() / total
    residuals = (forecast - seen - gap * weight) / total
    reach = _NORMAL * residuals.std(ddof=1) / np.sqrt(len(weight))
    return {
        "forecast": forecast.mean() / total,
        "seen": seen.mean() / total,
        "gap_low": gap - reach,
        "gap_high": gap + reach,
    }


def _number(column: str, row: Mapping[str, Any]) -> str:
    is_percentage = _QUANTITIES[row["quantity"]][1]
    return number(100 * row[column], 1) if is_percentage else number(row[column], 3)


COLUMNS = [
    Column("quantity", "quantity", names=lambda name: _QUANTITIES[name][0]),
    *(
        Column(
            column,
            partial(_number, column),
            group=f"from {size} votes",
            at={"n_votes": size},
        )
        for size in SIZES
        for column in ("forecast", "seen")
    ),
]
INDEX = ("quantity",)
