"""The title page, and prose that speaks of the released data alone."""

import re

import pytest


def words_of(page):
    return " ".join(re.sub(r"<[^>]*>", " ", page.read_text("utf-8")).split())


def test_findings_of_the_released_data_are_left_out_of_other_books(site):
    page = site / "index.html"
    words = words_of(page)
    assert "A short book" in words
    assert "a method" in words
    assert "finding" not in words.split("Contents")[-1].replace("A short book", "")
    assert "Of the item" not in words
    assert "<li></li>" not in page.read_text("utf-8")
    assert '<div class="picture"' in page.read_text("utf-8")  # a figure is marked as synthetic


@pytest.mark.slow
def test_the_title_page_shows_an_item_and_findings(browser, real_checkout):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto((real_checkout / "_build" / "html" / "index.html").as_uri())
    assert page.locator(".one-item .votes").count() == 2
    assert "48 contradiction" not in page.locator(".one-item").inner_text()  # a bar, not a list
    links = page.locator(".finding-picture")
    assert links.count() >= 5
    for link in links.all():
        path, _, name = link.get_attribute("href").partition("#")
        text = (real_checkout / "_build" / "html" / path).read_text("utf-8")
        assert f'id="{name}"' in text
    assert "?" not in page.locator(".value").all_inner_texts()
    page.close()
