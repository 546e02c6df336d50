"""Several GPUs of one server: each makes one run at a time, in a process of its own."""

import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.training.estimates import GIB, Gpu, gpu_at_hand

_END_SECONDS = 20  # that a process has to end by itself
_POLL_SECONDS = 0.5
_FAULT_LINES = 12  # of what a failed process has printed last
Watch = Callable[[str, str, str], None]  # is called with a job's name, its GPU, and a line


@dataclass(frozen=True, slots=True)
class GpuJob:
    """A command that uses one GPU; it begins after the jobs `after`, where these are among all."""

    name: str
    command: tuple[str, ...]
    after: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class JobEnd:
    """How a job ended: on which GPU, after how long, and why it failed, empty where it did not."""

    name: str
    gpu: str
    seconds: float
    fault: str = ""


def visible_gpus() -> list[str]:
    """Return the ids of the GPUs that this process may use, as CUDA_VISIBLE_DEVICES names them."""
    import torch

    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    n_gpus = torch.cuda.device_count()
    if named is None:
        return [str(number) for number in range(n_gpus)]
    return [one.strip() for one in named.split(",") if one.strip()][:n_gpus]


def card_at_hand() -> Gpu | None:
    """Return the first GPU that PyTorch sees here; None where there is none."""
    import torch

    if not torch.cuda.is_available():
        return None
    properties = torch.cuda.get_device_properties(0)
    return gpu_at_hand(properties.name, properties.total_memory / GIB)


def choose_gpus(text: str, visible: Sequence[str]) -> list[str]:
    """Return the ids that a reader names: ``all``, or some of the visible ones, by commas."""
    chosen = list(visible) if text == "all" else [one.strip() for one in text.split(",")]
    unknown = [one for one in chosen if one not in visible]
    if not chosen or unknown or len(set(chosen)) < len(chosen):
        raise ChaosError(
            "These GPUs cannot be used.",
            where="--gpus",
            found=f"{text!r}; visible here: {', '.join(visible) or 'none'}",
            expected="all, or ids by commas, each once, such as 0,1",
            todo="see `nvidia-smi`; CUDA_VISIBLE_DEVICES limits what is visible",
        )
    return chosen


def run_jobs(
    jobs: Sequence[GpuJob], gpus: Sequence[str], *, logs: Path, watch: Watch
) -> list[JobEnd]:
    """Run jobs side by side, one per GPU, in their order; return how each ended, in this order.

    A job that fails does not stop the others; those that need it are not begun. What a job prints
    goes to ``NAME.log`` in the folder `logs`, and its lines to `watch`. Interrupted, all processes
    are ended.
    """
    logs.mkdir(parents=True, exist_ok=True)
    running = _Running(list(gpus), logs, watch, _environment(len(gpus)))
    names = {job.name for job in jobs}
    waiting, ended = list(jobs), dict[str, JobEnd]()
    try:
        while waiting or running.jobs:
            for job in [one for one in waiting if _is_due(one, names, ended)]:
                if lost := sorted(name for name in job.after & names if ended[name].fault):
                    waiting.remove(job)
                    ended[job.name] = JobEnd(job.name, "", 0.0, f"not begun: it needs {lost[0]}")
                elif running.free:
                    waiting.remove(job)
                    running.begin(job)
            if not running.jobs and waiting and not _any_due(waiting, names, ended):
                raise _circle(waiting)
            ended |= {end.name: end for end in running.next_ended()}
    finally:
        running.end_all()
    return [ended[job.name] for job in jobs]


def _is_due(job: GpuJob, names: set[str], ended: Mapping[str, JobEnd]) -> bool:
    return job.after & names <= ended.keys()


def _any_due(jobs: Sequence[GpuJob], names: set[str], ended: Mapping[str, JobEnd]) -> bool:
    return any(_is_due(job, names, ended) for job in jobs)


def _circle(waiting: Sequence[GpuJob]) -> ChaosError:
    return ChaosError(
        "These runs wait for each other.",
        found=", ".join(job.name for job in waiting),
        expected="a plan in which each run needs earlier ones alone",
    )


def _environment(n_gpus: int) -> dict[str, str]:
    """Return the environment of all processes: ids as `nvidia-smi` has them, CPUs in parts."""
    shared = {
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "OMP_NUM_THREADS": str(max(1, (os.cpu_count() or 1) // n_gpus)),
        "PYTHONUNBUFFERED": "1",
    }
    return shared | os.environ


def check(ends: Sequence[JobEnd], logs: Path) -> None:
    """Check that no job failed; a ChaosError names those that did."""
    failed = [end for end in ends if end.fault]
    if failed:
        reasons = "".join(f"\n\n{end.name}\n{end.fault}" for end in failed)
        raise ChaosError(
            f"{len(failed)} of {counted(len(ends), 'run')} failed; the same command resumes them. "
            f"What they printed is in {logs}.{reasons}"
        )


@dataclass(slots=True)
class _Process:
    job: GpuJob
    gpu: str
    process: subprocess.Popen[str]
    begun: float


@dataclass(slots=True)
class _Running:
    """The processes that run, the GPUs that are free, and the lines that wait to be read."""

    free: list[str]
    logs: Path
    watch: Watch
    environment: Mapping[str, str]
    jobs: dict[str, _Process] = field(default_factory=dict)
    lines: "queue.Queue[tuple[str, str | None]]" = field(default_factory=queue.Queue)

    def begin(self, job: GpuJob) -> None:
        """Start a job on the next free GPU."""
        gpu = self.free.pop(0)
        log = (self.logs / f"{job.name}.log").open("w", encoding="utf-8")
        process = subprocess.Popen(
            job.command,
            env={**self.environment, "CUDA_VISIBLE_DEVICES": gpu},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,  # Ctrl-C reaches this process alone, which ends the others
        )
        self.jobs[job.name] = _Process(job, gpu, process, time.monotonic())
        self.watch(job.name, gpu, "begins")
        threading.Thread(target=self._read, args=(job.name, process, log), daemon=True).start()

    def _read(self, name: str, process: "subprocess.Popen[str]", log: IO[str]) -> None:
        with log:
            for line in process.stdout or ():
                log.write(line)
                log.flush()
                self.lines.put((name, line.rstrip()))
        self.lines.put((name, None))

    def next_ended(self) -> list[JobEnd]:
        """Wait for a line, and show it; return the job that has ended with it."""
        try:
            name, line = self.lines.get(timeout=_POLL_SECONDS)
        except queue.Empty:
            return []
        one = self.jobs[name]
        if line is not None:
            if line:
                self.watch(name, one.gpu, line)
            return []
        code = one.process.wait()
        del self.jobs[name]
        self.free.append(one.gpu)
        fault = self._fault(name, code) if code else ""
        seconds = time.monotonic() - one.begun
        self.watch(name, one.gpu, "failed" if fault else f"done in {seconds / 60:.0f} min")
        return [JobEnd(name, one.gpu, seconds, fault)]

    def _fault(self, name: str, code: int) -> str:
        lines = (self.logs / f"{name}.log").read_text("utf-8").rstrip().splitlines()
        killed = f"ended by signal {-code}" if code < 0 else f"exit code {code}"
        return "\n".join([*lines[-_FAULT_LINES:], f"({killed})"])

    def end_all(self) -> None:
        """End what still runs: by a signal that lets it end by itself, then at once."""
        for one in self.jobs.values():
            _signal(one.process, signal.SIGTERM)
        until = time.monotonic() + _END_SECONDS
        for one in self.jobs.values():
            with suppress(subprocess.TimeoutExpired):
                one.process.wait(max(0.0, until - time.monotonic()))
            _signal(one.process, signal.SIGKILL)


def _signal(process: "subprocess.Popen[str]", number: int) -> None:
    """Send a signal to a process and all that it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)
