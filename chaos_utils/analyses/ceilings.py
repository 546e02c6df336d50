"""How many votes are enough: the perfect model, the second crowd, and systems beside them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from chaos_utils.analyses.names import SYSTEM
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.table import in_order_of
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.divergence import Floats
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.metrics.priors import draw_truths, fit_grid
from chaos_utils.metrics.resampling import bootstrap_tables, percentile_interval, rescale
from chaos_utils.plots.columns import DATASET
from chaos_utils.recorded import cached_analysis, derived_table
from chaos_utils.report.columns import Column, number, with_ends
from chaos_utils.scoring.draws import MonteCarloMeasure, draw_crowds, measure_draws
from chaos_utils.scoring.references import UNSETTLED, References, is_settled
from chaos_utils.scoring.system import System, covering_alike
from chaos_utils.scoring.systems import baselines, old_label, uniform

NAMES = ("jsd", "kl", "dist_ce", "ent_ce", "new_accuracy", "rank_cs_expected", "ece_votes")
VOTES = (1, 2, 3, 5, 10, 20, 50, 100)
UNIFORM, OLD_LABEL = "uniform guess", "old label"
ESTIMATED_HUMAN = "estimated human"
_PAPER = "nie2020_table5"
_HUMAN_MEASURES = ("jsd", "kl", "new_accuracy")  # measures of ours that it has of this human


@cached_analysis(keys=("dataset", "measure", "quantity", "n_votes"))
def annotation_budget(votes: Votes, *, n_draws: int, seed: int) -> pd.DataFrame:
    """Compute the expected value of each measure with k votes per item, over draws of the truth.

    For the ``quantity`` ``perfect_model``, the true distribution is scored against the shares
    of k votes; for ``error``, those shares are scored against the true distribution. Both are
    the same for a symmetric measure; a measure without an upper end has no ``error``.
    ``most_votes`` is the largest number of votes on an item: beyond it, values are
    extrapolated.
    """
    rng = np.random.default_rng(seed)
    truths = draw_truths(votes.counts, fit_grid(votes.counts), rng, n_draws)
    rows = []
    for n_votes in VOTES:
        crowds = draw_crowds(truths, n_votes, rng)
        for quantity, human_and_model in (
            ("perfect_model", (crowds, truths)),
            ("error", (truths, crowds)),
        ):
            for name in NAMES:
                # Without an upper end, the cost of a label without votes depends on the floor.
                if quantity == "error" and not np.isfinite(MEASURES[name].high):
                    continue
                draws = measure_draws(MEASURES[name], *human_and_model)
                rows.append(
                    {
                        "measure": name,
                        "quantity": quantity,
                        "n_votes": n_votes,
                        "value": draws.value,
                        "sd": draws.values.std(),
                        "most_votes": int(votes.n_votes.max()),
                    }
                )
    return pd.DataFrame(rows)


@cached_analysis(keys=("dataset", "measure"))
def noise_ceiling(votes: Votes, *, n_draws: int, seed: int) -> pd.DataFrame:
    """Score perfect model and second crowd by each measure, and check the prior on half crowds.

    * ``perfect_model``: its score, with an interval over resampled items, the prior refitted;
    * ``second_crowd_halves``: the second crowd's score by split halves, extrapolated to all votes;
      ``second_crowd_posterior``: its score by crowds drawn from the posterior; ``second_crowd_se``:
      the standard error of the one of these that is used elsewhere;
    * ``half_measured``, ``half_drawn``: scores of half crowds, cut from the votes or drawn from the
      posterior; columns that end with ``_dirichlet``: the same by a Dirichlet prior.

    There are four times as many cuts into halves as draws.
    """
    references = References(votes, n_draws, seed)
    rows = []
    for name in NAMES:
        low, high = references.perfect_model_interval(name)
        rows.append(
            {
                "measure": name,
                "n_votes": references.n_votes,
                "uniform": references.uniform(name).value,
                "perfect_model": references.perfect_model(name).value,
                "perfect_model_low": low,
                "perfect_model_high": high,
                "second_crowd_halves": _value(references.halves(name)),
                "second_crowd_posterior": _value(references.crowds(name)),
                "second_crowd_se": references.second_crowd_error(name),
                "n_half": references.n_half,
                **references.checks(name),
            }
        )
    return pd.DataFrame(rows)


def _value(estimate: MonteCarloMeasure | None) -> float:
    return np.nan if estimate is None else estimate.value


@cached_analysis(keys=("dataset", "system", "source", "measure"), published=(_PAPER,))
def normalised_scores(
    votes: Votes, systems: Sequence[System], *, n_draws: int, n_resamples: int, seed: int
) -> pd.DataFrame:
    """Rescale scores so that 0 is the uniform guess and 1 the second crowd.

    Each system is compared with the references on the items that it covers, and resampled together
    with them. ``rescaled`` is NaN where no second crowd is surely better than the guess. The
    published estimated human has no interval, since its second crowd was not released.
    """
    references = References(votes, n_draws, seed)
    all_systems = [*systems, *baselines(votes)]
    tables = [
        _scores_and_references(references, group, name, n_resamples, seed)
        for group in covering_alike(votes, all_systems)
        for name in NAMES
    ]
    table = in_order_of(pd.concat(tables), "system", [system.name for system in all_systems])
    humans = _estimated_humans(table)
    return pd.concat([table, humans], ignore_index=True) if len(humans) else table


def _scores_and_references(
    references: References, systems: Sequence[System], name: str, n_resamples: int, seed: int
) -> pd.DataFrame:
    """Return the scores of systems that cover the same items by a measure, beside references."""
    measure, votes = MEASURES[name], references.votes
    items = systems[0].rows_in(votes)
    guess, crowd = references.uniform(name), references.second_crowd(name)
    estimates = [estimate.on(items) for estimate in (guess, crowd) if estimate]
    estimates += [MonteCarloMeasure.once(measure, system.aligned_to(votes)) for system in systems]
    # As `scores.score` resamples them, so that a system has one interval on every page.
    rng = np.random.default_rng([seed, 0])
    tables = [(items, estimate.table) for estimate in estimates]
    means = bootstrap_tables(tables, np.arange(len(votes)), n_resamples, rng)
    values = np.array([estimate.value for estimate in estimates])
    draws = np.column_stack(list(map(MonteCarloMeasure.of_means, estimates, means)))
    if crowd is None:
        values, draws = np.insert(values, 1, np.nan), np.insert(draws, 1, np.nan, axis=1)
    table = pd.DataFrame(
        {
            "dataset": votes.dataset.name,
            "system": [system.name for system in systems],
            "source": "computed",
            "kind": ["baseline" if system.origin == "baseline" else "model" for system in systems],
            "n_items": len(items),
            "measure": name,
            "perfect_model": references.perfect_model(name).on(items).value,
            "second_crowd": values[1],
            "uniform": values[0],
            "value": values[2:],
            **dict.fromkeys(("low", "high", "rescaled", "rescaled_low", "rescaled_high"), np.nan),
        }
    )
    scale = draws[:, [1]] - draws[:, [0]]
    sign = {"lower": -1, "higher": 1, "zero": 0}[measure.better]
    is_better = min(np.round(percentile_interval(sign * scale), 10)) > 0
    if is_better:
        table["rescaled"] = rescale(values[2:], at_zero=values[0], at_one=values[1]) + 0.0
    if measure.has_interval:
        table["low"], table["high"] = percentile_interval(draws[:, 2:])
        if is_better:
            low, high = percentile_interval((draws[:, 2:] - draws[:, [0]]) / scale)
            table["rescaled_low"], table["rescaled_high"] = low + 0.0, high + 0.0
    return table


def _estimated_humans(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of Table 5's estimated human; none for a dataset that is not in it."""
    published = read_published(_PAPER)
    humans = published[published["model"] == "est-human"]
    humans = humans.melt("dataset", list(_HUMAN_MEASURES), "measure", "value")
    shared = ["dataset", "measure", "n_items", "perfect_model", "second_crowd", "uniform"]
    humans = humans.merge(table.loc[table["system"] == UNIFORM, shared])
    scale = humans["second_crowd"] - humans["uniform"]
    return humans.assign(
        system=ESTIMATED_HUMAN,
        source="published",
        kind="human",
        rescaled=(humans["value"] - humans["uniform"]) / scale,
    )


@cached_analysis(keys=("dataset", "system", "measure", "n_votes"))
def items_by_votes(
    votes: Votes, systems: Sequence[System], *, budget: int, n_draws: int, seed: int
) -> pd.DataFrame:
    """Compare the errors of scores when a fixed number of votes is spent on many items, or on few.

    ``n_items`` may be more than the dataset has: items count as drawn from a population like the
    dataset's. ``bias`` is the expected score by votes minus the score by the truth;
    ``total_error`` is the root of the squares of ``bias`` and ``standard_error``, summed.
    """
    if budget < 1:
        raise ChaosError("The budget buys no vote.", found=budget, expected="1 or more")
    measure = MEASURES["jsd"]
    rng = np.random.default_rng(seed)
    truths = draw_truths(votes.counts, fit_grid(votes.counts), rng, n_draws)
    all_systems = [*systems, uniform(votes)]
    all_systems += [old_label(votes)] if votes.has_old_labels else []

    def scores(human: Floats, system: System) -> Floats:
        shares = system.aligned_to(votes).model
        model = np.broadcast_to(shares, (n_draws, *shares.shape))
        return measure_draws(measure, human[:, system.rows_in(votes)], model).columns[..., 0]

    against_truth = [scores(truths, system).mean() for system in all_systems]
    rows = []
    for n_votes in (k for k in VOTES if k <= budget):
        crowds = draw_crowds(truths, n_votes, rng)
        n_items = budget // n_votes
        for system, truth in zip(all_systems, against_truth, strict=True):
            values = scores(crowds, system)
            bias, error = values.mean() - truth, values.std() / np.sqrt(n_items)
            rows.append(
                {
                    "system": system.name,
                    "measure": measure.name,
                    "n_votes": n_votes,
                    "n_items": n_items,
                    "value": values.mean(),
                    "bias": bias,
                    "standard_error": error,
                    "total_error": np.hypot(bias, error),
                }
            )
    return pd.DataFrame(rows)


@derived_table(keys=("dataset", "n_votes"))
def vote_bias(scores_by_votes: pd.DataFrame) -> pd.DataFrame:
    """Return how few votes shift the difference of two models, for rows of `items_by_votes`.

    * ``median``, ``largest``: the absolute shift, over all ``n_pairs`` pairs of models;
    * ``difference``: the median of the true absolute differences;
    * ``reversed``: the number of pairs that endlessly many items with so few votes would rank in
      the wrong order;
    * ``guesses``: the shift between old label and uniform guess.

    Without rows where there are fewer than two models.
    """
    rows = []
    for (dataset, n_votes), group in scores_by_votes.groupby(["dataset", "n_votes"], sort=False):
        scores = group.set_index("system").eval("truth = value - bias")
        models = scores.drop(index=[UNIFORM, OLD_LABEL], errors="ignore")
        if len(models) < 2:
            continue
        first, second = np.triu_indices(len(models), 1)
        true_gap, shift, measured_gap = (
            models[name].to_numpy()[first] - models[name].to_numpy()[second]
            for name in ("truth", "bias", "value")
        )
        bias = scores["bias"]
        guesses = bias[UNIFORM] - bias[OLD_LABEL] if OLD_LABEL in bias else np.nan
        row = {"dataset": dataset, "n_votes": n_votes, "n_pairs": len(shift)}
        row |= {"median": np.median(np.abs(shift)), "largest": np.abs(shift).max()}
        row |= {
            "difference": np.median(np.abs(true_gap)),
            "reversed": int((true_gap * measured_gap < 0).sum()),
        }
        rows.append(row | {"guesses": guesses})
    columns = ["dataset", "n_votes", "n_pairs", "median", "largest", "difference", "reversed",
               "guesses"]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


BIAS_COLUMNS = [
    DATASET,
    Column("votes per item", "n_votes"),
    Column("pairs of models", "n_pairs"),
    Column("median shift", "median", 4),
    Column("largest shift", "largest", 4),
    Column("ranked in the wrong order", "reversed"),
    Column("median true difference", "difference", 3),
]


def _second_crowd(row: Mapping[str, Any]) -> str:
    """Return how the second crowd's score is written: by halves where these exist."""
    score = row["second_crowd_halves"]
    if np.isnan(score):
        score = row["second_crowd_posterior"]
    settled = is_settled(row["measure"], score, row["second_crowd_se"])
    return number(score, 3) if settled else UNSETTLED


CEILING_COLUMNS = [
    DATASET,
    Column("measure", "measure", names=lambda name: MEASURES[name].title),
    with_ends("perfect model", "perfect_model", 3),
    Column("second crowd", _second_crowd),
    Column("uniform guess", "uniform", 3),
]


def _rescaled_column(name: str) -> Column:
    look: dict[str, Any] = {"group": "rescaled", "best": "highest", "at": {"measure": name}}
    return with_ends(MEASURES[name].title, "rescaled", 2, **look)


_JSD: dict[str, Any] = {"group": MEASURES["jsd"].title, "at": {"measure": "jsd"}}
SCORE_COLUMNS = [
    DATASET,
    SYSTEM,
    Column("score", "value", 3, **_JSD),
    Column("excess", lambda row: number(row["value"] - row["perfect_model"], 3), **_JSD),
    *map(_rescaled_column, ("jsd", "dist_ce", "ent_ce", "new_accuracy")),
]
