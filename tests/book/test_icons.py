"""The icons that the site keeps are those that its pages name."""

import re

from fontTools.ttLib import TTFont


def test_every_icon_of_a_page_has_its_rule_and_its_sign(site):
    (style,) = site.glob("_static/vendor/fontawesome/*/css/all.min.css")
    text = style.read_text("utf-8")
    assert len(text) < 30_000
    signs = TTFont(style.parents[1] / "webfonts" / "fa-solid-900.ttf").getBestCmap()
    assert len(signs) < 50
    pages = " ".join(page.read_text("utf-8") for page in site.rglob("*.html"))
    classes = " ".join(re.findall(r'class="([^"]*fa-[^"]*)"', pages)).split()
    shown = {name for name in classes if name.startswith("fa-")}
    assert {"fa-list", "fa-download", "fa-sun"} <= shown
    for name in shown - {"fa-solid", "fa-fw", "fa-lg"}:  # these are ways to draw
        sign = re.search(rf'\.{name}:before[^{{]*{{content:"\\([0-9a-f]+)"', text)
        assert sign is not None, name
        assert int(sign[1], 16) in signs
