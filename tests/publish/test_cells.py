import subprocess
from dataclasses import replace

import pytest
from helpers.checkout import PROJECT

from chaos_utils.publish import cells, citations

BOOK = citations.read_book(PROJECT / "CITATION.cff")
TEXT = """\
# %% [markdown]
# See "fig-b".

# %%
x = 1

# %%
publish_figure(
    "fig-b",
    plot,
)
"""


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    """A notebook in a git checkout of its own."""
    path = tmp_path / "notebooks" / "n.py"
    path.parent.mkdir()
    path.write_text(TEXT)
    (tmp_path / "_toc.yml").write_text("")
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "First"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    monkeypatch.chdir(tmp_path)
    return path


def test_the_cell_is_the_code_that_names_the_id_and_its_link_the_commit_that_holds_it(notebook):
    cell = cells.cell_of(notebook, "fig-b", BOOK)
    assert (cell.first, cell.last, cell.link) == (8, 11, "")
    assert cell.code.splitlines() == TEXT.splitlines()[7:11]
    assert cells.cell_of(notebook, "fig-none", BOOK) is None
    book = replace(BOOK, repository="https://example.org/book")
    run = ["git", "rev-parse", "HEAD"]
    commit = subprocess.run(run, cwd=notebook.parent, capture_output=True, text=True).stdout.strip()
    there = f"https://example.org/book/blob/{commit}/notebooks/n.py#L8-L11"
    assert cells.cell_of(notebook, "fig-b", book).link == there
    notebook.write_text(f"{TEXT}\n")
    assert cells.cell_of(notebook, "fig-b", book).link == ""
