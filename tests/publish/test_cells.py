import subprocess
from dataclasses import replace

from helpers.checkout import PROJECT

from chaos_utils.base.files import write_text
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


def test_the_cell_is_the_code_that_names_the_id_and_its_link_the_commit_that_holds_it(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "_toc.yml").write_text("")
    notebook = tmp_path / "notebooks" / "n.py"
    write_text(notebook, TEXT)

    def git(*arguments):
        command = ["git", "-c", "user.name=A", "-c", "user.email=a@b", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    for command in (["init"], ["add", "."], ["commit", "-m", "First"]):
        git(*command)
    cell = cells.cell_of(notebook, "fig-b", BOOK)
    assert (cell.first, cell.last, cell.link) == (8, 11, "")
    assert cell.code.splitlines() == TEXT.splitlines()[7:11]
    assert cells.cell_of(notebook, "fig-none", BOOK) is None
    book = replace(BOOK, repository="https://example.org/book")
    there = f"https://example.org/book/blob/{git('rev-parse', 'HEAD')}/notebooks/n.py#L8-L11"
    assert cells.cell_of(notebook, "fig-b", book).link == there
    notebook.write_text(f"{TEXT}\n")
    assert cells.cell_of(notebook, "fig-b", book).link == ""
