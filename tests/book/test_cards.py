"""What pages say of themselves to search engines and to those who share a link."""

import re

import yaml
from docutils.core import publish_doctree
from helpers.checkout import PROJECT
from helpers.pages import pages
from PIL import Image

from chaos_utils.base.authorship import read_citation
from chaos_utils.sphinx.cards import opening_text


def tags_of(path):
    head = path.read_text("utf-8").split("</head>")[0]
    return head, [
        dict(re.findall(r'(\w+)="([^"]*)"', tag)) for tag in re.findall("<meta .*?>", head)
    ]


def test_every_page_has_a_description_a_card_and_an_icon(site):
    for path in pages(site):
        if path.name == "404.html":
            continue
        head, tags = tags_of(path)
        named = [(tag.get("name") or tag.get("property"), tag.get("content")) for tag in tags]
        found = dict(named)
        assert len(found["description"]) > 20, path
        assert found["og:title"]
        assert [name for name, _ in named].count("description") == 1, path
        if not path.stem.startswith("tbl-"):
            assert Image.open(path.parent / found["og:image"]).format == "PNG", path
            assert found["og:image:alt"]
        (where,) = re.findall(r'<link rel="icon" href="([^"]+)"', head)
        assert "<svg" in (path.parent / where).read_text("utf-8")
    assert Image.open(site / "_static" / "card.png").size == (1200, 630)


def head_of(site, name):
    _, tags = tags_of(site / f"{name}.html")
    return {tag.get("name") or tag.get("property"): tag.get("content") for tag in tags}


def test_a_card_has_the_page_s_own_figure_and_pages_say_what_they_answer(site):
    head = head_of(site, "chapters/disagreement")
    shown = re.findall(
        r'<figure[^>]*id="(fig-[\w-]+)"', (site / "chapters" / "disagreement.html").read_text()
    )
    assert head["og:image"] == f"../figures/{shown[0]}.png"
    assert head["og:image:alt"]
    notes = yaml.safe_load((PROJECT / "book" / "pages.yml").read_text("utf-8"))
    assert head_of(site, "glossary")["description"] == notes["glossary"]["description"].strip()
    assert head_of(site, "glossary")["og:image"] == "_static/card.png"


def test_the_title_page_says_who_made_the_book_and_leads_to_its_citation(site):
    book = read_citation()
    (line,) = re.findall('<p class="byline">(.*?)</p>', (site / "index.html").read_text("utf-8"))
    assert all(name.replace("'", "’") in line for name in book.authors)
    assert book.version in line
    assert 'href="cite.html"' in line


LONG = "This paragraph is long enough to say what the page is about, and stands first."


def test_a_page_is_described_by_its_first_paragraph_cut_at_a_word():
    text = f"A title\n=======\n\n.. note::\n\n   {LONG[::-1]}\n\nToo short.\n\n{LONG}"
    assert opening_text(publish_doctree(text)) == LONG
    assert opening_text(publish_doctree("A title\n=======\n\nToo short.")) == ""
    longer = " ".join([LONG] * 4)
    cut = opening_text(publish_doctree(longer))
    assert len(cut) <= 202
    assert longer.startswith(cut.removesuffix("…"))  # with the space before it
