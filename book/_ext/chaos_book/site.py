"""What the site needs beside its pages: files at stable addresses, a registry, a warning."""

import re
import shutil
from pathlib import Path
from typing import Any

import yaml
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from chaos_book.published import project_of

_SYNTHETIC = (
    "Synthetic sample: every number, figure and table of this build was made from invented "
    "items and simulated votes. Nothing here is a result."
)
# What the theme puts into every page to no use here: font preloads, which a page opened from a
# file may not make, and Thebe, which would fetch a live kernel's scripts from elsewhere.
_UNWANTED = re.compile(
    r'<link rel="preload" as="font"[^>]*>\n?'
    r"|<script[^>]*>[^<]*thebe[^<]*</script>\n?"
    r"|<(?:script|link)[^>]*thebe[^>]*>(?:[^<]*</script>)?\n?"
)


def _check_registry(app: Sphinx) -> None:
    """Fail when a published id is gone, or a new one is not registered."""
    path = project_of(app) / "book" / "figures.yml"
    registered = set(yaml.safe_load(path.read_text("utf-8")))
    made = set(app.env.chaos_manifests)  # type: ignore[attr-defined]
    gone, new = sorted(registered - made), sorted(made - registered)
    if gone:
        raise ExtensionError(
            f"published ids never change, but no notebook makes: {', '.join(gone)}"
        )
    if new:
        raise ExtensionError(f"register these ids in book/figures.yml: {', '.join(new)}")


def _warn_of_sample(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    manifests = app.env.chaos_manifests  # type: ignore[attr-defined]
    if any(manifest["synthetic"] for manifest in manifests.values()):
        context["theme_announcement"] = f'<strong class="synthetic">{_SYNTHETIC}</strong>'


def _copy_files(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    (out / "figures").mkdir(exist_ok=True)
    (out / "notebooks").mkdir(exist_ok=True)
    manifests = app.env.chaos_manifests  # type: ignore[attr-defined]
    for manifest in manifests.values():
        folder, id = Path(manifest["folder"]), manifest["id"]
        files = [f"{id}.{format}" for format in manifest["formats"]]
        if manifest["kind"] == "figure":
            files.append(f"{id}-dark.svg")
        for file in files:
            shutil.copyfile(folder / file, out / "figures" / file)
    for notebook in {manifest["notebook"] for manifest in manifests.values()}:
        source = project_of(app) / "notebooks" / f"{notebook}.py"
        shutil.copyfile(source, out / "notebooks" / source.name)


def _clean_pages(app: Sphinx, exception: Exception | None) -> None:
    """Remove what the theme's pages carry to no use."""
    if exception is not None or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text("utf-8")
        page.write_text(_UNWANTED.sub("", text), "utf-8")


def setup(app: Sphinx) -> None:
    """Connect to Sphinx's events; `published` has loaded the manifests by then."""
    app.connect("builder-inited", _check_registry, priority=600)
    app.connect("html-page-context", _warn_of_sample)
    app.connect("build-finished", _copy_files)
    app.connect("build-finished", _clean_pages)
