"""Judge prediction files: what `chaos evaluate` answers."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.loading import load_all_votes, load_votes
from chaos_utils.datasets.published.tables import read_published
from chaos_utils.evaluation.ceilings import references
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.report.tables import number, signed
from chaos_utils.scoring.predictions import join, read_predictions
from chaos_utils.scoring.scores import compare, evaluate
from chaos_utils.scoring.system import System

_DRAWS = 20
_OF_VOTES = tuple(name for name in MEASURES if name != "old_accuracy")  # have floor and ceiling
_ARROWS = {"lower": "↓", "higher": "↑", "zero": "→ 0"}
_IN_TABLE_5 = ("jsd", "kl", "old_accuracy", "new_accuracy")


def read_files(
    files: Sequence[Path],
    *,
    dataset: str,
    data: str = "auto",
    model: str | None = None,
    join_as: str = "",
    allow_missing: bool = False,
) -> dict[str, list[System]]:
    """Read the systems that prediction files hold, by dataset.

    Parameters
    ----------
    files : sequence of Path
        In any format that `read_predictions` takes.
    dataset : str
        A dataset's name, or ``auto`` for those whose uids occur.
    data : str
        As for `load_votes`.
    model : str, optional
        Take this model alone.
    join_as : str
        Name under which the files are parts of one system; empty when each stands alone.
    allow_missing : bool
        Whether a dataset may be covered in part.

    Returns
    -------
    dict of list of System
        By dataset; each list holds one at least.

    Raises
    ------
    ChaosError
        If a file has faults, two systems of a dataset have one name, or none is left.
    """
    all_votes = load_all_votes(data) if dataset == "auto" else [load_votes(dataset, data)]
    found: dict[str, list[System]] = {}
    for file in files:
        # A part of a system covers its dataset in part, by its nature.
        partial = allow_missing or bool(join_as)
        for one in read_predictions(file, all_votes, model=model, allow_missing=partial):
            found.setdefault(one.dataset.name, []).append(one)
    if join_as:
        found = {name: [join(parts, join_as)] for name, parts in found.items()}
        if not allow_missing:
            _check_whole(found, data)
    for name, systems in found.items():
        models = [system.name for system in systems]
        for model_name in models:
            if models.count(model_name) > 1:
                raise ChaosError(
                    "Two systems have the same name.",
                    where=get_dataset(name).title,
                    found=model_name,
                    todo="rename one of them, or join parts of one system with --join NAME",
                )
    return found


def _check_whole(found: dict[str, list[System]], data: str) -> None:
    for name, (system,) in found.items():
        votes = load_votes(name, data)
        if len(system) < len(votes):
            raise ChaosError(
                f"{len(votes) - len(system)} of {len(votes)} items of "
                f"{votes.dataset.title} have no prediction by {system.name!r}.",
                expected="a prediction for each item",
                todo="add them, or pass --allow-missing to evaluate the rest",
            )


def judge_files(
    found: dict[str, list[System]], *, data: str, n_resamples: int, seed: int
) -> pd.DataFrame:
    """Compute all measures of systems that were read from files.

    Parameters
    ----------
    found : dict of list of System
        As `read_files` gives it.
    data : str
        As for `load_votes`.
    n_resamples : int
        For the intervals; 0 for none.
    seed : int

    Returns
    -------
    DataFrame
        As `evaluate` gives it, with what a reader needs beside the value: ``floor`` (a
        perfect model) and ``ceiling`` (another crowd), which are drawn like the
        intervals and so NaN without resamples; ``unit``, ``better``; and where the
        measure is in Table 5 of Nie et al. (2020), ``rank`` among its nine models and
        this one (1 is best) and ``ranked``, their number.
    """
    tables = []
    for name, systems in found.items():
        votes = load_votes(name, data)
        part = evaluate(votes, systems, n_resamples=n_resamples, seed=seed)
        floor: dict[str, float] = {}
        ceiling: dict[str, float] = {}
        if n_resamples:
            known = references(votes, _DRAWS, seed, measures=_OF_VOTES)
            floor = {measure: drawn.value for measure, drawn in known.floor.items()}
            ceiling = {measure: drawn.value for measure, drawn in known.ceiling.items()}
        part["floor"] = part["measure"].map(floor).astype(float)
        part["ceiling"] = part["measure"].map(ceiling).astype(float)
        tables.append(part)
    table = pd.concat(tables, ignore_index=True)
    table["unit"] = table["measure"].map(lambda name: MEASURES[name].unit)
    table["better"] = table["measure"].map(lambda name: MEASURES[name].better)
    published = read_published("nie2020_table5")
    published = published[~published["model"].isin(["chance", "est-human"])]
    ranks = [_rank(row, published) for row in table.to_dict("records")]
    table["rank"] = pd.array([rank for rank, _ in ranks], dtype="Int64")
    table["ranked"] = pd.array([of for _, of in ranks], dtype="Int64")
    return table


def compare_files(
    found: dict[str, list[System]], against: str, *, data: str, n_resamples: int, seed: int
) -> pd.DataFrame:
    """Compare every other system with one of them, item by item, dataset by dataset.

    Parameters
    ----------
    found : dict of list of System
        As `read_files` gives it.
    against : str
        Name of the system that the others are compared with.
    data : str
        As for `load_votes`.
    n_resamples : int
        For the intervals, at least 1.
    seed : int

    Returns
    -------
    DataFrame
        As `compare` gives it, for each other system of a dataset that has the one named.

    Raises
    ------
    ChaosError
        If no file holds that system, or it stands alone.
    """
    parts = []
    for name, systems in found.items():
        by_name = {system.name: system for system in systems}
        if against in by_name:
            parts += [
                compare(
                    load_votes(name, data), system, by_name[against],
                    n_resamples=n_resamples, seed=seed,
                )
                for model, system in by_name.items()
                if model != against
            ]  # fmt: skip
    if not parts:
        known = sorted({system.name for systems in found.values() for system in systems})
        raise ChaosError(
            "There is no pair of systems to compare.",
            found=f"--against {against}",
            expected=f"one of at least two systems of a dataset; here: {', '.join(known)}",
        )
    return pd.concat(parts, ignore_index=True)


def _rank(row: dict[str, object], published: pd.DataFrame) -> tuple[int | None, int | None]:
    measure = str(row["measure"])
    if measure not in _IN_TABLE_5:
        return None, None
    others = published.loc[published["dataset"] == row["dataset"], measure]
    is_better = others > row["value"] if row["better"] == "higher" else others < row["value"]
    return int(is_better.sum()) + 1, len(others) + 1


def shown_rows(rows: pd.DataFrame) -> list[list[str]]:
    """Return one system's rows as cells for reading, the heading first.

    An arrow tells which way a measure is better.

    Parameters
    ----------
    rows : DataFrame
        Of one system, as `judge_files` gives them; with the columns of `compare_files` too,
        the comparison is shown.

    Returns
    -------
    list of list of str
        Values with four digits, p with three.
    """
    compared = "difference" in rows and rows["difference"].notna().any()
    heading = ["measure", "value", "95% interval", "floor", "ceiling", "rank"]
    table = [heading + (["difference", "95% interval", "p"] if compared else [])]
    for row in rows.to_dict("records"):
        measure = MEASURES[row["measure"]]
        arrow = _ARROWS[measure.better]
        interval = (
            "" if pd.isna(row["low"]) else f"[{number(row['low'], 4)}, {number(row['high'], 4)}]"
        )
        cells = [
            f"{measure.title}{f', {measure.unit}' if measure.unit else ''} {arrow}",
            number(row["value"], 4),
            interval,
            number(row["floor"], 4),
            number(row["ceiling"], 4),
            "" if pd.isna(row["rank"]) else f"{row['rank']} of {row['ranked']}",
        ]
        if compared:
            low, high = number(row["difference_low"], 4), number(row["difference_high"], 4)
            cells += [signed(row["difference"], 4), f"[{low}, {high}]", number(row["p_value"], 3)]
        table.append(cells)
    return table


def as_markdown(answer: pd.DataFrame, notes: Sequence[str]) -> str:
    """Return the whole answer as Markdown tables, with the notes below.

    Parameters
    ----------
    answer : DataFrame
        As `judge_files` gives it, with or without the columns of `compare_files`.
    notes : sequence of str
        A sentence each.

    Returns
    -------
    str
        A table for each system and dataset.
    """
    lines = []
    for (dataset, system, n_items), rows in answer.groupby(
        ["dataset", "system", "n_items"], sort=False
    ):
        header, *body = shown_rows(rows)
        lines += [f"**{system}** on {dataset}, {n_items:,} items", ""]
        lines += [f"| {' | '.join(cells)} |" for cells in (header, ["---"] * len(header), *body)]
        lines.append("")
    return "\n".join([*lines, *(f"- {note}" for note in notes)])
