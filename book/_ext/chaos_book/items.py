"""The items that pages show, with their texts and systems, and what is said of their licences."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from html import escape

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError

from chaos_utils.base.project import Group
from chaos_utils.book import group_of
from chaos_utils.datasets.catalogue import get_dataset, shorts_of
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.loading import (
    datasets_of,
    is_missing,
    load_all_votes,
    load_votes,
    may_be_recorded,
)
from chaos_utils.datasets.votes import Votes
from chaos_utils.publish import licences
from chaos_utils.report.manifests import SYNTHETIC_NOTE, Manifest
from chaos_utils.report.tables import Texts
from chaos_utils.scoring.submitted import submitted_systems
from chaos_utils.scoring.system import System
from chaos_utils.scoring.systems import load_systems
from chaos_utils.sphinx.book import BOOK, raw_html

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


@cache
def shown_items() -> ShownItems:
    """Return the items that pages show."""
    manifests = BOOK.manifests.values()
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


def _read_ahead(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Read what pages show before other processes are started, each of which would read it."""
    if app.parallel > 1 and len(docnames) > _FEW_PAGES:
        for votes in shown_items().votes:
            shown_systems(votes)


def _read_items(data: str) -> ShownItems:
    """Return the items for the chapters' ``data`` parameter; the sample if none are available."""
    if not may_be_recorded(data):
        return ShownItems(tuple(load_all_votes(data)))
    datasets = datasets_of(data)
    missing = tuple(filter(is_missing, datasets))
    available = tuple(load_votes(dataset.name) for dataset in datasets if dataset not in missing)
    return ShownItems(available or tuple(load_all_votes("sample")), missing)


@cache
def shown_systems(votes: Votes) -> tuple[System, ...]:
    """Return the systems that pages show with these votes."""
    return tuple(load_systems(votes))


def shown_with_submitted(votes: Votes) -> list[System]:
    """Return the systems that pages show with these votes, and those that others submitted."""
    return [*shown_systems(votes), *submitted_systems(votes)]


def texts_notice() -> str:
    """Return the notice of a page or file that holds texts of items."""
    items = shown_items()
    return _SYNTHETIC if items.synthetic else licences.notice(_groups(items))


def votes_notice() -> str:
    """Return the notice of a file that holds votes by item, and no texts."""
    items = shown_items()
    return _SYNTHETIC if items.synthetic else licences.votes_notice(_groups(items))


def notice_nodes() -> list[nodes.Node]:
    """Return the notice as a paragraph of a page."""
    return [raw_html(licences.paragraph(texts_notice()))]


def missing_nodes(purpose: str, place: str = "it") -> list[nodes.Node]:
    """Return the warning of a page that shows items, if some of them are not available.

    Parameters
    ----------
    purpose : str
        What the page does with items, to follow "this page".
    place : str
        The part of the page that shows items, if it is not the whole page.
    """
    items = shown_items()
    if not items.missing:
        return []
    names = shorts_of(dataset.name for dataset in items.missing)
    instead = (
        f"Until then, {place} shows invented items as an example, and nothing in it is a result."
        if items.synthetic
        else f"Until then, {place} shows the other datasets."
    )
    text = (
        f"This page {purpose}. For this it needs the votes on {names}, which are not part of the "
        "book and were not available when it was built. To add them, run <code>chaos data "
        "fetch</code>, which downloads them from their publishers, and then run <code>make "
        f"book</code>. {escape(instead)}"
    )
    html = (
        '<div class="admonition warning"><p class="admonition-title">The items are not available'
        f"</p><p>{text}</p></div>"
    )
    return [raw_html(html)]


def _groups(items: ShownItems) -> list[Group]:
    return [group_of(votes.dataset) for votes in items.votes]


class TableItems:
    """What tables show of items: the texts in the reader's own copy of the data, and licences."""

    def texts(self, manifest: Manifest) -> Texts | None:
        """Return a function that finds the texts of a table's items; None if it shows no items."""

        def read(dataset: str, uid: str) -> Mapping[str, str] | None:
            if _lacks_texts(manifest, dataset):
                return None
            votes = shown_items().on(dataset)
            return votes.texts[votes.index(uid)]

        return read if licences.shown_groups(manifest) else None

    def notice(self, manifest: Manifest) -> str:
        """Return the notice of the licences of a table's items as HTML; empty if it needs none."""
        if manifest.synthetic:
            return ""
        groups = licences.shown_groups(manifest)
        without_texts = [group for group in groups if _lacks_texts(manifest, group.name)]
        with_texts = [group for group in groups if group not in without_texts]
        notice = licences.paragraph(licences.notice(with_texts)) if with_texts else ""
        notice += licences.paragraph(licences.votes_notice(without_texts)) if without_texts else ""
        return notice


def _lacks_texts(manifest: Manifest, dataset: str) -> bool:
    """Say whether a table shows recorded items of a dataset that is not available."""
    return dataset in manifest.recorded and is_missing(get_dataset(dataset))


def setup(app: Sphinx) -> None:
    """Let tables show their items, and read these before other processes are started."""
    BOOK.items = TableItems()
    app.connect("env-before-read-docs", _read_ahead)
