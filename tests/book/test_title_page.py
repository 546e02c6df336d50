"""The bars beside the title page's findings."""

from chaos_utils.base.authorship import read_citation
from chaos_utils.sphinx.title_page import bars_of, source_of


def test_bars_are_as_long_as_their_numbers_and_none_is_less_than_nothing():
    bars = [("*ours", "0.25"), ("theirs", "0.10"), ("worse", "−0.1")]
    assert bars_of(bars) == [
        ("ours", "0.25", 100.0, True),
        ("theirs", "0.10", 40.0, False),
        ("worse", "−0.1", 0.0, False),
    ]
    assert [length for _, _, length, _ in bars_of([("a", "80%"), ("b", "20%")])] == [100, 25]
    assert bars_of([("none", "0")]) == [("none", "0", 0.0, False)]


def test_the_command_that_clones_the_repository_is_that_of_the_citation():
    book = read_citation().model_copy(update={"repository": "https://example.org/a b.git"})
    assert source_of(book).astext() == "$ git clone 'https://example.org/a b.git'"
    asked = source_of(book.model_copy(update={"repository": ""})).astext()
    assert "does not say where its repository is" in asked
