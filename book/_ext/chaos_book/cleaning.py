"""What the theme's pages carry to no use is removed; what they lack for screen readers is added."""

import re
from collections.abc import Callable
from html import escape, unescape
from pathlib import Path

from sphinx.application import Sphinx

# Font preloads, which a page opened from a file may not make; Thebe, which would fetch a live
# kernel's scripts from elsewhere; a script of 1.5 MB that draws the icons which the stylesheet
# draws too; a name that the search page would hold twice; a second title, for paper only.
_UNWANTED = re.compile(
    r'<link rel="preload" as="font"[^>]*>\n?'
    r"|<script[^>]*>[^<]*thebe[^<]*</script>\n?"
    r"|<(?:script|link)[^>]*thebe[^>]*>(?:[^<]*</script>)?\n?"
    r"|<script[^>]*/fontawesome/[^>]*></script>\n?"
    r'|\s+id="search-input"'
    r'|(?<=<summary) aria-label="Toggle hidden content"'  # its text says more
    r'|<div id="jb-print-docs-body".*?(?=<div id="searchbox">)',
    re.DOTALL,
)
# What only some pages use, by a class of those: of notebooks' cells, and of cards and tabs.
_PARTLY_WANTED = {
    re.compile(r'class="[^"]*\bcell\b'): re.compile(r"<link[^>]*/mystnb\.[^>]*>\n?"),
    re.compile(r'class="[^"]*\bsd-'): re.compile(
        r"<link[^>]*/sphinx-design\.[^>]*>\n?|<script[^>]*/design-tabs\.[^>]*></script>\n?"
    ),
}
_PART = re.compile(r'(<a class="[^"]*" href="[^"]*">([^<]*)</a><details[^>]*>)<summary>')
_TABLE = re.compile(r"(?P<tag><table\b[^>]*>)(?P<inside>.*?)</table>", re.DOTALL)
_HEADING = re.compile(r"<h[1-6][^>]*>(.*?)</h[1-6]>", re.DOTALL)
_TAG_OR_SIGN = re.compile(r'<a class="headerlink".*?</a>|<[^>]+>', re.DOTALL)
_FIRST_CELL = re.compile(r"(<tr\b[^>]*>\s*)<td\b([^>]*)>(.*?)</td>", re.DOTALL)
_LOOSE_BOX = re.compile(
    r'<div class="pst-scrollable-table-container">(?=<table\b[^>]*>\s*<caption[^>]*>(.*?)<)'
)


def clean(text: str) -> str:
    """Return a page of the site without what is of no use, and with what readers need.

    Parameters
    ----------
    text : str
        The HTML of a page, as the theme has made it.
    """
    text = _UNWANTED.sub("", text)
    for used, files in _PARTLY_WANTED.items():
        if not used.search(text):
            text = files.sub("", text)
    text = _PART.sub(r'\1<summary aria-label="Chapters of: \2">', text)
    # The logo and the search stand beside the contents, in no landmark of their own.
    text = text.replace(
        '<div class="bd-sidebar-primary',
        '<div role="navigation" aria-label="Book" class="bd-sidebar-primary',
    )
    text = text.replace('role="doc-biblioentry"', 'role="listitem"')
    text = _TABLE.sub(_described(text), text)
    return _LOOSE_BOX.sub(
        r'<div class="pst-scrollable-table-container" role="region" tabindex="0" aria-label="\1">',
        text,
    )


def _described(text: str) -> Callable[[re.Match[str]], str]:
    """Return what gives a table its heading's name as caption, and its headers their scope."""

    def describe(match: re.Match[str]) -> str:
        tag, inside = match["tag"], match["inside"]
        if "indextable" in tag:  # columns of links, no table
            return f'{tag[:-1]} role="presentation">{inside}</table>'
        inside = inside.replace('<th class="head', '<th scope="col" class="head')
        if "<th" not in inside:
            inside = _FIRST_CELL.sub(r'\1<th scope="row"\2>\3</th>', inside)
        if "<caption" not in inside and "published" not in tag:
            heading = ["", *_HEADING.findall(text, 0, match.start())][-1]
            name = escape(unescape(_TAG_OR_SIGN.sub("", heading)).strip())
            inside = f'<caption class="visually-hidden">{name}</caption>{inside}'
        return f"{tag}{inside}</table>"

    return describe


def _clean_pages(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        page.write_text(clean(page.read_text("utf-8")), "utf-8")


def setup(app: Sphinx) -> None:
    """Clean when all pages have been written, before links are put into the chapters' code."""
    app.connect("build-finished", _clean_pages, priority=400)
