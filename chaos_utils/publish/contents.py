"""The figures and tables of the last build: which there are, from which chapter."""

from pathlib import Path
from typing import Any

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError, did_you_mean
from chaos_utils.base.modules import read_source
from chaos_utils.publish import dependencies, registry, staleness
from chaos_utils.report.captions import title_of
from chaos_utils.report.manifests import Manifest, figures_of, read_manifest


def manifest_files() -> dict[str, Path]:
    """Return the manifest's file of each figure and table that the chapters have made, by id.

    Chapters are in the book's order, the figures and tables of a chapter in the registry's.
    """
    files: dict[str, Path] = {}
    order = {id: index for index, id in enumerate(registry.read_registry().ids)}
    for chapter in dependencies.chapters():
        manifests = figures_of(paths.chapter_run(chapter))
        for path in sorted(manifests, key=lambda path: order.get(path.stem, len(order))):
            if path.stem in files:
                raise ChaosError(f"{path.stem} is made by two notebooks")
            files[path.stem] = path
    return files


def load() -> dict[str, Manifest]:
    """Return the manifest of each figure and table that the chapters have made, by id."""
    return {id: _load(path) for id, path in manifest_files().items()}


def _load(path: Path) -> Manifest:
    """Read a manifest, which must be in the folder of the chapter that made it."""
    manifest = read_manifest(path)
    if path != file_of(manifest):
        raise ChaosError(
            "A manifest is not in its place.",
            where=path,
            found=f"{manifest.id}, made by {manifest.notebook}",
            todo="run `chaos build --force`",
        )
    return manifest


def file_of(manifest: Manifest, name: str = "") -> Path:
    """Return a file of a figure or table by its `name`, by default its manifest."""
    return paths.chapter_run(manifest.notebook) / paths.FIGURES / (name or f"{manifest.id}.json")


def read(id: str) -> Manifest:
    """Return the manifest of one figure or table."""
    files, registered = manifest_files(), registry.read_registry().ids
    if id not in files and id not in registered:
        all_ids = {*files, *registered}
        raise ChaosError("No such figure or table.", found=id, expected=did_you_mean(id, all_ids))
    if not files:
        raise ChaosError("Nothing has been built yet.", todo="run `chaos build` first")
    if id not in files:
        raise ChaosError(f"The last build has no {id}.", todo="run `chaos build` again")
    return _load(files[id])


def current_id(id: str) -> str:
    """Return the id that replaces one that has moved; any other id as it is."""
    redirect = registry.read_registry().redirects.get(id)
    if redirect is None:
        return id
    if redirect.withdrawn:
        raise ChaosError(f"{id} was withdrawn.", found=redirect.withdrawn)
    return redirect.moved_to


def list_ids() -> list[dict[str, Any]]:
    """Return a row for each id that was ever published or made.

    A row has ``id``; ``title`` (for a redirect, the new id or the reason) and ``chapter``, each
    None where unknown; ``state`` (``made``, ``recorded``, ``stale``, ``synthetic``, ``not made``,
    ``moved`` or ``withdrawn``); and ``changed``, the files whose change makes it stale.
    """
    figure_registry = registry.read_registry()
    manifests = load()
    sources = {name: _source(name) for name in dependencies.chapters()}
    changed_files = {name: staleness.changed_since(name) for name in sources}
    rows = []
    for id in dict.fromkeys([*figure_registry.ids, *manifests]):
        manifest = manifests.get(id)
        chapters_with_id = (name for name, text in sources.items() if f'"{id}"' in text)
        chapter = manifest.notebook if manifest else next(chapters_with_id, None)
        changed = changed_files.get(chapter, []) if manifest and chapter else []
        rows.append(
            {
                "id": id,
                "title": manifest.name if manifest else None,
                "chapter": chapter,
                "state": "stale" if changed else _state(manifest),
                "changed": changed,
            }
        )
    for id, redirect in figure_registry.redirects.items():
        state = "withdrawn" if redirect.withdrawn else "moved"
        title = redirect.withdrawn or f"now {redirect.moved_to}"
        rows.append({"id": id, "title": title, "chapter": None, "state": state, "changed": []})
    return rows


def _state(manifest: Manifest | None) -> str:
    if manifest is None:
        return "not made"
    if manifest.synthetic:
        return "synthetic"
    return "recorded" if manifest.recorded else "made"


def chapter_title(notebook: str) -> str:
    """Return the title of a chapter, without markup, by its notebook's name."""
    return title_of(paths.notebooks() / f"{notebook}.py")


def _source(notebook: str) -> str:
    return read_source(paths.notebooks() / f"{notebook}.py")
