"""Screenshots, compared so that fonts may differ a little and nothing may be missing; letters."""

import io
from pathlib import Path

import numpy as np
from matplotlib.text import Text
from PIL import Image, ImageChops, ImageFilter

WIDTH = 320
CLEAR = 16  # of 255: a difference that is seen after blurring
TOLERATED = 0.01  # of the pixels


def reduced(screenshot: bytes) -> Image.Image:
    """Return a screenshot as it is kept: small, in few colours."""
    picture = Image.open(io.BytesIO(screenshot)).convert("RGB")
    height = round(picture.height * WIDTH / picture.width)
    small = picture.resize((WIDTH, height), Image.Resampling.BOX)
    return small.quantize(32, dither=Image.Dither.NONE)


def difference(one: Image.Image, other: Image.Image) -> Image.Image:
    """Return how much two pictures of one size differ, pixel by pixel, blurred and grey."""
    blur = ImageFilter.GaussianBlur(2)
    blurred = (picture.convert("RGB").filter(blur) for picture in (one, other))
    return Image.fromarray(np.asarray(ImageChops.difference(*blurred)).max(axis=2))


def share_that_differs(one: Image.Image, other: Image.Image) -> float:
    """Return the share of pixels that differ clearly; 1 when the sizes differ."""
    if one.size != other.size:
        return 1.0
    return float((np.asarray(difference(one, other)) > CLEAR).mean())


def keep(folder: Path, name: str, taken: Image.Image, reference: Image.Image | None) -> None:
    """Leave a picture, its reference and their difference where a person can look at them."""
    folder.mkdir(parents=True, exist_ok=True)
    taken.save(folder / f"{name}.png")
    if reference is not None:
        reference.save(folder / f"{name}-reference.png")
        if reference.size == taken.size:
            difference(taken, reference).save(folder / f"{name}-difference.png")


def smallest_letters(figure):
    """Return the size of the smallest letters of a figure, in points."""
    figure.draw_without_rendering()
    return min(text.get_fontsize() for text in figure.findobj(Text) if text.get_text())
