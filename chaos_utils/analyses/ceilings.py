"""How many votes are enough: the perfect model, the second crowd, and systems beside them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.analyses.names import SYSTEM_NAMES, dataset_name
from chaos_utils.analyses.recorded import derived, recorded
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.metrics.resampling import bootstrap_tables, percentile_interval, rescale
from chaos_utils.report.columns import MISSING, Column, number, signed
from chaos_utils.scoring.draws import Floats, Repeated, draw_crowds, draw_posterior, repeated
from chaos_utils.scoring.references import (
    PERFECT_MODEL,
    SECOND_CROWD,
    UNSETTLED,
    References,
    is_settled,
)
from chaos_utils.scoring.system import System
from chaos_utils.scoring.systems import baselines, old_label, uniform

NAMES = ("jsd", "kl", "dist_ce", "ent_ce", "new_accuracy", "rank_cs_expected", "ece_votes")
VOTES = (1, 2, 3, 5, 10, 20, 50, 100)
UNIFORM, OLD_LABEL = "uniform guess", "old label"
ESTIMATED_HUMAN = "estimated human"
_PAPER = "nie2020_table5"
_OF_HUMANS = ("jsd", "kl", "new_accuracy")  # of ours, what it has of the estimated human


@recorded(keys=("dataset", "measure", "quantity", "n_votes"))
def annotation_budget(votes: Votes, *, n_draws: int, seed: int) -> pd.DataFrame:
    """Compute what k votes per item leave of each measure.

    Parameters
    ----------
    votes : Votes
    n_draws : int
        Draws of the truth behind the votes, at least 1.
    seed : int
        Of all draws.

    Returns
    -------
    DataFrame
        ``dataset``, ``measure``, ``quantity``, ``n_votes``, ``value``, ``sd`` (over draws), and
        ``most_votes``, those of the item that has most: beyond, truth is extrapolated.
        ``floor``: the perfect model judged by k votes. ``error``: the shares of k votes judged by
        the truth; the same for a measure that is symmetric, and left out for one without an upper
        end.
    """
    rng = np.random.default_rng(seed)
    truths = draw_posterior(votes.counts, n_draws, rng)
    rows = []
    for n_votes in VOTES:
        crowds = draw_crowds(truths, n_votes, rng)
        for quantity, pair in (("floor", (crowds, truths)), ("error", (truths, crowds))):
            for name in NAMES:
                # Without an upper end, what an empty label costs is up to the floor in place of 0.
                if quantity == "error" and not np.isfinite(MEASURES[name].high):
                    continue
                found = repeated(MEASURES[name], *pair)
                rows.append(
                    {
                        "dataset": votes.dataset.name,
                        "measure": name,
                        "quantity": quantity,
                        "n_votes": n_votes,
                        "value": found.value,
                        "sd": found.values.std(),
                        "most_votes": int(votes.n_votes.max()),
                    }
                )
    return pd.DataFrame(rows)


@recorded(keys=("dataset", "measure"))
def noise_ceiling(votes: Votes, *, n_draws: int, seed: int) -> pd.DataFrame:
    """Score perfect model and second crowd by each measure, and check the prior on half crowds.

    Parameters
    ----------
    votes : Votes
    n_draws : int
        Draws of the truth behind the votes; there are four times as many cuts into halves.
    seed : int
        Of all draws.

    Returns
    -------
    DataFrame
        One row per measure: ``dataset``, ``measure``, ``n_votes``, ``uniform``, ``floor`` (the
        perfect model) with ``floor_low`` and ``floor_high`` (items resampled, the prior refitted;
        NaN for calibration errors) and its ``floor_sd``; ``ceiling_halves`` (the second crowd by
        split halves, extrapolated) and its Monte Carlo error
        ``…_error``, ``ceiling_posterior`` and its ``…_sd``; ``ceiling_se``, the standard error of
        the one that is used, over cuts or draws and over items; then ``n_half``, ``half_measured``
        and ``half_drawn``, the scores of half crowds, cut from the votes and drawn from the
        posterior; ``floor_dirichlet`` and ``half_dirichlet``, what a Dirichlet prior makes of
        both. Standard deviations are over draws of truth and votes.
    """
    found = References(votes, n_draws, seed)
    rows = []
    for name in NAMES:
        floor, crowds = found.perfect_model(name), found.crowds(name)
        floor_low, floor_high = found.floor_interval(name)
        rows.append(
            {
                "dataset": votes.dataset.name,
                "measure": name,
                "n_votes": found.n_votes,
                "uniform": found.uniform(name).value,
                "floor": floor.value,
                "floor_low": floor_low,
                "floor_high": floor_high,
                "floor_sd": floor.values.std(),
                "ceiling_halves": _value(found.halves(name)),
                "ceiling_halves_error": found.extrapolation_error(name),
                "ceiling_posterior": _value(crowds),
                "ceiling_posterior_sd": np.nan if crowds is None else crowds.values.std(),
                "ceiling_se": found.second_crowd_error(name),
                "n_half": found.n_half,
                "half_measured": _value(found.measured_half(name)),
                "half_drawn": _value(found.drawn_half(name)),
                "floor_dirichlet": found.dirichlet_model(name).value,
                "half_dirichlet": _value(found.dirichlet_half(name)),
            }
        )
    return pd.DataFrame(rows)


def _value(found: Repeated | None) -> float:
    return np.nan if found is None else found.value


@recorded(keys=("dataset", "system", "source", "measure"), published=(_PAPER,))
def normalised_scores(
    votes: Votes, systems: Sequence[System], *, n_draws: int, n_resamples: int, seed: int
) -> pd.DataFrame:
    """Rescale scores so that 0 is the uniform guess and 1 the second crowd.

    Every system is set beside the references on the items that it covers; system,
    uniform guess and second crowd are resampled together.

    Parameters
    ----------
    votes : Votes
    systems : sequence of System
        Beside them stand the baselines, and the published estimated human, which has no
        interval: the second crowd that it was computed from was not released.
    n_draws : int
        As for `noise_ceiling`.
    n_resamples : int
        Bootstrap resamples of the items for 95% percentile intervals, at least 1.
    seed : int
        Of draws and resamples.

    Returns
    -------
    DataFrame
        One row for each system and measure: ``dataset``, ``system``, ``source`` (computed,
        published), ``kind`` (human, baseline, model), ``n_items``, ``measure``, ``floor`` (the
        perfect model), ``ceiling`` (the second crowd), ``uniform``, ``value``, ``low``, ``high``,
        ``rescaled``, ``rescaled_low``, ``rescaled_high``. Rescaled is NaN where there is no second
        crowd, or where it is not surely better than the uniform guess: its distance has an
        interval that holds 0. All ends are NaN for a measure that has no
        interval.
    """
    found = References(votes, n_draws, seed)
    # What systems on the same items share is resampled once.
    pieces: dict[tuple[object, ...], tuple[npt.NDArray[np.int64], Repeated]] = {}
    keys: list[tuple[System, str, list[tuple[object, ...]]]] = []
    for system in [*systems, *baselines(votes, seed)]:
        rows, judged = system.rows_in(votes), system.aligned_to(votes)
        for name in NAMES:
            of_row: list[tuple[object, ...]] = [(system.name, name)]
            pieces[of_row[0]] = rows, Repeated.once(MEASURES[name], judged)
            for reference in filter(None, (found.uniform(name), found.second_crowd(name))):
                of_row.append((rows.tobytes(), len(of_row), name))
                if of_row[-1] not in pieces:
                    pieces[of_row[-1]] = rows, reference.on(rows)
            keys.append((system, name, of_row))
    # As `scores.score` resamples them, so that a system has one interval on every page.
    rng = np.random.default_rng([seed, 0])
    tables = [(rows, piece.table) for rows, piece in pieces.values()]
    means = bootstrap_tables(tables, np.arange(len(votes)), n_resamples, rng)
    draws = {
        key: piece.of_means(one)
        for (key, (_, piece)), one in zip(pieces.items(), means, strict=True)
    }
    computed = [
        {
            "dataset": votes.dataset.name,
            "system": system.name,
            "source": "computed",
            "kind": "baseline" if system.origin == "baseline" else "model",
            "n_items": len(pieces[of_row[0]][0]),
            "measure": name,
            "floor": found.perfect_model(name).on(pieces[of_row[0]][0]).value,
            **_rescaled([pieces[key][1] for key in of_row], [draws[key] for key in of_row]),
        }
        for system, name, of_row in keys
    ]
    return pd.DataFrame([*computed, *_estimated_human(found)])


def _rescaled(values: list[Repeated], resampled: list[Floats]) -> dict[str, float]:
    """Rescale a score; `values` are it, the uniform guess and the second crowd, if any."""
    system, uniform_, *ceiling = (piece.value for piece in values)
    measure = values[0].measure
    low, high = percentile_interval(resampled[0]) if measure.has_interval else (np.nan, np.nan)
    cells = {"ceiling": ceiling[0] if ceiling else np.nan, "uniform": uniform_, "value": system}
    cells |= {"low": float(low), "high": float(high)}
    cells |= dict.fromkeys(("rescaled", "rescaled_low", "rescaled_high"), np.nan)
    sign = {"lower": -1, "higher": 1, "zero": 0}[measure.better]
    if ceiling:
        room = resampled[2] - resampled[1]
        if min(np.round(percentile_interval(sign * room), 10)) > 0:
            cells["rescaled"] = float(rescale(system, at_zero=uniform_, at_one=ceiling[0])) + 0.0
            if measure.has_interval:
                ends = percentile_interval((resampled[0] - resampled[1]) / room)
                cells["rescaled_low"], cells["rescaled_high"] = (float(end) + 0.0 for end in ends)
    return cells


def _estimated_human(found: References) -> list[dict[str, object]]:
    """Return the rows of Table 5's estimated human; none for a dataset that is not in it."""
    table = read_published(_PAPER)
    dataset = found.votes.dataset.name
    published = table[(table["dataset"] == dataset) & (table["model"] == "est-human")]
    rows: list[dict[str, object]] = []
    for name in _OF_HUMANS if len(published) else ():
        value = float(published[name].iloc[0])
        even, ceiling = found.uniform(name).value, _value(found.second_crowd(name))
        known = not np.isnan(ceiling)
        row = {
            "dataset": dataset,
            "system": ESTIMATED_HUMAN,
            "source": "published",
            "kind": "human",
            "n_items": len(found.votes),
            "measure": name,
            "floor": found.perfect_model(name).value,
            "ceiling": ceiling,
            "uniform": even,
            "value": value,
            "rescaled": float(rescale(value, at_zero=even, at_one=ceiling)) if known else np.nan,
        }
        rows.append(row)
    return rows


@recorded(keys=("dataset", "system", "measure", "n_votes"))
def items_by_votes(
    votes: Votes, systems: Sequence[System], *, budget: int, n_draws: int, seed: int
) -> pd.DataFrame:
    """Say what a fixed number of votes is worth on many items, or on few.

    Items are taken to be drawn from a population like theirs, which may be fewer
    than a budget could buy.

    Parameters
    ----------
    votes : Votes
    systems : sequence of System
        Beside them stand the uniform guess and the old label.
    budget : int
        Votes in all. Divided by the votes per item it gives the items, rounded down.
    n_draws : int
        Draws of the truth behind the votes, at least 1.
    seed : int
        Of all draws.

    Returns
    -------
    DataFrame
        ``dataset``, ``system``, ``measure`` (jsd), ``n_votes``, ``n_items``, ``value`` (expected
        score), ``bias`` (it minus the score against the truth), ``standard_error``, and
        ``total_error``, the root of their summed squares.
    """
    if budget < 1:
        raise ChaosError("The budget buys no vote.", found=budget, expected="1 or more")
    measure = MEASURES["jsd"]
    rng = np.random.default_rng(seed)
    truths = draw_posterior(votes.counts, n_draws, rng)
    everyone = [*systems, uniform(votes)]
    everyone += [old_label(votes)] if votes.has_old_labels else []

    def scores(human: Floats, system: System) -> Floats:
        shares = system.aligned_to(votes).model
        model = np.broadcast_to(shares, (n_draws, *shares.shape))
        return repeated(measure, human[:, system.rows_in(votes)], model).columns[..., 0]

    against_truth = [scores(truths, system).mean() for system in everyone]
    rows = []
    for n_votes in (k for k in VOTES if k <= budget):
        crowds = draw_crowds(truths, n_votes, rng)
        n_items = budget // n_votes
        for system, truth in zip(everyone, against_truth, strict=True):
            found = scores(crowds, system)
            bias, error = found.mean() - truth, found.std() / np.sqrt(n_items)
            rows.append(
                {
                    "dataset": votes.dataset.name,
                    "system": system.name,
                    "measure": measure.name,
                    "n_votes": n_votes,
                    "n_items": n_items,
                    "value": found.mean(),
                    "bias": bias,
                    "standard_error": error,
                    "total_error": np.hypot(bias, error),
                }
            )
    return pd.DataFrame(rows)


@derived(keys=("dataset", "n_votes"))
def vote_bias(bought: pd.DataFrame) -> pd.DataFrame:
    """Return what few votes add to the difference of two models, for rows of `items_by_votes`.

    Parameters
    ----------
    bought : DataFrame
        As `items_by_votes` gives it.

    Returns
    -------
    DataFrame
        One row for each dataset and ``n_votes``: of its ``n_pairs`` of models, the ``median`` and
        ``largest`` shift of their difference in JSD, regardless of sign, and in how many it is
        ``reversed``, so that endlessly many items would rank them the wrong way; the median
        ``difference`` by the truth. ``guesses`` is the shift between old label and uniform guess,
        NaN without old labels. None where there are fewer than two models.
    """
    rows = []
    for (dataset, n_votes), found in bought.groupby(["dataset", "n_votes"], sort=False):
        scores = found.set_index("system").eval("truth = value - bias")
        models = scores.drop(index=[UNIFORM, OLD_LABEL], errors="ignore")
        if len(models) < 2:
            continue
        one, other = np.triu_indices(len(models), 1)
        gap, shift, seen = (
            models[name].to_numpy()[one] - models[name].to_numpy()[other]
            for name in ("truth", "bias", "value")
        )
        known = scores["bias"]
        guesses = known[UNIFORM] - known[OLD_LABEL] if OLD_LABEL in known else np.nan
        row = {"dataset": dataset, "n_votes": n_votes, "n_pairs": len(shift)}
        row |= {"median": np.median(np.abs(shift)), "largest": np.abs(shift).max()}
        row |= {"difference": np.median(np.abs(gap)), "reversed": int((gap * seen < 0).sum())}
        rows.append(row | {"guesses": guesses})
    columns = ["dataset", "n_votes", "n_pairs", "median", "largest", "difference", "reversed",
               "guesses"]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


BIAS_COLUMNS = [
    Column("dataset", "dataset", names=dataset_name),
    Column("votes per item", "n_votes"),
    Column("pairs of models", "n_pairs"),
    Column("median shift", "median", 4),
    Column("largest shift", "largest", 4),
    Column("ranked the wrong way", "reversed"),
    Column("median true difference", "difference", 3),
]


def side_by_side(scores: pd.DataFrame) -> pd.DataFrame:
    """Set measures side by side, a row for each system, for `SCORE_COLUMNS`.

    Parameters
    ----------
    scores : DataFrame
        As `normalised_scores` gives it.

    Returns
    -------
    DataFrame
        ``dataset``, ``system``, ``kind``, and for each measure ``…`` (the score), ``…_excess``
        (the score minus the perfect model's on the same items) and ``…_rescaled``, with ``_low``
        and ``_high``. Each dataset begins with its perfect model and second crowd, on the items of
        the system that covers most; then people, baselines and models, the nearest by JSD first.
    """
    rows = []
    for dataset, of_dataset in scores.groupby("dataset", sort=False):
        most = of_dataset.loc[of_dataset["n_items"].idxmax(), "system"]
        widest = of_dataset[of_dataset["system"] == most].to_dict("records")
        for reference, name in (("floor", PERFECT_MODEL), ("ceiling", SECOND_CROWD)):
            cells: dict[str, object] = {"dataset": dataset, "system": name, "kind": name}
            for row in widest:
                scale = row["ceiling"] - row["uniform"] if row["rescaled"] == row["rescaled"] else 0
                rescaled = (row[reference] - row["uniform"]) / scale if scale else np.nan
                cells |= {row["measure"]: row[reference], f"{row['measure']}_rescaled": rescaled}
                cells[f"{row['measure']}_excess"] = row[reference] - row["floor"]
            rows.append(cells)
        for system in _ranked(of_dataset):
            of_system = of_dataset[of_dataset["system"] == system]
            published = of_system["source"].iloc[0] == "published"
            name = f"{system} (published)" if published else system
            cells = {"dataset": dataset, "system": name, "kind": of_system["kind"].iloc[0]}
            for row in of_system.to_dict("records"):
                cells[row["measure"]] = row["value"]
                cells[f"{row['measure']}_excess"] = row["value"] - row["floor"]
                for end in ("", "_low", "_high"):
                    # + 0.0 turns −0.0, which would be shown so, into 0.0
                    rounded = np.round(row[f"rescaled{end}"], 2) + 0.0
                    cells[f"{row['measure']}_rescaled{end}"] = rounded
            rows.append(cells)
    return pd.DataFrame(rows)


def _ranked(scores: pd.DataFrame) -> list[str]:
    of_jsd = scores[scores["measure"] == "jsd"]
    place = of_jsd["kind"].map(("human", "baseline", "model").index)
    return list(of_jsd.assign(place=place).sort_values(["place", "value"])["system"])


def _ceiling(column: str) -> Callable[[Mapping[str, Any]], str]:
    """Show a second crowd's score, unless it is indistinguishable from 0."""

    def cell(row: Mapping[str, Any]) -> str:
        settled = is_settled(row["measure"], row[column], row["ceiling_se"])
        return number(row[column], 3) if settled else UNSETTLED

    return cell


def _relative(value: str, to: str) -> Callable[[Mapping[str, float]], str]:
    """Show by how many percent one column differs from another."""

    def cell(row: Mapping[str, float]) -> str:
        if np.isnan(row[value]) or not row[to]:
            return MISSING
        return f"{signed(100 * (row[value] / row[to] - 1), 1)} %"

    return cell


_OF_WHAT = [
    Column("dataset", "dataset", names=dataset_name),
    Column("measure", "measure", names=lambda name: MEASURES[name].title),
]
CEILING_COLUMNS = [
    *_OF_WHAT,
    Column("uniform guess", "uniform", 3),
    Column("perfect model", "floor", 3, "floor_low", "floor_high"),
    Column("split halves", _ceiling("ceiling_halves"), group="second crowd"),
    Column("drawn crowds", _ceiling("ceiling_posterior"), group="second crowd"),
]
PRIOR_COLUMNS = [
    *_OF_WHAT,
    Column("any shape", "floor", 4, group="perfect model"),
    Column("Dirichlet", _relative("floor_dirichlet", "floor"), group="perfect model"),
    Column("measured", "half_measured", 3, group="half crowds"),
    Column("any shape", _relative("half_drawn", "half_measured"), group="half crowds"),
    Column("Dirichlet", _relative("half_dirichlet", "half_measured"), group="half crowds"),
]


def _way(name: str) -> Column:
    """Return the column of how far a system has come from the uniform guess to the crowd."""
    column = f"{name}_rescaled"
    title = MEASURES[name].title
    ends = f"{column}_low", f"{column}_high"
    return Column(title, column, 2, *ends, group="rescaled", best="highest")


SCORE_COLUMNS = [
    Column("dataset", "dataset", names=dataset_name),
    Column("system", "system", names=SYSTEM_NAMES),
    Column("score", "jsd", 3, group=MEASURES["jsd"].title),
    Column("excess", "jsd_excess", 3, group=MEASURES["jsd"].title),
    *map(_way, ("jsd", "dist_ce", "ent_ce", "new_accuracy")),
]
