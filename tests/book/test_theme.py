"""What is done to what the theme's pages are made from, on pieces of pages."""

from types import SimpleNamespace

import pytest
from chaos_book.theme import described, is_wanted


def test_a_table_gets_its_heading_s_name_scopes_and_a_box_that_keys_can_scroll():
    text = (
        '<h2>Words &amp; <em>deeds</em><a class="headerlink" href="#x">#</a></h2>'
        '<div class="pst-scrollable-table-container"><table class="table">\n'
        '<thead><tr><th class="head"><p>a</p></th></tr></thead></table></div>'
    )
    made = described(text)
    assert '<caption class="visually-hidden">Words &amp; deeds</caption>' in made
    assert '<th scope="col" class="head">' in made
    assert 'role="region" tabindex="0" aria-label="Words &amp; deeds"' in made
    assert described(made) == made


def test_a_table_without_headers_is_headed_by_the_first_cell_of_each_row():
    made = described(
        "<h1>A</h1><table><tr><td>one</td><td>1</td></tr><tr><td>two</td></tr></table>"
    )
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
    assert described(f"<h1>A</h1>{table}") == f"<h1>A</h1>{table}"


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("<h1>A</h1>", ["book"]),
        ('<h1>A</h1><div class="tag cell docutils"></div>', ["book", "mystnb"]),
        ('<h1>A</h1><div class="sd-card"></div>', ["book", "sphinx-design", "design-tabs"]),
    ],
)
def test_files_for_cells_and_cards_are_for_pages_that_have_them_and_thebe_is_for_none(body, wanted):
    names = ["book", "mystnb", "sphinx-design", "design-tabs", "sphinx-thebe"]
    files = [SimpleNamespace(filename=f"{name}.js", attributes={}) for name in names]
    settings = SimpleNamespace(filename=None, attributes={"body": "const thebe_selector = 1"})
    kept = [file.filename for file in [*files, settings] if is_wanted(file, body)]
    assert kept == [f"{name}.js" for name in wanted]
