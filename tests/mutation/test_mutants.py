"""Each bug of ``mutants.yml`` is noticed by the tests that it names: checked at night."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from helpers.checkout import PROJECT, chaos_environment, copy_checkout

MUTANTS = yaml.safe_load(Path(__file__).with_name("mutants.yml").read_text("utf-8"))
EACH = [pytest.param(one, id=f"{n}-{one['file']}") for n, one in enumerate(MUTANTS)]


@pytest.mark.parametrize("bug", EACH)
def test_a_bug_has_its_place(bug):
    sound = (PROJECT / "chaos_utils" / bug["file"]).read_text("utf-8")
    assert sound.count(bug["old"]) == 1


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """Return a copy with the data beside it; in git, since some tests copy it again."""
    checkout = copy_checkout(tmp_path_factory.mktemp("mutants") / "book")
    subprocess.run(["git", "init", "--quiet"], cwd=checkout, check=True)
    if (shared := PROJECT.parent / "shared").is_dir():
        (checkout.parent / "shared").symlink_to(shared)
    return checkout


def tried(copied, named):
    """Run tests, named as in ``mutants.yml``, on the copy."""
    options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", *named.split()]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options], cwd=copied / "tests",
        env=chaos_environment(copied), check=False, capture_output=True, text=True,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("named", sorted({bug["tests"] for bug in MUTANTS}))
def test_without_a_bug_these_tests_pass(copied, named):
    done = tried(copied, named)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("bug", EACH)
def test_a_bug_is_noticed(copied, bug):
    path = copied / "chaos_utils" / bug["file"]
    sound = path.read_text("utf-8")
    path.write_text(sound.replace(bug["old"], bug["new"]), "utf-8")
    try:
        done = tried(copied, bug["tests"])
    finally:
        path.write_text(sound, "utf-8")
    assert done.returncode == 1, done.stdout  # a test failed; not 5, none was found
