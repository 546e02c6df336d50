"""What is parsed from sources, and cached: imports, and digests of what code means."""

import json
import shutil

import pytest

from chaos_utils.base import modules, paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.datasets import catalogue

FILES = {
    "_toc.yml": "root: index\n",
    "chaos_utils/__init__.py": "",
    "chaos_utils/a.py": "from chaos_utils import b\n\n\ndef f():\n    return b.NUMBERS\n",
    "chaos_utils/b.py": "from chaos_utils.data.c import read\n\nNUMBERS = read('numbers')\n",
    "chaos_utils/data/__init__.py": "",
    "chaos_utils/data/c.py": "def read(name):\n    return name\n",
    "chaos_utils/data/numbers.csv": "x\n1\n",
    "chaos_utils/data/others.csv": "x\n1\n",
    "chaos_utils/other.py": "import chaos_utils.a\n\nSETTINGS = 'settings.yml'\n",
    "chaos_utils/settings.yml": "{}\n",
    "chaos_utils/datasets/one.yml": "name: one\n",
    "chaos_utils/datasets/readers.py": "x = 1\n",
    "notebooks/n.py": "# %%\nseed: int = 0  # of all\n%matplotlib inline\n"
    "# %%\nfrom chaos_utils.a import f\n\n# %% [markdown]\n# import chaos_utils.other\n",
}  # fmt: skip


@pytest.fixture
def project(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    modules.clear_cache()
    yield tmp_path
    modules.clear_cache()


def test_a_notebook_s_imports_and_parameters_are_read_without_running_it(project):
    source = modules.source_of(project / "notebooks" / "n.py", notebook=True)
    assert source.imports == ("chaos_utils.a", "chaos_utils.a.f")
    assert source.declares == ("seed",)
    names = [path.name for path in modules.transitive_imports(source.imports)]
    assert names == ["__init__.py", "a.py", "b.py", "c.py"]


def test_libraries_are_those_of_all_that_code_imports_but_python_s_own(project):
    written = "import json\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch\n"
    written += "import scipy.stats as s\n\n\ndef later():\n    from pandas import DataFrame\n"
    (project / "chaos_utils/data/c.py").write_text(written)
    assert modules.libraries(["chaos_utils.a"]) == {"scipy", "pandas"}
    assert modules.libraries(["chaos_utils.other", "elsewhere"]) == {"scipy", "pandas"}
    (project / "chaos_utils/b.py").write_text("import seaborn\n")
    modules.clear_cache()
    assert modules.libraries(["chaos_utils.a"]) == {"seaborn"}


@pytest.mark.parametrize(
    ("file", "text", "changes"),
    [
        ("a.py", '"""Words."""  # a comment\n' + FILES["chaos_utils/a.py"], False),
        ("a.py", FILES["chaos_utils/a.py"] + "\n\nLATER = 1\n", True),
        ("data/c.py", "def read(name):\n    return name * 2\n", True),  # imported by b
        ("data/numbers.csv", "x\n2\n", True),  # beside c, and named by b
        ("data/others.csv", "x\n2\n", False),  # beside c, and named by nobody
        ("settings.yml", "a: 1\n", False),  # named by a module that is not imported
        ("datasets/one.yml", "name: other\n", False),  # counts for what is computed on it
    ],
)
def test_a_digest_of_code_holds_its_meaning_and_the_data_that_it_names(
    project, file, text, changes
):
    before = modules.code_digest("chaos_utils.a"), catalogue.digest_of_dataset("one")
    modules.save_cache()
    (project / "chaos_utils" / file).write_text(text)
    modules.clear_cache()
    assert (modules.code_digest("chaos_utils.a") != before[0]) == changes
    assert (catalogue.digest_of_dataset("one") != before[1]) == (file == "datasets/one.yml")


GONE = ["chaos_utils.gone", "chaos_utils.data.gone", "chaos_utils.gone.f", "chaos_utils.a.f.g"]


@pytest.mark.parametrize("name", GONE)
def test_a_module_that_is_named_and_has_no_file_is_an_error(project, name):
    """Skipped, it would leave the digests, and nobody would notice."""
    for digest_of in (
        modules.transitive_imports,
        modules.libraries,
        lambda names: modules.code_digest(*names),
        lambda names: modules.code_digest("chaos_utils.other", without=tuple(names)),
    ):
        with pytest.raises(ChaosError, match=f"no such module(?s:.)*{name.rpartition('.')[0]}"):
            digest_of([name])
    (project / "chaos_utils" / "b.py").write_text(f"import {name}\n")
    modules.clear_cache()
    with pytest.raises(ChaosError, match="no such module"):
        modules.code_digest("chaos_utils.a")
    assert modules.code_digest("elsewhere.a", "chaos_utils.other", without=("chaos_utils.a",))


def test_a_checkout_without_the_package_is_made_by_the_one_that_is_installed(project):
    shutil.rmtree(project / "chaos_utils")
    modules.clear_cache()
    (path,) = modules.transitive_imports(["chaos_utils.base.numbers"])
    assert modules.source_name(path) == "chaos_utils/base/numbers.py"
    assert modules.source_name(project / "notebooks" / "n.py") == "notebooks/n.py"


def test_what_is_left_out_does_not_count_nor_what_it_alone_imports(project):
    without = {"without": ("chaos_utils.b",)}
    before = modules.code_digest("chaos_utils.a", **without)
    for file, changes in {"b.py": False, "data/c.py": False, "a.py": True}.items():
        path = project / "chaos_utils" / file
        path.write_text(path.read_text() + "\nMORE = 1\n")
        modules.clear_cache()
        assert (modules.code_digest("chaos_utils.a", **without) != before) == changes


def test_every_data_file_of_the_package_is_named_by_a_module_or_is_a_dataset_s():
    package = paths.project() / modules.PACKAGE
    named = {name for path in package.rglob("*.py") for name in modules.source_of(path).data}
    left = set(modules._data_files(paths.project()).values()) - named
    assert left == {f"datasets/{path.name}" for path in package.glob("datasets/*.yml")} - named
    assert named >= {"datasets/tasks.yml", "datasets/releases.yml", "collection/protocol.json"}


def as_in_a_new_process():
    modules.clear_cache()
    modules._cached_sources.cache_clear()


@pytest.fixture
def cached(project):
    """The digest of some code, and the file that caches all that was parsed for it."""
    digest = modules.code_digest("chaos_utils.a")
    modules.save_cache()
    as_in_a_new_process()
    yield digest, project / "_build" / "modules.json"
    as_in_a_new_process()


def test_what_was_read_once_is_not_parsed_again(cached, monkeypatch):
    monkeypatch.setattr(modules.ast, "parse", None)
    assert modules.code_digest("chaos_utils.a") == cached[0]


def test_a_damaged_cache_is_no_cache(cached):
    digest, cache_file = cached
    whole = cache_file.read_text()
    for damaged in (whole[:-30], whole.replace('["chaos_utils.b"', "[3"), "[]"):
        cache_file.write_text(damaged)
        as_in_a_new_process()
        assert modules.code_digest("chaos_utils.a") == digest
        modules.save_cache()
        assert cache_file.read_text() == whole


@pytest.mark.parametrize(
    ("change", "counts"), [({}, True), ({"valid_for": "another algorithm"}, False)]
)
def test_what_another_algorithm_cached_does_not_count(cached, change, counts):
    digest, cache_file = cached
    content = json.loads(cache_file.read_text()) | change
    for source in content["sources"].values():
        source["meaning"] = "another meaning"
    cache_file.write_text(json.dumps(content))
    assert (modules.code_digest("chaos_utils.a") != digest) == counts


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"x = 1\nif True print(1)\n", r"not valid Python(?s:.)*chaos_utils/b\.py, line 2"),
        (b"# caf\xe9\n", "not UTF-8"),
        (b"x = '\0'\n", "not valid Python"),
    ],
)
def test_a_module_that_cannot_be_read_is_one_message(project, content, message):
    (project / "chaos_utils" / "b.py").write_bytes(content)
    with pytest.raises(ChaosError, match=message):
        modules.transitive_imports(["chaos_utils.a"])
