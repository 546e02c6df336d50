"""The cell of a notebook that makes a figure or table, and where it stands in public."""

import re
from dataclasses import dataclass
from pathlib import Path

from chaos_utils.base.authorship import Citation
from chaos_utils.base.modules import read_source
from chaos_utils.report import parameters, provenance


@dataclass(frozen=True, slots=True)
class CodeCell:
    """A code cell; its lines in the notebook's source are counted from one.

    `link` leads to these lines in the public repository. It is empty where there is none, or where
    it does not hold the notebook as it is here.
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
            at = text.find(code)
            if at < 0:  # it holds a line magic, which the source comments out
                continue
            first = text.count("\n", 0, at) + 1
            last = first + code.count("\n")
            return CodeCell(code, first, last, _link(notebook, book, first, last))
    return None


def _link(notebook: Path, book: Citation, first: int, last: int) -> str:
    """Name the last commit that changed the notebook: the same whenever the site is made."""
    commit = provenance.commit_of(notebook) if book.repository else None
    if commit is None:
        return ""
    place = f"blob/{commit}/notebooks/{notebook.name}#L{first}-L{last}"
    return f"{book.repository.rstrip('/')}/{place}"
