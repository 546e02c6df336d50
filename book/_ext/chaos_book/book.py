"""The book as its pages see it: what was published, how it is cited, which items they show."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from chaos_book import faults
from chaos_utils.base import paths
from chaos_utils.base.authorship import Citation, read_citation
from chaos_utils.base.project import Group
from chaos_utils.book import group_of
from chaos_utils.datasets.catalogue import shorts_of
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.loading import (
    datasets_of,
    is_missing,
    load_all_votes,
    load_votes,
    may_be_recorded,
)
from chaos_utils.datasets.votes import Votes
from chaos_utils.publish import contents, licences
from chaos_utils.report.manifests import SYNTHETIC_NOTE, Manifest
from chaos_utils.scoring.system import System
from chaos_utils.scoring.systems import load_systems

logger = logging.getLogger(__name__)

_FEW_PAGES = 5  # up to this many, Sphinx reads in a single process
_SYNTHETIC = f"{SYNTHETIC_NOTE}: invented items, simulated votes."


@dataclass(frozen=True, slots=True)
class ShownItems:
    """The items that pages show.

    Attributes
    ----------
    votes : tuple of Votes
        The votes that the chapters were made from, or the sample as an example.
    missing : tuple of Dataset
        Datasets whose votes are not available, so that chapters show recorded tables of them.
    """

    votes: tuple[Votes, ...]
    missing: tuple[Dataset, ...] = ()

    @property
    def synthetic(self) -> bool:
        """Whether the items are the sample's."""
        return any(votes.source.synthetic for votes in self.votes)

    def on(self, dataset: str) -> Votes:
        """Return the votes on a dataset, which must be shown."""
        return next(votes for votes in self.votes if votes.dataset.name == dataset)


class Book:
    """The figures and tables of the chapters, the book's citation, and the items that pages show.

    Each is read once, before other processes are started.
    """

    def __init__(self) -> None:
        # By id, the name of a caption's page, and the caption with its references resolved.
        self.captions: dict[str, tuple[str, nodes.Element]] = {}

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

    @cached_property
    def items(self) -> ShownItems:
        """The items that pages show."""
        manifests = self.manifests.values()
        if not manifests:
            raise ExtensionError("there are no executed chapters: run `chaos build`")
        parameters = [manifest.parameters for manifest in manifests]
        (data,) = {values["data"] for values in parameters if "data" in values}
        shown = _read_items(data)
        digests = {entry.sha256 for manifest in manifests for entry in manifest.inputs}
        differing = [
            votes.dataset.title
            for votes in shown.votes
            if not (shown.missing and shown.synthetic) and votes.source.sha256 not in digests
        ]
        if differing:
            raise ExtensionError(
                f"the available data for {', '.join(differing)} is not what the chapters were made "
                "from: build them again"
            )
        return shown

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


def _read_ahead(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Read what pages show before other processes are started, each of which would read it."""
    if app.parallel > 1 and len(docnames) > _FEW_PAGES:
        for votes in BOOK.items.votes:
            systems(votes)


def _read_items(data: str) -> ShownItems:
    """Return the items for the chapters' ``data`` parameter; the sample if none are available."""
    if not may_be_recorded(data):
        return ShownItems(tuple(load_all_votes(data)))
    datasets = datasets_of(data)
    missing = tuple(filter(is_missing, datasets))
    available = tuple(load_votes(dataset.name) for dataset in datasets if dataset not in missing)
    return ShownItems(available or tuple(load_all_votes("sample")), missing)


@cache
def systems(votes: Votes) -> tuple[System, ...]:
    """Return the systems that pages show with these votes."""
    return tuple(load_systems(votes))


def notice() -> str:
    """Return the notice of a page or file that holds texts of items."""
    items = BOOK.items
    return _SYNTHETIC if items.synthetic else licences.notice(_groups(items))


def votes_notice() -> str:
    """Return the notice of a file that holds votes by item, and no texts."""
    items = BOOK.items
    return _SYNTHETIC if items.synthetic else licences.votes_notice(_groups(items))


def notice_nodes() -> list[nodes.Node]:
    """Return the notice as a paragraph of a page."""
    return [nodes.raw("", licences.paragraph(notice()), format="html")]


def missing_nodes(purpose: str, place: str = "it") -> list[nodes.Node]:
    """Return the warning of a page that shows items, if some of them are not available.

    Parameters
    ----------
    purpose : str
        What the page does with items, to follow "this page".
    place : str
        The part of the page that shows items, if it is not the whole page.
    """
    items = BOOK.items
    if not items.missing:
        return []
    names = shorts_of(dataset.name for dataset in items.missing)
    instead = (
        f"Until then {place} shows invented items as an example; nothing in it is a result."
        if items.synthetic
        else f"Until then {place} shows the other datasets."
    )
    text = (
        f"With the votes on {names}, this page {purpose}. They are not part of this book and were "
        "not available when it was built. <code>chaos data fetch</code> gets them from their "
        f"publishers, and <code>make book</code> then puts them here. {escape(instead)}"
    )
    html = (
        '<div class="admonition warning"><p class="admonition-title">The items are not available'
        f"</p><p>{text}</p></div>"
    )
    return [nodes.raw("", html, format="html")]


def _groups(items: ShownItems) -> list[Group]:
    return [group_of(votes.dataset) for votes in items.votes]


def setup(app: Sphinx) -> None:
    """Connect to Sphinx's events."""
    app.connect("builder-inited", lambda app: BOOK.manifests)
    app.connect("env-before-read-docs", _read_ahead)
