"""Drafts: the book's pages for their author, of which only those that changed are made again.

They are in a folder of their own, beside the site of ``chaos build``, and lack its records.
"""

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

from chaos_utils.base import paths
from chaos_utils.base.files import fresh_folder, write_json
from chaos_utils.base.locks import exclusive_lock
from chaos_utils.publish import crate, site


def pages_folder() -> Path:
    """Return the folder of the pages that are served."""
    return paths.build() / "drafts" / site.HTML


def update(say: Callable[[str], None]) -> None:
    """Make the pages that have changed, and show them unless one has a fault.

    `say` is called with each fault. After a fault, a ChaosError is raised, and the pages shown stay
    as they were.
    """
    workplace = paths.build() / "drafts" / "work"
    html = workplace / site.HTML
    with exclusive_lock(workplace.with_suffix(".lock")):
        site.update_pages(workplace, say, draft=True)
        write_json(html / crate.FILE, {"@graph": []})  # a page links to it; drafts have no record
        site.check_links(html, _page)
        with fresh_folder(pages_folder()) as folder:
            shutil.copytree(html, folder, dirs_exist_ok=True)


def _page(path: Path) -> site.Page:
    return _cached_page(path, path.stat().st_mtime_ns)


@cache
def _cached_page(path: Path, modified_ns: int) -> site.Page:
    """Read a page, again only when the time of its file has changed."""
    return site.Page(path)
