"""One look for every figure: colours by label and dataset, in light and in dark."""

from collections.abc import Iterator, Mapping, Sequence
from colorsys import hls_to_rgb
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import Field

from chaos_utils.base.validation import StrictModel

Mode = Literal["light", "dark"]
MODES: tuple[Mode, ...] = ("light", "dark")
_Colour = Annotated[str, Field(pattern=r"^#[0-9a-fA-F]{6}$", description="#rrggbb")]


class Hue(StrictModel):
    """A colour in the light and in the dark look, each ``#rrggbb``."""

    light: _Colour
    dark: _Colour


# Distinguishable with any colour vision, by lightness too (after Okabe and Ito's set).
HUES = tuple(
    Hue(light=light, dark=dark)
    for light, dark in (
        ("#0072b2", "#5ab4e6"),
        ("#c77f00", "#f0b13c"),
        ("#a8326f", "#e883b4"),
        ("#00795c", "#3fc79f"),
        ("#7a4fb5", "#b596f0"),
        ("#b5541c", "#f08a4b"),
        ("#4d5b66", "#b3bfc9"),
        ("#8a6d1f", "#d8c26a"),
        ("#2f5d9e", "#8fb4ee"),
        ("#7d3c2e", "#e0a18f"),
    )
)
BLUE, AMBER, PINK, GREEN, PURPLE, ORANGE = HUES[:6]
_SYSTEM_HUES = (ORANGE, BLUE, GREEN, PURPLE, PINK, AMBER, *HUES[6:])


def distinct_hues(n: int, first: Sequence[Hue] = _SYSTEM_HUES) -> list[Hue]:
    """Return `n` different colours, for the systems or the labels of one plot.

    The colours in `first` come first; any others are spaced evenly around the colour wheel.
    """
    n_others = n - len(first)
    turns = [k / n_others for k in range(n_others)]  # around the wheel, from 0 to 1
    others = [Hue(light=_hex_colour(turn, 0.33), dark=_hex_colour(turn, 0.72)) for turn in turns]
    return [*first, *others][:n]


def _hex_colour(turn: float, lightness: float) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in hls_to_rgb(turn, lightness, 0.55))


_ROLES: Mapping[str, Hue] = MappingProxyType(
    {
        "blue": BLUE,
        "amber": AMBER,
        "pink": PINK,
        "green": GREEN,
        "purple": PURPLE,
        "text": Hue(light="#1f2328", dark="#e6edf3"),
        "muted": Hue(light="#59636e", dark="#a5b1bd"),
        "grid": Hue(light="#d8dee4", dark="#3d444d"),
        "accent": ORANGE,
        "low": Hue(light="#f2f6fa", dark="#1b2733"),
        "high": Hue(light="#0b4f80", dark="#8ccbf5"),
        "warning": Hue(light="#b00020", dark="#ff8a80"),
    }
)
PALETTES: Mapping[Mode, Mapping[str, str]] = MappingProxyType(
    {
        mode: MappingProxyType({name: getattr(hue, mode) for name, hue in _ROLES.items()})
        for mode in MODES
    }
)

# Inches: the width of the book's text, and of a phone.
WIDE = 6.9
NARROW = 3.7
# Pixels in which pictures of these widths are shown, and the smallest type that is read there.
_SHOWN_WIDE, _SHOWN_NARROW = 662, 342
_SMALLEST_PIXELS = 11

_mode: ContextVar[Mode] = ContextVar("mode", default="light")
_narrow: ContextVar[bool] = ContextVar("narrow", default=False)
_used_hues: ContextVar[set[Hue] | None] = ContextVar("used_hues", default=None)


def is_narrow() -> bool:
    """Return whether a figure is being drawn for a phone: one column of panels, short labels."""
    return _narrow.get()


def width() -> float:
    """Return the width of a figure that is as wide as the page.

    Returns
    -------
    float
        In inches; less while a figure is being drawn for a phone.
    """
    return NARROW if is_narrow() else WIDE


def smallest_type() -> float:
    """Return the smallest size of type, in points, that is readable at the size that is shown."""
    shown = _SHOWN_NARROW if is_narrow() else _SHOWN_WIDE
    return _SMALLEST_PIXELS * 72 * width() / shown


def colour(name: str | Hue) -> str:
    """Return the colour of a role, label or dataset in the look that is being drawn.

    Parameters
    ----------
    name : str or Hue
        A role in `PALETTES`, such as ``text``, or the hue of a label or dataset.

    Returns
    -------
    str
        Such as ``#1b6ca8``.
    """
    hue = name if isinstance(name, Hue) else _ROLES[name]
    if (used_hues := _used_hues.get()) is not None:
        used_hues.add(hue)
    return str(getattr(hue, _mode.get()))


@contextmanager
def drawing_look(mode: Mode, narrow: bool = False) -> Iterator[set[Hue]]:
    """Draw the figures of this block in the light or the dark look, for a page or a phone.

    Yield a set to which `colour` adds each hue that the block asks for.
    """
    import matplotlib as mpl

    used_hues: set[Hue] = set()
    tokens = _mode.set(mode), _narrow.set(narrow), _used_hues.set(used_hues)
    try:
        with mpl.rc_context(_settings()):
            yield used_hues
    finally:
        _mode.reset(tokens[0])
        _narrow.reset(tokens[1])
        _used_hues.reset(tokens[2])


def _settings() -> dict[Any, Any]:
    """Return the settings of matplotlib for the current look and width."""
    text, muted, grid = colour("text"), colour("muted"), colour("grid")
    small = smallest_type()
    usual = max(8.5, small)
    return {
        "figure.figsize": (width(), 0.65 * width()),
        "figure.constrained_layout.use": True,
        "figure.facecolor": "none",
        "savefig.facecolor": "none",
        "axes.facecolor": "none",
        "axes.edgecolor": muted,
        "axes.labelcolor": text,
        "axes.titlecolor": text,
        "axes.titlesize": 9.5,
        "axes.titleweight": "bold",
        "axes.labelsize": usual,
        "figure.labelsize": usual,
        "xtick.labelsize": small,
        "ytick.labelsize": small,
        "legend.fontsize": small,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": grid,
        "grid.linewidth": 0.6,
        "font.family": "DejaVu Sans",  # comes with matplotlib: the same bytes everywhere
        "font.size": usual,
        "legend.frameon": False,
        "legend.labelcolor": text,
        "text.color": text,
        "xtick.color": muted,
        "ytick.color": muted,
        "xtick.labelcolor": text,
        "ytick.labelcolor": text,
        "svg.hashsalt": "chaos",  # element ids, and so the bytes, repeat
        "savefig.dpi": 200,  # of what is rasterized inside an SVG or a PDF
        "svg.fonttype": "path",
        "pdf.fonttype": 42,
    }
