"""Several GPUs of one server: each makes one run at a time, in a process of its own."""

import os
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.training.estimates import GIB, Gpu, gpu_at_hand

_END_SECONDS = 20  # that a process has to end by itself
_FAULT_LINES = 12  # of what a failed process has printed last
Watch = Callable[[str, str, str], None]  # is called with a job's name, its GPU, and a line


@dataclass(frozen=True, slots=True)
class GpuJob:
    """A command that uses one GPU; it begins after the jobs `after`, where these are among all."""

    name: str
    command: tuple[str, ...]
    after: frozenset[str] = frozenset()


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
            expected="all, or different ids separated by commas, such as 0,1",
            todo="see `nvidia-smi`; CUDA_VISIBLE_DEVICES limits what is visible",
        )
    return chosen


def run_jobs(
    jobs: Sequence[GpuJob], gpus: Sequence[str], *, logs: Path, watch: Watch
) -> dict[str, str]:
    """Run jobs side by side, one per GPU, in their order; return why each failed, or else nothing.

    A job that fails does not stop the others; those that need it are not begun. What a job prints
    goes to ``NAME.log`` in the folder `logs`, and its lines to `watch`. Interrupted, all processes
    are ended.
    """
    logs.mkdir(parents=True, exist_ok=True)
    names = {job.name for job in jobs}
    order = TopologicalSorter({job.name: job.after & names for job in jobs})
    try:
        order.prepare()
    except CycleError as fault:
        raise ChaosError(
            "These runs wait for each other.",
            found=", ".join(fault.args[1]),
            expected="a plan in which each run needs only earlier ones",
        ) from fault
    faults, free = dict[str, str](), list(gpus)
    ready, lock = set[str](), threading.Lock()
    processes: list[subprocess.Popen[str]] = []
    running: dict[Future[str], tuple[GpuJob, str]] = {}

    def tell(*told: str) -> None:
        with lock:
            watch(*told)

    with ThreadPoolExecutor(len(gpus)) as readers:
        try:
            while order.is_active():
                ready |= {*order.get_ready()}
                for job in [one for one in jobs if one.name in ready]:
                    if lost := sorted(name for name in job.after & names if faults[name]):
                        faults[job.name] = f"not started: it needs {lost[0]}"
                        order.done(job.name)
                    elif free:
                        gpu = free.pop(0)
                        tell(job.name, gpu, "begins")
                        processes.append(_begin(job, gpu, len(gpus)))
                        log = logs / f"{job.name}.log"
                        reader = readers.submit(_follow, job.name, gpu, processes[-1], log, tell)
                        running[reader] = job, gpu
                    else:
                        break
                    ready.remove(job.name)
                for end in wait(running, return_when=FIRST_COMPLETED).done:
                    job, gpu = running.pop(end)
                    free.append(gpu)
                    faults[job.name] = end.result()
                    order.done(job.name)
        finally:
            _end(processes)
    return {job.name: faults[job.name] for job in jobs}


def _begin(job: GpuJob, gpu: str, n_gpus: int) -> "subprocess.Popen[str]":
    """Start a job on a GPU, which is named as `nvidia-smi` does, with its part of the CPUs."""
    shared = {
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "OMP_NUM_THREADS": str(max(1, (os.cpu_count() or 1) // n_gpus)),
        "PYTHONUNBUFFERED": "1",
    }
    return subprocess.Popen(
        job.command,
        env={**shared, **os.environ, "CUDA_VISIBLE_DEVICES": gpu},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,  # Ctrl-C reaches this process alone, which ends the others
    )


def _follow(name: str, gpu: str, process: "subprocess.Popen[str]", log: Path, watch: Watch) -> str:
    """Show and keep what a process prints until it ends; return why it failed, or else nothing."""
    begun, lines = time.monotonic(), deque[str](maxlen=_FAULT_LINES)
    with log.open("w", encoding="utf-8") as stream:
        for line in process.stdout or ():
            stream.write(line)
            stream.flush()
            lines.append(line.rstrip())
            if lines[-1]:
                watch(name, gpu, lines[-1])
    code = process.wait()
    if not code:
        watch(name, gpu, f"done in {(time.monotonic() - begun) / 60:.0f} min")
        return ""
    watch(name, gpu, "failed")
    return "\n".join([*lines, f"(ended by signal {-code})" if code < 0 else f"(exit code {code})"])


def _end(processes: Sequence["subprocess.Popen[str]"]) -> None:
    """End what still runs: by a signal that lets it end by itself, then at once."""
    running = [one for one in processes if one.poll() is None]
    for one in running:
        _signal(one, signal.SIGTERM)
    until = time.monotonic() + _END_SECONDS
    for one in running:
        with suppress(subprocess.TimeoutExpired):
            one.wait(max(0.0, until - time.monotonic()))
        _signal(one, signal.SIGKILL)


def _signal(process: "subprocess.Popen[str]", number: int) -> None:
    """Send a signal to a process and all that it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def check(faults: Mapping[str, str], logs: Path) -> None:
    """Check that no job failed; a ChaosError names those that did."""
    failed = {name: fault for name, fault in faults.items() if fault}
    if failed:
        reasons = "".join(f"\n\n{name}\n{fault}" for name, fault in failed.items())
        raise ChaosError(
            f"{len(failed)} of {counted(len(faults), 'run')} failed; the same command resumes "
            f"them. What they printed is in {logs}.{reasons}"
        )
