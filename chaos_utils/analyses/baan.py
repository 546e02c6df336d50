"""The systems of Baan et al. (2022): what their tables call them, and their numbers beside ours."""

from collections.abc import Iterable, Mapping

import pandas as pd

from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.votes import Votes
from chaos_utils.scoring.system import System

_SYSTEMS = "baan2022_systems"


def paper_systems() -> pd.DataFrame:
    """Return ``dataset``, ``origin``, ``family`` and ``temperature`` by the paper's name."""
    return read_published(_SYSTEMS).set_index("system")


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
