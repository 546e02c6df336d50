"""Copies of the working tree, for builds that must not touch it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def copy_checkout(target: Path) -> Path:
    """Copy what git tracks or would track; nothing that was built."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=PROJECT, capture_output=True, check=True, text=True,
    ).stdout  # fmt: skip
    for name in filter(None, listed.split("\0")):
        if (PROJECT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(PROJECT / name, target / name)
    return target


def chaos(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the `chaos` command of a checkout; a variable set to '' is taken out."""
    return subprocess.run(
        [sys.executable, "-m", "chaos_utils.cli", *arguments],
        cwd=cwd, env=chaos_environment(cwd, **environment),
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def chaos_environment(cwd: Path, **environment: str) -> dict[str, str]:
    """Return the environment in which a checkout's own package is used."""
    merged = os.environ | {"PYTHONPATH": str(cwd)} | environment
    return {name: value for name, value in merged.items() if value != ""}
