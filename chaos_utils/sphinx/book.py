"""The book as its pages see it: what was published, and how it is cited."""

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Protocol

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from chaos_utils.base import paths
from chaos_utils.base.authorship import Citation, read_citation
from chaos_utils.publish import contents
from chaos_utils.report.manifests import Manifest
from chaos_utils.report.tables import Texts
from chaos_utils.sphinx import faults

logger = logging.getLogger(__name__)


class Items(Protocol):
    """The items that a book's tables show by their keys, with texts that no result may hold."""

    def texts(self, manifest: Manifest) -> Texts | None:
        """Return a function that finds the texts of a table's items; None if it shows no items."""

    def notice(self, manifest: Manifest) -> str:
        """Return the notice of the licences of a table's items as HTML; empty if it needs none."""


class Book:
    """The figures and tables of the chapters, the book's citation, and its items, if it shows any.

    Each is read once, before other processes are started.
    """

    def __init__(self) -> None:
        # By id, the name of a caption's page, and the caption with its references resolved.
        self.captions: dict[str, tuple[str, nodes.Element]] = {}
        self.items: Items | None = None

    @property
    def project(self) -> Path:
        """The checkout with the book's sources."""
        return paths.project()

    @cached_property
    def manifests(self) -> Mapping[str, Manifest]:
        """The manifest of each figure and table that the chapters have made, by id."""
        with faults.on_one_line():
            return contents.load()

    @cached_property
    def citation(self) -> Citation:
        """How the book is cited."""
        return read_citation()

    @cached_property
    def is_synthetic(self) -> bool:
        """Whether the chapters were made from the sample."""
        return any(manifest.synthetic for manifest in self.manifests.values())

    def made(self, env: BuildEnvironment, id: str) -> Manifest | None:
        """Return an id's manifest, if it was made; note it as a dependency of this page."""
        manifest = self.manifests.get(id)
        if manifest is not None:
            env.note_dependency(str(contents.file_of(manifest)))
        return manifest

    def note_notebook(self, env: BuildEnvironment, name: str) -> Path:
        """Return a notebook's source; note it as a dependency of the page that is being read."""
        source = self.project / "notebooks" / f"{name}.py"
        env.note_dependency(str(source))
        return source

    def manifest_of(self, directive: SphinxDirective) -> Manifest | None:
        """Return the manifest that a directive's argument names; if it is missing, warn."""
        id = directive.arguments[0]
        manifest = self.made(directive.env, id)
        if manifest is None:
            logger.warning("no notebook made %s", id, location=directive.get_location())
        return manifest


BOOK = Book()


def raw_html(html: str) -> nodes.raw:
    """Return a node of HTML that is written as it is."""
    return nodes.raw("", html, format="html")


def write_last(app: Sphinx, write: Callable[[Sphinx, Path], None], *, priority: int = 500) -> None:
    """Let `write` write to the site's folder after all pages, unless the build had a fault."""

    def finish(app: Sphinx, exception: Exception | None) -> None:
        if exception is None and app.builder.format == "html":
            write(app, Path(app.outdir))

    app.connect("build-finished", finish, priority=priority)


def setup(app: Sphinx) -> None:
    """Connect to Sphinx's events."""
    app.connect("builder-inited", lambda app: BOOK.manifests)
