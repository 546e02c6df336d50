"""What `diff` has found, as lines of text and as one page with the pictures side by side."""

import base64
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from PIL import Image

from chaos_utils.publish import templating
from chaos_utils.publish.diff import Cell, Change, Difference, Fact, Picture, read_picture
from chaos_utils.report.captions import without_markup

SHORT = 5  # of each kind and figure, on a terminal
LONG = 100  # likewise on the page
_WIDTH = 1200  # of the page's pictures, in pixels at most
_LONG = 64  # characters of a text
_BEFORE = 20  # of which before it changes


def lines(found: Difference) -> Iterator[str]:
    """Yield what changed, in lines for a terminal."""
    if not found:
        yield f"no difference: {found.same} figures and tables are the same"
        return
    yield _summary(found)
    yield from (f"removed: {id}" for id in found.removed)
    yield from (f"added: {id}" for id in found.added)
    for change in found.changed:
        yield ""
        yield f"{change.id}: {without_markup(change.title)}"
        yield from (f"  {line}" for line in _described(change))


def _summary(found: Difference) -> str:
    return (
        f"{len(found.changed)} changed, {len(found.added)} added, {len(found.removed)} removed, "
        f"{found.same} the same"
    )


def _described(change: Change) -> Iterator[str]:
    for fact in change.facts:
        yield f"{fact.name}: {' → '.join(_cut(fact))}"
    for what, names in _names(change):
        yield f"{what}: {'; '.join(names[:SHORT])}{_rest(names, SHORT)}"
    if change.cells:
        yield f"{_count(change)}, the largest changes first:"
    for cell in change.cells[:SHORT]:
        how = f"  ({_signed(cell)})" if cell.absolute is not None else ""
        yield f"  {cell.column}, {cell.row}: {cell.old or '–'} → {cell.new or '–'}{how}"
    if rest := _rest(change.cells, SHORT):
        yield f" {rest}"
    if change.picture:
        yield f"picture: {_apart(change.picture)}"


def _names(change: Change) -> Iterator[tuple[str, list[str]]]:
    for what, names in (
        ("columns added", change.columns_added),
        ("columns removed", change.columns_removed),
        ("rows added", change.rows_added),
        ("rows removed", change.rows_removed),
    ):
        if names:
            yield f"{len(names)} {what}", names


def _count(change: Change) -> str:
    return f"{len(change.cells)} of {change.compared} values changed"


def _rest(items: Sequence[object], limit: int) -> str:
    return f" … and {len(items) - limit} more" if len(items) > limit else ""


def _cut(fact: Fact) -> list[str]:
    """Return what stood there and stands there now; of long texts, from where they part."""
    pairs = enumerate(zip(fact.old, fact.new, strict=False))
    parting = next((place for place, (old, new) in pairs if old != new), 0)
    start = max(0, parting - _BEFORE)
    return [_shorten(text, start) if text else "none" for text in (fact.old, fact.new)]


def _shorten(text: str, start: int) -> str:
    if len(text) <= _LONG:
        return text
    end = start + _LONG
    return f"{'…' * (start > 0)}{text[start:end]}{'…' * (end < len(text))}"


def _signed(cell: Cell) -> str:
    share = "" if cell.relative is None else f", {cell.relative:+.3%}"
    return f"{cell.absolute:+.6g}{share}"


def _apart(picture: Picture) -> str:
    if picture.share is None:
        sizes = (f"{width} × {height}" for width, height in (picture.old_size, picture.new_size))
        return f"another size, {' → '.join(sizes)} pixels"
    if picture.share == 0:
        return "differs, but not visibly"
    return f"{picture.share:.2%} of the pixels differ visibly"


def page(found: Difference, old: Path, new: Path) -> str:
    """Return one HTML page with old and new side by side; it needs no other file.

    The pictures are taken from the two sites; all text is escaped.
    """
    sites = {"Old": old, "New": new}
    return templating.render(
        "diff",
        found=found,
        summary=_summary(found) if found else "No difference",
        sections=[
            {
                "change": change,
                "apart": _apart(change.picture) if change.picture else "",
                "pictures": {
                    when: _data_uri(site / "figures" / f"{change.id}.png")
                    for when, site in sites.items()
                    if change.picture
                },
                "names": [
                    f"{what}: {'; '.join(names[:LONG])}{_rest(names, LONG)}"
                    for what, names in _names(change)
                ],
                "count": f"{_count(change)}, the largest changes first{_rest(change.cells, LONG)}",
                "cells": change.cells[:LONG],
            }
            for change in found.changed
        ],
    )


def _data_uri(path: Path) -> str:
    picture = read_picture(path)
    picture.thumbnail((_WIDTH, _WIDTH), Image.Resampling.LANCZOS)
    packed = io.BytesIO()
    picture.save(packed, "PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(packed.getvalue()).decode()}"
