"""The book without data and network: the real numbers, and what is said of them."""

import json

import pytest
from bs4 import BeautifulSoup
from helpers.checkout import chaos, copy_checkout
from helpers.pages import pages

pytestmark = [pytest.mark.slow, pytest.mark.browser]
NOWHERE = {
    "CHAOS_DATA": "",
    "https_proxy": "http://127.0.0.1:9",
    "HTTPS_PROXY": "http://127.0.0.1:9",
}


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


def test_the_pages_hold_the_real_numbers(checkout, site):
    text = (site / "chapters" / "annotations.html").read_text("utf-8")
    assert all(rate in text for rate in ("24.97", "31.77", "10.64"))
    made = manifests(checkout)
    assert not any(manifest["synthetic"] for manifest in made.values())
    assert made["tbl-main-results"]["recorded"] == ["snli", "mnli", "alphanli"]
    assert not any(manifest["outdated"] for manifest in made.values())


def test_every_chapter_says_that_its_numbers_were_recorded_and_from_what(checkout, site):
    for notebook in (checkout / "notebooks").glob("*.py"):
        page = site / "chapters" / f"{notebook.stem}.html"
        shown = [m for m in manifests(checkout).values() if m["notebook"] == notebook.stem]
        if not any(manifest["recorded"] for manifest in shown):
            continue
        text = BeautifulSoup(page.read_text("utf-8"), "html.parser").get_text()
        assert "Recorded numbers." in text, notebook.stem
        assert "chaosNLI_v1.0/chaosNLI_" in text, notebook.stem
        assert "chaos data fetch" in text, notebook.stem


def test_pages_of_items_show_the_sample_as_a_marked_example(site):
    for name in ("explorer.html", "annotate.html"):
        text = (site / name).read_text("utf-8")
        assert "The items are not available" in text
        assert "invented items as an example" in text
    scripts = (site / "_static" / "explorer" / "items.js").read_text("utf-8")
    assert "Synthetic sample" in scripts[:300]
    examples = (site / "chapters" / "annotations.html").read_text("utf-8")
    assert "Votes on items:" in examples  # by uid, under ChaosNLI's licence
    assert "Item texts:" not in examples


def test_nothing_else_is_synthetic(site):
    for path in pages(site):
        if path.stem not in ("explorer", "annotate"):
            assert "Nothing here is a result" not in path.read_text("utf-8"), path


def test_what_only_data_could_answer_is_refused_before_a_kernel_starts(checkout):
    done = chaos("run", "results", "-p", "resamples=10", cwd=checkout, **here(checkout))
    assert done.returncode == 2
    assert "Only the book's own parameters are recorded" in done.stderr
    assert "resamples=10" in done.stderr
    assert not (checkout / "runs").exists()


def test_recorded_equals_computed(checkout, real_checkout):
    for path in (real_checkout / "_build" / "chapters").glob("*/figures/*.csv"):
        again = checkout / path.relative_to(real_checkout)
        assert again.read_bytes() == path.read_bytes(), path.stem


def test_data_of_one_dataset_is_computed_and_the_others_are_shown_as_recorded(
    checkout, released_root, tmp_path
):
    folder = copy_checkout(tmp_path / "book")
    data = tmp_path / "data" / "chaosNLI_v1.0"
    data.mkdir(parents=True)
    (data / "chaosNLI_snli.jsonl").symlink_to(
        released_root / "chaosNLI_v1.0" / "chaosNLI_snli.jsonl"
    )
    environment = here(folder) | {"CHAOS_DATA": str(data.parent)}
    done = chaos("chapter", "annotations", cwd=folder, **environment)
    assert done.returncode == 0, done.stderr
    made = manifests(folder)["tbl-data-statistics"]
    assert made["recorded"] == ["mnli", "alphanli"]
    whole = manifests(checkout)["tbl-data-statistics"]
    assert made["data"] == whole["data"]
    assert made["inputs"] == whole["inputs"]
