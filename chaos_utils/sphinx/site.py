"""Parts of the site that are not pages: files at stable addresses, a registry, a notice."""

import shutil
from html import escape
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from chaos_utils.publish import contents, registry
from chaos_utils.report.manifests import SYNTHETIC_NOTE
from chaos_utils.report.parameters import as_notebook
from chaos_utils.sphinx import faults
from chaos_utils.sphinx.book import BOOK, write_last

_SYNTHETIC = (
    f"{SYNTHETIC_NOTE}: every number, figure and table of this build was made from invented "
    "items and simulated votes. Nothing here is a result."
)


def _check_registry(app: Sphinx) -> None:
    """End the build if a published id is missing or a new one unregistered, if any are."""
    if not (BOOK.project / registry.FIGURES).is_file():
        return
    with faults.on_one_line():
        registry.read_registry().check(BOOK.manifests, synthetic=BOOK.is_synthetic)


def notice() -> str:
    """Return the notice of every page of a synthetic build; empty for other builds."""
    return _SYNTHETIC if BOOK.is_synthetic else ""


def _show_notice(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    if text := notice():
        context["theme_announcement"] = f'<strong class="build-notice">{escape(text)}</strong>'


def _copy_files(app: Sphinx, out: Path) -> None:
    """Copy the files of figures and tables, and the notebooks as Python and as notebooks."""
    (out / "figures").mkdir(exist_ok=True)
    (out / "notebooks").mkdir(exist_ok=True)
    for manifest in BOOK.manifests.values():
        for name in manifest.file_names:
            shutil.copyfile(contents.file_of(manifest, name), out / "figures" / name)
    for source in sorted((BOOK.project / "notebooks").glob("[!_]*.py")):
        shutil.copyfile(source, out / "notebooks" / source.name)
        notebook = out / "notebooks" / f"{source.stem}.ipynb"
        notebook.write_text(as_notebook(source), "utf-8")


def setup(app: Sphinx) -> None:
    """Connect to Sphinx's events; `published` has loaded the manifests by then."""
    app.connect("builder-inited", _check_registry, priority=600)
    app.connect("html-page-context", _show_notice)
    write_last(app, _copy_files)
