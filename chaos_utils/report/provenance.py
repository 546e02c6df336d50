"""What made what: the running notebook's context, versions, and run records."""

import hashlib
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path, PurePath
from typing import Any, Literal

from pydantic import Field

from chaos_utils.base import modules, paths
from chaos_utils.base.authorship import read_citation
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_json
from chaos_utils.base.inputs import Input, merged
from chaos_utils.base.validation import StrictModel, read_json

# What computes and draws, and what runs a notebook.
_PACKAGES = ("matplotlib", "numpy", "pandas", "scipy", "seaborn", "torch", "transformers")
RECORDED = (*_PACKAGES, "jupytext", "papermill", "ipykernel")
VERSION: Literal[2] = 2  # of the form of records
_ID_DIGITS = 16
TRAINED_WITH = ("torch", "transformers", "tokenizers", "accelerate", "safetensors", "numpy")


@dataclass(frozen=True, slots=True)
class Context:
    """The notebook that is running and the value of each of its parameters.

    `reader` is the folder in which it was called, from which relative paths count.
    """

    notebook: str
    parameters: Mapping[str, Any]
    reader: str = ""


class Code(StrictModel):
    """The code of a run, as `code` describes it."""

    version: str
    commit: str | None
    uncommitted_changes: bool | None


class RunRecord(StrictModel):
    """What is known of a finished run of a notebook.

    `id` is permanent: it stands for all that decides the run's numbers, as `run_id` says. `title`
    is the notebook's, and `defaults` has the value that each parameter has in it. `inputs` are
    those of its figures and tables, and `recorded` the datasets whose tables were recorded rather
    than computed. `made_from` has the digests of all that the notebook depends on, its modules too,
    where they are known; `outputs` those of the run's files, by their names in its folder. It
    `started` in UTC.
    """

    version: Literal[2] = Field(alias="schema")
    id: str
    notebook: str
    title: str
    notebook_sha256: str
    parameters: dict[str, Any]
    defaults: dict[str, Any]
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

    @property
    def changed(self) -> dict[str, tuple[Any, Any]]:
        """The parameters that differ from the notebook's own: their value here, and there."""
        return {
            name: (value, self.defaults[name])
            for name, value in self.parameters.items()
            if value != self.defaults[name]
        }

    @property
    def own_inputs(self) -> list[Input]:
        """The inputs that a reader brought: files that a parameter names, or in a folder of it."""
        return [entry for entry in self.inputs if _is_own(entry, self.parameters)]


def _is_own(entry: Input, parameters: Mapping[str, Any]) -> bool:
    values = [value for value in parameters.values() if isinstance(value, str | list)]
    texts = [text for value in values for text in ([value] if isinstance(value, str) else value)]
    name = PurePath(entry.name).name
    return entry.is_own or name in {PurePath(str(text)).name for text in texts}


def run_id(
    source: Path, parameters: Mapping[str, Any], files: Iterable[Input], reader: Path
) -> str:
    """Return the permanent id of a run, such as ``results-3f0c…``: the same on any machine.

    It is a digest of what decides the run's numbers: the notebook's code and that of the modules
    which it imports (not their comments, nor what only draws or prints), what the package says of
    datasets, the parameters, the digests of the data files, and the versions of the libraries that
    compute.

    Parameters
    ----------
    source : Path
        The notebook.
    parameters : mapping
        The value of each. A path counts by its last part alone: where a file stands on a machine
        decides nothing.
    files : iterable of Input
        The data files that went in.
    reader : Path
        The folder from which relative paths among the parameters count.
    """

    def portable(value: Any) -> Any:
        if isinstance(value, list):
            return [portable(element) for element in value]
        is_path = isinstance(value, str) and value and (reader / value).exists()
        return PurePath(value).name if is_path else value

    notebook = modules.source_of(source, notebook=True)
    decided = {
        "notebook": notebook.meaning,
        "code": modules.code_digest(*notebook.imports),
        "datasets": modules.digests_of_datasets(),
        "parameters": {name: portable(value) for name, value in parameters.items()},
        "files": [[entry.name, entry.sha256] for entry in merged(files)],
        "libraries": modules.library_versions(),
    }
    text = json.dumps(decided, sort_keys=True, ensure_ascii=False)
    return f"{source.stem}-{hashlib.sha256(text.encode()).hexdigest()[:_ID_DIGITS]}"


def write_context(folder: Path, context: Context) -> None:
    """Leave a note of what is about to run, for the notebook's own process."""
    write_json(folder / paths.CONTEXT_FILE, asdict(context))


def current_context() -> Context:
    """Return what is running; outside the runner, a context named ``interactive``."""
    found: dict[str, Any] = paths.context()
    return Context(**found) if found else Context("interactive", {})


def authors() -> tuple[str, ...]:
    """Return whom to name as author: no one for what a reader makes outside the notebooks."""
    return read_citation().authors if paths.in_runner() else ()


def version() -> str:
    """Return the version of this package."""
    return importlib.metadata.version("chaos-utils")


def software_of(code: Iterable[str]) -> dict[str, str]:
    """Return the versions of Python, this package, and what some modules compute and draw with.

    Beside those of `code`, the modules of analyses that this process has imported count: a
    notebook has a process of its own.
    """
    analyses = f"{modules.PACKAGE}.analyses."
    running = [name for name in sys.modules if name.startswith(analyses)]
    imported = modules.libraries([*code, *running])
    return software(tuple(name for name in _PACKAGES if name in imported))


def software(names: Iterable[str]) -> dict[str, str]:
    """Return the versions of Python, this package and those named, where installed."""
    versions = {"python": platform.python_version(), "chaos-utils": version()}
    for name in names:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def _git(*arguments: str) -> str | None:
    folder = paths.find_project()
    if folder is None or not (folder / ".git").exists():
        return None
    command = ["git", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def code() -> dict[str, Any]:
    """Describe the code: its version, and its commit and changes, which are None outside git."""
    changed = _git("status", "--porcelain", "--", "chaos_utils", "notebooks")
    return {
        "version": version(),
        "commit": _git("rev-parse", "HEAD"),
        "uncommitted_changes": None if changed is None else bool(changed),
    }


def commit_of(file: Path) -> str | None:
    """Return the last commit that changed a file; None outside git, or where it has changed."""
    if _git("status", "--porcelain", "--", str(file)) != "":
        return None
    return _git("log", "-1", "--format=%H", "--", str(file)) or None


def uncommitted_paths() -> list[str] | None:
    """Return the paths that git says are not as in the last commit; None outside a checkout."""
    changed = _git("status", "--porcelain")
    return None if changed is None else [line.split(maxsplit=1)[1] for line in changed.splitlines()]


def hardware() -> dict[str, Any]:
    """Describe the machine without its name: architecture, system, CPUs, and memory in GiB."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "machine": platform.machine(),
        "system": platform.system(),
        "cpus": os.cpu_count(),
        "memory_gib": round(pages / 2**30, 1),
    }


def load_run_record(run: Path) -> RunRecord:
    """Return the record of a run; a ChaosError without one, or where it is damaged."""
    return read_json(run / paths.RECORD_FILE, RunRecord, "A run's record", todo="run it again")


def read_run_record(run: Path) -> RunRecord | None:
    """Return the record of a run; None without one, or of one that is damaged or of another form.

    Such a run counts as not made: it is made again.
    """
    try:
        return load_run_record(run)
    except ChaosError:
        return None
