"""The pages as their author sees them while they change: what has not changed is not made again.

They stand beside the site of ``chaos build``, which is always made from the beginning.
"""

import hashlib
import shutil
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from chaos_utils.base import inputs, modules, paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import fresh_folder, read_mapping, write_json
from chaos_utils.base.locks import exclusive_lock
from chaos_utils.publish import crate, dependencies, site
from chaos_utils.report import provenance

_PAGES = (".md", ".rst")  # Sphinx sees by itself whether one of these has changed


def shown() -> Path:
    """Return the folder of the pages that are shown."""
    return paths.build() / "drafts" / "html"


def update(of_warm: Mapping[str, str], say: Callable[[str], None]) -> None:
    """Make the pages that have changed, and show them unless one has a fault.

    `say` is called with each fault. Where there is one, a ChaosError is raised, and what is shown
    stays as it was. `of_warm` is as `site.make_pages` takes it.
    """
    workplace = paths.build() / "drafts" / "work"
    html, basis_file = workplace / "html", workplace / "basis.json"
    with exclusive_lock(workplace.with_suffix(".lock")):
        basis = _basis()
        if read_mapping(basis_file) != basis:
            shutil.rmtree(workplace, ignore_errors=True)
        basis_file.unlink(missing_ok=True)  # what is interrupted begins anew
        try:
            site.make_pages(html, workplace / "doctrees", say, draft=True, of_warm=of_warm)
        except ChaosError:
            write_json(basis_file, basis)
            raise
        write_json(basis_file, basis)
        write_json(html / crate.FILE, {"@graph": []})  # a page links to it; drafts have no record
        site.check_links(html, _page)
        with fresh_folder(shown()) as folder:
            shutil.copytree(html, folder, dirs_exist_ok=True)


def _page(path: Path) -> site.Page:
    return _page_as_of(path, path.stat().st_mtime_ns)


@cache
def _page_as_of(path: Path, written: int) -> site.Page:
    return site.Page(path)


def _basis() -> dict[str, str]:
    """Return the digest of each thing that no single page says it depends on.

    These are the book's settings, styles and scripts, the code that makes pages, and the data that
    the chapters were made from.
    """
    dependencies.forget()  # this process has read sources before
    root = paths.project()
    beside = [path for path in dependencies.pages() if path.suffix not in _PAGES]
    code = modules.transitive_imports(dependencies.imported_by_pages())
    templates = (root / modules.PACKAGE / "publish" / "templates").glob("*.html")
    found = {
        path.relative_to(root).as_posix(): inputs.digest(path)
        for path in [*beside, *code, *templates]
    }
    for chapter in dependencies.chapters():
        record = provenance.read_run_record(paths.chapter_run(chapter))
        said = record.model_dump_json(include={"inputs", "parameters"}) if record else ""
        found[f"chapter {chapter}"] = hashlib.sha256(said.encode()).hexdigest()
    return found
