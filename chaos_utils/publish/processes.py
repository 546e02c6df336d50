"""Jobs side by side, each in a process of a pool, that end with the process that asked for them."""

import multiprocessing
import os
import signal
import time
import traceback
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread

from chaos_utils.base.errors import ChaosError

_POLL_SECONDS = 0.1
Say = Callable[[str], None]
Progress = Callable[[int, int], None]
Job = Callable[[str], Sequence[str] | None]  # returns what is to be said of what it has done


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


@dataclass(frozen=True, slots=True)
class JobResult:
    """How a job ended: what it said, and why it failed, which is empty where it did not."""

    name: str
    said: tuple[str, ...]
    fault: str = ""


def run_job(make: Job, name: str) -> JobResult:
    """Do a job; a fault of its own making keeps its traceback."""
    begun = time.monotonic()
    try:
        messages = make(name)
    except ChaosError as fault:
        return JobResult(name, ("failed",), str(fault))
    except Exception:
        return JobResult(name, ("failed",), traceback.format_exc())
    return JobResult(name, (*(messages or ()), f"done in {time.monotonic() - begun:.0f} s"))


def run_parallel(make: Job, names: Sequence[str], *, workers: int) -> Generator[JobResult]:
    """`run_job` the jobs in so many processes, begun in this order; yield each when it has ended.

    `make` is sent to the processes: a function of a module, with arguments of its own by
    `functools.partial`. When what asks for the next is interrupted, all processes are ended. A
    process that is killed takes the others of its pool along: their jobs are tried once more, each
    alone.
    """
    # A process of its own making has none of the locks and threads of this one.
    spawned = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(
        min(workers, len(names)) or 1, spawned, end_with_parent, (os.getpid(),)
    )
    lost = []
    try:
        # Ctrl-C reaches this process alone, also before the others have a group of their own.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            jobs = {pool.submit(run_job, make, name): name for name in names}
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for job in as_completed(jobs):
            if isinstance(job.exception(), BrokenProcessPool):
                lost.append(jobs[job])
            else:
                yield job.result()
    except BaseException:
        for process in multiprocessing.active_children():
            end_group(process.pid)
            process.kill()  # where it leads no group yet
        raise
    finally:
        pool.shutdown(cancel_futures=True)
    for name in lost:
        if len(names) > 1:
            yield from run_parallel(make, [name], workers=1)
        else:
            yield JobResult(name, ("ended",), str(_killed_error(name)))


def _killed_error(name: str) -> ChaosError:
    return ChaosError(
        f"{name} was ended before it was done.",
        found="a process was killed from outside, or the machine was out of memory",
        todo="run the same command again, with fewer --cores where memory is short",
    )
