"""The house rules that a reader of the tree relies on."""

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "chaos_utils"
MODULES = sorted(PACKAGE.rglob("*.py"))
FLOORS = [
    {"base", "metrics"},
    {"datasets"},
    {"plots", "scoring", "report"},
    {"description", "presentation", "evaluation", "training", "publish", "crowd"},
    {"cli"},
]


def room(dotted):
    return dotted.split(".")[1]


def floor(name):
    return next(number for number, rooms in enumerate(FLOORS) if name in rooms)


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("chaos_utils"):
            if node.module == "chaos_utils":
                yield from (f"chaos_utils.{alias.name}" for alias in node.names)
            else:
                yield node.module
        elif isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name.startswith("chaos_utils"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_file_imports_only_from_floors_below_or_its_own_room(path):
    if path == PACKAGE / "__init__.py":
        return
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    for name in imported(ast.parse(path.read_text())):
        allowed = room(name) == own or floor(room(name)) < floor(own)
        assert allowed, f"{own} imports {name}"


@pytest.mark.parametrize("path", [p for p in MODULES if p.name == "__init__.py"])
def test_an_init_holds_its_docstring_alone(path):
    tree = ast.parse(path.read_text())
    assert ast.get_docstring(tree)
    assert len(tree.body) == 1


def test_only_paths_reads_the_project_s_variables():
    for path in MODULES:
        text = path.read_text()
        assert "getenv" not in text
        if path.name != "paths.py":
            assert not re.search(r"environ(\.get\(|\[)\s*.CHAOS", text), path


def test_no_notebook_is_named_like_a_module_of_the_standard_library():
    import sys

    for path in (PACKAGE.parent / "notebooks").glob("*.py"):
        assert path.stem not in sys.stdlib_module_names
