"""What is taken out of a caption: its title, and its words without the markup."""

import re
from html import escape

# What a caption may hold beside words: roles, code, formulas, emphasis. Only the words are kept.
_ROLE = re.compile(r"\{[a-z:]+\}`([^`<]*?)(?:\s*<[^`>]*>)?`")
_EMPHASIS = re.compile(r"(?<!\w)\*{1,2}(?=\S)([^*]+?)(?<=\S)\*{1,2}(?!\w)")
_MARKS = (
    re.compile(r"`([^`]+)`"),
    re.compile(r"\$(?=\S)([^$]+?)(?<=\S)\$(?!\d)"),
    _EMPHASIS,
    re.compile(r"(?<!\w)_{1,2}(?=\S)([^_]+?)(?<=\S)_{1,2}(?!\w)"),
)


def first_sentence(caption: str) -> str:
    """Return a caption's first sentence, on one line and without its full stop, as a title."""
    return re.split(r"(?<=[^.\s]{2})\.(?:\s|$)", " ".join(caption.split()), maxsplit=1)[0]


def without_markup(text: str) -> str:
    """Return the words of a title or caption on one line: no roles, emphasis or formula signs."""
    text = _ROLE.sub(r"\1", text)
    for mark in _MARKS:
        text = mark.sub(r"\1", text)
    text = " ".join(text.split())
    return "".join(character for character in text if character.isprintable())


def caption_html(caption: str) -> str:
    """Return a caption as HTML outside the book, with its emphasis; roles and formulas stay."""
    return _EMPHASIS.sub(r"<em>\1</em>", escape(caption))
