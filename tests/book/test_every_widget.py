"""What every interactive part of the book keeps: from a file, by keyboard, without a script."""

import re
from types import SimpleNamespace

import pandas as pd
import pytest
from chaos_book.interactive import curves, references, scores
from helpers.pages import LOADS_MORE, tab_through, violations, watch
from helpers.widgets import calculator_page, interactive_page, sortable_page

from chaos_utils.pages import explorer
from chaos_utils.report.manifests import Display, ShownAlone

pytestmark = pytest.mark.browser

# Where each stands, and an address in which a name stands for whatever it may ask for there.
NAMES = sorted({*explorer.QUERY_NAMES} - {"q", "low", "high", "far"})
QUERY = "&".join(f"{name}=NAME" for name in NAMES)
WIDGETS = {
    "evaluate": ("#evaluate", ""),
    "explorer": ("#explorer", f"?{QUERY}&pin=NAME/NAME#NAME"),
    "annotate": ("#annotate", "#NAME"),
    "opening": (".opening", ""),
    "rerun": (".rerun", ""),
    "votes": (".calculator", "#NAME=1&data=NAME&for=NAME"),
    "conversions": (".calculator", "#NAME=1&convention=NAME&value=NAME"),
    "dots": (".interactive", "#measure=NAME&dataset=NAME&sort=NAME&NAME=1"),
    "curves": (".interactive", "#system=NAME&temperature=NAME&NAME=1"),
    "sortable": ("figure", ""),
}
PAGES = {"evaluate": "index", "opening": "index", "rerun": "chapters/annotations"}
# The others stand alone here, without the words of a page around them.
ON_PAGES = ["evaluate", "explorer", "annotate", "opening", "rerun"]
DOTS = pd.DataFrame(
    [("snli", name, kind, "kl", value, value - 0.1, value + 0.1)
     for name, kind, value in (("<b>evil</b>", "model", 0.3), ("chance", "chance", 0.2))],
    columns=["dataset", "system", "kind", "measure", "value", "low", "high"],
)  # fmt: skip
CURVES = pd.DataFrame(
    [
        ("snli", f"One, seed {seed}", "One", "ece", step, step / 10)
        for seed in (0, 1)
        for step in (0.5, 1.0)
    ],
    columns=["dataset", "system", "family", "measure", "temperature", "value"],
)
DIAGRAMS = pd.DataFrame(
    [("One, seed 0", "One", step, 0.9, 10, 0.95, 0.8) for step in (0.5, 1.0)],
    columns=["system", "family", "temperature", "bin_low", "n", "confidence", "hits"],
)  # fmt: skip
TABLE = Display(
    header=[["system"], ["worth"]], rows=[["<b>evil</b>", "2.5"], ["b", "1"]],
    alone=ShownAlone(label="Only </script><b>", columns=[1], rows=[["<i>2</i>"], None]),
)  # fmt: skip


@pytest.fixture(scope="module", params=WIDGETS)
def widget(request, site, known, converted, tmp_path_factory):
    """The address of a page with a widget, where it stands on it, and what to ask of it there."""
    name, folder = request.param, tmp_path_factory.mktemp("widget")
    alone = {
        "votes": lambda: calculator_page(folder, name, known),
        "conversions": lambda: calculator_page(folder, name, converted),
        "dots": lambda: interactive_page(folder, scores(DOTS, references([], []))),
        "curves": lambda: interactive_page(
            folder, curves(CURVES, "temperature", references([], []), DIAGRAMS), "temperature"
        ),
        "sortable": lambda: sortable_page(folder, TABLE, "worth"),
    }
    address = (site / f"{PAGES.get(name, name)}.html").as_uri()
    place, asked = WIDGETS[name]
    return SimpleNamespace(
        name=name, address=alone.get(name, lambda: address)(), place=place, asked=asked
    )


@pytest.fixture(scope="module")
def opened(browser):
    """Open pages on a phone; fails when anything went wrong on one of them."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    troubles = []

    def open_at(address):
        page = context.new_page()
        watch(page, troubles)
        page.goto(address)
        if page.evaluate(LOADS_MORE):
            page.wait_for_load_state("networkidle")
        return page

    yield open_at
    context.close()
    assert not troubles


def test_it_is_open_to_all_fits_a_phone_and_is_reached_by_keyboard(opened, widget):
    few = "?dataset=snli&low=1.4" if widget.name == "explorer" else ""  # of many rows, a part
    page = opened(widget.address + few)
    place = page.locator(widget.place).first
    place.scroll_into_view_if_needed()
    assert place.is_visible()
    assert violations(page, widget.place) == []
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 390
    # Of the page around it, another test knows.
    page.evaluate("""place => {
      const own = document.querySelector(place);
      document.querySelectorAll('a, button, input, select, textarea, summary, [tabindex]')
        .forEach(one => { if (!own.contains(one)) one.tabIndex = -1; });
    }""", widget.place)  # fmt: skip
    stops, unreached = tab_through(page)
    assert stops or widget.name == "dots"
    assert not unreached
    page.close()


def test_a_name_that_all_objects_have_is_none_in_its_address(opened, widget):
    if not widget.asked:
        return
    page = opened("about:blank")
    for name in ("constructor", "__proto__", "hash"):
        page.goto(widget.address + widget.asked.replace("NAME", name))
        place = page.locator(widget.place).first
        place.scroll_into_view_if_needed()
        assert place.is_visible()
        assert not re.search(r"undefined|NaN|\[object|native code", place.inner_text())
    page.close()


@pytest.mark.parametrize("widget", ON_PAGES, indirect=True)
def test_without_a_script_the_page_says_what_it_is(browser, widget):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(widget.address)
    assert page.locator("h1").first.is_visible()
    place = page.locator(widget.place).first
    assert not place.is_visible() or place.inner_text().strip()
    controls = place.locator("button, input, select, textarea")
    assert not any(control.is_visible() for control in controls.all())
    context.close()
