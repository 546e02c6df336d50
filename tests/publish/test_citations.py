import re

import pytest
import yaml
from helpers.checkout import PROJECT

from chaos_utils.errors import ChaosError
from chaos_utils.publish import citations
from chaos_utils.report.provenance import version

MANIFEST = {
    "id": "fig-x",
    "kind": "figure",
    "title": "50% of α_i & “ß” {cost} $3 #1",
    "synthetic": False,
}


@pytest.fixture
def book():
    return citations.read_book(PROJECT / "CITATION.cff")


def test_the_book_has_the_package_s_version(book):
    assert book.version == version()
    assert book.authors


def test_bibtex_is_balanced_and_escaped(book):
    entry = citations.bibtex(book, MANIFEST)
    assert entry.startswith("@misc{fig-x,")
    plain = re.sub(r"\\[{}]", "", entry)
    assert plain.count("{") == plain.count("}")
    assert r"50\% of α\_i \& “ß” \{cost\} \$3 \#1" in entry
    assert f"version {book.version}" in entry
    assert not re.search(r"(?<!\\)[%&#$]", entry)


def test_plain_names_figure_book_and_version(book):
    text = citations.plain(book, MANIFEST)
    assert "Figure fig-x in The Living Book" in text
    assert book.year in text


def test_a_synthetic_figure_is_cited_as_such(book):
    for made in (citations.plain, citations.bibtex):
        assert "Synthetic sample: 50" in made(book, MANIFEST | {"synthetic": True})


def test_an_address_is_given_once_there_is_one(book, tmp_path):
    content = yaml.safe_load((PROJECT / "CITATION.cff").read_text())
    path = tmp_path / "CITATION.cff"
    path.write_text(yaml.safe_dump(content | {"url": "https://example.org/book/"}))
    there = citations.read_book(path)
    assert "https://example.org/book/figures/fig-x.json" in citations.bibtex(there, MANIFEST)
    assert "url" not in citations.bibtex(book, MANIFEST)
    assert citations.book_bibtex(there).count("https://example.org/book/") == 1


def test_a_missing_field_is_named(tmp_path):
    path = tmp_path / "CITATION.cff"
    path.write_text("title: A book\nauthors: [{name: A}]\n")
    with pytest.raises(ChaosError, match="version"):
        citations.read_book(path)
