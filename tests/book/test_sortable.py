"""Tables that the reader sorts, filters and unfolds, without the rest of the book."""

import pytest
from helpers.pages import watch
from helpers.widgets import sortable_page

from chaos_utils.report.manifests import Display, ShownAlone

HEADER = [["dataset"], ["system"], ["place"], ["worth"], ["how"]]
SYSTEMS = [
    ("a model", "10–12", "−1.2 [−1.4, −1.0]", "label"),
    ("<b>evil</b>", "2", "1,200.5 [1, 2]", "10 answers"),
    ("Zeta", "3–11", "0.9 (3–11)", "label, seen"),
    ("people", "–", "∞", ""),
    ("far", "14", "−∞", ""),
]
MANY = [(f"system {n}", f"{n}", f"{20 - n}.0", "model") for n in range(1, 21)]
ROWS = [["one", *row] for row in SYSTEMS] + [["two", *row] for row in MANY]
TABLE = Display(header=HEADER, rows=ROWS, headed=True)
# Zeta and the even ones of the second group, with other titles and places.
ALONE = ShownAlone(
    label="Only <some>", columns=[0, 2],
    rows=[
        ["one, fewer", "1–2"] if row[1] == "Zeta"
        else ["two, fewer", f"{10 - n // 2}"] if row[0] == "two" and n % 2 == 0 else None
        for n, row in enumerate(ROWS, 1 - len(SYSTEMS))
    ],
)  # fmt: skip
SHOWN = "tbody:not(.folded) tr:not(.folded) [scope=row]"


@pytest.fixture
def opened(browser, tmp_path):
    """A page with two groups of rows on a phone; no fault may occur."""
    troubles = []
    page = browser.new_page(viewport={"width": 390, "height": 900})
    watch(page, troubles)
    page.goto(sortable_page(tmp_path, TABLE, "worth"))
    yield page
    page.close()
    assert not troubles


def names(page):
    return page.locator(SHOWN).all_inner_texts()


def sorted_by(page):
    """Return the columns that are said to be sorted, and how."""
    headings = page.locator("th[aria-sort]").all()
    return [(one.inner_text(), one.get_attribute("aria-sort")) for one in headings]


@pytest.mark.browser
def test_a_heading_sorts_by_numbers_or_words_and_then_the_other_way(opened):
    status = opened.get_by_role("status")
    assert sorted_by(opened) == [("worth", "descending")]
    assert status.inner_text() == "5 of 5 rows, by worth, highest first."
    opened.get_by_role("button", name="worth").click()
    assert names(opened) == ["far", "a model", "Zeta", "<b>evil</b>", "people"]
    assert sorted_by(opened) == [("worth", "ascending")]
    opened.get_by_role("button", name="worth").click()
    assert names(opened) == ["people", "<b>evil</b>", "Zeta", "a model", "far"]
    # What has no place comes last, either way.
    for expected in (["far", "a model", "Zeta"], ["<b>evil</b>", "Zeta", "a model"]):
        opened.get_by_role("button", name="place").click()
        assert names(opened)[:3] == expected
        assert names(opened)[-1] == "people"
    opened.get_by_role("button", name="system").click()
    assert names(opened) == ["<b>evil</b>", "a model", "far", "people", "Zeta"]
    assert status.inner_text() == "5 of 5 rows, by system, from A to Z."


@pytest.mark.browser
def test_a_table_may_stand_in_an_order_of_its_own(browser, tmp_path):
    page = browser.new_page()
    page.goto(sortable_page(tmp_path, TABLE, ""))
    assert sorted_by(page) == []
    assert page.get_by_role("status").inner_text() == "5 of 5 rows."
    before = names(page)
    page.get_by_role("button", name="system").click()
    assert names(page) == sorted(before, key=str.casefold)
    assert page.get_by_role("status").inner_text() == "5 of 5 rows, by system, from A to Z."


@pytest.mark.browser
def test_a_table_may_stand_with_the_lowest_first(browser, tmp_path):
    page = browser.new_page()
    page.goto(sortable_page(tmp_path, TABLE, "worth", is_lowest_first=True))
    assert sorted_by(page) == [("worth", "ascending")]
    assert page.get_by_role("status").inner_text() == "5 of 5 rows, by worth, lowest first."
    page.get_by_role("button", name="worth").click()
    assert sorted_by(page) == [("worth", "descending")]
    assert names(page)[0] == "people"
    page.close()


@pytest.mark.browser
def test_a_group_is_shown_folded_and_all_of_it_by_keyboard(opened):
    assert opened.get_by_label("Show").locator("option").all_inner_texts() == ["one", "two"]
    unfold = opened.locator(".unfold")
    assert not unfold.is_visible()
    opened.get_by_label("Show").select_option(label="two")
    assert names(opened) == [f"system {n}" for n in range(1, 13)]
    assert opened.locator("tbody [scope=rowgroup]:visible").all_inner_texts() == ["two"]
    unfold.focus()
    opened.keyboard.press("Enter")
    assert len(names(opened)) == 20
    assert unfold.inner_text() == "Show 12 rows"
    opened.get_by_role("button", name="worth").focus()
    opened.keyboard.press("Space")
    assert names(opened)[0] == "system 20"
    opened.keyboard.press("Shift+Tab")
    assert opened.evaluate("document.activeElement.textContent") == "place"


@pytest.mark.browser
def test_words_filter_the_rows_of_a_group(opened):
    words = opened.get_by_label("Only rows with")
    words.fill("LABEL seen")
    assert names(opened) == ["Zeta"]
    assert opened.get_by_role("status").inner_text().startswith("1 of 5 rows")
    words.fill("<b>")
    assert names(opened) == ["<b>evil</b>"]
    words.fill("nothing of the kind")
    assert names(opened) == []
    words.fill("")
    assert len(names(opened)) == 5
    opened.get_by_label("Show").select_option(label="two")
    words.fill("13")
    assert names(opened) == ["system 7", "system 13"]  # 13.0, and one that is folded otherwise


@pytest.mark.browser
def test_without_a_script_and_on_paper_all_rows_stand_there(browser, opened, tmp_path):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(sortable_page(tmp_path, TABLE.model_copy(update={"alone": ALONE}), "worth"))
    assert page.locator("tbody tr:visible").count() == len(ROWS) + 2
    assert not page.locator(".sortable").is_visible()
    said = page.locator("noscript").inner_text()
    assert said.startswith("All rows are shown.")
    assert "“Only <some>”" in said
    context.close()
    opened.emulate_media(media="print")
    assert opened.locator("tbody tr:visible").count() == len(ROWS) + 2
    assert not opened.locator(".sortable, .unfold").first.is_visible()


@pytest.mark.browser
def test_some_rows_are_shown_alone_with_what_they_say_then_and_all_again(browser, tmp_path):
    page = browser.new_page(viewport={"width": 390, "height": 900})
    troubles = []
    watch(page, troubles)
    page.goto(sortable_page(tmp_path, TABLE.model_copy(update={"alone": ALONE}), "worth"))
    before = sorted(page.locator("tbody tr").all_text_contents())
    box, status = page.get_by_label("Only <some>"), page.get_by_role("status")
    shown = page.get_by_role("combobox")
    box.focus()
    page.keyboard.press("Space")
    assert names(page) == ["Zeta"]
    assert page.locator(f"{SHOWN} + td").all_inner_texts() == ["1–2"]
    assert status.inner_text() == "1 of 1 rows, by worth, highest first."
    assert page.locator("[scope=rowgroup]").all_text_contents() == ["one, fewer", "two, fewer"]
    assert shown.locator("option").all_inner_texts() == ["one, fewer", "two, fewer"]
    shown.select_option(label="two, fewer")
    evens = [f"system {n}" for n in range(2, 21, 2)]
    assert names(page) == evens
    # It is sorted by the places that are shown; words find these too.
    page.get_by_role("button", name="place").click()
    page.get_by_role("button", name="place").click()
    assert names(page) == evens[::-1]
    page.get_by_label("Only rows with").fill("two")
    assert names(page) == []
    page.get_by_label("Only rows with").fill("")
    page.get_by_role("button", name="worth").click()
    box.uncheck()
    assert len(names(page)) == 12
    shown.select_option(label="one")
    assert sorted(page.locator("tbody tr").all_text_contents()) == before
    page.close()
    assert not troubles


@pytest.mark.browser
def test_a_note_on_a_mark_is_shown_beside_rows_that_have_it(browser, tmp_path):
    rows = [["one", "plain", "1"], ["two", "seen†", "2"]]
    table = Display(header=[["dataset"], ["system"], ["worth"]], rows=rows, headed=True)
    page = browser.new_page()
    page.goto(sortable_page(tmp_path, table, "worth"))
    note = page.locator(".caution")
    assert not note.is_visible()
    page.get_by_role("combobox").select_option(label="two")
    assert note.is_visible()
    page.close()
