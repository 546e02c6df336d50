"""Texts that stay texts, in every reader of Markdown and HTML that the book has."""

import re

import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser
from nbconvert.filters.markdown_mistune import markdown2html_mistune

from chaos_utils.report.captions import caption_html, without_markup
from chaos_utils.report.literal import in_html, in_markdown
from chaos_utils.report.standalone import plain_roles

READERS = (
    create_md_parser(MdParserConfig(), RendererHTML).render,
    MarkdownIt("gfm-like").render,
    MarkdownIt().enable("table").render,
    lambda text: markdown2html_mistune(plain_roles(text)),
)
_SIGNS = [*"ab1 .,:;/-_*+=~`#|<>[](){}!&$\\'\"@?%é…", "\n", "http://a.b", "1. ", "&#42;"]
SIGNS = st.lists(st.sampled_from(_SIGNS), max_size=12).map("".join)


def words(html):
    return " ".join(BeautifulSoup(html, "html.parser").get_text().split())


@pytest.mark.parametrize(
    "place", ["{}", "> {}", "* {}", "so *{}*.", "<span>{}</span>", "`a` {} `b`"]
)
@pytest.mark.parametrize(
    "text",
    [
        "![a](https://b.c/d.png) [e](javascript:f)", "https://a.b/c www.d.e f@g.h", "- a", "1. a",
        "+ a", "    a", "=== a", "--- a", "a -- b", "# a", "__init__ _a_ snake_case", "a|b",
        "&lt;i&gt;", "{term}`a`", "{{a}}", "$x$ $$y$$", r"\(a\) \[b\]", "<img src=x>", "<!--",
        "~~a~~ **b**", "% a", "(a)=", "1) a", "12) a",
    ],
)  # fmt: skip
def test_markdown_shows_a_text_as_it_is(place, text):
    for read in READERS:
        shown = BeautifulSoup(read(place.format(in_markdown(text))), "html.parser")
        assert not shown.find_all(["a", "img", "ol", "table", "math", "h1", "h2", "del", "hr"])
        assert " ".join(text.split()) in words(str(shown))


@given(SIGNS)
def test_no_text_is_more_than_a_text(text):
    expected = " ".join(f"x {text} x".split())
    for read in READERS:
        assert words(read(f"x {in_markdown(text)} x")) == expected
    assert words(plain_roles(in_html(f"x {text} x"))) == expected
    assert words(plain_roles(caption_html(f"x {in_markdown(text)} x"))) == expected
    assert without_markup(f"x {in_markdown(text)} x") == expected


def test_what_is_plain_stays_readable():
    for text in ("gpt-4.1 (3 samples), 95%", "my_model", "a: b; c", "MNLI’s “votes”"):
        assert in_markdown(text) == text
    assert not re.search("&", in_markdown("snake_case-2"))
