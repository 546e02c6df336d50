"""Captions: their title, words without markup and HTML; cautions about the systems shown."""

import re
from collections.abc import Iterable
from html import unescape
from pathlib import Path

from chaos_utils.base.modules import read_source
from chaos_utils.report.literal import html_of_markdown

MARK = "†"  # behind the name of a system of which something must be said

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
    text = " ".join(unescape(text).split())
    return "".join(character for character in text if character.isprintable())


def title_of(source: Path) -> str:
    """Return the title of a notebook, without markup; its file's name if it has none."""
    heading = re.search(r"^# # (.+)$", read_source(source), flags=re.MULTILINE)
    return without_markup(heading[1]) if heading else source.stem


def names_in(text: str, names: Iterable[str]) -> list[str]:
    """Return which of the names a text has, with whatever hyphens."""
    return [name for name in names if re.search(_pattern(name), text)]


def mark(text: str, names: Iterable[str]) -> str:
    """Return a text with a `MARK` behind each of the names that it has, once."""
    for name in names:
        text = re.sub(rf"{_pattern(name)}(?!{MARK})", rf"\g<0>{MARK}", text)
    return text


def _pattern(name: str) -> str:
    """Return a pattern of a name as a word, whose hyphens may be those that break no line."""
    words = "[-‑]".join(map(re.escape, name.split("-")))
    return rf"(?<!\w){words}(?!\w)"


def caption_html(caption: str) -> str:
    """Return a caption as HTML outside the book, with its emphasis; roles and formulas stay."""
    return _EMPHASIS.sub(r"<em>\1</em>", html_of_markdown(caption))
