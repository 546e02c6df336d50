"""The section that ends each chapter: how to run it again, with which parameters."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chaos_utils.publish import templating
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
    return templating.render(
        "rerun",
        notebook=source.stem,
        root=root,
        command=parameters.command(source, values),
        other=name,
        other_command=parameters.command(source, {**values, name: value}),
        parameters=declared,
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
