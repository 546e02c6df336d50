"""The figures and tables of the last build: which there are, from which chapter."""

import json
import re
from pathlib import Path
from typing import Any

import yaml

from chaos_utils import paths
from chaos_utils.errors import ChaosError, did_you_mean
from chaos_utils.publish import citations, dependencies
from chaos_utils.report.runner import figures_of

Manifest = dict[str, Any]


def manifest_files() -> dict[str, Path]:
    """Return the manifest of everything that the chapters have made, by id.

    Chapters are in the book's order, and what one made in the registry's.

    Raises
    ------
    ChaosError
        If two notebooks make the same id.
    """
    found: dict[str, Path] = {}
    order = {id: place for place, id in enumerate(registered())}
    for chapter in dependencies.chapters():
        made = figures_of(paths.build() / "chapters" / chapter)
        for path in sorted(made, key=lambda path: order.get(path.stem, len(order))):
            if path.stem in found:
                raise ChaosError(f"{path.stem} is made by two notebooks")
            found[path.stem] = path
    return found


def registered() -> list[str]:
    """Return every id that was ever published, in the registry's order."""
    path = paths.project() / "book" / "figures.yml"
    return list(yaml.safe_load(path.read_text("utf-8")))


def read(id: str) -> Manifest:
    """Return the manifest of one figure or table.

    Raises
    ------
    ChaosError
        If nothing was built yet, or nothing of that id.
    """
    made = manifest_files()
    if not made:
        raise ChaosError("Nothing was built yet.", todo="run `chaos build` first")
    if id not in made and id in registered():
        raise ChaosError(f"The last build has no {id}.", todo="run `chaos build` again")
    if id not in made:
        raise ChaosError("No such figure or table.", found=id, expected=did_you_mean(id, made))
    manifest: Manifest = json.loads(made[id].read_text("utf-8"))
    return manifest


def listing() -> list[dict[str, Any]]:
    """Return a row for each id, registered or made: title, chapter, whether it was made."""
    made = manifest_files()
    sources = {name: _source(name) for name in dependencies.chapters()}
    rows = []
    for id in dict.fromkeys([*registered(), *made]):
        manifest = json.loads(made[id].read_text("utf-8")) if id in made else {}
        naming = (name for name, text in sources.items() if f'"{id}"' in text)
        rows.append(
            {
                "id": id,
                "title": citations.title_of(manifest) if manifest else None,
                "chapter": manifest.get("notebook") or next(naming, None),
                "made": id in made,
            }
        )
    return rows


def chapter_title(notebook: str) -> str:
    """Return the title of a chapter, from its notebook; its name where it has none."""
    found = re.search(r"^# # (.+)$", _source(notebook), flags=re.MULTILINE)
    return citations.without_markup(found[1]) if found else notebook


def _source(notebook: str) -> str:
    return (paths.notebooks() / f"{notebook}.py").read_text("utf-8")
