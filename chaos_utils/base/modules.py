"""Which modules of this package some code needs, read from the source without running it.

What is parsed from a source is cached in ``_build/modules.json`` by the digest of its text: reading
a source is cheap, parsing it is not.
"""

import ast
import hashlib
import json
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import decode_text, read_mapping, write_text
from chaos_utils.base.inputs import digest

PACKAGE = "chaos_utils"
# Code that only shows numbers, or says what is said of them: folders of the package, and files.
_DISPLAY_FOLDERS = ("report", "plots", "publish", "pages")
_DISPLAY_FILES = ("style.py", "project.py")
DATA_SUFFIXES = (".csv", ".json", ".yml")
_CACHE_FILE = "modules.json"


@dataclass(frozen=True, slots=True)
class Source:
    """What is parsed from the source of a module or a notebook.

    `imports` are the dotted names that it imports from this package; `libraries` the packages that
    it imports from elsewhere, without Python's own; `declares` the names that it annotates outside
    of functions, such as a notebook's parameters; `data` the package's data files that it names.
    `meaning` is a digest of its code: comments, docstrings and layout do not change it.

    `reads` is its constant `READS`: the data files that it reads besides the votes that a notebook
    asks for, as patterns of their names; ``votes`` stands for the votes on every dataset,
    ``predictions`` for all released predictions. `reads_for` is its constant `READS_FOR`: if it
    names parameters, the module and its imports read only for notebooks that have one of these.
    """

    imports: tuple[str, ...]
    libraries: tuple[str, ...]
    declares: tuple[str, ...]
    data: tuple[str, ...]
    meaning: str
    reads: tuple[str, ...]
    reads_for: tuple[str, ...]


_SOURCES = TypeAdapter(dict[str, Source])


def transitive_imports(names: Iterable[str], without: Collection[Path] = ()) -> list[Path]:
    """Return the files of modules and of all that they import, directly or indirectly, sorted.

    `names` are dotted; those of other packages are skipped, one in this package that no file has is
    a ChaosError. Files in `without` are left out, and their imports are not followed.
    """
    return list(_transitive_imports(paths.project(), frozenset(names), frozenset(without)))


@cache
def _transitive_imports(
    root: Path, names: frozenset[str], without: frozenset[Path]
) -> tuple[Path, ...]:
    """Return what `transitive_imports` does, for the checkout at `root`."""
    pending = list(names)
    files: set[Path] = set()
    while pending:
        path = _file_of(root, pending.pop())
        if path is None or path in files or path in without:
            continue
        files.add(path)
        pending += source_of(path).imports
    return tuple(sorted(files))


def libraries(names: Iterable[str]) -> set[str]:
    """Return the third-party packages that modules import, directly or through this package."""
    return {library for path in transitive_imports(names) for library in source_of(path).libraries}


@cache
def _file_of(root: Path, module: str) -> Path | None:
    """Return the file of a module in the checkout at `root`, or of this package.

    None if the name is of something in a module, or of another package. A name in this package that
    is neither is a ChaosError: skipped, a module that was renamed would leave every digest, and
    nobody would notice.
    """
    in_package = module.partition(".")[0] == PACKAGE
    path = (source_root() if in_package else root) / Path(*module.split("."))
    if path.with_suffix(".py").is_file():
        return path.with_suffix(".py")
    if (path / "__init__.py").is_file():
        return path / "__init__.py"
    if in_package:
        parent, _, name = module.rpartition(".")
        holder = _file_of(root, parent) if parent else None
        # Only the package's own __init__ holds more than its docstring, and names it as texts.
        if not holder or (holder.stem == "__init__" and f'"{name}"' not in read_source(holder)):
            raise ChaosError(
                "There is no such module, so that no digest can hold its code.",
                where=source_root() / PACKAGE,
                found=module,
                todo="correct the name where it is imported or mentioned",
            )
    return None


def source_root() -> Path:
    """Return the folder that holds this package: the checkout or, if it has none, its own place."""
    root = paths.project()
    return root if (root / PACKAGE).is_dir() else Path(__file__).parents[2]


def source_name(path: Path) -> str:
    """Return the name of a source in records: its path in the checkout, or beside the package."""
    root = paths.project()
    return path.relative_to(root if path.is_relative_to(root) else source_root()).as_posix()


def code_digest(*names: str, without: tuple[str, ...] = ()) -> str:
    """Return a digest of the code of some modules and of all that they import from this package.

    Modules in `without` do not count, nor does what only these import; `names` must not contain
    any of them.

    The digest has 16 hexadecimal digits. Code that only shows numbers does not count. A data file
    that stands beside a module counts if one of the counted modules names it: ``tasks.yml``, or a
    table of published numbers without its suffix. No module names a file that defines a group of
    rows, such as a dataset: the key of what is computed on it holds its digest, see
    `recorded.Evidence`.
    """
    return _code_digest(source_root(), names, without)


@cache
def _code_digest(root: Path, names: tuple[str, ...], without: tuple[str, ...]) -> str:
    """Return what `code_digest` does, for the checkout at `root`."""
    sha256 = hashlib.sha256()
    data_files: set[str] = set()
    excluded_files = [_file_of(root, name) for name in without]
    for path in transitive_imports(names, [path for path in excluded_files if path]):
        if path.parent.name in _DISPLAY_FOLDERS or path.name in _DISPLAY_FILES:
            continue
        source = source_of(path)
        sha256.update(f"{path.name}\n{source.meaning}\n".encode())
        data_files.update(source.data)
    for name in sorted(data_files):
        sha256.update(f"{name}\n{digest(root / PACKAGE / name)}\n".encode())
    return sha256.hexdigest()[:16]


@cache
def library_versions() -> dict[str, str]:
    """Return the versions of the libraries that numbers may depend on, by name."""
    return {name: version(name) for name in ("numpy", "scipy", "pandas")}


@cache
def source_of(path: Path, *, notebook: bool = False) -> Source:
    """Return what is parsed from a file; in a notebook, lines for IPython alone are skipped."""
    text = read_source(path)
    if notebook:
        text = re.sub(r"^\s*[%!].*$", "", text, flags=re.MULTILINE)
    source_cache, text_digest = _source_cache(source_root()), _sha256(text)
    if text_digest not in source_cache.sources:
        source_cache.sources[text_digest] = _parse(text, path, source_cache.data_files)
    source_cache.used_digests.add(text_digest)
    return source_cache.sources[text_digest]


def read_source(path: Path) -> str:
    """Return the text of a module or notebook."""
    text = decode_text(path.read_bytes(), "This source", path.name)
    return text.replace("\r\n", "\n")  # as Git for Windows may write it


def _parse(text: str, path: Path, data_files: Mapping[str, str]) -> Source:
    """Return what a `Source` tells of a file's text; `data_files` are those of `_data_files`."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as fault:
        line = getattr(fault, "lineno", None)
        raise ChaosError(
            "This is not valid Python.",
            where=f"{path.parent.name}/{path.name}" + (f", line {line}" if line else ""),
            found=(getattr(fault, "text", None) or "").strip(),
            expected=str(getattr(fault, "msg", fault)) or type(fault).__name__,
        ) from fault
    description: list[str] = []
    _describe(tree, description)
    constants = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    imports = list(_imports(tree))
    packages = {name.partition(".")[0] for name in imports}
    return Source(
        imports=tuple(name for name in imports if name.partition(".")[0] == PACKAGE),
        libraries=tuple(sorted(packages - {PACKAGE} - sys.stdlib_module_names)),
        declares=tuple(
            statement.target.id
            for statement in tree.body
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
        ),
        data=tuple(sorted(file for name, file in data_files.items() if name in constants)),
        meaning=_sha256("".join(description)),
        reads=_string_tuple(tree, "READS", path),
        reads_for=_string_tuple(tree, "READS_FOR", path),
    )


def _string_tuple(tree: ast.Module, name: str, path: Path) -> tuple[str, ...]:
    """Return the tuple of strings assigned to `name` at module level; () if it is not assigned."""
    for statement in tree.body:
        targets: Sequence[object] = [getattr(statement, "target", None)]
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        if [getattr(target, "id", "") for target in targets] != [name]:
            continue
        value = getattr(statement, "value", None)
        strings = [getattr(element, "value", None) for element in getattr(value, "elts", ())]
        if not isinstance(value, ast.Tuple) or not all(isinstance(part, str) for part in strings):
            raise ChaosError(
                f"{name} cannot be read without running the module.",
                where=f"{path.parent.name}/{path.name}, line {statement.lineno}",
                found=ast.unparse(statement),
                expected=f'texts in a tuple, {name} = ("a/*", "b/*")',
            )
        return tuple(map(str, strings))
    return ()


def _data_files(root: Path) -> dict[str, str]:
    """Return the data files that stand beside modules, by the name that modules use for each.

    That is the file's name, of a CSV file without the suffix.
    """
    package = root / PACKAGE
    files = {}
    for path in sorted(package.rglob("*")):
        if path.suffix in DATA_SUFFIXES and any(path.parent.glob("*.py")):
            name = path.stem if path.suffix == ".csv" else path.name
            files[name] = path.relative_to(package).as_posix()
    return files


def _imports(tree: ast.AST) -> Iterator[str]:
    """Yield the dotted names that code imports."""
    for node in _executed_nodes(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            # `from a import b` may name a module or something inside one.
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        yield from names


def _executed_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements of a syntax tree, but for those that only type checkers execute."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        yield node
        children = ast.iter_child_nodes(node)
        pending += [child for child in children if not isinstance(child, ast.expr)]


def _describe(node: object, description: list[str]) -> None:
    """Append the parts of a syntax tree to its description, the same in all versions of Python."""
    if isinstance(node, ast.AST):
        description.append(f"({type(node).__name__}")
        for name, value in ast.iter_fields(node):
            if name == "body" and isinstance(value, list) and value and _is_docstring(value[0]):
                value = value[1:]  # without the docstring
            if value not in (None, []) and name not in ("type_ignores", "kind", "type_comment"):
                description.append(f" {name}=")
                _describe(value, description)
        description.append(")")
    elif isinstance(node, list):
        for element in node:
            _describe(element, description)
    else:
        description.append(repr(node))


def _is_docstring(node: object) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


@dataclass(frozen=True, slots=True)
class _SourceCache:
    """What is parsed from sources, by the digest of their text.

    `used_digests` are those of the sources that this process asked for. The cache is valid for one
    version of this module and one set of `data_files`, whose digest is `valid_for`.
    """

    valid_for: str
    data_files: Mapping[str, str]
    sources: dict[str, Source]
    used_digests: set[str]


@cache
def _source_cache(root: Path) -> _SourceCache:
    data_files = _data_files(root)
    valid_for = _sha256("\n".join([digest(Path(__file__)), *data_files.values()]))
    return _SourceCache(valid_for, data_files, _cached_sources(valid_for), set())


@cache  # what a text says does not change: `clear_cache` leaves it
def _cached_sources(valid_for: str) -> dict[str, Source]:
    content = read_mapping(paths.build() / _CACHE_FILE)
    if content.get("valid_for") != valid_for:
        return {}
    try:
        return _SOURCES.validate_python(content.get("sources"))
    except ValidationError:
        return {}  # damaged: the sources are parsed again


def save_cache() -> None:
    """Write what was parsed from the sources that this process used to the build folder."""
    cache = _source_cache(source_root())
    parsed_sources = {name: cache.sources[name] for name in sorted(cache.used_digests)}
    sources = _SOURCES.dump_python(parsed_sources, mode="json")
    content = {"valid_for": cache.valid_for, "sources": sources}
    if content != read_mapping(paths.build() / _CACHE_FILE):
        with suppress(ChaosError):  # if it cannot be written, later processes parse again
            write_text(paths.build() / _CACHE_FILE, json.dumps(content) + "\n")


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def clear_cache() -> None:
    """Forget what this process has read: sources are read again, and parsed if they changed."""
    for function in (_file_of, _transitive_imports, _code_digest, source_of, _source_cache):
        function.cache_clear()
