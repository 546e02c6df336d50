"""The built pages, in a real browser."""

import json
import re
from itertools import product

import pytest
import yaml
from helpers.checkout import PROJECT
from helpers.colours import contrast
from helpers.pages import look_over, open_page, pages, tab_through, wait_until
from helpers.pictures import TOLERATED, keep, reduced, share_that_differs
from PIL import Image

from chaos_utils.base import modules
from chaos_utils.publish.site import broken_links
from chaos_utils.report.parameters import (
    command,
    papermill_command,
    read_parameters,
    resolve,
)

pytestmark = pytest.mark.browser

# Of each kind a page, which axe-core looks at in the quick tests; in the slow ones at all pages.
EACH_KIND = (
    "index", "chapters/annotations", "figures/fig-entropy", "figures/tbl-agreement",
    "runs/minilm-l6-popquorn-s0", "404",
)  # fmt: skip
ALIKE = ("figures", "runs")  # folders of whose pages the quick tests look at no others
# The title page, a chapter of each part, a page of a figure, the explorer; and what is scrolled to.
PICTURED = {
    "index": "h1",
    "chapters/disagreement": "#fig-simplex",
    "chapters/results": "#fig-misplaced",
    "chapters/calibration": "#fig-temperature",
    "chapters/agreement": "#fig-accuracy-by-entropy",
    "chapters/ceilings": "#fig-annotation-budget",
    "your_model": "h1",
    "figures/fig-simplex": "h1",
    "explorer": "h1",
}

# The quick tests look at a book of two chapters; `make test-book` at the whole one.
SAMPLE = pytest.param("sample_checkout", marks=pytest.mark.slow)
REAL = pytest.param("real_checkout", marks=pytest.mark.slow)


@pytest.fixture(params=["small_checkout", SAMPLE, REAL])
def any_site(request):
    return request.getfixturevalue(request.param) / "_build" / "html"


@pytest.mark.parametrize("half", [0, 1])  # two workers look at the pages of a whole book
@pytest.mark.parametrize("built", [SAMPLE, REAL])
def test_every_page_of_a_whole_book_is_light_whole_and_open_to_all(browser, request, built, half):
    site = request.getfixturevalue(built) / "_build" / "html"
    assert not faults_of(browser, site, pages(site)[half::2])


def test_pages_of_a_short_book_are_light_and_whole_and_each_kind_open_to_all(browser, site):
    of_kinds = [site / f"{name}.html" for name in EACH_KIND]
    others = [path for path in pages(site) if path.parent.name not in ALIKE]
    others = [path for path in others if path not in of_kinds]
    assert not faults_of(browser, site, of_kinds)
    assert not faults_of(browser, site, others, closely=False)


def faults_of(browser, site, paths, *, closely=True):
    context = browser.new_context(reduced_motion="reduce")
    faults = list(look_over(context, site, paths, closely=closely))
    context.close()
    return faults


def test_the_keyboard_reaches_everything_and_shows_where_it_is(open_at):
    for name in ("chapters/disagreement", "figures/fig-simplex"):
        page = open_at(name)
        page.evaluate("document.documentElement.dataset.theme = 'dark'")
        stops, unreached = tab_through(page)
        assert "Skip to main content" in stops[0]["name"]
        assert not unreached, name
        for stop in stops:
            assert stop["seen"], stop
            assert stop["outline"] >= 2, stop
            assert contrast(stop["colour"], stop["behind"]) >= 3, stop


@pytest.mark.slow
@pytest.mark.parametrize(("name", "part"), PICTURED.items())
def test_pages_look_as_they_did(browser, sample_checkout, name, part, pytestconfig):
    """Compare with ``references/``; ``make references`` renews them after a change that is meant.

    What differs is left in ``_build/visual``: the picture, the reference, the difference.
    """
    path = sample_checkout / "_build" / "html" / f"{name}.html"
    context = browser.new_context(reduced_motion="reduce", color_scheme="light")
    page, _ = open_page(context, path)
    # It comes and goes with the direction of the last scroll.
    page.add_style_tag(content="#pst-back-to-top { display: none !important }")
    differing = []
    for (width, height), scheme in product(((1280, 900), (390, 844)), ("light", "dark")):
        page.set_viewport_size({"width": width, "height": height})
        page.locator(part).first.evaluate("e => e.scrollIntoView()")
        page.evaluate("scheme => document.documentElement.dataset.theme = scheme", scheme)
        wait_until(
            page,
            "[...document.images].every(i => i.loading = 'eager') &&"
            "[...document.images].every(i => i.complete || !i.offsetParent)",
        )
        taken, view = reduced(page.screenshot()), f"{name.replace('/', '-')}-{width}-{scheme}"
        kept = PROJECT / "tests" / "book" / "references" / f"{view}.png"
        if pytestconfig.getoption("renew_references"):
            taken.save(kept, optimize=True)
        reference = Image.open(kept) if kept.is_file() else None
        if reference is None or share_that_differs(taken, reference) > TOLERATED:
            keep(PROJECT / "_build" / "visual", view, taken, reference)
            differing.append(view)
    context.close()
    assert not differing, f"look at _build/visual; meant changes: make references: {differing}"


@pytest.mark.parametrize(("scheme", "other"), [("light", "-dark.svg"), ("dark", "fig-entropy.svg")])
def test_pictures_of_the_other_look_are_not_loaded(browser, site, scheme, other):
    context = browser.new_context(color_scheme=scheme)
    page, loaded = context.new_page(), []
    page.on("request", lambda request: loaded.append(request.url))
    page.goto((site / "index.html").as_uri())
    page.locator(".title-picture img").locator("visible=true").scroll_into_view_if_needed()
    wait_until(page, "[...document.images].some(i => i.offsetParent && i.naturalWidth)")
    pictures = [url for url in loaded if "/figures/fig-entropy" in url]
    context.close()
    assert pictures
    assert not [url for url in pictures if url.endswith(other)]


def test_one_search_box_a_switch_of_looks_and_folded_code(browser, any_site):
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    page, _ = open_page(context, any_site / "chapters" / "disagreement.html")
    assert page.locator(".search-button, .search-button-field").locator("visible=true").count() == 1
    picture = page.locator("#fig-simplex img").locator("visible=true")  # one only
    assert picture.get_attribute("src").endswith("fig-simplex.svg")
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert picture.get_attribute("src").endswith("fig-simplex-dark.svg")
    cell = page.locator("details.hide").first
    assert not cell.locator("pre").first.is_visible()
    cell.locator("summary").click()
    assert cell.locator("pre").first.is_visible()
    context.close()


def test_a_citation_is_copied_where_a_browser_has_no_clipboard(open_at):
    without = "Object.defineProperty(navigator, 'clipboard', {value: undefined})"
    page = open_at("figures/fig-simplex", script=without)
    page.get_by_role("button", name="Copy: RIS citation").click()
    page.get_by_text("Copied", exact=True).wait_for()
    page.evaluate("document.body.append(document.createElement('textarea'))")
    page.locator("textarea").focus()
    page.keyboard.press("Control+V")
    assert page.locator("textarea").input_value().startswith("TY  - FIGURE\nID  - fig-simplex")


def test_one_click_copies_a_citation_or_the_command_in_a_chapter(open_at):
    page = open_at("chapters/disagreement")
    page.locator("#fig-simplex summary", has_text="Cite this figure").click()
    for name, begins in {
        "BibTeX citation of fig-simplex": "@misc{fig-simplex,",
        "plain citation of fig-simplex": "The Living Book",
        "The command": "chaos run disagreement -p data=sample",
    }.items():
        page.get_by_role("button", name=f"Copy: {name}").click()
        text = "navigator.clipboard.readText()"
        wait_until(page, f"{text}.then(text => text.startsWith({json.dumps(begins)}))")


def test_a_reader_changes_parameters_and_both_commands_follow(open_at):
    page = open_at("chapters/disagreement")
    source = PROJECT / "notebooks" / "disagreement.py"
    box = page.locator(".rerun")
    commands = box.locator("pre")
    begins = {"data": "sample"}
    values = {"data": "it's <mine>", "resamples": 50, "examples": 0}
    for name, value in values.items():
        box.get_by_label(f"Value of {name}", exact=True).fill(str(value))
    given = resolve(source, begins | values)
    shown = [command(source, given), papermill_command(source, given)]
    assert [commands.nth(0).inner_text(), commands.nth(1).inner_text()] == shown
    field = box.get_by_label("Value of resamples", exact=True)
    field.fill("many")
    assert field.get_attribute("aria-invalid") == "true"
    assert "resamples" not in commands.nth(0).inner_text()


def test_every_chapter_is_quiet_and_ends_with_how_to_rerun_it(any_site):
    chapters = sorted((any_site / "chapters").glob("*.html"))
    notebooks = {path.stem for path in (PROJECT / "notebooks").glob("*.py")}
    chapters = [path for path in chapters if path.stem in notebooks]  # others lead on
    assert len(chapters) >= 2
    for path in chapters:
        text = path.read_text("utf-8")
        assert not re.search("stderr|&lt;IPython", text), path.name  # a warning, an object's name
        assert re.findall(r"<h2>(.*?)<a ", text)[-1] == "Rerun this chapter", path.name
        assert 'nav-link" href="#rerun-this-chapter"' in text, path.name  # in the page's contents
        section = text.split('<section id="rerun-this-chapter">')[1].split("</section>")[0]
        assert section.count(f">chaos run {path.stem}") == 2
        assert section.count(f">papermill {path.stem}.ipynb") == 1
        shown = re.findall(r'<tr data-parameter=.*?><th scope="row"><code>(\w+)</code>', section)
        declared = read_parameters(PROJECT / "notebooks" / f"{path.stem}.py")
        assert shown == [parameter.name for parameter in declared], path.name


def test_links_lead_somewhere_and_figures_have_their_files_alt_text_and_citation(any_site):
    assert list(broken_links(any_site)) == []
    entries = yaml.safe_load((any_site.parents[1] / "book" / "figures.yml").read_text())
    registered = [id for id, entry in entries.items() if not isinstance(entry, dict)]
    text = "".join(path.read_text() for path in sorted((any_site / "chapters").glob("*.html")))
    blocks = re.findall(r'(?s)<figure class="published[^>]*id="([^"]+)">(.*?)</figure>', text)
    published = {path.stem for path in (any_site / "figures").glob("*.json")}
    assert sorted(id for id, _ in blocks) == sorted(published)
    if "Synthetic sample: every number" not in text:  # beside which much is not computed
        assert published == set(registered)
    assert published <= set(registered)
    for id, block in blocks:
        formats = ["csv", "json"]
        if id.startswith("fig-"):
            formats += ["svg", "png", "pdf"]
            assert len(re.findall(r'<img[^>]*alt="[^"]{40,}"', block)) == 2
        for format in formats:
            assert (any_site / "figures" / f"{id}.{format}").stat().st_size > 100
            assert f'href="../figures/{id}.{format}"' in block
        for words in (f"@misc{{{id}", 'href="../notebooks/', f'href="../figures/{id}.html"'):
            assert words in block
        assert re.search(r'caption-number">(Fig\.|Table) \d', block)


def test_provenance_names_the_libraries_that_the_code_imports_and_no_others(any_site):
    for path in sorted((any_site / "figures").glob("*.json")):
        manifest = json.loads(path.read_text())
        notebook = PROJECT / "notebooks" / f"{manifest['notebook']}.py"
        imports = modules.source_of(notebook, notebook=True).imports
        rooms = (".analyses.", ".plots.")[: 2 if path.stem.startswith("fig-") else 1]
        imported = modules.libraries(one for one in imports if any(room in one for room in rooms))
        named = set(manifest["software"]) - {"python", "chaos-utils"}
        assert named <= imported, path.stem
        assert {"numpy", "pandas"} <= named, path.stem
        assert ("seaborn" in named) == path.stem.startswith("fig-"), path.stem


# Letters are paths, drawn to scale; without a fill they are black.
LETTERS = re.compile(r'<g(?: style="([^"]*)")? transform="[^"]*scale\(')
# Numbers on a heatmap: tests/plots looks at them.
ON_SHADES = {"fig-label-transitions"}


def test_texts_in_figures_stand_out_from_the_page(any_site):
    files = sorted((any_site / "figures").glob("*.svg"))
    assert len(files) >= 2 * len(list((any_site / "figures").glob("fig-*.html"))) > 0
    for path in files:
        text = path.read_text("utf-8")
        page = "#121212" if path.stem.endswith("-dark") else "#ffffff"
        assert re.search(r'<g id="patch_1">\s*<path [^>]*style="fill: none"', text), path.name
        fills = [re.search(r"fill: (#\w{6})", style) for style in LETTERS.findall(text)]
        assert fills, path.name
        if path.stem.removesuffix("-dark").removesuffix("-narrow") not in ON_SHADES:
            for fill in fills:
                assert contrast(fill[1] if fill else "#000000", page) >= 4.5, path.name


@pytest.mark.parametrize(("scripts", "place"), [(True, "?as=text#licences"), (False, "")])
def test_a_page_that_has_moved_leads_on(browser, site, scripts, place):
    context = browser.new_context(java_script_enabled=scripts)
    page = context.new_page()
    page.goto((site / "old" / "page.html").as_uri() + "?as=text#licences")
    page.wait_for_url((site / "cite.html").as_uri() + place)
    context.close()


@pytest.mark.parametrize("built", ["small_checkout", SAMPLE])
def test_the_synthetic_sample_cannot_be_mistaken(request, built):
    site = request.getfixturevalue(built) / "_build" / "html"
    for path in pages(site):
        assert "Synthetic sample: every number" in path.read_text(), path.name
    # What is made of no items, but of the protocol or of runs' records, is real in every build;
    # the short book's claims are made of nothing.
    real = [
        path.stem
        for path in (site / "figures").glob("*.json")
        if not any(one["synthetic"] for one in json.loads(path.read_text())["inputs"])
    ]
    no_items = {
        "fig-protocol", "fig-trained", "fig-training-curves", "tbl-annotators", "tbl-model-sizes",
        "tbl-plan", "tbl-protocol", "tbl-rank-correlations", "tbl-recipes", "tbl-runs",
        "tbl-trained", "tbl-training-cost",
    }  # fmt: skip
    assert set(real) - no_items <= ({"tbl-claims"} if built == "small_checkout" else set())
    # A PDF's title is UTF-16 where it has other letters than Latin ones.
    marks = [b"ynthetic", "ynthetic".encode("utf-16-be")]
    displays = {path.stem for path in (site / "figures").glob("*.json")}
    for path in (site / "figures").iterdir():
        if path.stem.removesuffix("-dark").removesuffix("-narrow") in displays - {*real}:
            assert any(mark in path.read_bytes() for mark in marks), path.name


@pytest.mark.slow
def test_a_chapter_is_made_again_when_a_file_changes_that_it_has_read(real_checkout):
    chapters = list((real_checkout / "_build" / "chapters").glob("*/record.json"))
    assert chapters
    for path in chapters:
        record = json.loads(path.read_text())
        assert {one["sha256"] for one in record["inputs"]} <= {*record["made_from"].values()}, path


@pytest.mark.slow
def test_the_real_book_is_not_marked_and_does_not_know_where_it_was_made(real_checkout):
    site = real_checkout / "_build" / "html"
    for path in [*pages(site), *(site / "figures").glob("*.json")]:
        text = path.read_text()
        assert "Synthetic sample: every number" not in text, path.name
        assert str(real_checkout) not in text, path.name
