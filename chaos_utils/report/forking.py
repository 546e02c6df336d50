"""A script with two commands: `serve` forks warm processes, `ask` runs a module in one of them.

It imports nothing from this package, whose code may change while the server waits.
"""

import gc
import importlib
import io
import json
import os
import runpy
import select
import shutil
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
    """Run a module in a warm process, and end as that process ends.

    It gets this process's environment, folder and streams. If no server forks warm processes (any
    more), this process becomes a plain Python that runs the module.
    """
    environment = dict(os.environ)
    request = {"module": module, "arguments": arguments, "folder": str(Path.cwd())}
    content = json.dumps(request | {"environment": environment}).encode()
    with socket.socket(socket.AF_UNIX) as connection:
        # An interruption waits until it can be passed on: the module may run before `send` returns.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            connection.connect(address)
            socket.send_fds(connection, [_LENGTH.pack(len(content))], [0, 1, 2])
            connection.sendall(content)
        except OSError:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            os.environ.pop("CHAOS_WARM", None)  # what starts now is not warm
            os.execv(sys.executable, [sys.executable, "-m", module, *arguments])  # noqa: S606
        signal.signal(signal.SIGINT, lambda number, frame: connection.send(b"!"))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        try:
            answer = connection.recv(16)
        except ConnectionError:  # the warm process was killed
            answer = b""
    code = int(answer) if answer else -signal.SIGKILL
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)


def serve(descriptor: str, libraries: str, later: str) -> dict[str, Any]:
    """Load libraries; fork for each request at a socket, and return the request in the new process.

    Both arguments are the names of modules, with commas. Those that are needed `later` are loaded
    one by one, while there is no request.

    In the server itself, this never returns: when its standard input is closed, it ends the forked
    processes, and then itself.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    listener = socket.socket(fileno=int(descriptor))
    gc.disable()  # what is loaded stays
    for name in libraries.split(","):
        _load(name)
    pending = later.split(",")
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # from here on, forked processes must end first
    child_ended, wakeup = socket.socketpair()
    wakeup.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(wakeup.fileno())
    # Nothing is ever written here: the pipe's end tells children that the server has ended.
    server_alive, server_end = os.pipe()
    running: dict[int, socket.socket] = {}
    while True:
        watched, patience = [0, listener.fileno(), child_ended.fileno()], 0 if pending else None
        ready, *_ = select.select(watched, [], [], patience)
        if not ready:
            _load(pending.pop(0))
        if 0 in ready:
            os.close(server_end)
            while running:
                running.pop(os.wait()[0])
            # Whoever has started this may have been killed, and cannot remove the folder.
            shutil.rmtree(Path(listener.getsockname()).parent, ignore_errors=True)
            os._exit(0)  # to free memory piece by piece would take a while
        if child_ended.fileno() in ready:
            child_ended.recv(4096)
            _report_exit_codes(running)
        if listener.fileno() not in ready:
            continue
        connection, _ = listener.accept()
        try:
            request, files = _receive(connection)
        except (OSError, ValueError, struct.error):  # the asking process was killed
            connection.close()
            continue
        gc.freeze()  # so that a forked process need not look at what is loaded
        if (child := os.fork()) == 0:
            gc.enable()
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGCHLD, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            for inherited_socket in (listener, child_ended, wakeup, *running.values()):
                inherited_socket.close()
            os.close(server_end)
            _take_over(request, files, connection, server_alive)
            return request
        running[child] = connection
        for file in files:
            os.close(file)


def _load(module: str) -> None:
    """Import a module if that works: where it does not, whoever needs it will say why."""
    with suppress(Exception):
        importlib.import_module(module)


def _receive(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Return a request, and the descriptors of the standard streams that came with it."""
    header, files, *_ = socket.recv_fds(connection, _LENGTH.size, 3)
    (length,) = _LENGTH.unpack(header)
    content = connection.recv(length, socket.MSG_WAITALL)
    return json.loads(content), files


def _report_exit_codes(running: dict[int, socket.socket]) -> None:
    """Send the exit code of each child that has ended to the process that asked for it."""
    while running:
        child, status = os.waitpid(-1, os.WNOHANG)
        if not child:
            break
        with running.pop(child) as connection, suppress(OSError):
            connection.sendall(str(os.waitstatus_to_exitcode(status)).encode())


def _take_over(
    request: dict[str, Any], files: list[int], connection: socket.socket, server_alive: int
) -> None:
    """Give this process the folder, environment, streams and arguments of the request.

    From now on it is interrupted when the asking process is, and ends when that or the server ends.
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
        watched = [connection.fileno(), server_alive]
        while server_alive not in select.select(watched, [], [])[0] and connection.recv(1):
            os.kill(os.getpid(), signal.SIGINT)
        os.killpg(0, signal.SIGTERM)  # also those that write pages in parallel
        time.sleep(_PATIENCE_SECONDS)
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    _command, *_arguments = sys.argv[1:]
    if _command == "ask":
        ask(*_arguments)
    else:
        _module = serve(*_arguments)["module"]
        runpy.run_module(_module, run_name="__main__", alter_sys=True)
