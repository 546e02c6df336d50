"""One call that saves, captions and makes a figure citable."""

import base64
import io
import re
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from fontTools import subset
from matplotlib import cbook
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from chaos_utils.base import project, style
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_bytes, write_text
from chaos_utils.base.table import Table
from chaos_utils.report import artifacts, embedding
from chaos_utils.report.captions import caption_html, mark, names_in
from chaos_utils.report.literal import in_html
from chaos_utils.report.manifests import SYNTHETIC_NOTE, Manifest, picture_name

PNG_DPI = 300
_ROUNDING = 0.01  # points of type, and inches
_PREVIEW_SHRINKING = 3  # the picture in the notebook is smaller than the PNG by this factor
_POWER = re.compile(r"\$\\mathdefault\{(?:[\d.^{}−-]|\\times)+\}\$")
_COLOUR = re.compile(r"#[0-9a-f]{6}(?![\w-])")
# The bounds of a figure's panels, and the positions of its texts.
_Layout = tuple[list[tuple[float, float, float, float]], list[tuple[float, float]]]


def publish_figure(
    id: str,
    plot: Callable[[pd.DataFrame], Figure],
    table: Table,
    *,
    caption: str,
    alt: str,
    shown: pd.DataFrame | None = None,
    meanings: Mapping[str, str] | None = None,
) -> artifacts.Artifact | None:
    """Draw a figure from a table in light and dark, and write it in every format.

    Writes ``<id>.svg`` and ``<id>-dark.svg``, the same for phones (``<id>-narrow.svg``, …),
    ``.png`` (300 dpi), ``.pdf``, ``.csv`` (the data) and ``.json`` (the manifest) into the running
    notebook's folder.

    Parameters
    ----------
    id : str
        Such as ``fig-entropy``; it never changes once published.
    plot : callable
        Takes the table's rows, and is called for each width of the page (`style.is_narrow`); again
        in dark if the colours of the light picture cannot be exchanged (`in_dark`). The page shows
        the figure at its own size: at most `style.width()` wide, no type under `smallest_type`.
    table : Table
        All that is drawn: aggregates, no item's votes and no text of the datasets.
    caption : str
        MyST markup is allowed; its first sentence is the figure's title. On other votes than the
        book's, the neutral one of ``titles.yml`` takes its place.
    alt : str
        What a reader who cannot see the figure needs to know.
    shown : pandas.DataFrame, optional
        The rows that are drawn, if not all of the table's: cautions are about these.
    meanings : mapping of str, optional
        What columns of the table are, by name, for those who download the data.

    Returns
    -------
    Artifact or None
        Shows itself as the cell's result. None if the table has no rows: other votes than the
        book's may lack what the figure is about.

    Raises
    ------
    ChaosError
        If this cannot be an id, another of this notebook has it, the table, caption or alt text is
        missing, or a text is too small.
    """
    if not artifacts.has_rows(id, "figure", table, caption):
        return None
    if alt.strip() in ("", caption.strip()):
        raise ChaosError(
            "A figure needs an alt text that is not its caption.", where=f"figure {id!r}"
        )
    sizes = {False: (0, 0), True: (0, 0)}  # for a page and a phone, in pixels; set below
    draft = artifacts.describe(
        id, "figure", table, caption, alt,
        formats=["svg", "png", "pdf"], code=[plot.__module__, __name__], meanings=meanings,
        size=sizes[False], narrow_size=sizes[True],
    )  # fmt: skip
    rows = table.rows
    if shown is not None:
        rows = shown
        draft = draft.model_copy(update={"cautions": project.current().cautions(rows)})
    folder = artifacts.folder()
    marked: set[str] = set()
    for narrow in (False, True):
        with _drawing_settings("light", narrow) as hues, _marks(draft.cautions, marked):
            figure = plot(rows)
            layout = _fix_layout(figure)
            _check_legible(figure, id)
            _mark_synthetic(figure, table)
            light_svg = _vector(figure, "svg", embedding.svg(draft))
            write_bytes(folder / picture_name(id, "light", narrow), light_svg)
            if not narrow:
                preview = _save_downloads(figure, folder, draft)
            width, height = figure.get_size_inches()
            sizes[narrow] = round(96 * width), round(96 * height)
            plt.close(figure)
        dark_svg = in_dark(light_svg.decode(), hues)
        if dark_svg is None:
            with _drawing_settings("dark", narrow), _marks(draft.cautions, marked):
                figure = plot(rows)
                _fix_layout(figure, layout)
                _mark_synthetic(figure, table)
                dark_svg = _vector(figure, "svg", embedding.svg(draft)).decode()
                plt.close(figure)
        write_text(folder / picture_name(id, "dark", narrow), dark_svg)
    found = {"size": sizes[False], "narrow_size": sizes[True], "marked": sorted(marked)}
    manifest = draft.model_copy(update=found)
    artifacts.write(manifest, table)
    return artifacts.Artifact(manifest, _html(manifest, preview))


@contextmanager
def _drawing_settings(mode: style.Mode, narrow: bool) -> Iterator[set[style.Hue]]:
    """Set what a figure is drawn with; yield the set that collects the hues that it uses."""
    # Two dollar signs in a name are no formula; the powers at a logarithmic axis are.
    formulas = mock.patch.object(cbook, "is_math_text", _POWER.fullmatch)
    with style.drawing_look(mode, narrow) as hues, warnings.catch_warnings(), formulas:
        # A system's name may be in letters that the font lacks; the CSV has it.
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from")
        yield hues


@contextmanager
def _marks(names: Collection[str], marked: set[str]) -> Iterator[None]:
    """Mark these names wherever a figure writes them; add those that it writes to `marked`."""
    write = Text.set_text

    def set_text(text: Text, words: object) -> None:
        if isinstance(words, str):
            marked.update(names_in(words, names))
            words = mark(words, names)
        write(text, words)

    with mock.patch.object(Text, "set_text", set_text):
        yield


def in_dark(svg: str, hues: Collection[style.Hue]) -> str | None:
    """Return a light picture in dark colours; None where it must be drawn again.

    `hues` are the colours that it was drawn with. It must be drawn again if it has other colours,
    such as mixtures of two, or a raster, or a light colour that several hues with different dark
    colours share.
    """
    metadata, end_tag, drawing = svg.partition("</metadata>")
    used_colours = set(_COLOUR.findall(drawing))
    pairs = {(hue.light.lower(), hue.dark.lower()) for hue in hues}
    dark_of = dict(pairs)
    ambiguous = {light for light, dark in pairs if dark != dark_of[light]}
    if "<image" in drawing or ambiguous & used_colours or not used_colours <= dark_of.keys():
        return None
    return metadata + end_tag + _COLOUR.sub(lambda colour: dark_of[colour[0]], drawing)


def _check_legible(figure: Figure, id: str) -> None:
    """Refuse a figure that is wider than the page, or has type too small to read."""
    width = figure.get_size_inches()[0]
    if width > style.width() + _ROUNDING:
        raise ChaosError(
            "A figure is wider than the page.",
            where=f"figure {id!r}{' for phones' * style.is_narrow()}",
            found=f"{width:g} inches",
            expected=f"at most {style.width():g}",
        )
    small = [
        text
        for text in figure.findobj(Text)
        if text.get_visible()
        and text.get_text().strip()
        and float(text.get_fontsize()) < style.smallest_type() - _ROUNDING
    ]
    if small:
        raise ChaosError(
            "The type in a figure is too small to read.",
            where=f"figure {id!r}{' for phones' * style.is_narrow()}",
            found=f"{small[0].get_text()!r} in {small[0].get_fontsize():g} points",
            expected=f"at least {style.smallest_type():.3g}",
        )


def _fix_layout(figure: Figure, layout: _Layout | None = None) -> _Layout:
    """Put panels and common labels where a layout has them; without one, compute it. Return it.

    Panels' bounds are rounded: the solver's last digits vary, and an SVG's ids hash them.
    """
    if layout is None:
        figure.set_dpi(PNG_DPI)  # with fewer dots, hinted letters are narrower than drawn ones
        if engine := figure.get_layout_engine():
            engine.execute(figure)
        panels = []
        for axis in figure.axes:
            left, bottom, width, height = axis.get_position(original=True).bounds
            panels.append((round(left, 6), round(bottom, 6), round(width, 6), round(height, 6)))
        layout = panels, [text.get_position() for text in figure.texts]
    with plt.rc_context({"figure.constrained_layout.use": False}):
        figure.set_layout_engine(None)  # any other would draw again before each file is written
    panel_bounds, text_positions = layout
    for axis, bounds in zip(figure.axes, panel_bounds, strict=True):
        axis.set_position(bounds)
    for text, position in zip(figure.texts, text_positions, strict=True):
        text.set_position(position)
    return layout


def _save_downloads(figure: Figure, folder: Path, manifest: Manifest) -> bytes:
    """Write a figure's PDF and PNG, and return the smaller picture that the notebook shows."""
    with mock.patch.object(subset, "Options", _PdfFontOptions):
        write_bytes(folder / f"{manifest.id}.pdf", _vector(figure, "pdf", embedding.pdf(manifest)))
    figure.set_facecolor("white")
    figure.set_dpi(PNG_DPI)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    image = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    text_keys = embedding.png(manifest)
    write_bytes(folder / f"{manifest.id}.png", _png(image, PNG_DPI, text_keys))
    return _png(image.reduce(_PREVIEW_SHRINKING), PNG_DPI // _PREVIEW_SHRINKING, text_keys)


class _PdfFontOptions(subset.Options):
    """Keep a font's outlines; drop the rules for placing letters, which matplotlib has applied."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.drop_tables += ["GDEF", "GPOS", "GSUB", "MATH", "kern"]


def _vector(figure: Figure, format: str, metadata: dict[str, Any]) -> bytes:
    stream = io.BytesIO()
    figure.savefig(stream, format=format, metadata=metadata)
    return stream.getvalue()


def _png(image: Image.Image, dpi: int, text_keys: Mapping[str, str]) -> bytes:
    info = PngInfo()
    for name, text in text_keys.items():
        info.add_text(name, text)
    stream = io.BytesIO()
    image.save(stream, "png", dpi=(dpi, dpi), pnginfo=info)
    return stream.getvalue()


def _mark_synthetic(figure: Figure, table: Table) -> None:
    """Write across a figure of the synthetic sample that it is one."""
    if not table.synthetic:
        return
    figure.text(
        0.5,
        0.5,
        SYNTHETIC_NOTE.upper(),
        ha="center",
        va="center",
        rotation=20,
        fontsize=16 if style.is_narrow() else 30,
        fontweight="bold",
        alpha=0.35,
        color=style.colour("warning"),
    )


def _html(manifest: Manifest, png: bytes) -> str:
    source = base64.b64encode(png).decode()
    return (
        f'<figure id="{manifest.id}">'
        f'<img src="data:image/png;base64,{source}" alt="{in_html(manifest.alt)}" '
        f'style="max-width:100%">'
        f"<figcaption><b>{manifest.id}</b> {caption_html(manifest.caption)}</figcaption>"
        f"{artifacts.notes_html(manifest)}</figure>"
    )
