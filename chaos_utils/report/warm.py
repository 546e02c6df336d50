"""Processes that start with slow libraries loaded: a server forks them while a build runs."""

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from chaos_utils.base import paths, project
from chaos_utils.base.processes import environment, python_path

SOCKET = "CHAOS_WARM"  # set for what a build runs
# Kernels start with these; some are read when a library is loaded, or Python starts.
ENVIRONMENT = {"MPLBACKEND": "agg", "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
_SOCKET_FOLDER_LENGTH = 70  # bytes; the path of the socket in it has to be shorter than 104
_SCRIPT = Path(__file__).with_name("forking.py")
# The libraries of kernels in any book, and of pages; loading them starts no thread of Python.
_KERNELS = (
    "numpy", "pandas", "pyarrow.parquet", "ipykernel.kernelapp", "ipykernel.ipkernel",
    "IPython.display", "matplotlib.pyplot", "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_svg", "matplotlib.backends.backend_pdf",
    "matplotlib_inline.backend_inline", "fontTools.subset", "PIL.PngImagePlugin", "pydantic.main",
    "pydantic.types", "yaml", "filelock", "typer", "rich.console", "jupytext", "nbformat",
)  # fmt: skip
_PAGES = (
    "jinja2", "jupyter_book.sphinx", "sphinx.builders.html", "sphinx.ext.autodoc",
    "sphinx.ext.napoleon", "myst_nb.sphinx_ext", "sphinx_book_theme", "sphinx_design",
    "sphinxcontrib.bibtex", "sphinx_comments",
)  # fmt: skip


@contextmanager
def processes(libraries: Iterable[str] = ()) -> Iterator[None]:
    """Keep a server that forks warm processes for what this process runs in the block.

    The server loads libraries, by default those of kernels and pages, never this package, whose
    code may change meanwhile. It ends with the block, and with this process, however that ends; so
    do the processes that it has forked. There is no server of its own within a block, and none
    where there can be none.
    """
    if SOCKET in os.environ or len(os.fsencode(tempfile.gettempdir())) > _SOCKET_FOLDER_LENGTH:
        yield
        return
    first = libraries or (*_KERNELS, *project.current().libraries())
    later = () if libraries else _PAGES
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
        address = str(Path(folder) / "warm")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(address)
            listener.listen()
            process = subprocess.Popen(
                [
                    sys.executable, "-P", str(_SCRIPT), "serve", str(listener.fileno()),
                    ",".join(first), ",".join(later),
                ],
                cwd=paths.project(), env=os.environ | ENVIRONMENT | {"PYTHONPATH": python_path()},
                stdin=subprocess.PIPE, pass_fds=[listener.fileno()], start_new_session=True,
            )  # fmt: skip
        try:
            with environment(**{SOCKET: address}):
                yield
        finally:
            process.terminate()  # has effect while it loads; later, it waits for its forks
            process.communicate()


def python_command(variables: Mapping[str, str] = os.environ) -> list[str]:
    """Return the first words of the command that runs a module; the module's name follows them.

    A warm process runs the module if the `variables` name a server, else a new one does.
    """
    if address := variables.get(SOCKET):
        return [sys.executable, "-I", "-S", str(_SCRIPT), "ask", address]
    return [sys.executable, "-m"]
