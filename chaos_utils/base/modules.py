"""Which modules of this package some code needs, read from the source without running it."""

import ast
import hashlib
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from pathlib import Path

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError

PACKAGE = "chaos_utils"
_SHOWING = ("report", "plots", "presentation", "publish")
_RUNS_COMMANDS = f"{PACKAGE}.report.console"  # what uses it may run the whole command


def closure(names: Iterable[str], without: Collection[str] = ()) -> list[Path]:
    """Return the files of modules and of all that they import, directly or through others, sorted.

    Names are dotted; those outside this package are passed over, those in `without` not followed.
    """
    root = paths.project()
    waiting = list(names)
    found: set[Path] = set()
    passed = {_file_of(root, name) for name in without}
    while waiting:
        path = _file_of(root, waiting.pop())
        if path is None or path in found or path in passed:
            continue
        found.add(path)
        waiting += _imported_by(path)
        if path == _file_of(root, _RUNS_COMMANDS):
            waiting.append(f"{PACKAGE}.cli.__main__")
    return sorted(found)


def imported(code: str, where: str) -> Iterator[str]:
    """Yield the dotted names that code imports from this package.

    `where` is for the message, if the code is not valid Python.
    """
    yield from _imports(_parsed(code, where))


def _parsed(code: str, where: str) -> ast.Module:
    try:
        return ast.parse(code)
    except SyntaxError as fault:
        raise ChaosError(
            "This is not valid Python.",
            where=f"{where}, line {fault.lineno} of it",
            found=(fault.text or "").strip(),
            expected=fault.msg,
        ) from fault


@cache  # chapters share most modules, and a process reads each of them once
def _tree(path: Path) -> ast.Module:
    return _parsed(path.read_text("utf-8"), path.name)


def _imports(tree: ast.AST) -> Iterator[str]:
    for node in _run(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            # `from a import b` may name a module or something inside one.
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        yield from (name for name in names if name.split(".")[0] == PACKAGE)


@cache
def _file_of(root: Path, module: str) -> Path | None:
    """Return the file of a module of this package; None for what is inside one."""
    path = root / Path(*module.split("."))
    if path.with_suffix(".py").is_file():
        return path.with_suffix(".py")
    return path / "__init__.py" if (path / "__init__.py").is_file() else None


@cache
def code_digest(module: str) -> str:
    """Return a digest of the code of a module and of all that it imports from this package.

    It has 16 hexadecimal digits. Comments, docstrings and layout do not count, nor do the rooms
    that only show numbers.
    """
    found = hashlib.sha256()
    for path in closure([module]):
        if path.parent.name in _SHOWING:
            continue
        found.update(f"{path.name}\n{_meaning(path)}\n".encode())
    return found.hexdigest()[:16]


@cache
def _meaning(path: Path) -> str:
    texts: list[str] = []
    _describe(_tree(path), texts)
    return "".join(texts)


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


@cache
def _imported_by(path: Path) -> tuple[str, ...]:
    return tuple(_imports(_tree(path)))


def forget() -> None:
    """Read every module again when it is next asked for."""
    for remembered in (_tree, _file_of, code_digest, _meaning, _imported_by):
        remembered.cache_clear()


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
