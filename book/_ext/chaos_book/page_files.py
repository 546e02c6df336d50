"""The scripts and the style that some pages have for themselves."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from sphinx.application import Sphinx

from chaos_book.published import project_of


def load(app: Sphinx, folder: str, files: Iterable[str]) -> None:
    """Let the page that is about to be written load files of ``book/_<folder>``, in this order."""
    # Put in place before the page is written, so that their addresses there carry digests.
    target = Path(app.outdir) / "_static" / folder
    target.mkdir(parents=True, exist_ok=True)
    for file in files:
        shutil.copyfile(project_of(app) / "book" / f"_{folder}" / file, target / file)
        if file.endswith(".css"):
            app.add_css_file(f"{folder}/{file}")
        else:
            app.add_js_file(f"{folder}/{file}", loading_method="defer")
