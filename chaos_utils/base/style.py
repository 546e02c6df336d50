"""One look for every figure: colours by label and task, in light and in dark."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, Literal

Mode = Literal["light", "dark"]
MODES: tuple[Mode, ...] = ("light", "dark")

# Told apart by people with any colour vision, by lightness too (after Okabe and Ito's set).
_LIGHT = {
    "entailment": "#0072b2",
    "neutral": "#c77f00",
    "contradiction": "#a8326f",
    "hypothesis 1": "#00795c",
    "hypothesis 2": "#7a4fb5",
    "snli": "#0072b2",
    "mnli": "#b5541c",
    "alphanli": "#00795c",
    "text": "#1f2328",
    "muted": "#59636e",
    "grid": "#d8dee4",
    "accent": "#b5541c",
    "low": "#f2f6fa",
    "high": "#0b4f80",
    "warning": "#b00020",
}
_DARK = {
    "entailment": "#5ab4e6",
    "neutral": "#f0b13c",
    "contradiction": "#e883b4",
    "hypothesis 1": "#3fc79f",
    "hypothesis 2": "#b596f0",
    "snli": "#5ab4e6",
    "mnli": "#f08a4b",
    "alphanli": "#3fc79f",
    "text": "#e6edf3",
    "muted": "#a5b1bd",
    "grid": "#3d444d",
    "accent": "#f08a4b",
    "low": "#1b2733",
    "high": "#8ccbf5",
    "warning": "#ff8a80",
}
PALETTES: Mapping[Mode, Mapping[str, str]] = MappingProxyType(
    {"light": MappingProxyType(_LIGHT), "dark": MappingProxyType(_DARK)}
)

_mode: ContextVar[Mode] = ContextVar("mode", default="light")


def colour(name: str) -> str:
    """Return the colour of a label, task or role in the look that is being drawn.

    Parameters
    ----------
    name : str
        In `PALETTES`, such as ``snli``, ``entailment`` or ``text``.

    Returns
    -------
    str
        As matplotlib takes it.
    """
    return PALETTES[_mode.get()][name]


@contextmanager
def look(mode: Mode) -> Iterator[None]:
    """Draw what is drawn in this block in the light or the dark look.

    Parameters
    ----------
    mode : {'light', 'dark'}
    """
    import matplotlib as mpl

    token = _mode.set(mode)
    try:
        with mpl.rc_context(_settings()):
            yield
    finally:
        _mode.reset(token)


def _settings() -> dict[Any, Any]:
    text, muted, grid = colour("text"), colour("muted"), colour("grid")
    return {
        "figure.constrained_layout.use": True,
        "figure.facecolor": "none",
        "savefig.facecolor": "none",
        "axes.facecolor": "none",
        "axes.edgecolor": muted,
        "axes.labelcolor": text,
        "axes.titlecolor": text,
        "axes.titlesize": 11,
        "axes.titleweight": "bold",
        "axes.labelsize": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": grid,
        "grid.linewidth": 0.6,
        "font.family": "DejaVu Sans",  # comes with matplotlib: the same bytes everywhere
        "font.size": 10,
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
