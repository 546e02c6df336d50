"""The comparison of Baan et al. (2022): its systems and files, and its numbers beside ours."""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pandas as pd

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.style import system_title
from chaos_utils.datasets import sources
from chaos_utils.datasets.catalogue import book_datasets, get_dataset
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.measures import MEASURES, EvalBatch
from chaos_utils.report.columns import Row
from chaos_utils.scoring.system import System
from chaos_utils.scoring.systems import oracle

PAPER = "baan2022"
FIXED_TEMPERATURE = 2.0  # in the released code
SYSTEMS = "baan2022_systems"
MODEL = ("origin", "family", "temperature")  # what seeds have in common
_ROUNDING = 1e-9  # 0.75 - 0.7495 must not exceed half a unit by floating point alone


def paper_datasets() -> list[str]:
    """Return the dataset of the paper's tables, then those that it pools with: out of distribution.

    The models were trained on the first's corpus.
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

    Of the paper's models those that its tables show are taken, of others all; of a family with
    several seeds the shown one, by default each.
    """
    origins = ("released", "trained", "yours")
    extra = [system for system in systems if system.origin in origins and system.paper != PAPER]
    lineup = []
    for group in (paper_systems(systems), extra):
        lineup += [*group, *(system.at_temperature(FIXED_TEMPERATURE) for system in group)]
    if not lineup:
        raise ChaosError(
            f"This needs predictions on {votes.dataset.title}, and none are available.",
            todo="pass -p predictions=FILE, or run `chaos data fetch` for the released ones",
        )
    reference = oracle(votes)
    if any(system.name == reference.name for system in lineup):
        raise ChaosError(
            "A system has the name of a reference.", found=reference.name, todo="rename it"
        )
    lineup.append(reference)
    return lineup if shown_seed is None else _select_seed(lineup, shown_seed)


def _select_seed(systems: Sequence[System], seed: int) -> list[System]:
    seeds: dict[tuple[str, str], set[int | None]] = {}
    for system in systems:
        seeds.setdefault((system.origin, system.family), set()).add(system.seed)
    choices = {seed for several in seeds.values() if len(several) > 1 for seed in several}
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
    """Return of `comparison_systems` the first family at both temperatures, others as they are."""
    several = comparison_systems(votes, systems, shown_seed)
    first = (several[0].origin, several[0].family)
    return [
        system
        for system in several
        if (system.origin, system.family) == first
        or (system.temperature == 1 and system.origin in origins)
    ]


def published_rows(table: str, votes: Votes | None = None) -> pd.DataFrame:
    """Return a table of the paper with what each row's system is, or its part about some votes.

    That is empty for votes that were not released, since the paper's numbers are not about them.
    """
    rows = read_published(table).merge(read_published(SYSTEMS), on="system")
    if votes is None:
        return rows
    return rows[(rows["dataset"] == votes.dataset.name) & votes.is_released]


def with_published(
    table: pd.DataFrame, published: pd.DataFrame, names: Sequence[str], keys: Sequence[str] = MODEL
) -> pd.DataFrame:
    """Add the paper's numbers, ``published_…``, and ours minus them, ``difference_…``, by name.

    They are about the rows of a table that have their `keys`.
    """
    theirs = published[[*keys, *names]].astype(table.dtypes[[*keys]])
    theirs.columns = [*keys, *(f"published_{name}" for name in names)]
    table = table.merge(theirs, "left", [*keys])
    gaps = {f"difference_{name}": table[name] - table[f"published_{name}"] for name in names}
    return table.assign(**gaps)


def measure_values(batch: EvalBatch, measures: Sequence[str]) -> dict[str, float]:
    """Return measures of a system on all its items, by name."""
    return {name: MEASURES[name].value(batch) for name in measures}


def rows_per_system(
    votes: Votes, systems: Iterable[System], values: Callable[[EvalBatch], dict[str, float]]
) -> pd.DataFrame:
    """Return a row per system: its keys, and `values` of it."""
    rows = [{**system.keys, **values(system.aligned_to(votes))} for system in systems]
    return pd.DataFrame(rows).astype({"seed": "Int64"})


def row_title(row: Row) -> str:
    """Return what a row's system is called in a table: its family where it is of ``n_seeds``."""
    n_seeds = row.get("n_seeds", 0)
    name = row["family"] if n_seeds else row["system"]
    several = f", {n_seeds} seeds" if n_seeds > 1 else ""
    return without_breaks(system_title(name, row["origin"], row["temperature"]) + several)


def without_breaks(name: str) -> str:
    """Let a system's name break after its commas alone."""
    together = str.maketrans({"-": "\u2011", " ": "\u00a0"})  # hyphen and space without a break
    return name.translate(together).replace(",\u00a0", ", ")


def released_lines(votes: Votes, system: System) -> list[list[dict[str, Any]]]:
    """Return what the paper released of a model, file by file: a line per item, in its order.

    The files hold all of the development set that the dataset was taken from. Each line has
    ``uid``, ``true`` (the gold label) and ``probs``, by the files' own codes of the labels. Without
    files for any other system.
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
