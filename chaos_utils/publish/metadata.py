"""Metadata of pages, for search engines, reference managers and link previews."""

import json
import mimetypes
from collections.abc import Iterable, Iterator
from html import escape
from typing import Any

from chaos_utils.base.authorship import Citation
from chaos_utils.publish import licences
from chaos_utils.report.captions import without_markup
from chaos_utils.report.citations import address, file_address
from chaos_utils.report.manifests import Manifest

_TYPES = {
    ".ipynb": "application/x-ipynb+json",
    ".parquet": "application/vnd.apache.parquet",
    ".py": "text/x-python",
    ".yml": "application/yaml",
}
_LARGE_CARD = ("twitter:card", "summary_large_image")


def media_type(suffix: str) -> str:
    """Return the media type of files with a suffix, such as ``.csv``."""
    media_type = _TYPES.get(suffix) or mimetypes.types_map.get(suffix)
    return media_type or "application/octet-stream"


def meta_tags(book: Citation, manifest: Manifest, caption: str) -> str:
    """Return the tags for a landing page's head, all text escaped.

    Highwire and Dublin Core name what is cited, Open Graph gives the card of a shared link,
    signposting (https://signposting.org) leads programs to files and licence, and schema.org's
    JSON-LD describes the files. Addresses are absolute if the book has one, else
    relative to the page. `caption` is without markup.
    """
    description = json.dumps(json_ld(book, manifest, caption), indent=1, ensure_ascii=False)
    description = description.replace("<", "\\u003c")  # no text can close the script element
    return "\n".join(
        [
            *_tags("name", _named_tags(book, manifest, caption)),
            *_tags("property", _open_graph(book, manifest, caption)),
            *_signposts(book, manifest),
            f'<script type="application/ld+json">\n{description}\n</script>',
        ]
    )


def page_tags(
    book: Citation,
    page: str,
    title: str,
    description: str,
    picture: str,
    figure: Manifest | None = None,
) -> str:
    """Return the tags for the head of a page that is not one figure's, all text escaped.

    `page` is its name, such as ``chapters/results``. The card has the picture of `figure`, else the
    one at the path `picture` from the site's root, which may be empty. Addresses are absolute if
    the book has one, else relative to the page.
    """
    alt = f"The title of the book, and one of its figures: {book.title}"
    if figure:
        picture, alt = f"figures/{figure.id}.png", figure.alt
    root = f"{book.url.rstrip('/')}/" if book.url else "../" * page.count("/")
    graph = [
        ("og:title", title),
        ("og:type", "website" if page == "index" else "article"),
        ("og:site_name", book.title),
        ("og:description", description),
        *([("og:image", f"{root}{picture}")] if picture else []),
        *([("og:image:type", media_type(".png")), ("og:image:alt", alt)] if picture else []),
        *([("og:url", f"{root}{page}.html")] if book.url else []),
    ]
    return "\n".join(
        [*_tags("name", [("description", description), _LARGE_CARD]), *_tags("property", graph)]
    )


def _tags(kind: str, tags: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, content in tags:
        yield f'<meta {kind}="{escape(name)}" content="{escape(content)}">'


def _named_tags(book: Citation, manifest: Manifest, caption: str) -> Iterator[tuple[str, str]]:
    """Yield Highwire and Dublin Core tags: names and contents."""
    title, url = manifest.name, address(book, manifest)
    yield "description", without_markup(manifest.alt or caption)
    yield "citation_title", title
    yield from (("citation_author", name) for name in book.authors)
    yield "citation_publication_date", book.year
    yield "citation_inbook_title", book.title
    if url:
        yield "citation_public_url", url
    if "pdf" in manifest.formats:
        yield "citation_pdf_url", file_address(book, manifest, ".pdf")
    yield "DC.title", title
    yield from (("DC.creator", name) for name in book.authors)
    yield "DC.date", book.year
    yield "DC.identifier", manifest.id
    yield "DC.type", "StillImage" if manifest.kind == "figure" else "Dataset"
    yield from (("DC.format", media_type(f".{name}")) for name in manifest.formats)
    yield "DC.language", "en"
    yield "DC.rights", licences.licence_of(manifest)
    yield "DCTERMS.isPartOf", book.url or book.title
    if "png" in manifest.formats:
        yield _LARGE_CARD


def _open_graph(book: Citation, manifest: Manifest, caption: str) -> Iterator[tuple[str, str]]:
    """Yield Open Graph tags: properties and contents."""
    yield "og:title", manifest.name
    yield "og:type", "article"
    yield "og:site_name", book.title
    yield "og:description", caption
    if url := address(book, manifest):
        yield "og:url", url
    if "png" in manifest.formats:
        yield "og:image", file_address(book, manifest, ".png")
        yield "og:image:type", media_type(".png")
        yield "og:image:alt", manifest.alt


def _signposts(book: Citation, manifest: Manifest) -> Iterator[str]:
    """Yield signposting links to the page's address, licence and files."""
    if url := address(book, manifest):
        yield f'<link rel="cite-as" href="{escape(url)}">'
    yield f'<link rel="license" href="{licences.licence_of(manifest)}">'
    for relation, suffixes in (
        ("item", [f".{name}" for name in manifest.formats]),
        ("describedby", [".json"]),
    ):
        for suffix in suffixes:
            link = escape(file_address(book, manifest, suffix))
            yield f'<link rel="{relation}" type="{media_type(suffix)}" href="{link}">'


def json_ld(book: Citation, manifest: Manifest, caption: str) -> dict[str, Any]:
    """Return the description of a figure or table in schema.org's terms, as JSON-LD."""
    is_figure = manifest.kind == "figure"
    files = [
        {
            "@type": "MediaObject" if is_figure else "DataDownload",
            "contentUrl": file_address(book, manifest, f".{name}"),
            "encodingFormat": media_type(f".{name}"),
        }
        for name in manifest.formats
    ]
    description: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": "ImageObject" if is_figure else "Dataset",
        "identifier": manifest.id,
        "name": manifest.name,
        "description": caption,
        "author": [{"@type": "Organization", "name": name} for name in book.authors],
        "datePublished": book.year,
        "version": book.version,
        "license": licences.licence_of(manifest),
        "inLanguage": "en",
        "isPartOf": {"@type": "Book", "name": book.title, "version": book.version},
        "associatedMedia" if is_figure else "distribution": files,
    }
    if is_figure:
        description["contentUrl"] = file_address(book, manifest, ".png")
        description["accessibilitySummary"] = manifest.alt
    if url := address(book, manifest):
        description["url"] = url
        description["isPartOf"]["url"] = book.url
    if book.doi:
        description["isPartOf"]["identifier"] = book.resolver
    return description
