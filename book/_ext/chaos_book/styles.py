"""Of the theme's styles, the site keeps those that some page of it can use.

Every page loads them, and most are for parts that the book does not have.
"""

import re
from collections.abc import Iterator, Set
from pathlib import Path

from sphinx.application import Sphinx

from chaos_book import drafts
from chaos_book.book import write_last

_WORD = re.compile(r"[\w-]+")
_RULE = re.compile(r"(?P<selectors>[^{}]+)\{[^{}]*\}")  # also inside @media
_EXCEPT = re.compile(r":not\([^)]*\)")
_CLASS = re.compile(r"\.([A-Za-z_][\w-]*)")


def _shorten(app: Sphinx, site: Path) -> None:
    if drafts.is_draft(app):
        return
    words = set(_words(site))
    for sheet in site.glob("_static/styles/*.css"):
        sheet.write_text(without_unused_rules(sheet.read_text("utf-8"), words), "utf-8")


def _words(site: Path) -> Iterator[str]:
    """Yield the words of pages and scripts, among them all classes that elements may have."""
    for path in site.rglob("*.*"):
        if path.suffix in (".html", ".js") and "vendor" not in path.parts:
            yield from _WORD.findall(path.read_text("utf-8"))


def without_unused_rules(sheet: str, words: Set[str]) -> str:
    """Return a style sheet without the rules for classes that are not among some words.

    A word that ends in a hyphen stands for all classes that begin so: scripts put these together.
    """
    beginnings = tuple(word for word in words if word.endswith("-") and word.strip("-"))

    def may_be_there(selector: str) -> bool:
        classes = _CLASS.findall(selector)
        return all(name in words or name.startswith(beginnings) for name in classes)

    def keep(rule: re.Match[str]) -> str:
        selectors = _EXCEPT.sub("", rule["selectors"]).split(",")
        return rule[0] if any(map(may_be_there, selectors)) else ""

    return _RULE.sub(keep, sheet)


def setup(app: Sphinx) -> None:
    """Shorten when all pages and scripts have been written."""
    write_last(app, _shorten, priority=900)
