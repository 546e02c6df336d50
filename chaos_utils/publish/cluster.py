"""Runs of a sweep on a cluster: Snakemake with a profile, as its users call it."""

import ctypes
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.base.yaml_files import read_yaml

_CONFIG = "config.yaml"
_CANCEL_SECONDS = 60  # that a cluster may take to cancel jobs


def find_profile(name: str) -> Path:
    """Return the folder of a profile, given by its name below ``profiles/`` or by its path."""
    profiles = {path.parent.name: path for path in paths.project().glob(f"profiles/*/{_CONFIG}")}
    config = profiles.get(name, Path(name).absolute() / _CONFIG)
    if not config.is_file():
        raise ChaosError(
            "No such profile.",
            found=name,
            expected=did_you_mean(name, sorted(profiles)),
            todo=f"choose one, or name a folder of your own that holds {_CONFIG}",
        )
    settings = read_yaml(config, "The profile")
    if not isinstance(settings, dict | None):
        raise ChaosError(
            "The profile cannot be read.", where=config, expected="a line `name: value` each"
        )
    _check_executor(str((settings or {}).get("executor", "local")), config)
    return config.parent


def _check_executor(executor: str, config: Path) -> None:
    """Check that Snakemake, the plugin of a profile's executor and SLURM's commands are here."""
    plugin = f"snakemake_executor_plugin_{executor.replace('-', '_')}"
    if importlib.util.find_spec("snakemake" if executor == "local" else plugin) is None:
        todo = "pip install -c requirements.lock -e '.[cluster]'"
        if executor not in ("local", "slurm"):
            todo += f", and {plugin.replace('_', '-')}"
        raise ChaosError(
            f"Snakemake with its executor {executor!r} is not installed.", where=config, todo=todo
        )
    if executor == "slurm" and shutil.which("sbatch") is None:
        raise ChaosError(
            "There is no SLURM here.",
            where=config,
            found="no command `sbatch`",
            todo="run the command on a node that submits jobs, or leave out --profile",
        )


def submit(plan: Path, profile: Path, *, jobs: int | None) -> None:
    """Have Snakemake make the runs of a plan, and wait until all have succeeded or failed.

    Snakemake's output goes to the terminal. `jobs` is how many may run at once, by default as the
    profile says. When this process is interrupted or killed, the jobs are cancelled.
    """
    root = paths.project()
    command = [sys.executable, "-m", "snakemake", "--profile", str(profile)]
    command += ["--jobs", str(jobs)] if jobs else []
    command += ["--config", f"plan={plan.relative_to(root).as_posix()}"]
    environment = os.environ | {"PYTHONPATH": str(root)}
    with subprocess.Popen(
        command, cwd=root, env=environment, stdout=sys.stderr, start_new_session=True,
        preexec_fn=_interrupt_with_parent,
    ) as process:  # fmt: skip
        try:
            process.wait()
        except BaseException:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(_CANCEL_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
            raise


def _interrupt_with_parent() -> None:
    """Have Linux interrupt this process when the one that started it is killed."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGINT)
