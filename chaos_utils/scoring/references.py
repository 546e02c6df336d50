"""What systems are set beside: the perfect model, the second crowd, the uniform prediction.

The votes on an item are a sample, so even a model that predicts the item's true
distribution scores worse than perfect (the *noise floor*), and so does one crowd as a
prediction of another (the *ceiling*). Both are drawn once for a dataset, here.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.datasets.votes import Ints, Votes
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.metrics.resampling import split_votes
from chaos_utils.scoring.draws import Floats, Repeated, draw_crowds, draw_posterior, repeated
from chaos_utils.scoring.scores import ALL, as_scores, available, score
from chaos_utils.scoring.systems import uniform

DRAWS = 20  # of the items' true distributions: one number for every page
KNOWN = Path(__file__).parent / "reference_scores"  # of released votes: a file for each dataset
KNOWN_COLUMNS = ("dataset", "sha256", "seed", "n_items", "system", "measure", "value")
PERFECT_MODEL, SECOND_CROWD, CHANCE = "perfect model", "second crowd", "chance"
_LABELS: Mapping[str, Callable[[Votes], Ints]] = {
    "old_accuracy": lambda votes: votes.old_label,
    "new_accuracy": lambda votes: votes.majority,
}
_SPLITS = (0.2, 0.4, 0.6, 0.8, 1.0)  # of half the votes; 10, 20, … 50 of a hundred
_CUTS_PER_DRAW = 4  # since extrapolation amplifies the noise of the cuts
_TERMS = 3  # of the extrapolation: 1, 1/√m, 1/m
_FARTHEST = 3  # times the half crowd; beyond, the extrapolation is mostly noise


class References:
    """The references of a dataset, for any measure by name.

    Draws are made when they are first needed, and kept; they do not depend on which measures are
    asked for. A measure without an upper end (KL, cross-entropy) has no second crowd: a crowd
    gives some labels no vote, and what that costs is up to the floor that replaces 0.

    Parameters
    ----------
    votes : Votes
    n_draws : int
        Draws of the items' true distributions, at least 1.
    seed : int
        Seed of all draws.

    Attributes
    ----------
    votes : Votes
    n_draws : int
    n_cuts : int
        Cuts of the votes into halves, for each size.
    n_votes : int
        Median of the items' numbers of votes, to which half crowds are extrapolated.
    n_half : int
        Votes in a half crowd, the largest that can be measured; 0 where none can.
    """

    def __init__(self, votes: Votes, n_draws: int = DRAWS, seed: int = 0) -> None:
        self.votes = votes
        self.n_draws = n_draws
        self.n_cuts = _CUTS_PER_DRAW * n_draws
        self.n_votes = int(np.median(votes.n_votes))
        self.sizes = split_sizes(votes.counts)
        self.n_half = max(self.sizes, default=0)
        self._seed = seed
        self._known: dict[tuple[str, str], Repeated | None] = {}

    @cached_property
    def _draws(self) -> dict[str, Floats]:
        rng = np.random.default_rng([self._seed, 0])
        truths = draw_posterior(self.votes.counts, self.n_draws, rng)
        found = {"truths": truths}
        for name in ("crowd", "other"):
            found[name] = draw_crowds(truths, self.votes.n_votes, rng)
        for name in ("half", "other_half"):
            if self.n_half:
                found[name] = draw_crowds(truths, self.n_half, rng)
        return found

    @cached_property
    def _cuts(self) -> list[tuple[Floats, Floats]]:
        """Two disjoint sets of each item's votes, for each size."""
        rng = np.random.default_rng([self._seed, 1])
        many = np.tile(self.votes.counts, (self.n_cuts, 1))
        shape = (self.n_cuts, *self.votes.counts.shape)
        found = []
        for size in self.sizes:
            one, other = split_votes(many, (size, size), rng)[:2]
            found.append((one.reshape(shape) / size, other.reshape(shape) / size))
        return found

    def perfect_model(self, measure: str) -> Repeated:
        """Return the score of the true distributions, judged by as many votes as the items have.

        Parameters
        ----------
        measure : str

        Returns
        -------
        Repeated
        """
        found = self._once("floor", measure)
        assert found is not None  # every measure has one
        return found

    def second_crowd(self, measure: str) -> Repeated | None:
        """Return the score of one crowd as a prediction of another.

        From split halves, extrapolated to whole crowds; where that cannot be done (see `halves`),
        from two crowds that are drawn from one truth.

        Parameters
        ----------
        measure : str

        Returns
        -------
        Repeated or None
            None for a measure without an upper end.
        """
        return self.halves(measure) or self.crowds(measure)

    def halves(self, measure: str) -> Repeated | None:
        """Return the second crowd's score from split halves.

        None where there can be none: with fewer than six votes on an item, where whole crowds are
        more than three times as large as the half ones, as when numbers of votes differ much, and
        where the extrapolation leaves the measure's range.
        """
        return self._once("halves", measure)

    def crowds(self, measure: str) -> Repeated | None:
        """Return the score of one drawn crowd as a prediction of another."""
        return self._once("crowds", measure)

    def measured_half(self, measure: str) -> Repeated | None:
        """Return the score of one half crowd as a prediction of the other, as measured."""
        return self._once("measured half", measure)

    def drawn_half(self, measure: str) -> Repeated | None:
        """Return the same for half crowds that are drawn from one truth."""
        return self._once("drawn half", measure)

    def uniform(self, measure: str) -> Repeated:
        """Return the score of the uniform prediction, judged by the votes."""
        return Repeated.once(MEASURES[measure], uniform(self.votes).aligned_to(self.votes))

    def _once(self, kind: str, measure: str) -> Repeated | None:
        key = (kind, measure)
        if key not in self._known:
            self._known[key] = self._compute(kind, measure)
        return self._known[key]

    def _compute(self, kind: str, name: str) -> Repeated | None:
        measure = MEASURES[name]
        if kind == "floor":
            return repeated(measure, self._draws["crowd"], self._draws["truths"])
        if not np.isfinite(measure.high):
            return None
        if kind == "crowds":
            return repeated(measure, self._draws["crowd"], self._draws["other"])
        if not self.sizes:
            return None
        if kind == "drawn half":
            return repeated(measure, self._draws["half"], self._draws["other_half"])
        if kind == "measured half":  # the largest size comes last
            return repeated(measure, *self._cuts[-1])
        if self.n_votes > _FARTHEST * self.n_half:
            return None
        weights = extrapolation_weights(self.sizes, self.n_votes)
        found = Repeated.weighted([repeated(measure, *cut) for cut in self._cuts], weights)
        return found if measure.low <= found.value <= measure.high else None

    def extrapolation_error(self, measure: str) -> float:
        """Return the Monte Carlo error of the second crowd's score from split halves.

        Parameters
        ----------
        measure : str

        Returns
        -------
        float
            NaN where there is none.
        """
        if self.halves(measure) is None:
            return np.nan
        weights = extrapolation_weights(self.sizes, self.n_votes)
        by_size = [repeated(MEASURES[measure], *cut).values for cut in self._cuts]
        return float((weights @ np.stack(by_size)).std() / np.sqrt(self.n_cuts))

    def scores(self, measures: Iterable[str]) -> pd.DataFrame:
        """Return perfect model and second crowd as rows of the table of scores.

        Parameters
        ----------
        measures : iterable of str

        Returns
        -------
        DataFrame
            Origin ``reference``; without intervals.
        """
        rows = []
        for name in measures:
            floor, ceiling = self.perfect_model(name), self.second_crowd(name)
            for system, found in ((PERFECT_MODEL, floor), (SECOND_CROWD, ceiling)):
                if found is not None:
                    rows.append(
                        {
                            "dataset": self.votes.dataset.name,
                            "group": ALL,
                            "system": system,
                            "family": system,
                            "origin": "reference",
                            "temperature": 1.0,
                            "measure": name,
                            "n_items": len(self.votes),
                            "value": found.value,
                        }
                    )
        return as_scores(rows)


def known_scores(votes: Votes, seed: int = 0) -> pd.DataFrame:
    """Return references and baselines that the package knows, which need not be drawn again.

    `chaos record` writes them, from the same code for the same seed.

    Parameters
    ----------
    votes : Votes
    seed : int
        Of all draws.

    Returns
    -------
    DataFrame
        ``dataset``, ``sha256`` (of the file of votes), ``seed``, ``n_items``, ``system``,
        ``measure``, ``value``; empty where these are other votes than the released ones, or
        another seed.
    """
    file = KNOWN / f"{votes.dataset.name}.csv"
    if not file.is_file():
        return pd.DataFrame(columns=list(KNOWN_COLUMNS))
    rows = pd.read_csv(file)
    same = (rows["sha256"] == votes.source.sha256) & (rows["n_items"] == len(votes))
    return rows[same & (rows["seed"] == seed)]


def floor_and_ceiling(votes: Votes, measures: Sequence[str], seed: int = 0) -> pd.DataFrame:
    """Return perfect model and second crowd by measure, as known or as drawn now.

    Parameters
    ----------
    votes : Votes
    measures : sequence of str
    seed : int
        Of all draws.

    Returns
    -------
    DataFrame
        A row for each measure, with a column for each of both.
    """
    found = known_scores(votes, seed)
    both = found[found["system"].isin([PERFECT_MODEL, SECOND_CROWD])]
    if not set(measures) <= set(both["measure"]):
        both = References(votes, seed=seed).scores(measures)
    wide = both.pivot(index="measure", columns="system", values="value")
    return wide.reindex(index=list(measures), columns=[PERFECT_MODEL, SECOND_CROWD])


def chance_scores(
    votes: Votes,
    measures: Iterable[str],
    *,
    n_resamples: int = 0,
    seed: int = 0,
    level: float = 0.95,
) -> pd.DataFrame:
    """Return chance as rows of the table of scores.

    Chance is two things in Nie et al. (2020): the uniform distribution, and for the accuracies
    the share of the most frequent label.

    Parameters
    ----------
    votes : Votes
    measures : iterable of str
        Those of old labels are left out where there are none.
    n_resamples, seed, level
        As in `score`; the accuracies have no interval.

    Returns
    -------
    DataFrame
        System ``chance``, of origin ``baseline``.
    """
    names = available(votes, measures)
    even = replace(uniform(votes), name=CHANCE, family=CHANCE)
    table = score(votes, [even], measures=names, n_resamples=n_resamples, seed=seed, level=level)
    for name, labels in _LABELS.items():
        if name in names:
            guessed = np.bincount(labels(votes)).max() / len(votes)
            table.loc[table["measure"] == name, ["value", "low", "high"]] = guessed, np.nan, np.nan
            table.loc[table["measure"] == name, ["interval", "estimand"]] = ""
    return table


def split_sizes(counts: npt.ArrayLike) -> list[int]:
    """Return the sizes of split halves: 10, 20, … 50 for a hundred votes.

    Empty where the item with fewest votes gives too few sizes to extrapolate from.

    Parameters
    ----------
    counts : array of shape (n_items, n_classes)
        Votes.

    Returns
    -------
    list of int
    """
    half = int(np.asarray(counts).sum(axis=1).min()) // 2
    sizes = sorted({round(half * share) for share in _SPLITS} - {0})
    return sizes if len(sizes) >= _TERMS else []


def extrapolation_weights(sizes: Sequence[int], n_votes: int) -> Floats:
    r"""Return the weights that turn values at several crowd sizes into one at another.

    Fits :math:`a + b\,m^{-1/2} + c\,m^{-1}` by least squares and reads it at `n_votes`.
    That value is a weighted sum of the values at `sizes`; the weights sum to 1.

    Parameters
    ----------
    sizes : sequence of int
        At least three different ones.
    n_votes : int

    Returns
    -------
    ndarray of float, shape (n_sizes,)

    Raises
    ------
    ValueError
        If there are fewer sizes.
    """
    if len(set(sizes)) < _TERMS:
        raise ValueError(f"sizes are {list(sizes)}, expected at least {_TERMS} different ones")
    return _terms([n_votes])[0] @ np.linalg.pinv(_terms(sizes))


def _terms(sizes: Sequence[int]) -> Floats:
    m = np.asarray(sizes, dtype=np.float64)
    return np.column_stack([np.ones_like(m), m**-0.5, 1 / m])
