"""The examples on the page about reporting."""

import re

import pytest
from chaos_book import reporting
from helpers.checkout import PROJECT
from helpers.widgets import recorded

PAGE = (PROJECT / "book" / "reporting.md").read_text("utf-8")
EXAMPLES = re.findall(r"^```\{report-example\} (\S+)\n((?::.*\n)+)", PAGE, re.MULTILINE)


def options_of(text):
    return dict(re.findall(r"^:([\w-]+): (.*)$", text, re.MULTILINE))


def test_the_page_is_short_and_its_examples_have_the_resamples_of_tables_that_exist():
    assert len(PAGE.split()) <= 900
    registered = (PROJECT / "book" / "figures.yml").read_text("utf-8")
    assert len(EXAMPLES) == 3
    for _, text in EXAMPLES:
        assert re.search(rf"^{options_of(text)['resamples-of']}: \S", registered, re.MULTILINE)


@pytest.mark.published("judges32/*")
def test_the_examples_have_the_values_of_the_chapters(released):
    votes = {one.dataset.name: one for one in released}
    worths = recorded("results.human_equivalents").set_index(["dataset", "system", "measure"])
    judges = recorded("machine_crowds.members").set_index(["dataset", "model"])
    (dataset, of_model), (_, of_judge), _ = EXAMPLES
    model, judge = (options_of(text)["system"] for text in (of_model, of_judge))
    sentences = reporting.example(votes[dataset], model, 2000, 0)
    number, ends = worths.loc[(dataset, model, "people_on_top_recalibrated"), "text"].split(" ", 1)
    assert f"worth {number} people {ends} on top of the base rate." in sentences
    row = judges.loc[dataset, judge]
    name = "people_on_top_recalibrated"
    value, low, high = (f"{row[f'{name}{end}']:.1f}" for end in ("", "_low", "_high"))
    sentences = reporting.example(votes[dataset], judge, 1000, 0)
    assert f"worth {value} people [{low}, {high}]" in sentences
    assert "one label per item" in sentences
    assert "Kimi K2.6" in sentences
    assert reporting.example(votes[dataset], "nobody", 1000, 0) == ""
