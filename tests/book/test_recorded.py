"""The book without data and network: the real numbers, and what is said of them."""

import json
import re

import pytest
from bs4 import BeautifulSoup
from helpers.checkout import chaos, copy_checkout
from helpers.pages import pages

pytestmark = [pytest.mark.slow, pytest.mark.browser]
NOWHERE = {"CHAOS_DATA": ""} | dict.fromkeys(("https_proxy", "HTTPS_PROXY"), "http://127.0.0.1:9")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A checkout without data in which the book was built without a network."""
    folder = copy_checkout(tmp_path_factory.mktemp("recorded") / "book")
    done = chaos("build", cwd=folder, **here(folder))
    assert done.returncode == 0, done.stderr
    assert "show the numbers recorded in results/tables/" in done.stderr
    return folder


def here(folder):
    return NOWHERE | {"CHAOS_CACHE": str(folder.parent / "cache")}


@pytest.fixture(scope="module")
def site(checkout):
    return checkout / "_build" / "html"


def manifests(checkout):
    found = (checkout / "_build" / "chapters").glob("*/figures/*.json")
    return {path.stem: json.loads(path.read_text("utf-8")) for path in found}


def test_the_pages_hold_the_real_numbers_and_say_that_they_were_recorded_from_what(checkout, site):
    text = (site / "chapters" / "annotations.html").read_text("utf-8")
    assert all(rate in text for rate in ("24.97", "31.77", "10.64"))
    made = manifests(checkout)
    assert not any(one["synthetic"] or one["outdated"] for one in made.values())
    assert made["tbl-main-results"]["recorded"] == ["snli", "mnli", "alphanli"]
    for notebook in {one["notebook"] for one in made.values() if one["recorded"]}:
        page = site / "chapters" / f"{notebook}.html"
        text = BeautifulSoup(page.read_text("utf-8"), "html.parser").get_text()
        for words in ("Recorded numbers.", "chaosNLI_v1.0/chaosNLI_", "chaos data fetch"):
            assert words in text, notebook


def test_pages_of_items_show_the_sample_as_a_marked_example(site):
    for path in pages(site):
        text = path.read_text("utf-8")
        if path.stem in ("explorer", "annotate", "index"):
            assert "The items are not available" in text
            assert "invented items as an example" in text
        else:
            assert "Nothing here is a result" not in text, path
    scripts = (site / "_static" / "explorer" / "items.js").read_text("utf-8")
    assert "Synthetic sample" in scripts[:300]
    examples = (site / "chapters" / "disagreement.html").read_text("utf-8")
    assert "Votes on items:" in examples  # by uid, under ChaosNLI's licence
    assert "Item texts:" not in examples


def test_what_only_data_could_answer_is_refused_before_a_kernel_starts(checkout):
    done = chaos("run", "results", "-p", "resamples=10", cwd=checkout, **here(checkout))
    assert done.returncode == 2
    assert re.search(r"(?s)Only the book's own parameters are recorded.*resamples=10", done.stderr)
    assert not (checkout / "runs").exists()


def test_recorded_equals_computed(checkout, real_checkout):
    for path in (real_checkout / "_build" / "chapters").glob("*/figures/*.csv"):
        again = checkout / path.relative_to(real_checkout)
        assert again.read_bytes() == path.read_bytes(), path.stem


def test_data_of_one_dataset_is_computed_and_the_others_are_shown_as_recorded(
    checkout, released_root, tmp_path
):
    folder = copy_checkout(tmp_path / "book")
    snli = "chaosNLI_v1.0/chaosNLI_snli.jsonl"
    (tmp_path / "data" / "chaosNLI_v1.0").mkdir(parents=True)
    (tmp_path / "data" / snli).symlink_to(released_root / snli)
    environment = here(folder) | {"CHAOS_DATA": str(tmp_path / "data")}
    done = chaos("build", cwd=folder, **environment)
    assert done.returncode == 0, done.stderr
    made = manifests(folder)["tbl-data-statistics"]
    assert made["recorded"] == ["mnli", "alphanli"]
    whole = manifests(checkout)["tbl-data-statistics"]
    assert (made["data"], made["inputs"]) == (whole["data"], whole["inputs"])
