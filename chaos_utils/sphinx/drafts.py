"""Drafts: pages that are made one by one while the book is served to its author."""

from sphinx.application import Sphinx


def is_draft(app: Sphinx) -> bool:
    """Say whether the author looks at the pages while they change."""
    return bool(app.config.chaos_draft)


def setup(app: Sphinx) -> None:
    """Register the setting."""
    app.add_config_value("chaos_draft", False, "", [bool])
