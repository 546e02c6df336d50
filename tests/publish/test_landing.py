"""Pages of figures and tables, and of addresses, as text; tests/book looks at the built ones."""

import json
import re
import subprocess
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from helpers.checkout import PROJECT
from helpers.manifests import make_manifest

from chaos_utils.base.authorship import read_citation
from chaos_utils.base.files import write_text
from chaos_utils.publish import cells, landing, licences, metadata
from chaos_utils.report import citations
from chaos_utils.report.manifests import ItemText
from chaos_utils.sphinx import addresses

BOOK = read_citation(PROJECT / "CITATION.cff")
ONLINE = BOOK.model_copy(update={"url": "https://example.org/book/"})
EVIL = "</script><script>alert(1)</script> & \"quotes\" 'é'"
BOTH = {
    "title": f"Shares, {EVIL}",
    "caption": f"Shares, {EVIL}. As in {{cite:t}}`nie2020`.",
    "notebook": "annotations",
    "parameters": {"data": EVIL, "seed": 3},
    "inputs": [{"name": EVIL, "sha256": "0" * 64, "synthetic": False}],
    "data": [{"uid": f"{EVIL} {k}", EVIL: -0.5 * k} for k in range(20)],
    "meanings": {EVIL: f"A share, {EVIL}"},
}
FIGURE = make_manifest("fig-x", alt=f"A line that falls, {EVIL}", **BOTH)
ROW = [{"item": ItemText("snli", EVIL)}, EVIL]
TABLE = make_manifest("tbl-x", display={"header": [["item"], [EVIL]], "rows": [ROW]}, **BOTH)
PLACE = landing.FigurePlace(
    "A chapter & more", "../chapters/a.html#fig-x", "Fig. 1", "<em>Shares</em>"
)
CELL = cells.CodeCell(
    f'publish_figure("fig-x")  # {EVIL}', 10, 20, "https://example.org/n.py#L10-L20"
)
OF_BOTH = pytest.mark.parametrize("manifest", [FIGURE, TABLE], ids=["figure", "table"])
VOID = {"meta", "img", "br", "link", "source"}


class Reader(HTMLParser):
    """Collect what stands in a page, and check that its elements close."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.words, self.inside = [], [], [], {}
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)
        for tag in self.open:
            self.inside[tag] = self.inside.get(tag, "") + data

    def all(self, tag):
        return [attrs for name, attrs in self.seen if name == tag]


def page(manifest):
    sizes = dict.fromkeys(manifest.file_names, 12_345)
    command = "chaos run annotations -p seed=3"
    return Reader(landing.body(manifest, BOOK, PLACE, command, sizes, CELL))


def words_of(manifest, **changes):
    return "".join(page(manifest.model_copy(update=changes)).words)


@OF_BOTH
def test_a_page_is_whole_and_escapes_everything(manifest):
    read = page(manifest)
    assert read.all("script") == [{"src": "../_static/copy.js"}]
    texts = "".join(read.words)
    assert EVIL in texts
    assert ("not in this table" in texts) == (manifest is TABLE)  # the texts of items
    links = {attrs["href"] for attrs in read.all("a")}
    assert links >= set(manifest.file_names)
    assert links >= {PLACE.link, CELL.link, "../notebooks/annotations.py"}
    ids = [attrs["id"] for _, attrs in read.seen if "id" in attrs]
    listed = {attrs["href"] for attrs in Reader(landing.contents(manifest)).all("a")}
    assert listed == {"#", *(f"#{id}" for id in ids)}
    for format in citations.FORMATS.values():
        assert "".join(format(BOOK, manifest).split()) in "".join(texts.split())
    assert "chaos run annotations -p seed=3" in read.inside["pre"]
    assert CELL.code in read.inside["details"]


def test_what_columns_mean_is_said_where_it_is_known():
    words = [word.strip() for word in page(FIGURE).words]
    assert words[words.index("column") :][:3] == ["column", "meaning", "values"]
    assert words[words.index("A share, " + EVIL) - 1] == EVIL
    assert "meaning" not in [word.strip() for word in page(make_manifest("fig-x")).words]


@OF_BOTH
def test_one_that_is_synthetic_or_recorded_says_so(manifest):
    plain = words_of(manifest)
    assert "It is not a result." not in plain
    assert "and recorded" not in plain
    synthetic = words_of(manifest, synthetic=True)
    assert "It is not a result." in synthetic
    assert "Synthetic sample: Shares" in synthetic
    recorded = words_of(manifest, recorded=["snli", "mnli"])
    assert "The votes or predictions for SNLI and MNLI were not available" in recorded
    other_code = "They were computed by a different version of the code."
    assert other_code not in recorded
    assert other_code in words_of(manifest, recorded=["snli"], outdated=True)


def tags_of(read):
    return {
        attrs.get("name", attrs.get("property")): attrs["content"] for attrs in read.all("meta")
    }


def described(manifest, book):
    read = Reader(metadata.meta_tags(book, manifest, f"Caption, {EVIL}"))
    assert read.all("script") == [{"type": "application/ld+json"}]
    return tags_of(read), json.loads(read.inside["script"])


@OF_BOTH
def test_meta_tags_are_relative_until_the_book_has_an_address(manifest):
    tags, linked = described(manifest, BOOK)
    assert tags["og:description"] == linked["description"] == f"Caption, {EVIL}"
    assert not {"og:url", "citation_public_url"} & set(tags)
    assert tags.get("og:image") == ("fig-x.png" if manifest is FIGURE else None)
    tags, linked = described(manifest, ONLINE)
    there = f"https://example.org/book/figures/{manifest.id}"
    assert tags["og:url"] == tags["citation_public_url"] == linked["url"] == f"{there}.html"
    if manifest is FIGURE:
        assert tags["og:image"] == linked["contentUrl"] == f"{there}.png"


@OF_BOTH
@pytest.mark.parametrize("book", [BOOK, ONLINE])
def test_signposts_lead_programs_to_the_files(manifest, book):
    links = Reader(metadata.meta_tags(book, manifest, EVIL)).all("link")
    there = "" if book is BOOK else "https://example.org/book/figures/"
    found = {(link["rel"], link["href"]) for link in links}
    files = {("item", f"{there}{manifest.id}.{name}") for name in manifest.formats}
    assert found >= files | {("describedby", f"{there}{manifest.id}.json")}
    cited = {("cite-as", f"{there}{manifest.id}.html")} if there else set()
    assert {one for one in found if one[0] == "cite-as"} == cited
    assert [link["href"] for link in links if link["rel"] == "license"] == [
        licences.licence_of(manifest)
    ]


def test_other_pages_have_a_description_and_a_card():
    url = "https://example.org/book/"
    for book, root, page_url in ((BOOK, "../", None), (ONLINE, url, f"{url}chapters/a.html")):
        text = metadata.page_tags(book, "chapters/a", EVIL, f"Said, {EVIL}", "_static/card.png")
        tags = tags_of(Reader(text))
        assert tags["description"] == tags["og:description"] == f"Said, {EVIL}"
        assert tags["og:image"] == f"{root}_static/card.png"
        figure = FIGURE
        text = metadata.page_tags(book, "chapters/a", EVIL, EVIL, "_static/card.png", figure)
        tags = tags_of(Reader(text))
        assert tags["og:image"] == f"{root}figures/{figure.id}.png"
        assert tags["og:image:alt"] == figure.alt
        assert tags.get("og:url") == page_url


def test_the_page_for_unknown_addresses_stands_on_its_own():
    without = addresses.not_found_html(BOOK)
    assert 'href="index.html"' in without
    for part, page in {"The argument": "chapters/disagreement", "Service": "reference"}.items():
        assert f'<a href="{page}.html">{part}</a>' in without
    assert without.count("<script>") == 1  # which finds the root
    marked = addresses.not_found_html(BOOK, "All <synthetic>")
    assert "<strong>All &lt;synthetic&gt;</strong>" in marked
    text = addresses.not_found_html(ONLINE)
    assert 'href="https://example.org/book/cite.html"' in text
    assert not re.search("src=|stylesheet|<script", text)
    assert '<html lang="en">' in text
    assert text.count("<h1>") == text.count("<main>") == text.count("<title>") == 1


def test_the_map_names_every_page_by_its_whole_address():
    root = ET.fromstring(addresses.sitemap(ONLINE, ["index.html", "a & b.html"]).encode())
    namespace = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
    assert [found.text for found in root.iterfind(f"{namespace}url/{namespace}loc")] == [
        "https://example.org/book/a%20%26%20b.html",
        "https://example.org/book/index.html",
    ]


TEXT = """\
# %% [markdown]
# See "fig-b".

# %%
x = 1

# %%
publish_figure(
    "fig-b",
    plot,
)
"""


def test_the_cell_is_the_code_that_names_the_id_and_its_link_the_commit_that_holds_it(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "_toc.yml").write_text("")
    notebook = tmp_path / "notebooks" / "n.py"
    write_text(notebook, TEXT)

    def git(*arguments):
        command = ["git", "-c", "user.name=A", "-c", "user.email=a@b", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    for command in (["init"], ["add", "."], ["commit", "-m", "First"]):
        git(*command)
    cell = cells.cell_of(notebook, "fig-b", BOOK)
    assert (cell.first, cell.last, cell.link) == (8, 11, "")
    assert cell.code.splitlines() == TEXT.splitlines()[7:11]
    assert cells.cell_of(notebook, "fig-none", BOOK) is None
    book = BOOK.model_copy(update={"repository": "https://example.org/book"})
    there = f"https://example.org/book/blob/{git('rev-parse', 'HEAD')}/notebooks/n.py#L8-L11"
    assert cells.cell_of(notebook, "fig-b", book).link == there
    notebook.write_text(f"{TEXT}\n")
    assert cells.cell_of(notebook, "fig-b", book).link == ""
