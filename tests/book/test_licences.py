"""Every page that shows items of ChaosNLI says under which licence they are."""

import json
import re
from html import unescape

import pytest
from helpers.pages import unpacked

from chaos_utils.publish import licences

WORDS = 6  # shorter texts, such as "A man is sleeping.", may stand anywhere
GO_WITH_TEXTS = {"annotate.html", "explorer.html"}  # their scripts bring the texts
OTHERS = "_static/explorer/more-"


def text_of(path):
    """Return a file's text; that of the explorer's data unpacked."""
    text = path.read_text("utf-8")
    packed = re.search(r'^window\.\w+ = "[A-Za-z0-9+/=]+";$', text, re.MULTILINE)
    return json.dumps(unpacked(packed[0]), ensure_ascii=False) if packed else text


def words_of(text):
    return re.findall(r"\w+", unescape(text).lower())


def runs_of_words(words):
    return {tuple(words[start : start + WORDS]) for start in range(len(words) - WORDS + 1)}


@pytest.mark.slow
def test_pages_with_texts_of_items_carry_the_notice_and_no_others(real_checkout, released):
    texts = [text for votes in released for item in votes.texts for text in item.values()]
    long = [words for text in texts if len(words := words_of(text)) >= WORDS]
    starts = {tuple(words[:WORDS]): " ".join(words) for words in long}
    site = real_checkout / "_build" / "html"
    showing = set()
    for path in site.rglob("*"):
        if path.suffix not in {".html", ".js", ".json", ".csv", ".svg", ".ipynb", ".md", ".txt"}:
            continue
        words = words_of(re.sub(r"<[^>]*>", " ", text_of(path)))
        whole = " ".join(words)
        if any(starts[run] in whole for run in runs_of_words(words) & starts.keys()):
            showing.add(path.relative_to(site).as_posix())
    assert "chapters/disagreement.html" in showing
    # Datasets beside the book's, which the explorer loads when they are asked for, say so too.
    # Some have items of MNLI among their own.
    stated = set(licences.files_with_item_texts(site))
    beside = {name for name in showing | stated if name.startswith(OTHERS)}
    assert showing & beside <= stated
    assert (showing - beside) | GO_WITH_TEXTS == stated - beside
