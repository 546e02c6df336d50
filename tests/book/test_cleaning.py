"""What is done to the theme's pages, on pieces of pages."""

import pytest
from chaos_book.cleaning import clean


def test_a_table_gets_its_heading_s_name_scopes_and_a_box_that_keys_can_scroll():
    text = (
        '<h2>Words &amp; <em>deeds</em><a class="headerlink" href="#x">#</a></h2>'
        '<div class="pst-scrollable-table-container"><table class="table">\n'
        '<thead><tr><th class="head"><p>a</p></th></tr></thead></table></div>'
    )
    made = clean(text)
    assert '<caption class="visually-hidden">Words &amp; deeds</caption>' in made
    assert '<th scope="col" class="head">' in made
    assert 'role="region" tabindex="0" aria-label="Words &amp; deeds"' in made
    assert clean(made) == made


def test_a_table_without_headers_is_headed_by_the_first_cell_of_each_row():
    made = clean("<h1>A</h1><table><tr><td>one</td><td>1</td></tr><tr><td>two</td></tr></table>")
    assert made.count('<th scope="row">') == 2
    assert '<th scope="row">one</th><td>1</td>' in made


@pytest.mark.parametrize(
    "table",
    [
        '<table class="published"><caption>c</caption><tr><th scope="col">a</th></tr></table>',
        '<table class="table"><caption>c</caption><tr><th scope="col">a</th></tr></table>',
    ],
)
def test_a_table_that_is_described_stays_as_it_is(table):
    assert clean(f"<h1>A</h1>{table}") == f"<h1>A</h1>{table}"


def test_the_index_s_columns_are_no_table():
    made = clean('<h1>Index</h1><table class="indextable"><tr><td>a</td></tr></table>')
    assert made.endswith(
        '<table class="indextable" role="presentation"><tr><td>a</td></tr></table>'
    )


CELL = '<link rel="stylesheet" href="_static/mystnb.0a.css" />\n'
DESIGN = '<link rel="stylesheet" href="../_static/sphinx-design.min.css?v=1" />\n'
TABS = '<script data-sd-x="sd-" src="_static/design-tabs.js?v=1"></script>\n'


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("<h1>A</h1>", ""),
        ('<h1>A</h1><div class="tag cell docutils"></div>', CELL),
        ('<h1>A</h1><div class="sd-card"></div>', DESIGN + TABS),
    ],
)
def test_styles_of_cells_and_cards_are_for_pages_that_have_them(body, kept):
    assert clean(CELL + DESIGN + TABS + body) == kept + body
