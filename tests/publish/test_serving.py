"""`chaos serve`: a port that is taken, and a page that is changed while it is served."""

import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager

import pytest
from helpers.checkout import PROJECT, chaos, chaos_environment, copy_built


@contextmanager
def listening():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield taken.getsockname()[1]


def test_a_port_that_is_taken_is_reported_before_anything_is_built():
    with listening() as port:
        done = chaos("serve", "--port", str(port), cwd=PROJECT)
    assert done.returncode == 2
    assert f"port {port}" in done.stderr
    assert "choose another one with --port" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("port", ["0", "70000", "eighty"])
def test_a_port_that_is_none(port):
    done = chaos("serve", "--port", port, cwd=PROJECT)
    assert done.returncode == 2
    assert "--port" in done.stderr


def fetch(url, until, seconds=90):
    """Fetch a page again and again until it holds what is waited for."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with urllib.request.urlopen(url, timeout=30) as answer:
            text = answer.read().decode()
        if until in text:
            return text
        time.sleep(0.2)
    raise AssertionError(f"{until} did not come")


@pytest.mark.slow
def test_a_change_is_built_while_the_book_is_served(small_checkout, tmp_path):
    checkout = copy_built(small_checkout, tmp_path / "book")
    with listening() as port:
        pass
    process = subprocess.Popen(
        [sys.executable, "-m", "chaos_utils.cli", "serve", "--sample", "--port", str(port)],
        cwd=checkout, env=chaos_environment(checkout), stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        for line in process.stderr:
            if "Ctrl-C ends" in line:
                break
        url = re.search(r"http://127\.0\.0\.1:\d+", line)[0]
        assert "livereload.js" in fetch(f"{url}/index.html", "A short book")
        built = checkout / "_build" / "html" / "index.html"
        assert "livereload" not in built.read_text()

        page = checkout / "book" / "index.md"
        page.write_text(page.read_text() + "\nA new sentence.\n")
        fetch(f"{url}/index.html", "A new sentence.")

        page.write_text(page.read_text() + "\n{doc}`nowhere`\n")
        for line in process.stderr:
            assert "pages: running" not in line  # said before anything is built
            if "nowhere" in line:
                break
        assert "unknown document" in line
        fetch(f"{url}/index.html", "A new sentence.")  # the last good book stays
        process.send_signal(signal.SIGINT)
        _, message = process.communicate(timeout=30)
        assert "No longer serving" in message
        assert "Traceback" not in message
        assert process.returncode == 0
    finally:
        process.kill()
