"""The house rules that a reader of the tree relies on."""

import ast
import re
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

from chaos_utils.datasets.catalogue import bundled_datasets

PACKAGE = Path(__file__).parents[1] / "chaos_utils"
PROJECT = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text("utf-8"))["project"]
MODULES = sorted(PACKAGE.rglob("*.py"))
FLOORS = [
    {"base", "metrics"},
    {"datasets"},
    {"plots", "scoring", "report"},
    {"training", "crowd"},
    {"analyses"},
    {"presentation"},
    {"publish"},
    {"cli"},
]
LIGHT = ("base", "metrics", "datasets", "scoring", "cli")  # what evaluating runs


@cache
def parsed(path):
    return ast.parse(path.read_text("utf-8"))


@cache
def nodes(path):
    return list(ast.walk(parsed(path)))


def floor(name):
    return next(number for number, rooms in enumerate(FLOORS) if name in rooms)


def imported(path):
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("chaos_utils"):
            if node.module == "chaos_utils":
                yield from (f"chaos_utils.{alias.name}" for alias in node.names)
            else:
                yield node.module
        elif isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name.startswith("chaos_utils"))


def test_a_file_imports_only_from_floors_below_or_its_own_room():
    for path in MODULES:
        own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        for name in imported(path) if own != "__init__" else ():
            room = name.split(".")[1]
            assert room == own or floor(room) < floor(own), f"{path} imports {name}"


def named(requirements):
    """Return the packages that requirements name, in lower case and with hyphens."""
    return {re.match(r"[\w.-]+", text)[0].lower() for text in requirements}


def third_party(nodes, homes):
    """Return the packages, as they are installed, that imports among these nodes need."""
    for node in nodes:
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for top in {name.split(".")[0] for name in names} - sys.stdlib_module_names:
            if top not in ("chaos_utils", "chaos_book"):
                yield homes[top][0].lower().replace("_", "-")


def test_every_package_that_is_imported_is_a_dependency_by_name():
    core, extras = named(PROJECT["dependencies"]), PROJECT["optional-dependencies"]
    homes = packages_distributions()
    everything = core | named(extras["book"]) | named(extras["train"])
    # Imported where training is asked for, so that all else works without.
    late = {"torch", "transformers", "accelerate"}
    for path in [*MODULES, *(PACKAGE.parent / "book" / "_ext").rglob("*.py")]:
        tree = parsed(path)
        assert set(third_party(nodes(path), homes)) <= everything, path
        assert late.isdisjoint(third_party(tree.body, homes)), path
        if path.is_relative_to(PACKAGE) and path.relative_to(PACKAGE).parts[0] in LIGHT:
            assert set(third_party(tree.body, homes)) <= core, path


def test_no_code_names_a_dataset():
    names = {dataset.name for dataset in bundled_datasets()}
    word = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, sorted(names)))})(?![\w-])")
    found = set()
    for path in MODULES:
        constants = [n.value for n in nodes(path) if _is_text(n)]
        if names & set(constants):
            found.add(path)
    book = PACKAGE.parent / "book"
    for path in [*book.rglob("*.js"), *book.rglob("*.css")]:
        if word.search(re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text("utf-8"), flags=re.S)):
            found.add(path)
    assert not found, sorted(map(str, found))


def _is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def locked(name):
    """Return the versions in a lock of pip's, and the digests of each, by package."""
    text = (PACKAGE.parent / "requirements" / name).read_text("utf-8").replace("\\\n", " ")
    lines = [line.split() for line in text.splitlines()]
    versions = dict(line[0].split("==") for line in lines)
    digests = [[word for word in line if word.startswith("--hash=sha256:")] for line in lines]
    return versions, dict(zip(versions, digests, strict=True))


def test_what_is_installed_is_locked_by_digests_but_for_pytorch():
    lines = (PACKAGE.parent / "requirements.lock").read_text("utf-8").lower().split()
    known = {re.sub("[_.]", "-", name): version for name, version in (x.split("==") for x in lines)}
    (everything, digests), (book, book_digests) = locked("all.txt"), locked("book.txt")
    assert all(digests.values())
    assert all(book_digests.values())
    assert known.items() - everything.items() == {("torch", known["torch"])}
    assert book.items() < everything.items()
    project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text("utf-8"))
    assert project["build-system"]["requires"] == [f"setuptools=={book['setuptools']}"]
    names = {re.split(r"[^\w-]", one)[0] for one in project["project"]["dependencies"]}
    assert names | {"jupyter-book", "snakemake"} <= book.keys()
