"""Drive Snakemake: which profile, one drive at a time, its lines as they come, its end."""

import fcntl
import importlib.util
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.base.files import read_mapping
from chaos_utils.base.yaml_files import read_yaml

Say = Callable[[str], None]
Progress = Callable[[int, int], None]
_CONFIG = "config.yaml"
_STEPS = re.compile(r"(\d+) of (\d+) steps")
# A cluster is asked to cancel its jobs, which takes longer than ending one's own.
_PATIENCE_SECONDS = {False: 3, True: 60}


@dataclass(frozen=True, slots=True)
class Profile:
    """How and where jobs run; the folder holds Snakemake's ``config.yaml``.

    `remote` says whether jobs are handed to a cluster.
    """

    folder: Path
    remote: bool


def find_profile(name: str) -> Profile:
    """Return a profile given by its name below ``profiles/``, or by the path of its folder."""
    known = {path.parent.name: path for path in paths.project().glob(f"profiles/*/{_CONFIG}")}
    config = known.get(name, Path(name).absolute() / _CONFIG)
    if not config.is_file():
        raise ChaosError(
            "No such profile.",
            found=name,
            expected=did_you_mean(name, sorted(known)),
            todo=f"choose one, or name a folder of your own that holds {_CONFIG}",
        )
    settings = read_yaml(config, "The profile")
    if not isinstance(settings, dict | None):
        raise ChaosError(
            "The profile cannot be read.", where=config, expected="a line `name: value` each"
        )
    executor = str((settings or {}).get("executor", "local"))
    if executor != "local":
        _check_executor(executor, config)
    return Profile(config.parent, executor != "local")


def _check_executor(executor: str, config: Path) -> None:
    plugin = f"snakemake_executor_plugin_{executor.replace('-', '_')}"
    if importlib.util.find_spec(plugin) is None:
        todo = f"install {plugin.replace('_', '-')}"
        if executor == "slurm":
            todo = "pip install -c requirements.lock -e '.[cluster]'"
        raise ChaosError(
            f"Snakemake's executor {executor!r} is not installed.", where=config, todo=todo
        )
    if executor == "slurm" and shutil.which("sbatch") is None:
        raise ChaosError(
            "There is no SLURM here.",
            where=config,
            found="no command `sbatch`",
            todo="call it on a node of the cluster that submits jobs, or take --profile local",
        )


def drive(
    arguments: Sequence[str],
    profile: Profile,
    *,
    cores: int | None,
    lock: TextIO,
    heard: Callable[[str], None],
    progress: Progress,
    environment: dict[str, str] | None = None,
) -> tuple[int, list[str]]:
    """Run Snakemake to its end, and return its exit code and all that it printed.

    `arguments` are targets and options. `cores` are those to use here, or jobs on a cluster at
    once; by default as many as there are, or as the profile says. `lock` is as `only_one` yields
    it. `heard` is called with each line that Snakemake and jobs on this machine print, `progress`
    with the number of jobs done, and of all. `environment` has variables for the jobs, beside those
    of this process.
    """
    command = [sys.executable, "-m", "snakemake", *arguments, "--profile", str(profile.folder)]
    if not profile.remote:
        command += ["--cores", str(cores or os.cpu_count() or 1)]
    elif cores:
        command += ["--jobs", str(cores)]
    root = paths.project()
    output = []
    with subprocess.Popen(
        command, cwd=root, env=os.environ | {"PYTHONPATH": str(root)} | (environment or {}),
        text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        pass_fds=[lock.fileno()],
    ) as process:  # fmt: skip
        holder = {"pid": os.getpid(), "steps": process.pid, "remote": profile.remote}
        lock.truncate(0)
        json.dump(holder | {"host": socket.gethostname()}, lock)
        lock.flush()
        try:
            assert process.stdout is not None
            for line in process.stdout:
                output.append(line.rstrip("\n"))
                if steps := _STEPS.search(line):
                    progress(int(steps[1]), int(steps[2]))
                heard(output[-1])
        except BaseException:
            _end(process, remote=profile.remote)
            raise
    return process.returncode, output


def _end(process: subprocess.Popen[str], *, remote: bool) -> None:
    """End Snakemake and its jobs, which stand in a session of their own."""
    _tell_to_end(process.pid, remote=remote)
    try:
        # What is still printed is read, or a full pipe would keep Snakemake from ending.
        process.communicate(timeout=_PATIENCE_SECONDS[remote])
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _tell_to_end(steps: int, *, remote: bool) -> None:
    if remote:  # an interrupt makes Snakemake cancel its jobs on the cluster
        os.kill(steps, signal.SIGINT)
    else:
        os.killpg(steps, signal.SIGTERM)


@contextmanager
def only_one(path: Path, what: str, say: Say) -> Iterator[TextIO]:
    """Hold a lock; the steps inherit it, so that it reveals steps left behind.

    The system releases a lock when its last holder ends, however that ends. A build or sweep that
    was killed may have left its steps running: they are ended before the next one starts. (A lock
    of the package filelock would not be inherited.) `what`
    names what is locked, such as ``build``; `say` is called with the reason where this waits. The
    file is yielded open and empty.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+") as lock:
        if not _takes(lock):
            holder = read_mapping(path)
            if _was_killed(holder):
                say(f"an earlier {what} was killed: ending the steps it left behind")
                _end_left_behind(holder, lock)
            else:
                say(f"another {what} is running: waiting for it to end")
            fcntl.flock(lock, fcntl.LOCK_EX)
        lock.truncate(0)
        yield lock


def _takes(lock: TextIO) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _was_killed(holder: dict[str, Any]) -> bool:
    here = holder.get("host") == socket.gethostname()
    if not here or "pid" not in holder:  # another node of a cluster, or damaged: unknown
        return False
    try:
        os.kill(holder["pid"], 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _end_left_behind(holder: dict[str, Any], lock: TextIO) -> None:
    with suppress(ProcessLookupError):  # they may have ended by now
        if holder["remote"]:
            _tell_to_end(holder["steps"], remote=True)
            until = time.monotonic() + _PATIENCE_SECONDS[True]
            while time.monotonic() < until:
                if _takes(lock):
                    return
                time.sleep(0.1)
        os.killpg(holder["steps"], signal.SIGKILL)
