"""What has no end, or meets a limit, ends in one message; only regular files are replaced."""

import json
import os
import resource
import signal
import subprocess
import sys

import pytest
from helpers.checkout import PROJECT, chaos_environment
from helpers.commands import call

from chaos_utils.datasets.frame import FileContent

VOTES = "item,annotator,label\n" + "".join(
    f"x{k},{who},{['yes', 'no'][(k + ord(who)) % 3 % 2]}\n" for k in range(40) for who in "abc"
)
PREDICTED = "uid,yes,no\n" + "".join(f"x{k},0.75,0.25\n" for k in range(40))
DEEP = '{"a": [' * 400 + "1" + "]}" * 400


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working directory, with votes and predictions."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "v.csv").write_text(VOTES)
    (tmp_path / "p.csv").write_text(PREDICTED)
    return tmp_path


def started(*arguments, limits=(), **given):
    """Call the command in a process of its own, within limits."""
    done = subprocess.run(
        [sys.executable, "-m", "chaos_utils.cli", *arguments], env=chaos_environment(PROJECT),
        preexec_fn=lambda: [resource.setrlimit(one, (at, at)) for one, at in limits],
        capture_output=True, check=False, timeout=60, **given,
    )  # fmt: skip
    return done.returncode, (done.stdout + done.stderr).decode()


@pytest.mark.parametrize("command", [["dataset", "check"], ["evaluate", "p.csv", "--data"]])
@pytest.mark.parametrize("name", ["pipe.csv", "zero.csv", "pipe.yml"])
def test_votes_are_read_from_regular_files_alone(folder, command, name):
    os.mkfifo(folder / "pipe.csv")
    os.mkfifo(folder / "pipe.yml")
    (folder / "zero.csv").symlink_to("/dev/zero")
    signal.alarm(20)  # what is opened never ends
    assert "regular file" in call(*command, name, code=2).output
    signal.alarm(0)


def test_predictions_may_come_by_a_pipe_that_ends(folder):
    judge = ["evaluate", "/dev/stdin", "--data", "v.csv", "--bootstrap", "0"]
    assert started(*judge, input=PREDICTED.encode())[0] == 0
    with subprocess.Popen(["yes"], stdout=subprocess.PIPE) as endless:
        code, said = started(*judge, stdin=endless.stdout)
        endless.kill()
    assert (code, "200,000,000 bytes" in said) == (2, True)
    (folder / "zero").symlink_to("/dev/zero")
    assert started("evaluate", "zero", "--data", "v.csv")[0] == 2


@pytest.mark.parametrize(
    "content", [DEEP, f"{DEEP}\n{DEEP}", f"[{DEEP}]", f'{{"custom_id": "x0", "response": {DEEP}}}']
)
def test_what_is_nested_deeply_is_refused(folder, content):
    (folder / "deep.json").write_text(content)
    for command in (["dataset", "check"], ["evaluate", "--data", "v.csv"]):
        assert "nested too deeply" in call(*command, "deep.json", code=2).output


def test_limits_of_a_process_end_in_one_message(folder, monkeypatch):
    code, said = started("dataset", "init", "v.csv", limits=[(resource.RLIMIT_FSIZE, 0)])
    assert (code, "File too large" in said) == (2, True)
    assert sorted(path.name for path in folder.iterdir()) == ["p.csv", "v.csv"]

    def too_little(*given, **options):
        raise MemoryError

    monkeypatch.setattr(FileContent, "of", too_little)
    assert "too little memory" in call("dataset", "check", "v.csv", code=2).output


@pytest.mark.parametrize("content", ["", "{", "[1]", "[" * 9000, None])
def test_a_run_that_is_damaged_is_said(folder, monkeypatch, content):
    run = folder / "run"
    if content is None:
        run = "x" * 5000
    else:
        run.mkdir()
        (run / "context.json").write_text(content)
    monkeypatch.setenv("CHAOS_RUN", str(run))
    assert "CHAOS_RUN" in call("dataset", "check", "v.csv", code=2).output


def test_regular_files_alone_are_replaced_and_the_umask_holds(folder):
    def write(name, code):
        call("dataset", "init", "v.csv", "--out", name, "--force", code=code)

    for mask, mode in ((0o077, 0o600), (0o002, 0o664)):
        before = os.umask(mask)
        try:
            write("a.yml", 0)
        finally:
            os.umask(before)
        assert (folder / "a.yml").stat().st_mode & 0o777 == mode
    (folder / "link.yml").symlink_to("a.yml")
    (folder / "lost.yml").symlink_to("none.yml")
    (folder / "folder.yml").mkdir()
    os.mkfifo(folder / "pipe.yml")
    before = sorted(folder.iterdir())
    for name in ("link.yml", "lost.yml", "folder.yml", "pipe.yml"):
        write(name, 2)
    assert sorted(folder.iterdir()) == before
    assert (folder / "link.yml").is_symlink()


def test_commands_that_are_shown_can_be_copied(folder):
    said = call("dataset", "init", "v.csv", "--out", "my file's; $HOME.yml").output
    for line in said.splitlines():
        if "-p data=" in line or "'-p'" in line or "--data" in line:
            words = subprocess.check_output(
                ["sh", "-c", f"printf '%s\\n' {line.partition('chaos ')[2]}"], text=True
            )
            assert words.splitlines()[-1].removeprefix("data=") == "my file's; $HOME.yml"


def test_many_labels_and_columns_take_little_time(folder):
    rows = "".join(
        f"x{k // 4},{k % 4},it is answer {k}, so\n".replace(", so", "") for k in range(100_000)
    )
    (folder / "free.csv").write_text(f"item,annotator,label\n{rows}")
    header = ",".join(["item", *(f"l{k}" for k in range(4000))])
    wide = "".join(f"x{i},{','.join(['20', '3'] * 2000)}\n" for i in range(20))
    (folder / "wide.csv").write_text(f"{header}\n{wide}")
    (folder / "keys.json").write_text(json.dumps({f"x{k}": "yes" for k in range(60_000)}))
    seconds = 10  # of the processor; each of these took far longer, or did not end
    limits = [(resource.RLIMIT_CPU, seconds)]
    for name, words in (("free.csv", "100,000 labels"), ("wide.csv", ""), ("keys.json", "60,000")):
        code, said = started("dataset", "check", name, limits=limits)
        assert code != -signal.SIGXCPU
        assert words in said
