"""Which modules of this package some code needs, read from the source without running it.

What a file says is remembered in ``_build/modules.json``, by the digest of its content: reading a
source is cheap, parsing it is not.
"""

import ast
import hashlib
import json
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
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
# These rooms only show numbers, and so does this file.
_SHOWING = ("report", "plots", "publish")
_LOOK = "style.py"
DATA_SUFFIXES = (".csv", ".json", ".yml")
_MEMORY = "modules.json"


@dataclass(frozen=True, slots=True)
class Source:
    """What a module or a notebook says.

    `imports` are dotted names in this package, `libraries` the packages that it imports from
    elsewhere, but for Python's own; `declares` the names that it annotates outside of
    functions, such as a notebook's parameters; `data` the package's data files that it names;
    `meaning` is a digest of what it does: comments, docstrings and layout do not count.

    `reads`, its constant `READS`, are the data files that it reads beside the votes asked for:
    patterns of their names, ``votes`` for those on every dataset, ``predictions`` for all that were
    released. With a constant `READS_FOR`, it and what it imports read for notebooks that have one
    of the parameters of these names, and for no others.
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
    """Return the files of modules and of all that they import, directly or through others, sorted.

    Names are dotted; those outside this package are passed over, files in `without` not followed.
    """
    root = paths.project()
    waiting = list(names)
    found: set[Path] = set()
    while waiting:
        path = _file_of(root, waiting.pop())
        if path is None or path in found or path in without:
            continue
        found.add(path)
        waiting += source_of(path).imports
    return sorted(found)


def libraries(names: Iterable[str]) -> set[str]:
    """Return the packages from elsewhere that modules, and all that they import, import."""
    return {library for path in transitive_imports(names) for library in source_of(path).libraries}


@cache
def _file_of(root: Path, module: str) -> Path | None:
    """Return the file of a module of this package; None for what is inside one."""
    path = root / Path(*module.split("."))
    if path.with_suffix(".py").is_file():
        return path.with_suffix(".py")
    return path / "__init__.py" if (path / "__init__.py").is_file() else None


def code_digest(*names: str, without: tuple[str, ...] = ()) -> str:
    """Return a digest of the code of some modules and of all that they import from this package.

    Modules in `without` do not count, nor what only these import; no module may be among them.

    It has 16 hexadecimal digits. What only shows numbers does not count. A data file that stands
    beside a module counts where one of these modules names it: ``tasks.yml``, or a table of
    published numbers, without its suffix. No module names a dataset's YAML file, which counts for
    what is computed on that dataset: see `digest_of_dataset`.
    """
    return _code_digest(paths.project(), names, without)


@cache
def _code_digest(root: Path, names: tuple[str, ...], without: tuple[str, ...]) -> str:
    found = hashlib.sha256()
    named: set[str] = set()
    package, left_out = root / PACKAGE, [_file_of(root, name) for name in without]
    for path in transitive_imports(names, [path for path in left_out if path]):
        if path.parent.name in _SHOWING or path.name == _LOOK:
            continue
        source = source_of(path)
        found.update(f"{path.name}\n{source.meaning}\n".encode())
        named.update(source.data)
    for name in sorted(named):
        found.update(f"{name}\n{digest(package / name)}\n".encode())
    return found.hexdigest()[:16]


@cache
def library_versions() -> dict[str, str]:
    """Return the versions of the libraries that numbers may depend on, by name."""
    return {name: version(name) for name in ("numpy", "scipy", "pandas")}


def digest_of_dataset(name: str) -> str:
    """Return a digest of the YAML file of one of the package's datasets, of 16 digits."""
    return digest(paths.project() / PACKAGE / "datasets" / f"{name}.yml")[:16]


def digests_of_datasets() -> dict[str, str]:
    """Return what `digest_of_dataset` does for each of the package's datasets, by its name."""
    files = (paths.project() / PACKAGE / "datasets").glob("*.yml")
    return {path.stem: digest_of_dataset(path.stem) for path in sorted(files)}


@cache
def source_of(path: Path, *, notebook: bool = False) -> Source:
    """Return what a file says; in a notebook, lines for IPython alone are passed over."""
    text = read_source(path)
    if notebook:
        text = re.sub(r"^\s*[%!].*$", "", text, flags=re.MULTILINE)
    memory, content = _source_cache(paths.project()), _sha256(text)
    if content not in memory.known:
        memory.known[content] = _read(text, path, memory.data)
    memory.seen.add(content)
    return memory.known[content]


def read_source(path: Path) -> str:
    """Return the text of a module or notebook."""
    text = decode_text(path.read_bytes(), "This source", path.name)
    return text.replace("\r\n", "\n")  # as Git for Windows may write it


def _read(text: str, path: Path, data: Mapping[str, str]) -> Source:
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
    texts: list[str] = []
    _describe(tree, texts)
    strings = {one.value for one in ast.walk(tree) if isinstance(one, ast.Constant)}
    imports = list(_imports(tree))
    others = {name.partition(".")[0] for name in imports} - {PACKAGE} - sys.stdlib_module_names
    return Source(
        tuple(name for name in imports if name.partition(".")[0] == PACKAGE),
        tuple(sorted(others)),
        tuple(
            one.target.id
            for one in tree.body
            if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
        ),
        tuple(sorted(data[name] for name in data if name in strings)),
        _sha256("".join(texts)),
        _texts(tree, "READS", path),
        _texts(tree, "READS_FOR", path),
    )


def _texts(tree: ast.Module, name: str, path: Path) -> tuple[str, ...]:
    """Return the texts that a module gives to a name at its top; none where it does not."""
    for one in tree.body:
        targets = one.targets if isinstance(one, ast.Assign) else [getattr(one, "target", None)]
        if [getattr(target, "id", "") for target in targets] != [name]:
            continue
        given = getattr(one, "value", None)
        texts = [getattr(text, "value", None) for text in getattr(given, "elts", ())]
        if not isinstance(given, ast.Tuple) or not all(isinstance(text, str) for text in texts):
            raise ChaosError(
                f"{name} cannot be read without running the module.",
                where=f"{path.parent.name}/{path.name}, line {one.lineno}",
                found=ast.unparse(one),
                expected=f'texts in a tuple, {name} = ("a/*", "b/*")',
            )
        return tuple(map(str, texts))
    return ()


def _data_files(root: Path) -> dict[str, str]:
    """Return the data files that stand beside modules, by what a module calls them."""
    package = root / PACKAGE
    found = {}
    for path in sorted(package.rglob("*")):
        if path.suffix in DATA_SUFFIXES and any(path.parent.glob("*.py")):
            called = path.stem if path.suffix == ".csv" else path.name
            found[called] = path.relative_to(package).as_posix()
    return found


def _imports(tree: ast.AST) -> Iterator[str]:
    """Yield the dotted names that code imports."""
    for node in _run(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            # `from a import b` may name a module or something inside one.
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        yield from names


def _run(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements of code that run; what is imported for type checkers is not needed."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        yield node
        children = ast.iter_child_nodes(node)
        waiting += [child for child in children if not isinstance(child, ast.expr)]


def _describe(node: object, texts: list[str]) -> None:
    """Add a text for each node: the same from every version of Python."""
    if isinstance(node, ast.AST):
        texts.append(f"({type(node).__name__}")
        for name, value in ast.iter_fields(node):
            if name == "body" and isinstance(value, list) and value and _is_text(value[0]):
                value = value[1:]
            if value not in (None, []) and name not in ("type_ignores", "kind", "type_comment"):
                texts.append(f" {name}=")
                _describe(value, texts)
        texts.append(")")
    elif isinstance(node, list):
        for one in node:
            _describe(one, texts)
    else:
        texts.append(repr(node))


def _is_text(node: object) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


@dataclass(frozen=True, slots=True)
class _SourceCache:
    """What sources say, by the digest of their content, and which were seen in this process.

    It holds as long as `by` does: this module as it is, and the data files that there are.
    """

    by: str
    data: Mapping[str, str]
    known: dict[str, Source]
    seen: set[str]


@cache
def _source_cache(root: Path) -> _SourceCache:
    data = _data_files(root)
    by = _sha256("\n".join([digest(Path(__file__)), *data.values()]))
    return _SourceCache(by, data, _cached_sources(by), set())


def _cached_sources(by: str) -> dict[str, Source]:
    kept = read_mapping(paths.build() / _MEMORY)
    try:
        return _SOURCES.validate_python(kept.get("sources")) if kept.get("by") == by else {}
    except ValidationError:
        return {}  # damaged: what files say is read again


def save_cache() -> None:
    """Keep what the sources say that this process has read, for others to come."""
    memory = _source_cache(paths.project())
    said = {one: memory.known[one] for one in sorted(memory.seen)}
    content = {"by": memory.by, "sources": _SOURCES.dump_python(said, mode="json")}
    if content != read_mapping(paths.build() / _MEMORY):
        with suppress(ChaosError):  # where nothing can be written, they are read again
            write_text(paths.build() / _MEMORY, json.dumps(content) + "\n")


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def clear_cache() -> None:
    """Look at every source again when it is next asked for; what is unchanged is not parsed."""
    for looked_at in (_file_of, _code_digest, source_of, _source_cache):
        looked_at.cache_clear()
