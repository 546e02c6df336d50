import re
from itertools import combinations
from pathlib import Path

import pytest
from helpers.colours import contrast

from chaos_utils.base import style
from chaos_utils.datasets.catalogue import book_datasets, known_datasets

CSS = Path(__file__).parents[2] / "book" / "_static" / "book.css"
LABELS = {label.name: label.colour for one in book_datasets() for label in one.classes}
PAGES = {"light": "#ffffff", "dark": "#121212"}


@pytest.mark.parametrize("mode", style.MODES)
def test_what_is_drawn_stands_out_from_the_page(mode):
    palette = style.PALETTES[mode]
    datasets = [one.colour for one in known_datasets()]
    for hue in (*LABELS.values(), *datasets, *style.HUES):
        assert contrast(getattr(hue, mode), PAGES[mode]) >= 3, hue
    for name in ("accent", "high", "warning"):
        assert contrast(palette[name], PAGES[mode]) >= 3, name
    for name in ("text", "muted"):
        assert contrast(palette[name], PAGES[mode]) >= 4.5, name


@pytest.mark.parametrize("mode", style.MODES)
def test_labels_differ_from_each_other(mode):
    for dataset in known_datasets():
        for one, other in combinations(dataset.classes, 2):
            assert getattr(one.colour, mode) != getattr(other.colour, mode)


def test_pages_and_figures_give_a_label_the_same_colour():
    blocks = re.findall(r'data-theme="(\w+)"\] \{(.*?)\}', CSS.read_text(), flags=re.DOTALL)
    assert {mode for mode, _ in blocks} == set(style.MODES)
    for mode, block in blocks:
        for label in LABELS:
            stated = re.search(rf"--{label.replace(' ', '-')}: (#\w+);", block)[1]
            assert stated == getattr(LABELS[label], mode)


def test_colours_follow_the_look():
    assert style.colour("text") == style.PALETTES["light"]["text"]
    with style.look("dark"):
        assert style.colour("text") == style.PALETTES["dark"]["text"]
    assert style.colour("text") == style.PALETTES["light"]["text"]
