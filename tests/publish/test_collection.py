import json

import pytest

from chaos_utils.errors import ChaosError
from chaos_utils.publish import collection


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A book of two chapters whose first was run, with three registered ids."""
    (tmp_path / "_toc.yml").write_text(
        "root: index\nchapters:\n  - file: chapters/one\n  - file: chapters/two\n"
    )
    for name, id in (("one", "fig-b"), ("two", "fig-c")):
        path = tmp_path / "notebooks" / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'# %% [markdown]\n# # Chapter *{name}*\n\n# %%\npublish_figure("{id}")\n')
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "figures.yml").write_text("fig-b: 0.1.0\nfig-a: 0.1.0\nfig-c: 0.1.0\n")
    for id in ("fig-a", "fig-b"):
        write(tmp_path, "one", id)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(project, chapter, id):
    path = project / "_build" / "chapters" / chapter / "figures" / f"{id}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    manifest = {"id": id, "title": f"Title of *{id}*", "synthetic": False, "notebook": chapter}
    path.write_text(json.dumps(manifest))


def test_what_was_made_is_in_the_registry_s_order(project):
    assert list(collection.manifest_files()) == ["fig-b", "fig-a"]
    assert collection.read("fig-a")["notebook"] == "one"


def test_the_listing_tells_what_was_made_and_what_was_not(project):
    assert collection.listing() == [
        {"id": "fig-b", "title": "Title of fig-b", "chapter": "one", "made": True},
        {"id": "fig-a", "title": "Title of fig-a", "chapter": "one", "made": True},
        {"id": "fig-c", "title": None, "chapter": "two", "made": False},
    ]
    assert collection.chapter_title("two") == "Chapter two"


@pytest.mark.parametrize(
    ("id", "told"), [("fig-c", "The last build has no fig-c"), ("fig-bb", "did you mean 'fig-b'")]
)
def test_what_is_not_there_is_told(project, id, told):
    with pytest.raises(ChaosError, match=told):
        collection.read(id)


def test_one_id_from_two_notebooks_is_refused(project):
    write(project, "two", "fig-a")
    with pytest.raises(ChaosError, match="fig-a is made by two notebooks"):
        collection.manifest_files()
