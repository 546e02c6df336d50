"""One process at a time, where the file system can tell them apart."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from filelock import FileLock, Timeout

from chaos_utils.base import paths


@contextmanager
def alone(name: str, waiting: str, say: Callable[[str], None]) -> Iterator[None]:
    """Wait until no other process is in a block of this name, and keep others out of it.

    `waiting` is said if one is. A file system that refuses locks keeps no one out, which is said.
    """
    locks = paths.cache() / "locks"
    locks.mkdir(parents=True, exist_ok=True)
    lock = FileLock(locks / name, fallback_to_soft=False)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        say(waiting)
        lock.acquire()
    except (OSError, NotImplementedError) as fault:
        say(f"{locks} takes no locks ({fault}): do not start the same command twice meanwhile")
    try:
        yield
    finally:
        lock.release()
