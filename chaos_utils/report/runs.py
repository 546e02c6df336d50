"""Runs of the reader's own, below runs/: where each stands, whether it is there, one at a time."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from chaos_utils.base import inputs, paths
from chaos_utils.base.locks import alone
from chaos_utils.report.provenance import read_run_record


def folder_of(source: Path, values: Mapping[str, Any]) -> Path:
    """Return the folder of a notebook's run with all these values; it need not exist."""
    from chaos_utils.report import parameters  # slow to import

    return paths.runs() / f"{source.stem}-{parameters.parameters_digest(values)}"


def is_there(source: Path, values: Mapping[str, Any]) -> bool:
    """Return whether the run was finished, from the notebook as it is now."""
    from chaos_utils.report import parameters  # slow to import

    record = read_run_record(folder_of(source, values))
    return (
        record is not None
        and record.notebook_sha256 == inputs.digest(source)
        and record.parameters == parameters.without_folders(values)
    )


def run(
    source: Path,
    values: Mapping[str, Any],
    *,
    again: bool = True,
    progress: Callable[[int, int], None] | None = None,
    reader: Path | None = None,
) -> Path:
    """Run a notebook into the folder of this run, and return the folder.

    A run that is there already is made `again` or left as it is; one that another process makes,
    such as a killed sweep's job, is waited for. The rest is as for `runner.run_notebook`.
    """
    from chaos_utils.report import runner  # slow to import

    target = folder_of(source, values)
    with alone(paths.build() / "locks" / target.name):
        for scratch in target.parent.glob(f".{target.name}-*"):  # of one that was killed
            shutil.rmtree(scratch, ignore_errors=True)
        if again or not is_there(source, values):
            runner.run_notebook(
                source, values, target, progress=progress, standalone=True, reader=reader
            )
    return target
