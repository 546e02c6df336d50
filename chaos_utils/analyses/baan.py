"""The systems of Baan et al. (2022): what their tables call them, and their numbers beside ours."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from chaos_utils.datasets import sources
from chaos_utils.datasets.catalogue import book_datasets, get_dataset
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.votes import Votes
from chaos_utils.scoring.system import System

_SYSTEMS = "baan2022_systems"
_ROUNDING = 1e-9  # 0.75 - 0.7495 must not exceed half a unit by floating point alone


def paper_systems() -> pd.DataFrame:
    """Return ``dataset``, ``origin``, ``family`` and ``temperature`` by the paper's name."""
    return read_published(_SYSTEMS).set_index("system")


def paper_datasets() -> list[str]:
    """Return the dataset of the paper's tables, then those that it pools with: out of distribution.

    The models were trained on the first's corpus.
    """
    first = str(read_published(_SYSTEMS)["dataset"].iloc[0])
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


def published_beside(votes: Votes, table: str) -> pd.DataFrame:
    """Return a table of the paper, by system and seed, with each row's `paper_systems`.

    Empty for votes that were not released, since the paper's numbers are not about them.
    """
    rows = published_rows(table)
    return rows[(rows["dataset"] == votes.dataset.name) & votes.is_released]


def published_rows(table: str) -> pd.DataFrame:
    """Return a table of the paper with each row's `paper_systems`."""
    return read_published(table).merge(read_published(_SYSTEMS), on="system")


def rows_about(published: pd.DataFrame, keys: Mapping[str, object]) -> pd.DataFrame:
    """Return the rows of `published_beside` that are about a system, by its `System.keys`.

    A row without a seed is about every seed.
    """
    same = published["seed"].isna() | published["seed"].isin([keys["seed"]])
    for name in ("origin", "family", "temperature"):
        same &= published[name] == keys[name]
    return published[same]


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
