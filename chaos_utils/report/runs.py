"""Runs of the reader's own, below runs/: where each stands, whether it is there, one at a time."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from chaos_utils.base import inputs, paths
from chaos_utils.base.checked import Strict, read_json
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.inputs import Input
from chaos_utils.base.locks import alone


class Code(Strict):
    """The code of a run, as `provenance.code` describes it."""

    version: str
    commit: str | None
    uncommitted_changes: bool | None


class Record(Strict):
    """What is known of a finished run of a notebook.

    `inputs` are those of its figures and tables, and `recorded` the datasets whose tables were
    recorded rather than computed. `made_from` has the digests of all that the notebook depends on,
    its modules too, where they are known; `outputs` those of the run's files, by their names in its
    folder. It `started` in UTC.
    """

    version: Literal[1] = Field(alias="schema")
    notebook: str
    notebook_sha256: str
    parameters: dict[str, Any]
    seed: Any
    inputs: list[Input]
    recorded: list[str]
    made_from: dict[str, str]
    code: Code
    software: dict[str, str]
    hardware: dict[str, Any]
    started: str
    seconds: float
    outputs: dict[str, str]


def folder_of(source: Path, values: Mapping[str, Any]) -> Path:
    """Return the folder of a notebook's run with all these values; it need not exist."""
    from chaos_utils.report import parameters  # slow to import

    return paths.runs() / f"{source.stem}-{parameters.parameters_digest(values)}"


def is_there(source: Path, values: Mapping[str, Any]) -> bool:
    """Return whether the run was finished, from the notebook as it is now."""
    from chaos_utils.report import parameters  # slow to import

    record = read_record(folder_of(source, values))
    return (
        record is not None
        and record.notebook_sha256 == inputs.digest(source)
        and record.parameters == parameters.without_folders(values)
    )


def read_record(run: Path) -> Record | None:
    """Return the record of a run; None without one, or of one that is damaged or of another form.

    Such a run counts as not made: it is made again.
    """
    try:
        return read_json(run / paths.RECORD_FILE, Record, "A run's record", todo="run it again")
    except ChaosError:
        return None


def run(
    source: Path,
    values: Mapping[str, Any],
    *,
    again: bool = True,
    progress: Callable[[int, int], None] | None = None,
    reader: Path | None = None,
) -> Path:
    """Run a notebook into the folder of this run, and return the folder.

    A run that is there already is made `again` or left as it is. The rest is as for
    `runner.run_notebook`.
    """
    from chaos_utils.report import runner  # slow to import

    target = folder_of(source, values)
    with _only_one(target):
        if again or not is_there(source, values):
            runner.run_notebook(
                source, values, target, progress=progress, standalone=True, reader=reader
            )
    return target


@contextmanager
def _only_one(target: Path) -> Iterator[None]:
    """Wait until nobody else, such as a killed sweep's job, makes this run; clear what is left."""
    with alone(paths.build() / "locks" / target.name):
        for scratch in target.parent.glob(f".{target.name}-*"):
            shutil.rmtree(scratch, ignore_errors=True)
        yield
