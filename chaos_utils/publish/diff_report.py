"""What `diff` has found, as lines of text and as one page with the pictures side by side."""

import base64
import io
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

from PIL import Image

from chaos_utils.publish.diff import Cell, Change, Difference, Fact, Picture, read_picture
from chaos_utils.report.captions import without_markup

TOLD = 5  # of each kind and figure, on a terminal
SHOWN = 100  # likewise on the page
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
        yield f"{what}: {'; '.join(names[:TOLD])}{_rest(names, TOLD)}"
    if change.cells:
        yield f"{_count(change)}, the largest changes first:"
    for cell in change.cells[:TOLD]:
        how = f"  ({_signed(cell)})" if cell.absolute is not None else ""
        yield f"  {cell.column}, {cell.row}: {cell.old or '–'} → {cell.new or '–'}{how}"
    if rest := _rest(change.cells, TOLD):
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
    summary = _summary(found) if found else "No difference"
    body = [f"<h1>What changed between two builds</h1><p>{summary}.</p>"]
    body += [
        f"<p>{what}: {', '.join(f'<code>{escape(id)}</code>' for id in ids)}.</p>"
        for what, ids in (("Added", found.added), ("Removed", found.removed))
        if ids
    ]
    if found.changed:
        entries = "".join(
            f'<li><a href="#{escape(change.id)}">{escape(change.id)}</a>: '
            f"{escape(without_markup(change.title))}</li>"
            for change in found.changed
        )
        body.append(f'<nav aria-label="What changed"><ul>{entries}</ul></nav>')
    body += [_section(change, old, new) for change in found.changed]
    return _PAGE.replace("BODY", "\n".join(body))


def _section(change: Change, old: Path, new: Path) -> str:
    parts = [
        f'<section id="{escape(change.id)}">'
        f"<h2>{escape(without_markup(change.title))} <code>{escape(change.id)}</code></h2>",
        _pictures(change, old, new),
        _facts(change.facts),
    ]
    for what, names in _names(change):
        listed = "; ".join(names[:SHOWN]) + _rest(names, SHOWN)
        parts.append(f"<p>{escape(what)}: {escape(listed)}</p>")
    parts.append(_cells(change))
    return "\n".join([*filter(None, parts), "</section>"])


def _pictures(change: Change, old: Path, new: Path) -> str:
    if change.picture is None:
        return ""
    shown = "".join(
        f'<figure><figcaption>{when}</figcaption><img alt="{when} picture of {escape(change.id)}" '
        f'src="{_data_uri(site / "figures" / f"{change.id}.png")}"></figure>'
        for when, site in (("Old", old), ("New", new))
    )
    return f'<div class="pair">{shown}</div><p>Picture: {escape(_apart(change.picture))}.</p>'


def _data_uri(path: Path) -> str:
    picture = read_picture(path)
    picture.thumbnail((_WIDTH, _WIDTH), Image.Resampling.LANCZOS)
    packed = io.BytesIO()
    picture.save(packed, "PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(packed.getvalue()).decode()}"


def _facts(facts: Sequence[Fact]) -> str:
    rows = ((fact.name, fact.old, fact.new) for fact in facts)
    return _table("What it says and was made from", ("what", "old", "new"), rows) if facts else ""


def _cells(change: Change) -> str:
    if not change.cells:
        return ""
    heading = ("row", "column", "old", "new", "change", "relative")
    rows = (
        (
            cell.row,
            cell.column,
            cell.old,
            cell.new,
            "" if cell.absolute is None else f"{cell.absolute:+.6g}",
            "" if cell.relative is None else f"{cell.relative:+.3%}",
        )
        for cell in change.cells[:SHOWN]
    )
    caption = f"{_count(change)}, the largest changes first{_rest(change.cells, SHOWN)}"
    return _table(caption, heading, rows)


def _table(caption: str, heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heading)
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f"<table><caption>{escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>What changed between two builds</title>
<style>
:root { color-scheme: light dark; --line: #d8dee4; --quiet: #59636e; --link: #0b4f80; }
@media (prefers-color-scheme: dark) {
 :root { --line: #3d444d; --quiet: #a5b1bd; --link: #8ccbf5; }
 body { background: #14181f; color: #e6edf3; }
}
body { font: 1rem/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 75rem; padding: 1rem; }
h1, h2 { line-height: 1.25; }
h2 { font-size: 1.25rem; border-top: 1px solid var(--line); padding-top: 1.5rem; margin-top: 2rem; }
h2, p, li { overflow-wrap: anywhere; }
h2 code { font-size: 0.8em; font-weight: normal; color: var(--quiet); }
a { color: var(--link); }
.pair { display: grid; gap: 1rem;
 grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); }
figure { margin: 0; }
figcaption, caption { color: var(--quiet); text-align: left; padding: 0.25rem 0; }
img { max-width: 100%; height: auto; background: #fff; border-radius: 0.25rem; }
.scroll { overflow-x: auto; max-height: 28rem; margin: 1rem 0; }
table { border-collapse: collapse; font-size: 0.875rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 1rem 0.25rem 0; max-width: 30rem;
 border-bottom: 1px solid var(--line); overflow-wrap: break-word; min-width: 5rem; }
tbody th { font-weight: normal; }
</style>
</head>
<body>
<main>
BODY
</main>
</body>
</html>
"""
