"""Every page that shows items of ChaosNLI says under which licence they are."""

import re
from html import unescape

import pytest

from chaos_utils.publish import licences

WORDS = 6  # shorter texts, such as "A man is sleeping.", may stand anywhere


def words_of(text):
    return re.findall(r"\w+", unescape(text).lower())


def runs_of_words(words):
    return {tuple(words[start : start + WORDS]) for start in range(len(words) - WORDS + 1)}


@pytest.mark.slow
def test_pages_with_texts_of_items_carry_the_notice_and_no_others(real_checkout, released):
    texts = [text for opinions in released for item in opinions.texts for text in item.values()]
    long = [words for text in texts if len(words := words_of(text)) >= WORDS]
    starts = {tuple(words[:WORDS]): " ".join(words) for words in long}
    site = real_checkout / "_build" / "html"
    showing = set()
    for path in site.rglob("*"):
        if path.suffix not in {".html", ".js", ".json", ".csv", ".svg", ".ipynb", ".md", ".txt"}:
            continue
        words = words_of(re.sub(r"<[^>]*>", " ", path.read_text("utf-8")))
        whole = " ".join(words)
        if any(starts[run] in whole for run in runs_of_words(words) & starts.keys()):
            showing.add(path.relative_to(site).as_posix())
    assert "chapters/annotations.html" in showing
    assert showing == set(licences.holding_item_texts(site))
