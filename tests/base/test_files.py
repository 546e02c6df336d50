import json
import os
from pathlib import Path

import pytest

from chaos_utils.base.files import fresh_folder, write_bytes, write_json


def test_a_failed_write_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    write_json(path, [1])
    with pytest.raises(ValueError, match="JSON"):
        write_json(path, [float("nan")])
    monkeypatch.setattr("pathlib.Path.replace", lambda self, other: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_bytes(path, b"half")
    assert json.loads(path.read_text()) == [1]
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.json"]


def test_what_is_written_reaches_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    events = []

    def noted(name, real):
        return lambda *given: (events.append(name), real(*given))[1]

    for owner, name in ((os, "fsync"), (Path, "rename"), (Path, "replace")):
        monkeypatch.setattr(owner, name, noted(name, getattr(owner, name)))
    write_bytes(tmp_path / "a", b"1")
    with fresh_folder(tmp_path / "run") as folder:
        (folder / "b").write_text("2")
    assert events == ["fsync", "replace", "fsync", "rename"]


def test_a_fresh_folder_takes_the_place_only_when_it_is_done(tmp_path):
    target = tmp_path / "run"
    with fresh_folder(target) as folder:
        (folder / "old").write_text("1")
    with pytest.raises(ZeroDivisionError), fresh_folder(target) as folder:
        (folder / "new").write_text("2") / 0  # which fails when it is written
    assert [path.name for path in target.iterdir()] == ["old"]
    with fresh_folder(target) as folder:
        (folder / "new").write_text("2")
    assert [path.name for path in target.iterdir()] == ["new"]  # nothing stale survives
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
