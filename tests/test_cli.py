import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.checkout import PROJECT, chaos, chaos_environment, copy_checkout, shorten
from helpers.rows import row, write_dataset, write_rows

from chaos_utils.cli.console import harmless


def test_help_imports_nothing_heavy():
    code = (
        "import sys\n"
        "from chaos_utils.cli.__main__ import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'torch', 'transformers', 'matplotlib', 'snakemake', 'pandas', 'numpy'}\n"
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for command in ("data", "params", "run", "sweep", "build", "figures", "cite"):
        assert command in done.stdout


def test_the_command_says_its_version_and_what_it_can_do():
    import chaos_utils

    assert chaos("--version", cwd=PROJECT).stdout == f"chaos {chaos_utils.__version__}\n"
    for arguments in ([], ["evaluate"], ["data"], ["data", "fetch"]):
        short, long = (chaos(*arguments, flag, cwd=PROJECT) for flag in ("-h", "--help"))
        assert (short.returncode, short.stdout) == (0, long.stdout)
    said = chaos("-h", cwd=PROJECT).stdout
    groups = ["Read", "Evaluate", "Build", "Train", "Collect", "Publish"]
    found = [said.index(f"─ {group} ─") for group in groups]
    assert found == sorted(found)
    assert "─ Commands ─" not in said  # each command is in a group
    words = {"_CHAOS_COMPLETE": "complete_bash", "COMP_WORDS": "chaos eva", "COMP_CWORD": "1"}
    code = "from chaos_utils.cli.__main__ import app; app(prog_name='chaos')"
    done = subprocess.run(
        [sys.executable, "-c", code], env=chaos_environment(PROJECT) | words,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.split() == ["evaluate"]


def test_nothing_but_training_needs_torch():
    """With torch made impossible to import, everything that builds the book still imports."""
    code = (
        "import importlib, importlib.abc, pkgutil, sys\n"
        "class Without(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name.split('.')[0] in ('torch', 'transformers', 'accelerate'):\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Without())\n"
        "import chaos_utils\n"
        "for found in pkgutil.walk_packages(chaos_utils.__path__, 'chaos_utils.'):\n"
        "    importlib.import_module(found.name)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_params_are_listed_for_people_and_programs():
    done = chaos("params", "annotations", cwd=PROJECT)
    assert "bootstrap resamples" in done.stdout
    listed = json.loads(chaos("params", "annotations", "--json", cwd=PROJECT).stdout)
    assert listed[0]["name"] == "data"
    assert {"name", "type", "default", "choices", "meaning"} == set(listed[0])


def test_data_status_and_verify(tmp_path):
    folder = write_dataset(tmp_path / "data")
    given = {"CHAOS_DATA": str(folder), "CHAOS_CACHE": str(tmp_path / "cache")}
    rows = json.loads(chaos("data", "status", "--json", cwd=tmp_path, **given).stdout)
    assert rows[0]["verified"] is False
    assert rows[0]["items"] == 3
    assert "NO" in chaos("data", "status", cwd=tmp_path, **given).stdout
    done = chaos("data", "verify", "chaosNLI_v1.0", cwd=tmp_path, **given)
    assert done.returncode == 2
    assert "Not as published: 3 of 3 files." in done.stderr
    assert json.loads(chaos("data", "verify", "--json", cwd=tmp_path, **given).stdout)


def test_released_data_verifies(released_root):
    done = chaos("data", "verify", "chaosNLI_v1.0", cwd=PROJECT, CHAOS_DATA=str(released_root))
    assert done.returncode == 0
    assert done.stdout.count("verified") == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "anotations"], "did you mean 'annotations'"),
        (["run", "annotations", "-p", "sead=1"], "did you mean 'seed'"),
        (["run", "annotations", "-p", "seed=one"], "'one'"),
        (["run", "annotations", "-p", "seed=-1"], "0 or more"),
        (["run", "annotations", "-p", "resamples=-5"], "0 or more"),
        (["sweep", "annotations", "-p", "seed=0,-1"], "0 or more"),
        (["run", "annotations", "-p", "seed"], "NAME=VALUE"),
        (["release", "--out", ""], "No folder is named"),
        (["release", "--out", "README.md/out"], "Cannot write here"),
        (["release", "--check", "none.zip"], "no such archive"),
        (["votes", "merge", "a.json", "--out", ""], "No folder is named"),
        (["finetune", "--model", "tiny-bert", "--out", ""], "No folder is named"),
        (["predict", "one", "--out", ""], "No folder is named"),
        (["run", "annotations", "-p", "seed=1", "-p", "seed =2"], "given twice"),
        (["sweep", "anotations", "-p", "seed=0,1"], "did you mean 'annotations'"),
        (["sweep", "annotations", "-p", "sead=0,1"], "did you mean 'seed'"),
        (["sweep", "annotations", "-p", "seed=0,one"], "'one'"),
        (["sweep", "annotations", "-p", "seed=0,0"], "the same run twice"),
        (["sweep", "annotations", "--profile", "slrum"], "did you mean 'slurm'"),
        (["build", "--profile", "slrum"], "did you mean 'slurm'"),
        (["params", "nothing"], "No such notebook"),
        (["data", "fetch", "chaosNLI_v1.0/chaosNLI_snl.jsonl"], "did you mean"),
        (["build", "--sample", "--strict"], "exclude each other"),
        (["build", "--sample", "--url", "example.org"], "not the address of a site"),
    ],
)
def test_bad_input_ends_in_one_message_and_code_2(arguments, message):
    done = chaos(*arguments, cwd=PROJECT)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (PROJECT / "runs").exists() or not list((PROJECT / "runs").glob("anotations*"))


@pytest.mark.parametrize("arguments", [["params", "why"], ["params", "why", "--json"],
                                       ["--help"], ["evaluate", "--help"]])  # fmt: skip
def test_an_answer_for_which_there_is_no_room_is_one_message(arguments):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "chaos_utils.cli", *arguments], cwd=PROJECT, stdout=full,
            env=chaos_environment(PROJECT), stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert "The answer cannot be written." in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


@pytest.mark.parametrize("arguments", ["params why", "params why --json", "--help"])
@pytest.mark.parametrize("output", [">&-", "1</dev/null"])
def test_an_answer_that_nobody_can_take_is_one_message(arguments, output):
    script = f"{sys.executable} -m chaos_utils.cli {arguments} {output}"
    done = subprocess.run(
        ["sh", "-c", script], cwd=PROJECT, env=chaos_environment(PROJECT),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "The answer cannot be written." in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", ["params annotations", "data status", "evaluate a.csv"])
def test_a_working_directory_that_was_deleted_is_one_message(tmp_path, arguments):
    (tmp_path / "gone").mkdir()
    script = f"rmdir ../gone; {sys.executable} -m chaos_utils.cli {arguments}"
    done = subprocess.run(
        ["sh", "-c", script], cwd=tmp_path / "gone", env=chaos_environment(PROJECT),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "The working directory was deleted." in done.stderr
    assert "Traceback" not in done.stderr


def test_control_codes_never_reach_the_terminal():
    evil = "an\x1b[31mot\x1b]0;title\x07\x9b2J\u202eations"
    for arguments in (["params", evil], ["params", evil, "--json"], ["evaluate", evil]):
        done = chaos(*arguments, cwd=PROJECT)
        assert done.returncode == 2
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(done.stdout + done.stderr)
    assert harmless("\x1b[1;31mred\x1b[0m\ttab\n\rback") == "red\ttab\n\\u000dback"
    assert json.loads(harmless(json.dumps("\x9b", ensure_ascii=False))) == "\x9b"


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("notebooks/annotations.py", b"# caf\xe9\n", "not UTF-8"),
        ("CITATION.cff", b"title: A book\nauthors: [{name: A}]\n", "CITATION.cff"),
        ("book/redirects.yml", b"chapters/old: [index]\n", "redirects.yml"),
        ("book/redirects.yml", b"- \xff\n", "redirects.yml"),
    ],
)
def test_a_faulty_file_is_found_before_anything_is_built(tmp_path, file, content, message):
    checkout = shorten(copy_checkout(tmp_path / "book"))
    (checkout / file).write_bytes(content)
    for command in (["build", "--sample"], ["figures"] * file.startswith("notebooks")):
        if command:
            done = chaos(*command, cwd=checkout)
            assert done.returncode == 2, done.stderr
            assert message in done.stderr
            assert "Traceback" not in done.stderr
    assert not (checkout / "_build" / "chapters").exists()


def test_outside_a_checkout_the_commands_that_need_one_say_so(tmp_path):
    code = "import chaos_utils.base.paths as p; p._is_project = lambda folder: False\n"
    code += "from chaos_utils.cli.__main__ import app; app()"
    done = subprocess.run(
        [sys.executable, "-c", code, "build", "--sample"], cwd=tmp_path,
        env=chaos_environment(PROJECT), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "needs a checkout of the book" in done.stderr


def test_figures_are_listed_and_cited(small_checkout):
    rows = json.loads(chaos("figures", "--json", cwd=small_checkout).stdout)
    for one in rows:
        real = one["id"] == "tbl-claims"  # about numbers that are made up
        assert one["state"] == ("made" if real else "synthetic")
        assert one["title"].startswith("Synthetic sample: ") != real
    assert {one["chapter"] for one in rows} == {"annotations", "disagreement"}
    assert "fig-entropy" in chaos("figures", cwd=small_checkout).stdout
    for format, message in (
        ("plain", "Figure fig-entropy in The Living Book"),
        ("bibtex", "@misc{fig-entropy,"),
        ("ris", "TY  - FIGURE"),
        ("csl", '"id": "fig-entropy"'),
    ):
        done = chaos("cite", "fig-entropy", "--format", format, cwd=small_checkout)
        assert done.returncode == 0, done.stderr
        assert message in done.stdout
        assert done.stdout.endswith("\n")
    done = chaos("cite", "fig-entropi", cwd=small_checkout)
    assert done.returncode == 2
    assert "did you mean 'fig-entropy'" in done.stderr


def test_before_a_build_nothing_is_made_and_nothing_can_be_cited(tmp_path):
    checkout = shorten(copy_checkout(tmp_path / "book"))
    rows = json.loads(chaos("figures", "--json", cwd=checkout).stdout)
    assert {row["state"] for row in rows} == {"not made"}
    assert {one["chapter"] for one in rows} == {"annotations", "disagreement"}
    done = chaos("cite", "fig-entropy", cwd=checkout)
    assert done.returncode == 2
    assert "Nothing was built yet" in done.stderr
    assert "Traceback" not in done.stderr


def test_run_writes_a_folder_of_its_own(small_checkout):
    before = (small_checkout / "book" / "chapters" / "annotations.ipynb").read_bytes()
    given = ["-p", "data=sample", "-p", "resamples=50", "-p", "examples=1"]
    done = chaos("run", "annotations", *given, "--json", cwd=small_checkout)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["parameters"]["resamples"] == 50
    assert "tbl-agreement" in answer["made"]
    folder = Path(answer["run"])
    assert folder.parent == small_checkout / "runs"
    assert folder.name.startswith("annotations-")
    assert (folder / "page.html").is_file()
    assert (small_checkout / "book" / "chapters" / "annotations.ipynb").read_bytes() == before


@pytest.mark.slow
def test_run_on_a_dataset_of_ones_own(tmp_path, small_checkout):
    """A folder is relative to where the reader is; text is escaped; faults come through."""
    evil = row(uid="<script>alert(1)</script>", old=1)
    rows = [evil, row(uid="b", counts=(30, 40, 30), old=0), row(uid="c", old=0)]
    write_dataset(tmp_path / "mine", snli=rows)
    data = os.path.relpath(tmp_path / "mine", small_checkout)
    given = ["-p", f"data={data}", "-p", "resamples=10", "-p", "examples=1"]
    for notebook, parameters in (("annotations", given), ("disagreement", given[:2])):
        done = chaos("run", notebook, *parameters, cwd=small_checkout)
        assert done.returncode == 0, done.stderr
    for page in (small_checkout / "runs").glob("*/page.html"):
        assert "<script" not in page.read_text()
    record = next((small_checkout / "runs").glob("disagreement-*/record.json")).read_text()
    assert "own-data/chaosNLI_snli.jsonl" in record
    write_rows(tmp_path / "mine" / "chaosNLI_v1.0" / "chaosNLI_snli.jsonl", [evil, '{"uid": "cut'])
    done = chaos("run", "annotations", *given, cwd=small_checkout)
    assert done.returncode == 2
    assert "line 2, column" in done.stderr
    assert "Traceback" not in done.stderr
