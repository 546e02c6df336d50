"""The title page: its figure, and findings beside what shows them."""

from html import escape

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from chaos_book.book import BOOK, raw_html
from chaos_utils.publish import templating
from chaos_utils.report import values
from chaos_utils.report.captions import without_markup
from chaos_utils.report.manifests import Manifest

logger = logging.getLogger(__name__)


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
    app.add_directive("published-picture", PublishedPicture)
    app.add_directive("finding", Finding)
