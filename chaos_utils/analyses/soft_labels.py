"""Vote shares, raw or shrunken: which are nearer to people, and which are better to learn."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from chaos_utils.analyses.fitting import ALL, common_items, stacks
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.divergence import squared_distance
from chaos_utils.metrics.priors import fit_grid, posterior_means
from chaos_utils.metrics.resampling import split_votes
from chaos_utils.plots.columns import DATASET
from chaos_utils.recorded import cached_analysis
from chaos_utils.report.columns import Column, with_ends
from chaos_utils.scoring.fitting import predict_out_of_fold
from chaos_utils.scoring.system import System

SIZES = (1, 3, 5, 20)  # votes per item that are learnt
_NORMAL = 1.96


@cached_analysis(keys=("dataset", "n_votes"))
def targets(votes: Votes, systems: Sequence[System], *, repeats: int, seed: int) -> pd.DataFrame:
    """Compare few votes per item as targets of training: their raw shares, and shrunken ones.

    ``raw`` and ``shrunken`` are squared distances, without bias, of what a map of all the book's
    systems predicts, or of the reader's own where there are no others: an affine map of their
    log-probabilities, fitted for KL to the shares of ``n_votes`` votes per item, or to the shares
    that a prior fitted to these votes expects, and judged by all votes on items of other folds.
    ``difference``, shrunken less raw, has a 95% interval over items. ``label_raw`` and
    ``label_shrunken`` are the distances of the targets themselves from the other votes. Means over
    draws. Without rows where there is no system, or no item has more votes.
    """
    items = common_items(votes, systems)
    indices = stacks(items.systems).get(ALL, [0] if items.systems else [])
    counts, n_votes = items.votes.counts, items.votes.n_votes
    logs, rng = items.inputs(indices), np.random.default_rng([seed, 13])
    rows = []
    for size in SIZES if indices else ():
        if size + 2 > n_votes.min():
            continue
        distances = []
        for _ in range(repeats):
            drawn, rest = split_votes(counts, (size,), rng)
            prior = fit_grid(drawn)
            labels = (drawn / size, posterior_means(drawn, prior, prior.points))
            shares, others = counts / n_votes[:, None], rest.sum(axis=1)
            predicted = [
                predict_out_of_fold(logs, label, items.folds, kind="affine", objective="kl")
                for label in labels
            ]
            distances.append(
                [squared_distance(shares, one, n_votes) for one in predicted]
                + [squared_distance(rest / others[:, None], one, others) for one in labels]
            )
        raw, shrunken, label_raw, label_shrunken = np.mean(distances, axis=0)
        gap = shrunken - raw
        reach = _NORMAL * gap.std(ddof=1) / np.sqrt(len(gap))
        rows.append({
            "n_votes": size, "n_items": len(gap), "raw": raw.mean(), "shrunken": shrunken.mean(),
            "difference": gap.mean(), "difference_low": gap.mean() - reach,
            "difference_high": gap.mean() + reach, "label_raw": label_raw.mean(),
            "label_shrunken": label_shrunken.mean(),
        })  # fmt: skip
    return pd.DataFrame(rows, columns=None if rows else ["n_votes"])


_LABELS = "the labels themselves"
_LEARNT = "what a map learns from them"


def _pair(raw: str, shrunken: str, group: str) -> list[Column]:
    """Return two columns of distances, the lower of which is bold."""
    return [
        Column("raw", raw, 3, group=group, bold=lambda row: row[raw] <= row[shrunken]),
        Column("shrunk", shrunken, 3, group=group, bold=lambda row: row[shrunken] <= row[raw]),
    ]


TARGET_COLUMNS = [
    DATASET,
    Column("votes per item", "n_votes", 0),
    *_pair("label_raw", "label_shrunken", _LABELS),
    *_pair("raw", "shrunken", _LEARNT),
    with_ends("worse by", "difference", 3, group=_LEARNT),
]
