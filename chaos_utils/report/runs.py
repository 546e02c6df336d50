"""Runs of the reader's own, below runs/: where each stands, whether it is there, one at a time."""

import fcntl
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chaos_utils.base import inputs, paths
from chaos_utils.report import parameters, runner


def folder_of(source: Path, values: Mapping[str, Any]) -> Path:
    """Return the folder of the run of a notebook with these values of its parameters.

    Parameters
    ----------
    source : Path
        The notebook.
    values : mapping
        Of all its parameters.

    Returns
    -------
    Path
        It need not exist.
    """
    return paths.runs() / f"{source.stem}-{parameters.parameters_digest(values)}"


def is_there(source: Path, values: Mapping[str, Any]) -> bool:
    """Return whether the run was finished, from the notebook as it is now.

    Parameters
    ----------
    source : Path
        The notebook.
    values : mapping
        Of all its parameters.
    """
    record = read_record(folder_of(source, values))
    return (
        record.get("notebook_sha256") == inputs.digest(source)
        and record.get("parameters") == values
    )


def read_record(run: Path) -> dict[str, Any]:
    """Return the record of a run; empty where there is none that can be read.

    Parameters
    ----------
    run : Path
        Its folder.
    """
    try:
        record = json.loads((run / runner.RECORD_FILE).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def run(
    source: Path,
    values: Mapping[str, Any],
    *,
    again: bool = True,
    progress: Callable[[int, int], None] | None = None,
    reader: Path | None = None,
) -> Path:
    """Run a notebook into the folder of this run.

    Parameters
    ----------
    source : Path
        The notebook.
    values : mapping
        The value of each of its parameters.
    again : bool
        Whether a run that is there already is made again.
    progress : callable, optional
        Called with the number of the running cell and of all cells.
    reader : Path, optional
        As for `runner.run_notebook`.

    Returns
    -------
    Path
        The run's folder.
    """
    target = folder_of(source, values)
    with _only_one(target):
        if again or not is_there(source, values):
            runner.run_notebook(
                source, values, target, progress=progress, standalone=True, reader=reader
            )
    return target


@contextmanager
def _only_one(target: Path) -> Iterator[None]:
    """Wait until nobody else makes this run, and remove what killed attempts have left.

    A sweep that was killed may have left a job on a cluster: the next sweep's job for the
    same run waits for it here, and then finds the run made.
    """
    locks = paths.build() / "locks"
    locks.mkdir(parents=True, exist_ok=True)
    with (locks / target.name).open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for scratch in target.parent.glob(f".{target.name}-*"):
            shutil.rmtree(scratch, ignore_errors=True)
        yield
