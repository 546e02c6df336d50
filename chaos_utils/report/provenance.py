"""What made what: the running notebook's context, versions, and run records."""

import importlib.metadata
import os
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from chaos_utils.base import inputs, paths
from chaos_utils.base.authorship import read_citation
from chaos_utils.base.files import write_json

_PACKAGES = ("matplotlib", "numpy", "pandas", "scipy", "seaborn")
_RECORDED = (*_PACKAGES, "jupytext", "papermill", "ipykernel", "torch", "transformers")
TRAINED_WITH = ("torch", "transformers", "tokenizers", "accelerate", "safetensors", "numpy")


@dataclass(frozen=True, slots=True)
class Context:
    """The notebook that is running and the value of each of its parameters.

    `reader` is the folder in which it was called, from which relative paths count.
    """

    notebook: str
    parameters: Mapping[str, Any]
    reader: str = ""


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


def write_record(
    path: Path,
    *,
    context: Context,
    source: Path,
    read: list[dict[str, Any]],
    recorded: list[str],
    made_from: Mapping[str, str],
    outputs: list[Path],
    started: datetime,
) -> None:
    """Write the record of a finished run.

    Outputs are named relative to the record's folder. `read` are the inputs of the run's figures
    and tables, as their manifests have them, and `recorded` the datasets whose tables were
    recorded rather than computed; `made_from` are digests of all that the notebook depends on,
    its modules too, and empty where unknown. `started` is in UTC.
    """
    ended = datetime.now(UTC)
    record = {
        "schema": 1,
        "notebook": context.notebook,
        "notebook_sha256": inputs.digest(source),
        "parameters": dict(context.parameters),
        "seed": context.parameters.get("seed"),
        "inputs": read,
        "recorded": recorded,
        "made_from": dict(made_from),
        "code": code(),
        "software": software(_RECORDED),
        "hardware": hardware(),
        "started": started.isoformat(timespec="seconds"),
        "seconds": round((ended - started).total_seconds(), 1),
        "outputs": {
            output.relative_to(path.parent).as_posix(): inputs.digest(output)
            for output in sorted(outputs)
        },
    }
    write_json(path, record)
