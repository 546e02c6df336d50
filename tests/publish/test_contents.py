import pytest
from helpers.manifests import make_manifest

from chaos_utils.base.errors import ChaosError
from chaos_utils.publish import contents


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


def write(project, chapter, id, *, synthetic=False, recorded=()):
    folder = project / "_build" / "chapters" / chapter / "figures"
    about = {"synthetic": synthetic, "recorded": recorded, "notebook": chapter}
    make_manifest(id, title=f"Title of *{id}*", **about).write(folder)


def test_the_listing_tells_the_state_of_each(project, monkeypatch):
    changed = {"one": ["chaos_utils/base/style.py"], "two": []}
    monkeypatch.setattr(contents.staleness, "changed_since", changed.get)
    write(project, "two", "fig-d", synthetic=True)
    write(project, "two", "fig-g", recorded=["snli"])
    with (project / "book" / "figures.yml").open("a") as registry:
        registry.write("fig-d: 0.1.0\nfig-g: 0.1.0\nfig-e: {since: 0.1.0, moved_to: fig-a}\n")
        registry.write("fig-f: {since: 0.1.0, withdrawn: It was wrong.}\n")
    rows = {row.pop("id"): row for row in contents.list_ids()}
    assert {id: row["state"] for id, row in rows.items()} == {
        "fig-b": "stale", "fig-a": "stale", "fig-c": "not made", "fig-d": "synthetic",
        "fig-g": "recorded", "fig-e": "moved", "fig-f": "withdrawn",
    }  # fmt: skip
    assert rows["fig-b"]["title"] == "Title of fig-b"
    assert rows["fig-b"]["changed"] == changed["one"]
    assert (rows["fig-c"]["title"], rows["fig-c"]["chapter"]) == (None, "two")
    changed["one"] = []
    assert contents.list_ids()[0]["state"] == "made"
    assert contents.chapter_title("two") == "Chapter two"


def test_what_is_not_there_or_made_twice_is_reported(project):
    for id, message in (("fig-c", "The last build has no fig-c"), ("fig-bb", "mean 'fig-b'")):
        with pytest.raises(ChaosError, match=message):
            contents.read(id)
    write(project, "two", "fig-a")
    with pytest.raises(ChaosError, match="fig-a is made by two notebooks"):
        contents.manifest_files()
