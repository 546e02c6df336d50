"""Captions: their title, their words without markup, cautions that they need, and their HTML."""

import re
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

from chaos_utils.base.modules import read_source
from chaos_utils.datasets.catalogue import known_datasets
from chaos_utils.report.literal import html_of_markdown, in_markdown

if TYPE_CHECKING:
    import pandas as pd

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


def add_cautions(caption: str, rows: "pd.DataFrame") -> str:
    """Return a caption with the cautions about the released systems that the rows name."""
    cautions = {
        name: system.caution
        for dataset in known_datasets()
        for system in dataset.systems
        for name in system.models or (system.family,)
        if system.caution
    }
    texts = {cell for name in rows for cell in rows[name].array if isinstance(cell, str)}
    sentences = [
        f"*{in_markdown(name)}*: {in_markdown(caution)}."
        for name, caution in cautions.items()
        if any(name in text for text in texts)
    ]
    return " ".join([caption, *sentences])


def caption_html(caption: str) -> str:
    """Return a caption as HTML outside the book, with its emphasis; roles and formulas stay."""
    return _EMPHASIS.sub(r"<em>\1</em>", html_of_markdown(caption))
