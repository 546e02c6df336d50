import json
import shlex

import nbformat
import pytest
from helpers.faults import fields_of, refused
from papermill.iorw import load_notebook_node
from papermill.parameterize import parameterize_notebook

from chaos_utils.base.errors import ChaosError
from chaos_utils.report.parameters import (
    as_notebook,
    check_parameters,
    command,
    find_notebook,
    papermill_command,
    read_parameters,
    resolve,
)

CELL = """\
n: int = 3  # how many
rate: float = 0.5  # how often
name: str = "x"  # what it is called
loud: bool = False  # whether to shout
tasks: list[str] = ["snli", "mnli"]  # which tasks
sizes: list[int] = [1, 2]  # which sizes
start: int = -1  # where to start; a default below 0 allows others
mode: Literal["fast", "slow"] = "fast"  # how to go about it
"""


def notebook(tmp_path, cell=CELL):
    path = tmp_path / "chapter.py"
    path.write_text(f'# # Title\n\n# %% tags=["parameters"]\n{cell}\n# %%\nprint(1)\n')
    return path


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("start", "-7", -7),
        ("name", "7", "7"),
        ("loud", "False", False),
        ("tasks", "snli, mnli", ["snli", "mnli"]),
        ("tasks", '["a,b"]', ["a,b"]),
        ("tasks", "", []),
        ("sizes", "3,4", [3, 4]),
        ("rate", 2, 2.0),
    ],
)
def test_values_become_what_was_declared(tmp_path, name, text, value):
    found = resolve(notebook(tmp_path), {name: text})[name]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("n", "1.5"),
        ("rate", "nan"),
        ("sizes", "1,-2"),
        ("sizes", "[1,"),
        ("mode", "medium"),
    ],
)
def test_a_wrong_value_says_what_was_expected(tmp_path, name, text):
    with refused(any=repr(name), found=repr(text)) as fault:
        resolve(notebook(tmp_path), {name: text})
    assert fields_of(fault.value)["expected"]


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("n = 3  # no type", "cannot be read"),
        ("n: int = len('x')  # computed", "cannot be read"),
        ("n: Literal[a, b] = 'a'  # names", "cannot be read"),
        ('n: int = "3"  # how many', r"chapter\.py\n.*n: int = (.|\n)*of that type"),
        ("m: int = 1  # some\nn: int = = 3\n", r"not valid Python.*\n.*line 2 of.*\n.*= = 3$"),
        ('# %% tags=["parameters"]\nn: int = 3  # again', "one cell tagged"),
    ],
)
def test_a_parameter_must_be_declared_in_full_in_one_cell(tmp_path, cell, message):
    with pytest.raises(ChaosError, match=message):
        read_parameters(notebook(tmp_path, cell))


def test_notebooks_are_found_by_name_or_path():
    path = find_notebook("annotations")
    assert find_notebook(str(path)) == path


def test_a_notebook_that_was_merged_names_the_one_that_makes_its_figures_now():
    with pytest.raises(ChaosError, match="claims, which makes its figures"):
        find_notebook("published")


@pytest.mark.parametrize(
    "given",
    [{}, {"n": 3}, {"n": 4, "loud": True}, {"name": "it's \"two\" words", "mode": "slow"},
     {"tasks": ["a,b", "ß c"], "sizes": [], "rate": 1e-9}],
)  # fmt: skip
def test_the_command_of_a_run_gives_its_parameters_again(tmp_path, given):
    source = notebook(tmp_path)
    values = resolve(source, given)
    words = shlex.split(command(source, values))
    assert words[:3] == ["chaos", "run", "chapter"]
    pairs = dict(word.split("=", 1) for word in words[3:] if word != "-p")
    assert resolve(source, pairs) == values
    assert set(pairs) == {name for name in given if name != "n" or given[name] != 3}


def test_the_notebook_that_is_offered_is_one_that_papermill_parameterizes(tmp_path):
    source = notebook(tmp_path)
    text = as_notebook(source)
    assert as_notebook(source) == text
    offered = nbformat.reads(text, as_version=4)
    nbformat.validate(offered)
    assert offered.metadata["kernelspec"]["name"] == "python3"
    (tmp_path / "chapter.ipynb").write_text(text)
    changed = parameterize_notebook(load_notebook_node(str(tmp_path / "chapter.ipynb")), {"n": 7})
    tags = [cell.metadata.get("tags", []) for cell in changed.cells]
    assert tags.index(["injected-parameters"]) == tags.index(["parameters"]) + 1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, []),
        ({"n": 7, "rate": 1e-5}, ["-p", "n", "7", "-p", "rate", "1e-05"]),
        ({"loud": True}, ["-p", "loud", "True"]),
        ({"name": "7"}, ["-r", "name", "7"]),  # a text that papermill would take for a number
        ({"name": "it's $x"}, ["-r", "name", "it's $x"]),
        ({"sizes": [3]}, ["-y", json.dumps({"sizes": [3]})]),
        ({"tasks": []}, ["-y", json.dumps({"tasks": []})]),
    ],
)
def test_papermill_is_given_the_same_values(tmp_path, given, words):
    source = notebook(tmp_path)
    named = shlex.split(papermill_command(source, resolve(source, given)))
    assert named == ["papermill", "chapter.ipynb", "chapter-rerun.ipynb", *words]


def running(**values):
    """Return what a notebook's `globals()` hold after papermill has set these values."""
    variables = {}
    cells = [CELL, "# Parameters\n" + "".join(f"{k} = {v!r}\n" for k, v in values.items())]
    exec("from typing import Literal\n" + "\n".join(cells), variables)
    return variables | {"In": ["", *cells]}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"n": "4"}, "'n' has the wrong value"),
        ({"n": -4}, "0 or more"),
        ({"rate": "often"}, "'rate' has the wrong value"),
        ({"tasks": "snli"}, r"list\[str\]"),
        ({"mode": "medium"}, "one of fast, slow"),
        ({"loud": 1}, "'loud' has the wrong value"),
        ({"raet": 0.1}, "no parameter 'raet'(?s:.*)did you mean 'rate'"),
    ],
)
def test_plain_papermill_cannot_set_what_does_not_fit(values, message):
    with pytest.raises(ChaosError, match=message):
        check_parameters(running(**values))


def test_values_that_fit_pass_and_a_script_is_not_checked():
    check_parameters(running(n=4, rate=1, tasks=["mnli"], mode="slow", start=-3))
    check_parameters(running())
    check_parameters({"n": "4"})
