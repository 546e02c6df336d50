"""The pages as their author sees them while they change: what has not changed is not made again.

They stand beside the site of ``chaos build``, and lack what a look at a page does not need.
"""

import shutil
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from chaos_utils.base import paths
from chaos_utils.base.files import fresh_folder, write_json
from chaos_utils.base.locks import exclusive_lock
from chaos_utils.publish import crate, site


def shown() -> Path:
    """Return the folder of the pages that are shown."""
    return paths.build() / "drafts" / site.HTML


def update(of_warm: Mapping[str, str], say: Callable[[str], None]) -> None:
    """Make the pages that have changed, and show them unless one has a fault.

    `say` is called with each fault. Where there is one, a ChaosError is raised, and what is shown
    stays as it was. `of_warm` is as `site.make_pages` takes it.
    """
    workplace = paths.build() / "drafts" / "work"
    html = workplace / site.HTML
    with exclusive_lock(workplace.with_suffix(".lock")):
        site.update_pages(workplace, say, draft=True, of_warm=of_warm)
        write_json(html / crate.FILE, {"@graph": []})  # a page links to it; drafts have no record
        site.check_links(html, _page)
        with fresh_folder(shown()) as folder:
            shutil.copytree(html, folder, dirs_exist_ok=True)


def _page(path: Path) -> site.Page:
    return _page_as_of(path, path.stat().st_mtime_ns)


@cache
def _page_as_of(path: Path, written: int) -> site.Page:
    return site.Page(path)
