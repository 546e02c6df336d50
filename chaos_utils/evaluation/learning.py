"""What moves one encoder toward the human distribution: the methods, side by side.

`learning_runs.Material` is what the runs left; here methods are made of it and scored.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.votes import Votes
from chaos_utils.evaluation.learning_runs import Material
from chaos_utils.evaluation.learning_temperatures import (
    FIXED_TEMPERATURE,
    Temperature,
    temperature_table,
    temperatures,
)
from chaos_utils.metrics.measures import MEASURES, Judged
from chaos_utils.metrics.resampling import (
    bca_interval,
    bootstrap_means,
    paired_p_value,
    percentile_interval,
)
from chaos_utils.scoring import systems
from chaos_utils.scoring.recalibration import temper
from chaos_utils.scoring.references import References
from chaos_utils.scoring.system import System

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
NAMES = (
    "jsd", "kl", "dist_ce", "ent_ce", "signed_ent_ce", "rank_cs", "new_accuracy", "old_accuracy",
)  # fmt: skip
# A drawn crowd has no old label, so old accuracy has neither floor nor ceiling.
REFERRED = NAMES[:-1]
METHODS: Mapping[str, tuple[str, str]] = {  # name: title, and what it learned from
    "plain": ("plain", "train"),
    "fixed": (f"T = {FIXED_TEMPERATURE:g} (fixed)", "train"),
    "held_out": ("T (held-out labels)", "dev"),
    "cross_fitted": ("T (votes, out of fold)", "votes"),
    "smoothing": ("label smoothing", "train"),
    "ensemble": ("seed ensemble", "train"),
    "mc": ("MC dropout", "train"),
    "soft": ("soft labels", "votes"),
}


@dataclass(frozen=True, slots=True, eq=False)
class Method:
    """A way to distributions, and what it predicts.

    Attributes
    ----------
    name : str
        In `METHODS`, or ``own`` for a system of the reader's.
    title : str
        For readers.
    learned_from : {'train', 'dev', 'votes', 'own'}
        The gold labels of training items alone; those of development items outside
        ChaosNLI too; votes on ChaosNLI's other items too; not known.
    predictions : System
    """

    name: str
    title: str
    learned_from: str
    predictions: System


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """All that is to be told of one dataset.

    Attributes
    ----------
    scores : DataFrame
        As `learning_table` gives it.
    temperatures : DataFrame
        As `temperature_table` gives it.
    missing : list of str
        Titles of the methods whose runs are not there.
    """

    scores: pd.DataFrame
    temperatures: pd.DataFrame
    missing: list[str]


def compare_methods(
    votes: Votes,
    material: Material,
    own: Sequence[System] = (),
    *,
    n_folds: int,
    n_resamples: int,
    confidence: float,
    seed: int,
) -> Comparison:
    """Make of the material all methods that can be made, and score them.

    Parameters
    ----------
    votes : Votes
    material : Material
    own : sequence of System
        Systems of the reader's, shown beside.
    n_folds : int
        Of the temperature that is fitted on votes, at least 2.
    n_resamples, confidence, seed
        Of all intervals: a number, at least 1; the coverage, in (0, 1); the seed, which is
        also that of folds and draws.

    Returns
    -------
    Comparison

    Raises
    ------
    ChaosError
        If a number is out of its range, or two systems have one title.
    """
    _check(n_resamples, confidence, n_folds)
    fitted = temperatures(
        votes, material,
        n_folds=n_folds, n_resamples=n_resamples, confidence=confidence, seed=seed,
    )  # fmt: skip
    made = methods(votes, material, fitted)
    shown = [*made, *(Method("own", one.name, "own", one) for one in own)]
    titles = [one.title for one in shown]
    if len(set(titles)) != len(titles):
        double = next(title for title in titles if titles.count(title) > 1)
        raise ChaosError("Two systems have the same name.", found=double, todo="rename one of them")
    found = References(votes, seed=seed)
    scores = learning_table(
        votes, shown, found, n_resamples=n_resamples, confidence=confidence, seed=seed
    )
    return Comparison(scores, temperature_table(votes, fitted), missing(made))


def methods(votes: Votes, material: Material, fitted: Sequence[Temperature]) -> list[Method]:
    """Return the methods that the material has what they need for, in the order of `METHODS`.

    Parameters
    ----------
    votes : Votes
    material : Material
    fitted : sequence of Temperature
        As `temperatures` gives them.

    Returns
    -------
    list of Method
    """
    found: dict[str, tuple[str, System]] = dict(material.others)
    if material.plain is not None:
        found["plain"] = ("", material.plain)
        for one in fitted:
            shares = temper(material.plain.probabilities, one.values)
            name = f"{material.plain.name}, {one.method}"
            found[one.method] = ("", systems.computed(name, votes, shares))
    if len(material.seeds) > 1:
        several = [one.probabilities for one in material.seeds.values()]
        name = "mean of " + "; ".join(one.name for one in material.seeds.values())
        mean = systems.computed(name, votes, np.mean(several, axis=0))
        found["ensemble"] = (f"{len(several)} seeds", mean)
    made = []
    for name, (title, learned_from) in METHODS.items():
        if name in found:
            detail, predictions = found[name]
            whole = f"{title} ({detail})" if detail else title
            made.append(Method(name, whole, learned_from, predictions))
    return made


def missing(made: Iterable[Method]) -> list[str]:
    """Return the titles of the methods that were not made, in order.

    Parameters
    ----------
    made : iterable of Method

    Returns
    -------
    list of str
    """
    there = {one.name for one in made}
    return [title for name, (title, _) in METHODS.items() if name not in there]


def learning_table(
    votes: Votes,
    made: Sequence[Method],
    found: References,
    *,
    n_resamples: int,
    confidence: float,
    seed: int,
) -> pd.DataFrame:
    """Score methods and references, and set each beside the plain run on the same items.

    Parameters
    ----------
    votes : Votes
    made : sequence of Method
        Those that cover the same items are resampled alike, the plain run with each of them.
    found : References
        Of the same dataset, with the measures in `REFERRED`.
    n_resamples : int
        Bootstrap resamples of the items, at least 1.
    confidence : float
        Coverage of the intervals, in (0, 1).
    seed : int

    Returns
    -------
    DataFrame
        One row for each method or reference and measure: ``dataset``, ``method``, ``title``,
        ``kind`` (reference, method, own), ``learned_from``, ``system``, ``n_items``,
        ``measure``, ``value``, ``low``, ``high`` (percentile interval), ``difference``
        from the plain run, ``difference_low``, ``difference_high`` (bias-corrected and
        accelerated) and ``p_value`` (two-sided). NaN where there is none: the floor and the
        ceiling have no interval, and nothing differs from a plain run that is missing.

    Notes
    -----
    Chance is the uniform distribution; for the accuracies it is the share of the most
    frequent label, as in Nie et al. (2020).
    """
    chance = Method("chance", "chance", "nothing", systems.uniform(votes))
    groups: dict[tuple[int, ...], list[tuple[Method, Floats]]] = {}
    for one in (chance, *made):
        rows = one.predictions.rows_in(votes)
        values = _per_item(one.predictions.aligned_to(votes))
        groups.setdefault(tuple(rows), []).append((one, values))
    plain = next((one.predictions for one in made if one.name == "plain"), None)
    base = None if plain is None else _per_item(plain.aligned_to(votes))
    parts = []
    for covered, members in groups.items():
        beside = None if base is None else base[np.array(covered)]
        parts += _scored(votes, members, beside, n_resamples, confidence, seed)
    table = pd.concat([*parts, _references(votes, found)], ignore_index=True)
    _set_chance(table, votes)
    if plain is not None:
        at_plain = table[table["method"] == "plain"].set_index("measure")["value"]
        gaps = table["value"] - table["measure"].map(at_plain)
        table["difference"] = table["difference"].fillna(gaps.where(table["kind"] == "reference"))
    place = {name: i for i, name in enumerate(("chance", "floor", "ceiling", *METHODS, "own"))}
    return table.sort_values("method", key=lambda names: names.map(place), kind="stable")


def _per_item(judged: Judged) -> Floats:
    """Return each item's value of each measure, shape (n_items, n_measures): all are means."""
    return np.concatenate([MEASURES[name].columns(judged) for name in NAMES], axis=1)


def _scored(
    votes: Votes,
    members: Sequence[tuple[Method, Floats]],
    plain: Floats | None,
    n_resamples: int,
    confidence: float,
    seed: int,
) -> list[pd.DataFrame]:
    """Score the methods that cover the same items; `plain` holds the plain run's values there."""
    values = [value for _, value in members] + ([] if plain is None else [plain])
    table = np.stack(values, axis=1)  # items, systems, measures
    n, n_systems, n_measures = table.shape
    means = bootstrap_means(table.reshape(n, -1), n_resamples, np.random.default_rng(seed))
    resampled = means.reshape(-1, n_systems, n_measures)
    low, high = percentile_interval(resampled, confidence)
    point = table.mean(axis=0)
    nothing = np.full_like(point, np.nan)
    gap, gap_low, gap_high, p_value = (nothing.copy() for _ in range(4))
    if plain is not None:
        gaps = resampled - resampled[:, -1:]
        gap = point - point[-1:]
        left_out = (table.sum(axis=0) - table) / max(n - 1, 1)
        gap_low, gap_high = bca_interval(gaps, gap, left_out - left_out[:, -1:], confidence)
        p_value = paired_p_value(gaps)
        for i, (one, _) in enumerate(members):
            if one.name == "plain":
                gap[i] = gap_low[i] = gap_high[i] = p_value[i] = np.nan
    return [
        pd.DataFrame(
            {
                "dataset": votes.dataset.name,
                "method": one.name,
                "title": one.title,
                "kind": {"chance": "reference", "own": "own"}.get(one.name, "method"),
                "learned_from": one.learned_from,
                "system": one.predictions.name,
                "n_items": n,
                "measure": NAMES,
                "value": point[i],
                "low": low[i],
                "high": high[i],
                "difference": gap[i],
                "difference_low": gap_low[i],
                "difference_high": gap_high[i],
                "p_value": p_value[i],
            }
        )
        for i, (one, _) in enumerate(members)
    ]


def _references(votes: Votes, found: References) -> pd.DataFrame:
    titles = {"floor": "floor (perfect model)", "ceiling": "ceiling (another crowd)"}
    rows = [
        {
            "dataset": votes.dataset.name,
            "method": name,
            "title": titles[name],
            "kind": "reference",
            "learned_from": "nothing",
            "system": name,
            "n_items": len(votes),
            "measure": measure,
            "value": value.value,
        }
        for name, scores in (("floor", found.perfect_model), ("ceiling", found.second_crowd))
        for measure in REFERRED
        if (value := scores(measure)) is not None
    ]
    return pd.DataFrame(rows)


def _set_chance(table: pd.DataFrame, votes: Votes) -> None:
    """Give chance the accuracies of the most frequent label, which have no interval."""
    for measure, labels in (
        ("new_accuracy", votes.majority),
        ("old_accuracy", votes.old_label),
    ):
        where = (table["method"] == "chance") & (table["measure"] == measure)
        table.loc[where, "low":"p_value"] = np.nan
        table.loc[where, "value"] = np.bincount(labels).max() / len(votes)


def _check(n_resamples: int, confidence: float, n_folds: int) -> None:
    """Fail with what a reader can act on where a parameter is out of its range."""
    for name, value, fits, expected in (
        ("resamples", n_resamples, n_resamples >= 1, "at least 1"),
        ("confidence", confidence, 0 < confidence < 1, "between 0 and 1, such as 0.95"),
        ("n_folds", n_folds, n_folds >= 2, "at least 2"),
    ):
        if not fits:
            raise ChaosError(f"{name} is out of its range.", found=value, expected=expected)
