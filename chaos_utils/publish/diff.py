"""What changed between two built sites: the values behind their figures and tables."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from chaos_utils.base.errors import ChaosError
from chaos_utils.report.manifests import Manifest, read_manifest


@dataclass(frozen=True, slots=True)
class ChangedValue:
    """A value that differs between two sites; empty for a site that lacks its row or column.

    `row` is named by the table's key columns, such as ``dataset=snli, n_votes=10``. Where only one
    site has the figure or table, `row` and `column` are empty, and its value is ``published``.
    """

    id: str
    row: str
    column: str
    old: str
    new: str


def compare(old: Path, new: Path, *, tolerance: float = 0.0) -> list[ChangedValue]:
    """Compare two sites, which are folders such as ``_build/html``.

    The values of a figure or table are sorted by their difference, the largest first. Numbers that
    differ by at most `tolerance`, as a share of the larger one, count as the same.
    """
    before, after = _manifests(old), _manifests(new)
    was_synthetic, is_synthetic = (
        any(manifest.synthetic for manifest in site.values()) for site in (before, after)
    )
    if was_synthetic != is_synthetic:
        raise ChaosError(
            "Only one of the two sites was made from the synthetic sample: their differences mean "
            "nothing.",
            where=old if was_synthetic else new,
            found="a build from the synthetic sample",
            expected="two builds from data, or two from the sample",
        )
    changes = []
    for id in dict.fromkeys([*before, *after]):
        if id not in before or id not in after:
            values = ("published" if id in site else "" for site in (before, after))
            changes.append(ChangedValue(id, "", "", *values))
            continue
        keys = after[id].keys or before[id].keys
        old_cells, new_cells = (_cells(site[id], keys) for site in (before, after))
        cells = [*old_cells, *new_cells]
        pairs = {cell: (old_cells.get(cell, ""), new_cells.get(cell, "")) for cell in cells}
        differences = {cell: _relative_difference(*pair) for cell, pair in pairs.items()}
        changed = [cell for cell in pairs if differences[cell] > tolerance]
        changed.sort(key=differences.__getitem__, reverse=True)
        changes += [ChangedValue(id, *cell, *pairs[cell]) for cell in changed]
    return changes


def _manifests(site: Path) -> dict[str, Manifest]:
    """Return the manifest of each figure and table of a site, by id."""
    files = sorted(site.glob("figures/fig-*.json")) + sorted(site.glob("figures/tbl-*.json"))
    if not files:
        raise ChaosError(
            "This is not a built site of the book.",
            where=site,
            found="no figures/<id>.json in it" if site.is_dir() else "no such folder",
            expected="a folder such as _build/html",
        )
    return {path.stem: read_manifest(path) for path in files}


def _cells(manifest: Manifest, keys: Sequence[str]) -> dict[tuple[str, str], str]:
    """Return a table's values by row and column; rows without unique keys are numbered."""
    rows = [{name: _text(cell) for name, cell in row.items()} for row in manifest.data]
    names = [", ".join(f"{key}={row.get(key, '')}" for key in keys) for row in rows]
    if len(set(names)) < len(rows):
        names = [f"row {number}" for number in range(1, len(rows) + 1)]
    return {
        (name, column): text
        for name, row in zip(names, rows, strict=True)
        for column, text in row.items()
    }


def _text(cell: object) -> str:
    return "" if cell is None else str(cell)


def _relative_difference(old: str, new: str) -> float:
    """Return the difference of two numbers as a share of the larger one.

    It is infinite for other values that differ, and for a number beside NaN.
    """
    try:
        old_number, new_number = float(old), float(new)
    except ValueError:
        return 0.0 if old == new else math.inf
    if old == new or old_number == new_number:
        return 0.0
    difference = abs(new_number - old_number) / max(abs(old_number), abs(new_number))
    return math.inf if math.isnan(difference) else difference
