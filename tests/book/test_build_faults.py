"""Builds that fail, are interrupted or meet each other: what is reported, what stays."""

import fcntl
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest
from helpers.checkout import PROJECT, append, chaos, chaos_environment, planned


@pytest.mark.slow
def test_a_failing_notebook_stays_out_of_the_book(checkout):
    page = checkout / "_build" / "html" / "chapters" / "annotations.html"
    before = page.read_bytes()
    append(checkout / "notebooks" / "annotations.py", "\n# %%\nraise RuntimeError('on purpose')\n")
    done = chaos("build", "--sample", cwd=checkout)
    assert done.returncode == 2
    assert "Notebook 'annotations' failed" in done.stderr
    assert "RuntimeError: on purpose" in done.stderr
    assert "Traceback" not in done.stderr
    assert (checkout / "_build" / "failed" / "annotations.ipynb").is_file()
    assert page.read_bytes() == before


@pytest.mark.slow
def test_a_deleted_site_is_made_again_and_scraps_are_swept(checkout):
    shutil.rmtree(checkout / "_build" / "html")
    (checkout / "_build" / "chapters" / ".annotations-scrap").mkdir()
    (checkout / "_build" / "chapters" / "annotations" / "record.json").write_text("{")
    (checkout / "book" / "chapters" / "disagreement.ipynb").write_text("{")
    (checkout / "_build" / "site.json").write_text("[")
    (checkout / "_build" / "lock").write_text("{")
    assert chaos("build", "--sample", cwd=checkout).returncode == 0
    assert (checkout / "_build" / "html" / "index.html").is_file()
    assert not list((checkout / "_build" / "chapters").glob(".*"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("book/cite.md", "\nSee {numref}`fig-nothing`.\n", "fig-nothing"),
        ("book/cite.md", "\n[gone](gone.md)\n", "gone.md"),
        ("book/redirects.yml", "\nfigures/fig-entropy: cite\n", "still there."),
    ],
)
def test_a_fault_in_the_pages_fails_the_build_and_keeps_the_site(checkout, file, text, message):
    before = (checkout / "_build" / "html" / "cite.html").read_bytes()
    append(checkout / file, text)
    done = chaos("build", "--sample", cwd=checkout)
    assert done.returncode == 2
    assert message in done.stderr.split("pages: failed")[0]  # at once, not when all pages are made
    assert message in done.stderr.split("pages: failed")[1]
    assert "Traceback" not in done.stderr
    assert (checkout / "_build" / "html" / "cite.html").read_bytes() == before


def test_a_copied_or_moved_checkout_runs_its_own_code(tmp_path):
    for name in ("_toc.yml", "notebooks/n.py", "chaos_utils/__init__.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    command = [sys.executable, "-P", "-m", "chaos_utils.cli", "build", "--sample"]
    done = subprocess.run(
        command, cwd=tmp_path, env=chaos_environment(PROJECT), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "belongs to another checkout" in done.stderr
    # A script of the environment names the folder in which it was installed.
    assert set(re.findall(r"\$\(BIN\)/(\w+)", (PROJECT / "Makefile").read_text())) == {"python"}


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_build_is_taken_up_again(checkout, how):
    for made in ("_build", "book/chapters"):
        shutil.rmtree(checkout / made)
    process = subprocess.Popen(
        [sys.executable, "-m", "chaos_utils.cli", "build", "--sample"], cwd=checkout,
        env=chaos_environment(checkout), stderr=subprocess.PIPE, text=True,
        # A shell that runs the tests in the background lets them ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    for line in process.stderr:
        if "running" in line:
            break
    time.sleep(2)
    process.send_signal(how)
    _, message = process.communicate(timeout=60)
    assert process.returncode == 128 + how
    assert "Interrupted" in message
    assert "Traceback" not in message
    with (checkout / "_build" / "lock").open() as lock:  # no step was left running
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert not list((checkout / "_build" / "chapters").glob(".*"))  # nor anything half-made
    assert not (checkout / "_build" / "html").exists()
    done = chaos("build", "--sample", cwd=checkout)
    assert done.returncode == 0, done.stderr
    assert (checkout / "_build" / "html" / "index.html").is_file()
    assert planned(checkout) == set()


@pytest.mark.slow
def test_two_builds_of_one_checkout_wait_for_each_other(checkout):
    with (checkout / "_build" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write('{"pid": ')  # damaged: nothing says who holds it
        lock.flush()
        process = subprocess.Popen(
            [sys.executable, "-m", "chaos_utils.cli", "build", "--sample"], cwd=checkout,
            env=chaos_environment(checkout), stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert "waiting for it to end" in process.stderr.readline()
        assert process.poll() is None
    process.communicate(timeout=60)
    assert process.returncode == 0
