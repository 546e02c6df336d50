"""The title page, and prose that speaks of the released data alone."""

import re


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
