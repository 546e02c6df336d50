"""The title page: one real item with its votes, and findings beside the figures that show them."""

from html import escape

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

from chaos_book import book
from chaos_book.book import BOOK, raw_html
from chaos_utils.base import style
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.votes import Votes
from chaos_utils.publish import licences, templating
from chaos_utils.report import values
from chaos_utils.report.captions import without_markup
from chaos_utils.report.manifests import Manifest, picture_name
from chaos_utils.report.tables import votes_html
from chaos_utils.scoring.system import System

logger = logging.getLogger(__name__)


class OneItem(SphinxDirective):
    """Show an item of the reader's own copy with its votes and a model's probabilities.

    ``{one-item} <dataset> <uid> <family of systems>``, and what is to be said of it; nothing where
    the item is not available.
    """

    required_arguments = 3
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the item, or nothing."""
        name, uid, family = self.arguments
        items = BOOK.items
        votes = next((one for one in items.votes if one.dataset.name == name), None)
        if items.synthetic or votes is None:
            return []
        if uid not in votes.uids:
            logger.warning("%s has no item %s", name, uid, location=self.get_location())
            return []
        of_family = (one for one in book.systems(votes) if one.family == family)
        words = nodes.container(classes=["one-item-words"])
        self.state.nested_parse(self.content, self.content_offset, words)
        said = licences.paragraph(licences.notice([votes.dataset]))
        return [raw_html(_item_html(votes, uid, next(of_family, None))), words, raw_html(said)]


def _item_html(votes: Votes, uid: str, system: System | None) -> str:
    place, dataset = votes.index(uid), votes.dataset
    texts = "".join(
        f'<p><span class="text-name">{escape(title)}</span> {escape(text.strip())}</p>'
        for title, text in zip(dataset.text_titles, votes.texts[place].values(), strict=True)
    )
    counts = votes.counts[place]
    rows = _row(f"{counts.sum()} people", dataset, tuple(int(n) for n in counts))
    if system is not None and uid in system.uids:
        shares = 100 * system.probabilities[system.uids.index(uid)]
        rows += _row(system.family, dataset, tuple(round(float(share)) for share in shares), "%")
    labels = "".join(
        f'<span><i class="vote" style="--light:{label.colour.light};--dark:{label.colour.dark}">'
        f"</i> {escape(label.name)}</span>"
        for label in dataset.classes
    )
    return f'<div class="one-item">{texts}{rows}<p class="labels">{labels}</p></div>'


def _row(who: str, dataset: Dataset, counts: tuple[int, ...], unit: str = "") -> str:
    bar = votes_html(dataset.name, counts, unit)
    return f'<div class="one-row"><span>{escape(who)}</span>{bar}</div>'


class FindingPicture(nodes.General, nodes.Element):
    """A small picture of a figure that links to its place in a chapter."""


class PublishedPicture(SphinxDirective):
    """Show a figure's picture alone, linked to its place in a chapter."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the picture, or nothing in a book without it."""
        id = self.arguments[0]
        return [PictureLink(published=id)] if BOOK.made(self.env, id) else []


class PictureLink(nodes.General, nodes.Element):
    """A figure's whole picture that links to its place in a chapter."""


class Finding(SphinxDirective):
    """Set a finding beside a figure that shows it: ``{finding} <id of the figure>``.

    It speaks of the released data, and is left out of a book on any other.
    """

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the picture and the finding, or a warning's place when there is no such figure."""
        id = self.arguments[0]
        if not values.is_released(BOOK.manifests):
            return []
        made = BOOK.made(self.env, id)
        if made is None or made.kind != "figure":
            logger.warning("no notebook made the figure %s", id, location=self.get_location())
            return []
        place = nodes.container(classes=["finding"])
        words = nodes.container(classes=["finding-words"])
        self.state.nested_parse(self.content, self.content_offset, words)
        place += [FindingPicture(published=id), words]
        return [place]


def _visit_small(self: HTML5Translator, node: nodes.Element) -> None:
    manifest = BOOK.manifests[node["published"]]
    width, height = manifest.size
    pictures = "".join(
        f'<img class="only-{mode}" src="figures/{picture_name(manifest.id, mode)}" alt="" '
        f'loading="lazy" width="{width}" height="{height}">'
        for mode in style.MODES
    )
    name = escape(f"The figure in its chapter: {without_markup(manifest.title)}")
    label = f'class="finding-picture" aria-label="{name}"'
    self.body.append(f'<a {label} href="{_place(self, manifest)}">{pictures}</a>')
    raise nodes.SkipNode


def _visit_picture(self: HTML5Translator, node: nodes.Element) -> None:
    manifest = BOOK.manifests[node["published"]]
    picture = templating.piece("picture", manifest, "figures/")
    link = f'<a href="{_place(self, manifest)}">{escape(without_markup(manifest.title))}</a>'
    self.body.append(
        f'<figure class="published title-picture">{picture}<figcaption>{link}</figcaption></figure>'
    )
    raise nodes.SkipNode


def _place(self: HTML5Translator, manifest: Manifest) -> str:
    """Return the address of a figure's place in its chapter."""
    builder = self.builder
    chapter = f"chapters/{manifest.notebook}"
    return f"{builder.get_relative_uri(builder.current_docname, chapter)}#{manifest.id}"


def setup(app: Sphinx) -> None:
    """Register nodes and directives."""
    app.add_node(FindingPicture, html=(_visit_small, None))
    app.add_node(PictureLink, html=(_visit_picture, None))
    app.add_directive("one-item", OneItem)
    app.add_directive("published-picture", PublishedPicture)
    app.add_directive("finding", Finding)
