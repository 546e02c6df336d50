"""Tests see the repository's own data alone, and those of the published data stop without it."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.checkout import PROJECT
from helpers.published import LEFT_OUT, further_files, link_published, required_files

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets import sources
from chaos_utils.datasets.catalogue import known_files

PROXY = "import urllib.request as r; r.urlopen('http://192.0.2.1/', timeout=1)"


def test_no_published_file_is_found():
    assert not [name for name in known_files() if sources.find(name)]
    assert paths.cache().is_relative_to(Path.home())
    assert not [name for name in os.environ if name.startswith("XDG_")]


def test_connections_stay_on_this_machine():
    with pytest.raises(AssertionError, match="a test connects to"):
        socket.create_connection(("192.0.2.1", 80), timeout=1)
    done = subprocess.run(
        [sys.executable, "-c", PROXY], capture_output=True, text=True, check=False
    )
    assert "Connection refused" in done.stderr


def put(folder, names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("{}")
    return str(folder)


def try_tests(cwd, *arguments, file=__file__, **environment):
    """Run the tests of a file as on a machine whose checkout is `cwd`."""
    (cwd / "notebooks").mkdir(parents=True)
    (cwd / "_toc.yml").touch()
    clean = {name: one for name, one in os.environ.items() if not name.startswith("CHAOS_")}
    options = ["-q", "-p", "no:cacheprovider", "-c", str(PROJECT / "pyproject.toml"), *arguments]
    return subprocess.run(
        [sys.executable, "-m", "pytest", f"--rootdir={PROJECT}", *options, str(file)],
        cwd=cwd, env=clean | environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_wherever_the_published_files_are(tmp_path):
    names = required_files()
    put(tmp_path / "shared" / "data", names)
    put(tmp_path / "home" / ".cache" / "chaos-utils", names)
    environment = {
        "HOME": str(tmp_path / "home"),
        "CHAOS_DATA": put(tmp_path / "named", names),
        "CHAOS_CACHE": put(tmp_path / "kept", names),
        "XDG_CACHE_HOME": put(tmp_path / "cache" / "chaos-utils", names),
    }
    done = try_tests(tmp_path / "checkout", "-k", "no_published", **environment)
    assert done.returncode == 0, done.stdout


def test_without_the_published_data_its_tests_stop(tmp_path):
    done = try_tests(tmp_path / "checkout", "--published-data", CHAOS_CACHE=str(tmp_path))
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "The published data is not here" in done.stderr
    assert "chaos data fetch" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_published_data_may_be_in_several_places(tmp_path, monkeypatch):
    first, *others = names = required_files()
    monkeypatch.setenv("CHAOS_DATA", put(tmp_path / "named", [first]))
    monkeypatch.setenv("CHAOS_CACHE", put(tmp_path / "cache", others[1:]))
    with pytest.raises(ChaosError, match=f"no {others[0]}"):
        link_published(tmp_path / "all")
    put(tmp_path / "cache", others)
    link_published(tmp_path / "all")
    assert all((tmp_path / "all" / name).is_file() for name in names)


def test_what_else_lies_in_a_data_folder_changes_no_test(tmp_path, monkeypatch):
    required, further = required_files(), further_files("*")
    monkeypatch.setenv("CHAOS_DATA", put(tmp_path / "named", [*required, further[0]]))
    assert link_published(tmp_path / "seen") == []
    seen = [path for path in (tmp_path / "seen").rglob("*") if path.is_file()]
    assert {path.relative_to(tmp_path / "seen").as_posix() for path in seen} == set(required)
    assert link_published(tmp_path / "named-by-a-test", further[:2]) == further[1:2]


def test_a_test_whose_file_is_not_here_is_left_out_and_counted(tmp_path):
    done = try_tests(
        tmp_path / "checkout", "--published-data", "-k", "ambient",
        file=PROJECT / "tests" / "datasets" / "test_auxiliary_data.py",
        CHAOS_DATA=put(tmp_path / "named", required_files()), CHAOS_CACHE=str(tmp_path),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "1 skipped" in done.stdout
    assert "ambient/crowdworker_annotations.jsonl" in done.stdout
    assert f"left out: 1 tests of {LEFT_OUT}" in done.stdout
