import json
import shutil
import time
from pathlib import Path
from threading import Thread

import pytest
from helpers.faults import refused
from helpers.manifests import make_manifest, make_record

from chaos_utils.base import modules, paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_json
from chaos_utils.base.inputs import Input, digest, digests
from chaos_utils.report import runner, runs
from chaos_utils.report.provenance import run_id


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A notebook of a checkout."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "_toc.yml").touch()
    (tmp_path / "notebooks" / "one.py").write_text("1")
    return tmp_path / "notebooks" / "one.py"


def test_a_run_is_made_by_one_at_a_time(source, monkeypatch):
    events = []

    def make(*_, **options):
        events.append("begin")
        time.sleep(0.1)
        events.append("end")

    monkeypatch.setattr(runner, "run_notebook", make)
    threads = [Thread(target=runs.run, args=(source, {})) for _ in range(3)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert events == ["begin", "end"] * 3


def test_a_run_of_another_notebook_or_other_parameters_is_not_there(source):
    values = {"seed": 1}
    folder = runs.folder_of(source, values)
    right = make_record(notebook_sha256=digest(source), parameters=values)
    for record, is_there in (
        (right, True),
        (right | {"parameters": {"seed": 2}}, False),
        (right | {"notebook_sha256": "0"}, False),
    ):
        write_json(folder / paths.RECORD_FILE, record)
        assert runs.is_there(source, values) == is_there


NOTEBOOK = "# %%\nn: int = 2  # how many\n# %%\nfrom chaos_utils.a import f\n\nf(n)\n"
VOTES = Input("own-data/votes.csv", "1" * 64)


@pytest.mark.parametrize(
    ("changes", "is_same"),
    [
        ({"n": 3}, False),
        ({"files": [Input(VOTES.name, "2" * 64)]}, False),
        ({"notebook": NOTEBOOK.replace("f(n)", "f(n + 1)")}, False),
        ({"code": "def f(n):\n    return -n\n"}, False),
        ({"yaml": "name: two\n"}, False),
        ({"notebook": f"{NOTEBOOK}# a comment\n# %% [markdown]\n# Prose.\n"}, True),
        ({"code": '"""Words."""\n\n\ndef f(n):\n    return n  # as it is\n'}, True),
        ({"folder": "elsewhere"}, True),
        ({"absolute": True}, True),
    ],
)
def test_the_id_of_a_run_stands_for_what_decides_it_on_any_machine(
    tmp_path, monkeypatch, changes, is_same
):
    def id_of(place, n=2, files=(VOTES,), notebook=NOTEBOOK, code="def f(n):\n    return n\n",
              yaml="name: one\n", folder="here", absolute=False):  # fmt: skip
        project = tmp_path / place / folder
        for name, text in (
            ("notebooks/one.py", notebook), ("_toc.yml", ""), ("chaos_utils/a.py", code),
            ("chaos_utils/__init__.py", ""), ("chaos_utils/datasets/one.yml", yaml),
            ("votes.csv", ""),
        ):  # fmt: skip
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            (project / name).write_text(text)
        monkeypatch.chdir(project)
        modules.clear_cache()
        data = str(project / "votes.csv") if absolute else "votes.csv"
        return run_id(project / "notebooks" / "one.py", {"n": n, "data": data}, files, project)

    assert (id_of("first") == id_of("second", **changes)) == is_same
    modules.clear_cache()


@pytest.fixture
def made(source):
    """A function that leaves a run below runs/ with one table of one value."""

    def make(name, value=1.0, **more):
        folder = paths.runs() / name
        manifest = make_manifest("tbl-x", data=[{"x": value}])
        manifest.write(folder / paths.FIGURES)
        (folder / paths.FIGURES / "tbl-x.csv").write_text(f"x\n{value}\n")
        record = make_record(outputs=digests(folder), **more)
        write_json(folder / paths.RECORD_FILE, record)
        return folder

    return make


def test_a_run_is_found_by_folder_name_and_id_also_where_it_was_moved(made, tmp_path):
    folder = made("one-1", id="one-abc")
    for name in (str(folder), "runs/one-1", "one-1", "one-abc"):
        assert runs.find(name).samefile(folder)
    moved = shutil.move(folder, tmp_path / "elsewhere")
    record = runs.load(runs.find(moved))
    assert runs.manifest_in(Path(moved), record, "tbl-x").data == [{"x": 1.0}]
    with pytest.raises(ChaosError, match="There is no such run"):
        runs.find("one-abc")


def test_runs_of_one_id_are_one_unless_their_numbers_differ(made):
    made("one-1", id="one-abc")
    made("one-2", id="one-abc")
    assert runs.find("one-abc").name == "one-1"
    made("one-3", value=2.0, id="one-abc")
    with refused(any=("one-1", "one-3")):
        runs.find("one-abc")


def _changed(folder, change):
    path = folder / paths.RECORD_FILE
    write_json(path, json.loads(path.read_text()) | change)


@pytest.mark.parametrize(
    ("harm", "id", "message"),
    [
        (lambda run: _changed(run, {"schema": 1}), "tbl-x", "Another version of the package"),
        (lambda run: _changed(run, {"inputs": 3}), "tbl-x", "record cannot be read"),
        (lambda run: (run / "record.json").write_text("{"), "tbl-x", "record cannot be read"),
        (lambda run: (run / "figures/tbl-x.csv").write_text("x\n2\n"), "tbl-x", "has changed"),
        (lambda run: (run / "figures/tbl-x.json").unlink(), "tbl-x", "no file"),
        (lambda run: None, "tbl-y", "did you mean 'tbl-x'"),
    ],
)
def test_what_is_not_as_the_run_made_it_is_not_cited(made, harm, id, message):
    folder = made("one-1")
    harm(folder)
    with pytest.raises(ChaosError, match=message):
        runs.manifest_in(folder, runs.load(folder), id)
