"""Scores that the reader switches, as rows of dots and as curves, without the rest of the book."""

import json

import pandas as pd
import pytest
from bs4 import BeautifulSoup
from chaos_book.interactive import curves, references, scores
from helpers.pages import watch
from helpers.widgets import interactive_page

ROWS = pd.DataFrame(
    [
        ("snli", "<b>evil</b>", "model", "kl", 0.30, 0.28, 0.32),
        ("snli", "chance", "chance", "kl", 0.20, None, None),
        ("snli", "old label", "baseline", "kl", 11.3, 11.0, 11.6),
        ("snli", "<b>evil</b>", "model", "new_accuracy", 0.70, None, None),
        ("snli", "chance", "chance", "new_accuracy", 0.50, None, None),
        ("mnli", "chance", "chance", "kl", 0.40, None, None),
    ],
    columns=["dataset", "system", "kind", "measure", "value", "low", "high"],
)
JUDGES = pd.DataFrame(
    [
        ("snli", "b", "Zeta", "with_people", 0.7, 0.6, 0.8),
        ("snli", "a", "Alpha", "with_people", 0.6, 0.5, 0.7),
        ("snli", "people", "", "with_people", 0.65, 0.6, 0.7),
        ("snli", "b", "Zeta", "people_on_top_recalibrated", 1.5, 1.0, 2.0),
        ("snli", "a", "Alpha", "people_on_top_recalibrated", 2.5, 2.0, 3.0),
    ],
    columns=["dataset", "system", "maker", "measure", "value", "low", "high"],
)
TEMPERATURES = pd.DataFrame(
    [
        ("snli", f"One, seed {seed}", "One", measure, step, step / 10 + seed / 100)
        for measure in ("ece", "dist_ce")
        for seed in (0, 1)
        for step in (0.5, 1.0, 2.0)
    ],
    columns=["dataset", "system", "family", "measure", "temperature", "value"],
)
LINES = references(
    [{"dataset": "snli", "measure": "kl", "perfect_model": 0.01, "second_crowd_halves": None},
     {"dataset": "snli", "measure": "dist_ce", "perfect_model": 0.03, "second_crowd_halves": 0.05}],
    [{"dataset": "snli", "system": "oracle", "ece": 0.245}],
)  # fmt: skip
NAMES, LABELS = ".interactive .name", ".interactive .reference text"


@pytest.fixture
def opened(browser, tmp_path):
    """Return a function that opens a page with such data, at an address; no fault may occur."""
    troubles = []
    page = browser.new_page(viewport={"width": 390, "height": 900})
    watch(page, troubles)

    def open_with(data, place="", slider=""):
        address = interactive_page(tmp_path, data, slider)
        page.goto("about:blank")
        page.goto(address + place)
        return page

    yield open_with
    page.close()
    assert not troubles


@pytest.mark.browser
def test_dots_stand_on_an_axis_with_lines_and_what_is_far_out_is_named(opened):
    page = opened(scores(ROWS, LINES))
    names = page.locator(NAMES)
    # sorted by KL, and no markup
    assert names.all_inner_texts() == ["uniform guess", "<b>evil</b>", "old label"]
    assert page.locator(".number").all_inner_texts()[1] == "0.300 [0.280, 0.320]"
    assert page.locator(LABELS).all_text_contents() == ["perfect model", "uniform guess"]
    assert page.locator(".beyond").inner_text().startswith("11.3")
    said = page.locator(".way")
    for words in ("lower is better", "old label, at 11.3, lies beyond", "A second crowd has no KL",
                  "perfect model 0.010, uniform guess 0.200"):  # fmt: skip
        assert words in said.inner_text()
    label = page.locator(".interactive .label")
    assert label.text_content() == "KL(human ‖ model), nats; lower is better"
    bar = page.locator(".bar").first.bounding_box()
    dot = page.locator(".bar + .dot").first.bounding_box()
    assert bar["height"] > dot["height"]
    page.get_by_label("Measure").select_option(label="new accuracy")
    assert names.all_inner_texts() == ["<b>evil</b>", "commonest label"]
    assert label.text_content().endswith("higher is better")


@pytest.mark.browser
def test_the_address_holds_what_was_chosen_by_keyboard_and_nonsense_is_named(opened):
    data = scores(ROWS, LINES)
    page = opened(data)
    page.keyboard.press("Tab")
    page.keyboard.press("M")
    assert page.locator(NAMES).all_inner_texts() == ["uniform guess"]
    page.keyboard.press("Tab")
    page.keyboard.press("n")
    page.keyboard.press("Tab")
    page.keyboard.press("n")
    assert page.url.endswith("#dataset=mnli&measure=new_accuracy&sort=name")
    page = opened(data, "#measure=new_accuracy&sort=shoe+size&x=1")
    assert page.get_by_label("Measure").input_value() == "new_accuracy"
    said = page.get_by_role("status").inner_text()
    assert "There is no sort “shoe size” here." in said
    assert "“x” is nothing to choose here." in said
    page.get_by_label("Measure").select_option("kl")
    assert "#" not in page.url
    assert page.get_by_role("status").inner_text() == ""


@pytest.mark.browser
def test_judges_are_sorted_by_maker_agreement_and_worth(opened):
    page = opened(scores(JUDGES, {}, "maker"))
    names = page.locator(NAMES)
    assert names.all_inner_texts() == ["b Zeta", "a Alpha"]
    assert page.locator(LABELS).all_text_contents() == ["two people"]
    page.get_by_label("Sort by").select_option("maker")
    assert names.all_inner_texts() == ["a Alpha", "b Zeta"]
    page.get_by_label("Sort by").select_option("value")
    page.evaluate("location.hash = 'measure=people_on_top_trusted'")  # of an earlier edition
    page.locator(".interactive .reference", has_text="base rate").wait_for()
    assert page.get_by_label("Measure").input_value() == "people_on_top_recalibrated"
    assert names.all_inner_texts() == ["a Alpha", "b Zeta"]
    assert page.locator(LABELS).all_text_contents() == ["base rate"]


@pytest.mark.browser
def test_curves_have_a_cursor_that_keys_move_and_the_address_keeps(opened):
    data = curves(TEMPERATURES, "temperature", LINES)
    page = opened(data, "#temperature=0.5", "temperature")
    slider = page.get_by_role("slider", name="Temperature")
    assert slider.get_attribute("aria-valuetext") == "temperature 0.50"
    cells = page.locator(".readout td")
    assert cells.all_inner_texts() == ["0.055", "0.055", "0.245", "0.030"]  # means over two seeds
    slider.focus()
    page.keyboard.press("End")
    assert cells.first.inner_text() == "0.205"
    assert page.url.endswith("#temperature=2.00")
    assert page.locator(LABELS).all_text_contents() == ["oracle", "perfect model"]
    page = opened(data, "#temperature=hot", "temperature")
    assert "There is no temperature “hot” here." in page.get_by_role("status").inner_text()
    assert slider.get_attribute("aria-valuetext") == "temperature 1.00"
    page.locator(".panel svg").first.click(position={"x": 40, "y": 60})
    assert page.url.endswith("#temperature=0.50")


@pytest.mark.slow
def test_the_built_pages_hold_the_numbers_of_their_tables(real_checkout):
    site = real_checkout / "_build" / "html"

    def held_on(chapter):
        page = BeautifulSoup(
            (site / "chapters" / f"{chapter}.html").read_text("utf-8"), "html.parser"
        )
        (script,) = page.select(".interactive script")
        return json.loads(script.text)

    def table(id):
        return pd.read_csv(site / "figures" / f"{id}.csv")

    for chapter, id, lines in (
        ("results", "tbl-main-results", False),
        ("scoreboard", "tbl-machine-models", True),
    ):
        held, rows = held_on(chapter), table(id)
        rows = rows[rows["n_seeds"].isna()] if "n_seeds" in rows else rows
        rows = rows[rows["maker"].notna()] if lines else rows
        found = pd.DataFrame([row[:4] for row in held["rows"]], columns=["d", "s", "m", "value"])
        for (d, m), values in found.groupby(["d", "m"])["value"]:
            dataset, measure = held["datasets"][d][0], held["measures"][m][0]
            expected = rows.loc[rows["dataset"] == dataset, measure].dropna()
            assert sorted(values) == pytest.approx(sorted(expected), abs=1e-4), (
                id,
                dataset,
                measure,
            )
    held, rows = held_on("calibration"), table("fig-temperature")
    rows = rows[rows["choice"].isna()]
    rows = rows.set_index(["measure", "system", "temperature"])["value"].sort_index()
    for measure, of_measure in zip(held["measures"], held["values"], strict=True):
        for system, values in zip(held["systems"], of_measure, strict=True):
            expected = rows.loc[(measure[0], system[0])]
            assert values == pytest.approx([*expected], abs=1e-4), (measure[0], system[0])
