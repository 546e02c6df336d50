"""Reduce the theme's two thousand icons to those that the site shows.

Every page loads their font and stylesheet, which would be most of its size.
"""

import re
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from sphinx.application import Sphinx

from chaos_utils.sphinx import drafts
from chaos_utils.sphinx.book import write_last

_ICONS_SHOWN = {
    "fa-angle-down", "fa-angle-left", "fa-angle-right", "fa-arrow-up", "fa-bars",
    "fa-chevron-down", "fa-circle-half-stroke", "fa-circle-xmark", "fa-download", "fa-file",
    "fa-file-pdf", "fa-list", "fa-magnifying-glass", "fa-moon", "fa-sun", "fa-xmark",
}  # fmt: skip
_RULE = re.compile(r'((?:\.fa-[a-z0-9-]+:+before,?)+)\{content:"\\([0-9a-f]+)"\}')
_WOFF = re.compile(r'url\(\.\./webfonts/fa-solid-900\.woff2\) format\("woff2"\),')
_FONT_NAME_IDS = (1, 3, 4, 6, 16)  # family and full names in the font's table of names


def _reduce_icons(app: Sphinx, site: Path) -> None:
    """Remove the rules and glyphs of other icons from the stylesheet and the font."""
    if drafts.is_draft(app):
        return
    (sheet,) = site.glob("_static/vendor/fontawesome/*/css/all.min.css")
    code_points = set()

    def keep(rule: re.Match[str]) -> str:
        if _ICONS_SHOWN.isdisjoint(re.findall(r"fa-[a-z0-9-]+", rule[1])):
            return ""
        code_points.add(int(rule[2], 16))
        return rule[0]

    sheet.write_text(_WOFF.sub("", _RULE.sub(keep, sheet.read_text("utf-8"))), "utf-8")
    font = sheet.parents[1] / "webfonts" / "fa-solid-900.ttf"
    font.with_suffix(".woff2").unlink(missing_ok=True)
    with TTFont(font, recalcTimestamp=False) as full_font:
        subsetter = Subsetter(Options(drop_tables=["FFTM", "GSUB"], name_IDs=["*"]))
        subsetter.populate(unicodes=code_points)
        subsetter.subset(full_font)
        for record in full_font["name"].names:
            if record.nameID in _FONT_NAME_IDS:  # the licence reserves the original font's name
                record.string = "LivingBookIcons"
        full_font.save(font)


def setup(app: Sphinx) -> None:
    """Reduce the icons after the site's other parts have been written."""
    write_last(app, _reduce_icons, priority=900)
