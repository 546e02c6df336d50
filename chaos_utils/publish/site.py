"""Make the site from executed chapters: render, check, describe, put in place."""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from html.parser import HTMLParser
from importlib.metadata import distributions
from pathlib import Path
from types import MappingProxyType
from urllib.parse import unquote, urlsplit

from chaos_utils.base import inputs, modules, paths
from chaos_utils.base.authorship import ADDRESS
from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.base.files import read_mapping, swap_in, write_json, write_text
from chaos_utils.base.processes import python_path
from chaos_utils.base.record_keys import digest_of
from chaos_utils.publish import crate, dependencies, staleness
from chaos_utils.publish.processes import end_group
from chaos_utils.report import provenance, warm

HTML = "html"  # the folder of pages
_PAGES = (".md", ".rst")  # each says by itself what it depends on
_LOG = "site.log"
_SHOWN = 12
_FAULT = re.compile(r"WARNING:|ERROR:|CRITICAL:|^sphinx\.errors\.")


def forget_pages() -> None:
    """Let all pages be made from nothing when the book is next rendered."""
    shutil.rmtree(_workplace(), ignore_errors=True)


def _workplace() -> Path:
    return paths.build() / "pages"


def render(
    say: Callable[[str], None],
    *,
    cores: int = 0,
    of_warm: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Render the book into ``_build/html``, which is replaced whole or left as it was.

    `say` is called with each fault of a page when it is found, before the other pages are made.
    What it was made from, beside the chapters, is recorded in ``_build``: it is no part of it.
    `cores` are as many as may be used: 0 for all. `of_warm` is as `make_pages` takes it.
    """
    staleness.refuse_stale()
    address = os.environ.get(ADDRESS, "")
    made_from = dependencies.digests_of_pages() | {staleness.MADE_FOR: address}
    update_pages(_workplace(), say, cores=cores, of_warm=of_warm)
    with tempfile.TemporaryDirectory(dir=paths.build(), prefix=".site-") as folder:
        html = shutil.copytree(_workplace() / HTML, Path(folder) / HTML)
        check_links(html)
        (html / ".buildinfo").unlink(missing_ok=True)  # only for Sphinx, and of this machine
        crate.write(html)
        made = made_from | staleness.files_of(html)
        swap_in(html, paths.build() / "html")
        write_json(paths.build() / staleness.SITE_FILE, made)


def update_pages(
    workplace: Path,
    say: Callable[[str], None],
    *,
    cores: int = 0,
    draft: bool = False,
    of_warm: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Make those pages in a folder that have changed since it was last made; else as `make_pages`.

    They are as if all had been made from nothing. So they are where something has changed that no
    single page says it depends on, where the last ones were interrupted or, but for drafts, had a
    fault, and where a source has changed meanwhile.
    """
    basis_file, basis = workplace / "basis.json", _basis()
    if read_mapping(basis_file) != basis:
        shutil.rmtree(workplace, ignore_errors=True)
    basis_file.unlink(missing_ok=True)
    sources = dependencies.digests_of_pages()
    try:
        make_pages(
            workplace / HTML, workplace / "doctrees", say, cores=cores, draft=draft, of_warm=of_warm
        )
    except ChaosError:
        if draft:
            write_json(basis_file, basis)
        raise
    dependencies.forget()  # what is no longer as it was read counts
    if dependencies.digests_of_pages() == sources:
        write_json(basis_file, basis)


def _basis() -> dict[str, str]:
    """Return the digest of each thing that no single page says it depends on.

    These are the book's settings, styles and scripts, the code that makes pages, what it is called
    for, the data that the chapters were made from, and the names of what they have made.
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
    found |= {name: inputs.digest(path) for name, path in dependencies.data_of_pages().items()}
    said = {"address": os.environ.get(ADDRESS, "")}
    said["libraries"] = repr(sorted((one.name, one.version) for one in distributions()))
    for chapter in dependencies.chapters():
        run = paths.chapter_run(chapter)
        record = provenance.read_run_record(run)
        of_record = record.model_dump_json(include={"inputs", "parameters"}) if record else ""
        made = sorted(path.name for path in (run / paths.FIGURES).glob("*"))
        said[f"chapter {chapter}"] = f"{of_record}\n{made}"
    return found | {name: digest_of(text) for name, text in said.items()}


def make_pages(
    html: Path,
    doctrees: Path,
    say: Callable[[str], None],
    *,
    cores: int = 0,
    draft: bool = False,
    of_warm: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Let Jupyter Book make the pages in a process of its own; raise a ChaosError on any warning.

    Folders and `draft` are as `pages.make` takes them, and `say` and `cores` as in `render`.
    `of_warm` is what `warm.processes` yields, where these have the libraries of pages.
    """
    options = {
        "target": str(html),
        "doctrees": str(doctrees),
        "jobs": cores or os.cpu_count() or 1,
        "draft": draft,
        "parent": 0 if of_warm else os.getpid(),
    }
    root = paths.project()
    environment = os.environ | {
        "PYTHONPATH": python_path(),
        "PYTHONHASHSEED": "0",
        "SOURCE_DATE_EPOCH": "1577836800",  # the same date in every build
    }
    command = [*warm.python_command(of_warm), "chaos_utils.publish.pages", json.dumps(options)]
    lines = []
    with subprocess.Popen(
        command, cwd=root, env={**environment, **of_warm}, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        try:
            for line in process.stdout:
                lines.append(_plain(line))
                if _FAULT.search(lines[-1]):
                    say(lines[-1].rstrip())
        except BaseException:
            end_group(process.pid)
            raise
    log = paths.build() / "logs" / _LOG
    write_text(log, "".join(lines))
    if process.returncode != 0:
        raise _sphinx_failed(lines, log.relative_to(root))


def _plain(line: str) -> str:
    """Return a line of Sphinx without colours and the checkout's place."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", line).replace(str(paths.project()) + os.sep, "")
    return plain.replace("sphinx.errors.ExtensionError: ", "ERROR: ")


def _sphinx_failed(lines: list[str], log: Path) -> ChaosError:
    faults = [line.rstrip() for line in lines if _FAULT.search(line)]
    return ChaosError(
        "The book's pages could not be made without warnings.",
        found="\n".join(faults[:_SHOWN]) or "".join(lines)[-800:],
        todo=f"correct these; the whole output is in {log}",
    )


class Page(HTMLParser):
    """What an HTML file links to, in order, and the places inside it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: dict[str, None] = {}
        self.ids: set[str] = set()
        self.feed(path.read_text("utf-8"))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note links and places."""
        for name, value in attrs:
            if name in ("href", "src"):
                self.links[value or ""] = None
            elif name == "id":
                self.ids.add(value or "")


def check_links(site: Path, read: Callable[[Path], Page] = Page) -> None:
    """Raise a ChaosError that names links inside a site which lead nowhere."""
    if broken := list(broken_links(site, read)):
        raise ChaosError(
            f"{counted(len(broken), 'broken link')} inside the site.",
            found="\n".join(broken[:_SHOWN]),
        )


def broken_links(site: Path, read: Callable[[Path], Page] = Page) -> Iterator[str]:
    """Yield a line for each link inside a site that leads nowhere: page, link, what is wrong."""
    # The themes leave templates of theirs among the static files.
    found = [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]
    pages = {path: read(path) for path in found}
    target_of = cache(_target)  # many pages of a folder link to the same
    for path, page in pages.items():
        name = path.relative_to(site).as_posix()
        for link in page.links:
            parts = urlsplit(link)
            if not link or parts.scheme or parts.netloc:
                continue
            target = target_of(path.parent, unquote(parts.path)) if parts.path else path
            if target is None:
                yield f"{name}: {link} leads to no file"
            elif (
                parts.fragment
                and target in pages
                and unquote(parts.fragment) not in pages[target].ids
            ):
                yield f"{name}: {link} leads to no place on that page"


def _target(folder: Path, path: str) -> Path | None:
    """Return the file that a path leads to from a folder; None where there is none."""
    target = Path(os.path.normpath(folder / path))
    if target.is_dir():
        target /= "index.html"
    return target if target.is_file() else None
