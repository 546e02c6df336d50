"""Reduce the theme's styles to those that some page of the site can use.

Every page loads the styles, and most are for parts that the book does not have.
"""

import re
from collections.abc import Set
from pathlib import Path

from sphinx.application import Sphinx

from chaos_utils.sphinx import drafts
from chaos_utils.sphinx.book import write_last

_SHEETS = ("styles/*.css", "sphinx-design.min.css")
# Blanks for all that separates words; what is not ASCII is part of one.
_BLANKS = bytes(byte if byte > 127 or chr(byte).isalnum() or byte in b"_-" else 32
                for byte in range(256))  # fmt: skip
_RULE = re.compile(r"(?P<selectors>[^{}]+)\{[^{}]*\}")  # also inside @media
_NOT = re.compile(r":not\([^)]*\)")
_CLASS = re.compile(r"\.([A-Za-z_][\w-]*)")


def _reduce_styles(app: Sphinx, site: Path) -> None:
    """Remove the rules that no page can use from the theme's style sheets."""
    if drafts.is_draft(app):
        return
    words = _words(site)
    for pattern in _SHEETS:
        for sheet in (site / "_static").glob(pattern):
            sheet.write_text(without_unused_rules(sheet.read_text("utf-8"), words), "utf-8")


def _words(site: Path) -> set[str]:
    """Return the words of pages and scripts, among them all classes that elements may have."""
    words: set[bytes] = set()
    for path in site.rglob("*.*"):
        if path.suffix in (".html", ".js") and "vendor" not in path.parts:
            words |= {*path.read_bytes().translate(_BLANKS).split()}
    return {word.decode("utf-8", "ignore") for word in words}


def without_unused_rules(sheet: str, words: Set[str]) -> str:
    """Return a style sheet without the rules for classes that are not in `words`.

    A word that ends in a hyphen stands for all classes that begin with it, since scripts build
    names of classes from such parts.
    """
    prefixes = tuple(word for word in words if word.endswith("-") and word.strip("-"))

    def may_match(selector: str) -> bool:
        classes = _CLASS.findall(selector)
        return all(name in words or name.startswith(prefixes) for name in classes)

    def keep(rule: re.Match[str]) -> str:
        selectors = _NOT.sub("", rule["selectors"]).split(",")
        return rule[0] if any(map(may_match, selectors)) else ""

    return _RULE.sub(keep, sheet)


def setup(app: Sphinx) -> None:
    """Reduce the styles after all pages and scripts have been written."""
    write_last(app, _reduce_styles, priority=900)
