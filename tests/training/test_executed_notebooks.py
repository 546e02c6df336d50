"""The executed notebooks of trainings that are committed beside their predictions."""

import json
import re

import nbformat
import pytest
from helpers.checkout import PROJECT

from chaos_utils.report.executed import as_html, read_executed

LARGEST = 200_000  # bytes
SHORTEST = 25  # letters of a text that is looked for: shorter ones may stand there by chance


def executed():
    return sorted((PROJECT / "results").glob("*/notebook.ipynb"))


def test_they_are_small_and_whole_and_know_no_machine():
    assert executed()
    for path in executed():
        assert path.stat().st_size < LARGEST, path
        notebook = nbformat.read(path, as_version=4)
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        assert all(cell.execution_count for cell in code), path
        assert not [out for cell in code for out in cell.outputs if out.output_type == "error"]
        assert str(PROJECT) not in path.read_text("utf-8"), path


def test_on_a_page_the_log_is_folded_and_a_chapter_has_logs_and_tables_alone():
    notebook = read_executed(PROJECT / "results" / "minilm-l6-nli-votes-s0" / "notebook.ipynb")
    whole, brief = as_html(notebook), as_html(notebook, brief=True)
    for page in (whole, brief):
        assert re.search(r"<summary>The log, \d+ lines</summary><pre>fold 1 of 5", page)
        assert '<p class="caption">What the model was trained on' in page
        assert '<p class="caption">This run compared with people and guesses</p>' in page
        assert "This notebook trains" not in page
        assert "dtype" not in page
        assert "rate 1e−4" in page
    assert whole.count("<img") == 1
    assert re.search(r'<figure[^>]*><img [^>]*style="max-width:100%"', whole)  # fits a phone
    assert ">Training loss, and accuracy" in whole
    assert not re.search("<img|executed-code", brief)


def test_on_a_page_no_role_is_left_that_only_the_book_resolves():
    for path in executed():
        assert not re.search(r"\{\w+\}(?:`|<code>)", as_html(read_executed(path))), path


@pytest.mark.usefixtures("released_root")
def test_no_text_of_the_datasets_is_in_them(released_root):
    files = sorted((released_root / "chaosNLI_v1.0").glob("*.jsonl"))
    lines = [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]
    texts = {text for line in lines for text in line["example"].values() if isinstance(text, str)}
    sought = {text for text in texts if len(text) >= SHORTEST}
    assert len(sought) > 4_645
    for path in executed():
        written = json.dumps(json.loads(path.read_text("utf-8")), ensure_ascii=False)
        assert not [text for text in sought if text in written], path
