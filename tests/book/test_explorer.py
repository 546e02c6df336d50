"""The item explorer of a short book, in a real browser."""

import re

import numpy as np
import pandas as pd
import pytest
from helpers.checkout import PROJECT
from helpers.pages import instead, unpacked, violations, wait_until
from helpers.predictions import made_dataset, made_votes

from chaos_utils.metrics.agreement import leads
from chaos_utils.metrics.divergence import entropy
from chaos_utils.pages import explorer
from chaos_utils.publish import scripts
from chaos_utils.publish.dependencies import CHART_LIBRARY

pytestmark = pytest.mark.browser

DRAWN = pytest.mark.skipif(
    not (PROJECT / CHART_LIBRARY).is_file(), reason="Chart.js was not installed by npm"
)
EVIL = '<script>alert(1)</script> <img src="x" onerror="alert(2)"> & "quoted"'


def read(checkout, name):
    """Return what a data file of the page holds."""
    file = checkout / "_build" / "html" / "_static" / "explorer" / name
    return unpacked(file.read_text("utf-8"))


@pytest.fixture(scope="module")
def items(small_checkout):
    """The data of the page, by dataset."""
    return {dataset["name"]: dataset for dataset in read(small_checkout, "items.js")["datasets"]}


@pytest.fixture(scope="module")
def texts(small_checkout):
    """The texts of the page's items, by dataset: a list for each field."""
    return read(small_checkout, "texts.js")


@pytest.fixture(scope="module")
def load(open_at):
    """Load the page at an address, after a script."""

    def loaded(place="", script=""):
        page = open_at("explorer", place, script)
        page.wait_for_selector("#explorer tbody tr")
        return page

    return loaded


def go(page, place):
    """Bring a page that is loaded to another address, as the browser's buttons do."""
    page.clock.run_for(300)  # what was asked for enters the address after a rest
    page.evaluate("place => history.pushState(null, '', location.pathname + place)", place)
    page.evaluate("dispatchEvent(new PopStateEvent('popstate'))")


@pytest.fixture(scope="module")
def visit(load):
    """Bring one page, loaded once for all tests that bring no data of their own, to an address."""
    page = load()
    page.clock.install()

    def at(place=""):
        go(page, place)
        return page

    return at


def count(page):
    said = page.locator(".explorer-count").inner_text()
    return int(re.match(r"([\d,]+) of", said)[1].replace(",", ""))


def shown(page):
    return page.locator("#explorer tbody.found code.uid").all_inner_texts()


def choose(page, **values):
    for name, value in values.items():
        page.locator(f"#explorer [name={name}]").select_option(value)


def offered(page, name):
    """Return how many items each choice of a list would leave; None where it is not offered."""
    choices = page.locator(f"#explorer [name={name}] option").evaluate_all(
        "all => all.map(one => [one.value, one.disabled ? '' : one.textContent])"
    )
    numbers = {value: re.search(r"\(([\d,]+)\)$", text) for value, text in choices}
    return {value: int(n[1].replace(",", "")) if n else None for value, n in numbers.items()}


def title(page):
    return page.locator("dialog h2 code").inner_text()


def test_filters_leave_what_the_data_says_and_come_back_from_the_address(visit, items):
    page = visit()
    everything = sum(len(dataset["uids"]) for dataset in items.values())
    assert count(page) == everything
    assert page.locator(".explorer-count").get_attribute("aria-live") == "polite"
    snli = items["snli"]
    page.get_by_label("Dataset").select_option("snli")
    page.get_by_label("Entropy from, in bits").fill("0.5")
    name = page.locator("[name=system]").input_value()
    choose(page, change="changed", old="neutral", verdict="wrong")
    page.get_by_label("System’s JSD, at least").fill("0.3")
    (system,) = (system for system in snli["systems"] if system["name"] == name)
    majority, old = np.array(snli["majority"]), np.array(snli["old_label"])
    bits = entropy(np.transpose(snli["votes"]) / 100, unit="bits").round(4)  # as the page does
    fits = (majority != old) & (old == 1) & (majority != system["label"])
    fits &= (bits >= 0.5) & (np.array(system["jsd"]) >= 3000)
    expected = set(np.array(snli["uids"])[fits])
    assert 0 < len(expected) < 50
    assert set(shown(page)) == expected
    wait_until(page, "location.search.includes('far=0.3')")
    page.reload()
    page.wait_for_selector("#explorer tbody tr")
    assert set(shown(page)) == expected
    assert page.locator("[name=old]").input_value() == "neutral"
    page.get_by_role("button", name="Clear filters").click()
    assert count(page) == everything


def test_a_search_wants_all_words_finds_phrases_and_leaves_words_out(visit, items, texts):
    page = visit("?dataset=snli&q=UMBRELLA+nurse")
    pairs = [f"{one}\n{other}".lower() for one, other in zip(*texts["snli"], strict=True)]
    phrase = " ".join(texts["snli"][0][0].lower().split()[:2])
    both = sum("nurse" in pair and "umbrella" in pair for pair in pairs)
    with_umbrella = sum("umbrella" in pair for pair in pairs)
    assert count(page) == both > 0
    for asked, expected in {
        f'"{phrase}"': sum(phrase in pair for pair in pairs),
        "umbrella -Nurse": with_umbrella - both,
        f'-"{phrase}" -': sum(phrase not in pair for pair in pairs),
        items["snli"]["uids"][7]: 1,
    }.items():
        page.get_by_label("Search in texts and ids").fill(asked)
        assert count(page) == expected > 0, asked
    page.get_by_label("Search in texts and ids").fill("no such words at all")
    assert "None of the" in page.locator(".explorer-count").inner_text()
    assert page.locator("#explorer tbody tr").count() == 0


def test_a_card_shows_votes_systems_neighbours_and_citations(visit, items):
    snli, i = items["snli"], 3
    page = visit("#" + snli["uids"][i])
    assert title(page) == snli["uids"][i]
    text = page.locator("dialog").inner_text()
    votes = np.transpose(snli["votes"])
    for n, label in zip(votes[i], snli["labels"], strict=True):
        assert f"{n} {label}" in text
    for system in snli["systems"]:
        row = page.locator("dialog tbody tr", has_text=system["name"]).inner_text()
        assert f"{system['jsd'][i] / 10_000:.3f}" in row
        shares = np.array(system["shares"])[:, i] / 10_000
        apart = np.abs([*shares, 1 - sum(shares)] - votes[i] / 100)
        assert f"{apart.sum() / 2:.3f}" in row
    apart = np.sort(np.abs(np.delete(votes, i, axis=0) - votes[i]).sum(axis=1) / 200)
    nearest = page.locator(".card-neighbours li > span").all_inner_texts()
    assert [text.split()[-1] for text in nearest] == [f"{tvd:.2f}" for tvd in apart[:6]]
    page.get_by_role("button", name="Copy: BibTeX").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("@misc{snli-")
    assert "@inproceedings{nie2020," in copied
    assert copied.count("{") == copied.count("}")


def test_an_old_label_is_clearly_outvoted_where_the_new_majority_leads_beyond_chance(visit, items):
    for name in ("snli", "mnli"):
        data = items[name]
        votes = np.transpose(data["votes"])
        each = np.arange(len(votes))
        clear = leads(votes[each, data["majority"]], votes[each, data["old_label"]])
        changed = np.not_equal(data["majority"], data["old_label"])
        page = visit(f"?dataset={name}&change=changed")
        words = page.locator("td.needs-old small").all_inner_texts()
        assert 0 < len(words) <= changed.sum()
        if len(words) == changed.sum():  # all on one page
            assert words.count("clearly outvoted") == (clear & changed).sum()
        assert set(words) <= {"clearly outvoted", "too close to call"}
        for verdict, several in (
            ("clearly outvoted", clear & changed),
            ("too close", changed & ~clear),
        ):
            for i in np.flatnonzero(several)[:1]:
                page = visit("#" + data["uids"][i])
                assert f", is {verdict}" in page.locator("dialog").inner_text()


def test_a_majority_that_chance_may_bring_is_too_close_to_call(visit, items):
    for name in ("snli", "alphanli"):
        votes, majority = np.transpose(items[name]["votes"]), np.array(items[name]["majority"])
        each = np.arange(len(votes))
        others = votes.copy()
        others[each, majority] = -1
        second = others.max(axis=1)
        close = ~leads(votes[each, majority], second) & (second > 0)
        page = visit(f"?dataset={name}&sort=share")
        assert 0 < close.sum() < len(votes)
        words = page.locator("tbody.found td:nth-child(4)").all_inner_texts()
        uids = shown(page)
        assert ["too close to call" in text for text in words] == [
            bool(close[items[name]["uids"].index(uid)]) for uid in uids
        ]
        tied = second == votes[each, majority]
        for i in (int(np.flatnonzero(close & ~tied)[0]), int(np.flatnonzero(~close)[0])):
            page = visit("#" + items[name]["uids"][i].replace("#", "%23"))
            said = f", against {second[i]}% for the next label: too close to call" in (
                page.locator("dialog").inner_text()
            )
            assert said == close[i]


def test_labels_that_tie_for_most_votes_are_named_together(load, small_checkout):
    data = read(small_checkout, "items.js")
    snli = data["datasets"][0]
    n, uid = len(snli["uids"]), snli["uids"][0]
    columns = np.transpose(snli["votes"])
    columns[0] = 34, 32, 34
    snli |= {"votes": columns.T.tolist(), "majority": [2, *snli["majority"][1:]]}
    one, third, other = snli["labels"]
    tie = f"The labels {one} and {other} tie with 34% of the votes each"
    stated = f"; the data file gives {other} as the majority label"
    for old, shared, said in (
        (2, False, f"{stated}. The old label is {other}."),
        (1, False, f"{stated}. The old label, {third}, is too close to call."),
        (0, True, f". The old label, {one}, is too close to call."),
    ):
        snli |= {"old_label": [old] * n, "ties_share": shared}
        page = load(f"?dataset=snli#{uid}", instead("CHAOS_ITEMS", data))
        text = page.locator("dialog").inner_text()
        assert f"{tie}{said}" in text
        assert "against" not in text
        page.close()


def test_language_models_and_labels_alone_stand_on_the_card(load, small_checkout):
    data = read(small_checkout, "items.js")
    snli = data["datasets"][0]
    n, system = len(snli["uids"]), snli["systems"][2]
    asked = [[20, 10, 2], *[[None] * 3] * (n - 1)]
    snli["machines"] = {
        "n": 32, "source": f"Labels {EVIL}", "votes": np.transpose(asked).tolist()
    }  # fmt: skip
    system |= {"jsd": [None] * n, "mean_jsd": None, "origin": "submitted", "name": EVIL}
    system["title"] = f"Called {EVIL}"
    page = load(f"?dataset=snli#{snli['uids'][0]}", instead("CHAOS_ITEMS", data))
    card = page.locator("dialog")
    card.get_by_text("32 language models").wait_for()
    text = card.inner_text()
    assert "20 entailment, 10 neutral, 2 contradiction" in text
    assert f"Labels {EVIL}: one label each. They may have seen the item" in text
    row = card.locator("tbody tr", has_text=f"Called {EVIL}, submitted")
    cells = row.locator("td").all_inner_texts()
    expected = ["–"] * 3
    expected[system["label"][0]] = "label"
    assert cells == ["one label", *expected, "–", "–"]
    page.keyboard.press("Escape")
    # It can be chosen: its labels are right or wrong, and it has no distance to sort by.
    choose(page, system=EVIL, verdict="right")
    right = np.array(system["label"]) == np.array(snli["majority"])
    assert count(page) == right.sum()
    page.get_by_role("columnheader", name="JSD").get_by_role("button").click()
    uids = [uid for uid, is_right in zip(snli["uids"], right, strict=True) if is_right]
    assert shown(page) == uids[:50]
    choose(page, other=snli["systems"][0]["name"])
    cells = page.locator("tbody.found td:nth-child(7)").all_inner_texts()
    assert set(cells) == {"–"}
    page.locator("#explorer tbody.found a").nth(1).click()
    assert "none were asked about this item" in card.inner_text()
    assert page.locator("#explorer :is(script, img)").count() == 0


def test_the_browser_s_buttons_lead_through_cards(visit, items):
    one, other = items["snli"]["uids"][:2]
    page = visit(f"?dataset=snli#{one}")
    page.locator("dialog a", has_text="Next").click()
    assert title(page) == other
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="hidden")
    wait_until(page, "location.hash === ''")
    page.go_back()
    assert title(page) == other
    page.go_back()
    assert title(page) == one
    page.go_forward()
    assert title(page) == other


def test_an_unknown_item_is_reported_and_the_list_still_works(visit):
    page = visit("?sort=x&page=0&dataset=y#%E0%A4%A")
    message = page.get_by_role("alert")
    assert "No item has the id" in message.inner_text()
    assert not page.locator("dialog").is_visible()
    page.locator("#explorer tbody a").first.click()
    assert page.locator("dialog").is_visible()
    assert not message.is_visible()


def test_text_of_items_is_text_also_where_no_point_can_be_drawn(load, small_checkout):
    texts, data = read(small_checkout, "texts.js"), read(small_checkout, "items.js")
    texts["snli"][0][0] = EVIL
    data["datasets"][0]["uids"][0] = f"uid {EVIL}"
    data["drawn"] = False  # without Chart.js
    page = load(script=instead("CHAOS_TEXTS", texts) + instead("CHAOS_ITEMS", data))
    page.get_by_text("The points are not drawn because").wait_for()
    assert not page.locator(".explorer-drawing").is_visible()
    link = page.locator("#explorer tbody a").first
    assert EVIL in link.inner_text()
    link.click()
    assert EVIL in page.locator("dialog").inner_text()
    assert title(page) == f"uid {EVIL}"
    page.locator("dialog a", has_text="Next").click()
    page.go_back()
    assert title(page) == f"uid {EVIL}"  # its address leads to it
    assert page.locator("#explorer :is(script, img)").count() == 0


def test_filters_fold_on_a_phone_and_say_how_many_are_set(load):
    page = load("?dataset=snli&low=0.5")
    folded, search = page.locator(".explorer-fold summary"), page.locator("#explorer [name=q]")
    assert search.is_visible()
    assert not folded.is_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    search.wait_for(state="hidden")
    assert folded.inner_text() == "Filters (2 set)"
    folded.click()
    page.get_by_role("button", name="Clear filters").click()
    assert folded.inner_text() == "Filters (none set)"
    folded.click()
    page.set_viewport_size({"width": 1280, "height": 900})
    search.wait_for()


def test_all_is_reached_by_keyboard(visit):
    page = visit()
    page.get_by_label("System’s JSD, at least").focus()
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


def test_lists_offer_what_some_item_fits_and_say_how_many(visit, items):
    page = visit("?dataset=snli&old=neutral")
    snli = items["snli"]
    majority, old = np.array(snli["majority"]), np.array(snli["old_label"])
    found = np.bincount(majority[old == 1], minlength=3)
    assert offered(page, "majority") == {"": None} | dict(zip(snli["labels"], found, strict=True))
    choose(page, change="changed", majority="contradiction")
    assert count(page) == found[2]
    assert offered(page, "change")["kept"] is None
    choose(page, dataset="alphanli")  # its labels are others: the filter goes
    assert page.locator("[name=majority]").input_value() == ""
    assert count(page) == offered(page, "change")["changed"]


@pytest.mark.slow
def test_two_systems_are_compared(visit, items):
    snli = items["snli"]
    one, other = sorted(snli["systems"], key=lambda system: sum(system["jsd"]))[:2]
    page = visit(f"?dataset=snli&other={other['name'].replace(' ', '+')}")
    assert page.locator("[name=system]").input_value() == one["name"]  # the closest
    choices = page.locator("#explorer [name=other] option:not([disabled])").all_inner_texts()
    names = [system["name"] for system in snli["systems"]]
    assert [name for name in names if name not in choices] == [one["name"]]
    page.get_by_role("columnheader", name="Difference").get_by_role("button").click()
    apart = sorted((a - b) / 10_000 for a, b in zip(one["jsd"], other["jsd"], strict=True))
    cells = page.locator("#explorer tbody.found td:nth-child(7)").all_inner_texts()
    said = [float(text.replace("−", "-")) for text in cells]
    assert said == pytest.approx(apart[:50], abs=0.0051)
    page.locator("#explorer tbody a").first.click()
    assert f"{one['name']} is nearer to the votes" in page.locator("dialog").inner_text()


@pytest.mark.slow
def test_pinned_items_stay_at_the_top_and_in_the_address(visit, items):
    uids = items["snli"]["uids"]
    page = visit("?dataset=snli&sort=-entropy")
    first = shown(page)[0]
    page.get_by_role("button", name=f"Pin SNLI {first}").first.click()
    assert page.evaluate("document.activeElement.dataset.pin") == f"snli/{first}"
    page.evaluate("uid => { location.hash = '#' + encodeURIComponent(uid); }", uids[0])
    page.locator("dialog .pin").click()
    assert page.locator("dialog .pin").get_attribute("aria-pressed") == "true"
    wait_until(page, "location.search.split('pin=').length === 3")
    page.keyboard.press("Escape")
    page.locator("#explorer [name=q]").fill("no such words at all")
    pinned = page.locator("#explorer tbody.pinned code.uid")
    assert pinned.all_inner_texts() == [first, uids[0]]
    assert shown(page) == []
    wait_until(page, "location.search.includes('no+such')")
    page = visit(page.evaluate("location.search") + "&pin=snli/none&pin=nowhere/1")
    assert pinned.all_inner_texts() == [first, uids[0]]
    page.get_by_role("button", name="Unpin all").click()
    wait_until(page, "!location.search.includes('pin')")
    assert pinned.count() == 0


def test_cards_pins_and_hints_are_open_to_all(visit, items):
    uid = items["snli"]["uids"][0].replace("#", "%23")
    other = items["snli"]["systems"][2]["name"]
    page = visit(f"?dataset=snli&pin=snli/{uid}&low=1.2&high=1&other={other}#{uid}")
    fits = "region => region.scrollWidth <= region.clientWidth"
    assert page.locator(".explorer-table").evaluate(fits)
    for what, look in (("dialog", "dark"), ("#explorer", "light")):
        page.evaluate("look => { document.documentElement.dataset.theme = look; }", look)
        assert violations(page, what) == []
        page.keyboard.press("Escape")
        page.mouse.move(0, 0)
    assert page.locator(".explorer-crossed").is_visible()


def test_the_selection_is_saved_as_a_table(visit, items, texts, tmp_path):
    name, other = (system["name"] for system in items["mnli"]["systems"][:2])
    page = visit(f"?dataset=mnli&low=1.2&sort=entropy&system={name}&other={other}")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download these items").click()
    assert download.value.suggested_filename == "synthetic-mnli-selection.csv"
    download.value.save_as(tmp_path / "saved.csv")
    saved = pd.read_csv(tmp_path / "saved.csv")
    mnli = items["mnli"]
    assert len(saved) == count(page)
    assert saved["entropy_bits"].is_monotonic_increasing
    rows = [mnli["uids"].index(uid) for uid in saved["uid"]]
    held = {f"votes: {label}": mnli["votes"][k] for k, label in enumerate(mnli["labels"])}
    held |= {f"jsd_nats: {one['name']}": np.array(one["jsd"]) / 1e4 for one in mnli["systems"][:2]}
    held |= dict(zip(mnli["fields"], texts["mnli"], strict=True))
    for name_, values in held.items():
        assert saved[name_].tolist() == [values[i] for i in rows], name_
    shares = saved[[f"share: {name}: {label}" for label in mnli["labels"]]]
    assert shares.sum(axis=1).to_numpy() == pytest.approx(1, abs=1e-3)


def test_addresses_hold_what_the_book_may_link_to(visit):
    page = visit()
    known = page.evaluate("Object.keys(Explorer.DEFAULTS)")
    assert set(known) == {"pins", *explorer.QUERY_NAMES} - {"pin"}
    link = page.get_by_role("link", name="the SNLI items whose label changed")
    page = visit(link.get_attribute("href").removeprefix("explorer.html"))
    assert page.locator("[name=change]").input_value() == "changed"
    assert 0 < count(page) < 200
    page = visit("?task=mnli")  # as the first edition had it
    assert page.get_by_label("Dataset").input_value() == "mnli"


DRAWING = "Chart.getChart(document.querySelector('#explorer .simplex canvas'))"


@DRAWN
@pytest.mark.slow
def test_points_follow_the_filters_and_open_their_items(visit, items):
    page = visit("?dataset=snli")
    page.wait_for_selector(".explorer-drawing:not([hidden])")
    page.locator("[name=change]").select_option("changed")
    sizes = page.evaluate(f"{DRAWING}.data.datasets.map((set) => set.data.length)")
    assert (sum(sizes[1:]), sum(sizes)) == (count(page), len(items["snli"]["uids"]))
    assert f"{count(page)} of" in page.locator(".simplex canvas").get_attribute("aria-label")
    page.locator("#explorer tbody tr").first.hover()
    assert page.locator(".simplex .mark").is_visible()
    point = page.evaluate(f"(({{x, y}}) => ({{x, y}}))({DRAWING}.getDatasetMeta(2).data[0])")
    page.locator(".simplex canvas").click(position=point)
    page.locator("dialog").wait_for()
    chosen = items["snli"]["uids"].index(title(page))
    drawn = page.evaluate(f"{DRAWING}.data.datasets[2].data[0].item.votes")
    # That item, or one on the same spot.
    assert [column[chosen] for column in items["snli"]["votes"]] == drawn


@pytest.mark.slow
def test_a_dataset_beside_the_book_s_is_loaded_when_it_is_asked_for(load, small_checkout):
    uids = read(small_checkout, "items.js")["datasets"][0]["uids"]
    moods = made_votes(made_dataset(), old_labels=False)  # votes on four labels, no texts
    said = {"paper": "", "warning": "Some are grim.", "notice": "Mine."}
    data = {"numbers": explorer.columns(moods, []) | said, "texts": []}
    # Any script of the page stands in for the file, which sets what is set already.
    more = {"name": "moods", "listed": "Moods", "file": "table.js", "global": "CHAOS_MORE_moods"}
    script = instead("CHAOS_OTHERS", [more]) + scripts.packed_script("CHAOS_MORE_moods", data, "")
    page = load("", script)
    whole = count(page)
    choose(page, dataset="moods")
    page.get_by_text("40 of 40 items of Moods").wait_for()
    assert page.locator(".explorer-warning").inner_text() == "Some are grim."
    assert offered(page, "dataset")["snli"] == len(uids)  # one may go back
    assert offered(page, "majority")["happy"] == (moods.majority == 0).sum()
    for name in ("change", "old", "system", "verdict", "far"):  # it has votes alone
        assert not page.locator(f"[name={name}]").is_visible()
    page.locator("#explorer tbody.found a").first.click()
    text = page.locator("dialog").inner_text()
    assert "6 happy, 1 sad, 0 in between, 0 neither" in text
    assert "@misc{moods-u0," in text
    page.keyboard.press("Escape")

    # What the book's own have is there, and goes where this one alone is asked for.
    choose(page, dataset="")
    assert count(page) == whole
    assert not page.locator(".explorer-warning").is_visible()
    go(page, "?dataset=moods&change=changed&far=0.2&sort=-jsd")
    assert count(page) == 40
    go(page, f"?dataset=snli&pin=moods%2Fu7&pin=snli%2F{uids[0]}".replace("#", "%23"))
    assert page.locator("tbody.pinned code.uid").all_inner_texts() == ["u7", uids[0]]
    assert count(page) == len(uids)


def test_systems_are_loaded_when_they_are_chosen_or_a_card_shows_them(load, small_checkout):
    data = read(small_checkout, "items.js")
    snli = data["datasets"][0]
    held = {name: snli["systems"][2].pop(name) for name in ("shares", "label", "jsd")}
    # Any script of the page stands in for the file, which sets what is set already.
    snli["systems"][2] |= {"file": "table.js", "global": "CHAOS_SYSTEM_snli_2"}
    page = load(
        script=instead("CHAOS_ITEMS", data) + scripts.packed_script("CHAOS_SYSTEM_snli_2", held, "")
    )
    name, others = snli["systems"][2]["name"], [one["name"] for one in snli["systems"][:2]]
    assert page.locator("[name=system]").input_value() in [name, *others]
    choose(page, dataset="snli", system=name, verdict="right")
    right = np.array(held["label"]) == np.array(snli["majority"])
    page.locator(".explorer-count", has_text=f"{right.sum()} of").wait_for()
    page.locator("#explorer tbody.found a").first.click()
    i = int(np.flatnonzero(right)[0])
    rows = page.locator("dialog tbody tr")
    assert f"{held['jsd'][i] / 10_000:.3f}" in rows.filter(has_text=name).inner_text()
    names = rows.locator("th").all_inner_texts()
    assert [one for one in names if one in (name, *others)] == [*others, name]  # in their order


@pytest.mark.slow
def test_reasons_are_on_the_cards_of_items_that_have_any_and_can_be_asked_for(visit, load, items):
    page = visit("?dataset=mnli&reason=lexical")
    assert not page.locator("[name=reason]").is_visible()
    assert count(page) == len(items["mnli"]["uids"])
    uids = items["mnli"]["uids"]
    known = [[[0, 1], [0, 2, 1], 1], [[1], [], 0], [[], [1, 1, 1], 0], None]
    made = {
        "names": ["lexical", EVIL], "labels": items["mnli"]["labels"],
        "statuses": ["plausible", "error", "not given"],
        "items": known + [None] * (len(uids) - len(known)),
    }  # fmt: skip
    content = {"chapter": "chapters/why.html", "datasets": {"mnli": made}}
    page = load("", instead("CHAOS_REASONS", content))
    assert offered(page, "reason") == {"": None, "lexical": 1, EVIL: 2}
    choose(page, reason=EVIL)
    assert shown(page) == uids[:2]
    assert offered(page, "dataset")["mnli"] == 2
    page.locator("#explorer tbody a").first.click()
    card = page.locator("dialog")
    text = card.inner_text()
    assert f"Reasons\nlexical, {EVIL}\n" in text
    assert "entailment: plausible, neutral: not given, contradiction: error" in text
    assert "LiveNLI" in text
    link = card.get_by_role("link", name="Whose opinions are these?")
    assert link.get_attribute("href") == "chapters/why.html"
    go(page, f"?reason=lexical#{uids[3]}")
    assert count(page) == 1
    assert "Why people disagree" not in card.inner_text()
