"""The section at the end of each chapter on how to rerun it, made from its notebook."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.transforms import SphinxTransform

from chaos_utils.base import paths
from chaos_utils.publish import templating
from chaos_utils.report import parameters, provenance
from chaos_utils.report.parameters import Parameter
from chaos_utils.sphinx.book import BOOK

TITLE = "Rerun this chapter"
_CHAPTERS = "chapters/"
_REBUILD = "rebuild"  # the page on checkouts; a book may lack it
_SCRIPTS = "".join(f'<script src="../_static/{name}.js"></script>' for name in ("copy", "rerun"))


class RerunSection(SphinxTransform):
    """Append the section, before Sphinx collects the page's contents."""

    default_priority = 870  # the contents are collected at 880

    def apply(self, **kwargs: Any) -> None:
        """Add the section to a chapter; leave other pages alone."""
        if not self.env.docname.startswith(_CHAPTERS):
            return
        name = self.env.docname.removeprefix(_CHAPTERS)
        record = provenance.read_run_record(paths.chapter_run(name))
        if record is None:
            raise ExtensionError(f"chapter {name} was not run, or its record is damaged")
        source = BOOK.note_notebook(self.env, name)
        section = nodes.section(ids=[nodes.make_id(TITLE)], names=[TITLE.lower()])
        section += nodes.title(TITLE, TITLE)
        body = section_body(source, record.parameters, "../", _REBUILD in self.env.found_docs)
        section += nodes.raw("", f"{body}\n{_SCRIPTS}", format="html")
        chapter = next(self.document.findall(nodes.section))
        _drop_parameter_table(chapter)
        chapter += section


def _drop_parameter_table(chapter: nodes.section) -> None:
    """Remove the table below the title, which is for a run's own page: the section repeats it."""
    table = next((node for node in chapter if isinstance(node, nodes.section | nodes.table)), None)
    if isinstance(table, nodes.table):
        place = chapter.index(table)
        del chapter[place - 1 : place + 2]  # with the ends of the box that folds it


def section_body(
    source: Path, values: Mapping[str, Any], root: str, is_explained: bool = True
) -> str:
    """Return the content of the section as HTML, all text escaped.

    `source` is the chapter's notebook, and `values` has the values of its parameters in the
    chapter's run. `root` leads from the page to the site's root: ``../``, or empty. `is_explained`
    says whether the book has a page on checkouts.
    """
    declared = parameters.read_parameters(source)
    name, value = other_value(declared, values)
    changed_values = {**values, **({name: value} if name else {})}
    return templating.render(
        "rerun",
        notebook=source.stem,
        root=root,
        is_explained=is_explained,
        command=parameters.command(source, values),
        changed_name=name,
        changed_values=changed_values,
        changed_command=parameters.command(source, changed_values),
        papermill_command=parameters.papermill_command(source, changed_values),
        parameters=declared,
    )


def other_value(declared: Sequence[Parameter], values: Mapping[str, Any]) -> tuple[str, Any]:
    """Return a parameter and another value for it, with which the notebook runs for certain.

    The first parameter with choices is taken; else the first boolean; else the first positive
    integer, doubled; else ``data``, of which there is always the sample. Without any of these, the
    name is empty.
    """
    for parameter in declared:
        for choice in parameter.choices:
            if choice != values[parameter.name]:
                return parameter.name, choice
    for parameter in declared:
        if parameter.kind == "bool":
            return parameter.name, not values[parameter.name]
    for parameter in declared:
        if parameter.kind == "int" and values[parameter.name] > 0:
            return parameter.name, 2 * values[parameter.name]
    if "data" in values:
        return "data", "auto" if values["data"] == "sample" else "sample"
    return "", None


def setup(app: Sphinx) -> None:
    """Register the transform."""
    app.add_transform(RerunSection)
