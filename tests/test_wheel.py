"""The built wheel in an environment of its own, outside the checkout, without the extras."""

import functools
import hashlib
import http.server
import json
import os
import subprocess
import sys
import threading
from importlib import metadata

import pytest
from helpers.checkout import PROJECT, copy_checkout
from helpers.predictions import blurred, write_shares
from helpers.rows import write_dataset
from packaging.requirements import Requirement

from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.loading import load_votes

pytestmark = pytest.mark.slow
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")
SNLI = get_dataset("snli").file


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder of the commands of an environment that holds the wheel and what it needs."""
    folder = tmp_path_factory.mktemp("wheel")
    source = copy_checkout(folder / "source")
    own = ("--no-deps", "--no-index")
    run(sys.executable, *PIP, "wheel", *own, "--no-build-isolation", "-w", folder, source)
    run(sys.executable, "-m", "venv", folder / "venv")
    (wheel,) = folder.glob("*.whl")
    commands = folder / "venv" / "bin"
    run(commands / "python", *PIP, "install", *own, wheel)
    (site,) = folder.glob("venv/lib/*/site-packages")
    link_requirements(site)
    return commands


def link_requirements(site):
    """Link what the wheel requires, from the packages here: no index is asked."""
    (own,) = metadata.distributions(name="chaos-utils", path=[str(site)])
    waiting, seen = list(own.requires), set()
    while waiting:
        needed = Requirement(waiting.pop())
        is_extra = needed.marker and not needed.marker.evaluate({"extra": ""})
        if is_extra or needed.name in seen:
            continue
        seen.add(needed.name)
        found = metadata.distribution(needed.name)
        waiting += found.requires or ()
        for name in {path.parts[0] for path in found.files} - {"..", "__pycache__"}:
            if not (site / name).exists():
                (site / name).symlink_to(found.locate_file(name))


def test_the_wheel_has_the_files_that_pages_are_made_with(installed):
    (package,) = installed.parent.glob("lib/*/site-packages/chaos_utils")
    for folder in ("assets", "publish/templates"):
        own = PROJECT / "chaos_utils" / folder
        files = {path.relative_to(own) for path in own.rglob("*") if path.is_file()}
        assert files
        assert all((package / folder / file).is_file() for file in files)


@pytest.fixture
def reader(tmp_path):
    """A folder of a reader's: votes on one dataset, predictions, and no checkout above."""
    folder = tmp_path / "reader"
    votes = load_votes("snli", write_dataset(folder / "data"))
    write_shares(folder / "predictions.csv", votes, blurred(votes))
    return folder


def run(*words, cwd=None, **environment):
    done = call(*words, cwd=cwd, **environment)
    assert done.returncode == 0, done.stderr
    return done


def call(*words, cwd=None, **environment):
    dropped = ("PYTHONPATH", "CHAOS_DATA", "CHAOS_CACHE")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return subprocess.run(
        [str(word) for word in words], cwd=cwd, env=kept | environment, capture_output=True,
        text=True, check=False,
    )  # fmt: skip


def test_no_package_of_the_extras_is_installed(installed):
    listed = json.loads(run(installed / "python", "-m", "pip", "list", "--format", "json").stdout)
    names = {one["name"].lower().replace("_", "-") for one in listed}
    assert {"chaos-utils", "numpy", "pandas", "pyarrow"} <= names
    assert not names & {"matplotlib", "seaborn", "sphinx", "snakemake", "papermill", "torch"}
    assert not names & {"tqdm", "jupyter-book", "jupytext", "rocrate", "pillow"}


def test_predictions_are_evaluated(installed, reader):
    assert "evaluate" in run(installed / "chaos", "--help", cwd=reader).stdout
    for data in ("data", str(reader / "data")):
        done = run(
            installed / "chaos", "evaluate", "predictions.csv", "--data", data, "--dataset", "snli",
            "--csv", cwd=reader,
        )  # fmt: skip
        assert "snli,all,predictions," in done.stdout
    done = run(installed / "chaos", "evaluate", "predictions.csv", "--data", "data", cwd=reader)
    assert "your votes in ChaosNLI's format (SNLI), 3 items" in done.stdout


def test_the_api_works_and_references_of_the_released_votes_come_along(installed, reader):
    code = """
import chaos_utils as chaos
from chaos_utils.datasets.catalogue import book_datasets
from chaos_utils.scoring.references import KNOWN
votes = chaos.load("snli", "data")
(system,) = chaos.read_predictions("predictions.csv", votes)
even = chaos.make_system("even", votes, [[1 / 3] * 3] * 3)
assert len(chaos.evaluate(votes, [system, even], measures=["jsd", "kl"])) == 4
assert len(chaos.compare(system, even, votes, measures="jsd")) == 1
assert len(chaos.load("snli", "sample")) == 300
assert all((KNOWN / f"{one.name}.csv").is_file() for one in book_datasets())
print(chaos.__file__, KNOWN)
"""
    done = run(installed / "python", "-c", code, cwd=reader, XDG_CACHE_HOME=str(reader / "cache"))
    assert done.stdout.count(str(installed.parent)) == 2


@pytest.mark.parametrize("place", ["nowhere", "a book of somebody else's"])
def test_what_must_be_said_of_the_data_is_said(installed, reader, place):
    if place != "nowhere":
        (reader / "notebooks").mkdir()
        (reader / "_toc.yml").write_text("root: index\n")
        (reader / "_config.yml").write_text("title: A book\n")
    code = """
import pandas as pd
from chaos_utils.base import project
from chaos_utils.base.inputs import Input
from chaos_utils.publish import licences
book = project.current()
print(book.cautions(pd.DataFrame({"system": ["ModernBERT-large"]}))["ModernBERT-large"])
print(book.shows_other_data([Input("own-data/mine.csv", "0")], {}))
print(licences.notice(book.groups()))
"""
    caution, is_other, notice = run(
        installed / "python", "-c", code, cwd=reader
    ).stdout.splitlines()
    assert "may have seen them" in caution
    assert is_other == "True"
    assert notice.endswith("licence CC BY-NC 4.0.")


def test_commands_say_which_packages_they_need_before_anything_is_done(installed, reader):
    book = (
        "run annotations", "build --sample", "params annotations", "sweep disagreement -p seed=0,1",
        "figures", "cite fig-entropy", "pdf", "serve", "release",
    )  # fmt: skip
    for words, extra, start in (
        *((words, "book", "This command needs a checkout of the book") for words in book),
        ("evaluate predictions.csv --data data --dataset snli --out answer", "book", ""),
        ("release --check archive.zip", "book", ""),
        ("finetune --model tiny-bert", "train", ""),
    ):
        done = call(installed / "chaos", *words.split(), cwd=reader)
        assert done.returncode == 2, words
        assert done.stderr.startswith(start), words
        assert f"pip install 'chaos-utils[{extra}]'" in done.stderr, words
        assert "Traceback" not in done.stderr, words
    assert not (reader / "answer").exists()


def test_a_dataset_is_fetched_into_the_users_cache(installed, reader):
    """The published address is replaced by that of a server of our own."""
    published = reader / "data" / SNLI
    digest = hashlib.sha256(published.read_bytes()).hexdigest()
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=published.parent)
    code = """
import sys
from chaos_utils.cli.__main__ import app
from chaos_utils.datasets import sources
address, digest, name, *words = sys.argv[1:]
file = sources.get(name)
changed = {"url": address, "member": "", "mirror": "", "sha256": digest}
sources.known_files = lambda: {name: file.model_copy(update=changed)}
app(words)
"""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/{published.name}"

        def chaos(*words):
            return run(
                installed / "python", "-c", code, address, digest, SNLI, *words, cwd=reader,
                XDG_CACHE_HOME=str(reader / "cache"), NO_PROXY="127.0.0.1",
            )  # fmt: skip

        chaos("data", "fetch", SNLI)
        server.shutdown()
    fetched = reader / "cache" / "chaos-utils" / SNLI
    assert fetched.read_bytes() == published.read_bytes()
    answer = chaos("evaluate", "predictions.csv", "--dataset", "snli", "--data", "released")
    assert "ChaosNLI-SNLI, 3 items" in answer.stdout
