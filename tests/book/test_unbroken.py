"""Numbers and dates that end no line."""

import pytest
from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.parsers.rst import Parser
from docutils.utils import new_document

from chaos_utils.sphinx.unbroken import Unbroken


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
