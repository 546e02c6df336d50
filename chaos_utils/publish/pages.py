"""The process in which Jupyter Book makes the pages, on several cores: its own command uses one.

``python -m chaos_utils.publish.pages`` takes the folders and options as JSON.
"""

import json
import sys

from jupyter_book.sphinx import build_sphinx

from chaos_utils.base import paths
from chaos_utils.publish.processes import end_with_parent


def make(target: str, doctrees: str, *, jobs: int, draft: bool) -> bool:
    """Make the book's pages in `target`; return whether there was no fault or warning.

    Parsed sources are kept in `doctrees`, so that a page that has not changed is not made again. A
    `draft`, for an author who looks at pages while they change, leaves out slow steps that make no
    visible difference, such as the subset of icons.
    """
    root = paths.project()
    outcome = build_sphinx(
        root / "book",
        target,
        doctreedir=doctrees,
        noconfig=True,
        path_config=root / "_config.yml",
        confoverrides={
            "external_toc_path": (root / "_toc.yml").as_posix(),
            "latex_individualpages": False,
            "nitpicky": True,
            "chaos_draft": draft,
        },
        warningiserror=True,
        keep_going=True,
        jobs=jobs,
    )
    if isinstance(outcome, BaseException):  # as `site` recognises faults
        print(f"ERROR: {outcome}", flush=True)
    return outcome == 0


if __name__ == "__main__":
    options = json.loads(sys.argv[1])
    if parent := options.pop("parent"):  # 0 where warm: see `site.make_pages`
        end_with_parent(parent)
    sys.exit(not make(**options))
