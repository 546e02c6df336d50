import json
import re
from importlib.resources import files

import jsonschema
import pytest
import yaml
from helpers.checkout import PROJECT
from helpers.manifests import make_manifest, make_record
from hypothesis import given, settings
from hypothesis import strategies as st
from pybtex.database import parse_string

from chaos_utils.base.authorship import ADDRESS, read_citation, validate_address
from chaos_utils.base.errors import ChaosError
from chaos_utils.report import citations
from chaos_utils.report.captions import without_markup
from chaos_utils.report.provenance import RunRecord, version

BOOK = read_citation(PROJECT / "CITATION.cff")
TITLE = "50% of α_i & “ß” {cost} $3 #1"
MANIFEST = make_manifest(title=TITLE)
TABLE = {"id": "tbl-x", "kind": "table"}
ESCAPED = r"50\% of α\_i \& “ß” \textbraceleft{}cost\textbraceright{} \$3 \#1"


@pytest.mark.parametrize(
    ("form", "changes", "words"),
    [
        ("plain", {}, "Figure fig-x in The Living Book"),
        ("bibtex", {}, ESCAPED),
        ("bibtex", {}, f"version {version()}"),
        ("ris", TABLE, "TY  - DATA\r\nID  - tbl-x\r\n"),
        ("csl", TABLE, '"type": "dataset"'),
        *((form, {"synthetic": True}, "Synthetic sample: 50") for form in citations.FORMATS),
    ],
)
def test_each_format_says_what_is_cited(form, changes, words):
    assert words in citations.FORMATS[form](BOOK, MANIFEST.model_copy(update=changes), None)


RUN = RunRecord.model_validate(
    make_record(
        id="one-0123456789abcdef",
        title="How people {disagree} & why",
        parameters={"data": "votes.csv", "resamples": 200, "predictions": []},
        defaults={"data": "auto", "resamples": 2000, "predictions": []},
        inputs=[
            {"name": "own-data/votes.csv", "sha256": "ab" * 32, "synthetic": False},
            {"name": "released.jsonl", "sha256": "cd" * 32, "synthetic": False},
        ],
    )
)


@pytest.mark.parametrize("form", citations.FORMATS)
def test_a_figure_of_a_run_is_cited_with_what_makes_the_run(form):
    text = citations.FORMATS[form](BOOK, MANIFEST, RUN)
    words = [
        "run one-0123456789abcdef of the chapter",
        "resamples = 200 (in the book 2000)",
        "data = votes.csv (in the book auto)",
        "own-data/votes.csv (SHA-256 " + ("ab" * 8),
        "code version 1.2.3, commit abcdef",
        "fig-x-0123456789abcdef",
    ]
    for word in words[:5] if form == "plain" else words:
        assert word in text
    assert "released.jsonl" not in text
    assert "predictions" not in text
    if form == "bibtex":
        assert parse_string(text, "bibtex").entries["fig-x-0123456789abcdef"].fields["note"]


# Titles as authors may write them: any text, and pieces that some format gives a meaning to.
PIECES = [*'{}\\"`$ß', "*a*", "{cite:t}`x`", "\r\nER  - ", "</"]
TITLES = st.lists(st.one_of(st.text(max_size=12), st.sampled_from(PIECES))).map("".join)


@settings(max_examples=50)
@given(title=TITLES)
def test_any_title_leaves_every_format_valid(title):
    manifest = MANIFEST.model_copy(update={"title": title})
    words = without_markup(title)
    assert words.isprintable()

    entry = citations.bibtex(BOOK, manifest)
    read = parse_string(entry, "bibtex").entries["fig-x"]
    assert read.fields["version"] == BOOK.version
    assert len(read.persons["author"]) == len(BOOK.authors)
    assert entry.count("{") == entry.count("}")
    assert not re.search(r"(?<!\\)[%&#$]", entry)
    assert len(entry.split("\n")) == 7

    *lines, last = citations.ris(BOOK, manifest).split("\r\n")
    assert last == ""
    assert all(re.fullmatch(r"[A-Z][A-Z0-9]  - [^\r\n]*", line) for line in lines)
    assert lines[0] == "TY  - FIGURE"
    assert [line for line in lines if line.startswith("ER")] == ["ER  - "] == lines[-1:]
    assert f"TI  - {words}" in lines

    (item,) = json.loads(citations.csl(BOOK, manifest))
    assert item["title"] == words
    assert item["issued"] == {"date-parts": [[int(BOOK.year)]]}
    assert "\n" not in citations.plain_text(BOOK, manifest)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("As in {cite:t}`nie2020`, *below* or **above**", "As in nie2020, below or above"),
        ("See {doc}`this page <other>` and `code`", "See this page and code"),
        ("Ten bins $(a, b]$ for $3 and $4", "Ten bins (a, b] for $3 and $4"),
        ("α_i and b_j, 2 * 3 * 4, a\n  line", "α_i and b_j, 2 * 3 * 4, a line"),
    ],
)
def test_only_the_words_of_a_caption_are_cited(text, words):
    assert without_markup(text) == words


@pytest.fixture
def write(tmp_path):
    """Write a citation file."""

    def written(text):
        (tmp_path / "CITATION.cff").write_text(text, "utf-8")
        return tmp_path / "CITATION.cff"

    return written


REST = "version: 1\ndate-released: 2026-01-02\n"


def at(url):
    return f"title: A\nauthors: [{{name: A}}]\nurl: {json.dumps(url)}\n{REST}"


def test_an_address_is_given_once_there_is_one_and_a_build_may_have_another(write, monkeypatch):
    path = write(at("https://example.org/book/"))
    there = read_citation(path)
    monkeypatch.setenv(ADDRESS, "http://localhost:8000/draft/")
    draft = read_citation(path)
    for book, url in ((there, there.url), (draft, "http://localhost:8000/draft/")):
        for made in citations.FORMATS.values():
            assert f"{url}figures/fig-x.html" in made(book, MANIFEST, None)
        assert url in citations.book_bibtex(book)
        assert url in citations.book_plain(book)
    monkeypatch.setenv(ADDRESS, "")
    assert read_citation(path).url == "https://example.org/book/"
    assert "url" not in citations.bibtex(BOOK, MANIFEST)


def test_the_book_is_cited_by_its_doi_and_a_figure_as_part_of_it(write):
    book = read_citation(write(f"{at('https://example.org/book')}doi: 10.5281/zenodo.1_2\n"))
    doi = "https://doi.org/10.5281/zenodo.1_2"
    assert citations.book_plain(book).endswith(f"version 1. {doi}")
    entry = parse_string(citations.book_bibtex(book), "bibtex").entries["living-book"]
    assert entry.fields["doi"] == r"10.5281/zenodo.1\_2"
    assert f"Figure fig-x in A, version 1, {doi}" in citations.ris(book, MANIFEST)
    for made in citations.FORMATS.values():
        assert "figures/fig-x.html" in made(book, MANIFEST, None)
        assert "zenodo.1" in made(book, MANIFEST, None)
    assert '"DOI"' not in citations.csl(book, MANIFEST)  # a figure has none of its own


@pytest.mark.parametrize(
    "url",
    [
        "example.org",
        "https://example.org/book/index.html",
        "https://me:secret@example.org",
        "javascript:alert(1)",
    ],
)
def test_an_address_that_no_site_has_is_refused(write, url):
    with pytest.raises(ChaosError, match=r"not the address of a site(?s:.)*--url"):
        validate_address(url, "--url")
    with pytest.raises(ChaosError, match=r"CITATION\.cff\n.* url: found .*expected"):
        read_citation(write(at(url)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title: [", "cannot be read"),
        ("- title", "expected names with values"),
        (f"title: A\nauthors: [A]\n{REST}", "authors.0: found 'A'; expected `name`, or `given-"),
        ("title: A\nauthors: [{given-names: A}]\n", "version: is missing[^$]*authors.0: "),
        ("doi: https://doi.org/10.5281/zenodo.1", "doi: found 'https.*expected a DOI without"),
        ("date-released: yesterday", "date-released: found 'yesterday'; expected a date"),
    ],
)
def test_a_citation_file_that_cannot_be_used_is_reported(write, text, message):
    with pytest.raises(ChaosError, match=rf"(?s){message}.*CITATION\.cff|CITATION\.cff.*{message}"):
        read_citation(write(text))


def test_the_citation_file_is_valid_against_its_schema_and_of_the_package_s_version():
    content = yaml.safe_load((PROJECT / "CITATION.cff").read_text("utf-8"))
    schemas = files("check_jsonschema") / "builtin_schemas" / "vendor"
    schema = json.loads((schemas / "citation-file-format.json").read_text("utf-8"))
    assert content["cff-version"] in schema["$id"]
    validator = jsonschema.Draft7Validator(schema)
    assert [error.message for error in validator.iter_errors(content)] == []
    assert not validator.is_valid(content | {"license": "no licence"})
    assert content["version"] == version()


@pytest.mark.parametrize(("title", "words"), [("A page", "A page. In"), ("Why?", "Why? In")])
def test_a_page_is_cited_by_its_title(title, words):
    assert words in citations.page_plain(BOOK, title, "")
