"""Each bug of ``mutants.yml`` is noticed by the tests that it names: checked at night."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from helpers.checkout import PROJECT, chaos_environment, copy_checkout

MUTANTS = yaml.safe_load(Path(__file__).with_name("mutants.yml").read_text("utf-8"))
EACH = [pytest.param(one, id=f"{n}-{one['file']}") for n, one in enumerate(MUTANTS)]
# Some are noticed on the published data alone.
QUICK = [one for one in EACH if not one.values[0].get("data")]
ON_DATA = [one for one in EACH if one.values[0].get("data")]


@pytest.mark.parametrize("bug", EACH)
def test_a_bug_has_its_place(bug):
    sound = (PROJECT / "chaos_utils" / bug["file"]).read_text("utf-8")
    assert sound.count(bug["old"]) == 1


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """Return a copy of the checkout; in git, since some tests copy it again."""
    checkout = copy_checkout(tmp_path_factory.mktemp("mutants") / "book")
    subprocess.run(["git", "init", "--quiet"], cwd=checkout, check=True)
    return checkout


def tried(copied, named, *options, **environment):
    """Run tests, named as in ``mutants.yml``, on the copy."""
    options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", *options, *named.split()]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options], cwd=copied / "tests",
        env=chaos_environment(copied, **environment), check=False, capture_output=True, text=True,
    )  # fmt: skip


def tried_with(bug, copied, *options, **environment):
    """Run the tests that a bug names where it stands in the copy."""
    path = copied / "chaos_utils" / bug["file"]
    sound = path.read_text("utf-8")
    path.write_text(sound.replace(bug["old"], bug["new"]), "utf-8")
    try:
        return tried(copied, bug["tests"], *options, **environment)
    finally:
        path.write_text(sound, "utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("named", sorted({one.values[0]["tests"] for one in QUICK}))
def test_without_a_bug_these_tests_pass(copied, named):
    done = tried(copied, named)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("bug", QUICK)
def test_a_bug_is_noticed(copied, bug):
    done = tried_with(bug, copied)
    assert done.returncode == 1, done.stdout  # a test failed; not 5, none was found


@pytest.mark.slow
@pytest.mark.parametrize("bug", ON_DATA)
def test_a_bug_is_noticed_on_the_published_data(copied, bug, whole_root):
    given = {"CHAOS_DATA": str(whole_root)}
    done = tried(copied, bug["tests"], "--published-data", **given)
    assert done.returncode == 0, done.stdout
    done = tried_with(bug, copied, "--published-data", **given)
    assert done.returncode == 1, done.stdout
