"""Texts that are shown as they are, whatever characters they hold: one function for each target.

All that comes from files passes one of these functions where it enters Markdown or HTML: a
dataset's title, labels and fields, names of systems, annotators and files, and texts of items.
Templates escape by themselves, and figures draw no formula but an axis' powers (`report.figures`).
"""

import re
from html import escape

# In Markdown, all but letters, digits, blanks, and signs that mean nothing where they stand.
_MARKUP = re.compile(
    r"[^\w ,;.:()'%/+=?\x80-\U0010ffff-]"
    r"|(?<![^\W_])_|_(?![^\W_])"  # an underscore inside a word means nothing
    r"|\.(?=[^\W\d_])|:(?=\S)"  # addresses become links
    r"|^[-+= %(]|-(?=-)|^\d(?=\d*[.)](?:\s|$))"  # lists, rules, headings, comments, targets
)
_ENTITY = re.compile(r"&amp;(#\d+;)")


def in_markdown(text: str) -> str:
    """Return a text for a line of Markdown in which neither Markdown nor HTML reads anything."""
    return _MARKUP.sub(_entity, text)


def in_html(text: str) -> str:
    """Return a text in HTML, or in a quoted attribute; a page reads no formula or role in it."""
    return re.sub(r"[$`{]", _entity, escape(text))


def html_of_markdown(text: str) -> str:
    """Return HTML that shows Markdown as source, but keeps the entities of `in_markdown`."""
    return _ENTITY.sub(r"&\1", escape(text))


def _entity(character: re.Match[str]) -> str:
    return f"&#{ord(character[0])};"
