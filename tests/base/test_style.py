import re
from itertools import combinations
from pathlib import Path

import pytest
from helpers.colours import contrast

from chaos_utils.base import style

CSS = Path(__file__).parents[1] / "book" / "_static" / "book.css"
LABELS = ("entailment", "neutral", "contradiction", "hypothesis 1", "hypothesis 2")
PAGES = {"light": "#ffffff", "dark": "#121212"}


@pytest.mark.parametrize("mode", style.MODES)
def test_what_is_drawn_stands_out_from_the_page(mode):
    palette = style.PALETTES[mode]
    for name in (*LABELS, "snli", "mnli", "alphanli", "accent", "high", "warning"):
        assert contrast(palette[name], PAGES[mode]) >= 3, name
    for name in ("text", "muted"):
        assert contrast(palette[name], PAGES[mode]) >= 4.5, name


@pytest.mark.parametrize("mode", style.MODES)
def test_labels_differ_from_each_other(mode):
    for one, other in combinations(LABELS, 2):
        assert style.PALETTES[mode][one] != style.PALETTES[mode][other]


def test_pages_and_figures_give_a_label_the_same_colour():
    blocks = re.findall(r'data-theme="(\w+)"\] \{(.*?)\}', CSS.read_text(), flags=re.DOTALL)
    assert {mode for mode, _ in blocks} == set(style.MODES)
    for mode, block in blocks:
        for label in LABELS:
            stated = re.search(rf"--{label.replace(' ', '-')}: (#\w+);", block)[1]
            assert stated == style.PALETTES[mode][label]


def test_colours_follow_the_look():
    assert style.colour("text") == style.PALETTES["light"]["text"]
    with style.look("dark"):
        assert style.colour("text") == style.PALETTES["dark"]["text"]
    assert style.colour("text") == style.PALETTES["light"]["text"]
