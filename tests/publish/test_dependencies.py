import fnmatch

import pytest

from chaos_utils import book
from chaos_utils.base import modules, paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_text
from chaos_utils.datasets import auxiliary_data
from chaos_utils.datasets.catalogue import bundled_datasets, known_files
from chaos_utils.publish import dependencies

ANNOTATIONS, DISAGREEMENT, PAGES = "annotations", "disagreement", "the site"
BOTH = {ANNOTATIONS, DISAGREEMENT}


@pytest.fixture
def find_by(monkeypatch):
    """A function that lets the book find data files by another function."""

    def replace(find):
        monkeypatch.setattr(book, "find", find)
        dependencies.forget()

    yield replace
    monkeypatch.undo()
    dependencies.forget()


@pytest.fixture(scope="module")
def sources():
    """What two chapters, and the pages, are made from."""
    chapters = {
        name: dependencies.digests(paths.notebooks() / f"{name}.py", "sample").keys()
        for name in (ANNOTATIONS, DISAGREEMENT)
    }
    return chapters | {PAGES: dependencies.digests_of_pages().keys()}


@pytest.mark.parametrize(
    ("file", "parts"),
    [
        ("notebooks/annotations.py", {ANNOTATIONS}),
        ("chaos_utils/plots/disagreement.py", BOTH),
        ("chaos_utils/plots/annotations.py", {ANNOTATIONS}),
        ("chaos_utils/plots/atlas.py", {DISAGREEMENT}),
        ("chaos_utils/plots/marks.py", BOTH | {PAGES}),  # the reference shows it
        ("chaos_utils/report/runner.py", BOTH),
        ("chaos_utils/book.py", BOTH | {PAGES}),  # nothing imports it
        ("chaos_utils/titles.yml", BOTH | {PAGES}),  # beside it
        ("chaos_utils/recorded.py", BOTH | {PAGES}),
        ("chaos_utils/pages/explorer.py", {PAGES}),
        ("chaos_utils/publish/landing.py", {PAGES}),
        ("chaos_utils/datasets/tasks.yml", BOTH | {PAGES}),  # beside a module
        ("chaos_utils/publish/templates/landing.html", {PAGES}),
        ("chaos_utils/cli/console.py", set()),
        ("chaos_utils/metrics/divergence.py", BOTH | {PAGES}),
        ("book/cite.md", {PAGES}),
        ("book/_ext/chaos_book/items.py", {PAGES}),
        ("chaos_utils/sphinx/site.py", {PAGES}),
        ("chaos_utils/assets/static/book.css", {PAGES}),
    ],
)
def test_what_a_source_is_part_of(sources, file, parts):
    assert {part for part, names in sources.items() if file in names} == parts


def test_what_stands_beside_the_votes_is_followed(tmp_path, find_by, monkeypatch):
    found = dependencies.data_of_pages()
    find_by(lambda name: tmp_path / name)
    shown = [
        *auxiliary_data.VARIERR.files,
        *auxiliary_data.TAXONOMY.files,
        *auxiliary_data.LIVENLI.files,
    ]
    pages = dependencies.data_of_pages()
    assert shown
    assert pages.keys() >= {*shown, *auxiliary_data.AMBIENT.files} | found.keys()

    def needed(chapter, data):
        return dependencies.data_of(paths.notebooks() / f"{chapter}.py", data).keys()

    assert needed("why", "auto") >= {*shown, *auxiliary_data.AMBIENT.files}
    assert not needed("why", "sample") & {*shown, *auxiliary_data.AMBIENT.files}
    machines = {*auxiliary_data.JUDGES.files, *auxiliary_data.ANNOTATORS.files}
    assert needed("machine_crowds", "auto") >= machines
    others = {file.name for one in bundled_datasets() for file in one.files if not one.in_book}
    assert needed("disagreement", "auto") >= others
    assert not needed("annotations", "auto") & (others | machines | {*shown})

    find_by(lambda name: tmp_path if name == shown[0] else None)
    monkeypatch.setattr(dependencies, "_digest", lambda path: path.as_posix())
    assert shown[0] in dependencies.digests_of_pages()


def test_what_modules_declare_to_read_is_known():
    sources = list(map(modules.source_of, (paths.project() / "chaos_utils").rglob("*.py")))
    patterns = {pattern for one in sources for pattern in one.reads}
    assert {"votes", "predictions"} < patterns
    for pattern in patterns - {"votes", "predictions"}:
        first, _, rest = pattern.partition("/")
        ours = (paths.project() / first).rglob(rest.rpartition("/")[2])
        names = [*known_files(), *(one.relative_to(paths.project()).as_posix() for one in ours)]
        assert fnmatch.filter(names, pattern), pattern


@pytest.mark.parametrize("said", ['READS = "a/*"', "READS = 5", "READS: list = ['a/*']"])
def test_what_a_module_declares_is_a_tuple_of_texts(tmp_path, said):
    (tmp_path / "module.py").write_text(said)
    with pytest.raises(ChaosError, match="READS cannot be read"):
        modules.source_of(tmp_path / "module.py")


def test_a_chapter_that_can_read_our_runs_depends_on_all_of_them(tmp_path, monkeypatch):
    (tmp_path / "run").mkdir()
    (tmp_path / "plans").mkdir()
    for name in ("run/run.json", "run/predictions.parquet", "plans/a.yml", "README.md"):
        (tmp_path / name).write_text("")
    monkeypatch.setattr(paths, "results", lambda: tmp_path)

    def needed(chapter):
        found = dependencies.data_of(paths.notebooks() / f"{chapter}.py", "sample")
        return {path.name for path in found.values() if path.is_relative_to(tmp_path)}

    assert needed("results") == {"run.json", "predictions.parquet"}
    for name in (
        "tables/keys.json", ".tables-12ab/keys.json", "run/.ipynb_checkpoints/run.ipynb",
        ".ipynb_checkpoints/run/run.json",
    ):  # fmt: skip
        write_text(tmp_path / name, "")
    assert needed("results") == {"run.json", "predictions.parquet"}
    assert needed("finetuning") == {"run.json", "predictions.parquet", "a.yml"}
    assert needed("annotations") == set()


@pytest.mark.parametrize("text", [b"", b"root: [", b"root: \xff", b"chapters: []"])
def test_a_table_of_contents_that_cannot_be_read_is_one_message(tmp_path, monkeypatch, text):
    (tmp_path / "_toc.yml").write_bytes(text)
    monkeypatch.setattr(paths, "project", lambda: tmp_path)
    with pytest.raises(
        ChaosError, match=r"table of contents (cannot be read|is not UTF-8)(?s:.)*_toc\.yml"
    ):
        dependencies.files()
