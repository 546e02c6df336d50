"""Runs that the reader made: run one at a time, listed, found by name, and read."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from chaos_utils.base import inputs, paths
from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.base.files import read_mapping
from chaos_utils.base.locks import exclusive_lock
from chaos_utils.report.manifests import Manifest, read_manifest
from chaos_utils.report.provenance import VERSION, RunRecord, load_run_record, read_run_record


def folder_of(source: Path, values: Mapping[str, Any]) -> Path:
    """Return the folder of a notebook's run with all these values; it need not exist."""
    from chaos_utils.report import parameters  # slow to import

    return paths.runs() / f"{source.stem}-{parameters.parameters_digest(values)}"


def is_there(source: Path, values: Mapping[str, Any]) -> bool:
    """Return whether a run has finished, with these values and the notebook as it is now."""
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
    say: Callable[[str], None] | None = None,
    reader: Path | None = None,
) -> Path:
    """Run a notebook into the folder of its run, and return the folder.

    A run that is there already is made `again`, or left as it is. If another process, such as a job
    of a killed sweep, is making the run, this waits for it. The other parameters are those of
    `runner.run_notebook`.
    """
    from chaos_utils.report import runner  # slow to import

    target = folder_of(source, values)
    with exclusive_lock(paths.build() / "locks" / target.name):
        for scratch in target.parent.glob(f".{target.name}-*"):  # left by a killed run
            shutil.rmtree(scratch, ignore_errors=True)
        if again or not is_there(source, values):
            runner.run_notebook(
                source,
                values,
                target,
                progress=progress,
                say=say,
                standalone=True,
                reader=reader,
            )
    return target


def run_folders() -> Iterator[Path]:
    """Yield the folders below runs/ that hold a record, whole or damaged, sorted by name."""
    for path in sorted(paths.runs().glob(f"*/{paths.RECORD_FILE}")):
        yield path.parent


def find(name: str) -> Path:
    """Return the folder of a run: by its path, its name below runs/, or its permanent id.

    Raises
    ------
    ChaosError
        If there is none, or several runs with the id have different results.
    """
    for folder in (paths.from_reader(name), paths.runs() / name):
        if (folder / paths.RECORD_FILE).is_file():
            return folder
    records = {folder: read_run_record(folder) for folder in run_folders()}
    matches = {folder: record for folder, record in records.items() if record and record.id == name}
    if not matches:
        ids = [record.id for record in records.values() if record]
        raise ChaosError(
            "There is no such run.",
            found=name,
            expected=did_you_mean(name, [*(folder.name for folder in records), *ids]),
            todo="`chaos runs` lists those below runs/; others are named by their folder",
        )
    first, *others = matches
    if any(_results(matches[folder]) != _results(matches[first]) for folder in others):
        raise ChaosError(
            "Runs with the same id have different results.",
            found=", ".join(str(folder) for folder in matches),
            expected="the same numbers wherever the id is the same",
            todo="name the folder of the one you mean; one was changed by hand, or made on another "
            "processor: `chaos runs` shows how they differ",
        )
    return first


def _results(record: RunRecord) -> dict[str, str]:
    """Return the digests of the data behind a run's figures and tables."""
    return {name: sha256 for name, sha256 in record.outputs.items() if name.endswith(".csv")}


def load(folder: Path) -> RunRecord:
    """Return the record of a run, which must be in this version's format.

    Raises
    ------
    ChaosError
        If it is missing, damaged or in another version's format.
    """
    schema = read_mapping(folder / paths.RECORD_FILE).get("schema")
    if schema not in (None, VERSION):
        raise ChaosError(
            "Another version of the package made this run.",
            where=folder,
            found=f"a record of form {schema}",
            expected=f"form {VERSION}",
            todo="run it again, or use the version that made it",
        )
    return load_run_record(folder)


def manifest_in(folder: Path, record: RunRecord, id: str) -> Manifest:
    """Return the manifest of a figure or table of a run, as the run made it.

    Raises
    ------
    ChaosError
        If the run has made no such figure or table, or its files have changed since.
    """
    name = f"{paths.FIGURES}/{id}.json"
    ids = [
        Path(file).stem
        for file in record.outputs
        if file.startswith(f"{paths.FIGURES}/") and file.endswith(".json")
    ]
    if name not in record.outputs:
        raise ChaosError(
            "The run did not make this figure or table.",
            where=folder,
            found=id,
            expected=did_you_mean(id, ids),
        )
    for file in (name, f"{paths.FIGURES}/{id}.csv"):
        exists = (folder / file).is_file()
        if not exists or inputs.digest(folder / file) != record.outputs[file]:
            raise ChaosError(
                "A file of the run has changed since the run.",
                where=folder / file,
                found="different content" if exists else "no file",
                expected=f"SHA-256 {record.outputs[file]}",
                todo="run it again",
            )
    return read_manifest(folder / name)
