"""The search page, and the pages that it leads to."""

import re

import pytest
import yaml
from helpers.checkout import PROJECT

from chaos_utils.publish.templating import ASSETS

pytestmark = pytest.mark.browser


@pytest.fixture
def search(open_at):
    def searched(words):
        page = open_at("search", f"?q={words}")
        page.get_by_text("Search finished").wait_for()
        return page

    return searched


def test_the_glossary_s_term_comes_first_and_says_so(search):
    found = search("entropy").locator("#search-results li").all_inner_texts()
    assert found[0] == "entropy (glossary term, in Glossary)"
    assert "How a hundred people answer" in found[2:]


def first_page(page):
    """Return the page that the first result leads to."""
    page.get_by_text("Search finished").wait_for()
    place = page.locator("#search-results li a").first.get_attribute("href")
    return place.partition("#")[0].partition("?")[0].removesuffix(".html")


@pytest.mark.parametrize(
    ("words", "name"),
    {
        "human label variation": "related",
        "Annotator agreement?": "chapters/disagreement",
        "gold labels": "chapters/annotations",
        "Krippendorff alpha": "glossary",
    }.items(),
)
def test_the_page_that_answers_comes_first(search, words, name):
    assert first_page(search(words)) == name


@pytest.mark.slow
def test_what_people_ask_for_leads_to_the_page_that_answers(browser, sample_checkout):
    answers = {
        "LLM": "chapters/machine_crowds",
        "LLM as a judge": "your_model",
        "how many annotators": "chapters/ceilings",
        "power analysis": "chapters/ceilings",
        "human label variation": "related",
        "JSD": "chapters/conventions",
        "soft labels": "chapters/train",
        "annotator agreement": "chapters/disagreement",
        "calibration": "chapters/calibration",
        "test-retest": "chapters/why",
        "gpt4 as annotator": "chapters/machine_crowds",
        "upload my annotations": "datasets",
        "named annotators": "datasets",
    }
    page = browser.new_page()
    found = {}
    for words in answers:
        page.goto((sample_checkout / "_build" / "html" / "search.html").as_uri() + f"?q={words}")
        found[words] = first_page(page)
    page.close()
    assert found == answers


def test_pages_that_say_what_they_answer_are_in_the_book():
    contents = (PROJECT / "_toc.yml").read_text("utf-8")
    pages = set(re.findall(r"(?:file|root): (\S+)", contents))
    notes = yaml.safe_load((PROJECT / "book" / "pages.yml").read_text("utf-8"))
    assert notes.keys() <= pages
    for name, about in notes.items():
        assert all(word == word.lower().strip() for word in about.get("search", [])), name


@pytest.mark.parametrize("word", ["constructor", "__proto__"])
def test_a_word_that_all_objects_have_is_found_where_pages_have_it_alone(open_at, word):
    page = open_at("search", f"?q={word}")
    page.get_by_text("did not match any documents").wait_for()


def test_prose_comes_before_the_package(browser):
    page = browser.new_page()
    page.evaluate("window.DOCUMENTATION_OPTIONS = window.Search = {}")
    page.add_script_tag(path=ASSETS / "scorer.js")
    page.evaluate("Scorer.asked = 'entropy'")
    python = "Python function, in Measures"
    results = [  # page, title, anchor, description, Sphinx's own score, file
        ["reporting", "How to report entropy", "", None, 5, ""],
        ["glossary", "entropy", "#term-entropy", "glossary term, in Glossary", 11, ""],
        ["glossary", "entropy bins", "#term-bins", "glossary term, in Glossary", 6, ""],
        ["chapters/disagreement", "How a hundred people answer", "", None, 5, ""],
        ["rebuild", "How to rebuild > Entropy", "#entropy", None, 15, ""],
        ["reference/metrics", "Measures", "", None, 15, ""],
        ["reference/metrics", "chaos_utils.metrics.divergence.entropy", "#e", python, 11, ""],
        ["reference/metrics", "chaos_utils.metrics.divergence.entropy_bits", "#b", python, 6, ""],
    ]
    scores = page.evaluate("results => results.map(one => Scorer.score(one))", results)
    page.close()
    assert scores == sorted(set(scores), reverse=True)


def test_results_quote_whole_words_of_prose_or_say_what_the_page_is_about(browser):
    page = browser.new_page()
    page.evaluate("window.DOCUMENTATION_OPTIONS = window.Search = {}")
    page.add_script_tag(path=PROJECT / "chaos_utils" / "assets" / "scorer.js")
    html = (
        "<html><head><meta name=description content='What it is about.'></head><main role=main>"
        "<p>.ipynb entropy</p><article class=bd-article><h1>Entropy</h1>"
        "<div class=cell_input>code</div>"
        f"<p>{'overlong ' * 40} constrain {'before ' * 40}the train {'after ' * 60}</p>"
    )
    found = {
        word: page.evaluate(
            "([html, word]) => Search.makeSearchSummary(html, new Set([word]), '').textContent",
            [f"{html}</article></main></html>", word],
        )
        for word in ("train", "entropy", "code")
    }
    page.close()
    assert set(found["train"].split()) == {"…", "before", "the", "train", "after"}
    assert len(found["train"]) < 250
    assert found["entropy"] == found["code"] == "What it is about."


def test_words_are_marked_where_a_result_leads_and_nowhere_else(search, site):
    page = search("entropy")
    page.goto((site / "cite.html").as_uri())
    assert page.get_by_text("Hide Search Matches").count() == 0
    page = search("entropy")
    page.locator("#search-results a", has_text="How to cite").click()
    page.locator("article .highlighted").first.wait_for()
    assert page.get_by_text("Hide Search Matches").count() == 1
    page.goto((site / "glossary.html").as_uri())
    assert page.get_by_text("Hide Search Matches").count() == 0
