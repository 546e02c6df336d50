"""What is done to what the theme's pages are made from, on pieces of pages."""

import re
from types import SimpleNamespace

import pytest
from fontTools.ttLib import TTFont
from sphinx.errors import ExtensionError
from sphinx.util.osutil import relative_uri

from chaos_utils.base.errors import ChaosError
from chaos_utils.sphinx.faults import on_one_line
from chaos_utils.sphinx.styles import without_unused_rules
from chaos_utils.sphinx.theme import accessible_tables, contents_on_page, is_needed


def test_a_table_gets_its_heading_s_name_scopes_and_a_box_that_keys_can_scroll():
    text = (
        '<h2>Words &amp; <em>deeds</em><a class="headerlink" href="#x">#</a></h2>'
        '<div class="pst-scrollable-table-container"><table class="table">\n'
        '<thead><tr><th class="head"><p>a</p></th></tr></thead></table></div>'
    )
    made = accessible_tables(text)
    assert '<caption class="visually-hidden">Words &amp; deeds</caption>' in made
    assert '<th scope="col" class="head">' in made
    assert 'role="region" tabindex="0" aria-label="Words &amp; deeds"' in made
    assert accessible_tables(made) == made
    without = accessible_tables(
        "<h1>A</h1><table><tr><td>one</td><td>1</td></tr><tr><td>two</td></table>"
    )
    assert '<th scope="row">one</th><td>1</td>' in without


def test_contents_that_were_drawn_once_are_led_from_and_marked_on_each_page():
    app = SimpleNamespace(
        builder=SimpleNamespace(get_relative_uri=lambda page, to: relative_uri(page, f"{to}.html"))
    )
    item = '<li class="toctree-l{0}"><a class="reference internal" href="{1}.html">{1}</a>{2}</li>'
    inner = f"<ul>\n{item.format(2, 'parts/a', '')}\n</ul>\n"
    drawn = f"<ul>\n{item.format(1, 'one', inner)}\n{item.format(1, 'two', '')}\n</ul>\n"
    assert contents_on_page(app, drawn, "search") == drawn
    outside = drawn.replace("two.html", "https://example.org/two.html")
    assert "https://example.org/two.html" in contents_on_page(app, outside, "search")
    elsewhere = drawn.replace('href="', 'href="../')
    assert contents_on_page(app, drawn, "figures/b") == elsewhere
    marked = contents_on_page(app, drawn, "parts/a")  # as Sphinx marks them
    assert '"current reference internal" href="#">parts/a</a>' in marked
    current = re.findall('(ul|toctree-l.)[^>]*current"', marked)
    assert current == ["ul", "toctree-l1", "ul", "toctree-l2"]
    assert re.sub(" ?class=.*?>", ">", marked).count(">") == drawn.count(">")


def test_a_fault_on_one_line_still_says_what_to_do():
    with pytest.raises(ExtensionError, match=r"^It is so[^\n]*mend it$"), on_one_line():
        raise ChaosError("It is so.", found="word " * 200, todo="mend it")


def test_of_a_style_sheet_stays_what_some_page_can_use():
    rules = {
        "body{a:b}": True,
        ".here .there,.gone{a:b}": True,
        ".here.gone{a:b}": False,
        ".here:not(.gone,.away) i{a:b}": True,
        ".made-by-script{a:b}": True,
        "@media print{.gone{a:b}.here{a:b}}": "@media print{.here{a:b}}",
    }
    kept = "".join(rule if stays is True else stays or "" for rule, stays in rules.items())
    assert without_unused_rules("".join(rules), {"here", "there", "made-"}) == kept


def test_a_page_loads_what_its_elements_need_and_no_more():
    def needed(name, body, inline=""):
        return is_needed(SimpleNamespace(filename=name, attributes={"body": inline}), body)

    for name, body in {
        "_static/clipboard.min.js": '<div class="highlight">',
        "_static/copybutton.css": '<div class="highlight">',
        "_static/togglebutton.js": '<div class="admonition dropdown">',
        "_static/design-tabs.js": '<div class="sd-tab-set">',
        "_static/sphinx-design.min.css": '<div class="sd-card">',
    }.items():
        assert needed(name, f"<p>{body}"), name
        assert not needed(name, '<p class="published">copybutton toggle'), name
    assert not needed(None, "<p>", "let toggleHintShow = 'Show code';")
    assert not needed("_static/design-tabs.js", '<div class="sd-card">')
    assert needed("_static/doctools.js", "")


def test_every_icon_of_a_page_has_its_rule_and_its_sign(site):
    (style,) = site.glob("_static/vendor/fontawesome/*/css/all.min.css")
    text = style.read_text("utf-8")
    assert len(text) < 30_000
    signs = TTFont(style.parents[1] / "webfonts" / "fa-solid-900.ttf").getBestCmap()
    pages = " ".join(page.read_text("utf-8") for page in site.rglob("*.html"))
    classes = " ".join(re.findall(r'class="([^"]*fa-[^"]*)"', pages)).split()
    shown = {name for name in classes if name.startswith("fa-")}
    assert {"fa-list", "fa-download", "fa-sun"} <= shown
    for name in shown - {"fa-solid", "fa-fw", "fa-lg"}:  # these are ways to draw
        sign = re.search(rf'\.{name}:before[^{{]*{{content:"\\([0-9a-f]+)"', text)
        assert sign is not None, name
        assert int(sign[1], 16) in signs
