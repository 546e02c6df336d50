"""What changed between two built sites: numbers, pictures, and what they were made from.

Two sites are folders such as ``_build/html``. Numbers are compared in the CSV files, which hold
them to the last digit; pictures in the PNG files, pixel by pixel.
"""

import filecmp
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, UnidentifiedImageError

from chaos_utils.base.errors import ChaosError
from chaos_utils.publish.matching import Row, match, number, read_table

# Of 255, in any channel: what antialiasing leaves is below it, what an eye could see above.
VISIBLE = 8
_FIELDS = {
    "id": str,
    "title": str,
    "synthetic": bool,
    "formats": list,
    "parameters": dict,
    "software": dict,
    "inputs": list,
}
_TEXTS = ("kind", "notebook", "title", "caption", "alt", "display")
_NAMED = {"parameters": "parameter", "software": "version of"}


@dataclass(frozen=True, slots=True)
class Cell:
    """A value that changed; old and new are as the CSV files have them, empty if missing.

    `row` is the row's key, such as ``dataset=snli``, or its number. `absolute` is ``new − old``,
    and `relative` that as a share of ``|old|``; None where one is no number, and `relative` also
    where `old` is zero.
    """

    row: str
    column: str
    old: str
    new: str
    absolute: float | None
    relative: float | None


@dataclass(frozen=True, slots=True)
class Fact:
    """What was said of a figure or table, or what it was made from, and changed.

    `old` and `new` are empty where there was nothing.
    """

    name: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Picture:
    """How two pictures differ; sizes are width and height in pixels.

    `share` is that of the pixels that visibly differ, 0 to 1; None where the sizes differ.
    """

    old_size: tuple[int, int]
    new_size: tuple[int, int]
    share: float | None


@dataclass(frozen=True, slots=True)
class Change:
    """All that changed in one figure or table.

    Rows are given by their keys, and cells with the largest changes first. `compared` counts the
    values that both sites have, changed or not. `picture` is None where no pixel differs, or a site
    has no PNG.
    """

    id: str
    title: str
    facts: list[Fact]
    columns_added: list[str]
    columns_removed: list[str]
    rows_added: list[str]
    rows_removed: list[str]
    cells: list[Cell]
    compared: int
    picture: Picture | None


@dataclass(slots=True)
class Difference:
    """What changed between two sites, by id; `same` counts the figures and tables that did not."""

    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    changed: list[Change] = field(default_factory=list)
    same: int = 0

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


def compare(old: Path, new: Path, *, tolerance: float = 0.0) -> Difference:
    """Compare the figures and tables of two sites, which are folders such as ``_build/html``.

    Numbers that differ by at most `tolerance`, as a share of the larger one, count as the same.
    """
    before, after = _manifests(old), _manifests(new)
    _refuse_mixed(old, before, new, after)
    found = Difference(
        added=[id for id in after if id not in before],
        removed=[id for id in before if id not in after],
    )
    for id in before:
        if id not in after:
            continue
        change = _compare_one(old, before[id], new, after[id], tolerance)
        if change is None:
            found.same += 1
        else:
            found.changed.append(change)
    return found


def _manifests(site: Path) -> dict[str, dict[str, Any]]:
    files = sorted(site.glob("figures/fig-*.json")) + sorted(site.glob("figures/tbl-*.json"))
    if not files:
        raise ChaosError(
            "This is not a built site of the book.",
            where=site,
            found="no figures/<id>.json in it" if site.is_dir() else "no such folder",
            expected="a folder such as _build/html",
        )
    found = {}
    for path in files:
        try:
            found[path.stem] = json.loads(path.read_text("utf-8"))
            fault = _fault(found[path.stem], path.stem)
        except (ValueError, RecursionError) as caught:
            fault = f"{type(caught).__name__}: {caught}"
        if fault:
            raise ChaosError(
                "This file of the site is damaged.",
                where=path,
                found=fault,
                expected="the manifest of a figure or table",
                todo="build the site again",
            )
    return found


def _fault(manifest: object, id: str) -> str:
    """Return what a manifest lacks of what is compared; the id in it is part of paths."""
    if not isinstance(manifest, dict):
        return "no object"
    for name, kind in _FIELDS.items():
        if not isinstance(manifest.get(name), kind):
            return f"{name}: {json.dumps(manifest.get(name))}"
    if manifest["id"] != id:
        return f"id: {json.dumps(manifest['id'])}"
    for entry in manifest["inputs"]:
        if not isinstance(entry, dict) or not {"name", "sha256"} <= entry.keys():
            return f"inputs: {json.dumps(entry)}"
    return ""


def _refuse_mixed(
    old: Path, before: dict[str, dict[str, Any]], new: Path, after: dict[str, dict[str, Any]]
) -> None:
    synthetic = [
        site
        for site, manifests in ((old, before), (new, after))
        if any(manifest["synthetic"] for manifest in manifests.values())
    ]
    if len(synthetic) == 1:
        raise ChaosError(
            "Only one of the two sites was made from the synthetic sample; what they differ by "
            "means nothing.",
            where=synthetic[0],
            found="a build from the synthetic sample",
            expected="two builds from data, or two from the sample",
        )


def _compare_one(
    old: Path, before: Mapping[str, Any], new: Path, after: Mapping[str, Any], tolerance: float
) -> Change | None:
    id = before["id"]
    if all(_same_bytes(old, new, f"{id}.{kind}") for kind in ("json", "csv", "png")):
        return None
    tables = [read_table(site / "figures" / f"{id}.csv") for site in (old, new)]
    (old_columns, old_rows), (new_columns, new_rows) = tables
    columns = [name for name in old_columns if name in new_columns]
    # Tables of the first edition declare no keys.
    keys = after.get("keys") or before.get("keys") or []
    rows = match(keys, old_rows, new_rows)
    cells = [
        cell
        for name, old_row, new_row in rows.pairs
        for column in columns
        if (cell := _cell(name, column, old_row, new_row, tolerance))
    ]
    change = Change(
        id=id,
        title=after["title"],
        facts=list(_facts(before, after)),
        columns_added=[name for name in new_columns if name not in old_columns],
        columns_removed=[name for name in old_columns if name not in new_columns],
        rows_added=rows.added,
        rows_removed=rows.removed,
        cells=sorted(cells, key=_size, reverse=True),
        compared=len(rows.pairs) * len(columns),
        picture=_compare_pictures(*(site / "figures" / f"{id}.png" for site in (old, new)))
        if "png" in before["formats"] and "png" in after["formats"]
        else None,
    )
    unchanged = not (
        change.facts
        or change.columns_added
        or change.columns_removed
        or change.rows_added
        or change.rows_removed
        or change.cells
        or change.picture
    )
    return None if unchanged else change


def _same_bytes(old: Path, new: Path, name: str) -> bool:
    """Return whether a file is the same in both sites, or in neither."""
    one, other = (site / "figures" / name for site in (old, new))
    if not (one.is_file() and other.is_file()):
        return not one.is_file() and not other.is_file()
    return filecmp.cmp(one, other, shallow=False)


def _cell(name: str, column: str, old: Row, new: Row, tolerance: float) -> Cell | None:
    before, after = old[column], new[column]
    if before == after:
        return None
    a, b = number(before), number(after)
    if a is None or b is None:
        return Cell(name, column, before, after, None, None)
    if a == b or abs(b - a) <= tolerance * max(abs(a), abs(b)):
        return None
    absolute = b - a
    if not math.isfinite(absolute):
        return Cell(name, column, before, after, None, None)
    return Cell(name, column, before, after, absolute, absolute / abs(a) if a else None)


def _size(cell: Cell) -> tuple[float, float]:
    """Return what cells are ordered by; what has no relative change goes before all that has."""
    relative = math.inf if cell.relative is None else abs(cell.relative)
    return relative, math.inf if cell.absolute is None else abs(cell.absolute)


def _facts(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Fact]:
    for name in _TEXTS:
        old, new = before.get(name), after.get(name)
        if old != new and name == "display":
            yield Fact("table as it is shown", "one", "another")
        elif old != new:
            yield Fact(name, str(old or ""), str(new or ""))
    for name, called in _NAMED.items():
        yield from _changed_entries(called, before[name], after[name])
    digests = (
        {entry["name"]: entry["sha256"] for entry in manifest["inputs"]}
        for manifest in (before, after)
    )
    yield from _changed_entries("input", *digests)


def _changed_entries(called: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Fact]:
    for name in dict.fromkeys([*old, *new]):
        if name not in new or name not in old or old[name] != new[name]:
            sides = (str(side[name]) if name in side else "" for side in (old, new))
            yield Fact(f"{called} {name}", *sides)


def _compare_pictures(old: Path, new: Path) -> Picture | None:
    """Return how two pictures differ; None where no pixel does."""
    before, after = (read_picture(path) for path in (old, new))
    if before.size != after.size:
        return Picture(before.size, after.size, None)
    apart = np.abs(np.asarray(before, np.int16) - np.asarray(after, np.int16)).max(axis=2)
    if not apart.any():
        return None
    return Picture(before.size, after.size, float((apart > VISIBLE).mean()))


def read_picture(path: Path) -> Image.Image:
    """Return a PNG's pixels as RGB; a ChaosError says that it is damaged."""
    try:
        with Image.open(path) as picture:
            return picture.convert("RGB")
    except (UnidentifiedImageError, OSError, SyntaxError, Image.DecompressionBombError) as fault:
        raise ChaosError(
            "This picture cannot be read.",
            where=path,
            found=str(fault),
            todo="build the site again",
        ) from fault
