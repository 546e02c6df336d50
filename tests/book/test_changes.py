"""The page and feed of changes, citations of pages, and anchors of pages that have moved."""

import re
from html import unescape
from xml.etree import ElementTree

import pytest
from docutils import nodes
from helpers.checkout import PROJECT

from chaos_utils.base.authorship import read_citation
from chaos_utils.base.errors import ChaosError
from chaos_utils.publish import registry
from chaos_utils.sphinx import changes

ATOM = "{http://www.w3.org/2005/Atom}"
BOOK = read_citation(PROJECT / "CITATION.cff")
# Places of pages that have moved, which others may have linked to.
ANCHORS = {
    "api": ["use-it-from-python"],
    "conversions": ["what-can-be-converted", "what-cannot"],
    "figures": ["list-of-figures-and-tables"],
    "references": ["references"],
}


def test_the_newest_edition_is_the_one_that_is_cited():
    newest, *_ = changes.editions((PROJECT / changes.CHANGELOG).read_text("utf-8"))
    assert (newest.version, newest.date) == (BOOK.version, BOOK.date)


@pytest.mark.parametrize(
    "text",
    [
        "## Next, unreleased\n\nWords.\n",
        "## Next (2026-01-02)\n\n### Added\n",
        "## Next (2026-01-02)\n",
    ],
)
def test_an_edition_without_date_or_words_is_refused(text):
    with pytest.raises(ChaosError, match=r"(?s)CHANGELOG\.md, ## Next.*YYYY-MM-DD"):
        changes.editions(f"# Changelog\n\n{text}")


def test_the_feed_leads_to_each_edition_and_its_ids_outlive_an_address(site):
    text = (site / "feed.xml").read_text("utf-8")
    page = (site / "changes.html").read_text("utf-8")
    links = [
        entry.find(f"{ATOM}link").get("href")
        for entry in ElementTree.fromstring(text).iter(f"{ATOM}entry")
    ]
    assert len(links) == len(re.findall("<h2>", page)) > 1
    for link in links:
        assert f'id="{link.removeprefix("changes.html#")}"' in page
    online = BOOK.model_copy(update={"url": "https://a.org/b"})
    one = changes.Edition("A & <b> (2026-01-02)", "A & <b>", "", "2026-01-02", "Said & <done>.")
    found = [ElementTree.fromstring(changes.feed(book, [one])) for book in (BOOK, online)]
    ids = [[id.text for id in feed.iter(f"{ATOM}id")] for feed in found]
    assert ids[0] == ids[1]
    assert (
        found[1].find(f"{ATOM}entry/{ATOM}link").get("href").startswith("https://a.org/b/changes")
    )
    assert found[1].find(f"{ATOM}entry/{ATOM}summary").text == "Said & <done>."


def test_the_lists_of_an_edition_are_folded(site):
    page = (site / "changes.html").read_text("utf-8")
    lists = re.findall("(?m)^### (.*)", (PROJECT / changes.CHANGELOG).read_text("utf-8"))
    assert re.findall(r"<details><summary>(\w+) \(\d+\)", page) == lists
    assert "<h3>" not in page


def test_each_page_names_the_feed_and_is_cited_by_its_title(site):
    for page in ("related", "glossary", "chapters/annotations", "chapters/disagreement"):
        text = (site / f"{page}.html").read_text("utf-8")
        root = "../" * page.count("/")
        assert f'type="application/atom+xml" title="Changes" href="{root}feed.xml"' in text
        title = re.search("<h1>(.*?)<a ", text)[1]
        (cited,) = re.findall(
            r'<details class="page-citation">.*?<pre[^>]*>(.*?)</pre>', text, re.S
        )
        assert unescape(title) in unescape(cited)
        assert cited.endswith(f"{page}.html")


@pytest.mark.browser
def test_every_text_to_copy_has_one_button(open_at):
    page = open_at("chapters/annotations")
    buttons = "found => found.map(box => box.querySelectorAll('.copy-button').length)"
    found = page.locator(".copied").evaluate_all(buttons)
    assert set(found) == {1}


def places(page):
    """Return the anchors of a page's source: of its headings, and those that it sets."""
    folder, _, chapter = page.rpartition("/")
    path = PROJECT / (f"notebooks/{chapter}.py" if folder else f"book/{page}.md")
    text = re.sub("^# ", "", path.read_text("utf-8"), flags=re.M if folder else 0)
    headings = {nodes.make_id(words) for words in re.findall("(?m)^#+ (.*)", text)}
    return headings | set(re.findall(r"(?m)^\(([\w-]+)\)=$", text))


@pytest.mark.parametrize("page", ANCHORS)
def test_a_place_of_a_page_that_has_moved_is_found_on_the_new_one(page):
    assert set(ANCHORS[page]) <= places(registry.read_redirects()[page])
