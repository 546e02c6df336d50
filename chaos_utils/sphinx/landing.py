"""A page for each published figure and table, the list of them, and ``figures.bib``.

`chaos_utils.publish.landing` makes the content of a page. This module puts the theme around it, and
takes captions from chapters, where their references have been resolved.
"""

from collections.abc import Iterator
from html import escape
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective
from sphinx.util.osutil import relative_uri
from sphinx.writers.html5 import HTML5Translator

from chaos_utils.publish import cells, contents, landing, metadata, templating
from chaos_utils.report import citations, parameters
from chaos_utils.report.manifests import Manifest
from chaos_utils.sphinx.book import BOOK, write_last
from chaos_utils.sphinx.published import (
    PublishedCaption,
    PublishedFigure,
    PublishedTable,
    published_on_pages,
)

BIBLIOGRAPHY = "figures.bib"
LIST = "cite"  # the page that lists all figures and tables, and says how to cite them


class Thumbnail(nodes.General, nodes.Element):
    """The title of a figure, with a small picture, or of a table, which links to its page."""


class PublishedList(SphinxDirective):
    """Show everything that was published, by chapter: first figures, then titles of tables."""

    def run(self) -> list[nodes.Node]:
        """Return a section for each chapter."""
        sections: list[nodes.Node] = []
        for id in BOOK.manifests:
            BOOK.made(self.env, id)
        for notebook, manifests in groupby(BOOK.manifests.values(), key=attrgetter("notebook")):
            BOOK.note_notebook(self.env, notebook)
            title = contents.chapter_title(notebook)
            section = nodes.section(ids=[f"chapter-{nodes.make_id(notebook)}"])
            section += nodes.title(title, title)
            by_kind: dict[str, list[nodes.Node]] = {"figure": [], "table": []}
            for manifest in manifests:
                by_kind[manifest.kind].append(Thumbnail(published=manifest.id))
            if by_kind["figure"]:
                section += nodes.container("", *by_kind["figure"], classes=["thumbnails"])
            if by_kind["table"]:
                items = (nodes.list_item("", link) for link in by_kind["table"])
                section += nodes.bullet_list("", *items, classes=["table-titles"])
            sections.append(section)
        return sections


def _visit_thumbnail(self: HTML5Translator, node: nodes.Element) -> None:
    """Write the link, for a figure with its picture."""
    id = node["published"]
    manifest = BOOK.manifests[id]
    title = escape(manifest.name)
    picture = ""
    if manifest.kind == "figure":
        picture = f'<span class="frame">{templating.piece("small_picture", manifest)}</span>'
    number = _number(self.builder.app, manifest)
    self.body.append(
        f'<a class="thumbnail" href="figures/{id}.html">{picture}'
        f'<span class="thumbnail-title"><b>{number}</b> {title}</span></a>\n'
    )
    raise nodes.SkipNode


def _keep_captions(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Keep the captions of a page, whose references have been resolved by now."""
    for node in doctree.findall(nodes.Element):
        if isinstance(node, PublishedFigure | PublishedTable):
            caption = next(node.findall(PublishedCaption)).deepcopy()
            BOOK.captions[node["published"]] = docname, caption


def _pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield the page of each figure and table: name, context, template."""
    if app.builder.format != "html":
        return
    book, ids_on_pages = BOOK.citation, published_on_pages(app.env)
    for id, manifest in BOOK.manifests.items():
        page = f"figures/{id}"
        if id not in BOOK.captions:
            if id in ids_on_pages and (Path(app.outdir) / f"{page}.html").is_file():
                continue  # its chapter has not changed, so that its landing page has not either
            raise ExtensionError(f"{id} is made by {manifest.notebook}, but no page shows it")
        docname, caption = BOOK.captions[id]
        _relink(app, caption, docname, page)
        place = landing.FigurePlace(
            chapter=app.env.titles[docname].astext(),
            link=f"{app.builder.get_relative_uri(page, docname)}#{id}",
            number=_number(app, manifest),
            caption=_html(app, caption),
            is_listed=LIST in app.env.found_docs,
        )
        source = BOOK.project / "notebooks" / f"{manifest.notebook}.py"
        files = {name: contents.file_of(manifest, name) for name in manifest.file_names}
        sizes = {name: path.stat().st_size for name, path in files.items()}
        cell = cells.cell_of(source, id, book)
        command = parameters.command(source, manifest.parameters)
        title = escape(manifest.name)
        context = {
            "title": title,
            "pagetitle": title,
            "metatags": metadata.meta_tags(book, manifest, _plain(caption)),
            "body": landing.body(manifest, book, place, command, sizes, cell),
            "toc": landing.contents(manifest),
            "display_toc": True,
        }
        yield page, context, "page.html"


def _relink(app: Sphinx, caption: nodes.Element, docname: str, page: str) -> None:
    """Make a caption's links, which are relative to its chapter, relative to another page."""
    old_address, new_address = (app.builder.get_target_uri(name) for name in (docname, page))
    for node in caption.findall(nodes.Element):
        node["ids"] = []
    for link in caption.findall(nodes.reference):
        target = urljoin(old_address, link.get("refuri") or f"#{link['refid']}")
        if "://" not in target:
            path, separator, fragment = target.partition("#")
            target = relative_uri(new_address, path) + separator + fragment
        link["refuri"] = target
        link.attributes.pop("refid", None)


def _html(app: Sphinx, caption: nodes.Element) -> str:
    # Without the caption's own node, which would be written as that of a numbered figure.
    content = nodes.inline("", "", *(child.deepcopy() for child in caption.children))
    return str(app.builder.render_partial(content)["fragment"])  # type: ignore[attr-defined]


def _plain(caption: nodes.Element) -> str:
    return " ".join(caption.astext().split())


def _number(app: Sphinx, manifest: Manifest) -> str:
    """Return the number of a figure or table in the book, such as ``Fig. 3``."""
    id, kind = manifest.id, manifest.kind
    docname, _ = BOOK.captions.get(id, (None, None))
    for name, numbers in app.env.toc_fignumbers.items():
        if docname in (None, name) and id in numbers.get(kind, {}):
            number = ".".join(map(str, numbers[kind][id]))
            return str(app.config.numfig_format[kind] % number)
    return manifest.kind.capitalize()


def _write_bibliography(app: Sphinx, out: Path) -> None:
    book = BOOK.citation
    entries = "\n\n".join(citations.bibtex(book, manifest) for manifest in BOOK.manifests.values())
    (out / BIBLIOGRAPHY).write_text(f"{entries}\n", "utf-8")


def setup(app: Sphinx) -> None:
    """Register the list and connect to Sphinx's events."""
    app.add_node(Thumbnail, html=(_visit_thumbnail, None))
    app.add_directive("published-list", PublishedList)
    app.connect("doctree-resolved", _keep_captions)
    app.connect("html-collect-pages", _pages)
    write_last(app, _write_bibliography)
