"""What ``book/pages.yml`` may say of pages: the words that each answers, and its description."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from sphinx.application import Sphinx

from chaos_utils.base.validation import StrictModel, validate
from chaos_utils.base.yaml_files import read_yaml
from chaos_utils.sphinx import faults


class PageNotes(StrictModel):
    """Words that people search for when the page is what they want, and what the page answers."""

    search: tuple[str, ...] = ()
    description: str = ""


class _NotesFile(StrictModel):
    pages: dict[str, PageNotes]


def page_notes(app: Sphinx) -> Mapping[str, PageNotes]:
    """Return the notes on pages, by the pages' names."""
    return _read(Path(app.srcdir) / "pages.yml")


@cache
def _read(path: Path) -> Mapping[str, PageNotes]:
    if not path.is_file():
        return {}
    with faults.on_one_line():
        return validate({"pages": read_yaml(path)}, _NotesFile, path.name, "This file").pages
