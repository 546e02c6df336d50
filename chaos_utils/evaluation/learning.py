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
from chaos_utils.evaluation.learning_runs import Material
from chaos_utils.evaluation.learning_temperatures import (
    FIXED_TEMPERATURE,
    Temperature,
    temperature_table,
    temperatures,
)
from chaos_utils.scoring.references import (
    CHANCE,
    PERFECT_MODEL,
    SECOND_CROWD,
    References,
    chance_scores,
)
from chaos_utils.scoring.scores import score
from chaos_utils.scoring.system import System, votes_of
from chaos_utils.scoring.systems import uniform

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
_REFERENCES = {  # titles
    "chance": "chance",
    "floor": "floor (perfect model)",
    "ceiling": "ceiling (another crowd)",
}
_COLUMNS = (
    "dataset", "system", "family", "seed", "origin", "temperature", "method", "title", "kind",
    "learned_from", "n_items", "measure", "value", "low", "high", "difference", "difference_low",
    "difference_high", "p_value",
)  # fmt: skip


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
    n_resamples: int,
    confidence: float,
    seed: int,
) -> Comparison:
    """Make of the material all methods that can be made, and score them.

    Parameters
    ----------
    own : sequence of System
        Systems of the reader's, shown beside.
    n_folds : int
        Of the temperature that is fitted on votes, at least 2.
    n_resamples, confidence, seed
        Of all intervals: a number, at least 1; the coverage, in (0, 1); the seed, which is
        also that of folds and draws.
    """
    _check(n_resamples, confidence, n_folds)
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
    found = References(votes, seed=seed)
    scores = learning_table(
        votes, shown, found, n_resamples=n_resamples, confidence=confidence, seed=seed
    )
    return Comparison(scores, temperature_table(votes, fitted), missing(made))


def methods(votes: Votes, material: Material, fitted: Sequence[Temperature]) -> list[Method]:
    """Return the methods that the material has what they need for, in the order of `METHODS`.

    Parameters
    ----------
    fitted : sequence of Temperature
        As `temperatures` gives them.
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
    """Return the titles of the methods that were not made, in order."""
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
    made : sequence of Method
        Those that cover the same items are resampled alike, the plain run with each of them.
    found : References
        Of the same dataset, with the measures in `REFERRED`.
    n_resamples : int
        Bootstrap resamples of the items, at least 1.
    confidence : float
        Coverage of the intervals, in (0, 1).

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
    plain = next((one.system.name for one in made if one.name == "plain"), None)
    chance = chance_scores(votes, NAMES, n_resamples=n_resamples, seed=seed, level=confidence)
    even = replace(uniform(votes), name=CHANCE, family=CHANCE)
    scores = score(
        votes,
        [even, *(one.system for one in made)],
        measures=NAMES,
        n_resamples=n_resamples,
        seed=seed,
        level=confidence,
        reference=plain,
    )
    keys = ["system", "measure"]
    renamed = {"value": "difference", "low": "difference_low", "high": "difference_high",
               "p": "p_value"}  # fmt: skip
    gaps = scores.loc[scores["reference"] != "", [*keys, *renamed]].rename(columns=renamed)
    # For the accuracies, chance is no prediction, so only its value can be compared.
    no_prediction = chance.loc[chance["interval"] == "", "measure"]
    gaps = gaps[(gaps["system"] != CHANCE) | ~gaps["measure"].isin(no_prediction)]
    told = pd.DataFrame(
        {
            "system": one.system.name,
            "method": one.name,
            "title": one.title,
            "kind": "own" if one.name == "own" else "method",
            "learned_from": learned_from(one.system),
        }
        for one in made
    )
    parts = [scores[scores["reference"] == ""].merge(told, on="system")] if made else []
    for (name, title), rows in zip(
        _REFERENCES.items(), [chance, *_split(found.scores(REFERRED))], strict=True
    ):
        parts.append(
            rows.assign(method=name, title=title, kind="reference", learned_from="nothing")
        )
    table = pd.concat(parts, ignore_index=True).merge(gaps, "left", keys)
    if plain is not None:
        at_plain = table[table["method"] == "plain"].set_index("measure")["value"]
        beside = (table["value"] - table["measure"].map(at_plain)).where(
            table["kind"] == "reference"
        )
        table["difference"] = table["difference"].fillna(beside)
    place = {name: i for i, name in enumerate((*_REFERENCES, *METHODS, "own"))}
    table = table.sort_values("method", key=lambda names: names.map(place), kind="stable")
    return table[list(_COLUMNS)]


def _split(references: pd.DataFrame) -> list[pd.DataFrame]:
    return [references[references["system"] == name] for name in (PERFECT_MODEL, SECOND_CROWD)]


def _check(n_resamples: int, confidence: float, n_folds: int) -> None:
    """Fail with what a reader can act on where a parameter is out of its range."""
    for name, value, fits, expected in (
        ("resamples", n_resamples, n_resamples >= 1, "at least 1"),
        ("confidence", confidence, 0 < confidence < 1, "between 0 and 1, such as 0.95"),
        ("n_folds", n_folds, n_folds >= 2, "at least 2"),
    ):
        if not fits:
            raise ChaosError(f"{name} is out of its range.", found=value, expected=expected)
