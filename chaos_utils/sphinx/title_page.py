"""The title page: its authors, its figure, findings beside small drawings; where the source is."""

from collections.abc import Sequence
from html import escape
from shlex import quote

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from chaos_utils.base.authorship import Citation
from chaos_utils.publish import templating
from chaos_utils.report import values
from chaos_utils.report.captions import without_markup
from chaos_utils.report.manifests import Manifest
from chaos_utils.sphinx.book import BOOK, raw_html
from chaos_utils.sphinx.landing import LIST

logger = logging.getLogger(__name__)


class Byline(SphinxDirective):
    """Say who made the book, and when: authors, year and version, as they are cited."""

    def run(self) -> list[nodes.Node]:
        """Return one line."""
        book = BOOK.citation
        text = f"{', '.join(book.authors)} · {book.year} · version {book.version}"
        text += " · {doc}`Cite <cite>`" if LIST in self.env.found_docs else ""
        words, messages = self.parse_inline(text)
        return [nodes.paragraph("", "", *words, classes=["byline"]), *messages]


class SourceCode(SphinxDirective):
    """Say how to get the book's source."""

    def run(self) -> list[nodes.Node]:
        """Return the command, or whom to ask."""
        return [source_of(BOOK.citation)]


def source_of(book: Citation) -> nodes.Element:
    """Return the command that clones the book's repository, or what is said if it names none."""
    if not book.repository:
        text = (
            "This copy of the book does not say where its repository is. Ask whoever published it."
        )
        return nodes.paragraph("", text)
    command = f"$ git clone {quote(book.repository)}"
    return nodes.literal_block(command, command, language="console")


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
        link = f'<a href="{_chapter_link(self.env, manifest)}">{title}</a>'
        return [
            raw_html(
                f'<figure class="published title-picture">{picture}'
                f"<figcaption>{link}</figcaption></figure>"
            )
        ]


class Finding(SphinxDirective):
    """Insert a finding beside a small drawing of its numbers: ``{finding} <id>``.

    The drawing has a bar for each line of `bars`, ``name: address of a value``; a star before the
    name marks what the finding is about. `measure` says what the bars show. A finding is about the
    released data, and is left out of a book on other data.
    """

    required_arguments = 1
    option_spec = {  # noqa: RUF012 - docutils wants it so
        "measure": directives.unchanged_required,
        "bars": directives.unchanged_required,
    }
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the finding and its bars; nothing if its figure or table was not made."""
        if not values.is_released(BOOK.manifests):
            return []
        manifest = BOOK.manifest_of(self)
        if manifest is None:
            return []
        bars = [line.partition(": ") for line in self.options["bars"].splitlines()]
        numbers = [(name, self._value(address)) for name, _, address in bars]
        link = _chapter_link(self.env, manifest)
        drawing = templating.piece(
            "bars", self.options["measure"], bars_of(numbers), manifest, link
        )
        words = nodes.container(classes=["finding-words"])
        self.state.nested_parse(self.content, self.content_offset, words)
        finding = nodes.container(classes=["finding"])
        finding += [words, raw_html(drawing)]
        return [finding]

    def _value(self, address: str) -> str:
        """Return the number at an address, formatted; 0, with a warning, if there is none."""
        BOOK.made(self.env, address.split(" ")[0])
        try:
            return values.value(BOOK.manifests, address)
        except ValueError as fault:
            logger.warning("bar `%s`: %s", address, fault, location=self.get_location())
            return "0"


def bars_of(bars: Sequence[tuple[str, str]]) -> list[tuple[str, str, float, bool]]:
    """Return name, number, length (in percent of the longest) and emphasis of each bar."""
    numbers = [max(0.0, float(text.replace("−", "-").rstrip("%"))) for _, text in bars]
    longest = max(numbers) or 1.0
    return [
        (name.removeprefix("*").strip(), text, round(100 * number / longest, 1), name[0] == "*")
        for (name, text), number in zip(bars, numbers, strict=True)
    ]


def _chapter_link(env: BuildEnvironment, manifest: Manifest) -> str:
    """Return the address of a figure or table in its chapter."""
    chapter = f"chapters/{manifest.notebook}"
    return f"{env.app.builder.get_relative_uri(env.docname, chapter)}#{manifest.id}"


def setup(app: Sphinx) -> None:
    """Register the directives."""
    app.add_directive("byline", Byline)
    app.add_directive("source-code", SourceCode)
    app.add_directive("published-picture", PublishedPicture)
    app.add_directive("finding", Finding)
