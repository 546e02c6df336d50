"""What a term or a reference means, beside its link: on hover, on focus, and for screen readers.

A page holds, hidden, what its own links to terms and references mean, each once, and
``definitions.js`` shows it. Nothing is fetched, so it works on a page that was opened from a file.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

_GLOSSARY = "glossary"
_DEFINITION_LENGTH = 200  # characters; a definition is cut after a sentence
# A reference comes with a title, which browsers show to those with a mouse alone.
_LINK = re.compile(
    r'(?P<link><a class="reference internal" href="[^"#]*#(?P<place>(?:term-|id\d)[^"]*)")'
    r'(?: title="(?P<reference>[^"]*)")?>'
)
_BETWEEN_SENTENCES = re.compile(r"(?<=[.?!])\s+")
_LINK_OR_SPAN = re.compile(r"</?(?:a|span)\b[^>]*>")
_TAG = re.compile(r"<[^>]*>")


@cache
def terms(app: Sphinx) -> dict[str, str]:
    """Return what the glossary's terms mean, in brief and as HTML, by their places on its page."""
    if _GLOSSARY not in app.env.found_docs:
        return {}
    glossary = app.env.get_and_resolve_doctree(_GLOSSARY, app.builder)
    meanings: dict[str, str] = {}
    for item in glossary.findall(nodes.definition_list_item):
        first = nodes.inline("", "", *item[-1][0].children)  # of the definition's paragraphs
        html = app.builder.render_partial(first)["fragment"]  # type: ignore[attr-defined]
        places = [place for term in item.findall(nodes.term) for place in term["ids"]]
        meanings |= dict.fromkeys(places, first_sentences(html))
    return meanings


def first_sentences(html: str) -> str:
    """Return the first sentence of a paragraph, and those after it while they are short.

    Links are left as text: what describes a link is read, not operated. What it is called in tables
    is left out, and so are citations after a sentence.
    """
    text = " ".join(_LINK_OR_SPAN.sub("", html).split())
    sentences = _BETWEEN_SENTENCES.split(text)
    first, *others = (one for one in sentences if not one.startswith(("[", "In tables:")))
    for sentence in others:
        if len(_TAG.sub("", f"{first} {sentence}")) > _DEFINITION_LENGTH:
            break
        first = f"{first} {sentence}"
    return first


def with_definitions(body: str, terms: Mapping[str, str]) -> str:
    """Return a page's body that ends with what its links to terms and references mean."""
    ids: dict[str, str] = {}

    def describe(link: re.Match[str]) -> str:
        meaning = terms.get(link["place"]) or link["reference"]
        if not meaning:
            return link[0]
        id = ids.setdefault(meaning, f"definition-{len(ids) + 1}")
        return f'{link["link"]} aria-describedby="{id}">'

    body = _LINK.sub(describe, body)
    meanings = (f'<p role="tooltip" id="{id}" hidden>{said}</p>\n' for said, id in ids.items())
    return f"{body}{''.join(meanings)}"


def _describe(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    context["body"] = with_definitions(context.get("body", ""), terms(app))


def setup(app: Sphinx) -> None:
    """Read the glossary before pages are written in other processes; describe on each page."""
    app.connect("write-started", lambda app, builder: terms(app))
    app.connect("html-page-context", _describe)
