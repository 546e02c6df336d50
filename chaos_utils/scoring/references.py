"""References for systems' scores: the perfect model, the second crowd, the uniform guess.

The votes on an item are a sample, so even a model that predicts the item's true distribution (the
*perfect model*) seems to err, and one crowd as a prediction of another (the *second crowd*) errs
more. Both are drawn here, once for a dataset.
"""

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from chaos_utils.datasets.votes import Ints, Votes
from chaos_utils.metrics.divergence import Floats
from chaos_utils.metrics.measures import MEASURES, Measure
from chaos_utils.metrics.priors import (
    GridPrior,
    bootstrap_masses,
    draw_truths,
    fit_dirichlet,
    fit_grid,
)
from chaos_utils.metrics.resampling import bootstrap_means, percentile_interval, split_votes
from chaos_utils.scoring.draws import MonteCarloMeasure, draw_crowds, measure_draws
from chaos_utils.scoring.scores import ScoreRow, available, score
from chaos_utils.scoring.systems import uniform

if TYPE_CHECKING:
    import pandas as pd

DRAWS = 20  # draws of the items' true distributions: one number for every page
READS = ("chaos_utils/scoring/reference_scores/*.csv",)
KNOWN = Path(__file__).parent / "reference_scores"  # of released votes: a file for each dataset
KNOWN_COLUMNS = (
    "dataset", "sha256", "seed", "n_items", "system", "measure", "value", "standard_error",
)  # fmt: skip
_NUMBERS: Mapping[str, Callable[[str], float]] = {
    "seed": int,
    "n_items": int,
    "value": float,
    "standard_error": float,
}
PERFECT_MODEL, SECOND_CROWD, CHANCE = "perfect model", "second crowd", "chance"
UNSETTLED = "not distinguishable from 0"
_SETTLED = 2  # standard errors from 0
_LABELS: Mapping[str, Callable[[Votes], Ints]] = {
    "old_accuracy": lambda votes: votes.old_label,
    "new_accuracy": lambda votes: votes.majority,
}
_SPLITS = (0.2, 0.4, 0.6, 0.8, 1.0)  # shares of half the votes: 10, 20, … 50 of a hundred
_CUTS_PER_DRAW = 4  # since extrapolation amplifies the noise of the cuts
_TERMS = 3  # of the extrapolation: 1, 1/√m, 1/m
_FEWEST_VOTES = 40  # on an item; the scores of smaller halves follow another curve
_FARTHEST = 3  # times the half crowd's votes; beyond, the extrapolation is mostly noise
_ITEM_RESAMPLES = 200  # for a standard error
REFITS = 200  # of the prior, for the interval of the perfect model's score
# Share of a score, on average, on so many items, and more on fewer: see tests/scoring.
_PRIOR_ERROR, _PRIOR_ERROR_ITEMS = 0.02, 1500
_JUDGED = 100_000  # crowds drawn for a measure's expected values at the points of a prior
_LIKELY = 1e-7  # least mass of a point that is judged


_Score = TypeVar("_Score")
_Pair = tuple[Floats, Floats, Ints | int]  # the judging crowd, the prediction, the crowd's votes


class References:
    """The references of a dataset, for any measure by name.

    Draws are made when they are first needed, and kept; they do not depend on the measures. A
    measure without an upper end (KL, cross-entropy) has no second crowd: a crowd gives some labels
    no vote, and their loss depends on the floor that replaces 0.

    `n_votes` is the median of the items' numbers of votes, to which half crowds are extrapolated,
    and `n_half` the votes in the largest half crowd that can be measured, 0 where none can.
    """

    def __init__(self, votes: Votes, n_draws: int = DRAWS, seed: int = 0) -> None:
        self.votes = votes
        self.n_draws = n_draws
        self.n_votes = int(np.median(votes.n_votes))
        self.sizes = split_sizes(votes.counts)
        self.n_half = max(self.sizes, default=0)
        self._seed = seed
        self._known: dict[tuple[str, str], Any] = {}

    @cached_property
    def prior(self) -> GridPrior:
        """The prior from which the items' true distributions are taken to be drawn."""
        return fit_grid(self.votes.counts)

    @cached_property
    def _draws(self) -> dict[str, _Pair]:
        return self._draw_pairs(self.prior, 0)

    @cached_property
    def _dirichlet_draws(self) -> dict[str, _Pair]:
        return self._draw_pairs(fit_dirichlet(self.votes.counts), 2)

    def _draw_pairs(self, prior: GridPrior | Floats, stream: int) -> dict[str, _Pair]:
        """Return crowds paired with the truth that they are drawn from, and with other crowds."""
        rng = np.random.default_rng([self._seed, stream])
        sizes = self.votes.n_votes
        truths = draw_truths(self.votes.counts, prior, rng, self.n_draws)
        crowd, second = (draw_crowds(truths, sizes, rng) for _ in range(2))
        draws: dict[str, _Pair] = {"truth": (crowd, truths, sizes), "crowd": (crowd, second, sizes)}
        if self.n_half:
            half, second = (draw_crowds(truths, self.n_half, rng) for _ in range(2))
            draws["half"] = half, second, self.n_half
        return draws

    @cached_property
    def _cuts(self) -> list[_Pair]:
        """Two disjoint sets of each item's votes, for each size; the largest comes last."""
        rng = np.random.default_rng([self._seed, 1])
        n_cuts = _CUTS_PER_DRAW * self.n_draws
        tiled = np.tile(self.votes.counts, (n_cuts, 1))
        shape = (n_cuts, *self.votes.counts.shape)
        cuts: list[_Pair] = []
        for size in self.sizes:
            first, second = split_votes(tiled, (size, size), rng)[:2]
            cuts.append((first.reshape(shape) / size, second.reshape(shape) / size, size))
        return cuts

    def perfect_model(self, measure: str) -> MonteCarloMeasure:
        """Return the score of the true distributions, judged by as many votes as the items have."""
        return self._once(
            "perfect model", measure, lambda chosen: measure_draws(chosen, *self._draws["truth"])
        )

    def second_crowd(self, measure: str) -> MonteCarloMeasure | None:
        """Return the score of one crowd as a prediction of another; None for an unbounded measure.

        The score is from split halves, extrapolated to whole crowds; if that is not possible (see
        `halves`), from two crowds that are drawn from the same truth.
        """
        return self.halves(measure) or self.crowds(measure)

    def halves(self, measure: str) -> MonteCarloMeasure | None:
        """Return the second crowd's score from split halves.

        None if an item has fewer than 40 votes; if whole crowds are more than three times as large
        as half crowds, since numbers of votes differ much; if the measure is unbounded; or if the
        extrapolation leaves the measure's range.
        """
        return self._once("halves", measure, self._second_crowd_from_halves)[0]

    def crowds(self, measure: str) -> MonteCarloMeasure | None:
        """Return the score of one drawn crowd as a prediction of another."""
        return self._once("crowds", measure, self._second_crowd_from_draws)

    def people(self, measure: str, n_people: int) -> MonteCarloMeasure | None:
        """Return the score of the shares of `n_people` other people; None if it is unbounded."""

        def compute(chosen: Measure) -> MonteCarloMeasure | None:
            crowd, truths, sizes = self._draws["truth"]
            rng = np.random.default_rng([self._seed, 6, n_people])
            few = draw_crowds(truths, n_people, rng)
            return measure_draws(chosen, crowd, few, sizes) if np.isfinite(chosen.high) else None

        return self._once(f"{n_people} people", measure, compute)

    def uniform(self, measure: str) -> MonteCarloMeasure:
        """Return the score of the uniform guess, judged by the votes."""
        return MonteCarloMeasure.once(MEASURES[measure], uniform(self.votes).aligned_to(self.votes))

    def checks(self, measure: str) -> dict[str, float]:
        """Return scores that check the prior, NaN if there is none.

        * ``half_measured``: one half crowd as a prediction of the other, in the votes
        * ``half_drawn``: the same, with half crowds drawn from the prior
        * ``half_dirichlet``: the same, with half crowds drawn from a Dirichlet prior
        * ``perfect_model_dirichlet``: the perfect model under a Dirichlet prior
        """
        draws, dirichlet = self._draws, self._dirichlet_draws
        pairs = {"perfect_model_dirichlet": dirichlet["truth"]}
        if self.n_half and np.isfinite(MEASURES[measure].high):
            pairs |= {"half_measured": self._cuts[-1]}
            pairs |= {"half_drawn": draws["half"], "half_dirichlet": dirichlet["half"]}
        names = ("half_measured", "half_drawn", "perfect_model_dirichlet", "half_dirichlet")
        values = {
            name: measure_draws(MEASURES[measure], *pair).value for name, pair in pairs.items()
        }
        return dict.fromkeys(names, np.nan) | values

    def _once(self, what: str, measure: str, compute: Callable[[Measure], _Score]) -> _Score:
        """Return what `compute` makes of a measure, computed on the first call only."""
        key = what, measure
        if key not in self._known:
            self._known[key] = compute(MEASURES[measure])
        score: _Score = self._known[key]
        return score

    def _second_crowd_from_draws(self, measure: Measure) -> MonteCarloMeasure | None:
        is_bounded = np.isfinite(measure.high)
        return measure_draws(measure, *self._draws["crowd"]) if is_bounded else None

    def _second_crowd_from_halves(self, measure: Measure) -> tuple[MonteCarloMeasure | None, float]:
        """Return `halves` and its Monte Carlo error."""
        too_few = self.votes.n_votes.min() < _FEWEST_VOTES
        if too_few or self.n_votes > _FARTHEST * self.n_half or not np.isfinite(measure.high):
            return None, np.nan
        weights = extrapolation_weights(self.sizes, self.n_votes)
        parts = [measure_draws(measure, *cut) for cut in self._cuts]
        halves = MonteCarloMeasure.weighted(parts, weights)
        k = self.votes.dataset.n_classes
        if not measure.low_for(k) <= halves.value <= measure.high_for(k):
            return None, np.nan
        scores_by_cut = weights @ np.stack([part.values for part in parts])
        return halves, float(scores_by_cut.std() / np.sqrt(len(scores_by_cut)))

    def second_crowd_error(self, measure: str) -> float:
        """Return the standard error of the second crowd's score, over draws (or cuts) and items."""
        crowd = self.second_crowd(measure)
        if crowd is None:
            return np.nan
        halves, draw_error = self._once("halves", measure, self._second_crowd_from_halves)
        if halves is None:
            draw_error = crowd.values.std() / np.sqrt(self.n_draws)
        rng = np.random.default_rng([self._seed, 3])
        item_error = crowd.of_means(bootstrap_means(crowd.table, _ITEM_RESAMPLES, rng)).std()
        return float(np.hypot(draw_error, item_error))

    def perfect_model_interval(self, measure: str) -> tuple[float, float]:
        """Return a 95% interval for the perfect model's score on a population of such items.

        Items are resampled with their votes and the prior is refitted, `REFITS` times; the
        deviations of the refits from their mean are added to the score. For an error (lower is
        better), the interval is widened by 2% of the score each way, the most by which scores were
        off, on average, in simulations of 1,500 items with known truths: the votes do not say how
        small a small share is. On fewer items it is widened more, in inverse proportion to the
        root of their number. NaN for a measure that is no mean over items, such as a calibration
        error.
        """
        chosen = MEASURES[measure]
        if not chosen.is_mean:
            return np.nan, np.nan
        masses = self._refits
        likely = np.max([mass.max(axis=0) for mass in masses.values()], axis=0) > _LIKELY
        points = self.prior.points[likely]
        n_draws = max(1, _JUDGED // (len(points) * len(masses)))
        truths = np.broadcast_to(points, (n_draws, *points.shape))
        rng = np.random.default_rng([self._seed, 4])
        scores = np.zeros(REFITS)
        for n_votes, mass in masses.items():
            crowds = draw_crowds(truths, n_votes, rng)
            expected = measure_draws(chosen, crowds, truths, n_votes).columns.mean(axis=0)
            scores += mass[:, likely] @ expected[:, 0]
        low, high = percentile_interval(scores - scores.mean())
        value = self.perfect_model(measure).value
        allowed = 0.0
        if chosen.better == "lower":
            fewer = max(1.0, _PRIOR_ERROR_ITEMS / len(self.votes))
            allowed = _PRIOR_ERROR * np.sqrt(fewer) * abs(value)
        k = self.votes.dataset.n_classes
        return (
            max(float(value + low - allowed), chosen.low_for(k)),
            min(float(value + high + allowed), chosen.high_for(k)),
        )

    @cached_property
    def _refits(self) -> dict[int, npt.NDArray[np.float32]]:
        rng = np.random.default_rng([self._seed, 5])
        return bootstrap_masses(self.votes.counts, self.prior, REFITS, rng)

    def rows(self, measures: Iterable[str]) -> list[ScoreRow]:
        """Return perfect model and second crowd as rows of scores, without intervals.

        `is_settled` takes the column ``standard_error``.
        """
        rows = []
        for name in measures:
            rows.append(self._row(PERFECT_MODEL, name, self.perfect_model(name).value))
            if second_crowd := self.second_crowd(name):
                error = self.second_crowd_error(name)
                rows.append(self._row(SECOND_CROWD, name, second_crowd.value, error))
        return rows

    def _row(
        self, system: str, measure: str, value: float, standard_error: float = np.nan
    ) -> ScoreRow:
        return {
            "dataset": self.votes.dataset.name, "n_items": len(self.votes), "system": system,
            "measure": measure, "value": value, "standard_error": standard_error,
        }  # fmt: skip


def is_settled(measure: str, value: float, standard_error: float) -> bool:
    """Return whether a second crowd's score can be told from 0.

    An error (lower is better, 0 is best) is not settled if it is below twice its standard error; it
    is then shown as `UNSETTLED`, not as a number.
    """
    is_error = MEASURES[measure].better == "lower"
    return not (is_error and value < _SETTLED * standard_error)


def known_rows(votes: Votes, seed: int = 0) -> list[ScoreRow]:
    """Return the recorded references and baselines, which need not be drawn again.

    `chaos record` writes them, from the same code for the same seed: for the book's datasets by all
    measures, for others by those of which a page speaks. They are read without pandas, which takes
    longer to import. Empty if the votes are not the released votes, or for another seed.
    """
    file = KNOWN / f"{votes.dataset.name}.csv"
    if not file.is_file():
        return []
    with file.open(encoding="utf-8", newline="") as stream:
        rows = [
            row | {name: read(row.get(name) or "nan") for name, read in _NUMBERS.items()}
            for row in csv.DictReader(stream)
        ]
    key = (votes.source.sha256, len(votes), seed)
    recorded = [row for row in rows if (row["sha256"], row["n_items"], row["seed"]) == key]
    return cast(list[ScoreRow], recorded)


def chance_scores(
    votes: Votes, measures: Iterable[str], *, n_resamples: int = 0, seed: int = 0
) -> "pd.DataFrame":
    """Return chance as rows of the table of scores, of origin ``baseline``.

    In Nie et al. (2020), chance is the uniform distribution; for accuracies it is the share of the
    most frequent label, which has no interval.
    """
    names = available(votes, measures)
    chance = replace(uniform(votes), name=CHANCE, family=CHANCE)
    table = score(votes, [chance], measures=names, n_resamples=n_resamples, seed=seed)
    for name, labels in _LABELS.items():
        if name in names:
            guessed = np.bincount(labels(votes)).max() / len(votes)
            table.loc[table["measure"] == name, ["value", "low", "high"]] = guessed, np.nan, np.nan
            table.loc[table["measure"] == name, ["interval", "estimand"]] = ""
    return table


def split_sizes(counts: npt.ArrayLike) -> list[int]:
    """Return the sizes of split halves: 10, 20, … 50 for a hundred votes.

    Empty if the item with fewest votes allows too few sizes to extrapolate from.
    """
    half = int(np.asarray(counts).sum(axis=1).min()) // 2
    sizes = sorted({round(half * share) for share in _SPLITS} - {0})
    return sizes if len(sizes) >= _TERMS else []


def extrapolation_weights(sizes: Sequence[int], n_votes: int) -> Floats:
    r"""Return the weights that extrapolate values at several crowd sizes to `n_votes`.

    A curve :math:`a + b\,m^{-1/2} + c\,m^{-1}` is fitted by least squares to the values at `sizes`,
    at least three, and evaluated at `n_votes`: a weighted sum, whose weights sum to 1.
    """
    if len(set(sizes)) < _TERMS:
        raise ValueError(f"sizes are {list(sizes)}, expected at least {_TERMS} different ones")
    return _terms([n_votes])[0] @ np.linalg.pinv(_terms(sizes))


def _terms(sizes: Sequence[int]) -> Floats:
    m = np.asarray(sizes, dtype=np.float64)
    return np.column_stack([np.ones_like(m), m**-0.5, 1 / m])
