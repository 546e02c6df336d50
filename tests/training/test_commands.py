"""`chaos finetune`, `chaos predict` and `chaos wanted`, as a reader calls them."""

import json
import shlex

import pytest
import yaml
from typer.testing import CliRunner

from chaos_utils.cli import train
from chaos_utils.cli.__main__ import app
from chaos_utils.scoring.trained import committed_runs, read_run, wanted_runs
from chaos_utils.training import wanted
from chaos_utils.training.settings import recorded_settings

SMALL = ["--model", "tiny-bert", "--data", "sample", "--max-train-examples", "32",
         "--dev-examples", "20", "--threads", "3", "--token-budget", "200"]  # fmt: skip


def chaos(*arguments):
    return CliRunner().invoke(app, [str(one) for one in arguments])


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout with two wanted runs, of which the second predicts with the first's weights."""
    for name in ("notebooks", "results"):
        (tmp_path / name).mkdir()
    (tmp_path / "_toc.yml").touch()
    settings = {"model": "tiny-bert", "data": "sample", "max_train_examples": 32}
    entries = [
        {"name": "one", "why": "a | start", "settings": settings},
        {"name": "two", "why": "dropout", "predict": {"run": "one", "mc_samples": 2}},
    ]
    (tmp_path / "results" / "wanted.yml").write_text(yaml.safe_dump(entries))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_bad_input_ends_in_one_message_and_code_2(torch, tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    bad = {"loss": "expected 'hard'", "init": "no finished run", "device": "PyTorch sees none"}
    for option, message in bad.items():
        done = chaos("finetune", *SMALL, f"--{option}", "cuda", "--out", tmp_path / "run")
        assert done.exit_code == 2
        assert message in done.stderr
        assert not (tmp_path / "run").exists()


def test_a_run_is_reported_and_its_recorded_command_makes_it_again(
    torch, empty_cache, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    done = chaos("finetune", *SMALL, "--out", "results/run", "--json")
    assert done.exit_code == 0, done.stderr
    answer = json.loads(done.stdout)
    first = read_run(tmp_path / "results" / "run")
    assert (first.settings.threads, first.settings.token_budget) == (3, 200)
    monkeypatch.setenv("CHAOS_CACHE", str(empty_cache / "other"))  # which has no weights
    monkeypatch.setattr(train, "_SILENT_SECONDS", 0)
    done = chaos(*shlex.split(first.record.command.removeprefix("chaos ")))
    assert f"{answer['dev']['all']['accuracy']:.4f}" in done.stdout
    assert "predicting dev: 20 of 20 items" in done.stderr.splitlines()
    again = read_run(first.folder)
    for entry in ("settings", "weights", "outputs", "command"):
        assert getattr(again.record, entry) == getattr(first.record, entry)


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
