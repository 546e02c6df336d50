"""Of the theme's two thousand icons, the site keeps those that it shows.

They are a font and a stylesheet that every page loads, and would be most of what it weighs.
"""

import re
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from sphinx.application import Sphinx

from chaos_book import drafts
from chaos_book.book import write_last

_ICONS_SHOWN = {
    "fa-angle-down", "fa-angle-left", "fa-angle-right", "fa-arrow-up", "fa-bars",
    "fa-chevron-down", "fa-circle-half-stroke", "fa-circle-xmark", "fa-download", "fa-file",
    "fa-file-pdf", "fa-list", "fa-magnifying-glass", "fa-moon", "fa-sun", "fa-xmark",
}  # fmt: skip
_RULE = re.compile(r'((?:\.fa-[a-z0-9-]+:+before,?)+)\{content:"\\([0-9a-f]+)"\}')
_WOFF = re.compile(r'url\(\.\./webfonts/fa-solid-900\.woff2\) format\("woff2"\),')
_NAMES_OF_FONT = (1, 3, 4, 6, 16)  # its family and full names, in the font's table of names


def _shorten(app: Sphinx, site: Path) -> None:
    if drafts.is_draft(app):
        return
    (sheet,) = site.glob("_static/vendor/fontawesome/*/css/all.min.css")
    signs = set()

    def keep(rule: re.Match[str]) -> str:
        if _ICONS_SHOWN.isdisjoint(re.findall(r"fa-[a-z0-9-]+", rule[1])):
            return ""
        signs.add(int(rule[2], 16))
        return rule[0]

    sheet.write_text(_WOFF.sub("", _RULE.sub(keep, sheet.read_text("utf-8"))), "utf-8")
    font = sheet.parents[1] / "webfonts" / "fa-solid-900.ttf"
    font.with_suffix(".woff2").unlink(missing_ok=True)
    with TTFont(font, recalcTimestamp=False) as full_font:
        subsetter = Subsetter(Options(drop_tables=["FFTM", "GSUB"], name_IDs=["*"]))
        subsetter.populate(unicodes=signs)
        subsetter.subset(full_font)
        for record in full_font["name"].names:
            if record.nameID in _NAMES_OF_FONT:  # the licence reserves the name of the whole one
                record.string = "LivingBookIcons"
        full_font.save(font)


def setup(app: Sphinx) -> None:
    """Shorten when the site's other parts have been written."""
    write_last(app, _shorten, priority=900)
