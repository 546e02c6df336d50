"""The machinery's Sphinx extension, in parts: what is published, its pages, the site around it."""

from functools import cache
from importlib import import_module
from typing import Any

from pybtex import plugin
from sphinx.application import Sphinx

# Modules, each with a function `setup`, in the order in which they are set up.
PARTS = (
    "drafts", "again", "book", "published", "landing", "rerun", "site", "addresses", "changes",
    "page_citations", "theme", "mathml", "reference", "sortable", "search", "folding", "cards",
    "icons", "styles", "title_page", "definitions", "policy", "unbroken",
)  # fmt: skip


def setup(app: Sphinx) -> dict[str, Any]:
    """Register all parts."""
    for name in PARTS:
        import_module(f"chaos_utils.sphinx.{name}").setup(app)
    # Otherwise it would search all installed packages for each citation.
    plugin._load_entry_point = cache(plugin._load_entry_point)
    # It numbers sections after all pages were read, so pages can be read in parallel.
    app.extensions["sphinx_multitoc_numbering"].parallel_read_safe = True
    return {"parallel_read_safe": True, "parallel_write_safe": True}
