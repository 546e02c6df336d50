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
from chaos_utils.metrics.measures import MEASURES, Judged, Measure, Needs, columns_of, taken
from chaos_utils.metrics.resampling import (
    bootstrap_tables,
    fewest_resamples,
    holm,
    paired_p_value,
    percentile_interval,
)
from chaos_utils.scoring.system import System, check_names

if TYPE_CHECKING:
    import pandas as pd  # else where a table is made: slow to import

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
ALL = "all"  # the group of all items
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
    in_sample: bool = False,
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
    in_sample : bool
        As in `System.aligned_to`.
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
    return as_scores(
        score_rows(
            votes,
            systems,
            measures=measures,
            groups=groups,
            reference=reference,
            n_resamples=n_resamples,
            seed=seed,
            level=level,
            in_sample=in_sample,
            comparisons=comparisons,
        )
    )


def score_rows(
    votes: Votes,
    systems: Sequence[System],
    *,
    measures: Iterable[str] | None = None,
    groups: Mapping[str, npt.ArrayLike] | None = None,
    reference: str | None = None,
    n_resamples: int = 0,
    seed: int = 0,
    level: float = 0.95,
    in_sample: bool = False,
    comparisons: Sequence[tuple[str, str]] = (),
) -> list[dict[str, Any]]:
    """Return what `score` does as plain rows, without pandas, which is slow to import.

    A row may lack those of `COLUMNS` that it has nothing for.
    """
    chosen = chosen_measures(votes, measures)
    compared = [name for pair in comparisons for name in pair]
    if reference is not None:
        compared = [reference]
        comparisons = [(one.name, reference) for one in systems if one.name != reference]
    _check(systems, n_resamples, seed, level, compared)
    aligned = [_Aligned.of(system, votes, chosen, in_sample) for system in systems]
    rows: list[dict[str, Any]] = []
    whole = {ALL: np.arange(len(votes))}
    for number, (group, members) in enumerate((groups or whole).items()):
        items = _positions(group, members, len(votes))
        parts = [one.on(items, group, chosen) for one in aligned]
        pairs = _pairs(parts, comparisons, chosen)
        rng = np.random.default_rng([seed, number])
        draws = None
        if n_resamples:
            draws = _resample_items(chosen, [*parts, *pairs], items, n_resamples, rng)
        common: dict[str, object] = {"dataset": votes.dataset.name, "group": group}
        if draws is not None:
            common |= {"estimand": _ESTIMAND, "n_resamples": n_resamples}
        rows += _value_rows(common, chosen, parts, draws, level)
        late = None if draws is None else draws[len(parts) :]
        rows += _difference_rows(common, chosen, pairs, late, level)
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
    compared: Sequence[str] = (),
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
    judged: Judged
    columns: list[Floats]

    @classmethod
    def of(cls, system: System, votes: Votes, chosen: Sequence[Measure], in_sample: bool
           ) -> "_Aligned":  # fmt: skip
        judged = system.aligned_to(votes, in_sample=in_sample)
        columns = [columns_of(measure, judged) for measure in chosen]
        return cls(system, system.rows_in(votes), judged, columns)

    def on(self, items: Ints, where: str, chosen: Sequence[Measure]) -> "_Aligned":
        """Return the same on some of the items."""
        if np.array_equal(self.rows, items):
            return self
        inside = np.isin(self.rows, items)
        if not inside.any():
            raise ChaosError(f"{self.system.name!r} has no item in common with {where!r}.")
        judged = taken(self.judged, inside)
        columns = [
            block[inside] if measure.by_item else columns_of(measure, judged)
            for measure, block in zip(chosen, self.columns, strict=True)
        ]
        return _Aligned(self.system, self.rows[inside], judged, columns)

    def values(self, chosen: Sequence[Measure]) -> Floats:
        means = [block.mean(axis=0) for block in self.columns]
        return np.array([m.reduce(mean) for m, mean in zip(chosen, means, strict=True)])


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


def _pairs(
    parts: Sequence[_Aligned], comparisons: Iterable[tuple[str, str]], chosen: Sequence[Measure]
) -> list[_Aligned]:
    """Return the systems of each comparison, one after the other, on what both cover."""
    by_name = {one.system.name: one for one in parts}
    found = []
    for name, reference in comparisons:
        one, other = by_name[name], by_name[reference]
        common = np.intersect1d(one.rows, other.rows)
        if len(common) == 0:
            raise ChaosError(f"{name!r} and {reference!r} share no item.")
        found += [one.on(common, reference, chosen), other.on(common, name, chosen)]
    return found


def _resample_items(
    chosen: Sequence[Measure],
    parts: Sequence[_Aligned],
    items: Ints,
    n_resamples: int,
    rng: np.random.Generator,
) -> list[Floats]:
    """Return each part's values on resamples of the items, shape (n_resamples, n_measures)."""
    distinct = list(dict.fromkeys(parts))  # a system may stand in several comparisons
    tables = [(one.rows, np.concatenate(one.columns, axis=1)) for one in distinct]
    found = {}
    for one, means in zip(distinct, bootstrap_tables(tables, items, n_resamples, rng), strict=True):
        ends = np.cumsum([block.shape[1] for block in one.columns])[:-1]
        blocks = np.split(means, ends, axis=1)
        values = [m.reduce(block) for m, block in zip(chosen, blocks, strict=True)]
        found[one] = np.stack(values, axis=1)
    return [found[one] for one in parts]


def _value_rows(
    common: Mapping[str, object],
    chosen: Sequence[Measure],
    parts: Sequence[_Aligned],
    draws: list[Floats] | None,
    level: float,
) -> list[dict[str, object]]:
    rows = []
    for i, one in enumerate(parts):
        values = one.values(chosen)
        ends = None if draws is None else percentile_interval(draws[i], level)
        for k, measure in enumerate(chosen):
            row = {**common, **_described(one.system), "measure": measure.name,
                   "n_items": len(one.rows), "value": values[k]}  # fmt: skip
            if ends is not None:
                row |= {"low": ends[0][k], "high": ends[1][k], "interval": "percentile"}
            rows.append(_of_measure(row, measure))
    return rows


def _of_measure(row: dict[str, object], measure: Measure) -> dict[str, object]:
    """Return a row with what its measure estimates, or without an interval if it may have none."""
    if not measure.has_interval:
        return {name: cell for name, cell in row.items() if name not in _OF_INTERVALS}
    if measure.estimand and "estimand" in row:
        return row | {"estimand": f"{row['estimand']}; {measure.estimand}"}
    return row


def _described(system: System) -> dict[str, object]:
    return {
        "system": system.name,
        "family": system.family,
        "seed": system.seed,
        "origin": system.origin,
        "trained_on": " + ".join(system.trained_on),
        "temperature": system.temperature,
    }


def _difference_rows(
    common: Mapping[str, object],
    chosen: Sequence[Measure],
    pairs: Sequence[_Aligned],
    draws: list[Floats] | None,
    level: float,
) -> list[dict[str, object]]:
    """Return the differences of `pairs`, which are as `_pairs` gives them."""
    rows = []
    for i in range(0, len(pairs), 2):
        one, other = pairs[i : i + 2]
        found = {"value": one.values(chosen) - other.values(chosen)}
        kind = ""
        if draws is not None:
            gaps = _without_rounding(draws[i] - draws[i + 1])
            low, high = percentile_interval(gaps, level)
            found |= {"low": low, "high": high, "p": paired_p_value(gaps)}
            kind = "percentile"
        for k, measure in enumerate(chosen):
            row = {**common, **_described(one.system), "measure": measure.name,
                   "n_items": len(one.rows), "interval": kind,
                   "reference": other.system.name}  # fmt: skip
            row |= {name: values[k] for name, values in found.items()}
            rows.append(_of_measure(row, measure))
    return rows


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
    _check(systems, n_resamples, seed, 0.95)
    aligned = [_Aligned.of(system, votes, chosen, False) for system in systems]
    shape = (len(groups), len(systems), len(chosen))
    n_items, values = np.zeros(shape[:2], dtype=np.int64), np.full(shape, np.nan)
    draws = np.full((shape[0], n_resamples, *shape[1:]), np.nan)
    for number, (group, members) in enumerate(groups.items()):
        items = _positions(group, members, len(votes))
        n_items[number] = [np.isin(one.rows, items).sum() for one in aligned]
        there = np.flatnonzero(n_items[number])
        parts = [aligned[s].on(items, group, chosen) for s in there]
        rng = np.random.default_rng([seed, number])
        found = _resample_items(chosen, parts, items, n_resamples, rng)
        for s, one, drawn in zip(there, parts, found, strict=True):
            values[number, s], draws[number, :, s] = one.values(chosen), drawn
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
