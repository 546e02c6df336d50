"""The built wheel in an environment of its own, outside the checkout, without the extras."""

import os
import subprocess
import sys
from importlib import metadata

import pytest
from helpers.checkout import copy_checkout
from helpers.rows import write_dataset
from packaging.requirements import Requirement

from chaos_utils.datasets.catalogue import get_dataset

pytestmark = pytest.mark.slow
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")


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


def test_predictions_are_evaluated(installed, reader):
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
from chaos_utils.scoring.references import KNOWN
assert list(KNOWN.glob("*.csv"))
print(chaos.__file__, chaos.__version__)
"""
    done = run(installed / "python", "-c", code, cwd=reader, XDG_CACHE_HOME=str(reader / "cache"))
    assert str(installed.parent) in done.stdout


def test_commands_say_which_packages_they_need_before_anything_is_done(installed, reader):
    book = "This command needs a checkout of the book and the packages"
    given = ("predictions.csv", "--data", "data", "--dataset", "snli", "--out", "answer")
    for words, extra, start in (
        (("run", "annotations"), "book", book),
        (("figures",), "book", book),
        (("evaluate", *given), "book", ""),
        (("release", "--check", "archive.zip"), "book", ""),
        (("finetune", "--model", "tiny-bert"), "train", ""),
    ):
        done = call(installed / "chaos", *words, cwd=reader)
        assert done.returncode == 2, words
        assert done.stderr.startswith(start), words
        assert f"pip install 'chaos-utils[{extra}]'" in done.stderr, words
        assert "Traceback" not in done.stderr, words
    assert not (reader / "answer").exists()
