"""The scripts and the style that some pages have for themselves."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from chaos_book.published import project_of


def ask(env: BuildEnvironment, folder: str) -> None:
    """Note that the page that is being read wants the files of ``book/_<folder>``.

    Among the page's metadata, since pages may be read in another process than they are written.
    """
    env.metadata[env.docname][folder] = True


def asks(app: Sphinx, page: str, folder: str) -> bool:
    """Say whether a page wants the files of ``book/_<folder>``."""
    return folder in app.env.metadata.get(page, {})


def asking(app: Sphinx, folder: str) -> str | None:
    """Return the page that wants the files of ``book/_<folder>``, if there is one."""
    return next((page for page in app.env.metadata if asks(app, page, folder)), None)


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
