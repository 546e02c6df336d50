"""Scores that the reader switches, as rows of dots and as curves, without the rest of the book."""

import json

import pandas as pd
import pytest
from bs4 import BeautifulSoup
from chaos_book.interactive import curves, references, scores
from helpers.checkout import PROJECT
from helpers.pages import watch
from helpers.widgets import interactive_page, recorded

from chaos_utils.analyses.calibration import is_drawn

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
STEPS = (0.5, 1.0, 2.0)
SYSTEMS = (
    ("One, seed 0", "One", 0),
    ("One, seed 1", "One", 0.01),
    ("<b>Two</b>", "<b>Two</b>", 0.5),
)
TEMPERATURES = pd.DataFrame(
    [
        ("snli", system, family, measure, step, more + (measure == "dist_ce") / 10 + step / 10)
        for measure in ("ece", "kl", "dist_ce")
        for system, family, more in SYSTEMS
        for step in STEPS
    ],
    columns=["dataset", "system", "family", "measure", "temperature", "value"],
)
DIAGRAMS = pd.DataFrame(
    [
        (system, family, step, *bin)
        for system, family, _ in (SYSTEMS[0], SYSTEMS[2], ("oracle", "oracle", 0))
        for step in STEPS
        for bin in ((0.0, 0, None, None), (0.5, 10, 0.55, 0.6), (0.9, 30, 0.95, 0.8))
    ],
    columns=["system", "family", "temperature", "bin_low", "n", "confidence", "hits"],
)
LINES = references(
    [{"dataset": "snli", "measure": "kl", "perfect_model": 0.01, "second_crowd_halves": None},
     {"dataset": "snli", "measure": "dist_ce", "perfect_model": 0.03, "second_crowd_halves": 0.05}],
    [{"dataset": "snli", "system": "oracle", "ece": 0.245}],
    [{"dataset": "snli", "system": "five people", "misplaced": 16.0},
     {"dataset": "snli", "system": "one person", "misplaced": 34.0}],
)  # fmt: skip
NAMES, LABELS = ".interactive .name", ".interactive .reference text"


def test_a_number_is_that_of_its_table():
    rows = scores(ROWS.assign(value=0.31649), LINES)["rows"]
    assert {f"{row[3]:.3f}" for row in rows} == {"0.316"}


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
    page = opened(scores(ROWS, LINES, cautions={"old label": "from <i>five</i>", "absent": "no"}))
    names = page.locator(NAMES)
    # sorted by KL, and no markup
    assert names.all_inner_texts() == ["uniform guess", "<b>evil</b>", "old label†"]
    assert page.locator(".note").all_inner_texts() == ["† old label: from <i>five</i>."]
    assert page.locator(".number").all_inner_texts()[1] == "0.300 [0.280, 0.320]"
    assert page.locator(LABELS).all_text_contents() == ["perfect model", "uniform guess"]
    assert page.locator(".beyond").inner_text().startswith("11.3")
    said = page.locator(".way")
    for words in ("lower is better", "old label†, at 11.3, lies beyond", "A second crowd has no KL",
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
    assert "“x” cannot be chosen here." in said
    page.get_by_label("Measure").select_option("kl")
    assert "#" not in page.url
    assert page.get_by_role("status").inner_text() == ""


@pytest.mark.browser
@pytest.mark.parametrize(("opens", "first"), [("mnli", "mnli"), ("alphanli", "snli")])
def test_dots_open_on_the_dataset_that_the_page_names_if_it_is_there(opened, opens, first):
    page = opened(scores(ROWS, LINES) | {"opens": opens})
    assert page.get_by_label("Dataset").input_value() == first
    page.get_by_label("Dataset").select_option("mnli" if first == "snli" else "snli")
    assert "#dataset=" in page.url
    page.get_by_label("Dataset").select_option(first)
    assert "#" not in page.url


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


@pytest.fixture
def driven(opened):
    """Return a function that opens the page of a slider at an address."""
    data = curves(TEMPERATURES, "temperature", LINES, DIAGRAMS)
    return lambda place="": opened(data, place, "temperature")


@pytest.mark.browser
def test_one_slider_drives_diagram_and_curves_by_keyboard_and_the_address_keeps_it(driven):
    page = driven("#temperature=0.5")
    slider = page.get_by_role("slider", name="Temperature")
    at_half = "ECE 0.050, 15.0 of a hundred votes misplaced"
    assert slider.get_attribute("aria-valuetext") == f"temperature 0.50: {at_half}"
    assert page.locator(".reading").inner_text() == f"{at_half}."
    slider.focus()
    page.keyboard.press("End")
    at_two = "ECE 0.200, 30.0 of a hundred votes misplaced"
    assert slider.get_attribute("aria-valuetext") == f"temperature 2.00: {at_two}"
    diagram = page.locator(".diagram svg")
    assert diagram.get_attribute("aria-label") == (
        "Reliability diagram of One, seed 0 at temperature 2.00: ECE 0.200"
    )
    assert diagram.locator("circle").count() == 2  # a bin without items has no dot
    assert page.url.endswith("#temperature=2.00")
    titles = page.locator(".panel .title").all_text_contents()
    assert titles[:3] == ["accuracy by confidence", "ECE", "votes misplaced (of a hundred)"]
    assert page.locator(LABELS).all_text_contents() == ["oracle", "perfect model", "five people"]
    page.get_by_role("button", name="Lowest ECE").click()
    assert page.locator(".reading").inner_text() == f"{at_half}."


@pytest.mark.browser
def test_another_system_is_chosen_and_what_is_folded_has_all_values(driven):
    page = driven("#temperature=hot")
    assert "There is no temperature “hot” here." in page.get_by_role("status").inner_text()
    assert page.locator(".at").inner_text() == "1.00"
    page.get_by_label("System").select_option("<b>Two</b>")
    assert page.url.endswith("#system=%3Cb%3ETwo%3C%2Fb%3E")
    assert page.locator(".reading").inner_text().startswith("ECE 0.600, 70.0 of a hundred")
    page.locator("details summary").click()
    assert page.locator(".readout tr").first.locator("th").all_inner_texts() == [
        "System", "ECE", "votes misplaced", "KL(human ‖ model)",
    ]  # fmt: skip
    rows = page.locator(".readout tbody tr").all_inner_texts()
    assert [row.split("\t") for row in rows] == [
        ["One, seed 0", "0.100", "20.0", "0.100"], ["<b>Two</b>", "0.600", "70.0", "0.600"],
        ["oracle", "0.245", "–", "–"], ["perfect model", "–", "3.0", "0.010"],
        ["five people", "–", "16.0", "–"],
    ]  # fmt: skip
    page.locator(".panel:not(.diagram) svg").last.click(position={"x": 40, "y": 60})
    assert page.locator(".at").inner_text() == "0.50"


@pytest.mark.browser
def test_what_a_slider_drives_takes_the_place_of_the_picture_except_in_print(driven):
    page = driven()
    page.evaluate("""() => {
      document.querySelector('main').insertAdjacentHTML('beforeend',
        '<figure id="fig-one"><div class="picture">P</div></figure>');
      document.querySelector('.interactive').dataset.figure = 'fig-one';
    }""")
    widget = page.locator(".interactive")
    held = widget.evaluate("place => place.outerHTML.match(/<script[^]*?<[/]script>/)[0]")
    widget.evaluate("(place, script) => place.innerHTML = script", held)
    page.add_script_tag(path=PROJECT / "book" / "_interactive" / "interactive.js")
    picture = page.locator("figure .picture")
    assert page.locator("figure .interactive").is_visible()
    assert not picture.is_visible()
    page.emulate_media(media="print")
    assert picture.is_visible()
    assert not page.locator("figure .interactive").is_visible()


def test_the_slider_s_values_are_those_of_the_recorded_tables():
    rows = recorded("calibration.temperature_curves").query(
        "choice.isna() and seed != 1 and seed != 2"
    )
    rows = rows[is_drawn(rows)]
    table = recorded("calibration.human_calibration").query(
        "dataset == 'snli' and temperature <= 2"
    )
    diagrams = recorded("calibration.reliability")
    diagrams = diagrams[is_drawn(diagrams) & (diagrams["temperature"] == 1)]
    steps = [0.5, 1.0, 2.0, 4.0]
    every = [diagrams.assign(temperature=step) for step in steps]
    shown = curves(
        rows[rows["temperature"].isin(steps)], "temperature", references([], []), pd.concat(every)
    )
    names = [name for name, _ in shown["systems"]]
    assert len(names) == len(shown["families"]) == 4
    for measure, factor in (("ece", 1), ("dist_ce", 100)):
        place = [name for name, *_ in shown["measures"]].index(measure)
        for system, values in zip(names, shown["values"][place], strict=True):
            of_table = table[table["system"] == system].set_index("temperature")[measure]
            for step, value in zip(steps, values, strict=True):
                if step in of_table:
                    assert value == pytest.approx(factor * of_table[step], abs=1e-4)
    # A diagram's gaps, weighted by items, are the ECE.
    for name, bins in zip(names, shown["diagrams"], strict=True):
        total = sum(n for _, n, *_ in bins[1])
        ece = sum(n * abs(hits - confidence) for _, n, confidence, hits in bins[1]) / total
        (of_table,) = table.loc[(table["system"] == name) & (table["temperature"] == 1), "ece"]
        assert ece == pytest.approx(of_table, abs=1e-3)


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

    scores = table("tbl-main-results")
    scores = scores[scores["n_seeds"].isna()].drop_duplicates(["dataset", "system"])
    models = table("tbl-machine-models")
    for chapter, id, rows in (
        (
            "results",
            "tbl-main-results",
            scores[~scores["system"].str.match("class prior|Mini|MPNet")],
        ),
        ("scoreboard", "tbl-machine-models", models[models["maker"].notna()]),
    ):
        held = held_on(chapter)
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
        factor = 100 if measure[0] == "dist_ce" else 1
        for system, values in zip(held["systems"], of_measure, strict=True):
            expected = factor * rows.loc[(measure[0], system[0])]
            assert values == pytest.approx([*expected], abs=1e-4), (measure[0], system[0])
    # Its lowest ECE, and the votes misplaced there, are those of the table.
    lowest = rows.loc[("ece", "RoBERTa-base, seed 0")].min()
    shown = [name for name, _ in held["systems"]].index("RoBERTa-base, seed 0")
    assert min(held["values"][0][shown]) == pytest.approx(lowest, abs=1e-4)
    assert all(map(all, held["diagrams"]))  # there is a diagram at each temperature
