"""The cards of claims in the short book, in a real browser."""

import pytest
from helpers.pages import wait_until

pytestmark = pytest.mark.browser

PAGE, CARDS = "chapters/disagreement", "article.claim"


@pytest.fixture(scope="module")
def page(open_at):
    """The page with the cards, loaded once."""
    return open_at(PAGE)


def shown(page):
    return [one.get_attribute("id") for one in page.locator(CARDS).all() if one.is_visible()]


def box(page, name):
    return page.get_by_role("checkbox", name=name)


def test_a_card_says_its_verdict_claim_place_and_evidence_and_folds_the_rule(page):
    first = page.locator("#claim-c01")
    said = {"h3": "It is so.", ".claim-place": "c01 · Nie et al. 2020, Table 1"}
    for place, words in (said | {".claim-found": "It is what it is."}).items():
        assert first.locator(place).inner_text().startswith(words)
    assert not first.get_by_text("is above 0").is_visible()
    first.locator("summary").click()
    assert first.get_by_text("2.00 [1.00, 3.00]").is_visible()
    verdicts = page.locator(f"{CARDS} .claim-verdict").all_inner_texts()
    assert verdicts == [
        "✓ holds", "✗ does not hold in substance", "✎ slip in print",
        "? cannot be checked with released data",
    ]  # fmt: skip
    links = page.locator(f"{CARDS} .claim-items a")
    assert links.get_attribute("href") == "../explorer.html?dataset=snli&change=changed"
    assert page.locator("#claim-c03 h3").inner_text().startswith("<script>document.title")
    assert page.title() != "harm"
    assert page.locator(f"{CARDS} script, {CARDS} b").count() == 0


def test_the_filter_counts_works_by_keyboard_and_the_address_remembers(page):
    status = page.locator("#claims-filter [role=status]")
    assert status.inner_text() == "4 of 4 claims shown"
    box(page, "does not hold").click()
    assert shown(page) == ["claim-c02"]  # the first click asks for one
    box(page, "slip in print").check()
    assert shown(page) == ["claim-c02", "claim-c03"]
    box(page, "cannot be checked").check()
    assert shown(page) == ["claim-c02", "claim-c03", "claim-c04"]
    box(page, "Baan et al. 2022").focus()
    page.keyboard.press("Space")
    assert shown(page) == ["claim-c03", "claim-c04"]
    assert status.inner_text() == "2 of 4 claims shown"
    assert page.url.endswith("?verdict=substance+print+open&paper=baan2022")
    page.reload()
    assert shown(page) == ["claim-c03", "claim-c04"]
    assert not box(page, "Nie et al. 2020").is_checked()
    box(page, "Baan et al. 2022").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Show all"
    page.keyboard.press("Enter")
    assert len(shown(page)) == 4
    assert page.evaluate("document.activeElement.name") == "verdict"
    assert page.url.endswith("disagreement.html")


def test_an_address_of_an_earlier_edition_shows_both_kinds_of_what_does_not_hold(open_at):
    assert shown(open_at(PAGE, "?verdict=fails")) == ["claim-c02", "claim-c03"]


def test_a_link_to_a_claim_shows_it_whatever_is_filtered(open_at):
    page = open_at(PAGE, "?verdict=holds#claim-c03")
    assert len(shown(page)) == 4
    wait_until(
        page, "Math.abs(document.getElementById('claim-c03').getBoundingClientRect().top) < 200"
    )
    box(page, "holds").click()
    assert shown(page) == ["claim-c01"]
    page.get_by_role("link", name="the third").click()
    wait_until(page, "document.getElementById('claim-c03').offsetParent !== null")
    page.locator("#claim-c02").get_by_role("link", name="Link to claim c02").click()
    assert page.url.endswith("#claim-c02")


def test_without_scripts_all_claims_show_and_no_control_does(browser, site):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / f"{PAGE}.html").as_uri() + "?verdict=holds")
    assert page.locator(CARDS).locator("visible=true").count() == 4
    assert not page.locator("#claims-filter").is_visible()
    context.close()
