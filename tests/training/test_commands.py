"""`chaos finetune`, `chaos predict` and `chaos wanted`, as a reader calls them."""

import json
import shlex
import shutil
import subprocess
import sys

import nbformat
import pytest
import yaml
from helpers.checkout import PROJECT, chaos_environment
from typer.testing import CliRunner

from chaos_utils.base.errors import ChaosError
from chaos_utils.cli.__main__ import app
from chaos_utils.report import runs
from chaos_utils.report.parameters import as_notebook
from chaos_utils.scoring.training_records import committed_runs, read_run
from chaos_utils.training import gpus, wanted
from chaos_utils.training.settings import recorded_settings

SMALL = ["--model", "tiny-bert", "--data", "sample", "--max-train-examples", "32",
         "--dev-examples", "20", "--threads", "3", "--trainer",
         "gradient_accumulation_steps: 2"]  # fmt: skip


def chaos(*arguments):
    return CliRunner().invoke(app, [str(one) for one in arguments])


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout with two wanted runs, of which the second predicts with the first's weights."""
    for name in ("notebooks/finetune.py", "CITATION.cff", "_toc.yml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(PROJECT / name, tmp_path / name)
    (tmp_path / "results").mkdir()
    settings = {"model": "tiny-bert", "data": "sample", "max_train_examples": 32}
    entries = [
        {"name": "one", "why": "a | start", "settings": settings},
        {"name": "two", "why": "dropout", "predict": {"run": "one", "mc_samples": 2}},
    ]
    (tmp_path / "results" / "wanted.yml").write_text(yaml.safe_dump(entries))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("checkout", "in_process")
def test_bad_input_ends_in_one_message_and_code_2(tmp_path, monkeypatch):
    def refused(message, *options):
        done = chaos("finetune", *SMALL, *options, "--out", tmp_path / "run")
        assert done.exit_code == 2
        assert message in done.stderr
        assert not (tmp_path / "run").exists()

    refused("'soft' or 'jsd'", "--loss", "cuda")
    refused("no finished run", "--init", "cuda")
    refused("PyTorch sees none", "--device", "cuda")
    monkeypatch.setitem(sys.modules, "accelerate", None)  # as where it is not installed
    refused("needs packages that are not installed")


@pytest.mark.parametrize("task", ["nli", pytest.param("alphanli", marks=pytest.mark.slow)])
def test_the_notebook_trains_and_judges_and_its_recorded_command_makes_the_run_again(
    task, empty_cache, checkout, monkeypatch, request
):
    done = chaos("finetune", *SMALL, "--task", task, "--out", "results/run", "--json")
    assert done.exit_code == 0, done.stderr
    assert "loss" in done.stderr
    answer = json.loads(done.stdout)
    first = read_run(checkout / "results" / "run")
    assert first.settings.threads == 3
    assert first.settings.trainer == "gradient_accumulation_steps: 2"
    assert first.record.fits[0].gradient_accumulation_steps == 2
    made_by = first.record.made_by
    assert made_by.notebook == "notebooks/finetune.py"
    assert made_by.parameters["model"] == "tiny-bert"
    assert made_by.runner.startswith("papermill ")
    executed = nbformat.read(first.notebook, as_version=4)
    assert [cell.execution_count for cell in executed.cells if cell.cell_type == "code"]
    assert str(checkout) not in first.notebook.read_text()
    predictions = str(first.folder / "predictions.parquet")
    judged = chaos("evaluate", predictions, "--data", "sample", "--bootstrap", "0", "--json")
    assert judged.exit_code == 0, judged.stderr
    (folder,) = runs.run_folders()
    of_run = runs.manifest_in(folder, runs.load(folder), "tbl-run-people").data
    assert {row["system"] for row in of_run} >= {first.system, "uniform guess", "second crowd"}
    monkeypatch.setenv("CHAOS_CACHE", str(empty_cache / "other"))  # which has no weights
    request.getfixturevalue("in_process")
    done = chaos(*shlex.split(first.record.command.removeprefix("chaos ")))
    assert f"{answer['dev']['all']['accuracy']:.4f}" in done.stdout
    again = read_run(first.folder)
    for entry in ("settings", "weights", "outputs", "command"):
        assert getattr(again.record, entry) == getattr(first.record, entry)


@pytest.mark.slow
def test_the_notebook_that_the_site_offers_trains_by_plain_papermill(checkout, monkeypatch):
    (checkout / "finetune.ipynb").write_text(as_notebook(checkout / "notebooks" / "finetune.py"))
    parameters = {"model": "tiny-bert", "data": "sample", "max_train_examples": 32,
                  "dev_examples": 20, "output": "mine"}  # fmt: skip
    command = [sys.executable, "-m", "papermill", "finetune.ipynb", "out.ipynb"]
    for name, value in parameters.items():
        command += ["-p", name, str(value)]
    done = subprocess.run(
        command, cwd=checkout, env=chaos_environment(PROJECT), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert read_run(checkout / "mine").record.made_by is None


@pytest.mark.usefixtures("in_process")
def test_the_wanted_runs_are_made_in_order_once(checkout):
    first = chaos("wanted", "--dry-run")
    assert first.exit_code == 0, first.stderr
    assert first.stdout.index("finetune --model tiny-bert") < first.stdout.index("predict one")
    assert "missing: 2 of 2" in first.stdout
    assert chaos("wanted", "--limit", "1").exit_code == 0
    assert [run.system for run in committed_runs()] == ["tiny bert, 32 items, seed 0"]
    assert chaos("wanted").exit_code == 0
    assert [run.name for run in committed_runs()] == ["one", "two"]
    before = (checkout / "results" / "one" / "run.json").stat().st_mtime_ns
    assert chaos("wanted").exit_code == 0
    assert (checkout / "results" / "one" / "run.json").stat().st_mtime_ns == before


def test_a_list_that_cannot_be_read_is_one_message(checkout):
    (checkout / "results" / "wanted.yml").write_text("- {name: one, why: x}")
    done = chaos("wanted", "--dry-run")
    assert done.exit_code == 2
    assert "wanted.yml" in done.stderr
    assert "entry 1" in done.stderr


def test_a_plan_is_listed_with_costs_and_commands():
    done = chaos("wanted", "--plan", "table5", "--dry-run", "--card", "a100", "--json")
    assert done.exit_code == 0, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["card"], len(answer["runs"])) == ("A100", 18)
    assert answer["missing"]["hours_high"] >= sum(
        run["hours_low"] for run in answer["runs"] if run["state"] != "there"
    )
    for run in answer["runs"]:
        assert run["hours_low"] <= run["hours_high"]
        assert run["memory_gib"] < 40
        assert run["command"].endswith(f"--out results/{run['run']}")
    only = chaos("wanted", "--plan", "table5", "--dry-run", "--only", "albert")
    assert "albert-xxlarge-nli-s0" in only.stdout
    assert "bert-base" not in only.stdout
    assert "do not reproduce" in " ".join(only.stdout.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--plan", "tabel5"], "did you mean 'table5'"),
        (["--only", "x"], "No run of the plan has a name"),
        (["--card", "h1000", "--dry-run"], "did you mean 'h100'"),
        (["--gpus", "all"], "visible here: none"),
    ],
)
def test_options_that_cannot_be_met_are_one_message_before_any_run(options, message, checkout):
    if "tabel5" in options:
        (checkout / "results" / "plans").mkdir()
        shutil.copy(PROJECT / "results" / "plans" / "table5.yml", checkout / "results" / "plans")
    done = chaos("wanted", *options)
    assert done.exit_code == 2
    assert message in done.stderr
    assert not committed_runs()


def test_one_after_the_other_a_run_that_fails_stops_no_other(checkout, monkeypatch):
    settings = {"model": "tiny-bert", "data": "sample"}
    entries = [{"name": name, "why": "x", "settings": {**settings, "seed": seed}}
               for seed, name in enumerate(["bad", "good"])]  # fmt: skip
    entries.append({"name": "needs-bad", "why": "x", "predict": {"run": "bad", "mc_samples": 2}})
    (checkout / "results" / "wanted.yml").write_text(yaml.safe_dump(entries))
    begun = []

    def make(spec, **more):
        begun.append(spec.name)
        if spec.name == "bad":
            raise ChaosError("Out of memory.")

    monkeypatch.setattr(wanted, "make", make)
    done = chaos("wanted")
    assert done.exit_code == 2
    assert begun == ["bad", "good"]
    assert "2 of 3 runs failed" in done.stderr
    assert "needs-bad\nnot started: it needs bad" in done.stderr


@pytest.fixture
def on_two_gpus(checkout, monkeypatch):
    """A checkout with three wanted runs, of which one needs another, and two GPUs."""
    settings = {"model": "tiny-bert", "data": "sample", "max_train_examples": 32,
                "dev_examples": 20}  # fmt: skip
    entries = [
        {"name": "good", "why": "x", "settings": settings},
        {"name": "bad", "why": "x", "settings": {**settings, "seed": 1}},
        {"name": "needs-bad", "why": "x", "predict": {"run": "bad", "mc_samples": 2}},
    ]  # fmt: skip
    (checkout / "results" / "wanted.yml").write_text(yaml.safe_dump(entries))
    monkeypatch.setattr(gpus, "visible_gpus", lambda: ["0", "1"])
    return checkout / "results"


def occupy(folder):
    """Put something else where a run goes."""
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")


@pytest.mark.usefixtures("in_process")
def test_a_run_on_a_gpu_is_a_command_that_makes_it_and_the_faults_of_all_are_named(
    on_two_gpus, monkeypatch
):
    given = []

    def run_jobs(jobs, ids, **more):
        given.extend(jobs)
        assert ids == ["0", "1"]
        return {"good": "", "bad": "Out of memory.", "needs-bad": "not started: it needs bad"}

    monkeypatch.setattr(gpus, "run_jobs", run_jobs)
    on_all = ("wanted", "--gpus", "all", "--device", "cpu")
    done = chaos(*on_all)
    assert done.exit_code == 2
    assert "2 of 3 runs failed" in done.stderr
    assert "bad\nOut of memory." in done.stderr
    assert [(job.name, set(job.after)) for job in given] == [
        ("good", set()), ("bad", set()), ("needs-bad", {"bad"})
    ]  # fmt: skip
    good = given[0].command
    assert good[:3] == (sys.executable, "-m", "chaos_utils.cli")
    made = chaos(*good[3:])
    assert made.exit_code == 0, made.stderr
    assert [run.name for run in committed_runs()] == ["good"]
    given.clear()
    occupy(on_two_gpus / "bad")
    done = chaos(*on_all, "--limit", "1")
    assert done.exit_code == 2
    assert "Nothing was started: 1 problem" in done.stderr
    assert not given


@pytest.mark.slow
def test_runs_on_two_gpus_are_made_and_one_that_fails_is_named(on_two_gpus, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(PROJECT))

    def run_jobs(jobs, ids, **more):
        occupy(on_two_gpus / "bad")  # once all was checked
        return original(jobs, ids, **more)

    original = gpus.run_jobs
    monkeypatch.setattr(gpus, "run_jobs", run_jobs)
    done = chaos("wanted", "--gpus", "all", "--device", "cpu")
    assert done.exit_code == 2
    assert [run.name for run in committed_runs()] == ["good"]
    assert "2 of 3 runs failed" in done.stderr
    assert "The run's folder holds something else" in done.stderr
    assert "not started: it needs bad" in done.stderr
    assert "good (GPU 0): done in" in done.stderr


def test_committed_runs_are_real_and_small():
    for run in committed_runs():
        assert not run.record.synthetic
        assert recorded_settings(run.record).model == run.settings.model  # of any edition
        assert sum(file.stat().st_size for file in run.folder.iterdir()) < 3_000_000
