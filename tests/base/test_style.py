from itertools import combinations
from pathlib import Path

import pytest
from helpers.colours import contrast

from chaos_utils.base import style
from chaos_utils.datasets.catalogue import book_datasets, bundled_datasets

CSS = Path(__file__).parents[2] / "chaos_utils" / "assets" / "static" / "book.css"
LABELS = {label.name: label.colour for one in book_datasets() for label in one.classes}
PAGES = {"light": "#ffffff", "dark": "#121212"}


@pytest.mark.parametrize("mode", style.MODES)
def test_what_is_drawn_stands_out_from_the_page_and_labels_differ(mode):
    datasets = [one.colour for one in bundled_datasets()]
    for hue in (*LABELS.values(), *datasets, *style.HUES):
        assert contrast(getattr(hue, mode), PAGES[mode]) >= 3, hue
    least = {"accent": 3, "high": 3, "warning": 3, "text": 4.5, "muted": 4.5}
    for name, enough in least.items():
        assert contrast(style.PALETTES[mode][name], PAGES[mode]) >= enough, name
    for dataset in bundled_datasets():
        for one, other in combinations(dataset.classes, 2):
            assert getattr(one.colour, mode) != getattr(other.colour, mode)


@pytest.mark.parametrize("mode", style.MODES)
@pytest.mark.parametrize("n", [1, 30])
def test_each_system_of_a_plot_has_a_colour_of_its_own_that_stands_out(mode, n):
    hues = [getattr(hue, mode) for hue in style.distinct_hues(n)]
    assert len(set(hues)) == len(hues) == n
    assert min(contrast(hue, PAGES[mode]) for hue in hues) >= 3
    assert hues[:10] == [getattr(hue, mode) for hue in style.distinct_hues(10)][:n]


SHOWN = """() => [...document.querySelectorAll('.vote')].map(e => {
  const {color, backgroundColor} = getComputedStyle(e);
  return [color, backgroundColor].map(one => {
    const canvas = new OffscreenCanvas(1, 1).getContext('2d');
    canvas.fillStyle = one;
    canvas.fillRect(0, 0, 1, 1);
    return `rgb(${canvas.getImageData(0, 0, 1, 1).data.slice(0, 3).join(', ')})`;
  });
})"""


@pytest.mark.browser
@pytest.mark.parametrize(
    ("theme", "medium", "mode"),
    [("light", "screen", "light"), ("dark", "screen", "dark"), ("dark", "print", "light"),
     ("", "screen", "light")],
)  # fmt: skip
def test_votes_take_their_element_s_colours_and_text_that_stands_out(browser, theme, medium, mode):
    greys = [style.Hue(light=f"#{v:02x}{v:02x}{v:02x}", dark=f"#{v:02x}{v:02x}60")
             for v in range(100, 140, 3)]  # fmt: skip
    hues = [*LABELS.values(), *style.HUES, *greys]
    votes = "".join(
        f'<span class="vote" style="--light:{hue.light};--dark:{hue.dark};width:12%">7</span>'
        for hue in hues
    )
    page = browser.new_page()
    page.set_content(f'<html data-theme="{theme}"><style>{CSS.read_text()}</style>{votes}</html>')
    page.emulate_media(media=medium)
    shown = page.evaluate(SHOWN)
    page.close()
    assert len(shown) == len(hues)
    for hue, (text, ground) in zip(hues, shown, strict=True):
        stated = getattr(hue, mode)
        assert ground == f"rgb({', '.join(str(int(stated[i : i + 2], 16)) for i in (1, 3, 5))})"
        assert contrast(text, ground) >= 4.5, hue
