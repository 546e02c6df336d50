"""Damaged files end in one message, whatever reads them: a few here, very many at night."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.checkout import PROJECT


@pytest.mark.parametrize(
    ("number", "seed"), [(400, 0), pytest.param(100_000, 1, marks=pytest.mark.slow)]
)
def test_damaged_files_end_in_one_message_soon(number, seed, tmp_path):
    given = {"PYTHONPATH": f"{PROJECT}{os.pathsep}{PROJECT / 'tests'}", "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("loaders.py"), str(number), str(seed)],
        env=os.environ | given | {"CHAOS_CACHE": str(tmp_path / "cache")},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    *faults, read = map(json.loads, done.stdout.splitlines())
    assert read == {"read": number}
    assert not faults
