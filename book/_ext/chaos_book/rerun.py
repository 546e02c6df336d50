"""Ends each chapter with how to rerun it, made from its notebook when the site is assembled."""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.transforms import SphinxTransform

from chaos_book.book import BOOK
from chaos_utils.base import paths
from chaos_utils.publish import rerun
from chaos_utils.report import provenance

_CHAPTERS = "chapters/"


class RerunSection(SphinxTransform):
    """Append the section, before Sphinx collects the page's contents."""

    default_priority = 870  # the contents are collected at 880

    def apply(self, **kwargs: Any) -> None:
        """Add the section to a chapter; leave other pages alone."""
        if not self.env.docname.startswith(_CHAPTERS):
            return
        name = self.env.docname.removeprefix(_CHAPTERS)
        record = provenance.read_record(paths.build() / "chapters" / name)
        if record is None:
            raise ExtensionError(f"chapter {name} was not run, or its record is damaged")
        source = BOOK.project / "notebooks" / f"{name}.py"
        section = nodes.section(ids=[nodes.make_id(rerun.TITLE)], names=[rerun.TITLE.lower()])
        section += nodes.title(rerun.TITLE, rerun.TITLE)
        script = '<script src="../_static/copy.js"></script>'
        body = rerun.section_body(source, record.parameters, "../")
        section += nodes.raw("", f"{body}\n{script}", format="html")
        chapter = next(self.document.findall(nodes.section))
        _drop_parameter_table(chapter)
        chapter += section


def _drop_parameter_table(chapter: nodes.section) -> None:
    """Remove what stands under the title of a run's own page: here the section says it all."""
    table = next((node for node in chapter if isinstance(node, nodes.section | nodes.table)), None)
    if isinstance(table, nodes.table):
        chapter.remove(table)


def setup(app: Sphinx) -> None:
    """Register the transform."""
    app.add_transform(RerunSection)
