"""Widgets: elements of pages that scripts fill, with files in ``book/_<name>`` and data."""

import shutil
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from chaos_utils.base.files import write_text
from chaos_utils.publish.templating import ASSETS
from chaos_utils.sphinx import drafts
from chaos_utils.sphinx.book import BOOK, raw_html

_ahead: dict[str, Connection] = {}  # by widget, what the process that makes its data will send


def _no_data(app: Sphinx) -> Mapping[str, str]:
    return {}


@dataclass(frozen=True, slots=True)
class Widget:
    """The files that pages with a widget's directive load, and no other page.

    `files` are the styles and scripts to load, in this order: from the widget's folder, or made by
    `data`. `data` returns the content of files by name; files that are not among `files` are loaded
    when a script needs them. These data are only in the site, never in a notebook or in
    `results/`, since they include texts of others. `shared` are files of
    ``assets/shared`` to load in addition to ``page.js``. `folder` holds its files, if not the
    book's folder of the widget's name.
    """

    name: str
    files: tuple[str, ...]
    data: Callable[[Sphinx], Mapping[str, str]] = _no_data
    shared: tuple[str, ...] = ()
    folder: Path | None = None

    def _path(self, file: str) -> Path:
        return (self.folder or BOOK.project / "book" / f"_{self.name}") / file

    def ask(self, env: BuildEnvironment) -> None:
        """Let the page that is being read load the files.

        This is noted in the page's metadata, since another process may write the page.
        """
        env.metadata[env.docname][self.name] = True

    def place(self, env: BuildEnvironment) -> nodes.Node:
        """Return the widget's ``page.html``."""
        self.ask(env)
        return raw_html(self._path("page.html").read_text("utf-8"))

    def load(
        self, app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
    ) -> None:
        """Write the files and let a page load them, if it has the widget's directive."""
        if self.name not in app.env.metadata.get(page, {}):
            return
        # Written before the page, so that their addresses in it have digests.
        target = Path(app.outdir) / "_static" / self.name
        if not (drafts.is_draft(app) and target.is_dir()):
            for name, content in (self._made_ahead() or self.data(app)).items():
                write_text(target / name, content)
        target.mkdir(parents=True, exist_ok=True)
        for file in ("page.js", *self.shared):
            shutil.copyfile(ASSETS / "shared" / file, target.with_name(file))
            _add(app, file)
        for file in self.files:
            if (path := self._path(file)).is_file():
                shutil.copyfile(path, target / file)
            _add(app, f"{self.name}/{file}")

    def make_ahead(self, app: Sphinx, env: BuildEnvironment, pages: Collection[str]) -> None:
        """Start a process that makes the data while pages are read, if all pages are."""
        if app.parallel < 2 or len(pages) < len(env.found_docs):
            return
        receiver, sender = Pipe(duplex=False)

        def make() -> None:
            receiver.close()  # so that to send fails, rather than waits, once nobody can receive
            with suppress(Exception):  # `load` then makes the data itself, and tells the fault
                sender.send(self.data(app))

        get_context("fork").Process(target=make, daemon=True).start()
        sender.close()
        _ahead[self.name] = receiver

    def _made_ahead(self) -> Mapping[str, str]:
        """Return the data from the process that makes them; empty if there is none or it failed."""
        receiver = _ahead.pop(self.name, None)
        with suppress(EOFError):
            return receiver.recv() if receiver else {}
        return {}

    def register(self, app: Sphinx, directive: str, cls: type[SphinxDirective]) -> None:
        """Register the directive's class with Sphinx, and let pages with it load the files."""
        app.add_directive(directive, cls)
        app.connect("html-page-context", self.load)
        if self.data is not _no_data:
            app.connect("env-before-read-docs", self.make_ahead)


def _add(app: Sphinx, file: str) -> None:
    if file.endswith(".css"):
        app.add_css_file(file)
    else:
        app.add_js_file(file, loading_method="defer")
