"""The picture on the card that a shared link to the book gets: its title above a figure."""

import io
from pathlib import Path

import matplotlib as mpl
from PIL import Image, ImageDraw, ImageFont

from chaos_utils.base import style

SIZE = (1200, 630)  # what networks show
_MARGIN = 60
_LETTERS = 42  # pixels


def card_png(title: str, picture: Path | None = None) -> bytes:
    """Return a PNG of `SIZE`.

    Parameters
    ----------
    title : str
        The book's; it is broken into lines.
    picture : Path, optional
        A figure's PNG; what of it is clear becomes white.
    """
    card = Image.new("RGB", SIZE, "white")
    draw = ImageDraw.Draw(card)
    file = Path(mpl.get_data_path()) / "fonts" / "ttf" / "DejaVuSans-Bold.ttf"
    font, top = ImageFont.truetype(file, _LETTERS), _MARGIN
    for line in _lines(title, font):
        draw.text((_MARGIN, top), line, fill=style.PALETTES["light"]["text"], font=font)
        top += round(1.3 * _LETTERS)
    if picture is not None:
        _paste(card, picture, top + _MARGIN // 2)
    stream = io.BytesIO()
    card.save(stream, "PNG", optimize=True)
    return stream.getvalue()


def _lines(text: str, font: ImageFont.FreeTypeFont) -> list[str]:
    """Break a text where it would leave the card."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and font.getlength(longer) <= SIZE[0] - 2 * _MARGIN:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _paste(card: Image.Image, picture: Path, top: int) -> None:
    """Put a picture in the middle of the room that is left, as large as fits."""
    room = SIZE[0] - 2 * _MARGIN, SIZE[1] - top - _MARGIN // 2
    with Image.open(picture) as opened:
        drawn = opened.convert("RGBA")
    scale = min(room[0] / drawn.width, room[1] / drawn.height)
    drawn = drawn.resize((round(scale * drawn.width), round(scale * drawn.height)))
    left = (SIZE[0] - drawn.width) // 2
    card.paste(drawn, (left, top + (room[1] - drawn.height) // 2), drawn)
