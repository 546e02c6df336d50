"""Changes of the theme's pages: no files loaded in vain, accessible tables, contents drawn once.

Changes of the theme's templates are in ``assets/templates``.
"""

import re
from collections.abc import Callable
from html import escape, unescape
from typing import Any
from urllib.parse import urlsplit

from bs4 import BeautifulSoup
from docutils import nodes
from sphinx.application import Sphinx

# Scripts and styles by a part of their name or code, and the HTML of pages that need them. No page
# needs Thebe, which would load a live kernel's scripts from elsewhere.
_NEEDED_FOR = {
    "thebe": None,
    "mystnb": re.compile(r'class="[^"]*\bcell\b'),
    "sphinx-design": re.compile(r'class="[^"]*\bsd-'),
    "design-tabs": re.compile(r'class="[^"]*\bsd-tab'),
    "toggle": re.compile(r'class="[^"]*\b(?:toggle|dropdown)\b'),
    "clipboard": re.compile(r'class="[^"]*\bhighlight\b'),
    "copybutton": re.compile(r'class="[^"]*\bhighlight\b'),
}
_PAGE_OUTSIDE_CONTENTS = "search"
_CONTENTS: dict[str, str] = {}  # the table of contents as HTML, by the options of templates
_TABLE = re.compile(r"(?P<tag><table\b[^>]*>)(?P<content>.*?)</table>", re.DOTALL)
_HEADING = re.compile(r"<h[1-6][^>]*>(.*?)</h[1-6]>", re.DOTALL)
_TAG_OR_SIGN = re.compile(r'<a class="headerlink".*?</a>|<[^>]+>', re.DOTALL)
_FIRST_CELL = re.compile(r"(<tr\b[^>]*>\s*)<td\b([^>]*)>(.*?)</td>", re.DOTALL)
_LOOSE_BOX = re.compile(
    r'<div class="pst-scrollable-table-container">(?=<table\b[^>]*>\s*<caption[^>]*>(.*?)<)'
)


def _adapt_page(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Leave out the files that a page does not need, and make its tables accessible."""
    body = context.get("body", "")
    for kind in ("script_files", "css_files"):
        context[kind] = [file for file in context[kind] if is_needed(file, body)]
    if body:
        context["body"] = accessible_tables(body)


def is_needed(file: Any, body: str) -> bool:
    """Say whether a page with this body needs a script or style."""
    description = f"{file.filename} {file.attributes.get('body')}"
    return all(
        pattern is not None and pattern.search(body)
        for name, pattern in _NEEDED_FOR.items()
        if name in description
    )


def accessible_tables(body: str) -> str:
    """Return a page's body whose tables have a name, headers, and a box that keys can scroll."""
    # The summary's own text says more than this label.
    body = body.replace('<summary aria-label="Toggle hidden content"', "<summary")
    # The role `doc-biblioentry` needs a list with a role that the bibliography lacks.
    body = body.replace('role="doc-biblioentry"', 'role="listitem"')
    body = _TABLE.sub(_table_adapter(body), body)
    return _LOOSE_BOX.sub(
        r'<div class="pst-scrollable-table-container" role="region" tabindex="0" aria-label="\1">',
        body,
    )


def _table_adapter(body: str) -> Callable[[re.Match[str]], str]:
    """Return a function that adds to a table its heading as caption, and the scope of headers."""

    def adapt_table(match: re.Match[str]) -> str:
        tag, content = match["tag"], match["content"]
        content = content.replace('<th class="head', '<th scope="col" class="head')
        if "<th" not in content:
            content = _FIRST_CELL.sub(r'\1<th scope="row"\2>\3</th>', content)
        if "<caption" not in content and "published" not in tag:
            heading = ["", *_HEADING.findall(body, 0, match.start())][-1]
            name = escape(unescape(_TAG_OR_SIGN.sub("", heading)).strip())
            content = f'<caption class="visually-hidden">{name}</caption>{content}'
        return f"{tag}{content}</table>"

    return adapt_table


def _cache_contents(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Let the table of contents be made once, not for each page, as Sphinx would."""
    make_contents = app.builder._get_local_toctree  # type: ignore[attr-defined]

    def contents(**options: Any) -> str:
        key = repr(sorted(options.items()))
        if key not in _CONTENTS:
            # As for a page at the root that is not in the contents, so that no entry is marked.
            _CONTENTS[key] = make_contents(_PAGE_OUTSIDE_CONTENTS, **options)
        return contents_on_page(app, _CONTENTS[key], pagename)

    context["toctree"] = contents


def contents_on_page(app: Sphinx, contents: str, page: str) -> str:
    """Return the table of contents for a page: links relative to it, and its own entry marked."""
    soup = BeautifulSoup(contents, "html.parser")
    for link in soup("a"):
        if urlsplit(str(link["href"])).scheme:  # a `url:` of the table of contents
            continue
        target = str(link["href"]).removesuffix(".html")
        if target != page:
            link["href"] = app.builder.get_relative_uri(page, target)
            continue
        link["href"] = "#"
        for element in (link, *link.find_parents(["li", "ul"])):
            classes = element.get_attribute_list("class")
            classes.insert(1 if element.name == "li" else 0, "current")
            element["class"] = " ".join(filter(None, classes))
    return str(soup)


def _mark_subtitle(app: Sphinx, doctree: nodes.document) -> None:
    """Mark an emphasized line below a page's title as its subtitle."""
    title = next(iter(doctree.findall(nodes.title)), None)
    sibling = title.next_node(descend=False, siblings=True) if title else None
    if not isinstance(sibling, nodes.paragraph):
        return
    if [type(node) for node in sibling] == [nodes.emphasis]:
        sibling["classes"].append("subtitle")


def _drop_thebe(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Remove the configuration of Thebe from a page."""
    for node in list(doctree.findall(nodes.raw)):
        if any(name in node.astext() for name in ("x-thebe-config", "kernelName =")):
            node.parent.remove(node)


def setup(app: Sphinx) -> None:
    """Connect to Sphinx's events; pages are adapted after other extensions have added to them."""
    app.connect("doctree-read", _mark_subtitle)
    app.connect("doctree-resolved", _drop_thebe, priority=900)
    app.connect("html-page-context", _cache_contents, priority=400)  # before the theme
    app.connect("html-page-context", _adapt_page, priority=900)
