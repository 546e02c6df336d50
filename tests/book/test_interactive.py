"""Scores that the reader sorts and switches, in a real browser and without the rest of the book."""

import json

import pandas as pd
import pytest
from chaos_book.interactive import scores
from helpers.checkout import PROJECT

ROWS = pd.DataFrame(
    [
        ("snli", "<b>evil</b>", "model", "jsd", 1.0, 0.30, 0.28, 0.32),
        ("snli", "guess", "baseline", "jsd", 1.0, 0.20, None, None),
        ("snli", "guess", "baseline", "new_accuracy", 1.0, 0.50, None, None),
        ("snli", "<b>evil</b>", "model", "new_accuracy", 1.0, 0.70, None, None),
        ("mnli", "guess", "baseline", "jsd", 1.0, 0.40, None, None),
        ("snli", "<b>evil</b>", "model", "jsd", 2.0, 0.10, 0.05, 0.15),
        ("snli", "guess", "baseline", "jsd", 2.0, 0.20, None, None),
    ],
    columns=["dataset", "system", "kind", "measure", "temperature", "value", "low", "high"],
)


@pytest.mark.browser
def test_readers_sort_switch_and_slide(browser, tmp_path):
    data = json.dumps(scores(ROWS, "temperature")).replace("<", "\\u003c")
    names = ("_shared/page.js", "_interactive/interactive.js")
    scripts = "".join(
        f'<script src="{(PROJECT / "book" / name).as_uri()}"></script>' for name in names
    )
    path = tmp_path / "page.html"
    path.write_text(
        '<!doctype html><title>t</title><div class="interactive" hidden data-slider="temperature">'
        f'<script type="application/json">{data}</script></div>{scripts}'
    )
    page = browser.new_page()
    page.goto(path.as_uri())
    names = page.locator(".interactive .name")
    assert names.all_inner_texts() == ["guess", "<b>evil</b>"]  # sorted by JSD, and no markup
    page.get_by_label("Temperature").fill("1")
    assert names.all_inner_texts() == ["<b>evil</b>", "guess"]
    assert page.locator(".number").first.inner_text() == "0.100 [0.050, 0.150]"
    page.get_by_label("Temperature").fill("0")
    page.get_by_label("Measure").select_option(label="new accuracy")
    assert names.all_inner_texts() == ["<b>evil</b>", "guess"]
    assert page.locator(".way").inner_text().endswith("higher is better")
    page.get_by_label("Sort by").select_option(label="name")
    page.get_by_label("Measure").select_option(index=0)
    page.get_by_label("Dataset").select_option(label="MNLI")
    assert names.all_inner_texts() == ["guess"]
    page.close()
