"""Where data, results and builds are. Nothing else reads the project's variables, ``CHAOS_…``.

Variables (all optional): ``CHAOS_DATA``, a folder of data files that is searched first;
``CHAOS_DATA_ONLY``, which leaves out the checkout's own places, not the cache; ``CHAOS_CACHE``,
where downloads are kept; ``CHAOS_RECOMPUTE``, with which no recorded table replaces one that can be
computed; and ``CHAOS_RUN``, set by the runner for the notebook that it runs: the folder that takes
the notebook's figures, and whose `CONTEXT_FILE` names the notebook and its parameters. A build and
`make serve` set ``CHAOS_WARM`` for what they run, see `report.warm`.
"""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain
from pathlib import Path

import platformdirs

from chaos_utils.base.errors import ChaosError

RECOMPUTE = "CHAOS_RECOMPUTE"
# Names in the folder of a run.
FIGURES, TABLES = "figures", "tables"
NOTEBOOK_FILE, RECORD_FILE = "notebook.ipynb", "record.json"
CONTEXT_FILE = "context.json"  # the running notebook and its parameters; removed when it ends

_PACKAGE_ROOT = Path(__file__).resolve().parents[2]
_figures_folder: ContextVar[Path | None] = ContextVar("figures_folder", default=None)


def _is_project(folder: Path) -> bool:
    """Say whether a folder is a checkout; a book of prose alone has no notebooks."""
    return (folder / "_toc.yml").is_file() and (
        (folder / "notebooks").is_dir() or (folder / "CITATION.cff").is_file()
    )


def find_project() -> Path | None:
    """Return the checkout: the working directory or a parent of it, else the package's own.

    None where there is no checkout.
    """
    here = Path.cwd()
    folders = chain((here,), here.parents, (_PACKAGE_ROOT,))
    return next(filter(_is_project, folders), None)


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
    folder = os.environ.get("CHAOS_CACHE")
    return Path(folder) if folder else Path(platformdirs.user_cache_dir("chaos-utils"))


def data_roots() -> list[Path]:
    """Return the folders in which data is looked for, in order.

    They are ``CHAOS_DATA``, the checkout's ``data/``, ``shared/data/`` beside the checkout, and the
    cache. The first is left out if the variable is not set; the next two are left out if there is
    no checkout, and with ``CHAOS_DATA_ONLY``.
    """
    roots = []
    folder = os.environ.get("CHAOS_DATA")
    if folder:
        if not Path(folder).is_dir():
            raise ChaosError(
                "CHAOS_DATA does not name a folder.",
                where="environment variable CHAOS_DATA",
                found=folder,
                expected="an existing folder",
                todo="correct it or unset it",
            )
        roots.append(Path(folder))
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
    """Return a path that the reader gave, from the folder in which the reader called us."""
    return Path(str(context().get("reader", ""))) / path


def context() -> dict[str, object]:
    """Return what the runner says of the notebook that it runs; empty outside of the runner."""
    folder = os.environ.get("CHAOS_RUN")
    if not folder:
        return {}
    path = Path(folder) / CONTEXT_FILE
    content: object
    try:
        if not path.exists():  # the run has ended
            return {}
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        content = None  # refused below, as is anything but a mapping
    if not isinstance(content, dict):
        raise ChaosError(
            "CHAOS_RUN does not name the folder of a run.",
            where="environment variable CHAOS_RUN",
            found=folder,
            expected=f"a folder whose {CONTEXT_FILE}, if there is one, says what runs",
            todo="unset it: it is for the notebooks that `chaos run` runs",
        )
    return content


def recompute() -> bool:
    """Return whether all tables that can be computed are, recorded ones too."""
    return RECOMPUTE in os.environ


def in_runner() -> bool:
    """Return whether this process is a notebook that the runner started."""
    return "CHAOS_RUN" in os.environ


def run_folder() -> Path:
    """Return where figures go: the runner's folder, else that of `figures_in` or a scratch one."""
    folder = os.environ.get("CHAOS_RUN")
    if folder:
        return Path(folder)
    return _figures_folder.get() or Path(tempfile.gettempdir()) / "chaos-interactive"


@contextmanager
def figures_in(folder: Path) -> Iterator[None]:
    """Write the figures that this block publishes into a folder of the reader's."""
    token = _figures_folder.set(folder)
    try:
        yield
    finally:
        _figures_folder.reset(token)
