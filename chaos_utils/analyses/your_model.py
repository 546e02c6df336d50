"""A page that plays a reader: it writes files of predictions, and runs `chaos evaluate` on them."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from chaos_utils.analyses import results
from chaos_utils.analyses.recorded import recorded
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_text
from chaos_utils.datasets.votes import Votes
from chaos_utils.report.console import transcript
from chaos_utils.scoring.api import compare
from chaos_utils.scoring.formats import class_columns
from chaos_utils.scoring.predictions import read_predictions
from chaos_utils.scoring.system import System

FILE = "my-model.csv"
_SOFTER = "softer.csv"
_TEMPERATURE = 2.0
_SHOWN = 5  # lines of a file
_COMPARED = ("jsd", "kl", "sq_ce_votes")
# What is run on the files, and the code that each ends with.
_COMMANDS = {
    "evaluate": (f"chaos evaluate {FILE}", 0),
    "compare": (
        f"chaos evaluate {_SOFTER} {FILE} --against my-model --measures {','.join(_COMPARED)}",
        0,
    ),
    "gaps": ("chaos evaluate short.csv", 2),
    "order": ("chaos evaluate swapped.csv", 2),
}


def your_model(systems: Sequence[System], system: str) -> System:
    """Return who plays the reader's model: the system of a name, or else the first.

    Raises
    ------
    ChaosError
        If there is none.
    """
    if not systems:
        raise ChaosError("This page needs a model.", todo="pass -p predictions=FILE")
    return next((one for one in systems if one.name == system), systems[0])


def _table(system: System) -> pd.DataFrame:
    index = pd.Index(system.uids, name="uid")
    return pd.DataFrame(system.probabilities, index, columns=class_columns(system.dataset))


def _write_csv(table: pd.DataFrame, path: Path) -> None:
    write_text(path, table.round(4).to_csv(lineterminator="\n"))


@recorded(keys=("dataset", "part", "line"))
def commands(
    votes: Votes, systems: Sequence[System], *, system: str, options: str = ""
) -> pd.DataFrame:
    """Write a model's predictions, right and wrong, and run commands on these files.

    Parameters
    ----------
    votes : Votes
    systems : sequence of System
    system : str
        As for `your_model`.
    options : str
        Added to each command.

    Returns
    -------
    DataFrame
        ``dataset``, ``part``, ``line`` (from 1), ``text``: how the file begins (``file``), then
        each command and its answer: ``evaluate``, ``compare`` (with the model at T = 2), ``gaps``
        (three items lack) and ``order`` (first and last label swapped).
    """
    yours = your_model(systems, system)
    table = _table(yours)
    first, *between, last = table.columns
    with tempfile.TemporaryDirectory(prefix="chaos-") as name:
        folder = Path(name)
        _write_csv(table, folder / FILE)
        _write_csv(_table(yours.at_temperature(_TEMPERATURE)), folder / _SOFTER)
        _write_csv(table[:-3], folder / "short.csv")
        _write_csv(table.set_axis([last, *between, first], axis=1), folder / "swapped.csv")
        begins = (folder / FILE).read_text("utf-8").splitlines()[:_SHOWN]
        parts = {"file": [*begins, "…"]}
        for part, (command, code) in _COMMANDS.items():
            parts[part] = transcript(command + options, folder, code=code).split("\n")
    return pd.DataFrame(
        {"dataset": votes.dataset.name, "part": part, "line": number, "text": text}
        for part, lines in parts.items()
        for number, text in enumerate(lines, start=1)
    )


@recorded(keys=("dataset", "measure"))
def flattened(votes: Votes, systems: Sequence[System], *, system: str) -> pd.DataFrame:
    """Compare a model at T = 2 with itself, both as read from their files.

    Parameters
    ----------
    votes : Votes
    systems : sequence of System
    system : str
        As for `your_model`.

    Returns
    -------
    DataFrame
        ``dataset``, ``measure``, ``system``, ``n_items``; the difference ``value``, ``low``,
        ``high``.
    """
    yours = your_model(systems, system)
    softer = _as_read(yours.at_temperature(_TEMPERATURE), votes, _SOFTER)
    found = compare(softer, _as_read(yours, votes, FILE), votes, measures=_COMPARED)
    found = found.assign(system=yours.name)
    return found[["dataset", "measure", "system", "n_items", "value", "low", "high"]]


def _as_read(system: System, votes: Votes, file: str) -> System:
    """Return a system as `chaos evaluate` reads it from its file."""
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
        path = Path(folder, file)
        _write_csv(_table(system), path)
        (found,) = read_predictions(path, [votes])
    return found


@recorded(keys=("dataset", "system", "source"), published=("nie2020_table5",))
def beside_others(
    votes: Votes, systems: Sequence[System], *, system: str, n_resamples: int, seed: int
) -> pd.DataFrame:
    """Set a model, as read from its file, beside all other systems.

    Parameters
    ----------
    votes : Votes
    systems : sequence of System
    system : str
        As for `your_model`.
    n_resamples, seed
        As for `results.main_results`.

    Returns
    -------
    DataFrame
        As `results.main_results` gives it.
    """
    yours = your_model(systems, system)
    others = [one for one in systems if one is not yours]
    everyone = [*others, _as_read(yours, votes, FILE)]
    return results.main_results.function(votes, everyone, n_resamples=n_resamples, seed=seed)
