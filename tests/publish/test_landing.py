"""The pages of figures and tables, as text; the built ones are looked at in tests/book."""

import json
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from helpers.checkout import PROJECT

from chaos_utils.publish import cells, citations, downloads, landing, metadata, staleness

BOOK = citations.read_book(PROJECT / "CITATION.cff")
EVIL = "</script><script>alert(1)</script> & \"quotes\" 'é'"
FIGURE = {
    "id": "fig-x",
    "kind": "figure",
    "title": f"Shares, {EVIL}",
    "caption": f"Shares, {EVIL}. As in {{cite:t}}`nie2020`.",
    "alt": f"A line that falls, {EVIL}",
    "synthetic": False,
    "recorded": [],
    "outdated": False,
    "notebook": "annotations",
    "parameters": {"data": EVIL, "seed": 3},
    "inputs": [{"name": EVIL, "sha256": "0" * 64, "synthetic": False}],
    "software": {"python": "3.11"},
    "formats": ["svg", "png", "pdf", "csv", "json"],
    "size": [600, 400],
    "narrow_size": [350, 500],
    "columns": ["uid", EVIL],
    "data": [{"uid": f"{EVIL} {k}", EVIL: -0.5 * k} for k in range(20)],
}
TABLE = {
    key: value for key, value in FIGURE.items() if key not in ("alt", "size", "narrow_size")
} | {
    "id": "tbl-x",
    "kind": "table",
    "formats": ["csv", "json"],
    "display": {
        "header": [["item"], [EVIL]],
        "rows": [[{"item": {"dataset": "snli", "uid": EVIL}}, EVIL]],
    },
}
PLACE = landing.Place("A chapter & more", "../chapters/a.html#fig-x", "Fig. 1", "<em>Shares</em>")
CELL = cells.CodeCell(
    f'publish_figure("fig-x")  # {EVIL}', 10, 20, "https://example.org/n.py#L10-L20"
)
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


def page(manifest, book=BOOK):
    sizes = dict.fromkeys(downloads.names(manifest), 12_345)
    command = "chaos run annotations -p seed=3"
    return Reader(landing.body(manifest, book, PLACE, command, sizes, CELL))


@pytest.mark.parametrize("manifest", [FIGURE, TABLE], ids=["figure", "table"])
def test_a_page_is_whole_and_escapes_everything(manifest):
    read = page(manifest)
    assert read.all("script") == [{"src": "../_static/copy.js"}]
    assert len(read.all("h1")) == 1
    assert EVIL in "".join(read.words)
    tables = len(read.all("table"))
    assert tables == len(read.all("thead"))
    assert len(read.all("caption")) == tables - (manifest is TABLE)  # whose caption is a figcaption
    assert all(attrs["scope"] for attrs in read.all("th"))
    links = {attrs["href"] for attrs in read.all("a")}
    assert links >= set(downloads.names(manifest))
    assert links >= {PLACE.link, CELL.link, "../notebooks/annotations.py"}
    ids = [attrs["id"] for _, attrs in read.seen if "id" in attrs]
    contents = {attrs["href"] for attrs in Reader(landing.contents(manifest)).all("a")}
    assert contents == {"#", *(f"#{id}" for id in ids)}
    texts = "".join(read.words)
    for format in citations.FORMATS.values():
        assert format(BOOK, manifest).strip().replace("\r\n", "\n") in texts.replace("\r\n", "\n")
    assert "chaos run annotations -p seed=3" in read.inside["pre"]
    assert CELL.code in read.inside["details"]
    assert "20 rows, 2 columns" in read.inside["caption"]


def test_texts_of_items_are_left_to_the_chapter():
    assert "the chapter shows them" in "".join(page(TABLE).words)


@pytest.mark.parametrize("manifest", [FIGURE, TABLE], ids=["figure", "table"])
def test_a_synthetic_one_says_so(manifest):
    assert "It is not a result." not in "".join(page(manifest).words)
    words = "".join(page(manifest | {"synthetic": True}).words)
    assert "It is not a result." in words
    assert "Synthetic sample: Shares" in words


@pytest.mark.parametrize("manifest", [FIGURE, TABLE], ids=["figure", "table"])
def test_a_recorded_one_says_so(manifest):
    assert "and recorded" not in "".join(page(manifest).words)
    words = "".join(page(manifest | {"recorded": ["snli", "mnli"]}).words)
    assert "The votes or predictions on SNLI and MNLI were not available" in words
    assert "Another version of the code" not in words
    words = "".join(page(manifest | {"recorded": ["snli"], "outdated": True}).words)
    assert "Another version of the code made the record." in words


@pytest.mark.parametrize("manifest", [FIGURE, TABLE], ids=["figure", "table"])
def test_a_stale_one_says_so_and_why(manifest):
    stale = staleness.marked(manifest, ["chaos_utils/<b>.py"])
    words = "".join(page(stale).words)
    assert "has changed since: chaos_utils/<b>.py" in words
    assert "Stale: Shares" in words
    assert f"{manifest['id']}.png" not in {attrs.get("href") for attrs in page(stale).all("a")}
    tags, linked = described(stale, BOOK)
    assert linked.get("contentUrl") == ("fig-x.svg" if manifest is FIGURE else None)
    assert "og:image" not in tags


def described(manifest, book):
    read = Reader(metadata.meta_tags(book, manifest, f"Caption, {EVIL}"))
    assert read.all("script") == [{"type": "application/ld+json"}]
    tags = {
        attrs.get("name", attrs.get("property")): attrs["content"] for attrs in read.all("meta")
    }
    return tags, json.loads(read.inside["script"])


@pytest.mark.parametrize("manifest", [FIGURE, TABLE], ids=["figure", "table"])
def test_meta_tags_are_relative_until_the_book_has_an_address(manifest):
    tags, linked = described(manifest, BOOK)
    assert tags["og:description"] == linked["description"] == f"Caption, {EVIL}"
    assert not {"og:url", "citation_public_url"} & set(tags)
    assert "url" not in linked
    assert linked["@type"] == ("ImageObject" if manifest is FIGURE else "Dataset")
    assert tags.get("og:image") == ("fig-x.png" if manifest is FIGURE else None)
    tags, linked = described(manifest, replace(BOOK, url="https://example.org/book/"))
    there = f"https://example.org/book/figures/{manifest['id']}"
    assert tags["og:url"] == tags["citation_public_url"] == linked["url"] == f"{there}.html"
    if manifest is FIGURE:
        assert tags["og:image"] == linked["contentUrl"] == f"{there}.png"


@pytest.mark.parametrize("url", ["", "https://example.org/book/"])
def test_other_pages_have_a_description_and_a_card(url):
    book = replace(BOOK, url=url)
    text = metadata.page_tags(book, "chapters/a", EVIL, f"Said, {EVIL}", "_static/card.png")
    tags = {
        attrs.get("name", attrs.get("property")): attrs["content"]
        for attrs in Reader(text).all("meta")
    }
    assert tags["description"] == tags["og:description"] == f"Said, {EVIL}"
    assert tags["og:image"] == f"{url or '../'}_static/card.png"
    assert tags.get("og:url") == (f"{url}chapters/a.html" if url else None)
