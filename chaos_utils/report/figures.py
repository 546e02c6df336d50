"""One call that saves, captions and makes a figure citable."""

import base64
import io
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from chaos_utils.base import style
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_bytes
from chaos_utils.base.table import Table
from chaos_utils.report import artifacts, embedding

PNG_DPI = 300
_PREVIEW_DPI = 110
# Where a figure's panels are, and its texts.
_Places = tuple[list[tuple[float, float, float, float]], list[tuple[float, float]]]


def publish_figure(
    id: str,
    plot: Callable[[pd.DataFrame], Figure],
    table: Table,
    *,
    caption: str,
    alt: str,
) -> artifacts.Published:
    """Draw a figure from a table in light and dark, and write it in every format.

    Writes ``<id>.svg``, ``<id>-dark.svg``, ``.png`` (300 dpi), ``.pdf``, ``.csv`` (the data) and
    ``.json`` (the manifest) into the running notebook's folder.

    The id, ``fig-…``, never changes once published. `plot` takes the table's rows, and is called
    once for each look; the table holds all that is drawn: aggregates, no item's votes and no text
    of the datasets. The caption's first sentence is the figure's title, and MyST markup is
    allowed in it; `alt` is what a reader who cannot see the figure needs to know.
    """
    folder = artifacts.prepare(id, "figure", table, caption)
    if not alt.strip() or alt.strip() == caption.strip():
        raise ChaosError(
            "A figure needs an alt text that is not its caption.", where=f"figure {id!r}"
        )
    about = embedding.about(id, caption, alt, synthetic=table.synthetic)
    preview, places = b"", None
    for mode in style.MODES:
        with style.look(mode):
            figure = plot(_literal(table.rows))
            places = _fix_layout(figure, places)
            if table.synthetic:
                _mark_synthetic(figure)
            if mode == "light":
                preview = _save_light(figure, folder, about)
            else:
                _save(figure, folder / f"{id}-dark.svg", embedding.svg(about))
            width, height = figure.get_size_inches()
            plt.close(figure)
    manifest = artifacts.write(
        folder,
        id,
        "figure",
        table,
        caption,
        ["svg", "png", "pdf"],
        alt=" ".join(alt.split()),
        width=round(width * 96),
        height=round(height * 96),
    )
    return artifacts.Published(id, manifest, _html(manifest, preview))


def _literal(data: pd.DataFrame) -> pd.DataFrame:
    """Return the table with dollar signs escaped: matplotlib takes two of them for a formula."""
    texts = data.select_dtypes(exclude=["number", "bool", "datetime"])
    named = [name for name in texts if texts[name].astype(str).str.contains("$", regex=False).any()]
    if not named:
        return data
    return data.assign(**{name: data[name].replace(r"\$", r"\\$", regex=True) for name in named})


def _fix_layout(figure: Figure, places: _Places | None = None) -> _Places:
    """Put panels and common labels where they stand in the first look; return where that is.

    Panels' places are rounded: the solver's last digits vary, and an SVG's ids hash them.
    """
    if places is None:
        figure.draw_without_rendering()
        panels = []
        for axis in figure.axes:
            left, bottom, width, height = axis.get_position(original=True).bounds
            panels.append((round(left, 6), round(bottom, 6), round(width, 6), round(height, 6)))
        places = panels, [text.get_position() for text in figure.texts]
    with plt.rc_context({"figure.constrained_layout.use": False}):
        figure.set_layout_engine(None)  # any other would draw again before each file is written
    for axis, place in zip(figure.axes, places[0], strict=True):
        axis.set_position(place)
    for text, point in zip(figure.texts, places[1], strict=True):
        text.set_position(point)
    return places


def _save_light(figure: Figure, folder: Path, about: embedding.About) -> bytes:
    """Write a figure's files of the light look, and return the picture that the notebook shows."""
    metadata, white = embedding.png(about), "white"
    _save(figure, folder / f"{about.id}.svg", embedding.svg(about))
    _save(figure, folder / f"{about.id}.png", metadata, dpi=PNG_DPI, facecolor=white)
    _save(figure, folder / f"{about.id}.pdf", embedding.pdf(about))
    return _drawn(figure, "png", metadata, dpi=_PREVIEW_DPI, facecolor=white)


def _save(figure: Figure, path: Path, metadata: dict[str, Any], **options: Any) -> None:
    write_bytes(path, _drawn(figure, path.suffix[1:], metadata, **options))


def _drawn(figure: Figure, format: str, metadata: dict[str, Any], **options: Any) -> bytes:
    stream = io.BytesIO()
    figure.savefig(stream, format=format, metadata=metadata, **options)
    return stream.getvalue()


def _mark_synthetic(figure: Figure) -> None:
    figure.text(
        0.5,
        0.5,
        artifacts.SYNTHETIC_NOTE.upper(),
        ha="center",
        va="center",
        rotation=20,
        fontsize=30,
        fontweight="bold",
        alpha=0.35,
        color=style.colour("warning"),
    )


def _html(manifest: dict[str, Any], png: bytes) -> str:
    source = base64.b64encode(png).decode()
    return (
        f'<figure id="{manifest["id"]}">'
        f'<img src="data:image/png;base64,{source}" alt="{escape(manifest["alt"])}" '
        f'style="max-width:100%">'
        f"<figcaption><b>{manifest['id']}</b> {escape(manifest['caption'])}</figcaption></figure>"
    )
