"""Errors on single items: by the rank of a label, and beside small samples of human votes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.analyses.baan import (
    FIXED_TEMPERATURE,
    compared_systems,
    paper_systems,
    released_lines,
    row_title,
)
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.table import in_order_of
from chaos_utils.datasets.votes import Ints, Votes
from chaos_utils.metrics.calibration import expected_calibration_error
from chaos_utils.metrics.divergence import Floats, kl_divergence, total_variation
from chaos_utils.metrics.measures import BAAN_BINS
from chaos_utils.metrics.resampling import percentile_interval, split_votes
from chaos_utils.recorded import cached_analysis
from chaos_utils.report.columns import Column
from chaos_utils.scoring.system import System
from chaos_utils.scoring.systems import computed

N_VOTES = 20  # in each of H1 and H2
MANY_VOTES = "more than 40 votes per item"  # for H1, H2 and other votes that judge them
RELEASED_SEED = 1  # of the draw in the notebook that Baan et al. (2022) released
N_BINS = 30  # of the histograms of item errors, on [0, 1]
RANK_EDGES = np.linspace(-1, 1, 50)  # one bin is around 0
PSEUDO_COUNT = 0.5  # is added to every bin of a smoothed histogram
DIGITS = 10  # of values before binning, so that equal values never part at an edge
SYSTEM_KEYS = ("dataset", "system", "origin", "temperature")
SCORE_KEYS = ("measure", *SYSTEM_KEYS, "reference")
_MEASURES = ("ece", "dist_ce", "kl", "kl_smoothed", "tvd")


# Histograms


def item_errors(votes: Votes, system: System) -> Floats:
    """Return the DistCE of each item that the system predicts."""
    batch = system.aligned_to(votes)
    return total_variation(batch.human, batch.model)


def bin_counts(values: npt.ArrayLike, edges: Floats) -> Ints:
    """Return how many values fall into each bin; values and edges are rounded first."""
    array = np.asarray(values, dtype=np.float64)
    counts: Ints = np.histogram(array.round(DIGITS), edges.round(DIGITS))[0]
    return counts


def histogram(keys: Mapping[str, object], values: Floats, edges: Floats) -> pd.DataFrame:
    """Return rows for a histogram: keys, ``bin_low``, ``bin_high``, ``n``, ``n_items``, ``mean``.

    ``n`` counts the values in a bin; ``n_items`` and ``mean`` are those of all values.
    """
    counts = bin_counts(values, edges)
    bins = {"bin_low": edges[:-1].round(DIGITS), "bin_high": edges[1:].round(DIGITS), "n": counts}
    return pd.DataFrame(dict(keys) | bins | {"n_items": len(values), "mean": values.mean()})


@cached_analysis(keys=(*SYSTEM_KEYS, "rank", "bin_low"))
def rank_errors(votes: Votes, systems: Sequence[System], *, shown_seed: int) -> pd.DataFrame:
    """Count items by a system's probability minus the people's share, for the label of each rank.

    The systems are the first one, at temperatures 1 and 2, and the reader's. ``rank`` 1 is the
    label with most votes of the item, ties in the order of labels; bins are as in `histogram`.
    """
    tables = []
    for system in compared_systems(votes, systems, shown_seed, ["yours"]):
        batch = system.aligned_to(votes)
        ranked = np.argsort(-batch.human, axis=1, kind="stable")
        errors = np.take_along_axis(batch.model - batch.human, ranked, axis=1)
        for rank, rank_column in enumerate(errors.T, start=1):
            tables.append(histogram(_keys(system) | {"rank": rank}, rank_column, RANK_EDGES))
    return pd.concat(tables, ignore_index=True)


def _keys(system: System) -> dict[str, object]:
    return {name: system.keys[name] for name in SYSTEM_KEYS}


# Samples of votes


def draw_samples(votes: Votes, seed: int) -> tuple[list[System], dict[str, Votes]]:
    """Draw H1 and H2, disjoint samples of 20 of each item's votes, which must be more than 40.

    Returns the samples, and the votes that may judge them: ``all``, those ``outside_h1`` and those
    ``outside_both``.
    """
    _check_votes(votes)
    h1, h2, other_votes = split_votes(votes.counts, (N_VOTES, N_VOTES), np.random.default_rng(seed))
    return _samples(votes, h1, h2, other_votes)


def _check_votes(votes: Votes) -> None:
    fewest = int(votes.n_votes.min())
    if fewest <= 2 * N_VOTES:
        raise ChaosError(
            f"Two samples of {N_VOTES} votes and a rest need more votes per item.",
            where=votes.dataset.title,
            found=f"an item with {fewest} votes",
            expected=f"more than {2 * N_VOTES}",
        )


def _samples(
    votes: Votes, h1: Ints, h2: Ints, other_votes: Ints
) -> tuple[list[System], dict[str, Votes]]:
    """Return H1 and H2 as systems, and the votes that may judge them, by reference."""
    samples = [
        computed(name, votes, counts / N_VOTES, origin="reference")
        for name, counts in (("H1", h1), ("H2", h2))
    ]
    outside_h1, outside_both = (
        replace(votes, counts=counts) for counts in (h2 + other_votes, other_votes)
    )
    return samples, {"all": votes, "outside_h1": outside_h1, "outside_both": outside_both}


def draw_released_samples(
    votes: Votes, systems: Iterable[System] = ()
) -> tuple[list[System], dict[str, Votes]]:
    """Draw H1 and H2 as the notebook that Baan et al. (2022) released does.

    One generator shuffles each item's votes, which begin in the order of the labels; the first 20
    are H1, the next 20 H2. Items are in the order of the released predictions of the paper's model,
    those on the test half of the development set first, or without these in the order of the votes.
    The result is as for `draw_samples`.
    """
    _check_votes(votes)
    rng = np.random.default_rng(RELEASED_SEED)
    samples = np.zeros((2, *votes.counts.shape), dtype=np.int64)
    labels = np.arange(votes.dataset.n_classes)
    for row in _released_order(votes, systems):
        item_votes = np.repeat(labels, votes.counts[row])
        chosen = item_votes[rng.permutation(len(item_votes))[: 2 * N_VOTES]].reshape(2, N_VOTES)
        samples[:, row] = (chosen[..., np.newaxis] == labels).sum(axis=1)
    h1, h2 = samples
    return _samples(votes, h1, h2, votes.counts - h1 - h2)


def _released_order(votes: Votes, systems: Iterable[System]) -> list[int]:
    """Return the rows of the votes in the order of the released files of the paper's model."""
    rows = {uid: row for row, uid in enumerate(votes.uids)}
    files = [released_lines(votes, system) for system in paper_systems(systems)[:1]]
    uids = [line["uid"] for model_files in files for file in reversed(model_files) for line in file]
    order = [rows[uid] for uid in uids if uid in rows]
    return order if len(order) == len(rows) else list(rows.values())


@cached_analysis(keys=(*SYSTEM_KEYS, "bin_low"), needs=MANY_VOTES)
def error_histograms(
    votes: Votes, systems: Sequence[System], *, shown_seed: int, seed: int
) -> pd.DataFrame:
    """Count items by their DistCE against all votes, for H1, H2 and systems beside them.

    One row for each system and bin, see `histogram`.
    """
    samples, _ = draw_samples(votes, seed)
    edges = np.linspace(0, 1, N_BINS + 1)
    tables = []
    shown_systems = compared_systems(votes, systems, shown_seed, ["trained", "yours"])
    for system in (*samples, *shown_systems):
        tables.append(histogram(_keys(system), item_errors(votes, system), edges))
    return pd.concat(tables, ignore_index=True)


# The draw of the released notebook


@cached_analysis(keys=SCORE_KEYS, needs=MANY_VOTES)
def released_draw(votes: Votes, systems: Sequence[System]) -> pd.DataFrame:
    """Judge the H1 and H2 of the released notebook, as in `errors_by_draw`.

    They are those of `draw_released_samples`. The first of the paper's models is judged beside
    them, at temperatures 1 and 2.
    """
    temperatures = (1.0, FIXED_TEMPERATURE)
    models = [model.at_temperature(t) for model in paper_systems(systems)[:1] for t in temperatures]
    rows = pd.DataFrame(_score_rows(*draw_released_samples(votes, systems), models))
    return in_order_of(rows.astype({"seed": "Int64"}), "measure", _MEASURES)


# Many draws


@cached_analysis(keys=SCORE_KEYS, needs=MANY_VOTES)
def error_divergence(
    votes: Votes, systems: Sequence[System], *, shown_seed: int, n_seeds: int, seed: int
) -> pd.DataFrame:
    """Judge H1 and H2, and systems, over many draws.

    ``mean`` is over the draws with a finite value; ``low`` and ``high`` are the ends of their
    middle 95%, NaN where the value does not depend on the draw.
    """
    chosen = compared_systems(votes, systems, shown_seed, ["trained", "yours"])
    return summarise_draws(errors_by_draw(votes, chosen, n_seeds=n_seeds, first_seed=seed))


def errors_by_draw(
    votes: Votes, systems: Sequence[System], *, n_seeds: int, first_seed: int
) -> pd.DataFrame:
    """Judge H1, H2 and systems in `n_seeds` draws of the samples, with seeds from `first_seed` on.

    Each draw, system, ``measure`` and ``reference`` has a ``value``. The ``reference`` names the
    votes that judge: ``all`` votes, which contain the samples, those ``outside_both`` and, for H1,
    ``outside_h1``. The gold label is the first of those with most of these votes. The measures of
    `compare_histograms` compare H1's item errors with those of the system.
    """
    if n_seeds < 2:
        raise ChaosError("A spread needs at least two seeds.", where="n_seeds", found=n_seeds)
    draws = range(first_seed, first_seed + n_seeds)
    tables = [pd.DataFrame(_score_rows(*draw_samples(votes, seed), systems)) for seed in draws]
    return pd.concat(tables, keys=draws, names=["draw", None]).reset_index("draw")


def _score_rows(
    samples: Sequence[System], votes_by_reference: Mapping[str, Votes], systems: Sequence[System]
) -> list[dict[str, object]]:
    """Return a row for each measure of each sample and system, judged by each reference."""
    h1, rows = samples[0], []
    for reference, votes in votes_by_reference.items():
        h1_errors = item_errors(votes, h1)
        for system in (*samples, *systems) if reference != "outside_h1" else (h1,):
            batch = system.aligned_to(votes)
            gold, errors = batch.first_majority, total_variation(batch.human, batch.model)
            ece = expected_calibration_error(batch.model, gold, BAAN_BINS)
            values = {"ece": ece, "dist_ce": float(errors.mean())}
            if system is not h1:
                values |= compare_histograms(h1_errors, errors)
            keys = {**system.keys, "reference": reference}
            rows += [{"measure": name, **keys, "value": values[name]} for name in values]
    return rows


def compare_histograms(first: npt.ArrayLike, second: npt.ArrayLike) -> dict[str, float]:
    """Compare the distributions of two sets of item errors, in [0, 1], by their histograms.

    * ``kl``: KL(first ‖ second) in nats, unsmoothed, up to infinity. Errors are not rounded, as in
      the code that Baan et al. (2022) released;
    * ``kl_smoothed``: the same with one half added to every bin;
    * ``tvd``: the total variation distance of the histograms.

    For the last two, errors are rounded to ten digits first, so that equal errors share a bin.
    """
    # Not rounded on purpose: in the paper's code, equal errors may fall on both sides of an edge.
    raw = [np.histogram(errors, N_BINS, (0, 1))[0] for errors in (first, second)]
    counts = [bin_counts(errors, np.linspace(0, 1, N_BINS + 1)) for errors in (first, second)]
    raw, rounded, smoothed = (
        [(n + pseudo_count)[np.newaxis] / (n + pseudo_count).sum() for n in pair]
        for pair, pseudo_count in ((raw, 0.0), (counts, 0.0), (counts, PSEUDO_COUNT))
    )
    return {
        "kl": float(kl_divergence(*raw, unit="nats", floor=0)[0]),
        "kl_smoothed": float(kl_divergence(*smoothed, unit="nats", floor=0)[0]),
        "tvd": float(total_variation(*rounded)[0]),
    }


def summarise_draws(by_draw: pd.DataFrame) -> pd.DataFrame:
    """Return mean and middle 95% of `errors_by_draw` over draws, for each system and measure."""
    keys = [name for name in by_draw.columns if name not in ("draw", "value")]
    rows = []
    for key, group in by_draw.groupby(keys, sort=False, dropna=False):
        values = group["value"].to_numpy().round(DIGITS)
        finite = values[np.isfinite(values)]
        varies = len(np.unique(finite)) > 1
        low, high = percentile_interval(finite) if varies else (np.nan, np.nan)
        summary = {
            "n_draws": len(values),
            "infinite_share": 1 - len(finite) / len(values),
            "mean": finite.mean() if len(finite) else np.nan,
            "low": float(low),
            "high": float(high),
        }
        rows.append(dict(zip(keys, key, strict=True)) | summary)
    return in_order_of(pd.DataFrame(rows).astype({"seed": "Int64"}), "measure", _MEASURES)


COLUMNS = [
    Column("of", row_title),
    *(
        Column(heading, "mean", 3, "low", "high", at=at, group=group)
        for group, heading, at in (
            ("by votes in neither", "ECE ↓", {"measure": "ece", "reference": "outside_both"}),
            (
                "by votes in neither",
                "DistCE ↓",
                {"measure": "dist_ce", "reference": "outside_both"},
            ),
            ("by all votes", "DistCE ↓", {"measure": "dist_ce", "reference": "all"}),
            ("by all votes", "TVD to H1 ↓", {"measure": "tvd", "reference": "all"}),
        )
    ),
]
