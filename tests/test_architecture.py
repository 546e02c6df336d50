"""The house rules that a reader of the tree relies on."""

import ast
import re
import sys
import tomllib
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml

from chaos_utils.base.project import Project
from chaos_utils.book import Book
from chaos_utils.datasets.catalogue import bundled_datasets

PACKAGE = Path(__file__).parents[1] / "chaos_utils"
PYPROJECT = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text("utf-8"))
PROJECT = PYPROJECT["project"]
MODULES = sorted(PACKAGE.rglob("*.py"))
EXTENSION = sorted((PACKAGE.parent / "book" / "_ext").rglob("*.py"))
FLOORS = [
    {"base", "metrics"},
    {"datasets", "report", "recorded"},
    {"plots", "scoring", "publish"},
    {"training", "collection", "book", "sphinx"},
    {"analyses"},
    {"pages"},
    {"cli", "chaos_book"},
]
MACHINERY = {"base", "report", "recorded", "publish", "sphinx"}  # knows no votes, asks a `Project`
LIGHT = ("base", "metrics", "datasets", "scoring", "cli")  # what evaluating runs


@cache
def parsed(path):
    return ast.parse(path.read_text("utf-8"))


@cache
def nodes(path):
    return list(ast.walk(parsed(path)))


def floor(name):
    return next(number for number, rooms in enumerate(FLOORS) if name in rooms)


def dotted(path):
    root = PACKAGE.parent if path.is_relative_to(PACKAGE) else PACKAGE.parent / "book" / "_ext"
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(name):
    """Return the room of a module; the book's own extension is one."""
    return name.removeprefix("chaos_utils.").split(".")[0]


KNOWN = {dotted(path) for path in [*MODULES, *EXTENSION]}


@cache
def imported(path):
    """Return the modules of the package that a file imports anywhere, in its functions too."""
    found = set()
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {name if name in KNOWN else node.module for name in names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found & KNOWN


def test_a_file_imports_only_from_floors_below_or_its_own_room():
    for path in [*MODULES, *EXTENSION]:
        own = room_of(dotted(path))
        for name in imported(path) - {"chaos_utils"} if own != "chaos_utils" else ():
            room = room_of(name)
            assert room == own or floor(room) < floor(own), f"{path} imports {name}"


def test_the_machinery_imports_itself_alone():
    for path in (path for path in MODULES if room_of(dotted(path)) in MACHINERY):
        for name in imported(path):
            assert room_of(name) in MACHINERY, f"{path} imports {name}"


def test_the_book_answers_all_that_the_machinery_asks():
    questions = {name for name in vars(Project) if not name.startswith("_")}
    assert len(questions) > 10
    assert questions <= vars(Book).keys()


def test_no_modules_import_each_other_in_a_circle():
    graph = {dotted(path): imported(path) for path in [*MODULES, *EXTENSION]}
    assert sum(map(len, graph.values())) > 400
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as fault:
        pytest.fail(" → ".join(reversed(fault.args[1])))


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
    # Imported where training is asked for, so that all else works without; what extends their
    # classes is a module that is itself imported there.
    late, extending = {"torch", "transformers", "accelerate"}, PACKAGE / "training" / "trainer.py"
    for path in [*MODULES, *EXTENSION]:
        tree = parsed(path)
        assert set(third_party(nodes(path), homes)) <= everything, path
        assert path == extending or late.isdisjoint(third_party(tree.body, homes)), path
        imported = [node.module for node in tree.body if isinstance(node, ast.ImportFrom)]
        assert "chaos_utils.training.trainer" not in imported, path
        if path.is_relative_to(PACKAGE) and path.relative_to(PACKAGE).parts[0] in LIGHT:
            assert set(third_party(tree.body, homes)) <= core, path


def test_the_environment_of_conda_users_is_the_one_that_make_sets_up():
    root = PACKAGE.parent
    environment = yaml.safe_load((root / "environment.yml").read_text("utf-8"))
    *packages, of_pip = environment["dependencies"]
    versions = {name: version for name, _, version in (one.partition("=") for one in packages)}
    lock = (root / "requirements.lock").read_text("utf-8")
    assert re.search(rf"^torch=={re.escape(versions.pop('pytorch'))}$", lock, re.MULTILINE)
    makefile = (root / "Makefile").read_text("utf-8")
    python = re.search(r"the lock is made on Python ([\d.]+)", makefile)[1]
    assert versions.pop("python") == python
    # What the Makefile calls beside Python: npm comes with Node.js.
    tools = {"git": "git, make", "make": "make book", "nodejs": "npm ci", "pip": "-m pip"}
    assert versions.keys() == tools.keys()
    texts = makefile + (root / "README.md").read_text("utf-8")
    assert all(words in texts for words in tools.values())
    assert of_pip["pip"] == ["--constraint requirements.lock", "--editable .[book,train,test]"]
    assert "--constraint requirements.lock --editable" in makefile
    assert "$(CHECKOUT) '.[book,train,test]'" in makefile


def test_no_code_names_a_dataset():
    names = {dataset.name for dataset in bundled_datasets()}
    word = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, sorted(names)))})(?![\w-])")
    for path in MODULES:
        constants = (node.value for node in nodes(path) if isinstance(node, ast.Constant))
        assert names.isdisjoint(constants), path
    pages = [
        path
        for folder in (PACKAGE.parent / "book", PACKAGE / "assets")
        for suffix in ("*.js", "*.css")
        for path in folder.rglob(suffix)
    ]
    for path in pages:
        code = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text("utf-8"), flags=re.S)
        assert not word.search(code), path


def test_an_init_holds_its_docstring_alone():
    for path in MODULES:
        if path.name == "__init__.py" and path.parent != PACKAGE:
            assert ast.get_docstring(parsed(path)), path
            assert len(parsed(path).body) == 1, path


def test_only_paths_reads_the_project_s_variables():
    for path in MODULES:
        text = path.read_text()
        assert "getenv" not in text
        if path.name != "paths.py":
            assert not re.search(r"environ(\.get\(|\[)\s*.CHAOS", text), path


def test_no_notebook_is_named_like_a_module_of_the_standard_library():
    for path in (PACKAGE.parent / "notebooks").glob("*.py"):
        assert path.stem not in sys.stdlib_module_names


def locked(name):
    """Return the versions in a lock of pip's, each with digests, by package."""
    text = (PACKAGE.parent / "requirements" / name).read_text("utf-8").replace("\\\n", " ")
    assert all(" --hash=sha256:" in line for line in text.splitlines())
    return dict(line.split()[0].split("==") for line in text.splitlines())


def test_what_is_installed_is_locked_by_digests_but_for_pytorch():
    lines = (PACKAGE.parent / "requirements.lock").read_text("utf-8").lower().split()
    known = {re.sub("[_.]", "-", name): version for name, version in (x.split("==") for x in lines)}
    everything, book = locked("all.txt"), locked("book.txt")
    assert known.items() - everything.items() == {("torch", known["torch"])}
    assert book.items() < everything.items()
    assert PYPROJECT["build-system"]["requires"] == [f"setuptools=={book['setuptools']}"]
    assert named(PROJECT["dependencies"]) | {"jupyter-book"} <= book.keys()
    assert "snakemake" not in book


def test_the_workflow_runs_the_gate_on_every_supported_python():
    text = (PACKAGE.parent / ".github" / "workflows" / "gate.yml").read_text("utf-8")
    gate = yaml.safe_load(text)["jobs"]["gate"]
    assert gate["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13"]
    assert gate["steps"][-1] == {"run": ".ci/run"}
    assert PROJECT["requires-python"] == ">=3.11.5,<3.14"


def test_workflows_name_each_action_by_its_commit_and_say_which_version_that_is():
    uses = [
        line.strip().removeprefix("- ")
        for path in (PACKAGE.parent / ".github").rglob("*.y*ml")
        for line in path.read_text("utf-8").splitlines()
        if re.match(r"\s*(- )?uses:", line)
    ]
    assert uses
    for one in uses:
        assert re.fullmatch(r"uses: [\w-]+/[\w./-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", one), one
