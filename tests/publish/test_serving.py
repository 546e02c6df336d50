"""`chaos serve`: a port that is taken, and a page that is changed while it is served."""

import asyncio
import http.client
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager, suppress
from threading import Thread

import pytest
from helpers.checkout import PROJECT, chaos_environment, copy_built
from typer.testing import CliRunner

from chaos_utils.base.errors import ChaosError
from chaos_utils.cli.__main__ import app
from chaos_utils.publish import serving
from chaos_utils.report import policy


@contextmanager
def listening():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield taken.getsockname()[1]


def test_a_port_that_is_taken_is_reported_before_anything_is_built(monkeypatch):
    monkeypatch.chdir(PROJECT)
    with listening() as port, pytest.raises(ChaosError, match="--port") as caught:
        serving.serve(port, [], pytest.fail)
    assert f"port {port}" in str(caught.value)


@pytest.mark.parametrize("port", ["0", "70000", "eighty"])
def test_a_port_that_is_none(port):
    done = CliRunner().invoke(app, ["serve", "--port", port])
    assert done.exit_code == 2
    assert "--port" in done.stderr


def fetch(url, until, seconds=90):
    """Fetch a page again and again until it holds what is waited for."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with suppress(urllib.error.URLError):  # the address is said before the first answer
            with urllib.request.urlopen(url, timeout=30) as answer:
                text = answer.read().decode()
            if until in text:
                return text
        time.sleep(0.2)
    raise AssertionError(f"{until} did not come")


def said(process, words):
    """Return the next line on the terminal that holds some words."""
    before = []
    for line in process.stderr:
        if words in line:
            return line
        before.append(line)
    raise AssertionError("".join(before))


@pytest.mark.slow
def test_a_change_is_built_while_the_book_is_served(small_checkout, tmp_path):
    checkout = copy_built(small_checkout, tmp_path / "book")
    with listening() as port:
        pass
    process = subprocess.Popen(
        [sys.executable, "-m", "chaos_utils.cli", "serve", "--sample", "--port", str(port)],
        cwd=checkout, env=chaos_environment(checkout), stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True,
        # A shell that runs the tests in the background lets them ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    try:
        line = said(process, "Ctrl-C ends")
        url = re.search(r"http://127\.0\.0\.1:\d+", line)[0]
        assert "livereload.js" in fetch(f"{url}/index.html", "A short book")
        built = checkout / "_build" / "html" / "index.html"
        before = built.read_bytes()
        page = checkout / "book" / "index.md"
        page.write_text(page.read_text() + "\nA new sentence.\n")
        fetch(f"{url}/index.html", "A new sentence.")

        page.write_text(page.read_text() + "\n{doc}`nowhere`\n")
        assert "unknown document" in said(process, "nowhere")
        fetch(f"{url}/index.html", "A new sentence.")  # the last good book stays
        other = checkout / "book" / "related.md"
        other.write_text(other.read_text() + "\nAnother sentence.\n")
        assert "unknown document" in said(process, "nowhere")  # it is still there
        assert "Another sentence." not in fetch(f"{url}/related.html", "Related work")
        page.write_text(page.read_text().replace("{doc}`nowhere`", "A last sentence."))
        fetch(f"{url}/index.html", "A last sentence.")
        fetch(f"{url}/related.html", "Another sentence.")
        assert built.read_bytes() == before  # what `chaos build` has made is left alone
        process.send_signal(signal.SIGINT)
        _, message = process.communicate(timeout=30)
        assert "No longer serving" in message
        assert "Traceback" not in message
        assert process.returncode == 0
    finally:
        process.kill()


@pytest.fixture
def served(tmp_path):
    """The port at which a folder of one page is served."""
    (tmp_path / "index.html").write_text(
        policy.with_site_policy(
            '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"></head>A page.'
        ),
        "utf-8",
    )
    with listening() as port:
        pass
    loop = asyncio.new_event_loop()
    thread = Thread(target=serving._serve, args=(tmp_path, port, loop), daemon=True)
    thread.start()
    fetch(f"http://127.0.0.1:{port}/", "A page.")
    yield port, loop
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.mark.parametrize("place", ["/", "/livereload.js", "/livereload"])
def test_only_who_names_this_machine_gets_an_answer(served, place):
    port, _ = served

    def status(host, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("GET", place, headers={"Host": host} | headers)
        found = connection.getresponse().status
        connection.close()
        return found

    names = ("127.0.0.1", "localhost", "[::1]", "LOCALHOST")
    assert all(status(f"{name}:{port}") in (200, 400) for name in names)  # 400: no socket
    others = ("evil.example", "127.0.0.1.evil.example", "127.0.0.1", "localhost", "[::2]", "")
    assert {status(f"{name}:{port + (name in names)}") for name in others} == {404}


@pytest.mark.browser
def test_a_page_is_loaded_again_under_its_policy(served, browser):
    port, loop = served
    page, troubles = browser.new_page(), []
    page.on("console", lambda said: troubles.append(said.text))
    with page.expect_websocket() as socket, page.expect_request(f"**:{port}/livereload.js*"):
        page.goto(f"http://localhost:{port}/")
    socket.value.wait_for_event("framereceived")
    page.wait_for_timeout(200)
    with page.expect_navigation():
        loop.call_soon_threadsafe(serving.LiveReloadHandler.reload_waiters)
    assert not troubles
    page.close()
