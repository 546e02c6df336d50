"""The policy of each page: it runs the book's scripts alone, and loads nothing from elsewhere."""

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from chaos_book.book import write_last
from chaos_utils.report import policy

# The theme's one handler; ``print.js`` listens instead.
_PRINT_HANDLER = 'onclick="window.print()"'


def _guard(app: Sphinx) -> None:
    """Give each page that a template makes its policy, also in the processes that write some."""
    if app.builder.format != "html":
        return
    templates = app.builder.templates
    render = templates.render

    def guarded(template: str, context: dict[str, Any]) -> str:
        page = render(template, context).replace(_PRINT_HANDLER, "data-prints")
        is_part = "<html" not in page  # the theme looks which of a page's parts are empty
        return page if is_part else policy.with_site_policy(page, context.get("body", ""))

    templates.render = guarded


def _guard_redirects(app: Sphinx, site: Path) -> None:
    for name in app.config.redirects:
        page = site / f"{name}.html"
        page.write_text(policy.with_site_policy(page.read_text("utf-8")), "utf-8")


def setup(app: Sphinx) -> None:
    """Connect before pages are written, and after sphinx-reredirects has written its own."""
    app.connect("builder-inited", _guard, priority=900)
    write_last(app, _guard_redirects, priority=900)
