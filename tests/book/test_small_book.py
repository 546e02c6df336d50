"""A book without votes, from its own files alone; and what is said where one of them is wrong."""

import re
import shutil
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from helpers.checkout import PROJECT, append, chaos

pytestmark = pytest.mark.usefixtures("warm_processes")

SMALL_BOOK = Path(__file__).with_name("small_book")
NOTEBOOK, SETTINGS = "notebooks/tosses.py", "_config.yml"
PROJECT_THAT_RAISES = """
from chaos_utils.base.plain import PlainBook


class Book(PlainBook):
    def licences(self):
        raise RuntimeError("no idea")
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
            assert not re.search(r"\b(votes?|predictions|sample)\b", words), name
            assert "creativecommons" not in page, name
    assert "49.1%" in pages["index.html"]  # numpy's numbers from this seed
    assert "https://spdx.org/licenses/CC-BY-SA-4.0" in pages["figures/fig-shares.html"]
    again = build(book)
    assert "running" not in again.stdout + again.stderr
    made = {path for path in book.rglob("*") if path.is_file()} - before
    assert {path.relative_to(book).parts[:2] for path in made} >= {("book", "chapters")}
    assert all("_build" in path.parts or "chapters" in path.parts for path in made)


WRONG = {  # file, text, the text that stands there instead, words of the message
    "no citation": ("CITATION.cff", "", "", "CITATION.cff"),
    "no licence": ("CITATION.cff", "license: CC-BY-SA-4.0\n", "", "does not state its licence"),
    "no project": (SETTINGS, "project_class", "other", "who answers for its data and licence"),
    "another project": (SETTINGS, "PlainBook", "Nothing", "cannot be asked"),
    "no settings": (SETTINGS, "title: Tosses of a coin", "- a list", SETTINGS),
    "no notebook": (NOTEBOOK, "", "", "tosses"),
    "no type": (NOTEBOOK, "seed: int", "seed", "parameters cell"),
    "a project that raises": (SETTINGS, "chaos_utils.base.plain:PlainBook", "mine:Book", "no idea"),
}


@pytest.mark.parametrize(("file", "text", "instead", "words"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_refused_before_anything_runs(book, file, text, instead, words):
    (book / "mine.py").write_text(PROJECT_THAT_RAISES, "utf-8")
    if text:
        content = (book / file).read_text("utf-8")
        (book / file).write_text(content.replace(text, instead), "utf-8")
    else:
        (book / file).unlink()
    refused(book, words)


def refused(book, words):
    result = build(book)
    assert result.returncode == 2, result.stderr
    assert words in result.stderr
    assert "Traceback" not in result.stderr
    assert not (book / "_build" / "html").exists()
    return result.stderr


def test_a_notebook_that_fails_is_named_and_leaves_no_site(book):
    append(book / NOTEBOOK, "\n# %%\n1 / 0\n")
    assert "tosses" in refused(book, "ZeroDivisionError")


def test_a_chapter_may_publish_nothing_and_a_book_may_have_no_chapter(book):
    text = (book / NOTEBOOK).read_text("utf-8")
    (book / NOTEBOOK).write_text(text.partition("# %%\nimport")[0], "utf-8")
    index, chapters = book / "book" / "index.md", book / "_build" / "html" / "chapters"
    index.write_text("# Words\n\nAnd the {doc}`chapters/tosses`.\n", "utf-8")
    result = build(book)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "A fair coin" in (chapters / "tosses.html").read_text("utf-8")
    shutil.rmtree(book / "notebooks")
    (book / "_toc.yml").write_text("format: jb-book\nroot: index\n", "utf-8")
    index.write_text("# Words\n\nAlone.\n", "utf-8")
    result = build(book)
    assert result.returncode == 0, result.stdout + result.stderr
    assert not chapters.exists()
