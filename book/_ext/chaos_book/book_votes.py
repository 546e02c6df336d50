"""What pages show beside the chapters: the votes themselves, and whose texts they are."""

from functools import cache

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.loading import load_all_votes
from chaos_utils.datasets.votes import Votes
from chaos_utils.publish import licences
from chaos_utils.report.artifacts import SYNTHETIC_NOTE

_SYNTHETIC = f"{SYNTHETIC_NOTE}: invented items, simulated votes."


def is_synthetic(app: Sphinx) -> bool:
    """Say whether the chapters were made from the sample."""
    manifests = app.env.chaos_manifests.values()  # type: ignore[attr-defined]
    return any(manifest["synthetic"] for manifest in manifests)


def notice(app: Sphinx) -> str:
    """Return what a page or file that holds texts of items says about them."""
    return _SYNTHETIC if is_synthetic(app) else licences.notice(_datasets(app))


def votes_notice(app: Sphinx) -> str:
    """Return what a file that holds the votes of items, and no texts, says about them."""
    return _SYNTHETIC if is_synthetic(app) else licences.votes_notice(_datasets(app))


def notice_node(app: Sphinx) -> nodes.raw:
    """Return the notice as a paragraph of a page."""
    return nodes.raw("", licences.paragraph(notice(app)), format="html")


def _datasets(app: Sphinx) -> list[Dataset]:
    return [votes.dataset for votes in all_votes(app)]


def all_votes(app: Sphinx) -> list[Votes]:
    """Return the votes that the chapters were made from."""
    manifests = list(app.env.chaos_manifests.values())  # type: ignore[attr-defined]
    (data,) = {m["parameters"]["data"] for m in manifests if "data" in m["parameters"]}
    found = _votes_of(data)
    digests = {entry["sha256"] for manifest in manifests for entry in manifest["inputs"]}
    other = [votes.dataset.title for votes in found if votes.source.sha256 not in digests]
    if other:
        raise ExtensionError(
            f"the available data for {', '.join(other)} is not what the chapters were made from: "
            "build them again"
        )
    return found


_votes_of = cache(load_all_votes)  # several pages show the same votes
