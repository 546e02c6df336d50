"""The section that ends each chapter: how to run it again, with which parameters."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from chaos_utils.publish.markup import code, copied, facts_table
from chaos_utils.report import parameters
from chaos_utils.report.parameters import Parameter

TITLE = "Rerun this chapter"


def section_body(source: Path, values: Mapping[str, Any], root: str) -> str:
    """Return what the section holds as HTML, all text escaped.

    `source` is the chapter's notebook, and `values` what each of its parameters was. `root` leads
    from the page to the site's root: ``../``, or nothing.
    """
    declared = parameters.read_parameters(source)
    name, value = other_value(declared, values)
    file = f"{escape(source.stem)}.py"
    return "\n".join(
        (
            f'<p>The notebook <a href="{root}notebooks/{file}" download><code>{file}</code></a> '
            f'made this page. In <a href="{root}rebuild.html">a checkout of the book</a>, this '
            "command runs it as it was run here:</p>",
            copied("", parameters.command(source, values), "The command"),
            f"<p>And this one with another value of <code>{escape(name)}</code>:</p>",
            copied("", parameters.command(source, {**values, name: value}), "The other command"),
            "<p>A run goes to a folder of its own below <code>runs/</code>: the executed notebook, "
            "its figures and tables with their data, a record of inputs and versions, and "
            "<code>page.html</code>, the whole run in one file. The book is left alone.</p>",
            facts_table(
                "Parameters",
                ("parameter", "type", "default", "meaning", "choices"),
                [_row(parameter) for parameter in declared],
            ),
        )
    )


def other_value(declared: Sequence[Parameter], values: Mapping[str, Any]) -> tuple[str, Any]:
    """Return a parameter and a value for it, other than the one it had, that is sure to run.

    A closed choice comes first, then a switch, then a number of things (above 0, doubled); the
    data, of which there is always the sample, comes last: ``data`` must be among the parameters.
    """
    for parameter in declared:
        for choice in parameter.choices:
            if choice != values[parameter.name]:
                return parameter.name, choice
    for kind in ("bool", "int"):
        for parameter in declared:
            value = values[parameter.name]
            if parameter.kind == kind and (kind == "bool" or value > 0):
                return parameter.name, 2 * value if kind == "int" else not value
    return "data", "auto" if values["data"] == "sample" else "sample"


def _row(parameter: Parameter) -> tuple[str, ...]:
    kind = type(parameter.choices[0]).__name__ if parameter.choices else parameter.kind
    return (
        code(parameter.name),
        code(kind),
        code(repr(parameter.default)),
        f'<span class="meaning">{escape(parameter.meaning)}</span>',
        _choices(parameter),
    )


def _choices(parameter: Parameter) -> str:
    if parameter.choices:
        return ", ".join(code(str(choice)) for choice in parameter.choices)
    if parameter.kind == "bool":
        return ", ".join(map(code, ("true", "false")))
    return "several, with commas" if parameter.kind.startswith("list[") else "–"
