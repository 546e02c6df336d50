"""The built wheel in an environment of its own, outside the checkout, without the extras."""

import functools
import hashlib
import http.server
import json
import os
import subprocess
import sys
import threading

import pytest
from helpers.checkout import PROJECT, copy_checkout
from helpers.rows import write_dataset

from chaos_utils.datasets.catalogue import get_dataset

pytestmark = pytest.mark.slow
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")
SNLI = get_dataset("snli").file


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder of the commands of an environment that holds the wheel and what it needs."""
    folder = tmp_path_factory.mktemp("wheel")
    source = copy_checkout(folder / "source")
    run(sys.executable, *PIP, "wheel", "--no-deps", "--wheel-dir", folder, source)
    run(sys.executable, "-m", "venv", folder / "venv")
    (wheel,) = folder.glob("*.whl")
    commands = folder / "venv" / "bin"
    lock = PROJECT / "requirements.lock"
    run(commands / "python", *PIP, "install", "--constraint", lock, wheel)
    return commands


@pytest.fixture
def reader(tmp_path):
    """A folder of a reader's: votes on one dataset, predictions, and no checkout above."""
    folder = tmp_path / "reader"
    write_dataset(folder / "data")
    header = ",".join(["uid", *get_dataset("snli").labels])
    rows = [f"snli-{i},0.5,0.25,0.25" for i in range(3)]
    (folder / "predictions.csv").write_text("\n".join([header, *rows]))
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
    names = {one["name"].lower() for one in listed}
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
    assert "ChaosNLI-SNLI, 3 items" in done.stdout


def test_the_api_works(installed, reader):
    code = """
import chaos_utils as chaos
votes = chaos.load("snli", "data")
(system,) = chaos.read_predictions("predictions.csv", votes)
even = chaos.make_system("even", votes, [[1 / 3] * 3] * 3)
assert len(chaos.evaluate(votes, [system, even], measures=["jsd", "kl"])) == 4
assert len(chaos.compare(system, even, votes, measures="jsd")) == 1
assert len(chaos.load("snli", "sample")) == 300
print(chaos.__file__, chaos.__version__)
"""
    done = run(installed / "python", "-c", code, cwd=reader, XDG_CACHE_HOME=str(reader / "cache"))
    assert str(installed.parent) in done.stdout


def test_references_of_the_released_votes_come_along(installed, reader):
    code = """
from chaos_utils.datasets.catalogue import book_datasets
from chaos_utils.scoring.references import KNOWN
print(all((KNOWN / f"{one.name}.csv").is_file() for one in book_datasets()), KNOWN)
"""
    done = run(installed / "python", "-c", code, cwd=reader)
    assert done.stdout.startswith(f"True {installed.parent}")


@pytest.mark.parametrize(
    "words",
    [
        ["run", "annotations"],
        ["build", "--sample"],
        ["params", "annotations"],
        ["sweep", "annotations", "-p", "seed=0,1"],
        ["figures"],
        ["cite", "fig-entropy"],
        ["pdf"],
        ["serve"],
        ["release"],
    ],
    ids=lambda words: words[0],
)
def test_commands_of_the_book_say_what_they_need(installed, reader, words):
    done = call(installed / "chaos", *words, cwd=reader)
    assert done.returncode == 2
    assert done.stderr.startswith("This command needs a checkout of the book and the packages")
    assert "pip install 'chaos-utils[book]'" in done.stderr


def test_figures_and_training_say_what_they_need_before_anything_is_done(installed, reader):
    given = ("predictions.csv", "--data", "data", "--dataset", "snli", "--out", "answer")
    for words, extra in (
        (("evaluate", *given), "book"),
        (("figures", "diff", "old", "new"), "book"),
        (("release", "--check", "archive.zip"), "book"),
        (("finetune", "--model", "tiny-bert"), "train"),
    ):
        done = call(installed / "chaos", *words, cwd=reader)
        assert done.returncode == 2
        assert f"pip install 'chaos-utils[{extra}]'" in done.stderr
        assert "Traceback" not in done.stderr
    assert not (reader / "answer").exists()


def test_a_dataset_is_fetched_into_the_users_cache(installed, reader):
    """The registry's address is replaced by that of a server of our own."""
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
sources.registry = lambda: {name: file.model_copy(update=changed)}
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
