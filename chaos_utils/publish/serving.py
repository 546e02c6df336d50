"""The book on a server of one's own, built again whenever one of its sources changes."""

import asyncio
import logging
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import livereload
import watchfiles
from livereload.handlers import LiveReloadHandler

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.publish import dependencies
from chaos_utils.publish import site as pages

HOST = "127.0.0.1"
_SOURCES = ("notebooks", "book", "chaos_utils", "results", *dependencies.SETTINGS)
_FAILED = "The last change could not be built: the terminal says why. This is the book before it."


def serve(port: int, options: list[str], say: Callable[[str], None]) -> None:
    """Build the book and serve it until interrupted; browsers reload what was built again.

    It is served on this machine alone. `options` are those of ``chaos build``, such as
    ``--sample``. A build that fails says why on the terminal; the last book that was built stays.
    Faults of a page that was changed are said within seconds, before anything is built.
    """
    _check_port(port)
    site, root = paths.build() / "html", paths.project()
    sources = [root / name for name in _SOURCES]
    changes = watchfiles.watch(
        *sources, watch_filter=_Sources(), rust_timeout=500, yield_on_timeout=True
    )
    next(changes)  # from here on they are seen, also those during a build
    if not _build(options) and not (site / "index.html").is_file():
        raise ChaosError("There is no book to serve.", todo="correct what the build has reported")
    asyncio.set_event_loop(loop := asyncio.new_event_loop())
    Thread(target=_serve, args=(site, port, loop), daemon=True).start()
    say(f"http://{HOST}:{port} (Ctrl-C ends)")
    pages.check(say)  # what has not changed is not read again when a page is checked
    for found in changes:
        if not found:
            continue
        say("something has changed: building")
        only_pages = all(root / "book" in Path(path).parents for _, path in found)
        if (only_pages and not pages.check(say)) or not _build(options):
            loop.call_soon_threadsafe(_tell_pages)


class _Sources(watchfiles.DefaultFilter):
    """Leave out what a build makes itself."""

    def __call__(self, change: watchfiles.Change, path: str) -> bool:
        return paths.chapters() not in Path(path).parents and super().__call__(change, path)


def _check_port(port: int) -> None:
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((HOST, port))
        except OSError as fault:
            raise ChaosError(
                "The book cannot be served there.",
                where=f"{HOST}, port {port}",
                found=fault.strerror,
                todo="end what uses it, or choose another one with --port",
            ) from fault


def _build(options: list[str]) -> bool:
    """Build in a process of its own, with the code as it is now; say whether it went well."""
    command = [sys.executable, "-m", "chaos_utils.cli", "build", *options]
    with subprocess.Popen(command, cwd=paths.project(), start_new_session=True) as process:
        try:
            return process.wait() == 0
        except KeyboardInterrupt:
            process.terminate()  # an interrupt is ignored where this runs in the background
            process.wait()
            raise


def _serve(site: Path, port: int, loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    for name in ("livereload", "tornado.access"):
        logging.getLogger(name).disabled = True
    server = livereload.Server()
    server.watch(str(site / "index.html"))  # a build puts all pages in place at once
    server.serve(port=port, host=HOST, root=str(site))


def _tell_pages() -> None:
    for page in LiveReloadHandler.waiters:
        page.send_message({"command": "alert", "message": _FAILED})
