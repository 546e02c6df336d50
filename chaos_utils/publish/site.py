"""Make the site from executed chapters: render, check, describe, put in place."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from chaos_utils.base import inputs, modules, paths
from chaos_utils.base.authorship import ADDRESS
from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.base.files import read_mapping, swap_in, write_json, write_text
from chaos_utils.base.processes import python_path
from chaos_utils.base.record_keys import digest_of
from chaos_utils.publish import dependencies, staleness
from chaos_utils.publish.processes import end_group
from chaos_utils.report import provenance, warm

HTML = "html"  # the folder of pages
_PAGE_SUFFIXES = (".md", ".rst")  # Sphinx notes what each page depends on
_LOG = "site.log"
_FAULTS_SHOWN = 12
_FAULT = re.compile(r"WARNING:|ERROR:|CRITICAL:|^sphinx\.errors\.")


def forget_pages() -> None:
    """Delete the pages of the last rendering, so that the next one makes all of them."""
    shutil.rmtree(_workplace(), ignore_errors=True)


def _workplace() -> Path:
    """Return the folder in which pages are kept from one rendering to the next."""
    return paths.build() / "pages"


def render(say: Callable[[str], None], *, cores: int = 0) -> None:
    """Render the book into ``_build/html``, which is replaced whole or left as it was.

    No chapter may be behind its sources. `say` is called with each fault of a page as soon as it is
    found. The digests of the site's sources are written to ``_build``, beside the site. `cores` is
    how many may be used: 0 for all.
    """
    from chaos_utils.publish import crate  # slow to import

    address = os.environ.get(ADDRESS, "")
    made_from = dependencies.digests_of_pages() | {staleness.MADE_FOR: address}
    update_pages(_workplace(), say, cores=cores)
    with tempfile.TemporaryDirectory(dir=paths.build(), prefix=".site-") as folder:
        html = shutil.copytree(_workplace() / HTML, Path(folder) / HTML)
        check_links(html)
        (html / ".buildinfo").unlink(missing_ok=True)  # only for Sphinx, and of this machine
        crate.write(html)
        digests = made_from | staleness.files_of(html)
        swap_in(html, paths.build() / "html")
        write_json(paths.build() / staleness.SITE_FILE, digests)


def update_pages(
    workplace: Path, say: Callable[[str], None], *, cores: int = 0, draft: bool = False
) -> None:
    """Make those pages in a folder that have changed since the last call, as `make_pages` does.

    The result is the same as if all were made. All are made if something has changed on which no
    single page says that it depends, and if during the last call there was an interruption, a
    change of sources or, except for drafts, a fault.
    """
    basis_file, basis = workplace / "basis.json", _basis()
    if read_mapping(basis_file) != basis:
        shutil.rmtree(workplace, ignore_errors=True)
    basis_file.unlink(missing_ok=True)  # written again only if all goes well
    sources = dependencies.digests_of_pages()

    def keep_basis() -> None:
        dependencies.forget()  # so that sources that changed meanwhile are noticed
        if dependencies.digests_of_pages() == sources:
            write_json(basis_file, basis)

    try:
        make_pages(workplace / HTML, workplace / "doctrees", say, cores=cores, draft=draft)
    except ChaosError:
        if draft:
            keep_basis()
        raise
    keep_basis()


def _basis() -> dict[str, str]:
    """Return the digest of each thing on which no single page says that it depends, by name.

    They are the book's settings, styles and scripts, the code that makes pages, the site's address,
    the installed packages, and of each chapter its inputs, parameters and the names of its figures.
    """
    dependencies.forget()  # this process has read sources before
    shared_files = [path for path in dependencies.pages() if path.suffix not in _PAGE_SUFFIXES]
    code = modules.transitive_imports(dependencies.imported_by_pages())
    digests = {
        modules.source_name(path): inputs.digest(path)
        for path in [*shared_files, *code, *dependencies.assets()]
    }
    digests |= {name: inputs.digest(path) for name, path in dependencies.data_of_pages().items()}
    texts = {"address": os.environ.get(ADDRESS, "")}
    installed = (path.name for folder in sys.path for path in Path(folder).glob("*-info"))
    texts["libraries"] = repr(sorted(installed))  # such as numpy-2.4.1.dist-info
    for chapter in dependencies.chapters():
        run = paths.chapter_run(chapter)
        record = provenance.read_run_record(run)
        origin = record.model_dump_json(include={"inputs", "parameters"}) if record else ""
        figures = sorted(path.name for path in (run / paths.FIGURES).glob("*"))
        texts[f"chapter {chapter}"] = f"{origin}\n{figures}"
    return digests | {name: digest_of(text) for name, text in texts.items()}


def make_pages(
    html: Path,
    doctrees: Path,
    say: Callable[[str], None],
    *,
    cores: int = 0,
    draft: bool = False,
) -> None:
    """Let Jupyter Book make the pages in a process of its own; raise a ChaosError on any warning.

    Folders and `draft` are as `pages.make` takes them, and `say` and `cores` as in `render`.
    """
    n_cores = cores or os.cpu_count() or 1
    options = {
        "target": str(html),
        "doctrees": str(doctrees),
        # Sphinx deals the pages out in advance, and some take long: with more processes than cores,
        # no core waits for the last.
        "jobs": 2 * n_cores if n_cores > 1 else 1,
        "draft": draft,
        "parent": os.getpid(),
    }
    root = paths.project()
    environment = os.environ | {
        "PYTHONPATH": python_path(),
        "PYTHONHASHSEED": "0",
        "SOURCE_DATE_EPOCH": "1577836800",  # the same date in every build
    }
    command = [*warm.python_command(), "chaos_utils.sphinx.pages", json.dumps(options)]
    lines = []
    with subprocess.Popen(
        command, cwd=root, env=environment, text=True, stdout=subprocess.PIPE,
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
    """Return a line of Sphinx's output without colours and the checkout's path."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", line).replace(str(paths.project()) + os.sep, "")
    return plain.replace("sphinx.errors.ExtensionError: ", "ERROR: ")


def _sphinx_failed(lines: list[str], log: Path) -> ChaosError:
    """Return the error that names the faults in Sphinx's output, or else how it ends."""
    faults = [line.rstrip() for line in lines if _FAULT.search(line)]
    return ChaosError(
        "The book's pages could not be made without warnings.",
        found="\n".join(faults[:_FAULTS_SHOWN]) or "".join(lines)[-800:],
        todo=f"correct these; the whole output is in {log}",
    )


class Page(HTMLParser):
    """An HTML file's links, in order, and the ids of its elements."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: dict[str, None] = {}
        self.ids: set[str] = set()
        self.feed(path.read_text("utf-8"))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Add an element's links and id."""
        for name, value in attrs:
            if name in ("href", "src"):
                self.links[value or ""] = None
            elif name == "id":
                self.ids.add(value or "")


def check_links(site: Path, read: Callable[[Path], Page] = Page) -> None:
    """Raise a ChaosError if links inside a site lead nowhere."""
    if broken := list(broken_links(site, read)):
        raise ChaosError(
            f"{counted(len(broken), 'broken link')} inside the site.",
            found="\n".join(broken[:_FAULTS_SHOWN]),
        )


def broken_links(site: Path, read: Callable[[Path], Page] = Page) -> Iterator[str]:
    """Yield a line for each link inside a site that leads nowhere: page, link, what is wrong."""
    # Themes leave their templates among the static files.
    files = [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]
    pages = {path: read(path) for path in files}
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
    """Return the file that a relative link in a folder leads to; None where there is none."""
    target = Path(os.path.normpath(folder / path))
    if target.is_dir():
        target /= "index.html"
    return target if target.is_file() else None
