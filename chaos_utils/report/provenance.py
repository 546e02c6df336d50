"""What made what: the running notebook's context, versions, and run records."""

import importlib.metadata
import os
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from chaos_utils.base import paths
from chaos_utils.base.authorship import read_citation
from chaos_utils.base.checked import Strict, read_json
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_json
from chaos_utils.base.inputs import Input

_PACKAGES = ("matplotlib", "numpy", "pandas", "scipy", "seaborn")
RECORDED = (*_PACKAGES, "jupytext", "papermill", "ipykernel", "torch", "transformers")
TRAINED_WITH = ("torch", "transformers", "tokenizers", "accelerate", "safetensors", "numpy")


@dataclass(frozen=True, slots=True)
class Context:
    """The notebook that is running and the value of each of its parameters.

    `reader` is the folder in which it was called, from which relative paths count.
    """

    notebook: str
    parameters: Mapping[str, Any]
    reader: str = ""


class Code(Strict):
    """The code of a run, as `code` describes it."""

    version: str
    commit: str | None
    uncommitted_changes: bool | None


class RunRecord(Strict):
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


def software(names: tuple[str, ...] = _PACKAGES) -> dict[str, str]:
    """Return the versions of Python, this package and those named, where installed."""
    found = {"python": platform.python_version(), "chaos-utils": version()}
    for name in names:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


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


def uncommitted() -> list[str] | None:
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


def read_run_record(run: Path) -> RunRecord | None:
    """Return the record of a run; None without one, or of one that is damaged or of another form.

    Such a run counts as not made: it is made again.
    """
    try:
        return read_json(run / paths.RECORD_FILE, RunRecord, "A run's record", todo="run it again")
    except ChaosError:
        return None
