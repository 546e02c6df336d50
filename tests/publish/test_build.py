import pytest
from helpers.rows import write_dataset

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_text
from chaos_utils.book import Book
from chaos_utils.datasets import sources
from chaos_utils.publish import build, staleness


@pytest.fixture
def choose(tmp_path, monkeypatch):
    """`Book.prepare` on a machine that has no data and reaches nobody."""
    monkeypatch.setattr(paths, "find_project", lambda: None)
    monkeypatch.setenv("CHAOS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CHAOS_DATA", raising=False)
    messages = []

    def nobody(names, **options):
        raise ChaosError("Cannot fetch anything.")

    monkeypatch.setattr(sources, "fetch", nobody)

    def call(**options):
        given = {"sample": False, "strict": False, "dry_run": False} | options
        return Book().prepare(**given, say=messages.append, progress=False)

    call.messages = messages
    return call


def test_without_data_the_build_shows_recorded_numbers_and_says_so_unless_it_is_strict(choose):
    assert choose() == "auto"
    assert "recorded in results/tables/" in choose.messages[-1]
    with pytest.raises(ChaosError, match="Cannot fetch"):
        choose(strict=True)


def test_wrong_data_is_an_error_even_when_other_files_are_missing(choose, tmp_path, monkeypatch):
    folder = write_dataset(tmp_path / "wrong")
    (folder / "chaosNLI_v1.0" / "chaosNLI_alphanli.jsonl").unlink()
    monkeypatch.setenv("CHAOS_DATA", str(folder))
    with pytest.raises(ChaosError, match="SHA-256 differs"):
        choose()


def test_a_notebook_that_is_no_chapter_is_named_unless_it_says_to_be_run(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "project", lambda: tmp_path)
    write_text(tmp_path / "_toc.yml", "root: index\nchapters:\n  - file: chapters/one\n")
    for name in ("one", "new", "alone", "_template"):
        write_text(tmp_path / "notebooks" / f"{name}.py", "# `chaos run alone` runs it.\n")
    assert build._unlisted_notebooks() == ["new"]


def test_what_changes_while_the_book_is_built_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "build", lambda: tmp_path / "_build")
    several = [["chapter one", "site"], ["chapter one", "site"], []]
    monkeypatch.setattr(staleness, "steps", lambda *_, **__: several.pop(0))
    monkeypatch.setattr(staleness, "changed_since", lambda one: ["a.py", "b.py", "c.py", "d.py"])
    monkeypatch.setattr(staleness, "site_changed_since", lambda address: ["_toc.yml"])
    monkeypatch.setattr(build, "_make", lambda *_: (one for one in ()))
    said = []
    build.build("sample", say=said.append, progress=lambda *_: None)
    told = "chapter one (a.py, b.py, c.py …), site (_toc.yml)"
    assert said[-1] == f"changed while the book was built: {told}"
