"""The pages of figures and tables, the list of them and the title page, in a short book."""

import json
import re
from html import escape, unescape
from pathlib import Path

import pandas as pd
import yaml


def test_each_has_a_page_with_number_files_and_place(site, small_checkout):
    registered = yaml.safe_load((small_checkout / "book" / "figures.yml").read_text("utf-8"))
    assert {path.stem for path in (site / "figures").glob("*.html")} == set(registered)
    for id in registered:
        text = (site / "figures" / f"{id}.html").read_text("utf-8")
        kind = "Fig." if id.startswith("fig-") else "Table"
        assert re.search(rf'href="../chapters/[a-z]+\.html#{id}">{kind} \d+</a> in', text), id
        assert re.search(r"chaos run \w+ -p data=sample", text), id
        made = json.loads((site / "figures" / f"{id}.json").read_text("utf-8"))
        assert ('class="admonition warning"' in text) == made["synthetic"]
        prose = re.sub("<pre.*?</pre>", "", text, flags=re.DOTALL)  # code may hold markup
        assert not re.search(r"\{(cite|numref|doc)", prose), id


def test_the_line_of_pandas_on_the_page_reads_the_data(site, monkeypatch):
    monkeypatch.chdir(site / "figures")
    for path in sorted(Path().glob("*.html")):
        text = path.read_text("utf-8")
        lines = re.findall(r'aria-label="The line for (\w+)">(.*?)</pre>', text)
        assert [kind for kind, _ in lines] == ["CSV", "JSON"], path
        read = [eval(unescape(line), {"pd": pd}) for _, line in lines]
        # A column without any value is of numbers to the one, of objects to the other; an empty
        # text is none in CSV.
        csv, manifest = (one.astype(object).where(one.notna() & (one != ""), None) for one in read)
        pd.testing.assert_frame_equal(csv, manifest)
        assert len(csv) > 0
        for column in csv.columns:
            assert f'<th scope="row"><code>{escape(column)}</code></th>' in text, path


def test_the_list_shows_all_by_chapter_and_by_number(site):
    text = (site / "cite.html").read_text("utf-8")
    found = re.findall(r'class="thumbnail" href="figures/([a-z-]+)\.html".*?<b>(.*?)</b>', text)
    assert len(found) == len(list((site / "figures").glob("*.html")))
    for kind in ("Fig.", "Table"):
        numbers = [int(shown.split()[1]) for _, shown in found if shown.startswith(kind)]
        assert numbers == list(range(1, len(numbers) + 1))
    assert text.count('<section id="chapter-') == 2


def test_findings_of_the_released_data_are_left_out_of_other_books(site):
    text = (site / "index.html").read_text("utf-8")
    words = " ".join(re.sub(r"<[^>]*>", " ", text).split())
    assert "A short book" in words
    assert "a method" in words
    assert "finding" not in words.split("Contents")[-1]
    assert "Of the item" not in words
    assert "<li></li>" not in text
    assert '<div class="picture"' in text  # a figure is marked as synthetic
