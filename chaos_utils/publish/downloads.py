"""The files of a figure or table as the site offers them; those of a stale one say so."""

import csv
import io
import json
import re
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from chaos_utils.base import style

STALE_NOTE = "Stale"


def names(manifest: Mapping[str, Any]) -> list[str]:
    """Return the names of its files, the pictures for dark pages and phones beside the first."""
    id = manifest["id"]
    found = [f"{id}.{format}" for format in manifest["formats"]]
    if manifest["kind"] == "figure":
        found[1:1] = [f"{id}{end}.svg" for end in ("-dark", "-narrow", "-narrow-dark")]
    return found


def content(manifest: Mapping[str, Any], name: str) -> bytes:
    """Return the bytes of one of its `names`; those of a stale figure or table have a mark.

    The manifest is as `contents.load` returns it: with the folder that the files stand in.
    """
    made = (Path(manifest["folder"]) / name).read_bytes()
    if not manifest.get("stale"):
        return made
    mark = {".svg": _svg, ".csv": _csv, ".json": _json}[Path(name).suffix]
    return mark(made.decode(), manifest, name).encode()


def _svg(text: str, manifest: Mapping[str, Any], name: str) -> str:
    """Write the note across a picture, and before its title."""
    size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', text)
    assert size is not None  # matplotlib writes it
    x, y = float(size[1]) / 2, float(size[2]) / 2
    colour = style.PALETTES["dark" if name.endswith("-dark.svg") else "light"]["warning"]
    note = (
        f'<text x="{x:g}" y="{y:g}" transform="rotate(-20 {x:g} {y:g})" text-anchor="middle" '
        f'font-family="sans-serif" font-size="60" font-weight="bold" fill="{colour}" '
        f'opacity="0.5">{STALE_NOTE.upper()}</text>\n'
    )
    for tag in ("<title>", "<dc:title>"):  # the first of each is the picture's own
        text = text.replace(tag, f"{tag}{escape(STALE_NOTE)}: ", 1)
    head, end, tail = text.rpartition("</svg>")
    return head + note + end + tail


def _csv(text: str, manifest: Mapping[str, Any], name: str) -> str:
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*header, "stale"])
    writer.writerows([*row, "True"] for row in rows)
    return stream.getvalue()


def _json(text: str, manifest: Mapping[str, Any], name: str) -> str:
    said = {key: manifest[key] for key in ("stale", "caption", "formats")}
    return json.dumps(json.loads(text) | said, indent=1, ensure_ascii=False) + "\n"
