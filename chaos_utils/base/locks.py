"""One process at a time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def exclusive_lock(
    path: Path, waiting: str = "", say: Callable[[str], None] | None = None
) -> Iterator[None]:
    """Wait until no other process is in a block with this lock, and keep others out of it.

    The operating system releases a lock when the process that holds it ends, in whatever way. `say`
    is called with the text `waiting` if another process holds the lock, and with a warning if the
    file system takes no locks: then nobody is kept out.
    """
    from filelock import FileLock, Timeout  # slow to import

    say = say or (lambda text: None)
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path, fallback_to_soft=False)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        say(waiting)
        lock.acquire()
    except PermissionError:  # an OSError, but it does not mean that there are no locks
        raise
    except (OSError, NotImplementedError) as fault:
        say(
            f"{path.parent} takes no locks ({fault}): do not start the same command twice meanwhile"
        )
    try:
        yield
    finally:
        lock.release()
