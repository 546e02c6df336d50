"""Chapters behind their sources: how that is found out, and that nothing is made from them."""

import json

import pytest
from helpers.checkout import MAKERS, append
from helpers.manifests import make_record

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_json, write_text
from chaos_utils.base.inputs import digest
from chaos_utils.base.record_keys import Key, digest_of_record, write_keys
from chaos_utils.publish import dependencies, staleness

RECORD = "_build/chapters/n/record.json"


def changed_since(*of):
    dependencies.forget()
    return staleness.changed_since(*of)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A chapter that was made from one module and one data file."""
    data = tmp_path / "data.jsonl"
    for name, text in {
        "data.jsonl": "{}\n",
        "chaos_utils/__init__.py": "",
        "chaos_utils/a.py": "x = 1\n",
        **MAKERS,
        "notebooks/n.py": "# %%\nfrom chaos_utils.a import x\n",
        "_toc.yml": "root: index\nchapters:\n  - file: chapters/n\n",
        "CITATION.cff": "title: A\nversion: 1\ndate-released: 2026-01-02\nauthors: [{name: A}]\n",
    }.items():
        write_text(tmp_path / name, text)
    monkeypatch.chdir(tmp_path)

    def data_of(notebook, data_parameter):
        return {"votes/data.jsonl": data} if data.exists() else {}

    monkeypatch.setattr(dependencies, "data_of", data_of)
    digests = dependencies.digests(tmp_path / "notebooks" / "n.py", "auto")
    outputs = {}
    for name in ("notebook.ipynb", "figures/one.svg"):
        write_text(tmp_path / "_build" / "chapters" / "n" / name, "{}")
        outputs[name] = digest(tmp_path / "_build" / "chapters" / "n" / name)
    write_text(tmp_path / "book" / "chapters" / "n.ipynb", "{}")
    record = make_record(notebook="n", made_from=digests, outputs=outputs)
    write_json(tmp_path / RECORD, record)
    return tmp_path


def test_what_has_changed_or_is_gone_is_named_and_so_are_other_authors(project):
    assert changed_since("n") == []
    (project / "notebooks" / "n.py").touch()
    append(project / "CITATION.cff", "url: https://example.org\n")
    assert changed_since("n") == []
    for name in ("notebooks/n.py", "chaos_utils/a.py"):
        append(project / name)
    append(project / "data.jsonl")
    changed = ["chaos_utils/a.py", "notebooks/n.py", "votes/data.jsonl"]
    assert changed_since("n") == changed
    (project / "data.jsonl").unlink()
    text = (project / "CITATION.cff").read_text()
    (project / "CITATION.cff").write_text(text.replace("name: A", "name: B"))
    assert changed_since("n") == ["CITATION.cff, authors", *changed]


@pytest.mark.parametrize("name", ["book/chapters/n.ipynb", "_build/chapters/n/figures/one.svg"])
def test_what_a_chapter_has_made_is_as_it_was_left(project, name):
    (project / name).write_text("[]")
    assert changed_since("n") == [name]
    (project / name).unlink()
    assert changed_since("n") == [name]


@pytest.mark.parametrize(("how", "named"), [("read", True), ("shown", True), ("computed", False)])
def test_a_recorded_table_that_a_chapter_has_read_is_one_of_its_sources(project, how, named):
    name = "results/tables/one.shares/snli.csv"
    record, tables = project / name, project / "results" / "tables"
    write_text(record, "dataset\nsnli\n")
    write_keys(tables, {"one.shares/snli.csv": Key("1")})
    asked = {"name": "one.shares/snli.csv", "how": how}
    asked |= {"sha256": digest_of_record(tables, asked["name"])} if named else {}
    write_text(project / "_build/chapters/n/tables/table_usage.jsonl", f"{json.dumps(asked)}\n")
    assert changed_since("n") == []
    write_keys(tables, {"one.shares/snli.csv": Key("2")})
    assert changed_since("n") == [name] * named
    write_keys(tables, {"one.shares/snli.csv": Key("1")})
    assert changed_since("n") == []
    record.write_text("dataset\nmnli\n")  # of the same size
    assert changed_since("n") == [name] * named
    record.unlink()
    assert changed_since("n") == [name] * named


def test_a_chapter_without_a_record_or_made_from_other_data_is_behind(project):
    assert changed_since("n", "auto") == []
    assert changed_since("n", "sample") == ["record.json"]
    record = json.loads((project / RECORD).read_text())
    write_json(project / RECORD, record | {"made_from": 5})
    for chapter in ("n", "never-made"):
        assert changed_since(chapter) == ["record.json"]


def test_a_site_is_behind_where_its_address_a_record_or_a_file_of_it_has_changed(finished):
    def changed(*address):
        dependencies.forget()
        return staleness.site_changed_since(*address)

    assert changed() == changed("") == []
    assert changed("https://example.org") == [staleness.MADE_FOR]
    names = ["_build/chapters/one/record.json", "_build/html/index.html", "_toc.yml"]
    for number, name in enumerate(names, start=1):
        append(finished / name, "\n")
        assert changed() == sorted(names[:number])
    (finished / names[1]).unlink()
    assert changed() == sorted(names)


def test_a_chapter_that_is_behind_is_refused_by_name(project):
    append(project / "chaos_utils/a.py")
    append(project / "notebooks/n.py")
    said = r"n: chaos_utils/a\.py, notebooks/n\.py\s(?s:.)*chaos build"
    with pytest.raises(ChaosError, match=said):
        staleness.refuse_stale()
