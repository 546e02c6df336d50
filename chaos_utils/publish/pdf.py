"""The whole book as one PDF, printed by a headless Chromium.

It is printed twice: the first print shows on which page each chapter begins, the second
has the numbers in its table of contents.
"""

import io
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pypdf

from chaos_utils.base import paths
from chaos_utils.base.authorship import read_citation
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_bytes, write_text
from chaos_utils.publish import joining

_CHROMIUM_COMMANDS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_OLDEST_CHROMIUM = 131  # the first that prints page numbers as CSS asks
_TIMEOUT_SECONDS = 300
_NODE = re.compile(rb"\(node(\d{8})\)")


def make() -> Path:
    """Print the site that was built last into ``_build/pdf``, and return the PDF.

    ``book.html``, which it was printed from, stands beside it.
    """
    site, folder = paths.build() / "html", paths.build() / "pdf"
    if not (site / "index.html").is_file():
        raise ChaosError("There is no book to print.", where=site, todo="run `chaos build` first")
    chromium = _usable_chromium()
    page, target = folder / "book.html", folder / "living-book.pdf"
    with tempfile.TemporaryDirectory() as scratch:
        printed = Path(scratch) / "printed.pdf"
        write_text(page, joining.join(site, {}))
        _print(chromium, page, printed)
        write_text(page, joining.join(site, _first_pages(printed)))
        _print(chromium, page, printed)
        write_bytes(target, _strip_volatile(printed))
    return target


def find_chromium() -> str | None:
    """Return the Chromium that ``CHROMIUM`` names, else the first that the system has, if any."""
    configured = os.environ.get("CHROMIUM")
    return configured or next(filter(None, map(shutil.which, _CHROMIUM_COMMANDS)), None)


def _usable_chromium() -> str:
    """Return the command of a Chromium that is new enough."""
    chromium = find_chromium()
    if chromium is None:
        raise ChaosError(
            "Printing needs Chromium or Chrome, which was not found.",
            expected=f"one of these commands: {', '.join(_CHROMIUM_COMMANDS)}",
            todo="install it (Debian: apt-get install chromium), or name one in CHROMIUM",
        )
    version_output = _run([chromium, "--version"])
    version = re.search(r"\b(\d+)\.\d+\.\d+", version_output)
    if version is None or int(version[1]) < _OLDEST_CHROMIUM:
        raise ChaosError(
            "This Chromium cannot number pages.",
            where=chromium,
            found=version_output.strip(),
            expected=f"version {_OLDEST_CHROMIUM} or newer",
        )
    return chromium


def _run(command: list[str]) -> str:
    """Run Chromium and return its output; raise a ChaosError if it fails."""
    try:
        return subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=_TIMEOUT_SECONDS
        ).stdout
    except (OSError, subprocess.SubprocessError) as fault:
        raise ChaosError(
            "Chromium failed.",
            where=command[0],
            found=(getattr(fault, "stderr", None) or str(fault)).strip()[-800:],
            todo="try another one: name it in CHROMIUM",
        ) from fault


def _print(chromium: str, page: Path, target: Path) -> None:
    """Print a page to a PDF, with a profile of its own."""
    with tempfile.TemporaryDirectory() as profile:
        command = [
            chromium, "--headless", "--disable-gpu", f"--user-data-dir={profile}",
            "--no-pdf-header-footer", "--generate-pdf-document-outline",
            f"--print-to-pdf={target}", page.as_uri(),
        ]  # fmt: skip
        if os.geteuid() == 0:  # its sandbox does not work for root
            command.insert(1, "--no-sandbox")
        _run(command)


def _first_pages(printed: Path) -> dict[str, int]:
    """Return the printed page's number, from one, on which each page of the site begins."""
    reader = pypdf.PdfReader(printed)
    destinations = reader.named_destinations
    pages = {
        slug: reader.get_destination_page_number(destinations[f"/{slug}"])
        for slug in joining.slugs()
    }
    return {slug: number + 1 for slug, number in pages.items() if number is not None}


def _strip_volatile(printed: Path) -> bytes:
    """Return the PDF without what differs from print to print: dates, Chromium's node numbers."""
    writer = pypdf.PdfWriter(clone_from=printed)
    book = read_citation()
    writer.metadata = {"/Title": book.title, "/Author": ", ".join(book.authors)}
    stream = io.BytesIO()
    writer.write(stream)
    content = stream.getvalue()
    # Node numbers are keys of a sorted tree, so their order must stay; and offsets into the file
    # count their digits, so their length must.
    order = {node: rank for rank, node in enumerate(sorted(set(_NODE.findall(content))))}
    return _NODE.sub(lambda node: b"(node%08d)" % order[node[1]], content)
