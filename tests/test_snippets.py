"""What README and pages show as code or commands: all of it is run, or known to be valid."""

import json
import re
import shlex
import shutil
import tomllib
from pathlib import Path

import pytest
import typer
from helpers.checkout import PROJECT
from helpers.model_runs import answered, sample_of
from helpers.predictions import write_shares
from typer.testing import CliRunner

from chaos_utils.base import inputs
from chaos_utils.cli.__main__ import app
from chaos_utils.cli.arguments import assignments
from chaos_utils.datasets import sources
from chaos_utils.datasets.catalogue import get_dataset
from chaos_utils.datasets.loading import load_votes
from chaos_utils.report.parameters import find_notebook, resolve

PAGES = sorted([*PROJECT.glob("*.md"), *(PROJECT / "book").glob("*.md")])
# Of the others, only the arguments are checked: they build, train, download, serve or draw.
RUN = ("evaluate ", "params ", "data status", "dataset ", "plan ")


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)


def commands(page):
    for block in blocks(page, "console"):
        for line in block.splitlines():
            assert line.startswith("$ "), f"{page.name}: {line}"
            if words := shlex.split(line.removeprefix("$ "), comments=True):
                yield words


@pytest.fixture(scope="module", autouse=True)
def _sample_as_published(tmp_path_factory):
    """Put the sample where the published files are looked for, and let it pass for them."""
    folder = shutil.copytree(sources.SAMPLE, tmp_path_factory.mktemp("data") / "sample")
    named, texts = (folder / file.name for file in get_dataset("rte").files)
    named.parent.mkdir()
    votes = [f"a{k}\t{i}\t{int((i + k) % 4 > 0)}\t1\n" for i in range(40) for k in range(10)]
    named.write_text("!amt_worker_ids\torig_id\tresponse\tgold\n" + "".join(votes))
    texts.write_text("id\ttext\thypothesis\n" + "".join(f"{i}\tt{i}\th\n" for i in range(40)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHAOS_DATA", str(folder))
        patch.setattr(sources, "check", lambda file, path, *_: inputs.digest(path))
        yield


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """A folder with the files that the snippets read."""
    folder = tmp_path_factory.mktemp("reader")
    votes = load_votes("snli")
    for name in ("predictions", "my-model", "softer"):
        write_shares(folder / f"{name}.csv", votes, votes.shares)
    lines = (folder / "my-model.csv").read_text().splitlines(keepends=True)
    (folder / "short.csv").write_text("".join(lines[:-3]))
    (folder / "runs" / "my-llm").mkdir(parents=True)
    lettered = [sample_of(i, choices="ABC", doc={"uid": uid}) for i, uid in enumerate(votes.uids)]
    batch = [answered(i, "ABC"[i % 3], custom_id=uid) for i, uid in enumerate(votes.uids)]
    for name, made in {"my-llm/samples_chaos_snli": lettered, "answers": batch}.items():
        (folder / "runs" / f"{name}.jsonl").write_text("\n".join(map(json.dumps, made)))
    for name, language, text in shown_files(PROJECT / "book" / "datasets.md"):
        one_line = f"{json.dumps(json.loads(text))}\n" if language == "json" else text
        (folder / name).write_text(one_line)
    return folder


def shown_files(page):
    """Yield name, language and text of the files that a page shows: the last one named before."""
    whole = page.read_text("utf-8")
    for block in re.finditer(r"^```(text|yaml|json)\n(.*?)^```$", whole, re.M | re.S):
        name = re.findall(r"`([\w-]+\.[a-z]+)`", whole[: block.start()])[-1]
        yield name, *block.groups()


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "python")], ids=lambda p: p.name)
def test_python_runs_in_the_order_of_its_page(page, reader, tmp_path, monkeypatch):
    monkeypatch.chdir(shutil.copytree(reader, tmp_path / "reader"))
    votes = load_votes("snli")
    names = {"uids": votes.uids, "probabilities": votes.shares}  # a reader's own
    for block in blocks(page, "python"):
        exec(compile(block, page.name, "exec"), names)


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "console")], ids=lambda p: p.name)
def test_commands_run_or_are_valid(page, reader, monkeypatch):
    monkeypatch.chdir(reader)
    for words in commands(page):
        program, *rest = (one for word in words for one in opened(word))
        if program == "chaos":
            check_chaos(rest)
        elif program == "accelerate":
            check_chaos(rest[rest.index("chaos_utils.cli") + 1 :])
        elif program == "papermill":
            notebook, _, *options = rest
            given = zip(options[1::3], options[2::3], strict=True)
            resolve(find_notebook(notebook.removesuffix(".ipynb")), dict(given))
        elif program == "make":
            targets = re.findall(r"^([a-z-]+):.*##", (PROJECT / "Makefile").read_text(), re.M)
            assert set(rest) <= set(targets), words
        else:
            assert program == "pip" or words == [".", ".venv/bin/activate"]


def opened(word):
    """Return what a shell makes of a word."""
    return sorted(map(str, Path().glob(word))) or [word] if "*" in word else [word]


def check_chaos(words):
    command, rest = typer.main.get_command(app), list(words)
    settings = command.context_settings
    while rest and rest[0] in getattr(command, "commands", ()):
        command = command.commands[rest.pop(0)]
    if rest != ["--help"]:
        command.make_context(
            "chaos", rest, **settings
        )  # fails without such an option, or for want of one
    if " ".join(words).startswith(RUN) and words[-2:] != ["--out", "figures"]:
        few = ["--bootstrap", "40"] if words[0] == "evaluate" else []
        done = CliRunner().invoke(app, [*words, *few])
        assert done.exit_code == 0, f"{words}: {done.output}"
    elif words[0] in ("run", "sweep"):
        notebook = find_notebook(words[1])
        given = assignments([words[i + 1] for i, word in enumerate(words) if word == "-p"])
        for key, value in given.items():
            for one in value.split(",") if words[0] == "sweep" else [value]:
                resolve(notebook, {key: one})


def test_extras_that_messages_and_pages_name_exist():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    paths = [*PAGES, *(PROJECT / "chaos_utils").rglob("*.py")]
    text = "".join(path.read_text("utf-8") for path in paths)
    named = ",".join(re.findall(r"'\.\[([a-z,]+)\]'", text))
    assert {"book"} < set(named.split(",")) <= set(project["optional-dependencies"])


def test_nobody_is_led_to_a_strangers_package():
    """On PyPI, the name of this package is another's."""
    sources = [path for place in ("chaos_utils", "book", "notebooks", "tools")
               for path in (PROJECT / place).rglob("*")]  # fmt: skip
    written = [path for path in sources if path.suffix in (".py", ".html", ".md", ".js", ".yml")]
    for path in [*PAGES, *written, PROJECT / "Makefile", PROJECT / "environment.yml"]:
        found = re.search(
            r"install[^\n`]*['\"\s]chaos[-_]utils\b|chaos[-_]utils\[(?!\d)", path.read_text("utf-8")
        )
        assert not found, f"{path}: {found}"
