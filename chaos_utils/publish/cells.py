"""The notebook cell that makes a figure or table, and its address in the public repository."""

import re
from dataclasses import dataclass
from pathlib import Path

from chaos_utils.base.authorship import Citation
from chaos_utils.base.modules import read_source
from chaos_utils.report import parameters, provenance


@dataclass(frozen=True, slots=True)
class CodeCell:
    """A code cell, with its first and last line in the notebook's source, counted from one.

    `link` leads to these lines in the public repository. It is empty if there is no repository, or
    if the notebook here is not the committed one.
    """

    code: str
    first: int
    last: int
    link: str


def cell_of(notebook: Path, id: str, book: Citation) -> CodeCell | None:
    """Return the cell that publishes an id; None where no cell names the id as a literal."""
    text = read_source(notebook)
    for cell in parameters.read_cells(notebook):
        if cell.cell_type == "code" and re.search(f"""["']{re.escape(id)}["']""", cell.source):
            code = cell.source.strip()
            start = text.find(code)
            if start < 0:  # it holds a line magic, which the source comments out
                continue
            first = text.count("\n", 0, start) + 1
            last = first + code.count("\n")
            return CodeCell(code, first, last, _link(notebook, book, first, last))
    return None


def _link(notebook: Path, book: Citation, first: int, last: int) -> str:
    """Return the address of lines of a notebook, at the last commit that changed it.

    That commit is the same whenever the site is made.
    """
    commit = provenance.commit_of(notebook) if book.repository else None
    if commit is None:
        return ""
    path = f"blob/{commit}/notebooks/{notebook.name}#L{first}-L{last}"
    return f"{book.repository.rstrip('/')}/{path}"
