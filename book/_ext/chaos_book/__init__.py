"""The book's own Sphinx extension: published objects and their pages, computed values, MathML."""

from typing import Any

from sphinx.application import Sphinx

from chaos_book import landing, mathml, published, rerun, site


def setup(app: Sphinx) -> dict[str, Any]:
    """Register all parts."""
    for part in (published, landing, rerun, site, mathml):
        part.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
