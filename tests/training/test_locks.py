import time
from threading import Thread

from chaos_utils.training.locks import alone


def test_who_comes_second_says_so_and_waits(tmp_path, monkeypatch):
    monkeypatch.setenv("CHAOS_CACHE", str(tmp_path))
    events = []

    def second():
        with alone("one", "waiting", events.append):
            events.append("second")

    with alone("one", "waiting", events.append), alone("other", "waiting", events.append):
        other = Thread(target=second)
        other.start()
        while not events:
            time.sleep(0.01)
        time.sleep(0.1)
        events.append("first")
    other.join()
    assert events == ["waiting", "first", "second"]
