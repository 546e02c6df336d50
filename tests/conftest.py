"""Fixtures that several tests share: data, builds, a browser."""

import fcntl
import gc
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.browser import find_chromium
from helpers.checkout import chaos, copy_checkout, shorten
from helpers.datasets import write_four_labels, write_two_labels
from hypothesis import settings

from chaos_utils.base import paths
from chaos_utils.datasets import catalogue, sources
from chaos_utils.datasets.catalogue import book_datasets
from chaos_utils.datasets.chaosnli import read_chaosnli
from chaos_utils.datasets.loading import load_all_votes
from chaos_utils.datasets.registry import prediction_files

settings.register_profile("project", deadline=None)  # times are measured, never asserted
settings.load_profile("project")


def pytest_addoption(parser):
    parser.addoption(
        "--renew-references",
        action="store_true",
        help="keep the pictures of the sample's pages as the new references",
    )


def pytest_collection_finish():
    """Keep what was imported out of collections of garbage: PyTorch's trainer asks for many."""
    gc.freeze()


# Looked for before the tests get a cache of their own, since the data may stand in the user's.
_RELEASED = [sources.find(dataset.file) for dataset in book_datasets()]
_ALL_RELEASED = [*_RELEASED, *map(sources.find, prediction_files())]


def _shared_folder(factory: pytest.TempPathFactory) -> Path:
    """Return this session's folder that all workers see."""
    own = factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory):
    """Keep the tests' downloads and samples out of the user's cache.

    The workers share it, since what one of them has built names the sample that it was made from.
    """
    folder = _shared_folder(tmp_path_factory) / "cache"
    folder.mkdir(exist_ok=True)
    os.environ["CHAOS_CACHE"] = str(folder)


@pytest.fixture(autouse=True)
def _outside_the_runner(monkeypatch):
    monkeypatch.delenv("CHAOS_RUN", raising=False)


@pytest.fixture(scope="session")
def released_root():
    """The folder that holds ChaosNLI's released files; skips where they are not available."""
    if "CHAOS_REQUIRE_DATA" in os.environ and None in _ALL_RELEASED:
        pytest.fail("the released votes and predictions were to be here, and are not")
    if None in _RELEASED:
        pytest.skip("ChaosNLI's released files are not available")
    return _RELEASED[0].parents[1].resolve()


@pytest.fixture(scope="session")
def released(released_root):
    """The released opinions on the three datasets."""
    return [
        read_chaosnli(released_root / dataset.file, dataset, dataset.file)
        for dataset in book_datasets()
    ]


@pytest.fixture(scope="session")
def sample():
    """The synthetic opinions on the three datasets."""
    return load_all_votes("sample")


@pytest.fixture(autouse=True)
def _forget_what_a_test_brings(monkeypatch):
    monkeypatch.setattr(catalogue, "_brought", dict(catalogue._brought))


@pytest.fixture
def others(monkeypatch, tmp_path):
    """Votes with four and with two labels, of few people, without old labels."""
    monkeypatch.setattr(catalogue, "_brought", {})
    made = [write_four_labels(tmp_path / "others"), write_two_labels(tmp_path / "others")]
    return [votes for path in made for votes in load_all_votes(str(path))]


def _build(checkout: Path, *arguments: str, **environment: str) -> Path:
    done = chaos("build", *arguments, cwd=checkout, **environment)
    assert done.returncode == 0, done.stderr
    return checkout


def _once(factory: pytest.TempPathFactory, name: str, build: Callable[[Path], Path]) -> Path:
    """Return what one worker has built for all of them, in a folder that they share."""
    shared = _shared_folder(factory)
    folder, built = shared / name / "book", shared / f"{name}.built"
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not built.exists():
            shutil.rmtree(folder, ignore_errors=True)
            build(folder)
            built.touch()
    return folder


@pytest.fixture(scope="session")
def sample_checkout(tmp_path_factory):
    """A checkout in which the whole book was built from the sample, without any data."""
    return _once(
        tmp_path_factory, "sample", lambda folder: _build(copy_checkout(folder), "--sample")
    )


@pytest.fixture(scope="session")
def small_checkout(tmp_path_factory):
    """A checkout of a book of two chapters, built from the sample; runs may be added."""
    return _once(
        tmp_path_factory, "small", lambda folder: _build(shorten(copy_checkout(folder)), "--sample")
    )


@pytest.fixture(scope="session")
def real_checkout(tmp_path_factory, released_root):
    """A checkout in which the whole book was built from the released data."""
    if "CHAOS_BUILT_BOOK" in os.environ:
        return Path(os.environ["CHAOS_BUILT_BOOK"])
    checkout = copy_checkout(tmp_path_factory.mktemp("real") / "book")
    return _build(checkout, "--strict", CHAOS_DATA=str(released_root))


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium."""
    from playwright.sync_api import sync_playwright

    path = find_chromium()
    if path is None:
        if "CHAOS_REQUIRE_BROWSER" in os.environ:
            pytest.fail("a Chromium was to be here, and is not")
        pytest.skip("Chromium is not installed: the built pages are not checked")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


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
