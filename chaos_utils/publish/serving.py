"""A local server of the book, which is built again whenever one of its sources changes."""

import asyncio
import logging
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

import watchfiles
from livereload.handlers import LiveReloadHandler, LiveReloadJSHandler, StaticFileHandler
from livereload.server import LiveScriptInjector
from livereload.watcher import get_watcher_class
from tornado.httputil import HTTPServerRequest
from tornado.routing import Matcher, Rule
from tornado.web import Application
from tornado.websocket import WebSocketHandler

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.publish import dependencies, drafts
from chaos_utils.report import warm

HOST = "127.0.0.1"
_HOST_NAMES = (HOST, "localhost", "[::1]")  # of this machine, in a browser on it
_SOURCES = ("notebooks", "book", "chaos_utils", "results", *dependencies.SETTINGS)
_BUILD_FAILED = (
    "The last change could not be built: the terminal says why. This is the book before it."
)


def serve(port: int, options: list[str], say: Callable[[str], None]) -> None:
    """Serve drafts of the book until interrupted; browsers reload pages that were made again.

    Only browsers on this machine can load them. `options` are those of ``chaos build``, such as
    ``--sample``. If a change has a fault, the terminal reports it and the pages stay as they were
    before. The site that ``chaos build`` makes is not touched.
    """
    _check_port(port)
    root = paths.project()
    sources_only = watchfiles.DefaultFilter(ignore_paths=[paths.chapters()])
    changes = watchfiles.watch(
        *[root / name for name in _SOURCES if (root / name).exists()],
        watch_filter=sources_only, rust_timeout=500, yield_on_timeout=True,
    )  # fmt: skip
    next(changes)  # starts the watch, so that changes during the first build count
    with warm.processes():
        is_updated = _update(options, say)
        if not is_updated and not (drafts.pages_folder() / "index.html").is_file():
            raise ChaosError(
                "There is no book to serve.", todo="correct what the build has reported"
            )
        asyncio.set_event_loop(loop := asyncio.new_event_loop())
        Thread(target=_serve, args=(drafts.pages_folder(), port, loop), daemon=True).start()
        say(f"http://{HOST}:{port} (Ctrl-C ends)")
        for changed_files in filter(None, changes):
            say("something has changed: building")
            only_pages = all(root / "book" in Path(path).parents for _, path in changed_files)
            is_updated = _update(None if only_pages else options, say)
            loop.call_soon_threadsafe(
                LiveReloadHandler.reload_waiters if is_updated else _show_build_failed
            )


def _update(options: list[str] | None, say: Callable[[str], None]) -> bool:
    """Run the chapters with the options, unless None, and update the pages; return if it worked."""
    if options is not None and not _run_chapters(options):
        return False
    try:
        drafts.update(say)
    except (ChaosError, OSError, UnicodeError) as fault:  # a file may vanish, or be half written
        say(str(fault))
        return False
    say("the pages are up to date")
    return True


def _check_port(port: int) -> None:
    """Raise a ChaosError if the port cannot be used."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as fault:
            raise ChaosError(
                "The book cannot be served there.",
                where=f"{HOST}, port {port}",
                found=fault.strerror,
                todo="end the program that uses this port, or choose another with --port",
            ) from fault


def _run_chapters(options: list[str]) -> bool:
    """Run stale chapters in another process, with the code as of now; return whether it worked."""
    command = [sys.executable, "-m", "chaos_utils.cli", "build", "--without-pages", *options]
    with subprocess.Popen(command, cwd=paths.project(), start_new_session=True) as process:
        try:
            return process.wait() == 0
        except KeyboardInterrupt:
            process.terminate()  # an interrupt is ignored where this runs in the background
            process.wait()
            raise


def _serve(site: Path, port: int, loop: asyncio.AbstractEventLoop) -> None:
    """Serve a site in this thread, without the server's log, as long as the process runs."""
    asyncio.set_event_loop(loop)
    for name in ("livereload", "tornado.access"):
        logging.getLogger(name).disabled = True
    application(site, port).listen(port, address=HOST)
    loop.run_forever()


@dataclass(frozen=True, slots=True)
class _OwnHost(Matcher):
    """Match requests to this server's own host name, against DNS rebinding by other pages."""

    port: int

    def match(self, request: HTTPServerRequest) -> dict[str, object] | None:
        name, _, port = request.host.lower().rpartition(":")
        if self.port == 80 and request.host.lower() in _HOST_NAMES:
            return {}
        return {} if name in _HOST_NAMES and port == str(self.port) else None


class _Socket(LiveReloadHandler):
    """The socket that tells pages to reload; pages from elsewhere get no answer."""

    def check_origin(self, origin: str) -> bool:
        return WebSocketHandler.check_origin(self, origin)


def application(site: Path, port: int) -> Application:
    """Return the server's application: a site's files, with a script that reloads each page."""
    LiveReloadHandler.watcher, LiveReloadHandler.live_css = get_watcher_class()(), True

    class ReloadInjector(LiveScriptInjector):
        script = b'<script src="/livereload.js?port=%d"></script>' % port

    files = {"path": str(site), "default_filename": "index.html"}
    handlers = [
        ("/livereload", _Socket),
        ("/livereload.js", LiveReloadJSHandler),
        ("/(.*)", StaticFileHandler, files),
    ]
    return Application([Rule(_OwnHost(port), handlers)], transforms=[ReloadInjector])


def _show_build_failed() -> None:
    """Let the open pages say that the last change could not be built."""
    for page in LiveReloadHandler.waiters:
        page.send_message({"command": "alert", "message": _BUILD_FAILED})
