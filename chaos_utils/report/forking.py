"""A script of two halves: a process forks warm ones, and what asks it for one ends as that ends.

It imports nothing of this package, whose code may change while the process waits.
"""

import gc
import importlib
import io
import json
import os
import runpy
import select
import signal
import socket
import struct
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

_LENGTH = struct.Struct("!Q")  # comes before a request
_PATIENCE_SECONDS = 3


def ask(address: str, module: str, *arguments: str) -> None:
    """Have a module run by a warm process with what this one has; end as that ends.

    Where there is none (any more), this one becomes a plain Python that runs it.
    """
    environment = dict(os.environ)
    request = {"module": module, "arguments": arguments, "folder": str(Path.cwd())}
    content = json.dumps(request | {"environment": environment}).encode()
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(address)
            socket.send_fds(connection, [_LENGTH.pack(len(content))], [0, 1, 2])
            connection.sendall(content)
        except OSError:
            os.execv(sys.executable, [sys.executable, "-m", module, *arguments])  # noqa: S606
        signal.signal(signal.SIGINT, lambda number, frame: connection.send(b"!"))
        try:
            answer = connection.recv(16)
        except ConnectionError:  # what it asked was killed
            answer = b""
    code = int(answer) if answer else -signal.SIGKILL
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)


def serve(descriptor: str, *libraries: str) -> dict[str, Any]:
    """Load libraries; fork for each request at a socket, and return it in the new process.

    The first process never returns: when its standard input is closed, it ends the others and then
    itself.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    listener = socket.socket(fileno=int(descriptor))
    for name in libraries:
        with suppress(ImportError):
            importlib.import_module(name)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # from here on, others must end first
    gc.collect()
    gc.freeze()  # what is loaded stays, and need not be looked at again
    ended, wake = socket.socketpair()
    wake.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(wake.fileno())
    alive, held = os.pipe()  # `held` closes with this process
    running: dict[int, socket.socket] = {}
    while True:
        ready, *_ = select.select([0, listener.fileno(), ended.fileno()], [], [])
        if 0 in ready:
            os.close(held)
            while running:
                running.pop(os.wait()[0])
            sys.exit()
        if ended.fileno() in ready:
            ended.recv(4096)
            _report(running)
        if listener.fileno() not in ready:
            continue
        connection, _ = listener.accept()
        try:
            request, files = _receive(connection)
        except (OSError, ValueError, struct.error):  # what asked has been killed
            connection.close()
            continue
        if (child := os.fork()) == 0:
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGCHLD, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            for one in (listener, ended, wake, *running.values()):
                one.close()
            os.close(held)
            _settle(request, files, connection, alive)
            return request
        running[child] = connection
        for file in files:
            os.close(file)


def _receive(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    start, files, *_ = socket.recv_fds(connection, _LENGTH.size, 3)
    (length,) = _LENGTH.unpack(start)
    content = connection.recv(length, socket.MSG_WAITALL)
    return json.loads(content), files


def _report(running: dict[int, socket.socket]) -> None:
    """Tell those who asked how their processes have ended."""
    while running:
        child, status = os.waitpid(-1, os.WNOHANG)
        if not child:
            break
        with running.pop(child) as connection, suppress(OSError):
            connection.sendall(str(os.waitstatus_to_exitcode(status)).encode())


def _settle(
    request: dict[str, Any], files: list[int], connection: socket.socket, alive: int
) -> None:
    """Become the process that was asked for.

    It is interrupted where what asked for it is, and ends with that, and with the first one.
    """
    os.setsid()  # a group of its own, to be ended as a whole
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=os.isatty(1))
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv[1:] = request["arguments"]

    def watch() -> None:
        watched = [connection.fileno(), alive]
        while alive not in select.select(watched, [], [])[0] and connection.recv(1):
            os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(_PATIENCE_SECONDS)
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    _half, *_given = sys.argv[1:]
    if _half == "ask":
        ask(*_given)
    else:
        _module = serve(*_given)["module"]
        runpy.run_module(_module, run_name="__main__", alter_sys=True)
