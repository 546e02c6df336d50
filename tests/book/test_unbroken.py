"""Numbers and dates that end no line."""

import re

import pytest
from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.parsers.rst import Parser
from docutils.utils import new_document
from pygments import highlight
from pygments.formatters import HtmlFormatter

from chaos_utils.sphinx.unbroken import ConsoleLexer, Unbroken


@pytest.mark.parametrize(
    ("text", "unbroken"),
    [
        ("Third edition (2026-11-24)", ["2026-11-24"]),
        ("1,514 × 100", ["1,514 × 100"]),
        ("of 500 × 3–6, and 100 × 5 (46)", ["500 × 3–6", "100 × 5"]),
        ("divide by √ln 2 (× 1.2011).", ["(× 1.2011)"]),
        ("items × votes, page 3-4", []),
        ("as written: ``100 × 5``", []),
    ],
)
def test_a_date_a_product_or_a_size_stays_on_one_line(text, unbroken):
    document = new_document("", get_default_settings(Parser))
    Parser().parse(text, document)
    words = document.astext()
    Unbroken(document).run()
    assert [node.astext() for node in document.findall(nodes.inline)] == unbroken
    assert document.astext() == words


def test_an_option_of_a_command_is_an_element_that_the_stylesheet_keeps_whole():
    command = '$ # a-b -p\n$ chaos run crowd -p data=my-votes.csv --set-size=2 -p why="a -p b"\n'
    html = highlight(command, ConsoleLexer(), HtmlFormatter())
    assert re.findall(r'<span class=" ?-Option">([^<]*)</span>', html) == ["-p", "--set-size", "-p"]
