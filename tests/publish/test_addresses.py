import re
import xml.etree.ElementTree as ET
from dataclasses import replace

from helpers.checkout import PROJECT

from chaos_utils.publish import addresses, citations

BOOK = citations.read_book(PROJECT / "CITATION.cff")
ONLINE = replace(BOOK, url="https://example.org/book/")


def test_the_page_for_unknown_addresses_stands_on_its_own():
    assert 'href="index.html"' in addresses.not_found_html(BOOK)
    marked = addresses.not_found_html(BOOK, "All <synthetic>")
    assert "<strong>All &lt;synthetic&gt;</strong>" in marked
    text = addresses.not_found_html(ONLINE)
    assert 'href="https://example.org/book/figures.html"' in text
    assert not re.search("src=|stylesheet", text)
    assert '<html lang="en">' in text
    assert text.count("<h1>") == text.count("<main>") == text.count("<title>") == 1


def test_the_map_names_every_page_by_its_whole_address():
    root = ET.fromstring(addresses.sitemap(ONLINE, ["index.html", "a & b.html"]).encode())
    namespace = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
    assert [found.text for found in root.iterfind(f"{namespace}url/{namespace}loc")] == [
        "https://example.org/book/a%20%26%20b.html",
        "https://example.org/book/index.html",
    ]
