"""Sweeps: what the grid holds, what is run and what is not, which runs failed and why."""

import csv
import json
from pathlib import Path

import pytest
from helpers.checkout import PROJECT, TINY, add_tiny, chaos, copy_checkout
from helpers.manifests import make_record

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.files import write_json, write_text
from chaos_utils.base.inputs import digest
from chaos_utils.base.paths import RECORD_FILE
from chaos_utils.publish import cluster, sweep


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """The tiny notebook's source, for grids that are not run."""
    monkeypatch.chdir(PROJECT)
    (tmp_path / "tiny.py").write_text(TINY)
    return tmp_path / "tiny.py"


def test_values_are_split_at_commas_outside_lists():
    assert sweep.split_values("") == [""]
    assert sweep.split_values("0, 1,2") == ["0", "1", "2"]
    assert sweep.split_values('["a]",","],[]') == ['["a]",","]', "[]"]
    assert sweep.split_values(r'["a\"],b"],[]') == [r'["a\"],b"]', "[]"]


@pytest.mark.parametrize("text", ["1,,2", "1,", ",1", "1, ,2"])
def test_values_that_cannot_be_split_are_an_error(text):
    with pytest.raises(ChaosError, match="missing"):
        sweep.split_values(text)


def test_a_grid_holds_every_combination_once(tiny):
    given = {"rate": "1,2", "seed": "0,1,2", "datasets": '["snli","mnli"],["snli"]'}
    planned = sweep.plan(tiny, given)
    assert len(planned.runs) == 12
    assert {len(values["datasets"]) for values in planned.runs.values()} == {1, 2}
    assert planned.varied == ("rate", "seed", "datasets")
    assert planned.missing() == list(planned.runs)
    assert sweep.plan(tiny, given | {"rate": "2,1"}).folder == planned.folder
    assert sweep.plan(tiny, given | {"rate": "2,3"}).folder != planned.folder
    assert sweep.plan(tiny, {"rate": "1,2", "seed": "0"}).varied == ("rate",)


def test_a_grid_is_checked_whole_before_anything_runs(tiny):
    for name, values, message in (
        ("sead", "0,1", "did you mean 'seed'"),
        ("seed", "0,one", "'one'"),
        ("rate", "1,1.0", "the same run twice"),
        ("datasets", '["snli","mnli"', "wrong value"),
    ):
        with pytest.raises(ChaosError, match=message):
            sweep.plan(tiny, {name: values})


def test_an_unknown_profile_and_one_that_cannot_be_used_here(tmp_path, monkeypatch):
    monkeypatch.chdir(PROJECT)
    with pytest.raises(ChaosError, match="did you mean 'slurm'"):
        cluster.find_profile("slrum")
    for executor, message in (("nobody-has-this", "not installed"), ("[", "cannot be read")):
        (tmp_path / "config.yaml").write_text(f"executor: {executor}\n")
        with pytest.raises(ChaosError, match=message):
            cluster.find_profile(str(tmp_path))


def test_what_is_there_is_not_run_again_and_what_failed_is(tiny, tmp_path, monkeypatch):
    asked = []
    (tmp_path / "_toc.yml").write_text("root: index\n", "utf-8")
    monkeypatch.setattr(sweep.paths, "project", lambda: tmp_path)
    monkeypatch.setattr(sweep.paths, "runs", lambda: tmp_path / "runs")
    grid = sweep.plan(tiny, {"seed": "0,1"})
    one, other = grid.runs

    def submit(plan, profile, *, jobs):
        todo = list(json.loads(plan.read_text())["runs"])
        asked.append(todo)
        record = make_record(notebook_sha256=digest(tiny), parameters=grid.runs[one])
        for name in (one, todo[0]):  # a record of other parameters is no run
            write_json(tmp_path / "runs" / name / RECORD_FILE, record)
        write_text(grid.folder / "done" / todo[0], "")

    monkeypatch.setattr(sweep.cluster, "submit", submit)
    options = {"profile": tmp_path, "say": print, "progress": lambda done, of: None}
    for first, second in (("done", "failed"), ("was there", "done")):
        rows = sweep.run(grid, **options)
        assert [row["status"] for row in rows] == [first, second]
    sweep.run(grid, **options, force=True)
    assert asked == [[one, other], [other], [one, other]]


@pytest.fixture
def checkout(tmp_path):
    """A checkout with the tiny notebook."""
    return add_tiny(copy_checkout(tmp_path / "book"))


def rows_of(done):
    """Return the rows of the summary that a sweep's last line names."""
    summary = Path(done.stdout.splitlines()[-1])
    assert summary.parent.name.startswith("sweep-tiny-")
    with summary.open() as lines:
        return list(csv.DictReader(lines))


@pytest.mark.slow
def test_a_failing_run_stops_no_other(checkout):
    done = chaos("sweep", "tiny", "-p", "rate=2,0.25", "--cores", "2", cwd=checkout)
    assert done.returncode == 2
    assert "1 of 2 runs failed" in done.stderr
    assert "Traceback" not in done.stderr
    assert "ValueError: no rate above one: 2.0" in done.stderr
    assert done.stderr.count("(rate=2.0): running") == 1
    rows = rows_of(done)
    assert [(row["accuracy"], row["status"]) for row in rows] == [("", "failed"), ("0.125", "done")]
    assert "no rate above one" in rows[0]["reason"]
    assert (checkout / "_build" / "failed" / f"{rows[0]['run']}.ipynb").is_file()
    assert not list((checkout / "runs").glob(".*"))
    planned = chaos("sweep", "tiny", "-p", "rate=3,0.25", "--dry-run", cwd=checkout).stdout
    assert planned.count("would run") == 1
    assert "1 of 2 runs exist" in planned


def test_runs_beside_each_other_share_the_threads(monkeypatch):
    def given(at_once):
        return sweep._threads(at_once).get("OMP_NUM_THREADS")

    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(sweep.os, "cpu_count", lambda: 8)
    assert [given(n) for n in (1, 3, 99)] == [None, "2", "1"]
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    assert given(2) is None


def test_no_spreadsheet_computes_a_value():
    rows = [{"run": "a", "name": "=1+1", "gap": -0.5, "reason": "@x\ny"}]
    assert sweep._as_csv(rows) == "run,name,gap,reason\na,'=1+1,-0.5,'@x y\n"
