"""The comparison of Baan et al. (2022): its systems, and its numbers beside ours."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets import sources
from chaos_utils.datasets.catalogue import book_datasets, get_dataset
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.measures import MEASURES, Judged
from chaos_utils.plots.panels import system_title
from chaos_utils.report.columns import MISSING, Column, Row
from chaos_utils.scoring.system import System
from chaos_utils.scoring.systems import oracle

PAPER = "baan2022"
FIXED_TEMPERATURE = 2.0  # in the released code
SYSTEMS = "baan2022_systems"
_ROUNDING = 1e-9  # 0.75 - 0.7495 must not exceed half a unit by floating point alone


def paper_systems() -> pd.DataFrame:
    """Return ``dataset``, ``origin``, ``family`` and ``temperature`` by the paper's name."""
    return read_published(SYSTEMS).set_index("system")


def paper_datasets() -> list[str]:
    """Return the dataset of the paper's tables, then those that it pools with: out of distribution.

    The models were trained on the first's corpus.
    """
    first = str(read_published(SYSTEMS)["dataset"].iloc[0])
    pool = get_dataset(first).pooled_as
    others = [one.name for one in book_datasets() if one.pooled_as == pool]
    return list(dict.fromkeys([first, *others]))


def in_paper(systems: Iterable[System]) -> list[System]:
    """Return the models that the paper tabulates; simulated ones stand in for them."""
    families = set(paper_systems()["family"])
    return [
        one
        for one in systems
        if one.origin == "simulated" or (one.origin == "released" and one.family in families)
    ]


def line_up(votes: Votes, systems: Sequence[System], shown_seed: int | None = None) -> list[System]:
    """Set up the paper's comparison: each system as it is, then at T = 2; last, the oracle.

    Of the paper's models those that its tables show are taken, of others all; of a family with
    several seeds the shown one, by default each.
    """
    of_paper, known = in_paper(systems), ("released", "trained", "yours")
    others = [one for one in systems if one.origin in known and one.paper != PAPER]
    groups = (of_paper, [one for one in others if one not in of_paper])
    if not any(groups):
        raise ChaosError(
            f"This needs predictions on {votes.dataset.title}, and none are available.",
            todo="pass -p predictions=FILE, or run `chaos data fetch` for the released ones",
        )
    everyone = oracle(votes)
    found = []
    for group in groups:
        if any(one.name == everyone.name for one in group):
            raise ChaosError(
                "A system has the name of a reference.", found=everyone.name, todo="rename it"
            )
        found += [*group, *(one.at_temperature(FIXED_TEMPERATURE) for one in group)]
    found.append(everyone)
    return found if shown_seed is None else _with_seed(found, shown_seed)


def _with_seed(systems: Sequence[System], seed: int) -> list[System]:
    seeds: dict[tuple[str, str], set[int | None]] = {}
    for one in systems:
        seeds.setdefault((one.origin, one.family), set()).add(one.seed)
    known = {seed for found in seeds.values() if len(found) > 1 for seed in found}
    if known and seed not in known:
        expected = "one of: " + ", ".join(sorted(map(str, known)))
        raise ChaosError("No model was trained with this seed.", found=seed, expected=expected)
    return [one for one in systems if one.seed == seed or len(seeds[one.origin, one.family]) == 1]


def flattened_beside(
    votes: Votes, systems: Sequence[System], shown_seed: int, origins: Sequence[str]
) -> list[System]:
    """Choose of `line_up` the first family at both temperatures, and others as they are."""
    several = line_up(votes, systems, shown_seed)
    first = (several[0].origin, several[0].family)
    return [
        one
        for one in several
        if (one.origin, one.family) == first or (one.temperature == 1 and one.origin in origins)
    ]


def published_rows(table: str, votes: Votes | None = None) -> pd.DataFrame:
    """Return a table of the paper with each row's `paper_systems`, or its part about some votes.

    That is empty for votes that were not released, since the paper's numbers are not about them.
    """
    rows = read_published(table).merge(read_published(SYSTEMS), on="system")
    if votes is None:
        return rows
    return rows[(rows["dataset"] == votes.dataset.name) & votes.is_released]


def rows_about(published: pd.DataFrame, keys: Mapping[str, object]) -> pd.DataFrame:
    """Return the rows of `published_rows` that are about a system, by its `System.keys`.

    A row without a seed is about every seed.
    """
    same = published["seed"].isna() | published["seed"].isin([keys["seed"]])
    for name in ("origin", "family", "temperature"):
        same &= published[name] == keys[name]
    return published[same]


def measured(judged: Judged, measures: Sequence[str]) -> dict[str, float]:
    """Return measures of a system on all its items, by name."""
    return {name: MEASURES[name].value(judged) for name in measures}


def per_system(
    votes: Votes,
    systems: Iterable[System],
    values: Callable[[Judged], dict[str, float]],
    known: pd.DataFrame | None = None,
    /,
    **theirs: str,
) -> pd.DataFrame:
    """Make a row per system: its keys, `values` of it, and the paper's numbers beside them.

    Each of `theirs` is a column, filled from the column that it names of what is `known` of the
    paper: `published_rows`.
    """
    rows = []
    for one in systems:
        row = {**one.keys, **values(one.aligned_to(votes))}
        if known is not None:
            about = rows_about(known, one.keys)
            row |= {name: first_known(about[column]) for name, column in theirs.items()}
        rows.append(row)
    return pd.DataFrame(rows).astype({"seed": "Int64"})


def first_known(values: "pd.Series[float]") -> float:
    """Return the first number that is there, NaN where none is."""
    known = values.dropna()
    return float(known.iloc[0]) if len(known) else math.nan


def agreeing(table: pd.DataFrame, ours: str, theirs: str, *, scale: float = 1) -> pd.DataFrame:
    """Add ``agrees``: whether our number is theirs as printed, <NA> where nothing was."""
    pairs = zip(scale * table[ours], table[theirs], strict=True)
    same = [None if np.isnan(printed) else agrees(value, printed) for value, printed in pairs]
    return table.assign(agrees=pd.array(same, dtype="boolean"))


def paper_columns(
    group: str, ours: str, theirs: str, digits: int, *, scale: float = 1, signed: bool = False
) -> list[Column]:
    """Return three columns, paper, here and Δ, of a table that is `agreeing`.

    The paper's number stands as printed; Δ is bold where it exceeds the rounding of that.
    """

    def as_printed(row: Row) -> str:
        if math.isnan(row[theirs]):
            return MISSING
        return f"{row[theirs]:{'+' if signed else ''}g}".replace("-", "−")

    def difference(row: Row) -> float:
        return float(scale * row[ours] - row[theirs])

    return [
        Column("paper", as_printed, group=group),
        Column("here", lambda row: scale * row[ours], digits, signed=signed, group=group),
        Column("Δ", difference, digits, signed=True, group=group, bold=_is_off),
    ]


def _is_off(row: Row) -> bool:
    return row["agrees"] is False


def title(row: Row) -> str:
    """Return what a row's system is called in a table."""
    return unbroken(system_title(row["system"], row["origin"], row["temperature"]))


def unbroken(name: str) -> str:
    """Let a system's name break after its commas alone."""
    together = str.maketrans({"-": "\u2011", " ": "\u00a0"})  # hyphen and space without a break
    return name.translate(together).replace(",\u00a0", ", ")


def prediction_files(votes: Votes, system: System) -> list[Path]:
    """Return the files of a released system's predictions on a dataset; none where one is missing.

    They hold more items than the dataset does: all of the development set that it was taken from.
    """
    if system.origin != "released":
        return []
    return released_files(votes.dataset, system.family, system.seed)


def released_files(dataset: Dataset, family: str, seed: int | None) -> list[Path]:
    """Return the files of `prediction_files` by the system's family and seed."""
    for known in dataset.systems:
        if known.family == family:
            return available(known.parts.get(seed, ()))
    return []


def available(names: Sequence[str]) -> list[Path]:
    """Return where published files stand; none where one is missing."""
    there = all(map(sources.find, names))
    return [sources.locate(name, "released") for name in names] if there else []


def agrees(value: float, published: float) -> bool:
    """Return whether a value is the published one, to the digits that are printed."""
    return abs(value - published) <= 0.5 * 10.0 ** -digits_of(published) + _ROUNDING


def digits_of(published: float) -> int:
    """Return how many decimals a published number has, zeros at its end aside."""
    return len(f"{published:.9g}".partition(".")[2])
