"""Jobs in parallel, in a pool of processes that end with the process that started them."""

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
Job = Callable[[str], Sequence[str] | None]  # takes a name, returns messages


def end_with_parent(parent: int) -> None:
    """End this process, and those that it has started, as soon as its parent has ended."""
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
    """How a job ended: its messages, and why it failed, empty if it did not."""

    name: str
    messages: tuple[str, ...]
    fault: str = ""


def run_job(make: Job, name: str) -> JobResult:
    """Run a job; an exception that is no ChaosError is reported with its traceback."""
    start = time.monotonic()
    try:
        messages = make(name)
    except ChaosError as fault:
        return JobResult(name, ("failed",), str(fault))
    except Exception:
        return JobResult(name, ("failed",), traceback.format_exc())
    return JobResult(name, (*(messages or ()), f"done in {time.monotonic() - start:.0f} s"))


def run_parallel(make: Job, names: Sequence[str], *, workers: int) -> Generator[JobResult]:
    """Run the jobs in `workers` processes, begun in this order; yield each result when it is there.

    `make` is sent to the processes: it must be a function of a module, or `functools.partial` of
    one. When the caller is interrupted, all processes are ended. If a process is killed, its whole
    pool breaks: the jobs that this loses are tried once more, each alone.
    """
    # A spawned process, unlike a forked one, has none of the locks and threads of this one.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(
        min(workers, len(names)) or 1, context, end_with_parent, (os.getpid(),)
    )
    lost_names = []
    try:
        # Ctrl-C reaches this process alone, also before the others have a group of their own.
        old_mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            jobs = {pool.submit(run_job, make, name): name for name in names}
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, old_mask)
        for job in as_completed(jobs):
            if isinstance(job.exception(), BrokenProcessPool):
                lost_names.append(jobs[job])
            else:
                yield job.result()
    except BaseException:
        for process in multiprocessing.active_children():
            end_group(process.pid)
            process.kill()  # where it leads no group yet
        raise
    finally:
        pool.shutdown(cancel_futures=True)
    for name in lost_names:
        if len(names) > 1:
            yield from run_parallel(make, [name], workers=1)
        else:
            yield JobResult(name, ("ended",), str(_killed_error(name)))


def _killed_error(name: str) -> ChaosError:
    return ChaosError(
        f"{name} was stopped before it was done.",
        found="a process was killed from outside, or the machine was out of memory",
        todo="run the same command again, with fewer --cores if memory is short",
    )
