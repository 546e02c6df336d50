"""Processes: what they are started with, and that none outlives its work."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread

_POLL_SECONDS = 0.1


def end_with_parent(parent: int) -> None:
    """End this process, and what it has started, as soon as the one that started it has ended."""
    with suppress(PermissionError):  # where it has a group of its own
        os.setsid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_POLL_SECONDS)
        os.killpg(0, signal.SIGKILL)

    Thread(target=watch, daemon=True).start()


def end_group(pid: int | None) -> None:
    """End a process that leads a group, and all of the group."""
    if pid is not None:
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


@contextmanager
def environment(**variables: str) -> Iterator[None]:
    """Set variables for the processes that are started within the block."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
