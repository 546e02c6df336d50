import json
from html import escape, unescape
from textwrap import dedent

import nbformat
import pytest
from helpers.faults import refused
from helpers.rows import row, write_dataset
from markdown_it import MarkdownIt
from nbconvert.filters.markdown_mistune import markdown2html_mistune

from chaos_utils.base import inputs, paths
from chaos_utils.base.authorship import read_citation
from chaos_utils.base.errors import ChaosError
from chaos_utils.report import citations, parameters, runner, runs, warm
from chaos_utils.report.manifests import read_manifest

pytestmark = pytest.mark.usefixtures("warm_processes")

HEAD = """\
# %% [markdown]
# # A chapter

# %% tags=["parameters"]
data: str = "auto"  # which data
n: int = 2  # how many
"""
BODY = """
# %%
import pandas as pd
from chaos_utils.base.table import Origin, Table
from chaos_utils.datasets.loading import load_votes
from chaos_utils.report.tables import publish_table
votes = load_votes("snli", data)
rows = pd.DataFrame({"n": [n], "items": [len(votes)]})
table = Table(rows, ("n",), {"": Origin(votes.inputs)})
publish_table("tbl-n", table, caption="How many.")
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with a build folder of its own."""
    (tmp_path / "project").mkdir()
    monkeypatch.setattr(paths, "build", lambda: tmp_path / "project" / "_build")
    monkeypatch.setattr(paths, "runs", lambda: tmp_path / "project" / "runs")
    return tmp_path / "project"


def run(project, body=BODY, given=None, *, head=HEAD, folder="run", **options):
    """Write the notebook `chapter` and run it; return the folder that it leaves."""
    source = project / "chapter.py"
    source.write_text(head + dedent(body))
    values = parameters.resolve(source, {"data": "sample"} | (given or {}))
    runner.run_notebook(source, values, project / folder, **options)
    return project / folder


def test_a_run_leaves_notebook_figures_record_and_page(project):
    failed = project / "_build" / "failed" / "run.ipynb"  # of an earlier try
    failed.parent.mkdir(parents=True)
    failed.touch()
    said, printed = [], []
    given, body = {"n": "5"}, "\n# %%\nprint('one')\nprint('two')\n" + BODY
    folder = run(
        project, body, given=given, standalone=True,
        progress=lambda *now: said.append(now), say=printed.append,
    )  # fmt: skip
    assert printed == ["one", "two"]
    assert not failed.exists()
    executed = nbformat.read(folder / "notebook.ipynb", as_version=4)
    streams = [
        out.text for cell in executed.cells for out in cell.get("outputs", []) if "text" in out
    ]
    assert streams == ["one\ntwo\n"]
    made = {"notebook.ipynb", "page.html", "figures/tbl-n.csv", "figures/tbl-n.json"}
    assert set(inputs.digests(folder)) == made | {"record.json"}
    assert said[-1][0] <= said[-1][1]
    manifest = json.loads((folder / "figures" / "tbl-n.json").read_text())
    assert manifest["notebook"] == "chapter"
    assert manifest["data"] == [{"n": 5, "items": 300, "synthetic_sample": True}]
    record = json.loads((folder / "record.json").read_text())
    assert manifest["parameters"] == record["parameters"] == {"data": "sample", "n": 5}
    assert [entry["name"] for entry in record["inputs"]] == ["synthetic-sample/chaosNLI_snli.jsonl"]
    assert set(record["outputs"]) == made
    page = (folder / "page.html").read_text()
    assert "<script" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "Synthetic sample" in page
    assert "<title>run</title>" in page
    cited = citations.bibtex(
        read_citation(), read_manifest(folder / "figures" / "tbl-n.json"), runs.load(folder)
    )
    assert cited in unescape(page)
    assert "n = 5 (in the book 2)" in unescape(page.partition("<details>")[0])


def test_what_varies_is_stripped_and_the_parameters_are_shown(project, monkeypatch):
    body = "\n# %%\nfrom IPython.display import Markdown\nMarkdown(' \\n')\n\n# %%\nMarkdown('a')\n"
    first = (run(project, BODY + body) / "notebook.ipynb").read_bytes()
    monkeypatch.delenv(warm.SOCKET)  # a kernel that is not forked
    assert (run(project, BODY + body) / "notebook.ipynb").read_bytes() == first
    notebook = nbformat.reads(first.decode(), as_version=4)
    nbformat.validate(notebook)
    assert notebook.cells[1].source.splitlines()[4] == (
        "| `data` | <code>sample</code> (default <code>auto</code>) | which data |"
    )
    assert all("papermill" not in cell.metadata for cell in notebook.cells)
    assert not notebook.metadata.keys() & {"papermill", "jupytext"}
    assert [len(cell.outputs) for cell in notebook.cells[-2:]] == [0, 1]  # nothing without a word


def test_a_value_is_shown_as_it_is_and_cannot_break_out_of_the_table():
    value = "a|b`<img src=x>` **c** _d_ [e](http://f.org) $g$ {term}`h` &lt; \n# i"
    table = f"| value |\n| --- |\n| {runner._code(value)} |\n"
    for rendered in (markdown2html_mistune(table), MarkdownIt().enable("table").render(table)):
        assert f"<td><code>{escape(value, quote=False)}</code></td>" in rendered


def test_pages_and_records_hold_no_absolute_path(project, tmp_path):
    data = write_dataset(tmp_path / "mine", snli=[row(uid="a")])
    body = BODY + "\n# %%\nimport warnings\nwarnings.warn('careful')\n"
    folder = run(project, body, given={"data": str(data)}, standalone=True)
    for path in (folder / "page.html", folder / "record.json", folder / "figures" / "tbl-n.json"):
        text = path.read_text()
        assert str(tmp_path) not in text
        assert "/tmp/" not in text
        assert "/mine" in text.replace("&#47;", "/")
    source = project / "chapter.py"
    values = parameters.resolve(source, {"data": str(data)})
    runs.folder_of(source, values).parent.mkdir(parents=True, exist_ok=True)
    (project / "run").rename(runs.folder_of(source, values))
    assert runs.is_there(source, values)


def test_a_fault_that_the_reader_can_mend_is_shown_as_it_is(project):
    body = "from chaos_utils.base.errors import ChaosError\n"
    with pytest.raises(ChaosError) as fault:
        run(project, f"\n# %%\n{body}raise ChaosError('No votes.', where='a.csv', todo='add')\n")
    assert str(fault.value).splitlines() == [
        "No votes.", "  where:     a.csv", "  to do:     add", "  notebook:  chapter"
    ]  # fmt: skip


def test_a_failing_cell_is_named_and_what_was_there_stays(project):
    (project / "run").mkdir()
    (project / "run" / "notebook.ipynb").touch()
    where = f"code cell 3, line 13 of {project / 'chapter.py'}: 1 / 0"
    error = "ZeroDivisionError: division by zero"
    with refused(problem="'chapter'", where=where, found=error, todo="_build/failed/run.ipynb"):
        run(project, "\n# %%\nx = 1\n\n# %%\nprint(x)\n1 / 0\n")
    kept = nbformat.read(project / "_build" / "failed" / "run.ipynb", as_version=4)
    assert any(o.output_type == "error" for c in kept.cells for o in c.get("outputs", []))
    assert set(inputs.digests(project / "run")) == {"notebook.ipynb"}


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import os\nos.kill(os.getpid(), 9)", "kernel of notebook 'chapter' died(.|\n)*import os"),
        ("raise MemoryError('no 3 GiB left')", "out of memory: ask for less"),
    ],
)
def test_a_kernel_that_dies_or_has_no_memory_says_so(project, code, said):
    with pytest.raises(ChaosError, match=said) as fault:
        run(project, f"\n# %%\n{code}\n")
    assert "out of memory" in str(fault.value)
    assert not (project / "run").exists()


@pytest.mark.parametrize(("more", "n"), [("", "1"), ("threads: int = 0  # how many\n", "4")])
def test_where_a_kernel_runs_and_with_how_many_threads(project, monkeypatch, more, n):
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    body = f"""
    # %%
    import os, sys
    from pathlib import Path
    assert Path.cwd().name.startswith(".run-")
    assert not any(part.endswith("notebooks") for part in sys.path)
    assert os.environ["OMP_NUM_THREADS"] == "{n}"
    """
    run(project, body, head=HEAD + more)


def test_a_folder_that_cannot_be_written(project):
    (project / "runs").write_text("a file where a folder should be")
    with pytest.raises(ChaosError, match=r"Cannot write here(.|\n)*choose another place"):
        run(project, folder="runs/x")


def test_the_template_of_a_chapter_runs(project):
    source = paths.notebooks() / "_template.py"
    runner.run_notebook(source, parameters.resolve(source, {"data": "sample"}), project / "run")
    made = {path.stem for path in (project / "run" / "figures").glob("*.json")}
    assert made == {"fig-template", "tbl-template"}
