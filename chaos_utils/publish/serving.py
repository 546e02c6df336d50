"""The book on a server of one's own, built again whenever one of its sources changes."""

import asyncio
import logging
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
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
_HOST_NAMES = (HOST, "localhost", "[::1]")  # that a browser on this machine may know it by
_SOURCES = ("notebooks", "book", "chaos_utils", "results", *dependencies.SETTINGS)
_BUILD_FAILED = (
    "The last change could not be built: the terminal says why. This is the book before it."
)


def serve(port: int, options: list[str], say: Callable[[str], None]) -> None:
    """Serve drafts of the book until interrupted; browsers reload what was made again.

    It is served on this machine alone. `options` are those of ``chaos build``, such as
    ``--sample``. A change that has a fault is reported on the terminal, and the pages before it
    stay. The site that ``chaos build`` makes is left alone.
    """
    _check_port(port)
    root = paths.project()
    not_made = watchfiles.DefaultFilter(ignore_paths=[paths.chapters()])
    changes = watchfiles.watch(
        *[root / name for name in _SOURCES],
        watch_filter=not_made, rust_timeout=500, yield_on_timeout=True,
    )  # fmt: skip
    next(changes)  # from here on they are seen, also those during a build
    with warm.processes(libraries=warm.PAGES) as of_warm:
        is_updated = _update(of_warm, options, say)
        if not is_updated and not (drafts.shown() / "index.html").is_file():
            raise ChaosError(
                "There is no book to serve.", todo="correct what the build has reported"
            )
        asyncio.set_event_loop(loop := asyncio.new_event_loop())
        Thread(target=_serve, args=(drafts.shown(), port, loop), daemon=True).start()
        say(f"http://{HOST}:{port} (Ctrl-C ends)")
        for changed_files in filter(None, changes):
            say("something has changed: building")
            only_pages = all(root / "book" in Path(path).parents for _, path in changed_files)
            is_updated = _update(of_warm, None if only_pages else options, say)
            loop.call_soon_threadsafe(
                LiveReloadHandler.reload_waiters if is_updated else _tell_pages
            )


def _update(
    of_warm: Mapping[str, str], options: list[str] | None, say: Callable[[str], None]
) -> bool:
    """Make what has changed, with such options the chapters too; say whether that went well."""
    if options is not None and not _run_chapters(options):
        return False
    try:
        drafts.update(of_warm, say)
    except (ChaosError, OSError, UnicodeError) as fault:  # a file may vanish, or be half there
        say(str(fault))
        return False
    say("the pages are up to date")
    return True


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


def _run_chapters(options: list[str]) -> bool:
    """Run what is stale in a process of its own, with the code as it is now; say whether it ran."""
    command = [sys.executable, "-m", "chaos_utils.cli", "build", "--without-pages", *options]
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
    application(site, port).listen(port, address=HOST)
    loop.run_forever()


@dataclass(frozen=True, slots=True)
class _OwnHost(Matcher):
    """Requests that name this server: a page from elsewhere may have a name that leads here."""

    port: int

    def match(self, request: HTTPServerRequest) -> dict[str, object] | None:
        name, _, port = request.host.lower().rpartition(":")
        if self.port == 80 and request.host.lower() in _HOST_NAMES:
            return {}
        return {} if name in _HOST_NAMES and port == str(self.port) else None


class _Socket(LiveReloadHandler):
    """What tells pages to load again; pages from elsewhere get no answer."""

    def check_origin(self, origin: str) -> bool:
        return WebSocketHandler.check_origin(self, origin)


def application(site: Path, port: int) -> Application:
    """Return what serves a site's files, each page with the script that loads it again."""
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


def _tell_pages() -> None:
    for page in LiveReloadHandler.waiters:
        page.send_message({"command": "alert", "message": _BUILD_FAILED})
