"""The content security policy of each page: only the book's scripts, nothing from elsewhere."""

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from chaos_utils.report import policy
from chaos_utils.sphinx.book import write_last

# The theme's only inline handler, which the policy forbids; ``print.js`` listens instead.
_PRINT_HANDLER = 'onclick="window.print()"'


def _add_policy(app: Sphinx) -> None:
    """Let templates add its policy to each page, also in other processes that write pages."""
    if app.builder.format != "html":
        return
    templates = app.builder.templates
    render = templates.render

    def render_with_policy(template: str, context: dict[str, Any]) -> str:
        page = render(template, context).replace(_PRINT_HANDLER, "data-prints")
        is_part = "<html" not in page  # the theme renders parts alone, to see which are empty
        return page if is_part else policy.with_site_policy(page, context.get("body", ""))

    templates.render = render_with_policy


def _add_policy_to_redirects(app: Sphinx, site: Path) -> None:
    for name in app.config.redirects:
        page = site / f"{name}.html"
        page.write_text(policy.with_site_policy(page.read_text("utf-8")), "utf-8")


def setup(app: Sphinx) -> None:
    """Connect before pages are written, and after sphinx-reredirects has written its pages."""
    app.connect("builder-inited", _add_policy, priority=900)
    write_last(app, _add_policy_to_redirects, priority=900)
