"""What moves one encoder toward the human distribution: the methods, side by side.

`learning_runs.Material` is what the runs left; here methods are made of it and scored.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.votes import Votes
from chaos_utils.evaluation.ceilings import References, references
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
from chaos_utils.scoring.system import System, votes_of

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
NAMES = (
    "jsd", "kl", "dist_ce", "ent_ce", "signed_ent_ce", "rank_cs", "new_accuracy", "old_accuracy",
)  # fmt: skip
# A drawn crowd has no old label, so old accuracy has neither floor nor ceiling.
REFERRED = NAMES[:-1]
METHODS: Mapping[str, str] = {  # titles
    "plain": "plain",
    "fixed": f"T = {FIXED_TEMPERATURE:g} (fixed)",
    "held_out": "T (held-out labels)",
    "cross_fitted": "T (votes, out of fold)",
    "smoothing": "label smoothing",
    "ensemble": "seed ensemble",
    "mc": "MC dropout",
    "soft": "soft labels",
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
    system : System
    """

    name: str
    title: str
    system: System


def learned_from(system: System) -> str:
    """Return what a system learned from, of ``train``, ``dev``, ``votes``, ``own``, ``nothing``.

    These are the gold labels of training items alone; those of development items outside
    ChaosNLI too; votes on other items too; not known; and nothing, for a baseline.
    """
    if system.origin in ("yours", "baseline"):
        return {"yours": "own", "baseline": "nothing"}[system.origin]
    if votes_of(system.dataset) in system.trained_on:
        return "votes"
    return "dev" if _development_of(system.dataset) in system.trained_on else "train"


def _development_of(dataset: Dataset) -> str:
    return f"development items of {dataset.short}"


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
    n_draws: int,
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
    n_draws : int
        For floor and ceiling, as `ceilings.references` takes it.
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
    _check(n_resamples, confidence, n_folds, n_draws)
    fitted = temperatures(
        votes, material,
        n_folds=n_folds, n_resamples=n_resamples, confidence=confidence, seed=seed,
    )  # fmt: skip
    made = methods(votes, material, fitted)
    shown = [*made, *(Method("own", one.name, one) for one in own)]
    titles = [one.title for one in shown]
    if len(set(titles)) != len(titles):
        double = next(title for title in titles if titles.count(title) > 1)
        raise ChaosError("Two systems have the same name.", found=double, todo="rename one of them")
    found = references(votes, n_draws, seed, REFERRED)
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
        plain = material.plain
        found["plain"] = ("", plain)
        for one in fitted:
            scaled = plain.at_temperature(one.values, f"{plain.name}, {one.method}")
            if one.method == "held_out":
                on = (*plain.trained_on, _development_of(plain.dataset))
                scaled = replace(scaled, trained_on=on)
            elif one.method == "cross_fitted":
                on = (*plain.trained_on, votes_of(plain.dataset))
                scaled = replace(scaled, trained_on=on, out_of_fold=True)
            found[one.method] = ("", scaled)
    if len(material.seeds) > 1:
        shares = np.mean([one.probabilities for one in material.seeds], axis=0)
        mean = replace(
            material.seeds[0],
            name="mean of " + "; ".join(one.name for one in material.seeds),
            seed=None,
            probabilities=shares,
            predicted=shares.argmax(axis=1),
        )
        found["ensemble"] = (f"{len(material.seeds)} seeds", mean)
    made = []
    for name, title in METHODS.items():
        if name in found:
            detail, system = found[name]
            made.append(Method(name, f"{title} ({detail})" if detail else title, system))
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
    return [title for name, title in METHODS.items() if name not in there]


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
        One row for each method or reference and measure: the system's keys, ``method``,
        ``title``, ``kind`` (reference, method, own), ``learned_from``, ``n_items``,
        ``measure``, ``value``, ``low``, ``high`` (percentile interval), ``difference``
        from the plain run, ``difference_low``, ``difference_high`` (bias-corrected and
        accelerated) and ``p_value`` (two-sided). NaN where there is none: the floor and the
        ceiling have no interval, and nothing differs from a plain run that is missing.

    Notes
    -----
    Chance is the uniform distribution; for the accuracies it is the share of the most
    frequent label, as in Nie et al. (2020).
    """
    chance = Method("chance", "chance", systems.uniform(votes))
    groups: dict[tuple[int, ...], list[tuple[Method, Floats]]] = {}
    for one in (chance, *made):
        rows = one.system.rows_in(votes)
        values = _per_item(one.system.aligned_to(votes))
        groups.setdefault(tuple(rows), []).append((one, values))
    plain = next((one.system for one in made if one.name == "plain"), None)
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
    table = table.astype({"seed": "Int64"})
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
            one.system.keys
            | {
                "method": one.name,
                "title": one.title,
                "kind": {"chance": "reference", "own": "own"}.get(one.name, "method"),
                "learned_from": learned_from(one.system),
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
            "system": name,
            "family": name,
            "origin": "reference",
            "temperature": 1.0,
            "method": name,
            "title": titles[name],
            "kind": "reference",
            "learned_from": "nothing",
            "n_items": len(votes),
            "measure": measure,
            "value": value.value,
        }
        for name, values in (("floor", found.floor), ("ceiling", found.ceiling))
        for measure, value in values.items()
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


def _check(n_resamples: int, confidence: float, n_folds: int, n_draws: int) -> None:
    """Fail with what a reader can act on where a parameter is out of its range."""
    for name, value, fits, expected in (
        ("resamples", n_resamples, n_resamples >= 1, "at least 1"),
        ("confidence", confidence, 0 < confidence < 1, "between 0 and 1, such as 0.95"),
        ("n_folds", n_folds, n_folds >= 2, "at least 2"),
        ("draws", n_draws, n_draws >= 1, "at least 1"),
    ):
        if not fits:
            raise ChaosError(f"{name} is out of its range.", found=value, expected=expected)
