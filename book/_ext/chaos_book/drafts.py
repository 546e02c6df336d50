"""Drafts: pages that are made one by one while the book is served to its author."""

import json
from collections.abc import Sequence
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

_AT_FAULT = "at_fault.json"  # beside what was read: pages that a fault was found in, or with


def is_draft(app: Sphinx) -> bool:
    """Say whether the author looks at the pages while they change."""
    return bool(app.config.chaos_draft)


def _file(app: Sphinx) -> Path:
    return Path(app.doctreedir) / _AT_FAULT


def _read_again(app: Sphinx, env: BuildEnvironment, *_: object) -> Sequence[str]:
    """Let pages at fault be read again: Sphinx would not, and say nothing of the fault."""
    path = _file(app)
    return json.loads(path.read_text("utf-8")) if path.is_file() else []


def _note(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    _file(app).write_text(json.dumps(docnames), "utf-8")


def _forget(app: Sphinx, exception: Exception | None) -> None:
    if exception is None and app.statuscode == 0:
        _file(app).unlink(missing_ok=True)


def setup(app: Sphinx) -> None:
    """Register the setting, and connect to Sphinx's events."""
    app.add_config_value("chaos_draft", False, "", [bool])
    app.connect("env-get-outdated", _read_again)
    app.connect("env-before-read-docs", _note)
    app.connect("build-finished", _forget)
