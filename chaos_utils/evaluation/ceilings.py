"""How well a system could do: every system between the references of its dataset."""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.datasets.published.tables import read_published
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.metrics.resampling import bootstrap_tables, percentile_interval, rescale
from chaos_utils.scoring.draws import Floats, Repeated
from chaos_utils.scoring.references import References
from chaos_utils.scoring.system import System

NAMES = ("jsd", "kl", "dist_ce", "ent_ce", "new_accuracy", "rank_cs", "ece_votes")
ESTIMATED_HUMAN = "estimated human"


def reference_scores(found: References, measures: Iterable[str] = NAMES) -> pd.DataFrame:
    """Tabulate a dataset's references.

    Returns
    -------
    DataFrame
        One row per measure: ``dataset``, ``measure``, ``n_votes``, ``uniform``, ``floor``,
        ``ceiling_halves`` (extrapolated) and its Monte Carlo error ``…_error``,
        ``ceiling_posterior`` and its ``…_sd``; then ``n_half``, ``half_measured`` and
        ``half_drawn``, the scores of half crowds, cut from the votes and drawn from the
        posterior. Standard deviations are over draws of truth and votes.
    """
    rows = []
    for name in measures:
        floor, crowds = found.perfect_model(name), found.crowds(name)
        rows.append(
            {
                "dataset": found.votes.dataset.name,
                "measure": name,
                "n_votes": found.n_votes,
                "uniform": found.uniform(name).value,
                "floor": floor.value,
                "floor_sd": floor.values.std(),
                "ceiling_halves": _value(found.halves(name)),
                "ceiling_halves_error": found.extrapolation_error(name),
                "ceiling_posterior": _value(crowds),
                "ceiling_posterior_sd": np.nan if crowds is None else crowds.values.std(),
                "n_half": found.n_half,
                "half_measured": _value(found.measured_half(name)),
                "half_drawn": _value(found.drawn_half(name)),
            }
        )
    return pd.DataFrame(rows)


def _value(found: Repeated | None) -> float:
    return np.nan if found is None else found.value


def normalised_scores(
    systems: Sequence[System],
    found: References,
    n_resamples: int,
    seed: int,
    measures: Iterable[str] = NAMES,
) -> pd.DataFrame:
    """Rescale systems' scores so that 0 is the uniform prediction and 1 the ceiling.

    Every system is set beside the references on the items that it covers; system,
    uniform prediction and ceiling are resampled together.

    Parameters
    ----------
    found : References
        Of the same dataset.
    n_resamples : int
        Bootstrap resamples of the items for 95% percentile intervals, at least 1.

    Returns
    -------
    DataFrame
        One row for each system and measure: ``dataset``, ``system``, ``source``,
        ``n_items``, ``measure``, ``value``, ``low``, ``high``, ``floor``, ``ceiling``,
        ``uniform``, ``rescaled``, ``rescaled_low``, ``rescaled_high``. Rescaled is NaN
        where there is no ceiling, or where it is not surely better than the uniform
        prediction: its distance has an interval that holds 0.
    """
    names, votes = list(measures), found.votes
    # What systems on the same items share is resampled once.
    pieces: dict[tuple[object, ...], tuple[npt.NDArray[np.int64], Repeated]] = {}
    keys: list[tuple[System, str, list[tuple[object, ...]]]] = []
    for system in systems:
        rows, judged = system.rows_in(votes), system.aligned_to(votes)
        cover = rows.tobytes()
        for name in names:
            ceiling = found.second_crowd(name)
            of_row: list[tuple[object, ...]] = [(system.name, name), (cover, "uniform", name)]
            pieces[of_row[0]] = rows, Repeated.once(MEASURES[name], judged)
            if of_row[1] not in pieces:
                pieces[of_row[1]] = rows, found.uniform(name).on(rows)
            if ceiling is not None:
                of_row.append((cover, "ceiling", name))
                if of_row[2] not in pieces:
                    pieces[of_row[2]] = rows, ceiling.on(rows)
            keys.append((system, name, of_row))
    # As `scores.score` resamples them, so that a system has one interval on every page.
    rng = np.random.default_rng([seed, 0])
    tables = [(rows, piece.table) for rows, piece in pieces.values()]
    means = bootstrap_tables(tables, np.arange(len(votes)), n_resamples, rng)
    draws = {
        key: piece.of_means(one)
        for (key, (_, piece)), one in zip(pieces.items(), means, strict=True)
    }
    return pd.DataFrame(
        {
            "dataset": votes.dataset.name,
            "system": system.name,
            "source": "computed",
            "n_items": len(pieces[of_row[0]][0]),
            "measure": name,
            "floor": found.perfect_model(name).on(pieces[of_row[0]][0]).value,
            **_rescaled([pieces[key][1] for key in of_row], [draws[key] for key in of_row]),
        }
        for system, name, of_row in keys
    )


def _rescaled(values: list[Repeated], resampled: list[Floats]) -> dict[str, float]:
    """Rescale a system's score; `values` are it, the uniform prediction and the ceiling, if any."""
    system, uniform, *ceiling = (piece.value for piece in values)
    low, high = percentile_interval(resampled[0])
    cells = {"ceiling": ceiling[0] if ceiling else np.nan, "uniform": uniform, "value": system}
    cells |= {"low": float(low), "high": float(high)}
    cells |= dict.fromkeys(("rescaled", "rescaled_low", "rescaled_high"), np.nan)
    sign = {"lower": -1, "higher": 1, "zero": 0}[values[0].measure.better]
    if ceiling:
        room = resampled[2] - resampled[1]
        if min(percentile_interval(sign * room)) > 0:
            cells["rescaled"] = float(rescale(system, at_zero=uniform, at_one=ceiling[0])) + 0.0
            ends = percentile_interval((resampled[0] - resampled[1]) / room)
            cells["rescaled_low"], cells["rescaled_high"] = (float(end) + 0.0 for end in ends)
    return cells


def estimated_human(found: References) -> pd.DataFrame:
    """Return the published scores of estimated human performance, as `normalised_scores` does.

    They come from Table 5 of Nie et al. (2020) and have no interval: the second crowd
    that they were computed from was not released. Empty for a dataset that is not in it.
    """
    table = read_published("nie2020_table5")
    dataset = found.votes.dataset.name
    published = table[(table["dataset"] == dataset) & (table["model"] == "est-human")]
    rows = []
    for name in ("jsd", "kl", "new_accuracy") if len(published) else ():
        value = float(published[name].iloc[0])
        uniform = found.uniform(name).value
        ceiling = _value(found.second_crowd(name))
        rows.append(
            {
                "dataset": dataset,
                "system": ESTIMATED_HUMAN,
                "source": "published",
                "n_items": len(found.votes),
                "measure": name,
                "value": value,
                "floor": found.perfect_model(name).value,
                "ceiling": ceiling,
                "uniform": uniform,
                "rescaled": np.nan
                if np.isnan(ceiling)
                else float(rescale(value, at_zero=uniform, at_one=ceiling)),
            }
        )
    return pd.DataFrame(rows)
