"""Who answers what the machinery asks: the checkout's project, or else the package's own book."""

import pandas as pd
import pytest

from chaos_utils.base import modules, project
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.inputs import Input
from chaos_utils.base.plain import PlainBook
from chaos_utils.base.table import Origin, Table
from chaos_utils.book import Book
from chaos_utils.publish import dependencies, licences
from chaos_utils.report.tables import publish_table

OTHER = """\
from chaos_utils.base.project import Group, Licence, Project, Source
from chaos_utils.base.style import HUES


class Heights(Project):
    def licences(self):
        return {"text": Licence("https://spdx.org/licenses/CC0-1.0", "CC0 1.0", "All of it.")}

    def source_of(self, entry):
        return None

    def groups(self, names=None):
        known = Group("boys", "Boys", Source("Heights", "", "", "CC0"), (("tall", HUES[0]),), {})
        return [known for name in (["boys"] if names is None else names) if {"boys": known}[name]]

    def listed(self, names):
        return " & ".join(names)

    def cautions(self, rows):
        return {"A": "is a giant"}

    def shows_other_data(self, inputs, parameters):
        return True

    def neutral_title(self, id):
        return "Heights"


class Silent(Heights):
    cautions = Project.cautions


class Broken(Heights):
    def __init__(self):
        raise RuntimeError("no heights today")
"""


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A function that makes a checkout whose settings name a project, and goes there."""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "_toc.yml").write_text("root: index\n")
    (tmp_path / "heights.py").write_text(OTHER)
    cited = "title: A\nversion: 1\ndate-released: 2026-01-02\nauthors: [{name: A}]\n"
    (tmp_path / "CITATION.cff").write_text(cited)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)

    def make(settings):
        (tmp_path / "_config.yml").write_text(settings)
        project._project_of.cache_clear()

    yield make
    project._project_of.cache_clear()


def test_the_package_s_book_answers_where_nobody_else_is_named(checkout, monkeypatch):
    assert isinstance(project.current(), Book)
    checkout("title: A book\n")
    assert isinstance(project.current(), Book)
    monkeypatch.setattr(project.paths, "find_project", lambda: None)
    said = project.current().cautions(pd.DataFrame({"system": ["ModernBERT-large"]}))
    assert "may have seen them" in said["ModernBERT-large"]
    assert project.current().licences()["items"].name == "CC BY-NC 4.0"
    with pytest.raises(ChaosError, match="Unknown dataset"):
        project.current().groups(["nowhere"])


def test_a_plain_book_has_no_groups_of_items():
    assert PlainBook().groups() == []
    with pytest.raises(ChaosError, match="no groups of items"):
        PlainBook().groups(["x"])


def test_another_book_says_what_its_figures_and_tables_say(checkout, monkeypatch, tmp_path):
    checkout("project_class: heights:Heights\n")
    assert project.module() == "heights"
    monkeypatch.setenv("CHAOS_RUN", str(tmp_path / "run"))
    rows = pd.DataFrame({"dataset": ["boys"], "system": ["A"]})
    table = Table(rows, ("dataset",), {"boys": Origin((Input("own-data/b.csv", "0" * 64),))})
    made = publish_table("tbl-heights", table, caption="They are tall. All of them.").manifest
    assert (made.title, made.caption) == ("Heights", "Heights. All of them.")
    assert made.cautions == {"A": "is a giant"}
    assert made.licence == licences.licence_of(made) == "https://spdx.org/licenses/CC0-1.0"


def test_another_book_s_answers_are_a_source_of_its_chapters(checkout, tmp_path, monkeypatch):
    checkout("project_class: heights:Heights\n")
    notebook = tmp_path / "notebooks" / "one.py"
    notebook.write_text("# %%\nx = 1\n")
    modules.clear_cache()
    names = dependencies.digests(notebook, "auto").keys()
    assert names >= {"heights.py", "notebooks/one.py", "chaos_utils/base/project.py"}
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "heights.py").rename(tmp_path / "elsewhere" / "heights.py")
    modules.clear_cache()
    with pytest.raises(ChaosError, match=r"No digest can hold(?s:.)*found: *heights"):
        dependencies.digests(notebook, "auto")
    modules.clear_cache()


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("nowhere:Book", "No module named 'nowhere'"),
        ("heights:Giants", "no attribute 'Giants'"),
        ("heights", "heights"),
        ("5", "5"),
        ("json:JSONDecoder", "json:JSONDecoder"),
        ("heights:Silent", "cautions"),  # no answer is no "nothing must be said"
        ("heights:Broken", "no heights today"),
    ],
)
def test_what_cannot_answer_is_one_clear_error(checkout, name, found):
    checkout(f"project_class: {name}\n")
    with pytest.raises(ChaosError, match="cannot be asked") as fault:
        project.current()
    assert found in str(fault.value)
    assert "_config.yml" in str(fault.value)
