"""The reference of the package: what is in it, and where the chapters' code leads."""

import re

import pytest
from chaos_book import reference
from helpers.checkout import PROJECT

ROOMS = sorted(
    path.stem
    for path in (PROJECT / "chaos_utils").iterdir()
    if (path / "__init__.py").is_file() or path.suffix == ".py"
)
MODULES = [
    module
    for room in ROOMS
    if room not in ("__init__", "cli")
    for module in reference.modules_of(f"chaos_utils.{room}")
]


@pytest.fixture(scope="module")
def pages(sample_checkout):
    folder = sample_checkout / "_build" / "html" / "reference"
    return {path.stem: path.read_text("utf-8") for path in folder.glob("*.html")}


def test_every_public_function_and_class_is_documented(pages):
    text = "".join(pages.values())
    documented = set(re.findall(r'<dt class="sig[^>]*id="([^"]+)"', text))
    names = {
        f"{module.__name__}.{name}" for module in MODULES for name in reference.public_names(module)
    }
    assert len(names) > 400
    assert names <= documented


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_public_name_has_a_summary_of_one_line(module):
    for name in reference.public_names(module):
        summary = (getattr(module, name).__doc__ or "").strip().split("\n\n")[0]
        assert summary.endswith((".", ":")), f"{module.__name__}.{name}"


def test_no_page_is_too_large_or_shows_an_address_in_memory(pages):
    for name, text in pages.items():
        assert len(text.encode()) < 1_500_000, name
        assert " at 0x" not in text, name


def test_code_in_the_chapters_leads_to_the_reference(sample_checkout):
    site = sample_checkout / "_build" / "html"
    for path in (site / "chapters").glob("*.html"):
        assert re.search(r'href="\.\./reference/\w+\.html#chaos_utils\.', path.read_text()), path
