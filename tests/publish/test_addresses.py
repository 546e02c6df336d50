import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from helpers.checkout import PROJECT

from chaos_utils.publish import addresses, citations
from chaos_utils.publish.registry import Redirect

BOOK = citations.read_book(PROJECT / "CITATION.cff")
ONLINE = replace(BOOK, url="https://example.org/book/")


def test_a_moved_page_leads_on_by_itself_and_by_hand():
    text = addresses.moved_html(BOOK, "figures/fig-old", "figures/fig-new")
    assert '<meta http-equiv="refresh" content="0; url=../figures/fig-new.html">' in text
    assert '<link rel="canonical" href="../figures/fig-new.html">' in text
    assert '<a href="../figures/fig-new.html">' in text
    online = addresses.moved_html(ONLINE, "figures/fig-old", "figures/fig-new")
    assert 'rel="canonical" href="https://example.org/book/figures/fig-new.html"' in online
    assert 'url=../figures/fig-new.html"' in online


def test_a_withdrawn_one_says_why_and_leads_nowhere_by_itself():
    redirect = Redirect(withdrawn="Counted <twice>.")
    text = addresses.withdrawn_html(BOOK, "fig-wrong", redirect, "Synthetic sample")
    assert "Counted &lt;twice&gt;." in text
    assert "refresh" not in text
    assert "Synthetic sample" in text


def test_the_page_for_unknown_addresses_stands_on_its_own():
    assert 'href="index.html"' in addresses.not_found_html(BOOK)
    text = addresses.not_found_html(ONLINE)
    assert 'href="https://example.org/book/figures.html"' in text
    assert "src=" not in text
    assert "stylesheet" not in text


def test_the_map_names_every_page_by_its_whole_address():
    text = addresses.sitemap(ONLINE, ["index.html", "a & b.html"])
    names = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9"}
    assert [
        found.text for found in ET.fromstring(text.encode()).iterfind("s:url/s:loc", names)
    ] == [
        "https://example.org/book/a%20%26%20b.html",
        "https://example.org/book/index.html",
    ]


@pytest.mark.parametrize("book", [BOOK, ONLINE])
def test_every_such_page_has_a_language_a_title_and_a_heading(book):
    for text in (
        addresses.moved_html(book, "old", "new"),
        addresses.withdrawn_html(book, "fig-x", Redirect(withdrawn="x")),
        addresses.not_found_html(book),
    ):
        assert '<html lang="en">' in text
        assert "<title>" in text
        assert text.count("<h1>") == text.count("<main>") == 1
