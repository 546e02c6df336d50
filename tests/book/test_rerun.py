"""The section that ends each chapter, as text; the built one is looked at in tests/book."""

import re
import shlex
from html import unescape

from chaos_utils.base import paths
from chaos_utils.publish import dependencies
from chaos_utils.report.parameters import read_parameters, resolve
from chaos_utils.sphinx import rerun

CELL = """\
data: str = "auto"  # <script>alert(1)</script> & more
mode: Literal["fast", "slow"] = "fast"  # how to go about it
datasets: list[str] = ["snli"]  # which datasets
loud: bool = False  # whether to shout
"""


def commands(text):
    found = re.findall(r'<div class="copied".*?<pre[^>]*>(.*?)</pre>', text, re.DOTALL)
    return [shlex.split(unescape(command)) for command in found]


def test_the_section_names_every_parameter_with_its_type_default_meaning_and_choices(tmp_path):
    source = tmp_path / "tiny.py"
    source.write_text(f'# %% tags=["parameters"]\n{CELL}')
    values = resolve(source, {"data": "it's <mine>"})
    text = rerun.section_body(source, values, "../")
    assert commands(text) == [
        ["chaos", "run", "tiny", "-p", "data=it's <mine>"],
        ["chaos", "run", "tiny", "-p", "data=it's <mine>", "-p", "mode=slow"],
        [
            "papermill",
            "tiny.ipynb",
            "tiny-rerun.ipynb",
            "-r",
            "data",
            "it's <mine>",
            "-r",
            "mode",
            "slow",
        ],
    ]
    for suffix in ("py", "ipynb"):
        assert f'href="../notebooks/tiny.{suffix}" download' in text
    assert "<script" not in text
    cells = [
        [unescape(re.sub("<.*?>", "", cell)) for cell in re.findall(r"<t[hd].*?</t[hd]>", row)]
        for row in re.findall(r"<tr[^>]*>(.*?)</tr>", text)
    ]
    assert cells[1:] == [
        ["data", "str", "'auto'", "<script>alert(1)</script> & more", "–"],
        ["mode", "str", "'fast'", "how to go about it", "fast, slow"],
        ["datasets", "list[str]", "['snli']", "which datasets", "several, separated by commas"],
        ["loud", "bool", "False", "whether to shout", "true, false"],
    ]


def test_the_example_of_every_chapter_fits_and_differs():
    for chapter in dependencies.chapters():
        source = paths.notebooks() / f"{chapter}.py"
        for data in ("auto", "sample"):
            values = resolve(source, {"data": data})
            name, value = rerun.other_value(read_parameters(source), values)
            assert resolve(source, {name: value})[name] == value != values[name], chapter
