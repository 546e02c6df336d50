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

_NAME = re.compile(r"\bfa-[a-z0-9-]+")
_RULE = re.compile(r'((?:\.fa-[a-z0-9-]+:+before,?)+)\{content:"\\([0-9a-f]+)"\}')
_SIGN = re.compile(r'"\\([0-9a-f]+)"')
_WOFF = re.compile(r'url\(\.\./webfonts/fa-solid-900\.woff2\) format\("woff2"\),')
_NAMES_OF_FONT = (1, 3, 4, 6, 16)  # its family and full names, in the font's table of names


def keep(style: str, names: set[str]) -> str:
    """Return the icons' stylesheet without the icons that have none of some names.

    Parameters
    ----------
    style : str
        Font Awesome's stylesheet, minified.
    names : set of str
        Classes such as ``fa-list``.
    """

    def kept(rule: re.Match[str]) -> str:
        return rule[0] if names.intersection(_NAME.findall(rule[1])) else ""

    return _RULE.sub(kept, style)


def shorten(font: Path, signs: set[int]) -> None:
    """Leave only some signs in a font.

    Parameters
    ----------
    font : Path
        A TrueType file.
    signs : set of int
        Code points.
    """
    with TTFont(font, recalcTimestamp=False) as whole:
        subsetter = Subsetter(Options(drop_tables=["FFTM", "GSUB"], name_IDs=["*"]))
        subsetter.populate(unicodes=signs)
        subsetter.subset(whole)
        for record in whole["name"].names:
            if record.nameID in _NAMES_OF_FONT:  # the licence reserves the name of the whole one
                record.string = "LivingBookIcons"
        whole.save(font)


def _shorten(app: Sphinx, site: Path) -> None:
    if drafts.is_draft(app):
        return
    (sheet,) = site.glob("_static/vendor/fontawesome/*/css/all.min.css")
    others = [*site.rglob("*.html"), *site.glob("_static/**/*.js"), *site.glob("_static/**/*.css")]
    texts = [path.read_text("utf-8") for path in others if "vendor" not in path.parts]
    style = keep(sheet.read_text("utf-8"), {name for text in texts for name in _NAME.findall(text)})
    sheet.write_text(_WOFF.sub("", style), "utf-8")
    signs = {int(sign, 16) for text in (style, *texts) for sign in _SIGN.findall(text)}
    fonts = sheet.parents[1] / "webfonts"
    shorten(fonts / "fa-solid-900.ttf", signs)
    (fonts / "fa-solid-900.woff2").unlink(missing_ok=True)


def setup(app: Sphinx) -> None:
    """Shorten when the site's other parts have been written."""
    write_last(app, _shorten, priority=900)
