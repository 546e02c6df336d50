"""Fixtures that several tests share: data, builds, a browser."""

import fcntl
import functools
import gc
import json
import os
import shutil
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
import typer.main
import typer.testing
from helpers.checkout import chaos, copy_checkout, shorten
from helpers.datasets import write_four_labels, write_two_labels
from helpers.published import LEFT_OUT, further_files, link_published
from hypothesis import settings
from platformdirs import user_cache_path

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets import catalogue
from chaos_utils.datasets.catalogue import book_datasets
from chaos_utils.datasets.loading import load_all_votes
from chaos_utils.datasets.readers import read_file
from chaos_utils.report import warm

settings.register_profile("project", deadline=None)  # times are measured, never asserted
settings.load_profile("project")
# Typer builds its commands at every call, which is most of a short one.
typer.testing._get_command = typer.main.get_command = functools.cache(typer.main.get_command)
_CLOSED_PORT = 9  # nothing answers there
_PRIVATE = ("CHAOS_", "XDG_", "HF_")  # variables that let a machine's own files or settings in

# A test that asks for one of these belongs to `make test-data`.
_PUBLISHED = {"released_root", "released", "whole_root", "real_checkout"}


def pytest_addoption(parser):
    for name, does in {
        "--renew-references": "keep the pictures of the sample's pages as the new references",
        "--published-data": "run the tests of the published data, and no others; fail without it",
        "--require-browser": "fail, rather than leave out the tests of pages, without a Chromium",
    }.items():
        parser.addoption(name, action="store_true", help=does)
    built = "the checkout in which a book was built from the published data, to look at"
    parser.addoption("--built-book", type=Path, help=built)


def pytest_configure(config):
    """Let tests see the repository's own data alone, whatever stands beside it or is set here."""
    if hasattr(config, "workerinput"):  # the environment is the one that these lines have made
        return
    home = Path(tempfile.mkdtemp(prefix="chaos-tests-"))
    config.add_cleanup(lambda: shutil.rmtree(home, ignore_errors=True))
    published = config.getoption("--published-data")
    if published:
        try:
            link_published(home / "data")
            link_published(home / "whole", further_files("*"))
        except ChaosError as fault:
            raise pytest.UsageError(str(fault)) from None
    os.environ.setdefault("PLAYWRIGHT_BROWSERS_PATH", str(user_cache_path("ms-playwright")))
    for name in [name for name in os.environ if name.startswith(_PRIVATE)]:
        del os.environ[name]
    nowhere = f"http://127.0.0.1:{_CLOSED_PORT}"
    os.environ |= {
        "HOME": str(home),
        "CHAOS_CACHE": str(home / "cache"),
        "CHAOS_DATA_ONLY": "1",
        **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), nowhere),
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
    }
    if published:
        os.environ["CHAOS_DATA"] = str(home / "data")


def pytest_collection_modifyitems(config, items):
    """Keep the tests that need the published data apart from the others."""
    wanted = config.getoption("--published-data")
    left = [item for item in items if _needs_published(item) != wanted]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if item not in set(left)]


def pytest_terminal_summary(terminalreporter):
    """Say how many tests were left out for want of a browser, or of published files."""
    skipped = [str(one.longrepr) for one in terminalreporter.stats.get("skipped", [])]
    if n_left := sum("Chromium" in reason for reason in skipped):
        terminalreporter.write_line(
            f"left out: {n_left} tests of pages, since there is no Chromium here "
            "(`make browser` looks for one)",
            yellow=True,
        )
    if n_left := sum(LEFT_OUT in reason for reason in skipped):
        terminalreporter.write_line(
            f"left out: {n_left} tests of {LEFT_OUT} (`chaos data fetch` brings them)", yellow=True
        )


def _needs_published(item) -> bool:
    """Tell whether a test asks for published data, by a fixture or by a parameter that names it."""
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    on_real = any(isinstance(one, str) and one == "real_checkout" for one in parameters)
    named = item.get_closest_marker("published") is not None
    return named or on_real or not _PUBLISHED.isdisjoint(item.fixturenames)


def pytest_collection_finish():
    """Keep what was imported out of collections of garbage: PyTorch's trainer asks for many."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _no_network():
    """Refuse connections that leave this machine; other processes find a closed proxy."""
    connect = socket.socket.connect

    def only_here(self, address):
        if self.family in (socket.AF_INET, socket.AF_INET6):
            assert address[0] in ("127.0.0.1", "::1", "localhost"), f"a test connects to {address}"
        return connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", only_here)
        yield


@pytest.fixture(scope="session")
def released_root():
    """The folder that holds the published data."""
    return Path(os.environ["CHAOS_DATA"])


@pytest.fixture(scope="session")
def whole_root(released_root):
    """A folder that holds every published file; without one of them, what needs it is skipped."""
    folder = released_root.with_name("whole")
    _skip_without(folder, further_files("*"))
    return folder


@pytest.fixture(autouse=True)
def _see_further_files(request, monkeypatch, tmp_path_factory):
    """Let a test see the further published files that its markers name, and no others."""
    patterns = [one for mark in request.node.iter_markers("published") for one in mark.args]
    if patterns:
        wanted = further_files(*patterns)
        required = request.getfixturevalue("released_root")
        _skip_without(required.with_name("whole"), wanted)
        monkeypatch.setenv("CHAOS_DATA", str(required.with_name("whole")))
        link_published(folder := tmp_path_factory.mktemp("published"), wanted)
        monkeypatch.setenv("CHAOS_DATA", str(folder))


def _skip_without(folder: Path, wanted: list[str]) -> None:
    if missing := [name for name in wanted if not (folder / name).is_file()]:
        pytest.skip(f"{LEFT_OUT}: {', '.join(missing)}")


@pytest.fixture(scope="session")
def released(released_root):
    """The released opinions on the three datasets."""
    return [
        read_file([released_root / dataset.file], dataset, [dataset.file])
        for dataset in book_datasets()
    ]


@pytest.fixture(scope="session")
def sample():
    """The synthetic opinions on the three datasets."""
    return load_all_votes("sample")


@pytest.fixture(autouse=True)
def _forget_what_a_test_brings(monkeypatch):
    monkeypatch.setattr(catalogue, "_user_datasets", dict(catalogue._user_datasets))


@pytest.fixture
def others(monkeypatch, tmp_path):
    """Votes with four and with two labels, of few people, without old labels."""
    monkeypatch.setattr(catalogue, "_user_datasets", {})
    made = [write_four_labels(tmp_path / "others"), write_two_labels(tmp_path / "others")]
    return [votes for path in made for votes in load_all_votes(str(path))]


def _build(checkout: Path, *arguments: str, **environment: str) -> Path:
    done = chaos("build", *arguments, cwd=checkout, **environment)
    assert done.returncode == 0, done.stderr
    return checkout


def _once(factory: pytest.TempPathFactory, name: str, copy: Callable[[Path], Path]) -> Path:
    """Return the book that one worker has built from the sample for all, where they share it."""
    own = factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    folder, built = shared / name / "book", shared / f"{name}.built"
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not built.exists():
            shutil.rmtree(folder, ignore_errors=True)
            _build(copy(folder), "--sample")
            built.touch()
    return folder


@pytest.fixture(scope="session")
def sample_checkout(tmp_path_factory):
    """A checkout in which the whole book was built from the sample, without any data."""
    return _once(tmp_path_factory, "sample", copy_checkout)


@pytest.fixture(scope="session")
def small_checkout(tmp_path_factory):
    """A checkout of a book of two chapters, built from the sample; runs may be added."""
    return _once(tmp_path_factory, "small", lambda folder: shorten(copy_checkout(folder)))


@pytest.fixture(scope="session")
def real_checkout(tmp_path_factory, request, pytestconfig):
    """A checkout in which the whole book was built from the released data."""
    if built := pytestconfig.getoption("--built-book"):
        return built.resolve()
    checkout = copy_checkout(tmp_path_factory.mktemp("real") / "book")
    root = request.getfixturevalue("whole_root")
    return _build(checkout, "--strict", CHAOS_DATA=str(root))


@pytest.fixture(scope="session")
def browser(pytestconfig):
    """A headless Chromium."""
    from helpers.browser import find_chromium
    from playwright.sync_api import sync_playwright

    path = find_chromium()
    if path is None:
        if pytestconfig.getoption("--require-browser"):
            pytest.fail("a Chromium was to be here, and is not")
        pytest.skip("Chromium is not installed: the built pages are not checked")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def _forking_server():
    """The address of a server that forks warm processes, which no test has yet."""
    with warm.processes():
        yield os.environ.pop(warm.SOCKET, "")  # none where there can be none


@pytest.fixture
def warm_processes(_forking_server, monkeypatch):
    """Fork what the test runs, kernels and pages, as in a build: their libraries load once."""
    monkeypatch.setenv(warm.SOCKET, _forking_server)


@pytest.fixture
def run_folder(tmp_path, monkeypatch):
    """A folder for figures, as the runner gives it to a notebook."""
    monkeypatch.setenv("CHAOS_RUN", str(tmp_path / "run"))
    (tmp_path / "run").mkdir()
    assert paths.in_runner()
    return tmp_path / "run"


@pytest.fixture
def reader_in(run_folder):
    """Run as a notebook that the reader called in some folder."""

    def place(folder):
        (run_folder / paths.CONTEXT_FILE).write_text(json.dumps({"reader": str(folder)}))

    return place
