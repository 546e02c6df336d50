"""What a system is worth: its skill against the base rate, and in people on top of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.splits import item_groups
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.skill import (
    Distances,
    bootstrap_intervals,
    distances,
    is_above_zero,
    people_on_top,
    ratio_interval,
    skill_interval,
    skill_of_people,
)
from chaos_utils.scoring.human_equivalents import check_seed, predicted
from chaos_utils.scoring.system import System

PEOPLE, PEOPLE_TRUSTED = "people_on_top", "people_on_top_trusted"
SKILL, SKILL_TRUSTED = "skill", "skill_trusted"
POOLED = "human_equivalent_brier"
NAMES = (PEOPLE, PEOPLE_TRUSTED, SKILL, SKILL_TRUSTED, POOLED)
TITLES: Mapping[str, str] = {
    PEOPLE: "worth",
    PEOPLE_TRUSTED: "worth, trusted",
    SKILL: "skill",
    SKILL_TRUSTED: "skill, trusted",
    POOLED: "human equivalent",
}
UNITS = {name: "" if name.startswith(SKILL) else "people" for name in NAMES}
BELOW, BEYOND, UNDEFINED = "below the base rate", "more than voted", "undefined"
_FIELLER = "Fieller's interval over items, each with its votes"
_RESAMPLED = "items resampled, each with its votes; the base rate is held fixed"
_ON_TOP = "as near to the population as the system, beside the base rate"
_OF_WHAT = "of what the base rate leaves unknown of the population"
_REFITTED = "and the trust fitted anew"
ESTIMANDS = {
    PEOPLE: f"{_ON_TOP}; {_RESAMPLED}",
    PEOPLE_TRUSTED: f"{_ON_TOP}; {_RESAMPLED}, {_REFITTED}",
    SKILL: f"{_OF_WHAT}; {_FIELLER}; the base rate is held fixed",
    SKILL_TRUSTED: f"{_OF_WHAT}; {_RESAMPLED}, {_REFITTED}",
    POOLED: f"as near to the population as the system; {_FIELLER}",
}
_EPSILON = 1e-9  # of a probability that is 0 or 1


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
        Votes per item, on average: worth more is beyond the crowd.
    is_hard : bool
        Whether it gives one label per item: then only what is trusted compares with people, where
        one person is worth 1.
    undefined : str
        Why there is no skill, or no number of people; empty where there are both.
    trust : float
        λ fitted on all items; each item's own is fitted without the items that share its text.
    credibility : float
        k₀ = V/d₀: the skill of k people is k / (k + k₀).
    skill, skill_trusted : Estimate
        1 − d/d₀: 0 is the base rate, 1 as near as the votes can show. Of the system as it is, m;
        and of b + λ (m − b), trusted as far as it deserves. The second is what it knows, the gap is
        overconfidence.
    people, people_trusted : Estimate
        V/d − V/d₀: people whose answers, on top of the base rate, come as near.
    pooled : Estimate
        V/d: people whose shares, without the base rate, come as near.
    """

    n_items: int
    n_votes: float
    is_hard: bool
    undefined: str = ""
    trust: float = np.nan
    credibility: float = np.nan
    skill: Estimate = Estimate()
    skill_trusted: Estimate = Estimate()
    people: Estimate = Estimate()
    people_trusted: Estimate = Estimate()
    pooled: Estimate = Estimate()

    @property
    def estimates(self) -> dict[str, Estimate]:
        """The estimates by name, in the order of `NAMES`, those that may be shown.

        Of one label per item, only those that are trusted and `pooled`.
        """
        every = (self.people, self.people_trusted, self.skill, self.skill_trusted, self.pooled)
        found = dict(zip(NAMES, every, strict=True))
        return {n: one for n, one in found.items() if not (self.is_hard and n in (PEOPLE, SKILL))}

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The estimates as rows of a table, in numbers and in words."""
        return [
            {
                "measure": name,
                "n_items": self.n_items,
                "value": one.value,
                "low": one.low,
                "high": one.high,
                "text": self.text(name),
                "estimand": ESTIMANDS[name],
                "n_votes": self.n_votes,
                "credibility": self.credibility,
                "is_hard": self.is_hard,
            }
            for name, one in self.estimates.items()
        ]

    def text(self, name: str) -> str:
        """Return an estimate in words, with its interval if it has one.

        ``2.7 [2.4, 3.1]``, ``below the base rate [−1.2, −0.7]``, ``140 [90, ∞], more than voted``,
        ``undefined: …``; the `name` is one of `estimates`.
        """
        one = self.estimates[name]
        if np.isnan(one.value):
            return f"{UNDEFINED}: {self.undefined}"
        in_people = UNITS[name] == "people"
        short = _people if in_people else _share
        value = BELOW if in_people and short(one.value).startswith("−") else short(one.value)
        ends = "" if np.isnan(one.low) else f" [{short(one.low)}, {short(one.high)}]"
        is_beyond = in_people and one.value > self.n_votes
        return value + ends + f", {BEYOND}" * is_beyond


def in_a_sentence(found: Sequence[Mapping[str, Any]], where: str) -> str:
    """Say what a system is worth, from its `Worth.rows` with its name, beside a second crowd."""
    rows = {row["measure"]: row for row in found}
    trusted = rows[PEOPLE_TRUSTED]
    system, n_votes = trusted["system"], trusted["n_votes"]
    if np.isnan(trusted["value"]):
        return f"What {system} is worth in people on {where} is {trusted['text']}."
    said = [f"{_in_words(rows, PEOPLE_TRUSTED, SKILL_TRUSTED)} with one λ fitted on other items"]
    if PEOPLE in rows:
        said.insert(0, f"{_in_words(rows, PEOPLE, SKILL)} as it is")
    skill = skill_of_people(n_votes, trusted["credibility"])
    return (
        f"On {where}, {system} is worth, in people on top of the base rate, {' and '.join(said)}; "
        f"a second crowd is worth {_people(n_votes)} (skill {_share(float(skill))})."
    )


def _in_words(rows: Mapping[str, Mapping[str, Any]], name: str, of_skill: str) -> str:
    """Return a number of people, marked where it is below 0 or beyond the crowd, and the skill."""
    people, text = rows[name]["value"], rows[name]["text"]
    about = [BELOW] * text.startswith(BELOW) + [BEYOND] * text.endswith(BEYOND)
    if of_skill in rows:
        about.append(f"skill {rows[of_skill]['text']}")
    number = text.removeprefix(BELOW).removesuffix(f", {BEYOND}").strip()
    value = f"{_people(people)} {number}".strip() if text.startswith(BELOW) else number
    return f"{value} ({'; '.join(about)})" if about else value


def _people(value: float) -> str:
    if np.isinf(value):
        return "∞" if value > 0 else "−∞"
    return _signed(f"{value:.1f}" if abs(value) < 9.95 else f"{value:.0f}")


def _share(value: float) -> str:
    return "−∞" if np.isinf(value) else _signed(f"{value:.2f}")


def _signed(digits: str) -> str:
    return digits.replace("-", "−" if digits.strip("-0.") else "")


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

    so that k people's answers, used as well as the base rate allows, are worth k. Both again for
    :math:`b + \lambda (m - b)`, with λ fitted on items that share no text with the item. Votes, at
    least two on each item, base rate and λ are those of the items that the system covers. Intervals
    of people on top and of what is trusted are from `n_resamples` of the items; the others have
    Fieller's. Without resamples there is no interval.

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
    groups = item_groups([votes])[0][rows]
    is_hard = bool((model.max(axis=1) > 1 - _EPSILON).all())
    about = (len(rows), float(n_votes.mean()), is_hard)
    if (groups == groups[0]).all():
        return Worth(*about, "a base rate needs items of at least two texts")
    found = distances(votes.counts[rows], model, groups)
    resampling = {"n_resamples": n_resamples, "seed": seed}
    return of_distances(found, about[1], is_hard=is_hard, **resampling, level=level)


def of_distances(
    found: Distances,
    n_votes: float,
    *,
    is_hard: bool = False,
    n_resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> Worth:
    """Return what a system is worth, as `worth` does, from its squared distances."""
    person, base = found.of_person, found.of_base_rate
    why, credibility = "", np.nan
    if is_above_zero(base, level):
        credibility = float(person.mean() / base.mean())
    else:
        why = "the items hardly differ, or have too few votes to show it"
    estimates = {
        "skill": Estimate(*skill_interval(base, found.of_system, level)),
        "skill_trusted": Estimate(skill_interval(base, found.of_trusted, level)[0]),
    }
    if person.any():
        estimates["pooled"] = Estimate(*ratio_interval(person, found.of_system, level))
    else:
        why = why or "nobody disagrees on any item"
    if not why:
        of_system = [found.of_system.mean(), found.of_trusted.mean()]
        values = people_on_top(person.mean(), base.mean(), of_system).tolist()
        estimates["people"], estimates["people_trusted"] = map(Estimate, values)
    if not n_resamples:
        estimates = {name: Estimate(one.value) for name, one in estimates.items()}
    elif credibility >= 0:
        ends = bootstrap_intervals(found, n_resamples, seed, level)
        for name in ends.keys() & estimates:
            estimates[name] = _between(estimates[name], ends[name])
    return Worth(
        len(person),
        n_votes,
        is_hard,
        undefined=why,
        trust=found.trust,
        credibility=credibility,
        **estimates,
    )


def _between(one: Estimate, ends: tuple[float, float]) -> Estimate:
    """Return an estimate with its interval, which holds it: out of fold, little may be less."""
    return Estimate(one.value, min(ends[0], one.value), max(ends[1], one.value))
