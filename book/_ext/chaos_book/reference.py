"""The reference of the package: ``.. room:: chaos_utils.metrics`` documents a room's modules.

Modules are found, not listed, so that the reference holds whatever the package holds.
"""

import importlib
import inspect
import pkgutil
from types import ModuleType
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


def modules_of(name: str) -> list[ModuleType]:
    """Return a room's modules in the order of their names; a room of one file is that module."""
    room = importlib.import_module(name)
    if not hasattr(room, "__path__"):
        return [room]
    found = sorted(entry.name for entry in pkgutil.walk_packages(room.__path__, f"{name}."))
    modules = [importlib.import_module(entry) for entry in found]
    return [module for module in modules if not hasattr(module, "__path__")]


def public_names(module: ModuleType) -> list[str]:
    """Return a module's functions, analyses and classes for others, as it orders them."""
    return [
        name
        for name, thing in vars(module).items()
        if not name.startswith("_")
        and (inspect.isfunction(inspect.unwrap(thing)) or inspect.isclass(thing))
        and thing.__module__ == module.__name__
    ]


class Room(SphinxDirective):
    """Document the modules of a room: for each a summary of what it holds, and the whole."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return a section for each module."""
        lines: list[str] = []
        for module in modules_of(self.arguments[0]):
            self.env.note_dependency(str(module.__file__))
            lines += _section(module)
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def _section(module: ModuleType) -> list[str]:
    title = module.__name__.removeprefix("chaos_utils.")
    names = public_names(module)
    lines = [title, "-" * len(title), "", f".. automodule:: {module.__name__}", ""]
    if names:
        lines += [".. list-table::", "   :header-rows: 1", "", "   * - name", "     - what it is"]
    for name in names:
        lines += [f"   * - :py:obj:`{name}`", f"     - {_summary(getattr(module, name))}"]
    lines += [""]
    for name in names:
        if inspect.isclass(getattr(module, name)):
            lines += [f".. autoclass:: {name}", "   :members:", ""]
        else:
            lines += [f".. autofunction:: {name}", ""]
    return lines


def _summary(thing: object) -> str:
    """Return the first sentence of a docstring, which is on its first line."""
    return (inspect.getdoc(thing) or "").partition("\n")[0]


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
    found = [near] if near in objects else [n for n in objects if f".{n}".endswith(f".{target}")]
    if len(found) != 1:
        return shown
    entry = objects[found[0]]
    return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, shown, found[0])


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
    app.add_directive("room", Room)
    app.add_role_to_domain("py", "code", Code())
    app.connect("missing-reference", _link_or_code)
