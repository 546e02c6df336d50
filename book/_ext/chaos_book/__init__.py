"""What this book adds to the machinery's Sphinx extension: its items, and pages that show them."""

from importlib import import_module
from typing import Any

from sphinx.application import Sphinx

# Modules, each with a function `setup`, in the order in which they are set up.
PARTS = (
    "items", "executed", "explorer", "annotate", "evaluate", "reporting", "claims", "interactive",
    "calculators", "opening",
)  # fmt: skip


def setup(app: Sphinx) -> dict[str, Any]:
    """Register all parts, after those of the machinery."""
    app.setup_extension("chaos_utils.sphinx.extension")
    for name in PARTS:
        import_module(f"chaos_book.{name}").setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
