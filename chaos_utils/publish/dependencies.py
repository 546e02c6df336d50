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

from chaos_utils.base import inputs, modules, paths, project
from chaos_utils.base.authorship import read_citation
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.record_keys import digest_of_record
from chaos_utils.base.table_usage import accesses_of
from chaos_utils.base.yaml_files import read_yaml

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
    """Return the modules that a notebook imports, and those on which its output depends too.

    They are the runner, and the book's answers to what the machinery asks, which nothing imports.
    """
    return (_RUNNER, _project_module(), *modules.source_of(notebook, notebook=True).imports)


def _project_module() -> str:
    """Return the name of the module of the book's project, which must be a source to be known."""
    name = project.module()
    if not modules.transitive_imports([name]):
        raise ChaosError(
            "No digest can hold the code of this book's project.",
            where="_config.yml",
            found=name,
            expected="a module of the checkout, beside _toc.yml",
        )
    return name


def modules_of_pages() -> list[Path]:
    """Return the files of this package that make the pages or are documented on them, sorted."""
    root = paths.project()
    imported = [f"{modules.PACKAGE}.publish.site", _project_module(), *imported_by_pages()]
    for page in (root / "book").glob("*.md"):
        documented = _DOCUMENTED.findall(page.read_text("utf-8"))
        imported += [f"{modules.PACKAGE}.{name}" for name in documented]
    return sorted([*_with_data(modules.transitive_imports(imported)), *assets()])


def assets() -> list[Path]:
    """Return the files of this package that pages are made with: templates, styles, scripts."""
    package = modules.source_root() / modules.PACKAGE
    own = (path for path in (package / "assets").rglob("*") if path.is_file())
    return sorted([*own, *(package / "publish" / "templates").glob("*.html")])


def imported_by_pages() -> list[str]:
    """Return the modules of this package that make the pages, and what `book/_ext` imports."""
    extension = (paths.project() / "book" / "_ext").rglob("*.py")
    own = [name for path in extension for name in modules.source_of(path).imports]
    common = (modules.source_root() / modules.PACKAGE / "sphinx").glob("*.py")
    return [f"{modules.PACKAGE}.sphinx.{path.stem}" for path in common] + own


def _with_data(files: Iterable[Path]) -> list[Path]:
    """Return the files of modules, and the data files beside them, sorted."""
    modules_and_data = set(files)
    for folder in {path.parent for path in modules_and_data}:
        modules_and_data.update(_data_in(folder))
    return sorted(modules_and_data)


@cache
def _data_in(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.suffix in modules.DATA_SUFFIXES]


def data_of(notebook: Path, data: str) -> dict[str, Path]:
    """Return the data files that a chapter reads, by name, for a value of its ``data`` parameter.

    The value is empty for a chapter without this parameter, which reads no inputs of the project's.
    Every chapter reads `Project.inputs_of`; its modules say what else they read. The names, unlike
    the paths, are the same on every machine. The recorded tables that it reads are not among them:
    they are known once it has run (`records_read`).
    """
    declares = modules.source_of(notebook, notebook=True).declares
    read = _read_by(_imported_by(notebook), declares, sample=data == "sample")
    return {**(project.current().inputs_of(data) if data else {}), **read}


def data_of_pages() -> dict[str, Path]:
    """Return the data files that pages read in addition to those of chapters, by name."""
    return _read_by(imported_by_pages(), ())


def _read_by(
    imports: Collection[str], declares: Collection[str], *, sample: bool = False
) -> dict[str, Path]:
    """Return the data files that modules read in addition to a chapter's inputs, by name.

    `declares` are the notebook's parameters: a module that reads its files only for certain
    parameters is left out where none of them is declared. With a `sample`, no published file is
    read.
    """
    sources = {path: modules.source_of(path) for path in modules.transitive_imports(imports)}
    unused = [
        path
        for path, source in sources.items()
        if source.reads_for and not {*source.reads_for} & {*declares}
    ]
    used = modules.transitive_imports(imports, unused)
    patterns = frozenset(pattern for path in used for pattern in sources[path].reads)
    return _files_named(paths.results(), patterns, sample=sample)


@cache  # many chapters read the same
def _files_named(root: Path, patterns: frozenset[str], *, sample: bool) -> dict[str, Path]:
    """Return the data files, results below `root` among them, whose names match one of `patterns`.

    They are returned by name.
    """
    results = _files_of_results(root)
    names = {name for pattern in patterns for name in fnmatch.filter(results, pattern)}
    files = {name: results[name] for name in names}
    files |= project.current().readable(patterns, sample=sample)
    return dict(sorted(files.items()))


@cache
def _files_of_results(root: Path) -> dict[str, Path]:
    """Return the files below results/, which is at `root`, by name, without the recorded tables.

    A run logs the tables that it reads: see `records_read`. Files and folders whose names begin
    with a dot are left out: an editor or a command leaves them there for a while.
    """
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
    from chaos_utils.report import parameters  # slow to import

    is_chapter = notebook.stem in chapters()
    defaults = parameters.resolve(notebook, {}) if is_chapter else None
    project.current().refuse_unavailable(values, defaults)


def digests(notebook: Path, data: str) -> dict[str, str]:
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
    return {modules.source_name(path): _digest(path) for path in files}


@cache  # chapters share most files
def _digest(path: Path) -> str:
    return inputs.digest(path)


def forget() -> None:
    """Forget the files that were found and read, so that they are looked for when needed."""
    for function in (_digest, _data_in, _files_named, _files_of_results):
        function.cache_clear()
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
