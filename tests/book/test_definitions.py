"""What terms and references mean, beside the links to them."""

import pytest

from chaos_utils.sphinx.definitions import first_sentences, with_definitions

TERM = 'article a[href="../glossary.html#term-nonparametric-prior"]'
REFERENCE = 'article a[href*="related.html#ref-"]'


def test_a_definition_begins_with_whole_sentences_and_has_no_links():
    assert first_sentences("One. [<a href='#id1'>Nie</a>]") == "One."
    assert (
        first_sentences("It is <a href='#x'>far</a>\naway. It is <code>new</code>.")
        == "It is far away. It is <code>new</code>."
    )
    long = f"{'word ' * 50}end."
    assert first_sentences(f"{long} Next.") == long
    assert first_sentences(f"One. Two <b>2</b>? {long} Next.") == "One. Two <b>2</b>?"


def test_each_meaning_stands_on_a_page_once_and_describes_all_links_to_it():
    term = '<a class="reference internal" href="../glossary.html#term-a">'
    paper = '<a class="reference internal" href="#ref-b" title="Nie &amp; Zhou. 2020.">'
    function = '<a class="reference internal" href="#f" title="f">'
    unknown = '<a class="reference internal" href="#term-b">'
    body = f"{term}a</a>{paper}Nie</a>{function}f</a>{unknown}b</a>{term}as</a>"
    made = with_definitions(body, {"term-a": "The <b>first</b>."})
    assert made.count('href="../glossary.html#term-a" aria-describedby="definition-1">') == 2
    assert made.count('<p role="tooltip" id="definition-1" hidden>The <b>first</b>.</p>') == 1
    assert 'href="#ref-b" aria-describedby="definition-2">' in made
    assert '<p role="tooltip" id="definition-2" hidden>Nie &amp; Zhou. 2020.</p>' in made
    assert f"{function}f</a>{unknown}b</a>" in made
    assert with_definitions("<p>None.</p>", {"term-a": "The first."}) == "<p>None.</p>"


@pytest.mark.browser
@pytest.mark.parametrize(("chapter", "link"), [("disagreement", TERM), ("annotations", REFERENCE)])
def test_a_meaning_is_shown_under_the_mouse_stays_there_and_goes_with_escape(
    open_at, chapter, link
):
    page = open_at(f"chapters/{chapter}")
    page.clock.install()
    first, shown = page.locator(link).first, page.locator("[role=tooltip]:visible")
    assert first.get_attribute("title") is None
    first.hover()
    page.clock.run_for(600)
    assert shown.get_attribute("id") == first.get_attribute("aria-describedby")
    shown.hover()
    page.clock.run_for(600)
    assert shown.is_visible()
    page.keyboard.press("Escape")
    assert not shown.is_visible()
    first.hover()
    page.clock.run_for(600)
    page.mouse.move(0, 0)
    page.clock.run_for(600)
    assert not shown.is_visible()


@pytest.mark.browser
def test_a_meaning_is_shown_where_the_keyboard_is(open_at):
    page = open_at("chapters/disagreement")
    page.clock.install()
    link, shown = page.locator(TERM).first, page.locator("[role=tooltip]:visible")
    page.keyboard.press("Tab")  # from here on, the keyboard is in use
    link.focus()
    assert shown.count() == 1
    page.mouse.move(300, 300)
    page.clock.run_for(600)
    assert shown.count() == 1
    page.keyboard.press("Tab")
    assert shown.count() == 0 or shown.get_attribute("id") != link.get_attribute("aria-describedby")


@pytest.mark.browser
def test_a_meaning_fits_a_phone_and_a_tap_leads_on(browser, site):
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = context.new_page()
    page.goto((site / "chapters" / "disagreement.html").as_uri())
    page.keyboard.press("Tab")
    for link in page.locator("article a[aria-describedby^=definition-]:visible").all():
        link.focus()
        box = page.locator("[role=tooltip]:visible").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        assert page.evaluate("document.scrollingElement.scrollWidth") <= 390
    page.emulate_media(media="print")
    assert page.locator("[role=tooltip]:visible").count() == 0
    page.emulate_media(media="screen")
    page.keyboard.press("Escape")
    page.locator(TERM).first.tap()
    page.wait_for_url("**/glossary.html#term-nonparametric-prior")
    context.close()
