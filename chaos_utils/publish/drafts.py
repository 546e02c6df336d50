"""The pages as their author sees them while they change: what has not changed is not made again.

They stand beside the site of ``chaos build``, which is always made from the beginning.
"""

import hashlib
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from chaos_utils.base import inputs, modules, paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import read_mapping, write_json
from chaos_utils.base.locks import alone
from chaos_utils.publish import crate, dependencies, site
from chaos_utils.report import provenance

_BASIS = "basis.json"  # below the workplace: what all pages there were made with
_PAGES = (".md", ".rst")  # Sphinx sees by itself whether one of these has changed


class Drafts:
    """The pages of a book that is being written."""

    def __init__(self, of_warm: Mapping[str, str]) -> None:
        """Make nothing yet; `of_warm` is as `site.make_pages` takes it."""
        self._of_warm = of_warm
        self.shown = paths.build() / "drafts" / "html"
        self._workplace = paths.build() / "drafts" / "work"
        self._read: dict[Path, tuple[int, site.Page]] = {}

    def update(self, say: Callable[[str], None]) -> None:
        """Make the pages that have changed, and show them unless one has a fault.

        `say` is called with each fault. Where there is one, a ChaosError is raised, and what is
        shown stays as it was.
        """
        self._workplace.mkdir(parents=True, exist_ok=True)
        with alone(self._workplace.with_suffix(".lock")):
            self._update(say)

    def _update(self, say: Callable[[str], None]) -> None:
        html, doctrees = self._workplace / "html", self._workplace / "doctrees"
        basis = _basis()
        if read_mapping(self._workplace / _BASIS) != basis:
            shutil.rmtree(self._workplace, ignore_errors=True)
        # What is interrupted leaves none, and the next one begins anew.
        (self._workplace / _BASIS).unlink(missing_ok=True)
        fault = None
        try:
            site.make_pages(html, doctrees, say, draft=True, of_warm=self._of_warm)
        except ChaosError as raised:
            fault = raised
        write_json(self._workplace / _BASIS, basis)
        if fault is not None:
            raise fault
        write_json(html / crate.FILE, {"@graph": []})  # a page links to it; drafts have no record
        broken = list(site.broken_links(html, self._page))
        if broken:
            raise site.links_broken(broken)
        _bring(html, self.shown)

    def _page(self, path: Path) -> site.Page:
        """Return what a page links to, which is read again only when it was written again."""
        written = path.stat().st_mtime_ns
        known = self._read.get(path)
        if known is None or known[0] != written:
            known = self._read[path] = written, site.read_page(path)
        return known[1]


def _basis() -> dict[str, str]:
    """Return the digest of each thing that no single page says it depends on.

    These are the book's settings, styles and scripts, the code that makes pages, and the data that
    the chapters were made from.
    """
    dependencies.forget()  # this process has read sources before
    root = paths.project()
    beside = [path for path in dependencies.pages() if path.suffix not in _PAGES]
    extension = (root / "book" / "_ext").rglob("*.py")
    code = modules.closure(name for path in extension for name in modules.source_of(path).imports)
    templates = (root / modules.PACKAGE / "publish" / "templates").glob("*.html")
    found = {
        path.relative_to(root).as_posix(): inputs.digest(path)
        for path in [*beside, *code, *templates]
    }
    for chapter in dependencies.chapters():
        record = provenance.read_record(paths.build() / "chapters" / chapter)
        said = record.model_dump_json(include={"inputs", "parameters"}) if record else ""
        found[f"chapter {chapter}"] = hashlib.sha256(said.encode()).hexdigest()
    return found


def _bring(source: Path, target: Path) -> None:
    """Let a folder have the files of another, ``index.html`` last; those that it has stay."""
    target.mkdir(parents=True, exist_ok=True)
    wanted = {path.relative_to(source): path for path in source.rglob("*") if path.is_file()}
    for path in [path for path in target.rglob("*") if path.is_file()]:
        if path.relative_to(target) not in wanted:
            path.unlink()
    index = Path("index.html")
    for name in [*(name for name in wanted if name != index), index]:
        there, here = target / name, wanted[name].stat()
        if not there.is_file() or there.stat().st_mtime_ns != here.st_mtime_ns:
            there.parent.mkdir(parents=True, exist_ok=True)
            scratch = there.with_name(f".{there.name}-new")
            shutil.copy2(wanted[name], scratch)
            scratch.replace(there)
