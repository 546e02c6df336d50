"""The item explorer of a short book, in a real browser."""

import json
import re
import zlib
from base64 import b64decode

import numpy as np
import pytest
from helpers.checkout import PROJECT

from chaos_utils.base.inputs import Input
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.votes import Votes, frozen
from chaos_utils.metrics.divergence import entropy
from chaos_utils.publish import explorer, scripts
from chaos_utils.publish.dependencies import CHART_LIBRARY

pytestmark = pytest.mark.browser

DRAWN = pytest.mark.skipif(
    not (PROJECT / CHART_LIBRARY).is_file(), reason="Chart.js was not installed by npm"
)
EVIL = '<script>alert(1)</script> <img src="x" onerror="alert(2)"> & "quoted"'


def read(checkout, name):
    """Return what a data file of the page holds."""
    file = checkout / "_build" / "html" / "_static" / "explorer" / name
    return json.loads(zlib.decompress(b64decode(file.read_text("utf-8").split('"')[1])))


def instead(name, value):
    """Return a script that keeps a global from being set otherwise than to a value, packed."""
    script = scripts.packed(f"{name}_KEPT", value, "Changed.")
    kept = f"{{get: () => window.{name}_KEPT, set: () => {{}}}}"
    return f"{script} Object.defineProperty(window, '{name}', {kept});"


@pytest.fixture(scope="module")
def items(small_checkout):
    """The data of the page, by dataset."""
    return {dataset["name"]: dataset for dataset in read(small_checkout, "items.js")["datasets"]}


@pytest.fixture
def visit(browser, small_checkout):
    """Open the page at an address of its own; fails when anything went wrong on it."""
    context = browser.new_context(
        viewport={"width": 1280, "height": 900}, color_scheme="light",
        permissions=["clipboard-read", "clipboard-write"],
    )  # fmt: skip
    address = (small_checkout / "_build" / "html" / "explorer.html").as_uri()
    troubles = []

    def open_at(place="", script=""):
        page = context.new_page()
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: (troubles.append(dialog.message), dialog.dismiss()))
        if script:
            page.add_init_script(script)
        page.goto(address + place)
        page.wait_for_selector("#explorer tbody tr")
        return page

    yield open_at
    context.close()
    assert not troubles


def count(page):
    told = page.locator(".explorer-count").inner_text()
    return int(re.match(r"([\d,]+) of", told)[1].replace(",", ""))


def column(page, number):
    return page.locator(f"#explorer tbody td:nth-child({number})").all_inner_texts()


def title(page):
    return page.locator("dialog h2 code").inner_text()


def test_filters_leave_what_the_data_says_and_come_back_from_the_address(visit, items):
    page = visit()
    assert count(page) == sum(len(dataset["uids"]) for dataset in items.values())
    assert page.locator(".explorer-count").get_attribute("aria-live") == "polite"
    snli = items["snli"]
    page.get_by_label("Dataset").select_option("snli")
    page.get_by_label("Entropy from, in bits").fill("0.5")
    page.locator("[name=change]").select_option("changed")
    page.locator("[name=old]").select_option("neutral")
    name = page.locator("[name=system]").input_value()
    page.locator("[name=verdict]").select_option("wrong")
    page.get_by_label("Its JSD, at least").fill("0.3")
    (system,) = (system for system in snli["systems"] if system["name"] == name)
    expected = {
        snli["uids"][i]
        for i in range(len(snli["uids"]))
        if snli["entropy"][i] >= 5000
        and snli["majority"][i] != snli["old_label"][i] == 1
        and system["label"][i] != snli["majority"][i]
        and system["jsd"][i] >= 3000
    }
    assert 0 < len(expected) < 50
    assert set(page.locator("#explorer tbody code.uid").all_inner_texts()) == expected
    page.wait_for_function("location.search.includes('far=0.3')")
    again = visit(page.evaluate("location.search"))
    assert set(again.locator("#explorer tbody code.uid").all_inner_texts()) == expected
    assert again.locator("[name=old]").input_value() == "neutral"
    again.get_by_role("button", name="Clear filters").click()
    assert count(again) == sum(len(dataset["uids"]) for dataset in items.values())


def test_search_wants_all_words_in_any_case(visit, items):
    page = visit("?q=UMBRELLA+nurse")
    assert 0 < count(page) < len(items["snli"]["uids"])
    page.get_by_label("Search in texts and ids").fill(items["mnli"]["uids"][7])
    assert count(page) == 1
    page.get_by_label("Search in texts and ids").fill("no such words at all")
    assert "None of the" in page.locator(".explorer-count").inner_text()
    assert page.locator("#explorer tbody tr").count() == 0


def test_headers_sort_up_and_down(visit):
    page = visit()
    for name, number in (("Entropy", 3), ("JSD", 6)):
        button = page.get_by_role("columnheader", name=name).get_by_role("button")
        for way in ("ascending", "descending"):
            button.click()
            header = page.locator("#explorer [aria-sort]")
            assert header.get_attribute("aria-sort") == way
            assert name in header.inner_text()
            values = [float(text.split()[0]) for text in column(page, number)]
            assert len(values) == 50
            assert values == sorted(values, reverse=way == "descending")
    page.get_by_role("button", name="Next").click()
    assert "Page 2 of" in page.locator(".explorer-pages").inner_text()


def test_a_card_shows_votes_systems_neighbours_and_citations(visit, items):
    snli, i = items["snli"], 3
    page = visit("#" + snli["uids"][i])
    assert title(page) == snli["uids"][i]
    text = page.locator("dialog").inner_text()
    for n, label in zip((column[i] for column in snli["votes"]), snli["labels"], strict=True):
        assert f"{n} {label}" in text
    for system in snli["systems"]:
        row = page.locator("dialog tbody tr", has_text=system["name"]).inner_text()
        assert f"{system['jsd'][i] / 10_000:.3f}" in row
        assert f"{system['tvd'][i] / 10_000:.3f}" in row
    votes = list(zip(*snli["votes"], strict=True))
    apart = sorted(
        sum(abs(a - b) for a, b in zip(votes[i], other, strict=True)) / 200
        for j, other in enumerate(votes)
        if j != i
    )
    shown = page.locator(".card-neighbours li > span").all_inner_texts()
    assert [text.split()[-1] for text in shown] == [f"{tvd:.2f}" for tvd in apart[:6]]
    page.get_by_role("button", name="Copy: BibTeX").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("@misc{snli-")
    assert "@inproceedings{nie2020," in copied
    assert copied.count("{") == copied.count("}")


def test_the_browser_s_buttons_lead_through_cards(visit, items):
    one, other = items["snli"]["uids"][:2]
    page = visit(f"?dataset=snli#{one}")
    page.locator("dialog a", has_text="Next").click()
    assert title(page) == other
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="hidden")
    page.wait_for_function("location.hash === ''")
    page.go_back()
    assert title(page) == other
    page.go_back()
    assert title(page) == one
    page.go_forward()
    assert title(page) == other


@pytest.mark.parametrize("place", ["#%E0%A4%A", "?sort=x&page=0&dataset=y#no"])
def test_an_unknown_item_is_told_and_the_list_still_works(visit, place):
    page = visit(place)
    message = page.get_by_role("alert")
    assert "No item has the id" in message.inner_text()
    assert not page.locator("dialog").is_visible()
    page.locator("#explorer tbody a").first.click()
    assert page.locator("dialog").is_visible()
    assert not message.is_visible()


def test_text_of_items_is_text(visit, small_checkout):
    texts = read(small_checkout, "texts.js")
    texts["snli"][0][0] = EVIL
    page = visit(script=instead("CHAOS_TEXTS", texts))
    link = page.locator("#explorer tbody a").first
    assert EVIL in link.inner_text()
    link.click()
    assert EVIL in page.locator("dialog").inner_text()
    assert page.locator("#explorer :is(script, img)").count() == 0

    data = read(small_checkout, "items.js")
    data["datasets"][0]["uids"][0] = EVIL
    page = visit(script=instead("CHAOS_ITEMS", data))
    page.locator("#explorer tbody a").first.click()
    assert title(page) == EVIL
    page.locator("dialog a", has_text="Next").click()
    page.go_back()
    assert title(page) == EVIL  # its address leads to it
    assert page.locator("#explorer :is(script, img)").count() == 0


def test_all_is_reached_by_keyboard(visit):
    page = visit()
    page.get_by_label("Its JSD, at least").focus()
    for _ in range(10):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('#explorer tbody a')"):
            break
    name = page.evaluate("document.activeElement.querySelector('code').textContent")
    page.keyboard.press("Enter")
    assert title(page) == name
    assert page.evaluate("document.activeElement.closest('dialog') !== null")
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="hidden")
    assert page.evaluate("document.activeElement.querySelector('code').textContent") == name


DRAWING = "Chart.getChart(document.querySelector('#explorer .simplex canvas'))"


@DRAWN
def test_points_follow_the_filters_and_open_their_items(visit, items):
    page = visit("?dataset=snli")
    page.wait_for_selector(".explorer-drawing:not([hidden])")
    assert page.locator(".simplex").is_visible()
    assert not page.locator(".strip").is_visible()
    page.locator("[name=change]").select_option("changed")
    sizes = page.evaluate(f"{DRAWING}.data.datasets.map((set) => set.data.length)")
    assert sum(sizes[1:]) == count(page)
    assert sum(sizes) == len(items["snli"]["uids"])
    assert f"{count(page)} of" in page.locator(".simplex canvas").get_attribute("aria-label")
    row = page.locator("#explorer tbody tr").first
    row.hover()
    assert page.locator(".simplex .mark").is_visible()
    point = page.evaluate(
        f"(() => {{ const at = {DRAWING}.getDatasetMeta(2).data[0]; return [at.x, at.y]; }})()"
    )
    page.locator(".simplex canvas").click(position={"x": point[0], "y": point[1]})
    page.locator("dialog").wait_for()
    chosen = page.evaluate("decodeURIComponent(location.hash.slice(1))")
    assert title(page) == chosen
    votes = dict(zip(items["snli"]["uids"], zip(*items["snli"]["votes"], strict=True), strict=True))
    drawn = page.evaluate(f"{DRAWING}.data.datasets[2].data[0].item.votes")
    assert list(votes[chosen]) == drawn  # that item, or one on the same spot


@DRAWN
def test_points_take_the_look_of_the_page(visit):
    page = visit()
    page.wait_for_selector(".explorer-drawing:not([hidden])")
    for mode in ("dark", "light"):
        page.evaluate("mode => { document.documentElement.dataset.theme = mode; }", mode)
        colour = page.evaluate(f"{DRAWING}.data.datasets[1].backgroundColor")
        assert colour.startswith(getattr(get_dataset("snli").classes[0].colour, mode))


MOODS = Dataset.model_validate(
    {
        "name": "moods",
        "title": "Moods <b>& others</b>",
        "labels": ["joy", "anger", {"name": "no mood at all", "code": "none"}, "fear"],
        "release": {"title": "Moods 1.0"},
        "files": [{"name": "moods.csv"}],
        "reader": {"format": "chaosnli"},
    }
)


@pytest.fixture(scope="module")
def moods():
    """Votes on items of four labels, 7 to 20 on each; neither texts nor old labels."""
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.full(4, 0.6), 60)
    counts = np.array([rng.multinomial(7 + i % 14, row) for i, row in enumerate(shares)])
    counts[0] = (10, 0, 0, 0)
    return Votes(
        dataset=MOODS,
        uids=tuple(f"m{i:02}" for i in range(len(counts))),
        counts=frozen(counts),
        majority=frozen(counts.argmax(axis=1)),
        source=Input("moods.csv", "", synthetic=False),
    )


@DRAWN
def test_a_dataset_of_four_labels_with_nothing_but_votes_is_shown(visit, small_checkout, moods):
    data = read(small_checkout, "items.js")
    made = explorer.columns(moods, []) | {"paper": ""}

    def shown(datasets, place=""):
        items = instead("CHAOS_ITEMS", data | {"datasets": datasets})
        texts = read(small_checkout, "texts.js") | {"moods": explorer.texts(moods)}
        page = visit(place, items + instead("CHAOS_TEXTS", texts))
        page.wait_for_selector(".explorer-drawing:not([hidden])")
        return page

    page = shown([made])
    assert count(page) == 60
    for name in ("change", "old", "system", "verdict", "far"):
        assert not page.locator(f"[name={name}]").is_visible()
    assert page.locator(".explorer-filters .wide").inner_text() == "Search in ids"
    assert not page.get_by_role("columnheader", name="JSD").is_visible()
    assert page.get_by_label("Entropy to, in bits").get_attribute("max") == "2.000"
    assert page.locator(".legend").inner_text().split("\n") == list(MOODS.labels)
    chart = "Chart.getChart(document.querySelector('#explorer .spread canvas'))"
    points = page.evaluate(
        f"{chart}.data.datasets.flatMap(set => set.data).map(p => [p.item.uid, p.x, p.y])"
    )
    rows = [moods.index(uid) for uid, _, _ in points]
    assert [x for _, x, _ in points] == pytest.approx(moods.shares.max(axis=1)[rows])
    bits = entropy(moods.shares, unit="bits")[rows]
    assert [y for _, _, y in points] == pytest.approx(bits, abs=1e-4)
    page.locator("#explorer tbody a").first.click()
    card = page.locator("dialog")
    text = card.inner_text()
    assert "10 joy, 0 anger, 0 no mood at all, 0 fear" in text
    assert "10 votes" in text
    assert "riginal" not in text
    assert "Systems" not in text
    assert "Data: Moods 1.0." in text
    assert "@misc{moods-m00," in text
    assert "inproceedings" not in text

    # Beside others, what they have is there, and goes where this one alone is asked for.
    page = shown([*data["datasets"], made], "?dataset=moods&change=changed&far=0.2&sort=-jsd")
    assert count(page) == 60
    assert page.locator("#explorer figure:visible").count() == 1
    page.get_by_label("Dataset").select_option("")
    assert page.locator("#explorer figure:visible").count() == 3
    page.locator("[name=system]").wait_for()
    page.locator("[name=change]").select_option("changed")
    assert 0 < count(page) < 200
    page.get_by_label("Dataset").select_option("moods")
    assert count(page) == 60
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function("document.scrollingElement.scrollWidth === 390")


def test_links_of_the_first_edition_lead_where_they_did(visit, items):
    page = visit("?task=mnli")
    assert page.get_by_label("Dataset").input_value() == "mnli"
    assert count(page) == len(items["mnli"]["uids"])


def test_without_the_library_all_but_the_drawing_is_there(visit, small_checkout):
    data = read(small_checkout, "items.js") | {"drawn": False}
    page = visit(script=instead("CHAOS_ITEMS", data))
    page.get_by_text("The points are not drawn here").wait_for()
    assert not page.locator(".explorer-drawing").is_visible()
    page.get_by_label("Dataset").select_option("mnli")
    page.locator("#explorer tbody a").first.click()
    assert page.locator("dialog").is_visible()
