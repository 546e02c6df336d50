"""Places on pages that scripts bring to life: files of a folder ``book/_<name>``, and data."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from chaos_book import book, drafts
from chaos_book.book import BOOK, raw_html
from chaos_utils.base.files import write_text

_SHARED = "_shared"  # the folder of what several widgets use; `page.js` is used by all


def _no_data(app: Sphinx, page: str) -> Mapping[str, str]:
    return {}


@dataclass(frozen=True, slots=True)
class Widget:
    """What a page loads whose directive has asked for it, and no other page does.

    `files` are styles and scripts of its folder, in this order. `data` makes files beside them for
    a page, by name: a script that is among `files` is loaded, another waits until one asks for it.
    It enters the site alone, never a notebook or `results/`, since it holds texts of others.
    `shared` are files of ``book/_shared`` that these use, beside ``page.js``.
    """

    name: str
    files: tuple[str, ...]
    data: Callable[[Sphinx, str], Mapping[str, str]] = _no_data
    shared: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """Where its files stand in the book."""
        return BOOK.project / "book" / f"_{self.name}"

    def ask(self, env: BuildEnvironment) -> None:
        """Note that the page that is being read wants this.

        Among its metadata, since pages may be read in another process than they are written.
        """
        env.metadata[env.docname][self.name] = True

    def place(self, env: BuildEnvironment, purpose: str) -> list[nodes.Node]:
        """Return the folder's ``page.html``; before it what is said where items are missing.

        `purpose` is what the page does with items, as `book.missing_nodes` takes it.
        """
        self.ask(env)
        page = (self.folder / "page.html").read_text("utf-8")
        return [*book.missing_nodes(purpose), raw_html(page)]

    def load(
        self, app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
    ) -> None:
        """Let a page load the files where it has asked for them."""
        if self.name not in app.env.metadata.get(page, {}):
            return
        # Put in place before the page is written, so that their addresses there carry digests.
        target = Path(app.outdir) / "_static" / self.name
        if not (drafts.is_draft(app) and target.is_dir()):
            for name, content in self.data(app, page).items():
                write_text(target / name, content)
        target.mkdir(parents=True, exist_ok=True)
        for file in ("page.js", *self.shared):
            shutil.copyfile(BOOK.project / "book" / _SHARED / file, target.with_name(file))
            _add(app, file)
        for file in self.files:
            if (self.folder / file).is_file():
                shutil.copyfile(self.folder / file, target / file)
            _add(app, f"{self.name}/{file}")

    def register(self, app: Sphinx, directive: str, made_by: type[SphinxDirective]) -> None:
        """Let Sphinx know the directive, and load the files where it stands."""
        app.add_directive(directive, made_by)
        app.connect("html-page-context", self.load)


def _add(app: Sphinx, file: str) -> None:
    if file.endswith(".css"):
        app.add_css_file(file)
    else:
        app.add_js_file(file, loading_method="defer")
