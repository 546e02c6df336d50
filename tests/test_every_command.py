"""What every command keeps, those that are added too: help, one error for bad input, JSON."""

import json

import pytest
import typer
from helpers.commands import call
from helpers.faults import fields_of
from helpers.predictions import csv_text
from helpers.rows import write_dataset

from chaos_utils.cli.__main__ import app
from chaos_utils.datasets.catalogue import get_dataset


def below(command, *words):
    """Yield all commands below one, by their words."""
    for name, one in getattr(command, "commands", {}).items():
        yield from below(one, *words, name)
    if words and not command.hidden:  # by a cluster's job
        yield words, command


COMMANDS = {" ".join(words): one for words, one in below(typer.main.get_command(app))}
GROUPS = {name for name, one in COMMANDS.items() if hasattr(one, "commands")}

# What each command that must be given a name is given of what is not there.
NOWHERE = {
    "cite": "fig-none", "data fetch": "none.yml", "data verify": "none.yml",
    "dataset check": "none.csv", "dataset export": "none.csv", "dataset init": "none.csv",
    "evaluate": "none.csv --data sample",
    "export batch": "none.yml --model m --out batch.jsonl",
    "export lm-eval": "none.yml --out tasks", "export prompt": "none.yml",
    "figures diff": "none none", "finetune": "--model none --data sample", "params": "none",
    "plan": "none.csv --votes 9",
    "predict": "none", "run": "none", "submit": "none.csv --name none --data sample",
    "sweep": "none -p seed=1,2", "votes merge": "none.json --out made",
}  # fmt: skip
# What answers beside a file of votes and one of predictions on them.
ANSWERED = {
    "data status": "", "dataset check": "{votes}", "dataset export": "{votes}",
    "dataset init": "{votes} --out mine.yml",
    "evaluate": "{model} --data {data} --bootstrap 0",
    "export batch": "snli --model m --out b.jsonl --data {data}",
    "export lm-eval": "snli --out tasks --data {data}", "params": "annotations",
    "plan": "{votes} --votes 9",
    "runs": "",
}  # fmt: skip


def options_of(command):
    shown = (one for one in command.params if not getattr(one, "hidden", False))
    return [name for one in shown for name in one.opts if name.startswith("--")]


@pytest.mark.parametrize("name", COMMANDS)
def test_it_says_what_it_does_and_takes(name):
    said, same = (call(*name.split(), one, prog_name="chaos").stdout for one in ("--help", "-h"))
    assert said == same
    assert f"chaos {name}" in said
    assert COMMANDS[name].help.partition("\n")[0].split()[0] in said
    for option in options_of(COMMANDS[name]):
        assert option in said


@pytest.mark.parametrize("name", COMMANDS)
def test_what_it_does_not_know_is_one_error(name):
    done = call(*name.split(), "--nonsense", code=2)
    assert "--nonsense" in done.stderr or name in GROUPS
    assert done.stdout == ""


@pytest.mark.parametrize("name", NOWHERE)
def test_what_is_not_there_is_one_error_and_nothing_is_written(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = call(*name.split(), *NOWHERE[name].split(), code=2)
    assert done.stdout == ""
    fields = fields_of(done.stderr)
    assert "none" in fields["where"] + fields["found"], done.stderr
    assert list(tmp_path.iterdir()) == []


def test_each_command_that_must_be_given_a_name_is_given_one_that_is_not_there():
    named = {name for name, one in COMMANDS.items() if any(p.required for p in one.params)}
    assert named <= NOWHERE.keys()


@pytest.mark.parametrize("name", ANSWERED)
def test_its_json_is_json_alone(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = write_dataset(tmp_path / "data")
    (tmp_path / "model.csv").write_text(csv_text([f"snli-{i},0.5,0.25,0.25" for i in range(3)]))
    places = {"data": data, "votes": data / get_dataset("snli").file, "model": "model.csv"}
    given = ANSWERED[name].format(**places).split()
    assert isinstance(json.loads(call(*name.split(), *given, "--json").stdout), list | dict)
    assert "--json" in options_of(COMMANDS[name])
