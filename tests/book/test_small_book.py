"""A book without votes, from its own files alone; and what the machinery says where one is wrong."""

import re
import shutil
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from helpers.checkout import PROJECT, chaos

SMALL_BOOK = Path(__file__).with_name("small_book")
NOTEBOOK, SETTINGS = "notebooks/tosses.py", "_config.yml"
PROJECT_THAT = """
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.plain import PlainBook


class Book(PlainBook):
    def {question}:
        {answer}
"""


@pytest.fixture
def book(tmp_path):
    """The book in a folder whose name a careless command would break; not in git."""
    return shutil.copytree(SMALL_BOOK, tmp_path / "Würfe einer Münze")


def build(book):
    return chaos("build", cwd=book, PYTHONPATH=str(PROJECT), CHAOS_DATA="")


def test_a_book_is_built_from_its_own_files_alone(book):
    before = {path for path in book.rglob("*") if path.is_file()}
    result = build(book)
    assert result.returncode == 0, result.stdout + result.stderr
    site = book / "_build" / "html"
    files = site.rglob("*.html")
    pages = {path.relative_to(site).as_posix(): path.read_text("utf-8") for path in files}
    assert {"index.html", "chapters/tosses.html", "figures/fig-shares.html"} <= pages.keys()
    for name, page in pages.items():
        if not name.startswith("_static"):
            words = BeautifulSoup(page, "html.parser").get_text()
            assert not re.search(r"\b(votes?|datasets?|predictions|sample)\b", words), name
            assert "creativecommons" not in page, name
    assert "49.1%" in pages["index.html"]  # numpy's numbers from this seed
    assert "https://spdx.org/licenses/CC-BY-SA-4.0.html" in pages["figures/fig-shares.html"]
    again = build(book)
    assert "running" not in again.stdout + again.stderr
    made = {path for path in book.rglob("*") if path.is_file()} - before
    assert {path.relative_to(book).parts[:2] for path in made} >= {("book", "chapters")}
    assert all("_build" in path.parts or "chapters" in path.parts for path in made)
