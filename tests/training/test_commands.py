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

from chaos_utils.cli.__main__ import app
from chaos_utils.report import runs
from chaos_utils.report.parameters import as_notebook
from chaos_utils.scoring.training_records import committed_runs, read_run, wanted_runs
from chaos_utils.training import wanted
from chaos_utils.training.settings import recorded_settings

SMALL = ["--model", "tiny-bert", "--data", "sample", "--max-train-examples", "32",
         "--dev-examples", "20", "--threads", "3", "--trainer",
         "gradient_accumulation_steps: 2"]  # fmt: skip


def chaos(*arguments):
    return CliRunner().invoke(app, [str(one) for one in arguments])


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout with two wanted runs, of which the second predicts with the first's weights."""
    for name in ("notebooks/finetune.py", "book/_static/book.css", "CITATION.cff", "_toc.yml"):
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


@pytest.mark.usefixtures("checkout")
def test_bad_input_ends_in_one_message_and_code_2(tmp_path):
    bad = {
        "loss": "'hard', 'soft' or 'jsd'",
        "init": "no finished run",
        "device": "PyTorch sees none",
    }
    for option, message in bad.items():
        done = chaos("finetune", *SMALL, f"--{option}", "cuda", "--out", tmp_path / "run")
        assert done.exit_code == 2
        assert message in done.stderr
        assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("task", ["nli", pytest.param("alphanli", marks=pytest.mark.slow)])
def test_the_notebook_trains_and_judges_and_its_recorded_command_makes_the_run_again(
    task, empty_cache, checkout, monkeypatch
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
    done = chaos(*shlex.split(first.record.command.removeprefix("chaos ")))
    assert f"{answer['dev']['all']['accuracy']:.4f}" in done.stdout
    again = read_run(first.folder)
    for entry in ("settings", "weights", "outputs", "command"):
        assert getattr(again.record, entry) == getattr(first.record, entry)


def test_the_notebook_that_the_site_offers_trains_by_plain_papermill(checkout, monkeypatch):
    (checkout / "finetune.ipynb").write_text(as_notebook(checkout / "notebooks" / "finetune.py"))
    parameters = {"model": "tiny-bert", "data": "sample", "max_train_examples": 32,
                  "dev_examples": 20, "output": "mine"}  # fmt: skip
    command = [sys.executable, "-m", "papermill", "finetune.ipynb", "out.ipynb"]
    for name, value in parameters.items():
        command += ["-p", name, str(value)]
    environment = chaos_environment(PROJECT)
    done = subprocess.run(
        command, cwd=checkout, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert read_run(checkout / "mine").record.made_by is None
    # The machine may lack what training needs: one message says so.
    hidden = "import sys; sys.modules['accelerate'] = None\n"
    (checkout / "hidden").mkdir()
    (checkout / "hidden" / "sitecustomize.py").write_text(hidden)
    environment["PYTHONPATH"] += f":{checkout / 'hidden'}"
    done = subprocess.run(
        [*command, "-p", "output", "other"], cwd=checkout, env=environment, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "Training needs packages that are not installed" in done.stderr
    assert not (checkout / "other").exists()


def test_the_wanted_runs_are_made_in_order_once(checkout):
    first = chaos("wanted", "--dry-run")
    assert first.exit_code == 0, first.stderr
    assert first.stdout.index("finetune --model tiny-bert") < first.stdout.index("predict one")
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


def test_the_project_s_list_is_complete_and_its_runs_are_read():
    listed = wanted_runs()
    assert len({one.name for one in listed}) == len(listed)
    for one in listed:
        assert wanted.command_for(one).endswith(f"--out results/{one.name}")
    for run in committed_runs():
        assert not run.record.synthetic
        assert recorded_settings(run.record).model == run.settings.model  # of any edition
        assert sum(file.stat().st_size for file in run.folder.iterdir()) < 3_000_000
