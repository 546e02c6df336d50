"""The title page's opening: what it holds, and how it is played, in a real browser."""

import json
import re

import pytest
from helpers.pages import open_page, violations

from chaos_utils.datasets.loading import load_votes
from chaos_utils.metrics.divergence import total_variation
from chaos_utils.pages.opening import rounds
from chaos_utils.scoring.systems import load_systems

DATA = re.compile(r'<div class="opening".*?<script type="application/json">(.*?)</script>', re.S)


@pytest.fixture(scope="module")
def made():
    votes = load_votes("snli", "sample")
    return rounds(votes, "", load_systems(votes)[0])


def test_the_page_holds_the_pairs_their_votes_and_what_they_are(site, made):
    page = (site / "index.html").read_text("utf-8")
    (data,) = DATA.findall(page)
    assert json.loads(data) == made
    assert "<" not in data
    assert "Synthetic sample: invented items, simulated votes." in page
    assert "Of the item" not in page  # it speaks of the released one


class Reader:
    """Somebody who plays with a keyboard alone."""

    def __init__(self, page):
        self.page = page

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    @property
    def guess(self):
        return [int(bar.input_value()) for bar in self.page.get_by_role("slider").all()]

    @property
    def told(self):
        return self.page.locator(".opening [role=status] p").all_inner_texts()

    @property
    def focused(self):
        return self.page.evaluate("document.activeElement.textContent || document.activeElement.id")


@pytest.fixture
def reader(open_at):
    found = Reader(open_at("index"))
    for _ in range(100):
        found.press("Tab")
        if found.focused == "opening-0":
            return found
    raise AssertionError("no way to the bars")


@pytest.mark.slow
@pytest.mark.browser
def test_a_keyboard_plays_all_pairs_and_numbers_are_python_s(reader, made):
    sums, n = [0] * 4, len(made["pairs"])
    for k, pair in enumerate(made["pairs"]):
        assert reader.guess == [34, 33, 33]
        reader.press(
            *["ArrowRight"] * (7 * k + 1), "Tab", "PageUp", "ArrowDown", "Tab", "ArrowLeft"
        )
        guess = reader.guess
        assert sum(guess) == 100
        bar = reader.page.get_by_role("slider").last
        assert bar.get_attribute("aria-valuetext") == f"{guess[2]} of 100 votes"
        reader.press("Tab")
        assert reader.focused == "Show the hundred votes"
        assert not reader.told
        reader.press("Enter")
        votes, shares = ([[part / 100 for part in row]] for row in (pair["votes"], guess))
        own = round(100 * total_variation(votes, shares)[0])
        numbers = [own, *(number for *_, number in pair["others"])]
        assert [int(one) for one in re.findall(r"\d+", reader.told[0])] == [own, 100, *numbers[1:]]
        if k:  # the first was picked, and does not count
            sums = [all + one for all, one in zip(sums, numbers, strict=True)]
        assert len(reader.told) == (2 if k > 1 else 1)
        if k > 1:
            found = [int(one) for one in re.findall(r"\d+", reader.told[1])]
            assert found == [k, sums[0], 100 * k, *sums[1:]]
        assert reader.focused == (
            f"Another pair ({n - k - 1} left)" if k + 1 < n else "Start again"
        )
        reader.press("Enter")
        assert reader.focused == "opening-0"
    assert not reader.told


@pytest.mark.slow
@pytest.mark.browser
def test_one_bar_may_take_all_votes_and_gives_them_back(reader):
    reader.press("End")
    assert reader.guess == [100, 0, 0]
    reader.press("ArrowLeft", "ArrowLeft")
    assert reader.guess == [98, 1, 1]
    reader.press("Home")
    assert reader.guess == [0, 50, 50]


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(("width", "look"), [(1280, "light"), (390, "dark"), (390, "light")])
def test_it_is_open_to_all_before_and_after(reader, width, look):
    page = reader.page
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate("look => { document.documentElement.dataset.theme = look; }", look)
    assert not violations(page, ".opening")
    page.get_by_role("button", name="Show the hundred votes").click()
    assert not violations(page, ".opening")
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width


@pytest.mark.slow
@pytest.mark.browser
def test_texts_are_shown_and_never_run(open_at):
    evil = "<script>window.ran = 1</script><img src=x onerror='window.ran = 1'>"
    page = open_at("index", "", f"""
      const parse = JSON.parse;
      JSON.parse = (text) => {{
        const data = parse(text);
        if (data.pairs) data.pairs[0].texts[0] = {json.dumps(evil)};
        return data;
      }};""")  # fmt: skip
    assert evil in page.inner_text("#opening-texts")
    assert page.evaluate("window.ran") is None


@pytest.mark.slow
@pytest.mark.browser
def test_without_a_script_the_first_pair_stands_there_with_its_votes(browser, site, made):
    context = browser.new_context(java_script_enabled=False)
    page, _ = open_page(context, site / "index.html")
    first = page.locator(".one-item")
    assert first.locator(".text-name").count() == 2
    assert made["pairs"][0]["texts"][1] in first.inner_text()
    assert first.locator("[role=img]").count() == 2
    assert first.is_visible()
    assert not page.locator(".opening").is_visible()
    context.close()
