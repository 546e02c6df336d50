"""What a chapter depends on: its notebook, the modules it imports, its data.

Imports are read from the source without running it, so that the build knows them before
anything runs.
"""

import fnmatch
import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from chaos_utils.base import inputs, modules, paths
from chaos_utils.base.authorship import read_citation
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.record_keys import digest_of_record
from chaos_utils.base.table_usage import accesses_of
from chaos_utils.base.yaml_files import read_yaml
from chaos_utils.datasets import loading
from chaos_utils.datasets.catalogue import bundled_datasets, known_files, prediction_files
from chaos_utils.datasets.loading import (
    VoteFiles,
    datasets_of,
    find_votes,
    find_votes_on,
    is_missing,
    may_be_recorded,
)
from chaos_utils.datasets.sources import find

_RUNNER = f"{modules.PACKAGE}.report.runner"
# What every page of the site may show, beside the book's own folder.
SETTINGS = ("_config.yml", "_toc.yml", "CITATION.cff")
# A line of what the reference documents: a module, and its objects.
_DOCUMENTED = re.compile(r"^ {3}([\w.]+): \w", re.MULTILINE)
# Draws the explorer's points; npm installs it at the version that package-lock.json pins.
CHART_LIBRARY = "node_modules/chart.js/dist/chart.umd.js"


def chapters() -> list[str]:
    """Return the table of contents' notebooks, in order, without folder and suffix."""
    names = [name for name, _ in files()]
    return [name.removeprefix("chapters/") for name in names if name.startswith("chapters/")]


def files() -> list[tuple[str, int]]:
    """Return the pages of the table of contents, in order, and below how many others each is."""
    path = paths.project() / "_toc.yml"
    toc = read_yaml(path, "The table of contents")
    found = list(_files(toc, 0))
    named = isinstance(toc, dict) and "root" in toc
    if not named or not all(isinstance(name, str) for name, _ in found):
        raise ChaosError(
            "The table of contents cannot be read.",
            where=path,
            expected="`root: PAGE`, and `file: PAGE` for each other page",
        )
    return found


def _files(entry: object, depth: int) -> Iterator[tuple[str, int]]:
    if isinstance(entry, dict):
        for page in entry.keys() & {"root", "file"}:
            yield entry[page], depth
        for key, value in entry.items():
            yield from _files(value, depth + (key == "sections"))
    elif isinstance(entry, list):
        for value in entry:
            yield from _files(value, depth)


def modules_of(notebook: Path) -> list[Path]:
    """Return the files of this package that a notebook needs, directly or through others, sorted.

    A module brings the data files that stand beside it.
    """
    return _with_data(modules.transitive_imports(_imported(notebook)))


def _imported(notebook: Path) -> tuple[str, ...]:
    # What runs it decides how it comes out.
    return (_RUNNER, *modules.source_of(notebook, notebook=True).imports)


def modules_of_pages() -> list[Path]:
    """Return the files of this package, of which the pages are made or which they document."""
    root = paths.project()
    makers = [f"{modules.PACKAGE}.publish.{name}" for name in ("site", "pages")]
    imported = [*makers, *imported_by_pages()]
    for page in (root / "book").glob("*.md"):
        named = _DOCUMENTED.findall(page.read_text("utf-8"))
        imported += [f"{modules.PACKAGE}.{name}" for name in named]
    templates = (root / modules.PACKAGE).rglob("*.html")
    return sorted([*_with_data(modules.transitive_imports(imported)), *templates])


def imported_by_pages() -> list[str]:
    """Return the modules of this package that the book's Sphinx extension imports."""
    extension = (paths.project() / "book" / "_ext").rglob("*.py")
    return [name for path in extension for name in modules.source_of(path).imports]


def _with_data(files: Iterable[Path]) -> list[Path]:
    """Return files of modules, and the data files that stand beside them."""
    found = set(files)
    for path in list(found):
        beside = path.parent.iterdir()
        found.update(other for other in beside if other.suffix in modules.DATA_SUFFIXES)
    return sorted(found)


def data_of(notebook: Path, data: str) -> dict[str, Path]:
    """Return the data files that a chapter reads, for a value of its ``data`` parameter.

    Every chapter reads the votes; its modules say what else they read. The names, unlike the
    places, are the same on every machine. Which recorded tables it reads is known once it has run:
    see `records_read`.
    """
    found: dict[str, Path] = {}
    for files in _votes_here(data):
        found |= dict(zip(files.names, files.paths, strict=True))
        if files.described_by is not None:
            found[f"{inputs.OWN}{files.described_by.name}"] = files.described_by
    declares = modules.source_of(notebook, notebook=True).declares
    return found | _read_by(_imported(notebook), declares, synthetic=data == "sample")


def data_of_pages() -> dict[str, Path]:
    """Return the data files that pages read beside what chapters do, by name."""
    return _read_by(imported_by_pages(), ())


def _read_by(
    imports: Collection[str], declares: Collection[str], *, synthetic: bool = False
) -> dict[str, Path]:
    """Return the data files that modules read beside the votes asked for, by name.

    `declares` are the parameters for which some read. Beside synthetic votes, nothing is read that
    was published.
    """
    sources = {path: modules.source_of(path) for path in modules.transitive_imports(imports)}
    unasked = [
        path
        for path, one in sources.items()
        if one.reads_for and not {*one.reads_for} & {*declares}
    ]
    patterns = {
        pattern
        for path in modules.transitive_imports(imports, unasked)
        for pattern in sources[path].reads
    }
    package = paths.project() / modules.PACKAGE
    known = _files_of_results()
    known |= {
        f"{modules.PACKAGE}/{path.relative_to(package).as_posix()}": path
        for path in package.glob("*/*/*.csv")
    }
    known |= {} if synthetic else {name: path for name in known_files() if (path := find(name))}
    several = {
        "votes": [file.name for dataset in bundled_datasets() for file in dataset.files],
        "predictions": prediction_files(),
    }
    wanted = {name for one in patterns for name in several.get(one) or fnmatch.filter(known, one)}
    return {name: known[name] for name in sorted(wanted & known.keys())}


def _files_of_results() -> dict[str, Path]:
    """Return the files below results/ by name; recorded tables say by themselves who reads them.

    Git does not show what an editor or a command leaves for a while under a name with a dot.
    """
    ours = paths.results()
    found = {path.relative_to(ours): path for path in ours.rglob("*.*")}
    return {
        f"results/{name.as_posix()}": path
        for name, path in found.items()
        if name.parts[0] != paths.TABLES and not any(part.startswith(".") for part in name.parts)
    }


def check_available(notebook: Path, values: Mapping[str, object]) -> None:
    """Refuse, before a kernel starts, what a notebook needs data for that is not available.

    `values` holds all its parameters. A chapter whose tables are recorded is refused only if there
    are predictions of a reader's own, or a parameter differs from the book's.
    """
    data = values.get("data")
    if isinstance(data, str) and not may_be_recorded(data):
        find_votes(data)
    elif isinstance(data, str) and notebook.stem in chapters():
        from chaos_utils.report import parameters  # slow to import

        loading.check_available(values, parameters.resolve(notebook, {}))


def _votes_here(data: str) -> list[VoteFiles]:
    """Return where the votes stand that are available; those of the book may be missing."""
    if not may_be_recorded(data):
        return find_votes(data)
    return [find_votes_on(one.name) for one in datasets_of(data) if not is_missing(one)]


def digests(notebook: Path, data: str) -> dict[str, str]:
    """Return the SHA-256 of each thing that a chapter is made from, by a lasting name.

    These are the notebook, the modules that it needs, its data, the versions of libraries that its
    numbers may depend on, and the authors, whom its figures name.
    """
    code = _digests([notebook, *modules_of(notebook)])
    found = code | {name: _digest(path) for name, path in data_of(notebook, data).items()}
    said = {"CITATION.cff, authors": repr(read_citation().authors)}
    said |= {f"version of {name}": is_ for name, is_ in modules.library_versions().items()}
    texts = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in said.items()}
    return found | texts


def records_read(run: Path) -> dict[str, str]:
    """Return the digest of each recorded table that a run has read, as it was then, by name."""
    return {f"results/tables/{one.name}": one.sha256 for one in accesses_of(run) if one.sha256}


def digests_now(names: Iterable[str]) -> dict[str, str]:
    """Return the digest of each of these files that is there; a recorded table's has its key."""
    root, tables = paths.project(), paths.results() / paths.TABLES
    found = {name: root / name for name in names if (root / name).is_file()}
    return {
        name: digest_of_record(tables, path.relative_to(tables).as_posix())
        if path.is_relative_to(tables)
        else _digest(path)
        for name, path in found.items()
    }


def digests_of_pages() -> dict[str, str]:
    """Return what `digests` does, for the site: the chapters' records, and what is beside them."""
    data = {name: _digest(path) for name, path in data_of_pages().items()}
    runs = [paths.chapter_run(chapter) / paths.RECORD_FILE for chapter in chapters()]
    records = [path for path in runs if path.is_file()]
    return _digests([*pages(), *modules_of_pages(), *records]) | data


def _digests(files: Iterable[Path]) -> dict[str, str]:
    root = paths.project()
    return {path.relative_to(root).as_posix(): _digest(path) for path in files}


@cache  # chapters share most files
def _digest(path: Path) -> str:
    return inputs.digest(path)


def forget() -> None:
    """Read every source again when digests are next asked for."""
    _digest.cache_clear()
    modules.clear_cache()


def pages() -> list[Path]:
    """Return what the site is made of, beside the chapters, sorted."""
    root = paths.project()
    book = [
        path
        for path in (root / "book").rglob("*")
        if path.is_file()
        and not {"chapters", "__pycache__"} & set(path.parts)
        and not path.name.startswith(".")  # what editors and desktops leave
        and not path.name.endswith("~")
    ]
    optional = [root / CHART_LIBRARY] if (root / CHART_LIBRARY).is_file() else []
    named = [root / name for name in SETTINGS]
    return sorted([*book, *named, *optional])
