"""The reference of the package: ``.. objects::`` documents those that a page lists, by module.

What is listed is what readers and authors call; the rest is documented in its source.
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
    """Document objects of the package: for each a summary of what it is, and the whole.

    Docstrings are in reStructuredText: a page in Markdown puts this into ``{eval-rst}``.
    """

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return a table of the objects, and then each of them."""
        listed = list(entries(self.content))
        for module in {module for module, _ in listed}:
            self.env.note_dependency(str(importlib.import_module(module).__file__))
        return self.parse_text_to_nodes("\n".join([*_table(listed), *_documented(listed)]))


def _table(listed: Iterable[tuple[str, str]]) -> Iterator[str]:
    yield from (".. list-table::", "   :header-rows: 1", "", "   * - name", "     - what it is")
    for module, name in listed:
        summary = (inspect.getdoc(getattr(importlib.import_module(module), name)) or "").split("\n")
        yield from (f"   * - :py:obj:`{name} <{module}.{name}>`", f"     - {summary[0]}")
    yield ""


def _documented(listed: Iterable[tuple[str, str]]) -> Iterator[str]:
    for module, name in listed:
        is_class = inspect.isclass(getattr(importlib.import_module(module), name))
        yield f".. py:currentmodule:: {module}"
        yield ""
        yield f".. {'autoclass' if is_class else 'autofunction'}:: {name}"
        yield from (("   :members:", "") if is_class else ("",))


class Code(PyXRefRole):
    """What docstrings put between single backticks: a link if it is documented, else code."""

    def process_link(
        self, env: Any, refnode: nodes.Element, has_explicit_title: bool, title: str, target: str
    ) -> tuple[str, str]:
        """Let the name of an object do without that of its module."""
        refnode["may_be_missing"] = True
        return title, target


def _link_or_code(
    app: Sphinx, env: BuildEnvironment, node: nodes.Element, shown: nodes.Element
) -> nodes.Element | None:
    """Link a name to the object of its own module, else to the only one of that name."""
    if not node.get("may_be_missing"):
        return None
    objects, target = env.get_domain("py").objects, node["reftarget"]  # type: ignore[attr-defined]
    near = f"{node.get('py:module')}.{target}"
    matches = [near] if near in objects else [n for n in objects if f".{n}".endswith(f".{target}")]
    if len(matches) != 1:
        return shown
    entry = objects[matches[0]]
    return make_refnode(
        app.builder, node["refdoc"], entry.docname, entry.node_id, shown, matches[0]
    )


class _CompiledOnce(SandboxedEnvironment):
    """Keep numpydoc's template, which it would compile for every docstring several times."""

    kept: ClassVar[dict[str, Template]] = {}

    def get_template(self, name: Any, *args: Any, **kwargs: Any) -> Template:
        """Return the template, compiled the first time."""
        if name not in self.kept:
            self.kept[name] = super().get_template(name, *args, **kwargs)
        return self.kept[name]


def setup(app: Sphinx) -> None:
    """Register directive and role."""
    docscrape_sphinx.SandboxedEnvironment = _CompiledOnce
    app.add_directive("objects", Objects)
    app.add_role_to_domain("py", "code", Code())
    app.connect("missing-reference", _link_or_code)
