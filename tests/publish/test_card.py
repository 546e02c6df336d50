"""The picture on the card of a shared link."""

import io

import pytest
from PIL import Image

from chaos_utils.publish.card import SIZE, card_png


def drawn(*arguments):
    return Image.open(io.BytesIO(card_png(*arguments))).convert("L")


def ink(card, box):
    return sum(card.crop(box).point(lambda light: light < 128).get_flattened_data())


@pytest.mark.parametrize("size", [(2000, 500), (300, 1400), (20, 20)])
def test_a_figure_stands_whole_below_the_title(tmp_path, size):
    path = tmp_path / "figure.png"
    figure = Image.new("RGBA", size, (0, 0, 0, 0))
    figure.paste((0, 0, 0, 255), (0, 0, size[0], size[1]))
    figure.save(path)
    card = drawn("A book", path)
    assert card.size == SIZE
    left, top, right, bottom = card.crop((0, 130, *SIZE)).point(lambda x: 255 - x).getbbox()
    assert (right - left) / (bottom - top) == pytest.approx(size[0] / size[1], rel=0.02)
    assert min(left, SIZE[0] - right) >= 59
    assert bottom + 130 <= SIZE[1] - 29


def test_a_long_title_is_broken_into_lines():
    card = drawn("words of a title " * 6)
    assert ink(card, (60, 60, *SIZE)) > 0
    assert ink(card, (SIZE[0] - 58, 0, *SIZE)) == 0
    assert ink(card, (0, 115, *SIZE)) > 0 == ink(drawn("A title"), (0, 115, *SIZE))
