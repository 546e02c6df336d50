"""The title page: one real item with its votes, and findings beside the figures that show them."""

from html import escape

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from chaos_book import book
from chaos_book.book import BOOK, raw_html
from chaos_utils.datasets.dataset import Dataset
from chaos_utils.datasets.votes import Votes
from chaos_utils.publish import licences, templating
from chaos_utils.report import values
from chaos_utils.report.captions import without_markup
from chaos_utils.report.manifests import Manifest
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


class PublishedPicture(SphinxDirective):
    """Show a figure's picture alone, linked to its place in a chapter."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the picture, or nothing in a book without it."""
        manifest = BOOK.made(self.env, self.arguments[0])
        if manifest is None:
            return []
        picture = templating.piece("picture", manifest, "figures/")
        title = escape(without_markup(manifest.title))
        link = f'<a href="{_place(self.env, manifest)}">{title}</a>'
        return [
            raw_html(
                f'<figure class="published title-picture">{picture}'
                f"<figcaption>{link}</figcaption></figure>"
            )
        ]


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
        manifest = BOOK.made(self.env, id)
        if manifest is None or manifest.kind != "figure":
            logger.warning("no notebook made the figure %s", id, location=self.get_location())
            return []
        name = escape(f"The figure in its chapter: {without_markup(manifest.title)}")
        link = (
            f'<a class="finding-picture" aria-label="{name}" href="{_place(self.env, manifest)}">'
        )
        picture = f"{link}{templating.piece('small_picture', manifest)}</a>"
        words = nodes.container(classes=["finding-words"])
        self.state.nested_parse(self.content, self.content_offset, words)
        place = nodes.container(classes=["finding"])
        place += [raw_html(picture), words]
        return [place]


def _place(env: BuildEnvironment, manifest: Manifest) -> str:
    """Return the address of a figure's place in its chapter."""
    chapter = f"chapters/{manifest.notebook}"
    return f"{env.app.builder.get_relative_uri(env.docname, chapter)}#{manifest.id}"


def setup(app: Sphinx) -> None:
    """Register the directives."""
    app.add_directive("one-item", OneItem)
    app.add_directive("published-picture", PublishedPicture)
    app.add_directive("finding", Finding)
