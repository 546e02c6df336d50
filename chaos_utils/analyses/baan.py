"""The comparison of Baan et al. (2022): its systems and files, and its numbers beside ours."""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pandas as pd

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets import sources
from chaos_utils.datasets.catalogue import book_datasets, get_dataset
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.measures import MEASURES, EvalBatch
from chaos_utils.plots.systems import system_title
from chaos_utils.report.columns import Row
from chaos_utils.scoring.system import System
from chaos_utils.scoring.systems import oracle

PAPER = "baan2022"
FIXED_TEMPERATURE = 2.0  # in the released code
SYSTEMS = "baan2022_systems"
MODEL = ("origin", "family", "temperature")  # what seeds have in common
_ROUNDING = 1e-9  # 0.75 - 0.7495 must not exceed half a unit by floating point alone


def paper_datasets() -> list[str]:
    """Return the dataset of the paper's tables, then the datasets that are pooled with it.

    The models were trained on the corpus of the first; the others are out of distribution.
    """
    first = str(read_published(SYSTEMS)["dataset"].iloc[0])
    pool = get_dataset(first).pooled_as
    partners = [dataset.name for dataset in book_datasets() if dataset.pooled_as == pool]
    return list(dict.fromkeys([first, *partners]))


def paper_systems(systems: Iterable[System]) -> list[System]:
    """Return the models that the paper tabulates; simulated ones stand in for them."""
    families = set(read_published(SYSTEMS)["family"])
    return [
        system
        for system in systems
        if system.origin == "simulated"
        or (system.origin == "released" and system.family in families)
    ]


def comparison_systems(
    votes: Votes, systems: Sequence[System], shown_seed: int | None = None
) -> list[System]:
    """Set up the paper's comparison: each system as it is, then at T = 2; last, the oracle.

    Systems are the models in the paper's tables, and all systems that are not of the paper. With
    `shown_seed`, only that seed of a family with several seeds is returned.
    """
    origins = ("released", "trained", "yours")
    other_systems = [
        system for system in systems if system.origin in origins and system.paper != PAPER
    ]
    compared = []
    for originals in (paper_systems(systems), other_systems):
        compared += [
            *originals,
            *(system.at_temperature(FIXED_TEMPERATURE) for system in originals),
        ]
    if not compared:
        raise ChaosError(
            f"This needs predictions on {votes.dataset.title}, and none are available.",
            todo="pass -p predictions=FILE, or run `chaos data fetch` for the released ones",
        )
    reference = oracle(votes)
    if any(system.name == reference.name for system in compared):
        raise ChaosError(
            "A system has the name of a reference.", found=reference.name, todo="rename it"
        )
    compared.append(reference)
    return compared if shown_seed is None else _select_seed(compared, shown_seed)


def _select_seed(systems: Sequence[System], seed: int) -> list[System]:
    """Return the systems of a seed, and those of families with one seed or none."""
    seeds: dict[tuple[str, str], set[int | None]] = {}
    for system in systems:
        seeds.setdefault((system.origin, system.family), set()).add(system.seed)
    choices = {
        seed for family_seeds in seeds.values() if len(family_seeds) > 1 for seed in family_seeds
    }
    if choices and seed not in choices:
        expected = "one of: " + ", ".join(sorted(map(str, choices)))
        raise ChaosError("No model was trained with this seed.", found=seed, expected=expected)
    return [
        system
        for system in systems
        if system.seed == seed or len(seeds[system.origin, system.family]) == 1
    ]


def compared_systems(
    votes: Votes, systems: Sequence[System], shown_seed: int, origins: Sequence[str]
) -> list[System]:
    """Return the first family of `comparison_systems` at both temperatures, others as they are."""
    candidates = comparison_systems(votes, systems, shown_seed)
    first = (candidates[0].origin, candidates[0].family)
    return [
        system
        for system in candidates
        if (system.origin, system.family) == first
        or (system.temperature == 1 and system.origin in origins)
    ]


def published_rows(table: str, votes: Votes | None = None) -> pd.DataFrame:
    """Return a table of the paper, with the columns of its systems; with `votes`, their rows alone.

    There are none for votes that were not released, since the paper's numbers are not about them.
    """
    rows = read_published(table).merge(read_published(SYSTEMS), on="system")
    if votes is None:
        return rows
    return rows[(rows["dataset"] == votes.dataset.name) & votes.is_released]


def with_published(
    table: pd.DataFrame, published: pd.DataFrame, names: Sequence[str], keys: Sequence[str] = MODEL
) -> pd.DataFrame:
    """Add the paper's numbers, ``published_…``, and ours minus the paper's, ``difference_…``.

    `names` are the columns of the numbers; rows of both tables belong together by `keys`.
    """
    paper_rows = published[[*keys, *names]].astype(table.dtypes[[*keys]])
    paper_rows.columns = [*keys, *(f"published_{name}" for name in names)]
    table = table.merge(paper_rows, "left", [*keys])
    differences = {f"difference_{name}": table[name] - table[f"published_{name}"] for name in names}
    return table.assign(**differences)


def measure_values(batch: EvalBatch, measures: Sequence[str]) -> dict[str, float]:
    """Return the values of measures for a system on all its items, by name."""
    return {name: MEASURES[name].value(batch) for name in measures}


def rows_per_system(
    votes: Votes, systems: Iterable[System], values: Callable[[EvalBatch], dict[str, float]]
) -> pd.DataFrame:
    """Return a row per system: its keys, then the `values` of its aligned predictions."""
    rows = [{**system.keys, **values(system.aligned_to(votes))} for system in systems]
    return pd.DataFrame(rows).astype({"seed": "Int64"})


def row_title(row: Row) -> str:
    """Return the title of a row's system: of its family, if the row is a mean over ``n_seeds``."""
    n_seeds = row.get("n_seeds", 0)
    name = row["family"] if n_seeds else row["system"]
    seeds = f", {n_seeds} seeds" if n_seeds > 1 else ""
    return without_breaks(system_title(name, row["origin"], row["temperature"]) + seeds)


def without_breaks(name: str) -> str:
    """Return a system's name in which lines break only after commas."""
    together = str.maketrans({"-": "\u2011", " ": "\u00a0"})  # hyphen and space without a break
    return name.translate(together).replace(",\u00a0", ", ")


def released_lines(votes: Votes, system: System) -> list[list[dict[str, Any]]]:
    """Return the lines of a model's released files, a list for each file.

    The files cover the whole development set that the dataset was taken from, with a line per item:
    ``uid``, ``true`` (the gold label) and ``probs``, in the files' own order of labels. Empty for
    systems that are not of the paper.
    """
    if system.paper != PAPER:
        return []
    entry = next(released for released in votes.dataset.systems if released.family == system.family)
    paths = [sources.locate(name, "released") for name in entry.parts[system.seed]]
    return [list(map(json.loads, path.read_text("utf-8").splitlines())) for path in paths]


def agrees(value: float, published: float) -> bool:
    """Return whether a value is the published one, to the digits that are printed."""
    return abs(value - published) <= 0.5 * 10.0 ** -digits_of(published) + _ROUNDING


def digits_of(published: float) -> int:
    """Return how many decimals a published number has, zeros at its end aside."""
    return len(f"{published:.9g}".partition(".")[2])
