"""The theme's pages, made fit: what they load in vain is left out, what readers need is added.

What the theme's templates decide is in ``book/_templates``.
"""

import re
from collections.abc import Callable
from html import escape, unescape
from typing import Any
from urllib.parse import urlsplit

from bs4 import BeautifulSoup
from docutils import nodes
from sphinx.application import Sphinx

# Scripts and styles, and what a page that needs them holds. Thebe, which would fetch a live
# kernel's scripts from elsewhere, is wanted by none.
_WANTED_BY = {
    "thebe": None,
    "mystnb": re.compile(r'class="[^"]*\bcell\b'),
    "sphinx-design": re.compile(r'class="[^"]*\bsd-'),
    "design-tabs": re.compile(r'class="[^"]*\bsd-'),
}
_PAGE_OUTSIDE_CONTENTS = "search"
_CONTENTS: dict[str, str] = {}  # by what the templates ask for
_TABLE = re.compile(r"(?P<tag><table\b[^>]*>)(?P<inside>.*?)</table>", re.DOTALL)
_HEADING = re.compile(r"<h[1-6][^>]*>(.*?)</h[1-6]>", re.DOTALL)
_TAG_OR_SIGN = re.compile(r'<a class="headerlink".*?</a>|<[^>]+>', re.DOTALL)
_FIRST_CELL = re.compile(r"(<tr\b[^>]*>\s*)<td\b([^>]*)>(.*?)</td>", re.DOTALL)
_LOOSE_BOX = re.compile(
    r'<div class="pst-scrollable-table-container">(?=<table\b[^>]*>\s*<caption[^>]*>(.*?)<)'
)


def _adapt(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    body = context.get("body", "")
    for kind in ("script_files", "css_files"):
        context[kind] = [file for file in context[kind] if is_wanted(file, body)]
    if body:
        context["body"] = accessible_tables(body)


def is_wanted(file: Any, body: str) -> bool:
    """Say whether a page with some body needs a script or style of Sphinx's extensions."""
    description = f"{file.filename} {file.attributes.get('body')}"
    return all(
        using is not None and using.search(body)
        for name, using in _WANTED_BY.items()
        if name in description
    )


def accessible_tables(body: str) -> str:
    """Return a page's body whose tables have a name, headers, and a box that keys can scroll."""
    # What these fold says more than this.
    body = body.replace('<summary aria-label="Toggle hidden content"', "<summary")
    # Citations stand in no bibliography's list that this role would need.
    body = body.replace('role="doc-biblioentry"', 'role="listitem"')
    body = _TABLE.sub(_in(body), body)
    return _LOOSE_BOX.sub(
        r'<div class="pst-scrollable-table-container" role="region" tabindex="0" aria-label="\1">',
        body,
    )


def _in(body: str) -> Callable[[re.Match[str]], str]:
    """Return what gives a table its heading's name as caption, and its headers their scope."""

    def describe(match: re.Match[str]) -> str:
        tag, inside = match["tag"], match["inside"]
        inside = inside.replace('<th class="head', '<th scope="col" class="head')
        if "<th" not in inside:
            inside = _FIRST_CELL.sub(r'\1<th scope="row"\2>\3</th>', inside)
        if "<caption" not in inside and "published" not in tag:
            heading = ["", *_HEADING.findall(body, 0, match.start())][-1]
            name = escape(unescape(_TAG_OR_SIGN.sub("", heading)).strip())
            inside = f'<caption class="visually-hidden">{name}</caption>{inside}'
        return f"{tag}{inside}</table>"

    return describe


def _draw_once(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Draw the contents once, not for each page: Sphinx would read and resolve them every time."""
    draw = app.builder._get_local_toctree  # type: ignore[attr-defined]

    def contents(**options: Any) -> str:
        key = repr(sorted(options.items()))
        if key not in _CONTENTS:
            # As they are on a page at the root that is not in them: none is marked.
            _CONTENTS[key] = draw(_PAGE_OUTSIDE_CONTENTS, **options)
        return contents_on_page(app, _CONTENTS[key], pagename)

    context["toctree"] = contents


def contents_on_page(app: Sphinx, contents: str, page: str) -> str:
    """Return contents as a page has them: links from there, and itself marked."""
    soup = BeautifulSoup(contents, "html.parser")
    for link in soup("a"):
        if urlsplit(str(link["href"])).scheme:  # a `url:` of the table of contents
            continue
        target = str(link["href"]).removesuffix(".html")
        if target != page:
            link["href"] = app.builder.get_relative_uri(page, target)
            continue
        link["href"] = "#"
        for around in (link, *link.find_parents(["li", "ul"])):
            classes = around.get_attribute_list("class")
            classes.insert(1 if around.name == "li" else 0, "current")
            around["class"] = " ".join(filter(None, classes))
    return str(soup)


def _mark_subtitle(app: Sphinx, doctree: nodes.document) -> None:
    """Let an emphasized line below a page's title be its subtitle."""
    title = next(iter(doctree.findall(nodes.title)), None)
    below = title.next_node(descend=False, siblings=True) if title else None
    if isinstance(below, nodes.paragraph) and [type(node) for node in below] == [nodes.emphasis]:
        below["classes"].append("subtitle")


def _drop_thebe(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    for node in list(doctree.findall(nodes.raw)):
        if any(name in node.astext() for name in ("x-thebe-config", "kernelName =")):
            node.parent.remove(node)


def setup(app: Sphinx) -> None:
    """Adapt what each page is made from, after all else that adds to it."""
    app.connect("doctree-read", _mark_subtitle)
    app.connect("doctree-resolved", _drop_thebe, priority=900)
    app.connect("html-page-context", _draw_once, priority=400)  # before the theme
    app.connect("html-page-context", _adapt, priority=900)
