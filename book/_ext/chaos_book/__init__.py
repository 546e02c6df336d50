"""The book's own Sphinx extension: published objects, computed values, MathML."""

from typing import Any

from sphinx.application import Sphinx

from chaos_book import mathml, published, site


def setup(app: Sphinx) -> dict[str, Any]:
    """Register all parts."""
    for part in (published, site, mathml):
        part.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
