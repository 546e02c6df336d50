"""Where data, results and builds are. Nothing else reads the project's variables, ``CHAOS_…``.

Variables (all optional): ``CHAOS_DATA``, a folder of data files that is searched first;
``CHAOS_DATA_ONLY``, which leaves out the checkout's own places, not the cache; ``CHAOS_CACHE``,
where downloads are kept; ``CHAOS_RECOMPUTE``, which lets no recorded table take the place of what
can be computed; and ``CHAOS_RUN``, set by the runner for the notebook that it runs: the folder that
takes its figures, and says in `CONTEXT_FILE` what runs. A build sets ``CHAOS_WARM`` for its steps,
see `report.warm`.
"""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

import platformdirs

from chaos_utils.base.errors import ChaosError

RECOMPUTE = "CHAOS_RECOMPUTE"
# In the folder of a run.
FIGURES, TABLES = "figures", "tables"
NOTEBOOK_FILE, RECORD_FILE = "notebook.ipynb", "record.json"
CONTEXT_FILE = "context.json"  # what runs, for its own process; gone when it ends

_output = ContextVar("output", default=Path(tempfile.gettempdir()) / "chaos-interactive")


def _is_project(folder: Path) -> bool:
    return (folder / "_toc.yml").is_file() and (folder / "notebooks").is_dir()


def find_project() -> Path | None:
    """Return the checkout: the working directory or a parent of it, else the package's own.

    None where there is no checkout.
    """
    here = Path.cwd()
    for folder in (here, *here.parents, Path(__file__).resolve().parents[2]):
        if _is_project(folder):
            return folder
    return None


def project() -> Path:
    """Return the checkout of the book."""
    root = find_project()
    if root is None:
        raise ChaosError(
            "This command needs a checkout of the book.",
            where=Path.cwd(),
            expected="a folder with _toc.yml and notebooks/, here or above",
            todo="run it from inside a checkout",
        )
    return root


def cache() -> Path:
    """Return the folder that keeps downloads and models; it need not exist."""
    named = os.environ.get("CHAOS_CACHE")
    return Path(named) if named else Path(platformdirs.user_cache_dir("chaos-utils"))


def data_roots() -> list[Path]:
    """Return the folders in which data is looked for, in order.

    They are ``CHAOS_DATA``, the checkout's ``data/``, ``shared/data/`` beside the checkout, and the
    cache; without those that there cannot be, and with ``CHAOS_DATA_ONLY`` without the checkout's.
    """
    roots = []
    named = os.environ.get("CHAOS_DATA")
    if named:
        if not Path(named).is_dir():
            raise ChaosError(
                "CHAOS_DATA does not name a folder.",
                where="environment variable CHAOS_DATA",
                found=named,
                expected="an existing folder",
                todo="correct it or unset it",
            )
        roots.append(Path(named))
    checkout = find_project()
    if checkout is not None and "CHAOS_DATA_ONLY" not in os.environ:
        roots += [checkout / "data", checkout.parent / "shared" / "data"]
    return [*roots, cache()]


def build() -> Path:
    """Return the folder of everything that a build makes."""
    return project() / "_build"


def chapter_run(name: str) -> Path:
    """Return the folder of the run that made a chapter."""
    return build() / "chapters" / name


def notebooks() -> Path:
    """Return the folder of the notebooks' sources."""
    return project() / "notebooks"


def chapters() -> Path:
    """Return the folder where the book reads executed notebooks."""
    return project() / "book" / "chapters"


def results() -> Path:
    """Return the folder of the committed results of our own runs."""
    return project() / "results"


def runs() -> Path:
    """Return the folder of ad-hoc runs."""
    return project() / "runs"


def from_reader(path: str) -> Path:
    """Return a path that the reader gave, relative to where the reader is."""
    return Path(str(context().get("reader", ""))) / path


def context() -> dict[str, object]:
    """Return what the runner left for the notebook that it runs; empty outside of it."""
    named = os.environ.get("CHAOS_RUN")
    if not named:
        return {}
    content: object = None
    with suppress(OSError, ValueError, RecursionError):
        is_there = (Path(named) / CONTEXT_FILE).exists()  # it is gone when the run has ended
        content = json.loads((Path(named) / CONTEXT_FILE).read_text("utf-8")) if is_there else {}
    if not isinstance(content, dict):
        raise ChaosError(
            "CHAOS_RUN does not name the folder of a run.",
            where="environment variable CHAOS_RUN",
            found=named,
            expected=f"a folder whose {CONTEXT_FILE}, if there is one, says what runs",
            todo="unset it: it is for the notebooks that `chaos run` runs",
        )
    return content


def recompute() -> bool:
    """Return whether what can be computed is, though it is recorded."""
    return RECOMPUTE in os.environ


def in_runner() -> bool:
    """Return whether this process is a notebook that the runner started."""
    return "CHAOS_RUN" in os.environ


def run_folder() -> Path:
    """Return where figures go: the runner's folder, or one that was set, or a scratch folder."""
    named = os.environ.get("CHAOS_RUN")
    return Path(named) if named else _output.get()


@contextmanager
def figures_in(folder: Path) -> Iterator[None]:
    """Let what is published in this block go to a folder of the reader's."""
    token = _output.set(folder)
    try:
        yield
    finally:
        _output.reset(token)
