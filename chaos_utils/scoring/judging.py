"""Judge files of predictions: the numbers that `chaos evaluate` answers with."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets.votes import Votes
from chaos_utils.metrics.measures import MEASURES
from chaos_utils.scoring.predictions import join, read_predictions
from chaos_utils.scoring.published import TABLE_5, published_models
from chaos_utils.scoring.references import PERFECT_MODEL, SECOND_CROWD, floor_and_ceiling
from chaos_utils.scoring.scores import score
from chaos_utils.scoring.system import System


def read_files(
    files: Sequence[Path],
    all_votes: Sequence[Votes],
    *,
    model: str | None = None,
    join_as: str = "",
    allow_missing: bool = False,
) -> dict[str, list[System]]:
    """Read the systems that prediction files hold, by dataset.

    Parameters
    ----------
    files : sequence of Path
        In any format that `read_predictions` takes.
    all_votes : sequence of Votes
        The datasets that they may cover; those whose uids occur are taken.
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
    """
    found: dict[str, list[System]] = {}
    for file in files:
        # A part of a system covers its dataset in part, by its nature.
        partial = allow_missing or bool(join_as)
        for one in read_predictions(file, all_votes, model=model, allow_missing=partial):
            found.setdefault(one.dataset.name, []).append(one)
    if join_as:
        found = {name: [join(parts, join_as)] for name, parts in found.items()}
        if allow_missing:
            found = {name: [_with_gaps(one, all_votes)] for name, (one,) in found.items()}
        else:
            _check_whole(found, all_votes)
    for systems in found.values():
        models = [system.name for system in systems]
        for model_name in models:
            if models.count(model_name) > 1:
                raise ChaosError(
                    "Two systems have the same name.",
                    where=systems[0].dataset.title,
                    found=model_name,
                    todo="rename one of them, or join parts of one system with --join NAME",
                )
    return found


def _with_gaps(system: System, all_votes: Sequence[Votes]) -> System:
    """Return a system that was joined, with a note if it covers a part of the items."""
    votes = next(one for one in all_votes if one.dataset.name == system.dataset.name)
    missing = len(votes) - len(system.rows_in(votes))
    if not missing:
        return system
    note = f"{missing} of {len(votes)} items have no prediction; evaluated on the others"
    return replace(system, notes=(*system.notes, note))


def _check_whole(found: dict[str, list[System]], all_votes: Sequence[Votes]) -> None:
    by_name = {votes.dataset.name: votes for votes in all_votes}
    for name, (system,) in found.items():
        votes = by_name[name]
        if len(system) < len(votes):
            raise ChaosError(
                f"{len(votes) - len(system)} of {len(votes)} items of "
                f"{votes.dataset.title} have no prediction by {system.name!r}.",
                expected="a prediction for each item",
                todo="add them, or pass --allow-missing to evaluate the rest",
            )


def judge_files(
    found: dict[str, list[System]],
    all_votes: Sequence[Votes],
    *,
    n_resamples: int,
    seed: int,
    against: str | None = None,
) -> pd.DataFrame:
    """Score systems that were read from files, and compare them with one of them.

    Parameters
    ----------
    found : dict of list of System
        As `read_files` gives it.
    all_votes : sequence of Votes
        Those on these datasets, and perhaps more.
    n_resamples : int
        For the intervals; 0 for none.
    seed : int
        Of resamples and draws.
    against : str, optional
        Name of the system that the others are compared with, on each dataset that has it.

    Returns
    -------
    DataFrame
        As `score` gives it, with what a reader needs beside the value: ``floor`` (the
        perfect model) and ``ceiling`` (the second crowd), which are drawn like the
        intervals and so NaN without resamples; ``unit``, ``better``; and where the
        measure is in Table 5 of Nie et al. (2020), ``rank`` among its nine models and
        this one (1 is best) and ``ranked``, their number. All but the first two are
        empty for differences.
    """
    if against is not None:
        _check_pairs(found, against)
    by_name = {votes.dataset.name: votes for votes in all_votes}
    tables = []
    for name, systems in found.items():
        votes = by_name[name]
        known = any(system.name == against for system in systems)
        part = score(
            votes,
            systems,
            n_resamples=n_resamples,
            seed=seed,
            reference=against if known else None,
        )
        if n_resamples:
            of_votes = [one for one in part["measure"].unique() if not MEASURES[one].needs]
            bounds = floor_and_ceiling(votes, of_votes, seed)
            part["floor"] = part["measure"].map(bounds[PERFECT_MODEL])
            part["ceiling"] = part["measure"].map(bounds[SECOND_CROWD])
        else:
            part[["floor", "ceiling"]] = np.nan
        tables.append(part)
    table = pd.concat(tables, ignore_index=True)
    table["unit"] = table["measure"].map(lambda name: MEASURES[name].unit)
    table["better"] = table["measure"].map(lambda name: MEASURES[name].better)
    is_difference = table["reference"] != ""
    table.loc[is_difference, ["floor", "ceiling"]] = np.nan
    published = published_models()
    ranks = [_rank(row, published) for row in table.to_dict("records")]
    table["rank"] = pd.array([rank for rank, _ in ranks], dtype="Int64")
    table["ranked"] = pd.array([of for _, of in ranks], dtype="Int64")
    return table


def _check_pairs(found: dict[str, list[System]], against: str) -> None:
    groups = [[system.name for system in systems] for systems in found.values()]
    if not any(against in names and len(names) > 1 for names in groups):
        known = sorted({name for names in groups for name in names})
        raise ChaosError(
            "There is no pair of systems to compare.",
            found=f"--against {against}",
            expected=f"one of at least two systems of a dataset; here: {', '.join(known)}",
        )


def _rank(row: dict[str, object], published: pd.DataFrame) -> tuple[int | None, int | None]:
    measure = str(row["measure"])
    if measure not in TABLE_5 or row["reference"]:
        return None, None
    others = published.loc[published["dataset"] == row["dataset"], measure]
    if others.empty:
        return None, None
    is_better = others > row["value"] if row["better"] == "higher" else others < row["value"]
    return int(is_better.sum()) + 1, len(others) + 1
