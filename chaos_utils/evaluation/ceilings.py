"""How well a system could do: what votes leave of any measure, and what people reach.

The votes on an item are a sample, so even a model that predicts the item's true
distribution scores worse than perfect (the *noise floor*), and so does one crowd as a
prediction of another (the *ceiling*).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.measures import MEASURES, Judged, Measure
from chaos_utils.metrics.resampling import (
    bootstrap_means,
    percentile_interval,
    rescale,
    split_votes,
)
from chaos_utils.scoring import systems as known_systems
from chaos_utils.scoring.draws import (
    NAMES,
    Floats,
    Repeated,
    bounded,
    draw_crowds,
    draw_posterior,
    repeated,
)
from chaos_utils.scoring.system import System

ESTIMATED_HUMAN = "estimated human"
_SPLITS = (0.2, 0.4, 0.6, 0.8, 1.0)  # of half the votes; 10, 20, … 50 of a hundred
_CUTS_PER_DRAW = 4
_TERMS = 3  # of the extrapolation: 1, 1/√m, 1/m


@dataclass(frozen=True, slots=True, eq=False)
class References:
    """What systems on a dataset are set beside, for each measure by name.

    Attributes
    ----------
    n_votes : int
        Votes in the judging crowd: the median of the items' numbers of votes.
    n_half : int
        Votes in a half crowd, the largest that can be measured; 0 where none can.
    n_cuts : int
        Cuts of the votes into halves, for each size.
    floor : mapping
        A perfect model judged by `n_votes`.
    halves : mapping
        One crowd as a prediction of another, from split halves; empty with fewer than six
        votes an item, and without measures that have no end (see `halves_ceiling`).
    crowds : mapping
        The same from two crowds drawn from a drawn truth.
    drawn_halves : mapping
        As `crowds`, for half crowds: what measured half crowds can check.
    uniform : mapping
        The uniform prediction judged by the votes.
    """

    n_votes: int
    n_half: int
    n_cuts: int
    floor: Mapping[str, Repeated]
    halves: Mapping[str, Repeated]
    crowds: Mapping[str, Repeated]
    drawn_halves: Mapping[str, Repeated]
    uniform: Mapping[str, Repeated]

    @property
    def ceiling(self) -> Mapping[str, Repeated]:
        """The ceiling that scores are rescaled by: split halves, or else the drawn crowds."""
        return {**self.crowds, **self.halves}

    @property
    def measured_halves(self) -> Mapping[str, Repeated]:
        """One half crowd as a prediction of the other, without extrapolation."""
        even = np.full(self.n_cuts, 1 / self.n_cuts)
        return {  # the largest size comes last
            name: Repeated(whole.measure, whole.columns[-self.n_cuts :], even)
            for name, whole in self.halves.items()
        }


def split_sizes(counts: npt.ArrayLike) -> list[int]:
    """Return the sizes of split halves: 10, 20, … 50 for a hundred votes.

    Empty where the item with fewest votes gives too few sizes to extrapolate from.

    Parameters
    ----------
    counts : array of shape (n_items, n_classes)
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
    """
    if len(set(sizes)) < _TERMS:
        raise ValueError(f"sizes are {list(sizes)}, expected at least {_TERMS} different ones")
    return _terms([n_votes])[0] @ np.linalg.pinv(_terms(sizes))


def _terms(sizes: Sequence[int]) -> Floats:
    m = np.asarray(sizes, dtype=np.float64)
    return np.column_stack([np.ones_like(m), m**-0.5, 1 / m])


def halves_ceiling(
    measures: Sequence[Measure],
    counts: npt.NDArray[np.int64],
    n_votes: int,
    n_cuts: int,
    rng: np.random.Generator,
) -> dict[str, Repeated]:
    """Score one half of a crowd as a prediction of the other, extrapolated to whole crowds.

    Parameters
    ----------
    measures : sequence of Measure
        Those without an upper end (KL, cross-entropy) are left out: a crowd gives some
        labels no vote, and what they cost is then up to the floor that replaces 0.
    counts : ndarray of int, shape (n_items, n_classes)
        Each item's votes are cut at random into two disjoint sets of m votes.
    n_votes : int
        Crowd size to extrapolate to.
    n_cuts : int
        Random cuts for each size.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    dict of Repeated
    """
    sizes = split_sizes(counts)
    if not sizes:
        return {}
    many = np.tile(counts, (n_cuts, 1))
    shape = (n_cuts, *counts.shape)
    by_size: dict[str, list[Floats]] = {}
    for size in sizes:
        pair = split_votes(many, (size, size), rng)[:2]
        human, model = (part.reshape(shape) / size for part in pair)
        for name, found in repeated(bounded(measures), human, model).items():
            by_size.setdefault(name, []).append(found.columns)
    weights = np.repeat(extrapolation_weights(sizes, n_votes), n_cuts) / n_cuts
    return {
        name: Repeated(MEASURES[name], np.concatenate(blocks), weights)
        for name, blocks in by_size.items()
    }


def references(
    votes: Votes, n_draws: int, seed: int, measures: Iterable[str] = NAMES
) -> References:
    """Compute floor, ceilings and uniform prediction of a dataset, item by item.

    Parameters
    ----------
    votes : Votes
    n_draws : int
        Draws of the truth. Split halves are cut four times as often for each size, since
        extrapolation amplifies their noise.
    seed : int
    measures : iterable of str
        Names in `MEASURES`.
    """
    chosen = [MEASURES[name] for name in measures]
    rng = np.random.default_rng(seed)
    n_votes = int(np.median(votes.counts.sum(axis=1)))
    truths = draw_posterior(votes.counts, n_draws, rng)
    crowd, other = draw_crowds(truths, n_votes, rng), draw_crowds(truths, n_votes, rng)
    even = known_systems.uniform(votes).aligned_to(votes)
    n_half = max(split_sizes(votes.counts), default=0)
    halves = [draw_crowds(truths, n_half, rng) for _ in range(2)] if n_half else []
    n_cuts = _CUTS_PER_DRAW * n_draws
    return References(
        n_votes,
        n_half,
        n_cuts,
        floor=repeated(chosen, crowd, truths),
        halves=halves_ceiling(chosen, votes.counts, n_votes, n_cuts, rng),
        crowds=repeated(bounded(chosen), crowd, other),
        drawn_halves=repeated(bounded(chosen), *halves) if halves else {},
        uniform={m.name: Repeated.once(m, even) for m in chosen},
    )


def reference_scores(votes: Votes, found: References) -> pd.DataFrame:
    """Tabulate a dataset's references.

    Parameters
    ----------
    votes : Votes
    found : References

    Returns
    -------
    DataFrame
        One row a measure: ``dataset``, ``measure``, ``n_votes``, ``uniform``, ``floor``,
        ``ceiling_halves`` (extrapolated) and its Monte Carlo error ``…_error``,
        ``ceiling_posterior`` and its ``…_sd``; then ``n_half``, ``half_measured`` and
        ``half_drawn``, the scores of half crowds, cut from the votes and drawn from the
        posterior. Standard deviations are over draws of truth and votes.
    """
    rows = []
    for name, floor in found.floor.items():
        rows.append(
            {
                "dataset": votes.dataset.name,
                "measure": name,
                "n_votes": found.n_votes,
                "uniform": found.uniform[name].value,
                "floor": floor.value,
                "floor_sd": floor.values.std(),
                "ceiling_halves": _value(found.halves, name),
                "ceiling_halves_error": (
                    _monte_carlo_error(found.halves[name], found.n_cuts)
                    if name in found.halves
                    else np.nan
                ),
                "ceiling_posterior": _value(found.crowds, name),
                "ceiling_posterior_sd": (
                    found.crowds[name].values.std() if name in found.crowds else np.nan
                ),
                "n_half": found.n_half,
                "half_measured": _value(found.measured_halves, name),
                "half_drawn": _value(found.drawn_halves, name),
            }
        )
    return pd.DataFrame(rows)


def _monte_carlo_error(halves: Repeated, n_cuts: int) -> float:
    """Return the standard error of an extrapolated value that comes from few cuts."""
    of_cut = n_cuts * (halves.values * halves.weights).reshape(-1, n_cuts).sum(axis=0)
    return float(of_cut.std() / np.sqrt(n_cuts))


def _value(found: Mapping[str, Repeated], name: str) -> float:
    return found[name].value if name in found else np.nan


def normalised_scores(
    votes: Votes,
    systems: Sequence[System],
    found: References,
    n_resamples: int,
    seed: int,
) -> pd.DataFrame:
    """Rescale systems' scores so that 0 is the uniform prediction and 1 the ceiling.

    Every system is set beside the references on the items that it covers; system,
    uniform prediction and ceiling are resampled together.

    Parameters
    ----------
    votes : Votes
    systems : sequence of System
    found : References
        Of the same dataset.
    n_resamples : int
        Bootstrap resamples of the items for 95% percentile intervals, at least 1.
    seed : int

    Returns
    -------
    DataFrame
        One row for each system and measure: ``dataset``, ``system``, ``source``,
        ``n_items``, ``measure``, ``value``, ``low``, ``high``, ``floor``, ``ceiling``,
        ``uniform``, ``rescaled``, ``rescaled_low``, ``rescaled_high``. Rescaled is NaN
        where there is no ceiling, or where it is not surely better than the uniform
        prediction: its distance has an interval that holds 0.
    """
    groups: dict[tuple[int, ...], list[tuple[str, Judged]]] = {}
    for system in systems:
        rows = system.rows_in(votes)
        judged = system.aligned_to(votes)
        groups.setdefault(tuple(rows), []).append((system.name, judged))
    parts = []
    for covered, members in groups.items():
        rows = np.array(covered, dtype=np.int64)
        references = {
            name: [
                group[name].on(rows) for group in (found.uniform, found.ceiling) if name in group
            ]
            for name in found.floor
        }
        scored = {
            (model, name): Repeated.once(floor.measure, judged)
            for model, judged in members
            for name, floor in found.floor.items()
        }
        pieces = [*scored.values(), *(one for several in references.values() for one in several)]
        resampled = _resampled(pieces, n_resamples, seed)
        for (model, name), score in scored.items():
            several = [score, *references[name]]
            parts.append(
                {
                    "dataset": votes.dataset.name,
                    "system": model,
                    "source": "computed",
                    "n_items": len(rows),
                    "measure": name,
                    "floor": found.floor[name].on(rows).value,
                    **_rescaled(several, [resampled[id(piece)] for piece in several]),
                }
            )
    place = {system.name: i for i, system in enumerate(systems)}
    table = pd.DataFrame(parts)
    return table.sort_values("system", key=lambda column: column.map(place), kind="stable")


def _resampled(pieces: Sequence[Repeated], n_resamples: int, seed: int) -> dict[int, Floats]:
    """Resample the items of all pieces alike; by `id`, values of shape (n_resamples,)."""
    tables = [piece.table for piece in pieces]
    ends = np.cumsum([table.shape[1] for table in tables])[:-1]
    rng = np.random.default_rng(seed)
    means = np.split(
        bootstrap_means(np.concatenate(tables, axis=1), n_resamples, rng), ends, axis=1
    )
    return {id(piece): piece.of_means(part) for piece, part in zip(pieces, means, strict=True)}


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


def estimated_human(votes: Votes, found: References) -> pd.DataFrame:
    """Return the published scores of estimated human performance, as `normalised_scores` does.

    They come from Table 5 of Nie et al. (2020) and have no interval: the second crowd
    that they were computed from was not released.

    Parameters
    ----------
    votes : Votes
    found : References
    """
    table = read_published("nie2020_table5")
    published = table[(table["dataset"] == votes.dataset.name) & (table["model"] == "est-human")]
    rows = []
    for name in found.floor.keys() & {"jsd", "kl", "new_accuracy"}:
        value = float(published[name].iloc[0])
        uniform = found.uniform[name].value
        ceiling = _value(found.ceiling, name)
        rows.append(
            {
                "dataset": votes.dataset.name,
                "system": ESTIMATED_HUMAN,
                "source": "published",
                "n_items": len(votes),
                "measure": name,
                "value": value,
                "floor": found.floor[name].value,
                "ceiling": ceiling,
                "uniform": uniform,
                "rescaled": float(rescale(value, at_zero=uniform, at_one=ceiling)),
            }
        )
    return pd.DataFrame(rows).sort_values("measure")
