"""The executed notebooks of trainings that are committed beside their predictions."""

import json

import nbformat
import pytest
from helpers.checkout import PROJECT

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
