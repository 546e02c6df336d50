"""One process at a time makes a run."""

import pytest
from filelock import FileLock

from chaos_utils.training.cache import only_one


def test_a_run_waits_for_another_process_that_makes_it(empty_cache):
    said = []
    (empty_cache / "locks").mkdir()
    other = FileLock(empty_cache / "locks" / "key")
    other.acquire()

    def say(text):
        said.append(text)
        other.release()

    with only_one("key", say):
        assert said == ["another process makes this run: waiting for it"]
        with pytest.raises(TimeoutError):
            other.acquire(timeout=0)
    with only_one("key", said.append), only_one("another", said.append):
        pass
    assert len(said) == 1
