"""What a system is worth: its skill against the base rate, and people on top of the base rate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.numbers import true_minus
from chaos_utils.datasets.splits import folds_of, item_groups
from chaos_utils.datasets.votes import Ints, Votes
from chaos_utils.metrics.divergence import Floats, squared_distance
from chaos_utils.metrics.skill import (
    FEWEST_DISPUTED,
    distances,
    intervals,
    is_above_zero,
    people_on_top,
    pooled_people,
    skill,
    skill_of_people,
)
from chaos_utils.scoring.copies import COPIED
from chaos_utils.scoring.human_equivalents import check_seed, predicted
from chaos_utils.scoring.recalibration import are_labels, recalibrated, too_few_to_recalibrate
from chaos_utils.scoring.scores import ScoreRow
from chaos_utils.scoring.system import System, votes_of

PEOPLE, SKILL = "people_on_top", "skill"
PEOPLE_RECALIBRATED, PEOPLE_SHRUNK = f"{PEOPLE}_recalibrated", f"{PEOPLE}_shrunk"
SKILL_RECALIBRATED, SKILL_SHRUNK = f"{SKILL}_recalibrated", f"{SKILL}_shrunk"
POOLED = "human_equivalent_brier"
NAMES = (PEOPLE, PEOPLE_RECALIBRATED, PEOPLE_SHRUNK, SKILL, SKILL_RECALIBRATED, SKILL_SHRUNK,
         POOLED)  # fmt: skip
AS_IT_IS = (PEOPLE, SKILL)  # not shown for a system that gives one label per item
RECALIBRATED, SHRUNK = (PEOPLE_RECALIBRATED, SKILL_RECALIBRATED), (PEOPLE_SHRUNK, SKILL_SHRUNK)
TITLES: Mapping[str, str] = {
    PEOPLE: "worth",
    PEOPLE_RECALIBRATED: "worth, recalibrated",
    PEOPLE_SHRUNK: "worth, shrunk",
    SKILL: "skill",
    SKILL_RECALIBRATED: "skill, recalibrated",
    SKILL_SHRUNK: "skill, shrunk",
    POOLED: "human equivalent",
}
UNITS = {name: "" if name.startswith(SKILL) else "people" for name in NAMES}
# The same, as `metrics.skill.intervals` names them.
_METRIC_NAMES = {name: name.replace(PEOPLE, "people").replace(POOLED, "pooled") for name in NAMES}
BELOW, BEYOND = "below the base rate", "more than voted"
UNDEFINED, TOO_FEW = "undefined", "too few items to say"
_ON_TOP = "as near to the population as the system, beside the base rate"
_OF_THE_UNKNOWN = "of what the base rate leaves unknown of the population"
_RESAMPLED = "items resampled, each with its votes; the base rate is held fixed"
_HELD_FIXED = f"{_RESAMPLED}, and so are predictions out of fold"
_REFITTED = f"{_RESAMPLED}, and the shrinkage fitted anew"
_NO_BASE_RATE = "items resampled, each with its votes"
ESTIMANDS = {
    PEOPLE: f"{_ON_TOP}; {_RESAMPLED}",
    PEOPLE_RECALIBRATED: f"{_ON_TOP}; {_HELD_FIXED}",
    PEOPLE_SHRUNK: f"{_ON_TOP}; {_REFITTED}",
    SKILL: f"{_OF_THE_UNKNOWN}; {_RESAMPLED}",
    SKILL_RECALIBRATED: f"{_OF_THE_UNKNOWN}; {_HELD_FIXED}",
    SKILL_SHRUNK: f"{_OF_THE_UNKNOWN}; {_REFITTED}",
    POOLED: f"as near to the population as the system; {_NO_BASE_RATE}",
}


@dataclass(frozen=True, slots=True)
class Estimate:
    """A `value` and the ends of its interval, `low` and `high`; NaN where undefined."""

    value: float = np.nan
    low: float = np.nan
    high: float = np.nan


@dataclass(frozen=True, slots=True)
class Worth:
    """What a system is worth on some items.

    Attributes
    ----------
    n_items : int
    n_votes : float
        Votes per item, on average: a larger worth is beyond the crowd.
    is_hard : bool
        Whether it gives one label per item; it then compares with people only if recalibrated or
        shrunk.
    undefined : str
        Why there is no skill, or no number of people, in words; empty if there are both.
    not_recalibrated : str
        Why it is not recalibrated, in words; empty if it is.
    shrinkage : float
        λ fitted on all items; the λ used for an item is fitted without items that share its text.
    credibility : float
        k₀ = V/d₀: the skill of k people is k / (k + k₀).
    estimates : mapping from str to Estimate
        By the names in `NAMES`. ``people_on_top`` is V/d − V/d₀: people whose answers, on top of
        the base rate, come as near. ``skill`` is 1 − d/d₀: 0 is the base rate, 1 as near as the
        votes can show. People and skill are for the system as it is, m; for the system as
        `scoring.recalibration` maps it, which is what it knows; and for b + λ (m − b), drawn
        towards the base rate.
        ``human_equivalent_brier`` is V/d: people whose shares, without the base rate, come as near.
    by_item : mapping from str to ndarray of float, shape (n_items,)
        Unbiased squared distances to the population, of the system as it is, recalibrated and
        shrunk, by the names of these estimates in people; without what has no value.
    """

    n_items: int
    n_votes: float
    is_hard: bool
    undefined: str = ""
    not_recalibrated: str = ""
    shrinkage: float = np.nan
    credibility: float = np.nan
    estimates: Mapping[str, Estimate] = field(
        default_factory=lambda: dict.fromkeys(NAMES, Estimate())
    )
    by_item: Mapping[str, Floats] = field(default_factory=dict, repr=False, compare=False)

    @property
    def shown(self) -> dict[str, Estimate]:
        """The estimates that may be shown: with one label per item, all but those `AS_IT_IS`."""
        hidden = AS_IT_IS if self.is_hard else ()
        return {name: self.estimates[name] for name in NAMES if name not in hidden}

    @property
    def rows(self) -> list[ScoreRow]:
        """The estimates as rows of a table, in numbers and in words."""
        return [
            {
                "measure": name,
                "n_items": self.n_items,
                "value": estimate.value,
                "low": estimate.low,
                "high": estimate.high,
                "text": self.text(name),
                "estimand": ESTIMANDS[name],
                "n_votes": self.n_votes,
                "credibility": self.credibility,
                "is_hard": self.is_hard,
            }
            for name, estimate in self.shown.items()
        ]

    def text(self, name: str) -> str:
        """Return an estimate in words, with its interval if it has one.

        ``2.7 [2.4, 3.1]``, ``below the base rate [−1.2, −0.7]``, ``140 [90, ∞], more than voted``,
        ``undefined: …``, ``too few items to say: …``; the `name` is one of `shown`.
        """
        estimate = self.shown[name]
        if np.isnan(estimate.value):
            return self.undefined or self.not_recalibrated
        in_people = UNITS[name] == "people"
        short = people_in_words if in_people else _share_text
        value = (
            BELOW if in_people and short(estimate.value).startswith("−") else short(estimate.value)
        )
        ends = "" if np.isnan(estimate.low) else f" [{short(estimate.low)}, {short(estimate.high)}]"
        is_beyond = in_people and estimate.value > self.n_votes
        return value + ends + f", {BEYOND}" * is_beyond


def is_number(text: str) -> bool:
    """Return whether an estimate in words is a number, and not the reason why there is none."""
    return not text.startswith((UNDEFINED, TOO_FEW))


def without_reason(text: str) -> str:
    """Return an estimate in words, without the reason if it is not a number."""
    return text if is_number(text) else text.partition(":")[0]


def in_a_sentence(estimates: Sequence[ScoreRow], where: str) -> str:
    """Say what a system is worth, and a second crowd, from `Worth.rows` with the system's name."""
    rows = {row["measure"]: row for row in estimates}
    known = [
        (people, skill_name, how)
        for people, skill_name, how in (
            (PEOPLE, SKILL, "as it is"),
            (PEOPLE_RECALIBRATED, SKILL_RECALIBRATED, "after recalibration"),
            (PEOPLE_SHRUNK, SKILL_SHRUNK, "after shrinkage"),
        )
        if people in rows and is_number(rows[people]["text"])
    ]
    row = next(row for name, row in rows.items() if name.startswith(PEOPLE))
    system, n_votes = row["system"], row["n_votes"]
    if not known:
        return f"What {system} is worth in people on {where}: {row['text']}."
    crowd = skill_of_people(n_votes, row["credibility"])
    # The shrunk estimate is a phrase only if there are too few items to recalibrate.
    (people, skill_name, how), *others = known[:2]
    phrases = [_in_words(rows, people, skill_name, f"on top of the base rate {how}", " people")]
    phrases += [_in_words(rows, *other) for other in others]
    return (
        f"On {where}, {system} is worth {' and '.join(phrases)}; a second crowd is worth "
        f"{people_in_words(n_votes)} (skill {_share_text(float(crowd))})."
    )


def _in_words(
    rows: Mapping[str, ScoreRow], name: str, skill_name: str, how: str, unit: str = ""
) -> str:
    """Return a number of people with its interval, `how`, and in parentheses marks and the skill.

    Marks say that the number is below 0, beyond the crowd, or that of a copy.
    """
    text = rows[name]["text"]
    about = [mark for mark in (BELOW, BEYOND, COPIED) if mark in text]
    if skill_name in rows:
        about.append(f"skill {rows[skill_name]['text']}")
    interval = text[text.index(" [") : text.index("]") + 1] if "[" in text else ""
    phrase = f"{people_in_words(rows[name]['value'])}{unit}{interval} {how}"
    return f"{phrase} ({'; '.join(about)})" if about else phrase


def people_in_words(value: float) -> str:
    """Return a number of people as it is shown everywhere, such as ``2.7``, ``−1.0`` and ``∞``."""
    if np.isinf(value):
        return "∞" if value > 0 else "−∞"
    return true_minus(f"{value:.1f}" if abs(value) < 9.95 else f"{value:.0f}")


def _share_text(value: float) -> str:
    return "−∞" if np.isinf(value) else true_minus(f"{value:.2f}")


def worth(
    votes: Votes,
    system: System,
    *,
    n_resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> Worth:
    r"""Compute a system's skill against the base rate, and its worth in people on top of it.

    With V the chance that two people differ, d a system's unbiased squared distance to the
    population, and d₀ that of the leave-one-out base rate b,

    .. math:: \text{skill} = 1 - d / d_0, \qquad \text{people on top} = V/d - V/d_0

    so that k people's answers, used as well as the base rate allows, are worth k. Both are also
    computed for the system recalibrated, by a map fitted on the items of other folds (a system that
    was itself fitted out of fold counts as recalibrated), and for :math:`b + \lambda (m - b)`, with
    λ fitted on items that share no text with the item. Votes, at least two on each item, base rate,
    map and λ are for the items that the system covers.

    Intervals are from `n_resamples` of the items, by bootstrap-t; 0 for none. There are no numbers
    if people disagree on fewer than 30 items, and none for a map for which
    `scoring.recalibration.too_few_to_recalibrate` has a reason.

    References
    ----------
    Murphy, A. H. (1988). Skill scores based on the mean square error and their relationships to
    the correlation coefficient.
    Bühlmann, H. (1967). Experience rating and credibility.
    """
    check_seed(seed)
    rows, model = predicted(votes, system)
    n_votes = votes.n_votes[rows]
    if n_votes.min() < 2:
        raise ChaosError(
            "What a system is worth needs at least two votes per item.",
            where=votes.dataset.title,
            found=f"{(n_votes < 2).sum()} of {len(rows)} items have a single vote",
            todo="leave these items out",
        )
    groups = item_groups([votes])[0]
    is_fitted = system.out_of_fold and votes_of(votes.dataset) in system.trained_on
    return of_predictions(
        votes.counts[rows],
        model,
        groups[rows],
        folds_of(groups)[rows],
        n_answers=system.n_answers,
        is_fitted=is_fitted,
        n_resamples=n_resamples,
        seed=seed,
        level=level,
    )


def of_predictions(
    counts: Ints,
    model: Floats,
    groups: Ints,
    folds: Ints,
    *,
    varying: Floats | float = 0.0,
    n_answers: int = 0,
    is_fitted: bool = False,
    n_resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> Worth:
    """Return what predictions are worth, as `worth` does.

    `groups` and `varying` are as for `metrics.skill.distances`; `folds` and `n_answers` as for
    `scoring.recalibration.recalibrated`. Predictions that vary are not recalibrated.
    """
    n_votes = counts.sum(axis=1)
    is_hard = are_labels(model)
    about = (len(counts), float(n_votes.mean()), is_hard)
    if (groups == groups[0]).all():
        return Worth(*about, f"{UNDEFINED}: a base rate needs items of at least two texts")
    n_disputed = int((counts.max(axis=1) < n_votes).sum())
    if n_disputed < FEWEST_DISPUTED:
        return Worth(
            *about,
            f"{TOO_FEW}: people disagree on {n_disputed} of {len(counts)}, "
            f"and it takes {FEWEST_DISPUTED}",
        )
    by_item = distances(counts, model, groups, varying)
    person, base = by_item.of_person, by_item.of_base_rate
    if not is_above_zero(base, level):
        why = "the items hardly differ, or have too few votes to show it"
        pooled = Estimate(float(pooled_people(person.mean(), by_item.of_system.mean())))
        answer = Worth(*about, f"{UNDEFINED}: {why}", shrinkage=by_item.shrinkage)
        return replace(answer, estimates={**answer.estimates, POOLED: pooled})
    shares = counts / n_votes[:, np.newaxis]
    distances_by_variant = {"": by_item.of_system, "_shrunk": by_item.of_shrunk}
    recalibrated_distances, not_recalibrated = None, too_few_to_recalibrate(*model.shape)
    if np.any(varying):
        not_recalibrated = f"{UNDEFINED}: only predictions that do not vary are recalibrated"
    elif not_recalibrated:
        not_recalibrated = f"{TOO_FEW}: {not_recalibrated}"
    elif (folds == folds[0]).all():
        not_recalibrated = f"{TOO_FEW}: a map takes items of more texts"
    if is_fitted and not is_hard:
        recalibrated_distances, not_recalibrated = by_item.of_system, ""
    elif not not_recalibrated:
        mapped = recalibrated(model, shares, folds, n_answers)
        recalibrated_distances = squared_distance(shares, mapped, n_votes)
    if recalibrated_distances is not None:
        distances_by_variant["_recalibrated"] = recalibrated_distances
    ends = {}
    if n_resamples:
        ends = intervals(
            by_item, recalibrated_distances, n_resamples=n_resamples, seed=seed, level=level
        )
    values = {"pooled": pooled_people(person.mean(), by_item.of_system.mean())}
    for name, variant_distances in distances_by_variant.items():
        values[f"skill{name}"] = skill(base.mean(), variant_distances.mean())
        values[f"people{name}"] = people_on_top(
            person.mean(), base.mean(), variant_distances.mean()
        )

    def estimate_of(name: str) -> Estimate:
        value = float(values.get(name, np.nan))
        # An interval must hold its value: out of fold, a worth near 0 may be below its interval.
        low, high = ends.get(name, (np.nan, np.nan))
        return Estimate(value, min(low, value), max(high, value))

    return Worth(
        *about,
        not_recalibrated=not_recalibrated,
        shrinkage=by_item.shrinkage,
        credibility=float(person.mean() / base.mean()),
        estimates={name: estimate_of(key) for name, key in _METRIC_NAMES.items()},
        by_item={f"{PEOPLE}{name}": values for name, values in distances_by_variant.items()},
    )
