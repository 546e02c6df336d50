"""The command `chaos`: what it answers; whatever goes wrong ends in one message and code 2."""

import json
import subprocess
import sys

import pytest
from helpers.checkout import PROJECT, chaos_environment, copy_checkout
from helpers.rows import write_dataset
from typer.testing import CliRunner

import chaos_utils
from chaos_utils.cli import extras
from chaos_utils.cli.__main__ import app
from chaos_utils.cli.console import strip_control_characters


@pytest.fixture
def call(monkeypatch):
    """Return a function that calls the command in this process, in some folder."""

    def called(*arguments, cwd=PROJECT, code=0):
        monkeypatch.chdir(cwd)
        done = CliRunner().invoke(app, list(map(str, arguments)))
        assert done.exit_code == code, done.output
        return done

    return called


def shell(script, cwd=PROJECT, **environment):
    """Call the command in a process of its own: `chaos` stands for it."""
    command = f"{sys.executable} -m chaos_utils.cli"
    return subprocess.run(
        ["sh", "-c", script.replace("chaos", command)], cwd=cwd,
        env=chaos_environment(PROJECT, **environment), capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_command_says_its_version_and_what_it_can_do(call):
    assert "bootstrap resamples" in call("params", "disagreement").stdout
    assert json.loads(call("params", "annotations", "--json").stdout)[0]["name"] == "data"
    assert call("--version").stdout == f"chaos {chaos_utils.__version__}\n"
    assert "─ Commands ─" not in call("-h").stdout  # each command is in a group
    words = {"COMP_WORDS": "chaos eva", "COMP_CWORD": "1", "_CHAOS_COMPLETE": "complete_bash"}
    done = CliRunner().invoke(app, [], env=words, prog_name="chaos")
    assert done.stdout.split() == ["evaluate"]


def test_data_status_and_verify(call, tmp_path, monkeypatch):
    monkeypatch.setenv("CHAOS_DATA", str(write_dataset(tmp_path / "data")))
    rows = json.loads(call("data", "status", "--json").stdout)
    assert rows[0]["verified"] is False
    (missing,) = [row for row in rows if row["file"] == "alphanli/train.jsonl"]
    assert (missing["path"], missing["verified"]) == (None, None)
    done = call("data", "verify", "chaosNLI_v1.0", "--json", code=2)
    assert json.loads(done.stdout)
    assert "Not as published: 3 of 3 files." in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "anotations"], "did you mean 'annotations'"),
        (["run", "disagreement", "-p", "sead=1"], "did you mean 'seed'"),
        (["run", "disagreement", "-p", "seed=-1"], "0 or more"),
        (["run", "disagreement", "-p", "seed=1", "-p", "seed =2"], "given twice"),
        (["build", "--sample", "--strict"], "exclude each other"),
        (["build", "--sample", "--url", "example.org"], "not the address of a site"),
        (["release", "--out", ""], "No folder is named"),
        (["data", "fetch", "chaosNLI_v1.0/chaosNLI_snl.jsonl"], "did you mean"),
    ],
)
def test_bad_input_ends_in_one_message_and_code_2(call, arguments, message):
    assert message in call(*arguments, code=2).stderr
    assert not (PROJECT / "runs").exists() or not list((PROJECT / "runs").glob("anotations*"))


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("chaos -h >/dev/full", "The answer cannot be written."),
        ("chaos params why --json 1</dev/null", "The answer cannot be written."),
        ("mkdir $HOME/gone; cd $HOME/gone; rmdir ../gone; chaos params why", "was deleted"),
    ],
)
def test_a_process_that_fails_says_so_in_one_message(script, message, tmp_path):
    done = shell(script, HOME=str(tmp_path))
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_what_a_locale_cannot_write_is_escaped(tmp_path):
    (tmp_path / "v.csv").write_text("item,annotator,label\ni,a,x\ni,b,y\n")
    done = shell(f"chaos dataset check {tmp_path}/v.csv", PYTHONIOENCODING="latin-1")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\u2588" in done.stdout


def test_a_reader_that_goes_away_ends_the_command_silently():
    done = shell("{ chaos params why; echo code $? >&2; } | true")
    assert done.stderr == "code 1\n"


def test_control_codes_never_reach_the_terminal(call):
    evil = "an\x1b[31mot\x1b]0;title\x07\x9b2J\u202eations"
    for arguments in (["params", evil], ["params", evil, "--json"], ["evaluate", evil]):
        done = call(*arguments, code=2)
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(done.stdout + done.stderr)
    assert strip_control_characters("\x1b[1;31mred\x1b[0m\ttab\n\rback") == "red\ttab\n\\u000dback"
    assert json.loads(strip_control_characters(json.dumps("\x9b", ensure_ascii=False))) == "\x9b"


@pytest.fixture
def own_code(monkeypatch):
    """Let the code that runs here be used on another checkout."""
    monkeypatch.setattr(extras, "_check_code", lambda checkout: None)


@pytest.mark.usefixtures("own_code")
def test_a_faulty_file_is_found_before_anything_is_built(call, tmp_path):
    unbuilt = copy_checkout(tmp_path / "book")
    for file, content, message in (
        ("notebooks/annotations.py", b"# caf\xe9\n", "not UTF-8"),
        ("CITATION.cff", b"title: A book\nauthors: [{name: A}]\n", "CITATION.cff"),
        ("book/redirects.yml", b"chapters/old: [index]\n", "redirects.yml"),
    ):
        sound = (unbuilt / file).read_bytes()
        (unbuilt / file).write_bytes(content)
        assert message in call("build", "--sample", cwd=unbuilt, code=2).stderr
        if file.startswith("notebooks"):
            assert message in call("figures", cwd=unbuilt, code=2).stderr
        (unbuilt / file).write_bytes(sound)
    assert not (unbuilt / "_build" / "chapters").exists()


@pytest.mark.usefixtures("own_code")
def test_figures_are_listed_and_cited(call, small_checkout):
    rows = json.loads(call("figures", "--json", cwd=small_checkout).stdout)
    for one in rows:
        real = one["id"] == "tbl-claims"  # about numbers that are made up
        assert one["state"] == ("made" if real else "synthetic")
        assert one["title"].startswith("Synthetic sample: ") != real
    assert {one["chapter"] for one in rows} == {"annotations", "disagreement"}
    assert "fig-entropy" in call("figures", cwd=small_checkout).stdout
    for format, message in (("plain", "Figure fig-entropy in The"), ("ris", "TY  - FIGURE")):
        assert message in call("cite", "fig-entropy", "--format", format, cwd=small_checkout).stdout
    done = call("cite", "fig-entropi", cwd=small_checkout, code=2)
    assert "did you mean 'fig-entropy'" in done.stderr
