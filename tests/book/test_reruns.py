"""Every chapter rerun by both commands that its page gives: they come to the same tables."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from helpers.checkout import PROJECT, chaos, chaos_environment

from chaos_utils.publish import dependencies
from chaos_utils.report.parameters import command, papermill_command, read_parameters, resolve
from chaos_utils.sphinx import rerun

QUICK = {"train": {"model": "tiny-bert", "n_folds": 2, "epochs": 1, "threads": 1}}
NOTHING_SHOWN = ("why",)  # of the sample: nobody gave reasons for its labels


def tables(path):
    """Return the figures and tables that an executed notebook shows, by id: tables as they look."""
    shown = {}
    for cell in nbformat.read(path, as_version=4).cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if found := re.match(r"```\{published\} ([\w-]+)", data.get("text/markdown", "")):
                is_table = found[1].startswith("tbl-")
                shown[found[1]] = data["text/html"] if is_table else data["text/plain"]
    return shown


def rerun_both(checkout, folder, notebook):
    """Rerun a chapter of a built site as its page says; return what both notebooks show."""
    source = PROJECT / "notebooks" / f"{notebook}.py"
    values = resolve(source, {"data": "sample"} | QUICK.get(notebook, {}))
    name, value = rerun.other_value(read_parameters(source), values)
    values |= {} if name == "data" else {name: value}
    built = (checkout / "book" / "chapters" / f"{notebook}.ipynb").read_bytes()
    done = chaos(*shlex.split(command(source, values))[1:], "--json", cwd=checkout)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    run = Path(answer["run"])
    assert answer["parameters"][name] == values[name]
    assert run.parent == checkout / "runs"
    assert (run / "page.html").is_file()
    assert (checkout / "book" / "chapters" / f"{notebook}.ipynb").read_bytes() == built
    offered = checkout / "_build" / "html" / "notebooks" / f"{notebook}.ipynb"
    shutil.copyfile(offered, folder / offered.name)
    plain = subprocess.run(
        [sys.executable, "-m", *shlex.split(papermill_command(source, values))],
        cwd=folder, env=chaos_environment(checkout), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert plain.returncode == 0, plain.stderr
    shown = tables(run / "notebook.ipynb")
    assert shown.keys() == set(answer["made"])
    return shown, tables(folder / f"{notebook}-rerun.ipynb")


def test_a_chapter_of_the_short_book_is_rerun_by_both_commands(small_checkout, tmp_path):
    by_chaos, by_papermill = rerun_both(small_checkout, tmp_path, "disagreement")
    assert by_chaos == by_papermill
    assert "fig-entropy" in by_chaos


@pytest.mark.slow
@pytest.mark.parametrize("notebook", dependencies.chapters())
def test_every_chapter_is_rerun_by_both_commands(sample_checkout, tmp_path, notebook):
    by_chaos, by_papermill = rerun_both(sample_checkout, tmp_path, notebook)
    assert by_chaos == by_papermill
    assert by_chaos or notebook in NOTHING_SHOWN
