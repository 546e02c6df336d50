"""What pages show beside the chapters: the items themselves, and whose texts and votes they are."""

from dataclasses import dataclass
from functools import cache
from html import escape

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError

from chaos_book.published import manifests
from chaos_utils.datasets.availability import datasets_of, is_missing, may_be_recorded
from chaos_utils.datasets.catalogue import shorts_of
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.loading import load_all_votes, load_votes
from chaos_utils.datasets.votes import Votes
from chaos_utils.publish import licences
from chaos_utils.report.artifacts import SYNTHETIC_NOTE
from chaos_utils.scoring.system import System
from chaos_utils.scoring.systems import load_systems

_FEW_PAGES = 5  # up to this many, Sphinx reads in a single process
_SYNTHETIC = f"{SYNTHETIC_NOTE}: invented items, simulated votes."


@dataclass(frozen=True, slots=True)
class Shown:
    """The items that pages show.

    Attributes
    ----------
    votes : tuple of Votes
        Those that the chapters were made from, or the sample's as an example.
    missing : tuple of Dataset
        Those that the chapters show recorded tables of, and whose items are not available.
    """

    votes: tuple[Votes, ...]
    missing: tuple[Dataset, ...] = ()

    @property
    def synthetic(self) -> bool:
        """Whether they are the sample's."""
        return any(votes.source.synthetic for votes in self.votes)


def _read_ahead(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Read what pages show before processes are started that would each read it."""
    if app.parallel > 1 and len(docnames) > _FEW_PAGES:
        for votes in shown().votes:
            systems(votes)


def is_synthetic() -> bool:
    """Say whether the chapters were made from the sample."""
    return any(manifest["synthetic"] for manifest in manifests().values())


def shown() -> Shown:
    """Return the items that pages show."""
    made = manifests().values()
    if not made:
        raise ExtensionError("there are no executed chapters: run `chaos build`")
    (data,) = {m["parameters"]["data"] for m in made if "data" in m["parameters"]}
    found = _read(data)
    digests = {entry["sha256"] for manifest in made for entry in manifest["inputs"]}
    other = [
        votes.dataset.title
        for votes in found.votes
        if not (found.missing and found.synthetic) and votes.source.sha256 not in digests
    ]
    if other:
        raise ExtensionError(
            f"the available data for {', '.join(other)} is not what the chapters were made from: "
            "build them again"
        )
    return found


@cache  # several pages show the same items
def _read(data: str) -> Shown:
    if not may_be_recorded(data):
        return Shown(tuple(load_all_votes(data)))
    wanted = datasets_of(data)
    missing = tuple(filter(is_missing, wanted))
    there = tuple(load_votes(one.name) for one in wanted if one not in missing)
    return Shown(there or tuple(load_all_votes("sample")), missing)


@cache
def systems(votes: Votes) -> tuple[System, ...]:
    """Return the systems that pages show beside votes."""
    return tuple(load_systems(votes))


def notice() -> str:
    """Return what a page or file that holds texts of items says about them."""
    items = shown()
    return _SYNTHETIC if items.synthetic else licences.notice(_datasets(items))


def votes_notice() -> str:
    """Return what a file that holds the votes of items, and no texts, says about them."""
    items = shown()
    return _SYNTHETIC if items.synthetic else licences.votes_notice(_datasets(items))


def notice_nodes() -> list[nodes.Node]:
    """Return the notice as a paragraph of a page."""
    return [nodes.raw("", licences.paragraph(notice()), format="html")]


def missing_nodes(purpose: str) -> list[nodes.Node]:
    """Return what a page that shows items says where some of them are not available.

    Parameters
    ----------
    purpose : str
        What the page does with items, after "this page".
    """
    items = shown()
    if not items.missing:
        return []
    names = shorts_of(one.name for one in items.missing)
    instead = (
        "Until then it shows invented items as an example; nothing in it is a result."
        if items.synthetic
        else "Until then it shows the other datasets."
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


def _datasets(items: Shown) -> list[Dataset]:
    return [votes.dataset for votes in items.votes]


def setup(app: Sphinx) -> None:
    """Connect to Sphinx's event."""
    app.connect("env-before-read-docs", _read_ahead)
