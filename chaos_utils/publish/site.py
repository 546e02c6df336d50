"""Make the site from executed chapters: render, check, describe, put in place."""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from chaos_utils.base import inputs, paths
from chaos_utils.base.errors import ChaosError, counted
from chaos_utils.base.files import swap_in, write_json, write_text
from chaos_utils.publish import citations, crate, dependencies, staleness

_LOG = "site.log"
_SHOWN = 12
_FAULT = re.compile(r"WARNING:|ERROR:|CRITICAL:|^sphinx\.errors\.")


def render(target: Path, say: Callable[[str], None]) -> None:
    """Render the book into `target`, which is replaced whole or left as it was.

    `say` is called with each fault of a page when it is found, before the other pages are made.
    What it was made from, beside the chapters, is recorded in ``_build``: it is no part of it.
    """
    address = os.environ.get(citations.ADDRESS, "")
    made_from = dependencies.digests_of_pages() | {staleness.ADDRESS: address}
    with tempfile.TemporaryDirectory(dir=paths.build(), prefix=".site-") as folder:
        scratch = Path(folder)
        code, lines = _sphinx(scratch, say)
        log = paths.build() / "logs" / _LOG
        write_text(log, "".join(lines))
        if code != 0:
            raise _sphinx_failed(lines, log.relative_to(paths.project()))
        html = scratch / "_build" / "html"
        broken = list(broken_links(html))
        if broken:
            raise ChaosError(
                f"{counted(len(broken), 'broken link')} inside the site.",
                found="\n".join(broken[:_SHOWN]),
            )
        (html / ".buildinfo").unlink(missing_ok=True)  # only for Sphinx, and of this machine
        crate.write(html)
        files = inputs.digests(html)
        swap_in(html, target)
        write_json(paths.build() / staleness.FILES_FILE, files)
        write_json(paths.build() / staleness.SITE_FILE, made_from)


def check(say: Callable[[str], None]) -> bool:
    """Read the pages and resolve what they refer to; return whether that went without a fault.

    `say` is called with each fault. Nothing is rendered, and a page that has not changed since the
    last time is not read again: this takes seconds where `render` takes most of a minute.
    """
    code, _ = _sphinx(paths.build() / "check", say, "--builder=custom", "--custom-builder=dummy")
    return code == 0


def _sphinx(target: Path, say: Callable[[str], None], *options: str) -> tuple[int, list[str]]:
    """Let Jupyter Book make the book in `target`; return its exit code and what it printed."""
    root = paths.project()
    command = [
        sys.executable, "-c", "from jupyter_book.cli.main import main; main()", "build", "book",
        "--config", "_config.yml", "--toc", str(root / "_toc.yml"),
        "--path-output", str(target), "-W", "-n", "--keep-going", *options,
    ]  # fmt: skip
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(
            part for part in (str(root), os.environ.get("PYTHONPATH")) if part
        ),
        "PYTHONHASHSEED": "0",
        "SOURCE_DATE_EPOCH": "1577836800",  # the same date in every build
    }
    lines = []
    with subprocess.Popen(
        command, cwd=root, env=environment, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        try:
            for line in process.stdout:
                lines.append(_plain(line))
                if _FAULT.search(lines[-1]):
                    say(lines[-1].rstrip())
        except BaseException:
            process.kill()
            raise
    return process.returncode, lines


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


class _Page(HTMLParser):
    """Collect what a page links to and the places inside it."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and name in ("href", "src"):
                self.links.append(value)
            elif value and name == "id":
                self.ids.add(value)


def read_page(path: Path) -> _Page:
    """Return the `links` and `ids` of an HTML file."""
    page = _Page()
    page.feed(path.read_text("utf-8"))
    return page


def broken_links(site: Path) -> Iterator[str]:
    """Yield a line for each link inside a site that leads nowhere: page, link, what is wrong."""
    # The themes leave templates of theirs among the static files.
    found = [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]
    pages = {path: read_page(path) for path in found}
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            name = path.relative_to(site).as_posix()
            if not target.is_file():
                yield f"{name}: {link} leads to no file"
            elif (
                parts.fragment
                and target in pages
                and unquote(parts.fragment) not in pages[target].ids
            ):
                yield f"{name}: {link} leads to no place on that page"
