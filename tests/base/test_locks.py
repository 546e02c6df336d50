"""One process at a time."""

import fcntl

import pytest
from filelock import FileLock

from chaos_utils.base.locks import exclusive_lock


def test_a_block_waits_for_another_process_and_keeps_others_out(tmp_path):
    said, path = [], tmp_path / "locks" / "key"
    path.parent.mkdir()
    other = FileLock(path)
    other.acquire()

    def say(text):
        said.append(text)
        other.release()

    with exclusive_lock(path, "waiting for it", say):
        assert said == ["waiting for it"]
        with pytest.raises(TimeoutError):
            other.acquire(timeout=0)
    with (
        exclusive_lock(path, "waiting", said.append),
        exclusive_lock(tmp_path / "another", "waiting", said.append),
    ):
        pass
    assert len(said) == 1


def test_a_file_system_that_refuses_locks_stops_nothing(tmp_path, monkeypatch):
    def refused(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", refused)
    said = []
    with exclusive_lock(tmp_path / "key", "waiting", said.append):
        pass
    assert len(said) == 1
    assert "takes no locks" in said[0]
