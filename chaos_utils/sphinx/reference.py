"""The reference of the package: ``.. objects::`` documents the objects that a page lists.

Pages list what readers and authors call; other objects are documented in their source.
"""

import importlib
import inspect
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from docutils import nodes
from jinja2 import Template
from jinja2.sandbox import SandboxedEnvironment
from numpydoc import docscrape_sphinx
from sphinx.application import Sphinx
from sphinx.domains.python import PyXRefRole
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

PACKAGE = "chaos_utils"


def entries(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield module and name of each object in lines such as ``base.style: colour width``."""
    for line in lines:
        module, _, names = line.partition(":")
        for name in names.split():
            yield f"{PACKAGE}.{module.strip()}", name


class Objects(SphinxDirective):
    """Document objects of the package: a table with a summary of each, then each in full.

    Docstrings are in reStructuredText: a page in Markdown puts this directive into ``{eval-rst}``.
    """

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the table of the objects, and the documentation of each."""
        objects = list(entries(self.content))
        for module in {module for module, _ in objects}:
            self.env.note_dependency(str(importlib.import_module(module).__file__))
        return self.parse_text_to_nodes(
            "\n".join([*_table_lines(objects), *_documentation_lines(objects)])
        )


def _table_lines(objects: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the lines of the table: for each object a link, and the first line of its docstring."""
    yield from (".. list-table::", "   :header-rows: 1", "", "   * - name", "     - what it is")
    for module, name in objects:
        summary = (inspect.getdoc(getattr(importlib.import_module(module), name)) or "").split("\n")
        yield from (f"   * - :py:obj:`{name} <{module}.{name}>`", f"     - {summary[0]}")
    yield ""


def _documentation_lines(objects: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the lines that have each object documented: a class with its members."""
    for module, name in objects:
        is_class = inspect.isclass(getattr(importlib.import_module(module), name))
        yield f".. py:currentmodule:: {module}"
        yield ""
        yield f".. {'autoclass' if is_class else 'autofunction'}:: {name}"
        # Pydantic's own member has its documentation in Markdown.
        options = ("   :members:", "   :exclude-members: model_config") if is_class else ()
        yield from (*options, "")


class Code(PyXRefRole):
    """Text in single backticks in docstrings: a link if the object is documented, else code."""

    def process_link(
        self, env: Any, refnode: nodes.Element, has_explicit_title: bool, title: str, target: str
    ) -> tuple[str, str]:
        """Let an object be named without its module, and be missing."""
        refnode["may_be_missing"] = True
        return title, target


def _link_or_code(
    app: Sphinx, env: BuildEnvironment, node: nodes.Element, content: nodes.Element
) -> nodes.Element | None:
    """Link a name to the object in the docstring's module, else to the only object of that name."""
    if not node.get("may_be_missing"):
        return None
    objects, target = env.get_domain("py").objects, node["reftarget"]  # type: ignore[attr-defined]
    matches = [f"{node.get('py:module')}.{target}"]
    if matches[0] not in objects:
        matches = [name for name in objects if f".{name}".endswith(f".{target}")]
    if len(matches) != 1:
        return content
    entry = objects[matches[0]]
    return make_refnode(
        app.builder, node["refdoc"], entry.docname, entry.node_id, content, matches[0]
    )


class _CachedEnvironment(SandboxedEnvironment):
    """Cache numpydoc's template, which it would compile several times for every docstring."""

    templates: ClassVar[dict[str, Template]] = {}

    def get_template(self, name: Any, *args: Any, **kwargs: Any) -> Template:
        """Return the template, which is compiled the first time only."""
        if name not in self.templates:
            self.templates[name] = super().get_template(name, *args, **kwargs)
        return self.templates[name]


def setup(app: Sphinx) -> None:
    """Register directive and role."""
    docscrape_sphinx.SandboxedEnvironment = _CachedEnvironment
    app.add_directive("objects", Objects)
    app.add_role_to_domain("py", "code", Code())
    app.connect("missing-reference", _link_or_code)
