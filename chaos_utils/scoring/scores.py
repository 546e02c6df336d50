"""The one tidy table of scores: systems against votes, with intervals and paired differences.

A measure is a function of means over items, so one set of bootstrap weights resamples every
measure of every system at once: what is compared is always resampled alike.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.datasets.votes import Votes
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

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Row = dict[str, Any]
ALL = "all"  # the group of all items
OF_LABELS = ("old_accuracy", "new_accuracy", "soft_accuracy")  # what a label alone is judged by
_ROUNDING = 1e-12

COLUMNS = (
    "dataset", "group", "system", "family", "seed", "origin", "trained_on", "temperature",
    "measure", "n_items", "value", "low", "high", "interval", "estimand", "n_resamples",
    "reference", "p", "p_holm",
)  # fmt: skip
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
_OF_INTERVALS = ("low", "high", "interval", "estimand", "n_resamples", "p")
_ESTIMAND = "items resampled, each with its votes"


def score(
    votes: Votes,
    systems: Sequence[System],
    *,
    measures: Iterable[str] | None = None,
    groups: Mapping[str, npt.ArrayLike] | None = None,
    reference: str | None = None,
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
    reference : str, optional
        Name of a system that every other one is compared with, on the items that both cover.
    n_resamples : int
        Bootstrap resamples for the intervals; 0 for none. An item is resampled with the votes on
        it: intervals allow for other items and, since these bring theirs, for other votes.
    seed : int
        Seed of the bootstrap, 0 or more. The resamples of a group depend on it, on the number of
        items and on the group's place alone.
    level : float
        Coverage of the intervals, in (0, 1).
    comparisons : sequence of (str, str)
        Names of systems that are compared instead, the first minus the second of each.

    Returns
    -------
    DataFrame
        One row for each group, system and measure, in the order given: ``dataset``, ``group``;
        ``system``, ``family``, ``seed``, ``origin``, ``trained_on`` (joined by ``+``),
        ``temperature``; ``measure``, ``n_items``, ``value``; ``low``, ``high``, the kind of
        ``interval`` (percentile), its ``estimand`` and ``n_resamples``. Where `reference` is given,
        as many rows again for the differences from it (value minus the reference's value):
        ``reference`` is its name there and empty elsewhere, ``p`` is two-sided and below
        1 − `level` where the interval leaves out 0, ``p_holm`` is adjusted for all comparisons of
        this table. The smallest p that `n_resamples` allow is
        `chaos_utils.metrics.resampling.smallest_p_value`.

    Raises
    ------
    ChaosError
        If two systems have one name, a measure or the reference is not known, a system shares no
        item with a group or the reference, or a number is out of its range.
    """
    if reference is not None:
        comparisons = [(one.name, reference) for one in systems if one.name != reference]
    return as_scores(
        score_rows(
            votes,
            systems,
            measures=measures,
            groups=groups,
            comparisons=comparisons,
            n_resamples=n_resamples,
            seed=seed,
            level=level,
        )
    )


def score_rows(
    votes: Votes,
    systems: Sequence[System],
    *,
    measures: Iterable[str] | None = None,
    groups: Mapping[str, npt.ArrayLike] | None = None,
    comparisons: Sequence[tuple[str, str]] = (),
    n_resamples: int = 0,
    seed: int = 0,
    level: float = 0.95,
) -> list[Row]:
    """Return what `score` does as plain rows, without pandas, which is slow to import.

    A row may lack those of `COLUMNS` that it has nothing for.
    """
    _check(systems, n_resamples, seed, level, [name for pair in comparisons for name in pair])
    chosen = chosen_measures(votes, measures)
    aligned = [_Aligned.of(system, votes, chosen) for system in systems]
    rows: list[Row] = []
    whole = {ALL: np.arange(len(votes))}
    for number, (group, members) in enumerate((groups or whole).items()):
        items = _positions(group, members, len(votes))
        parts = {one.system.name: one.on(items, group) for one in aligned}
        pairs = [_on_common(parts[name], parts[other]) for name, other in comparisons]
        draws: dict[_Aligned, Floats] = {}
        common: Row = {"group": group}
        if n_resamples:
            everyone = [*parts.values(), *(one for pair in pairs for one in pair)]
            draws = _resample_items(everyone, items, n_resamples, [seed, number])
            common |= {"estimand": _ESTIMAND, "n_resamples": n_resamples}
        for one, other in [*((one, None) for one in parts.values()), *pairs]:
            rows += _rows(common, one, other, draws, level, [seed, number])
    adjusted = holm([row.get("p", np.nan) for row in rows])
    return [row | {"p_holm": p} for row, p in zip(rows, adjusted, strict=True)]


def as_scores(rows: Iterable[Mapping[str, object]]) -> "pd.DataFrame":
    """Return rows as a table of scores: all `COLUMNS`, empty or NaN where a row has none."""
    import pandas as pd

    table = pd.DataFrame(list(rows), dtype=object).reindex(columns=list(COLUMNS)).astype(_TYPES)
    texts = [name for name in COLUMNS if name not in _TYPES]
    return table.assign(**{n: table[n].astype(object).where(table[n].notna(), "") for n in texts})


def available(votes: Votes, names: Iterable[str]) -> list[str]:
    """Return those measures that the votes have what they need for."""
    return [name for name in names if _has(votes, MEASURES[name].needs)]


def _has(votes: Votes, what: Needs) -> bool:
    if what == "old label":
        return votes.has_old_labels
    if what == "two votes":
        return int(votes.n_votes.min()) >= 2
    return what == "" or votes.dataset.ordered


def chosen_measures(votes: Votes, names: Iterable[str] | None = None) -> list[Measure]:
    """Return measures by name; without names, all that the votes have what they need for."""
    if names is None:
        return [MEASURES[name] for name in available(votes, MEASURES)]
    found = []
    for name in names:
        if name not in MEASURES:
            expected = did_you_mean(name, MEASURES)
            raise ChaosError("Unknown measure.", found=repr(name), expected=expected)
        if not _has(votes, MEASURES[name].needs):
            what, remedy = _NEEDED[MEASURES[name].needs]
            raise ChaosError(
                f"{MEASURES[name].title} needs {what}.",
                where=votes.dataset.title,
                todo="leave this measure out" + remedy,
            )
        found.append(MEASURES[name])
    return found


def _check(
    systems: Sequence[System],
    n_resamples: int,
    seed: int,
    level: float,
    compared: Sequence[str],
) -> None:
    check_names(systems)
    names = [system.name for system in systems]
    for name in compared:
        if name not in names:
            raise ChaosError(
                "There is no such system to compare with.",
                found=name,
                expected=did_you_mean(name, names),
            )
    for what, value, fits, expected in (
        ("number of resamples", n_resamples, n_resamples >= 0, "0 or more"),
        ("seed", seed, seed >= 0, "0 or more"),
        ("coverage", level, 0 < level < 1, "between 0 and 1, such as 0.95"),
    ):
        if not fits:
            raise ChaosError(f"The {what} is out of its range.", found=value, expected=expected)
    if compared and 0 < n_resamples < fewest_resamples(level):
        raise ChaosError(
            f"Too few resamples for a {100 * level:g}% interval of a difference.",
            found=n_resamples,
            expected=f"0, or at least {fewest_resamples(level)}",
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Aligned:
    """A system on some items, and its columns of each measure there."""

    system: System
    rows: Ints  # positions of its items in the votes, ascending
    judged: EvalBatch
    measures: Sequence[Measure]
    columns: list[Floats]

    @classmethod
    def of(cls, system: System, votes: Votes, measures: Sequence[Measure]) -> "_Aligned":
        judged = system.aligned_to(votes)
        columns = [columns_of(measure, judged) for measure in measures]
        return cls(system, system.rows_in(votes), judged, measures, columns)

    def on(self, items: Ints, where: str) -> "_Aligned":
        """Return the same on some of the items."""
        if np.array_equal(self.rows, items):
            return self
        inside = np.isin(self.rows, items)
        if not inside.any():
            raise ChaosError(f"{self.system.name!r} has no item in common with {where!r}.")
        judged = take_items(self.judged, inside)
        columns = [
            block[inside] if measure.by_item else columns_of(measure, judged)
            for measure, block in zip(self.measures, self.columns, strict=True)
        ]
        return _Aligned(self.system, self.rows[inside], judged, self.measures, columns)

    def values(self) -> Floats:
        return self.reduced([block.mean(axis=0) for block in self.columns])

    def reduced(self, means: Iterable[Floats]) -> Floats:
        """Return the value of each measure, from the means of its columns."""
        both = zip(self.measures, means, strict=True)
        return np.stack([measure.reduce(of_it) for measure, of_it in both], axis=-1)


def _positions(group: str, members: npt.ArrayLike, n_items: int) -> Ints:
    given = np.asarray(members)
    places = np.flatnonzero(given) if given.dtype == bool else given.astype(np.int64)
    # np.unique imports numpy.ma, which takes longer than everything else here.
    items = np.array(sorted(set(places.tolist())), dtype=np.int64)
    if len(items) == 0 or items[0] < 0 or items[-1] >= n_items:
        raise ChaosError(
            f"The group {group!r} has no items, or names one that does not exist.",
            expected=f"positions from 0 to {n_items - 1}",
        )
    return items


def _on_common(one: _Aligned, other: _Aligned) -> tuple[_Aligned, _Aligned]:
    """Return two systems on the items that both cover."""
    common = np.intersect1d(one.rows, other.rows)
    if len(common) == 0:
        raise ChaosError(f"{one.system.name!r} and {other.system.name!r} share no item.")
    return one.on(common, other.system.name), other.on(common, one.system.name)


def _resample_items(
    parts: Sequence[_Aligned], items: Ints, n_resamples: int, seed: Sequence[int]
) -> dict[_Aligned, Floats]:
    """Return each part's values on resamples of the items, shape (n_resamples, n_measures)."""
    distinct = list(dict.fromkeys(parts))  # a system may stand in several comparisons
    tables = [(one.rows, np.concatenate(one.columns, axis=1)) for one in distinct]
    drawn = bootstrap_tables(tables, items, n_resamples, np.random.default_rng(seed))
    found = {}
    for one, means in zip(distinct, drawn, strict=True):
        ends = np.cumsum([block.shape[1] for block in one.columns])[:-1]
        found[one] = one.reduced(np.split(means, ends, axis=1))
    return found


def _rows(
    common: Row,
    one: _Aligned,
    other: _Aligned | None,
    draws: Mapping[_Aligned, Floats],
    level: float,
    seed: Sequence[int],
) -> list[Row]:
    """Return a system's values, or their differences from another's on the same items."""
    about = common | metadata_columns(one.system) | {"n_items": len(one.rows), "reference": ""}
    found = {"value": one.values()}
    if other is not None:
        about["reference"] = other.system.name
        found["value"] = one.values() - other.values()
    if draws:
        drawn = draws[one]
        if other is not None:
            drawn = _without_rounding(drawn - draws[other])
            found["p"] = paired_p_value(drawn)
        found["low"], found["high"] = percentile_interval(drawn, level)
        about["interval"] = "percentile"
    rows = []
    for k, measure in enumerate(one.measures):
        row = about | {"measure": measure.name} | {name: each[k] for name, each in found.items()}
        if not measure.has_interval:
            row = {name: cell for name, cell in row.items() if name not in _OF_INTERVALS}
        elif draws and measure.estimand:
            row["estimand"] += f"; {measure.estimand}"
        if draws and measure.studentised and other is None:
            row |= _studentised(one, k, len(draws[one]), level, seed)
        rows.append(row)
    return rows


def _studentised(one: _Aligned, k: int, n_resamples: int, level: float, seed: Sequence[int]) -> Row:
    """Return the bootstrap-t interval of measure number k, if people disagree on enough items."""
    if (one.judged.human.max(axis=1) < 1).sum() < FEWEST_DISPUTED:
        return {"low": np.nan, "high": np.nan, "interval": "too few items to say"}
    moments = Moments.drawn(one.columns[k], n_resamples, np.random.default_rng(seed))
    low, high = moments.interval(mean, [0], level)
    return {"low": low, "high": high, "interval": "bootstrap-t"}


def metadata_columns(system: System) -> Row:
    """Return the columns that say what a system is."""
    return system.keys | {"trained_on": " + ".join(system.trained_on)}


def _without_rounding(gaps: Floats) -> Floats:
    """Return differences, 0 for those of sums that differ in nothing but their order."""
    return np.where(np.abs(gaps) < _ROUNDING, 0, gaps)


@dataclass(frozen=True, slots=True, eq=False)
class Resamples:
    """Values of systems in groups of items, and on resamples of each group's items.

    What needs them all, such as a mean over seeds, or a difference between two groups, takes its
    interval from these.
    """

    n_items: Ints  # of the group that the system covers, (n_groups, n_systems)
    values: Floats  # (n_groups, n_systems, n_measures); NaN where it covers none
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
    """Return the values that `score` makes intervals of, resampling the items.

    A system may share no item with a group.
    """
    chosen = chosen_measures(votes, measures)
    _check(systems, n_resamples, seed, 0.95, ())
    aligned = [_Aligned.of(system, votes, chosen) for system in systems]
    shape = (len(groups), len(systems), len(chosen))
    n_items, values = np.zeros(shape[:2], dtype=np.int64), np.full(shape, np.nan)
    draws = np.full((shape[0], n_resamples, *shape[1:]), np.nan)
    for number, (group, members) in enumerate(groups.items()):
        items = _positions(group, members, len(votes))
        n_items[number] = [np.isin(one.rows, items).sum() for one in aligned]
        parts = {s: aligned[s].on(items, group) for s in np.flatnonzero(n_items[number])}
        found = _resample_items([*parts.values()], items, n_resamples, [seed, number])
        for s, one in parts.items():
            values[number, s], draws[number, :, s] = one.values(), found[one]
    return Resamples(n_items, values, draws)


def wide(table: "pd.DataFrame", *ends: str) -> "pd.DataFrame":
    """Return one row for each dataset, group and system, with a column for each measure.

    The rows of differences in the `table` of scores are left out. With ``low``, ``high`` as `ends`
    there are those columns too, as ``<measure>_low``.
    """
    rows = table[table["reference"] == ""]
    keys = ["dataset", "group", "system"]
    described = rows.drop_duplicates(keys)[[*keys, "family", "seed", "origin", "trained_on",
                                            "temperature", "n_items"]]  # fmt: skip
    for measure, part in rows.groupby("measure", sort=False):
        names = {"value": str(measure)} | {end: f"{measure}_{end}" for end in ends}
        described = described.merge(part[[*keys, *names]].rename(columns=names), "left", keys)
    return described
