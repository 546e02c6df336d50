"""What a figure or run was made by: the running notebook, versions, and run records."""

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

from chaos_utils.base import modules, paths, project
from chaos_utils.base.authorship import read_citation
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_json
from chaos_utils.base.inputs import Input, merged
from chaos_utils.base.validation import StrictModel, read_json

# The packages that compute and draw; a run record names those that run a notebook, too.
_PACKAGES = ("matplotlib", "numpy", "pandas", "scipy", "seaborn", "torch", "transformers")
RECORDED = (*_PACKAGES, "jupytext", "papermill", "ipykernel")
VERSION: Literal[2] = 2  # of the format of run records
_ID_DIGITS = 16
TRAINED_WITH = ("torch", "transformers", "tokenizers", "accelerate", "safetensors", "numpy")


@dataclass(frozen=True, slots=True)
class Context:
    """The notebook that is running and the value of each of its parameters.

    `reader` is the folder that the reader called it from: relative paths start there.
    """

    notebook: str
    parameters: Mapping[str, Any]
    reader: str = ""


class Code(StrictModel):
    """The version of the code of a run, as `code` returns it."""

    version: str
    commit: str | None
    uncommitted_changes: bool | None


class RunRecord(StrictModel):
    """What is known of a finished run of a notebook.

    `id` is permanent: a digest of all that decides the run's numbers, see `run_id`. `title` is the
    notebook's title; `defaults` has each parameter's default. `inputs` are the inputs of the run's
    figures and tables; `recorded` names the datasets whose tables were recorded rather than
    computed. `made_from` has the digests, where known, of all that the notebook depends on, with
    its modules; `outputs` has the digests of the run's files, by their paths in its folder.
    `started` is a time in UTC.
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
        """The parameters that differ from the notebook's: the run's value, and the default."""
        return {
            name: (value, self.defaults[name])
            for name, value in self.parameters.items()
            if value != self.defaults[name]
        }

    @property
    def own_inputs(self) -> list[Input]:
        """The inputs that the reader brought, as files or in a folder that a parameter names."""
        return [entry for entry in self.inputs if _is_own(entry, self.parameters)]


def _is_own(entry: Input, parameters: Mapping[str, Any]) -> bool:
    """Whether a reader brought an input: it says so, or a parameter is a path to its name."""
    values = [value for value in parameters.values() if isinstance(value, str | list)]
    texts = [text for value in values for text in ([value] if isinstance(value, str) else value)]
    name = PurePath(entry.name).name
    return entry.is_own or name in {PurePath(str(text)).name for text in texts}


def run_id(
    source: Path, parameters: Mapping[str, Any], files: Iterable[Input], reader: Path
) -> str:
    """Return the permanent id of a run, such as ``results-3f0c…``: the same on any machine.

    It is a digest of what decides the run's numbers: the code of the notebook and of the modules
    that it imports (without comments, and without modules that only draw or print), the datasets'
    YAML files, the parameters, the digests of the data files, and the versions of the libraries
    that compute.

    Parameters
    ----------
    source : Path
        The notebook.
    parameters : mapping
        The value of each. Of a path, only the last part counts: the folder that a file is in
        decides nothing.
    files : iterable of Input
        The data files that went in.
    reader : Path
        The folder that relative paths among the parameters start from.
    """

    def portable(value: Any) -> Any:
        if isinstance(value, list):
            return [portable(element) for element in value]
        is_path = isinstance(value, str) and value and (reader / value).exists()
        return PurePath(value).name if is_path else value

    notebook = modules.source_of(source, notebook=True)
    contents = {
        "notebook": notebook.meaning,
        "code": modules.code_digest(*notebook.imports),
        "datasets": project.current().definitions(),
        "parameters": {name: portable(value) for name, value in parameters.items()},
        "files": [[entry.name, entry.sha256] for entry in merged(files)],
        "libraries": modules.library_versions(),
    }
    text = json.dumps(contents, sort_keys=True, ensure_ascii=False)
    return f"{source.stem}-{hashlib.sha256(text.encode()).hexdigest()[:_ID_DIGITS]}"


def write_context(folder: Path, context: Context) -> None:
    """Write the context of a run that is about to start, for the notebook's own process."""
    write_json(folder / paths.CONTEXT_FILE, asdict(context))


def current_context() -> Context:
    """Return the context that is running; outside the runner, one named ``interactive``."""
    context: dict[str, Any] = paths.context()
    return Context(**context) if context else Context("interactive", {})


def authors() -> tuple[str, ...]:
    """Return the authors of what is being made: none if a reader makes it outside the notebooks."""
    return read_citation().authors if paths.in_runner() else ()


def version() -> str:
    """Return the version of this package."""
    return importlib.metadata.version("chaos-utils")


def software_of(code: Iterable[str]) -> dict[str, str]:
    """Return the versions of Python, this package, and the packages that modules depend on.

    The modules are those in `code`, and those of the analyses that this process has imported: a
    notebook has a process of its own.
    """
    analyses = f"{modules.PACKAGE}.analyses."
    running = [name for name in sys.modules if name.startswith(analyses)]
    imported = modules.libraries([*code, *running])
    return software(tuple(name for name in _PACKAGES if name in imported))


def software(names: Iterable[str]) -> dict[str, str]:
    """Return the versions of Python, this package, and the named packages that are installed."""
    versions = {"python": platform.python_version(), "chaos-utils": version()}
    for name in names:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def _git(*arguments: str) -> str | None:
    """Return what git prints about the checkout; None if there is none, or git fails."""
    folder = paths.find_project()
    if folder is None or not (folder / ".git").exists():
        return None
    command = ["git", "-C", str(folder), *arguments]
    try:
        process = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return process.stdout.strip()


def code() -> dict[str, Any]:
    """Describe the code: its version, and its commit and changes, which are None outside git."""
    changed = _git("status", "--porcelain", "--", "chaos_utils", "notebooks")
    return {
        "version": version(),
        "commit": _git("rev-parse", "HEAD"),
        "uncommitted_changes": None if changed is None else bool(changed),
    }


def commit_of(file: Path) -> str | None:
    """Return the last commit that changed a file; None outside git, or if it has changed since."""
    if _git("status", "--porcelain", "--", str(file)) != "":
        return None
    return _git("log", "-1", "--format=%H", "--", str(file)) or None


def uncommitted_paths() -> list[str] | None:
    """Return the paths that differ from the last commit, as git says; None outside a checkout."""
    changed = _git("status", "--porcelain")
    return None if changed is None else [line.split(maxsplit=1)[1] for line in changed.splitlines()]


def hardware() -> dict[str, Any]:
    """Describe the machine without its name: architecture, system, CPUs, and memory in GiB."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "machine": platform.machine(),
        "system": platform.system(),
        "cpus": os.cpu_count(),
        "memory_gib": round(memory / 2**30, 1),
    }


def load_run_record(run: Path) -> RunRecord:
    """Return the record of a run; raise a ChaosError if it is missing or damaged."""
    return read_json(run / paths.RECORD_FILE, RunRecord, "A run's record", todo="run it again")


def read_run_record(run: Path) -> RunRecord | None:
    """Return the record of a run; None if it is missing, damaged or of another version's format.

    A run without a readable record counts as not made, and is made again.
    """
    try:
        return load_run_record(run)
    except ChaosError:
        return None
