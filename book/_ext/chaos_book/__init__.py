"""The book's own Sphinx extension, in parts: what is published, its pages, the site around it."""

from typing import Any

from sphinx.application import Sphinx

from chaos_book import (
    addresses,
    annotate,
    cleaning,
    explorer,
    icons,
    landing,
    mathml,
    published,
    reference,
    rerun,
    site,
)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register all parts."""
    for part in (
        published,
        landing,
        rerun,
        site,
        addresses,
        cleaning,
        mathml,
        reference,
        explorer,
        annotate,
        icons,
    ):
        part.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
