"""The machinery's Sphinx extension, in parts: what is published, its pages, the site around it."""

from functools import cache
from typing import Any

from pybtex import plugin
from sphinx.application import Sphinx

from chaos_utils.sphinx import (
    addresses,
    again,
    book,
    cards,
    changes,
    definitions,
    drafts,
    folding,
    icons,
    landing,
    mathml,
    page_citations,
    policy,
    published,
    reference,
    rerun,
    search,
    site,
    sortable,
    styles,
    theme,
    title_page,
)

# In the order in which they are set up.
_PARTS = (
    drafts, again, book, published, landing, rerun, site, addresses, changes, page_citations, theme,
    mathml, reference, sortable, search, folding, cards, icons, styles, title_page, definitions,
    policy,
)  # fmt: skip


def setup(app: Sphinx) -> dict[str, Any]:
    """Register all parts."""
    for part in _PARTS:
        part.setup(app)
    # Otherwise it would search all installed packages for each citation.
    plugin._load_entry_point = cache(plugin._load_entry_point)
    # It numbers sections after all pages were read, so pages can be read in parallel.
    app.extensions["sphinx_multitoc_numbering"].parallel_read_safe = True
    return {"parallel_read_safe": True, "parallel_write_safe": True}
