"""The process in which Jupyter Book makes the pages, on several cores: its own command uses one.

``python -m chaos_utils.sphinx.pages`` takes the folders and options as JSON.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import yaml
from jupyter_book.config import _recursive_update
from jupyter_book.sphinx import build_sphinx

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_text
from chaos_utils.base.yaml_files import read_yaml
from chaos_utils.publish.processes import end_with_parent
from chaos_utils.publish.templating import ASSETS
from chaos_utils.report import warm


def make(target: str, doctrees: str, *, jobs: int, draft: bool) -> bool:
    """Make the book's pages in `target`; return whether there was no fault or warning.

    Parsed sources are kept in `doctrees`, so that a page that has not changed is not made again. A
    `draft`, for an author who looks at pages while they change, leaves out slow steps that make no
    visible difference, such as the subset of icons.
    """
    root = paths.project()
    book = root / "book"
    config = Path(doctrees).with_name("config.yml")
    write_text(config, yaml.safe_dump(settings(root / "_config.yml"), allow_unicode=True))
    outcome = build_sphinx(
        book,
        target,
        doctreedir=doctrees,
        noconfig=True,
        path_config=config,
        confoverrides={
            "external_toc_path": (root / "_toc.yml").as_posix(),
            "latex_individualpages": False,
            "nitpicky": True,
            "chaos_draft": draft,
            # Jupyter Book adds the book's own static files.
            "html_static_path": [str(ASSETS / "static")],
            "templates_path": [str(ASSETS / "templates")],
            "redirect_html_template_file": str(ASSETS / "moved.html"),
        },
        warningiserror=True,
        keep_going=True,
        jobs=jobs,
    )
    if isinstance(outcome, BaseException):  # as `site` recognises faults
        print(f"ERROR: {outcome}", flush=True)
    return outcome == 0


def settings(path: Path) -> dict[str, Any]:
    """Return the settings of a book: those of every book with what its ``_config.yml`` adds."""
    own = read_yaml(path)
    if not isinstance(own, dict):
        raise ChaosError(
            "This cannot be read.", where=path.name, expected="a line `title: TITLE`, and settings"
        )
    merged: dict[str, Any] = read_yaml(ASSETS / "config.yml")
    _recursive_update(merged, own, list_extend=True)
    extensions = merged["sphinx"].get("local_extensions") or {}
    folders = {name: str(path.parent / folder) for name, folder in extensions.items()}
    merged["sphinx"]["local_extensions"] = folders  # whose paths start from the book's file
    return merged


if __name__ == "__main__":
    options = json.loads(sys.argv[1])
    parent = options.pop("parent")
    if warm.SOCKET not in os.environ:  # a warm process ends with its server
        end_with_parent(parent)
    made = make(**options)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(not made)  # to free memory piece by piece would take a second
