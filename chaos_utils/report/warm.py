"""Processes that start with the slow libraries loaded: forked by a server that a build keeps."""

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from chaos_utils.base import paths
from chaos_utils.base.processes import python_path

SOCKET = "CHAOS_WARM"  # set by a build, for what it runs
# Kernels start with these; some are read when a library is loaded, or Python starts.
ENVIRONMENT = {"MPLBACKEND": "agg", "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
_SOCKET_FOLDER_LENGTH = 70  # bytes; the path of the socket in it has to be shorter than 104
_SCRIPT = Path(__file__).with_name("forking.py")
# The libraries of chapters, kernels and the runner; loading them starts no thread.
CHAPTERS = (
    "numpy", "pandas", "pyarrow.parquet", "scipy.stats", "scipy.optimize", "scipy.interpolate",
    "matplotlib.pyplot", "matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg",
    "matplotlib.backends.backend_pdf", "matplotlib_inline.backend_inline", "fontTools.subset",
    "seaborn", "PIL.PngImagePlugin", "pydantic.main", "pydantic.types", "yaml", "filelock", "typer",
    "rich.console", "jupytext", "nbformat", "nbclient", "papermill", "ipykernel.kernelapp",
    "ipykernel.ipkernel", "IPython.display",
)  # fmt: skip
PAGES = (
    "numpy", "pandas", "pyarrow.parquet", "scipy.stats", "scipy.optimize", "matplotlib",
    "pydantic.main", "pydantic.types", "yaml", "filelock", "jinja2", "jupyter_book.sphinx",
    "sphinx.builders.html", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "myst_nb.sphinx_ext",
    "sphinx_book_theme", "sphinx_design", "sphinxcontrib.bibtex", "sphinx_comments",
)  # fmt: skip


@contextmanager
def processes(libraries: Iterable[str] = CHAPTERS) -> Iterator[dict[str, str]]:
    """Keep a server that forks warm processes; yield the variable that `python_command` needs.

    The server loads libraries, never this package, whose code may change meanwhile. It ends with
    the block, and with this process, however that ends; so do the processes that it has forked. If
    there can be no server, no variable is yielded.
    """
    if len(os.fsencode(tempfile.gettempdir())) > _SOCKET_FOLDER_LENGTH:
        yield {}
        return
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
        address = str(Path(folder) / "warm")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(address)
            listener.listen()
            process = subprocess.Popen(
                [sys.executable, "-P", str(_SCRIPT), "serve", str(listener.fileno()), *libraries],
                cwd=paths.project(), env=os.environ | ENVIRONMENT | {"PYTHONPATH": python_path()},
                stdin=subprocess.PIPE, pass_fds=[listener.fileno()], start_new_session=True,
            )  # fmt: skip
        try:
            yield {SOCKET: address}
        finally:
            process.terminate()  # has effect while it loads; later, it waits for its forks
            process.communicate()


def python_command(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return the first words of the command that runs a module; the module's name follows them.

    A warm process runs the module if `environment` names a server, else a new one does.
    """
    if address := environment.get(SOCKET):
        return [sys.executable, "-I", "-S", str(_SCRIPT), "ask", address]
    return [sys.executable, "-m"]
