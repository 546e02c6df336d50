"""Drive Snakemake: choose the data, show progress, say what failed and why."""

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from chaos_utils import paths
from chaos_utils.data import sources
from chaos_utils.data.registry import BAAN_FILES, CHAOSNLI_FILES
from chaos_utils.errors import ChaosError
from chaos_utils.publish import dependencies

Say = Callable[[str], None]
_PATIENCE_SECONDS = 3
_STEPS = re.compile(r"(\d+) of (\d+) steps")


def choose_data(
    *, sample: bool, strict: bool, dry_run: bool = False, say: Say, progress: bool
) -> str:
    """Return the chapters' ``data`` parameter: the released data, or the sample.

    Parameters
    ----------
    sample : bool
        Take the sample in any case.
    strict : bool
        Fail where the data cannot be had.
    dry_run : bool
        Fetch nothing.
    say : callable
        Is told what is fetched, and loudly that the sample was taken.
    progress : bool
        Whether downloads draw a progress bar.

    Raises
    ------
    ChaosError
        If the data at hand is not the published one; or, when strict, if it cannot be had.
    """
    if sample:
        return "sample"
    names = [*CHAOSNLI_FILES, *BAAN_FILES]
    found = {name: sources.find(name) for name in names}
    for name, path in found.items():
        if path is not None:
            sources.check(sources.get(name), path)
    if dry_run:
        return "auto"
    try:
        sources.fetch(names, say=lambda text: say(f"fetching {text}"), progress=progress)
    except ChaosError as fault:
        if strict:
            raise
        say(f"{fault}\n")
        say(
            "Not all the published data is at hand: this build is made from the SYNTHETIC SAMPLE. "
            "Nothing in it is a result."
        )
        return "sample"
    return "auto"


def build(
    data: str,
    *,
    cores: int,
    dry_run: bool = False,
    force: bool = False,
    say: Say,
    progress: Callable[[int, int], None],
) -> list[str]:
    """Bring the book up to date.

    Parameters
    ----------
    data : str
        As `choose_data` returns it.
    cores : int
        How many chapters may run at once.
    dry_run : bool
        Only say what would run.
    force : bool
        Run everything again.
    say : callable
        Is told about each step in one line.
    progress : callable
        Is told how many steps are done, and of how many.

    Returns
    -------
    list of str
        In a dry run, the steps that would run, such as ``chapter annotations``.

    Raises
    ------
    ChaosError
        If a notebook cannot be read; or if a step failed, with that step's own message.
    """
    root = paths.project()
    for chapter in dependencies.chapters():
        dependencies.modules_of(paths.notebooks() / f"{chapter}.py")
    marker, site = paths.build() / "site.done", paths.build() / "html" / "index.html"
    if not site.is_file():
        marker.unlink(missing_ok=True)
    command = [
        sys.executable, "-m", "snakemake", "--profile", "profiles/local", "--cores", str(cores),
        "--config", f"data={data}",
    ]  # fmt: skip
    command += ["--dry-run"] if dry_run else []
    command += ["--forceall"] if force else []
    environment = os.environ | {"PYTHONPATH": str(root)}
    logs = paths.build() / "logs"
    with _only_build(say) as lock:
        logs.mkdir(exist_ok=True)
        _sweep(logs)
        output = []
        with subprocess.Popen(
            command, cwd=root, env=environment, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True, pass_fds=[lock.fileno()],
        ) as process:  # fmt: skip
            json.dump({"build": os.getpid(), "steps": process.pid}, lock)
            lock.flush()
            try:
                for line in _lines(process):
                    output.append(line)
                    steps = _STEPS.search(line)
                    if line.startswith("[chaos] "):
                        say(line.removeprefix("[chaos] "))
                    elif steps:
                        progress(int(steps[1]), int(steps[2]))
            except BaseException:
                _end(process)
                raise
        (logs / "build.log").write_text("\n".join(output), "utf-8")
    if process.returncode != 0:
        raise _failed(logs, output)
    return _planned(output) if dry_run else []


def _planned(output: list[str]) -> list[str]:
    """Read the jobs of a dry run, such as 'chapter annotations', off Snakemake's output."""
    jobs: list[str] = []
    for line in output:
        if rule := re.match(r"(?:local)?rule (\w+):", line):
            jobs.append(rule[1])
        elif wildcard := re.match(r"\s+wildcards: \w+=(\S+)", line):
            jobs[-1] += f" {wildcard[1]}"
    return [job for job in jobs if job != "book"]  # the target itself does nothing


def _sweep(logs: Path) -> None:
    """Remove what killed or failed builds have left; the lock says that none is running."""
    for old in logs.glob("*.failed"):
        old.unlink()
    for scratch in (*paths.build().glob("chapters/.*"), *paths.build().glob(".site-*")):
        shutil.rmtree(scratch)


def _end(process: subprocess.Popen[str]) -> None:
    """End Snakemake and its jobs, which stand in a session of their own."""
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(_PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _lines(process: subprocess.Popen[str]) -> Iterator[str]:
    assert process.stdout is not None
    for line in process.stdout:
        yield line.rstrip("\n")


def _failed(logs: Path, output: list[str]) -> ChaosError:
    told = [path.read_text("utf-8").rstrip() for path in sorted(logs.glob("*.failed"))]
    if told:
        return ChaosError("\n\n".join(told))
    return ChaosError(
        "The build failed.",
        found="\n".join(output[-12:]),
        todo="read _build/logs/build.log",
    )


@contextmanager
def _only_build(say: Say) -> Iterator[TextIO]:
    """Hold the build's lock; the steps inherit it, so that it tells of steps left behind.

    The system releases a lock when its last holder ends, however that ends. A build that
    was killed may have left its steps running: they are ended before the next one starts.
    """
    paths.build().mkdir(parents=True, exist_ok=True)
    with (paths.build() / "lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            holder = json.loads(lock.read() or "{}")
            if holder and not _is_alive(holder["build"]):
                say("an earlier build was killed: ending the steps it left behind")
                os.killpg(holder["steps"], signal.SIGKILL)
            else:
                say("another build of this checkout is running: waiting for it to end")
            fcntl.flock(lock, fcntl.LOCK_EX)
        lock.truncate(0)
        yield lock


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
