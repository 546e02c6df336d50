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
# Files outside of the book's folder that any page may show.
SETTINGS = ("_config.yml", "_toc.yml", "CITATION.cff")
# A line of the reference page: a module, and the objects of it that are documented.
_DOCUMENTED = re.compile(r"^ {3}([\w.]+): \w", re.MULTILINE)
# Draws the explorer's points; npm installs it at the version that package-lock.json pins.
CHART_LIBRARY = "node_modules/chart.js/dist/chart.umd.js"


def chapters() -> list[str]:
    """Return the table of contents' notebooks, in order, without folder and suffix."""
    names = [name for name, _ in files()]
    return [name.removeprefix("chapters/") for name in names if name.startswith("chapters/")]


def files() -> list[tuple[str, int]]:
    """Return the pages of the table of contents in order, each with its depth in it."""
    path = paths.project() / "_toc.yml"
    toc = read_yaml(path, "The table of contents")
    entries = list(_files(toc, 0))
    has_root = isinstance(toc, dict) and "root" in toc
    if not has_root or not all(isinstance(name, str) for name, _ in entries):
        raise ChaosError(
            "The table of contents cannot be read.",
            where=path,
            expected="`root: PAGE`, and `file: PAGE` for each other page",
        )
    return entries


def _files(entry: object, depth: int) -> Iterator[tuple[str, int]]:
    """Yield each page in an entry of the table of contents, with its depth."""
    if isinstance(entry, dict):
        for page in entry.keys() & {"root", "file"}:
            yield entry[page], depth
        for key, value in entry.items():
            yield from _files(value, depth + (key == "sections"))
    elif isinstance(entry, list):
        for value in entry:
            yield from _files(value, depth)


def modules_of(notebook: Path) -> list[Path]:
    """Return the files of the modules that a notebook imports, also indirectly, sorted.

    These are modules of this package, and the data files beside them.
    """
    return _with_data(modules.transitive_imports(_imported_by(notebook)))


def _imported_by(notebook: Path) -> tuple[str, ...]:
    """Return the modules that a notebook imports, and the runner, on which its output depends."""
    return (_RUNNER, *modules.source_of(notebook, notebook=True).imports)


def modules_of_pages() -> list[Path]:
    """Return the files of this package that make the pages or are documented on them, sorted."""
    root = paths.project()
    imported = [f"{modules.PACKAGE}.publish.site", *imported_by_pages()]
    for page in (root / "book").glob("*.md"):
        documented = _DOCUMENTED.findall(page.read_text("utf-8"))
        imported += [f"{modules.PACKAGE}.{name}" for name in documented]
    return sorted([*_with_data(modules.transitive_imports(imported)), *assets()])


def assets() -> list[Path]:
    """Return the files of this package that pages are made with: templates, styles, scripts."""
    package = paths.project() / modules.PACKAGE
    own = (path for path in (package / "assets").rglob("*") if path.is_file())
    return sorted([*own, *(package / "publish" / "templates").glob("*.html")])


def imported_by_pages() -> list[str]:
    """Return the modules of this package that make the pages, and what `book/_ext` imports."""
    extension = (paths.project() / "book" / "_ext").rglob("*.py")
    own = [name for path in extension for name in modules.source_of(path).imports]
    common = (paths.project() / modules.PACKAGE / "sphinx").glob("*.py")
    return [f"{modules.PACKAGE}.sphinx.{path.stem}" for path in common] + own


def _with_data(files: Iterable[Path]) -> list[Path]:
    """Return the files of modules, and the data files beside them, sorted."""
    modules_and_data = set(files)
    for path in list(modules_and_data):
        siblings = path.parent.iterdir()
        modules_and_data.update(
            sibling for sibling in siblings if sibling.suffix in modules.DATA_SUFFIXES
        )
    return sorted(modules_and_data)


def data_of(notebook: Path, data: str | None) -> dict[str, Path]:
    """Return the data files that a chapter reads, by name, for a value of its ``data`` parameter.

    None stands for a chapter without this parameter.

    Every chapter reads the votes; its modules say what else they read. The names, unlike the
    paths, are the same on every machine. The recorded tables that it reads are not among them:
    they are known once it has run (`records_read`).
    """
    data_files: dict[str, Path] = {}
    for files in _available_votes(data) if data is not None else ():
        data_files |= dict(zip(files.names, files.paths, strict=True))
        if files.described_by is not None:
            data_files[f"{inputs.OWN}{files.described_by.name}"] = files.described_by
    declares = modules.source_of(notebook, notebook=True).declares
    return data_files | _read_by(_imported_by(notebook), declares, synthetic=data == "sample")


def data_of_pages() -> dict[str, Path]:
    """Return the data files that pages read in addition to those of chapters, by name."""
    return _read_by(imported_by_pages(), ())


def _read_by(
    imports: Collection[str], declares: Collection[str], *, synthetic: bool = False
) -> dict[str, Path]:
    """Return the data files that modules read in addition to a chapter's votes, by name.

    `declares` are the notebook's parameters: a module that reads its files only for certain
    parameters is left out where none of them is declared. With `synthetic` votes, no published file
    is read.
    """
    sources = {path: modules.source_of(path) for path in modules.transitive_imports(imports)}
    unused = [
        path
        for path, source in sources.items()
        if source.reads_for and not {*source.reads_for} & {*declares}
    ]
    patterns = {
        pattern
        for path in modules.transitive_imports(imports, unused)
        for pattern in sources[path].reads
    }
    package = paths.project() / modules.PACKAGE
    available = _files_of_results()
    available |= {
        f"{modules.PACKAGE}/{path.relative_to(package).as_posix()}": path
        for path in package.glob("*/*/*.csv")
    }
    if not synthetic:
        available |= {name: path for name in known_files() if (path := find(name))}
    names_by_kind = {
        "votes": [file.name for dataset in bundled_datasets() for file in dataset.files],
        "predictions": prediction_files(),
    }
    names = {
        name
        for pattern in patterns
        for name in names_by_kind.get(pattern) or fnmatch.filter(available, pattern)
    }
    return {name: available[name] for name in sorted(names & available.keys())}


def _files_of_results() -> dict[str, Path]:
    """Return the files below results/ by name, without the recorded tables.

    A run logs the tables that it reads: see `records_read`. Files and folders whose names begin
    with a dot are left out: an editor or a command leaves them there for a while.
    """
    root = paths.results()
    files = {path.relative_to(root): path for path in root.rglob("*.*")}
    return {
        f"results/{name.as_posix()}": path
        for name, path in files.items()
        if name.parts[0] != paths.TABLES and not any(part.startswith(".") for part in name.parts)
    }


def check_available(notebook: Path, values: Mapping[str, object]) -> None:
    """Raise a ChaosError, before a kernel starts, if the data that a notebook needs is missing.

    `values` holds all its parameters. A chapter whose tables are recorded needs its data only if
    there are predictions of a reader's own, or if a parameter differs from the book's.
    """
    data = values.get("data")
    if isinstance(data, str) and not may_be_recorded(data):
        find_votes(data)
    elif isinstance(data, str) and notebook.stem in chapters():
        from chaos_utils.report import parameters  # slow to import

        loading.check_available(values, parameters.resolve(notebook, {}))


def _available_votes(data: str) -> list[VoteFiles]:
    """Return the files of votes, without those of the book's datasets that are missing."""
    if not may_be_recorded(data):
        return find_votes(data)
    available = [dataset for dataset in datasets_of(data) if not is_missing(dataset)]
    return [find_votes_on(dataset.name) for dataset in available]


def digests(notebook: Path, data: str | None) -> dict[str, str]:
    """Return the SHA-256 of each thing that a chapter is made from, by name.

    They are the notebook, the modules that it needs, its data, the versions of libraries that its
    numbers may depend on, and the authors, whom its figures name. Names are the same on every
    machine.
    """
    code = _digests([notebook, *modules_of(notebook)])
    data_files = {name: _digest(path) for name, path in data_of(notebook, data).items()}
    texts = {"CITATION.cff, authors": repr(read_citation().authors)}
    texts |= {f"version of {name}": text for name, text in modules.library_versions().items()}
    text_digests = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}
    return code | data_files | text_digests


def records_read(run: Path) -> dict[str, str]:
    """Return the digest, at the time of a run, of each recorded table that it read, by name."""
    return {
        f"results/tables/{access.name}": access.sha256
        for access in accesses_of(run)
        if access.sha256
    }


def digests_now(names: Iterable[str]) -> dict[str, str]:
    """Return the digest of each file that exists; that of a recorded table covers its key too."""
    root, tables = paths.project(), paths.results() / paths.TABLES
    files = {name: root / name for name in names if (root / name).is_file()}
    return {
        name: digest_of_record(tables, path.relative_to(tables).as_posix())
        if path.is_relative_to(tables)
        else _digest(path)
        for name, path in files.items()
    }


def digests_of_pages() -> dict[str, str]:
    """Return the SHA-256 of each file that the site is made from, chapters' records included."""
    data = {name: _digest(path) for name, path in data_of_pages().items()}
    record_files = [paths.chapter_run(chapter) / paths.RECORD_FILE for chapter in chapters()]
    records = [path for path in record_files if path.is_file()]
    return _digests([*pages(), *modules_of_pages(), *records]) | data


def _digests(files: Iterable[Path]) -> dict[str, str]:
    root = paths.project()
    return {path.relative_to(root).as_posix(): _digest(path) for path in files}


@cache  # chapters share most files
def _digest(path: Path) -> str:
    return inputs.digest(path)


def forget() -> None:
    """Forget the digests and sources that were read, so that they are read again when needed."""
    _digest.cache_clear()
    modules.clear_cache()


def pages() -> list[Path]:
    """Return the files that the site is made of, without the chapters, sorted."""
    root = paths.project()
    book = [
        path
        for path in (root / "book").rglob("*")
        if path.is_file()
        and not {"chapters", "__pycache__"} & set(path.parts)
        and not path.name.startswith(".")  # what editors and desktops leave
        and not path.name.endswith("~")
    ]
    settings = [root / name for name in SETTINGS]
    chart_library = [root / CHART_LIBRARY] if (root / CHART_LIBRARY).is_file() else []
    return sorted([*book, *settings, *chart_library])
