"""Definitions of terms and references at their links: on hover, on focus, and for screen readers.

A page contains the definition of each term and reference that it links to, once and hidden, and
``definitions.js`` shows it. Nothing is fetched, so this works on a page opened from a file.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

_GLOSSARY = "glossary"
_DEFINITION_LENGTH = 200  # characters; a definition is cut after a sentence
# A link to a reference has a title, which browsers show only to readers with a mouse.
_LINK = re.compile(
    r'(?P<link><a class="reference internal" href="[^"#]*#(?P<id>(?:term-|ref-)[^"]*)")'
    r'(?: title="(?P<reference>[^"]*)")?>'
)
_BETWEEN_SENTENCES = re.compile(r"(?<=[.?!])\s+")
_LINK_OR_SPAN = re.compile(r"</?(?:a|span)\b[^>]*>")
_TAG = re.compile(r"<[^>]*>")


@cache
def terms(app: Sphinx) -> dict[str, str]:
    """Return short definitions of the glossary's terms as HTML, by the terms' ids on its page."""
    if _GLOSSARY not in app.env.found_docs:
        return {}
    glossary = app.env.get_and_resolve_doctree(_GLOSSARY, app.builder)
    definitions: dict[str, str] = {}
    for item in glossary.findall(nodes.definition_list_item):
        first_paragraph = nodes.inline("", "", *item[-1][0].children)  # item[-1]: its definition
        html = app.builder.render_partial(first_paragraph)["fragment"]  # type: ignore[attr-defined]
        ids = [id for term in item.findall(nodes.term) for id in term["ids"]]
        definitions |= dict.fromkeys(ids, first_sentences(html))
    return definitions


def first_sentences(html: str) -> str:
    """Return the first sentence of a paragraph, and further ones up to `_DEFINITION_LENGTH`.

    Links become text, since a tooltip cannot be operated. Citations are left out.
    """
    text = " ".join(_LINK_OR_SPAN.sub("", html).split())
    sentences = _BETWEEN_SENTENCES.split(text)
    definition, *rest = (text for text in sentences if not text.startswith("["))
    for sentence in rest:
        if len(_TAG.sub("", f"{definition} {sentence}")) > _DEFINITION_LENGTH:
            break
        definition = f"{definition} {sentence}"
    return definition


def with_definitions(body: str, terms: Mapping[str, str]) -> str:
    """Return a page's body with the definitions that its links refer to at the end."""
    ids: dict[str, str] = {}

    def describe(link: re.Match[str]) -> str:
        definition = terms.get(link["id"]) or link["reference"]
        if not definition:
            return link[0]
        id = ids.setdefault(definition, f"definition-{len(ids) + 1}")
        return f'{link["link"]} aria-describedby="{id}">'

    body = _LINK.sub(describe, body)
    tooltips = (f'<p role="tooltip" id="{id}" hidden>{text}</p>\n' for text, id in ids.items())
    return f"{body}{''.join(tooltips)}"


def _add_definitions(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    context["body"] = with_definitions(context.get("body", ""), terms(app))


def setup(app: Sphinx) -> None:
    """Read the glossary before pages are written in other processes; add definitions to each."""
    app.connect("write-started", lambda app, builder: terms(app))
    app.connect("html-page-context", _add_definitions)
