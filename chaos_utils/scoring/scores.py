"""The one tidy table of scores: systems against votes, with intervals and paired differences.

A measure is a function of means over items, so one set of bootstrap weights resamples every
measure of every system at once: systems that are compared are always resampled alike.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypedDict, cast

import numpy as np
import numpy.typing as npt

from chaos_utils.base.errors import ChaosError, check_known
from chaos_utils.datasets.votes import Ints, Votes
from chaos_utils.metrics.divergence import Floats
from chaos_utils.metrics.measures import MEASURES, EvalBatch, Measure, Needs, columns_of, take_items
from chaos_utils.metrics.resampling import (
    Moments,
    bootstrap_tables,
    fewest_resamples,
    holm,
    mean,
    paired_p_value,
    percentile_interval,
)
from chaos_utils.metrics.skill import FEWEST_DISPUTED
from chaos_utils.scoring.system import System, check_names

if TYPE_CHECKING:
    import pandas as pd  # else where a table is made: slow to import

ALL = "all"  # the group of all items
OF_LABELS = ("old_accuracy", "new_accuracy", "soft_accuracy")  # measures for single labels
_ROUNDING = 1e-12

_TYPES = dict.fromkeys(("seed", "n_items", "n_resamples"), "Int64") | dict.fromkeys(
    ("temperature", "value", "low", "high", "p", "p_holm"), float
)
_NEEDED = {
    "old label": ("old labels", ""),
    "two votes": ("at least two votes on each item", ""),
    "ordered labels": (
        "ordered labels",
        ", or say `ordered: true` in the dataset's YAML if its labels stand in an order",
    ),
}
_ESTIMAND = "items resampled, each with its votes"


class TableRow(TypedDict, total=False):
    """A row of the table of scores; keys that do not apply are absent."""

    dataset: str
    group: str
    system: str
    family: str
    seed: int | None
    origin: str
    trained_on: str  # corpora, joined by " + "
    temperature: float
    measure: str
    n_items: int
    value: float
    low: float
    high: float
    interval: str
    estimand: str
    n_resamples: int
    reference: str  # the system that is subtracted; empty for a value
    p: float
    p_holm: float


COLUMNS = tuple(TableRow.__annotations__)


class ScoreRow(TableRow, total=False):
    """A row of the table of scores, with the further keys of `chaos_utils.scoring.evaluate`.

    There, systems are compared with people, perfect models and published models.
    """

    p_behind: float  # the p-value from which the adjusted p-value stems
    unit: str
    better: str
    rank: int
    ranked: int
    place_best: int
    place_worst: int
    n_placed: int
    synthetic: bool
    text: str  # the value in words
    standard_error: float
    n_votes: float
    credibility: float
    is_hard: bool
    n_judges: int


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    """What to evaluate: passed on unchanged from a command or call to the rows.

    Attributes
    ----------
    measures : sequence of str, optional
        By default all that the votes have what they need for.
    groups : mapping from str to array of int, optional
        Positions of items, or a mask, by the name of a group; by default one group ``all``. Items
        are resampled within a group.
    comparisons : sequence of (str, str)
        Names of systems; of each pair, the first minus the second, on the items that both cover.
    n_resamples : int
        Bootstrap resamples for the intervals; 0 for none. An item is resampled with the votes on
        it: intervals allow for other items and, since items bring their votes, for other votes.
    seed : int
        Of the bootstrap, 0 or more. The resamples of a group depend on it, on the number of items
        and on the group's place alone.
    level : float
        Coverage of the intervals, in (0, 1).
    """

    measures: Sequence[str] | None = None
    groups: Mapping[str, npt.ArrayLike] | None = None
    comparisons: Sequence[tuple[str, str]] = ()
    n_resamples: int = 0
    seed: int = 0
    level: float = 0.95

    def check(self, systems: Sequence[System]) -> None:
        """Raise a ChaosError if a number is out of range, or no system has a compared name."""
        check_names(systems)
        names = [system.name for system in systems]
        for name in (name for pair in self.comparisons for name in pair):
            check_known("There is no such system to compare with.", name, names, found=name)
        for title, value, is_in_range, expected in (
            ("number of resamples", self.n_resamples, self.n_resamples >= 0, "0 or more"),
            ("seed", self.seed, self.seed >= 0, "0 or more"),
            ("coverage", self.level, 0 < self.level < 1, "between 0 and 1, such as 0.95"),
        ):
            if not is_in_range:
                raise ChaosError(f"The {title} is out of range.", found=value, expected=expected)
        if self.comparisons and 0 < self.n_resamples < fewest_resamples(self.level):
            raise ChaosError(
                f"Too few resamples for a {100 * self.level:g}% interval of a difference.",
                found=self.n_resamples,
                expected=f"0, or at least {fewest_resamples(self.level)}",
            )


def score(
    votes: Votes,
    systems: Sequence[System],
    *,
    measures: Iterable[str] | None = None,
    groups: Mapping[str, npt.ArrayLike] | None = None,
    n_resamples: int = 0,
    seed: int = 0,
    level: float = 0.95,
    comparisons: Sequence[tuple[str, str]] = (),
) -> "pd.DataFrame":
    """Score systems against votes.

    Parameters
    ----------
    votes : Votes
    systems : sequence of System
        Each is judged on the items that it covers.
    measures : iterable of str, optional
        Names in `MEASURES`; by default all that the votes have what they need for.
    groups : mapping from str to array of int, optional
        Positions of items, by the name of a group; by default one group ``all``. Items are
        resampled within a group.
    n_resamples : int
        Bootstrap resamples for the intervals; 0 for none. An item is resampled with the votes on
        it: intervals allow for other items and, since items bring their votes, for other votes.
    seed : int
        Seed of the bootstrap, 0 or more. The resamples of a group depend on it, on the number of
        items and on the group's place alone.
    level : float
        Coverage of the intervals, in (0, 1).
    comparisons : sequence of (str, str)
        Names of systems that are compared, the first minus the second of each, on the items that
        both cover.

    Returns
    -------
    DataFrame
        One row for each group, system and measure, in the order given: ``dataset``, ``group``;
        ``system``, ``family``, ``seed``, ``origin``, ``trained_on`` (joined by ``+``),
        ``temperature``; ``measure``, ``n_items``, ``value``; ``low``, ``high``, the kind of
        ``interval`` (percentile), its ``estimand`` and ``n_resamples``. Then as many for each of
        the `comparisons`: ``reference`` is the second's name there and empty elsewhere, ``p`` is
        two-sided and below 1 − `level` where the interval leaves out 0, ``p_holm`` is adjusted for
        all comparisons of this table. The smallest p that `n_resamples` allow is
        `chaos_utils.metrics.resampling.smallest_p_value`.

    Raises
    ------
    ChaosError
        If two systems have one name, a measure or a system compared is not known, a system shares
        no item with a group or with what it is compared with, or a number is out of range.
    """
    request = EvaluationRequest(
        None if measures is None else [*measures], groups, comparisons, n_resamples, seed, level
    )
    return as_scores(score_rows(votes, systems, request))


def score_rows(
    votes: Votes, systems: Sequence[System], request: EvaluationRequest
) -> list[ScoreRow]:
    """Return what `score` does as plain rows, without pandas, which is slow to import."""
    request.check(systems)
    measures = chosen_measures(votes, request.measures)
    aligned = [_align(system, votes, measures) for system in systems]
    rows: list[ScoreRow] = []
    groups = request.groups or {ALL: np.arange(len(votes))}
    for number, (group, members) in enumerate(groups.items()):
        items = _positions(group, members, len(votes))
        covered = {system.name: _restrict(system, items, group) for system in aligned}
        pairs = [_on_common(covered[a], covered[b]) for a, b in request.comparisons]
        to_score = [*((system, None) for system in covered.values()), *pairs]
        draws: dict[_AlignedSystem, Floats] = {}
        if request.n_resamples:
            parts = [*covered.values(), *(system for pair in pairs for system in pair)]
            rng = np.random.default_rng([request.seed, number])
            draws = _resample_items(parts, items, request.n_resamples, rng)
        for system, reference in to_score:
            stream = [request.seed, number]
            rows += _rows(group, system, reference, draws, request.level, stream)
    adjusted = holm([row.get("p", np.nan) for row in rows])
    return [row | {"p_holm": p} for row, p in zip(rows, adjusted, strict=True)]


def as_scores(rows: Iterable[Mapping[str, object]]) -> "pd.DataFrame":
    """Return rows as a table of scores with all `COLUMNS`; absent values are empty or NaN."""
    import pandas as pd

    table = pd.DataFrame(list(rows), dtype=object).reindex(columns=list(COLUMNS)).astype(_TYPES)
    texts = [name for name in COLUMNS if name not in _TYPES]
    return table.assign(**{n: table[n].astype(object).where(table[n].notna(), "") for n in texts})


def metadata_columns(system: System) -> ScoreRow:
    """Return the columns that describe a system."""
    return cast(ScoreRow, system.keys | {"trained_on": " + ".join(system.trained_on)})


def available(votes: Votes, names: Iterable[str]) -> list[str]:
    """Return the names of the measures that the votes allow."""
    return [name for name in names if _has(votes, MEASURES[name].needs)]


def _has(votes: Votes, need: Needs) -> bool:
    if need == "old label":
        return votes.has_old_labels
    if need == "two votes":
        return int(votes.n_votes.min()) >= 2
    return need == "" or votes.dataset.ordered


def chosen_measures(votes: Votes, names: Iterable[str] | None = None) -> list[Measure]:
    """Return measures by name, all that the votes allow without names; raise on any other."""
    if names is None:
        return [MEASURES[name] for name in available(votes, MEASURES)]
    chosen = []
    for name in names:
        check_known("Unknown measure.", name, MEASURES)
        if not _has(votes, MEASURES[name].needs):
            need, remedy = _NEEDED[MEASURES[name].needs]
            raise ChaosError(
                f"{MEASURES[name].title} needs {need}.",
                where=votes.dataset.title,
                todo="leave this measure out" + remedy,
            )
        chosen.append(MEASURES[name])
    return chosen


@dataclass(frozen=True, slots=True, eq=False)
class _AlignedSystem:
    """A system on some items, with the columns of each measure on them."""

    name: str
    about: ScoreRow
    rows: Ints  # positions of its items in the votes, ascending
    batch: EvalBatch
    measures: Sequence[Measure]
    columns: list[Floats]


def _align(system: System, votes: Votes, measures: Sequence[Measure]) -> _AlignedSystem:
    batch = system.aligned_to(votes)
    columns = [columns_of(measure, batch) for measure in measures]
    about = metadata_columns(system)
    return _AlignedSystem(system.name, about, system.rows_in(votes), batch, measures, columns)


def _restrict(system: _AlignedSystem, items: Ints, where: str) -> _AlignedSystem:
    """Return a system on the given items that it covers; raise if it covers none."""
    if np.array_equal(system.rows, items):
        return system
    inside = np.isin(system.rows, items)
    if not inside.any():
        raise ChaosError(f"{system.name!r} has no item in common with {where!r}.")
    batch = take_items(system.batch, inside)
    columns = [
        block[inside] if measure.by_item else columns_of(measure, batch)
        for measure, block in zip(system.measures, system.columns, strict=True)
    ]
    return replace(system, rows=system.rows[inside], batch=batch, columns=columns)


def _values(system: _AlignedSystem) -> Floats:
    """Return a system's value by each measure."""
    return _reduce(system, [block.mean(axis=0) for block in system.columns])


def _reduce(system: _AlignedSystem, means: Iterable[Floats]) -> Floats:
    """Return the value of each measure, from the means of its columns."""
    pairs = zip(system.measures, means, strict=True)
    return np.stack([measure.reduce(mean_columns) for measure, mean_columns in pairs], axis=-1)


def _positions(group: str, members: npt.ArrayLike, n_items: int) -> Ints:
    """Return a group's positions, ascending, from positions or a mask; raise if none is valid."""
    array = np.asarray(members)
    positions = np.flatnonzero(array) if array.dtype == bool else array.astype(np.int64)
    # np.unique imports numpy.ma, which takes longer than everything else here.
    items = np.array(sorted(set(positions.tolist())), dtype=np.int64)
    if len(items) == 0 or items[0] < 0 or items[-1] >= n_items:
        raise ChaosError(
            f"The group {group!r} has no items, or names one that does not exist.",
            expected=f"positions from 0 to {n_items - 1}",
        )
    return items


def _on_common(
    system: _AlignedSystem, reference: _AlignedSystem
) -> tuple[_AlignedSystem, _AlignedSystem]:
    """Return two systems on the items that both cover."""
    common = np.intersect1d(system.rows, reference.rows)
    if len(common) == 0:
        raise ChaosError(f"{system.name!r} and {reference.name!r} share no item.")
    return _restrict(system, common, reference.name), _restrict(reference, common, system.name)


def _resample_items(
    systems: Sequence[_AlignedSystem], items: Ints, n_resamples: int, rng: np.random.Generator
) -> dict[_AlignedSystem, Floats]:
    """Return each system's values on resamples of the items, shape (n_resamples, n_measures)."""
    distinct = list(dict.fromkeys(systems))  # a system may stand in several comparisons
    tables = [(system.rows, np.concatenate(system.columns, axis=1)) for system in distinct]
    draws = {}
    means_by_system = bootstrap_tables(tables, items, n_resamples, rng)
    for system, means in zip(distinct, means_by_system, strict=True):
        ends = np.cumsum([block.shape[1] for block in system.columns])[:-1]
        draws[system] = _reduce(system, np.split(means, ends, axis=1))
    return draws


def _rows(
    group: str,
    system: _AlignedSystem,
    reference: _AlignedSystem | None,
    draws: Mapping[_AlignedSystem, Floats],
    level: float,
    seed: Sequence[int],
) -> Iterator[ScoreRow]:
    """Yield a system's values, or their differences from another's on the same items."""
    value, resamples = _values(system), draws.get(system)
    if reference is not None:
        value = value - _values(reference)
        if resamples is not None:
            difference = resamples - draws[reference]
            # Sums that differ only in their order differ by 0.
            resamples = np.where(np.abs(difference) < _ROUNDING, 0, difference)
    if resamples is not None:
        low, high = percentile_interval(resamples, level)
        p = paired_p_value(resamples) if reference is not None else np.full(len(value), np.nan)
    for k, measure in enumerate(system.measures):
        row: ScoreRow = {
            **system.about, "group": group, "measure": measure.name, "n_items": len(system.rows),
            "reference": reference.name if reference else "", "value": value[k],
        }  # fmt: skip
        if resamples is not None and measure.has_interval:
            row["low"], row["high"], row["interval"] = low[k], high[k], "percentile"
            row["estimand"] = "; ".join(filter(None, [_ESTIMAND, measure.estimand]))
            row["n_resamples"] = len(resamples)
            if reference is not None:
                row["p"] = p[k]
            elif measure.studentised:
                row |= _studentised(system, k, len(resamples), level, seed)
        yield row


def _studentised(
    system: _AlignedSystem, k: int, n_resamples: int, level: float, seed: Sequence[int]
) -> ScoreRow:
    """Return the bootstrap-t interval of measure number k, if people disagree on enough items."""
    if (system.batch.human.max(axis=1) < 1).sum() < FEWEST_DISPUTED:
        return {"low": np.nan, "high": np.nan, "interval": "too few items to say"}
    moments = Moments.drawn(system.columns[k], n_resamples, np.random.default_rng(seed))
    low, high = moments.interval(mean, [0], level)
    return {"low": low, "high": high, "interval": "bootstrap-t"}


@dataclass(frozen=True, slots=True, eq=False)
class Resamples:
    """Values of systems in groups of items, and on resamples of each group's items.

    Intervals of quantities that combine them, such as a mean over seeds or a difference between
    two groups, are computed from these.
    """

    n_items: Ints  # items of the group that the system covers, (n_groups, n_systems)
    values: Floats  # (n_groups, n_systems, n_measures); NaN if the system covers no item
    draws: Floats  # (n_groups, n_resamples, n_systems, n_measures), all systems resampled alike


def resampled(
    votes: Votes,
    systems: Sequence[System],
    *,
    measures: Iterable[str],
    groups: Mapping[str, npt.ArrayLike],
    n_resamples: int,
    seed: int,
) -> Resamples:
    """Return values, and their values on resamples of the items, as `score` uses for intervals.

    Unlike there, a system may share no item with a group.
    """
    EvaluationRequest(n_resamples=n_resamples, seed=seed).check(systems)
    chosen = chosen_measures(votes, measures)
    aligned = [_align(system, votes, chosen) for system in systems]
    shape = (len(groups), len(systems), len(chosen))
    n_items, values = np.zeros(shape[:2], dtype=np.int64), np.full(shape, np.nan)
    draws = np.full((shape[0], n_resamples, *shape[1:]), np.nan)
    for number, (group, members) in enumerate(groups.items()):
        items = _positions(group, members, len(votes))
        n_items[number] = [np.isin(system.rows, items).sum() for system in aligned]
        parts = {s: _restrict(aligned[s], items, group) for s in np.flatnonzero(n_items[number])}
        rng = np.random.default_rng([seed, number])
        draws_of = _resample_items([*parts.values()], items, n_resamples, rng)
        for s, system in parts.items():
            values[number, s], draws[number, :, s] = _values(system), draws_of[system]
    return Resamples(n_items, values, draws)


def wide(table: "pd.DataFrame", *ends: str) -> "pd.DataFrame":
    """Return one row for each dataset, group and system, with a column for each measure.

    Rows of differences in the `table` of scores are left out. With ``low`` and ``high`` as `ends`,
    there are also columns ``<measure>_low`` and ``<measure>_high``.
    """
    rows = table[table["reference"] == ""]
    keys = ["dataset", "group", "system"]
    result = rows.drop_duplicates(keys)[[*keys, "family", "seed", "origin", "trained_on",
                                            "temperature", "n_items"]]  # fmt: skip
    for measure, part in rows.groupby("measure", sort=False):
        names = {"value": str(measure)} | {end: f"{measure}_{end}" for end in ends}
        result = result.merge(part[[*keys, *names]].rename(columns=names), "left", keys)
    return result
