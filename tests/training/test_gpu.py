"""What `make gpu` does, as far as a CPU can show it."""

import importlib.util
import io
import json
import subprocess
import sys
import tarfile

import pytest
from helpers.checkout import PROJECT, chaos_environment, copy_checkout

SPEC = importlib.util.spec_from_file_location("gpu", PROJECT / "tools" / "gpu.py")


@pytest.fixture
def gpu(tmp_path, monkeypatch):
    """The script, with places of its own."""
    module = importlib.util.module_from_spec(SPEC)
    SPEC.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    for name in ("PIECES", "CONTENT"):
        monkeypatch.setattr(module, name, tmp_path / name.lower())
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    return module


def archive(text):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as content:
        info = tarfile.TarInfo("data/file.txt")
        info.size = len(text)
        content.addfile(info, io.BytesIO(text))
    return stream.getvalue()


def test_pieces_are_put_together_when_all_are_there(gpu):
    assert gpu.unpack() == ""  # a machine with a network needs none
    assert gpu.cut(archive(b"votes"), 50) == 3
    first = min(gpu.PIECES.iterdir())
    kept = first.read_bytes()
    first.unlink()
    assert gpu.unpack() == "2 of 3 pieces are here, 1 are missing"
    first.write_bytes(b"x" * len(kept))
    with pytest.raises(SystemExit, match="another digest"):
        gpu.unpack()
    first.write_bytes(kept)
    assert gpu.unpack() == ""
    assert (gpu.CONTENT / "data" / "file.txt").read_text() == "votes"


def test_a_piece_cannot_write_outside(gpu):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as content:
        content.addfile(tarfile.TarInfo("../outside"))
    gpu.cut(stream.getvalue(), 10_000)
    with pytest.raises(tarfile.OutsideDestinationError):
        gpu.unpack()


@pytest.mark.slow
def test_a_run_is_killed_once_and_resumed_and_compiling_is_measured(tmp_path):
    checkout = copy_checkout(tmp_path / "book")
    done = subprocess.run(
        [sys.executable, "tools/gpu.py", "--pretend"],
        cwd=checkout, env=chaos_environment(checkout), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "killed after its first checkpoint" in done.stdout
    folder = checkout / "_build" / "gpu" / "pretended"
    record = json.loads((folder / "run.json").read_text())
    assert record["fits"][0]["calls"] == 2
    assert record["made_by"]["notebook"] == "notebooks/finetune.py"
    assert (folder / "notebook.ipynb").is_file()
    compared = json.loads((checkout / "_build" / "gpu" / "compile.json").read_text())
    speeds = compared["pairs_per_second"]
    assert compared["ratio"] == pytest.approx(speeds["compiled"] / speeds["plain"], rel=0.02)
    assert compared["seconds_of_compiling"] > 0  # it was compiled
